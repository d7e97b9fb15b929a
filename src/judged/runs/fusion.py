"""Fuse several runs into one, by ranks or by scores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, borders, starts_of
from judged.errors import InputError, PolicyError, quoted
from judged.evaluation.warnings import announce_warnings
from judged.inputs import as_runs, read_runs
from judged.inputs.order import OrderOnly
from judged.inputs.tables import Lookup, Run
from judged.matching.checks import EMPTY, nan_message, refuse_lost, rising_scores
from judged.matching.documents import as_table
from judged.matching.join import distinct, equal_pairs
from judged.options import (
    ColumnsLike,
    FileFormat,
    FusionMethod,
    FusionNormalisation,
    PolicyLike,
    RunsLike,
    checked,
    choice,
    number,
)
from judged.policy import Policy
from judged.results import Display, DisplayOptions, Document, Frame, RunResult, Table
from judged.runs import DEPTH, METHODS, NORMALISATIONS, TIES, K
from judged.text import Warned, counted, few, listed, to_json, with_source

if TYPE_CHECKING:
    import polars as pl

Flags = NDArray[np.bool_]


@checked
def fuse(
    runs: RunsLike,
    *,
    method: FusionMethod = "rrf",
    k: int = K,
    weights: Sequence[float] | Mapping[str, float] | None = None,
    normalise: FusionNormalisation | None = None,
    policy: PolicyLike | None = None,
    columns: ColumnsLike | None = None,
    run_format: FileFormat | None = None,
) -> Fusion:
    """Fuse several runs into one, by the ranks of their results or by their scores.

    A list contributes nothing to items that it lacks. Weights that were tuned on the queries that
    are then compared make the fused run look better than it is.

    Parameters
    ----------
    runs : RunsLike
        At least two runs: {name: run}, or a list of files.
    method : {"rrf", "combsum", "combmnz", "weighted"}, optional
        An item's score: the sum of 1 / (k + rank) over the lists that have it; the sum of its
        normalised scores; that sum times the number of these lists; or the sum with weights, which
        must be given.
    k : int, optional
        For rrf: the larger, the less the first ranks stand out.
    weights : sequence of float or dict, optional
        Weight of each run, in any method: a list in the order of the runs, or {name: weight}; by
        default all are 1.
    normalise : {"minmax", "zscore", "max", "sum", "rank", "none"}, optional
        Normalisation of the scores of each list, by default minmax; not for rrf.
    policy : PolicyLike, optional
        `depth` is the number of results of each list that count, and that a fused list keeps; 1,000
        by default. `ties` is the order of results with equal scores, in the runs and in the fused
        lists: "id", descending on bytes; "input", first run first; or "expected", where tied
        results share the mean contribution of their ranks. `duplicates` is what to do if an item
        occurs twice for a query. Other choices have no meaning here.
    columns : ColumnsLike, optional
        Meaning of columns, such as {"query": "question_id", "item": "chunk_id"}; by default their
        names tell.
    run_format : FileFormat, optional
        Format of the files, such as "trec" or "csv", if it is not recognised.

    Returns
    -------
    Fusion
        A run that every function of judged takes.

    >>> runs = {"bm25": {"q": {"a": 9.1, "b": 7.4}}, "dense": {"q": {"c": 0.9, "a": 0.8}}}
    >>> fuse(runs).frame["item"].to_list()
    ['a', 'c', 'b']
    >>> fuse(runs, method="combsum", weights=[2, 1]).to_dict()
    {'q': {'a': 2.0, 'c': 1.0, 'b': 0.0}}
    """
    import polars as pl

    named = several_runs(runs, "fuse")
    settings = FusionSettings.of([*named], method, k, weights, normalise, policy)
    read = read_runs(named, "Only runs can be fused.", columns=columns, format=run_format)
    tables = [read_distinct(run, settings.duplicates) for run in read]
    lists = collect_lists(tables, settings.depth, settings.ties)
    _check_common_queries(lists)
    with np.errstate(over="ignore", invalid="ignore"):  # overflows are an error in _sum_up
        gained = _contributions_of(lists, settings)
        query, item, total, alone = _sum_up(lists, gained, settings)
    order, _, _, beyond = _rank_lists(query, total, item, settings.depth, settings.ties)
    columns_of = {
        "query": lists.queries.gather(query[order]),
        "item": item.gather(order),
        "score": total[order],
    }
    counts = np.bincount(lists.run[lists.starts]), np.bincount(lists.run), alone
    names = [table.name for table in tables]
    rows = zip(names, settings.weights, *(number.tolist() for number in counts), strict=True)
    fusion = Fusion(
        pl.DataFrame(columns_of),
        f"the {settings.method} of {len(tables)} runs",
        _notes_of(lists, gained, alone, len(beyond), settings),
        name=settings.method,
        tag=settings.tag,
        runs=tuple(FusedRun(*row) for row in rows),
        settings=settings,
    )
    return announce_warnings(fusion)


# -- settings


MIN_WEIGHT, MAX_WEIGHT = 1e-9, 1e9
"""Weights beyond these would leave nothing of a list, or of all others."""


@dataclass(frozen=True)
class FusionSettings:
    """Checked settings of a fusion."""

    method: str
    k: int
    normalise: str | None  # None if ranks are added instead of scores
    depth: int
    ties: str
    duplicates: str
    weights: tuple[float, ...]  # one weight per run
    by_hand: bool  # True if the caller gave the weights

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
        ranked = chosen.depth or DEPTH, chosen.ties, chosen.duplicates
        return cls(method, k, normalise, *ranked, checked, by_hand=weights is not None)

    @property
    def tag(self) -> str:
        """Method and options in one word, for the last column of TREC text."""
        parts = [f"k={self.k}" if self.normalise is None else self.normalise]
        if self.by_hand:
            parts.append("weights=" + ",".join(map(write_weight, self.weights)))
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


def write_weight(weight: float) -> str:
    """Return a weight with all its digits."""
    return repr(weight).removesuffix(".0")


def _check_weights(weights: Any, names: Sequence[str]) -> tuple[float, ...]:
    """Return a weight for each run, from {name: weight} or a list in the order of the runs."""
    if isinstance(weights, Mapping) and set(weights) == set(names):
        weights = [weights[name] for name in names]
    if not isinstance(weights, (list, tuple)) or len(weights) != len(names):
        raise InputError(
            f"weights must be a list with a number for each of the {len(names)} runs, or "
            f"{{name: number}} for {listed(list(names))}; got {quoted(weights)}."
        )
    return tuple(
        number(f"the weight of {name}", weight, at_least=MIN_WEIGHT, at_most=MAX_WEIGHT)
        for name, weight in zip(names, weights, strict=True)
    )


def several_runs(runs: RunsLike, function: str) -> dict[str, Any]:
    """Return runs by name, which must be at least two."""
    named = as_runs(runs)
    if len(named) < 2:
        raise InputError(
            f"{function} needs at least two runs, as {{name: run}} or a list of files; got one."
        )
    return {name or "run": run for name, run in named.items()}


def check_policy(policy: PolicyLike | None, function: str, *names: str) -> Policy:
    """Return a policy for runs without judgements, of which only these choices may differ."""
    chosen, usual = Policy.of(policy), Policy()
    for name in chosen.to_dict():
        if name not in names and getattr(chosen, name) != getattr(usual, name):
            raise PolicyError(
                f"{name} in policy has no meaning for {function}; it takes {listed(names)}."
            )
    return chosen


def read_distinct(run: Run | Lookup, duplicates: str) -> Run:
    """Return a run without duplicates; one that is empty or has a NaN score is an error."""
    table = distinct(as_table(run, duplicates), duplicates).table
    if not table.frame.height:
        raise InputError(f"{table.source}: {EMPTY}")
    refuse_lost(table)
    nan = table.frame["score"].is_nan().arg_true().to_numpy().astype(np.int64)
    if len(nan):
        raise InputError(nan_message(table, nan))
    return table


# -- ranked lists


def _rank_lists(
    list_number: Ints, score: Floats, items: pl.Series, depth: int, ties: str
) -> tuple[Ints, Ints, Flags, Ints]:
    """Return the order of results down to the depth, the best of each list first."""
    # Also return their ranks from 1 with ties broken, whether each begins a tie, and the first
    # result below the depth of each list that is longer.
    import polars as pl

    # List by list: lexsort of all takes 1.5 s instead of 0.3 s of CPU for 3 million results.
    by_list = np.argsort(list_number, kind="stable")
    begins = np.flatnonzero(borders(list_number[by_list]))
    parts = zip(begins, np.split(-score[by_list], begins[1:]), strict=True)
    order = by_list[
        np.concatenate([begin + np.argsort(part, kind="stable") for begin, part in parts])
    ]
    new = borders(list_number[order], score[order])
    tie = np.cumsum(new) - 1
    if ties != "input" and not new.all():
        tied = np.flatnonzero((np.bincount(tie) > 1)[tie])
        columns = {"tie": tie[tied], "item": items.gather(order[tied]), "place": order[tied]}
        by_id = pl.DataFrame(columns).sort("tie", "item", descending=[False, True])
        order[tied] = by_id["place"].to_numpy()
    starts = borders(list_number[order])
    rank = np.arange(len(order)) - np.flatnonzero(starts)[np.cumsum(starts) - 1] + 1
    # With ties=expected, a tie is never cut.
    kept = (rank[new][tie] if ties == "expected" else rank) <= depth
    return order[kept], rank[kept], new[kept], order[rank == depth + 1]


@dataclass(frozen=True, eq=False)
class RankedLists:
    """The lists of all runs down to the depth, end to end, the best result of each first."""

    tables: Sequence[Run]
    queries: pl.Series  # all queries in the order of the runs
    run: Ints
    query: Ints
    row: Ints  # row of each result in its run
    item: pl.Series
    score: Floats
    rank: Ints
    new: Flags  # True where a tie begins
    cut: Ints  # number of lists of each run that are longer than the depth

    @cached_property
    def starts(self) -> Ints:
        return np.flatnonzero(self.rank == 1)

    @cached_property
    def lengths(self) -> Ints:
        return np.diff(np.append(self.starts, len(self.rank)))

    @property
    def ends(self) -> tuple[Floats, Floats]:
        """The highest and the lowest score of each list."""
        return self.score[self.starts], self.score[self.starts + self.lengths - 1]

    @cached_property
    def present(self) -> Flags:
        """True for each run (row) and query (column) with results."""
        present = np.zeros((len(self.tables), len(self.queries)), bool)
        present[self.run, self.query] = True
        return present

    def each(self, of_list: NDArray[Any]) -> NDArray[Any]:
        """Repeat a value of each list for each of its results."""
        return np.repeat(of_list, self.lengths)

    def error(self, at: int | np.integer[Any], text: str) -> InputError:
        """Return an error about a result; `text` may name its query, item and score."""
        table, row = self.tables[self.run[at]], int(self.row[at])
        query, item, score = table.frame.row(row)[:3]
        where = f"{table.source}, {table.where([row])}"
        return InputError(f"{where}: {text.format(query=query, item=item, score=score)}")


def collect_lists(tables: Sequence[Run], depth: int, ties: str) -> RankedLists:
    """Rank the lists of all runs by score, with one numbering of queries."""
    import polars as pl

    rows = pl.concat([table.frame.select("query", "item", "score") for table in tables])
    heights = [table.frame.height for table in tables]
    run = np.repeat(np.arange(len(tables)), heights)
    row = np.concatenate([np.arange(height) for height in heights])
    stretch = rows["query"].rle_id().to_numpy()
    names = rows["query"].gather(np.flatnonzero(borders(stretch)))
    queries = names.unique(maintain_order=True)
    numbered = queries.to_frame("query").with_row_index("number")
    joined = names.to_frame("query").join(numbered, on="query", how="left", maintain_order="left")
    query = joined["number"].to_numpy().astype(np.int64)[stretch]
    score = rows["score"].to_numpy()
    number = run * len(queries) + query
    order, rank, new, beyond = _rank_lists(number, score, rows["item"], depth, ties)
    return RankedLists(
        *(tables, queries, run[order], query[order], row[order], rows["item"].gather(order)),
        *(score[order], rank, new),
        cut=np.bincount(run[beyond], minlength=len(tables)),
    )


def number_items(query: Ints, items: pl.Series) -> tuple[Ints, Ints]:
    """Assign numbers to pairs of query and item; return the first of each, and all numbers."""
    import polars as pl

    # Hashes take 0.06 s and strings 0.26 s for 2 million results, of 0.8 s for a whole fusion.
    one, other = equal_pairs(items.hash(2) ^ pl.Series(query).hash(1))
    same = query[one] == query[other]
    if same.all() and (items.gather(one) == items.gather(other)).all():
        first = np.arange(len(query))
        first[other] = one
        while (first[first] != first).any():
            first = first[first]
    else:  # other pairs have nearly the same hash
        pairs = pl.DataFrame({"query": query, "item": items}).with_row_index("result")
        first = pairs.select(pl.col("result").first().over("query", "item"))["result"].to_numpy()
    is_first = first == np.arange(len(first))
    return np.flatnonzero(is_first), (np.cumsum(is_first) - 1)[first]


# -- contributions of results


def _contributions_of(lists: RankedLists, settings: FusionSettings) -> Floats:
    """Return the contribution of each result, before weights."""
    if not settings.adds_ranks:
        infinite = np.flatnonzero(~np.isfinite(lists.score))
        if len(infinite):
            raise lists.error(
                infinite[0],
                "the score of item {item!r} for query {query!r} is infinite and cannot be added; "
                "give a finite score, or fuse ranks: method='rrf' (--method rrf).",
            )
        return _NORMALISED[str(settings.normalise)](lists)
    if settings.normalise is None:
        gained = 1 / (settings.k + lists.rank)
    else:
        gained = 1 - (lists.rank - 1) / lists.each(lists.lengths)
    if settings.ties != "expected":
        return gained
    begins = np.flatnonzero(lists.new)
    size = np.diff(np.append(begins, len(gained)))
    return np.repeat(np.add.reduceat(gained, begins) / size, size)


def _minmax(lists: RankedLists) -> Floats:
    """Scale each list from 1 for its highest score to 0 for its lowest; 1 if there is only one."""
    high, low = lists.ends
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
    same = lists.each(np.equal(*lists.ends))
    return np.where(same, 0.0, away / np.where(same, 1.0, lists.each(deviation)))


def _max(lists: RankedLists) -> Floats:
    high = lists.score[lists.starts]
    if (high <= 0).any():
        raise lists.error(
            lists.starts[np.argmax(high <= 0)],
            "the highest score of query {query!r} is {score:g}, but max needs a positive one; "
            "choose another normalisation, such as minmax.",
        )
    return lists.score / lists.each(high)


def _sum(lists: RankedLists) -> Floats:
    """Scale the scores above the lowest so that each list sums to 1."""
    value = _minmax(lists)
    return value / lists.each(np.add.reduceat(value, lists.starts))


_NORMALISED: dict[str, Callable[[RankedLists], Floats]] = {
    "minmax": _minmax,
    "zscore": _zscore,
    "max": _max,
    "sum": _sum,
    "none": lambda lists: lists.score,
}


def _sum_up(
    lists: RankedLists, gained: Floats, settings: FusionSettings
) -> tuple[Ints, pl.Series, Floats, Ints]:
    """Sum the contributions of all runs."""
    # Return query, item and score of each fused result, in the order in which they first occur, and
    # the number of results of each run that no other run has.
    first, fused = number_items(lists.query, lists.item)
    contributed = np.zeros((len(lists.tables), len(first)))
    contributed[lists.run, fused] = np.array(settings.weights)[lists.run] * gained
    # Sorted, so that sums do not depend on the order of the runs, and ties are exact.
    if len(contributed) > 2:
        contributed.sort(axis=0)
    total = contributed[0]
    for of_run in contributed[1:]:
        total = total + of_run
    run_counts = np.bincount(fused)
    if settings.method == "combmnz":
        total = total * run_counts
    if not np.isfinite(total).all():
        raise InputError(
            "the sum of some scores overflows; use normalise='minmax' (--normalise minmax), "
            "or give smaller weights."
        )
    alone = np.bincount(lists.run[run_counts[fused] == 1], minlength=len(lists.tables))
    return lists.query[first], lists.item.gather(first), total, alone


# -- notes


def _check_common_queries(lists: RankedLists) -> None:
    counts = lists.present.sum(axis=0)
    for at, present in enumerate(lists.present):
        if (counts[present] == 1).all():
            other = int(at == 0)
            one, two = (
                few([repr(query) for query in lists.queries.filter(lists.present[run])[:4]])
                for run in (at, other)
            )
            raise InputError(
                f"{lists.tables[at].name} has no query in common with another run. It has {one}; "
                f"{lists.tables[other].name} has {two}. Do they belong to the same collection?"
            )


def _notes_of(
    lists: RankedLists, gained: Floats, alone: Ints, cut: int, settings: FusionSettings
) -> tuple[str, ...]:
    names = [table.name for table in lists.tables]
    notes = [f"{settings.method} of {listed(names)}: an item's score is {settings.formula()}."]
    for run, table in enumerate(lists.tables):
        notes += with_source(table.name, _about_scores(run, lists, settings))
        if lacking := lists.queries.filter(~lists.present[run]).to_list():
            total = counted(len(lists.queries), "query", "queries")
            text = f"{table.name} lacks {len(lacking):,} of {total} ({few(lacking)}) and "
            notes.append(Warned(f"{text}contributes nothing there."))
    named = {query for table in lists.tables for query in table.queries}
    if lost := sorted(named - set(lists.queries.to_list())):
        have = counted(len(lost), "query has", "queries have")
        text = f"{have} no results in any run, so the fused run lacks {few(lost)}."
        notes.append(Warned(text))
    notes += _about_overlap(lists, alone)
    if below := int((gained < 0).sum()):  # an item that a list lacks gets 0
        after = f" after {settings.normalise}" if settings.normalise != "none" else ""
        lowered = " combmnz lowers them further." if settings.method == "combmnz" else ""
        notes.append(
            Warned(
                f"{below:,} of {counted(len(gained), 'score')} are below 0{after}, so these items "
                f"get less than items that the list lacks, which get 0.{lowered} Use minmax to "
                "avoid this."
            )
        )
    for name, long in zip(names, lists.cut.tolist(), strict=True):
        if long:
            notes.append(
                f"{name}: {counted(long, 'list is', 'lists are')} longer than "
                f"{settings.depth:,}; results below do not count."
            )
    if cut:
        were_cut = counted(cut, "fused list was", "fused lists were")
        notes.append(f"{were_cut} cut at {counted(settings.depth, 'result')}.")
    if settings.by_hand:
        weights = listed([write_weight(weight) for weight in settings.weights])
        notes.append(
            f"The weights {weights} were given by hand. If they were tuned on some queries, "
            "compare the fused run on other queries."
        )
    return (*notes, f"Ties in the runs and in the fused lists: {TIES[settings.ties]}.")


def notes_on_reading(table: Run) -> Iterator[str]:
    """Yield notes and warnings of reading a run."""
    yield from table.notes
    if table.dropped:
        rows = counted(table.dropped, "duplicate row was", "duplicate rows were")
        yield f"{rows} dropped."
    lengths = np.bincount(table.frame["query"].rle_id().to_numpy()).astype(np.int64)
    scores = table.frame["score"].to_numpy()
    yield from rising_scores(scores, starts_of(lengths), lengths, table.notes).sentences()


def _about_scores(run: int, lists: RankedLists, settings: FusionSettings) -> Iterator[str]:
    table = lists.tables[run]
    yield from notes_on_reading(table)
    if not settings.adds_ranks and any(isinstance(note, OrderOnly) for note in table.notes):
        yield Warned(
            f"the run has an order but no scores, so {settings.method} adds numbers made from its "
            "ranks. Use rrf for ranks."
        )
    value = {"minmax": "1", "zscore": "0", "sum": "the same share"}.get(str(settings.normalise))
    constant = np.equal(*lists.ends) & (lists.run[lists.starts] == run)
    if value and constant.any():
        have = counted(int(constant.sum()), "list has", "lists have")
        yield Warned(f"{have} only one score, so each result there counts {value}.")


def _about_overlap(lists: RankedLists, alone: Ints) -> Iterator[str]:
    columns = ["score", "item", "query"]
    for one, other in combinations(lists.tables, 2):
        if one.frame.select(columns).equals(other.frame.select(columns)):
            yield Warned(f"{one.name} and {other.name} are identical, so their lists count twice.")
    results = np.bincount(lists.run)
    for run in np.flatnonzero(alone == results).tolist():
        yield Warned(
            f"None of the results of {lists.tables[run].name} ({results[run]:,}) is in another "
            "run. Are its item ids spelled like theirs?"
        )


# -- result


@dataclass(frozen=True)
class FusedRun:
    """Contribution of one run to a fusion."""

    name: str
    weight: float
    queries: int  # number of queries with results
    results: int  # number of results within the depth
    alone: int  # number of these that no other run has


@dataclass(frozen=True, eq=False, repr=False)
class Fusion(RunResult, Run):
    """A fused run, which every function of judged takes, as returned by `fuse`.

    >>> import judged
    >>> fused = judged.fuse({"one": {"q": ["a", "b"]}, "other": {"q": ["c", "a"]}})
    >>> fused.frame["item"].to_list()
    ['a', 'c', 'b']
    >>> judged.evaluate({"q": {"a": 1}}, fused, "RR").value()
    1.0
    """

    runs: tuple[FusedRun, ...] = ()
    """Contribution of each run."""
    settings: FusionSettings = field(kw_only=True)
    """Settings of the fusion."""

    SAVED_AS: ClassVar[dict[str, str]] = {".json": "to_json", ".csv": "to_csv"}

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return {query: {item: score}}, the best item first.

        >>> import judged
        >>> fused = judged.fuse({"one": {"q": ["a"]}, "other": {"q": ["a"]}}, method="combsum")
        >>> fused.to_dict()
        {'q': {'a': 2.0}}
        """
        lists: dict[str, dict[str, float]] = {}
        for query, item, score in self.frame.iter_rows():
            lists.setdefault(query, {})[item] = score
        return lists

    def to_frame(self) -> Frame:
        """Return one row per result: query, item, score and rank from 1.

        >>> import judged
        >>> fused = judged.fuse({"one": {"q": ["a", "b"]}, "other": {"q": ["c", "a"]}})
        >>> fused.to_frame().select("item", "rank").rows()
        [('a', 1), ('c', 2), ('b', 3)]
        """
        import polars as pl

        return self.frame.with_columns(rank=pl.int_range(1, pl.len() + 1).over("query"))

    def document(self, display: Display) -> Document:
        rows = [
            [
                *(run.name, write_weight(run.weight)),
                *(f"{run.queries:,}", f"{run.results:,}", f"{run.alone:,}"),
            ]
            for run in self.runs
        ]
        header = ["run", "weight", "queries", "results", "only here"]
        return Document(
            tables=[Table(header, rows, {"run"})],
            notes=self.notes,
        )

    def save(self, path: str | os.PathLike[str], **display: Unpack[DisplayOptions]) -> None:
        """Write the run to a file, whole or not at all; scores keep all their digits.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write. The file extension decides the format: TREC text (.run, .trec, .txt or
            none), .parquet, .csv or .json. It can be read back as the same run; the tag of TREC
            text holds the method.
        **display : Unpack[DisplayOptions]
            Options of `Display`; none has a meaning here.

        >>> import judged
        >>> judged.fuse({"one": {"q": ["a"]}, "other": {"q": ["a"]}}).save("/dev/null")
        """
        self._display("save", display)
        self._save_run(path, self.settings.tag)

    def _metadata(self) -> dict[str, str]:
        weights = {run.name: run.weight for run in self.runs}
        settings = {**self.settings.to_dict(), "weights": weights, "by_hand": self.settings.by_hand}
        return {**super()._metadata(), "fusion": to_json(settings)}
