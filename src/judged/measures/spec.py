"""One definition per measure: what a measure declares, the registry, and the notation
`nDCG(gain=exp)@10`."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.errors import MeasureError
from judged.measures.bibliography import BIBLIOGRAPHY
from judged.measures.params import Choice, Param, show
from judged.rankings.rankings import Rankings
from judged.segments import Floats

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Settled:
    """A measure's values after policy: what is undefined got a value, and queries that do not count
    are gone."""

    values: Floats
    counted: Mask
    """Which queries count."""
    settle: Callable[[Floats], Floats]
    """The same policy for other values, one a query, that a summary is made of."""


GEOMETRIC_FLOOR = 1e-5
"""trec_eval's floor: one query at zero must not make the geometric mean zero."""


@dataclass(frozen=True)
class Aggregation:
    """How the queries' values become one number, and what their standard errors make of its own."""

    value: Callable[[Floats], float]
    error: Callable[[Floats, Floats], float]

    def __call__(self, values: Floats) -> float:
        return self.value(values)


def _root(errors: Floats) -> float:
    """The standard error of a sum."""
    return float(np.sqrt(np.sum(errors**2)))


def _geometric(values: Floats) -> float:
    return float(np.exp(np.mean(np.log(np.maximum(values, GEOMETRIC_FLOOR)))))


def _geometric_error(values: Floats, errors: Floats) -> float:
    relative = np.where(values > GEOMETRIC_FLOOR, errors, 0.0) / np.maximum(values, GEOMETRIC_FLOOR)
    return _geometric(values) * _root(relative) / len(values)


def _median_error(values: Floats, errors: Floats) -> float:
    half = len(values) // 2
    middle = np.argsort(values, kind="stable")[half - (1 - len(values) % 2) : half + 1]
    return _root(errors[middle]) / len(middle)


AGGREGATIONS: dict[str, Aggregation] = {
    "mean": Aggregation(
        lambda values: float(np.mean(values)), lambda values, errors: _root(errors) / len(errors)
    ),
    "geometric": Aggregation(_geometric, _geometric_error),
    "median": Aggregation(lambda values: float(np.median(values)), _median_error),
    "sum": Aggregation(lambda values: float(np.sum(values)), lambda values, errors: _root(errors)),
}


def aggregate_param(default: str, names: tuple[str, ...] = tuple(AGGREGATIONS)) -> Choice:
    """Every measure's last parameter: how its values become one number."""
    sentences = {
        "mean": "the summary is the mean over the queries",
        "geometric": (
            "the summary is the geometric mean over the queries, each value at least "
            f"{GEOMETRIC_FLOOR:.5f}"
        ),
        "median": "the summary is the median over the queries",
        "sum": "the summary is the sum over the queries",
    }
    return Choice(
        "aggregate",
        default,
        "how the queries' values become one number",
        {n: sentences[n] for n in names},
    )


@dataclass(frozen=True)
class Undefined:
    """When a measure has no value for a query: in words, and as a test that the laws check against
    the NaNs."""

    text: str
    where: Callable[[Rankings, Mapping[str, Any]], Mask]


def _no_relevant(r: Rankings, params: Mapping[str, Any]) -> Mask:
    return r.relevant(params["rel"]) == 0


Expectation = Callable[..., Floats | None]
"""(rankings, **params) -> one value a query, or None where these parameters have no closed form."""


def ITSELF(r: Rankings) -> None:  # noqa: N802
    """Declared as `expected` of a measure that is linear in what `Rankings` counts, or hangs on no
    order: its own function, which then gets expected counts, is its expectation."""


NEVER = Undefined("never", lambda r, params: np.zeros(len(r), bool))
NO_RELEVANT = Undefined("the query has no relevant item", _no_relevant)


@dataclass(frozen=True)
class Example:
    """A worked example: a relevance list in rank order, the number of relevant items in all, and
    the value by hand.

    The list is a grade a result, {"subtopic":grade} where measures know subtopics, and - where
    nobody judged it.
    """

    measure: str
    ranking: str
    value: float
    relevant: int | None = None
    collection: int | None = None

    def rankings(self) -> Rankings:
        grades = [None if text == "-" else json.loads(text) for text in self.ranking.split()]
        return Rankings.from_relevance([grades], relevant=self.relevant, collection=self.collection)


@dataclass(frozen=True)
class Spec:
    """A measure as declared, once."""

    name: str
    title: str
    says: str
    formula: str
    reference: str
    range: tuple[float, float]
    params: tuple[Param, ...]
    undefined: Undefined
    example: Example
    compute: Callable[..., Floats]
    family: str
    aliases: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Other names, each with the parameters it stands for: {"GMAP": {"aggregate": "geometric"}}."""
    at: str | None = "k"
    """The parameter that `@` sets."""
    laws: frozenset[str] = frozenset()
    higher_is_better: bool = True
    rates_relevance: bool = True
    """False for counts and descriptions, which are what they are when nothing is relevant: no
    policy changes them."""
    tells_unjudged: bool = False
    """Whether an irrelevant item counts otherwise than one that nobody judged."""
    summarise: Callable[..., float] | None = None
    """Where the summary is not an aggregation of the queries' values: (rankings, settled, **params)
    -> float."""
    expected: Expectation | None = None
    """The mean over all orders of tied results, in closed form; where it is None, or returns None,
    random orders are drawn."""

    def param(self, name: str) -> Param:
        for param in self.params:
            if param.name == name:
                return param
        raise MeasureError(unknown_param(self, name))

    def bind(self, given: Mapping[str, Any]) -> Measure:
        """This measure with these parameters, checked."""
        values = {param.name: param.default for param in self.params}
        for name, value in given.items():
            param = self.param(name)
            try:
                values[name] = param.check(value)
            except (ValueError, TypeError):
                raise MeasureError(
                    f"{name} of {self.name} must be {param.allowed}; got {show(value)}."
                ) from None
        return Measure(self, tuple(values.items()))


@dataclass(frozen=True)
class Measure:
    """A measure with its parameters set; the same thing as its text.

    >>> from judged import nDCG
    >>> nDCG(gain="exp") @ 10
    nDCG(gain=exp)@10
    """

    spec: Spec = field(repr=False)
    items: tuple[tuple[str, Any], ...]

    @property
    def params(self) -> dict[str, Any]:
        return dict(self.items)

    def __call__(self, **params: Any) -> Measure:
        return self.spec.bind({**self.params, **params})

    def __matmul__(self, cutoff: Any) -> Measure:
        if self.spec.at is None:
            raise MeasureError(f"{self.spec.name} takes no cutoff; got @{cutoff}.")
        return self(**{self.spec.at: cutoff})

    def __str__(self) -> str:
        changed = {
            p.name: value
            for p, (_, value) in zip(self.spec.params, self.items, strict=True)
            if value != p.default
        }
        at = f"@{show(changed.pop(self.spec.at))}" if self.spec.at in changed else ""
        inside = ", ".join(f"{name}={show(value)}" for name, value in changed.items())
        return f"{self.spec.name}{f'({inside})' if inside else ''}{at}"

    __repr__ = __str__

    def __hash__(self) -> int:
        return hash((self.spec.name, self.items))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and (self.spec.name, self.items) == (
            other.spec.name,
            other.items,
        )

    def compute(self, rankings: Rankings) -> Floats:
        """One value a query, NaN where it is undefined; means over all orders where the rankings
        leave ties unbroken."""
        if rankings.ties == "expected":
            from judged.measures.expected import expectations

            return expectations((self,), rankings)[self].values
        return self.computed(rankings)

    def computed(self, rankings: Rankings) -> Floats:
        """The values of the rankings as they stand."""
        return self.spec.compute(rankings, **_accepted(self.spec.compute, self.params))

    def closed(self, rankings: Rankings) -> Floats | None:
        """The means over all orders of tied results, where they have a closed form."""
        form = self.spec.expected
        return None if form is None else form(rankings, **_accepted(form, self.params))

    def undefined(self, rankings: Rankings) -> Mask:
        return self.spec.undefined.where(rankings, self.params)

    def summarise(self, rankings: Rankings, settled: Settled) -> float:
        """The one number for all queries; NaN where no query counts."""
        if not settled.counted.any():
            return float("nan")
        if self.spec.summarise is not None:
            return self.spec.summarise(
                rankings, settled, **_accepted(self.spec.summarise, self.params)
            )
        return AGGREGATIONS[self.params["aggregate"]](settled.values)

    def summarise_error(self, values: Floats, errors: Floats) -> float | None:
        """The standard error of the one number, from those of the queries that count; None where it
        is made another way."""
        if self.spec.summarise is not None or not len(values):
            return None
        return AGGREGATIONS[self.params["aggregate"]].error(values, errors)

    def definition(self) -> dict[str, Any]:
        """What this number means, ready for JSON: words, formula, parameters, reference."""
        return {
            "name": str(self),
            "title": self.spec.title,
            "definition": self.words(),
            "formula": self.spec.formula,
            "parameters": {
                name: show(value) if isinstance(value, (Mapping, tuple)) else value
                for name, value in self.items
            },
            "undefined_when": self.spec.undefined.text,
            "higher_is_better": self.spec.higher_is_better,
            "reference": BIBLIOGRAPHY[self.spec.reference],
        }

    def brief(self) -> str:
        """The definition in one line: the name, what it stands for, and every parameter.

        >>> from judged import RR
        >>> (RR @ 10).brief()
        'RR@10 is Reciprocal rank with k=10, rel=1, aggregate=mean'
        """
        inside = ", ".join(
            f"{name}={'none' if value is None else show(value)}" for name, value in self.items
        )
        return f"{self} is {self.spec.title} with {inside}"

    def words(self) -> str:
        """The definition with the parameters in force, as plain sentences."""
        parts = [
            p.words(value)
            for p, (_, value) in zip(self.spec.params, self.items, strict=True)
            if value is not None
        ]
        return f"{self.spec.says} Here, {'; '.join(parts)}."


def _accepted(function: Callable[..., Any], params: dict[str, Any]) -> dict[str, Any]:
    """The parameters a function takes by keyword: `aggregate` concerns few of them."""
    return {name: value for name, value in params.items() if name in taken(function)}


@cache
def taken(function: Callable[..., Any]) -> frozenset[str]:
    """The names of a function's parameters; asked for so often that they are read once."""
    return frozenset(inspect.signature(function).parameters)


REGISTRY: dict[str, Spec] = {}
"""Every measure by its name, in the order of declaration."""

_NAMES: dict[str, tuple[Spec, Mapping[str, Any]]] = {}


def measure(
    *,
    name: str,
    params: tuple[Param, ...],
    aliases: tuple[str, ...] | Mapping[str, Mapping[str, Any]] = (),
    aggregate: str = "mean",
    laws: set[str] | frozenset[str] = frozenset(),
    expected: Expectation | None = None,
    **declared: Any,
) -> Callable[[Callable[..., Floats]], Callable[..., Floats]]:
    """Declare a measure: everything that is known of it, above the function that computes it for
    all queries."""

    def register(compute: Callable[..., Floats]) -> Callable[..., Floats]:
        own = (
            params
            if any(p.name == "aggregate" for p in params)
            else (*params, aggregate_param(aggregate))
        )
        other = aliases if isinstance(aliases, Mapping) else {alias: {} for alias in aliases}
        family = compute.__module__.rpartition(".")[2]
        spec = Spec(
            name=name,
            params=own,
            aliases=other,
            laws=frozenset(laws),
            compute=compute,
            family=family,
            expected=compute if expected is ITSELF else expected,
            **declared,
        )
        for known, preset in {name: {}, **other}.items():
            if known.lower() in _NAMES:
                raise ValueError(f"two measures are called {known!r}")
            _NAMES[known.lower()] = (spec, preset)
        REGISTRY[name] = spec
        return compute

    return register


def lookup(name: str) -> tuple[Spec, Mapping[str, Any]]:
    """A declared measure and the parameters its name stands for; upper and lower case are the same."""
    try:
        return _NAMES[name.lower()]
    except KeyError:
        raise MeasureError(
            f"There is no measure {name!r}{_nearest(name, names())} 'judged measures' lists them "
            "all."
        ) from None


def is_name(name: str) -> bool:
    """Whether a measure is called so."""
    return name.lower() in _NAMES


def names() -> Iterator[str]:
    """All names that are understood, aliases too."""
    for spec in REGISTRY.values():
        yield spec.name
        yield from spec.aliases


def unknown_param(spec: Spec, name: str) -> str:
    """`P takes no 'gian'; did you mean 'gain'? (nDCG takes it; P takes k, rel, short.)`"""
    own = [param.name for param in spec.params]
    everywhere = {param.name: other.name for other in REGISTRY.values() for param in other.params}
    message = f"{spec.name} takes no {name!r}"
    close = get_close_matches(name, own, n=1) or get_close_matches(name, everywhere, n=1)
    if close and close[0] != name:
        message += f"; did you mean {close[0]!r}?"
    else:
        message += "."
    takers = [
        other.name
        for other in REGISTRY.values()
        if close and close[0] in (p.name for p in other.params)
    ]
    elsewhere = (
        f"{_listed(takers[:4])} {'takes' if len(takers) == 1 else 'take'} it; "
        if takers and close[0] not in own
        else ""
    )
    return f"{message} ({elsewhere}{spec.name} takes {', '.join(own)}.)"


def _nearest(word: str, known: Iterator[str]) -> str:
    lower = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), lower, n=1, cutoff=0.55)
    return f"; did you mean {lower[close[0]]!r}?" if close else "."


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
