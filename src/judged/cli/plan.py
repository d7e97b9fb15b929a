"""`judged plan`: how many queries does a difference take?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from judged.cli._files import READS, command
from judged.cli._options import (
    check_format,
    collection_option,
    convention_option,
    data_options,
    default_of,
    depth_option,
    duplicates_option,
    measures_option,
    policy_options,
    result_options,
    said,
    unique_option,
    weights_option,
)
from judged.comparison.plan import plan as make_plan

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison

OF_PLAN = (
    *("difference", "sd", "queries", "power", "level", "comparisons", "margin", "half_width"),
    *("design_effect", "simulate", "seed"),
)
"""Options of the plan itself; the others are those of its pilot."""


@command(short_help="Say how many queries a difference takes.")
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@click.option(
    "--difference",
    type=float,
    metavar="SIZE",
    help="The true difference that is to be seen, in the measure's own unit, as 0.02; -0.02 is a "
    "loss, which matters to --simulate only. With --margin: how much better the system truly is, "
    "by default 0.",
)
@click.option(
    "--sd",
    type=float,
    metavar="SIZE",
    help="The standard deviation of the differences of queries, where there is no pilot.",
)
@click.option(
    "--pilot",
    metavar="QRELS",
    type=READS,
    help="Estimate it from runs on these judgements, which follow: --pilot QRELS RUN RUN. Of more "
    "than two, the pair that spreads most counts.",
)
@click.option(
    "--queries",
    type=int,
    metavar="N",
    help="How many queries there are; by default it is worked out how many it takes.",
)
@click.option(
    "--power",
    type=float,
    metavar="SHARE",
    help="How often the difference is to be shown, by default 0.8; worked out where both "
    "--difference and --queries are given.",
)
@click.option(
    "--level",
    type=float,
    default=default_of(make_plan, "level"),
    show_default=True,
    metavar="SHARE",
    help="A difference is shown where its p is below 1 - level; the level of intervals.",
)
@click.option(
    "--comparisons",
    type=int,
    default=default_of(make_plan, "comparisons"),
    show_default=True,
    metavar="N",
    help="How many comparisons are corrected together, as 6 for all pairs of 4 runs: each is "
    "planned for the first step of Holm's correction.",
)
@click.option(
    "--margin",
    type=float,
    metavar="SIZE",
    help="Show that a system is no worse by this or more, one-sided, as 'judged gate --rule safe "
    "--max-drop SIZE'. How many queries it takes to be equivalent is said too.",
)
@click.option(
    "--half-width",
    type=float,
    metavar="SIZE",
    help="How far the ends of the interval of a difference may be from it.",
)
@click.option(
    "--groups",
    metavar="FILE",
    type=READS,
    help="A table of the pilot's queries and their groups, as sessions: the plan is for groups.",
)
@click.option(
    "--design-effect",
    type=float,
    metavar="N",
    help="How many queries count as one independent one, where that is known without a pilot.",
)
@click.option(
    "--simulate",
    is_flag=True,
    help="Try the power out on samples that are drawn from the pilot's differences.",
)
@click.option(
    "--seed",
    type=int,
    default=default_of(make_plan, "seed"),
    show_default=True,
    metavar="N",
    help="What they are drawn from.",
)
@measures_option
@click.option(
    "--baseline",
    metavar="RUN",
    help="Of a pilot with several runs, the one that all others are compared with.",
)
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
    """Plan a comparison: how many queries it takes to see a difference, what the queries that there
    are can show, or how often.

    How far the differences of queries spread is said by --sd, or estimated from a pilot: runs that
    were scored on some queries. Files are read as by 'judged compare'.
    """
    from judged.cli._terminal import deliver

    check_format(form, output)
    own = {name: options.pop(name) for name in OF_PLAN}
    if pilot is None:
        _refuse_without_pilot(runs, options)
        found = make_plan(**own)
    else:
        found = make_plan(pilot=_compared(pilot, runs, **options), **own)
    deliver(found, form, output)


def _compared(pilot: str, runs: tuple[str, ...], **options: Any) -> Comparison:
    from judged.cli._terminal import counting
    from judged.comparison import compare

    measures = options.pop("measures")
    with counting("Reading runs", len(runs) or 1, "") as advance:
        return compare(
            pilot,
            runs or None,
            measures or None,
            progress=advance and (lambda _: advance(1)),
            **options,
        )


def _refuse_without_pilot(runs: tuple[str, ...], options: dict[str, Any]) -> None:
    """An error where something is given that only a pilot has a use for."""
    if runs:
        raise click.UsageError("RUN is for a pilot; give its judgements: --pilot QRELS RUN RUN.")
    for param in click.get_current_context().command.params:
        name = str(param.name)
        if name not in (*OF_PLAN, "form", "output", "runs", "pilot") and said(name):
            raise click.UsageError(f"{param.opts[-1]} is for --pilot.")
