"""Effects of a temperature on scores: loss, confidence, calibration, gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, exp, log
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats
from judged.embeddings.embeddings import Embeddings
from judged.embeddings.relations import as_relation
from judged.errors import InputError, did_you_mean, quoted
from judged.evaluation.evaluation import evaluate_rankings
from judged.learning._data import checked_embeddings
from judged.learning._softmax import (
    BINS,
    HARDEST,
    Batches,
    Corpus,
    Sums,
    add_queries,
    product_of,
    reversed_corpus,
)
from judged.options import number, whole
from judged.options import temperature as checked_temperature
from judged.policy import POSITIVES, checked_positives
from judged.results import Display, Document, Frame, Result, Table
from judged.text import counted, plain

if TYPE_CHECKING:
    from judged.options import Positives, Progress, RelevanceLike


def sweep_scores(
    embeddings: Embeddings,
    relevance: RelevanceLike,
    temperatures: Sequence[float],
    *,
    query: str | None = None,
    batch_size: int | None = None,
    both: bool = False,
    positives: Positives = "each",
    rel: float = 1,
    search: bool = True,
    seed: int = 0,
    progress: Progress | None = None,
) -> Sweep:
    """Compute what each temperature does to the scores of vectors as they are."""
    checked_embeddings(embeddings, "temperature.sweep")
    relation = as_relation(relevance)
    ascending, rule = as_temperatures(temperatures), checked_positives(positives)
    if len(embeddings.items) < 2:
        raise InputError(
            "there is one item only, whose probability is 1 at every temperature; at least two are "
            "needed."
        )
    only = None if query is None else _number_of(query, embeddings, batch_size, both)
    # First of all the ranking: queries that cannot be scored are an error there, by their names.
    rankings = embeddings.rank(relation)
    if query is not None:
        if query not in rankings.queries:
            raise InputError(f"query {quoted(query)} has no judgements, so it has no loss.")
        rankings = rankings.take([rankings.queries.index(query)])
    bound = relation.bind(embeddings.queries, embeddings.items)
    corpus = Corpus(product_of(embeddings), bound, number("rel", rel), only)
    sides: list[Corpus | Batches] = [corpus]
    if batch_size is not None:
        size = whole("batch_size", batch_size, at_least=2)
        batches = Batches.drawn(embeddings, relation, corpus, size, whole("seed", seed, at_least=0))
        sides = [batches, replace(batches, back=True)] if both else [batches]
    elif both:
        sides.append(reversed_corpus(corpus, embeddings))
    done = 0
    sums: list[Sums | None] = []

    def points_at(chosen: Floats) -> list[TemperaturePoint]:
        nonlocal done, sums
        sums = []
        for side in sides:

            def count(rows: int, side: Corpus | Batches = side) -> None:
                """Report progress in the caller's queries, whatever a row is on this side."""
                nonlocal done
                if progress is not None:
                    finished = round(rows * corpus.rows / side.rows * len(chosen))
                    done += finished
                    progress(finished)

            sums.append(add_queries(side, chosen, rule, count))
        there, *back = sums
        if there is None:
            raise InputError(
                "no item is relevant to any query; check the relevance that was given."
            )
        return [
            _point(temperature, number, there, back[0] if back else None)
            for number, temperature in enumerate(chosen.tolist())
        ]

    points = points_at(ascending)
    best_loss = best_calibrated = None
    if search and len(points) > 1:  # around one temperature there is nothing to search
        best_loss, best_calibrated = search_best(points, points_at)
    if progress is not None:
        progress(corpus.rows * steps(ascending.tolist(), both=both, search=search) - done)
    there = sums[0]
    assert there is not None
    over = f"full-corpus softmax: a query's probabilities go over all {corpus.width:,} items"
    if batch_size is not None:
        over = (
            f"in-batch softmax: a query's probabilities go over the {sides[0].width:,} items of a "
            f"batch drawn at random (seed {seed}), one positive of each of its queries"
        )
    basis = [part for part in rankings.basis if not part.startswith("all items")]
    basis.append(f"{over}, from scores in single precision")
    if any(side is not None and side["positives"] > side["queries"] for side in sums):
        basis.append(f"several positives: {POSITIVES[rule]}")
    measures = ["AP" if corpus.rel == 1 else f"AP(rel={corpus.rel:g})", "nDCG@10"]
    evaluation = evaluate_rankings([rankings], measures)
    return Sweep(
        softmax="corpus" if batch_size is None else "batch",
        candidates=sides[0].width,
        queries=there["queries"],
        similarity=embeddings.similarity.name,
        positives=rule,
        both=both,
        points=tuple(points),
        best_loss=best_loss,
        best_calibrated=best_calibrated,
        ranking={name: float(evaluation.value(name)) for name in measures},
        basis=tuple(basis),
        notes=(
            *(() if rankings.audit is None else rankings.audit.notes),
            *_notes(there, corpus.rows, getattr(sides[0], "left_over", 0)),
        ),
    )


def _notes(sums: Sums, every: int, left_over: int) -> Iterator[str]:
    if lost := every - left_over - sums["queries"]:
        yield f"{lost:,} of {every:,} queries without a positive are left out."
    if left_over:
        yield f"{left_over:,} queries are left over from the last whole batch and are left out."
    if alone := sums["queries"] - sums["with_negatives"]:
        yield (
            f"{counted(alone, 'query has', 'queries have')} no negative among the candidates: the "
            "share of the hardest and the effective number are means over the others."
        )


def _number_of(query: str, embeddings: Embeddings, batch_size: int | None, both: bool) -> int:
    if batch_size is not None or both:
        option = "batch_size" if batch_size is not None else "both"
        raise InputError(
            f"query is about one query, and {option} about all; leave one of them out."
        )
    names = embeddings.queries.names()
    if query not in names:
        raise InputError(f"there is no query {quoted(query)}{did_you_mean(query, names)}")
    return names.index(query)


def steps(temperatures: Sequence[float], *, both: bool, search: bool) -> int:
    """Return how many times each query is looked at, for a progress bar."""
    ascending = as_temperatures(temperatures).tolist()
    return (len(ascending) + (evaluations(ascending) if search else 0)) * (2 if both else 1)


def as_temperatures(given: Sequence[float]) -> Floats:
    """Return temperatures in ascending order, each once."""
    listed = isinstance(given, Iterable) and getattr(given, "ndim", 1) == 1
    if not listed or isinstance(given, (str, bytes)):
        raise InputError(f"temperatures must be a list of numbers; got {quoted(given)}.")
    found = sorted({checked_temperature(each) for each in given})
    if not found:
        raise InputError("temperatures must be a list of numbers; it is empty.")
    return np.array(found)


@dataclass(frozen=True)
class TemperaturePoint:
    """The numbers of one temperature: means over queries."""

    temperature: float
    """The number that scores were divided by."""
    loss: float
    """InfoNCE of the queries' softmax over items, natural logarithm."""
    loss_back: float | None
    """InfoNCE of the items' softmax over queries; None where it was not asked for."""
    slope: float
    """The derivative of the objective by the logarithm of the temperature."""
    confidence: float
    """The probability of the top item."""
    entropy: float
    """The entropy of the probabilities of all candidates, natural logarithm."""
    accuracy: float
    """The share of queries whose top item is relevant."""
    calibration_error: float
    """The gap between confidence and accuracy, weighted by the queries of each bin (ECE)."""
    hardest_share: float
    """The share of the gradient on negatives that falls on the hardest of them."""
    effective_negatives: float
    """e to the entropy of the negatives' probabilities among themselves."""
    gradient: float
    """The sum of the derivatives of the loss by the negatives' scores."""
    probabilities: tuple[float, ...]
    """The probability of the item at rank 1, 2, …"""
    bins: tuple[Mapping[str, Any], ...]
    """Queries by the probability of their top item, for a reliability diagram: from, to, count, and
    mean confidence and accuracy, which are None in an empty bin. A confidence on an edge is in the
    bin above, and 1 is in the last."""
    at_edge: bool | None = None
    """For a temperature that was searched for: True if it is the lowest or the highest of those
    given, so that a better one may lie beyond."""

    @property
    def loss_both(self) -> float | None:
        """The mean of both directions, as CLIP has it."""
        return None if self.loss_back is None else (self.loss + self.loss_back) / 2

    @property
    def objective(self) -> float:
        """The loss whose lowest is searched."""
        return self.loss if self.loss_both is None else self.loss_both

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values; what is undefined is None."""
        numbers = {name: plain(getattr(self, name)) for name in ("temperature", *COLUMNS)}
        bins, edge = list(map(dict, self.bins)), {"at_edge": self.at_edge}
        found = {**numbers, "bins": bins, "probabilities": list(self.probabilities)}
        return found if self.at_edge is None else {**found, **edge}


def _point(temperature: float, number: int, there: Sums, back: Sums | None) -> TemperaturePoint:
    """Return the means of one temperature from sums over queries, and over items if both search."""
    count, with_negatives = there["queries"], there["with_negatives"]
    counts, confidences, accuracies = there["bins"][number].T
    slope = there["slope"][number] / count
    if back is not None:
        slope = (slope + back["slope"][number] / back["queries"]) / 2
    means: dict[str, Any] = {
        name: float(there[name][number] / count)
        for name in ("loss", "confidence", "entropy", "accuracy", "gradient")
    }
    for name in ("hardest_share", "effective_negatives"):
        total = there[name][number]
        means[name] = float(total / with_negatives) if with_negatives else float("nan")
    edges = (np.arange(BINS + 1) / BINS).tolist()
    return TemperaturePoint(
        temperature=temperature,
        loss_back=None if back is None else float(back["loss"][number] / back["queries"]),
        slope=float(slope),
        calibration_error=float(np.abs(confidences - accuracies).sum() / counts.sum()),
        probabilities=tuple((there["probabilities"][number] / count).tolist()),
        bins=tuple(
            {
                "from": low,
                "to": high,
                "count": int(size),
                "confidence": confidence / size if size else None,
                "accuracy": accuracy / size if size else None,
            }
            for low, high, (size, confidence, accuracy) in zip(
                edges[:-1], edges[1:], there["bins"][number].tolist(), strict=True
            )
        ),
        **means,
    )


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


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Result):
    """The effects of temperatures on scores, from `judged.temperature.sweep`.

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
    """The most items that a query's softmax goes over."""
    queries: int
    """The number of queries with a positive, which count."""
    similarity: str
    """The name of what scores the vectors."""
    positives: str
    """The rule for several positives of a query: each, any or apart."""
    both: bool
    """True if items searched queries too."""
    points: tuple[TemperaturePoint, ...]
    """One for each temperature given, ascending."""
    best_loss: TemperaturePoint | None
    """The temperature of the lowest loss; None where it was not searched for."""
    best_calibrated: TemperaturePoint | None
    """The temperature of the lowest calibration error; None where it was not searched for."""
    ranking: Mapping[str, float]
    """Measures of the ranking, which no temperature changes."""
    basis: tuple[str, ...]
    """The basis of the numbers: similarity, relevance, exclusion, candidates."""
    notes: tuple[str, ...]
    """Notes, such as what was left out."""

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values; what is undefined is None."""
        simple = ("softmax", "candidates", "queries", "similarity", "positives", "both")
        best = {"best_loss": self.best_loss, "best_calibrated": self.best_calibrated}
        return {
            "what": "temperature sweep",
            **{name: getattr(self, name) for name in simple},
            "hardest": HARDEST,
            "temperatures": [point.to_dict() for point in self.points],
            **{name: None if point is None else point.to_dict() for name, point in best.items()},
            "ranking": {"measures": dict(self.ranking)},
            "basis": list(self.basis),
            "notes": list(self.notes),
        }

    def to_frame(self) -> Frame:
        """Return one row per temperature, with the measures, which are the same in all rows."""
        import polars as pl

        names = "temperature", *self._columns()
        rows = [{name: getattr(point, name) for name in names} for point in self.points]
        return pl.DataFrame(rows).with_columns(
            **{name: pl.lit(value) for name, value in self.ranking.items()}
        )

    def _columns(self) -> dict[str, str]:
        return {
            name: title
            for name, title in COLUMNS.items()
            if self.both or name not in ("loss_back", "loss_both")
        }

    def document(self, display: Display) -> Document:
        columns = self._columns()
        header = ["temperature", *columns.values()]
        header[header.index("hardest")] = f"hardest {HARDEST}"
        rows = [
            [f"{point.temperature:.4g}", *(_cell(getattr(point, name)) for name in columns)]
            for point in self.points
        ]
        return Document(
            list(self._answer()),
            [Table(header, rows)],
            notes=list(self._remarks()),
        )

    def _answer(self) -> Iterator[str]:
        for what, best in (
            ("lowest loss", self.best_loss),
            ("best calibrated", self.best_calibrated),
        ):
            if best is None:
                continue
            numbers = f"{best.objective:.4f}"
            if best is self.best_calibrated:
                numbers = (
                    f"ECE {best.calibration_error:.4f}, confidence {best.confidence:.4f}, "
                    f"accuracy {best.accuracy:.4f}"
                )
            edge = ""
            if best.at_edge:
                edge = "; it is the outermost that was given, and a better one may lie beyond"
            yield f"{what} at temperature {best.temperature:.4g} ({numbers}){edge}."

    def _remarks(self) -> Iterator[str]:
        values = " and ".join(f"{name} {v:.4f}" for name, v in self.ranking.items())
        yield (
            f"{values} at every temperature: dividing all scores by one number leaves their order "
            "as it is."
        )
        yield "; ".join(self.basis) + "."
        yield from self.notes


def _cell(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 100 else f"{value:.1f}"


ROUNDS = 4
FOR_LOSS, FOR_ERROR = 2, 4
_WIDE = log(2.2)
"""Temperatures further apart than this, in their logarithm, have others put between them before the
search."""
_NEAR = 1e-4  # temperatures this near, as a share of themselves, are not told apart


def search_best(
    points: Sequence[TemperaturePoint], at: Callable[[Floats], list[TemperaturePoint]]
) -> tuple[TemperaturePoint, TemperaturePoint]:
    """Find the temperatures of the lowest loss and of the lowest calibration error.

    Both searches go on side by side, in the logarithm of the temperature, since a temperature costs
    less beside others.
    """
    found = list(points)
    if between := filled([point.temperature for point in points]):
        found = sorted([*found, *at(np.array(between))], key=lambda point: point.temperature)
    for _ in range(ROUNDS):
        wanted = {exp(each) for each in (*_towards_no_slope(found), *_around_lowest_error(found))}
        if not wanted:
            break
        found = sorted([*found, *at(np.array(sorted(wanted)))], key=lambda point: point.temperature)
    best = [
        min(found, key=lambda point: getattr(point, name))
        for name in ("objective", "calibration_error")
    ]
    loss, error = (replace(each, at_edge=each is points[0] or each is points[-1]) for each in best)
    return loss, error


def filled(temperatures: Sequence[float]) -> list[float]:
    """Return temperatures to put between those too far apart, so that no valley is missed.

    >>> [round(each, 3) for each in filled([0.1, 0.2, 0.8])]
    [0.4]
    """
    found = []
    for low, high in pairwise(map(log, temperatures)):
        parts = ceil((high - low) / _WIDE)
        found += [exp(low + (high - low) * number / parts) for number in range(1, parts)]
    return found


def evaluations(temperatures: Sequence[float]) -> int:
    """Return the largest number of temperatures that a search looks at."""
    return len(filled(temperatures)) + ROUNDS * (FOR_LOSS + FOR_ERROR)


def _towards_no_slope(points: Sequence[TemperaturePoint]) -> list[float]:
    """Return where the slope should vanish between two temperatures of opposite slope."""
    place = min(range(len(points)), key=lambda number: points[number].objective)
    left, right = (place - 1, place) if points[place].slope > 0 else (place, place + 1)
    if left < 0 or right == len(points) or not points[left].slope < 0 < points[right].slope:
        return []
    low, high = (log(points[number].temperature) for number in (left, right))
    if high - low < _NEAR:
        return []
    share = points[left].slope / (points[left].slope - points[right].slope)
    return [low + share * (high - low), (low + high) / 2]


def _around_lowest_error(points: Sequence[TemperaturePoint]) -> list[float]:
    """Return thirds between the lowest calibration error and its neighbours."""
    # Bins make it jump, so the search keeps the lowest of all that it looked at.
    place = min(range(len(points)), key=lambda number: points[number].calibration_error)
    middle, wanted = log(points[place].temperature), []
    for other in (place - 1, place + 1):
        if 0 <= other < len(points):
            step = (log(points[other].temperature) - middle) / 3
            wanted += [middle + step, middle + 2 * step] if abs(step) > _NEAR else []
    return wanted
