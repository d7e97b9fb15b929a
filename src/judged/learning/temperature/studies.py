"""What a temperature does to learning: the same similarity learned at several temperatures, and how
held-out queries do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats
from judged.embeddings.embeddings import Embeddings
from judged.embeddings.learned import Learned, as_similarity
from judged.embeddings.relations import as_relation
from judged.embeddings.similarity import Cosine, Similarity
from judged.errors import InputError, quoted
from judged.inputs.vectors.vectors import Vectors
from judged.learning.learn.chance import Chance
from judged.learning.learn.data import Data, Part, checked_embeddings
from judged.learning.learn.split import checked_shares, split_data
from judged.learning.learn.training import ITERATIONS, MEASURES, fit, with_rel
from judged.learning.temperature.study_result import Studied, Study
from judged.learning.temperature.sweeps import as_temperatures, sweep
from judged.measures import Measure, parse_measure
from judged.options import STUDIED_TEMPERATURES, checked, number, whole
from judged.statistics.intervals import Interval
from judged.text import Warned

if TYPE_CHECKING:
    from judged.options import LearnedKind, MeasuresLike, Progress, RelevanceLike


@checked
def study(
    embeddings: Embeddings,
    relevance: RelevanceLike,
    temperatures: Sequence[float] = STUDIED_TEMPERATURES,
    *,
    kind: LearnedKind = "two-tower-linear",
    measures: MeasuresLike = MEASURES,
    progress: Progress | None = None,
    **options: Any,
) -> Study:
    """Learn the same similarity at each temperature, and evaluate all on the same held-out queries.

    Parameters
    ----------
    embeddings : Embeddings
        Queries and items, and what is excluded; with the default similarity, no normalisation and
        no categories.
    relevance : RelevanceLike
        What is relevant to which query: one of `judged.relevance`, judgements, a matrix of grades,
        or a function of a block of rows.
    temperatures : sequence of float, optional
        What to learn at; by default 0.01, 0.03, 0.1, 0.3, 1, 3 and 10.
    kind : {"two-tower-linear", "bilinear", "low-rank", "diagonal"}, optional
        What is learned. Two linear towers (default) score by a cosine, so that the temperature
        alone says how far apart scores can be pulled; other kinds can make up for it by larger
        weights.
    measures : MeasuresLike, optional
        What is measured on the held-out queries; by default AP, nDCG@10 and RR.
    progress : callable, optional
        Called with the number of iterations that were done since the last call; each temperature
        counts as many as it may have.
    **options
        All other options of `judged.learn.fit`, the same for all temperatures.

    Returns
    -------
    Study

    Examples
    --------
    >>> import numpy as np, judged
    >>> random = np.random.default_rng(0)
    >>> label = np.arange(120) % 4
    >>> signal, noise = np.eye(4)[label], random.normal(size=(120, 8)) * ([0.3] * 4 + [2] * 4)
    >>> vectors = np.hstack([signal, np.zeros((120, 4))]) + noise
    >>> embeddings = judged.Embeddings(vectors, vectors, exclude=judged.relevance.same_row())
    >>> same = judged.relevance.same_label(label, label)
    >>> found = judged.temperature.study(embeddings, same, [0.1, 10.0])
    >>> cool, warm = found.trained
    >>> found.untrained.measures["AP"].estimate < cool.measures["AP"].estimate
    True
    >>> cool.entropy < warm.entropy
    True
    """
    checked_embeddings(embeddings, "temperature.study", learns=True)
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
        raise InputError("a study needs at least one measure.")
    relation = as_relation(relevance, what="relevance")
    if options.get("held_out", 1) == 0:
        raise InputError("a study needs held-out queries; held_out must be above 0.")
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
        _trained(each, part, own, start, _gained(by_chance, number))
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
        else _untrained(untrained, part, start, record.rel),
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
    """What queries with the relevance of others gain from the first to another similarity."""
    if not by_chance:
        return {}
    start = by_chance[0]
    return {each: own - start[each] for each, own in by_chance[number].items()}


def _trained(
    learned: Learned,
    part: Part,
    values: dict[Measure, Floats],
    start: dict[Measure, Floats] | None,
    by_chance: dict[Measure, Floats],
) -> Studied:
    record = learned.training
    point = sweep(
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


def _untrained(
    similarity: Similarity, part: Part, values: dict[Measure, Floats], rel: float
) -> Studied:
    """Of vectors as they are all that needs no temperature."""
    alignment, uniformity = _spread(similarity, part)
    point = sweep(part.embeddings(similarity), part.relevance, [1.0], rel=rel, search=False).points[
        0
    ]
    return Studied(
        alignment=alignment,
        uniformity=uniformity,
        accuracy=point.accuracy,
        measures=_intervals(values, part),
    )


def _spread(similarity: Similarity, part: Part) -> tuple[float, float]:
    """Alignment of relevant pairs and uniformity of items, of the vectors as the similarity maps
    them."""
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
