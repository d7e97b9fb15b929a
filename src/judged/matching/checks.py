"""Checks of a run against its judgements: swapped files, unlike ids, a query's own item, ties."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, descending, positions, starts_of
from judged.errors import InputError
from judged.inputs.agreement import (
    ON_BOTH_SIDES,
    agreement,
    changes,
    is_function,
    meet,
    without_prefix,
)
from judged.inputs.order import AgainstRanks, OrderOnly
from judged.inputs.tables import AnyRun, AnyTable, Judgements, Lookup, ReadTable, Run, lost_message
from judged.text import Tallied, Warned, counted

if TYPE_CHECKING:
    from judged.inputs.data import Data
    from judged.inputs.tables import AnyRun
    from judged.matching.join import Matches
    from judged.matching.pool import Pool


WHOSE = ("the run's ids", "the judgements' ids")
QUERIES, IDS = 50, 100
FEWEST = 3
"""Fewest queries without a judged result that give a warning without a known cause."""


@dataclass(frozen=True)
class UnlikeIds:
    """The share of judged results, and some ids of both sides."""

    queries: int = 0
    asked: int = 0
    """Queries with results and judgements."""
    hits: int = 0
    hit: int = 0
    """Queries with a judged result."""
    explained: bool = False
    """Whether ids were changed already."""
    sample: tuple[tuple[int, str, list[str], list[str]], ...] = ()
    """Checksum, query and first ids of the run and of the judgements, for some queries without a
    judged result."""
    sampled: int = 0
    elsewhere: int = 0
    """Ids of the run that were looked up, and those judged for another query."""

    @classmethod
    def of(cls, pool: Pool, run: AnyRun, matches: Matches) -> UnlikeIds:
        there = np.flatnonzero(matches.list_of >= 0)
        there = there[(matches.lengths[matches.list_of[there]] > 0) & (pool.lengths[there] > 0)]
        hits = np.bincount(pool.query[matches.hit_judgement], minlength=len(pool.queries))
        without = there[hits[there] == 0]
        made = cls(
            len(pool.queries),
            len(there),
            len(matches.hit_judgement),
            int((hits > 0).sum()),
            bool(run.basis),
        )
        if not (pool.is_part or made._unlike()):
            return made
        made = replace(made, sample=_sample(pool, matches, without))
        if not made._unlike():
            return made
        ids = {item for _, _, ours, _ in made.sample for item in ours}
        elsewhere = ids.intersection(chain.from_iterable(pool.items))
        return replace(made, sampled=len(ids), elsewhere=len(elsewhere))

    def _unlike(self) -> bool:
        """Return whether almost no result is judged."""
        return self.hits < self.queries and self.asked > 0 and self.hit * 20 < self.asked

    def plus(self, other: UnlikeIds) -> UnlikeIds:
        return UnlikeIds(
            self.queries + other.queries,
            self.asked + other.asked,
            self.hits + other.hits,
            self.hit + other.hit,
            self.explained or other.explained,
            tuple(sorted(self.sample + other.sample)[:QUERIES]),
            self.sampled + other.sampled,
            self.elsewhere + other.elsewhere,
        )

    def sentences(self) -> Iterator[str]:
        """Yield a warning if almost no result is judged, with a change of ids that would help."""
        if not self._unlike() or not self.sample:
            return
        which = (
            "No result is judged"
            if not self.hit
            else f"Only {self.hit:,} of {counted(self.asked, 'query', 'queries')} have a judged "
            "result"
        )
        pairs = [(ours, theirs) for _, _, ours, theirs in self.sample]
        share, words, whose, item_to = _best(pairs)
        if share >= 0.25 and not self.explained:
            option = item_to
            if not is_function(item_to):
                option = f"{item_to!r} (--item-to {shlex.quote(item_to)})"
            yield Warned(
                f"{which}. With {whose} {words}, {share:.0%} of the queries would have one: "
                f"item_to={option}."
            )
        elif not self.hit and self.asked >= FEWEST:
            _, _, ours, theirs = min(self.sample, key=lambda entry: entry[1])
            question = (
                "Do the two belong to the same collection?"
                if self.elsewhere * 2 <= self.sampled
                else "The results are judged for other queries: are the ids of the queries right?"
            )
            yield Warned(
                f"{which}: {_first_two(ours)} of the run, {_first_two(theirs)} of the judgements. "
                f"{question}"
            )


def _best(pairs: list[tuple[list[str], list[str]]]) -> tuple[float, str, str, str]:
    """Return the change that makes the ids of most queries meet: share, words, whose, item_to."""
    best = (0.0, "", "", "")
    for words, (item_to, change) in {**changes(), **without_prefix(pairs)}.items():
        met = [meet(ours, theirs, change) for ours, theirs in pairs]
        share = sum(map(any, met)) / len(met)
        whose = WHOSE[sum(one for one, _ in met) < sum(other for _, other in met)]
        if words in ON_BOTH_SIDES:
            alike = [
                not set(map(change, ours)).isdisjoint(map(change, theirs)) for ours, theirs in pairs
            ]
            if sum(alike) > share * len(met):
                share, whose = sum(alike) / len(met), "all ids"
        if share > best[0]:
            best = (share, words, whose, item_to)
    return best


def _sample(
    pool: Pool, matches: Matches, queries: Ints
) -> tuple[tuple[int, str, list[str], list[str]], ...]:
    """Return the first ids of both sides for the queries whose ids have the smallest checksums."""
    names = [pool.queries[query] for query in queries.tolist()]
    sums = [crc32(name.encode("utf-8", "surrogatepass")) for name in names]
    chosen = sorted(range(len(names)), key=lambda place: (sums[place], names[place]))[:QUERIES]
    begins, sampled = starts_of(pool.lengths), []
    for place, ours in zip(chosen, _first_items(pool, matches, queries[chosen]), strict=True):
        query = queries[[place]]
        rows = positions(begins[query], np.minimum(pool.lengths[query], IDS))
        sampled.append((sums[place], names[place], ours, pool.items_at(rows)))
    return tuple(sampled)


def _first_items(pool: Pool, matches: Matches, queries: Ints) -> Iterable[list[str]]:
    lists = matches.list_of[queries]
    first = (np.arange(length) < IDS for length in matches.lengths[lists].tolist())
    return map(matches.items, lists[:, None], first)


def _first_two(ids: Sequence[str]) -> str:
    return ", ".join(map(repr, ids[:2])) + (", …" if len(ids) > 2 else "")


def identity(table: ReadTable) -> list[str]:
    """Return the columns that identify a row."""
    return [name for name in ("query", "item", "subtopic") if name in table.frame.columns]


def repeated(table: ReadTable, suspects: Ints) -> Ints:
    """Return those of some rows that really repeat another of them."""
    import polars as pl

    if not len(suspects):
        return suspects
    rows = np.unique(suspects)
    same = (
        table.frame[rows].select(pl.struct(identity(table)).is_duplicated()).to_series().to_numpy()
    )
    return rows[same]


def without_repeats(table: AnyTable, rows: Ints, duplicates: str) -> AnyTable:
    """Keep the best-ranked of repeated rows, or raise an error that names them."""
    if duplicates == "error":
        raise InputError(_duplicate_message(table, rows))
    repeats = table.frame[rows].with_columns(row=rows)
    if isinstance(table, Run):
        repeats = repeats.sort("score", descending=True, maintain_order=True)
    first = repeats.unique(identity(table), keep="first", maintain_order=True)
    kept = np.ones(table.frame.height, bool)
    kept[rows] = False
    kept[first["row"].to_numpy()] = True
    numbers = np.flatnonzero(kept)
    return replace(
        table,
        frame=table.frame[numbers],
        rows=numbers if table.rows is None else table.rows[numbers],
        dropped=table.dropped + table.frame.height - len(numbers),
    )


ADVICE = (
    "Remove the repetitions, or keep the best-ranked of each with duplicates='first' "
    "(--duplicates first)."
)


def refuse_repeated(
    run: Lookup, duplicates: str, judged: Collection[str] | None = None
) -> tuple[tuple[str, str], ...]:
    """Return the repeated results of lists in a dict, or raise an error for the first."""
    again = run.repeated
    if judged is not None and again:
        again = tuple(pair for pair in again if pair[0] in judged)
    if again and duplicates == "error":
        raise InputError(repeated_message(run.source, *again[0], len(set(again)) - 1))
    return again


def repeated_message(source: str, query: str, item: str, others: int) -> str:
    more = f" (and {counted(others, 'more such pair')})" if others else ""
    return f"{source}: query {query!r} has item {item!r} more than once{more}. {ADVICE}"


def _duplicate_message(table: ReadTable, rows: Ints) -> str:
    import polars as pl

    same = table.frame[rows].select(identity(table))
    first = same.row(0, named=True)
    mates = rows[
        same.select(pl.all_horizontal(pl.col(name) == value for name, value in first.items()))
        .to_series()
        .to_numpy()
    ]
    about = f" for subtopic {first['subtopic']!r}" if "subtopic" in first else ""
    others = same.n_unique() - 1
    one = "more such triple" if about else "more such pair"
    more = f" (and {_least(table)}{counted(others, one)})" if others else ""
    return (
        f"{table.source}, {table.where(mates[:10].tolist())}: "
        f"query {first['query']!r} has item {first['item']!r} more than once{about}{more}. "
        f"{ADVICE}"
    )


def nan_message(run: Run, rows: Ints) -> str:
    query, item = run.frame.row(int(rows[0]))[:2]
    more = f" (and {_least(run)}{len(rows) - 1:,} more)" if len(rows) > 1 else ""
    return (
        f"{run.source}, {run.where([int(rows[0])])}: the score of item {item!r} for query "
        f"{query!r} is NaN{more}. {NAN_ADVICE}"
    )


def _least(table: ReadTable) -> str:
    return "at least " if getattr(table, "part", False) else ""


def refuse_lost(run: Run, judged: Collection[str] | None = None) -> None:
    """Raise an error for a row without an item in a list of these queries, or of any."""
    if run.lost is None:
        return
    for row, query in enumerate(run.lost.frame["query"].to_list()):
        if judged is None or query in judged:
            raise InputError(lost_message(run.lost, row))


NAN_ADVICE = "A NaN has no place in a ranking; give it a number or remove the row."


EMPTY = "the run is empty. An empty run is not a system that scored zero; is it the right one?"


def nothing_in_common(
    judgements: str, queries: Sequence[str], source: str, there: Sequence[str]
) -> str:
    """Return the message about a run that has only other queries (`there`) than the judgements."""
    if not there:
        return f"{source}: {EMPTY}"
    message = (
        f"{source} and {judgements} have no query in common. "
        f"The run has {_few(there)}; the judgements have {_few(queries)}."
    )
    for hint, change in _HINTS.items():
        if {change(query) for query in there[:1000]} & {change(query) for query in queries}:
            return f"{message} {hint}"
    like = agreement(there[:1000], queries, WHOSE)
    return f"{message} {like or 'Do the two belong to the same collection?'}"


_HINTS: dict[str, Callable[[str], str]] = {
    "They would agree without leading zeros: ids are compared as exact texts.": lambda query: (
        query.lstrip("0") or "0"
    ),
    "They would agree if numbers such as 1.0 were written 1: were ids read as "
    "numbers?": lambda query: query.removesuffix(".0"),
    "They would agree but for upper and lower case: ids are compared as exact texts.": str.lower,
    "They would agree but for white space at the ends: ids are compared as exact texts.": str.strip,
}


def _few(queries: Sequence[str]) -> str:
    shown = ", ".join(repr(query) for query in queries[:3])
    return f"{shown}, …" if len(queries) > 3 else shown


_TOP_GRADE = 10
"""Whole numbers up to this may be grades."""


def refuse_swapped(pool: Pool, run: AnyRun, scores: Floats, lengths: Ints) -> None:
    """Raise an error if judgements and run were swapped.

    The grades are then scores: fractions that differ within a query. The scores are grades: small
    whole numbers that are not ranks counted down. Formats and column names that tell judgements
    from a run rule this out.
    """
    grades = pool.grades
    judgements = pool.source if isinstance(pool.source, Lookup) else pool.source.table
    if not judgements.may_be_run or getattr(run, "tag", None) is not None:
        return
    if len(grades) < 2 or len(scores) < 2 or not _are_scores(pool):
        return
    if not ((scores % 1 == 0) & (scores >= 0) & (scores <= _TOP_GRADE)).all():
        return
    if _counts_down(descending(scores, lengths), lengths):
        return
    raise InputError(
        f"{run.source} looks like judgements (whole numbers such as {scores[0]:g}), and "
        f"{pool.name} like a run (scores such as {grades[grades % 1 != 0][0]:g}). Were the two "
        "given in the wrong order? If not, give the judgements as a table with a column 'grade', "
        "or add 0.5 to every score, which changes no rank and no tie."
    )


def _counts_down(scores: Floats, lengths: Ints) -> bool:
    """Return whether scores, in falling order, are a constant minus the rank in every list.

    The grades of two items often are 1 and 0, so that lists of two have to end with 1.
    """
    longest = int(lengths.max())
    if longest < 2 or (longest == 2 and (scores[np.cumsum(lengths)[lengths > 0] - 1] != 1).any()):
        return False
    rows = np.repeat(np.arange(len(lengths)), lengths)
    return bool((np.diff(scores)[rows[1:] == rows[:-1]] == -1).all())


def _are_scores(pool: Pool) -> bool:
    """Return whether grades are fractions, other than quarters, that differ within a query."""
    grades = pool.grades
    if not (grades[:1000] % 1).any():  # as nearly always
        return False
    if np.count_nonzero(grades % 1) * 2 < len(grades) or not (grades * 4 % 1).any():
        return False
    best, query = pool.best_first, pool.query
    tied = int(np.count_nonzero((best[1:] == best[:-1]) & (query[1:] == query[:-1])))
    return tied * 10 <= len(grades) and len(np.unique(grades)) >= min(len(grades) / 2, 12)


WHOLE = 2.0**53
"""From here on not every whole number is a floating-point number."""


@dataclass(frozen=True)
class LargeTies:
    """Scores that tie and are so large that they may differ in the input."""

    number: int = 0
    """Judged results with such a score."""
    query: str = ""
    """The first of their queries by its id, and the score there."""
    score: float = 0.0

    @classmethod
    def of(
        cls, queries: Sequence[str], query: Ints, score: Floats, tied: NDArray[np.bool_]
    ) -> LargeTies:
        large = np.flatnonzero(tied & (np.abs(score) >= WHOLE) & np.isfinite(score))
        if not len(large):
            return cls()
        names = [queries[number] for number in query[large].tolist()]
        first, greatest = min(zip(names, (-score[large]).tolist(), strict=True))
        return cls(len(large), first, -greatest)

    def plus(self, other: LargeTies) -> LargeTies:
        if not (self.number and other.number):
            return self if self.number else other
        first = min(self, other, key=lambda ties: ties.query)
        return replace(first, number=self.number + other.number)

    def sentences(self) -> Iterator[str]:
        if self.number:
            yield Warned(
                f"{counted(self.number, 'judged result')} of tied scores from 2^53 on, such as "
                f"{self.score:.0f} of query {self.query!r}: whole numbers that large may differ "
                "in the input and be the same as floating-point numbers. Give smaller scores, or "
                "ranks."
            )


_FEWEST = 3
"""Lists, and results of each list, that rarely rise by chance."""


@dataclass(frozen=True)
class RisingScores:
    """Lists whose scores rise from line to line, as distances do."""

    rising: int = 0
    lists: int = 0
    """Lists that are long enough and have different scores."""

    @classmethod
    def of(
        cls,
        scores: Floats,
        lengths: Ints,
        notes: Sequence[str],
        *,
        asked: NDArray[np.bool_] | None = None,
        in_order: bool = False,
    ) -> RisingScores:
        """Count lists that rise, unless there is only an order or notes mention distances."""
        if any(
            isinstance(note, (OrderOnly, AgainstRanks)) or "distances" in note for note in notes
        ):
            return cls()
        if in_order:
            starts = starts_of(lengths)
            long = np.flatnonzero(lengths >= _FEWEST if asked is None else asked)
            long = long[lengths[long] >= _FEWEST]
            ends = starts[long] + lengths[long] - 1
            return cls(0, int((scores[starts[long]] > scores[ends]).sum()))
        rows = np.repeat(np.arange(len(lengths)), lengths)
        within = rows[1:] == rows[:-1]
        falls, rises = (
            np.bincount(rows[1:][step & within], minlength=len(lengths))
            for step in (scores[1:] < scores[:-1], scores[1:] > scores[:-1])
        )
        tells = (lengths >= _FEWEST) & (falls + rises > 0)
        if asked is not None:
            tells &= asked
        return cls(int((tells & (falls == 0)).sum()), int(tells.sum()))

    def plus(self, other: RisingScores) -> RisingScores:
        return RisingScores(self.rising + other.rising, self.lists + other.lists)

    def sentences(self) -> Iterator[str]:
        """Yield a warning if nearly all lists rise."""
        if self.rising >= max(_FEWEST, 0.9 * self.lists):
            yield Warned(
                f"The scores rise from line to line in {counted(self.rising, 'list')}, as "
                "distances do; ranks are by score, the greatest first, so that such a list is read "
                "backwards. If they are distances, give them a minus sign, or give ranks."
            )


def rising_scores(scores: Floats, lengths: Ints, notes: Sequence[str]) -> Iterator[str]:
    """Yield a warning if the scores of nearly all lists rise."""
    return RisingScores.of(scores, lengths, notes).sentences()


Given = TypeVar("Given", bound="AnyRun | Judgements")

BASIS = "results with the id of their query are left out"


def without_own_ids(table: Given) -> tuple[Given, int]:
    """Remove what is about a query itself, and count the removed rows.

    >>> without_own_ids(Lookup({"q": {"q": 2.0, "a": 1.0}}))[0].lists
    {'q': {'a': 1.0}}
    """
    if isinstance(table, Lookup):
        queries = {query for query, items in table.lists.items() if query in items}
        if not queries:
            return table, 0
        lists = {
            query: {item: value for item, value in items.items() if item != query}
            if query in queries
            else items
            for query, items in table.lists.items()
        }
        repeated = tuple(pair for pair in table.repeated if pair[0] != pair[1])
        return replace(table, lists=lists, repeated=repeated), len(queries)
    passed = 0
    if isinstance(table, Run) and table.passed.own:
        passed = table.passed.own
        table = replace(table, passed=replace(table.passed, own=0))
    kept = (table.frame["query"] != table.frame["item"]).arg_true().to_numpy()
    number = table.frame.height - len(kept)
    if not number:
        return table, passed
    # A query that was its only result is still there, with an empty list.
    return replace(
        table,
        frame=table.frame[kept],
        rows=kept if table.rows is None else table.rows[kept],
        queries=tuple(table.names()),
    ), number + passed


def _holds(table: Judgements | AnyRun) -> bool:
    return any(map(len, table.lists.values() if isinstance(table, Lookup) else [table.frame]))


def have_own_id(number: int, one: str = "result") -> str:
    return str(Tallied(number, *own_id_words(one)))


def own_id_words(one: str = "result", then: str = "") -> tuple[str, str]:
    return (
        f"{{}} {one} has the id of its query{then}",
        f"{{}} {one}s have the id of their query{then}",
    )


def excluding_same_id(data: Data, *, one: str = "result") -> Data:
    """Remove results with the id of their query, and judgements of a query for itself."""
    return data.then(judgements=judgements_of_others, run=lambda given: run_of_others(given, one))


def run_of_others(run: AnyRun, one: str = "result", *, whole: bool = True) -> AnyRun:
    """Remove results with the id of their query from a run, or from a part of one."""
    shorter, number = without_own_ids(run)
    part = not whole or (isinstance(run, Run) and run.part)
    if number and not part and not _holds(shorter):
        refuse_nothing_left(run.source, number, one)
    notes = [Tallied(number, *own_id_words(one, _OUT))] if number else []
    basis = run.basis if BASIS in run.basis else (*run.basis, BASIS)
    return replace(shorter, notes=(*run.notes, *notes), basis=basis)


_OUT = ": taken out."


def refuse_nothing_left(source: str, taken: int | Sequence[str], one: str = "result") -> None:
    """Raise an error if all results had the id of their query: by number, or by the notes."""
    if isinstance(taken, int) or any(
        isinstance(note, Tallied) and note.many.endswith(_OUT) for note in taken
    ):
        raise InputError(
            f"{source}: every {one} has the id of its query, so that nothing is left to rank "
            "without them; leave exclude_same_id (--exclude-same-id) out."
        )


def judgements_of_others(judgements: Judgements | Lookup) -> Judgements | Lookup:
    """Remove judgements of a query for itself."""
    shorter, number = without_own_ids(judgements)
    if not number:
        return judgements
    part = isinstance(judgements, Judgements) and judgements.part
    if not part and not _holds(shorter):
        raise InputError(
            f"{judgements.source}: every judgement is of a query for itself, so that nothing is "
            "left to find without them; leave exclude_same_id (--exclude-same-id) out."
        )
    one = "{} judgement of a query for itself was taken out."
    many = "{} judgements of queries for themselves were taken out."
    return replace(shorter, notes=(*judgements.notes, Tallied(number, one, many)))


def _above(matches: Matches, queries: Ints, score: Floats) -> Ints:
    """Count the results of some queries above a score."""
    lists = matches.list_of[queries]
    lengths = matches.lengths[lists]
    greater = matches.scores[positions(matches.starts[lists], lengths)] > np.repeat(score, lengths)
    return np.add.reduceat(greater, starts_of(lengths), dtype=np.int64)


@dataclass(frozen=True)
class OwnIds:
    """Queries that stand among their own results.

    A query whose own id is all that it looks for, as the caption of an image, is no such query.
    """

    number: int = 0
    first: int = 0
    """At rank 1."""
    high: int = 0
    """Among the first ten."""
    queries: int = 0
    """Queries with results."""

    @classmethod
    def of(cls, pool: Pool, matches: Matches) -> OwnIds:
        there = matches.list_of[matches.list_of >= 0]
        queries = int(np.count_nonzero(matches.lengths[there]))
        own_queries = matches.own_query
        if not len(own_queries):
            return cls(queries=queries)
        relevant = np.bincount(pool.query[pool.grades > 0], minlength=len(pool.queries))
        alone = own_queries[relevant[own_queries] == 1]
        begins = starts_of(pool.lengths)
        places = positions(begins[alone], pool.lengths[alone])
        sought = places[pool.grades[places] > 0]
        names = [pool.queries[query] for query in alone.tolist()]
        items = pool.items_at(sought)
        paired = alone[[name == item for name, item in zip(names, items, strict=True)]]
        left = ~np.isin(own_queries, paired)
        own_queries, score = own_queries[left], matches.own_score[left]
        if not len(own_queries):
            return cls(queries=queries)
        above = _above(matches, own_queries, score)
        return cls(len(own_queries), int((above == 0).sum()), int((above < 10).sum()), queries)

    def plus(self, other: OwnIds) -> OwnIds:
        return OwnIds(
            self.number + other.number,
            self.first + other.first,
            self.high + other.high,
            self.queries + other.queries,
        )

    def sentences(self) -> Iterator[str]:
        """Yield a warning if queries are high among their own results."""
        if self.number and (self.first * 10 >= self.queries or self.high * 2 >= self.queries):
            which = f"{self.number:,} of {counted(self.queries, 'query', 'queries')}"
            yield Warned(
                f"{which} have their own id among their results, {self.first:,} at rank 1. If "
                "queries are items too, take them out: exclude_same_id=True (--exclude-same-id)."
            )
