"""Moves that would improve a value, and other definitions of its measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isclose, isnan

import numpy as np

from judged.conventions import conventions
from judged.errors import MeasureError
from judged.measures import Measure
from judged.measures.conventions import FREE, relatives
from judged.measures.registry import Choice
from judged.rankings.rankings import Rankings

CLOSE = 1e-12  # values closer than this are the same: sums in another order


@dataclass(frozen=True)
class Effect:
    """A measure's value before and after a change.

    >>> from judged import AP
    >>> effect = Effect(AP, 0.25, 0.5)
    >>> effect.difference, effect.better
    (0.25, True)
    """

    measure: Measure
    before: float
    after: float

    @property
    def difference(self) -> float:
        """The change of the value; NaN if a value is undefined."""
        return self.after - self.before

    @property
    def moved(self) -> bool:
        """True if the value changed, or became defined or undefined."""
        if isnan(self.before) or isnan(self.after):
            return isnan(self.before) != isnan(self.after)
        return self.before != self.after and not abs(self.difference) <= CLOSE

    @property
    def better(self) -> bool | None:
        """True if the value is better; None if it is the same, or neither good nor bad."""
        if not self.moved or isnan(self.difference) or not self.measure.spec.rates_relevance:
            return None
        return (self.difference > 0) == self.measure.spec.higher_is_better


@dataclass(frozen=True)
class Variant:
    """Another definition of the same measure, its value, and who has it."""

    measure: Measure
    value: float
    says: str  # what differs, in words
    libraries: tuple[tuple[str, str], ...] = ()  # the library, and what it calls it


def variants(measure: Measure, value: float, r: Rankings) -> tuple[Variant, ...]:
    """Return other definitions with another value: those of libraries first."""
    other_definitions = []
    for other, difference, libraries in _definitions(measure):
        try:
            other_value = float(other.compute_as_ranked(r)[0])
        except MeasureError:  # it needs what the measure lacks, such as a k
            continue
        if not isnan(other_value) and not isclose(other_value, value, rel_tol=1e-9, abs_tol=CLOSE):
            other_definitions.append(Variant(other, other_value, difference, libraries))
    return tuple(sorted(other_definitions, key=lambda variant: -len(variant.libraries)))


@lru_cache(maxsize=256)
def _definitions(measure: Measure) -> list[tuple[Measure, str, tuple[tuple[str, str], ...]]]:
    """Return other definitions, how they differ, and the libraries that have them."""
    users: dict[Measure, dict[str, str]] = {}
    for convention in conventions().values():
        for named in relatives(convention, measure):
            other = named.measure
            if other.spec is measure.spec and other.cutoff == measure.cutoff:
                other = other(**{key: measure.params[key] for key in FREE if key in other.params})
                users.setdefault(other, {})[convention.title] = named.theirs
    for param in measure.spec.params:
        if isinstance(param, Choice) and param.name not in ("aggregate", "average"):
            for option in param.options:
                users.setdefault(measure(**{param.name: option}), {})
    users.pop(measure, None)
    return [
        (other, _difference(measure, other), tuple(libraries.items()))
        for other, libraries in users.items()
    ]


def _difference(measure: Measure, other: Measure) -> str:
    changed = [
        param.describe(other.params[param.name])
        for param in measure.spec.params
        if other.params[param.name] != measure.params[param.name]
    ]
    return "; ".join(changed)


PLACES = 10  # ranks that items are moved to
MOVERS = 40  # results, and items that were not retrieved, that are moved


@dataclass(frozen=True)
class Change:
    """One move and what it is worth."""

    rank: int | None  # None if the item was not retrieved
    grade: float
    to: int  # the new rank
    value: float  # of the measure after the move
    gain: float  # improvement of the value, positive


Move = tuple[int | None, int | None, float, int]
"""Rank (None if it was not retrieved), item (None without ids), grade and new rank of an item."""


def best_change(measure: Measure, value: float, r: Rankings) -> Change | None:
    """Return the shortest best move of one item; None if no move helps."""
    moves = list(_moves(r))
    if not moves or isnan(value) or not measure.spec.rates_relevance:
        return None
    values = measure.compute_as_ranked(_all_moved(r, moves))
    with np.errstate(invalid="ignore"):
        gains = values - value if measure.spec.higher_is_better else value - values
    # From infinity to infinity is no gain.
    gains = np.where(np.isnan(gains), 0.0, gains)
    best = float(gains.max())
    if best <= CLOSE:
        return None
    good = [at for at, gain in enumerate(gains.tolist()) if gain >= best - CLOSE or gain == best]

    def costs(at: int) -> tuple[bool, int, int]:
        rank, _, _, to = moves[at]
        return rank is None, (rank or 0) - to, -to

    at = min(good, key=costs)
    rank, _, grade, to = moves[at]
    return Change(rank, grade, to, float(values[at]), best)


def _moves(r: Rankings) -> Iterator[Move]:
    """Each better item to each place above it that a worse one holds, in the list's order."""
    ranks, grades = r.hit_rank.tolist(), r.hit_grade.tolist()
    at = dict(zip(ranks, grades, strict=True))
    places = range(1, min(int(r.retrieved[0]), PLACES) + 1)
    items = None if r.hit_item is None else r.hit_item.tolist()
    movers = [number for number, grade in enumerate(grades) if grade > 0][:MOVERS]
    for number in movers:
        for to in places:
            if to < ranks[number] and (items is not None or at.get(to, 0.0) < grades[number]):
                item = None if items is None else items[number]
                yield ranks[number], item, grades[number], to
    for item, grade in _lost(r):
        for to in places:
            if items is not None or at.get(to, 0.0) < grade:
                yield None, item, grade, to


def _lost(r: Rankings) -> Sequence[tuple[int | None, float]]:
    """Return relevant items not retrieved: one per grade, or all if there are subtopics."""
    if r.subtopics is not None and r.hit_item is not None:
        best: dict[int, float] = {}
        for item, grade in zip(r.subtopics.item.tolist(), r.subtopics.grade.tolist(), strict=True):
            best[item] = max(grade, best.get(item, grade))
        listed = set(r.hit_item.tolist())
        return [(item, grade) for item, grade in best.items() if item not in listed and grade > 0][
            :MOVERS
        ]
    left = Counter(r.pool_grade.tolist()) - Counter(r.hit_grade.tolist())
    return [(None, grade) for grade in left if grade > 0][:MOVERS]


def _all_moved(r: Rankings, moves: list[Move]) -> Rankings:
    """Return the query once for each move, with its hits after the move."""
    hits = [_after(r, move) for move in moves]
    flat = np.array([row for rows in hits for row in rows], dtype=np.float64).reshape(-1, 3)
    copies = replace(r, whole=None, hit_tie_first=None, hit_tie_last=None).take([0] * len(moves))
    return replace(
        copies,
        missing=np.zeros(len(moves), bool),
        hit_query=np.repeat(np.arange(len(moves)), list(map(len, hits))),
        hit_rank=flat[:, 0].astype(np.int64),
        hit_grade=flat[:, 1],
        hit_item=None if r.hit_item is None else flat[:, 2].astype(np.int64),
    )


def _after(r: Rankings, move: Move) -> list[tuple[int, float, int]]:
    """Return rank, grade and item of each hit after a swap, or after a new item came in."""
    items = [0] * len(r.hit_rank) if r.hit_item is None else r.hit_item.tolist()
    rows = {
        rank: (grade, item)
        for rank, grade, item in zip(r.hit_rank.tolist(), r.hit_grade.tolist(), items, strict=True)
    }
    old, moved_item, moved_grade, new = move
    displaced = rows.pop(new, None)
    if old is None:
        rows[new] = (moved_grade, moved_item or 0)
    else:
        rows[new] = rows.pop(old)
        if displaced is not None:
            rows[old] = displaced
    return [(rank, *rows[rank]) for rank in sorted(rows)]
