"""Lists of grades in rank order, checked and made flat: the grades shown, the pool, and judgements
by subtopic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from judged.errors import InputError
from judged.segments import Floats, Ints, descending


def by_subtopic(
    lists: list[Any], pool: Any, relevant: Any
) -> tuple[tuple[Ints, Ints, Ints, Floats] | None, list[Any], Any]:
    """What lists and a pool of {subtopic: grade} say (query, item, subtopic, grade), and both with
    each item's best grade."""
    pools = None if pool is None else list(pool)
    if not any(
        isinstance(each, Mapping)
        for row in (*lists, *(pools or ()))
        if isinstance(row, (list, tuple))
        for each in row
    ):
        return None, lists, pools
    if relevant is not None:
        raise InputError(
            "relevant says nothing of subtopics; give pool, the {subtopic: grade} of all judged "
            "items."
        )
    judged = [[each for each in row if each is not None] for row in lists]
    if pools is not None:
        if len(pools) != len(lists):
            raise InputError(
                f"pool must hold one list for each of the {len(lists)} queries; got {len(pools)}."
            )
        judged = [
            listed + _unlisted(listed, list(whole))
            for listed, whole in zip(judged, pools, strict=True)
        ]
    wrong = [
        each for items in judged for each in items if not isinstance(each, Mapping) or not each
    ]
    if wrong:
        raise InputError(
            f"where some items have {{subtopic: grade}}, all judged items must; got {wrong[0]!r}."
        )
    names = [sorted({name for each in items for name in each}) for items in judged]
    rows = [
        (query, item, names[query].index(name), each[name])
        for query, items in enumerate(judged)
        for item, each in enumerate(items)
        for name in sorted(each)
    ]
    query, item, subtopic, grade = map(np.array, zip(*rows, strict=True))
    shown = [[None if each is None else max(each.values()) for each in row] for row in lists]
    best = [[max(each.values()) for each in items] for items in judged]
    return (query, item, subtopic, grade.astype(np.float64)), shown, best


def _unlisted(listed: list[Any], pool: list[Any]) -> list[Any]:
    for each in listed:
        if each not in pool:
            raise InputError(
                f"pool lacks {each!r}, which is in a list; it holds all judged items, in the list "
                "and outside it."
            )
        pool.remove(each)
    return pool


def grades_of(row: Any) -> Floats:
    if np.ndim(row) != 1:
        raise InputError(
            f"relevance must hold one list of grades for each query; got {row!r}. For a single "
            "query write [[…]]."
        )
    return np.array([np.nan if grade is None else grade for grade in row], dtype=np.float64)


def each_query(value: Sequence[int] | int | None, queries: Sequence[str], what: str) -> Ints | None:
    """One number per query, from one for all or one for each."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        raise InputError(
            f"{what} must be one number, or a list with one for each query; got a dict."
        )
    numbers = (
        np.broadcast_to(np.asarray(value, dtype=np.int64), len(queries))
        if np.ndim(value) == 0
        else np.asarray(value)
    )
    if numbers.shape != (len(queries),):
        raise InputError(
            f"{what} must be one number, or one for each of the {len(queries)} queries; got "
            f"{len(numbers)}."
        )
    return numbers.astype(np.int64)


def query_names(queries: Sequence[str] | None, count: int, rows: str) -> tuple[str, ...]:
    """The queries' ids, or their numbers from 1 where none are given."""
    if queries is None:
        return tuple(str(number) for number in range(1, count + 1))
    names = tuple(map(str, queries))
    if len(names) != count:
        raise InputError(
            f"queries has {len(names)} ids, {rows.format(count=count)}; they must be as many."
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
    """All grades there are: those in the lists plus those only counted, or the pool as given."""
    count = len(names)
    if pool is not None:
        rows = [np.asarray(row, dtype=np.float64) for row in pool]
        if len(rows) != count:
            raise InputError(
                f"pool must hold one list of grades for each of the {count} queries; got "
                f"{len(rows)}."
            )
        _refuse_strangers(query, grade, rows, names)
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        query, grade = np.repeat(np.arange(count), lengths), np.concatenate(rows)
    elif (wanted := each_query(relevant, names, "relevant")) is not None:
        listed = np.bincount(query, grade > 0, minlength=count)
        if (short := np.flatnonzero(wanted < listed)).size:
            at = short[0]
            raise InputError(
                f"relevant of query {names[at]} is {wanted[at]}, but its list alone holds "
                f"{int(listed[at])} relevant items; "
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


def _refuse_strangers(
    query: Ints, grade: Floats, pool: list[Floats], names: tuple[str, ...]
) -> None:
    """A relevant item of a list that is not in its pool would make recall and nDCG exceed 1."""
    listed = np.split(grade, np.cumsum(np.bincount(query, minlength=len(names)))[:-1])
    for name, own, every in zip(names, listed, pool, strict=True):
        if lost := Counter(own[own > 0].tolist()) - Counter(every.tolist()):
            raise InputError(
                f"pool of query {name} lacks a grade {min(lost):g} that its list holds; "
                "pool is all grades there are, in the list and outside it."
            )


def refuse_infinite(query: Ints, grade: Floats, names: tuple[str, ...]) -> None:
    if (wrong := np.flatnonzero(~np.isfinite(grade))).size:
        raise InputError(
            f"a grade of query {names[query[wrong[0]]]} is {grade[wrong[0]]}; grades must be "
            "finite numbers."
        )
