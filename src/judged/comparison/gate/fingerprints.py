"""Fingerprints of judgements: the same whatever holds them, and in whatever order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256

from judged.inputs.tables import Judgements, Lookup
from judged.matching.join import distinct

DIGITS = 16
"""How long the fingerprint of a query is."""


def fingerprints(judgements: Judgements | Lookup, *, duplicates: str = "error") -> dict[str, str]:
    """One fingerprint per query: of its items with their grades, and subtopics where there are.

    >>> one = fingerprints(Lookup({"q": {"a": 1, "b": 0}}))
    >>> one == fingerprints(Lookup({"q": {"b": 0.0, "a": 1.0}}))
    True
    """
    rows: dict[str, list[str]] = {}
    for query, items in _by_query(judgements, duplicates):
        rows.setdefault(query, []).extend(
            f"{len(item)}:{item}{len(subtopic)}:{subtopic}{float(grade) + 0.0!r}"
            for item, subtopic, grade in items
        )
    return {query: _digest(sorted(rows[query]))[:DIGITS] for query in sorted(rows)}


def combined(of_queries: Mapping[str, str]) -> str:
    """One fingerprint of those of all queries."""
    return _digest(f"{len(query)}:{query}{of_queries[query]}" for query in sorted(of_queries))


def _digest(texts: Iterable[str]) -> str:
    return sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


_Row = tuple[str, str, float]


def _by_query(
    judgements: Judgements | Lookup, duplicates: str
) -> Iterator[tuple[str, Iterable[_Row]]]:
    """The items of each query with subtopic and grade; a query may come in parts."""
    if isinstance(judgements, Lookup):
        for query, items in judgements.lists.items():
            if judgements.by_subtopic:
                yield (
                    query,
                    [
                        (item, subtopic, grade)
                        for item, own in items.items()
                        for subtopic, grade in own.items()
                    ],
                )
            else:
                yield query, [(item, "", grade) for item, grade in items.items()]
        return
    for query in judgements.names():
        yield query, ()
    frame = distinct(judgements, duplicates).table.frame
    columns = [frame["query"].to_list(), frame["item"].to_list(), frame["grade"].to_list()]
    subtopics = frame["subtopic"].to_list() if judgements.by_subtopic else [""] * frame.height
    for query, item, grade, subtopic in zip(*columns, subtopics, strict=True):
        yield query, ((item, subtopic, grade),)
