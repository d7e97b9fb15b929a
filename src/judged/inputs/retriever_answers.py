"""Queries to ask a retriever, what it returns, and the file that answers are saved to."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

from judged.errors import InputError, OutputError, quoted
from judged.inputs.columns import candidates
from judged.inputs.dicts import as_id, is_list, with_texts
from judged.inputs.objects import is_series, results_of_series
from judged.options import real
from judged.outputs import check_target, checked_ending
from judged.text import Warned, counted, listed, quote

# Queries


def read_queries(queries: Any) -> dict[str, Any]:
    """Read {id: query}, texts that are their own ids, rows, a table or a file of texts."""
    if isinstance(queries, Mapping) or (is_list(queries) and not len(queries)):
        if not len(queries):
            raise InputError("there are no queries to ask; give at least one.")
        return with_texts(queries, "the queries", "queries")
    from judged.inputs.texts import read_texts

    if is_list(queries) and hasattr(queries, "tolist"):
        queries = queries.tolist()
    texts = read_texts(queries, of="queries", strip=False)
    asked = {name: texts.texts[name] or texts.titles.get(name, "") for name in texts}
    if empty := next((name for name, text in asked.items() if not text.strip()), None):
        raise InputError(f"{texts.source}: query {quote(empty)} has no text to ask.")
    return asked


# Answers

LIST_NAMES = ("documents", "hits", "matches", "points", "nodes", "source_nodes", "results")
ID_NAMES = (
    *("id", "_id", "id_", "item_id", "doc_id", "docno", "document_id", "chunk_id", "node_id"),
    *("passage_id", "corpus_id", "pid"),
)
ITEM_NAMES = ("item", "doc", "document", "passage", "node")
"""Names of the id, or of the object that holds it, if nothing is named as an id."""
METADATA_NAMES = ("metadata", "meta", "payload")
SOURCE_NAME = "source"
_ID_TYPES = (str, Integral, UUID)

ItemOption = str | Callable[[Any], Any] | None


@dataclass(frozen=True)
class RetrievedResults:
    items: tuple[str, ...]
    scores: tuple[float, ...] | None  # None if there is only an order
    cut: int = 0  # results beyond k
    seconds: float = 0.0  # the time of the successful call, without failed calls and waits
    tries: int = 1
    workers: int = 1

    @property
    def pairs(self) -> list[Any]:
        if self.scores is None:
            return list(self.items)
        return list(zip(self.items, self.scores, strict=True))


@dataclass
class AnswerReader:
    """Reads answers; the path to the first id is the path to all ids."""

    item: ItemOption = None
    k: int = 100
    path: str | None = field(default=None, init=False)
    """The path to the ids that was found, if none was given."""

    def read(self, query: str, answer: Any) -> RetrievedResults:
        """Return the first k results of an answer, by score if there are scores."""
        place = f"query {query!r}"
        answers = _listed(answer, place)
        pairs = [
            self._pair(result, f"{place}, result {number}")
            for number, result in enumerate(answers, 1)
        ]
        items = tuple(
            as_id(str(item) if isinstance(item, UUID) else item, place, row)
            for row, (item, _) in enumerate(pairs)
        )
        scores = _scores([score for _, score in pairs], place)
        rows = range(len(pairs))
        best = sorted(rows, key=lambda row: -scores[row])[: self.k] if scores else rows[: self.k]
        if callable(self.item) or not (answers and _is_ranked(answers[0])):
            best = sorted(best)
        return RetrievedResults(
            tuple(items[row] for row in best),
            tuple(scores[row] for row in best) if scores else None,
            len(pairs) - len(best),
        )

    def _pair(self, result: Any, where: str) -> tuple[Any, Any]:
        """Return the id and the score of a result; None if it has no score."""
        if callable(self.item):
            try:
                chosen = self.item(result)
            except Exception as error:
                raise InputError(
                    f"{where}: item failed for {quoted(result)} ({type(error).__name__}: {error})."
                ) from error
            return _split(chosen, where)
        is_scored = is_list(result) and len(result) == 2 and _is_number(result[1])
        reached_in = isinstance(self.item, str) and not is_scored
        is_whole = reached_in or _names(result) is not None
        whole, score = (result, None) if is_whole else _split(result, where)
        if score is None:
            score = _score_of(whole)
        if self.item is not None:
            return _reached(whole, self.item, where), score
        return self._own_id(whole, where), score

    def _own_id(self, result: Any, where: str) -> Any:
        if _is_id(result):
            return result
        ids = dict(_ids_of(result))
        if not ids:
            raise InputError(
                f"{where}: no id was found in {quoted(result)}; give the path to it, such as "
                "item='metadata.doc_id' (--item metadata.doc_id), or a function from a result "
                "to its id."
            )
        if len(set(map(str, ids.values()))) > 1:
            named = listed([f"{path} ({quoted(value)})" for path, value in ids.items()], "or")
            raise InputError(
                f"{where}: its id could be {named}; choose one, such as "
                f"item={list(ids)[-1]!r} (--item {list(ids)[-1]})."
            )
        if self.path is None:
            self.path = next(iter(ids))
        if self.path not in ids:
            raise InputError(
                f"{where}: its id is {next(iter(ids))}, but other results have theirs in "
                f"{self.path}; give the path with item (--item)."
            )
        return ids[self.path]


def _listed(answer: Any, place: str) -> list[Any]:
    advice = "return a list of results, the best first."
    if answer is None or isinstance(answer, (str, bytes, set, frozenset)):
        raise InputError(f"{place}: the retriever returned {quoted(answer)}; {advice}")
    if (rows := table_rows(answer)) is not None:
        return rows
    if isinstance(answer, tuple) and len(answer) == 2 and all(map(is_list, answer)):
        if not all(len(pair) == 2 and isinstance(pair[0], str) for pair in answer):
            raise InputError(
                f"{place}: the retriever returned two lists; return a list of (id, score), as "
                "list(zip(ids, scores))."
            )
        return list(answer)
    if is_series(answer):
        return results_of_series(answer, place)
    if is_list(answer):
        return list(answer.tolist() if hasattr(answer, "tolist") else answer)
    inside = _inside(answer, place)
    if inside is not None:
        return _listed(inside, place)
    if isinstance(answer, Mapping):
        if len(answer) == 1 and isinstance(only := next(iter(answer.values())), Mapping):
            return _listed(only, place)
        if all(map(_is_number, answer.values())) and not any(name in answer for name in ID_NAMES):
            return list(answer.items())
        advice = "return a list of results, or {id: score}."
    elif isinstance(answer, (Iterator, Collection)) and _names(answer) is None:
        return list(answer)
    raise InputError(f"{place}: the retriever returned {quoted(answer)}; {advice}")


def _inside(answer: Any, place: str) -> Any:
    held = {name: _get(answer, name) for name in LIST_NAMES}
    lists = {
        name: value
        for name, value in held.items()
        if is_list(value) or (isinstance(value, Mapping) and _inside(value, place) is not None)
    }
    if len(lists) > 1:
        raise InputError(
            f"{place}: the retriever returned lists called {listed(list(lists))}; return only "
            "one of them."
        )
    return next(iter(lists.values()), None)


def table_rows(answer: Any) -> list[dict[str, Any]] | None:
    if isinstance(answer, Mapping) or not hasattr(answer, "columns"):
        return None
    for method, arguments in (("to_dicts", ()), ("to_pylist", ()), ("to_dict", ("records",))):
        if callable(getattr(answer, method, None)):
            return list(getattr(answer, method)(*arguments))
    return None


def _get(given: Any, name: str) -> Any:
    if isinstance(given, Mapping):
        return given.get(name)
    try:
        value = getattr(given, name, None)
    except Exception:  # a property may do anything
        return None
    return None if callable(value) else value


def _names(result: Any) -> list[str] | None:
    if isinstance(result, Mapping):
        return [name for name in result if isinstance(name, str)]
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return list(result._fields)
    return None


def _is_id(given: Any) -> bool:
    """Return whether something is an id, or may be meant as one."""
    return given is None or isinstance(given, (str, bytes, bool, Real, UUID))


def _split(result: Any, where: str) -> tuple[Any, Any]:
    if not is_list(result):
        return result, None
    if len(result) != 2:
        raise InputError(f"{where} is {quoted(result)}; give (id, score), or only the id.")
    if result[1] is not None and not _is_number(result[1]):
        raise InputError(f"{where}: the score {quoted(result[1])} is not a number.")
    return result[0], result[1]


def _is_number(given: Any) -> bool:
    return not isinstance(given, bool) and isinstance(_plain_number(given), Real)


def _plain_number(given: Any) -> Any:
    """Return the number in an array without dimensions."""
    if isinstance(given, Real) or getattr(given, "ndim", None) != 0:
        return given
    return given.item()


def _scores(scores: list[Any], place: str) -> list[float] | None:
    """Return all scores as numbers; None if all are missing."""
    without = [number for number, score in enumerate(scores, 1) if score is None]
    if len(without) == len(scores):
        return None
    if without:
        having = next(number for number, score in enumerate(scores, 1) if score is not None)
        raise InputError(
            f"{place}: result {without[0]} has no score, but result {having} has one; give a "
            "score to every result, or to none."
        )
    numbers = [float(_plain_number(score)) for score in scores]
    for number, score in enumerate(numbers, 1):
        if math.isnan(score):
            raise InputError(
                f"{place}: the score of result {number} is NaN; scores must be numbers."
            )
    return numbers


def _score_of(result: Any) -> Any:
    """Return the score of a mapping or an object; the smallest rank is best."""
    names = _names(result)
    if names is None:
        score = _get(result, "score") if not _is_id(result) else None
        return score if _is_number(score) else None
    score, rank = (_number_of(result, names, role) for role in ("score", "rank"))
    return -rank if score is None and rank is not None else score


def _number_of(result: Any, names: list[str], role: str) -> Any:
    values = (_get(result, names[position]) for position in candidates(role, names))
    return next((_plain_number(value) for value in values if _is_number(value)), None)


def _is_ranked(result: Any) -> bool:
    names = _names(result) or []
    return _number_of(result, names, "rank") is not None and (
        _number_of(result, names, "score") is None
    )


def _ids_of(result: Any) -> Iterator[tuple[str, Any]]:
    """Yield the paths and values of ids, those in the metadata included."""
    ids = [(name, _get(result, name)) for name in ID_NAMES]
    for name in METADATA_NAMES:
        held = _get(result, name)
        if isinstance(held, Mapping):
            ids += [(f"{name}.{key}", held.get(key)) for key in (*ID_NAMES, SOURCE_NAME)]
    ids = [(path, value) for path, value in ids if isinstance(value, _ID_TYPES) and value != ""]
    yield from ids
    if ids:
        return
    for name in ITEM_NAMES:
        held = _get(result, name)
        if isinstance(held, _ID_TYPES):
            yield name, held
        elif held is not None and not is_list(held):
            yield from ((f"{name}.{path}", value) for path, value in _ids_of(held))


def _reached(result: Any, path: str, where: str) -> Any:
    """Follow a dotted path of keys, attributes and positions in lists."""
    value, remaining = result, path
    while remaining:
        name, _, after = remaining.partition(".")
        if isinstance(value, Mapping) and remaining in value:
            value, after = value[remaining], ""
        elif isinstance(value, Mapping) and name in value:
            value = value[name]
        elif is_list(value) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        elif not isinstance(value, Mapping) and hasattr(value, name):
            value = getattr(value, name)
        else:
            raise InputError(f"{where}: there is no {path!r} in {quoted(result)}.")
        remaining = after
    if value is None:
        raise InputError(f"{where}: {path!r} is None in {quoted(result)}.")
    return value


# Saved answers

SAVE_EXTENSIONS = (".jsonl", ".ndjson")


class AnswerFile:
    """A run saved as it goes: NDJSON with a line for each query, which can be read as a run.

    A line has the results of a query, its time, its number of tries, and a hash of the query and
    the settings that answers depend on.
    """

    def __init__(
        self, path: str | os.PathLike[str], settings: Mapping[str, Any], queries: Mapping[str, Any]
    ) -> None:
        """Read the file if there is one; nothing is written yet."""
        check_target(path)
        checked_ending(path, SAVE_EXTENSIONS)
        self.path, self.settings = Path(path), dict(settings)
        self.hashes = {query: _hash_of(query, asked, settings) for query, asked in queries.items()}
        self.answers: dict[str, RetrievedResults] = {}
        self.notes: list[str] = []
        self.complete_bytes = 0
        self.handle: BinaryIO | None = None
        if os.path.lexists(path) and not os.path.isfile(path):
            raise OutputError(f"{path}: is not a regular file; give another path.")
        if os.path.exists(path):
            self._read()
        if self.answers:
            rest = "and nothing was asked"
            if len(self.answers) < len(queries):
                rest = "the others were asked now"
            self.notes.append(
                Warned(
                    f"{counted(len(self.answers), 'query was', 'queries were')} answered earlier "
                    f"and read from {path}, {rest}; delete the file to ask all again."
                )
            )

    def add(self, query: str, results: RetrievedResults) -> None:
        # Lists with an order only get scores, too, so that any mixture can be read as a run.
        by_order = results.scores is None
        scores = range(len(results.items), 0, -1) if by_order else results.scores
        row = {
            "asked": self.hashes[query],
            "query": query,
            "retrieved": results.items,
            "scores": list(scores or ()),
            "by_order": by_order,
            "cut": results.cut,
            "seconds": results.seconds,
            "tries": results.tries,
            "at_once": results.workers,
        }
        try:
            if self.handle is None:
                self.handle = self.path.open("ab")
                self.handle.truncate(self.complete_bytes)
            self.handle.write(f"{json.dumps(row)}\n".encode())
            self.handle.flush()
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written ({error.strerror}).") from error
        self.answers[query] = results

    def close(self) -> None:
        if self.handle is not None:
            self.handle.close()

    def _read(self) -> None:
        *lines, rest = self.path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                results = _saved_results(row)
            except (KeyError, OverflowError, RecursionError, TypeError, ValueError):
                raise self._foreign(number, line) from None
            query = row["query"]
            if query in self.answers or row["asked"] != self.hashes.get(query):
                used = listed([f"{name} {quoted(value)}" for name, value in self.settings.items()])
                raise InputError(
                    f"{self.path}, line {number}: query {query!r} occurs twice, or its results are "
                    f"of another text or other settings than now ({used}); delete the file, or "
                    "save to another."
                )
            self.answers[query] = results
            self.complete_bytes += len(line) + 1
        start = b'{"asked": "'
        if not lines and rest[: len(start)] != start[: len(rest)]:
            raise self._foreign(1, rest)
        if rest:
            self.notes.append(
                Warned(
                    f"The last line of {self.path} was cut off, as by a crash, so its query was "
                    "asked again."
                )
            )

    def _foreign(self, number: int, line: bytes) -> InputError:
        return InputError(
            f"{self.path}, line {number}: this is not a run that evaluate_retriever has saved: "
            f"{quote(line)}; save to another file."
        )


def _hash_of(query: str, asked: Any, settings: Mapping[str, Any]) -> str:
    def as_list(value: Any) -> Any:
        if hasattr(value, "tolist"):
            return value.tolist()
        raise TypeError

    try:
        text = json.dumps([asked, settings], sort_keys=True, default=as_list)
    except (TypeError, ValueError, RecursionError):
        raise InputError(
            f"query {query!r} is {quoted(asked)}, which cannot be saved. Give texts, numbers, "
            "lists or dicts of these, or leave out save (--save)."
        ) from None
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _saved_results(row: Mapping[str, Any]) -> RetrievedResults:
    """Return the results in a line; one that was not saved here raises some exception."""
    items, scores = tuple(row["retrieved"]), tuple(map(float, row["scores"]))
    counts = row["cut"], row["tries"], row["at_once"]
    texts = row["query"], row["asked"], *items
    if (
        len(scores) != len(items)
        or (seconds := real(row["seconds"])) is None
        or not all(isinstance(text, str) for text in texts)
        or not all(type(count) is int and 0 <= count < 2**63 for count in counts)
    ):
        raise ValueError
    cut, tries, workers = counts
    return RetrievedResults(
        items, None if row["by_order"] else scores, cut, seconds, tries, workers
    )
