"""The items that the loss looks at: none that is a query of another part, and no more than were
asked for."""

from __future__ import annotations

import numpy as np

from judged.arrays import Ints
from judged.embeddings.learned import known, marks_of
from judged.inputs.vectors.vectors import Vectors
from judged.learning.learn.data import Data, pairs_of
from judged.learning.learn.split import TRAINING, Split
from judged.text import counted


def candidates_of(
    data: Data, split: Split, *, wanted: int | None, seed: int
) -> tuple[Ints, list[str]]:
    """The items in ascending order, and notes; by default all that may be looked at."""
    relevant = np.unique(pairs_of(data.positives, split.training).item)
    allowed, notes = _allowed(data, split, relevant)
    if wanted is None:
        return allowed, notes
    relevant = np.intersect1d(allowed, relevant)
    others = np.setdiff1d(allowed, relevant, assume_unique=True)
    if wanted >= len(others):
        said = "There are no more items than candidates were asked for; all are candidates."
        return allowed, [*notes, said]
    drawn = np.random.default_rng([seed, 1]).choice(others, wanted, replace=False)
    said = (
        f"The loss looks at the {len(relevant):,} items relevant to training queries and at "
        f"{len(drawn):,} others, drawn by the seed; it is lower than that over all "
        f"{len(allowed):,}."
    )
    return np.union1d(relevant, drawn), [*notes, said]


def _allowed(data: Data, split: Split, relevant: Ints) -> tuple[Ints, list[str]]:
    """All items but those that are queries of the other parts: a similarity that puts these among
    their like knows such queries before they are asked."""
    if split.items is not None:
        return split.items[TRAINING], []
    every = np.arange(len(data.items))
    if data.queries.dims != data.items.dims:
        return every, []
    others = np.concatenate([split.validation, split.held_out])
    again = known(marks_of(data.items), marks_of(Vectors(data.queries.rows(others))))
    if not again.any():
        return every, []
    count = int(again.sum())
    are, were = ("is", "was") if count == 1 else ("are", "were")
    items = f"{counted(count, 'item')} that {are} validation or held-out queries {were}"
    if again[relevant].all():
        return every, [
            f"{items} looked at in training, for nothing else is relevant to training queries: "
            "numbers of these queries are too high."
        ]
    return every[~again], [f"{items} left out of the loss."]
