"""`judged explain`: how one value of one query is calculated."""

from __future__ import annotations

from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._files import READS, WRITES, ListCommand, command
from judged.results import Result

SAVED_AS = {**Result.SAVED_AS, ".tex": "to_latex", ".gif": "to_gif"}
"""Formats of an explanation, whose class would take too long to load for the help."""


@command(cls=ListCommand, example='judged explain "0 1 0 0 1" -m AP --relevant 3')
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("run", metavar="RUN", required=False, type=READS)
@opt.text("--query", "ID", "Explain this query; not needed if only one was judged.")
@opt.measure_option("AP", "Explain this measure, such as nDCG@10.")
@opt.list_options
@opt.convention_option
@opt.policy_options
@opt.depth_option
@opt.duplicates_option
@opt.collection_option
@opt.number(
    "--rows", click.IntRange(min=1), "N", "Show N ranks, those of relevant items first.", 30
)
@opt.flag("--all-rows", "Show every rank.")
@opt.data_options
@opt.memory_options
@opt.result_options(SAVED_AS)
@opt.text("--html", "FILE", "Write a page that steps through the ranking.", type=WRITES)
@opt.text("--gif", "FILE", "Write the same animation as a GIF.", type=WRITES)
def explain(
    judgements: str,
    run: str | None,
    measure: str,
    rows: int,
    all_rows: bool,
    form: str | None,
    output: str | None,
    html: str | None,
    gif: str | None,
    **options: Any,
) -> None:
    """Show how a measure gets its value for one query, and what would raise it most.

    A relevance list can replace QRELS and RUN: grades in rank order in one argument, such as
    "0 1 0 0 1", with - for an unjudged item and brackets around tied results: "0 (1 0) 1". So can
    a rankings file (*.rankings).
    """
    from judged.cli._terminal import deliver, say
    from judged.explanation import explain as explain_value
    from judged.outputs import replacing, write_text

    opt.check_format(form, output, SAVED_AS)
    explanation = opt.call_scoring(
        explain_value, judgements, run, measure, rows=None if all_rows else rows, **options
    )
    if html:
        write_text(html, explanation.to_html())
    if gif:
        with replacing(gif) as temporary:
            temporary.write_bytes(explanation.to_gif())
    if (html or gif) and not (form or output):
        say(explanation.arithmetic)  # only a file was asked for
    else:
        deliver(explanation, form, output)
