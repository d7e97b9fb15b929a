"""Two judges on what both judged: how far they agree, and which of them is stricter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.judgements.agreements.judges import Grades
from judged.options import LEVEL, RESAMPLES
from judged.statistics.agreement import ALPHAS, KAPPAS, alpha_sample, kappa_sample
from judged.statistics.intervals import Interval
from judged.statistics.resampling.bootstrap import bootstrap
from judged.statistics.samples import Means
from judged.text import plain

METHOD = "percentile"
"""How intervals come from resampled queries."""
FEW = 10
"""Fewer queries than this say little of how others would spread."""
ONE_QUERY = "one query alone says nothing of how others would spread"
UNSPREAD = "all resamples give the same value, which says nothing of how others would spread"
NOTHING = "there is nothing that both judged"
UNBOUNDED = "at this level so few resamples, or so many that leave it undefined, give no bound"


@dataclass(frozen=True)
class Settings:
    """How judges are compared."""

    rel: float = 1.0
    """The lowest grade that counts as relevant."""
    level: float = LEVEL
    resamples: int = RESAMPLES
    seed: int = 0


@dataclass(frozen=True)
class GradeTable:
    """How often one judge gave which grade where the other gave which."""

    grades: tuple[float, ...]
    """All grades that one of the two gave, ascending."""
    counts: tuple[tuple[int, ...], ...]
    """A row per grade of the first judge, a column per grade of the second."""


@dataclass(frozen=True)
class JudgePair:
    """Two judges on the items that both judged.

    >>> import judged
    >>> ann, bob = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1, "b": 1}}
    >>> judged.agreement(ann, bob).pair().agreement.estimate
    0.5
    """

    first: str
    """What the first judge is called."""
    second: str
    """What the second judge is called."""
    items: int
    """How many items both judged."""
    queries: int
    """Of how many queries these are."""
    only_first: int
    """How many items only the first judged."""
    only_second: int
    """How many items only the second judged."""
    agreement: Interval
    """The share of items with the same grade from both; it never stands alone."""
    kappas: Mapping[str, Interval]
    """Cohen's kappa: plain, linear and quadratic."""
    alphas: Mapping[str, Interval]
    """Krippendorff's alpha of the two: nominal, ordinal and interval."""
    overlap: Interval
    """How many items both found relevant, as a share of those that one of them did."""
    first_relevant: Interval
    """The share of items that the first judge found relevant."""
    second_relevant: Interval
    """The share of items that the second judge found relevant."""
    difference: Interval
    """The second's mean grade less the first's."""
    table: GradeTable
    """Grades against grades."""

    @property
    def kappa(self) -> Interval:
        """Cohen's kappa without weights."""
        return self.kappas["plain"]

    @property
    def chance(self) -> float:
        """The share of items that would have the same grade by chance: with the same numbers of
        each grade from each judge, given to any of the items."""
        rows = [sum(row) for row in self.table.counts]
        columns = [sum(column) for column in zip(*self.table.counts, strict=True)]
        same = sum(row * column for row, column in zip(rows, columns, strict=True))
        return same / self.items**2 if self.items else math.nan

    @property
    def stricter(self) -> str | None:
        """The judge with significantly lower grades; None without one, or with fewer than ten
        queries, whose resampled intervals are too narrow for that."""
        if self.queries < FEW:
            return None
        gap = self.difference
        # A difference that is the same on all queries has no interval, and is certain.
        low, high = (gap.low, gap.high) if gap.note != UNSPREAD else (gap.estimate, gap.estimate)
        if low > 0:
            return self.first
        return self.second if high < 0 else None

    def numbers(self) -> dict[str, Interval]:
        """All numbers, by what programs call them."""
        return {
            "agreement": self.agreement,
            **{f"kappa_{name}": each for name, each in self.kappas.items()},
            **{f"alpha_{name}": each for name, each in self.alphas.items()},
            "overlap": self.overlap,
            "first_relevant": self.first_relevant,
            "second_relevant": self.second_relevant,
            "difference": self.difference,
        }

    def labels(self) -> list[str]:
        """What people call them."""
        return [
            "agreement",
            *(f"{name} kappa" for name in self.kappas),
            *(f"{name} alpha" for name in self.alphas),
            "overlap of the relevant",
            f"relevant to {self.first}",
            f"relevant to {self.second}",
            f"mean grade of {self.second} less {self.first}",
        ]

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON.

        Returns
        -------
        dict

        >>> import judged
        >>> ann, bob = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1, "b": 1}}
        >>> judged.agreement(ann, bob).pair().to_dict()["table"]["counts"]
        [[0, 1], [0, 1]]
        """
        return {
            "first": self.first,
            "second": self.second,
            "items": self.items,
            "queries": self.queries,
            "only_first": self.only_first,
            "only_second": self.only_second,
            "agreement": self.agreement.to_dict(),
            "chance": plain(self.chance),
            "kappa": {name: each.to_dict() for name, each in self.kappas.items()},
            "alpha": {name: each.to_dict() for name, each in self.alphas.items()},
            "overlap": self.overlap.to_dict(),
            "first_relevant": self.first_relevant.to_dict(),
            "second_relevant": self.second_relevant.to_dict(),
            "difference": self.difference.to_dict(),
            "stricter": self.stricter,
            "table": {
                "grades": [plain(grade) for grade in self.table.grades],
                "counts": [list(row) for row in self.table.counts],
            },
        }


def pair_of(grades: Grades, one: int, other: int, settings: Settings) -> JudgePair:
    """Two of the judges, by their places."""
    there = grades.there[:, [one, other]]
    both = there.all(axis=1)
    first, second = grades.values[both][:, [one, other]].T
    query = np.unique(grades.unit[both], return_inverse=True)[1].reshape(-1)
    size = int(query.max(initial=-1)) + 1
    relevant = np.stack([first, second]) >= settings.rel
    ones = np.ones(len(first), bool)

    def ratio(upper: NDArray[Any], lower: NDArray[Any] = ones) -> Means:
        sums = [np.bincount(query, each.astype(np.float64), size) for each in (upper, lower)]
        return Means.ratio(sums[0].astype(np.float64), sums[1].astype(np.float64))

    samples = {
        "agreement": ratio(first == second),
        **{name: kappa_sample(first, second, query, weights=name) for name in KAPPAS},
        **{name: _alpha(np.stack([first, second], axis=1), query, name) for name in ALPHAS},
        "overlap": ratio(relevant[0] & relevant[1], relevant[0] | relevant[1]),
        "first": ratio(relevant[0]),
        "second": ratio(relevant[1]),
        "difference": ratio(second - first),
    }
    names = grades.judges[one], grades.judges[other]
    why = _why_undefined(first, names, grades)
    reasons = {
        **dict.fromkeys((*KAPPAS, *ALPHAS), why),
        "overlap": f"neither {names[0]} nor {names[1]} found anything relevant",
    }
    found = intervals(samples, settings, reasons)
    return JudgePair(
        first=names[0],
        second=names[1],
        items=len(first),
        queries=size,
        only_first=int((there[:, 0] & ~there[:, 1]).sum()),
        only_second=int((there[:, 1] & ~there[:, 0]).sum()),
        agreement=found["agreement"],
        kappas={name: found[name] for name in KAPPAS},
        alphas={name: found[name] for name in ALPHAS},
        overlap=found["overlap"],
        first_relevant=found["first"],
        second_relevant=found["second"],
        difference=found["difference"],
        table=_table(first, second),
    )


def _alpha(grades: Floats, query: Ints, metric: str) -> Means:
    return alpha_sample(grades, query, metric=metric)


def alphas_of(grades: Grades, settings: Settings) -> dict[str, Interval]:
    """Krippendorff's alpha of all judges, on everything that two of them or more judged."""
    paired = grades.times > 1
    query = np.unique(grades.unit[paired], return_inverse=True)[1].reshape(-1)
    values = grades.values[paired]
    samples = {name: _alpha(values, query, name) for name in ALPHAS}
    given = values[~np.isnan(values)]
    why = f"all judges gave one and the same grade ({given[0]:g}) to everything"
    return intervals(samples, settings, dict.fromkeys(ALPHAS, why))


def _why_undefined(first: Floats, names: Sequence[str], grades: Grades) -> str:
    """Why kappa and alpha are undefined, where they are."""
    if not len(first):
        return NOTHING
    return (
        f"{names[0]} and {names[1]} gave one and the same grade ({first[0]:g}) to "
        f"{'all ' if len(first) > 1 else ''}{grades.counted(len(first))}: without any variation "
        "there is no agreement by chance to go beyond"
    )


def intervals(
    samples: Mapping[str, Means], settings: Settings, reasons: Mapping[str, str]
) -> dict[str, Interval]:
    """Numbers with their intervals, on the same resamples of queries; `reasons` says why a number
    is undefined, where it is."""
    size = len(next(iter(samples.values())))
    if not size:
        return dict.fromkeys(samples, Interval(math.nan, method=METHOD, note=NOTHING))
    with np.errstate(all="ignore"):
        values = {name: each.value() for name, each in samples.items()}
    defined = [name for name, value in values.items() if not math.isnan(value)]
    found = {
        name: Interval(math.nan, method=METHOD, note=reasons.get(name, ""))
        for name in samples
        if name not in defined
    }
    if size < 2:
        found |= {name: Interval(values[name], method=METHOD, note=ONE_QUERY) for name in defined}
    else:
        low, high = bootstrap(
            [samples[name] for name in defined],
            levels=(settings.level,),
            method=METHOD,
            resamples=settings.resamples,
            seed=settings.seed,
        )
        for at, name in enumerate(defined):
            ends = float(low[0, at]), float(high[0, at])
            found[name] = _interval(values[name], *ends)
    return {name: found[name] for name in samples}


def _interval(value: float, low: float, high: float) -> Interval:
    if math.isnan(low):
        return Interval(value, method=METHOD, note=UNSPREAD)
    if math.isinf(low) or math.isinf(high):
        return Interval(value, method=METHOD, note=UNBOUNDED)
    return Interval(value, low, high, METHOD)


def _table(first: Floats, second: Floats) -> GradeTable:
    scale, code = np.unique(np.stack([first, second]), return_inverse=True)
    one, other = code.reshape(2, -1)
    width = len(scale)
    counts = np.bincount(one * width + other, minlength=width * width).reshape(width, width)
    return GradeTable(tuple(scale.tolist()), tuple(map(tuple, counts.tolist())))
