"""Checks of a run against its judgements: swapped files, unlike ids, a query's own item, ties."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from operator import add, eq
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, descending, positions, starts_of
from judged.errors import InputError
from judged.inputs.order import AgainstRanks, OrderOnly
from judged.inputs.tables import AnyRun, AnyTable, Judgements, Lookup, ReadTable, Run, lost_message
from judged.text import Tallied, Warned, counted

if TYPE_CHECKING:
    from judged.inputs.data import Data
    from judged.inputs.tables import AnyRun
    from judged.matching.join import Matches
    from judged.matching.pool import Pool


WHOSE = ("the run's ids", "the judgements' ids")
MAX_SAMPLED_QUERIES, MAX_SAMPLED_IDS = 50, 100
MIN_QUERIES_TO_WARN = 3

IdSample = tuple[int, str, list[str], list[str]]
"""Checksum of a query, the query, and its first ids in the run and in the judgements."""


class RunDoubt(NamedTuple):
    """Counts of something that may be wrong, which add up over blocks, and what their sum says."""

    say: Callable[..., Iterator[str]]
    counts: tuple[int, ...]
    sample: tuple[Any, ...] = ()

    def plus(self, other: RunDoubt) -> RunDoubt:
        sample = tuple(sorted(self.sample + other.sample)[:MAX_SAMPLED_QUERIES])
        return RunDoubt(self.say, tuple(map(add, self.counts, other.counts)), sample)

    def sentences(self) -> Iterator[str]:
        more = (self.sample,) if self.say in (say_unlike_ids, say_large_ties) else ()
        return self.say(*self.counts, *more)


def unlike_ids(pool: Pool, run: AnyRun, matches: Matches) -> RunDoubt:
    """Return the share of judged results, and ids of both sides where no result is judged."""
    there = np.flatnonzero(matches.list_of >= 0)
    there = there[(matches.lengths[matches.list_of[there]] > 0) & (pool.lengths[there] > 0)]
    hits = np.bincount(pool.query[matches.hit_judgement], minlength=len(pool.queries))
    counts = len(pool.queries), len(there), len(matches.hit_judgement), int((hits > 0).sum())
    sample: tuple[IdSample, ...] = ()
    sampled = elsewhere = 0
    unlike = _are_unlike(*counts)
    if pool.is_part or unlike:
        sample = _sample(pool, matches, there[hits[there] == 0])
    if unlike:
        ids = {item for _, _, run_ids, _ in sample for item in run_ids}
        sampled = len(ids)
        elsewhere = len(ids.intersection(chain.from_iterable(pool.items)))
    return RunDoubt(say_unlike_ids, (*counts, sampled, elsewhere, len(run.basis)), sample)


def _are_unlike(queries: int, answered: int, hits: int, queries_with_hits: int) -> bool:
    return hits < queries and queries_with_hits * 20 < answered


def say_unlike_ids(
    queries: int,
    answered: int,
    hits: int,
    queries_with_hits: int,
    sampled: int,
    elsewhere: int,
    changes: int,
    sample: tuple[IdSample, ...],
) -> Iterator[str]:
    """Yield a warning if almost no result is judged, with a change of ids that would help.

    `elsewhere` of the `sampled` ids of the run are judged for another query.
    """
    if not _are_unlike(queries, answered, hits, queries_with_hits) or not sample:
        return
    which = (
        "No result is judged"
        if not queries_with_hits
        else f"Only {queries_with_hits:,} of {counted(answered, 'query', 'queries')} have a judged "
        "result"
    )
    from judged.inputs.agreement import is_function  # rarely needed

    share, words, whose, item_to = _best_change([entry[2:] for entry in sample])
    if share >= 0.25 and not changes:
        option = item_to
        if not is_function(item_to):
            from shlex import quote

            option = f"{item_to!r} (--item-to {quote(item_to)})"
        yield Warned(
            f"{which}. With {whose} {words}, {share:.0%} of the queries would have one: "
            f"item_to={option}."
        )
    elif not queries_with_hits and answered >= MIN_QUERIES_TO_WARN:
        _, _, run_ids, judged_ids = min(sample, key=lambda entry: entry[1])
        question = (
            "Do the two belong to the same collection?"
            if elsewhere * 2 <= sampled
            else "The results are judged for other queries: are the ids of the queries right?"
        )
        yield Warned(
            f"{which}: {_few(run_ids, 2)} of the run, {_few(judged_ids, 2)} of the "
            f"judgements. {question}"
        )


def _best_change(pairs: list[tuple[list[str], list[str]]]) -> tuple[float, str, str, str]:
    """Return the change that makes the ids of most queries meet: share, words, whose, item_to."""
    from judged.inputs.agreement import ON_BOTH_SIDES, changes, meet, without_prefix

    best = (0.0, "", "", "")
    for words, (item_to, change) in {**changes(), **without_prefix(pairs)}.items():
        met = [meet(run_ids, judged_ids, change) for run_ids, judged_ids in pairs]
        share = sum(map(any, met)) / len(met)
        whose = WHOSE[sum(one for one, _ in met) < sum(other for _, other in met)]
        if words in ON_BOTH_SIDES:
            changed = [[set(map(change, ids)) for ids in pair] for pair in pairs]
            both = sum(not one.isdisjoint(other) for one, other in changed) / len(met)
            if both > share:
                share, whose = both, "all ids"
        if share > best[0]:
            best = (share, words, whose, item_to)
    return best


def _sample(pool: Pool, matches: Matches, queries: Ints) -> tuple[IdSample, ...]:
    """Return the first ids of both sides for the queries whose ids have the smallest checksums."""
    names = ((pool.queries[query], query) for query in queries.tolist())
    sums = ((crc32(name.encode("utf-8", "surrogatepass")), name, query) for name, query in names)
    sampled = []
    for checksum, name, query in sorted(sums)[:MAX_SAMPLED_QUERIES]:
        number = np.array([query])
        lists = matches.list_of[number]
        run_ids = matches.items(lists, np.arange(matches.lengths[lists[0]]) < MAX_SAMPLED_IDS)
        judged = np.minimum(pool.lengths[number], MAX_SAMPLED_IDS)
        judged_ids = pool.items_at(positions(starts_of(pool.lengths)[number], judged))
        sampled.append((checksum, name, run_ids, judged_ids))
    return tuple(sampled)


def identity(table: ReadTable) -> list[str]:
    """Return the columns that identify a row."""
    return [name for name in ("query", "item", "subtopic") if name in table.frame.columns]


def repeated(table: ReadTable, suspects: Ints) -> Ints:
    """Return those of some rows that really repeat another of them."""
    if not len(suspects):
        return suspects
    rows = np.unique(suspects)
    frame = table.frame[rows].select(identity(table))
    return rows[frame.is_duplicated().to_numpy()]


def without_repeats(table: AnyTable, rows: Ints, duplicates: str) -> AnyTable:
    """Keep the best-ranked of repeated rows, or raise an error that names them."""
    if duplicates == "error":
        raise InputError(_duplicate_message(table, rows))
    repeats = table.frame[rows].with_columns(row=rows)
    if isinstance(table, Run):
        repeats = repeats.sort("score", descending=True, maintain_order=True)
    first = repeats.unique(identity(table), keep="first", maintain_order=True)
    is_kept = np.ones(table.frame.height, bool)
    is_kept[rows] = False
    is_kept[first["row"].to_numpy()] = True
    numbers = np.flatnonzero(is_kept)
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
        (query, item), others = again[0], len(set(again)) - 1
        more = f" (and {counted(others, 'more such pair')})" if others else ""
        raise InputError(
            f"{run.source}: query {query!r} has item {item!r} more than once{more}. {ADVICE}"
        )
    return again


def _duplicate_message(table: ReadTable, rows: Ints) -> str:
    import polars as pl

    same = table.frame[rows].select(identity(table))
    first = same.row(0, named=True)
    is_first = pl.all_horizontal(pl.col(name) == value for name, value in first.items())
    mates = rows[same.select(is_first).to_series().to_numpy()]
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


NAN_ADVICE = "A NaN cannot be ranked; give it a number or remove it."


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
    from judged.inputs.agreement import agreement

    advice = agreement(there[:1000], queries, WHOSE)
    if all(" " in query for query in queries[:100]) and not any(" " in name for name in there):
        advice = (
            "The judgements name queries by their texts. If a column holds their ids, name it: "
            "columns={'query': COLUMN} (--columns query=COLUMN)."
        )
    return f"{message} {advice or 'Do the two belong to the same collection?'}"


def _few(ids: Sequence[str], most: int = 3) -> str:
    return ", ".join(map(repr, ids[:most])) + (", …" if len(ids) > most else "")


_MAX_USUAL_GRADE = 10


def refuse_swapped(pool: Pool, run: AnyRun, scores: Floats, lengths: Ints) -> None:
    """Raise an error if judgements and run were swapped, unless format or columns rule this out.

    The grades are then scores: fractions that differ within a query. The scores are grades: small
    whole numbers that are not ranks counted down.
    """
    grades = pool.grades
    if not pool.judgements.may_be_run or getattr(run, "tag", None) is not None:
        return
    if len(grades) < 2 or len(scores) < 2 or not _are_scores(pool):
        return
    if not ((scores % 1 == 0) & (scores >= 0) & (scores <= _MAX_USUAL_GRADE)).all():
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
    """Return whether scores, in falling order, are a constant minus the rank in every list."""
    # The grades of two items often are 1 and 0, so that lists of two have to end with 1.
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


MAX_EXACT_WHOLE = 2.0**53


def large_ties(
    queries: Sequence[str], query: Ints, score: Floats, tied: NDArray[np.bool_]
) -> RunDoubt:
    """Count judged results whose tied scores are so large that they may differ in the input."""
    large = np.flatnonzero(tied & (np.abs(score) >= MAX_EXACT_WHOLE) & np.isfinite(score))
    names = [queries[number] for number in query[large].tolist()]
    sample = sorted(zip(names, (-score[large]).tolist(), strict=True))[:1]
    return RunDoubt(say_large_ties, (len(large),), tuple(sample))


def say_large_ties(number: int, sample: tuple[tuple[str, float], ...]) -> Iterator[str]:
    """Yield a warning about tied scores that whole numbers as large may not have had."""
    if number:
        query, score = sample[0]
        yield Warned(
            f"{counted(number, 'judged result')} of tied scores from 2^53 on, such as "
            f"{-score:.0f} of query {query!r}: whole numbers that large may differ in the input "
            "and be the same as floating-point numbers. Give smaller scores, or ranks."
        )


_MIN_RISING = 3  # so many lists of so many results rarely rise by chance


def rising_scores(
    scores: Floats,
    starts: Ints,
    lengths: Ints,
    notes: Sequence[str],
    judged: NDArray[np.bool_] | bool = True,
) -> RunDoubt:
    """Count lists whose scores rise, unless there is only an order or notes mention distances."""
    if any(isinstance(note, (OrderOnly, AgainstRanks)) or "distances" in note for note in notes):
        return RunDoubt(say_rising_scores, (0, 0))
    filled = lengths > 0
    starts = starts[filled]
    falls, rises = np.zeros((2, len(lengths)), bool)
    for moves, steps in (falls, scores[1:] < scores[:-1]), (rises, scores[1:] > scores[:-1]):
        steps = np.append(False, steps)
        steps[starts] = False  # not from one list to the next
        moves[filled] = np.logical_or.reduceat(steps[: len(scores)], starts)
    tells = judged & (lengths >= _MIN_RISING) & (falls | rises)
    return RunDoubt(say_rising_scores, (int((tells & ~falls).sum()), int(tells.sum())))


def say_rising_scores(rising: int, lists: int) -> Iterator[str]:
    """Yield a warning if scores rise from line to line in nearly all lists, as distances do."""
    if rising >= max(_MIN_RISING, 0.9 * lists):
        yield Warned(
            f"The scores rise from line to line in {counted(rising, 'list')}, as "
            "distances do; ranks are by score, the greatest first, so that such a list is read "
            "backwards. If they are distances, give them a minus sign, or give ranks."
        )


T = TypeVar("T", bound="AnyRun | Judgements")

BASIS = "results with the id of their query are left out"


def without_own_ids(table: T) -> tuple[T, int]:
    """Remove what is about a query itself, and count the removed rows."""
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
    others = (table.frame["query"] != table.frame["item"]).arg_true().to_numpy()
    number = table.frame.height - len(others)
    if not number:
        return table, passed
    # A query that was its only result is still there, with an empty list.
    return replace(
        table,
        frame=table.frame[others],
        rows=others if table.rows is None else table.rows[others],
        queries=tuple(table.names()),
    ), number + passed


def _is_empty(table: Judgements | AnyRun) -> bool:
    return not any(map(len, table.lists.values() if isinstance(table, Lookup) else [table.frame]))


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
    if number and not part and _is_empty(shorter):
        raise InputError(_nothing_left(run.source, one))
    notes = [Tallied(number, *own_id_words(one, _OUT))] if number else []
    basis = run.basis if BASIS in run.basis else (*run.basis, BASIS)
    return replace(shorter, notes=(*run.notes, *notes), basis=basis)


_OUT = ": taken out."


def _nothing_left(source: str, one: str = "result") -> str:
    return (
        f"{source}: every {one} has the id of its query, so that nothing is left to rank "
        "without them; leave exclude_same_id (--exclude-same-id) out."
    )


def empty_message(source: str, notes: Sequence[str]) -> str:
    """Return the message about a run without results; `exclude_same_id` may have removed all."""
    removed = any(isinstance(note, Tallied) and note.many.endswith(_OUT) for note in notes)
    return _nothing_left(source) if removed else f"{source}: {EMPTY}"


def judgements_of_others(judgements: Judgements | Lookup) -> Judgements | Lookup:
    """Remove judgements of a query for itself."""
    shorter, number = without_own_ids(judgements)
    if not number:
        return judgements
    part = isinstance(judgements, Judgements) and judgements.part
    if not part and _is_empty(shorter):
        raise InputError(
            f"{judgements.source}: every judgement is of a query for itself, so that nothing is "
            "left to find without them; leave exclude_same_id (--exclude-same-id) out."
        )
    one = "{} judgement of a query for itself was taken out."
    many = "{} judgements of queries for themselves were taken out."
    return replace(shorter, notes=(*judgements.notes, Tallied(number, one, many)))


def own_ids(pool: Pool, matches: Matches) -> RunDoubt:
    """Count queries among their own results: all, at rank 1, in the first ten, and all queries.

    A query whose own id is all that it looks for, as the caption of an image, is no such query.
    """
    there = matches.list_of[matches.list_of >= 0]
    queries = int(np.count_nonzero(matches.lengths[there]))
    own_queries = matches.own_query
    if not len(own_queries):
        return RunDoubt(say_own_ids, (0, 0, 0, queries))
    relevant = np.bincount(pool.query[pool.grades > 0], minlength=len(pool.queries))
    alone = own_queries[relevant[own_queries] == 1]
    places = positions(starts_of(pool.lengths)[alone], pool.lengths[alone])
    items = pool.items_at(places[pool.grades[places] > 0])
    names = [pool.queries[query] for query in alone.tolist()]
    paired = alone[np.array([*map(eq, names, items)], bool)]
    left = ~np.isin(own_queries, paired)
    own_queries, score = own_queries[left], matches.own_score[left]
    if not len(own_queries):
        return RunDoubt(say_own_ids, (0, 0, 0, queries))
    lists = matches.list_of[own_queries]
    lengths = matches.lengths[lists]
    results = matches.scores[positions(matches.starts[lists], lengths)]
    greater = results > np.repeat(score, lengths)
    above = np.add.reduceat(greater, starts_of(lengths), dtype=np.int64)
    counts = len(own_queries), int((above == 0).sum()), int((above < 10).sum()), queries
    return RunDoubt(say_own_ids, counts)


def say_own_ids(number: int, first: int, high: int, queries: int) -> Iterator[str]:
    """Yield a warning if queries are high among their own results."""
    if number and (first * 10 >= queries or high * 2 >= queries):
        yield Warned(
            f"{number:,} of {counted(queries, 'query', 'queries')} have their own id among their "
            f"results, {first:,} at rank 1. If queries are items too, take them out: "
            "exclude_same_id=True (--exclude-same-id)."
        )
