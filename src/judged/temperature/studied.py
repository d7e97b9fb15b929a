"""What a study of temperatures found: a row for each, with intervals, and what can be concluded from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from judged.layout import aligned
from judged.segments import Floats
from judged.statistics.intervals import LEVEL, Interval, mean_interval
from judged.vectors.learned import Learned
from judged.vectors.training import Step

if TYPE_CHECKING:
    import polars as pl

COLUMNS = {
    "training_loss": "training loss",
    "loss": "loss",
    "confidence": "confidence",
    "accuracy": "accuracy",
    "entropy": "entropy",
    "calibration_error": "ECE",
    "alignment": "alignment",
    "uniformity": "uniformity",
    "best_iteration": "best at",
    "iterations": "iterations",
}
"""The numbers of a row beside the measures, as a table heads them."""


@dataclass(frozen=True, kw_only=True)
class Studied:
    """What became of one temperature, on held-out queries; of vectors as they are only what needs no temperature."""

    temperature: float | None = None
    """None: not trained."""
    training_loss: float | None = None
    """Of the training queries, at the weights that were kept."""
    loss: float | None = None
    """Of the held-out queries, at the temperature of training; over all items."""
    alignment: float
    """Mean |x - y|² of relevant pairs at length 1, as the similarity maps them: the lower, the closer."""
    uniformity: float
    """log of the mean of e^(-2·|x - y|²) over pairs of items at length 1: the lower, the more spread out."""
    confidence: float | None = None
    accuracy: float
    entropy: float | None = None
    calibration_error: float | None = None
    iterations: int | None = None
    best_iteration: int | None = None
    stopped: str | None = None
    history: tuple[Step, ...] = ()
    measures: Mapping[str, Interval]
    differences: Mapping[str, Interval] | None = None
    """To the similarity that was not trained, query by query; None without one."""
    learned: Learned | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        numbers = {name: getattr(self, name) for name in ("temperature", *COLUMNS, "stopped")}
        history = [{"iteration": each.iteration, "loss": each.loss, "value": each.value} for each in self.history]
        differences = None if self.differences is None else _plain(self.differences)
        return {**numbers, "history": history, "measures": _plain(self.measures), "differences": differences}


def _plain(intervals: Mapping[str, Interval]) -> dict[str, Any]:
    return {name: each.to_dict() for name, each in intervals.items()}


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """Temperatures of training side by side; `print` it, or take its rows."""

    kind: str
    measures: tuple[str, ...]
    training: int
    """Queries of each part, as in the next two."""
    validation: int
    held_out: int
    untrained: Studied | None
    """The cosine of the vectors as they are; None where queries and items have different dimensions."""
    trained: tuple[Studied, ...]
    """One for each temperature, ascending."""
    values: tuple[Mapping[str, Floats], ...] = field(repr=False)
    """For each temperature the value of each held-out query."""
    relevance: str
    seed: int
    positives: str
    candidates: int
    notes: tuple[str, ...]

    @property
    def rows(self) -> tuple[Studied, ...]:
        return self.trained if self.untrained is None else (self.untrained, *self.trained)

    def basis(self) -> list[str]:
        """What the numbers rest on."""
        return [
            f"{self.kind}, learned at each temperature from the same {self.training:,} queries and stopped by the same "
            f"{self.validation:,}, seed {self.seed}; loss among {self.candidates:,} items, several positives by rule "
            f"{self.positives!r}",
            f"relevant: {self.relevance}",
            f"all numbers but the training loss are of the same {self.held_out:,} held-out queries; intervals are those of "
            f"each mean by itself, {LEVEL:.0%}: of many comparisons some look real by chance",
        ]

    def conclusions(self) -> list[str]:
        """What the numbers say, one sentence each."""
        return list(_conclusions(self))

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain values."""
        return {
            "what": "temperature study",
            "kind": self.kind,
            "queries": {"training": self.training, "validation": self.validation, "held_out": self.held_out},
            "measures": list(self.measures),
            "level": LEVEL,
            "rows": [each.to_dict() for each in self.rows],
            "conclusions": self.conclusions(),
            "basis": self.basis(),
            "notes": list(self.notes),
        }

    def to_frame(self) -> pl.DataFrame:
        """A row for each temperature, the untrained similarity first, with null for its temperature."""
        import polars as pl

        return pl.DataFrame([_flat(each) for each in self.rows], infer_schema_length=None)

    def tables(self) -> list[list[list[str]]]:
        """For people: what became of training, and the measures; in each the heads first, a row for each temperature."""
        names = ["untrained" if each.temperature is None else f"{each.temperature:.4g}" for each in self.rows]
        numbers = [
            [name, *(_cell(getattr(each, column)) for column in COLUMNS)] for name, each in zip(names, self.rows, strict=True)
        ]
        measured = [
            [name, *(_said(each.measures[measure]) for measure in self.measures)]
            for name, each in zip(names, self.rows, strict=True)
        ]
        return [[["temperature", *COLUMNS.values()], *numbers], [["temperature", *self.measures], *measured]]

    def sentences(self) -> list[str]:
        """What the numbers say, and what they rest on."""
        return [*self.conclusions(), *self.basis(), *self.notes]

    def __repr__(self) -> str:
        texts = ["\n".join(aligned(table, right=range(len(table[0])))) for table in self.tables()]
        return "\n\n".join([*texts, "\n".join(self.sentences())])


def _flat(row: Studied) -> dict[str, Any]:
    measured = {
        f"{name}{suffix}": getattr(interval, part)
        for name, interval in row.measures.items()
        for part, suffix in (("mean", ""), ("low", "_low"), ("high", "_high"))
    }
    return {"temperature": row.temperature, **{name: getattr(row, name) for name in COLUMNS}, **measured}


def _cell(value: float | int | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.4f}"


def _said(interval: Interval, sign: str = "") -> str:
    return f"{interval.mean:{sign}.4f} [{interval.low:{sign}.4f}, {interval.high:{sign}.4f}]"


def _conclusions(study: Study) -> Iterator[str]:
    yield from _about_measure(study)
    rows = study.trained
    low, high = rows[0], rows[-1]
    if len(rows) > 1:
        steady = all((a.entropy or 0.0) <= (b.entropy or 0.0) for a, b in pairwise(rows))
        yield (
            f"From temperature {low.temperature:g} to {high.temperature:g} the entropy of probabilities goes from "
            f"{low.entropy:.4f} to {high.entropy:.4f}{', rising at every step' if steady else ''}, the confidence in the top "
            f"item from {low.confidence:.4f} to {high.confidence:.4f}."
        )
        fitted = max(rows, key=_gap)
        yield f"The held-out queries' loss is furthest above that of training at {fitted.temperature:g}, by {_gap(fitted):.4f}."
        near, wide = min(rows, key=lambda row: row.alignment), min(rows, key=lambda row: row.uniformity)
        yield (
            f"Relevant pairs are closest at {near.temperature:g} (alignment {near.alignment:.4f}), items most spread out at "
            f"{wide.temperature:g} (uniformity {wide.uniformity:.4f})."
        )
        soon, late = (pick(rows, key=lambda row: row.best_iteration or 0) for pick in (min, max))
        yield (
            f"The weights that were kept came soonest at {soon.temperature:g}, after {soon.best_iteration} iterations, and "
            f"latest at {late.temperature:g}, after {late.best_iteration}."
        )
    sure = [f"{row.temperature:g}" for row in rows if (row.confidence or 0.0) > row.accuracy]
    yield f"More confident than right at {', '.join(sure)}." if sure else "Nowhere more confident than right."


def _about_measure(study: Study) -> Iterator[str]:
    """Of the first measure: where it is highest, and from which temperatures that can be told apart."""
    name, rows = study.measures[0], study.trained
    place = max(range(len(rows)), key=lambda number: rows[number].measures[name].mean)
    best = rows[place]
    gained = "" if best.differences is None else f", {_said(best.differences[name], '+')} to the untrained similarity"
    yield f"{name} is highest at temperature {best.temperature:g}: {_said(best.measures[name])}{gained}."
    groups: dict[str, list[str]] = {"lower at": [], "not told apart from that at": []}
    for number, row in enumerate(rows):
        if number != place:
            apart = mean_interval(study.values[number][name] - study.values[place][name])
            groups["lower at" if apart.high < 0 else "not told apart from that at"].append(f"{row.temperature:g}")
    said = [f"{words} {', '.join(listed)}" for words, listed in groups.items() if listed]
    if said:
        yield f"By the {study.held_out:,} held-out queries it is {' and '.join(said)}."


def _gap(row: Studied) -> float:
    """How far the held-out loss is above that of training."""
    return (row.loss or 0.0) - (row.training_loss or 0.0)
