"""Queries cut into slices by what is known of them, and the runs compared in each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Ints
from judged.comparison.match import Mask, Match, alike, columns_of, matched
from judged.comparison.numbers import Numbers, own_interval
from judged.comparison.outcomes import families
from judged.comparison.settings import CORRECTIONS, SIMULTANEOUS, Settings
from judged.comparison.verdicts import Depends, Pair, by_importance, compared_runs, rows_of
from judged.comparison.wording import shown_p
from judged.errors import InputError
from judged.rankings.rankings import ANY_GRADE
from judged.statistics.corrections import corrected
from judged.statistics.intervals import Interval
from judged.statistics.student import between
from judged.statistics.tested import below, fewest_units
from judged.statistics.units import effective_units
from judged.text import Warned, counted, listed, plain

if TYPE_CHECKING:
    import polars as pl

    from judged.evaluation.evaluation import Evaluation


@dataclass(frozen=True)
class Slice:
    """Some of the queries, and the runs compared on these alone.

    >>> import judged
    >>> values = {"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}}
    >>> languages = {"1": {"language": "de"}, "2": {"language": "en"}}
    >>> [each.name for each in judged.compare_values(values, slices=languages).slices]
    ['de', 'en']
    """

    attribute: str
    """What the queries were told apart by."""
    name: str
    """Its value in this slice, or the first and the last of its values."""
    queries: int
    """How many queries there are that count in any run."""
    rows: tuple[Pair, ...]
    """One row per measure and pair of runs, as of all queries; p is corrected over all slices of
    the attribute."""
    intervals: Mapping[tuple[str, str], Interval]
    """The number of each run with its interval, by measure and run."""

    @property
    def shows_worse(self) -> bool:
        """Whether a run is shown worse here than the one it is compared with."""
        return any(row.verdict == "worse" for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON.

        Returns
        -------
        dict

        >>> Slice("language", "de", 2, (), {}).to_dict()["slice"]
        'de'
        """
        runs: dict[str, dict[str, Any]] = {}
        for (measure, run), each in self.intervals.items():
            runs.setdefault(run, {})[measure] = each.to_dict()
        return {
            "attribute": self.attribute,
            "slice": self.name,
            "queries": self.queries,
            "runs": [{"name": run, "intervals": own} for run, own in runs.items()],
            "pairs": [row.to_dict() for row in self.rows],
        }


@dataclass(frozen=True)
class Difference:
    """Whether the difference between two runs itself differs between slices.

    >>> Difference("language", "AP", "b", "a", 50, 0.4, 0.7, 0.7, "…").to_dict()["p"]
    0.7
    """

    attribute: str
    """What the queries were told apart by."""
    measure: str
    """What the measure is called."""
    run: str
    """The run that is compared."""
    against: str
    """The run that it is compared with."""
    queries: int
    """How many queries count in both and are in a slice."""
    statistic: float
    """Welch's F: how far the slices' mean differences are apart, by their standard errors."""
    p: float
    """How often that is as large where the mean difference is the same in all slices."""
    corrected_p: float
    """The same among all pairs of the measure."""
    says: str
    """The same as a sentence."""

    @classmethod
    def of(
        cls, attribute: str, match: Match, statistic: float, p: float, among: float, level: float
    ) -> Difference:
        """What a test found, with its sentence."""
        name, pair = match.measure.name, f"{match.run} and {match.against}"
        shown = "differs" if below(among, level) else "is not shown to differ"
        called = "p" if among == p else "corrected p"
        says = (
            f"{name}: the difference between {pair} {shown} between slices of {attribute} "
            f"({called} {shown_p(among).replace('<', '< ')})."
        )
        given = (match.run, match.against, match.queries, statistic, p, among, says)
        return cls(attribute, name, *given)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON.

        Returns
        -------
        dict

        >>> Difference("language", "AP", "b", "a", 50, 0.4, 0.7, 0.7, "…").to_dict()["run"]
        'b'
        """
        return {
            "attribute": self.attribute,
            "measure": self.measure,
            "run": self.run,
            "against": self.against,
            "queries": self.queries,
            "statistic": plain(self.statistic),
            "p": plain(self.p),
            "corrected_p": plain(self.corrected_p),
            "says": self.says,
        }


@dataclass(frozen=True)
class Slices:
    """All slices of a comparison, those where a run is shown worse first.

    >>> len(Slices())
    0
    """

    slices: tuple[Slice, ...] = ()
    """The slices, attribute by attribute."""
    differences: tuple[Difference, ...] = ()
    """Whether the difference of each pair differs between the slices of each attribute."""
    notes: tuple[str, ...] = field(default=())
    """What was noticed on the way: queries in no slice, attributes that cannot be sliced by."""

    def __iter__(self) -> Iterator[Slice]:
        return iter(self.slices)

    def __len__(self) -> int:
        return len(self.slices)

    @cached_property
    def pairs(self) -> pl.DataFrame:
        """One row per slice, measure and pair, everything that is known of it in columns."""
        import polars as pl

        from judged.comparison.verdicts import frame_of

        found = frame_of([row for each in self.slices for row in each.rows])
        owners = [each for each in self.slices for _ in each.rows]
        return found.select(
            pl.Series("attribute", [each.attribute for each in owners], dtype=pl.String),
            pl.Series("slice", [each.name for each in owners], dtype=pl.String),
            pl.all(),
        )

    @cached_property
    def values(self) -> pl.DataFrame:
        """One row per slice, measure and run: its number there, with its own interval."""
        import polars as pl

        rows = [
            (each.attribute, each.name, each.queries, *key, of.estimate, of.low, of.high, of.method)
            for each in self.slices
            for key, of in each.intervals.items()
        ]
        texts = dict.fromkeys(("measure", "run"), pl.String)
        numbers = dict.fromkeys(("value", "low", "high"), pl.Float64)
        schema = {
            **{"attribute": pl.String, "slice": pl.String, "queries": pl.Int64},
            **texts,
            **numbers,
            "interval": pl.String,
        }
        return pl.DataFrame(rows, schema=schema, orient="row").with_columns(
            pl.col(*numbers).fill_nan(None)
        )

    def below(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """The pairs on all queries and below them those in slices."""
        import polars as pl

        nothing = pl.lit(None, pl.String)
        own = pairs.select(nothing.alias("attribute"), nothing.alias("slice"), pl.all())
        return pl.concat([own, self.pairs])

    def sentences(self) -> list[str]:
        """The differences that are shown in slices, losses first; then whether they differ between
        slices."""
        rows = [row for each in self.slices for row in each.rows]
        shown = [row for row in rows if row.verdict in ("better", "worse")]
        return [*by_importance(shown), *(each.says for each in self.differences)]

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON.

        Returns
        -------
        dict

        >>> Slices().to_dict()
        {'slices': [], 'between_slices': []}
        """
        return {
            "slices": [each.to_dict() for each in self.slices],
            "between_slices": [each.to_dict() for each in self.differences],
        }


RELEVANT = "relevant"
"""The attribute that is there by itself: how many relevant items a query has."""
MOST_VALUES = 8
"""Numbers with more different values are cut into thirds."""
MOST_SLICES = 50
"""Texts with more different values are no slices: each query would be one of its own."""

Within = Callable[[Ints], Depends]
"""From the queries of a slice to what finds out what verdicts in it depend on."""


@dataclass(frozen=True, eq=False)
class Cut:
    """An attribute, cut into slices."""

    attribute: str
    names: tuple[str, ...]
    """What the slices are called."""
    labels: Ints
    """The slice of each of the queries that count, by its number; -1 where nothing is known."""


def sliced(
    numbers: Numbers,
    given: Any,
    settings: Settings,
    baseline: str | None,
    relevant: Callable[[], Ints] | None = None,
    within: Within | None = None,
) -> Slices:
    """The runs compared in each slice; `relevant` tells how many relevant items each query has,
    where that is known."""
    if given is None or given is False:
        return Slices()
    if settings.correction in SIMULTANEOUS:
        raise InputError(
            f"{CORRECTIONS[settings.correction]} corrects the comparisons of one table, and those "
            "of all slices of an attribute are one family; choose holm."
        )
    counting = numbers.counting
    columns, notes = _columns(given, numbers, counting, relevant)
    pairs = compared_runs(numbers.runs, baseline)
    slices: list[Slice] = []
    differences: list[Difference] = []
    for name, column in columns.items():
        cut, note = cut_of(name, column)
        notes += note
        if cut is not None:
            own = _slices(numbers, counting, cut, settings, pairs, within)
            slices += own
            tested, small = _differences(numbers, counting, cut, settings, pairs)
            differences += tested
            notes += small
    worse = {each.attribute for each in slices if each.shows_worse}
    slices.sort(key=lambda each: each.attribute not in worse)
    notes += _untested(numbers, slices)
    return Slices(tuple(slices), tuple(differences), tuple(notes))


def _columns(
    given: Any, numbers: Numbers, counting: Ints, relevant: Callable[[], Ints] | None
) -> tuple[dict[str, pl.Series], list[str]]:
    """The attributes by name, each with a value per query that counts, and what was noticed."""
    import polars as pl

    from judged.inputs.keyed import attributes_of

    alone = given is True or (
        isinstance(given, str) and given == RELEVANT and not os.path.lexists(RELEVANT)
    )
    if alone and relevant is None:
        raise InputError(
            "how many relevant items each query has is known only where judged evaluates the "
            "runs; give slices as {query: {attribute: value}}, a table or a file."
        )
    found: dict[str, pl.Series] = {}
    notes: list[str] = []
    if not alone:
        known = attributes_of(given, [numbers.queries[at] for at in counting])
        found |= known.frame.to_dict()
        notes += known.notes
    if relevant is not None:
        found[RELEVANT] = pl.Series(relevant()[counting])
    return found, notes


def cut_of(attribute: str, column: pl.Series) -> tuple[Cut | None, list[str]]:
    """An attribute cut into slices, and what is to be said of it: numbers of more than eight values
    into thirds, everything else by its values."""
    missing = column.null_count()
    notes = []
    if missing:
        notes.append(
            f"{attribute}: {counted(missing, 'query', 'queries')} without a value "
            f"{'is' if missing == 1 else 'are'} in no slice."
        )
    known = column.is_not_null().to_numpy()
    labels = np.full(len(column), -1)
    values = column.drop_nulls()
    if not len(values):
        return None, notes
    if not values.dtype.is_numeric():
        names, labels[known] = np.unique(values.to_numpy().astype(str), return_inverse=True)
        if len(names) > MOST_SLICES:
            notes.append(
                Warned(
                    f"{attribute}: {len(names):,} different values are no slices, and it was left "
                    f"out; texts have at most {MOST_SLICES}."
                )
            )
            return None, notes
        return Cut(attribute, tuple(map(str, names)), labels), notes
    numbers, where = np.unique(values.to_numpy(), return_inverse=True)
    if len(numbers) <= MOST_VALUES:
        labels[known] = where
        return Cut(attribute, _texts(numbers, numbers), labels), notes
    ends = thirds(np.bincount(where))
    labels[known] = np.searchsorted(ends, where, side="right")
    first, last = numbers[[0, *ends]], numbers[[ends[0] - 1, ends[1] - 1, -1]]
    return Cut(attribute, _texts(first, last), labels), notes


def thirds(counts: Ints) -> tuple[int, int]:
    """Where values in order, each so often, are best cut into three parts: before which of them.
    Equal ones stay together, no part is empty, and the parts are as even as can be: the sum of
    their squared sizes is the smallest, and of equal ones the cuts nearest to the thirds.

    >>> thirds(np.array([2, 2, 2])), thirds(np.array([6, 1, 1, 1, 1]))
    ((1, 2), (1, 3))
    """
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
    """What slices from one number to another are called, with as many digits as tell them apart."""
    for digits in (6, 12, 17):
        ends = [
            (f"{low:.{digits}g}", f"{high:.{digits}g}")
            for low, high in zip(first, last, strict=True)
        ]
        found = tuple(low if low == high else f"{low} to {high}" for low, high in ends)
        if len({end for pair in ends for end in pair}) == len({*first.tolist(), *last.tolist()}):
            break
    return found


def _slices(
    numbers: Numbers,
    counting: Ints,
    cut: Cut,
    settings: Settings,
    pairs: Sequence[tuple[str, str]],
    within: Within | None,
) -> list[Slice]:
    """The slices of an attribute, those where a run is shown worse first; corrected as one
    family."""
    places = [counting[cut.labels == number] for number in range(len(cut.names))]
    parts = [numbers.only(place) for place in places]
    owner, matches, where = [], [], []
    for number, part in enumerate(parts):
        for measure in numbers.measures:
            for pair in pairs:
                match = matched(part, measure, *pair)
                if match.queries:
                    owner.append(number)
                    matches.append(match)
                    where.append(f", {cut.attribute} {cut.names[number]}")
    rows = rows_of(matches, settings, numbers, _depends(owner, places, within), where)
    found = [
        Slice(
            cut.attribute,
            cut.names[number],
            len(places[number]),
            tuple(row for row, of in zip(rows, owner, strict=True) if of == number),
            {
                (measure.name, run): own_interval(part, measure, run, settings)
                for measure in part.measures
                for run in part.runs
            },
        )
        for number, part in enumerate(parts)
    ]
    return sorted(found, key=lambda each: not each.shows_worse)


def _depends(owner: Sequence[int], places: Sequence[Ints], within: Within | None) -> Depends | None:
    """What verdicts depend on, each in its own slice."""
    if within is None:
        return None

    def depends(matches: Sequence[Match], words: Sequence[str]) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = [{}] * len(matches)
        for number in dict.fromkeys(owner):
            which = [at for at, of in enumerate(owner) if of == number]
            own = within(places[number])([matches[at] for at in which], [words[at] for at in which])
            for at, each in zip(which, own, strict=True):
                found[at] = each
        return found

    return depends


def _differences(
    numbers: Numbers,
    counting: Ints,
    cut: Cut,
    settings: Settings,
    pairs: Sequence[tuple[str, str]],
) -> tuple[list[Difference], list[str]]:
    """Whether the differences of each pair differ between the slices of an attribute, corrected
    over the pairs of a family; and a note on slices that are too small to be among them."""
    label = np.full(len(numbers.queries), -1)
    label[counting] = cut.labels
    part = numbers.only(counting[cut.labels >= 0])
    every = [matched(part, measure, *pair) for measure in numbers.measures for pair in pairs]
    matches = [match for match in every if match.averaged is not None and match.queries]
    statistic, p, among = np.full((3, len(matches)), np.nan)
    needed, small = fewest_units(settings.level), set()
    for same in alike(matches):
        first = matches[same[0]]
        slices, weights, groups = label[first.ours.place], first.weights, first.groups
        few = [each for each in np.unique(slices) if _units_in(slices == each, first) < needed]
        small |= {cut.names[each] for each in few}
        kept = ~np.isin(slices, few)
        numbered = np.unique(slices[kept], return_inverse=True)[1].reshape(-1)
        if numbered.max(initial=0) > 0:
            columns = columns_of([matches[at] for at in same])[kept]
            weights = None if weights is None else weights[kept]
            groups = None if groups is None else groups[kept]
            with np.errstate(all="ignore"):
                tested = between(columns, numbered, weights, groups)
            statistic[same], p[same] = tested.statistic, tested.p
    for family in families(matches, settings):
        among[family] = corrected(p[family], settings.correction)
    differences = [
        Difference.of(cut.attribute, match, f, alone, together, settings.level)
        for match, f, alone, together in zip(
            matches, statistic.tolist(), p.tolist(), among.tolist(), strict=True
        )
        if not np.isnan(alone)
    ]
    if not small:
        return differences, []
    units = "queries" if numbers.groups is None else "groups"
    weighted = numbers.groups is not None or any(match.weights is not None for match in matches)
    by_weight = " (by weight)" if weighted else ""
    note = (
        f"{cut.attribute}: {listed([name for name in cut.names if name in small])} "
        f"{'has' if len(small) == 1 else 'have'} fewer than {needed} {units}{by_weight}, too few "
        "for the test between slices."
    )
    return differences, [note]


def _units_in(which: Mask, match: Match) -> float:
    """How many queries, or groups, of equal weight those of a slice are worth."""
    weights = None if match.weights is None else match.weights[which]
    groups = None if match.groups is None else match.groups[which]
    return effective_units(int(which.sum()), weights, groups)


def _untested(numbers: Numbers, slices: Sequence[Slice]) -> list[str]:
    """A note on measures whose differences cannot be tested between slices."""
    kinds = {
        measure.name: numbers.entry(measure, numbers.runs[0]).sample.averaged is None
        for measure in numbers.measures
    }
    names = [name for name, other in kinds.items() if other]
    if not names or not slices:
        return []
    verb = "is no mean" if len(names) == 1 else "are no means"
    return [
        f"{listed(names)} {verb} over queries: whether differences differ between slices was not "
        "tested."
    ]


def relevant_items(evaluation: Evaluation, queries: Sequence[str]) -> Ints:
    """How many relevant items each query has: those with a grade above 0."""
    about = evaluation.runs[0].rankings
    counts = about.relevant(ANY_GRADE).astype(np.int64)
    by_query = dict(zip(about.queries, counts.tolist(), strict=True))
    return np.array([by_query[query] for query in queries], np.int64)
