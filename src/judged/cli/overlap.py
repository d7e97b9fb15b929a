"""`judged overlap`: how far runs agree, without judgements."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._files import READS, command
from judged.cli._options import (
    check_format,
    columns_option,
    default_of,
    depth_option,
    duplicates_option,
    result_options,
    run_format_option,
)
from judged.runs.overlap import overlap as overlap_of


@command(short_help="Say how far runs agree, without judgements.")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=READS)
@click.option(
    "--p",
    type=float,
    default=default_of(overlap_of, "p"),
    show_default=True,
    metavar="SHARE",
    help="The persistence of rank-biased overlap: the greater, the deeper it looks.",
)
@depth_option
@click.option(
    "--level",
    type=float,
    default=default_of(overlap_of, "level"),
    show_default=True,
    metavar="SHARE",
    help="The level of the intervals of means.",
)
@duplicates_option
@columns_option
@run_format_option
@click.option("--per-query", is_flag=True, help="Give the numbers of every query too.")
@result_options()
def overlap(
    runs: tuple[str, ...], per_query: bool, form: str | None, output: str | None, **options: Any
) -> None:
    """Say how far RUN files agree on what they return, and in which order: rank-biased overlap,
    shared items, and the order of those. No judgements are needed.

    Every two runs are compared on the queries that both have results for. Ties are not broken:
    rank-biased overlap is its mean over all their orders. NAME=FILE gives a run a name.
    """
    from judged.cli._terminal import deliver, working

    check_format(form, output)
    with working("Reading runs"):
        found = overlap_of(list(runs), **options)
    deliver(found, form, output, per_query=per_query)
