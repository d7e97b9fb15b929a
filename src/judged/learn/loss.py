"""The contrastive loss and its gradient, in closed form and double precision, a block of queries at
a time.

A score s/t enters by its distance from the greatest of its row, so nothing overflows at any
temperature t.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from judged.embeddings.relations import Pairs
from judged.learn.subsets import pairs_of
from judged.segments import Floats, Ints, starts_of
from judged.similarity.maps import Kind, Weights

HIGHEST = 512
"""More queries at a time make no product faster."""


def _softmax(scores: Floats) -> tuple[Floats, Floats]:
    """In place, the softmax of each row, minus infinity being nobody's score; and the logarithm of
    each row's sum.

    A row without any score becomes zeros, and its sum's logarithm minus infinity.
    """
    top = scores.max(axis=1)
    base = np.where(np.isfinite(top), top, 0.0)
    scores -= base[:, None]
    np.exp(scores, out=scores)
    total = scores.sum(axis=1)
    some = np.where(total > 0, total, 1.0)
    scores /= some[:, None]
    return scores, np.where(total > 0, base + np.log(some), -np.inf)


def _mean(values: Floats, row: Ints, lengths: Ints) -> Floats:
    return np.bincount(row, values, minlength=len(lengths)) / lengths


def _each(scores: Floats, pairs: Pairs) -> tuple[Floats, Floats]:
    row, item = pairs.row, pairs.item
    own = scores[row, item]
    share, total = _softmax(scores)
    share[row, item] -= 1 / pairs.lengths[row]
    return _mean(total[row] - own, row, pairs.lengths), share


def _any(scores: Floats, pairs: Pairs) -> tuple[Floats, Floats]:
    row, item = pairs.row, pairs.item
    own = scores[row, item]
    top = np.maximum.reduceat(own, starts_of(pairs.lengths))
    sums = np.bincount(row, np.exp(own - top[row]), minlength=len(top))
    together = top + np.log(sums)
    share, total = _softmax(scores)
    share[row, item] -= np.exp(own - together[row])
    return total - together, share


def _apart(scores: Floats, pairs: Pairs) -> tuple[Floats, Floats]:
    row, item = pairs.row, pairs.item
    own = scores[row, item]
    scores[row, item] = -np.inf
    share, others = _softmax(scores)
    ahead = others[row] - own
    wrong = np.exp(
        -np.logaddexp(0.0, -ahead)
    )  # how likely the negatives are drawn before this positive
    share *= _mean(wrong, row, pairs.lengths)[:, None]
    share[row, item] = -wrong / pairs.lengths[row]
    return _mean(np.logaddexp(0.0, ahead), row, pairs.lengths), share


Rule = Callable[[Floats, Pairs], tuple[Floats, Floats]]
RULES: dict[str, Rule] = {"each": _each, "any": _any, "apart": _apart}
"""By the names of POSITIVES: scores over temperature (which are overwritten) to the loss of each
query and its gradient."""


@dataclass(frozen=True, eq=False)
class Contrast:
    """The loss of one direction: the mean over all who have a positive."""

    positives: Pairs
    """At least one in all."""
    excluded: Pairs | None
    """Pairs that are no candidates; none of them a positive."""
    temperature: float
    rule: str
    memory: int
    """Bytes for a block of scores."""

    def __call__(self, left: Floats, right: Floats) -> tuple[float, Floats, Floats]:
        """The loss, and its gradients with respect to the vectors of both sides."""
        rows = np.flatnonzero(self.positives.lengths)
        step = min(max(1, self.memory // (len(right) * 8 * 2)), HIGHEST)
        loss, of_left, of_right = 0.0, np.zeros_like(left), np.zeros_like(right)
        for begin in range(0, len(rows), step):
            some = rows[begin : begin + step]
            scores = (left[some] / self.temperature) @ right.T
            if self.excluded is not None:
                gone = pairs_of(self.excluded, some)
                scores[gone.row, gone.item] = -np.inf
            losses, share = RULES[self.rule](scores, pairs_of(self.positives, some))
            loss += float(losses.sum())
            of_left[some] = share @ right
            of_right += share.T @ left[some]
        scale = 1 / (self.temperature * len(rows))
        return loss / len(rows), of_left * scale, of_right * scale

    def turned_round(self, columns: int) -> Contrast:
        """The other direction: the same pairs, seen from the other side, which has so many vectors."""

        def turned(pairs: Pairs) -> Pairs:
            order = np.argsort(pairs.item, kind="stable")
            return Pairs(
                np.bincount(pairs.item, minlength=columns), pairs.row[order], pairs.grade[order]
            )

        excluded = None if self.excluded is None else turned(self.excluded)
        return replace(self, positives=turned(self.positives), excluded=excluded)


class Objective:
    """The loss as a function of all weights in one vector, for an optimiser.

    `both` adds the items' search for queries and halves the sum; `decay` adds decay·|weights -
    start|².
    """

    def __init__(
        self,
        kind: Kind,
        queries: Floats,
        items: Floats,
        contrast: Contrast,
        start: Weights,
        *,
        both: bool = False,
        decay: float = 0.0,
    ) -> None:
        self.kind, self.queries, self.items, self.decay = kind, queries, items, decay
        self.contrast, self.back = contrast, contrast.turned_round(len(items)) if both else None
        self._shapes = {name: start[name].shape for name in kind.names}
        self.start = self.packed(start)

    def packed(self, weights: Weights) -> Floats:
        """All weights in one vector."""
        return np.concatenate([np.ravel(weights[name]) for name in self._shapes]).astype(np.float64)

    def unpacked(self, vector: Floats) -> Weights:
        """The way back."""
        ends = np.cumsum([np.prod(shape) for shape in self._shapes.values()])
        parts = np.split(vector, ends[:-1])
        return {
            name: part.reshape(shape)
            for (name, shape), part in zip(self._shapes.items(), parts, strict=True)
        }

    def pull(self, vector: Floats) -> float:
        """What `decay` adds to the loss."""
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
