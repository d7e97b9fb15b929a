"""Per-query values that any tool computed: their direction, range and weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats
from judged.comparison.numbers import Compared, Entry, Numbers
from judged.comparison.wording import some
from judged.errors import InputError, JudgedError, MeasureError, quoted
from judged.measures import Measure, parse_measure
from judged.rankings.rankings import Rankings
from judged.statistics.samples import Means, Median, Sample, relative
from judged.text import Warned, listed

if TYPE_CHECKING:
    from judged.options import WeightsLike


def numbers_of_values(
    values: Any,
    *,
    lower_is_better: str | Iterable[str] = (),
    measure_name: str | None = None,
    weights: WeightsLike | None = None,
) -> Numbers:
    """Read values from a dict, a table or files; queries of weight 0 are left out."""
    from judged.inputs.values import UNWEIGHTED, values_of

    given = values_of(values, measure_name=measure_name)
    lower = _lower(lower_is_better, given.measures)
    tables = {name: given.of(name) for name in given.measures}
    queries = tuple(sorted({query for found, _ in tables.values() for query in found}))
    place = {query: at for at, query in enumerate(queries)}
    notes = list(given.notes)
    weighed = None
    if weights is not None:
        weighed, said = _weighed(weights, queries)
        notes = [note for note in notes if not note.endswith(UNWEIGHTED)] + said
    knows = {name: measure_of(given.in_full.get(name, name)) for name in tables}
    measures, entries = [], {}
    for name, (own, table) in tables.items():
        known = knows[name]
        aggregate = _aggregate(known)
        if aggregate == "sum" and weighed is not None:
            raise MeasureError(
                f"{name} is a sum over the queries, for which weights are not defined; leave it "
                "out, or use its mean."
            )
        measures.append(_compared(name, known, lower, given.higher_is_better, table, notes))
        at = np.fromiter((place[query] for query in own), np.int64, len(own))
        order = np.argsort(at)
        if weighed is not None:
            order = order[weighed[at[order]] > 0]
        shares = None if weighed is None else relative(weighed[at[order]])
        for column, run in enumerate(given.runs):
            ordered = table[order, column]
            entries[name, run] = Entry(_sample(ordered, aggregate, shares), ordered, at[order])
    assumed = [
        each.name
        for each in measures
        if not (each.name in (*lower, *given.higher_is_better) or knows[each.name])
    ]
    if assumed:
        notes.append(
            f"Higher values of {listed(assumed)} are assumed to be better. If lower ones are, name "
            "them in lower_is_better (--lower-is-better)."
        )
    return Numbers(given.runs, queries, tuple(measures), entries, notes=tuple(notes))


def measure_of(name: str) -> Measure | None:
    """Return judged's measure of this name; None if there is none.

    >>> measure_of("nDCG@10"), measure_of("GMAP"), measure_of("latency")
    (nDCG@10, AP(aggregate=geometric), None)
    """
    try:
        return parse_measure(name)
    except JudgedError:
        return None


def _aggregate(known: Measure | None) -> str:
    """Return the aggregate of a measure; the mean for unknown ones."""
    return known.params["aggregate"] if known is not None and _of_values(known) else "mean"


def _weighed(given: WeightsLike, queries: Sequence[str]) -> tuple[Floats, list[str]]:
    """Return the weight of each query, and notes on weights without effect."""
    from judged.inputs.keyed import read_weights

    known = read_weights(given)
    found, unknown = known.of(queries, "query", "queries"), known.unknown(queries)
    idle = [query for query, weight in zip(queries, found, strict=True) if not weight]
    said = []
    if idle:
        said.append(f"{some(idle)} of weight 0 left out.")
    if unknown:
        said.append(f"{known.source}: weights of {some(unknown)} without values ignored.")
    return found, said


def _lower(given: str | Iterable[str], measures: Sequence[str]) -> tuple[str, ...]:
    """Check the names of measures of which lower values are better."""
    wrong = InputError(f"lower_is_better must be names of measures; got {quoted(given)}.")
    try:
        found = (given,) if isinstance(given, str) else tuple(given)
    except TypeError:
        raise wrong from None
    for name in found:
        if not isinstance(name, str):
            raise wrong
        if name not in measures:
            raise InputError(
                f"lower_is_better names {quoted(name)}, which is not one of the measures: "
                f"{', '.join(measures)}."
            )
    return found


def _compared(
    name: str,
    known: Measure | None,
    lower: Sequence[str],
    said: Any,
    table: Floats,
    notes: list[str],
) -> Compared:
    """Return a measure with its direction and range, by its name, the file and the caller."""
    higher = said.get(name)
    if higher is None and known is not None:
        higher = known.spec.higher_is_better
    if name in lower and higher:
        raise InputError(
            f"lower_is_better names {name}, of which higher values are better; leave it out, or "
            "rename the values."
        )
    found = Compared(name, name not in lower and higher is not False)
    if known is None:
        return found
    if not _of_values(known):
        notes.append(
            Warned(
                f"{name} is not a mean of per-query values. The comparison uses the mean of these "
                "values, which is another number."
            )
        )
    low, high = map(float, known.spec.range)
    if table.size and (table.min() < low or table.max() > high):
        notes.append(
            Warned(
                f"Values of {name} go from {table.min():g} to {table.max():g}, those of judged's "
                f"{name} from {low:g} to {high:g}. They are compared unchanged."
            )
        )
        return found
    return replace(found, range=(low, high))


def _of_values(measure: Measure) -> bool:
    """Return whether a measure's value is computed from one value per query."""
    return measure.gives(Rankings.from_relevance([[1]])) is None


def _sample(values: Floats, aggregate: str, weights: Floats | None) -> Sample:
    if aggregate == "median":
        return Median.of_values(values, weights)
    return Means.of_values(values, aggregate, weights)
