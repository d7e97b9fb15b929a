"""`judged explain`: how one value of one query is calculated."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._files import READS, WRITES, ListCommand, command
from judged.cli._options import (
    call_scoring,
    check_format,
    collection_option,
    convention_option,
    data_options,
    depth_option,
    duplicates_option,
    flag,
    list_options,
    measure_option,
    memory_options,
    number,
    policy_options,
    result_options,
    text,
)
from judged.results import Result

SAVED_AS = {**Result.SAVED_AS, ".tex": "to_latex", ".gif": "to_gif"}
"""Formats of an explanation, whose class would take too long to load for the help."""


@command(cls=ListCommand, example='judged explain "0 1 0 0 1" -m AP --relevant 3')
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("run", metavar="RUN", required=False, type=READS)
@text("--query", "ID", "Explain this query; not needed if only one was judged.")
@measure_option("AP", "Explain this measure, such as nDCG@10.")
@list_options
@convention_option
@policy_options
@depth_option
@duplicates_option
@collection_option
@number("--rows", click.IntRange(min=1), "N", "Show N ranks, those of relevant items first.", 30)
@flag("--all-rows", "Show every rank.")
@data_options
@memory_options
@result_options(SAVED_AS)
@text("--html", "FILE", "Write a page that steps through the ranking.", type=WRITES)
@text("--gif", "FILE", "Write the same animation as a GIF.", type=WRITES)
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
    """Show how a measure gets its value for one query: the formula, the ranking, the arithmetic,
    what would raise the value most, and its value under other definitions.

    A relevance list can replace QRELS and RUN: grades in rank order in one argument, such as
    "0 1 0 0 1", with - for an unjudged item and brackets around tied results: "0 (1 0) 1".
    """
    from judged.cli._terminal import deliver, say
    from judged.explanation import explain as explain_value
    from judged.outputs import replacing, write_text

    check_format(form, output, SAVED_AS)
    explanation = call_scoring(
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
