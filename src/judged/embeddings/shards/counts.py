"""What a shard of the items counts for each relevant item; counts of shards add up."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats, Ints, freeze, ordinals
from judged.embeddings.shards.files import read, write
from judged.errors import InputError
from judged.text import counted, few

if TYPE_CHECKING:
    from judged.options import Path


@dataclass(frozen=True, eq=False)
class Firsts:
    """The first items of each query, query after query, the best first."""

    lengths: Ints
    items: tuple[str, ...]
    scores: Floats

    @property
    def row(self) -> Ints:
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def merged(self, other: Firsts, k: int) -> Firsts:
        """The first k of both: by score, and tied ones by id, descending on bytes."""
        import polars as pl

        row = np.concatenate([self.row, other.row])
        score = np.concatenate([self.scores, other.scores])
        names = pl.Series((*self.items, *other.items), dtype=pl.String)
        number = names.rank("dense", descending=True).to_numpy().astype(np.int64)
        pairs, at, times = np.unique(
            row * (len(names) + 1) + number, return_index=True, return_counts=True
        )
        if len(pairs) < len(row):
            raise InputError(twice(sorted({names[int(each)] for each in at[times > 1]})))
        order = np.lexsort((number, -score, row))
        order = order[ordinals(row[order], len(self.lengths)) <= k]
        lengths = np.bincount(row[order], minlength=len(self.lengths))
        return Firsts(lengths, tuple(names.gather(order).to_list()), score[order])


def twice(items: list[str]) -> str:
    """The message for items that were counted before."""
    return (
        f"{counted(len(items), 'item is', 'items are')} in two shards ({few(items)}); every item "
        "is counted once, so it must be in one shard only."
    )


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """What some shards hold above each relevant item, and level with it; `+` adds others up.

    >>> import judged
    >>> ready = judged.shards.prepare([[1.0, 0.0]], [[1.0, 1.0]], {"0": {"a": 1}}, item_ids=["a"])
    >>> ready.count(["b"], [[1.0, 0.1]]) + ready.count(["c", "d"], [[0.0, 1.0], [1.0, 0.2]])
    <Counts: 3 items of 2 shards>
    """

    of: str
    """The fingerprint of what they are counts of."""
    above: Ints
    """For each relevant pair how many items have a greater score."""
    level: Ints
    """How many have a score as great, or greater."""
    before: Ints
    """How many items that tie with it stand before it, by id."""
    ranked: Ints
    """How many items each query ranks: all but those excluded."""
    items: int
    """How many items these are, without those that `prepare` was given."""
    met: frozenset[str] = frozenset()
    """The items of `prepare` that were met in the shards, where they are not counted again."""
    shards: frozenset[str] = frozenset()
    """A fingerprint of each shard's ids."""
    firsts: Firsts | None = None
    """The first k items of each query, where they were asked for."""
    k: int | None = None
    """How many."""

    def __post_init__(self) -> None:
        freeze(self)

    def __repr__(self) -> str:
        return f"<Counts: {counted(self.items, 'item')} of {counted(len(self.shards), 'shard')}>"

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        if self.of != other.of:
            raise InputError(
                "these counts are of different queries, judged items, relevance or options; only "
                "what was counted for one `prepare` adds up."
            )
        if self.shards & other.shards:
            raise InputError("one shard was counted twice: its ids are those of another shard.")
        if self.met & other.met:
            raise InputError(twice(sorted(self.met & other.met)))
        firsts = self.firsts
        if firsts is not None and other.firsts is not None and self.k is not None:
            firsts = firsts.merged(other.firsts, self.k)
        return replace(
            self,
            above=self.above + other.above,
            level=self.level + other.level,
            before=self.before + other.before,
            ranked=self.ranked + other.ranked,
            items=self.items + other.items,
            met=self.met | other.met,
            shards=self.shards | other.shards,
            firsts=firsts,
        )

    def __radd__(self, other: Any) -> Counts:
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write them to a .npz file, whole or not at all; `judged.shards.load` reads it.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write.

        >>> import judged
        >>> ready = judged.shards.prepare([[1.0]], [[1.0]], {"0": {"0": 1}})
        >>> ready.count(["b"], [[2.0]]).save("/dev/null")
        """
        write_counts(self, path)


_NUMBERS = ("above", "level", "before", "ranked")
_FIRSTS = ("first_lengths", "first_scores")


def write_counts(
    counts: Counts, path: str | os.PathLike[str], more: dict[str, Any] | None = None
) -> None:
    """Write counts, whole or not at all; `more` is kept with them."""
    arrays = {name: getattr(counts, name) for name in _NUMBERS}
    firsts = counts.firsts
    if firsts is not None:
        arrays |= dict(zip(_FIRSTS, (firsts.lengths, firsts.scores), strict=True))
    about = {
        "of": counts.of,
        "items": counts.items,
        "met": sorted(counts.met),
        "shards": sorted(counts.shards),
        "k": counts.k,
        "firsts": None if firsts is None else list(firsts.items),
        "more": more or {},
    }
    write(path, arrays, about)


def read_counts(path: Path) -> tuple[Counts, dict[str, Any]]:
    """Counts and what is kept with them."""
    arrays, about = read(path)
    firsts = None
    if about["firsts"] is not None:
        lengths, scores = (arrays[name] for name in _FIRSTS)
        firsts = Firsts(lengths, tuple(about["firsts"]), scores)
    counts = Counts(
        of=about["of"],
        **{name: arrays[name] for name in _NUMBERS},
        items=about["items"],
        met=frozenset(about["met"]),
        shards=frozenset(about["shards"]),
        firsts=firsts,
        k=about["k"],
    )
    return counts, about["more"]


def load(path: Path) -> Counts:
    """Counts from a file that `Counts.save` or `judged embeddings --part` wrote.

    Parameters
    ----------
    path : Path
        The .npz file.

    Returns
    -------
    Counts

    >>> load("no such file.npz")
    Traceback (most recent call last):
    judged.errors.InputError: no such file.npz: no such file.
    """
    return read_counts(path)[0]
