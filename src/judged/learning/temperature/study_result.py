"""What a study of temperatures found: one row per temperature, with intervals, and what follows
from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any

from judged.arrays import Floats
from judged.embeddings.learned import Learned
from judged.embeddings.training import Step
from judged.measures import parse_measure
from judged.options import LEVEL
from judged.results import Display, Document, Result, Table
from judged.statistics.intervals import Interval, mean_interval
from judged.text import Warned, counted, listed

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
    """What became of one temperature, on held-out queries.

    Of vectors as they are it has only what needs no temperature.
    """

    temperature: float | None = None
    """None: not trained."""
    training_loss: float | None = None
    """Of the training queries, at the weights that were kept."""
    loss: float | None = None
    """Of the held-out queries, at the temperature of training; over all items."""
    alignment: float
    """Mean |x - y|² of relevant pairs at length 1, as the similarity maps them: the lower, the
    closer."""
    uniformity: float
    """log of the mean of e^(-2·|x - y|²) over pairs of items at length 1: the lower, the more
    spread out."""
    confidence: float | None = None
    """The mean probability of the top item."""
    accuracy: float
    """How often the top item is relevant."""
    entropy: float | None = None
    """Of the probabilities of all candidates, natural logarithm."""
    calibration_error: float | None = None
    """The gap between confidence and accuracy, weighted by the queries of each bin (ECE)."""
    iterations: int | None = None
    """How many iterations training had."""
    best_iteration: int | None = None
    """The iteration whose weights were kept."""
    stopped: str | None = None
    """Why training ended, in words."""
    history: tuple[Step, ...] = ()
    """The loss and the validation measure after each iteration, the start included."""
    measures: Mapping[str, Interval]
    """Each measure's mean over the held-out queries, with its interval."""
    differences: Mapping[str, Interval] | None = None
    """To the similarity that was not trained, query by query; None without one."""
    beyond: Mapping[str, Interval] | None = None
    """How much of these is more than chance: than what held-out queries gain that are given the
    relevance of each other; None without an untrained similarity, or another query."""
    learned: Learned | None = field(default=None, repr=False)
    """The similarity that was learned."""

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain values; what is undefined is None."""
        found = {name: getattr(self, name) for name in ("temperature", *COLUMNS, "stopped")}
        numbers = {
            name: None if isinstance(each, float) and not isfinite(each) else each
            for name, each in found.items()
        }
        history = [
            {"iteration": each.iteration, "loss": each.loss, "value": each.value}
            for each in self.history
        ]
        differences, beyond = (
            None if each is None else _plain(each) for each in (self.differences, self.beyond)
        )
        return {
            **numbers,
            "history": history,
            "measures": _plain(self.measures),
            "differences": differences,
            "beyond": beyond,
        }


def _plain(intervals: Mapping[str, Interval]) -> dict[str, Any]:
    return {name: each.to_dict() for name, each in intervals.items()}


@dataclass(frozen=True, eq=False, repr=False)
class Study(Result):
    """The same similarity learned at several temperatures; made by `judged.temperature.study`.

    Examples
    --------
    >>> import numpy as np, judged
    >>> label = np.arange(60) % 3
    >>> vectors = np.eye(3)[label] + np.random.default_rng(0).normal(size=(60, 3))
    >>> same = judged.relevance.same_label(label, label)
    >>> embeddings = judged.Embeddings(vectors, vectors, exclude=judged.relevance.same_row())
    >>> found = judged.temperature.study(embeddings, same, [0.1, 1.0], iterations=2)
    >>> found.to_frame()["temperature"].to_list()
    [None, 0.1, 1.0]
    """

    kind: str
    """What was learned."""
    measures: tuple[str, ...]
    """The names of what was measured; sentences are about the first."""
    training: int
    """How many queries were trained on."""
    validation: int
    """How many queries chose when to stop."""
    held_out: int
    """How many queries all numbers are of, but for the training loss."""
    untrained: Studied | None
    """The cosine of the vectors as they are; None where queries and items have different
    dimensions."""
    trained: tuple[Studied, ...]
    """One for each temperature, ascending."""
    values: tuple[Mapping[str, Floats], ...] = field(repr=False)
    """For each temperature the value of each held-out query."""
    relevance: str
    """What is relevant, in words."""
    seed: int
    """Of the split and of everything else that was drawn."""
    positives: str
    """How several positives of a query make one loss: each, any or apart."""
    candidates: int
    """How many items each training query was set against."""
    comparable: bool
    """Whether the losses of training and held-out queries go over as many candidates."""
    notes: tuple[str, ...]
    """What was left out, and what else to know."""

    @property
    def rows(self) -> tuple[Studied, ...]:
        """The untrained similarity first, where there is one, then one for each temperature."""
        return self.trained if self.untrained is None else (self.untrained, *self.trained)

    def _basis(self) -> list[str]:
        return [
            f"{self.kind}, learned at each temperature from the same {self.training:,} queries and "
            f"stopped by the same {self.validation:,}, seed {self.seed}; loss among "
            f"{self.candidates:,} items, several positives by rule {self.positives!r}",
            f"relevant: {self.relevance}",
            f"all numbers but the training loss are of the same {self.held_out:,} held-out "
            f"queries; intervals are those of each mean by itself, {LEVEL:.0%}: of many "
            "comparisons some look real by chance; beyond chance is what held-out queries gain "
            "more than with the relevance of each other",
        ]

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain values; what is undefined is None."""
        return {
            "what": "temperature study",
            "kind": self.kind,
            "queries": {
                "training": self.training,
                "validation": self.validation,
                "held_out": self.held_out,
            },
            "measures": list(self.measures),
            "level": LEVEL,
            "rows": [each.to_dict() for each in self.rows],
            "sentences": self.sentences(),
            "notes": list(self.notes),
        }

    def to_frame(self) -> pl.DataFrame:
        """One row per temperature, the untrained similarity first, with null for its
        temperature."""
        import polars as pl

        return pl.DataFrame([_flat(each) for each in self.rows], infer_schema_length=None)

    def document(self, display: Display) -> Document:
        """Return the conclusions, training and measures at each temperature, and what the numbers
        rest on."""
        names = [
            "untrained" if each.temperature is None else f"{each.temperature:.4g}"
            for each in self.rows
        ]
        numbers = [
            [name, *(_cell(getattr(each, column)) for column in COLUMNS)]
            for name, each in zip(names, self.rows, strict=True)
        ]
        measured = [
            [name, *(each.measures[measure].said() for measure in self.measures)]
            for name, each in zip(names, self.rows, strict=True)
        ]
        return Document(
            list(_conclusions(self)),
            [
                Table(["temperature", *COLUMNS.values()], numbers),
                Table(["temperature", *self.measures], measured),
            ],
            [note for note in self.notes if isinstance(note, Warned)],
            [*self._basis(), *(note for note in self.notes if not isinstance(note, Warned))],
        )


def _flat(row: Studied) -> dict[str, Any]:
    measured = {
        f"{name}{suffix}": getattr(interval, part)
        for name, interval in row.measures.items()
        for part, suffix in (("estimate", ""), ("low", "_low"), ("high", "_high"))
    }
    return {
        "temperature": row.temperature,
        **{name: getattr(row, name) for name in COLUMNS},
        **measured,
    }


def _cell(value: float | int | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.4f}"


def _conclusions(study: Study) -> Iterator[str]:
    yield from _about_measure(study)
    rows = study.trained
    if len(rows) > 1:
        yield from _about_training(study)
    sure = [f"{row.temperature:g}" for row in rows if (row.confidence or 0.0) > row.accuracy]
    yield (
        f"More confident than right at {', '.join(sure)}."
        if sure
        else "Nowhere more confident than right."
    )


def _about_training(study: Study) -> Iterator[str]:
    """What goes along with the temperature, of several."""
    rows = study.trained
    low, high = rows[0], rows[-1]
    steady = all((a.entropy or 0.0) < (b.entropy or 0.0) for a, b in pairwise(rows))
    yield (
        f"From temperature {low.temperature:g} to {high.temperature:g} the entropy of "
        "probabilities goes from "
        f"{low.entropy:.4f} to {high.entropy:.4f}{', rising at every step' if steady else ''}, the "
        "confidence in the top "
        f"item from {low.confidence:.4f} to {high.confidence:.4f}."
    )
    if study.comparable:
        gap, where = _extreme(rows, max, lambda row: (row.loss or 0.0) - (row.training_loss or 0.0))
        if gap > 0:
            yield (
                f"The held-out queries' loss is furthest above that of training at {where}, by "
                f"{gap:.4f}."
            )
        else:
            yield "The held-out queries' loss is nowhere above that of training."
    near, closest = _extreme(rows, min, lambda row: row.alignment)
    wide, spread = _extreme(rows, min, lambda row: row.uniformity)
    yield (
        f"Relevant pairs are closest at {closest} (alignment {near:.4f}), items most spread out at "
        f"{spread} (uniformity {wide:.4f})."
    )
    soon, soonest = _extreme(rows, min, lambda row: row.best_iteration or 0)
    late, latest = _extreme(rows, max, lambda row: row.best_iteration or 0)
    if soon == late:
        yield f"The weights that were kept came after {_iterations(soon)} at {soonest}."
    else:
        yield (
            f"The weights that were kept came soonest at {soonest}, after {_iterations(soon)}, and "
            f"latest at {latest}, "
            f"after {late:g}."
        )


def _about_measure(study: Study) -> Iterator[str]:
    """Of the first measure: where it is best, and which temperatures differ from that."""
    name, rows = study.measures[0], study.trained
    higher = parse_measure(name).spec.higher_is_better
    value, where = _extreme(rows, max if higher else min, lambda row: row.measures[name].estimate)
    place = next(number for number, row in enumerate(rows) if row.measures[name].estimate == value)
    best = rows[place]
    gained = (
        ""
        if best.differences is None
        else f", {best.differences[name].said('+')} to the untrained similarity"
    )
    if best.beyond is not None:
        gained += f", {best.beyond[name].said('+')} of it beyond chance"
    others = [number for number, row in enumerate(rows) if row.measures[name].estimate != value]
    best_at = f"at {where}" if len(rows) > 1 else f"at temperature {where}"
    if others:
        best_at = f"is {'highest' if higher else 'lowest'} at temperature {where}"
    yield f"{name} {best_at}: {best.measures[name].said()}{gained}."
    if not others:
        return
    if study.held_out == 1:
        yield "One held-out query cannot tell temperatures apart."
        return
    worse, unsure = "lower at" if higher else "higher at", "not told apart from that at"
    groups: dict[str, list[str]] = {worse: [], unsure: []}
    for number in others:
        apart = mean_interval(study.values[number][name] - study.values[place][name])
        groups[worse if (apart.high < 0 if higher else apart.low > 0) else unsure].append(
            f"{rows[number].temperature:g}"
        )
    said = [f"{words} {', '.join(found)}" for words, found in groups.items() if found]
    yield f"By the {study.held_out:,} held-out queries it is {listed(said)}."


def _extreme(
    rows: Sequence[Studied],
    pick: Callable[[Iterable[float]], float],
    value: Callable[[Studied], float],
) -> tuple[float, str]:
    """The least or greatest value, and the temperatures that have it, in words."""
    best = pick([value(row) for row in rows])
    at = [f"{row.temperature:g}" for row in rows if value(row) == best]
    return best, "all temperatures alike" if len(at) == len(rows) > 1 else " and ".join(at)


def _iterations(count: float) -> str:
    return counted(int(count), "iteration")
