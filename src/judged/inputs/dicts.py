"""Dicts in: {query: {item: score}}, {query: [items in rank order]}, {query: {item: grade}} and
those by subtopic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judged.errors import InputError
from judged.inputs.tables import Lookup

IDS_NOTE = "Ids that were not texts were turned into texts once."


def run_from_dict(given: Mapping[Any, Any], *, name: str = "run") -> Lookup:
    """A run from {query: {item: score}}, looked into and not copied, or from {query: [items, the
    best first]}."""
    if any(_is_list(value) for value in given.values()):
        given = {query: _scores_by_position(query, items) for query, items in given.items()}
    lists, notes = _as_texts(given, "a score")
    return Lookup(lists, notes=notes, name=name)


def judgements_from_dict(given: Mapping[Any, Any]) -> Lookup:
    """Judgements from {query: {item: grade}}, or by subtopic from {query: {item: {subtopic:
    grade}}}."""
    lists, notes = _as_texts(given, "a grade")
    by_subtopic = holds_subtopics(lists)
    if by_subtopic:
        lists = {
            query: {item: _subtopics(query, item, value) for item, value in inner.items()}
            for query, inner in lists.items()
        }
    return Lookup(
        lists, source="the judgements", notes=notes, name="judgements", by_subtopic=by_subtopic
    )


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
    texts = {str(subtopic): grade for subtopic, grade in given.items()}
    if len(texts) < len(given):
        raise InputError(
            f"item {item!r} of query {query!r} has two subtopics that are the same as texts; name "
            "each once."
        )
    return texts


def holds_several(given: Mapping[Any, Any]) -> bool:
    """Whether a dict holds several runs by name, not the lists of one run by query."""
    for value in given.values():
        if isinstance(value, Mapping):
            inner = next(iter(value.values()), None)
            if inner is not None:
                return isinstance(inner, Mapping) or _is_list(inner)
        elif value is not None:
            return not _is_list(value)
    return False


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _scores_by_position(query: Any, items: Any) -> dict[Any, int]:
    if not _is_list(items):
        raise InputError(
            f"query {query!r} has a {type(items).__name__} where other queries have a ranked list; "
            "give every query a list of items, or every query a dict of scores."
        )
    scores = dict(zip(items, range(len(items), 0, -1), strict=True))
    if len(scores) < len(items):
        again = next(item for item in items if list(items).count(item) > 1)
        raise InputError(
            f"query {query!r} has item {again!r} more than once in its ranked list; remove the "
            "repetitions."
        )
    return scores


def _as_texts(
    given: Mapping[Any, Any], what: str
) -> tuple[Mapping[str, Mapping[str, Any]], tuple[str, ...]]:
    """The dict itself where its ids are texts (seen by each list's first item), otherwise a copy
    where they are."""
    changed = False
    for query, inner in given.items():
        if type(inner) is not dict and not isinstance(inner, Mapping):
            raise InputError(
                f"query {query!r} has a {type(inner).__name__}; give it a dict of items, each with "
                f"{what}."
            )
        changed = changed or type(query) is not str or type(next(iter(inner), query)) is not str
    if not changed:
        return given, ()
    return {
        _text(query): {_text(item): value for item, value in inner.items()}
        for query, inner in given.items()
    }, (IDS_NOTE,)


def _text(name: Any) -> str:
    if isinstance(name, float):
        raise InputError(
            f"the id {name!r} is a floating-point number; ids must be texts or whole numbers."
        )
    return str(name)
