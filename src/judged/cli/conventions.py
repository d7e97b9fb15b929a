"""`judged conventions`: the libraries whose definitions are known, one of them, or all of them on
your data."""

from __future__ import annotations

import re
from os.path import isfile
from typing import Any

import click

from judged.cli._files import READS, command
from judged.cli._lists import ListCommand, relevance_options
from judged.cli._options import (
    check_format,
    collection_option,
    complete_convention,
    data_options,
    depth_option,
    duplicates_option,
    measures_option,
    result_options,
    said,
)
from judged.cli._room_options import room_options

LIST = re.compile(r"\s*[-\d.({]")
"""How a relevance list begins, and the name of no library."""


@command(cls=ListCommand, short_help="Say how other libraries define the same measures.")
@click.argument(
    "what",
    metavar="[NAME | QRELS [RUN] | LIST]",
    nargs=-1,
    type=READS,
    shell_complete=complete_convention,
)
@measures_option
@relevance_options
@collection_option
@depth_option
@duplicates_option
@data_options
@room_options
@result_options()
def conventions(
    what: tuple[str, ...],
    measures: tuple[str, ...],
    form: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """List the libraries whose definitions are known, explain the one called NAME, or compare all
    of them on a RUN.

    With QRELS and RUN, or one file of rows that hold relevant and retrieved ids: every definition
    that some library has for a measure, its value, who uses it, in what it differs from judged's
    default and why, and how many queries that touches. In place of them a relevance LIST may
    stand: the grades in rank order in one argument, such as "0 1 0 0 1", with - for an item that
    nobody judged, and brackets around results that share a score. The measures are AP@10, nDCG@10,
    P@10, R@10 and RR@10 unless -m names others.
    """
    from judged.cli._terminal import deliver, working
    from judged.conventions import conventions as known
    from judged.conventions import find
    from judged.conventions.disagreement.libraries import Libraries, Library

    if len(what) > 2:
        raise click.UsageError(f"give one run: QRELS RUN; got {len(what)} files.")
    files = len(what) == 2 or any(map(isfile, what)) or any(map(LIST.match, what))
    if not files and any(map(said, ("measures", *options))):
        raise click.UsageError(
            "to compare conventions give two files: QRELS RUN; or one that holds both; or a "
            "relevance list."
        )
    check_format(form, output)
    if not what:
        deliver(Libraries(known()), form, output)
    elif not files:
        deliver(Library(find(what[0])), form, output)
    else:
        from judged.conventions.disagreement import compare_conventions

        judgements, run = what if len(what) == 2 else (what[0], None)
        with working("Comparing conventions"):
            found = compare_conventions(judgements, run, measures or None, **options)
        deliver(found, form, output)
