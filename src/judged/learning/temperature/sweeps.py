"""What a temperature does to scores that are what they are: loss, confidence, calibration, the pull
on negatives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats
from judged.embeddings.embeddings import Embeddings
from judged.embeddings.product import Product
from judged.embeddings.relations import Relation, as_relation
from judged.embeddings.search import Search, reversed_search, scores_of
from judged.errors import InputError, did_you_mean, quoted
from judged.evaluation.evaluation import evaluate_rankings
from judged.learning.learn.data import checked_embeddings
from judged.learning.temperature.best import evaluations
from judged.learning.temperature.best import search as best
from judged.learning.temperature.candidates import (
    BYTES_PER_SCORE,
    Batches,
    Candidates,
    Corpus,
    reversed_corpus,
    summed,
)
from judged.learning.temperature.softmax import Counting
from judged.learning.temperature.sweep_result import Point, Ranking, Sweep
from judged.options import SWEPT_TEMPERATURES, checked, number, size_in_bytes, whole
from judged.options import temperature as checked_temperature
from judged.policy import POSITIVES, checked_positives
from judged.text import counted

if TYPE_CHECKING:
    from judged.options import Positives, Progress, RelevanceLike
    from judged.rankings.rankings import Rankings

HARDEST = 10
BINS = 15
MOST = 10_000
"""Of bins, and of negatives that are kept for each query at a time."""
CHECKED = 64
"""Queries whose ranks are counted again at every temperature, fewer where there are very many
items."""
_SCORES_CHECKED = 1 << 23


@checked
def sweep(
    embeddings: Embeddings,
    relevance: RelevanceLike,
    temperatures: Sequence[float] = SWEPT_TEMPERATURES,
    *,
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
) -> Sweep:
    """Say what each temperature makes of these vectors' scores, and which ones are best.

    A loss over more candidates is a higher loss: losses over all items and over batches, or over
    batches of different sizes, are not to be compared.

    Parameters
    ----------
    embeddings : Embeddings
        Queries and items, how they are embeddings, and what is excluded; without normalisation and
        categories.
    relevance : RelevanceLike
        What is relevant to which query: one of `judged.relevance`, judgements, a matrix of grades,
        or a function of a block of rows.
    temperatures : sequence of float, optional
        From 0.000001 to 1,000,000; by default 19 from 0.001 to 1000.
    query : str, optional
        The id of one query, to look at alone: its probabilities are then those of its own items.
    batch_size : int, optional
        Candidates are the items of batches of this many queries, drawn at random as in training;
        by default all items.
    both : bool, optional
        Also the items' softmax over queries; the objective is then the mean of both losses.
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
        Search for the temperatures of the lowest loss and of the lowest calibration error between
        those given.
    seed : int, optional
        Of the batches that are drawn.
    progress : callable, optional
        Called with the number of queries that were done since the last call; each query is done
        `judged.temperature.sweeps.steps` times.

    Returns
    -------
    Sweep

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
    checked_embeddings(embeddings, "temperature.sweep")
    relation = as_relation(relevance, what="relevance")
    counting = Counting(
        as_temperatures(temperatures),
        checked_positives(positives),
        whole("hardest", hardest, at_most=MOST),
        whole("bins", bins, at_most=MOST),
    )
    if len(embeddings.items) < 2:
        raise InputError(
            "there is one item only, whose probability is 1 at every temperature; at least two are "
            "needed."
        )
    only = None if query is None else _alone(embeddings, query, batch_size, both)
    return _Sweeper(
        embeddings, relation, counting, rel, only, batch_size, seed, both, progress
    ).swept(search=search)


def _alone(embeddings: Embeddings, query: Any, batch_size: int | None, both: bool) -> int:
    """The number of a query that is looked at alone."""
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
    """How many times each query is looked at, for a progress bar."""
    ascending = as_temperatures(temperatures).tolist()
    return (len(ascending) + (evaluations(ascending) if search else 0)) * (2 if both else 1)


class _Sweeper:
    """Embeddings that are ready for any temperature."""

    def __init__(
        self,
        embeddings: Embeddings,
        relation: Relation,
        counting: Counting,
        rel: float,
        only: int | None,
        batch_size: int | None,
        seed: int,
        both: bool,
        progress: Progress | None,
    ) -> None:
        self._embeddings, self._counting, self._progress = embeddings, counting, progress
        self._done, self._seed = 0, whole("seed", seed, at_least=0)
        # First of all the ranking: queries that cannot be scored are refused there, by their names.
        self._rankings = embeddings.rank(relation)
        if only is not None:
            self._rankings = self._of_one(embeddings.queries.name(only))
        self._corpus = Corpus(
            _product(embeddings),
            relation.bind(embeddings.queries, embeddings.items),
            number("rel", rel),
            only,
        )
        self._batched = batch_size is not None
        self._sides: list[Candidates] = [self._corpus]
        if batch_size is not None:
            size = _checked_batch(batch_size, embeddings.memory)
            batches = Batches.drawn(
                self._corpus, size, self._seed, room=size_in_bytes(embeddings.memory)
            )
            self._sides = [batches, batches.reversed()] if both else [batches]
        elif both:
            self._sides.append(reversed_corpus(self._corpus, _product(reversed_search(embeddings))))

    def _of_one(self, query: str) -> Rankings:
        """The ranking of one query, by judgements of which there is one only if it is judged."""
        known = self._rankings.queries
        if query not in known:
            raise InputError(f"nobody judged query {quoted(query)}; there is no loss to compute.")
        return self._rankings.take([known.index(query)])

    def swept(self, *, search: bool) -> Sweep:
        points = self._at(self._counting.temperatures)
        best_loss = best_calibrated = None
        if search and len(points) > 1:  # between one temperature there is nothing to search
            best_loss, best_calibrated = best(points, lambda some: self._at(np.array(some)))
        if self._progress is not None:
            queries = self._corpus.rows
            self._progress(
                queries
                * steps(
                    self._counting.temperatures.tolist(), both=len(self._sides) > 1, search=search
                )
                - self._done
            )
        return Sweep(
            softmax="batch" if self._batched else "corpus",
            candidates=self._sides[0].width,
            queries=self._counted,
            similarity=self._embeddings.similarity.name,
            positives=self._counting.positives,
            both=len(self._sides) > 1,
            hardest=self._counting.hardest,
            points=tuple(points),
            best_loss=best_loss,
            best_calibrated=best_calibrated,
            ranking=self._ranking(),
            basis=self._basis(),
            notes=self._notes(),
        )

    def _at(self, temperatures: Floats) -> list[Point]:
        counting = replace(self._counting, temperatures=temperatures)
        found = [
            summed(side, counting, self._told(len(temperatures), side)) for side in self._sides
        ]
        there = found[0]
        if there is None:
            raise InputError(
                "no item is relevant to any query; check the relevance that was given."
            )
        back = found[1] if len(found) > 1 else None
        self._counted, self._alone = there.queries, there.queries - there.with_negatives
        self._several = any(
            each.positives > each.queries for each in (there, back) if each is not None
        )
        return [
            Point.of(float(each), number, there, back) for number, each in enumerate(temperatures)
        ]

    def _told(self, times: int, side: Candidates) -> Progress | None:
        """Progress in queries of the caller's, whatever a row is here."""
        told = self._progress
        if told is None:
            return None
        share = self._corpus.rows / side.rows

        def progress(rows: int) -> None:
            done = round(rows * share * times)
            self._done += done
            told(done)

        return progress

    def _ranking(self) -> Ranking:
        rel = self._corpus.rel
        measures = ["AP" if rel == 1 else f"AP(rel={rel:g})", "nDCG@10"]
        evaluation = evaluate_rankings([self._rankings], measures)
        values = {name: float(evaluation.value(name)) for name in measures}
        begin, end = next(self._corpus.blocks())
        checked = max(1, min(CHECKED, end - begin, _SCORES_CHECKED // self._corpus.width))
        same = _same_order(self._corpus, begin, begin + checked, self._counting.temperatures)
        return Ranking(values, checked, same)

    def _basis(self) -> tuple[str, ...]:
        width = self._sides[0].width
        over = (
            f"in-batch softmax: a query's probabilities go over the {width:,} items of a batch "
            f"drawn at random (seed {self._seed}), one positive of each of its queries"
            if self._batched
            else f"full-corpus softmax: a query's probabilities go over all {width:,} items"
        )
        several = (
            (f"several positives: {POSITIVES[self._counting.positives]}",) if self._several else ()
        )
        return (
            *(each for each in self._rankings.basis if not each.startswith("all items")),
            f"{over}, from scores in single precision",
            *several,
        )

    def _notes(self) -> tuple[str, ...]:
        said = []
        side, all_queries = self._sides[0], self._corpus.rows
        left_over = side.left_over if isinstance(side, Batches) else 0
        if lost := all_queries - left_over - self._counted:
            said.append(f"{lost:,} of {all_queries:,} queries without a positive are left out.")
        if left_over:
            said.append(
                f"{left_over:,} queries are left over from the last whole batch and are left out."
            )
        if self._alone:
            said.append(
                f"{counted(self._alone, 'query has', 'queries have')} no negative among the "
                "candidates: the share of the hardest and the effective number are means over the "
                "others."
            )
        found = self._rankings.audit
        return (*(() if found is None else found.notes), *said)


def _product(embeddings: Search) -> Product:
    # Losses are sums over many scores, where single precision does.
    scores, _ = scores_of(embeddings, precision="single")
    assert isinstance(scores, Product)  # neither categories nor a normalisation were given
    return scores


def _same_order(corpus: Corpus, begin: int, end: int, temperatures: Floats) -> bool:
    """Whether positives have the same ranks among scores divided by each temperature, in double
    precision."""
    relevant, excluded = corpus.pairs(begin, end)
    scores = np.empty((end - begin, corpus.width))
    for column, tile in corpus.tiles(begin, end, excluded):
        scores[:, column : column + tile.shape[1]] = tile
    positives = np.split(scores[relevant.row, relevant.item], np.cumsum(relevant.lengths)[:-1])
    # Dividing by a positive number keeps this order, or makes neighbours equal.
    ordered = np.sort(scores, axis=1)
    for own, row in zip(positives, ordered, strict=True):
        spans = [
            (
                np.searchsorted(row / each, own / each, side="left"),
                np.searchsorted(row / each, own / each, side="right"),
            )
            for each in (1.0, *temperatures.tolist())
        ]
        if not all(np.array_equal(spans[0], span) for span in spans):
            return False
    return True


def as_temperatures(given: Sequence[float]) -> Floats:
    """Ascending, each once."""
    listed = isinstance(given, Iterable) and getattr(given, "ndim", 1) == 1
    if not listed or isinstance(given, (str, bytes)):
        raise InputError(f"temperatures must be a list of numbers; got {quoted(given)}.")
    found = sorted({checked_temperature(each) for each in given})
    if not found:
        raise InputError("temperatures must be a list of numbers; it is empty.")
    return np.array(found)


def _checked_batch(given: Any, memory: str | int) -> int:
    size = whole("batch_size", given, at_least=2)
    if BYTES_PER_SCORE * size**2 > size_in_bytes(memory):
        raise InputError(
            f"a batch of {size:,} has {size**2:,} scores, more than {memory} of memory hold; "
            "allow more memory, or make batches smaller."
        )
    return size
