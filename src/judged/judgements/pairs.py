"""Agreement of two assessors on the items that both judged."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.judgements.assessors import AssessorGrades
from judged.results import plain_value
from judged.statistics.agreement import ALPHAS, KAPPAS, alpha_sample, kappa_sample
from judged.statistics.bootstrap import bootstrap
from judged.statistics.intervals import Interval
from judged.statistics.samples import Means
from judged.text import counted, listed, percent

MIN_QUERIES = 10  # with fewer queries, resampled confidence intervals are too narrow
MIN_ITEMS_FOR_SCALE = 10  # among so many items, an assessor with three grades uses the third
METHOD = "percentile"  # bootstrap method of the confidence intervals
ONE_QUERY = "one query is not enough to estimate the variation between queries"
UNSPREAD = "all resamples give the same value, so the variation between queries is unknown"
NOTHING_SHARED = "no item was judged by both"
SINGLE_NUMBERS = ("agreement", "overlap", "first_relevant", "second_relevant", "difference")
"""Numbers of a pair that have one definition only."""
UNBOUNDED = "too few resamples for this confidence level, or too many without a value"


@dataclass(frozen=True)
class AssessorPair:
    """Agreement of two assessors on the items that both judged."""

    first: str
    second: str
    items: int  # number of items that both judged
    queries: int  # number of queries of these items
    only_first: int  # number of items that only the first judged
    only_second: int  # number of items that only the second judged
    agreement: Interval  # share of items with the same grade from both
    kappas: Mapping[str, Interval]  # Cohen's kappa: plain, linear and quadratic
    alphas: Mapping[str, Interval]  # Krippendorff's alpha of the two: nominal, ordinal and interval
    overlap: Interval
    """Items that both found relevant, as a share of those that at least one found relevant."""
    first_relevant: Interval  # share of items that the first assessor found relevant
    second_relevant: Interval  # share of items that the second assessor found relevant
    difference: Interval  # mean grade of the second minus mean grade of the first
    grades: tuple[float, ...]  # all grades that occur on these items, ascending
    counts: tuple[tuple[int, ...], ...]
    """Numbers of items: a row per grade of the first, a column per grade of the second."""

    @property
    def kappa(self) -> Interval:
        """Cohen's kappa without weights."""
        return self.kappas["plain"]

    @property
    def chance(self) -> float:
        """Share of equal grades expected by chance, given how often each used each grade."""
        rows = [sum(row) for row in self.counts]
        columns = [sum(column) for column in zip(*self.counts, strict=True)]
        same = sum(row * column for row, column in zip(rows, columns, strict=True))
        return same / self.items**2 if self.items else math.nan

    @property
    def stricter(self) -> str | None:
        """The assessor with significantly lower grades; None without one or with few queries."""
        if self.queries < MIN_QUERIES:
            return None
        gap = self.difference
        # A difference that is the same on all queries has no interval and is certain.
        low, high = (gap.low, gap.high) if gap.note != UNSPREAD else (gap.estimate, gap.estimate)
        if low > 0:
            return self.first
        return self.second if high < 0 else None

    def numbers(self) -> dict[str, Interval]:
        """Return all numbers by their names in tables of data."""
        return {
            "agreement": self.agreement,
            **{f"kappa_{name}": interval for name, interval in self.kappas.items()},
            **{f"alpha_{name}": interval for name, interval in self.alphas.items()},
            **{name: getattr(self, name) for name in SINGLE_NUMBERS[1:]},
        }

    def labels(self) -> list[str]:
        """Return the names of `numbers` for readers."""
        return [
            "agreement",
            *(f"{name} kappa" for name in self.kappas),
            *(f"{name} alpha" for name in self.alphas),
            "overlap of the relevant",
            f"relevant to {self.first}",
            f"relevant to {self.second}",
            f"mean grade of {self.second} minus {self.first}",
        ]

    def to_dict(self) -> dict[str, Any]:
        counts = ("first", "second", "items", "queries", "only_first", "only_second")
        values = {name: getattr(self, name) for name in (*counts, *SINGLE_NUMBERS)}
        values |= {"chance": self.chance, "kappa": self.kappas, "alpha": self.alphas}
        table = {"grades": self.grades, "counts": self.counts}
        return {
            name: plain_value(value)
            for name, value in (values | {"stricter": self.stricter, "table": table}).items()
        }

    def sentences(self, rel: float, grades: AssessorGrades) -> Iterator[str]:
        """Yield the findings on the two assessors."""
        kappa = self.kappa
        kappa_in_words = (
            f"Chance alone would give {percent(self.chance, 1)} %, so Cohen's kappa is "
            f"{kappa.estimate:.3f}{bounds_in_words(kappa)}."
        )
        if math.isnan(kappa.estimate):
            kappa_in_words = f"Cohen's kappa is undefined: {kappa.note}."
        yield (
            f"{self.first} and {self.second} gave the same grade to {_share(self.agreement)} of "
            f"the {grades.counted(self.items)} that both judged. {kappa_in_words}"
        )
        yield self.strictness()
        shares = [
            f"{percent(self.first_relevant.estimate, 1)} % of these items are relevant to "
            f"{self.first} and {percent(self.second_relevant.estimate, 1)} % to {self.second} "
            f"(grade {rel:g} or higher)."
        ]
        if not math.isnan(self.overlap.estimate):
            shares.append(f"Of those relevant to either, {_share(self.overlap)} are to both.")
        yield " ".join(shares)

    def strictness(self) -> str:
        """Return which assessor is stricter, in words."""
        gap = self.difference
        if gap.estimate == 0 and not gap.known:
            return f"{self.first} and {self.second} give the same grades on average."
        if self.stricter is not None:
            ends = sorted((abs(gap.low), abs(gap.high)))
            span = f"{ends[0]:.3f} to {ends[1]:.3f}" if gap.known else "the same on all queries"
            other = self.second if self.stricter == self.first else self.first
            return (
                f"{self.stricter} is stricter: the grades are {abs(gap.estimate):.3f} lower than "
                f"those of {other} on average ({span})."
            )
        mean = f"the mean grade of {self.second} minus {self.first} is {gap.estimate:+.3f}"
        if gap.known:
            mean += f" ({gap.low:+.3f} to {gap.high:+.3f})"
        if self.queries < MIN_QUERIES:
            queries = counted(self.queries, "query is", "queries are")
            return (
                f"{queries} too few to tell which assessor is stricter ({MIN_QUERIES} are needed): "
                f"{mean}."
            )
        return f"Neither is significantly stricter: {mean}."

    def scale_warning(self) -> str:
        """Return a warning if the two hardly use the same scale, else ""."""
        if not self.items:
            return ""
        ours, theirs = (
            [self.grades[place] for place in np.flatnonzero(np.sum(self.counts, axis=axis))]
            for axis in (1, 0)
        )
        used = f"{self.first} gave {_grades(ours)}, and {self.second} {_grades(theirs)}"
        if set(ours).isdisjoint(theirs):
            return f"{used}: no grade in common. Is one of them a run, or on another scale?"
        short, long = sorted((len(ours), len(theirs)))
        if short == 2 < long and self.items >= MIN_ITEMS_FOR_SCALE:
            return f"{used}. If their scales differ, map one to the other first."
        return ""


def bounds_in_words(interval: Interval) -> str:
    """Return the bounds of an interval in parentheses, or "" without bounds."""
    return f" ({interval.low:.3f} to {interval.high:.3f})" if interval.known else ""


def _share(interval: Interval) -> str:
    bounds = f" ({percent(interval.low, 1)} to {percent(interval.high, 1)})"
    return f"{percent(interval.estimate, 1)} %{bounds if interval.known else ''}"


def _grades(grades: list[float]) -> str:
    names = [f"{grade:g}" for grade in grades]
    word = "the grade" if len(names) == 1 else "the grades"
    return f"{word} {listed(names) if len(names) < 8 else f'from {names[0]} to {names[-1]}'}"


def compare_pair(
    grades: AssessorGrades, one: int, other: int, *, rel: float, **resampling: Any
) -> AssessorPair:
    """Compare two assessors, given by their columns; `resampling` is level, resamples and seed."""
    there = grades.there[:, [one, other]]
    both = there.all(axis=1)
    values = grades.values[both][:, [one, other]]
    first, second = values.T
    query = np.unique(grades.unit[both], return_inverse=True)[1].reshape(-1)
    size = int(query.max(initial=-1)) + 1
    relevant = np.stack([first, second]) >= rel
    ones = np.ones(len(first), bool)

    def ratio(upper: NDArray[Any], lower: NDArray[Any] = ones) -> Means:
        sums = [np.bincount(query, part.astype(np.float64), size) for part in (upper, lower)]
        return Means.ratio(sums[0].astype(np.float64), sums[1].astype(np.float64))

    samples = {
        "agreement": ratio(first == second),
        **{name: kappa_sample(first, second, query, weights=name) for name in KAPPAS},
        **{name: alpha_sample(values, query, metric=name) for name in ALPHAS},
        "overlap": ratio(relevant[0] & relevant[1], relevant[0] | relevant[1]),
        "first_relevant": ratio(relevant[0]),
        "second_relevant": ratio(relevant[1]),
        "difference": ratio(second - first),
    }
    names = grades.assessors[one], grades.assessors[other]
    reason = NOTHING_SHARED
    if len(first):
        reason = (
            f"{names[0]} and {names[1]} gave the same grade ({first[0]:g}) to "
            f"{'all ' if len(first) > 1 else ''}{grades.counted(len(first))}, so chance agreement "
            "is 100 %"
        )
    reasons = {
        **dict.fromkeys((*KAPPAS, *ALPHAS), reason),
        "overlap": f"neither {names[0]} nor {names[1]} found anything relevant",
    }
    scale, code = np.unique(np.stack([first, second]), return_inverse=True)
    width = len(scale)
    cells = np.array([width, 1]) @ code.reshape(2, -1)
    counts = np.bincount(cells, minlength=width * width).reshape(width, width)
    intervals = _intervals(samples, reasons, **resampling)
    return AssessorPair(
        first=names[0],
        second=names[1],
        items=len(first),
        queries=size,
        only_first=int((there[:, 0] & ~there[:, 1]).sum()),
        only_second=int((there[:, 1] & ~there[:, 0]).sum()),
        kappas={name: intervals[name] for name in KAPPAS},
        alphas={name: intervals[name] for name in ALPHAS},
        grades=tuple(scale.tolist()),
        counts=tuple(map(tuple, counts.tolist())),
        **{name: intervals[name] for name in SINGLE_NUMBERS},
    )


def alphas_of_all(grades: AssessorGrades, **resampling: Any) -> dict[str, Interval]:
    """Return Krippendorff's alpha of all assessors, on items that two or more judged."""
    paired = grades.times > 1
    query = np.unique(grades.unit[paired], return_inverse=True)[1].reshape(-1)
    values = grades.values[paired]
    samples = {name: alpha_sample(values, query, metric=name) for name in ALPHAS}
    known = values[~np.isnan(values)]
    reason = f"all assessors gave the same grade ({known[0]:g}) to all items"
    return _intervals(samples, dict.fromkeys(ALPHAS, reason), **resampling)


def _intervals(
    samples: Mapping[str, Means],
    reasons: Mapping[str, str],
    *,
    level: float,
    resamples: int,
    seed: int,
) -> dict[str, Interval]:
    """Return numbers with intervals, on the same resamples; `reasons` explain undefined ones."""
    size = len(next(iter(samples.values())))
    if not size:
        return dict.fromkeys(samples, Interval(math.nan, method=METHOD, note=NOTHING_SHARED))
    with np.errstate(all="ignore"):
        values = {name: sample.value() for name, sample in samples.items()}
    defined = [name for name, value in values.items() if not math.isnan(value)]
    intervals = {
        name: Interval(math.nan, method=METHOD, note=reasons.get(name, "")) for name in samples
    }
    low = high = np.full((1, len(defined)), np.nan)
    if size > 1:
        chosen = [(samples[name],) for name in defined]
        options: Any = {"method": METHOD, "resamples": resamples, "seed": seed}
        tested = bootstrap(chosen, levels=(level,), **options)
        low, high = tested.low, tested.high
    for name, least, most in zip(defined, low[0].tolist(), high[0].tolist(), strict=True):
        if math.isfinite(least) and math.isfinite(most):
            intervals[name] = Interval(values[name], least, most, METHOD)
        else:
            note = ONE_QUERY if size < 2 else UNSPREAD if math.isnan(least) else UNBOUNDED
            intervals[name] = Interval(values[name], method=METHOD, note=note)
    return intervals
