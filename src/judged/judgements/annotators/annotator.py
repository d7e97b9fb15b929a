"""An annotator: grades in two plain files, the log of every key and the judgements made from it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from judged.errors import InputError, OutputError
from judged.judgements.annotators.locks import locked
from judged.judgements.annotators.log import (
    HIGHEST,
    LONGEST_NOTE,
    Entry,
    Log,
    Standing,
    append,
    read_log,
)
from judged.judgements.annotators.names import SETTLED, check_name
from judged.options import identifier, number, text, whole
from judged.outputs import write_text

FOLDER = "judgements"
"""The folder of annotators' files, inside the folder of a collection."""
LOG, QRELS = ".log.ndjson", ".qrels"
_PLAIN = re.compile(r"[\w.:/@+*=~!$%&()<>;-]+")
"""Ids that a line of TREC can hold as they are."""


class Annotator:
    """What one annotator judged, kept in `judgements/NAME.log.ndjson` and `judgements/NAME.qrels`.

    Every key is appended to the log and seen to the disk before anything else happens. The
    judgements are made from the whole log after each key, and replaced as a whole; no other file is
    written. Any number of objects, threads and programs may judge under one name at once.

    Parameters
    ----------
    folder : str or path
        The folder of the collection; the files go into its folder `judgements`, which is made when
        the first key comes.
    name : str
        Who judges: letters, digits, - and _. It is the name of the files.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> ar = Annotator(mkdtemp(), "ar")
    >>> entry = ar.grade("w17", "p10", 2, seconds=4.2)
    >>> entry = ar.grade("w17", "p11", 0)
    >>> entry = ar.undo()
    >>> ar.grades()
    {'w17': {'p10': 2}}
    >>> ar.qrels.read_text()
    'w17 0 p10 2\\n'
    """

    def __init__(self, folder: str | os.PathLike[str], name: str) -> None:
        self.folder = Path(folder) / FOLDER
        self.name = check_name(name, annotators_in(folder))

    def __repr__(self) -> str:
        return f"Annotator({str(self.folder.parent)!r}, {self.name!r})"

    @property
    def log_path(self) -> Path:
        """The file of every key."""
        return self.folder / (self.name + LOG)

    @property
    def qrels(self) -> Path:
        """The file of judgements."""
        return self.folder / (self.name + QRELS)

    def log(self) -> Log:
        """The log as it is on disk now.

        Returns
        -------
        Log
        """
        return read_log(self.log_path)

    def grades(self) -> dict[str, dict[str, int]]:
        """The grades that hold now, as judgements that every function of judged takes.

        Returns
        -------
        dict
            {query: {item: grade}}.
        """
        return self.log().grades

    def grade(
        self,
        query: str,
        item: str,
        grade: int,
        *,
        note: str | None = None,
        seconds: float | None = None,
    ) -> Entry:
        """Give an item a grade; an item that has one gets the new one.

        Parameters
        ----------
        query, item : str
            What is judged.
        grade : int
            From 0, not relevant, to 9.
        note : str, optional
            A note on the item; by default the one that it has, and "" for none.
        seconds : float, optional
            How long it took.

        Returns
        -------
        Entry
            What was appended to the log.
        """
        given = whole("grade", grade, at_least=0, at_most=HIGHEST)
        return self._keep("grade", query, item, given, note, seconds)

    def skip(
        self, query: str, item: str, *, note: str | None = None, seconds: float | None = None
    ) -> Entry:
        """Leave an item without a grade; one that it had is taken back.

        Parameters
        ----------
        query, item : str
            What is skipped.
        note : str, optional
            As in `grade`.
        seconds : float, optional
            How long it took.

        Returns
        -------
        Entry
        """
        return self._keep("skip", query, item, None, note, seconds)

    def note(self, query: str, item: str, note: str) -> Entry:
        """Keep a note on an item, and nothing else.

        Parameters
        ----------
        query, item : str
            What it is about.
        note : str
            The note; "" for none.

        Returns
        -------
        Entry
        """
        return self._keep("note", query, item, None, note, None)

    def undo(self) -> Entry | None:
        """Take back the last key that still holds, in whichever window it was pressed.

        Returns
        -------
        Entry or None
            What was taken back; None where there is nothing.
        """
        taken: list[Entry | None] = [None]

        def made(log: Log) -> Entry | None:
            last = log.last
            taken.append(last)
            return None if last is None else Entry("undo", last.query, last.item, time=_now())

        if self.log_path.exists():
            self._write(made)
        return taken[-1]

    def take_back(self, query: str, item: str) -> Entry | None:
        """Take back the last key about one item.

        Parameters
        ----------
        query, item : str
            The item.

        Returns
        -------
        Entry or None
            What was taken back; None where there is nothing.
        """
        taken: list[Entry] = []

        def made(log: Log) -> Entry | None:
            taken.extend(each for each in log.kept if each.place == (query, item))
            return Entry("undo", query, item, time=_now()) if taken else None

        if self.log_path.exists():
            self._write(made)
        return taken[-1] if taken else None

    def repair(self) -> bool:
        """Make the judgements again where they are not what the log says, as after a kill between
        the two.

        Returns
        -------
        bool
            Whether they were made again.
        """
        if not self.log_path.exists() or self._is_made(self.log()):
            return False
        self._write(lambda log: None)
        return True

    def _keep(
        self,
        action: str,
        query: Any,
        item: Any,
        grade: int | None,
        note: str | None,
        seconds: float | None,
    ) -> Entry:
        place = _id("query", query), _id("item", item)
        if note is not None and len(text("note", note)) > LONGEST_NOTE:
            raise InputError(
                f"a note has at most {LONGEST_NOTE:,} characters; this has {len(note):,}."
            )
        took = None if seconds is None else round(number("seconds", seconds, at_least=0), 1)
        found: list[Entry] = []

        def made(log: Log) -> Entry:
            before = log.standing.get(place, Standing())
            said = before.note if note is None else note
            found.append(Entry(action, *place, grade, said, took, _now()))
            return found[0]

        self._write(made)
        return found[0]

    def _write(self, make: Callable[[Log], Entry | None]) -> None:
        """Append what is made of the log as it is now, alone among all writers, and make the
        judgements of it."""
        self._refuse_foreign()
        try:
            self.folder.mkdir(exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
            descriptor = os.open(self.log_path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except OSError as error:
            raise OutputError(
                f"{self.log_path}: cannot be written ({error.strerror}); this key is not kept."
            ) from None
        try:
            with locked(descriptor):
                log = self.log()
                entry = make(log)
                if entry is not None:
                    append(descriptor, entry, self.log_path)
                    log = log.with_entry(entry)
                self._write_qrels(log)
        finally:
            os.close(descriptor)

    def _refuse_foreign(self) -> None:
        """Nothing is written outside the collection's folder, and no file that is not ours."""
        root = self.folder.parent.resolve()
        if not self.folder.resolve().is_relative_to(root):
            raise OutputError(f"{self.folder}: is a link out of the folder; nothing is written.")
        for path in (self.log_path, self.qrels):
            if path.is_symlink():
                raise OutputError(f"{path}: is a link; nothing is written through it.")
        if self.qrels.exists() and not self.log_path.exists():
            raise OutputError(
                f"{self.qrels}: is there without {self.log_path.name}, so it was not made here and "
                "is not replaced; choose another name, or move it."
            )

    def _write_qrels(self, log: Log) -> None:
        if self._is_made(log):
            return
        try:
            if log.grades:
                write_text(self.qrels, qrels_of(log.grades))
            else:
                with suppress(FileNotFoundError):
                    self.qrels.unlink()
        except OSError as error:
            said = str(error) if isinstance(error, OutputError) else f"{self.qrels}: {error}"
            raise OutputError(
                f"{said} The key is kept, in {self.log_path.name}; the judgements are made from it "
                "as soon as they can be written."
            ) from None

    def _is_made(self, log: Log) -> bool:
        """Whether the file of judgements is what the log says."""
        try:
            return self.qrels.read_bytes() == qrels_of(log.grades).encode()
        except FileNotFoundError:
            return not log.grades
        except OSError:
            return False


def _id(name: str, given: Any) -> str:
    found = identifier(name, given)
    try:
        found.encode()
    except UnicodeEncodeError:
        raise InputError(f"{name} must be an id that UTF-8 can write; got {found!a}.") from None
    if not found:
        raise InputError(f"{name} must be an id; it is empty.")
    return found


def _now() -> str:
    now = datetime.now(UTC)
    return f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03}Z"


def qrels_of(grades: dict[str, dict[str, int]]) -> str:
    """Judgements as text: lines of TREC; where an id holds white space or what else such lines
    cannot hold, all rows are NDJSON, which judged reads as well and others refuse.

    >>> qrels_of({"q": {"d": 1}})
    'q 0 d 1\\n'
    >>> qrels_of({"q": {"d 1": 1}})
    '{"query": "q", "item": "d 1", "grade": 1}\\n'
    """
    rows = [(query, item, grade) for query, each in grades.items() for item, grade in each.items()]
    if all(_PLAIN.fullmatch(query) and _PLAIN.fullmatch(item) for query, item, _ in rows):
        return "".join(f"{query} 0 {item} {grade}\n" for query, item, grade in rows)
    names = "query", "item", "grade"
    held = (dict(zip(names, row, strict=True)) for row in rows)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in held)


def annotators_in(folder: str | os.PathLike[str]) -> tuple[str, ...]:
    """The names of those who judged something of a folder, in their order.

    Parameters
    ----------
    folder : str or path
        The folder of the collection.

    Returns
    -------
    tuple of str

    >>> annotators_in("nowhere")
    ()
    """
    try:
        files = sorted(os.listdir(Path(folder) / FOLDER))
    except OSError:
        return ()
    found = []
    for file in files:
        name = file.removesuffix(LOG)
        with suppress(InputError):
            if file != name and check_name(name) == name:
                found.append(name)
    return tuple(found)


def settled_in(folder: str | os.PathLike[str]) -> Annotator:
    """The judge whose grades settle what annotators see differently.

    Parameters
    ----------
    folder : str or path
        The folder of the collection.

    Returns
    -------
    Annotator
        With the files `judgements/settled.log.ndjson` and `judgements/settled.qrels`.

    >>> settled_in("here").name
    'settled'
    """
    return _Settled(folder)


class _Settled(Annotator):
    """The judge whose name nobody else may have."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder) / FOLDER
        self.name = SETTLED
