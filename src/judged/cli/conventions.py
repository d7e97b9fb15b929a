"""`judged conventions`: how other libraries define the same measures."""

from __future__ import annotations

import re
from os.path import isfile
from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._files import READS, ListCommand, command

LIST = re.compile(r"\s*[-\d.({]")
"""Start of a relevance list, and of no library's name."""


@command(cls=ListCommand, example="judged conventions qrels.txt bm25.run -m AP@10")
@click.argument(
    "what",
    metavar="[NAME | QRELS [RUN] | LIST]",
    nargs=-1,
    type=READS,
    shell_complete=opt.complete_convention,
)
@opt.measures_option
@opt.list_options
@opt.collection_option
@opt.depth_option
@opt.duplicates_option
@opt.data_options
@opt.memory_options
@opt.result_options()
def conventions(
    what: tuple[str, ...],
    measures: tuple[str, ...],
    form: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """List the known libraries, explain the one called NAME, or compare all of them on a RUN.

    With QRELS and RUN, a rankings file, or one file of rows with relevant and retrieved ids, every
    definition of a measure is shown with its value, the libraries that use it, and how it differs
    from judged's default. A relevance LIST can replace the files: grades in rank order in one
    argument, such as "0 1 0 0 1", with - for an unjudged item and brackets around tied results. The
    measures are AP@10, nDCG@10, P@10, R@10 and RR@10 unless -m names others.
    """
    from judged.cli._terminal import deliver, working
    from judged.conventions import conventions as known
    from judged.conventions import find
    from judged.conventions.description import LibraryDescription, LibraryList

    if len(what) > 2:
        raise click.UsageError(f"give one run: QRELS RUN; got {len(what)} files.")
    files = len(what) == 2 or any(map(isfile, what)) or any(map(LIST.match, what))
    if not files and any(map(opt.is_given, ("measures", *options))):
        raise click.UsageError(
            "to compare conventions give two files: QRELS RUN; or one that holds both; or a "
            "relevance list."
        )
    opt.check_format(form, output)
    if not what:
        deliver(LibraryList(known()), form, output)
    elif not files:
        deliver(LibraryDescription(find(what[0])), form, output)
    else:
        from judged.conventions.disagreement import compare_conventions

        judgements, run = what if len(what) == 2 else (what[0], None)
        with working("Comparing conventions"):
            result = opt.call_scoring(
                compare_conventions, judgements, run, measures or None, **options
            )
        deliver(result, form, output)
