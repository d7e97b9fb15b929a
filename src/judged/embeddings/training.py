"""The record of how a similarity was learned, on which every number computed with it depends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from judged.options import LEVEL
from judged.results import Display, Document, Frame, Result, ResultPart, Table, plain_value
from judged.statistics.intervals import Interval
from judged.text import counted


@dataclass(frozen=True)
class Step(ResultPart):
    """The state of training after an iteration; 0 is the start."""

    iteration: int
    loss: float
    """The loss of the training queries, without `decay`."""
    value: float
    """The measure on the validation queries."""


@dataclass(frozen=True)
class Gain(ResultPart):
    """A measure on the held-out queries before and after, with confidence intervals."""

    measure: str
    before: Interval
    after: Interval
    difference: Interval
    """After minus before, query by query."""
    chance: Interval | None = None
    """The same difference with the relevance of another query, which no learning can explain; None
    if there is only one query."""
    beyond: Interval | None = None
    """The gain beyond chance, query by query."""

    def sentence(self) -> str:
        gained = f"{self.measure} changed by {self.difference.estimate:+.4f}"
        if self.chance is None or self.beyond is None:
            return f"{gained} on the one held-out query, which is too little to generalise."
        verdict = "not significantly different from chance"
        if self.beyond.low > 0 or self.beyond.high < 0:
            verdict = f"significantly {'more' if self.beyond.low > 0 else 'less'} than chance"
        return (
            f"{gained}, and by {self.chance.estimate:+.4f} with the relevance of other held-out "
            f"queries instead of its own; beyond that {self.beyond.said('+')}, {verdict}."
        )


INTERVALS = ("before", "after", "difference", "chance", "beyond")
"""The intervals of a gain."""


@dataclass(frozen=True)
class HeldOut(ResultPart):
    """The results on queries that training never saw."""

    queries: int
    items: int
    """The number of items they were ranked among."""
    before: str
    """A description of `before`."""
    gains: tuple[Gain, ...]
    level: float = LEVEL
    """The confidence level of the intervals."""


@dataclass(frozen=True, repr=False)
class Training(Result):
    """The record of a training: settings, the course of the loss, and held-out queries.

    >>> import numpy as np, judged
    >>> label = np.arange(60) % 3
    >>> vectors = np.eye(3)[label] + 0.5 * np.random.default_rng(0).normal(size=(60, 3))
    >>> same = judged.relevance.same_label(label, label)
    >>> both = judged.Embeddings(vectors, vectors, exclude=judged.relevance.same_row())
    >>> learned = judged.learn.fit(both, same, kind="diagonal")
    >>> learned.training.sentences()[3]
    'diagonal, temperature 0.05'
    >>> Training.from_dict(learned.training.to_dict()) == learned.training
    True
    """

    kind: str
    """The name of the kind of similarity."""
    temperature: float
    """The temperature of the softmax in the loss."""
    positives: str
    """The rule for several positives of a query, one of `judged.policy.POSITIVES`."""
    both: bool
    """True if the loss also compares queries for each item."""
    rank: int | None
    """The rank of the matrices; None for kinds without one."""
    decay: float
    """The strength of the pull of weights to their start."""
    measure: str
    """The measure of the validation queries after each iteration."""
    rel: float
    """The grade from which an item is relevant."""
    seed: int
    """The seed of the split and of everything drawn."""
    items: int
    """The number of items."""
    candidates: int
    """The number of items that each training query was compared with."""
    training: int
    """The number of training queries."""
    validation: int
    """The number of validation queries."""
    held_out_queries: int
    """The number of held-out queries."""
    history: tuple[Step, ...]
    """The states after each iteration, the start included."""
    best: int
    """The iteration whose weights were kept: the best on the validation queries."""
    stopped: str
    """The reason why training ended."""
    relevance: str
    """The definition of relevance."""
    notes: tuple[str, ...] = ()
    """Further notes."""
    held_out: HeldOut | None = None
    """The results on held-out queries; None without such queries."""
    warned: tuple[str, ...] = ()
    """Warnings."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values that JSON can hold."""
        values = {part.name: plain_value(getattr(self, part.name)) for part in fields(self)}
        return {"what": "learned similarity", **values}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Training:
        """Read what `to_dict` returned.

        Parameters
        ----------
        given : dict
            The result of `to_dict`.
        """
        parts = {part.name: given[part.name] for part in fields(cls) if part.name != "warned"}
        parts["history"] = tuple(Step(**step) for step in given["history"])
        parts["notes"], parts["warned"] = tuple(given["notes"]), tuple(given.get("warned", ()))
        if (held := given["held_out"]) is not None:
            gains = []
            for gain in held["gains"]:
                intervals = [Interval.from_dict(gain[name]) for name in INTERVALS if gain.get(name)]
                gains.append(Gain(gain["measure"], *intervals))
            parts["held_out"] = HeldOut(**{**held, "gains": tuple(gains)})
        return cls(**parts)

    def to_frame(self) -> Frame:
        """Return one row per measure of the held-out queries, with the ends of intervals."""
        import polars as pl

        gains = () if self.held_out is None else self.held_out.gains
        columns: dict[str, list[Any]] = {"measure": [gain.measure for gain in gains]}
        for part in INTERVALS:
            for end, suffix in (("estimate", ""), ("low", "_low"), ("high", "_high")):
                values = [getattr(getattr(gain, part), end, None) for gain in gains]
                columns[f"{part}{suffix}"] = values
        types = {name: pl.String if name == "measure" else pl.Float64 for name in columns}
        return pl.DataFrame(columns, schema=types)

    def document(self, display: Display) -> Document:
        held = self.held_out
        if held is None:
            return Document(warnings=list(self.warned), notes=self._settings())
        rows = [
            [
                *(gain.measure, gain.before.said(), gain.after.said()),
                *(
                    "–" if change is None else change.said("+")
                    for change in (gain.difference, gain.chance, gain.beyond)
                ),
            ]
            for gain in held.gains
        ]
        title = (
            f"{counted(held.queries, 'held-out query', 'held-out queries')} ranked among "
            f"{counted(held.items, 'item')}, means with {held.level:.0%} intervals; "
            f"before: {held.before}"
        )
        header = ["measure", "before", "after", "difference", "by chance", "beyond chance"]
        return Document(
            [gain.sentence() for gain in held.gains],
            [Table(header, rows, words={"measure"}, title=title)],
            list(self.warned),
            details=self._settings(),
        )

    def _settings(self) -> list[str]:
        first, best, last = self.history[0], self.history[self.best], self.history[-1]
        pull = f", pull to the start {self.decay:g}" if self.decay else ""
        among = (
            f"all {self.items:,} items"
            if self.candidates == self.items
            else f"{self.candidates:,} of {self.items:,} items"
        )
        rank = "" if self.rank is None else f", rank {self.rank}"
        ways = ", both ways" if self.both else ""
        return [
            f"{self.kind}, temperature {self.temperature:g}{rank}",
            f"queries: {self.training:,} for training, {self.validation:,} for validation, "
            f"{self.held_out_queries:,} held out; seed {self.seed}",
            f"relevant: {self.relevance}; from grade {self.rel:g}",
            f"loss: among {among}, several positives by rule {self.positives!r}{ways}{pull}; "
            f"{first.loss:.4f} at the start, {best.loss:.4f} at iteration {self.best}",
            f"{self.measure} on validation: {first.value:.4f} at the start, {best.value:.4f} at "
            f"iteration {self.best}, which was kept",
            f"stopped after {counted(last.iteration, 'iteration')}: {self.stopped}",
            *(f"note: {note}" for note in self.notes),
        ]
