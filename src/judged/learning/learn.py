"""Learned similarities: trained on a user's own vectors with the contrastive loss.

The training queries make the loss, validation queries choose when to stop, and held-out queries
measure what was gained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats
from judged.embeddings.embeddings import Embeddings
from judged.embeddings.learned import KINDS, Kind, Learned, Seen, Weights, as_kind, load
from judged.embeddings.relations import Pairs, as_relation
from judged.embeddings.search import warn_of_self_matches
from judged.embeddings.similarity import Cosine, Similarity
from judged.embeddings.training import Gain, HeldOut, Step, Training
from judged.errors import MeasureError
from judged.evaluation.scores import Scored
from judged.evaluation.warnings import announce_warnings
from judged.learning._data import (
    Data,
    Part,
    Split,
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
from judged.options import LEARNING_TEMPERATURE, checked, number, size_in_bytes, whole
from judged.options import temperature as checked_temperature
from judged.policy import checked_positives
from judged.text import counted

if TYPE_CHECKING:
    from judged.options import LearnedKind, Positives, Progress, RelevanceLike
if TYPE_CHECKING:
    from judged.options import Progress


__all__ = ["KINDS", "Learned", "Training", "fit", "load"]

ITERATIONS = 200
"""As many at most, by default."""
STRONGEST = 1e12
"""The greatest `decay`: weights do not move from the start under less, and numbers near the largest
there are overflow."""
MEASURES = ("AP", "nDCG@10", "RR")
"""What is measured on held-out queries."""


@checked
def fit(
    embeddings: Embeddings,
    relevance: RelevanceLike,
    *,
    kind: LearnedKind = "bilinear",
    temperature: float = LEARNING_TEMPERATURE,
    rank: int | None = None,
    positives: Positives = "each",
    both: bool = False,
    measure: str | Measure = "AP",
    validation: float = 0.2,
    held_out: float = 0.2,
    patience: int = 10,
    iterations: int = ITERATIONS,
    decay: float = 0.0,
    candidates: int | None = None,
    seed: int = 0,
    rel: float = 1,
    progress: Progress | None = None,
) -> Learned:
    """Learn a similarity from vectors and what is relevant; held-out queries say what was gained.

    Queries with something relevant are split by `seed`. The training queries make the contrastive
    loss, the validation queries choose when to stop, and the held-out ones are measured before and
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
    rank : int, optional
        How many dimensions low-rank and two-tower-linear map vectors to; by default a quarter of
        the vectors' dimensions, and all of them.
    positives : {"each", "any", "apart"}, optional
        How several positives of a query make one loss: each against all candidates (default), all
        together, or each against the negatives alone.
    both : bool, optional
        Add the items' search for queries, and take the mean of the two losses.
    measure : str or Measure, optional
        What is computed on the validation queries after each iteration; the best weights are kept,
        those of the start included.
    validation : float, optional
        The share of the queries that choose when to stop, above 0.
    held_out : float, optional
        The share of the queries that are measured before and after; 0 for none.
    patience : int, optional
        Stop after this many iterations without gain.
    iterations : int, optional
        Stop after this many iterations at the latest.
    decay : float, optional
        How strongly weights are pulled back to the start.
    candidates : int, optional
        Set training queries against their relevant items and this many others, drawn by the seed;
        by default against all items.
    seed : int, optional
        Of the split and of everything else that is drawn.
    rel : float, optional
        The lowest grade that counts as relevant.
    progress : callable, optional
        Called with the number of iterations that were done since the last call.

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
    options = Options(
        kind=as_kind(kind),
        temperature=checked_temperature(temperature),
        positives=checked_positives(positives),
        both=bool(both),
        measure=with_rel(_checked_measure(measure), number("rel", rel)),
        shares=checked_shares(validation, held_out),
        patience=whole("patience", patience),
        iterations=whole("iterations", iterations),
        decay=number("decay", decay, at_least=0, at_most=STRONGEST),
        candidates=None if candidates is None else whole("candidates", candidates),
        seed=whole("seed", seed, at_least=0),
        rel=float(rel),
        room=size_in_bytes(embeddings.memory),
    )
    data = Data.of(embeddings, as_relation(relevance, what="relevance"), rel=options.rel)
    own_rank = options.kind.rank(rank, data.queries.dims, data.items.dims)
    learned = Fit(options, data, own_rank).run(progress)
    announce_warnings(learned.training)
    return learned


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a training, validated."""

    kind: Kind
    temperature: float
    positives: str
    both: bool
    measure: Measure
    shares: tuple[float, float]
    """For validation, and held out."""
    patience: int
    iterations: int
    decay: float
    candidates: int | None
    seed: int
    rel: float
    room: int
    """Bytes for scores."""


class Fit:
    """One training, from the split to the similarity."""

    def __init__(self, options: Options, data: Data, rank: int | None) -> None:
        self.options, self.data, self.rank = options, data, rank
        self.shapes = options.kind.shapes(data.queries.dims, data.items.dims, rank)
        self.notes: list[str] = []
        self.split = self._split()
        self.columns, notes = candidates_of(
            data, self.split, wanted=options.candidates, seed=options.seed
        )
        self.notes += notes
        self.validation = self.split.validation_part(data)
        self.seen = Seen(data.part(self.split.training).marks(), self.validation.marks())

    def run(self, progress: Progress | None) -> Learned:
        held_out = self.split.held_out_part(self.data) if len(self.split.held_out) else None
        objective = self._objective()
        start = objective.unpacked(objective.start)
        draft = self._draft()
        equal_dims = self.data.queries.dims == self.data.items.dims
        baseline: Similarity = Cosine() if equal_dims else self._learned(start, draft)
        # Before training, so that vectors which cannot be scored are refused at once.
        ranked = None if held_out is None else held_out.ranked(baseline)
        before = (
            None
            if held_out is None or ranked is None
            else held_out.scored(ranked, self._reported())
        )
        search = Search(
            objective,
            lambda weights: self._value(self._learned(weights, draft)),
            measure=self.options.measure,
            patience=self.options.patience,
            iterations=self.options.iterations,
            progress=progress,
        )
        search.run()
        if len(search.history) == 1:
            self.notes.append(
                "The loss has no slope at the start: nothing was learned, and the start was kept."
            )
        elif not search.best:
            self.notes.append(
                "No iteration did better on the validation queries than the start, which was kept."
            )
        training = replace(
            draft,
            history=tuple(search.history),
            best=search.best,
            stopped=search.stopped,
            notes=tuple(self.notes),
            warned=warn_of_self_matches(self.data.embeddings, self.data.relevance, ranked),
        )
        learned = self._learned(search.weights, training)
        if held_out is None or before is None:
            return learned
        gains = gains_of(
            held_out, before, baseline, learned, self._reported(), seed=self.options.seed
        )
        words = (
            "the cosine of the vectors as they are"
            if equal_dims
            else "the random start, for dimensions differ"
        )
        found = HeldOut(len(held_out.queries), len(held_out.items), words, gains)
        return replace(learned, training=replace(training, held_out=found))

    def _split(self) -> Split:
        data, (validation, held_out) = self.data, self.options.shares
        split = split_data(data, validation=validation, held_out=held_out, seed=self.options.seed)
        without = int((data.positives.lengths == 0).sum())
        if without:
            self.notes.append(
                f"{_queries(without)} with nothing relevant {_were(without)} left out."
            )
        self.notes += split.notes
        lost = int((data.judged.item[data.judged.grade >= self.options.rel] < 0).sum())
        if lost:
            self.notes.append(
                f"{counted(lost, 'relevant item has', 'relevant items have')} no vector, and can "
                "only be missed."
            )
        return split

    def _objective(self) -> Objective:
        options, data, rows = self.options, self.data, self.split.training
        queries = unit_vectors(vectors_of(data.queries, rows))
        items = unit_vectors(
            data.items
            if len(self.columns) == len(data.items)
            else vectors_of(data.items, self.columns)
        )
        basis = None
        if data.queries.dims == data.items.dims:
            basis = lambda size: basis_of(queries, items, size)  # noqa: E731
        else:
            self.notes.append(
                "Queries and items have different dimensions: the start is random, drawn by the "
                "seed."
            )
        start = options.kind.start(self.shapes, basis, np.random.default_rng([options.seed, 2]))
        contrast = Contrast(
            positives=self._among(data.positives),
            excluded=None if data.excluded is None else self._among(data.excluded),
            temperature=options.temperature,
            rule=options.positives,
            memory=options.room // 2,
        )
        return Objective(
            options.kind, queries, items, contrast, start, both=options.both, decay=options.decay
        )

    def _among(self, pairs: Pairs) -> Pairs:
        """Return pairs of training queries with candidates, by their places."""
        own = pairs_of(pairs, self.split.training)
        own = own.where(np.isin(own.item, self.columns))
        return replace(own, item=np.searchsorted(self.columns, own.item))

    def _draft(self) -> Training:
        """Return the record as far as it is known before training."""
        options, split = self.options, self.split
        return Training(
            kind=options.kind.name,
            temperature=options.temperature,
            positives=options.positives,
            both=options.both,
            rank=self.rank,
            decay=options.decay,
            measure=str(options.measure),
            rel=options.rel,
            seed=options.seed,
            items=len(self.data.items),
            candidates=len(self.columns),
            training=len(split.training),
            validation=len(split.validation),
            held_out_queries=len(split.held_out),
            history=(),
            best=0,
            stopped="",
            relevance=self.data.relevance.says,
        )

    def _learned(self, weights: Weights, training: Training) -> Learned:
        return Learned(kind=self.options.kind, weights=weights, training=training, seen=self.seen)

    def _value(self, learned: Learned) -> float:
        return float(
            self.validation.evaluate(learned, [self.options.measure]).summary[self.options.measure]
        )

    def _reported(self) -> list[Measure]:
        return [with_rel(parse_measure(name), self.options.rel) for name in MEASURES]


def _queries(count: int) -> str:
    return counted(count, "query", "queries")


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


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


class Search:
    """The optimiser: after each iteration `value` judges the weights, and the best are kept."""

    def __init__(
        self,
        objective: Objective,
        value: Callable[[Weights], float],
        *,
        measure: Measure,
        patience: int,
        iterations: int,
        progress: Progress | None,
    ) -> None:
        self.objective, self.value, self.progress = objective, value, progress
        self.measure, self.patience, self.iterations = measure, patience, iterations
        self.history: list[Step] = []
        self.best = 0
        self.weights: Weights = {}
        self.stopped = ""

    def run(self) -> None:
        from scipy.optimize import minimize

        start = self.objective.start
        at_start = self.objective(start)
        self._look(start, at_start[0])
        found = minimize(
            lambda vector: at_start if np.array_equal(vector, start) else self.objective(vector),
            start,
            jac=True,
            method="L-BFGS-B",
            callback=self._watch,
            options={
                "maxiter": self.iterations,
                "maxfun": 100 * self.iterations,
                "ftol": 1e-12,
                "gtol": 1e-9,
            },
        )
        if not self.stopped:
            endings = {0: "the loss is at a minimum", 1: "as many as were allowed"}
            self.stopped = endings.get(found.status, "no step lowers the loss any more")

    def _watch(self, intermediate_result: Any) -> None:
        """Record an iteration; scipy calls this, and StopIteration ends it."""
        self._look(intermediate_result.x, float(intermediate_result.fun))
        if self.progress is not None:
            self.progress(1)
        waited = len(self.history) - 1 - self.best
        if waited >= self.patience:
            many = counted(waited, "iteration")
            self.stopped = f"{self.measure} on validation did not gain for {many}"
            raise StopIteration

    def _look(self, vector: Floats, loss: float) -> None:
        weights = {
            name: part.astype(np.float32) for name, part in self.objective.unpacked(vector).items()
        }
        value = self.value(weights)
        self.history.append(Step(len(self.history), loss - self.objective.pull(vector), value))
        sign = 1 if self.measure.spec.higher_is_better else -1
        if len(self.history) == 1 or sign * value > sign * self.history[self.best].value:
            self.best, self.weights = len(self.history) - 1, weights


DEALS = 5
"""How many times relevance is dealt out anew; fewer where there are too few queries."""


@dataclass(frozen=True, eq=False)
class Chance:
    """Some queries, each with the relevance of another, several times.

    Learning puts items together that are relevant to the same queries, which alone raises average
    precision. A held-out query with the relevance of another query keeps these clumps and loses the
    relation, so what it gains is gained by chance.
    """

    parts: tuple[Part, ...]

    @classmethod
    def of(cls, part: Part, *, seed: int) -> Chance:
        """Give each query the relevance of several others, never its own, nor the same twice."""
        count = len(part.queries)
        circle = np.random.default_rng([seed, 3]).permutation(count)
        deals = []
        for places in range(1, min(DEALS, count - 1) + 1):
            giver = np.empty(count, np.int64)
            giver[circle] = np.roll(circle, places)
            dealt = replace(part.relevance, pairs=pairs_of(part.relevance.pairs, giver))
            deals.append(replace(part, relevance=dealt))
        return cls(tuple(deals))

    def values(self, similarity: Similarity, measures: Sequence[Measure]) -> dict[Measure, Floats]:
        """Average each query over all deals; empty if there is no other query."""
        found = [part.evaluate(similarity, measures).values for part in self.parts]
        return {
            each: np.mean([values[each] for values in found], axis=0)
            for each in (measures if found else ())
        }

    def gains(
        self, before: Similarity, after: Similarity, measures: Sequence[Measure]
    ) -> dict[Measure, Floats]:
        """Compute what each query gains from one similarity to the other."""
        old, new = (self.values(each, measures) for each in (before, after))
        return {each: new[each] - old[each] for each in new}


def gains_of(
    part: Part,
    old: Scored,
    before: Similarity,
    after: Similarity,
    measures: Sequence[Measure],
    *,
    seed: int,
) -> tuple[Gain, ...]:
    """Compute what queries gain from one similarity to the other, and how much by chance."""
    new = part.evaluate(after, measures)
    by_chance = Chance.of(part, seed=seed).gains(before, after, measures)
    found = []
    for each in measures:
        gained = new.values[each] - old.values[each]
        old_value, new_value = (
            part.interval(scored.values[each], each.spec.range) for scored in (old, new)
        )
        dealt = by_chance.get(each)
        chance = () if dealt is None else (part.interval(dealt), part.interval(gained - dealt))
        found.append(Gain(str(each), old_value, new_value, part.interval(gained), *chance))
    return tuple(found)
