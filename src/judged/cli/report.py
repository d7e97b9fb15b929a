"""`judged report`: everything about runs in one HTML file."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._files import READS, WRITES, command
from judged.cli._options import (
    amount_options,
    collection_option,
    convention_option,
    data_options,
    default_of,
    depth_option,
    duplicates_option,
    measures_option,
    policy_options,
    unanswerable_options,
    unique_option,
    weights_option,
)
from judged.web.report import make_report


@command(short_help="Write everything about runs into one HTML file.")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    type=WRITES,
    help="The file to write, .html; it needs no network.",
)
@measures_option
@click.option(
    "--baseline",
    metavar="RUN",
    help="The run that all others are compared with; by default all pairs are compared.",
)
@click.option(
    "--slices",
    metavar="FILE",
    type=READS,
    help="A table of queries and their attributes, as language: runs are compared in each slice "
    "too, and by the number of relevant items; 'relevant' is that alone.",
)
@click.option("--title", metavar="TEXT", help="What stands above what came out.")
@click.option(
    "--date",
    metavar="TEXT",
    help="When the report was made, in any form; without it the same input gives the same bytes.",
)
@click.option(
    "--texts",
    metavar="FILE",
    type=READS,
    help="A table of items with their titles and texts, for the lists.",
)
@click.option("--queries", metavar="FILE", type=READS, help="A table of queries with their texts.")
@click.option(
    "--pictures",
    metavar="FILE",
    type=READS,
    help="A CSV or TSV file with the columns id and picture: where the picture of each query and "
    "item lies.",
)
@click.option(
    "--max-size",
    metavar="SIZE",
    help="How large the file may be, as 2MB. What does not fit is left out: pictures, texts, "
    "values of further measures, lists, charts, strips, the table of every query, in this order.",
)
@convention_option
@policy_options
@click.option(
    "--level",
    type=float,
    default=default_of(make_report, "level"),
    show_default=True,
    help="The level of intervals.",
)
@click.option(
    "--groups",
    metavar="FILE",
    type=READS,
    help="A table of queries and their groups, as sessions or passages: queries of a group are "
    "not independent.",
)
@weights_option
@unanswerable_options
@depth_option
@collection_option
@unique_option
@duplicates_option
@data_options
@amount_options
def report(
    judgements: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    output: str,
    **options: Any,
) -> None:
    """Evaluate RUN files against the judgements in QRELS, compare them, and write everything into
    one HTML file: numbers with their intervals, comparisons, charts, the biggest wins and losses,
    every query, what each number means, and where all of it comes from.

    Files are read as by 'judged evaluate'. Systems are ranked by the first measure.
    """
    from judged.cli._terminal import counting, looks, say, working
    from judged.outputs import checked_ending

    checked_ending(output, [".html"])
    with counting("Reading runs", len(runs) or 1, "") as advance:
        found = make_report(
            judgements,
            runs or None,
            measures or None,
            progress=advance and (lambda _: advance(1)),
            **options,
        )
    with working("Writing the report"):
        found.save(output)
    chosen = looks()
    if not chosen.get("quiet"):
        heading, *others = found.sentences()
        say(heading)
        for text in (*others, *(f"warning: {each}" for each in found.warnings())):
            say(text, err=True)
    if chosen.get("verbose"):
        for text in found.contents.evaluation.sentences():
            say(text)
