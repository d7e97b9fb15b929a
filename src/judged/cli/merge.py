"""`judged merge`: several judges made one."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._files import READS, WRITES, command
from judged.cli._options import amount_options, duplicates_option
from judged.inputs.formats import FORMATS
from judged.judgements.agreements.choices import RULES


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
@click.option(
    "--columns",
    metavar="ROLE=COLUMN,...",
    help="What columns are, where their names do not tell: "
    "query=question_id,item=chunk_id,grade=label; several make one id: item=file+page.",
)
@click.option(
    "--qrels-format",
    "judgements_format",
    type=click.Choice(list(FORMATS)),
    help="The format of QRELS, where it is not recognised.",
)
@amount_options
def merge(judgements: tuple[str, ...], output: str, **options: Any) -> None:
    """Make one file of judgements of the QRELS of several judges: every item has one grade, by a
    rule, from those who judged it.

    NAME=FILE gives a judge a name. With --rule first the order of the files counts: a judge who
    settled differences goes first.
    """
    from judged.cli._terminal import deliver, working
    from judged.judgements.agreements.merger import check_merged_target, merge_judgements

    check_merged_target(output)
    with working("Merging judgements"):
        merged = merge_judgements(list(judgements), **options)
    merged.save(output)
    deliver(merged, None, None)
