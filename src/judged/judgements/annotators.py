"""Annotators: each has an append-only log of every key, and a file of judgements made from it.

The log is the truth. An undo is a line of the log too: it cancels the last line about its item that
still holds. A line is on the disk before anything else happens, so no judgement is lost when the
program is killed.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar
from unicodedata import normalize

from judged.errors import InputError, OutputError, quoted
from judged.options import identifier, number, real, text, whole
from judged.outputs import write_text
from judged.text import quote

FOLDER = "judgements"  # folder of the annotators' files, inside the folder of a collection
LOG_SUFFIX, QRELS_SUFFIX = ".log.ndjson", ".qrels"
SETTLED = "settled"  # reserved name of the assessor whose grades settle disagreements
ACTIONS = ("grade", "skip", "note", "undo")
MAX_GRADE = 9  # each grade is one key
MAX_NOTE_CHARACTERS = 2_000
MAX_NAME_CHARACTERS = 40
_NAME = re.compile(rf"[^\W_][\w-]{{0,{MAX_NAME_CHARACTERS - 1}}}")
_WINDOWS_DEVICES = re.compile(r"con|prn|aux|nul|com\d|lpt\d", re.IGNORECASE)
_TREC_IDS = re.compile(r"[\w.:/@+*=~!$%&()<>;-]+")
_LOCKED_BYTE = 1 << 40
"""Windows locks bytes and keeps other programs from reading them, so lock one beyond the file."""

Place = tuple[str, str]  # a query and an item
MadeEntry = TypeVar("MadeEntry", bound="LogEntry | None")


def check_name(name: Any, existing: Iterable[str] = ()) -> str:
    """Return an annotator's name in Unicode form NFC, or raise an error if it is not valid."""
    checked = normalize("NFC", name) if isinstance(name, str) else ""
    if not _NAME.fullmatch(checked):
        raise InputError(
            "an annotator's name has letters, digits, - and _, begins with a letter or a digit, "
            f"and has at most {MAX_NAME_CHARACTERS} characters; got {quoted(name)}."
        )
    if checked.casefold() == SETTLED:
        raise InputError(
            f"{SETTLED!r} is reserved for the grades that settle disagreements; choose another "
            "name."
        )
    if _WINDOWS_DEVICES.fullmatch(checked):
        raise InputError(
            f"{quoted(checked)} is the name of a device on Windows; choose another name."
        )
    for other in existing:
        if other != checked and other.casefold() == checked.casefold():
            raise InputError(
                f"there is already an annotator {other!r}, and {quoted(checked)} would be the same "
                f"file on some machines; judge as {other!r}, or choose another name."
            )
    return checked


@dataclass(frozen=True)
class LogEntry:
    """One action of an annotator, which is one line of a log."""

    action: str
    query: str
    item: str
    grade: int | None = None
    note: str = ""  # the note on the item after this action
    seconds: float | None = None  # time spent on the item; None if it was not measured
    time: str = ""  # UTC time of the action, such as 2026-11-17T09:30:00.000Z

    @property
    def place(self) -> Place:
        """The query and the item."""
        return self.query, self.item

    def line(self) -> bytes:
        """Return the entry as a line of a log."""
        fields = {"time": self.time, **vars(self)}  # the time comes first
        return json.dumps(fields, ensure_ascii=False).encode() + b"\n"

    @classmethod
    def read(cls, line: bytes) -> LogEntry:
        """Parse a line of a log; raise `ValueError` or `KeyError` if it is not an entry."""
        fields = json.loads(line)
        if not isinstance(fields, dict):
            raise ValueError("not an object")
        entry = cls(
            fields.get("action", "grade"),
            fields["query"],
            fields["item"],
            fields.get("grade"),
            fields.get("note") or "",
            fields.get("seconds"),
            fields.get("time") or "",
        )
        if not entry._is_valid():
            raise ValueError("not an entry")
        return entry

    def _is_valid(self) -> bool:
        words = self.query, self.item, self.note, self.time
        if not all(isinstance(word, str) for word in words) or not self.query or not self.item:
            return False
        if self.seconds is not None and (real(self.seconds) is None or self.seconds < 0):
            return False
        if self.action == "grade":
            return type(self.grade) is int and 0 <= self.grade <= MAX_GRADE
        return self.action in ACTIONS and self.grade is None


@dataclass(frozen=True)
class Standing:
    """Current grade and note of an item, from one annotator."""

    grade: int | None = None
    skipped: bool = False
    note: str = ""

    def after(self, entry: LogEntry) -> Standing:
        """Return the standing after one more entry of the item, other than an undo."""
        if entry.action == "note":
            return Standing(self.grade, self.skipped, entry.note)
        return Standing(entry.grade, entry.action == "skip", entry.note)


@dataclass(frozen=True, eq=False)
class Log:
    """All entries of an annotator's log."""

    entries: tuple[LogEntry, ...] = ()
    problems: tuple[str, ...] = ()  # lines that could not be read, a sentence each
    read: bytes = b""  # the whole lines that all this was read from

    @cached_property
    def kept(self) -> tuple[LogEntry, ...]:
        """Entries that still hold, without undos and the entries they cancelled."""
        entries: list[LogEntry | None] = []
        by_place: dict[Place, list[int]] = {}
        for entry in self.entries:
            positions = by_place.setdefault(entry.place, [])
            if entry.action != "undo":
                positions.append(len(entries))
                entries.append(entry)
            elif positions:
                entries[positions.pop()] = None
        return tuple(entry for entry in entries if entry is not None)

    @cached_property
    def standing(self) -> Mapping[Place, Standing]:
        """Current standing of each item, in the order in which items were first seen."""
        standing: dict[Place, Standing] = {}
        for entry in self.kept:
            standing[entry.place] = standing.get(entry.place, Standing()).after(entry)
        return standing

    @cached_property
    def grades(self) -> dict[str, dict[str, int]]:
        """Current grades, as {query: {item: grade}}."""
        grades: dict[str, dict[str, int]] = {}
        for (query, item), standing in self.standing.items():
            if standing.grade is not None:
                grades.setdefault(query, {})[item] = standing.grade
        return grades

    @property
    def last(self) -> LogEntry | None:
        """The last entry that holds, which an undo would cancel."""
        return self.kept[-1] if self.kept else None


_LOGS: dict[str, Log] = {}
"""The logs that were read last: to parse 30,000 lines at every key would take 0.2 s."""


def read_log(path: str | os.PathLike[str]) -> Log:
    """Read a log, parsing only new lines, and report incomplete ones; a missing file is empty."""
    try:
        data = Path(path).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return Log()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from None
    log = _LOGS.get(str(path), Log())
    if not data.startswith(log.read):
        log = Log()
    end = data.rfind(b"\n") + 1
    if end > len(log.read):
        log = _LOGS[str(path)] = _with_lines(log, data[len(log.read) : end], path)
    return _with_lines(log, data[end:], path) if data[end:] else log  # half a line


def _with_lines(log: Log, data: bytes, path: str | os.PathLike[str]) -> Log:
    entries, problems = list(log.entries), list(log.problems)
    for line_number, line in enumerate(data.split(b"\n"), log.read.count(b"\n") + 1):
        if not line.strip():
            continue
        try:
            entries.append(LogEntry.read(line))
        except (ValueError, KeyError, RecursionError):
            problems.append(
                f"{Path(path).name}, line {line_number}: skipped, because it is not a complete "
                f"entry: {quote(line)}"
            )
    longer = Log(tuple(entries), tuple(problems), log.read + data)
    added = longer.entries[len(log.entries) :]
    if all(entry.action != "undo" for entry in added):
        # Going through 30,000 entries at every key would take 0.1 s.
        standing = dict(log.standing)
        for entry in added:
            standing[entry.place] = standing.get(entry.place, Standing()).after(entry)
        vars(longer).update(kept=log.kept + added, standing=standing)
    return longer


@contextmanager
def _hold_lock(descriptor: int) -> Iterator[None]:
    """Hold the lock of an open file, alone among all threads and programs."""
    if sys.platform == "win32":
        import msvcrt
        import time

        while True:
            os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
                break
            except OSError:
                time.sleep(0.01)
        try:
            yield
        finally:
            os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(descriptor, fcntl.LOCK_UN)


def _append(descriptor: int, entry: LogEntry, path: Path) -> None:
    """Append an entry to a locked log and flush it to the disk; on failure leave it unchanged."""
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
        with suppress(OSError):  # a half line that remains is skipped by read_log
            os.ftruncate(descriptor, end)
        raise OutputError(
            f"{path}: cannot be written ({error.strerror}); this judgement was not saved."
        ) from None


class Annotator:
    """Judgements of one annotator, in `judgements/NAME.log.ndjson` and `judgements/NAME.qrels`."""

    # Every action is appended to the log and flushed to the disk before anything else happens. The
    # judgements are made from the whole log after each action and replaced as a whole. No other
    # file is written. Any number of objects, threads and programs may judge under one name at once.
    # The folder `judgements`, inside the folder of the collection, is created with the first
    # action.

    def __init__(self, folder: str | os.PathLike[str], name: str) -> None:
        self.folder = Path(folder) / FOLDER
        self.name = check_name(name, annotators_in(folder))

    def __repr__(self) -> str:
        return f"Annotator({str(self.folder.parent)!r}, {self.name!r})"

    @property
    def log_path(self) -> Path:
        """Path of the log."""
        return self.folder / (self.name + LOG_SUFFIX)

    @property
    def qrels(self) -> Path:
        """Path of the judgements."""
        return self.folder / (self.name + QRELS_SUFFIX)

    def log(self) -> Log:
        """Read the log from disk."""
        return read_log(self.log_path)

    def grades(self) -> dict[str, dict[str, int]]:
        """Return the current grades as {query: {item: grade}}."""
        return self.log().grades

    def grade(
        self,
        query: str,
        item: str,
        grade: int,
        *,
        note: str | None = None,
        seconds: float | None = None,
    ) -> LogEntry:
        """Grade an item from 0 to 9, replacing an earlier grade; return the new line of the log."""
        # Without a note, the present one stays; "" removes it. `seconds` is the time spent.
        checked = whole("grade", grade, at_least=0, at_most=MAX_GRADE)
        return self._record("grade", query, item, checked, note, seconds)

    def skip(
        self, query: str, item: str, *, note: str | None = None, seconds: float | None = None
    ) -> LogEntry:
        """Skip an item and remove its grade; parameters are those of `grade`."""
        return self._record("skip", query, item, None, note, seconds)

    def note(self, query: str, item: str, note: str) -> LogEntry:
        """Write a note on an item, without grading it; "" removes the note."""
        return self._record("note", query, item, None, note, None)

    def undo(self) -> LogEntry | None:
        """Undo the last action that still holds and return it; None if nothing can be undone."""
        return self._undo(lambda entry: True)

    def take_back(self, query: str, item: str) -> LogEntry | None:
        """Undo the last action on one item and return it; None if nothing can be undone."""
        return self._undo(lambda entry: entry.place == (query, item))

    def _undo(self, suits: Callable[[LogEntry], bool]) -> LogEntry | None:
        if not self.log_path.exists():
            return None
        undone: LogEntry | None = None

        def make_entry(log: Log) -> LogEntry | None:
            nonlocal undone
            undone = next(filter(suits, reversed(log.kept)), None)
            return undone and LogEntry("undo", *undone.place, time=_now())

        self._write(make_entry)
        return undone

    def repair(self) -> bool:
        """Write the judgements again if they differ from the log; return whether they did."""
        if not self.log_path.exists() or self._holds(qrels_of(self.log().grades)):
            return False
        self._write(lambda log: None)
        return True

    def _record(
        self,
        action: str,
        query: Any,
        item: Any,
        grade: int | None,
        note: str | None,
        seconds: float | None,
    ) -> LogEntry:
        place = _check_id("query", query), _check_id("item", item)
        if note is not None and len(text("note", note)) > MAX_NOTE_CHARACTERS:
            raise InputError(
                f"a note has at most {MAX_NOTE_CHARACTERS:,} characters; this has {len(note):,}."
            )
        seconds = None if seconds is None else round(number("seconds", seconds, at_least=0), 1)

        def make_entry(log: Log) -> LogEntry:
            # The note that stays is the one on disk now, under the lock.
            kept = log.standing.get(place, Standing()).note if note is None else note
            return LogEntry(action, *place, grade, kept, seconds, _now())

        return self._write(make_entry)

    def _write(self, make_entry: Callable[[Log], MadeEntry]) -> MadeEntry:
        """Under the lock, append the entry made from the current log and update the judgements."""
        self._check_files()
        try:
            self.folder.mkdir(exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
            descriptor = os.open(self.log_path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except OSError as error:
            raise OutputError(
                f"{self.log_path}: cannot be written ({error.strerror}); this judgement was not "
                "saved."
            ) from None
        try:
            with _hold_lock(descriptor):
                log = self.log()
                entry = make_entry(log)
                if entry is not None:
                    _append(descriptor, entry, self.log_path)
                    log = self.log()
                self._write_qrels(log)
                return entry
        finally:
            os.close(descriptor)

    def _check_files(self) -> None:
        """Raise an error if writing would leave the collection's folder or replace another file."""
        root = self.folder.parent.resolve()
        if not self.folder.resolve().is_relative_to(root):
            raise OutputError(
                f"{self.folder}: is a link to another folder; judgements are not written there."
            )
        for path in (self.log_path, self.qrels):
            if path.is_symlink():
                raise OutputError(f"{path}: is a link; judgements are not written through links.")
        if self.qrels.exists() and not self.log_path.exists():
            raise OutputError(
                f"{self.qrels}: exists without {self.log_path.name}, so it was not written by "
                "judged and is not replaced; choose another name, or move the file."
            )

    def _write_qrels(self, log: Log) -> None:
        judgements = qrels_of(log.grades)
        if self._holds(judgements):
            return
        try:
            if judgements:
                write_text(self.qrels, judgements)
            else:
                with suppress(FileNotFoundError):
                    self.qrels.unlink()
        except OSError as error:
            reason = str(error) if isinstance(error, OutputError) else f"{self.qrels}: {error}"
            raise OutputError(
                f"{reason} The judgement is saved in {self.log_path.name}; the file of judgements "
                "is updated as soon as it can be written."
            ) from None

    def _holds(self, judgements: str) -> bool:
        try:
            return self.qrels.read_bytes() == judgements.encode()
        except FileNotFoundError:
            return not judgements
        except OSError:
            return False


def _check_id(name: str, value: Any) -> str:
    checked = identifier(name, value)
    try:
        checked.encode()
    except UnicodeEncodeError:
        raise InputError(f"{name} must be an id that UTF-8 can encode; got {checked!a}.") from None
    if not checked:
        raise InputError(f"{name} must be an id; it is empty.")
    return checked


def _now() -> str:
    now = datetime.now(UTC)
    return f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03}Z"


def qrels_of(grades: Mapping[str, Mapping[str, int]]) -> str:
    """Return judgements as TREC lines, or as NDJSON if an id does not fit into a TREC line."""
    rows = [
        (query, item, grade) for query, items in grades.items() for item, grade in items.items()
    ]
    if all(map(_TREC_IDS.fullmatch, {*grades, *chain.from_iterable(grades.values())})):
        return "".join(f"{query} 0 {item} {grade}\n" for query, item, grade in rows)
    lines = (dict(zip(("query", "item", "grade"), row, strict=True)) for row in rows)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def annotators_in(folder: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return the sorted names of the annotators who have judged in a collection's folder."""
    try:
        files = sorted(os.listdir(Path(folder) / FOLDER))
    except OSError:
        return ()
    names = []
    for file in files:
        name = file.removesuffix(LOG_SUFFIX)
        with suppress(InputError):
            if file != name and check_name(name) == name:
                names.append(name)
    return tuple(names)


def settled_in(folder: str | os.PathLike[str]) -> Annotator:
    """Return the assessor whose grades settle disagreements, with the reserved name."""
    annotator = Annotator.__new__(Annotator)  # the name is reserved, so __init__ rejects it
    annotator.folder, annotator.name = Path(folder) / FOLDER, SETTLED
    return annotator
