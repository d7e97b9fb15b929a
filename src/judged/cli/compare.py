"""`judged compare`: is the difference between runs real?"""

from __future__ import annotations

from collections.abc import Iterable
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
    table_options,
    unanswerable_options,
    unique_option,
    weights_option,
)
from judged.comparison import compare as compare_runs
from judged.comparison import compare_values
from judged.comparison.exports import Exports
from judged.comparison.settings import CORRECTIONS, FAMILIES, TESTS
from judged.errors import InputError, quoted

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison


def _default(name: str) -> Any:
    return default_of(compare_runs, name)


def _margins(
    context: click.Context, param: click.Parameter, given: Iterable[str]
) -> dict[str, float] | float | None:
    """Margins as `compare` takes them: MEASURE=SIZE, or one SIZE for all measures."""
    found: dict[str, float] = {}
    for text in given:
        measure, _, size = text.rpartition("=")
        try:
            found[measure] = float(size)
        except ValueError:
            raise InputError(
                f"--margin must be a size, or MEASURE=SIZE as nDCG@10=0.01; got {quoted(text)}."
            ) from None
    if "" not in found:
        return found or None
    if len(found) > 1:
        raise InputError("--margin is one size for all measures, or MEASURE=SIZE for each.")
    return found[""]


@command(short_help="Compare runs: is the difference real?")
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
@click.option(
    "--baseline",
    metavar="RUN",
    help="The run that all others are compared with; by default the first of two, and all pairs of "
    "more.",
)
@click.option(
    "--test",
    type=click.Choice(list(TESTS)),
    default=_default("test"),
    show_default=True,
    help="; ".join(f"{name}: {words}" for name, words in TESTS.items()) + ".",
)
@click.option(
    "--correction",
    type=click.Choice(list(CORRECTIONS)),
    default=_default("correction"),
    show_default=True,
    help="How p is corrected for the number of comparisons.",
)
@click.option(
    "--family",
    type=click.Choice(list(FAMILIES)),
    default=_default("family"),
    show_default=True,
    help="Which comparisons are corrected together: those of a measure, or all.",
)
@click.option(
    "--level",
    type=float,
    default=_default("level"),
    show_default=True,
    metavar="SHARE",
    help="The level of intervals; a difference is shown where the corrected p is below 1 - level.",
)
@click.option(
    "--power",
    type=float,
    default=_default("power"),
    show_default=True,
    metavar="SHARE",
    help="How often the difference that is called detectable would have been found.",
)
@click.option(
    "--margin",
    metavar="MEASURE=SIZE",
    multiple=True,
    callback=_margins,
    help="The smallest difference that matters, as nDCG@10=0.01, or one for all measures: 0.01. "
    "Runs shown to differ by less are equivalent.",
)
@click.option(
    "--groups",
    metavar="FILE",
    type=READS,
    help="A table of queries and their groups, as sessions: queries of a group count together.",
)
@click.option(
    "--slices",
    metavar="FILE",
    type=READS,
    help="A table of queries and their attributes, as language: runs are compared in each slice "
    "too, and by the number of relevant items; 'relevant' is that alone.",
)
@click.option(
    "--unjudged-range",
    is_flag=True,
    help="Check whether unjudged results could change a verdict.",
)
@click.option(
    "--resamples",
    type=int,
    default=_default("resamples"),
    show_default=True,
    metavar="N",
    help="How many sign flips or resamples are drawn, where some are.",
)
@click.option(
    "--seed",
    type=int,
    default=_default("seed"),
    show_default=True,
    metavar="N",
    help="What they are drawn from.",
)
@convention_option
@policy_options
@weights_option
@unanswerable_options
@depth_option
@collection_option
@unique_option
@duplicates_option
@data_options
@table_options
@result_options(Exports.SAVED_AS)
def compare(
    judgements: str | None,
    runs: tuple[str, ...],
    values: tuple[str, ...],
    form: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """Compare RUN files that were scored against the judgements in QRELS: by how much they differ,
    how sure that is, and what it means.

    With --baseline every other run is compared with it; of two runs the second with the first;
    otherwise all pairs. Files are read as by 'judged evaluate'; NAME=FILE gives a run a name, and
    NAME=FILE,FILE,... are repeats of one system, as with other seeds, which are compared as one.
    """
    from judged.cli._terminal import deliver, fitted

    check_format(form, output, Exports.SAVED_AS)
    if values:
        files = (*values, *((judgements,) if judgements is not None else ()), *runs)
        found = _of_values(files, **options)
    else:
        found = _of_runs(judgements, runs, **options)
    deliver(found, form, output, show=fitted)


OF_VALUES = ("measure_name", "lower_is_better")
"""Options for values only."""
OF_BOTH = (
    *("baseline", "test", "correction", "family", "level", "power", "margin", "groups", "slices"),
    *("resamples", "seed"),
)
"""Options for runs and for values."""


def _of_runs(judgements: str | None, runs: tuple[str, ...], **options: Any) -> Comparison:
    from judged.cli._terminal import counting

    if judgements is None:
        raise click.UsageError("give QRELS and at least two RUN, or --values FILE.")
    _refuse(OF_VALUES, "is for --values")
    measures = options.pop("measures")
    given = {name: each for name, each in options.items() if name not in OF_VALUES}
    with counting("Reading runs", len(runs) or 1, "") as advance:
        return compare_runs(
            judgements,
            runs or None,
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
