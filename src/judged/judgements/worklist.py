"""Work of an annotator: the tasks of a file, the grading scale, the order, and progress.

The order is blind and depends only on the seed. An item is for all annotators, or only for the
first who grades it: a hash of seed, query and item decides. So the choice depends neither on the
annotators nor on the other items.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from hashlib import blake2b
from statistics import median
from typing import Any

from judged.errors import InputError, quoted
from judged.inputs.columns import candidates, surest
from judged.inputs.keyed import Sheet, names_columns, read_sheet
from judged.inputs.tables import Kind
from judged.inputs.texts import QUERY_TEXTS, TEXTS, TITLES, Text
from judged.judgements import OVERLAP
from judged.judgements.annotators import MAX_GRADE, Log, Place, Standing
from judged.text import counted

MAX_PAUSE_SECONDS = 3_600.0  # a longer pause ends a session
MAX_MEANING_CHARACTERS = 60
DEFAULT_MEANINGS = {
    1: ("not relevant", "relevant"),
    2: ("not relevant", "partly", "fully"),
    3: ("not relevant", "on topic", "partly", "fully"),
}
"""Meanings of the grades 0, 1, …, by the highest grade."""
QUEUE_FILE = Kind("a queue", "grade", "the columns query and item, perhaps grade, title and text")
_GRADE_WITH_MEANING = re.compile(r"(\d{1,9})(?:\s+(\S.*))?", re.DOTALL | re.ASCII)


@dataclass(frozen=True)
class Scale:
    """The grades that annotators may give, the lowest first, and the meaning of each."""

    meanings: Mapping[int, str]

    @property
    def top(self) -> int:
        """The highest grade."""
        return max(self.meanings)

    def __str__(self) -> str:
        return ", ".join(f"{grade} {words}".strip() for grade, words in self.meanings.items())

    @classmethod
    def read(cls, written: Any) -> Scale:
        """Parse a scale such as "0 not relevant, 1 on topic, 2 partly, 3 fully"."""
        meanings: dict[int, str] = {}
        for part in written.split(",") if isinstance(written, str) else [None]:
            match = _GRADE_WITH_MEANING.fullmatch(part.strip()) if part is not None else None
            if match is None or int(match[1]) > MAX_GRADE:
                raise InputError(
                    f'grades are written as "0 not relevant, 1 relevant": numbers from 0 to '
                    f"{MAX_GRADE}, each with its meaning; got {quoted(written)}."
                )
            grade = int(match[1])
            if grade in meanings:
                raise InputError(f"grades: {grade} occurs twice; got {quoted(written)}.")
            meanings[grade] = " ".join((match[2] or "").split())[:MAX_MEANING_CHARACTERS]
        if len(meanings) < 2:
            raise InputError(f"grades: give two or more; got {quoted(written)}.")
        return cls(dict(sorted(meanings.items())))

    @classmethod
    def up_to(cls, top: int | None) -> Scale:
        """Return the default scale for a highest grade; None gives four grades."""
        highest = 3 if top is None else min(max(top, 1), MAX_GRADE)
        words = DEFAULT_MEANINGS.get(highest, ("not relevant", *[""] * (highest - 1), "fully"))
        return cls(dict(enumerate(words)))


@dataclass(frozen=True, eq=False)
class Tasks:
    """Queries and items to judge, with their texts."""

    places: tuple[Place, ...]  # pairs of query and item, each once, in the order of the file
    notes: tuple[str, ...] = ()  # rows that were left out, a sentence each
    texts: Mapping[str, Text] = field(default_factory=dict)  # texts of items, if the file has them
    queries: Mapping[str, Text] = field(default_factory=dict)
    """Texts of queries, if the file has them."""


def read_tasks(path: str | os.PathLike[str]) -> Tasks:
    """Read what to judge: rows without a grade, with the columns query and item."""
    sheet = read_sheet(path, QUEUE_FILE, "a queue", names_columns)
    if isinstance(sheet, tuple) or not sheet.headed:
        raise InputError(f"{path}: {QUEUE_FILE.phrase} is a table with {QUEUE_FILE.columns}.")
    columns = {}
    for role in ("query", "item"):
        if not candidates(role, sheet.header):
            raise InputError(
                f"{path}: no column is the {role}; {QUEUE_FILE.phrase} has {QUEUE_FILE.columns}. "
                f"The columns are {', '.join(sheet.header)}."
            )
        columns[role] = sheet.header[surest(role, sheet.header, sheet.source)]
    queries, items = (sheet.ids(columns[role], role).to_list() for role in ("query", "item"))
    graded = _graded_rows(sheet)
    rows = zip(queries, items, graded, strict=True)
    places = tuple(dict.fromkeys((query, item) for query, item, has_grade in rows if not has_grade))
    notes: tuple[str, ...] = ()
    if count := sum(graded):
        verb = "already has a grade and is" if count == 1 else "already have a grade and are"
        name = os.path.basename(os.fspath(path))
        notes = (f"{counted(count, 'row')} of {name} {verb} left out.",)
    taken = set(columns.values())
    return Tasks(
        places,
        notes,
        _texts_in(sheet, items, TITLES, TEXTS, taken),
        _texts_in(sheet, queries, (), QUERY_TEXTS[1:], taken),
    )


def _graded_rows(sheet: Sheet) -> list[bool]:
    columns = candidates("grade", sheet.header)
    if not columns:
        return [False] * sheet.frame.height
    cells = sheet.frame[sheet.header[columns[0]]].to_list()
    return [cell is not None and str(cell).strip() not in ("", "nan") for cell in cells]


def _texts_in(
    sheet: Sheet, ids: list[str], titles: tuple[str, ...], texts: tuple[str, ...], taken: set[str]
) -> dict[str, Text]:
    """Return the texts of ids, from the first columns with these names."""
    by_name = {name.lower(): name for name in reversed(sheet.header) if name not in taken}
    title, text = (
        next((by_name[name] for name in names if name in by_name), None)
        for names in (titles, texts)
    )
    if title is None and text is None:
        return {}
    height = sheet.frame.height
    columns = [
        [""] * height if name is None else [str(cell or "") for cell in sheet.frame[name].to_list()]
        for name in (title, text)
    ]
    return {id: Text(*words) for id, *words in zip(ids, *columns, strict=True)}


def is_shared(place: Place, *, seed: int = 0, overlap: float = OVERLAP) -> bool:
    """Return whether every annotator judges an item."""
    return _hash(seed, "overlap", *place) < overlap


def _hash(seed: int, *words: str) -> float:
    """Return a reproducible pseudo-random number from 0 to 1."""
    text = "\0".join((str(seed), *(f"{len(word)}:{word}" for word in words)))
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2.0**64


@dataclass(frozen=True, eq=False)
class Worklist:
    """Items that one annotator has to judge, in order."""

    places: tuple[Place, ...]
    """Queries in their order, the items of each shuffled; graded items included."""
    log: Log

    def standing(self, place: Place) -> Standing:
        """Return the annotator's current grade and note of an item."""
        return self.log.standing.get(place, Standing())

    def is_open(self, place: Place, *, skipped: bool = False) -> bool:
        """Return whether an item needs a grade; skipped items count only on request."""
        standing = self.standing(place)
        return standing.grade is None and (skipped or not standing.skipped)

    @cached_property
    def _seen(self) -> list[tuple[str, Standing]]:
        """The query and the standing of each item that was graded, skipped or noted."""
        standing = self.log.standing
        return [(place[0], standing[place]) for place in self.places if place in standing]

    @cached_property
    def open_by_query(self) -> dict[str, int]:
        """Number of open items of each query that has any."""
        closed = [query for query, known in self._seen if known.grade is not None or known.skipped]
        return dict(Counter(query for query, _ in self.places) - Counter(closed))

    @cached_property
    def done(self) -> int:
        """Number of graded items."""
        return sum(known.grade is not None for _, known in self._seen)

    @cached_property
    def skipped(self) -> int:
        """Number of skipped items."""
        return sum(known.skipped for _, known in self._seen)

    def _position(self, place: Place | None) -> int | None:
        """Return the position of a place; a page asks for one or two, which needs no dict."""
        return self.places.index(place) if place is not None and place in self.places else None

    def neighbour(self, place: Place, step: int) -> Place | None:
        """Return the item that many places ahead, or back; None beyond the ends."""
        position = self._position(place)
        if position is None or not 0 <= position + step < len(self.places):
            return None
        return self.places[position + step]

    def next_open(self, after: Place | None = None, *, skipped: bool = False) -> Place | None:
        """Return the next open item after a place, wrapping around; None if none is open."""
        position = self._position(after)
        begin = 0 if position is None else position + 1
        order = (*self.places[begin:], *self.places[:begin])
        return next((place for place in order if self.is_open(place, skipped=skipped)), None)


def worklist(
    places: Iterable[Place],
    name: str,
    log: Log,
    *,
    taken: Collection[Place] = (),
    seed: int = 0,
    overlap: float = OVERLAP,
) -> Worklist:
    """Return the work of an annotator: queries in order, the items of each shuffled."""
    # `taken` is what others have graded. It is left out, unless every annotator judges it (a share
    # `overlap` of all items) or this annotator has judged it already.
    ordered = _order(tuple(places), name, seed)
    if taken and overlap < 1:
        ordered = tuple(
            place
            for place in ordered
            if place not in taken
            or place in log.standing
            or is_shared(place, seed=seed, overlap=overlap)
        )
    return Worklist(ordered, log)


# Cached because every key press asks for the order, which does not depend on grades.
@lru_cache(maxsize=16)
def _order(places: tuple[Place, ...], name: str, seed: int) -> tuple[Place, ...]:
    by_query: dict[str, dict[str, float]] = {}
    for query, item in places:
        by_query.setdefault(query, {})[item] = _hash(seed, name, query, item)
    return tuple(
        (query, item)
        for query, items in by_query.items()
        for item in sorted(items, key=lambda item: (items[item], item))
    )


def last_session(log: Log) -> dict[str, Any]:
    """Return the numbers of an annotator's last session: all actions since the last long pause."""
    # `graded` and `skipped` are numbers of items, `by_grade` has the lowest grade first, `undone`
    # is the number of undone actions, and `begun` the UTC time of the first. `seconds` is the total
    # time spent on items and `median` that of a graded item; None if they were not measured.
    times = [_seconds(entry.time) for entry in log.entries]
    begin = max(len(times) - 1, 0)
    while begin and times[begin] - times[begin - 1] <= MAX_PAUSE_SECONDS:
        begin -= 1
    entries = log.entries[begin:]
    mine = set(map(id, entries))
    kept = [entry for entry in log.kept if id(entry) in mine]
    last_actions = {entry.place: entry for entry in kept if entry.action != "note"}.values()
    by_grade = Counter(entry.grade for entry in last_actions if entry.grade is not None)
    spent = [entry.seconds for entry in entries if entry.seconds is not None]
    on_grades = [entry.seconds for entry in kept if entry.action == "grade"]
    measured = [seconds for seconds in on_grades if seconds is not None]
    return {
        "begun": entries[0].time if entries else "",
        "by_grade": dict(sorted(by_grade.items())),
        "graded": by_grade.total(),
        "skipped": sum(entry.action == "skip" for entry in last_actions),
        "undone": sum(entry.action == "undo" for entry in entries),
        "seconds": sum(spent) if spent else None,
        "median": median(measured) if measured else None,
    }


def _seconds(time: str) -> float:
    """Return a time in seconds; 0 if it cannot be parsed."""
    try:
        return datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return 0.0
