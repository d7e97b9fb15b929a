"""Find the definitions that give a number, the likeliest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.conventions.candidates import (
    OPTIONS,
    OWN,
    Grid,
    NumberReading,
    Place,
    Practice,
    PrintedNumber,
    Space,
    all_rankings,
    compute,
    measures_in,
    policy_at,
    practices,
    spaces,
)
from judged.conventions.disagreement import variants_of
from judged.errors import InputError, quoted
from judged.measures import Measure
from judged.measures.registry import show
from judged.options import (
    JudgementsLike,
    MeasuresLike,
    RunLike,
    Scoring,
    checked,
    later,
    takes_scoring,
)
from judged.policy import Policy
from judged.rankings.audit import audit_of
from judged.results import Display, Document, Frame, Result, ResultPart, Table
from judged.text import Left, counted

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
else:  # loaded by `typing.get_type_hints` only
    Evaluation = later("judged:Evaluation")

NEAREST = 5  # number of nearest values that are shown if none fits
MAX_EXPLANATIONS = 10  # default number of explanations in text and tables
MAX_NAME = 40  # characters of a measure that fit beside the libraries in 80 columns
MAX_LIBRARIES = 4  # number of libraries that are named in a row


@takes_scoring
@checked
def identify(
    value: str | float,
    judgements: JudgementsLike | Evaluation,
    run: RunLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    limit: int | None = MAX_EXPLANATIONS,
    **scoring: Unpack[Scoring],
) -> Identification:
    """Find the measures, parameters and policies that give a printed number.

    Parameters
    ----------
    value : str or float
        The number. A text keeps digits that a number loses: "0.450" is not "0.45".
    judgements : JudgementsLike or Evaluation
        A file, a dict {query: {item: grade}}, or a table; or an evaluation of one run.
    run : RunLike, optional
        A file, a dict {query: {item: score}} or {query: [items, best first]}, or a table. None if
        `judgements` are rows that hold relevant and retrieved ids.
    measures : MeasuresLike, optional
        Search only these, and vary the parameters and cutoffs that they leave open; by default
        search the common measures.
    limit : int or None, optional
        Number of explanations in text and tables; None for all.
    **scoring

    >>> run = {"q": {"a": 0.9, "x": 0.8, "b": 0.7}}
    >>> identify("0.833", {"q": {"a": 1, "b": 1}}, run, "AP").matches[0].definition.measure
    AP
    """
    printed = PrintedNumber.of(value)
    variants, _ = variants_of("identify", judgements, run, scoring)
    tried = spaces(measures, variants.usual)
    grid = compute(
        (measure for space in tried for measure in measures_in(space)), all_rankings(variants)
    )
    ranker = Ranker(grid, tried)
    matches, in_use = ranker.matches(printed), ranker.in_use()
    return Identification(
        asked=printed,
        matches=matches,
        tried=int((ranker.cluster >= 0).sum()),
        distinct=len(ranker.centres),
        chance=chance(ranker.centres, printed),
        in_use=len(in_use),
        in_use_chance=chance(in_use, printed),
        nearest=() if matches else ranker.nearest(printed, NEAREST),
        idle=grid.idle,
        notes=audit_of(variants.usual).warnings,
        untried=grid.untried,
        limit=limit,
    )


ALMOST = 1e-11  # values that differ by less are the same; sums in another order differ by rounding

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
"""Weights of departures from practice, if not 2: rare choices weigh more, free parameters less."""
CUT = 2  # weight of digits that were cut off instead of rounded


@dataclass(frozen=True)
class MatchedDefinition(ResultPart):
    """A measure and a policy, and how near they are to practice."""

    measure: Measure
    policy: Policy
    holds: Mapping[str, tuple[str, ...]]
    """Options of each choice that give the same value, the other choices being as in `policy`."""
    libraries: tuple[Practice, ...]
    """Libraries that compute exactly this value by exactly this measure."""
    nearest: Practice  # the practice that differs least
    departures: tuple[str, ...]  # differences from that practice
    distance: int  # weight of these differences; 0 for a practice of a library

    def unusual(self) -> dict[str, tuple[str, ...]]:
        """Return the choices that must differ from the default policy, and their options.

        >>> from judged import identify
        >>> result = identify("1.0", {"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, "RR")
        >>> result.matches[0].definition.unusual()
        {'ties': ('input', 'best')}
        """
        usual = Policy().to_dict()
        return {choice: held for choice, held in self.holds.items() if usual[choice] not in held}

    def users(self) -> str:
        """Return the libraries that compute this, or the nearest practice."""
        if not self.libraries:
            own = self.nearest.library == OWN
            nearest = f"{OWN}'s default" if own else self.nearest.said
            return ", but ".join(filter(None, [nearest, ", ".join(self.departures)]))
        first = sorted(self.libraries, key=lambda practice: practice.far)
        names = ", ".join(practice.said for practice in first[:MAX_LIBRARIES])
        more = len(first) - MAX_LIBRARIES
        return f"{names} and {more} more" if more > 0 else names

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "measure": str(self.measure)}


@dataclass(frozen=True)
class NumberMatch:
    """A value that fits, or is near, and the definitions that give it."""

    value: float  # the exact value
    definition: MatchedDefinition  # the likeliest definition
    same: tuple[MatchedDefinition, ...]
    """Other parameters of the measure that a library uses and that give the same value here."""
    definitions: int  # number of tried definitions of this measure that give this value
    percent: bool  # whether the number was read as a percentage
    cut: bool  # whether the value must be cut off instead of rounded

    def to_dict(self) -> dict[str, Any]:
        return {
            "value": self.value,
            "percent": self.percent,
            "cut": self.cut,
            "definitions": self.definitions,
            **self.definition.to_dict(),
            "same": [definition.to_dict() for definition in self.same],
        }


def number_values(values: Floats) -> tuple[Ints, Floats]:
    """Return the number of each value among the distinct ones (-1 for NaN), and these."""
    flat = values.ravel()
    order = np.argsort(flat, kind="stable")
    order = order[: len(order) - int(np.isnan(flat).sum())]
    ordered = flat[order]
    new = np.ones(len(order), bool)
    new[1:] = np.diff(ordered) > ALMOST * np.maximum(1, np.abs(ordered[1:]))
    numbers = np.full(len(flat), -1)
    numbers[order] = np.cumsum(new) - 1
    return numbers.reshape(values.shape), ordered[new]


class Ranker:
    """Finds the definitions of a number and orders them by likelihood."""

    def __init__(self, grid: Grid, spaces: Iterable[Space]) -> None:
        self.grid = grid
        self.cluster, self.centres = number_values(grid.values)
        self.order = {measure: number for number, measure in enumerate(grid.measures)}
        self.known: dict[tuple[str, object], list[tuple[Practice, Place]]] = {}
        for space in spaces:
            for practice in practices(space):
                self.known.setdefault(_at(practice.measure), []).append(
                    (practice, self._place(practice))
                )

    def matches(self, asked: PrintedNumber) -> tuple[NumberMatch, ...]:
        """Return all values that fit, the likeliest definition first."""
        found = []
        for reading in asked.readings:
            fits = np.flatnonzero(reading.fits(self.centres))
            found += [match for centre in fits for match in self._with(int(centre), reading)]
        return tuple(sorted(found, key=self._likelihood))

    def nearest(self, asked: PrintedNumber, limit: int) -> tuple[NumberMatch, ...]:
        """Return the nearest values, the nearest first."""
        found: list[tuple[float, NumberMatch]] = []
        for reading in asked.readings:
            away = np.abs(self.centres - reading.number) / reading.step
            for centre in np.argsort(away, kind="stable")[:limit]:
                found += [
                    (float(away[centre]), match) for match in self._with(int(centre), reading)
                ]
        found.sort(key=lambda pair: (pair[0], self._likelihood(pair[1])))
        return tuple(match for _, match in found[:limit])

    def in_use(self) -> Floats:
        """Return the distinct values of practices, ascending."""
        found = set()
        for practice, place in (each for known in self.known.values() for each in known):
            if practice.measure in self.order and -1 not in place:
                found.add(int(self.cluster[(self.order[practice.measure], *place)]))
        return self.centres[sorted(found - {-1})]

    def _likelihood(self, match: NumberMatch) -> tuple[float, ...]:
        best = match.definition
        return (best.distance + CUT * match.cut, -len(_users(best)), self.order[best.measure])

    def _with(self, centre: int, reading: NumberReading) -> list[NumberMatch]:
        grid, value = self.grid, float(self.centres[centre])
        here = self.cluster == centre
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
                NumberMatch(
                    value=value,
                    definition=definitions[0],
                    same=_others(definitions),
                    definitions=int(here[rows].sum()),
                    percent=reading.percent,
                    cut=bool(reading.cut(np.array([value]))[0]),
                )
            )
        return found

    def _definition(self, measure: Measure, here: NDArray[np.bool_]) -> MatchedDefinition:
        """Return a measure with the likeliest of the policies that give a value."""
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
        # Among equals, prefer the policy nearest to the default.
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
        return MatchedDefinition(
            measure=measure,
            policy=policy_at(usual_place),
            holds=_holding(here, usual_place),
            libraries=_shortest(users),
            nearest=practice,
            departures=tuple(departs),
            distance=int(distance[at, nearest]),
        )

    def _place(self, practice: Practice) -> Place:
        """Return the policy of a practice on the axes of the grid; -1 if it gives no number."""
        found = (
            self.grid.option(practice.measure, choice, practice.policy[choice])
            for choice in OPTIONS
        )
        return tuple(-1 if at is None else at for at in found)


def _at(measure: Measure) -> tuple[str, object]:
    """Return measure and cutoff: only definitions that share them are compared."""
    return measure.spec.name, measure.cutoff


def _weights(measure: Measure, practice: Practice) -> dict[str, int]:
    """Return the parameters in which a measure differs from a practice, with their weights."""
    return {
        name: RARE.get(name, DEPARTURE)
        for (name, value), (_, other) in zip(measure.items, practice.measure.items, strict=True)
        if value != other
    }


def _weight_of(choice: str) -> Ints:
    return np.array([RARE.get(f"{choice}={option}", DEPARTURE) for option in OPTIONS[choice]])


def _as_usual(here: NDArray[np.bool_], place: Place) -> Place:
    """Return the policy with default options wherever they give the same value."""
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
    """Return each library once, with the fewest options; judged first, others by name."""
    best: dict[str, Practice] = {}
    for practice in sorted(
        users, key=lambda each: (each.library != OWN, each.library.lower(), each.far)
    ):
        best.setdefault(practice.library, practice)
    return tuple(best.values())


def _others(definitions: list[MatchedDefinition]) -> tuple[MatchedDefinition, ...]:
    """Return other parameters that add a library; cutoffs alone do not count as different."""
    best, *rest = definitions
    named = {_but_cutoff(best.measure): _users(best)}
    kept = []
    for each in rest:
        known = named.setdefault(_but_cutoff(each.measure), {OWN})
        if not _users(each) <= known:
            known |= _users(each)
            kept.append(each)
    return tuple(kept)


def _users(definition: MatchedDefinition) -> set[str]:
    return {OWN} | {practice.library for practice in definition.libraries}


def _but_cutoff(measure: Measure) -> tuple[tuple[str, object], ...]:
    return tuple((name, value) for name, value in measure.items if name != measure.spec.at)


NEIGHBOURS = 20  # number of values around the printed one that their density is estimated from


def chance(numbers: Floats, asked: PrintedNumber) -> float:
    """Return how many distinct values are expected to fit a number by chance."""
    return sum(_expected(numbers, reading) for reading in asked.readings)


def _expected(centres: Floats, reading: NumberReading) -> float:
    """Return how many values an interval as long as the fitting one would hold."""
    others = np.sort(np.abs(centres[~reading.fits(centres)] - reading.number))
    if not len(others):
        return 0.0
    reach = max(others[:NEIGHBOURS][-1], 5 * reading.width)
    count = int((others <= reach).sum())
    return float(count * reading.width / (2 * reach - reading.width))


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Result):
    """Definitions that give a number, as returned by `identify`.

    >>> from judged import identify
    >>> result = identify("0.25", {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y"]}, "AP@3")
    >>> result.matches[0].definition.measure, result.matches[0].value
    (AP@3, 0.25)
    """

    asked: PrintedNumber
    """The number as written, and how it was read."""
    matches: tuple[NumberMatch, ...]
    """All explanations that fit, the likeliest first."""
    tried: int
    """Number of definitions tried: measures with parameters, under each policy."""
    distinct: int
    """Number of distinct values of these."""
    chance: float
    """Number of distinct values expected to fit by chance, from their density around the number."""
    in_use: int
    """Number of distinct values that a library, or judged by default, computes."""
    in_use_chance: float
    """Number of these expected to fit by chance."""
    nearest: tuple[NumberMatch, ...] = ()
    """The nearest values if none fits, the nearest first."""
    idle: dict[str, str] = field(default_factory=dict)
    """Choices of the policy that change no value here, and why."""
    untried: str = ""
    """Reason why some definitions were not tried; empty if all were tried."""
    notes: tuple[str, ...] = ()
    """Warnings about the data."""
    limit: int | None = MAX_EXPLANATIONS
    """Number of explanations in text and tables; `matches` and JSON have all."""

    @property
    def value(self) -> str:
        """The number as written."""
        return self.asked.text

    def document(self, display: Display) -> Document:
        idle = [f"{choice} ({reason})" for choice, reason in self.idle.items()]
        # The table fits 80 columns: measure and policy share one, and long measures can be wrapped.
        header, rows = [Left("value"), "definition", "as in"], []
        for value, measure, policy, users in self.rows():
            name = measure if len(measure) <= MAX_NAME else measure.replace("(", " (", 1)
            rows.append((value, f"{name}, {policy}" if policy else name, users))
        return Document(
            answer=[self._verdict()],
            tables=[Table(header, rows, {"definition", "as in"})] if rows else [],
            warnings=self.notes,
            notes=[self._weight()],
            details=[
                *self.asked.sentences(),
                f"Default policy: {Policy()}.",
                *([f"No effect here: {'; '.join(idle)}."] if idle else []),
                *([self.untried] if self.untried else []),
            ],
        )

    def _verdict(self) -> str:
        count = len(self.matches)
        if not count:
            nearest = " The table shows the nearest values." if self.nearest else ""
            return f"No definition gives {self.value}.{nearest}"
        if count == 1:
            return f"One explanation fits {self.value}."
        hidden = count - len(self.matches[: self.limit])
        return (
            f"{count:,} explanations fit {self.value}, the likeliest "
            f"first{f' ({hidden:,} not shown)' if hidden else ''}."
        )

    def _weight(self) -> str:
        weak = (
            " So a fit is weak evidence: give more digits, or name the measure."
            if self.in_use_chance >= 1
            else ""
        )
        return (
            f"{self.tried:,} definitions were tried. They give "
            f"{counted(self.distinct, 'distinct value')}, of which {_about(self.chance)} would fit "
            f"by chance. {self.in_use:,} of these values are in use, of which "
            f"{_about(self.in_use_chance)} would.{weak}"
        )

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return value, measure, policy and users of each definition that is shown."""
        shown = (self.matches or self.nearest)[: self.limit]
        return [row for match in shown for row in self.rows_of(match)]

    def rows_of(self, match: NumberMatch) -> list[tuple[str, str, str, str]]:
        """Return value, measure, policy and users of each definition of a match.

        Parameters
        ----------
        match : NumberMatch
            One of `matches`.
        """
        if not isinstance(match, NumberMatch):
            raise InputError(f"rows_of takes one of matches; got {quoted(match)}.")
        decimals = min(max(self.asked.decimals + 2, 6), 12)
        value = f"{match.value:.{decimals}f}"
        if match.percent:
            value = f"{match.value * 100:.{decimals - 2}f}%"
        rows = []
        for number, definition in enumerate((match.definition, *match.same)):
            unusual = definition.unusual().items()
            policy = ", ".join(f"{choice}={'|'.join(options)}" for choice, options in unusual)
            users = f"{definition.users()}{', digits cut off' if match.cut else ''}"
            rows.append(("" if number else value, str(definition.measure), policy, users))
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values that JSON can hold.

        >>> from judged import identify
        >>> result = identify("0.25", {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y"]}, "AP@3")
        >>> result.to_dict()["matches"][0]["measure"]
        'AP@3'
        """
        return {
            "value": self.value,
            "readings": [
                {"number": each.number, "percent": each.percent} for each in self.asked.readings
            ],
            "fits": len(self.matches),
            "tried": self.tried,
            "distinct": self.distinct,
            "chance": self.chance,
            "in_use": self.in_use,
            "in_use_chance": self.in_use_chance,
            "matches": [match.to_dict() for match in self.matches],
            "nearest": [match.to_dict() for match in self.nearest],
            "idle": dict(self.idle),
            "untried": self.untried,
            "warnings": list(self.notes),
        }

    def to_frame(self) -> Frame:
        """Return one row per explanation: the likeliest definition of each measure.

        >>> from judged import identify
        >>> result = identify("0.25", {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y"]}, "AP@3")
        >>> result.to_frame().row(0)[:2]
        (0.25, 'AP@3')
        """
        import polars as pl

        rows = [
            {
                "value": match.value,
                "measure": str(match.definition.measure),
                **match.definition.policy.to_dict(),
                "as_in": match.definition.users(),
                "distance": match.definition.distance,
            }
            for match in self.matches or self.nearest
        ]
        return pl.DataFrame(rows)


def _about(number: float) -> str:
    if number < 0.05:
        return "hardly any"
    return f"about {number:.1f}" if number < 10 else f"about {number:,.0f}"
