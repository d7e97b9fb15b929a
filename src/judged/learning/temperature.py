"""The temperature of a softmax: its effect on loss, confidence, calibration and gradients.

`sweep` shows the effect on the scores of vectors as they are. With `train=True` it learns a
similarity at each temperature and evaluates all on the same held-out queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats
from judged.embeddings.embeddings import Embeddings
from judged.embeddings.learned import Learned, as_similarity
from judged.embeddings.relations import as_relation
from judged.embeddings.similarity import Cosine, Similarity
from judged.embeddings.training import Step
from judged.errors import InputError, did_you_mean, quoted
from judged.inputs.vectors.vectors import Vectors
from judged.learning._data import Data, Part, checked_embeddings, checked_shares, split_data
from judged.learning._sweep import BINS, HARDEST, Best, Point, Sweep, as_temperatures, sweep_scores
from judged.learning.learn import ITERATIONS, MEASURES, Chance, fit, with_rel
from judged.measures import Measure, parse_measure
from judged.options import LEVEL, STUDIED_TEMPERATURES, checked, number, whole
from judged.options import SWEPT_TEMPERATURES as TEMPERATURES
from judged.results import Display, Document, Frame, Result, Table
from judged.statistics.intervals import Interval, mean_interval
from judged.text import Warned, counted, listed

if TYPE_CHECKING:
    from judged.options import LearnedKind, MeasuresLike, Positives, Progress, RelevanceLike
if TYPE_CHECKING:
    pass


__all__ = ["TEMPERATURES", "Best", "Point", "Study", "Sweep", "sweep"]


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
    hardest: int = HARDEST,
    bins: int = BINS,
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
    hardest : int, optional
        How many negatives of a query are its hardest.
    bins : int, optional
        Bins of confidence for the calibration error.
    search : bool, optional
        Search for the temperatures of the lowest loss and calibration error between those given.
    seed : int, optional
        The seed of random batches, or of training.
    progress : callable, optional
        Called with the number of queries done since the last call (`steps` times each), or of
        iterations with `train`.

    Returns
    -------
    Sweep, or Study with `train`

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
    if train is not False:
        untrained = {"query": query, "batch_size": batch_size}
        if wrong := [name for name, value in untrained.items() if value is not None]:
            raise InputError(f"{wrong[0]} has no meaning with train; leave one of them out.")
        if train is not True and not isinstance(train, Mapping):
            raise InputError(
                "train must be True, or a dict of options of judged.learn.fit; got "
                f"{quoted(train)}."
            )
        known = [*signature(fit).parameters, "measures"]
        if isinstance(train, Mapping):
            for option in train:
                if option not in known:
                    raise InputError(
                        f"train has no option {quoted(option)}{did_you_mean(option, known)} It "
                        "takes measures and those of judged.learn.fit."
                    )
        training = {"both": both, "positives": positives, "rel": rel, "seed": seed}
        return study(
            embeddings,
            relevance,
            STUDIED_TEMPERATURES if temperatures is None else temperatures,
            progress=progress,
            **(training if train is True else {**training, **train}),
        )
    return sweep_scores(
        embeddings,
        relevance,
        TEMPERATURES if temperatures is None else temperatures,
        query=query,
        batch_size=batch_size,
        both=both,
        positives=positives,
        rel=rel,
        hardest=hardest,
        bins=bins,
        search=search,
        seed=seed,
        progress=progress,
    )


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
    rel = number("rel", options.get("rel", 1))
    iterations = whole("iterations", options.get("iterations", ITERATIONS))
    named = [measures] if isinstance(measures, (str, Measure)) else measures
    named = () if named is None else named
    if not isinstance(named, Iterable) or getattr(named, "ndim", 1) != 1:
        raise InputError(
            f"measures must be one, or a list of them, as 'AP'; got {quoted(measures)}."
        )
    wanted = list(dict.fromkeys(with_rel(parse_measure(each), rel) for each in named))
    if not wanted:
        raise InputError("train needs at least one measure.")
    relation = as_relation(relevance, what="relevance")
    if options.get("held_out", 1) == 0:
        raise InputError("train needs held-out queries; held_out must be above 0.")
    data = Data.of(embeddings, relation, rel=rel)
    rows = np.flatnonzero(data.positives.lengths)
    # Before training, so that a measure which embeddings do not have is refused at once; any
    # similarity does for that.
    dims = data.queries.dims, data.items.dims
    data.part(rows[:1]).evaluate(as_similarity(np.zeros(dims)), wanted)
    learned = []
    for temperature in chosen.tolist():
        bar = None if progress is None else _Bar(progress, iterations)
        learned.append(
            fit(embeddings, relation, kind=kind, temperature=temperature, progress=bar, **options)
        )
        if bar is not None:
            bar.end()
    shares = checked_shares(options.get("validation", 0.2), options.get("held_out", 0.2))
    split = split_data(
        data, validation=shares[0], held_out=shares[1], seed=learned[0].training.seed
    )
    return _studied(learned, split.held_out_part(data), wanted)


class _Bar:
    """Progress of one training, which at its end counts the iterations that it did not need."""

    def __init__(self, progress: Progress, allowed: int) -> None:
        self._progress, self._left = progress, allowed

    def __call__(self, steps: int) -> None:
        self._left -= steps
        self._progress(steps)

    def end(self) -> None:
        self(self._left)


def _studied(learned: list[Learned], part: Part, measures: list[Measure]) -> Study:
    untrained: Similarity | None = Cosine() if part.queries.dims == part.items.dims else None
    compared = [each for each in (untrained, *learned) if each is not None]
    values = [_values(each, part, measures) for each in compared]
    start = values[0] if untrained is not None else None
    record = learned[0].training
    chance = Chance.of(part, seed=record.seed)
    by_chance = [chance.values(each, measures) for each in compared if untrained is not None]
    rows = [
        _row_of(each, part, own, start, _gained(by_chance, number))
        for number, (each, own) in enumerate(zip(learned, values[-len(learned) :], strict=True), 1)
    ]
    # Items that search queries have as many candidates as a part has queries.
    comparable = record.candidates == record.items and not record.both
    return Study(
        kind=record.kind,
        measures=tuple(map(str, measures)),
        training=record.training,
        validation=record.validation,
        held_out=len(part.queries),
        untrained=None
        if untrained is None or start is None
        else _untrained_row(untrained, part, start, record.rel),
        trained=tuple(rows),
        values=tuple(
            {str(each): own[each] for each in measures} for own in values[-len(learned) :]
        ),
        relevance=record.relevance,
        seed=record.seed,
        positives=record.positives,
        candidates=record.candidates,
        comparable=comparable,
        notes=(
            *map(Warned, learned[0].training.warned),
            *dict.fromkeys(note for each in learned for note in each.training.notes),
            *(() if comparable else (_APART,)),
        ),
    )


_APART = (
    "Losses of training and of held-out queries go over different numbers of candidates, and "
    "are not to be compared."
)


def _values(similarity: Similarity, part: Part, measures: list[Measure]) -> dict[Measure, Floats]:
    scored = part.evaluate(similarity, measures)
    return {each: scored.values[each] for each in measures}


def _gained(by_chance: list[dict[Measure, Floats]], number: int) -> dict[Measure, Floats]:
    """Compute what queries with the relevance of others gain from the first similarity."""
    if not by_chance:
        return {}
    start = by_chance[0]
    return {each: own - start[each] for each, own in by_chance[number].items()}


def _row_of(
    learned: Learned,
    part: Part,
    values: dict[Measure, Floats],
    start: dict[Measure, Floats] | None,
    by_chance: dict[Measure, Floats],
) -> Studied:
    record = learned.training
    point = sweep_scores(
        part.embeddings(learned),
        part.relevance,
        [record.temperature],
        both=record.both,
        positives=record.positives,  # type: ignore[arg-type]
        rel=record.rel,
        search=False,
    ).points[0]
    alignment, uniformity = _spread(learned, part)
    return Studied(
        temperature=record.temperature,
        training_loss=record.history[record.best].loss,
        loss=point.objective,
        alignment=alignment,
        uniformity=uniformity,
        confidence=point.confidence,
        accuracy=point.accuracy,
        entropy=point.entropy,
        calibration_error=point.calibration_error,
        iterations=record.history[-1].iteration,
        best_iteration=record.best,
        stopped=record.stopped,
        history=record.history,
        measures=_intervals(values, part),
        differences=None
        if start is None
        else {str(each): part.interval(own - start[each]) for each, own in values.items()},
        beyond=None
        if start is None or not by_chance
        else {
            str(each): part.interval(own - start[each] - by_chance[each])
            for each, own in values.items()
        },
        learned=learned,
    )


def _intervals(values: dict[Measure, Floats], part: Part) -> dict[str, Interval]:
    return {str(each): part.interval(own, each.spec.range) for each, own in values.items()}


def _untrained_row(
    similarity: Similarity, part: Part, values: dict[Measure, Floats], rel: float
) -> Studied:
    """Describe the vectors as they are, with all that needs no temperature."""
    alignment, uniformity = _spread(similarity, part)
    point = sweep_scores(
        part.embeddings(similarity), part.relevance, [1.0], rel=rel, search=False
    ).points[0]
    return Studied(
        alignment=alignment,
        uniformity=uniformity,
        accuracy=point.accuracy,
        measures=_intervals(values, part),
    )


def _spread(similarity: Similarity, part: Part) -> tuple[float, float]:
    """Compute alignment and uniformity of the vectors as the similarity maps them."""
    queries, items = (
        _mapped(similarity, part.queries, items=False),
        _mapped(similarity, part.items, items=True),
    )
    compared = Embeddings(queries, items, exclude=part.exclude, memory=part.memory)
    found = compared.diagnose(part.positives)
    assert found.alignment is not None
    return found.alignment, found.items.uniformity


def _mapped(similarity: Similarity, vectors: Vectors, *, items: bool) -> Vectors:
    mapped = [
        similarity.prepare(block, vectors, begin, items=items) for begin, block in vectors.blocks()
    ]
    return Vectors(np.concatenate(mapped), vectors.ids, vectors.source)


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
        found = {name: getattr(self, name) for name in ("temperature", *STUDY_COLUMNS, "stopped")}
        numbers = {
            name: None if isinstance(each, float) and not isfinite(each) else each
            for name, each in found.items()
        }
        history = [
            {"iteration": each.iteration, "loss": each.loss, "value": each.value}
            for each in self.history
        ]
        differences, beyond = (
            None if each is None else _plain_intervals(each)
            for each in (self.differences, self.beyond)
        )
        return {
            **numbers,
            "history": history,
            "measures": _plain_intervals(self.measures),
            "differences": differences,
            "beyond": beyond,
        }


def _plain_intervals(intervals: Mapping[str, Interval]) -> dict[str, Any]:
    return {name: each.to_dict() for name, each in intervals.items()}


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

    def to_frame(self) -> Frame:
        """Return one row per temperature; the untrained similarity comes first, with null."""
        import polars as pl

        return pl.DataFrame([_flat(each) for each in self.rows], infer_schema_length=None)

    def document(self, display: Display) -> Document:
        names = [
            "untrained" if each.temperature is None else f"{each.temperature:.4g}"
            for each in self.rows
        ]
        numbers = [
            [name, *(_study_cell(getattr(each, column)) for column in STUDY_COLUMNS)]
            for name, each in zip(names, self.rows, strict=True)
        ]
        measured = [
            [name, *(each.measures[measure].said() for measure in self.measures)]
            for name, each in zip(names, self.rows, strict=True)
        ]
        return Document(
            list(_conclusions(self)),
            [
                Table(["temperature", *STUDY_COLUMNS.values()], numbers),
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
        **{name: getattr(row, name) for name in STUDY_COLUMNS},
        **measured,
    }


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
    yield (
        f"More confident than right at {', '.join(sure)}."
        if sure
        else "Nowhere more confident than right."
    )


def _about_training(study: Study) -> Iterator[str]:
    """Yield sentences about what changes with the temperature."""
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
    """Yield sentences about where the first measure is best, and which temperatures differ."""
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
    for other in others:
        apart = mean_interval(study.values[other][name] - study.values[place][name])
        groups[worse if (apart.high < 0 if higher else apart.low > 0) else unsure].append(
            f"{rows[other].temperature:g}"
        )
    said = [f"{words} {', '.join(found)}" for words, found in groups.items() if found]
    yield f"By the {study.held_out:,} held-out queries it is {listed(said)}."


def _extreme(
    rows: Sequence[Studied],
    pick: Callable[[Iterable[float]], float],
    value: Callable[[Studied], float],
) -> tuple[float, str]:
    """Return the least or greatest value, and the temperatures that have it, in words."""
    best = pick([value(row) for row in rows])
    at = [f"{row.temperature:g}" for row in rows if value(row) == best]
    return best, "all temperatures alike" if len(at) == len(rows) > 1 else " and ".join(at)


def _iterations(count: float) -> str:
    return counted(int(count), "iteration")
