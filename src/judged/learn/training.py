"""From vectors and what is relevant to a learned similarity: split, train, stop, and say how it
went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from judged.checks import number, size_in_bytes, whole
from judged.checks import temperature as checked_temperature
from judged.embeddings.product import MEMORY
from judged.embeddings.relevance import Pairs, as_relation
from judged.errors import MeasureError
from judged.inputs.vectors import as_vectors
from judged.learn.data import Data, basis_of, unit_vectors
from judged.learn.loss import Contrast, Objective
from judged.learn.optimiser import Progress, Search
from judged.learn.split import Split, checked_shares, split_queries
from judged.learn.subsets import pairs_of, vectors_of
from judged.measures import Measure, parse_measure
from judged.policy import checked_positives
from judged.segments import Ints
from judged.similarity.directions import groups_of
from judged.similarity.equal import keys_of
from judged.similarity.learned import Learned, Seen
from judged.similarity.maps import Kind, Weights, as_kind
from judged.similarity.record import Gain, HeldOut, Training
from judged.similarity.similarity import Cosine, Similarity
from judged.statistics.intervals import mean_interval

ITERATIONS = 200
"""As many at the most, where nothing else is said."""
STRONGEST = 1e12
"""The greatest `decay`: weights do not move from the start under less, and numbers near the largest
there are overflow."""
REPORTED = ("AP", "nDCG@10", "RR")
"""What is measured on held-out queries."""


def fit(
    queries: Any,
    items: Any,
    relevance: Any,
    *,
    kind: str = "bilinear",
    temperature: float = 0.05,
    rank: int | None = None,
    positives: str = "each",
    both: bool = False,
    measure: str | Measure = "AP",
    validation: float = 0.2,
    held_out: float = 0.2,
    patience: int = 10,
    iterations: int = ITERATIONS,
    decay: float = 0.0,
    exclude: Any = None,
    candidates: int | None = None,
    seed: int = 0,
    query_ids: Sequence[Any] | None = None,
    item_ids: Sequence[Any] | None = None,
    dims: int | None = None,
    memory: str | int = MEMORY,
    rel: float = 1,
    progress: Progress | None = None,
) -> Learned:
    """Learn a similarity from vectors of queries and items and from what is relevant, by a
    contrastive loss.

    Queries with something relevant (a grade of at least `rel`) are split by `seed`: the loss is
    that of the training queries against all items, or against their positives and `candidates`
    more, drawn by the same seed. After each iteration `measure` is computed on the validation
    queries; the best weights are kept, the start's included, and `patience` iterations without gain
    end it. The held-out queries are measured before and after, and not looked at else.

    >>> import numpy as np, judged
    >>> random = np.random.default_rng(0)
    >>> label = np.arange(120) % 4
    >>> vectors = np.hstack([np.eye(4)[label] + 0.3 * random.normal(size=(120, 4)), 2 * random.normal(size=(120, 4))])
    >>> learned = fit(vectors, vectors, judged.same_label(label, label), kind="diagonal", exclude=judged.same_index())
    >>> gain = learned.training.held_out.gains[0]
    >>> gain.measure, gain.difference.low > 0.1
    ('AP', True)
    """
    wanted = Wanted(
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
        room=size_in_bytes(memory),
    )
    data = Data.of(
        as_vectors(queries, ids=query_ids, dims=dims, source="the queries"),
        as_vectors(items, ids=item_ids, dims=dims, source="the items"),
        as_relation(relevance, what="relevance"),
        None if exclude is None else as_relation(exclude, what="exclude"),
        rel=float(rel),
        memory=memory,
    )
    return Fit(wanted, data, wanted.kind.rank(rank, data.queries.dims, data.items.dims)).run(
        progress
    )


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What was asked for, once it is sure that it makes sense."""

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

    def __init__(self, wanted: Wanted, data: Data, rank: int | None) -> None:
        self.wanted, self.data, self.rank = wanted, data, rank
        self.shapes = wanted.kind.shapes(data.queries.dims, data.items.dims, rank)
        self.notes: list[str] = []
        self.split = self._split()
        self.columns = self._candidates()
        self.validation = data.part(self.split.validation)
        self.seen = Seen(data.part(self.split.training).marks(), self.validation.marks())

    def run(self, progress: Progress | None) -> Learned:
        held_out = self.data.part(self.split.held_out) if len(self.split.held_out) else None
        objective = self._objective()
        start = objective.unpacked(objective.start)
        draft = self._draft()
        equal_dims = self.data.queries.dims == self.data.items.dims
        baseline: Similarity = Cosine() if equal_dims else self._learned(start, draft)
        # Before training, so that vectors which cannot be scored are refused at once.
        before = None if held_out is None else held_out.evaluate(baseline, self._reported())
        search = Search(
            objective,
            lambda weights: self._value(self._learned(weights, draft)),
            measure=self.wanted.measure,
            patience=self.wanted.patience,
            iterations=self.wanted.iterations,
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
        )
        learned = self._learned(search.weights, training)
        if held_out is None or before is None:
            return learned
        after = held_out.evaluate(learned, self._reported())
        gains = tuple(
            Gain(str(each), *map(mean_interval, (old, new, new - old)))
            for each in self._reported()
            for old, new in ((before.values[each], after.values[each]),)
        )
        words = (
            "the cosine of the vectors as they are"
            if equal_dims
            else "the random start, for dimensions differ"
        )
        found = HeldOut(len(held_out.queries), words, gains)
        return replace(learned, training=replace(training, held_out=found))

    def _split(self) -> Split:
        data, (validation, held_out) = self.data, self.wanted.shares
        rows = np.flatnonzero(data.positives.lengths)
        groups = groups_of(data.queries.rows(rows))
        split = split_queries(
            rows, groups, validation=validation, held_out=held_out, seed=self.wanted.seed
        )
        without = len(data.queries) - len(rows)
        if without:
            self.notes.append(
                f"{_queries(without)} with nothing relevant {_were(without)} left out."
            )
        again = len(rows) - len(np.unique(groups))
        if again:
            self.notes.append(
                f"{_queries(again)} with the vector of another, or one that points the same way, "
                f"{_were(again)} put into the "
                "same part as that one."
            )
        lost = int((data.judged.item[data.judged.grade >= self.wanted.rel] < 0).sum())
        if lost:
            self.notes.append(
                f"{lost:,} relevant {'item has' if lost == 1 else 'items have'} no vector, and can "
                "only be missed."
            )
        if data.queries.dims == data.items.dims and len(split.held_out):
            of_items = np.concatenate([keys_of(block) for _, block in data.items.blocks()])
            both = int(np.isin(keys_of(data.queries.rows(split.held_out)), of_items).sum())
            if both:
                self.notes.append(
                    f"{_queries(both)} held out {_were(both)} seen in training as items, not as "
                    "queries."
                )
        return split

    def _candidates(self) -> Ints:
        """The items that the loss looks at."""
        every = np.arange(len(self.data.items))
        if self.wanted.candidates is None:
            return every
        relevant = np.unique(pairs_of(self.data.positives, self.split.training).item)
        others = np.setdiff1d(every, relevant, assume_unique=True)
        if self.wanted.candidates >= len(others):
            self.notes.append(
                "There are no more items than candidates were asked for; all are candidates."
            )
            return every
        drawn = np.random.default_rng([self.wanted.seed, 1]).choice(
            others, self.wanted.candidates, replace=False
        )
        self.notes.append(
            f"The loss looks at the {len(relevant):,} items relevant to training queries and at "
            f"{len(drawn):,} others, drawn "
            f"by the seed; it is lower than that over all {len(every):,}."
        )
        return np.union1d(relevant, drawn)

    def _objective(self) -> Objective:
        wanted, data, rows = self.wanted, self.data, self.split.training
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
        start = wanted.kind.start(self.shapes, basis, np.random.default_rng([wanted.seed, 2]))
        contrast = Contrast(
            positives=self._among(data.positives),
            excluded=None if data.excluded is None else self._among(data.excluded),
            temperature=wanted.temperature,
            rule=wanted.positives,
            memory=wanted.room // 2,
        )
        return Objective(
            wanted.kind, queries, items, contrast, start, both=wanted.both, decay=wanted.decay
        )

    def _among(self, pairs: Pairs) -> Pairs:
        """Pairs of training queries with candidates, by their places among these."""
        own = pairs_of(pairs, self.split.training)
        own = own.where(np.isin(own.item, self.columns))
        return replace(own, item=np.searchsorted(self.columns, own.item))

    def _draft(self) -> Training:
        """The record as far as it is known before training."""
        wanted, split = self.wanted, self.split
        return Training(
            kind=wanted.kind.name,
            temperature=wanted.temperature,
            positives=wanted.positives,
            both=wanted.both,
            rank=self.rank,
            decay=wanted.decay,
            measure=str(wanted.measure),
            rel=wanted.rel,
            seed=wanted.seed,
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
        return Learned(kind=self.wanted.kind, weights=weights, training=training, seen=self.seen)

    def _value(self, learned: Learned) -> float:
        return float(
            self.validation.evaluate(learned, [self.wanted.measure]).summary[self.wanted.measure]
        )

    def _reported(self) -> list[Measure]:
        return [with_rel(parse_measure(name), self.wanted.rel) for name in REPORTED]


def _queries(count: int) -> str:
    return f"{count:,} {'query' if count == 1 else 'queries'}"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _checked_measure(given: Any) -> Measure:
    measure = parse_measure(given)
    if not measure.spec.rates_relevance:
        raise MeasureError(
            f"{measure} does not say how good a ranking is; stop by another measure, such as AP."
        )
    return measure


def with_rel(measure: Measure, rel: float) -> Measure:
    """The measure from that grade on, unless it says another itself."""
    if measure.params.get("rel") != 1 or rel == 1:
        return measure
    return measure(rel=int(rel) if float(rel).is_integer() else rel)
