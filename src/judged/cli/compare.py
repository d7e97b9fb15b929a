"""`judged compare`: test whether runs differ significantly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from judged.cli import _options as opt
from judged.cli._command import READS, command
from judged.comparison import compare as compare_runs
from judged.comparison import compare_values
from judged.comparison.settings import CORRECTIONS, SAVED_AS, TESTS

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison

OF_BOTH = (*("baseline", "test", "correction", "level", "margin", "groups", "slices", "weights"),)
"""Options for runs and for values."""


@command(example="judged compare qrels.txt bm25.run dense.run -m nDCG@10 --baseline bm25")
@click.argument("judgements", metavar="QRELS", type=READS, required=False)
@click.argument("runs", metavar="RUN...", nargs=-1, type=READS)
@opt.text(
    "--values",
    "FILE",
    "Compare per-query values of another tool (table, JSON, trec_eval -q); -m names the measure.",
    type=READS,
    multiple=True,
    group="comparison",
)
@opt.text(
    "--lower-is-better",
    "NAME",
    "Treat lower values of this measure of --values as better.",
    multiple=True,
    group="comparison",
)
@opt.measures_option
@opt.baseline_option("Compare all runs with this one; by default, the first of two, or all pairs.")
@opt.choice(
    "--test",
    TESTS,
    "Use this significance test.",
    opt.default_of(compare_runs, "test"),
    group="comparison",
)
@opt.choice(
    "--correction",
    list(CORRECTIONS),
    "Correct p-values for multiple comparisons.",
    opt.default_of(compare_runs, "correction"),
    group="comparison",
)
@opt.level_option("Set the confidence level; corrected p below 1 - level counts.")
@opt.text(
    "--margin",
    "MEASURE=SIZE",
    "Call runs equivalent that differ by less; one size, or one per measure.",
    multiple=True,
    callback=opt.by_measure,
    group="comparison",
    common=True,
)
@opt.groups_option
@opt.flag(
    "--unjudged-range",
    "Check whether unjudged results could change a verdict.",
    group="comparison",
)
@opt.slices_option
@opt.flag(
    "--orders",
    "Compare how the measures order the runs, instead of the runs.",
    group="comparison",
)
@opt.convention_option
@opt.trusted_option
@opt.policy_options()
@opt.weights_option
@opt.columns_option
@opt.result_options(SAVED_AS, plain=["orders"], verbose=True, quiet=True)
def compare(
    judgements: str | None,
    runs: tuple[str, ...],
    values: tuple[str, ...],
    orders: bool,
    **options: Any,
) -> Any:
    """Compare RUN files: differences, confidence intervals, significance tests and verdicts.

    With --baseline every other run is compared with it. Otherwise the second of two runs is
    compared with the first, or all pairs of more. The measure is nDCG@10 unless -m names others.
    NAME=FILE names a run. NAME=FILE,FILE,... are repeats of one system, such as other seeds, which
    are compared as one. Rankings files (*.rankings) can replace QRELS and RUN.
    """
    if orders:
        opt.refuse(["slices"], "is not for --orders")
    if values:
        files = (*values, *((judgements,) if judgements is not None else ()), *runs)
        comparison = _compare_values(files, **options)
    else:
        if judgements is None:
            raise click.UsageError("give QRELS and at least two RUN, or --values FILE.")
        opt.refuse(["lower_is_better"], "is for --values")
        del options["lower_is_better"]
        from judged.measures import HEADLINE

        if not (options["measures"] or options["convention"] or orders):
            options["measures"] = (HEADLINE,)
        comparison = opt.score_runs(compare_runs, judgements, runs, **options)
    return comparison.orders() if orders else comparison


def _compare_values(files: tuple[str, ...], **options: Any) -> Comparison:
    known = ("measures", "lower_is_better", *OF_BOTH)
    opt.refuse([name for name in options if name not in known], "is not for --values")
    names = options["measures"] or (None,)
    if len(names) > 1:
        raise click.UsageError("-m names the one measure of --values whose files do not name it.")
    settings = {name: options[name] for name in ("lower_is_better", *OF_BOTH)}
    return compare_values(list(files), measure_name=names[0], **settings)
