"""Dicts in: {query: {item: score}}, {query: [items in rank order]}, {query: [(item, score)]},
{query: {item: grade}}, {query: [relevant items]} and judgements by subtopic."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from functools import cache, lru_cache
from numbers import Integral, Real
from typing import Any

from judged.errors import InputError, quoted
from judged.inputs.columns import candidates, has_lists, sure
from judged.inputs.documents import is_document
from judged.inputs.objects import (
    as_dict,
    holds_queries,
    is_record,
    is_series,
    results_of_series,
)
from judged.inputs.order import OrderOnly, against_ranks
from judged.inputs.tables import JUDGEMENTS, NO_GRADES, RUN, Kind, Lookup

IDS_NOTE = "Ids that were not texts were turned into texts once."
ORDER_NOTE = OrderOnly("There are no scores: the order of each list is the ranking.")


def run_from_dict(given: Mapping[Any, Any], *, name: str = "run") -> Lookup:
    """A run from {query: {item: score}}, looked into and not copied, or from lists: items, the best
    first, or each with its score."""
    notes: dict[str, None] = {}
    repeated: list[tuple[str, str]] = []
    if any(type(value) is not dict and is_list(value) for value in given.values()):
        against = against_ranks(ranks_beside_scores(given))
        given = {query: _dict_of(query, items, repeated, notes) for query, items in given.items()}
        notes.update(dict.fromkeys(against))
    lists, changed = _as_texts(given, "a score")
    notes.update(dict.fromkeys(changed))
    return Lookup(lists, notes=tuple(notes), name=name, repeated=tuple(repeated))


def judgements_from_dict(given: Mapping[Any, Any]) -> Lookup:
    """Judgements from {query: {item: grade}}, from lists or sets of relevant items, or by subtopic
    from {query: {item: {subtopic: grade}}}."""
    repeated: list[tuple[str, str]] = []
    said: dict[str, None] = {}
    if any(type(value) is not dict and _is_collection(value) for value in given.values()):
        given = {query: _grades_of(query, items, repeated, said) for query, items in given.items()}
    lists, changed = _as_texts(given, "a grade")
    notes = tuple(dict.fromkeys((*said, *changed)))
    by_subtopic = holds_subtopics(lists)
    if by_subtopic:
        lists = {
            query: {item: _subtopics(query, item, value) for item, value in inner.items()}
            for query, inner in lists.items()
        }
    return Lookup(
        lists,
        source="the judgements",
        notes=notes,
        name="judgements",
        by_subtopic=by_subtopic,
        repeated=tuple(repeated),
        may_be_run=True,
    )


def _is_collection(value: Any) -> bool:
    """Whether this is a list of some kind, or a set."""
    return not isinstance(value, Mapping) and (isinstance(value, Set) or is_list(value))


def _grades_of(
    query: Any, items: Any, repeated: list[tuple[str, str]], notes: dict[str, None]
) -> Mapping[Any, Any]:
    """The relevant items of a query as {item: grade}; where an item is repeated, its first."""
    if not _is_collection(items):
        if isinstance(items, Mapping) and not items:
            return items
        raise InputError(
            f"query {query!r} has a {type(items).__name__} where other queries have a list of "
            "relevant items; give every query a list, or every query a dict of grades."
        )
    # A set is put in order, so that nothing depends on how it was made.
    plain = sorted(items, key=str) if isinstance(items, Set) else _plain(items, query, JUDGEMENTS)
    try:
        grades: dict[str, Any] = dict.fromkeys(plain, 1)
    except TypeError:  # a list or a dict cannot be a key
        grades = {}
    if grades and len(grades) == len(plain) and only_texts(grades):
        notes[NO_GRADES] = None
        return grades
    pairs, assumed = results_of(plain, f"query {query!r}", JUDGEMENTS)
    notes.update(assumed)
    grades = {}
    for item, grade in pairs:
        if item in grades:
            repeated.append((str(query), item))
        else:
            grades[item] = grade
    return grades


def holds_subtopics(given: Mapping[Any, Any]) -> bool:
    """Whether the first item there is has a dict of grades, not a grade."""
    inner = (value for value in given.values() if isinstance(value, Mapping))
    return isinstance(next((value for items in inner for value in items.values()), None), Mapping)


def _subtopics(query: str, item: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping) or not given:
        raise InputError(
            f"item {item!r} of query {query!r} has {given!r} where other items have grades by "
            "subtopic; "
            "give every item {subtopic: grade}, with a grade of 0 where it serves none."
        )
    wrong = [each for each in given if not isinstance(each, (str, Real)) or each != each]
    if wrong:
        raise InputError(
            f"item {item!r} of query {query!r} has the subtopic {wrong[0]!r}; subtopics must be "
            "texts or numbers."
        )
    texts = {str(subtopic): grade for subtopic, grade in given.items()}
    if len(texts) < len(given):
        raise InputError(
            f"item {item!r} of query {query!r} has two subtopics that are the same as texts; name "
            "each once."
        )
    return texts


def holds_several(given: Mapping[Any, Any]) -> bool:
    """Whether a dict holds several runs by name, not the lists of one run by query."""
    if is_document(given):
        return False
    for name, value in given.items():
        if holds_queries(value) or holds_table(value, name):
            return True
        if isinstance(value, Mapping):
            inner = next(iter(value.values()), None)
            if inner is not None:
                return isinstance(inner, Mapping) or is_list(inner)
        elif value is not None:
            return not is_list(value)
    return False


def holds_table(given: Any, name: Any) -> bool:
    """Whether this is a list of rows of any query, not the results of the query of this name."""
    if getattr(getattr(given, "index", None), "nlevels", 1) > 1:  # a Series by query and item
        return True
    first = given[0] if isinstance(given, (list, tuple)) and given else None
    if not is_record(first):
        return False
    row = as_dict(first)
    header = list(map(str, row))
    query = candidates("query", header)
    if has_lists(header, ("retrieved",)):
        return True
    return bool(query and candidates("item", header)) and str([*row.values()][query[0]]) != str(
        name
    )


def is_list(value: Any) -> bool:
    """Whether this is a list of some kind: an array of one dimension is too, a text is not."""
    if isinstance(value, Sequence):
        return not isinstance(value, (str, bytes, bytearray, memoryview))
    return len(getattr(value, "shape", ())) == 1


def _plain(items: Any, query: Any = "", kind: Kind = RUN) -> Sequence[Any]:
    """A list of some kind as Python has it."""
    if isinstance(items, Sequence):
        return items
    if is_series(items):
        return results_of_series(items, f"query {query!r}", kind)
    return list(items.tolist() if hasattr(items, "tolist") else items)


def _dict_of(
    query: Any, items: Any, repeated: list[tuple[str, str]], notes: dict[str, None]
) -> Mapping[Any, Any]:
    """A list of results as {item: score}; where an item is repeated, its best-ranked result."""
    if not is_list(items):
        if isinstance(items, Mapping) and not items:
            return items
        raise InputError(
            f"query {query!r} has a {type(items).__name__} where other queries have a ranked list; "
            "give every query a list of items, or every query a dict of scores."
        )
    plain = _plain(items, query, RUN)
    try:
        scores = dict(zip(plain, range(len(plain), 0, -1), strict=True))
    except TypeError:  # a list or a dict cannot be a key
        scores = {}
    if len(scores) == len(plain) and only_texts(scores):
        if scores:
            notes[ORDER_NOTE] = None
        return scores
    pairs, assumed = results_of(plain, f"query {query!r}")
    notes.update(assumed)
    best: dict[str, int] = {}
    for at in sorted(range(len(pairs)), key=lambda at: _rising(pairs[at][1]), reverse=True):
        best.setdefault(pairs[at][0], at)
    kept = set(best.values())
    repeated += [(str(query), item) for at, (item, _) in enumerate(pairs) if at not in kept]
    return {item: score for at, (item, score) in enumerate(pairs) if at in kept}


def _rising(score: Any) -> float:
    """A score as judging orders it; what is refused there must not be left out here."""
    try:
        return float("inf") if score != score else float(score)
    except (TypeError, ValueError, OverflowError):
        return float("inf")


def results_of(
    items: Sequence[Any], place: str, kind: Kind = RUN
) -> tuple[list[tuple[str, Any]], dict[str, None]]:
    """(item, score) of each result of a list, and what was assumed: a list of items, the best
    first, of (item, score), or of {"id": item, "score": score}; or grades for scores, where items
    alone are all relevant."""
    forms = dict.fromkeys(map(_form, items))
    if len(forms) > 1:
        at = next(at for at, each in enumerate(items) if _form(each) != _form(items[0]))
        raise InputError(
            f"{place}: result {at + 1} is {_shown(items[at])}, but result 1 is "
            f"{_shown(items[0])}; a list holds {_ITEMS[kind]}, or (item, {kind.value}) throughout."
        )
    form = next(iter(forms), "item")
    if form == "item":
        scores = range(len(items), 0, -1) if kind is RUN else [1] * len(items)
        given = list(zip(items, scores, strict=True))
    else:
        read = _pair if form == "pair" else _named
        given = [read(each, place, at, kind) for at, each in enumerate(items)]
    pairs = [(as_id(item, place, at), score) for at, (item, score) in enumerate(given)]
    notes: list[str] = (
        [ORDER_NOTE if kind is RUN else NO_GRADES] if form == "item" and items else []
    )
    if any(not isinstance(item, str) for item, _ in given):
        notes.append(IDS_NOTE)
    return pairs, dict.fromkeys(notes)


def ranks_beside_scores(given: Mapping[Any, Any]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield (query, rank, score) of results that are mappings with both; else nothing."""
    for query, results in given.items():
        for result in results if is_list(results) else ():
            if not isinstance(result, Mapping):
                return
            rank, score = _rank_of(tuple(result)), _names_of(tuple(result), RUN)[1]
            if rank is None or score is None:
                return
            yield query, result[rank], result[score]


@lru_cache(64)
def _rank_of(names: tuple[Any, ...]) -> str | None:
    return sure("rank", [name for name in names if isinstance(name, str)])


_ITEMS = {RUN: "items, the best first", JUDGEMENTS: "relevant items"}


def _form(each: Any) -> str:
    return "mapping" if isinstance(each, Mapping) else "pair" if is_list(each) else "item"


def _pair(each: Any, place: str, at: int, kind: Kind) -> tuple[Any, Any]:
    pair = _plain(each)
    if len(pair) != 2:
        raise InputError(
            f"{place}: result {at + 1} is {_shown(pair)}; give it as (item, {kind.value}), or as "
            "the item alone."
        )
    return pair[0], pair[1]


def _named(each: Mapping[Any, Any], place: str, at: int, kind: Kind) -> tuple[Any, Any]:
    item, value = _names_of(tuple(each), kind)
    if item is None or value is None:
        raise InputError(
            f"{place}: result {at + 1} is {_shown(each)}; give it as "
            f'{{"id": item, "{kind.value}": {kind.value}}}.'
        )
    return each[item], each[value]


@lru_cache(64)
def _names_of(names: tuple[Any, ...], kind: Kind) -> tuple[str | None, str | None]:
    """Which names are the item and its score or grade; None where none is, or more than one."""
    header = [name for name in names if isinstance(name, str)]
    item = "id" if "id" in header else sure("item", header)
    return item, sure(kind.value, header) or (sure("score", header) if kind is not RUN else None)


def _shown(given: Any) -> str:
    text = repr(given)
    return text if len(text) <= 80 else f"{text[:79]}…"


def as_id(given: Any, place: str = "", at: int | None = None) -> str:
    """An id as plain text; `place` and `at` say which result of which list it is."""
    if isinstance(given, str) and given:
        return str.__str__(given)
    where = f"{place}: " if place else ""
    which = "" if at is None else f" of result {at + 1}"
    if isinstance(given, Integral) and not isinstance(given, bool):
        try:
            return str(int(given))
        except ValueError:
            raise InputError(f"{where}the id{which} is {quoted(given)}; make it a text.") from None
    what = "an empty text" if isinstance(given, str) else f"of type {type(given).__name__}"
    if isinstance(given, float):
        what = "a floating-point number"
    raise InputError(
        f"{where}the id {_shown(given)}{which} is {what}; ids must be texts or whole numbers."
    )


def _as_texts(
    given: Mapping[Any, Any], what: str
) -> tuple[Mapping[str, Mapping[str, Any]], tuple[str, ...]]:
    """The dict itself where all ids are texts, otherwise a copy where they are."""
    changed = not only_texts(given)
    for query, inner in given.items():
        if type(inner) is not dict and not isinstance(inner, Mapping):
            raise InputError(
                f"query {query!r} has a {type(inner).__name__}; give it a dict of items, each with "
                f"{what}."
            )
        changed = changed or not only_texts(inner)
    if not changed:
        return given, ()
    lists = {
        query: inner if only_texts(inner) else with_texts(inner, f"query {query!r}", "items")
        for query, inner in given.items()
    }
    return with_texts(lists, "", "queries"), (IDS_NOTE,)


def with_texts(given: Mapping[Any, Any], place: str, what: str) -> dict[str, Any]:
    """The same with texts for keys; two keys that are the same as texts are refused."""
    texts = {as_id(key, place): value for key, value in given.items()}
    if len(texts) < len(given):
        seen: dict[str, Any] = {}
        one, other = next(
            (seen[as_id(key)], key) for key in given if seen.setdefault(as_id(key), key) is not key
        )
        where = f"{place}: " if place else ""
        raise InputError(
            f"{where}the {what} {one!r} and {other!r} are the same as texts; give each id once."
        )
    return texts


def only_texts(keys: Mapping[Any, Any]) -> bool:
    """Whether all keys are plain texts that are not empty.

    Looking at every key would take longer than all that is done with the dict. But Python packs a
    dict whose keys are plain texts more tightly, so where its size says so nobody has to look.
    """
    if "" in keys:
        return False
    if type(keys) is dict and sys.getsizeof(keys) in _sizes_with_texts_only():
        return True
    return list(map(type, keys)).count(str) == len(keys)


@cache
def _sizes_with_texts_only() -> Collection[int]:
    """Sizes in memory that only dicts of plain texts have: of each power of two, as many keys as
    fit; longer dicts are looked at key by key."""
    counts = [(2 << bits) // 3 for bits in range(3, 13)]
    texts = {sys.getsizeof(dict.fromkeys(map(str, range(count)))) for count in counts}
    return texts - {sys.getsizeof(dict.fromkeys(range(count))) for count in counts}
