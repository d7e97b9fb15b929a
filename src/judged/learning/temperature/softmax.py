"""What the softmax of each query's scores is like at several temperatures, without ever holding all
scores.

Negatives are added up piece by piece, relative to the highest of them, so that nothing overflows at
any temperature. Positives are few and stay as they are. All numbers of a query come from these two.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isqrt
from typing import Any

import numpy as np

from judged.arrays import Floats, Ints, starts_of
from judged.errors import InputError
from judged.inputs.vectors.vectors import Matrix
from judged.learning.learn.loss import RULES, Positives

NOBODY = np.float32(-1e38)
"""The score of what is no negative: positives and excluded items."""
RANKS = 10
"""The probabilities of so many items are kept, the most probable first."""
_AT_A_TIME = 1 << 18
"""Scores that are worked on at a time: their exponentials stay in a core's cache."""


class Negatives:
    """The negatives of some queries, tile after tile: the highest, and sums of e^((s - highest) /
    temperature)."""

    def __init__(self, rows: int, temperatures: Floats, keep: int) -> None:
        self._temperatures = temperatures
        self.top = np.full(rows, -np.inf)
        """The highest score of a row; minus infinity where it has no negative."""
        self.level = np.zeros(rows, np.int64)
        """How many have it."""
        self.total, self.weighted = (
            np.zeros((rows, len(temperatures))),
            np.zeros((rows, len(temperatures))),
        )
        """The sum of the exponentials, and of exponential times (s - highest)."""
        self.hardest = np.full((rows, keep), -np.inf)
        """The greatest scores, descending."""

    def add(self, scores: Matrix) -> None:
        """Scores of all rows with some items; what is no negative has the score NOBODY. They are
        overwritten."""
        top = scores.max(axis=1).astype(np.float64)
        top[top <= NOBODY] = -np.inf
        if np.abs(top[np.isfinite(top)]).max(initial=0.0) > _LARGEST:
            raise InputError(
                "scores are too large for a softmax in single precision; divide all vectors by the "
                "same number."
            )
        merged = np.hstack([self.hardest, greatest(scores, self.hardest.shape[1])])
        self.hardest = -np.sort(-merged, axis=1)[:, : self.hardest.shape[1]]
        self._move_to(np.maximum(self.top, top))
        base = np.where(np.isfinite(self.top), self.top, 0.0).astype(np.float32)
        rows = max(1, _AT_A_TIME // scores.shape[1])
        room = np.empty((min(rows, len(scores)), scores.shape[1]), np.float32)
        # What overflows is minus infinity, whose exponential is 0.
        with np.errstate(over="ignore", under="ignore"):
            for begin in range(0, len(scores), rows):
                at = slice(begin, begin + rows)
                below = np.subtract(scores[at], base[at, None], out=scores[at])
                share = room[: len(below)]
                self.level[at] += (below == 0).sum(axis=1)
                for number, temperature in enumerate(self._temperatures):
                    np.exp(np.multiply(below, np.float32(1 / temperature), out=share), out=share)
                    self.total[at, number] += share.sum(axis=1)
                    self.weighted[at, number] += np.einsum("ij,ij->i", share, below)

    def _move_to(self, top: Floats) -> None:
        """The sums relative to another highest score."""
        known = np.isfinite(self.top)  # of no score there is nothing to move
        down = np.subtract(self.top, top, where=known, out=np.zeros(len(top)))[:, None]
        factor = np.exp(down / self._temperatures)
        self.weighted = factor * (self.weighted + down * self.total)
        self.total *= factor
        self.level[top > self.top] = 0
        self.top = top


_LARGEST = 1e37


def greatest(scores: Matrix, k: int) -> Floats:
    """The k greatest scores of every row, in no order; minus infinity where there are fewer, or
    where they are NOBODY's."""
    width = scores.shape[1]
    if width > 16 * k:
        # The k greatest are among the members of the k groups with the greatest maxima.
        groups = isqrt(width * k)
        deep, rest = divmod(width, groups)
        best = scores[:, : deep * groups].reshape(-1, deep, groups).max(axis=1)
        if rest:
            np.maximum(best[:, :rest], scores[:, deep * groups :], out=best[:, :rest])
        chosen = np.argpartition(best, groups - k, axis=1)[:, groups - k :]
        members = (chosen[:, :, None] + np.arange(0, width, groups)).reshape(len(scores), -1)
        found = np.take_along_axis(scores, np.minimum(members, width - 1), axis=1)
        found[members >= width] = NOBODY
        scores, width = found, found.shape[1]
    if width > k:
        scores = np.partition(scores, width - k, axis=1)[:, width - k :]
    padded = np.full((len(scores), k), -np.inf)
    padded[:, : scores.shape[1]] = np.where(scores > NOBODY, scores, -np.inf)
    return padded


@dataclass(frozen=True, eq=False)
class Sums:
    """The numbers of queries, added up over them, for each temperature."""

    queries: int
    positives: int
    with_negatives: int
    loss: Floats
    slope: Floats
    """The derivative of the loss by the logarithm of the temperature."""
    confidence: Floats
    entropy: Floats
    accuracy: Floats
    gradient: Floats
    """The sum of the derivatives of the loss by the negatives' scores."""
    hardest_share: Floats
    effective_negatives: Floats
    probabilities: Floats
    """One row per temperature, one column per rank."""
    bins: Floats
    """For each temperature and bin of confidence: queries, their confidence, their accuracy."""

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            *(getattr(self, each.name) + getattr(other, each.name) for each in fields(self))
        )


@dataclass(frozen=True, eq=False)
class Counting:
    """How queries are counted."""

    temperatures: Floats
    positives: str
    """A rule of POSITIVES."""
    hardest: int
    bins: int

    @property
    def keep(self) -> int:
        """So many of the hardest negatives have to be known."""
        return max(self.hardest, RANKS)

    def sums(self, negatives: Negatives, row: Ints, score: Floats) -> Sums | None:
        """Of a block of queries: its negatives, and the rows (ascending) and scores of its
        positives.

        Rows without positives do not count; None where no row does.
        """
        counts = np.bincount(row, minlength=len(negatives.top))
        if not counts.any():
            return None
        rows = np.flatnonzero(counts)
        block = _Block(negatives, rows, counts[rows], (np.cumsum(counts > 0) - 1)[row], score)
        found = [
            self._at(block, number, temperature)
            for number, temperature in enumerate(self.temperatures.tolist())
        ]
        stacked = {name: np.stack([each[name] for each in found]) for name in found[0]}
        accuracy = np.full(len(self.temperatures), block.accuracy.sum())
        return Sums(
            queries=len(rows),
            positives=len(row),
            with_negatives=int(block.some.sum()),
            accuracy=accuracy,
            **stacked,
        )

    def _at(self, block: _Block, number: int, temperature: float) -> dict[str, Any]:
        own, shares, log_positives = block.positives(temperature)
        log_negatives, mean_negative = block.negatives(number, temperature)
        found = RULES[self.positives](block.of, own, shares, log_positives, log_negatives)
        log_total = np.logaddexp(log_positives, log_negatives)
        share = np.exp(log_negatives - log_total)
        mean = share * mean_negative + (1 - share) * block.of.sum(shares * block.below)
        slope = found.by_negatives * mean_negative + block.of.sum(found.by_positive * block.below)
        confidence = np.exp(-log_total)
        place = np.minimum((confidence * self.bins).astype(np.int64), self.bins - 1)
        weights = (None, confidence, block.accuracy)
        return {
            "loss": found.loss.sum(),
            "slope": -slope.sum() / temperature,
            "confidence": confidence.sum(),
            "entropy": (log_total - mean / temperature).sum(),
            "gradient": found.by_negatives.sum() / temperature,
            "hardest_share": block.hardest_share(number, temperature, self.hardest).sum(),
            "effective_negatives": block.effective_negatives(number, temperature).sum(),
            "probabilities": np.exp(block.highest / temperature - log_total[:, None]).sum(axis=0),
            "bins": np.stack(
                [np.bincount(place, each, minlength=self.bins) for each in weights], axis=1
            ),
        }


class _Block:
    """Queries with positives, their scores relative to the highest of each query."""

    def __init__(
        self, negatives: Negatives, rows: Ints, counts: Ints, row: Ints, score: Floats
    ) -> None:
        self._total, self._weighted = negatives.total[rows], negatives.weighted[rows]
        self.of = Positives(row, counts)
        hardest, top = negatives.hardest[rows], negatives.top[rows]
        peak = np.maximum(top, np.maximum.reduceat(score, starts_of(counts)))
        self.some = np.isfinite(top)
        self._top, self._hardest = (
            np.where(self.some, top - peak, -np.inf),
            hardest - np.where(self.some, top, 0.0)[:, None],
        )
        self.below = score - peak[row]
        """Of each positive."""
        at_top = self.of.sum(self.below == 0)
        level = np.where(self._top == 0, negatives.level[rows], 0)
        self.accuracy = at_top / (at_top + level)
        """Of the top item; where several tie for it, the share of them that are relevant."""
        self.highest = self._merged(hardest - peak[:, None])
        """The highest scores of positives and negatives together, descending."""

    def _merged(self, negatives: Floats) -> Floats:
        row, counts = self.of.row, self.of.counts
        order = np.lexsort((-self.below, row))
        place = np.arange(len(order)) - np.repeat(starts_of(counts), counts)
        among = place < RANKS
        positives = np.full((len(counts), RANKS), -np.inf)
        positives[row[order][among], place[among]] = self.below[order][among]
        return -np.sort(-np.hstack([positives, negatives]), axis=1)[:, :RANKS]

    def positives(self, temperature: float) -> tuple[Floats, Floats, Floats]:
        """The positives' scores over temperature, their shares, and the log of their exponentials'
        sum."""
        own = self.below / temperature
        return own, *self.of.softmax(own)

    def negatives(self, number: int, temperature: float) -> tuple[Floats, Floats]:
        """The log of the negatives' exponentials' sum, and the negatives' mean score by softmax; of
        none, 0."""
        total = np.where(self.some, self._total[:, number], 1.0)
        log = np.where(self.some, self._top / temperature + np.log(total), -np.inf)
        return log, np.where(self.some, self._top, 0.0) + self._weighted[:, number] / total

    def hardest_share(self, number: int, temperature: float, hardest: int) -> Floats:
        own = np.exp(self._hardest[self.some, :hardest] / temperature).sum(axis=1)
        return np.minimum(own / self._total[self.some, number], 1.0)

    def effective_negatives(self, number: int, temperature: float) -> Floats:
        """e to the entropy of the negatives' shares: as many equally hard ones would have it."""
        total, weighted = self._total[self.some, number], self._weighted[self.some, number]
        return total * np.exp(-weighted / (total * temperature))
