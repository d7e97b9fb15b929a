"""What a sweep over temperatures found: numbers for programs, a table for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.learning.temperature.softmax import Sums
from judged.results import Display, Document, Result, Table
from judged.text import Warned

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Bin:
    """Queries whose top item has a probability in some range."""

    low: float
    """Where the range begins."""
    high: float
    """Where it ends; a confidence on an edge is in the bin above, and 1 is in the last."""
    count: int
    """How many queries there are."""
    confidence: float | None
    """The mean probability of their top items; None in an empty bin."""
    accuracy: float | None
    """How often their top items are relevant; None in an empty bin."""


@dataclass(frozen=True)
class Point:
    """What was found at one temperature: means over queries."""

    temperature: float
    """What scores were divided by."""
    loss: float
    """InfoNCE of the queries' softmax over items, natural logarithm."""
    loss_back: float | None
    """InfoNCE of the items' softmax over queries; None where it was not asked for."""
    slope: float
    """The derivative of the objective by the logarithm of the temperature."""
    confidence: float
    """The probability of the top item."""
    entropy: float
    """Of the probabilities of all candidates, natural logarithm."""
    accuracy: float
    """How often the top item is relevant."""
    calibration_error: float
    """The gap between confidence and accuracy, weighted by the queries of each bin (ECE)."""
    hardest_share: float
    """The share of the gradient on negatives that falls on the hardest of them."""
    effective_negatives: float
    """e to the entropy of the negatives' probabilities among themselves."""
    gradient: float
    """The sum of the derivatives of the loss by the negatives' scores."""
    probabilities: tuple[float, ...]
    """Of the item at rank 1, 2, …"""
    bins: tuple[Bin, ...]
    """Queries by the probability of their top item, for a reliability diagram."""

    @classmethod
    def of(cls, temperature: float, number: int, there: Sums, back: Sums | None) -> Point:
        """The means, from sums.

        Parameters
        ----------
        temperature : float
            What scores were divided by.
        number : int
            The place of that temperature in the sums.
        there : Sums
            Over queries.
        back : Sums or None
            Over items; None where only queries search.
        """
        count, with_negatives = there.queries, there.with_negatives
        counts, confidences, accuracies = there.bins[number].T
        slope = there.slope[number] / count
        return cls(
            temperature=temperature,
            loss=float(there.loss[number] / count),
            loss_back=None if back is None else float(back.loss[number] / back.queries),
            slope=float(slope if back is None else (slope + back.slope[number] / back.queries) / 2),
            confidence=float(there.confidence[number] / count),
            entropy=float(there.entropy[number] / count),
            accuracy=float(there.accuracy[number] / count),
            calibration_error=float(np.abs(confidences - accuracies).sum() / counts.sum()),
            hardest_share=float(there.hardest_share[number] / with_negatives)
            if with_negatives
            else float("nan"),
            effective_negatives=float(there.effective_negatives[number] / with_negatives)
            if with_negatives
            else float("nan"),
            gradient=float(there.gradient[number] / count),
            probabilities=tuple((there.probabilities[number] / count).tolist()),
            bins=_bins(there.bins[number]),
        )

    @property
    def loss_both(self) -> float | None:
        """The mean of both directions, as CLIP has it."""
        return None if self.loss_back is None else (self.loss + self.loss_back) / 2

    @property
    def objective(self) -> float:
        """The loss whose lowest is searched."""
        return self.loss if self.loss_both is None else self.loss_both

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain values; what is undefined is None."""
        numbers = {name: _plain(getattr(self, name)) for name in ("temperature", *COLUMNS)}
        bins = [{"from": each.low, "to": each.high, **_of_bin(each)} for each in self.bins]
        return {**numbers, "bins": bins, "probabilities": list(self.probabilities)}


COLUMNS = {
    "loss": "loss",
    "loss_back": "loss, items to queries",
    "loss_both": "loss, both",
    "confidence": "confidence",
    "entropy": "entropy",
    "accuracy": "accuracy",
    "calibration_error": "ECE",
    "hardest_share": "hardest",
    "effective_negatives": "effective",
    "gradient": "gradient",
}
"""The numbers of a point, as a table heads them."""


def _of_bin(each: Bin) -> dict[str, Any]:
    return {"count": each.count, "confidence": each.confidence, "accuracy": each.accuracy}


def _plain(value: float | None) -> float | None:
    """JSON knows no NaN."""
    return None if value is None or value != value else value


def _bins(found: Any) -> tuple[Bin, ...]:
    edges = np.arange(len(found) + 1) / len(found)
    return tuple(
        Bin(
            float(low),
            float(high),
            int(count),
            *((float(conf / count), float(acc / count)) if count else (None, None)),
        )
        for low, high, (count, conf, acc) in zip(edges[:-1], edges[1:], found, strict=True)
    )


@dataclass(frozen=True)
class Best:
    """A temperature that was searched for."""

    point: Point
    """What was found there."""
    at_edge: bool
    """It is the lowest or the highest of those given: a better one may lie beyond."""

    @property
    def temperature(self) -> float:
        """The temperature itself."""
        return self.point.temperature

    def to_dict(self) -> dict[str, Any]:
        """As of a point, and `at_edge`."""
        return {**self.point.to_dict(), "at_edge": self.at_edge}


@dataclass(frozen=True)
class Ranking:
    """What no temperature changes."""

    measures: Mapping[str, float]
    """Means over all queries."""
    checked_queries: int
    """Queries whose positives' ranks were counted at every temperature."""
    same: bool
    """Whether these were the same ranks."""

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "measures": dict(self.measures),
            "checked_queries": self.checked_queries,
            "same": self.same,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Result):
    """What each temperature makes of scores, side by side; made by `judged.temperature.sweep`.

    Examples
    --------
    >>> import judged
    >>> embeddings = judged.Embeddings([[1.0, 0.1], [0.2, 1.0]], [[0.9, 0.0], [0.9, 0.6]])
    >>> pairs = judged.relevance.pairs()
    >>> found = judged.temperature.sweep(embeddings, pairs, [0.1, 1.0], search=False)
    >>> found.to_frame().select("temperature", "accuracy", "AP").rows()
    [(0.1, 1.0, 1.0), (1.0, 1.0, 1.0)]
    """

    softmax: str
    """corpus: over all items; batch: over the items of training batches."""
    candidates: int
    """How many items a query's softmax goes over, at most."""
    queries: int
    """How many queries have a positive and count."""
    similarity: str
    """The name of what scores the vectors."""
    positives: str
    """How several positives of a query make one loss: each, any or apart."""
    both: bool
    """Whether items searched queries too."""
    hardest: int
    """How many negatives of a query are its hardest."""
    points: tuple[Point, ...]
    """One for each temperature given, ascending."""
    best_loss: Best | None
    """The temperature of the lowest loss; None where it was not searched for."""
    best_calibrated: Best | None
    """The temperature of the lowest calibration error; None where it was not searched for."""
    ranking: Ranking
    """What no temperature changes."""
    basis: tuple[str, ...]
    """What the numbers rest on: similarity, relevance, exclusion, candidates."""
    notes: tuple[str, ...]
    """What was left out, and what else to know."""

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain values; what is undefined is None."""
        return {
            "what": "temperature sweep",
            "softmax": self.softmax,
            "candidates": self.candidates,
            "queries": self.queries,
            "similarity": self.similarity,
            "positives": self.positives,
            "both": self.both,
            "hardest": self.hardest,
            "temperatures": [each.to_dict() for each in self.points],
            "best_loss": None if self.best_loss is None else self.best_loss.to_dict(),
            "best_calibrated": None
            if self.best_calibrated is None
            else self.best_calibrated.to_dict(),
            "ranking": self.ranking.to_dict(),
            "basis": list(self.basis),
            "notes": list(self.notes),
        }

    def to_frame(self) -> pl.DataFrame:
        """One row per temperature, with the measures of the ranking, which are the same in all."""
        import polars as pl

        rows = [
            {
                "temperature": each.temperature,
                **{name: getattr(each, name) for name in self._columns()},
            }
            for each in self.points
        ]
        return pl.DataFrame(rows).with_columns(
            **{name: pl.lit(value) for name, value in self.ranking.measures.items()}
        )

    def reliability(self) -> pl.DataFrame:
        """One row per temperature and bin of confidence, for a reliability diagram.

        Returns
        -------
        polars.DataFrame
            temperature, from, to, count, confidence and accuracy.
        """
        import polars as pl

        rows = [
            {"temperature": point.temperature, "from": each.low, "to": each.high, **_of_bin(each)}
            for point in self.points
            for each in point.bins
        ]
        return pl.DataFrame(
            rows, schema_overrides={"confidence": pl.Float64, "accuracy": pl.Float64}
        )

    def _columns(self) -> dict[str, str]:
        return {
            name: title
            for name, title in COLUMNS.items()
            if self.both or name not in ("loss_back", "loss_both")
        }

    def document(self, display: Display) -> Document:
        """Return the best temperatures, a row for each of them, and what the numbers rest on."""
        columns = self._columns()
        header = ["temperature", *columns.values()]
        header[header.index("hardest")] = f"hardest {self.hardest}"
        rows = [
            [f"{each.temperature:.4g}", *(_cell(getattr(each, name)) for name in columns)]
            for each in self.points
        ]
        return Document(
            list(self._answer()),
            [Table(header, rows)],
            [note for note in self.notes if isinstance(note, Warned)],
            list(self._remarks()),
        )

    def _answer(self) -> Iterator[str]:
        if self.best_loss is not None:
            yield (
                f"lowest loss at {_place(self.best_loss, f'{self.best_loss.point.objective:.4f}')}"
            )
        if self.best_calibrated is not None:
            point = self.best_calibrated.point
            said = (
                f"ECE {point.calibration_error:.4f}, confidence {point.confidence:.4f}, "
                f"accuracy {point.accuracy:.4f}"
            )
            yield f"best calibrated at {_place(self.best_calibrated, said)}"

    def _remarks(self) -> Iterator[str]:
        same = (
            "all the same"
            if self.ranking.same
            else "NOT all the same, as scores were too close for double precision"
        )
        held = " and ".join(f"{name} {value:.4f}" for name, value in self.ranking.measures.items())
        yield (
            f"{held} at every temperature: dividing all scores by one number leaves their order as "
            f"it is. The ranks of the relevant items of {self.ranking.checked_queries:,} queries "
            f"were counted again at each: {same}."
        )
        yield "; ".join(self.basis) + "."
        yield from (note for note in self.notes if not isinstance(note, Warned))


def _place(best: Best, said: str) -> str:
    edge = (
        "; it is the outermost that was given, and a better one may lie beyond"
        if best.at_edge
        else ""
    )
    return f"temperature {best.temperature:.4g} ({said}){edge}."


def _cell(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 100 else f"{value:.1f}"
