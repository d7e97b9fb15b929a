"""`judged merge`: several judges made one."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._files import READS, WRITES, command
from judged.cli._options import (
    amount_options,
    columns_option,
    duplicates_option,
    judgements_format_option,
)
from judged.judgements.merge import RULES


@command(short_help="Make one judge of several, by a rule.")
@click.argument("judgements", metavar="QRELS...", nargs=-1, type=READS, required=True)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=WRITES,
    required=True,
    help="Where to write the judgements; the ending says the format: .qrels, .qrel, .trec, .txt "
    "(TREC text), .csv, .json or .parquet; .md or .html has what is printed.",
)
@click.option(
    "--rule",
    type=click.Choice(list(RULES)),
    default="majority",
    show_default=True,
    help="; ".join(f"{name}: {words}" for name, words in RULES.items()) + ".",
)
@duplicates_option
@columns_option
@judgements_format_option
@amount_options
def merge(judgements: tuple[str, ...], output: str, **options: Any) -> None:
    """Make one file of judgements of the QRELS of several judges: every item has one grade, by a
    rule, from those who judged it.

    NAME=FILE gives a judge a name. With --rule first the order of the files counts: a judge who
    settled differences goes first.
    """
    from judged.cli._terminal import deliver, working
    from judged.judgements.merge import check_merged_target, merge_judgements

    check_merged_target(output)
    with working("Merging judgements"):
        merged = merge_judgements(list(judgements), **options)
    merged.save(output)
    deliver(merged, None, None)
