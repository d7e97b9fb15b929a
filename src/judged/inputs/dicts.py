"""Dicts of runs and judgements, lists of results, and documents of other tools.

Forms are {query: {item: score}}, {query: [items in rank order]}, {query: [(item, score)]},
{query: {item: grade}}, {query: [relevant items]} and judgements by subtopic.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, lru_cache
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np

from judged.errors import InputError, quoted
from judged.inputs.columns import candidates, has_lists, matching, sure
from judged.inputs.objects import as_dict, holds_queries, is_record, is_series, results_of_series
from judged.inputs.order import OrderOnly, Ranked, against_ranks, refuse_odd_ranks
from judged.inputs.tables import JUDGEMENTS, NO_GRADES, RUN, Kind, Lookup
from judged.text import few, quote

IDS_NOTE = "Ids that were not texts were turned into texts once."
ORDER_NOTE = OrderOnly("There are no scores: the order of each list is the ranking.")
_ITEMS = {RUN: "items, the best first", JUDGEMENTS: "relevant items"}


def lookup_from_dict(
    content: Mapping[Any, Any], kind: Kind, label: str, name: str = "run"
) -> Lookup:
    """Read a dict of queries, or a document of another tool, as a run or judgements.

    {query: {item: score}} is not copied. Lists, sets and grades by subtopic are converted.
    """
    document = document_of(content, kind, label)
    lists, notes = document or (content, ())
    may_be_run = kind is JUDGEMENTS and document is None
    return lookup_of_lists(lists, kind, label, notes, name=name, may_be_run=may_be_run)


def lookup_of_lists(
    lists: Mapping[Any, Any],
    kind: Kind,
    label: str,
    notes: Sequence[str] = (),
    *,
    name: str = "run",
    may_be_run: bool = False,
) -> Lookup:
    """Read a dict of queries as a run or judgements."""
    is_run, is_dict = kind is RUN, label == "a dict"
    noted: dict[str, None] = dict.fromkeys(notes)
    repeated: list[tuple[str, str]] = []
    try:
        if any(_is_list_of_items(value, kind) for value in lists.values()):
            values = {
                query: _values_of(query, items, kind, repeated, noted)
                for query, items in lists.items()
            }
            against = against_ranks(ranks_beside_scores(lists)) if is_run else ()
            lists = values
            noted.update(dict.fromkeys(against))
        lists, changed = _as_texts(lists, f"a {kind.value}")
        by_subtopic = not is_run and holds_subtopics(lists)
        if by_subtopic:
            lists = {
                query: {item: _subtopics(query, item, value) for item, value in grades.items()}
                for query, grades in lists.items()
            }
    except InputError as error:
        raise InputError(f"{'' if is_dict else f'{label}, '}{error}") from None
    return Lookup(
        lists,
        label if is_run or not is_dict else "the judgements",
        (*noted, *(note for note in changed if note not in noted)),
        name if is_run else "judgements",
        by_subtopic=by_subtopic,
        repeated=tuple(repeated),
        may_be_run=may_be_run,
    )


def _is_list_of_items(value: Any, kind: Kind) -> bool:
    if type(value) is dict or isinstance(value, Mapping):
        return False
    return is_list(value) or (kind is JUDGEMENTS and isinstance(value, Set))


def _values_of(
    query: Any, items: Any, kind: Kind, repeated: list[tuple[str, str]], notes: dict[str, None]
) -> Mapping[Any, Any]:
    """Return a list of items, with or without numbers, as {item: score or grade}."""
    if not _is_list_of_items(items, kind):
        if isinstance(items, Mapping) and not items:
            return items
        wanted = "ranked list" if kind is RUN else "list of relevant items"
        raise InputError(
            f"query {query!r} has a {type(items).__name__} where other queries have a {wanted}; "
            f"give every query a list of items, or every query a dict of {kind.value}s."
        )
    # a set is sorted, so that nothing depends on how it was made.
    plain = sorted(items, key=str) if isinstance(items, Set) else _plain(items, query)
    order = range(len(plain), 0, -1) if kind is RUN else [1] * len(plain)
    try:
        values: dict[str, Any] = dict(zip(plain, order, strict=True))
    except TypeError:  # a list or a dict cannot be a key
        values = {}
    if len(values) == len(plain) and only_texts(values):
        if values:
            notes[ORDER_NOTE if kind is RUN else NO_GRADES] = None
        return values
    pairs, assumed = results_of(plain, f"query {query!r}", kind)
    notes.update(assumed)
    return one_of_each(query, pairs, kind, repeated)


def one_of_each(
    query: Any, pairs: Sequence[tuple[str, Any]], kind: Kind, repeated: list[tuple[str, str]]
) -> dict[str, Any]:
    """Return the best score or the first grade of each item; add the others to `repeated`."""
    values = dict(pairs)
    if len(values) == len(pairs):
        return values
    places: Iterable[int] = range(len(pairs))
    if kind is RUN:
        places = sorted(places, key=lambda at: _sortable(pairs[at][1]), reverse=True)
    first: dict[str, int] = {}
    for at in places:
        first.setdefault(pairs[at][0], at)
    chosen = set(first.values())
    repeated += [(str(query), item) for at, (item, _) in enumerate(pairs) if at not in chosen]
    return {item: value for at, (item, value) in enumerate(pairs) if at in chosen}


def holds_subtopics(given: Mapping[Any, Any]) -> bool:
    inner = (value for value in given.values() if isinstance(value, Mapping))
    return isinstance(next((value for items in inner for value in items.values()), None), Mapping)


def _subtopics(query: str, item: str, given: Any) -> dict[str, Any]:
    place = f"item {item!r} of query {query!r} has"
    if not isinstance(given, Mapping) or not given:
        raise InputError(
            f"{place} {given!r} where other items have grades by subtopic; give every item "
            "{subtopic: grade}, with a grade of 0 where it serves none."
        )
    texts = {str(name): grade for name, grade in given.items() if isinstance(name, (str, Real))}
    if len(texts) < len(given):
        raise InputError(
            f"{place} the subtopics {few(list(map(repr, given)))}; subtopics must be texts or "
            "numbers, each with a text of its own."
        )
    return texts


def holds_several(given: Mapping[Any, Any]) -> bool:
    """Return whether a dict holds several runs by name, not the lists of one run by query."""
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
    """Return whether this is a list of rows of any query, not the results of query `name`."""
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
    """Return whether this is a list of some kind, such as an array of one dimension."""
    if isinstance(value, Sequence):
        return not isinstance(value, (str, bytes, bytearray, memoryview))
    return len(getattr(value, "shape", ())) == 1


def numbered(rows: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Yield rows with their names in messages."""
    return ((f"row {number}", row) for number, row in enumerate(rows, 1))


def _plain(items: Any, query: Any = "") -> Sequence[Any]:
    if isinstance(items, Sequence):
        return items
    if is_series(items):
        return results_of_series(items, f"query {query!r}")
    return list(items.tolist() if hasattr(items, "tolist") else items)


def _sortable(score: Any) -> float:
    try:
        return float("inf") if score != score else float(score)
    except (TypeError, ValueError, OverflowError):
        return float("inf")


def results_of(
    items: Sequence[Any], place: str, kind: Kind = RUN
) -> tuple[list[tuple[str, Any]], dict[str, None]]:
    """Return (item, score) of each result of a list, and the notes on them.

    Results are ids, pairs of an id and a number, or objects with an id and perhaps a number.
    """
    forms = dict.fromkeys(map(_form, items))
    if len(forms) > 1:
        at = next(at for at, item in enumerate(items) if _form(item) != _form(items[0]))
        raise InputError(
            f"{place}: result {at + 1} is {_shown(items[at])}, but result 1 is "
            f"{_shown(items[0])}; a list holds {_ITEMS[kind]}, or (item, {kind.value}) throughout."
        )
    form = next(iter(forms), "item")
    ids: Sequence[Any] = items
    values: Sequence[Any] = range(len(items), 0, -1) if kind is RUN else [1] * len(items)
    notes: list[str] = [ORDER_NOTE if kind is RUN else NO_GRADES] if items else []
    if form == "pair":
        pairs = [_plain(item) for item in items]
        wrong = next((at for at, pair in enumerate(pairs) if len(pair) != 2), None)
        if wrong is not None:
            raise InputError(
                f"{place}: result {wrong + 1} is {_shown(pairs[wrong])}; give it as (item, "
                f"{kind.value}), or as the item alone."
            )
        ids, values, notes = [pair[0] for pair in pairs], [pair[1] for pair in pairs], []
    elif form == "mapping":
        names = tuple(dict.fromkeys(name for item in items for name in item))
        item_field, value_field, is_rank = _fields_of(names, kind, place)
        ids = [item.get(item_field) for item in items]
        if value_field is not None:
            values, notes = [item.get(value_field) for item in items], []
            if None in values:
                at = values.index(None)
                raise InputError(f"{place}: result {at + 1} has no {quote(value_field)}.")
        if is_rank:
            notes = [Ranked("There is no score: the rank of each result gives the order.")]
            values = [-float(value) for value in values]
            refuse_odd_ranks(np.array(values), lambda at: f"{place}, result {at + 1}")
    if not all(isinstance(item, str) for item in ids):
        notes.append(IDS_NOTE)
    texts = [as_id(item, place, at) for at, item in enumerate(ids)]
    return list(zip(texts, values, strict=True)), dict.fromkeys(notes)


def ranks_beside_scores(given: Mapping[Any, Any]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield (query, rank, score) of results that are mappings with both."""
    for query, results in given.items():
        for result in results if is_list(results) else ():
            if not isinstance(result, Mapping):
                return
            rank, score = _rank_and_score(tuple(result))
            if rank is None or score is None:
                return
            yield query, result[rank], result[score]


@lru_cache(64)
def _rank_and_score(names: tuple[Any, ...]) -> tuple[str | None, str | None]:
    rank = sure("rank", [name for name in names if isinstance(name, str)])
    _, score, is_rank = _fields_of(names, RUN, "")
    return rank, None if is_rank else score


def _form(result: Any) -> str:
    return "mapping" if isinstance(result, Mapping) else "pair" if is_list(result) else "item"


def _fields_of(names: Sequence[Any], kind: Kind, place: str) -> tuple[str, str | None, bool]:
    """Return the fields of the id and of the number of objects, and whether that is a rank."""
    header = [name for name in names if isinstance(name, str)]
    known = [header[at] for at in candidates("item", header)]
    exact = next((name for name in ("id", "_id") if name in header), sure("item", header))
    if known and exact is None:
        both = " and ".join(map(quote, known))
        raise InputError(
            f'{place}: the results have {both}, which could both be the id; call the one "id".'
        )
    item = exact or next((name for name in _ID_FIELDS if name in header), None)
    if item is None:
        fields = ", ".join(map(quote, header[:20]))
        raise InputError(
            f'{place}: the results have no id; their fields are {fields}. Write {{"id": …}}.'
        )
    values = [header[at] for at in candidates(kind.value, header)]
    beside = list(chain.from_iterable(matching(f"{kind.value}s", header)))
    if kind is RUN and len(beside) > 1:
        both = " and ".join(map(quote, beside))
        raise InputError(
            f"{place}: the results have {both}, which could both be the score; leave one out."
        )
    values += [name for name in (*beside, "_score") if name in header]
    if kind is RUN and not values and (ranks := candidates("rank", header)):
        return item, header[ranks[0]], True
    if kind is not RUN and not values and (scores := candidates("score", header)):
        raise InputError(
            f"{place}: the items have {quote(header[scores[0]])}, which may be the score of a "
            'search; call it "grade" where it is one, or leave it out.'
        )
    return item, values[0] if values else None, False


_ID_FIELDS = ("uri", "doc_uri", "node_id", "text", "content", "page_content", "chunk")
"""Fields that identify objects without an id."""


def _shown(given: Any) -> str:
    text = repr(given)
    return text if len(text) <= 80 else f"{text[:79]}…"


def as_id(given: Any, place: str = "", at: int | None = None) -> str:
    """Return an id as plain text; an error names its `place` and the result `at`."""
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
    """Return the dict itself if all ids are texts, otherwise a copy."""
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
    """Return the same with texts for keys; two keys that are the same text are an error."""
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
    """Return whether all keys are plain texts that are not empty."""
    if "" in keys:
        return False
    # Python packs a dict of plain texts more tightly, so its size often tells. Looking at 7 million
    # keys instead makes evaluating dicts take 50 % longer (0.47 s instead of 0.31 s).
    if type(keys) is dict and sys.getsizeof(keys) in _sizes_with_texts_only():
        return True
    return list(map(type, keys)).count(str) == len(keys)


@cache
def _sizes_with_texts_only() -> frozenset[int]:
    """Return sizes in bytes that only dicts of plain texts have, for up to some 5,000 keys."""
    counts = [(2 << bits) // 3 for bits in range(3, 13)]
    texts = {sys.getsizeof(dict.fromkeys(map(str, range(count)))) for count in counts}
    return frozenset(texts - {sys.getsizeof(dict.fromkeys(range(count))) for count in counts})


Document = tuple[Mapping[str, Any], tuple[str, ...]]
"""The lists of a document of another tool, as dicts have them, and notes."""


def is_document(content: Any) -> bool:
    return isinstance(content, Mapping) and any(
        known(content) for known in (_is_request, _is_response, _is_searches, _is_llama_index)
    )


def document_of(content: Mapping[Any, Any], kind: Kind, label: str) -> Document | None:
    """Return the lists of a document of Elasticsearch or LlamaIndex; None for other dicts."""

    def check_kind(held: Kind, what: str) -> None:
        if kind is not held:
            raise InputError(f"{label} is {what}, which holds {held.phrase}, not {kind.phrase}.")

    if _is_request(content):
        check_kind(JUDGEMENTS, "a request of Elasticsearch's ranking evaluation")
        return _from_request(content, label), ()
    if _is_response(content):
        check_kind(RUN, "a response of Elasticsearch's ranking evaluation")
        details = content["details"].items()
        hits = {
            query: [_part(hit, "hit", label) for hit in found["hits"]] for query, found in details
        }
        return _from_hits(hits, label), ()
    if _is_searches(content):
        check_kind(RUN, "results of searches of Elasticsearch")
        late = next((query for query, found in content.items() if found.get("timed_out")), None)
        if late is not None:
            raise InputError(
                f"{label}: the search of query {late!r} timed out, so that results may be missing."
            )
        hits = {str(query): found["hits"]["hits"] for query, found in content.items()}
        return _from_hits(hits, label), ()
    if _is_llama_index(content):
        check_kind(JUDGEMENTS, "a data set of LlamaIndex")
        relevant = content["relevant_docs"].items()
        return {query: dict.fromkeys(items, 1) for query, items in relevant}, (NO_GRADES,)
    return None


def _is_request(content: Mapping[Any, Any]) -> bool:
    requests = content.get("requests")
    return isinstance(requests, list) and all(
        isinstance(request, Mapping) and "ratings" in request for request in requests
    )


def _is_response(content: Mapping[Any, Any]) -> bool:
    details = content.get("details")
    return (
        isinstance(details, Mapping)
        and bool(details)
        and all(
            isinstance(detail, Mapping) and isinstance(detail.get("hits"), list)
            for detail in details.values()
        )
    )


def _is_searches(content: Mapping[Any, Any]) -> bool:
    return bool(content) and all(
        isinstance(response, Mapping)
        and isinstance(response.get("hits"), Mapping)
        and isinstance(response["hits"].get("hits"), list)
        for response in content.values()
    )


def _is_llama_index(content: Mapping[Any, Any]) -> bool:
    return all(
        isinstance(content.get(name), Mapping) for name in ("queries", "corpus", "relevant_docs")
    ) and all(isinstance(items, list) for items in content["relevant_docs"].values())


def _from_request(content: Mapping[Any, Any], label: str) -> Mapping[str, Any]:
    lists: dict[str, dict[str, Any]] = {}
    for number, request in enumerate(content["requests"], 1):
        query = str(_part(request, "id", f"{label}, request {number}"))
        if query in lists:
            raise InputError(f"{label}, request {number}: the id {quote(query, 30)} occurs twice.")
        where = f"{label}, request {quote(query, 30)}"
        grades: dict[str, Any] = {}
        for rating in request["ratings"]:
            item, grade = str(_part(rating, "_id", where)), _part(rating, "rating", where)
            if isinstance(grade, bool) or not isinstance(grade, (int, float)):
                raise InputError(f"{where}: the rating of {quote(item, 30)} is not a number.")
            if item in grades:
                raise InputError(f"{where}: {quote(item, 30)} is rated twice.")
            grades[item] = grade
        lists[query] = grades
    ratings = (request["ratings"] for request in content["requests"])
    _refuse_same_ids(chain.from_iterable(ratings), label)
    return lists


def _from_hits(lists: Mapping[str, Sequence[Any]], label: str) -> Mapping[str, Any]:
    """Return hits with their scores, which are missing if hits were sorted by something else."""
    results: dict[str, list[Any]] = {}
    for query, hits in lists.items():
        pairs = [(str(_part(hit, "_id", label)), hit.get("_score")) for hit in hits]
        unscored = all(score is None for _, score in pairs)
        results[str(query)] = [item for item, _ in pairs] if unscored else pairs
    _refuse_same_ids(chain.from_iterable(lists.values()), label)
    return results


def _refuse_same_ids(hits: Iterable[Mapping[str, Any]], label: str) -> None:
    """Raise an error for items of several indexes with the same id."""
    indexes: dict[str, str] = {}
    for hit in hits:
        item, index = str(hit["_id"]), str(hit.get("_index"))
        if (other := indexes.setdefault(item, index)) != index:
            raise InputError(
                f"{label}: {quote(item, 30)} is an id of the indexes {other} and {index}; ids must "
                "tell items apart. Evaluate each index on its own."
            )


def _part(given: Any, name: str, label: str) -> Any:
    if not isinstance(given, Mapping) or given.get(name) in (None, ""):
        raise InputError(f"{label}: {quote(name)} is missing in {quote(str(given), 60)}.")
    return given[name]
