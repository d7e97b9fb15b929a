"""One query's rankings from whatever holds them, with the ids of its results."""

from __future__ import annotations

import json
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.errors import InputError, PolicyError, did_you_mean, quoted
from judged.inputs import read_judgements
from judged.inputs.data import Data, holds_rows
from judged.inputs.tables import Judgements, Lookup, Run
from judged.judging import judging, pool_of
from judged.judging.items import with_items
from judged.policy import Policy
from judged.rankings.rankings import Rankings

if TYPE_CHECKING:
    from judged.types import CollectionLike, ColumnsLike, FileFormat, ItemToLike


A_LIST = "the list"
"""What the run of a relevance list is called, which has neither name nor query."""


@dataclass(frozen=True)
class Read:
    """One query: its rankings, and which item stands where."""

    rankings: Rankings
    items: Mapping[int, str] = field(default_factory=dict)
    """Ids by rank; none where the input has no ids."""
    lost: Mapping[str, float] = field(default_factory=dict)
    """Ids and grades of items with a grade above 0 that were not retrieved, the best grades first.
    """


def read(
    judgements: Any,
    run: Any,
    query: str | None,
    *,
    relevant: int | None,
    pool: Sequence[Any] | str | None,
    policy: Policy,
    prepare: Callable[[Run | Lookup], Run | Lookup],
    depth: int | None,
    duplicates: str,
    collection: CollectionLike | None,
    item_to: ItemToLike | None,
    exclude_same_id: bool,
    columns: ColumnsLike | None,
    judgements_format: FileFormat | None,
    run_format: FileFormat | None,
) -> Read:
    """One query of a run, of rankings, or a relevance list."""
    if run is not None or holds_rows(judgements):
        if relevant is not None or pool is not None:
            raise InputError(
                "relevant and pool are about a relevance list; judgements say themselves what is "
                "relevant."
            )
        data = with_items(
            Data.of(
                judgements,
                run,
                columns=columns,
                judgements_format=judgements_format,
                run_format=run_format,
            ),
            item_to=item_to,
            exclude_same_id=exclude_same_id,
            duplicates=duplicates,
        )
        listed = data.run("explain takes one run.")
        return _read_query(
            data.judgements(),
            prepare(listed),
            query,
            policy=policy,
            depth=depth,
            duplicates=duplicates,
            collection=collection,
        )
    if item_to is not None or exclude_same_id:
        raise InputError("item_to and exclude_same_id are about the ids of a run; there is none.")
    if isinstance(judgements, Rankings):
        return _read_rankings(judgements, query)
    if isinstance(judgements, Mapping) or not isinstance(judgements, (str, Sequence, np.ndarray)):
        raise InputError(
            "judgements need a run beside them; a relevance list is a text or a list of grades in "
            "rank order."
        )
    if query is not None:
        raise InputError("a relevance list is one query's; query names one of several.")
    if depth is not None:
        raise InputError(
            "depth cuts the lists of a run; write a relevance list as long as it should be."
        )
    if isinstance(collection, Mapping):
        raise InputError("collection of a relevance list is one number.")
    return _read_list(judgements, relevant=relevant, pool=pool, collection=collection)


def relevance_list(text: str, what: str = "relevance list") -> list[Any]:
    """Grades in rank order from a text: numbers, - for an item nobody judged, {"subtopic":grade}
    for one judged by subtopic.

    >>> relevance_list("0 1, - 2.5")
    [0, 1, None, 2.5]
    """
    words = text.split() if "{" in text else text.replace(",", " ").split()
    if not words:
        raise InputError(f"the {what} is empty; {_WRITTEN[what]}.")
    return [_grade(word, text, what) for word in words]


_WRITTEN = {
    "relevance list": 'write the grades in rank order, such as "0 1 0 0 1"',
    "pool": 'write the grades of all judged items, such as "2 1 1 0"',
}


def _grade(word: str, text: str, what: str) -> Any:
    if word == "-" and what != "pool":
        return None
    try:
        grade = json.loads(word, parse_constant=_refused)
    except ValueError:
        grade = None
    if isinstance(grade, bool) or not isinstance(grade, (int, float, dict)):
        either = "is no grade" if what == "pool" else "is neither a grade nor - (not judged)"
        hint = (
            " For files, give QRELS and RUN."
            if what != "pool" and ("/" in text or ("." in text and len(text.split()) == 1))
            else ""
        )
        written = _WRITTEN[what].capitalize()
        raise InputError(f"{text!r} is no {what}: {word!r} {either}. {written}.{hint}")
    return grade


def _refused(constant: str) -> None:
    """NaN and infinity are no grades, though JSON of Python knows them."""
    raise ValueError(constant)


def _read_list(
    given: Any, *, relevant: int | None, pool: Sequence[Any] | None, collection: int | None
) -> Read:
    """From grades in rank order."""
    pools = None if pool is None else [_grades("pool", pool)]
    rankings = Rankings.from_relevance(
        [_grades("a relevance list", given)],
        relevant=relevant,
        pool=pools,
        collection=collection,
        name=A_LIST,
    )
    return Read(rankings)


def _grades(what: str, given: Any) -> list[Any]:
    """Grades as a list, from a text or from any sequence of them."""
    if isinstance(given, str):
        return relevance_list(given, what.removeprefix("a "))
    rows = given.tolist() if isinstance(given, np.ndarray) else given
    if not isinstance(rows, Iterable) or isinstance(rows, (bytes, Mapping)):
        raise InputError(f"{what} must be a text or a list of grades; got {quoted(given)}.")
    grades = list(rows)
    for grade in grades:
        if grade is not None and not isinstance(grade, (Real, Mapping)):
            raise InputError(f"{what} must hold grades or None; got {quoted(grade)}.")
    return grades


def _read_rankings(rankings: Rankings, query: str | None) -> Read:
    """One query of rankings made before; they know no ids."""
    chosen = _chosen(rankings.queries, query, rankings.queries)
    return Read(rankings.take([rankings.queries.index(chosen)]))


def _read_query(
    known: Judgements | Lookup,
    found: Run | Lookup,
    query: str | None,
    *,
    policy: Policy,
    depth: int | None = None,
    duplicates: str = "error",
    collection: CollectionLike | None = None,
) -> Read:
    """One query of a run and its judgements; everything else in them is left aside."""
    chosen = _chosen(_queries(known), query, _queries(found))
    options: dict[str, Any] = {
        "policy": policy,
        "depth": depth,
        "duplicates": duplicates,
        "collection": collection,
    }
    own = _only(known, chosen)
    assert isinstance(own, (Judgements, Lookup))
    grades = _grades_of(own, duplicates)
    if chosen in _queries(found):
        listed = _only(found, chosen)
        assert isinstance(listed, (Run, Lookup))
        rankings = judging(own, **options)(listed)
        order = _order(listed, chosen, grades, rankings, policy, duplicates)
    else:
        rankings, order = _read_rankings(judging(known, **options)(found), chosen).rankings, []
    if depth is not None:
        order = order[:depth]
    if policy.unjudged == "removed":
        order = [item for item in order if grades.get(item, -1.0) >= 0]
    lost = sorted(
        (item for item in set(grades) - set(order) if grades[item] > 0),
        key=lambda item: (-grades[item], item),
    )
    return Read(rankings, dict(enumerate(order, 1)), {item: grades[item] for item in lost})


def _order(
    run: Run | Lookup,
    query: str,
    grades: Mapping[str, float],
    r: Rankings,
    policy: Policy,
    duplicates: str,
) -> list[str]:
    """The items of the whole list in the order of their ranks.

    Ranks are decided in one place: every item of the list is judged, with its number for a grade,
    and its rank read off. Where ties go by grades, which of several tied items of one grade stands
    where makes no difference.
    """
    items = list(dict.fromkeys(_items(run, query)))
    if not items:
        return []
    blind = replace(
        policy, ties=policy.ties if policy.ties in ("id", "input") else "id", unjudged="nonrelevant"
    )
    numbered = read_judgements({query: {item: number for number, item in enumerate(items)}})
    ranked = judging(numbered, policy=blind, duplicates=duplicates)(run)
    order = [items[int(number)] for number in ranked.hit_grade.tolist()]
    whole = r.whole or r
    at = dict(zip(whole.hit_rank.tolist(), whole.hit_grade.tolist(), strict=True))
    first = ranked.spans[0].tolist()
    tied: dict[int, list[str]] = {}
    for item, begin in zip(order, first, strict=True):
        tied.setdefault(begin, []).append(item)
    return [
        item
        for begin, items in tied.items()
        for item in _by_grade(items, [at.get(begin + place) for place in range(len(items))], grades)
    ]


def _by_grade(
    items: list[str], wanted: list[float | None], grades: Mapping[str, float]
) -> Iterator[str]:
    """The items so that each place has the grade that is wanted there (None: nobody judged it), and
    otherwise in the order they have; each item is looked at a few times, however many there are."""
    left = OrderedDict.fromkeys(items)
    waiting: dict[float | None, deque[str]] = {}
    for item in items:
        waiting.setdefault(grades.get(item), deque()).append(item)
    for grade in wanted:
        fitting = waiting.get(grade, deque())
        while fitting and fitting[0] not in left:
            fitting.popleft()
        item = fitting.popleft() if fitting else next(iter(left))
        del left[item]
        yield item


def _chosen(judged: Iterable[str], query: str | None, listed: Iterable[str]) -> str:
    names = list(judged)
    if query is None:
        if len(names) == 1:
            return names[0]
        shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
        raise InputError(
            f"say which query to explain; there are {len(names):,} judged queries: {shown}."
        )
    if query in names:
        return query
    if query in set(listed):
        raise InputError(
            f"query {query!r} is in the run, but nobody judged it; there is nothing to explain."
        )
    raise InputError(
        f"There is no judged query {quoted(query)} among {len(names):,}{did_you_mean(query, names)}"
    )


def _queries(table: Judgements | Run | Lookup) -> list[str]:
    return list(table.lists) if isinstance(table, Lookup) else table.names()


def _only(table: Judgements | Run | Lookup, query: str) -> Judgements | Run | Lookup:
    """The rows of one query."""
    if isinstance(table, Lookup):
        return replace(table, lists={query: table.lists[query]} if query in table.lists else {})
    own = (table.frame["query"] == query).arg_true().to_numpy()
    rows = own if table.rows is None else table.rows[own]
    return replace(table, frame=table.frame[own], rows=rows, queries=(query,))


def _items(run: Run | Lookup, query: str) -> list[str]:
    if isinstance(run, Lookup):
        return list(run.lists.get(query, {}))
    return list(run.frame["item"].to_list())


def _grades_of(judgements: Judgements | Lookup, duplicates: str) -> dict[str, float]:
    """The grade of each judged item of the one query; by subtopic the best one."""
    pool = pool_of(judgements, duplicates=duplicates)
    return dict(zip(pool.items[0], pool.grades.tolist(), strict=True))


def refuse_unbroken_ties(policy: Policy) -> None:
    if policy.ties == "expected":
        raise PolicyError(
            "an explanation goes through one order of the results, and ties=expected is the mean "
            "over all orders; choose ties=id, input, best or worst."
        )
