"""`judged report`: an evaluation of runs in one HTML file."""

from __future__ import annotations

from typing import Any

from judged.cli import _options as opt
from judged.cli._command import command


@command(example="judged report qrels.txt bm25.run dense.run -o report.html")
@opt.data_arguments
@opt.output_option("Write this .html file, which needs no network.")
@opt.measures_option
@opt.baseline_option()
@opt.slices_option
@opt.text("--title", "TEXT", "Set the title.", common=True)
@opt.file("--texts", "Show titles and texts of items.", common=True)
@opt.file("--queries", "Show texts of queries.", common=True)
@opt.file("--pictures", "Show pictures, from a table with the columns id and picture.")
@opt.convention_option
@opt.groups_option
@opt.policy_options("ties", "missing", "empty", "unjudged", "depth")
@opt.columns_option
def report(
    judgements: str,
    runs: tuple[str, ...],
    output: str,
    **options: Any,
) -> None:
    """Evaluate and compare RUN files, and write everything into one HTML file.

    Systems are ranked by the first measure. Rankings files (*.rankings) can replace QRELS and RUN.
    """
    from judged.cli._terminal import say, working
    from judged.outputs import checked_ending
    from judged.web.report.report import report as make_report

    checked_ending(output, [".html"])
    result = opt.score_runs(make_report, judgements, runs, **options)
    with working("Writing the report"):
        result.save(output)
    heading, *others = result.sentences()
    say(heading)
    for line in (*others, *(f"warning: {warning}" for warning in result.warnings())):
        say(line, err=True)
