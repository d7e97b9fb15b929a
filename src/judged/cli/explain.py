"""`judged explain`: how one value of one query is calculated."""

from __future__ import annotations

from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._command import READS, command
from judged.results import Result

SAVED_AS = {**Result.SAVED_AS, ".tex": "to_latex", ".gif": "to_gif"}
"""Formats of an explanation, whose class would take too long to load for the help."""
ALL = "all"


def _read_rows(context: click.Context, param: click.Parameter, text: str) -> int | None:
    """Read a number of ranks, or None for all."""
    if text == ALL:
        return None
    if not text.isdecimal() or not int(text):
        raise click.BadParameter(f"{text!r} is neither a whole number from 1 nor all.")
    return int(text)


@command(example='judged explain "0 1 0 0 1" -m AP --relevant 3')
@opt.judgements_argument
@click.argument("run", metavar="RUN", required=False, type=READS)
@opt.text("--query", "ID", "Explain this query; not needed if only one was judged.", common=True)
@opt.measures_option
@opt.list_options
@opt.convention_option
@opt.policy_options("ties", "empty", "unjudged", "duplicates", "depth")
@opt.collection_option
@opt.text(
    "--rows",
    "N",
    "Show N ranks, those of relevant items first, or all.",
    default="30",
    show_default=True,
    callback=_read_rows,
    group="output",
    common=True,
)
@opt.columns_option
@opt.result_options(SAVED_AS)
def explain(
    judgements: str, run: str | None, measures: tuple[str, ...] | None, **options: Any
) -> Any:
    """Show how a measure gets its value for one query, and what would raise it most.

    The measure is nDCG@10 unless -m names others, which are shown side by side. A relevance list
    can replace QRELS and RUN: grades in rank order in one argument, such as "0 1 0 0 1", with - for
    an unjudged item and brackets around tied results: "0 (1 0) 1". So can a rankings file
    (*.rankings). -o page.html steps through the ranking, -o walk.gif animates it.
    """
    from judged.explanation import Explanations, explain

    chosen = {"measure": measures} if measures else {}
    found = opt.call_scoring(explain, judgements, run, **chosen, **options)
    alone = isinstance(found, Explanations) and len(found.explanations) == 1
    return found.explanations[0] if alone else found
