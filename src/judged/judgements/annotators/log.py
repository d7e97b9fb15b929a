"""The log of an annotator: a line for every key, appended and never changed.

What an annotator judged is what the lines say together. An undo is a line too: it takes back the
last line about its item that still holds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from judged.errors import InputError, OutputError
from judged.options import real
from judged.text import quote

ACTIONS = ("grade", "skip", "note", "undo")
"""What a line may say."""
HIGHEST = 9
"""The highest grade: each is one key."""
LONGEST_NOTE = 2_000

Place = tuple[str, str]
"""A query and an item."""


@dataclass(frozen=True)
class Entry:
    """One key of an annotator.

    >>> Entry.read(Entry("grade", "q1", "d3", 2, "short", 4.5).line()).grade
    2
    """

    action: str
    query: str
    item: str
    grade: int | None = None
    note: str = ""
    """The note on the item as it then was."""
    seconds: float | None = None
    """How long the item was looked at; None where no clock ran."""
    time: str = ""
    """When it was, in UTC, as 2026-11-17T09:30:00.000Z."""

    @property
    def place(self) -> Place:
        """The query and the item."""
        return self.query, self.item

    def line(self) -> bytes:
        """The entry as a line of a log."""
        held = {
            "time": self.time,
            "action": self.action,
            "query": self.query,
            "item": self.item,
            "grade": self.grade,
            "note": self.note,
            "seconds": self.seconds,
        }
        return json.dumps(held, ensure_ascii=False).encode() + b"\n"

    @classmethod
    def read(cls, line: bytes) -> Entry:
        """The entry that a line is; `ValueError` where it is none."""
        held = json.loads(line)
        if not isinstance(held, dict):
            raise ValueError("not an object")
        found = cls(
            held.get("action", "grade"),
            held["query"],
            held["item"],
            held.get("grade"),
            held.get("note") or "",
            held.get("seconds"),
            held.get("time") or "",
        )
        if not found._is_sound():
            raise ValueError("not an entry")
        return found

    def _is_sound(self) -> bool:
        texts = self.query, self.item, self.note, self.time
        if self.action not in ACTIONS or not all(isinstance(each, str) for each in texts):
            return False
        if self.seconds is not None and not _is_duration(self.seconds):
            return False
        if self.action != "grade":
            return bool(self.query and self.item) and self.grade is None
        whole = isinstance(self.grade, int) and not isinstance(self.grade, bool)
        return bool(self.query and self.item) and whole and 0 <= (self.grade or 0) <= HIGHEST


def _is_duration(given: Any) -> bool:
    number = real(given)
    return number is not None and number >= 0


@dataclass(frozen=True)
class Standing:
    """How an item stands with an annotator."""

    grade: int | None = None
    skipped: bool = False
    note: str = ""


@dataclass(frozen=True, eq=False)
class Log:
    """All entries of a log, and what of it could not be read."""

    entries: tuple[Entry, ...] = ()
    problems: tuple[str, ...] = ()
    """The lines that were left out, a sentence each."""

    @cached_property
    def kept(self) -> tuple[Entry, ...]:
        """The entries that still hold: undos and what they took back are left out."""
        held: list[Entry | None] = []
        by_place: dict[Place, list[int]] = {}
        for entry in self.entries:
            places = by_place.setdefault(entry.place, [])
            if entry.action != "undo":
                places.append(len(held))
                held.append(entry)
            elif places:
                held[places.pop()] = None
        return tuple(entry for entry in held if entry is not None)

    @cached_property
    def standing(self) -> Mapping[Place, Standing]:
        """How each item stands, in the order in which items were first met."""
        found: dict[Place, Standing] = {}
        for entry in self.kept:
            before = found.get(entry.place, Standing())
            if entry.action == "note":
                found[entry.place] = Standing(before.grade, before.skipped, entry.note)
            else:
                skipped = entry.action == "skip"
                found[entry.place] = Standing(entry.grade, skipped, entry.note)
        return found

    @cached_property
    def grades(self) -> dict[str, dict[str, int]]:
        """The grades that hold, as {query: {item: grade}}."""
        found: dict[str, dict[str, int]] = {}
        for (query, item), standing in self.standing.items():
            if standing.grade is not None:
                found.setdefault(query, {})[item] = standing.grade
        return found

    @property
    def last(self) -> Entry | None:
        """The last entry that holds: what an undo takes back."""
        return self.kept[-1] if self.kept else None

    def with_entry(self, entry: Entry) -> Log:
        """The log with one entry more."""
        return Log((*self.entries, entry), self.problems)


def read_log(path: str | os.PathLike[str]) -> Log:
    """What a log says; a half line, left by a program that was killed, is left out and said.

    Parameters
    ----------
    path : str or path
        A file NAME.log.ndjson; where there is none, the log is empty.

    Returns
    -------
    Log

    >>> read_log("nobody.log.ndjson").entries
    ()
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        return Log()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from None
    entries: list[Entry] = []
    problems: list[str] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            entries.append(Entry.read(line))
        except (ValueError, KeyError, RecursionError):
            problems.append(
                f"{Path(path).name}, line {number}: not a whole entry, left out: {quote(line)}"
            )
    return Log(tuple(entries), tuple(problems))


def append(descriptor: int, entry: Entry, path: Path) -> None:
    """Put an entry at the end of an open log that nobody else writes to now, and see it to the
    disk; where that fails, the log is as it was."""
    end = os.lseek(descriptor, 0, os.SEEK_END)
    line = entry.line()
    if end:
        os.lseek(descriptor, end - 1, os.SEEK_SET)
        if os.read(descriptor, 1) != b"\n":  # a half line stays a line of its own
            line = b"\n" + line
    try:
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    except OSError as error:
        with suppress(OSError):  # what stays is a half line, which is left out
            os.ftruncate(descriptor, end)
        raise OutputError(
            f"{path}: cannot be written ({error.strerror}); this key is not kept."
        ) from None
