"""What an annotator did in one sitting: the keys since the last long pause."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from judged.judgements.annotators.log import Entry, Log

PAUSE = 3_600.0
"""Seconds without a key that end a sitting."""


@dataclass(frozen=True)
class Sitting:
    """The last sitting of an annotator.

    >>> Sitting.of(Log()).graded
    0
    """

    entries: tuple[Entry, ...]
    """Its keys, undos too."""
    kept: tuple[Entry, ...]
    """Those that hold."""

    @classmethod
    def of(cls, log: Log) -> Sitting:
        """The last sitting in a log.

        Parameters
        ----------
        log : Log
            What an annotator did.

        Returns
        -------
        Sitting
        """
        times = [_seconds(entry.time) for entry in log.entries]
        begin = len(times)
        while begin and (begin == len(times) or times[begin] - times[begin - 1] <= PAUSE):
            begin -= 1
        entries = log.entries[begin:]
        mine = {id(entry) for entry in entries}
        return cls(entries, tuple(entry for entry in log.kept if id(entry) in mine))

    @property
    def by_grade(self) -> dict[int, int]:
        """How many items got each grade, from the lowest."""
        last = {entry.place: entry for entry in self.kept if entry.action != "note"}
        grades = [entry.grade for entry in last.values() if entry.grade is not None]
        return dict(sorted(Counter(grades).items()))

    @property
    def graded(self) -> int:
        """How many items have a grade from this sitting."""
        return sum(self.by_grade.values())

    @property
    def skipped(self) -> int:
        """How many items were skipped and not graded afterwards."""
        last = {entry.place: entry for entry in self.kept if entry.action != "note"}
        return sum(entry.action == "skip" for entry in last.values())

    @property
    def undone(self) -> int:
        """How many keys were taken back."""
        return sum(entry.action == "undo" for entry in self.entries)

    @property
    def seconds(self) -> float | None:
        """How long items were looked at, in all; None where no clock ran."""
        took = [entry.seconds for entry in self.entries if entry.seconds is not None]
        return sum(took) if took else None

    @property
    def median(self) -> float | None:
        """The median of seconds on an item that was graded; None where no clock ran."""
        from statistics import median

        took = [each.seconds for each in self.kept if each.action == "grade"]
        known = [each for each in took if each is not None]
        return median(known) if known else None

    @property
    def begun(self) -> str:
        """When it began, in UTC; empty where there is nothing, or nobody knows."""
        return self.entries[0].time if self.entries else ""


def _seconds(time: str) -> float:
    """A time as seconds; 0 where it cannot be read."""
    try:
        return datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return 0.0
