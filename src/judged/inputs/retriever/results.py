"""What a retriever returned, as ids and scores: texts, numbers, pairs, mappings and objects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any
from uuid import UUID

from judged.errors import InputError, quoted
from judged.inputs.columns import candidates
from judged.inputs.dicts import as_id, is_list
from judged.inputs.objects import is_series, results_of_series
from judged.inputs.tables import RUN
from judged.text import listed

WRAPPERS = ("documents", "hits", "matches", "points", "nodes", "source_nodes", "results")
"""Where an answer that is no list holds the list."""
IDS = (
    *("id", "_id", "id_", "item_id", "doc_id", "docno", "document_id", "chunk_id", "node_id"),
    *("passage_id", "corpus_id", "pid"),
)
"""What the id of a result is called."""
INSIDE = ("item", "doc", "document", "passage", "node")
"""What may be the id, or hold it, where nothing is called an id."""
METADATA = ("metadata", "meta", "payload")
"""Where the id of what a result was made from may be."""
SOURCE = "source"
_KINDS = (str, Integral, UUID)

Item = str | Callable[[Any], Any] | None


@dataclass(frozen=True)
class Results:
    """The results of one query that are kept, in the order in which they came, or of ranks."""

    items: tuple[str, ...]
    scores: tuple[float, ...] | None
    """None where the order is all there is."""
    cut: int = 0
    """How many more there were."""

    @property
    def ranks(self) -> list[int]:
        """The rank of each, by score where there are scores."""
        order = _best_first(self.scores, len(self.items))
        ranks = [0] * len(order)
        for rank, at in enumerate(order, 1):
            ranks[at] = rank
        return ranks

    @property
    def pairs(self) -> list[Any]:
        """As a run has them: items, or items with scores."""
        if self.scores is None:
            return list(self.items)
        return list(zip(self.items, self.scores, strict=True))


def _best_first(scores: Sequence[float] | None, number: int) -> list[int]:
    if scores is None:
        return list(range(number))
    return sorted(range(number), key=lambda at: -scores[at])


@dataclass
class Reader:
    """Reads answers, one after another: what is the id of the first result is the id of all."""

    item: Item = None
    k: int = 100
    path: str | None = field(default=None, init=False)
    """Where ids were found, where nobody said."""

    def read(self, query: str, answer: Any) -> Results:
        """The first k results of an answer, by score where there are scores."""
        place = f"query {query!r}"
        given = _listed(answer, place)
        pairs = [self._pair(each, place, at) for at, each in enumerate(given)]
        _refuse_mixture(given, pairs, place)
        items = tuple(
            as_id(str(item) if isinstance(item, UUID) else item, place, at)
            for at, (item, _) in enumerate(pairs)
        )
        scored = bool(pairs) and pairs[0][1] is not None
        scores = tuple(_number(score, place, at) for at, (_, score) in enumerate(pairs))
        kept = _best_first(scores if scored else None, len(pairs))[: self.k]
        if callable(self.item) or not (given and _is_ranked(given[0])):
            kept = sorted(kept)
        return Results(
            tuple(items[at] for at in kept),
            tuple(scores[at] for at in kept) if scored else None,
            len(pairs) - len(kept),
        )

    def _pair(self, result: Any, place: str, at: int) -> tuple[Any, Any]:
        """The id and the score of a result, None where it has no score."""
        where = f"{place}, result {at + 1}"
        if callable(self.item):
            try:
                found = self.item(result)
            except Exception as error:
                raise InputError(
                    f"{where}: item failed for {quoted(result)} ({type(error).__name__}: {error})."
                ) from error
            return _split(found, where) if is_list(found) else (found, None)
        named = _names(result) is not None
        reached_in = isinstance(self.item, str) and not _is_scored(result)
        whole, score = (result, None) if named or reached_in else _split(result, where)
        if score is None:
            score = _score_of(whole)
        if self.item is not None:
            return _reached(whole, self.item, where), score
        return self._own_id(whole, where), score

    def _own_id(self, result: Any, where: str) -> Any:
        if _is_id(result):
            return result
        found = dict(_ids_of(result))
        if not found:
            raise InputError(
                f"{where}: no id was found in {quoted(result)}; name it by item=, as "
                'item="metadata.doc_id", or give a function from a result to its id.'
            )
        if len(set(map(str, found.values()))) > 1:
            named = listed([f"{path} ({quoted(each)})" for path, each in found.items()], "or")
            raise InputError(
                f"{where}: its id could be {named}; say which, as item={list(found)[-1]!r}."
            )
        if self.path is None:
            self.path = next(iter(found))
        if self.path not in found:
            raise InputError(
                f"{where}: its id is {next(iter(found))}, but other results have theirs in "
                f"{self.path}; say by item= which it is."
            )
        return found[self.path]


def _listed(answer: Any, place: str) -> list[Any]:
    """An answer as a list of results."""
    if answer is None:
        raise InputError(
            f"{place}: the retriever returned None; return a list, which is empty where nothing "
            "was found."
        )
    if isinstance(answer, (str, bytes, set, frozenset)):
        kind = "one text" if isinstance(answer, (str, bytes)) else "a set, which has no order"
        raise InputError(
            f"{place}: the retriever returned {kind} ({quoted(answer)}); return a list of results, "
            "the best first."
        )
    if (rows := table_rows(answer)) is not None:
        return rows
    if isinstance(answer, Mapping):
        return _from_mapping(answer, place)
    if isinstance(answer, tuple) and len(answer) == 2 and all(map(is_list, answer)):
        if not all(len(each) == 2 and isinstance(each[0], str) for each in answer):
            raise InputError(
                f"{place}: the retriever returned two lists; return a list of (id, score), as "
                "list(zip(ids, scores))."
            )
        return list(answer)
    if is_series(answer):
        return results_of_series(answer, place, RUN)
    if is_list(answer):
        return list(answer.tolist() if hasattr(answer, "tolist") else answer)
    inside = _inside(answer, place)
    if inside is not None:
        return _listed(inside, place)
    if isinstance(answer, (Iterator, Collection)) and _names(answer) is None:
        return list(answer)
    raise InputError(
        f"{place}: the retriever returned {quoted(answer)}; return a list of results, the best "
        "first."
    )


def _from_mapping(answer: Mapping[Any, Any], place: str) -> list[Any]:
    """{id: score}, or a list under a name that is known."""
    inside = _inside(answer, place)
    if inside is not None:
        return _listed(inside, place)
    if len(answer) == 1 and isinstance(only := next(iter(answer.values())), Mapping):
        return _from_mapping(only, place)
    numbers = all(isinstance(each, Real) and not isinstance(each, bool) for each in answer.values())
    single = any(name in answer for name in IDS) and _names(answer)
    if numbers and not single:
        return list(answer.items())
    raise InputError(
        f"{place}: the retriever returned {quoted(answer)}; return a list of results, or "
        "{id: score}."
    )


def _inside(answer: Any, place: str) -> Any:
    """The list in an answer that is no list."""
    held = {name: _get(answer, name) for name in WRAPPERS}
    lists = {
        name: each
        for name, each in held.items()
        if is_list(each) or (isinstance(each, Mapping) and _inside(each, place) is not None)
    }
    if len(lists) > 1:
        raise InputError(
            f"{place}: the retriever returned lists called {listed(list(lists))}; return the one "
            "that is meant."
        )
    return next(iter(lists.values()), None)


def table_rows(answer: Any) -> list[dict[str, Any]] | None:
    """The rows of a table of polars, pandas or pyarrow."""
    if isinstance(answer, Mapping) or not hasattr(answer, "columns"):
        return None
    for method, arguments in (("to_dicts", ()), ("to_pylist", ()), ("to_dict", ("records",))):
        if callable(getattr(answer, method, None)):
            return list(getattr(answer, method)(*arguments))
    return None


def _get(given: Any, name: str) -> Any:
    """An attribute, or a key of a mapping; None where there is none."""
    if isinstance(given, Mapping):
        return given.get(name)
    try:
        found = getattr(given, name, None)
    except Exception:  # a property may do anything
        return None
    return None if callable(found) else found


def _names(result: Any) -> list[str] | None:
    """The names in a mapping or a named tuple; None for anything else."""
    if isinstance(result, Mapping):
        return [name for name in result if isinstance(name, str)]
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return list(result._fields)
    return None


def _is_id(given: Any) -> bool:
    """Whether something is an id, or what people take for one: a number that is not whole is
    refused as everywhere."""
    return given is None or isinstance(given, (str, bytes, bool, Real, UUID))


def _split(result: Any, where: str) -> tuple[Any, Any]:
    """(id, score), where a result is a pair."""
    if not is_list(result):
        return result, None
    if len(result) != 2:
        raise InputError(
            f"{where} is {quoted(result)}; give it as (id, score), or as the id alone."
        )
    if result[1] is not None and not _is_number(result[1]):
        raise InputError(f"{where}: the score {quoted(result[1])} is not a number.")
    return result[0], result[1]


def _is_scored(result: Any) -> bool:
    return is_list(result) and len(result) == 2 and _is_number(result[1])


def _is_number(given: Any) -> bool:
    return not isinstance(given, bool) and isinstance(_plain_number(given), Real)


def _plain_number(given: Any) -> Any:
    """A number out of an array without a dimension."""
    if isinstance(given, Real) or getattr(given, "ndim", None) != 0:
        return given
    return given.item()


def _number(score: Any, place: str, at: int) -> float:
    if score is None:
        return 0.0
    found = float(_plain_number(score))
    if found != found:
        raise InputError(f"{place}: the score of result {at + 1} is NaN; scores must be numbers.")
    return found


def _score_of(result: Any) -> Any:
    """The score that a mapping or an object has; of a rank, the smallest is best."""
    names = _names(result)
    if names is None:
        score = _get(result, "score") if not _is_id(result) else None
        return score if _is_number(score) else None
    score, rank = (_number_of(result, names, role) for role in ("score", "rank"))
    return -rank if score is None and rank is not None else score


def _number_of(result: Any, names: list[str], role: str) -> Any:
    """Return the number that plays a role in a mapping or a named tuple, or None."""
    values = (_get(result, names[position]) for position in candidates(role, names))
    return next((_plain_number(value) for value in values if _is_number(value)), None)


def _is_ranked(result: Any) -> bool:
    """Return whether a result has a rank and no score."""
    names = _names(result) or []
    return _number_of(result, names, "rank") is not None and (
        _number_of(result, names, "score") is None
    )


def _ids_of(result: Any) -> Iterator[tuple[str, Any]]:
    """Where an id of a result is, and which; ids of its metadata count as much as its own."""
    found = [(name, _get(result, name)) for name in IDS]
    for name in METADATA:
        held = _get(result, name)
        if isinstance(held, Mapping):
            found += [(f"{name}.{key}", held.get(key)) for key in (*IDS, SOURCE)]
    found = [(path, each) for path, each in found if isinstance(each, _KINDS) and each != ""]
    yield from found
    if found:
        return
    for name in INSIDE:
        held = _get(result, name)
        if isinstance(held, _KINDS):
            yield name, held
        elif held is not None and not is_list(held):
            yield from ((f"{name}.{path}", each) for path, each in _ids_of(held))


def _reached(result: Any, path: str, where: str) -> Any:
    """What a dotted path leads to: keys, attributes and places in a list."""
    found, remaining = result, path
    while remaining:
        name, _, after = remaining.partition(".")
        if isinstance(found, Mapping) and remaining in found:
            found, after = found[remaining], ""
        elif isinstance(found, Mapping) and name in found:
            found = found[name]
        elif is_list(found) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        elif not isinstance(found, Mapping) and hasattr(found, name):
            found = getattr(found, name)
        else:
            raise InputError(f"{where}: there is no {path!r} in {quoted(result)}.")
        remaining = after
    if found is None:
        raise InputError(f"{where}: {path!r} is None in {quoted(result)}.")
    return found


def _refuse_mixture(given: list[Any], pairs: list[tuple[Any, Any]], place: str) -> None:
    for at, (_, score) in enumerate(pairs):
        if (score is None) != (pairs[0][1] is None):
            odd, other = (at, 0) if score is None else (0, at)
            raise InputError(
                f"{place}: result {odd + 1} has no score, and result {other + 1} has one; give a "
                "score to every result, or to none."
            )
