"""What is on record about the training of a learned similarity: all that a number computed with it
hangs on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from judged.statistics.intervals import LEVEL, Interval
from judged.text import aligned


@dataclass(frozen=True)
class Step:
    """Where training stood after an iteration; 0 is the start."""

    iteration: int
    loss: float
    """Of the training queries, without the pull of `decay`."""
    value: float
    """Of the measure, on the validation queries."""


@dataclass(frozen=True)
class Gain:
    """A measure on the held-out queries, before and after, each with its interval."""

    measure: str
    before: Interval
    after: Interval
    difference: Interval
    """After minus before, query by query."""


@dataclass(frozen=True)
class HeldOut:
    """How the queries that training never saw fare."""

    queries: int
    before: str
    """What `before` was, in words."""
    gains: tuple[Gain, ...]
    level: float = LEVEL
    """Of the intervals."""


@dataclass(frozen=True)
class Training:
    """How a similarity was learned."""

    kind: str
    temperature: float
    positives: str
    both: bool
    rank: int | None
    decay: float
    measure: str
    rel: float
    seed: int
    items: int
    candidates: int
    """How many items each training query was set against."""
    training: int
    validation: int
    held_out_queries: int
    history: tuple[Step, ...]
    best: int
    """The iteration whose weights were kept: the best on the validation queries."""
    stopped: str
    relevance: str
    notes: tuple[str, ...] = ()
    held_out: HeldOut | None = None

    def to_dict(self) -> dict[str, Any]:
        result = asdict(self)
        result["history"] = [asdict(step) for step in self.history]
        result["notes"] = list(self.notes)
        if self.held_out is not None:
            result["held_out"]["gains"] = [
                {
                    "measure": gain.measure,
                    **{
                        part: getattr(gain, part).to_dict()
                        for part in ("before", "after", "difference")
                    },
                }
                for gain in self.held_out.gains
            ]
        return {"what": "learned similarity", **result}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Training:
        """The way back from `to_dict`."""
        parts = {each.name: given[each.name] for each in fields(cls)}
        parts["history"] = tuple(Step(**step) for step in given["history"])
        parts["notes"] = tuple(given["notes"])
        if (held := given["held_out"]) is not None:
            gains = tuple(
                Gain(
                    gain["measure"],
                    *(Interval.from_dict(gain[part]) for part in ("before", "after", "difference")),
                )
                for gain in held["gains"]
            )
            parts["held_out"] = HeldOut(
                int(held["queries"]), str(held["before"]), gains, float(held["level"])
            )
        return cls(**parts)

    def sentences(self) -> tuple[str, ...]:
        """All of it but the table of held-out queries, in words."""
        first, best, last = self.history[0], self.history[self.best], self.history[-1]
        pull = f", pull to the start {self.decay:g}" if self.decay else ""
        among = (
            f"all {self.items:,} items"
            if self.candidates == self.items
            else f"{self.candidates:,} of {self.items:,} items"
        )
        said = [
            f"{self.kind}, temperature "
            f"{self.temperature:g}{'' if self.rank is None else f', rank {self.rank}'}",
            f"queries: {self.training:,} for training, {self.validation:,} for validation, "
            f"{self.held_out_queries:,} held out; "
            f"seed {self.seed}",
            f"relevant: {self.relevance}; from grade {self.rel:g}",
            f"loss: among {among}, several positives by rule "
            f"{self.positives!r}{', both ways' if self.both else ''}{pull}; "
            f"{first.loss:.4f} at the start, "
            f"{best.loss:.4f} at iteration {self.best}",
            f"{self.measure} on validation: {first.value:.4f} at the start, {best.value:.4f} at "
            f"iteration {self.best}, "
            f"which was kept",
            f"stopped after {last.iteration:,} iteration{'' if last.iteration == 1 else 's'}: "
            f"{self.stopped}",
        ]
        return (*said, *(f"note: {note}" for note in self.notes))

    def rows(self) -> list[tuple[str, str, str, str]]:
        """The table of held-out queries: measure, before, after, difference."""
        if self.held_out is None:
            return []
        return [
            (gain.measure, _said(gain.before), _said(gain.after), _said(gain.difference, sign="+"))
            for gain in self.held_out.gains
        ]

    def __repr__(self) -> str:
        lines = [*self.sentences()]
        if self.held_out is not None:
            lines += [self.heading(), *aligned([HEADER, *self.rows()])]
        return "\n".join(lines)

    def heading(self) -> str:
        """What stands over the table."""
        held = self.held_out
        assert held is not None
        many = "query" if held.queries == 1 else "queries"
        return (
            f"{held.queries:,} held-out {many}, means with {held.level:.0%} intervals; before: "
            f"{held.before}"
        )


HEADER = ("measure", "before", "after", "difference")


def _said(interval: Interval, *, sign: str = "") -> str:
    if interval.low != interval.low:
        return f"{interval.mean:{sign}.4f}"
    return f"{interval.mean:{sign}.4f} [{interval.low:{sign}.4f}, {interval.high:{sign}.4f}]"
