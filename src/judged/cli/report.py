"""`judged report`: an evaluation of runs in one HTML file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._files import READS, command


@command(example="judged report qrels.txt bm25.run dense.run -o report.html")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@opt.output_option("Write this .html file, which needs no network.")
@opt.measures_option
@opt.text("--baseline", "RUN", "Compare all runs with this one; by default all pairs.")
@opt.slices_option
@opt.text("--title", "TEXT", "Set the title.")
@opt.text("--date", "TEXT", "Show this date; without it the same input gives the same bytes.")
@opt.file("--texts", "Show titles and texts of items.")
@opt.file("--queries", "Show texts of queries.")
@opt.file("--pictures", "Show pictures, from a table with the columns id and picture.")
@opt.text("--max-size", "SIZE", "Leave out details above this size, such as 2MB.")
@opt.convention_option
@opt.level_option()
@opt.groups_option
@opt.unanswerable_options
@opt.scoring_options
@opt.amount_options
def report(
    judgements: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    output: str,
    date: str | None,
    max_size: str | None,
    **options: Any,
) -> None:
    """Evaluate and compare RUN files, and write everything into one HTML file.

    Systems are ranked by the first measure. With --max-size details are left out in this order:
    pictures, texts, values of further measures, lists, charts, strips, the table of every query.
    Rankings files (*.rankings) can replace QRELS and RUN.
    """
    from judged.cli._terminal import display_options, say, working
    from judged.outputs import checked_ending
    from judged.web.report.report import report as make_report

    checked_ending(output, [".html"])
    result = opt.score_runs(make_report, judgements, runs, measures or None, **options)
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
