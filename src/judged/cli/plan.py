"""`judged plan`: work out how many queries you need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from judged.cli._files import READS, command
from judged.cli._options import (
    call_scoring,
    check_format,
    collection_option,
    convention_option,
    data_options,
    default_of,
    depth_option,
    duplicates_option,
    flag,
    groups_option,
    level_option,
    measures_option,
    number,
    policy_options,
    refuse,
    result_options,
    text,
    unique_option,
    weights_option,
)
from judged.comparison.plan import plan as make_plan

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison

OF_PLAN = (
    *("difference", "sd", "queries", "power", "level", "comparisons", "margin", "half_width"),
    "simulate",
)
"""Options of the plan itself; the others are those of its pilot."""


@command(example="judged plan --difference 0.02 --pilot qrels.txt bm25.run dense.run")
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@number("--difference", float, "SIZE", "Detect this true difference, such as 0.02.")
@number("--sd", float, "SIZE", "Set the standard deviation of per-query differences.")
@text("--pilot", "QRELS", "Estimate it from runs on these judgements.", type=READS)
@number("--queries", int, "N", "Plan with N queries, instead of computing how many.")
@number("--power", float, "SHARE", "Detect the difference with this power, by default 0.8.")
@level_option()
@number(
    "--comparisons",
    int,
    "N",
    "Correct for N comparisons (Holm), such as 6 for all pairs of 4.",
    default_of(make_plan, "comparisons"),
)
@number("--margin", float, "SIZE", "Show that a system is not worse by this or more, one-sided.")
@number("--half-width", float, "SIZE", "Reach this half-width of the confidence interval.")
@groups_option
@flag("--simulate", "Check the power on samples from the pilot's differences.")
@measures_option
@text("--baseline", "RUN", "Compare all runs of the pilot with this one.")
@convention_option
@policy_options
@weights_option
@depth_option
@collection_option
@unique_option
@duplicates_option
@data_options
@result_options(chart="power")
def plan(
    runs: tuple[str, ...],
    pilot: str | None,
    form: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """Plan a comparison: how many queries a difference needs, what difference the queries can
    detect, or with what power.

    The spread of per-query differences is given by --sd, or estimated from a pilot: runs scored on
    some queries. Of more than two runs, the pair with the largest spread counts.
    """
    from judged.cli._terminal import deliver

    check_format(form, output)
    planned = {name: options.pop(name) for name in OF_PLAN}
    if pilot is None:
        if runs:
            raise click.UsageError(
                "RUN is for a pilot; give its judgements: --pilot QRELS RUN RUN."
            )
        refuse([*options], "is for --pilot")
        result = make_plan(**planned)
    else:
        result = make_plan(pilot=_compare(pilot, runs, **options), **planned)
    deliver(result, form, output)


def _compare(pilot: str, runs: tuple[str, ...], **options: Any) -> Comparison:
    from judged.cli._terminal import counting
    from judged.comparison import compare

    measures = options.pop("measures")
    with counting("Reading runs", len(runs) or 1, "") as advance:
        return call_scoring(
            compare,
            pilot,
            runs or None,
            measures or None,
            progress=advance and (lambda _: advance(1)),
            **options,
        )
