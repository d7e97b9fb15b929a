"""The contrastive loss: its rules for several positives, and its gradient for training.

A score s/t enters by its distance from the greatest of its row, so nothing overflows at any
temperature t.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from judged.arrays import Floats, Ints, starts_of
from judged.embeddings.learned import SimilarityKind, Weights
from judged.embeddings.relations import Pairs
from judged.learning._data import pairs_of

HIGHEST = 512  # more queries at a time make no product faster


@dataclass(frozen=True, eq=False)
class Positives:
    """The positives of some queries, query by query; each query has at least one."""

    row: Ints  # the query of each positive, ascending
    counts: Ints  # the number of positives of each query

    def sum(self, values: Floats) -> Floats:
        """Add up over each query's positives."""
        found = np.bincount(self.row, values, minlength=len(self.counts))
        return found.astype(np.float64, copy=False)

    def mean(self, values: Floats) -> Floats:
        return self.sum(values) / self.counts

    def softmax(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return each positive's share among its query's, and the log of each query's sum."""
        top = np.maximum.reduceat(scores, starts_of(self.counts))
        shares = np.exp(scores - top[self.row])
        total = self.sum(shares)
        shares /= total[self.row]
        return shares, top + np.log(total)


Loss = tuple[Floats, Floats, Floats]
"""The loss of each query, and its derivatives: by the logarithm of the negatives' sum, in which
each negative has its share, and by the score of each positive."""


def _each(of: Positives, own: Floats, shares: Floats, positives: Floats, negatives: Floats) -> Loss:
    total = np.logaddexp(positives, negatives)
    push = shares * np.exp(positives - total)[of.row]
    push -= (1 / of.counts)[of.row]
    return of.mean(total[of.row] - own), np.exp(negatives - total), push


def _any(of: Positives, own: Floats, shares: Floats, positives: Floats, negatives: Floats) -> Loss:
    total = np.logaddexp(positives, negatives)
    pull = np.exp(negatives - total)
    return total - positives, pull, -shares * pull[of.row]


def _apart(
    of: Positives, own: Floats, shares: Floats, positives: Floats, negatives: Floats
) -> Loss:
    ahead = negatives[of.row] - own
    # How likely the negatives are drawn before this positive.
    wrong = np.exp(-np.logaddexp(0.0, -ahead))
    return of.mean(np.logaddexp(0.0, ahead)), of.mean(wrong), -wrong / of.counts[of.row]


Rule = Callable[[Positives, Floats, Floats, Floats, Floats], Loss]
RULES: dict[str, Rule] = {"each": _each, "any": _any, "apart": _apart}
"""The loss by the names of POSITIVES, from scores over temperature: of each positive its score and
its share among the positives of its query, and of each query the logarithms of the sums of e^score
over its positives and over its negatives."""


def _losses(scores: Floats, pairs: Pairs, rule: Rule) -> Floats:
    """Compute the loss of each query, and replace scores by its derivatives in place."""
    # The score of what is not a candidate is minus infinity.
    of = Positives(pairs.row, pairs.lengths)
    cells, at = scores.reshape(-1), of.row * scores.shape[1] + pairs.item
    own = cells[at]
    cells[at] = -np.inf
    top = scores.max(axis=1)
    base = np.where(np.isfinite(top), top, 0.0)
    scores -= base[:, None]
    np.exp(scores, out=scores)
    total = scores.sum(axis=1)
    some = np.where(total > 0, total, 1.0)
    negatives = np.where(total > 0, base + np.log(some), -np.inf)
    losses, by_negatives, by_positive = rule(of, own, *of.softmax(own), negatives)
    scores *= (by_negatives / some)[:, None]
    cells[at] = by_positive
    return losses


@dataclass(frozen=True, eq=False)
class Contrast:
    """The loss of one direction: the mean over all who have a positive."""

    positives: Pairs  # at least one in all
    excluded: Pairs | None  # pairs that are not candidates; none of them is a positive
    temperature: float
    rule: str
    memory: int  # bytes for a block of scores

    def __call__(self, left: Floats, right: Floats) -> tuple[float, Floats, Floats]:
        """Compute the loss and its gradients by the vectors of both sides."""
        rows = np.flatnonzero(self.positives.lengths)
        step = min(max(1, self.memory // (len(right) * 8 * 2)), HIGHEST)
        loss, of_left, of_right = 0.0, np.zeros_like(left), np.zeros_like(right)
        for begin in range(0, len(rows), step):
            some = rows[begin : begin + step]
            scores = (left[some] / self.temperature) @ right.T
            if self.excluded is not None:
                gone = pairs_of(self.excluded, some)
                scores[gone.row, gone.item] = -np.inf
            losses = _losses(scores, pairs_of(self.positives, some), RULES[self.rule])
            loss += float(losses.sum())
            of_left[some] = scores @ right
            of_right += scores.T @ left[some]
        scale = 1 / (self.temperature * len(rows))
        return loss / len(rows), of_left * scale, of_right * scale

    def reversed(self, columns: int) -> Contrast:
        """Return the other direction: the same pairs, seen from the items."""

        def other(pairs: Pairs) -> Pairs:
            order = np.argsort(pairs.item, kind="stable")
            return Pairs(
                np.bincount(pairs.item, minlength=columns), pairs.row[order], pairs.grade[order]
            )

        excluded = None if self.excluded is None else other(self.excluded)
        return replace(self, positives=other(self.positives), excluded=excluded)


class Objective:
    """The loss as a function of all weights in one vector, for an optimiser.

    `both` adds the items' search for queries and halves the sum; `decay` adds decay·|weights -
    start|².
    """

    def __init__(
        self,
        kind: SimilarityKind,
        queries: Floats,
        items: Floats,
        contrast: Contrast,
        start: Weights,
        *,
        both: bool = False,
        decay: float = 0.0,
    ) -> None:
        self.kind, self.queries, self.items, self.decay = kind, queries, items, decay
        self.contrast, self.back = contrast, contrast.reversed(len(items)) if both else None
        self._shapes = {name: start[name].shape for name in kind.names}
        self.start = self.packed(start)

    def packed(self, weights: Weights) -> Floats:
        return np.concatenate([np.ravel(weights[name]) for name in self._shapes]).astype(np.float64)

    def unpacked(self, vector: Floats) -> Weights:
        ends = np.cumsum([np.prod(shape) for shape in self._shapes.values()])
        parts = np.split(vector, ends[:-1])
        return {
            name: part.reshape(shape)
            for (name, shape), part in zip(self._shapes.items(), parts, strict=True)
        }

    def pull(self, vector: Floats) -> float:
        """Compute what `decay` adds to the loss."""
        return self.decay * float(((vector - self.start) ** 2).sum())

    def __call__(self, vector: Floats) -> tuple[float, Floats]:
        weights = self.unpacked(vector)
        left, right = (
            self.kind.left.forward(self.queries, weights),
            self.kind.right.forward(self.items, weights),
        )
        loss, of_left, of_right = self.contrast(left, right)
        if self.back is not None:
            loss_back, back_right, back_left = self.back(right, left)
            loss = (loss + loss_back) / 2
            of_left, of_right = (of_left + back_left) / 2, (of_right + back_right) / 2
        gradient = {
            **self.kind.left.backward(self.queries, weights, of_left),
            **self.kind.right.backward(self.items, weights, of_right),
        }
        return loss + self.pull(vector), self.packed(gradient) + 2 * self.decay * (
            vector - self.start
        )
