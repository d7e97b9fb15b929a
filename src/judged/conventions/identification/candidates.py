"""What is tried: the common measures, each with every combination of the values that its parameters
may have."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.measures import REGISTRY, Measure, Spec, bind, parse_all
from judged.measures.params import Choice, Cutoff, Param
from judged.rankings.rankings import Rankings

if TYPE_CHECKING:
    from judged.options import MeasuresLike

COMMON = (
    "AP",
    "nDCG",
    "RR",
    "P",
    "R",
    "Success",
    "F",
    "Rprec",
    "RBP",
    "ERR",
    "DCG",
    "Bpref",
    "Rank",
    "INP",
    "IAP",
)
"""What is searched where no measure is named, what is most often reported first."""

CUTOFFS = (10, 5, 100, 1, 20, 1000, 3, 50)
"""Usual cutoffs, the most usual first."""

NUMBERS: dict[str, tuple[float, ...]] = {
    "p": (0.8, 0.5, 0.9, 0.95),
    "beta": (1, 0.5, 2),
    "log": (2, math.e, 10),
}
"""What is tried for parameters that are numbers; for others only what they are by default."""

ALWAYS = ("p",)
"""Those of them that are tried for the common measures too, as there is no usual value."""

WITHOUT_EFFECT = {("nDCG", "log")}
"""The base of the logarithm cancels out in nDCG."""

MOST_GRADES = 8
"""So many thresholds of relevance are tried at most."""


@dataclass(frozen=True)
class Space:
    """One measure and the values that are tried for each of its parameters, the default first."""

    spec: Spec
    values: dict[str, tuple[Any, ...]]

    def measures(self) -> Iterator[Measure]:
        for chosen in product(*self.values.values()):
            yield bind(self.spec, dict(zip(self.values, chosen, strict=True)))

    @property
    def longest(self) -> int | None:
        """The cutoff that is tried only because the longest list ends there."""
        cutoffs = self.values.get(self.spec.at or "", ())
        return next(
            (k for k in cutoffs if isinstance(k, int) and len(cutoffs) > 1 and k not in CUTOFFS),
            None,
        )


def spaces(measures: MeasuresLike | None, r: Rankings) -> list[Space]:
    """What is tried: the measures named, their given parameters fixed, or the common ones."""
    if measures is None:
        return [
            Space(spec, {param.name: _tried(spec, param, r) for param in spec.params})
            for spec in _common()
        ]
    return [_around(measure, r) for measure in parse_all(measures)]


def _common() -> Iterator[Spec]:
    yield from (REGISTRY[name] for name in COMMON)


def _around(measure: Measure, r: Rankings) -> Space:
    """A named measure: parameters that were given stay, those at their defaults are searched, every
    aggregation too."""
    values = {}
    for param in measure.spec.params:
        given = measure.params[param.name]
        values[param.name] = (
            (given,) if given != param.default else _tried(measure.spec, param, r, named=True)
        )
    return Space(measure.spec, values)


def _tried(spec: Spec, param: Param, r: Rankings, *, named: bool = False) -> tuple[Any, ...]:
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
    """The grades above 0 from which on an item may count as relevant; each leaves others relevant
    than the default, 1."""
    grades = np.unique(r.pool_grade[r.pool_grade > 0])
    usual = grades[grades >= 1][:1]
    others = grades[~np.isin(grades, usual)]
    if len(others) > MOST_GRADES:
        others = others[np.unique(np.linspace(0, len(others) - 1, MOST_GRADES).astype(int))]
    return tuple(others.tolist())
