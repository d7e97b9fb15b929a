"""Learned similarities: trained on a user's own vectors with the contrastive loss.

The training queries make the loss, validation queries choose when to stop, and held-out queries
measure what was gained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

import numpy as np

from judged.arrays import Floats, Ints
from judged.embeddings.embeddings import Embeddings
from judged.embeddings.learned import KINDS, Learned, Seen, Weights, as_kind, load
from judged.embeddings.relations import Pairs, as_relation
from judged.embeddings.search import warn_of_self_matches
from judged.embeddings.similarity import Cosine, Similarity
from judged.embeddings.training import Gain, HeldOut, Step, Training
from judged.errors import InputError, MeasureError
from judged.evaluation.scores import Scored
from judged.evaluation.warnings import announce_warnings
from judged.learning._data import (
    QueryPart,
    Split,
    TrainingData,
    basis_of,
    candidates_of,
    checked_embeddings,
    checked_shares,
    pairs_of,
    split_data,
    unit_vectors,
    vectors_of,
)
from judged.learning._loss import Contrast, Objective
from judged.measures import Measure, parse_measure
from judged.options import (
    LEARNING_TEMPERATURE,
    OPTIONS,
    LearnedKind,
    Positives,
    Progress,
    RelevanceLike,
    checked,
    number,
    size_in_bytes,
    unknown_option,
    whole,
)
from judged.options import temperature as checked_temperature
from judged.text import counted

__all__ = ["KINDS", "Learned", "Training", "fit", "load"]

MAX_DECAY = 1e12
"""Weights stay at the start under a smaller decay, and numbers near the largest overflow."""
MEASURES = ("AP", "nDCG@10", "RR")  # the measures of held-out queries


class TrainingOptions(TypedDict, total=False):
    """Keyword arguments of `fit`, which describes them."""

    rank: int | None
    positives: Positives
    both: bool
    measure: str | Measure
    validation: float
    held_out: float
    patience: int
    iterations: int
    decay: float
    seed: int
    rel: float


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    kind: Any = "bilinear"
    temperature: float = LEARNING_TEMPERATURE
    rank: int | None = None
    positives: str = "each"
    both: bool = False
    measure: Any = "AP"
    validation: float = 0.2
    held_out: float = 0.2
    patience: int = 10
    iterations: int = 200
    decay: float = 0.0
    seed: int = 0
    rel: float = 1

    def __post_init__(self) -> None:
        checked = {name: OPTIONS[name](name, getattr(self, name)) for name in _CHECKED_BY_NAME}
        checked |= {name: whole(name, getattr(self, name)) for name in ("patience", "iterations")}
        validation, held_out = checked_shares(self.validation, self.held_out)
        checked |= {
            "kind": as_kind(self.kind),
            "temperature": checked_temperature(self.temperature),
            "measure": with_rel(_checked_measure(self.measure), checked["rel"]),
            "validation": validation,
            "held_out": held_out,
            "decay": number("decay", self.decay, at_least=0, at_most=MAX_DECAY),
            "rel": float(checked["rel"]),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)


_CHECKED_BY_NAME = ("positives", "both", "seed", "rel")


def refuse_unknown(function: str, given: Any, more: Sequence[str] = ()) -> None:
    known = ["kind", "temperature", *TrainingOptions.__annotations__, *more]
    for name in given:
        if name not in known:
            raise InputError(unknown_option(function, name, known))


@checked
def fit(
    embeddings: Embeddings,
    relevance: RelevanceLike,
    *,
    kind: LearnedKind = "bilinear",
    temperature: float = LEARNING_TEMPERATURE,
    progress: Progress | None = None,
    **training: Unpack[TrainingOptions],
) -> Learned:
    """Learn a similarity from vectors and relevance, and measure its gain on held-out queries.

    Queries with something relevant are split by `seed`. The training queries make the contrastive
    loss, and the validation queries choose when to stop. The held-out ones are measured before and
    after, and looked at nowhere else. Queries that share a relevant item stay in one part. Where
    such groups are few and large, as with ten labels, queries are split one by one and the items
    too: held-out queries are then ranked among held-out items.

    Parameters
    ----------
    embeddings : Embeddings
        Queries and items, and what is excluded; with the default similarity, no normalisation and
        no categories.
    relevance : RelevanceLike
        What is relevant to which query: one of `judged.relevance`, judgements, a matrix of grades,
        or a function of a block of rows.
    kind : {"bilinear", "low-rank", "diagonal", "two-tower-linear"}, optional
        What is learned: q W x (default), (q U)·(x V), a weight per dimension, or the cosine of q A
        and x B.
    temperature : float, optional
        Scores are divided by it in the loss; from 0.000001 to 1,000,000.
    progress : callable, optional
        Called with the number of iterations that were done since the last call.
    **training : Unpack[TrainingOptions]
        - `rank`: the dimensions that low-rank and two-tower-linear map vectors to; by default a
          quarter of the vectors' dimensions, and all of them.
        - `positives`: how several positives of a query make one loss: "each" against all
          candidates (default), "any" for all together, or "apart" for each against the negatives.
        - `both`: add the items' search for queries, and take the mean of the two losses.
        - `measure`: computed on the validation queries after each iteration, "AP" by default; the
          best weights are kept, those of the start included.
        - `validation`, `held_out`: the shares of the queries that choose when to stop, and that
          are measured before and after; 0.2 each. `held_out` may be 0.
        - `patience`, `iterations`: stop after so many iterations without gain (10), and after so
          many at the latest (200).
        - `decay`: how strongly weights are pulled back to the start, 0 by default.
        - `seed`: the seed of the split and of everything else that is drawn.
        - `rel`: the lowest grade that counts as relevant, 1 by default.

    Returns
    -------
    Learned
        A similarity for every function that takes one; `.training` is the record of how it came
        about, `.save(path)` writes it to a file.

    Examples
    --------
    >>> import numpy as np, judged
    >>> random = np.random.default_rng(0)
    >>> label = np.arange(120) % 4
    >>> signal, noise = np.eye(4)[label], random.normal(size=(120, 8)) * ([0.3] * 4 + [2] * 4)
    >>> vectors = np.hstack([signal, np.zeros((120, 4))]) + noise
    >>> embeddings = judged.Embeddings(vectors, vectors, exclude=judged.relevance.same_row())
    >>> same = judged.relevance.same_label(label, label)
    >>> learned = judged.learn.fit(embeddings, same, kind="diagonal")
    >>> gain = learned.training.held_out.gains[0]
    >>> gain.measure, gain.difference.low > 0.1
    ('AP', True)
    """
    checked_embeddings(embeddings, "learn.fit", learns=True)
    refuse_unknown("fit", training)
    settings = TrainingSettings(kind=kind, temperature=temperature, **training)
    data = TrainingData.of(embeddings, as_relation(relevance), rel=settings.rel)
    learned = _train(settings, data, progress)
    announce_warnings(learned.training)
    return learned


def _train(settings: TrainingSettings, data: TrainingData, progress: Progress | None) -> Learned:
    """Split the queries, learn from the training queries, and measure the held-out ones."""
    kind, dims = settings.kind, (data.queries.dims, data.items.dims)
    equal_dims = dims[0] == dims[1]
    rank = kind.rank(settings.rank, *dims)
    shapes = kind.shapes(*dims, rank)
    split, notes = _split_with_notes(settings, data)
    columns, more_notes = candidates_of(data, split)
    notes += more_notes
    if not equal_dims:
        notes.append(
            "Queries and items have different dimensions: the start is random, drawn by the seed."
        )
    validation = split.validation_part(data)
    seen = Seen(data.part(split.training).marks(), validation.marks())
    held_out = split.held_out_part(data) if len(split.held_out) else None
    objective = _objective(settings, data, split.training, columns, shapes)
    draft = Training(
        kind=kind.name,
        temperature=settings.temperature,
        positives=settings.positives,
        both=settings.both,
        rank=rank,
        decay=settings.decay,
        measure=str(settings.measure),
        rel=settings.rel,
        seed=settings.seed,
        items=len(data.items),
        candidates=len(columns),
        training=len(split.training),
        validation=len(split.validation),
        held_out_queries=len(split.held_out),
        history=(),
        best=0,
        stopped="",
        relevance=data.relevance.says,
    )

    def similarity_of(weights: Weights, training: Training = draft) -> Learned:
        return Learned(kind=kind, weights=weights, training=training, seen=seen)

    baseline: Similarity = Cosine()
    if not equal_dims:
        baseline = similarity_of(objective.unpacked(objective.start))
    reported = [with_rel(parse_measure(name), settings.rel) for name in MEASURES]
    ranked = before = None
    if held_out is not None:  # before training, so that bad vectors are an error at once
        ranked = held_out.ranked(baseline)
        before = held_out.scored(ranked, reported)

    def value(weights: Weights) -> float:
        scored = validation.evaluate(similarity_of(weights), [settings.measure])
        return float(scored.summary[settings.measure])

    history, best, weights, stopped = search_weights(objective, value, settings, progress)
    if len(history) == 1:
        notes.append(
            "The loss has no slope at the start: nothing was learned, and the start was kept."
        )
    elif not best:
        notes.append(
            "No iteration did better on the validation queries than the start, which was kept."
        )
    training = replace(
        draft,
        history=tuple(history),
        best=best,
        stopped=stopped,
        notes=tuple(notes),
        warned=warn_of_self_matches(data.embeddings, data.relevance, ranked),
    )
    learned = similarity_of(weights, training)
    if held_out is None or before is None:
        return learned
    gains = gains_of(held_out, before, baseline, learned, reported, seed=settings.seed)
    words = "the random start, for dimensions differ"
    if equal_dims:
        words = "the cosine of the vectors as they are"
    measured = HeldOut(len(held_out.queries), len(held_out.items), words, gains)
    return replace(learned, training=replace(training, held_out=measured))


def _split_with_notes(settings: TrainingSettings, data: TrainingData) -> tuple[Split, list[str]]:
    split = split_data(
        data, validation=settings.validation, held_out=settings.held_out, seed=settings.seed
    )
    notes = []
    if without := int((data.positives.lengths == 0).sum()):
        were = "was" if without == 1 else "were"
        queries = counted(without, "query", "queries")
        notes.append(f"{queries} with nothing relevant {were} left out.")
    notes += split.notes
    if lost := int((data.judged.item[data.judged.grade >= settings.rel] < 0).sum()):
        items = counted(lost, "relevant item has", "relevant items have")
        notes.append(f"{items} no vector, and can only be missed.")
    return split, notes


def _objective(
    settings: TrainingSettings,
    data: TrainingData,
    rows: Ints,
    columns: Ints,
    shapes: dict[str, tuple[int, ...]],
) -> Objective:
    """Return the loss of training queries `rows` among the candidates `columns`."""
    queries = unit_vectors(vectors_of(data.queries, rows))
    every = len(columns) == len(data.items)
    items = unit_vectors(data.items if every else vectors_of(data.items, columns))
    basis = None
    if data.queries.dims == data.items.dims:
        basis = lambda size: basis_of(queries, items, size)  # noqa: E731

    def among(pairs: Pairs) -> Pairs:
        """Return pairs of training queries with candidates, by their places."""
        chosen = pairs_of(pairs, rows)
        chosen = chosen.where(np.isin(chosen.item, columns))
        return replace(chosen, item=np.searchsorted(columns, chosen.item))

    contrast = Contrast(
        positives=among(data.positives),
        excluded=None if data.excluded is None else among(data.excluded),
        temperature=settings.temperature,
        rule=settings.positives,
        memory=size_in_bytes(data.embeddings.memory) // 2,
    )
    start = settings.kind.start(shapes, basis, np.random.default_rng([settings.seed, 2]))
    options: Any = {"both": settings.both, "decay": settings.decay}
    return Objective(settings.kind, queries, items, contrast, start, **options)


def _checked_measure(given: str | Measure) -> Measure:
    measure = parse_measure(given)
    if not measure.spec.rates_relevance:
        raise MeasureError(
            f"{measure} does not say how good a ranking is; stop by another measure, such as AP."
        )
    return measure


def with_rel(measure: Measure, rel: float) -> Measure:
    """Return the measure from that grade on, unless it sets another itself."""
    if measure.params.get("rel") != 1 or rel == 1:
        return measure
    return measure(rel=int(rel) if float(rel).is_integer() else rel)


def search_weights(
    objective: Objective,
    value: Callable[[Weights], float],
    settings: TrainingSettings,
    progress: Progress | None,
) -> tuple[list[Step], int, Weights, str]:
    """Optimise the weights; after each iteration `value` rates them, and the best are kept.

    Return the course, the best iteration, its weights, and why the search stopped.
    """
    from scipy.optimize import minimize

    history: list[Step] = []
    best, best_weights, stopped = 0, Weights(), ""
    sign = 1 if settings.measure.spec.higher_is_better else -1

    def rate(vector: Floats, loss: float) -> None:
        nonlocal best, best_weights
        weights = {
            name: part.astype(np.float32) for name, part in objective.unpacked(vector).items()
        }
        history.append(Step(len(history), loss - objective.pull(vector), value(weights)))
        if len(history) == 1 or sign * history[-1].value > sign * history[best].value:
            best, best_weights = len(history) - 1, weights

    def watch(intermediate_result: Any) -> None:
        """Record an iteration; scipy calls this, and StopIteration ends it."""
        nonlocal stopped
        rate(intermediate_result.x, float(intermediate_result.fun))
        if progress is not None:
            progress(1)
        if (waited := len(history) - 1 - best) >= settings.patience:
            iterations = counted(waited, "iteration")
            stopped = f"{settings.measure} on validation did not gain for {iterations}"
            raise StopIteration

    start, limit = objective.start, settings.iterations
    at_start = objective(start)
    rate(start, at_start[0])
    result = minimize(
        lambda vector: at_start if np.array_equal(vector, start) else objective(vector),
        start,
        jac=True,
        method="L-BFGS-B",
        callback=watch,
        options={"maxiter": limit, "maxfun": 100 * limit, "ftol": 1e-12, "gtol": 1e-9},
    )
    if not stopped:
        endings = {0: "the loss is at a minimum", 1: "as many as were allowed"}
        stopped = endings.get(result.status, "no step lowers the loss any more")
    return history, best, best_weights, stopped


DEALS = 5  # the number of times that relevance is dealt out again, if there are enough queries


def deal_relevance(part: QueryPart, *, seed: int) -> list[QueryPart]:
    """Give each query the relevance of several others, never its own, nor the same twice.

    Learning puts items together that are relevant to the same queries, which alone raises average
    precision. A held-out query with the relevance of another query keeps these clumps and loses the
    relation, so what it gains is gained by chance.
    """
    count = len(part.queries)
    circle = np.random.default_rng([seed, 3]).permutation(count)
    deals = []
    for places in range(1, min(DEALS, count - 1) + 1):
        giver = np.empty(count, np.int64)
        giver[circle] = np.roll(circle, places)
        dealt = replace(part.relevance, pairs=pairs_of(part.relevance.pairs, giver))
        deals.append(replace(part, relevance=dealt))
    return deals


def gains_of(
    part: QueryPart,
    old: Scored,
    before: Similarity,
    after: Similarity,
    measures: Sequence[Measure],
    *,
    seed: int,
) -> tuple[Gain, ...]:
    """Compute what queries gain from one similarity to the other, and how much by chance."""
    new = part.evaluate(after, measures)
    deals = deal_relevance(part, seed=seed)
    dealt_values = [
        (dealt.evaluate(before, measures).values, dealt.evaluate(after, measures).values)
        for dealt in deals
    ]
    gains = []
    for measure in measures:
        gained = new.values[measure] - old.values[measure]
        old_value, new_value = (
            part.interval(scored.values[measure], measure.spec.range) for scored in (old, new)
        )
        beside: tuple[Any, ...] = ()
        if dealt_values:
            dealt_before, dealt_after = (
                np.mean([values[measure] for values in side], axis=0)
                for side in zip(*dealt_values, strict=True)
            )
            dealt = dealt_after - dealt_before
            beside = part.interval(dealt), part.interval(gained - dealt)
        gains.append(Gain(str(measure), old_value, new_value, part.interval(gained), *beside))
    return tuple(gains)
