"""Who judges what, and in which order: the same for the same seed, and blind.

An item is for everybody, or for whoever grades it first: a hash of the seed, the query and the item
says which, so that it depends neither on who comes nor on what else there is to judge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b

from judged.judgements.annotators.log import Log, Place, Standing

OVERLAP = 1.0
"""The share of items that everybody judges, unless another is chosen."""


def is_shared(place: Place, *, seed: int = 0, overlap: float = OVERLAP) -> bool:
    """Whether an item is for everybody.

    >>> is_shared(("q1", "d1")), is_shared(("q1", "d1"), overlap=0)
    (True, False)
    """
    return _drawn(seed, "overlap", *place) < overlap


def _drawn(seed: int, *words: str) -> float:
    """A number from 0 to 1 that looks random and is always the same."""
    text = "\0".join((str(seed), *(f"{len(word)}:{word}" for word in words)))
    held = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(held, "big") / 2.0**64


@dataclass(frozen=True, eq=False)
class Worklist:
    """What one annotator has to judge, in the order of that annotator."""

    places: tuple[Place, ...]
    """Queries as they came, the items of each shuffled; what is graded already included."""
    log: Log

    def standing(self, place: Place) -> Standing:
        """How an item stands with the annotator."""
        return self.log.standing.get(place, Standing())

    def is_open(self, place: Place, *, skipped: bool = False) -> bool:
        """Whether an item waits for a grade; those that were skipped only where they are wanted."""
        standing = self.standing(place)
        return standing.grade is None and (skipped or not standing.skipped)

    @cached_property
    def open_by_query(self) -> dict[str, int]:
        """How many items wait, for each query where some do."""
        return dict(Counter(place[0] for place in self.places if self.is_open(place)))

    @cached_property
    def done(self) -> int:
        """How many items have a grade."""
        return sum(self.standing(place).grade is not None for place in self.places)

    @cached_property
    def skipped(self) -> int:
        """How many items were skipped."""
        return sum(self.standing(place).skipped for place in self.places)

    @cached_property
    def _at(self) -> dict[Place, int]:
        return {place: at for at, place in enumerate(self.places)}

    def neighbour(self, place: Place, step: int) -> Place | None:
        """The item that many places further on, or back; None where there is none."""
        at = self._at.get(place)
        if at is None or not 0 <= at + step < len(self.places):
            return None
        return self.places[at + step]

    def next_open(self, after: Place | None = None, *, skipped: bool = False) -> Place | None:
        """The next item that waits, after one and around the end; None where none does.

        Parameters
        ----------
        after : tuple of str, optional
            A query and an item; by default the search begins at the beginning.
        skipped : bool, optional
            Whether items that were skipped wait too.

        Returns
        -------
        tuple of str or None
        """
        begin = self._at.get(after, -1) + 1 if after is not None else 0
        order = (*self.places[begin:], *self.places[:begin])
        return next((place for place in order if self.is_open(place, skipped=skipped)), None)


def worklist(
    places: Iterable[Place],
    name: str,
    log: Log,
    *,
    taken: Collection[Place] = (),
    seed: int = 0,
    overlap: float = OVERLAP,
) -> Worklist:
    """What an annotator has to judge.

    Parameters
    ----------
    places : iterable of (query, item)
        What there is to judge: queries in the order in which they are judged.
    name : str
        Who judges: the items of a query are shuffled for each annotator.
    log : Log
        What the annotator judged already.
    taken : collection of (query, item), optional
        What others graded: it is left out, unless it is for everybody or this annotator judged it
        too.
    seed : int, optional
        The seed of the order and of what is for everybody.
    overlap : float, optional
        The share of items that everybody judges.

    Returns
    -------
    Worklist

    >>> mine = worklist([("q", "a"), ("q", "b")], "ar", Log(), taken={("q", "a")}, overlap=0)
    >>> mine.places
    (('q', 'b'),)
    """
    mine = _ordered(tuple(places), name, seed)
    if taken and overlap < 1:
        mine = tuple(
            place
            for place in mine
            if place not in taken
            or place in log.standing
            or is_shared(place, seed=seed, overlap=overlap)
        )
    return Worklist(mine, log)


@lru_cache(maxsize=16)
def _ordered(places: tuple[Place, ...], name: str, seed: int) -> tuple[Place, ...]:
    """Queries as they came, the items of each shuffled for an annotator. It is asked for at every
    key, and does not change with what was judged."""
    by_query: dict[str, dict[str, float]] = {}
    for query, item in places:
        by_query.setdefault(query, {})[item] = _drawn(seed, name, query, item)
    return tuple(
        (query, item)
        for query, items in by_query.items()
        for item in sorted(items, key=lambda each: (items[each], each))
    )
