"""`judged compare`: is the difference between runs real?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from judged.cli._comparing_options import comparing_options
from judged.cli._engine_options import engine_options, opened
from judged.cli._files import READS, command
from judged.cli._options import (
    check_format,
    collection_option,
    complete_convention,
    data_options,
    depth_option,
    duplicates_option,
    measures_option,
    policy_options,
    result_options,
    said,
    table_options,
    trusted_option,
    unanswerable_options,
    unique_option,
    weights_option,
)
from judged.cli._room_options import room_options
from judged.cli._runs_options import runs_options
from judged.comparison import compare as compare_runs
from judged.comparison import compare_values
from judged.comparison.settings import SAVED_AS
from judged.results import Result

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison


@command(short_help="Say whether the difference of runs is real.")
@click.argument("judgements", metavar="QRELS", type=READS, required=False)
@click.argument("runs", metavar="RUN...", nargs=-1, type=READS)
@click.option(
    "--values",
    metavar="FILE",
    type=READS,
    multiple=True,
    help="Compare per-query values that another tool computed, in place of QRELS and RUN: a table "
    "with run, query, measure and value, or with a column per run; judged's per-query JSON or CSV; "
    "what trec_eval -q prints. Further files may follow.",
)
@click.option(
    "--measure-name",
    metavar="NAME",
    help="With --values: what the values are of, where the files do not say it.",
)
@click.option(
    "--lower-is-better",
    metavar="NAME",
    multiple=True,
    help="With --values: a measure of which lower values are better; may be given more than once.",
)
@measures_option
@comparing_options
@click.option(
    "--slices",
    metavar="FILE",
    type=READS,
    help="A table of queries and their attributes, as language: runs are compared in each slice "
    "too, and by the number of relevant items; 'relevant' is that alone.",
)
@click.option(
    "--orders",
    is_flag=True,
    help="In place of the comparison: whether the measures put the runs in the same order, how "
    "far their orders agree, and which runs swap. With several --convention, a measure as each of "
    "them has it.",
)
@click.option(
    "--convention",
    metavar="LIBRARY",
    multiple=True,
    shell_complete=complete_convention,
    help="Score as another library does, such as ranx or torchmetrics: its names are understood, "
    "measures are its variants of them, and the policy is its own where none is given. With "
    "--orders it may be given more than once, and 'judged' stands for none.",
)
@policy_options
@weights_option
@trusted_option
@unanswerable_options
@depth_option
@collection_option
@unique_option
@duplicates_option
@data_options
@room_options
@runs_options
@engine_options
@table_options
@result_options(SAVED_AS)
def compare(
    judgements: str | None,
    runs: tuple[str, ...],
    values: tuple[str, ...],
    form: str | None,
    output: str | None,
    orders: bool,
    **options: Any,
) -> None:
    """Compare RUN files that were scored against the judgements in QRELS: by how much they differ,
    how sure that is, and what it means.

    With --baseline every other run is compared with it; of two runs the second with the first;
    otherwise all pairs. Files are read as by 'judged evaluate'; NAME=FILE gives a run a name, and
    NAME=FILE,FILE,... are repeats of one system, as with other seeds, which are compared as one.
    """
    from judged.cli._terminal import deliver, fitted

    check_format(form, output, Result.SAVED_AS if orders else SAVED_AS)
    if orders:
        _refuse(NOT_OF_ORDERS, "is not for --orders")
    convention = options.pop("convention")
    if values:
        if convention:
            raise click.UsageError("--convention is not for --values.")
        files = (*values, *((judgements,) if judgements is not None else ()), *runs)
        found = [_of_values(files, **options)]
    else:
        conventions = _conventions(convention, orders=orders)
        found = [_of_runs(judgements, runs, convention=each, **options) for each in conventions]
    if orders:
        beside = dict(zip(convention[1:], found[1:], strict=False))
        deliver(found[0].orders(beside=beside or None), form, output)
    else:
        deliver(found[0], form, output, show=fitted)


OURS = "judged"
"""What stands for no convention, where several are given."""
NOT_OF_ORDERS = ("slices", "sort", "decimals", "percent", "caption", "label")
"""Options that orders have no use for."""


def _conventions(given: tuple[str, ...], *, orders: bool) -> list[str | None]:
    """The convention of each comparison; None for judged's own definitions."""
    if len(given) < 2:
        return [*given] or [None]
    if not orders:
        raise click.UsageError("several --convention are for --orders; give one of them.")
    if len(set(given)) < len(given):
        raise click.UsageError("--convention names a library twice; name each once.")
    return [None if each == OURS else each for each in given]


OF_VALUES = ("measure_name", "lower_is_better")
"""Options for values only."""
OF_BOTH = (
    *("baseline", "test", "correction", "level", "margin", "groups", "slices", "weights", "seed"),
)
"""Options for runs and for values."""


def _of_runs(judgements: str | None, runs: tuple[str, ...], **options: Any) -> Comparison:
    from judged.cli._terminal import counting

    if judgements is None:
        raise click.UsageError("give QRELS and at least two RUN, or --values FILE.")
    _refuse(OF_VALUES, "is for --values")
    measures = options.pop("measures")
    engine = options.pop("engine")
    given = {name: each for name, each in options.items() if name not in OF_VALUES}
    with counting("Reading runs", len(runs) or 1, "") as advance:
        return compare_runs(
            *opened(engine, judgements, runs, given),
            measures or None,
            progress=advance and (lambda _: advance(1)),
            **given,
        )


def _of_values(files: tuple[str, ...], **options: Any) -> Comparison:
    _refuse([name for name in options if name not in (*OF_VALUES, *OF_BOTH)], "is not for --values")
    given = {name: options[name] for name in (*OF_VALUES, *OF_BOTH)}
    return compare_values(list(files), **given)


def _refuse(names: Iterable[str], why: str) -> None:
    """An error where one of these options was given."""
    parameters = {str(each.name): each for each in click.get_current_context().command.params}
    from judged.policy import CHOICES

    for name in (*names, *(CHOICES if "policy" in names else ())):
        if name in parameters and said(name):
            raise click.UsageError(f"{parameters[name].opts[-1]} {why}.")
