"""Measures, practices of libraries and policies that `identify` tries for a printed number."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats
from judged.conventions import Convention, Name, Option, conventions
from judged.errors import InputError, MeasureError, PolicyError, quoted
from judged.evaluation.scores import applied, nothing_relevant, undefined
from judged.matching.ties import Variants
from judged.measures import REGISTRY, Measure, Spec, bind, parse_all, parse_measure
from judged.measures.registry import Choice, Cutoff, Mask, Param, Settled, taken
from judged.options import real
from judged.policy import CHOICES, Policy
from judged.rankings.rankings import Rankings
from judged.text import counted

if TYPE_CHECKING:
    from judged.options import MeasuresLike

SINGLE = 2.0**-22
"""Relative error of a number in single precision, which some libraries use throughout."""


_PRINTED = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
"""Numbers as programs print them."""


@dataclass(frozen=True)
class NumberReading:
    """One way to read a printed number: its value, and the value of its last digit.

    >>> reading = NumberReading(0.4433, 0.0001)
    >>> values = np.array([0.44325, 0.44335, 0.44339, 0.4434])
    >>> reading.rounded(values).tolist(), reading.cut(values).tolist()
    ([True, True, False, False], [False, False, True, False])
    """

    number: float
    step: float
    percent: bool = False

    @property
    def half(self) -> float:
        """Largest distance of a value that is rounded to the number, however halves are rounded."""
        return max(self.step / 2, SINGLE * abs(self.number)) + 1e-12

    def rounded(self, values: Floats) -> Mask:
        """Return which values are the number when rounded."""
        return np.abs(values - self.number) <= self.half

    def cut(self, values: Floats) -> Mask:
        """Return which values are the number only when further digits are cut off."""
        beyond = (values - self.number) * (-1 if self.number < 0 else 1)
        return (beyond > self.half) & (beyond < self.step - 1e-12)

    def fits(self, values: Floats) -> Mask:
        """Return which values fit, rounded or cut off."""
        return self.rounded(values) | self.cut(values)

    @property
    def width(self) -> float:
        """Length of the interval of values that fit."""
        return self.half + max(self.half, self.step)


@dataclass(frozen=True)
class PrintedNumber:
    """A printed number and its readings."""

    text: str
    readings: tuple[NumberReading, ...]
    decimals: int

    @classmethod
    def of(cls, value: Any) -> PrintedNumber:
        """Read a text, or a number as Python prints it.

        >>> PrintedNumber.of("44.33%").readings
        (NumberReading(number=0.4433, step=0.0001, percent=True),)
        """
        text = str(value).strip() if isinstance(value, str) or real(value) is not None else ""
        bare = text.removesuffix("%").strip()
        number = Decimal(bare) if _PRINTED.fullmatch(bare) else Decimal("NaN")
        if not number.is_finite() or abs(number.adjusted()) > 300 or len(text) > 300:
            raise InputError(
                f"cannot read the number {quoted(value)}; write it as it was printed, such as "
                "0.4433, 44.33 or 44.33%."
            )
        exponent = int(number.as_tuple().exponent)
        plain = NumberReading(float(number), 10.0**exponent)
        percent = NumberReading(float(number.scaleb(-2)), 10.0 ** (exponent - 2), percent=True)
        if text.endswith("%"):
            readings: tuple[NumberReading, ...] = (percent,)
        else:
            readings = (plain, percent) if number > 1 else (plain,)
        return cls(text, readings, max(-exponent, 0))

    def sentences(self) -> list[str]:
        """Return how the text was read."""
        places = f"at {counted(self.decimals, 'decimal')}" if self.decimals else "as a whole number"
        sentences = [f"{self.text} stands for any value rounded or cut off to it {places}."]
        for reading in self.readings:
            if reading.percent:
                also = "also " if len(self.readings) > 1 else ""
                sentences.append(
                    f"{self.text} is {also}read as a percentage, "
                    f"{reading.number:.{self.decimals + 2}f}."
                )
        return sentences


# -- measures and parameters


COMMON = (
    *("AP", "nDCG", "RR", "P", "R", "Success", "F", "Rprec", "RBP"),
    *("ERR", "DCG", "Bpref", "Rank", "INP", "IAP"),
)
"""Measures that are searched by default, the most often reported first."""

CUTOFFS = (10, 5, 100, 1, 20, 1000, 3, 50)  # common cutoffs, the most common first

NUMBERS: dict[str, tuple[float, ...]] = {
    "p": (0.8, 0.5, 0.9, 0.95),
    "beta": (1, 0.5, 2),
    "log": (2, math.e, 10),
}
"""Values of numeric parameters that are tried; other parameters keep their default."""

ALWAYS = ("p",)  # parameters without a usual value, which are tried for the common measures too

WITHOUT_EFFECT = {("nDCG", "log")}  # the base of the logarithm cancels out in nDCG

MAX_THRESHOLDS = 8  # number of thresholds of relevance that are tried at most


Space = tuple[Spec, dict[str, tuple[Any, ...]]]
"""A measure and the values to try for each parameter, the default first."""


def measures_in(space: Space) -> Iterator[Measure]:
    """Yield the measure with every combination of values."""
    spec, values = space
    for chosen in product(*values.values()):
        yield bind(spec, dict(zip(values, chosen, strict=True)))


def spaces(measures: MeasuresLike | None, r: Rankings) -> list[Space]:
    """Return what to try: the common measures, or the named ones with their given parameters."""
    if measures is None:
        return [
            (spec, {param.name: _values_to_try(spec, param, r) for param in spec.params})
            for spec in (REGISTRY[name] for name in COMMON)
        ]
    found: list[Space] = []
    for measure in parse_all(measures):
        spec, values = measure.spec, measure.params
        tried = {
            param.name: (values[param.name],)
            if values[param.name] != param.default
            else _values_to_try(spec, param, r, named=True)
            for param in spec.params
        }
        found.append((spec, tried))
    return found


def _values_to_try(
    spec: Spec, param: Param, r: Rankings, *, named: bool = False
) -> tuple[Any, ...]:
    if isinstance(param, Cutoff):
        found: tuple[Any, ...] = (None, *CUTOFFS, "R", max(int(r.retrieved.max(initial=1)), 1))
    elif param.name == "rel":
        found = _thresholds(r)
    elif param.name == "max_grade":
        top = float(r.pool_grade.max(initial=1))
        found = tuple(grade for grade in (param.default, top) if grade >= top > 0) or (
            param.default,
        )
    elif param.name == "aggregate" and not named:
        found = tuple(
            preset["aggregate"] for preset in spec.aliases.values() if "aggregate" in preset
        )
    elif isinstance(param, Choice):
        found = tuple(param.options)
    else:
        wanted = (named or param.name in ALWAYS) and (spec.name, param.name) not in WITHOUT_EFFECT
        found = NUMBERS.get(param.name, ()) if wanted else ()
    checked = [
        param.check(value)
        for value in (*((param.default,) if param.name != "max_grade" else ()), *found)
    ]
    return tuple(dict.fromkeys(checked))


def _thresholds(r: Rankings) -> tuple[float, ...]:
    """Return lowest relevant grades that differ in effect from the default, 1."""
    grades = np.unique(r.pool_grade[r.pool_grade > 0])
    usual = grades[grades >= 1][:1]
    others = grades[~np.isin(grades, usual)]
    if len(others) > MAX_THRESHOLDS:
        others = others[np.unique(np.linspace(0, len(others) - 1, MAX_THRESHOLDS).astype(int))]
    return tuple(others.tolist())


# -- practices


OWN = "judged"  # the library that computes measures with default parameters and policy


@dataclass(frozen=True)
class Practice:
    """A definition that a library uses."""

    library: str
    theirs: str  # its name in the library
    measure: Measure
    policy: Mapping[str, str]
    """An option for each choice of a policy, not necessarily one of judged."""
    options: tuple[str, ...] = ()  # options of the library that are needed, as its users write them
    far: int = 0  # distance from the library's default: options make a practice less likely

    @property
    def said(self) -> str:
        """Name with options, such as "trec_eval with -c"."""
        return f"{self.library} with {' and '.join(self.options)}" if self.options else self.library

    def to_dict(self) -> dict[str, Any]:
        return {"library": self.library, "name": self.theirs, "options": list(self.options)}


def practices(space: Space) -> Iterator[Practice]:
    """Yield every practice that computes a measure of the space."""
    yield from _own_practices(*space)
    for convention, name in _names_of(space[0].name):
        yield from _library_practices(convention, name, space)


@cache
def _names_of(measure: str) -> list[tuple[Convention, Name]]:
    """Return the names of all libraries for a measure, without those with their own rel rule."""
    return [
        (convention, name)
        for convention in conventions().values()
        for name in convention.names
        if re.split(r"[(@]", name.ours, maxsplit=1)[0] == measure and not name.threshold
    ]


@cache
def _parse(ours: str) -> Measure | None:
    """Return a measure, parsed once per process; None if it is not valid."""
    try:
        return parse_measure(ours)
    except MeasureError:
        return None


def _own_practices(spec: Spec, values: dict[str, tuple[Any, ...]]) -> Iterator[Practice]:
    """Yield judged's defaults at every cutoff; unusual cutoffs are a little further away."""
    cutoffs = values[spec.at] if spec.at else (None,)
    for value in cutoffs:
        measure = bind(spec, {spec.at: value} if spec.at else {})
        # One cutoff is tried only because it is the length of the longest list.
        longest = isinstance(value, int) and len(cutoffs) > 1 and value not in CUTOFFS
        far = 1 if value == "R" else 2 if longest else 0
        yield Practice(OWN, str(measure), measure, Policy().to_dict(), far=far)


def _library_practices(convention: Convention, name: Name, space: Space) -> Iterator[Practice]:
    """Yield a library's name with each value to try, with and without the library's options."""
    tried = [_texts_to_try(place, name, space) for place in name.places]
    for texts in product(*tried):
        theirs, ours = name.filled(dict(zip(name.places, texts, strict=True)))
        measure = _parse(ours)
        if measure is None:
            continue
        usual = {**Policy().to_dict(), **convention.policy, **name.policy}
        settings = [
            Option("", "", {}),
            *(each for each in convention.options if each.policy and not each.depth),
        ]
        for option, (level, own) in product(settings, _levels(convention, measure, space)):
            options = tuple(text for text in (option.theirs, level) if text)
            yield Practice(
                convention.name, theirs, own, {**usual, **option.policy}, options, far=len(options)
            )


def _texts_to_try(place: str, name: Name, space: Space) -> list[str]:
    """Return the values to try at a place of a name: of its parameter, or of the cutoff."""
    spec, tried = space
    named = re.search(rf"(\w+)=([\d.]*)\{{{place}\}}", name.ours)
    values = tried.get(named[1] if named else spec.at or "", ())
    begins = named[2] if named else ""
    return [
        str(value).removeprefix(begins)
        for value in values
        if not isinstance(value, str) and value is not None
    ]


def _levels(
    convention: Convention, measure: Measure, space: Space
) -> Iterator[tuple[str, Measure]]:
    """Yield the measure, and with the library's option for the lowest relevant grade."""
    yield "", measure
    option = next((option for option in convention.options if "rel" in option.params), None)
    default = bind(measure.spec, {}).params.get("rel")
    if option is not None and default is not None and measure.params["rel"] == default:
        for rel in space[1]["rel"]:
            if rel != default:
                yield re.sub(r"N\b", str(rel), option.theirs), measure(rel=rel)


# -- values under every policy


OPTIONS = {
    choice: tuple(option for option in known if option != "error")
    for choice, known in CHOICES.items()
}
"""Options of each choice of a policy that lead to a number."""

UNTRIED = ("expected", "removed")  # choices that exclude each other if a depth cuts through a tie

SHAPE = tuple(map(len, OPTIONS.values()))

Place = tuple[int, ...]
"""A policy as the index of its option in each choice, in the order of `OPTIONS`."""


def policy_at(place: Iterable[int]) -> Policy:
    """Return the policy at a place of the grid."""
    chosen = zip(OPTIONS.items(), place, strict=True)
    return Policy.of({choice: options[at] for (choice, options), at in chosen})


@dataclass(frozen=True, eq=False)
class Grid:
    """The value of each measure under each policy; NaN if undefined."""

    measures: list[Measure]
    values: Floats  # one row per measure, then one axis for each choice of the policy
    rankings: dict[tuple[str, str], Rankings]
    """Rankings by ties and unjudged; the same object if that changes nothing."""

    def option(self, measure: Measure, choice: str, option: str) -> int | None:
        """Return the position of an option on its axis; None if it leads to no number."""
        if option in OPTIONS[choice]:
            return OPTIONS[choice].index(option)
        r = next(iter(self.rankings.values()))
        stops = r.missing.any() if choice == "missing" else nothing_relevant(measure, r).any()
        return None if stops else 0

    @property
    def untried(self) -> str:
        """Reason why some definitions were not tried; empty if all were tried."""
        if not all((ties, "nonrelevant") in self.rankings for ties in OPTIONS["ties"]):
            return (
                "ties=input was not tried: rankings know only one order of tied results. Give the "
                "judgements and the run."
            )
        if UNTRIED in self.rankings:
            return ""
        return (
            "ties=expected with unjudged=removed was not tried: the depth cuts through a tie, so "
            "the number of remaining results depends on its order."
        )

    @cached_property
    def idle(self) -> dict[str, str]:
        """Choices of the policy that change no number here, and why."""
        usual = self.rankings["id", "nonrelevant"]
        idle = {}
        if all(self.rankings.get((ties, "nonrelevant")) is usual for ties in OPTIONS["ties"]):
            idle["ties"] = "no judged results are tied"
        if not usual.missing.any():
            idle["missing"] = "no judged query is missing"
        along = list(OPTIONS).index("empty") + 1
        if np.array_equal(
            self.values,
            np.repeat(self.values.take([0], along), SHAPE[along - 1], along),
            equal_nan=True,
        ):
            idle["empty"] = "every query has relevant items"
        if self.rankings["id", "removed"] is usual:
            idle["unjudged"] = "all results are judged"
        return idle


def all_rankings(run: Variants) -> dict[tuple[str, str], Rankings]:
    """Return the rankings under every choice of ties and unjudged."""
    found = {}
    for ties in OPTIONS["ties"]:
        for unjudged in OPTIONS["unjudged"]:
            # If a depth cuts through a tie, no list without unjudged items is the mean of all.
            # Rankings without the run know one order of ties.
            try:
                found[ties, unjudged] = run.under(
                    ties if run.usual.may_be_tied else None, unjudged if run.unjudged else None
                )
            except PolicyError:
                if (ties, unjudged) != UNTRIED and (run.has_items or ties != "input"):
                    raise
    return found


def compute(measures: Iterable[Measure], rankings: dict[tuple[str, str], Rankings]) -> Grid:
    """Compute all measures that can be computed; raise the error of the first if none can."""
    wanted = list(dict.fromkeys(measures))
    columns = {
        each: _columns(wanted, r) for each, r in {id(r): r for r in rankings.values()}.items()
    }
    values = np.full((len(wanted), *SHAPE), np.nan)
    for (ties, unjudged), r in rankings.items():
        at = (OPTIONS["ties"].index(ties), OPTIONS["unjudged"].index(unjudged))
        values[:, at[0], :, :, at[1]] = columns[id(r)]
    values[np.isinf(values)] = np.nan
    _fill_in_means(values)
    there = ~np.isnan(values).all(axis=(1, 2, 3, 4))
    if not there.any():
        # Raises the error.
        wanted[0].compute(next(iter(rankings.values())))
    return Grid([m for m, kept in zip(wanted, there, strict=True) if kept], values[there], rankings)


def _columns(measures: list[Measure], r: Rankings) -> Floats:
    """Return the values of all measures for the choices of missing and empty queries."""
    result = np.full((len(measures), len(OPTIONS["missing"]), len(OPTIONS["empty"])), np.nan)
    known: dict[tuple[str, bytes], float] = {}
    for members, raw in _blocks(measures, r):
        first = measures[members[0]]
        nothing = nothing_relevant(first, r) | undefined(first, raw[0])
        for missing, empty, same in _policies(r.missing, nothing):
            policy = Policy.of({"missing": missing, "empty": empty})
            counted, settle = applied(first.spec, policy, nothing, r.missing)
            for member, values in zip(members, settle(raw), strict=True):
                measure = measures[member]
                # Most definitions share their values with another one: average them once.
                key = (measure.params["aggregate"], values.tobytes())
                plain = measure.spec.made_of is None
                value = known.get(key) if plain else None
                if value is None:
                    given = Settled(values, counted, settle)
                    value, _ = measure.summarise(measure.gives(r), given)
                    if plain:
                        known[key] = value
                for at in same:
                    result[member][at] = value
    return result


def _policies(missing: Mask, nothing: Mask) -> Iterator[tuple[str, str, list[tuple[int, int]]]]:
    """Yield the choices of missing and empty queries that differ here, with all their places."""
    for m, one in enumerate(OPTIONS["missing"]):
        for e, other in enumerate(OPTIONS["empty"]):
            rows = [m] if missing.any() else list(range(len(OPTIONS["missing"])))
            columns = [e] if nothing.any() else list(range(len(OPTIONS["empty"])))
            if m == rows[0] and e == columns[0]:
                yield one, other, [(row, column) for row in rows for column in columns]


def _blocks(measures: list[Measure], r: Rankings) -> Iterator[tuple[list[int], Floats]]:
    """Yield measures to which policies apply alike, with their values, one row per measure."""
    blocks: dict[tuple[str, Any], list[int]] = {}
    for number, measure in enumerate(measures):
        settled_by = tuple(measure.params.get(name) for name in ("rel", "gain", "gains"))
        blocks.setdefault((measure.spec.name, settled_by), []).append(number)
    for members in blocks.values():
        spec = measures[members[0]].spec
        own = taken(spec.compute) | (taken(spec.expected) if spec.expected else frozenset())
        raw: dict[tuple[tuple[str, Any], ...], Floats | None] = {}
        rows = []
        for member in members:
            core = tuple(item for item in measures[member].items if item[0] in own)
            if core not in raw:
                raw[core] = _values(measures[member], r)
            if (values := raw[core]) is not None:
                rows.append((member, values))
        if rows:
            yield [member for member, _ in rows], np.stack([values for _, values in rows])


def _values(measure: Measure, r: Rankings) -> Floats | None:
    """Return a value per query; None if they cannot be computed exactly."""
    try:
        if r.ties != "expected":
            return measure.compute(r)
        closed = measure.closed(r)
    except MeasureError:
        return None
    return closed.values if closed.known.all() else None


def _fill_in_means(values: Floats) -> None:
    """Set the mean over the orders of ties if all orders give the same number."""
    axis = list(OPTIONS).index("ties") + 1
    by_order = np.moveaxis(values, axis, 0)
    mean = OPTIONS["ties"].index("expected")
    orders = np.delete(by_order, mean, 0)
    same = np.isnan(by_order[mean]) & (np.abs(orders - orders[0]) < 1e-12).all(axis=0)
    by_order[mean][same] = orders[0][same]
