"""The temperature of a softmax: its effect on loss, confidence, calibration and gradients.

`sweep` shows the effect on the scores of vectors as they are. With `train=True` it learns a
similarity at each temperature and evaluates all on the same held-out queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from judged.arrays import Floats
from judged.embeddings.embeddings import Embeddings
from judged.embeddings.learned import Learned, as_similarity
from judged.embeddings.relations import as_relation
from judged.embeddings.similarity import Cosine, Similarity
from judged.embeddings.training import Step
from judged.errors import InputError, quoted
from judged.inputs.vectors.vectors import Vectors
from judged.learning._data import QueryPart, TrainingData, checked_embeddings, split_data
from judged.learning._sweep import (
    Sweep,
    TemperaturePoint,
    as_temperatures,
    sweep_scores,
)
from judged.learning.learn import (
    MEASURES,
    TrainingSettings,
    fit,
    refuse_unknown,
    with_rel,
)
from judged.measures import Measure, parse_all, parse_measure
from judged.options import (
    LEVEL,
    STUDIED_TEMPERATURES,
    LearnedKind,
    MeasuresLike,
    Positives,
    Progress,
    RelevanceLike,
    checked,
)
from judged.options import SWEPT_TEMPERATURES as TEMPERATURES
from judged.results import Display, Document, Frame, Result, Table
from judged.statistics.intervals import Interval, mean_interval
from judged.text import Warned, listed, plain

__all__ = ["TEMPERATURES", "Study", "Sweep", "TemperaturePoint", "sweep"]


@checked
def sweep(
    embeddings: Embeddings,
    relevance: RelevanceLike,
    temperatures: Sequence[float] | None = None,
    *,
    train: bool | Mapping[str, Any] = False,
    query: str | None = None,
    batch_size: int | None = None,
    both: bool = False,
    positives: Positives = "each",
    rel: float = 1,
    search: bool = True,
    seed: int = 0,
    progress: Progress | None = None,
) -> Any:
    """Show what each temperature does to the scores of these vectors, and which ones are best.

    A loss over more candidates is higher, so losses over batches of different sizes cannot be
    compared.

    Parameters
    ----------
    embeddings : Embeddings
        Queries and items, and what is excluded; without normalisation and categories.
    relevance : RelevanceLike
        What is relevant to which query: one of `judged.relevance`, judgements, a matrix of grades,
        or a function of a block of rows.
    temperatures : sequence of float, optional
        From 0.000001 to 1,000,000. The default is 19 from 0.001 to 1000, and 7 from 0.01 to 10
        with `train`.
    train : bool or dict, optional
        Learn the same similarity at each temperature, and evaluate all on the same held-out
        queries. A dict holds options of `judged.learn.fit`, and `measures`. The default kind is
        "two-tower-linear", whose weights cannot make up for the temperature.
    query : str, optional
        The id of a single query, with the probabilities of its own items.
    batch_size : int, optional
        Use the items of random batches of this many queries as candidates, as in training. By
        default all items are candidates.
    both : bool, optional
        Add the items' softmax over queries; the objective is then the mean of both losses.
    positives : {"each", "any", "apart"}, optional
        How several positives of a query make one loss: each against all candidates (default), all
        together, or each against the negatives alone.
    rel : float, optional
        The lowest grade that counts as relevant.
    search : bool, optional
        Search for the temperatures of the lowest loss and calibration error between those given.
    seed : int, optional
        The seed of random batches, or of training.
    progress : callable, optional
        Called with the number of queries done since the last call (`steps` times each), or of
        iterations with `train`.

    Examples
    --------
    >>> import judged
    >>> captions = [[1.0, 0.1], [0.2, 1.0], [0.3, 0.9]]
    >>> clips = [[0.9, 0.0], [0.0, 0.8], [0.9, 0.6]]
    >>> embeddings = judged.Embeddings(captions, clips)
    >>> found = judged.temperature.sweep(embeddings, judged.relevance.pairs(), [0.01, 0.1, 1.0])
    >>> [round(point.loss, 3) for point in found.points], round(found.best_loss.temperature, 3)
    ([5.311, 0.709, 0.886], 0.181)
    """
    shared: dict[str, Any] = {"both": both, "positives": positives, "rel": rel, "seed": seed}
    if train is False:
        chosen = TEMPERATURES if temperatures is None else temperatures
        return sweep_scores(
            embeddings,
            relevance,
            chosen,
            query=query,
            batch_size=batch_size,
            search=search,
            progress=progress,
            **shared,
        )
    for name, value in (("query", query), ("batch_size", batch_size)):
        if value is not None:
            raise InputError(f"{name} has no meaning with train; leave one of them out.")
    if train is not True and not isinstance(train, Mapping):
        raise InputError(
            f"train must be True, or a dict of options of judged.learn.fit; got {quoted(train)}."
        )
    options = {} if train is True else train
    refuse_unknown("train", options, ["measures"])
    chosen = STUDIED_TEMPERATURES if temperatures is None else temperatures
    return study(embeddings, relevance, chosen, progress=progress, **{**shared, **options})


def study(
    embeddings: Embeddings,
    relevance: RelevanceLike,
    temperatures: Sequence[float],
    *,
    kind: LearnedKind = "two-tower-linear",
    measures: MeasuresLike = MEASURES,
    progress: Progress | None = None,
    **options: Any,
) -> Study:
    """Learn the same similarity at each temperature; evaluate all on the same held-out queries."""
    checked_embeddings(embeddings, "temperature.sweep", learns=True)
    chosen = as_temperatures(temperatures)
    settings = TrainingSettings(kind=kind, **options)
    named = parse_all(() if measures is None else measures)
    wanted = list(dict.fromkeys(with_rel(measure, settings.rel) for measure in named))
    if not settings.held_out:
        raise InputError("train needs held-out queries; held_out must be above 0.")
    relation = as_relation(relevance)
    data = TrainingData.of(embeddings, relation, rel=settings.rel)
    # Before training, so that a measure which embeddings do not have is an error at once; any
    # similarity does for that.
    rows, dims = np.flatnonzero(data.positives.lengths), (data.queries.dims, data.items.dims)
    data.part(rows[:1]).evaluate(as_similarity(np.zeros(dims)), wanted)
    learned = []
    for temperature in chosen.tolist():
        left = settings.iterations

        def count(steps: int) -> None:
            nonlocal left
            left -= steps
            if progress is not None:
                progress(steps)

        options |= {"kind": kind, "temperature": temperature, "progress": count}
        learned.append(fit(embeddings, relation, **options))
        count(left)  # the iterations that this training did not need
    split = split_data(
        data, validation=settings.validation, held_out=settings.held_out, seed=settings.seed
    )
    return _study(learned, split.held_out_part(data), wanted)


def _study(learned: list[Learned], part: QueryPart, measures: list[Measure]) -> Study:
    record = learned[0].training
    untrained: Studied | None = None
    start: Mapping[Measure, Floats] = {}
    if part.queries.dims == part.items.dims:
        start = part.evaluate(Cosine(), measures).values
        point = _point_of(Cosine(), part, [1.0], rel=record.rel)
        untrained = Studied(**_numbers_of(Cosine(), part, start), accuracy=point.accuracy)
    rows, values = [], []
    for similarity in learned:
        after = part.evaluate(similarity, measures).values
        rows.append(_row_of(similarity, part, after, start))
        values.append({str(measure): after[measure] for measure in measures})
    # Items that search queries have as many candidates as a part has queries.
    comparable = record.candidates == record.items and not record.both
    notes = dict.fromkeys(note for similarity in learned for note in similarity.training.notes)
    if not comparable:
        notes[
            "Losses of training and of held-out queries go over different numbers of candidates, "
            "and are not to be compared."
        ] = None
    return Study(
        kind=record.kind,
        measures=tuple(map(str, measures)),
        training=record.training,
        validation=record.validation,
        held_out=len(part.queries),
        untrained=untrained,
        trained=tuple(rows),
        values=tuple(values),
        relevance=record.relevance,
        seed=record.seed,
        positives=record.positives,
        candidates=record.candidates,
        comparable=comparable,
        notes=(*map(Warned, record.warned), *notes),
    )


def _point_of(
    similarity: Similarity, part: QueryPart, temperatures: Sequence[float], **options: Any
) -> TemperaturePoint:
    embeddings = part.embeddings(similarity)
    return sweep_scores(embeddings, part.relevance, temperatures, search=False, **options).points[0]


def _numbers_of(
    similarity: Similarity, part: QueryPart, values: Mapping[Measure, Floats]
) -> dict[str, Any]:
    alignment, uniformity = _spread(similarity, part)
    measures = {str(m): part.interval(own, m.spec.range) for m, own in values.items()}
    return {"alignment": alignment, "uniformity": uniformity, "measures": measures}


def _row_of(
    learned: Learned,
    part: QueryPart,
    values: Mapping[Measure, Floats],
    start: Mapping[Measure, Floats],
) -> Studied:
    record = learned.training
    options = {"both": record.both, "positives": record.positives, "rel": record.rel}
    point = _point_of(learned, part, [record.temperature], **options)
    gained = {str(m): part.interval(values[m] - before) for m, before in start.items()}
    shared = ("confidence", "accuracy", "entropy", "calibration_error")
    return Studied(
        **_numbers_of(learned, part, values),
        **{name: getattr(point, name) for name in shared},
        temperature=record.temperature,
        training_loss=record.history[record.best].loss,
        loss=point.objective,
        iterations=record.history[-1].iteration,
        best_iteration=record.best,
        stopped=record.stopped,
        history=record.history,
        differences=gained or None,
        learned=learned,
    )


def _spread(similarity: Similarity, part: QueryPart) -> tuple[float, float]:
    """Compute alignment and uniformity of the vectors as the similarity maps them."""

    def mapped(vectors: Vectors, *, items: bool) -> Vectors:
        blocks = [
            similarity.prepare(block, vectors, begin, items=items)
            for begin, block in vectors.blocks()
        ]
        return Vectors(np.concatenate(blocks), vectors.ids, vectors.source)

    sides = mapped(part.queries, items=False), mapped(part.items, items=True)
    compared = Embeddings(*sides, exclude=part.exclude, memory=part.memory)
    diagnosis = compared.diagnose(part.positives)
    assert diagnosis.alignment is not None
    return diagnosis.alignment, diagnosis.items.uniformity


STUDY_COLUMNS = {
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
    """The result of one temperature on held-out queries.

    Of vectors as they are it has only what needs no temperature.
    """

    temperature: float | None = None
    """None: not trained."""
    training_loss: float | None = None
    """The loss of the training queries, at the weights that were kept."""
    loss: float | None = None
    """The loss of the held-out queries over all items, at the temperature of training."""
    alignment: float
    """Mean |x - y|² of relevant pairs at length 1, as the similarity maps them: the lower, the
    closer."""
    uniformity: float
    """log of the mean of e^(-2·|x - y|²) over pairs of items at length 1: the lower, the more
    spread out."""
    confidence: float | None = None
    """The mean probability of the top item."""
    accuracy: float
    """The share of queries whose top item is relevant."""
    entropy: float | None = None
    """The entropy of the probabilities of all candidates, natural logarithm."""
    calibration_error: float | None = None
    """The gap between confidence and accuracy, weighted by the queries of each bin (ECE)."""
    iterations: int | None = None
    """The number of iterations of the training."""
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
    learned: Learned | None = field(default=None, repr=False)
    """The similarity that was learned."""

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values; what is undefined is None."""
        numbers = {name: getattr(self, name) for name in ("temperature", *STUDY_COLUMNS)}
        intervals = {name: getattr(self, name) for name in ("measures", "differences")}
        return {
            **{name: plain(value) for name, value in numbers.items()},
            "stopped": self.stopped,
            "history": [asdict(step) for step in self.history],
            **{
                name: None if own is None else {m: each.to_dict() for m, each in own.items()}
                for name, own in intervals.items()
            },
        }


@dataclass(frozen=True, eq=False, repr=False)
class Study(Result):
    """The same similarity learned at several temperatures: `judged.temperature.sweep(train=True)`.

    Examples
    --------
    >>> import numpy as np, judged
    >>> label = np.arange(60) % 3
    >>> vectors = np.eye(3)[label] + np.random.default_rng(0).normal(size=(60, 3))
    >>> same = judged.relevance.same_label(label, label)
    >>> embeddings = judged.Embeddings(vectors, vectors, exclude=judged.relevance.same_row())
    >>> found = judged.temperature.sweep(
    ...     embeddings, same, [0.1, 1.0], train={"iterations": 2}
    ... )
    >>> found.to_frame()["temperature"].to_list()
    [None, 0.1, 1.0]
    """

    kind: str
    """The kind of the similarity."""
    measures: tuple[str, ...]
    """The names of what was measured; sentences are about the first."""
    training: int
    """The number of training queries."""
    validation: int
    """The number of validation queries."""
    held_out: int
    """The number of held-out queries, which all numbers but the training loss are of."""
    untrained: Studied | None
    """The cosine of the vectors as they are; None where queries and items have different
    dimensions."""
    trained: tuple[Studied, ...]
    """One for each temperature, ascending."""
    values: tuple[Mapping[str, Floats], ...] = field(repr=False)
    """For each temperature the value of each held-out query."""
    relevance: str
    """The definition of relevance."""
    seed: int
    """The seed of the split and of everything drawn."""
    positives: str
    """The rule for several positives of a query: each, any or apart."""
    candidates: int
    """The number of items that each training query was compared with."""
    comparable: bool
    """True if the losses of training and held-out queries go over as many candidates."""
    notes: tuple[str, ...]
    """Notes, such as what was left out."""

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
            "comparisons some look real by chance",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values; what is undefined is None."""
        parts = {name: getattr(self, name) for name in ("training", "validation", "held_out")}
        return {
            "what": "temperature study",
            "kind": self.kind,
            "queries": parts,
            "measures": list(self.measures),
            "level": LEVEL,
            "rows": [row.to_dict() for row in self.rows],
            "sentences": self.sentences(),
            "notes": list(self.notes),
        }

    def to_frame(self) -> Frame:
        """Return one row per temperature; the untrained similarity comes first, with null."""
        import polars as pl

        names = "temperature", *STUDY_COLUMNS
        parts = ("estimate", ""), ("low", "_low"), ("high", "_high")
        rows = [
            {name: getattr(row, name) for name in names}
            | {
                f"{name}{suffix}": getattr(interval, part)
                for name, interval in row.measures.items()
                for part, suffix in parts
            }
            for row in self.rows
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def document(self, display: Display) -> Document:
        numbers, measured = [], []
        for row in self.rows:
            name = "untrained" if row.temperature is None else f"{row.temperature:.4g}"
            numbers.append([name, *(_study_cell(getattr(row, column)) for column in STUDY_COLUMNS)])
            measured.append([name, *(row.measures[measure].said() for measure in self.measures)])
        return Document(
            list(_conclusions(self)),
            [
                Table(["temperature", *STUDY_COLUMNS.values()], numbers),
                Table(["temperature", *self.measures], measured),
            ],
            notes=[*self._basis(), *self.notes],
        )


def _study_cell(value: float | int | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.4f}"


def _conclusions(study: Study) -> Iterator[str]:
    yield from _about_measure(study)
    rows = study.trained
    if len(rows) > 1:
        yield from _about_training(study)
    sure = [f"{row.temperature:g}" for row in rows if (row.confidence or 0.0) > row.accuracy]
    if sure:
        yield f"More confident than right at {', '.join(sure)}."
    else:
        yield "Nowhere more confident than right."


def _about_training(study: Study) -> Iterator[str]:
    rows = study.trained
    low, high = rows[0], rows[-1]
    steady = all((a.entropy or 0.0) < (b.entropy or 0.0) for a, b in pairwise(rows))
    yield (
        f"From temperature {low.temperature:g} to {high.temperature:g} the entropy of "
        f"probabilities goes from {low.entropy:.4f} to {high.entropy:.4f}"
        f"{', rising at every step' if steady else ''}, the confidence in the top item from "
        f"{low.confidence:.4f} to {high.confidence:.4f}."
    )
    if study.comparable:
        gaps = [(row.loss or 0.0) - (row.training_loss or 0.0) for row in rows]
        if max(gaps) > 0:
            yield (
                "The held-out queries' loss is furthest above that of training at "
                f"{_places(rows, gaps, max(gaps))}, by {max(gaps):.4f}."
            )
        else:
            yield "The held-out queries' loss is nowhere above that of training."


def _about_measure(study: Study) -> Iterator[str]:
    """Yield sentences about where the first measure is best, and which temperatures differ."""
    name, rows = study.measures[0], study.trained
    higher = parse_measure(name).spec.higher_is_better
    estimates = [row.measures[name].estimate for row in rows]
    value = max(estimates) if higher else min(estimates)
    where, place = _places(rows, estimates, value), estimates.index(value)
    best = rows[place]
    gained = ""
    if best.differences is not None:
        gained = f", {best.differences[name].said('+')} to the untrained similarity"
    others = [number for number, estimate in enumerate(estimates) if estimate != value]
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
    for other in others:
        apart = mean_interval(study.values[other][name] - study.values[place][name])
        is_worse = apart.high < 0 if higher else apart.low > 0
        groups[worse if is_worse else unsure].append(f"{rows[other].temperature:g}")
    words = [f"{word} {', '.join(some)}" for word, some in groups.items() if some]
    yield f"By the {study.held_out:,} held-out queries it is {listed(words)}."


def _places(rows: Sequence[Studied], values: Sequence[float], value: float) -> str:
    names = [f"{row.temperature:g}" for row, own in zip(rows, values, strict=True) if own == value]
    return "all temperatures alike" if len(names) == len(rows) > 1 else " and ".join(names)
