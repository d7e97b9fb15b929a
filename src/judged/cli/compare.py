"""`judged compare`: test whether runs differ significantly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from judged.cli import _options as opt
from judged.cli._files import READS, command
from judged.comparison import compare as compare_runs
from judged.comparison import compare_values
from judged.comparison.settings import SAVED_AS
from judged.results import Result

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison

NOT_OF_ORDERS = ("slices", "sort", "decimals", "percent", "caption", "label")
OF_VALUES = ("measure_name", "lower_is_better")
"""Options for values only."""
OF_BOTH = (
    *("baseline", "test", "correction", "level", "margin", "groups", "slices", "weights", "seed"),
)
"""Options for runs and for values."""


@command(example="judged compare qrels.txt bm25.run dense.run -m nDCG@10 --baseline bm25")
@click.argument("judgements", metavar="QRELS", type=READS, required=False)
@click.argument("runs", metavar="RUN...", nargs=-1, type=READS)
@opt.text(
    "--values",
    "FILE",
    "Compare per-query values of another tool (table, JSON, trec_eval -q) instead of runs.",
    type=READS,
    multiple=True,
)
@opt.text("--measure-name", "NAME", "Name the measure of --values, if the files do not.")
@opt.text(
    "--lower-is-better",
    "NAME",
    "Treat lower values of this measure of --values as better.",
    multiple=True,
)
@opt.measures_option
@opt.comparison_options
@opt.slices_option
@opt.flag("--orders", "Compare how the measures order the runs, instead of the runs.")
@opt.conventions_option(
    "Score as another library does, such as ranx; several with --orders, 'judged' for none.",
    multiple=True,
)
@opt.trusted_option
@opt.scoring_options
@opt.memory_options
@opt.runs_options
@opt.engine_options
@opt.table_options
@opt.result_options(SAVED_AS)
def compare(
    judgements: str | None,
    runs: tuple[str, ...],
    values: tuple[str, ...],
    form: str | None,
    output: str | None,
    orders: bool,
    **options: Any,
) -> None:
    """Compare RUN files: differences, confidence intervals, significance tests and verdicts.

    With --baseline every other run is compared with it. Otherwise the second of two runs is
    compared with the first, or all pairs of more. NAME=FILE names a run. NAME=FILE,FILE,... are
    repeats of one system, such as other seeds, which are compared as one. Rankings files
    (*.rankings) can replace QRELS and RUN.
    """
    from judged.cli._terminal import deliver

    opt.check_format(form, output, Result.SAVED_AS if orders else SAVED_AS)
    if orders:
        opt.refuse(NOT_OF_ORDERS, "is not for --orders")
    convention = options.pop("convention")
    if values:
        if convention:
            raise click.UsageError("--convention is not for --values.")
        files = (*values, *((judgements,) if judgements is not None else ()), *runs)
        comparisons = [_compare_values(files, **options)]
    else:
        names = _conventions(convention, orders=orders)
        comparisons = [_compare(judgements, runs, convention=name, **options) for name in names]
    if orders:
        beside = dict(zip(convention[1:], comparisons[1:], strict=False))
        deliver(comparisons[0].orders(beside=beside or None), form, output)
    else:
        deliver(comparisons[0], form, output)


def _conventions(names: tuple[str, ...], *, orders: bool) -> list[str | None]:
    """Return the convention of each comparison; None for judged's own definitions."""
    if len(names) < 2:
        return [*names] or [None]
    if not orders:
        raise click.UsageError("several --convention are for --orders; give one of them.")
    if len(set(names)) < len(names):
        raise click.UsageError("--convention names a library twice; name each once.")
    return [None if name == "judged" else name for name in names]


def _compare(judgements: str | None, runs: tuple[str, ...], **options: Any) -> Comparison:
    if judgements is None:
        raise click.UsageError("give QRELS and at least two RUN, or --values FILE.")
    opt.refuse(OF_VALUES, "is for --values")
    measures, engine = options.pop("measures") or None, options.pop("engine")
    options = {name: value for name, value in options.items() if name not in OF_VALUES}
    data = opt.opened(engine, judgements, runs, options)
    return opt.score_runs(compare_runs, *data, measures, **options)


def _compare_values(files: tuple[str, ...], **options: Any) -> Comparison:
    opt.refuse(
        [name for name in options if name not in (*OF_VALUES, *OF_BOTH)], "is not for --values"
    )
    return compare_values(list(files), **{name: options[name] for name in (*OF_VALUES, *OF_BOTH)})
