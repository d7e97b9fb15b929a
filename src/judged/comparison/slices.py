"""Slices of the queries: the runs compared in each, and whether differences differ between them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Ints
from judged.comparison.numbers import Numbers, own_intervals
from judged.comparison.outcomes import (
    Mask,
    Match,
    columns_of,
    group_by_measure,
    group_by_queries,
    match_pair,
)
from judged.comparison.settings import CORRECTIONS, SIMULTANEOUS, ComparisonSettings
from judged.comparison.verdicts import (
    SIGNIFICANT,
    Depends,
    Pair,
    by_importance,
    decide_matches,
    list_pairs,
)
from judged.comparison.wording import shown_p
from judged.errors import InputError
from judged.rankings.rankings import ANY_GRADE
from judged.results import ResultPart, Table, plain_value
from judged.statistics.intervals import Interval
from judged.statistics.ranks import corrected
from judged.statistics.samples import effective_units
from judged.statistics.t import below, between
from judged.text import Left, Warned, counted, listed

if TYPE_CHECKING:
    import polars as pl

    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.export import Look


@dataclass(frozen=True)
class Slice:
    """Queries with one value of an attribute, and the runs compared on these alone."""

    attribute: str
    name: str  # the attribute's value, or its first and last value
    queries: int  # number of queries that count in any run
    rows: tuple[Pair, ...]
    """A row for each measure and pair of runs; p is corrected over all slices of the attribute."""
    intervals: Mapping[tuple[str, str], Interval]
    """Each run's value with its confidence interval, by measure and run."""

    @property
    def shows_worse(self) -> bool:
        """True if a run is significantly worse here than the one it is compared with."""
        return any(row.verdict == "worse" for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        runs: dict[str, dict[str, Any]] = {}
        for (measure, run), interval in self.intervals.items():
            runs.setdefault(run, {})[measure] = interval.to_dict()
        return {
            "attribute": self.attribute,
            "slice": self.name,
            "queries": self.queries,
            "runs": [{"name": run, "intervals": by_measure} for run, by_measure in runs.items()],
            **({"pairs": plain_value(self.rows)} if self.rows else {}),
        }


@dataclass(frozen=True)
class SliceTest(ResultPart):
    """Test of whether the difference between two runs differs between slices (Welch's F)."""

    attribute: str
    measure: str
    run: str
    against: str
    queries: int  # number of queries that count in both runs and are in a slice
    statistic: float
    p: float
    corrected_p: float  # p, corrected for the number of pairs of the measure
    says: str


@dataclass(frozen=True)
class Slices:
    """All slices of a comparison, those with a significantly worse run first."""

    slices: tuple[Slice, ...] = ()
    differences: tuple[SliceTest, ...] = ()
    """Tests of each pair between the slices of each attribute."""
    notes: tuple[str, ...] = field(default=())

    def __iter__(self) -> Iterator[Slice]:
        return iter(self.slices)

    def __len__(self) -> int:
        return len(self.slices)

    @property
    def rows(self) -> list[Pair]:
        """All pairs in all slices."""
        return [row for part in self.slices for row in part.rows]

    def sentences(self) -> list[str]:
        """Return the significant differences in slices, and the tests between slices."""
        rows = [row for row in self.rows if row.verdict in SIGNIFICANT]
        return [*by_importance(rows), *(test.says for test in self.differences)]

    def to_dict(self) -> dict[str, Any]:
        between = {"between_slices": plain_value(self.differences)}
        return {"slices": plain_value(self.slices), **(between if self.rows else {})}

    def value_tables(self, evaluation: Evaluation, look: Look) -> list[Table]:
        """Return a table for each attribute: the value of each run in each slice."""
        names = [look.name(label, measure) for label, measure in evaluation.labels.items()]
        rows: dict[str, list[list[str]]] = {}
        for part in self.slices:
            for run in evaluation.runs:
                values = [
                    look.number(part.intervals[label, run.name].estimate, measure)
                    for label, measure in evaluation.labels.items()
                ]
                cells = [part.name, f"{part.queries:,}", run.name, *values]
                rows.setdefault(part.attribute, []).append(cells)
        return [
            Table([Left(attribute), "queries", Left("run"), *names], lines)
            for attribute, lines in rows.items()
        ]


# -- cutting queries into slices

RELEVANT = "relevant"
"""Attribute that is always available: the number of relevant items of a query."""
MAX_NUMBERS = 8
"""Numeric attributes with more distinct values are cut into thirds."""
MAX_SLICES = 50
"""Text attributes with more distinct values are ignored."""


def compare_slices(
    numbers: Numbers,
    attributes: Any,
    settings: ComparisonSettings,
    baseline: str | None,
    relevant: Callable[[], Ints] | None = None,
    depends: Depends | None = None,
) -> Slices:
    """Compare the runs in each slice by attributes, which may be None or False."""
    given = attributes is not None and attributes is not False
    if settings.correction in SIMULTANEOUS and given:
        raise InputError(
            f"{CORRECTIONS[settings.correction]} cannot correct over all slices of an attribute; "
            "use correction holm."
        )
    cuts, notes = cut_slices(numbers, attributes, relevant, also_relevant=True)
    pairs = list_pairs(numbers.runs, baseline)
    slices: list[Slice] = []
    differences: list[SliceTest] = []
    for name, parts in cuts.items():
        slices += _slices(numbers, name, parts, settings, pairs, depends)
        tested, small = _differences(numbers, name, parts, settings, pairs)
        differences += tested
        notes += small
    worse = {part.attribute for part in slices if part.shows_worse}
    slices.sort(key=lambda part: part.attribute not in worse)
    notes += _untested(numbers, slices)
    return Slices(tuple(slices), tuple(differences), tuple(notes))


def cut_slices(
    numbers: Numbers,
    attributes: Any,
    relevant: Callable[[], Ints] | None,
    *,
    also_relevant: bool = False,
) -> tuple[dict[str, dict[str, Ints]], list[str]]:
    """Return the positions of the queries in each slice, by attribute and name, and notes."""
    # The number of relevant items is an attribute too if no other is given, or if `also_relevant`.
    import polars as pl

    from judged.inputs.keyed import attributes_of

    if attributes is None or attributes is False:
        return {}, []
    alone = attributes is True or (
        isinstance(attributes, str) and attributes == RELEVANT and not os.path.lexists(RELEVANT)
    )
    if alone and relevant is None:
        raise InputError(
            "the number of relevant items per query is known only if judged evaluates the runs; "
            "give slices as {query: {attribute: value}}, a table or a file."
        )
    columns: dict[str, pl.Series] = {}
    notes: list[str] = []
    counting = numbers.counting
    if not alone:
        known = attributes_of(attributes, [numbers.queries[i] for i in counting])
        columns |= known.frame.to_dict()
        notes += known.notes
    if relevant is not None and (alone or also_relevant):
        columns[RELEVANT] = pl.Series(relevant()[counting])
    cuts = {}
    for attribute, column in columns.items():
        names, labels, about = cut(attribute, column)
        notes += about
        if names:
            cuts[attribute] = {name: counting[labels == i] for i, name in enumerate(names)}
    return cuts, notes


def evaluate_slices(evaluation: Evaluation, attributes: Any, level: float, groups: Any) -> Slices:
    """Return the values of the runs in each slice, with their confidence intervals."""
    numbers = Numbers.of(evaluation).in_groups(groups)
    relevant = partial(relevant_items, evaluation, numbers.queries)
    cuts, notes = cut_slices(numbers, attributes, relevant)
    settings = ComparisonSettings(level=level)
    slices = (
        Slice(attribute, name, len(place), (), own_intervals(numbers.only(place), settings))
        for attribute, parts in cuts.items()
        for name, place in parts.items()
    )
    return Slices(tuple(slices), notes=tuple(notes))


def cut(attribute: str, column: pl.Series) -> tuple[tuple[str, ...], Ints, list[str]]:
    """Cut an attribute into slices by its values, or into thirds if it has many numbers."""
    # Return the names of the slices, the number of each query's slice, which is -1 without a value,
    # and notes.
    missing = column.null_count()
    notes: list[str] = []
    if missing:
        notes.append(
            f"Attribute {attribute}: {counted(missing, 'query', 'queries')} without a value "
            f"{'is' if missing == 1 else 'are'} in no slice."
        )
    known = column.is_not_null().to_numpy()
    labels = np.full(len(column), -1)
    values = column.drop_nulls()
    if not len(values):
        return (), labels, notes
    if not values.dtype.is_numeric():
        texts, labels[known] = np.unique(values.to_numpy().astype(str), return_inverse=True)
        if len(texts) <= MAX_SLICES:
            return tuple(map(str, texts)), labels, notes
        many = f"{len(texts):,} distinct values (maximum {MAX_SLICES})"
        return (), labels, [*notes, Warned(f'Ignored attribute "{attribute}": {many}.')]
    numbers, where = np.unique(values.to_numpy(), return_inverse=True)
    if len(numbers) <= MAX_NUMBERS:
        labels[known] = where
        return _texts(numbers, numbers), labels, notes
    ends = cut_into_thirds(np.bincount(where))
    labels[known] = np.searchsorted(ends, where, side="right")
    first, last = numbers[[0, *ends]], numbers[[ends[0] - 1, ends[1] - 1, -1]]
    return _texts(first, last), labels, notes


def cut_into_thirds(counts: Ints) -> tuple[int, int]:
    """Return where to cut sorted values, with these counts, into three parts of similar size."""
    # Equal values stay together and no part is empty. The sum of squared sizes is minimal; among
    # equals, the cuts are nearest to the thirds.
    upto, size = np.cumsum(counts), int(counts.sum())
    first = np.arange(len(counts) - 2)
    # The rest is cut most evenly at one of both values around its middle.
    after = np.searchsorted(upto, (upto[first] + size) / 2)
    first = np.r_[first, first]
    second = np.clip(np.r_[after - 1, after], first + 1, len(counts) - 2)
    ends = upto[first], upto[second]
    squares = ends[0] ** 2 + (ends[1] - ends[0]) ** 2 + (size - ends[1]) ** 2
    away = np.abs(3 * ends[0] - size) + np.abs(3 * ends[1] - 2 * size)
    best = np.lexsort((away, squares))[0]
    return int(first[best]) + 1, int(second[best]) + 1


def _texts(first: Any, last: Any) -> tuple[str, ...]:
    """Return names of slices from one number to another, with enough digits to be distinct."""
    for digits in (6, 12, 17):
        ends = [
            (f"{low:.{digits}g}", f"{high:.{digits}g}")
            for low, high in zip(first, last, strict=True)
        ]
        names = tuple(low if low == high else f"{low} to {high}" for low, high in ends)
        if len({end for pair in ends for end in pair}) == len({*first.tolist(), *last.tolist()}):
            break
    return names


def _slices(
    numbers: Numbers,
    attribute: str,
    places: Mapping[str, Ints],
    settings: ComparisonSettings,
    pairs: Sequence[tuple[str, str]],
    depends: Depends | None,
) -> list[Slice]:
    """Compare the runs in all slices of an attribute, corrected as one family."""
    parts = {name: numbers.only(place) for name, place in places.items()}
    matches = [
        (name, match_pair(part, measure, *pair))
        for name, part in parts.items()
        for measure in numbers.measures
        for pair in pairs
    ]
    owner = [name for name, match in matches if match.queries]
    rows = decide_matches(
        [match for _, match in matches if match.queries],
        settings,
        numbers,
        depends,
        [(attribute, name) for name in owner],
        [places[name] for name in owner],
    )
    compared = [
        Slice(
            attribute,
            name,
            len(places[name]),
            tuple(row for row, of in zip(rows, owner, strict=True) if of == name),
            own_intervals(part, settings),
        )
        for name, part in parts.items()
    ]
    return sorted(compared, key=lambda part_: not part_.shows_worse)


def _differences(
    numbers: Numbers,
    attribute: str,
    places: Mapping[str, Ints],
    settings: ComparisonSettings,
    pairs: Sequence[tuple[str, str]],
) -> tuple[list[SliceTest], list[str]]:
    """Test each pair between the slices of an attribute, with a note on slices too small for it."""
    names, label = list(places), np.full(len(numbers.queries), -1)
    for i, place in enumerate(places.values()):
        label[place] = i
    part = numbers.only(np.flatnonzero(label >= 0))
    every = [match_pair(part, measure, *pair) for measure in numbers.measures for pair in pairs]
    matches = [match for match in every if match.averaged is not None and match.queries]
    statistic, p, among = np.full((3, len(matches)), np.nan)
    needed, small = settings.fewest_units, set()
    for same in group_by_queries(matches):
        first = matches[same[0]]
        slices, weights, groups = label[first.ours.place], first.weights, first.groups
        few = [
            number for number in np.unique(slices) if _units_in(slices == number, first) < needed
        ]
        small |= {names[number] for number in few}
        large = ~np.isin(slices, few)
        numbered = np.unique(slices[large], return_inverse=True)[1].reshape(-1)
        if numbered.max(initial=0) > 0:
            columns = columns_of([matches[i] for i in same])[large]
            weights = None if weights is None else weights[large]
            groups = None if groups is None else groups[large]
            with np.errstate(all="ignore"):
                statistic[same], p[same] = between(columns, numbered, weights, groups)
    for family in group_by_measure(matches).values():
        among[family] = corrected(p[family], settings.correction)
    numbers_by_match = zip(statistic.tolist(), p.tolist(), among.tolist(), strict=True)
    differences = [
        _slice_test(attribute, match, *tested, settings.level)
        for match, tested in zip(matches, numbers_by_match, strict=True)
        if not np.isnan(tested[1])
    ]
    if not small:
        return differences, []
    units = "queries" if numbers.groups is None else "groups"
    weighted = numbers.groups is not None or any(match.weights is not None for match in matches)
    by_weight = " (by weight)" if weighted else ""
    note = (
        f"Attribute {attribute}: {listed([name for name in names if name in small])} "
        f"{'has' if len(small) == 1 else 'have'} fewer than {needed} {units}{by_weight}, too few "
        "for the test between slices."
    )
    return differences, [note]


def _slice_test(
    attribute: str, match: Match, statistic: float, p: float, among: float, level: float
) -> SliceTest:
    name, pair = match.measure.name, f"{match.run} and {match.against}"
    differs = "differs" if below(among, level) else "does not differ"
    p_name = "p" if among == p else "corrected p"
    says = (
        f"{name}: the difference between {pair} {differs} significantly between slices of "
        f"{attribute} ({p_name} {shown_p(among).replace('<', '< ')})."
    )
    return SliceTest(
        attribute, name, match.run, match.against, match.queries, statistic, p, among, says
    )


def _units_in(which: Mask, match: Match) -> float:
    weights = None if match.weights is None else match.weights[which]
    groups = None if match.groups is None else match.groups[which]
    return effective_units(int(which.sum()), weights, groups)


def _untested(numbers: Numbers, slices: Sequence[Slice]) -> list[str]:
    kinds = {
        measure.name: numbers.entry(measure, numbers.runs[0]).sample.averaged is None
        for measure in numbers.measures
    }
    names = [name for name, other in kinds.items() if other]
    if not names or not slices:
        return []
    verb = "is not a mean" if len(names) == 1 else "are not means"
    return [f"{listed(names)} {verb} over queries, so slices were not tested against each other."]


def relevant_items(evaluation: Evaluation, queries: Sequence[str]) -> Ints:
    about = evaluation.runs[0].rankings
    counts = about.relevant(ANY_GRADE).astype(np.int64)
    by_query = dict(zip(about.queries, counts.tolist(), strict=True))
    return np.array([by_query[query] for query in queries], np.int64)
