"""`judged report`: an evaluation of runs in one HTML file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from judged.cli._files import READS, WRITES, command
from judged.cli._options import (
    amount_options,
    call_scoring,
    collection_option,
    convention_option,
    data_options,
    depth_option,
    duplicates_option,
    file,
    groups_option,
    level_option,
    measures_option,
    policy_options,
    slices_option,
    text,
    unanswerable_options,
    unique_option,
    weights_option,
)


@command(example="judged report qrels.txt bm25.run dense.run -o report.html")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    type=WRITES,
    help="Write this .html file, which needs no network.",
)
@measures_option
@text("--baseline", "RUN", "Compare all runs with this one; by default all pairs.")
@slices_option
@text("--title", "TEXT", "Set the title.")
@text("--date", "TEXT", "Show this date; without it the same input gives the same bytes.")
@file("--texts", "Show titles and texts of items.")
@file("--queries", "Show texts of queries.")
@file("--pictures", "Show pictures, from a table with the columns id and picture.")
@text("--max-size", "SIZE", "Leave out details above this size, such as 2MB.")
@convention_option
@policy_options
@level_option()
@groups_option
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
    date: str | None,
    max_size: str | None,
    **options: Any,
) -> None:
    """Evaluate RUN files against the judgements in QRELS, compare them, and write everything into
    one HTML file: confidence intervals, comparisons, charts, wins and losses, every query,
    definitions and provenance.

    Systems are ranked by the first measure. With --max-size details are left out in this order:
    pictures, texts, values of further measures, lists, charts, strips, the table of every query.
    """
    from judged.cli._terminal import counting, display_options, say, working
    from judged.outputs import checked_ending
    from judged.web.report.report import report as make_report

    checked_ending(output, [".html"])
    with counting("Reading runs", len(runs) or 1, "") as advance:
        result = call_scoring(
            make_report,
            judgements,
            runs or None,
            measures or None,
            progress=advance and (lambda _: advance(1)),
            **options,
        )
    result = replace(result, date=date)
    if max_size is not None:
        result = result.within(max_size)
    with working("Writing the report"):
        result.save(output)
    display = display_options()
    if not display.get("quiet"):
        heading, *others = result.sentences()
        say(heading)
        for line in (*others, *(f"warning: {warning}" for warning in result.warnings())):
            say(line, err=True)
    if display.get("verbose"):
        for line in result.contents.evaluation.sentences():
            say(line)
