"""Compute how far ranked lists agree, without judgements."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from judged import __version__
from judged.arrays import Floats, Ints
from judged.errors import InputError, quoted
from judged.evaluation.warnings import announce_warnings
from judged.inputs import read_runs
from judged.options import (
    LEVEL,
    ColumnsLike,
    FileFormat,
    PolicyLike,
    RunsLike,
    checked,
    checked_methods,
    real,
)
from judged.results import Display, Document, Frame, Result, Table, find_pair, plain_value
from judged.runs import PERSISTENCE
from judged.runs.fusion import (
    RankedLists,
    check_policy,
    collect_lists,
    notes_on_reading,
    number_items,
    read_distinct,
    several_runs,
)
from judged.statistics.intervals import Interval, mean_intervals
from judged.statistics.orders import taus
from judged.text import Left, Warned, counted, few, shown, with_source

if TYPE_CHECKING:
    import polars as pl


NUMBERS = ("rbo", "least", "residual", "jaccard", "shared", "tau")  # numbers of every query
RANGES = {"tau": (-1.0, 1.0), "shared": (0.0, float("inf"))}
"""Ranges of numbers that are not between 0 and 1."""
FIRST_RANKS = 10  # the definition states the weight of this many ranks
NO_TAU = Interval(math.nan, note="no query has two shared items that are not tied")
MAX_SENTENCES = 10  # number of pairs of runs that are described in words
ROWS_PER_BLOCK = 1 << 17  # results that a run is compared with at a time


@checked
def overlap(
    runs: RunsLike,
    *,
    p: float = PERSISTENCE,
    level: float = LEVEL,
    policy: PolicyLike | None = None,
    columns: ColumnsLike | None = None,
    run_format: FileFormat | None = None,
) -> Overlap:
    """Compute how far runs agree on their results and their order; judgements are not needed.

    Each pair of runs is compared on the queries for which both have results. Ties are not broken:
    rank-biased overlap is the exact mean over all orders of tied results.

    Parameters
    ----------
    runs : RunsLike
        At least two runs, as {name: run} or a list of files.
    p : float, optional
        Persistence of rank-biased overlap, between 0 and 1: the larger, the deeper it looks.
    level : float, optional
        Confidence level of the intervals.
    policy : PolicyLike, optional
        `depth` cuts every list at this rank first. `duplicates` is what to do if an item occurs
        twice for a query. Other choices have no meaning here.
    columns : ColumnsLike, optional
        Meaning of columns, such as {"query": "question_id", "item": "chunk_id"}; by default their
        names tell.
    run_format : FileFormat, optional
        Format of the files, if it is not recognised.

    >>> result = overlap({"one": {"q": ["a", "b", "c"]}, "two": {"q": ["a", "c", "d"]}})
    >>> result.pair().shared.estimate, round(result.pair().rbo.estimate, 4)
    (2.0, 0.685)
    """
    persistence = real(p)
    if persistence is None or not 0 < persistence < 1:
        raise InputError(f"p must be a number between 0 and 1, such as 0.9; got {quoted(p)}.")
    named = several_runs(runs, "overlap")
    chosen = check_policy(policy, "overlap", "depth", "duplicates")
    depth = chosen.depth
    read = read_runs(named, "Overlap takes only runs.", columns=columns, format=run_format)
    tables = [read_distinct(run, chosen.duplicates) for run in read]
    lists = collect_lists(tables, depth or max(table.frame.height for table in tables), "expected")
    pairs = tuple(_compare_all(lists, persistence, depth, level))
    notes = [note for run in tables for note in with_source(run.name, notes_on_reading(run))]
    return announce_warnings(Overlap(pairs, persistence, depth, level, notes=tuple(notes)))


def _compare_all(
    lists: RankedLists, p: float, depth: int | None, level: float
) -> Iterator[PairOverlap]:
    """Compare each run with all later ones, many of them at a time."""
    first, item = number_items(lists.query, lists.item)
    runs, queries = lists.present.shape
    starts = np.searchsorted(lists.run, np.arange(runs + 1))
    lengths = np.zeros((runs, queries), np.int64)
    lengths[lists.run[lists.starts], lists.query[lists.starts]] = lists.lengths
    if depth is not None:
        lengths = np.minimum(lengths, depth)
    ties = np.flatnonzero(lists.new)
    sizes = np.diff(np.append(ties, len(lists.new)))
    above, size = np.repeat(lists.rank[ties] - 1, sizes), np.repeat(sizes, sizes)
    span = Span(above, size, np.minimum(above + size, lengths[lists.run, lists.query]))
    cell = lists.run * queries + lists.query
    by = Persistence.of(p, 2 * int(lengths.max()))
    for one in range(runs - 1):
        row_of = np.full(len(first), -1)
        row_of[item[starts[one] : starts[one + 1]]] = np.arange(starts[one], starts[one + 1])
        begin = one + 1
        while begin < runs:
            limit = np.searchsorted(starts, starts[begin] + ROWS_PER_BLOCK, side="right") - 1
            others = np.arange(begin, min(max(limit, begin + 1), runs))
            begin += len(others)
            _check_common_queries(lists, one, others)
            ours = row_of[item[starts[others[0]] : starts[others[-1] + 1]]]
            found = np.flatnonzero(ours >= 0)
            theirs, ours = found + starts[others[0]], ours[found]
            both = lists.present[one] & lists.present[others]
            pair = (np.cumsum(both) - 1)[cell[theirs] - others[0] * queries]
            two_lengths = np.broadcast_to(lengths[one], both.shape)[both], lengths[others][both]
            shared = SharedItems(pair, span.at(ours), span.at(theirs), *two_lengths)
            yield from _pairs_of(lists, one, others, shared, by, level)


def _check_common_queries(lists: RankedLists, one: int, others: Ints) -> None:
    for other in others.tolist():
        if not (lists.present[one] & lists.present[other]).any():
            run, against = lists.tables[one].name, lists.tables[other].name
            first, second = (
                few([quoted(query) for query in lists.queries.filter(lists.present[number])])
                for number in (one, other)
            )
            raise InputError(
                f"{run} and {against} have no query in common. The first has {first}; the "
                f"second has {second}. Are they runs of the same queries?"
            )


def _pairs_of(
    lists: RankedLists, one: int, others: Ints, shared: SharedItems, by: Persistence, level: float
) -> Iterator[PairOverlap]:
    """Yield the overlap of a run with each of some others, given what they share."""
    numbers = shared.compute(by)
    names = lists.queries.to_list()
    present = lists.present
    ends = np.cumsum((present[one] & present[others]).sum(axis=1))[:-1]
    by_pair = {name: np.split(values, ends) for name, values in numbers.items()}
    is_tied = np.bincount(shared.pair[shared.tied], minlength=len(shared.lengths)) > 0
    tied = [int(part.sum()) for part in np.split(is_tied, ends)]
    means: dict[str, list[Interval]] = {}
    for name, of_pairs in by_pair.items():
        defined = of_pairs
        if name == "tau":  # the others are always defined
            defined = [values[~np.isnan(values)] for values in of_pairs]
        limits = RANGES.get(name, (0.0, 1.0))
        intervals = mean_intervals(defined, level=level, range=limits)
        means[name] = [
            interval if len(values) else NO_TAU
            for interval, values in zip(intervals, defined, strict=True)
        ]
    for place, other in enumerate(others.tolist()):
        common, alone, alone_there = (
            tuple(names[number] for number in np.flatnonzero(mask))
            for mask in (
                present[one] & present[other],
                present[one] & ~present[other],
                present[other] & ~present[one],
            )
        )
        pair_means: dict[str, Any] = {name: intervals[place] for name, intervals in means.items()}
        yield PairOverlap(
            *(lists.tables[one].name, lists.tables[other].name, common),
            {name: of_pairs[place] for name, of_pairs in by_pair.items()},
            *(tied[place], alone, alone_there),
            **pair_means,
        )


@dataclass(frozen=True, eq=False)
class Persistence:
    """Remainders of the three sums of rank-biased overlap behind each depth from 0 on."""

    # Depth d has weight (1 - p) p^(d-1), and the agreement there is the overlap divided by d. The
    # chance that an item of a tie is among the first d results grows linearly with d. So the
    # expected overlap is a sum of products of linear functions, and its weighted sum is made of
    # three sums over depths: of weight / d, of weight and of weight * d.

    power: Floats  # p to the power of each depth, which is the weight of all deeper ranks
    over: Floats  # sum of weight / d over all deeper ranks d
    plain: Floats  # sum of weight over all deeper ranks, down to the deepest
    times: Floats  # sum of weight * d over all deeper ranks, down to the deepest

    @classmethod
    def of(cls, p: float, deepest: int) -> Persistence:
        depth = np.arange(deepest + 1, dtype=np.float64)
        power = p**depth
        weight = (1 - p) * power[:-1]
        every = -math.log1p(-p) / p  # the sum of p^(d−1)/d over all depths
        behind = (1 - p) * max(every - math.fsum(power[:-1] / depth[1:]), 0.0)
        over = _left(weight / depth[1:]) + behind
        return cls(power, over, _left(weight), _left(weight * depth[1:]))

    def first(self, depth: int) -> float:
        """Return the share of the weight of the first ranks (Webber et al. 2010, equation 21).

        >>> round(Persistence.of(0.9, 10).first(10), 4)
        0.8556
        """
        return float(1 - self.power[depth - 1] + depth * self.over[depth - 1])

    def tied(self, ours: Span, theirs: Span, deepest: Ints) -> Floats:
        """Return what each tied item adds to the weighted sum of overlap / d down to a depth."""
        # This is the mean over all orders of both lists.
        start = np.maximum(ours.above, theirs.above)
        here, there = ours.end <= theirs.end, theirs.end < ours.end
        inner, outer = np.minimum(ours.end, theirs.end), np.maximum(ours.end, theirs.end)
        inner = np.maximum(inner, start)
        both = (
            (self.times[start] - self.times[inner])
            - (ours.above + theirs.above) * (self.plain[start] - self.plain[inner])
            + ours.above * theirs.above * (self.over[start] - self.over[inner])
        ) / (ours.size * theirs.size)
        above = np.where(here, theirs.above, ours.above)
        size = np.where(here, theirs.size, ours.size)
        whole = np.where(there, theirs.chance, ours.chance)
        one = (
            whole
            / size
            * (
                (self.plain[inner] - self.plain[outer])
                - above * (self.over[inner] - self.over[outer])
            )
        )
        rest = ours.chance * theirs.chance * (self.over[outer] - self.over[deepest])
        total: Floats = both + one + rest
        return total


def _left(terms: Floats) -> Floats:
    """Return the remainder of a sum after each term; summed from the end to stay accurate."""
    return np.append(np.cumsum(terms[::-1])[::-1], 0.0)


@dataclass(frozen=True, eq=False)
class Span:
    """Possible ranks of results in lists of some length."""

    above: Ints  # number of results above each result's tie
    size: Ints  # size of the tie
    end: Ints  # rank at which the tie ends, or at which the list is cut

    def at(self, which: NDArray[Any]) -> Span:
        return Span(self.above[which], self.size[which], self.end[which])

    @property
    def chance(self) -> Floats:
        """Probability that each result is in the list at all."""
        return (self.end - self.above) / self.size

    def within(self, depth: Ints) -> Floats:
        """Return the probability that each result is within a depth."""
        return (np.clip(depth, self.above, self.end) - self.above) / self.size


@dataclass(frozen=True, eq=False)
class SharedItems:
    """The items that two lists share, for many pairs of lists."""

    # Overlaps are means over all orders of ties. RBO and its lower bound are linear in them
    # (Webber, Moffat and Zobel 2010, equation 32 and its bounds, for lists of any lengths).

    pair: Ints  # the pair of lists of each shared item
    one: Span
    other: Span
    lengths: Ints  # the length of the first list of each pair
    other_lengths: Ints

    @cached_property
    def tied(self) -> Ints:
        """The shared items that are tied in a list."""
        return np.flatnonzero((self.one.size > 1) | (self.other.size > 1))

    def _sum(self, values: Floats) -> Floats:
        return np.bincount(self.pair, values, len(self.lengths)).astype(np.float64, copy=False)

    def compute(self, by: Persistence) -> dict[str, Floats]:
        """Return `NUMBERS` of each pair of lists."""
        short = np.minimum(self.lengths, self.other_lengths)
        long = np.maximum(self.lengths, self.other_lengths)
        one, other, over, power = self.one, self.other, by.over, by.power
        start = np.maximum(one.above, other.above)  # the last depth before an item is shared
        terms = over[start] - over[long][self.pair]
        within = (start < short[self.pair]).astype(np.float64)
        chance = np.ones(len(start))
        if len(tied := self.tied):  # half the time where few are
            ours, theirs, pair = one.at(tied), other.at(tied), self.pair[tied]
            terms[tied] = by.tied(ours, theirs, long[pair])
            within[tied] = ours.within(short[pair]) * theirs.within(short[pair])
            chance[tied] = ours.chance * theirs.chance
        base, at_short, shared = map(self._sum, (terms, within, chance))
        unseen = power[short] - power[long] - short * (over[short] - over[long])
        rbo = base + at_short / short * unseen
        rbo += ((shared - at_short) / long + at_short / short) * power[long]
        least = base + shared * over[long]
        full = np.floor(short + long - shared + 1e-9).astype(np.int64)  # where all may be shared
        residual = unseen + 2 * power[long] - power[full]
        residual -= (short + long) * (over[long] - over[full]) + shared * over[full]
        least, residual = np.clip(least, 0.0, 1.0), np.clip(residual, 0.0, 1.0)
        rbo = np.clip(rbo, least, np.minimum(least + residual, 1.0))
        jaccard = shared / (short + long - shared)
        tau = taus(other.above, one.above, self.pair, len(short))
        return dict(zip(NUMBERS, (rbo, least, residual, jaccard, shared, tau), strict=True))


@dataclass(frozen=True, eq=False)
class PairOverlap:
    """Overlap of two runs: means over the queries that both have results for, and each query."""

    run: str
    against: str
    queries: tuple[str, ...]  # queries for which both runs have results
    numbers: Mapping[str, Floats]
    """Numbers of each of these queries, in their order, by name; tau is NaN if it is undefined."""
    tied_queries: int  # number of these queries in which a shared item is tied
    only_in_run: tuple[str, ...]  # queries for which only the first run has results
    only_in_against: tuple[str, ...]  # queries for which only the second run has results
    rbo: Interval  # rank-biased overlap, extrapolated; a mean over the queries, as all that follow
    least: Interval  # lower bound of rank-biased overlap, whatever follows below the lists
    residual: Interval  # upper bound minus lower bound of rank-biased overlap
    jaccard: Interval  # shared items divided by all items of both lists
    shared: Interval  # number of items that both lists have
    tau: Interval  # Kendall's tau-b of the shared items, over the queries where it is defined

    @property
    def tau_queries(self) -> int:
        """Number of queries with a tau-b: two or more shared items, not all tied in one list."""
        return int((~np.isnan(self.numbers["tau"])).sum())

    def query_frame(self) -> pl.DataFrame:
        """Return the numbers of every query as a polars table."""
        import polars as pl

        queries = {"query": pl.Series(self.queries, dtype=pl.String)}
        frame = pl.DataFrame({**queries, **self.numbers}).fill_nan(None)
        runs = pl.lit(self.run).alias("run"), pl.lit(self.against).alias("against")
        return frame.select(*runs, "query", *NUMBERS)

    def sentence(self) -> str:
        """Return the overlap in words."""
        highest = min(self.least.estimate + self.residual.estimate, 1.0)
        text = (
            f"{self.run} and {self.against}: RBO {_with_bounds(self.rbo)} over "
            f"{counted(len(self.queries), 'query', 'queries')} (at least "
            f"{shown(self.least.estimate)}, at most {shown(highest)}); {self.shared.estimate:,.1f} "
            f"shared items{' on average' if len(self.queries) > 1 else ''}"
        )
        if self.tau_queries:
            text += f", tau-b of their order {_with_bounds(self.tau).replace('-', '−')}"
            undefined = len(self.queries) - self.tau_queries
            if undefined:
                text += f", undefined for {counted(undefined, 'query', 'queries')}"
        if tied := self.tied_queries:
            text += f"; {counted(tied, 'query has', 'queries have')} tied results among the shared"
        return f"{text}."

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return plain values for JSON, with those of every query on request."""
        counts = ("tau_queries", "tied_queries", "only_in_run", "only_in_against")
        values = {"run": self.run, "against": self.against, "queries": len(self.queries)}
        values |= {name: getattr(self, name) for name in (*NUMBERS, *counts)}
        if per_query:
            rows = self.query_frame().select("query", *NUMBERS).iter_rows(named=True)
            values["per_query"] = {row.pop("query"): row for row in rows}
        return {name: plain_value(value) for name, value in values.items()}


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Overlap(Result):
    """Overlap of every pair of runs, as returned by `overlap`.

    >>> from judged import overlap
    >>> result = overlap({"one": {"q": ["a", "b"]}, "two": {"q": ["c", "d"]}})
    >>> result.pair().rbo.estimate, result.pair().shared.estimate
    (0.0, 0.0)
    """

    DISPLAY: ClassVar = frozenset({"per_query"})

    pairs: tuple[PairOverlap, ...]
    """Every pair of runs."""
    p: float
    """Persistence of rank-biased overlap."""
    depth: int | None
    """Rank at which lists were cut; None for whole lists."""
    level: float
    """Confidence level of the intervals."""
    notes: tuple[str, ...] = ()
    """Notes and warnings about the runs."""

    def pair(self, run: str | None = None, against: str | None = None) -> PairOverlap:
        """Return the overlap of two runs.

        Parameters
        ----------
        run, against : str, optional
            Their names, in any order; needed only with more than two runs.

        >>> from judged import overlap
        >>> runs = {name: {"q": ["a", name]} for name in ("x", "y", "z")}
        >>> overlap(runs).pair("z", "x").shared.estimate
        1.0
        """
        pairs = {(pair.run, pair.against): pair for pair in self.pairs}
        return find_pair(pairs, "run", run, against)

    @property
    def jaccard_name(self) -> str:
        """Name of the Jaccard index, with the depth if lists are cut."""
        return "Jaccard" if self.depth is None else f"Jaccard@{self.depth}"

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return everything as plain Python values that JSON can hold.

        Parameters
        ----------
        per_query : bool, optional
            Include the numbers of every query.
        """
        return {
            "p": self.p,
            "depth": self.depth,
            "level": self.level,
            "pairs": [pair.to_dict(per_query=per_query) for pair in self.pairs],
            "warnings": self.warnings(),
            "notes": [str(note) for note in self.notes],
            "definition": self.definition(),
            "judged": __version__,
        }

    def to_frame(self, *, per_query: bool = False) -> Frame:
        """Return one row per pair of runs, with means and confidence intervals, or per query.

        Parameters
        ----------
        per_query : bool, optional
            Return one row for each query of each pair.

        >>> from judged import overlap
        >>> result = overlap({"one": {"q": ["a", "b"]}, "two": {"q": ["b", "c"]}})
        >>> result.to_frame(per_query=True).select("query", "shared", "jaccard").rows()
        [('q', 1.0, 0.3333333333333333)]
        """
        import polars as pl

        if per_query:
            return pl.concat([pair.query_frame() for pair in self.pairs])
        schema = ["run", "against", "queries"]
        schema += [f"{name}{end}" for name in NUMBERS for end in ("", "_low", "_high")]
        rows = []
        for pair in self.pairs:
            means: list[Interval] = [getattr(pair, name) for name in NUMBERS]
            numbers = [value for mean in means for value in (mean.estimate, mean.low, mean.high)]
            rows.append((pair.run, pair.against, len(pair.queries), *numbers, pair.tau_queries))
        return pl.DataFrame(rows, [*schema, "tau_queries"], orient="row").fill_nan(None)

    def document(self, display: Display) -> Document:
        tables = [self._mean_table(), *([self._query_table()] if display.per_query else [])]
        return Document(
            answer=list(self._sentences()),
            tables=tables,
            warnings=list(self._warnings()),
            details=[*(n for n in self.notes if not isinstance(n, Warned)), self.definition()],
        )

    def _sentences(self) -> Iterator[str]:
        if len(self.pairs) <= MAX_SENTENCES:
            yield from (pair.sentence() for pair in self.pairs)
            return
        by_rbo = sorted(self.pairs, key=lambda pair: pair.rbo.estimate)
        least, most = (
            f"{pair.run} and {pair.against} ({shown(pair.rbo.estimate)})"
            for pair in (by_rbo[0], by_rbo[-1])
        )
        yield f"RBO of {len(self.pairs):,} pairs of runs: lowest {least}, highest {most}."

    def _warnings(self) -> Iterator[str]:
        for pair in self.pairs:
            sides = ((pair.run, pair.only_in_run), (pair.against, pair.only_in_against))
            alone = [
                f"{counted(len(queries), 'query', 'queries')} only in {run} ({few(queries)})"
                for run, queries in sides
                if queries
            ]
            if alone:
                both = counted(len(pair.queries), "query", "queries")
                yield (
                    f"{pair.run} and {pair.against} are compared on the {both} for which both have "
                    f"results. Left out: {', '.join(alone)}."
                )
        yield from (note for note in self.notes if isinstance(note, Warned))

    def definition(self) -> str:
        """Return the definitions of all numbers, as a paragraph.

        >>> from judged import overlap
        >>> overlap({"one": {"q": ["a"]}, "two": {"q": ["a"]}}).definition().partition(".")[0]
        'RBO: rank-biased overlap, extrapolated to infinite lists (p = 0'
        """
        cut = "whole" if self.depth is None else f"cut at rank {self.depth:,}"
        share = 100 * Persistence.of(self.p, FIRST_RANKS).first(FIRST_RANKS)
        ties = "Ties are not broken: RBO and least are means over all orders of ties."
        if self.depth is not None:
            ties = (
                "Ties are not broken: RBO, least and shared are means over all orders of ties. If "
                f"rank {self.depth:,} cuts a tie, {self.jaccard_name} and residual use the mean "
                "number of shared items, and tau-b uses all items of the tie."
            )
        return (
            f"RBO: rank-biased overlap, extrapolated to infinite lists (p = {self.p:g}; the first "
            f"{FIRST_RANKS} ranks have {share:.3g} % of the weight). least: lower bound of RBO, "
            "whatever follows below the lists; residual: upper bound minus lower bound. Lists are "
            f"{cut}. {self.jaccard_name}: shared items divided by all items of both lists. tau-b: "
            f"Kendall's, of the shared items. {ties} Means are over the queries for which both "
            f"runs have results, with {100 * self.level:g} % confidence intervals (Student's t)."
        )

    def _mean_table(self) -> Table:
        level = Left(f"{100 * self.level:g} % CI")
        header = ["run", "against", "queries", "RBO", level, self.jaccard_name, "shared", "tau-b"]
        rows = [
            [
                *(pair.run, pair.against, f"{len(pair.queries):,}"),
                *(_value(pair.rbo.estimate), _bounds(pair.rbo), _value(pair.jaccard.estimate)),
                *(f"{pair.shared.estimate:,.1f}", _value(pair.tau.estimate)),
            ]
            for pair in self.pairs
        ]
        return Table(header, rows, {"run", "against"})

    def _query_table(self) -> Table:
        names = ["run", "against", "query"]
        rows = [
            [*row[:3], *map(_value, row[3:7]), f"{row[7]:,.1f}", _value(row[8])]
            for row in self.to_frame(per_query=True).rows()
        ]
        numbers = ["RBO", "least", "residual", self.jaccard_name, "shared", "tau-b"]
        return Table([*names, *numbers], rows, frozenset(names))


def _value(value: float | None) -> str:
    return shown(value).replace("-", "−")


def _bounds(mean: Interval) -> str:
    return f"{shown(mean.low)} … {shown(mean.high)}".replace("-", "−") if mean.known else "–"


def _with_bounds(mean: Interval) -> str:
    bounds = f" ({shown(mean.low)} to {shown(mean.high)})" if mean.known else ""
    return shown(mean.estimate) + bounds
