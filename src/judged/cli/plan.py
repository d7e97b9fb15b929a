"""`judged plan`: work out how many queries you need."""

from __future__ import annotations

from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._command import READS, command

OF_PLAN = ("difference", "sd", "queries", "power", "level", "comparisons", "margin")
"""Options of the plan itself; the others are those of its pilot."""


@command(example="judged plan --difference 0.02 --pilot qrels.txt bm25.run dense.run")
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@opt.number(
    "--difference", float, "SIZE", "Detect this true difference, such as 0.02.", common=True
)
@opt.number(
    "--sd", float, "SIZE", "Set the standard deviation of per-query differences.", common=True
)
@opt.text("--pilot", "QRELS", "Estimate it from runs on these judgements.", type=READS, common=True)
@opt.number(
    "--n-queries queries",
    int,
    "N",
    "Plan with N queries, instead of computing how many.",
    common=True,
)
@opt.number(
    "--power", float, "SHARE", "Detect the difference with this power, by default 0.8.", common=True
)
@opt.level_option()
@opt.number(
    "--comparisons",
    int,
    "N",
    "Correct for N comparisons (Holm), such as 6 for all pairs of 4.",
    1,
)
@opt.number(
    "--margin",
    float,
    "SIZE",
    "Show that a system is not worse by this or more, one-sided.",
    common=True,
)
@opt.groups_option
@opt.measures_option
@opt.policy_options("missing")
@opt.result_options(chart="power", verbose=True)
def plan(runs: tuple[str, ...], pilot: str | None, **options: Any) -> Any:
    """Plan a comparison: the queries it needs, the difference it can detect, or its power.

    The spread of per-query differences is given by --sd, or estimated from a pilot: runs scored on
    some queries, or rankings files (*.rankings). Of more than two runs, the pair with the largest
    spread counts.
    """
    from judged.comparison import compare
    from judged.comparison.plan import plan as make_plan

    planned = {name: options.pop(name) for name in OF_PLAN}
    if pilot is None:
        if runs:
            raise click.UsageError(
                "RUN is for a pilot; give its judgements: --pilot QRELS RUN RUN."
            )
        opt.refuse([*options], "is for --pilot")
        return make_plan(**planned)
    return make_plan(pilot=opt.score_runs(compare, pilot, runs, **options), **planned)
