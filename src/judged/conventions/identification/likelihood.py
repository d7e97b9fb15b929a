"""Which definitions give the number, and which of them is the likeliest: the one nearest to what is
in use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.conventions.identification.candidates import Space
from judged.conventions.identification.grid import OPTIONS, Grid, Place, policy_at
from judged.conventions.identification.practice import OWN, Practice, practices
from judged.conventions.identification.printed import Asked, Reading
from judged.measures import Measure
from judged.measures.params import show
from judged.policy import Policy

ALMOST = 1e-11
"""Numbers that differ by less are the same: sums in another order differ in their last digits."""

DEPARTURE = 2
RARE = {
    "aggregate": 3,
    "log": 3,
    "p": 1,
    "max_grade": 1,
    "ties=best": 3,
    "ties=worst": 3,
    "empty=one": 3,
    "unjudged=removed": 3,
}
"""How far a departure leads away from what is in use, where it is not 2: what hardly anybody does
leads further, and parameters that everybody chooses for themselves lead less far."""
CUT = 2
"""That digits were cut off, and not rounded, is as unlikely as a departure."""


@dataclass(frozen=True)
class Definition:
    """A measure and a policy, and how near they are to what is in use."""

    measure: Measure
    """What is computed."""
    policy: Policy
    """Under which assumptions."""
    holds: Mapping[str, tuple[str, ...]]
    """For each choice of the policy the options that give the same number, the other choices being
    as in `policy`."""
    libraries: tuple[Practice, ...]
    """Who computes exactly this number by exactly this measure."""
    nearest: Practice
    """What is in use and differs least."""
    departures: tuple[str, ...]
    """In what the definition differs from that."""
    distance: int
    """The weight of these departures; 0 for what a library does."""

    def unusual(self) -> dict[str, tuple[str, ...]]:
        """The choices in which the policy must not be the usual one.

        Returns
        -------
        dict
            For each such choice the options that give this number.

        >>> from judged import identify
        >>> found = identify("1.0", {"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, "RR")
        >>> found.matches[0].definition.unusual()
        {'ties': ('input', 'best')}
        """
        usual = Policy().to_dict()
        return {choice: held for choice, held in self.holds.items() if usual[choice] not in held}


@dataclass(frozen=True)
class Match:
    """A number that fits, or comes near, and what gives it."""

    value: float
    """The number, exactly."""
    definition: Definition
    """The likeliest definition."""
    same: tuple[Definition, ...]
    """Other parameters of the same measure that a library uses and that give the same number here.
    """
    definitions: int
    """How many definitions that were tried give this number, by this measure."""
    percent: bool
    """Whether the number was read as a percentage."""
    cut: bool
    """Whether the value has to be cut off, and not rounded, to be the number."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """All numbers of a grid, and which of them are the same."""

    grid: Grid
    cluster: NDArray[np.int64] = field(init=False)
    """The number of each definition as an index of `centres`; -1 where there is none."""
    centres: Floats = field(init=False)
    """The distinct numbers, ascending."""

    def __post_init__(self) -> None:
        flat = self.grid.values.ravel()
        order = np.argsort(flat, kind="stable")
        order = order[: len(order) - int(np.isnan(flat).sum())]
        ordered = flat[order]
        new = np.ones(len(order), bool)
        new[1:] = np.diff(ordered) > ALMOST * np.maximum(1, np.abs(ordered[1:]))
        cluster = np.full(len(flat), -1)
        cluster[order] = np.cumsum(new) - 1
        object.__setattr__(self, "cluster", cluster.reshape(self.grid.values.shape))
        object.__setattr__(self, "centres", ordered[new])

    @property
    def tried(self) -> int:
        return int((self.cluster >= 0).sum())


class Ranker:
    """Finds the definitions of a number, and orders them."""

    def __init__(self, grid: Grid, spaces: Iterable[Space]) -> None:
        self.numbers = Numbers(grid)
        self.order = {measure: number for number, measure in enumerate(grid.measures)}
        self.known: dict[tuple[str, object], list[tuple[Practice, Place]]] = {}
        for space in spaces:
            for practice in practices(space):
                self.known.setdefault(_at(practice.measure), []).append(
                    (practice, self._place(practice))
                )

    def matches(self, asked: Asked) -> tuple[Match, ...]:
        """All numbers that fit, the likeliest definition first."""
        found = []
        for reading in asked.readings:
            fits = np.flatnonzero(reading.fits(self.numbers.centres))
            found += [match for centre in fits for match in self._with(int(centre), reading)]
        return tuple(sorted(found, key=self._likelihood))

    def nearest(self, asked: Asked, limit: int) -> tuple[Match, ...]:
        """The numbers that come nearest, the nearest first."""
        centres = self.numbers.centres
        found: list[tuple[float, Match]] = []
        for reading in asked.readings:
            away = np.abs(centres - reading.number) / reading.step
            for centre in np.argsort(away, kind="stable")[:limit]:
                found += [
                    (float(away[centre]), match) for match in self._with(int(centre), reading)
                ]
        found.sort(key=lambda pair: (pair[0], self._likelihood(pair[1])))
        return tuple(match for _, match in found[:limit])

    def in_use(self) -> Floats:
        """The distinct numbers of definitions that somebody uses as they are, ascending."""
        found = set()
        for practice, place in (each for known in self.known.values() for each in known):
            if practice.measure in self.order and -1 not in place:
                found.add(int(self.numbers.cluster[(self.order[practice.measure], *place)]))
        return self.numbers.centres[sorted(found - {-1})]

    def _likelihood(self, match: Match) -> tuple[float, ...]:
        best = match.definition
        return (best.distance + CUT * match.cut, -len(_users(best)), self.order[best.measure])

    def _with(self, centre: int, reading: Reading) -> list[Match]:
        """Everything that gives one number: a match for each measure."""
        grid, value = self.numbers.grid, self.numbers.centres[centre]
        here = self.numbers.cluster == centre
        names: dict[str, list[int]] = {}
        for row in np.flatnonzero(here.any(axis=(1, 2, 3, 4))):
            names.setdefault(grid.measures[row].spec.name, []).append(int(row))
        found = []
        for rows in names.values():
            definitions = sorted(
                (self._definition(grid.measures[row], here[row]) for row in rows),
                key=lambda each: (each.distance, len(str(each.measure)), self.order[each.measure]),
            )
            found.append(
                Match(
                    value=float(value),
                    definition=definitions[0],
                    same=_others(definitions),
                    definitions=int(here[rows].sum()),
                    percent=reading.percent,
                    cut=bool(reading.cut(np.array([value]))[0]),
                )
            )
        return found

    def _definition(self, measure: Measure, here: NDArray[np.bool_]) -> Definition:
        """A measure with the likeliest of the policies that give the number."""
        known, theirs = zip(*self.known[_at(measure)], strict=True)
        places: Ints = np.argwhere(here)
        base = np.array(
            [practice.far + sum(_weights(measure, practice).values()) for practice in known]
        )
        distance = base + sum(
            _weight_of(choice)[places[:, axis], None]
            * (places[:, axis, None] != np.array([place[axis] for place in theirs]))
            for axis, choice in enumerate(OPTIONS)
        )
        # Among equals, the policy that is nearest to the usual one.
        usual = np.sum(
            [
                _weight_of(choice)[places[:, axis]] * (places[:, axis] > 0)
                for axis, choice in enumerate(OPTIONS)
            ],
            0,
        )
        at, nearest = np.unravel_index(np.argmin(distance + usual[:, None] / 1000), distance.shape)
        place, practice = tuple(places[at].tolist()), known[nearest]
        departs = [f"{name}={show(measure.params[name])}" for name in _weights(measure, practice)]
        departs += [
            f"{choice}={OPTIONS[choice][own]}"
            for choice, own, other in zip(OPTIONS, place, theirs[nearest], strict=True)
            if own != other
        ]
        usual_place = _as_usual(here, place)
        users = [
            each
            for each, other, far in zip(known, theirs, base, strict=True)
            if far == each.far and -1 not in other and here[other]
        ]
        return Definition(
            measure=measure,
            policy=policy_at(usual_place),
            holds=_holding(here, usual_place),
            libraries=_shortest(users),
            nearest=practice,
            departures=tuple(departs),
            distance=int(distance[at, nearest]),
        )

    def _place(self, practice: Practice) -> Place:
        """The policy of a practice on the axes of the grid; -1 where it leads to no number."""
        found = (
            self.numbers.grid.option(practice.measure, choice, practice.policy[choice])
            for choice in OPTIONS
        )
        return tuple(-1 if at is None else at for at in found)


def _at(measure: Measure) -> tuple[str, object]:
    """Only definitions of the same measure at the same cutoff are compared."""
    return measure.spec.name, measure.params.get(measure.spec.at or "")


def _weights(measure: Measure, practice: Practice) -> dict[str, int]:
    """The parameters in which a measure departs from a practice, and how far each leads."""
    return {
        name: RARE.get(name, DEPARTURE)
        for (name, value), (_, other) in zip(measure.items, practice.measure.items, strict=True)
        if value != other
    }


def _weight_of(choice: str) -> Ints:
    """How far each option of a choice leads from another."""
    return np.array([RARE.get(f"{choice}={option}", DEPARTURE) for option in OPTIONS[choice]])


def _as_usual(here: NDArray[np.bool_], place: Place) -> Place:
    """The same policy with the usual option wherever that gives the same number."""
    for axis in range(len(place)):
        other = (*place[:axis], 0, *place[axis + 1 :])
        place = other if here[other] else place
    return place


def _holding(here: NDArray[np.bool_], place: Place) -> dict[str, tuple[str, ...]]:
    held = {}
    for axis, (choice, options) in enumerate(OPTIONS.items()):
        others = tuple(slice(None) if at == axis else index for at, index in enumerate(place))
        held[choice] = tuple(
            option for option, same in zip(options, here[others], strict=True) if same
        )
    return held


def _shortest(users: list[Practice]) -> tuple[Practice, ...]:
    """Each library once, with the fewest options; judged first, the others by name."""
    best: dict[str, Practice] = {}
    for practice in sorted(
        users, key=lambda each: (each.library != OWN, each.library.lower(), each.far)
    ):
        best.setdefault(practice.library, practice)
    return tuple(best.values())


def _others(definitions: list[Definition]) -> tuple[Definition, ...]:
    """The other parameters that a library uses; of those that differ in the cutoff only, one that
    adds a library."""
    best, *rest = definitions
    named = {_but_cutoff(best.measure): _users(best)}
    kept = []
    for each in rest:
        known = named.setdefault(_but_cutoff(each.measure), {OWN})
        if not _users(each) <= known:
            known |= _users(each)
            kept.append(each)
    return tuple(kept)


def _users(definition: Definition) -> set[str]:
    return {OWN} | {practice.library for practice in definition.libraries}


def _but_cutoff(measure: Measure) -> tuple[tuple[str, object], ...]:
    return tuple((name, value) for name, value in measure.items if name != measure.spec.at)


NEIGHBOURS = 20
"""So many numbers around the one that was asked for tell how dense they are."""


def chance(numbers: Floats, asked: Asked) -> float:
    """How many of some distinct numbers would fit if they had nothing to do with the one asked."""
    return sum(_expected(numbers, reading) for reading in asked.readings)


def _expected(centres: Floats, reading: Reading) -> float:
    """How many of the numbers an interval as long as the one that fits would hold: from their
    density around it."""
    others = np.sort(np.abs(centres[~reading.fits(centres)] - reading.number))
    if not len(others):
        return 0.0
    reach = max(others[:NEIGHBOURS][-1], 5 * reading.width)
    count = int((others <= reach).sum())
    return float(count * reading.width / (2 * reach - reading.width))
