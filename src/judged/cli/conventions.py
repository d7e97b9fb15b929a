"""`judged conventions`: how other libraries define the same measures."""

from __future__ import annotations

import re
from os.path import isfile
from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._command import READS, command

LIST = re.compile(r"\s*[-\d.({]")
"""Start of a relevance list, and of no library's name."""


@command(example="judged conventions qrels.txt bm25.run -m AP@10")
@click.argument(
    "what",
    metavar="[NAME | QRELS [RUN] | LIST]",
    nargs=-1,
    type=READS,
    shell_complete=opt.complete_convention,
)
@opt.measures_option
@opt.relevant_option
@opt.columns_option
@opt.result_options()
def conventions(what: tuple[str, ...], **options: Any) -> Any:
    """List the known libraries, explain the one called NAME, or compare all of them on a RUN.

    With QRELS and RUN, a rankings file, or one file of rows with relevant and retrieved ids, each
    value of a measure is shown with the libraries that compute it, and with -v how their
    definitions differ from judged's default. A relevance LIST can replace the files: grades in rank
    order in one argument, such as "0 1 0 0 1", with - for an unjudged item and brackets around tied
    results. The measures are AP@10, nDCG@10, P@10, R@10 and RR@10 unless -m names others.
    """
    from judged.cli._terminal import working
    from judged.conventions import conventions as known
    from judged.conventions import find
    from judged.conventions.description import LibraryDescription, LibraryList
    from judged.inputs.data import typed_lists

    lists = typed_lists(what[0], what[1:]) if what else None
    if len(what) > 2 and not lists:
        raise click.UsageError(f"give one run: QRELS RUN; got {len(what)} files.")
    files = len(what) == 2 or any(map(isfile, what)) or any(map(LIST.match, what))
    if not files and any(map(opt.is_given, options)):
        raise click.UsageError(
            "to compare conventions give two files: QRELS RUN; or one that holds both; or a "
            "relevance list."
        )
    if not what:
        return LibraryList(known())
    if not files:
        return LibraryDescription(find(what[0]))
    from judged.conventions.disagreement import compare_conventions

    data = [lists] if lists and len(lists) > 1 else what
    with working("Comparing conventions"):
        return opt.call_scoring(compare_conventions, *data, **options)
