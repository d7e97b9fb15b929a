"""JSON that other tools write, known by its form: requests and responses of Elasticsearch's
ranking evaluation, results of searches, and data for embeddings of LlamaIndex."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judged.errors import InputError
from judged.inputs.tables import JUDGEMENTS, NO_GRADES, RUN, Kind
from judged.text import Warned, counted, listed, quote


@dataclass(frozen=True)
class Document:
    """What a document holds, as dicts do."""

    lists: Mapping[str, Any]
    """{query: {item: grade}}, {query: [items]} or {query: [(item, score)]}."""
    notes: tuple[str, ...] = ()


def is_document(content: Any) -> bool:
    """Whether this is something that another tool writes, and no dict of queries."""
    return isinstance(content, Mapping) and any(
        known(content) for known in (_is_request, _is_response, _is_searches, _is_pairs)
    )


def document_of(content: Mapping[Any, Any], kind: Kind, label: str) -> Document | None:
    """What a document holds; None where it is none that is known."""
    if _is_request(content):
        _refuse_other(kind, JUDGEMENTS, "a request of Elasticsearch's ranking evaluation", label)
        return _from_request(content, label)
    if _is_response(content):
        what = "a response of Elasticsearch's ranking evaluation"
        _refuse_other(kind, RUN, what, label)
        hits = {query: _part(each, "hits", label) for query, each in content["details"].items()}
        bare = {query: [_part(hit, "hit", label) for hit in each] for query, each in hits.items()}
        return _from_hits(bare, label)
    if _is_searches(content):
        _refuse_other(kind, RUN, "results of searches of Elasticsearch", label)
        return _from_hits(
            {str(query): _hits(each, query, label) for query, each in content.items()}, label
        )
    if _is_pairs(content):
        _refuse_other(kind, JUDGEMENTS, "a data set of LlamaIndex", label)
        lists = content["relevant_docs"]
        return Document(
            {query: dict.fromkeys(items, 1) for query, items in lists.items()}, (NO_GRADES,)
        )
    return None


def _refuse_other(given: Kind, holds: Kind, what: str, label: str) -> None:
    if given is not holds:
        raise InputError(f"{label} is {what}, which holds {holds.phrase}, not {given.phrase}.")


def _is_request(content: Mapping[Any, Any]) -> bool:
    requests = content.get("requests")
    return isinstance(requests, list) and all(
        isinstance(each, Mapping) and "ratings" in each for each in requests
    )


def _is_response(content: Mapping[Any, Any]) -> bool:
    details = content.get("details")
    return (
        isinstance(details, Mapping)
        and bool(details)
        and all(isinstance(each, Mapping) and "hits" in each for each in details.values())
    )


def _is_searches(content: Mapping[Any, Any]) -> bool:
    return bool(content) and all(
        isinstance(each, Mapping)
        and isinstance(each.get("hits"), Mapping)
        and isinstance(each["hits"].get("hits"), list)
        for each in content.values()
    )


def _is_pairs(content: Mapping[Any, Any]) -> bool:
    return all(
        isinstance(content.get(name), Mapping) for name in ("queries", "corpus", "relevant_docs")
    ) and all(isinstance(each, list) for each in content["relevant_docs"].values())


def _from_request(content: Mapping[Any, Any], label: str) -> Document:
    lists: dict[str, dict[str, Any]] = {}
    indexes: dict[str, dict[str, None]] = {}
    for number, request in enumerate(content["requests"], 1):
        query = request.get("id")
        if not isinstance(query, str) or not query:
            raise InputError(f"{label}, request {number}: the id is missing.")
        if query in lists:
            raise InputError(f"{label}, request {number}: the id {quote(query, 30)} occurs twice.")
        rated: dict[str, Any] = {}
        for rating in request["ratings"]:
            item, grade = _part(rating, "_id", label), _part(rating, "rating", label)
            where = f"{label}, request {quote(query, 30)}"
            if isinstance(grade, bool) or not isinstance(grade, (int, float)):
                raise InputError(f"{where}: the rating of {quote(str(item), 30)} is not a number.")
            indexes.setdefault(str(item), {})[str(rating.get("_index"))] = None
            if str(item) in rated and len(indexes[str(item)]) == 1:
                raise InputError(f"{where}: {quote(str(item), 30)} is rated twice.")
            rated[str(item)] = grade
        lists[query] = rated
    return Document(lists, _about_indexes(indexes, label))


def _about_indexes(indexes: Mapping[str, Mapping[str, None]], label: str) -> tuple[str, ...]:
    """Refuse an id that two indexes have; where there are several, say that ids alone count."""
    for item, names in indexes.items():
        if len(names) > 1:
            raise InputError(
                f"{label}: {quote(item, 30)} is an id of the indexes {listed(list(names))}; ids "
                "must tell items apart. Evaluate each index on its own."
            )
    distinct = {name: None for names in indexes.values() for name in names}
    if len(distinct) < 2:
        return ()
    return (
        Warned(
            f"Items of {counted(len(distinct), 'index', 'indexes')} are told apart by their _id "
            "alone: a result of another index with the same _id would count as the same item."
        ),
    )


def _hits(response: Any, query: Any, label: str) -> Sequence[Any]:
    if response.get("timed_out") is True:
        raise InputError(
            f"{label}: the search of query {query!r} timed out, so that results may be missing."
        )
    hits: Sequence[Any] = response["hits"]["hits"]
    return hits


def _from_hits(lists: Mapping[str, Sequence[Any]], label: str) -> Document:
    """Results with their scores; where results were sorted by something else they have none."""
    found: dict[str, list[Any]] = {}
    indexes: dict[str, dict[str, None]] = {}
    for query, hits in lists.items():
        for hit in hits:
            indexes.setdefault(str(_part(hit, "_id", label)), {})[str(hit.get("_index"))] = None
        scores = [hit.get("_score") for hit in hits]
        found[str(query)] = (
            [str(hit["_id"]) for hit in hits]
            if all(score is None for score in scores)
            else [(str(hit["_id"]), score) for hit, score in zip(hits, scores, strict=True)]
        )
    return Document(found, _about_indexes(indexes, label))


def _part(given: Any, name: str, label: str) -> Any:
    if not isinstance(given, Mapping) or given.get(name) is None:
        raise InputError(f"{label}: {quote(name)} is missing in {quote(str(given), 60)}.")
    return given[name]
