"""Lists of grades as arrays, and tied results in the order of their worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import Any

import numpy as np

from judged.arrays import Floats, Ints, borders, descending, ordinals
from judged.errors import InputError, quoted


def favoured(
    query: Ints,
    first: Ints,
    last: Ints,
    worth: Floats,
    *,
    best: bool,
    unjudged: float = 0.0,
    then: Ints | None = None,
) -> Ints:
    """Rank hits when every tie is ordered by worth, greatest first (best) or last (worst).

    Results that are no hits are worth `unjudged`; a hit worth the same is below them where the best
    come first. Hits worth the same are in the order of `then`.
    """
    tied = np.flatnonzero(last > first)
    if len(tied) < len(first):
        rank = first.copy()
        columns = query[tied], first[tied], last[tied], worth[tied]
        below = None if then is None else then[tied]
        rank[tied] = favoured(*columns, best=best, unjudged=unjudged, then=below)
        return rank
    sign = -1 if best else 1
    keys = (sign * worth, first, query)
    order = np.lexsort(keys if then is None else (then, *keys))
    query, first, last = query[order], first[order], last[order]
    front = (worth[order] > unjudged) == best
    new = borders(query, first)
    group = np.cumsum(new) - 1
    place = ordinals(group, int(new.sum()))
    size = np.bincount(group)[group] if len(order) else place
    rank = np.empty(len(order), np.int64)
    rank[order] = np.where(front, first + place - 1, last - (size - place))
    return rank


def by_subtopic(
    lists: list[Any], pool: Any, relevant: Any
) -> tuple[tuple[Ints, Ints, Ints, Floats] | None, list[Any], Any]:
    """Split lists and a pool of {subtopic: grade} into subtopic rows and best grades."""
    pools = None if pool is None else listed(pool, "pool")
    if not any(
        isinstance(entry, Mapping)
        for row in (*lists, *(pools or ()))
        if isinstance(row, (list, tuple))
        for entry in row
    ):
        return None, lists, pools
    if relevant is not None:
        raise InputError(
            "relevant says nothing of subtopics; give pool, the {subtopic: grade} of all judged "
            "items."
        )
    for what, rows in (("relevance", lists), ("pool", pools or ())):
        for number, row in enumerate(rows, 1):
            if isinstance(row, (str, bytes, Mapping)) or not hasattr(row, "__iter__"):
                raise _no_list(what, row)
            for entry in row:
                if isinstance(entry, Mapping):
                    _row(list(entry.values()), f"{what}, row {number}", what, none=False)
    judged = [[entry for entry in row if entry is not None] for row in lists]
    if pools is not None:
        if len(pools) != len(lists):
            raise InputError(
                f"pool must hold one list for each of the {len(lists)} queries; got {len(pools)}."
            )
        judged = [
            judged_items + _unlisted(judged_items, list(whole))
            for judged_items, whole in zip(judged, pools, strict=True)
        ]
    wrong = [
        entry for items in judged for entry in items if not isinstance(entry, Mapping) or not entry
    ]
    if wrong:
        raise InputError(
            f"where some items have {{subtopic: grade}}, all judged items must; got {wrong[0]!r}."
        )
    names = [sorted({name for entry in items for name in entry}, key=str) for items in judged]
    flat = [
        (query, item, names[query].index(name), entry[name])
        for query, items in enumerate(judged)
        for item, entry in enumerate(items)
        for name in sorted(entry, key=str)
    ]
    query, item, subtopic, grade = map(np.array, zip(*flat, strict=True))
    shown = [[None if entry is None else max(entry.values()) for entry in row] for row in lists]
    best = [[max(entry.values()) for entry in items] for items in judged]
    return (query, item, subtopic, grade.astype(np.float64)), shown, best


def _unlisted(listed: list[Any], pool: list[Any]) -> list[Any]:
    for item in listed:
        if item not in pool:
            raise InputError(
                f"pool lacks {item!r}, which is in a list; it holds all judged items, in the list "
                "and outside it."
            )
        pool.remove(item)
    return pool


def listed(rows: Any, what: str) -> list[Any]:
    """Return a list of rows, one per query."""
    try:
        return list(rows)
    except TypeError:
        raise _no_list(what, rows) from None


def rows_of(rows: Any, what: str, *, none: bool = False) -> list[Floats]:
    """Return rows of numbers, one per query; with `none`, None is NaN, an unjudged item."""
    return [
        _row(row, f"{what}, row {number}", what, none)
        for number, row in enumerate(listed(rows, what), 1)
    ]


def plain_array(array: Any, what: str) -> Any:
    """Return a tensor of torch as an array, also one of a type that numpy does not know."""
    if not _is_tensor(array):
        return array
    from judged.inputs.vectors.vectors import array_of  # small evaluations do without it

    return np.asarray(array_of(array, what))


def _is_tensor(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "torch"


def _no_list(what: str, value: Any) -> InputError:
    return InputError(
        f"{what} must hold one list of numbers for each query; got {quoted(value)}. For a single "
        "query write [[…]]."
    )


def _row(row: Any, place: str, what: str, none: bool) -> Floats:
    row = plain_array(row, what)
    if isinstance(row, (list, tuple)) and any(map(_is_tensor, row)):
        row = [value.item() if _is_tensor(value) and value.ndim == 0 else value for value in row]
    if isinstance(row, (str, bytes, Mapping)) or _dimensions(row) != 1:
        raise _no_list(what, row)
    if getattr(row, "dtype", None) is not None and np.asarray(row).dtype.kind in "fiu":
        return np.asarray(row, dtype=np.float64)
    numbers = []
    for value in row:
        try:
            if isinstance(value, (str, bytes)):
                raise TypeError
            numbers.append(np.nan if none and value is None else float(value))
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"{place}: {quoted(value)} is not a number that can be used."
            ) from None
    return np.array(numbers, dtype=np.float64)


def _dimensions(row: Any) -> int:
    try:
        return int(np.ndim(row))
    except ValueError:  # lists of different lengths in a list
        return 2


def each_query(value: Any, queries: Sequence[str], what: str) -> Ints | None:
    """Return one number per query, from one for all or one for each."""
    if value is None:
        return None
    wanted = f"{what} must be one number, or one for each of the {len(queries)} queries"
    try:
        numbers = np.asarray(value)
    except ValueError:  # lists of different lengths
        numbers = np.zeros((0, 0))
    if numbers.ndim == 0:
        numbers = np.broadcast_to(numbers, len(queries))
    if numbers.shape != (len(queries),):
        got = len(numbers) if numbers.ndim == 1 else quoted(value)
        raise InputError(f"{wanted}; got {got}.")
    whole = numbers.dtype.kind in "iu" or (
        numbers.dtype.kind == "f" and bool((numbers == np.rint(numbers)).all())
    )
    if not whole or (numbers < 0).any() or (numbers > 2**53).any():
        raise InputError(f"{wanted}, whole and not below 0; got {quoted(value)}.")
    return numbers.astype(np.int64)


def tie_spans(tied: Any, queries: Sequence[str], lengths: Ints) -> tuple[Ints, Ints]:
    """Return the first and the last rank of the tie of every result."""
    rows = listed(tied, "tied")
    if len(rows) != len(queries):
        raise InputError(
            f"tied must hold the ties of each of the {len(queries)} queries; got {len(rows)}."
        )
    firsts, lasts = [], []
    for name, length, ties in zip(queries, lengths.tolist(), rows, strict=True):
        first, last = np.arange(1, length + 1), np.arange(1, length + 1)
        end = 0
        try:
            spans = sorted((index(begin), index(finish)) for begin, finish in listed(ties, "tied"))
        except (TypeError, ValueError):
            raise InputError(
                "tied must hold the first and the last rank of each tie, such as (2, 4); got "
                f"{quoted(ties)}."
            ) from None
        for begin, finish in spans:
            if not end < begin <= finish <= length:
                raise InputError(
                    f"tied of query {name}: ranks {begin} to {finish} are not a stretch of its "
                    f"own in a list of {length}."
                )
            first[begin - 1 : finish], last[begin - 1 : finish] = begin, finish
            end = finish
        firsts.append(first)
        lasts.append(last)
    return np.concatenate(firsts), np.concatenate(lasts)


def checked_indices(chosen: Any, count: int) -> Ints:
    """Check indices of queries."""
    try:
        index = np.asarray(chosen)
    except ValueError:
        index = np.zeros((0, 0))
    if index.ndim == 1 and not len(index):
        return index.astype(np.int64)
    if index.ndim != 1 or index.dtype.kind not in "iu" or index.max() >= count or index.min() < 0:
        raise InputError(
            f"the queries to take must be a list of whole numbers from 0 to {count - 1}; got "
            f"{quoted(chosen)}."
        )
    return index.astype(np.int64)


def query_names(queries: Any, count: int, rows: str) -> tuple[str, ...]:
    """Return the ids of the queries, by default their numbers from 1."""
    if queries is None:
        return tuple(str(number) for number in range(1, count + 1))
    try:
        names = () if isinstance(queries, (str, bytes)) else tuple(map(str, queries))
    except TypeError:
        names = ()
    if not names:
        raise InputError(f"queries must be a list of ids, one for each; got {quoted(queries)}.")
    if len(names) != count:
        raise InputError(
            f"queries has {len(names)} ids, {rows.format(count=count)}; the lengths must match."
        )
    if len(set(names)) < len(names):
        raise InputError("queries must be distinct ids.")
    return names


def whole_pool(
    query: Ints,
    grade: Floats,
    names: tuple[str, ...],
    relevant: Sequence[int] | int | None,
    pool: Iterable[Sequence[float]] | None,
) -> tuple[Ints, Floats]:
    """Return all grades: of the lists and only counted ones, or of the pool and the lists."""
    count = len(names)
    if pool is not None:
        rows = rows_of(pool, "pool")
        if len(rows) != count:
            raise InputError(
                f"pool must hold one list of grades for each of the {count} queries; got "
                f"{len(rows)}."
            )
        rows = _completed(query, grade, rows, names)
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        query, grade = np.repeat(np.arange(count), lengths), np.concatenate(rows)
    elif (wanted := each_query(relevant, names, "relevant")) is not None:
        listed = np.bincount(query, grade > 0, minlength=count)
        if (short := np.flatnonzero(wanted < listed)).size:
            worst = short[0]
            raise InputError(
                f"relevant of query {names[worst]} is {wanted[worst]}, but its list alone holds "
                f"{int(listed[worst])} relevant items; "
                "relevant counts all there are, in the list and outside it."
            )
        unseen = np.repeat(np.arange(count), wanted - listed.astype(np.int64))
        query, grade = (
            np.concatenate([query, unseen]),
            np.concatenate([grade, np.ones(len(unseen))]),
        )
    order = np.argsort(query, kind="stable")
    query, grade = query[order], grade[order]
    return query, descending(grade, np.bincount(query, minlength=count))


def _completed(
    query: Ints, grade: Floats, pool: list[Floats], names: tuple[str, ...]
) -> list[Floats]:
    """Add irrelevant grades that pools lack to them; raise an error if a relevant one lacks."""
    listed = np.split(grade, np.cumsum(np.bincount(query, minlength=len(names)))[:-1])
    whole = []
    for name, listed_grades, every in zip(names, listed, pool, strict=True):
        lacking = Counter(listed_grades.tolist()) - Counter(every.tolist())
        if relevant := [missing for missing in lacking if missing > 0]:
            raise InputError(
                f"pool of query {name} lacks a grade {min(relevant):g} that its list holds; "
                "pool is all grades there are, in the list and outside it."
            )
        whole.append(np.concatenate([every, np.array([*lacking.elements()], dtype=np.float64)]))
    return whole


def refuse_infinite(query: Ints, grade: Floats, names: tuple[str, ...]) -> None:
    if (wrong := np.flatnonzero(~np.isfinite(grade))).size:
        raise InputError(
            f"a grade of query {names[query[wrong[0]]]} is {grade[wrong[0]]}; grades must be "
            "finite numbers."
        )
