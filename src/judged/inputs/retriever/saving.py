"""A run saved as it goes: NDJSON that every command reads as a run, a line for each result.

What belongs to a query is appended in one piece; in the line of its first result are its time, its
number of tries and a hash of what was asked, in the first line of the file what the answers depend
on. When all is done, the file is written again, in the order of the queries and whole.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from judged.errors import InputError, OutputError, quoted
from judged.inputs.retriever.results import Results
from judged.options import real
from judged.outputs import check_target, checked_ending, replacing
from judged.text import Warned, counted, quote

ENDINGS = (".jsonl", ".ndjson")
SETTINGS = {"k": "k", "from": "item", "retriever": "the retriever"}
"""What answers depend on, and what messages call it."""


@dataclass(frozen=True)
class Saved:
    """A query that was answered."""

    results: Results
    seconds: float
    tries: int
    workers: int
    asked: str
    """The hash of what was asked."""


def hash_of(query: str, asked: Any) -> str:
    """Tells whether the same was asked before."""
    try:
        text = json.dumps(asked, sort_keys=True, default=_listed)
    except (TypeError, ValueError, RecursionError):
        raise InputError(
            f"query {query!r} is {quoted(asked)}, of which save= cannot tell whether it was asked "
            "before; give texts, numbers, lists or dicts of these, or leave out save=."
        ) from None
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _listed(given: Any) -> Any:
    if hasattr(given, "tolist"):
        return given.tolist()
    raise TypeError


def _row(line: bytes) -> dict[str, Any] | None:
    """A line of a saved run; None for anything else."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    known = isinstance(row, dict) and isinstance(row.get("query"), str)
    return row if known and isinstance(row.get("of"), int) else None


def _count(given: Any) -> int:
    if type(given) is not int or not 0 <= given < 2**63:
        raise ValueError
    return given


def _begun(line: bytes) -> bool:
    """Whether a line is the first part of one of a saved run."""
    start = b'{"query": "'
    try:
        whole = json.loads(line)
    except (ValueError, RecursionError):
        return line[: len(start)] == start[: len(line)]
    return isinstance(whole, dict) and "settings" in whole


@dataclass
class Record:
    """The file, and what is in it."""

    path: Path
    settings: Mapping[str, Any]
    """What answers depend on, as `SETTINGS` lists it."""
    saved: dict[str, Saved] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _handle: BinaryIO | None = None

    @classmethod
    def at(cls, path: str | os.PathLike[str], settings: Mapping[str, Any]) -> Record:
        """The record of a file, which is read where it is there; nothing is written yet."""
        check_target(path)
        checked_ending(path, ENDINGS)
        found = cls(Path(path), settings)
        if os.path.lexists(path) and not os.path.isfile(path):
            raise OutputError(f"{path}: is no file that could be read again; give another.")
        if os.path.exists(path) and os.path.getsize(path):
            found._read()
        return found

    def resume(self, queries: Mapping[str, Any]) -> dict[str, Any]:
        """The queries that are not answered yet; refused where others were asked."""
        for query, saved in self.saved.items():
            if query not in queries:
                raise InputError(
                    f"{self.path}: has results of query {query!r}, which is not among those to be "
                    f"asked now; {self._start_again()}"
                )
            if saved.asked != hash_of(query, queries[query]):
                raise InputError(
                    f"{self.path}: has results of query {query!r} for another text; "
                    f"{self._start_again()}"
                )
        remaining = {query: each for query, each in queries.items() if query not in self.saved}
        for query, asked in remaining.items():
            hash_of(query, asked)
        if self.saved:
            rest = "the others were asked now" if remaining else "and nothing was asked"
            self.notes.append(
                Warned(
                    f"{counted(len(self.saved), 'query was', 'queries were')} answered earlier and "
                    f"read from {self.path}, {rest}; delete the file to ask all again."
                )
            )
        return remaining

    def add(self, query: str, saved: Saved) -> None:
        """Append a query; what is written stays, whatever happens afterwards."""
        first = not self.saved
        self.saved[query] = saved
        try:
            if self._handle is None:
                if not first and self.notes:
                    self._write(self.saved)  # without what was cut off
                    self._handle = self.path.open("ab")
                    return
                self._handle = self.path.open("wb" if first else "ab")
            self._handle.write(self._lines(query, saved, first=first, with_scores=None))
            self._handle.flush()
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written ({error.strerror}).") from error

    def close(self) -> None:
        """What was added stays as it is."""
        if self._handle is not None:
            self._handle.close()
            self._handle = None

    def finish(self, order: Iterable[str]) -> None:
        """The whole file, in the order of the queries."""
        self.close()
        self._write({query: self.saved[query] for query in order if query in self.saved})

    def _write(self, saved: Mapping[str, Saved]) -> None:
        if not saved:
            return
        scored = any(each.results.scores is not None for each in saved.values())
        with replacing(self.path) as temporary, temporary.open("wb") as handle:
            for number, (query, each) in enumerate(saved.items()):
                handle.write(self._lines(query, each, first=not number, with_scores=scored))

    def _lines(self, query: str, saved: Saved, *, first: bool, with_scores: bool | None) -> bytes:
        """A line for each result, or one that names the query; `with_scores` says whether there is
        a score in each line, made from the order where there is none."""
        results, number = saved.results, len(saved.results.items)
        scores: list[Any] | None = None if results.scores is None else list(results.scores)
        if with_scores and scores is None:
            scores = list(range(number, 0, -1)) or [None]
        rows: list[dict[str, Any]] = []
        listed = zip(results.items, results.ranks, strict=True)
        for at, (item, rank) in enumerate(listed if number else [(None, None)]):
            row: dict[str, Any] = {"query": query, "item": item}
            if scores is not None:
                row["score"] = scores[at]
            rows.append({**row, "rank": rank, "of": number})
        rows[0] |= {
            "cut": results.cut,
            "seconds": saved.seconds,
            "tries": saved.tries,
            "at_once": saved.workers,
            "asked": saved.asked,
        }
        if scores is not None and results.scores is None:
            rows[0]["by_order"] = True
        if first:
            rows[0]["settings"] = dict(self.settings)
        try:
            return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()
        except UnicodeEncodeError as error:
            half = quoted(error.object[error.start : error.end])
            raise InputError(
                f"query {query!r}: {half} in an id is half of a pair and no character, which "
                f"{self.path} cannot hold."
            ) from None

    def _read(self) -> None:
        *lines, rest = self.path.read_bytes().split(b"\n")
        blocks: list[tuple[int, list[dict[str, Any]]]] = []
        for number, line in enumerate(lines, 1):
            row = _row(line)
            if row is None:
                raise self._foreign(number, line)
            if not blocks:
                self._compare(row, line)
            if "asked" in row or not blocks:
                blocks.append((number, []))
            blocks[-1][1].append(row)
        if not blocks and not _begun(rest):
            raise self._foreign(1, rest)
        for at, (number, rows) in enumerate(blocks):
            whole = len(rows) == max(rows[0]["of"], 1)
            if not whole and at < len(blocks) - 1:
                raise InputError(
                    f"{self.path}, line {number}: the results of query {rows[0]['query']!r} are "
                    f"not all there; {self._start_again()}"
                )
            if not whole:
                self.notes.append(self._cut_off(rows[0]["query"]))
            elif rows[0]["query"] in self.saved:
                raise InputError(
                    f"{self.path}, line {number}: query {rows[0]['query']!r} is there twice, as "
                    f"if two programs had written at once; {self._start_again()}"
                )
            else:
                self.saved[rows[0]["query"]] = self._saved(rows, number)
        if rest and not self.notes:
            self.notes.append(self._cut_off(None))

    def _saved(self, rows: list[dict[str, Any]], number: int) -> Saved:
        first, count = rows[0], rows[0]["of"]
        try:
            scored = "score" in first and not first.get("by_order") and count
            results = Results(
                tuple(row["item"] for row in rows) if count else (),
                tuple(float(row["score"]) for row in rows) if scored else None,
                _count(first["cut"]),
            )
            whole = all(isinstance(each, str) for each in results.items)
            if not whole or any(row["query"] != first["query"] for row in rows):
                raise ValueError
            seconds = real(first["seconds"])
            if seconds is None or not isinstance(first["asked"], str):
                raise ValueError
            tries, workers = _count(first["tries"]), _count(first["at_once"])
            return Saved(results, seconds, tries, workers, first["asked"])
        except (KeyError, OverflowError, TypeError, ValueError):
            raise self._foreign(number, json.dumps(first).encode()) from None

    def _cut_off(self, query: str | None) -> str:
        whose = "a query" if query is None else f"query {query!r}"
        return Warned(
            f"The last line of {self.path} was cut off, as by a crash: {whose} was left out there "
            "and asked again."
        )

    def _compare(self, first: dict[str, Any], line: bytes) -> None:
        settings = first.get("settings")
        if not isinstance(settings, dict):
            raise self._foreign(1, line)
        for name, now in self.settings.items():
            if settings.get(name) != now:
                before = quoted(settings.get(name))
                raise InputError(
                    f"{self.path}: {SETTINGS[name]} was {before} when this was saved and is "
                    f"{quoted(now)} now; {self._start_again()}"
                )

    def _start_again(self) -> str:
        return "delete the file, or save to another."

    def _foreign(self, number: int, line: bytes) -> InputError:
        return InputError(
            f"{self.path}, line {number}: is no run that was saved by asking a retriever: "
            f"{quote(line)}; save to another file."
        )
