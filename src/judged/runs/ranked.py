"""Steps of a fusion: settings, ranked lists, contributions of results, and sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, borders, starts_of
from judged.errors import InputError, PolicyError, quoted
from judged.inputs.tables import Lookup, Run
from judged.matching.checks import EMPTY, nan_message, refuse_lost
from judged.matching.documents import as_table
from judged.matching.join import Hashed, distinct
from judged.options import choice, number
from judged.policy import Policy
from judged.runs import DEPTH, METHODS, NORMALISATIONS, TIES, K
from judged.text import listed

if TYPE_CHECKING:
    import polars as pl

    from judged.options import PolicyLike

MIN_WEIGHT, MAX_WEIGHT = 1e-9, 1e9
"""Weights beyond these would leave nothing of a list, or of all others."""


@dataclass(frozen=True)
class FusionSettings:
    """Checked settings of a fusion."""

    method: str
    k: int
    normalise: str | None
    """None if ranks are added instead of scores."""
    depth: int
    ties: str
    duplicates: str
    weights: tuple[float, ...]
    """One weight per run."""
    by_hand: bool
    """True if the caller gave the weights."""

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        method: Any,
        k: int,
        weights: Any,
        normalise: Any,
        policy: PolicyLike | None,
    ) -> FusionSettings:
        """Check the settings for runs with these names."""
        chosen = check_policy(policy, "fuse", "ties", "depth", "duplicates")
        if chosen.ties not in TIES:
            raise PolicyError(
                f"ties must be {listed([*TIES], 'or')} in a fusion; {chosen.ties} needs judgements."
            )
        method = choice("method", method, METHODS)
        if method == "rrf" and normalise is not None:
            raise InputError(
                "normalise applies to methods that add scores, but rrf adds ranks; leave it out, "
                "or choose another method, such as combsum."
            )
        if method != "rrf" and k != K:
            raise InputError(f"k applies to the method rrf, not to {method}; leave it out.")
        if method == "weighted" and weights is None:
            raise InputError("the method weighted needs weights, one for each run.")
        if method != "rrf":
            normalise = choice("normalise", normalise or "minmax", NORMALISATIONS)
        checked = (1.0,) * len(names) if weights is None else _check_weights(weights, names)
        depth = DEPTH if chosen.depth is None else chosen.depth
        return cls(
            *(method, k, normalise, depth, chosen.ties, chosen.duplicates, checked),
            by_hand=weights is not None,
        )

    @property
    def tag(self) -> str:
        """Method and options in one word, for the last column of TREC text."""
        parts = [f"k={self.k}" if self.normalise is None else self.normalise]
        if self.by_hand:
            parts.append("weights=" + ",".join(map(written, self.weights)))
        return f"{self.method}({','.join(parts)})"

    @property
    def adds_ranks(self) -> bool:
        """True if only the order of each list counts."""
        return self.normalise in (None, "rank")

    def formula(self) -> str:
        """Return how an item's score is computed, in words."""
        part = NORMALISATIONS.get(str(self.normalise), f"1 / ({self.k} + rank)")
        weighted = "the list's weight times " if self.by_hand else ""
        times = ", times the number of these lists" if self.method == "combmnz" else ""
        return f"the sum over the lists that have it of {weighted}{part}{times}"

    def to_dict(self) -> dict[str, Any]:
        """Return the settings that matter, as plain values."""
        by = {"k": self.k} if self.normalise is None else {"normalise": self.normalise}
        return {"method": self.method, **by, "depth": self.depth, "ties": self.ties}


def written(weight: float) -> str:
    """Return a weight with all its digits.

    >>> written(2.0), written(0.1)
    ('2', '0.1')
    """
    return repr(weight).removesuffix(".0")


def _check_weights(weights: Any, names: Sequence[str]) -> tuple[float, ...]:
    """Return a weight for each run, from {name: weight} or a list in the order of the runs."""
    if isinstance(weights, Mapping):
        if set(weights) != set(names):
            raise InputError(
                f"weights must have a number for each run ({listed(list(names))}); got "
                f"{quoted(weights)}."
            )
        weights = [weights[name] for name in names]
    elif not isinstance(weights, (list, tuple)) or len(weights) != len(names):
        raise InputError(
            f"weights must be a list with a number for each of the {len(names)} runs, or "
            f"{{name: number}}; got {quoted(weights)}."
        )
    return tuple(
        number(f"the weight of {name}", weight, at_least=MIN_WEIGHT, at_most=MAX_WEIGHT)
        for name, weight in zip(names, weights, strict=True)
    )


# -- lists of runs


def check_policy(policy: PolicyLike | None, function: str, *names: str) -> Policy:
    """Return a policy for runs without judgements, of which only these choices may differ."""
    chosen, usual = Policy.of(policy), Policy()
    for name in chosen.to_dict():
        if name not in names and getattr(chosen, name) != getattr(usual, name):
            raise PolicyError(
                f"{name} in policy has no meaning for {function}; it takes {listed(names)}."
            )
    return chosen


def read_distinct(run: Run | Lookup, duplicates: str) -> Hashed[Run]:
    """Return a run without duplicates; one that is empty or has a NaN score is an error."""
    rows = distinct(as_table(run, duplicates), duplicates)
    table = rows.table
    if not table.frame.height:
        raise InputError(f"{table.source}: {EMPTY}")
    refuse_lost(table)
    nan = table.frame["score"].is_nan().arg_true().to_numpy().astype(np.int64)
    if len(nan):
        raise InputError(nan_message(table, nan))
    return rows


Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, eq=False)
class RankedLists:
    """The lists of one run down to the depth, end to end, the best result of each first."""

    run: Run
    first: int
    """First row of the run among the rows of all runs."""
    query: Ints
    """Query number of each result, ascending."""
    row: Ints
    """Row of each result among the rows of all runs."""
    score: Floats
    """Descending in each list."""
    rank: Ints
    """From 1, ties broken."""
    tie: Ints
    """Tie number of each result, ascending; an untied result is a tie of one."""
    cut: int
    """Number of lists longer than the depth."""

    @property
    def starts(self) -> Ints:
        """First position of each list."""
        return np.flatnonzero(self.rank == 1)

    @property
    def lengths(self) -> Ints:
        """Length of each list."""
        return np.diff(np.append(self.starts, len(self.rank)))

    def each(self, of_list: NDArray[Number]) -> NDArray[Number]:
        """Repeat a value of each list for each of its results."""
        return np.repeat(of_list, self.lengths)

    def original(self, at: int | np.integer[Any]) -> tuple[str, str, float]:
        """Return the query, item and score of a result."""
        query, item, score = self.run.frame.row(int(self.row[at]) - self.first)[:3]
        return query, item, score

    def place(self, at: int | np.integer[Any]) -> str:
        """Return where a result was read, for messages."""
        return f"{self.run.source}, {self.run.where([int(self.row[at]) - self.first])}"


@dataclass(frozen=True, eq=False)
class CollectedRuns:
    """All runs, with one numbering of queries and one of items."""

    queries: pl.Series
    """All queries in the order of the runs."""
    items: pl.Series
    """The items of all rows, run after run."""
    runs: tuple[RankedLists, ...]


def collect(tables: Sequence[Run], *, depth: int, ties: str) -> CollectedRuns:
    """Rank the lists of all runs by score."""
    import polars as pl

    stretches = [_stretches(table.frame["query"]) for table in tables]
    named = pl.concat(
        [table.frame["query"].gather(at) for table, at in zip(tables, stretches, strict=True)]
    )
    queries = named.unique(maintain_order=True)
    numbered = queries.to_frame("query").with_row_index("number")
    number = (
        named.to_frame("query")
        .join(numbered, on="query", how="left", maintain_order="left")["number"]
        .to_numpy()
        .astype(np.int64)
    )
    items = pl.concat([table.frame["item"] for table in tables], rechunk=True)
    runs: list[RankedLists] = []
    first = 0
    for table, starts in zip(tables, stretches, strict=True):
        numbers, number = number[: len(starts)], number[len(starts) :]
        query = np.repeat(numbers, np.diff(np.append(starts, table.frame.height)))
        runs.append(_lists(table, query, items, first, depth, ties))
        first += table.frame.height
    return CollectedRuns(queries, items, tuple(runs))


def _stretches(query: pl.Series) -> Ints:
    return (query != query.shift()).fill_null(True).arg_true().to_numpy().astype(np.int64)


def _lists(
    table: Run, query: Ints, items: pl.Series, first: int, depth: int, ties: str
) -> RankedLists:
    """Rank the lists of a run whose rows have these queries and start at row `first`."""
    order = np.arange(len(query))
    if (query[1:] < query[:-1]).any():
        order = np.argsort(query, kind="stable")
        query = query[order]
    score = table.frame["score"].to_numpy()[order]
    lengths = np.bincount(query)
    place, new = ranked(score, query, items, order + first, ties)
    rank = np.arange(len(query)) - np.repeat(starts_of(lengths), lengths) + 1
    kept = within(rank, new, depth, ties)
    return RankedLists(
        table,
        first,
        query[kept],
        (order[place] + first)[kept],
        score[place][kept],
        rank[kept],
        (np.cumsum(new) - 1)[kept],
        int((lengths > depth).sum()),
    )


def ranked(
    score: Floats, query: Ints, items: pl.Series, row: Ints, ties: str
) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the order of results in lists that lie end to end, and where ties begin.

    `row` is the row of each result among all items.
    """
    place = _descending(score, query)
    new = borders(query, score[place])
    if ties != "input" and not new.all():
        place = _by_id(place, new, items, row)
    return place, new


def within(rank: Ints, new: NDArray[np.bool_], depth: int, ties: str) -> NDArray[np.bool_]:
    """Return which results are within a depth; with ties=expected, a tie is never cut."""
    if ties == "expected":
        rank = rank[new][np.cumsum(new) - 1]
    return rank <= depth


def _descending(score: Floats, query: Ints) -> Ints:
    """Return the stable order of each list's results by descending score."""
    if not ((score[1:] > score[:-1]) & (query[1:] == query[:-1])).any():
        return np.arange(len(score))
    return np.lexsort((-score, query))


def _by_id(place: Ints, new: NDArray[np.bool_], items: pl.Series, row: Ints) -> Ints:
    """Return the order with the results of each tie in descending order of their ids' bytes."""
    import polars as pl

    starts = np.flatnonzero(new)
    size = np.diff(np.append(starts, len(new)))
    place = place.copy()
    first = starts[size == 2]
    one, other = place[first], place[first + 1]
    swapped = (items.gather(row[one]) < items.gather(row[other])).to_numpy()
    place[first] = np.where(swapped, other, one)
    place[first + 1] = np.where(swapped, one, other)
    crowd = np.flatnonzero(np.repeat(size > 2, size))
    if len(crowd):
        tied = pl.DataFrame(
            {
                "tie": np.repeat(np.arange(len(size)), size)[crowd],
                "item": items.gather(row[place[crowd]]),
                "place": place[crowd],
            }
        )
        tied = tied.sort(["tie", "item"], descending=[False, True])
        place[crowd] = tied["place"].to_numpy()
    return place


# -- contributions of results


def contributions_of(lists: RankedLists, settings: FusionSettings) -> Floats:
    """Return the contribution of each result of a run, before weights."""
    if settings.normalise is None:
        return _expected(lists, 1 / (settings.k + lists.rank), settings)
    if settings.normalise == "rank":
        gained = 1 - (lists.rank - 1) / lists.each(lists.lengths)
        return _expected(lists, gained, settings)
    _check_finite(lists)
    return _NORMALISED[settings.normalise](lists)


def _expected(lists: RankedLists, gained: Floats, settings: FusionSettings) -> Floats:
    """Average contributions over each tie, with ties=expected."""
    if settings.ties != "expected":
        return gained
    new = borders(lists.tie)
    size = np.diff(np.append(np.flatnonzero(new), len(new)))
    mean: Floats = np.add.reduceat(gained, np.flatnonzero(new)) / size
    return np.repeat(mean, size)


def _highest(lists: RankedLists) -> Floats:
    return lists.score[lists.starts]


def _lowest(lists: RankedLists) -> Floats:
    return lists.score[lists.starts + lists.lengths - 1]


def constant(lists: RankedLists) -> NDArray[np.bool_]:
    """Return which lists have only one score."""
    return _highest(lists) == _lowest(lists)


def _minmax(lists: RankedLists) -> Floats:
    """Scale each list from 1 for its highest score to 0 for its lowest; 1 if there is only one."""
    high, low = _highest(lists), _lowest(lists)
    # The difference of two floats may overflow; that of their halves does not.
    scale = np.where(np.isinf(high - low), 0.5, 1.0)
    span = high * scale - low * scale
    part = lists.score * lists.each(scale) - lists.each(low * scale)
    same = lists.each(span == 0)
    return np.where(same, 1.0, part / np.where(same, 1.0, lists.each(span)))


def _zscore(lists: RankedLists) -> Floats:
    """Standardise each list (population standard deviation); 0 if all scores are equal."""
    # Standardising min-max scores gives the same and cannot overflow.
    value, starts = _minmax(lists), lists.starts
    away = value - lists.each(np.add.reduceat(value, starts) / lists.lengths)
    deviation = np.sqrt(np.add.reduceat(away**2, starts) / lists.lengths)
    same = constant(lists)
    scaled: Floats = away / lists.each(np.where(same, 1.0, deviation))
    return np.where(lists.each(same), 0.0, scaled)


def _max(lists: RankedLists) -> Floats:
    high = _highest(lists)
    if (high <= 0).any():
        at = lists.starts[np.argmax(high <= 0)]
        query, _, score = lists.original(at)
        raise InputError(
            f"{lists.place(at)}: the highest score of query {query!r} is {score:g}, but max needs "
            "a positive one; choose another normalisation, such as minmax."
        )
    return lists.score / lists.each(high)


def _check_finite(lists: RankedLists) -> None:
    if not np.isfinite(lists.score).all():
        at = np.flatnonzero(~np.isfinite(lists.score))[0]
        query, item, _ = lists.original(at)
        raise InputError(
            f"{lists.place(at)}: the score of item {item!r} for query {query!r} is infinite and "
            "cannot be added; give a finite score, or fuse ranks: method='rrf' (--method rrf)."
        )


def _sum(lists: RankedLists) -> Floats:
    """Scale the scores above the lowest so that each list sums to 1."""
    value = np.where(lists.each(constant(lists)), 1.0, _minmax(lists))
    return value / lists.each(np.add.reduceat(value, lists.starts))


_NORMALISED: dict[str, Callable[[RankedLists], Floats]] = {
    "minmax": _minmax,
    "zscore": _zscore,
    "max": _max,
    "sum": _sum,
    "none": lambda lists: lists.score,
}


# -- sums


@dataclass(frozen=True, eq=False)
class FusedLists:
    """Fused lists end to end, the best item of each first."""

    query: Ints
    """Query number of each result."""
    row: Ints
    """A row of any run that has the item."""
    score: Floats
    rank: Ints
    alone: Ints
    """Number of items of each run that no other run has, at any depth."""
    cut: int
    """Number of lists longer than the depth."""


def sum_lists(
    collected: CollectedRuns, gained: Sequence[Floats], settings: FusionSettings
) -> FusedLists:
    """Sum the contributions of all runs and rank the items."""
    query = np.concatenate([lists.query for lists in collected.runs])
    row = np.concatenate([lists.row for lists in collected.runs])
    group = _groups(query, row, collected.items)
    items = int(group.max()) + 1
    contributed = np.zeros((len(gained), items))
    has = np.zeros((len(gained), items), bool)
    at = 0
    for run, (values, weight) in enumerate(zip(gained, settings.weights, strict=True)):
        members = group[at : at + len(values)]
        contributed[run, members] = weight * values
        has[run, members] = True
        at += len(values)
    total = _summed(contributed)
    list_counts = has.sum(axis=0)
    alone = (has & (list_counts == 1)).sum(axis=1)
    if settings.method == "combmnz":
        total = total * list_counts
    if not np.isfinite(total).all():
        raise InputError(
            "the sum of some scores overflows; normalise the scores (--normalise minmax), or give "
            "smaller weights."
        )
    # With ties=input, an item keeps the place where it occurs first, in the order of the runs.
    first = np.empty(items, np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]
    first.sort()
    total = total[group[first]]
    return _ordered(query[first], row[first], total, alone, collected.items, settings)


def _ordered(
    query: Ints, row: Ints, total: Floats, alone: Ints, items: pl.Series, settings: FusionSettings
) -> FusedLists:
    """Rank fused lists by query, down to the depth."""
    named = np.argsort(query, kind="stable")
    query, row, total = query[named], row[named], total[named]
    lengths = np.bincount(query)
    place, new = ranked(total, query, items, row, settings.ties)
    rank = np.arange(len(query)) - np.repeat(starts_of(lengths), lengths) + 1
    kept = within(rank, new, settings.depth, settings.ties)
    cut = int((lengths > settings.depth).sum())
    return FusedLists(
        query[kept], row[place][kept], total[place][kept], rank[kept], alone.astype(np.int64), cut
    )


def _summed(contributed: Floats) -> Floats:
    """Sum contributions in an order that does not depend on the runs, so that ties are exact."""
    if len(contributed) > 2:
        contributed = np.sort(contributed, axis=0)
    total = contributed[0]
    for of_run in contributed[1:]:
        total = total + of_run
    return total


def _groups(query: Ints, row: Ints, items: pl.Series) -> Ints:
    """Assign a number to each pair of query and item."""
    import polars as pl

    pairs = pl.DataFrame({"query": query, "item": items.gather(row)}).with_row_index("result")
    grouped = pairs.group_by("query", "item").agg("result").with_row_index("group")
    numbered = grouped.select("group", "result").explode("result")
    group = np.empty(len(query), np.int64)
    group[numbered["result"].to_numpy()] = numbered["group"].to_numpy()
    return group
