"""Two runs on one measure: the difference, its test, its size, and corrections of p."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.comparison.numbers import Compared, Entry, Numbers, intersect_queries
from judged.comparison.settings import (
    CORRECTIONS,
    POWERED,
    SIMULTANEOUS,
    TEST_NAMES,
    TESTS,
    ComparisonSettings,
)
from judged.comparison.wording import list_queries
from judged.errors import InputError, MeasureError
from judged.evaluation.trusted import refuse_few
from judged.statistics.prediction_powered import Powered, powered
from judged.statistics.ranks import corrected
from judged.statistics.samples import CLOSE, Means, Median, counted_as, effective_units
from judged.statistics.t import (
    Spread,
    Tested,
    against_zero,
    below,
    fewest_units,
    repeat_variance,
    t_tail,
    t_test,
)

Mask = NDArray[np.bool_]
UNSURE = {
    "identical": "no query differs",
    "few": "too few queries differ",
    "few groups": "too few groups differ",
    "constant": "all queries differ by the same amount",
    "alike": "all resamples of the queries give the same difference",
    "infinite": "some values are infinite",
}
"""Reasons why a difference has no confidence interval."""


@dataclass(frozen=True, eq=False)
class Match:
    """Two runs on one measure, on the same queries."""

    measure: Compared
    run: str
    against: str
    ours: Entry
    theirs: Entry
    groups: Ints | None = None

    @property
    def queries(self) -> int:
        return len(self.ours.place)

    @property
    def units(self) -> int:
        return self.queries if self.groups is None else int(self.groups.max(initial=-1)) + 1

    @cached_property
    def effective_units(self) -> float:
        if self.weights is None and self.groups is None:
            return float(self.queries)
        return effective_units(self.queries, self.weights, self.groups)

    @cached_property
    def uneven(self) -> bool:
        return self.effective_units < self.units * (1 - CLOSE)

    @property
    def number_of_groups(self) -> int | None:
        return None if self.groups is None else self.units

    @property
    def sizes(self) -> tuple[str, int, int | None, float]:
        """The measure, and the numbers of queries, of groups, and of effective units."""
        name = self.measure.name
        return name, self.queries, self.number_of_groups, self.effective_units

    @property
    def weights(self) -> Floats | None:
        return self.ours.sample.weights

    @cached_property
    def by_trusted(self) -> Match | None:
        """The match by trusted judgements alone, on the queries that have some in both runs."""
        ours, theirs = self.ours.trusted, self.theirs.trusted
        if ours is None or theirs is None:
            return None
        place = intersect_queries([ours, theirs])
        match = replace(self, ours=ours.at(place), theirs=theirs.at(place))
        where = f"{self.measure.name}, {self.run} and {self.against}"
        refuse_few(len(place), where, match.weights)
        return match

    @cached_property
    def powered(self) -> Powered | None:
        """Mean difference, corrected by trusted judgements."""
        trusted = self.by_trusted
        if trusted is None or trusted.averaged is None or self.averaged is None:
            return None
        columns = trusted.averaged[:, None], self.averaged[:, None]
        return powered(*columns, self.ours.has(trusted.ours), self.weights)

    @property
    def value(self) -> float:
        """The run's value on these queries."""
        # Trusted judgements correct it with the λ of the difference, so that the values differ by
        # the corrected difference.
        if self.powered is None or self.by_trusted is None:
            return self.ours.number
        return self.ours.corrected(self.powered.weight, self.by_trusted.ours)

    @property
    def against_value(self) -> float:
        if self.powered is None or self.by_trusted is None:
            return self.theirs.number
        return self.theirs.corrected(self.powered.weight, self.by_trusted.theirs)

    @cached_property
    def difference(self) -> float:
        """The run's value minus the other's; 0 if both are infinite."""
        return float(_minus(np.array([self.value]), np.array([self.against_value]))[0])

    @cached_property
    def differences(self) -> Floats:
        """Difference of each query's values; 0 if they are equal but for rounding."""
        return differences(self.ours.values, self.theirs.values)

    @property
    def rounding(self) -> Floats:
        return _rounding(self.ours.values, self.theirs.values)

    @cached_property
    def averaged(self) -> Floats | None:
        """Differences of the averaged values; None if the summary is not a mean."""
        ours, theirs = self.ours.averaged, self.theirs.averaged
        return None if ours is None or theirs is None else differences(ours, theirs)

    @cached_property
    def averaged_rounding(self) -> Floats:
        ours, theirs = self.ours.averaged, self.theirs.averaged
        if ours is None or theirs is None or self.averaged is None:
            return np.zeros(self.queries)
        return np.where(self.averaged == 0, 0.0, _rounding(ours, theirs))

    @cached_property
    def differs(self) -> Mask:
        """Mask of the queries that differ in anything that the summary is computed from."""
        ours, theirs = self.ours.sample, self.theirs.sample
        differs = self.differences != 0
        if isinstance(ours, Means) and isinstance(theirs, Means):
            columns = differences(ours.columns.ravel(), theirs.columns.ravel())
            differs = differs | (columns.reshape(ours.columns.shape) != 0).any(axis=1)
            if self.by_trusted is not None:
                differs[self.ours.has(self.by_trusted.ours)] |= self.by_trusted.differs
            return differs
        if isinstance(ours, Median) and isinstance(theirs, Median) and ours.pooled:
            return differs | _pools_differ(ours, theirs)
        return differs

    @cached_property
    def unit_sums(self) -> tuple[Floats, Floats]:
        """Weighted sum of differences (or number of differing queries) and weight of each unit."""
        averaged = self.differs.astype(float) if self.averaged is None else self.averaged
        weights = np.ones(self.queries) if self.weights is None else self.weights
        sums = weights * averaged
        if self.groups is None:
            return sums, weights
        size = self.units
        summed: Floats = np.bincount(self.groups, sums, size).astype(float)
        scale = np.bincount(self.groups, np.abs(sums), size)
        summed[np.abs(summed) <= CLOSE * scale] = 0.0
        return summed, np.bincount(self.groups, weights, size).astype(float)

    @cached_property
    def differing(self) -> int:
        """Number of queries, or groups, that differ; with trusted judgements, by these."""
        if self.by_trusted is not None:
            return self.by_trusted.differing
        return int((self.unit_sums[0] != 0).sum())

    @property
    def smallest_p(self) -> float:
        """Smallest p that n differing units allow: all signs agree in two of 2ⁿ cases."""
        return 2.0 ** (1 - max(self.differing, 1))

    @cached_property
    def constant(self) -> bool:
        """True if all queries, or groups, differ by the same amount but for rounding."""
        if self.by_trusted is not None:
            return self.by_trusted.constant
        ours, theirs = self.ours.averaged, self.theirs.averaged
        if ours is None or theirs is None or not self.queries:
            return False
        sums, weights = self.unit_sums
        off = _rounding(ours, theirs) * (1.0 if self.weights is None else self.weights)
        if self.groups is not None:
            off = np.bincount(self.groups, off, self.units).astype(float)
        if not np.isfinite(sums).all():
            return False
        means, off = sums / weights, off / weights
        return bool((means - off).max() <= (means + off).min())

    @cached_property
    def record(self) -> tuple[int, int, int]:
        up, down = int((self.differences > 0).sum()), int((self.differences < 0).sum())
        won, lost = (up, down) if self.measure.higher_is_better else (down, up)
        return won, self.queries - up - down, lost

    @property
    def width(self) -> float:
        low, high = self.measure.range
        return float(high - low) * (self.queries if self.ours.sample.aggregate == "sum" else 1)

    @property
    def infinite(self) -> Mask:
        """Queries with an infinite value in one of the runs."""
        return np.isinf(self.ours.values) | np.isinf(self.theirs.values)

    @property
    def too_large(self) -> bool:
        """True if finite values have means or differences that overflow."""
        numbers = (self.value, self.against_value, self.difference)
        beyond = any(map(math.isinf, numbers)) or bool(np.isinf(self.differences).any())
        return beyond and not self.infinite.any()

    def on_scale(self, averaged: Floats) -> Floats:
        """Return differences of means on the scale of the summary."""
        # For geometric means a and b, a difference x of mean logarithms is 2·√(ab)·sinh(x/2), which
        # equals a - b for their own x and changes its sign with x.
        aggregate = self.ours.sample.aggregate
        if aggregate == "sum":
            return averaged * self.queries
        if aggregate == "geometric":
            middle = math.sqrt(self.value) * math.sqrt(self.against_value)
            with np.errstate(over="ignore"):
                return 2 * middle * np.sinh(averaged / 2)
        return averaged


def match_pair(numbers: Numbers, measure: Compared, run: str, against: str) -> Match:
    ours, theirs = numbers.entry(measure, run), numbers.entry(measure, against)
    place = intersect_queries([ours, theirs])
    groups = numbers.grouped(place)
    return Match(measure, run, against, ours.at(place), theirs.at(place), groups)


def group_by_queries(matches: Sequence[Match]) -> list[list[int]]:
    """Return the positions of matches on the same queries, grouped."""
    positions: dict[bytes, list[int]] = {}
    for i, match in enumerate(matches):
        positions.setdefault(match.ours.place.tobytes(), []).append(i)
    return list(positions.values())


def _minus(ours: Floats, theirs: Floats) -> Floats:
    """Return differences; 0 if both are infinite alike."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(ours == theirs, 0.0, ours - theirs)


def differences(ours: Floats, theirs: Floats) -> Floats:
    """Return differences; 0 if the values are equal but for rounding."""
    apart = _minus(ours, theirs)
    return np.where(np.abs(apart) <= _rounding(ours, theirs), 0.0, apart)


def _rounding(ours: Floats, theirs: Floats) -> Floats:
    """Return how far apart equal values of a query may be."""
    # It is 1e-12 of values above 1, and 1e-12 of the largest of all if none is above 1. So one huge
    # value makes no other two equal, and the unit of values does not matter.
    sizes = np.maximum(
        *(np.where(np.isfinite(values), np.abs(values), 0.0) for values in (ours, theirs))
    )
    return CLOSE * np.maximum(sizes, min(1.0, float(sizes.max(initial=0.0))))


def _pools_differ(ours: Median, theirs: Median) -> Mask:
    """Return which queries have other values in one pool than in the other."""
    sizes = [np.bincount(side.owner, minlength=side.size) for side in (ours, theirs)]
    differs = sizes[0] != sizes[1]
    same_size = [~differs[side.owner] for side in (ours, theirs)]
    values, owners = [], []
    for side, keep in zip((ours, theirs), same_size, strict=True):
        order = np.lexsort((side.values[keep], side.owner[keep]))
        values.append(side.values[keep][order])
        owners.append(side.owner[keep][order])
    differs[owners[0][differences(*values) != 0]] = True
    return differs


def too_few(match: Match, settings: ComparisonSettings, sides: int = 2) -> bool:
    """Return whether the signs of the differing queries, or groups, could not be significant."""
    # Queries or groups of uneven weight have no verdict either where fewer of equal weight than a
    # two-sided test needs, 6 at 95 %, would say as much: one of them would decide.
    needed = settings.fewest_units if sides == 2 else fewest_units(settings.level, sides)
    few = match.units < 2 or match.differing < needed
    return few or too_uneven(match, settings)


def too_uneven(match: Match, settings: ComparisonSettings) -> bool:
    """Return whether uneven weights leave too small an effective number of queries, or groups."""
    return match.uneven and match.effective_units < settings.fewest_units


def columns_of(matches: Sequence[Match]) -> Floats:
    return np.stack([match.averaged for match in matches if match.averaged is not None], axis=1)


def further_variances(matches: Sequence[Match]) -> list[tuple[Floats, Floats]]:
    """Return what repeats and random orders of ties add to the variance of each difference."""
    variances = []
    for side in ("ours", "theirs"):
        entries = [getattr(match, side) for match in matches]
        if any(entry.repeats is not None for entry in entries):
            known = [
                (0.0, math.inf)
                if entry.repeats is None
                else repeat_variance(entry.repeats, entry.sample.weights)
                for entry in entries
            ]
            variances.append((np.array([v for v, _ in known]), np.array([f for _, f in known])))
        if any(entry.error for entry in entries):
            errors = np.array([entry.error**2 for entry in entries])
            variances.append((errors, np.full(len(entries), math.inf)))
    return variances


def powered_spread(matches: Sequence[Match]) -> Spread:
    """Return the differences that trusted judgements correct, with their standard errors."""
    spreads = [match.powered.spread for match in matches if match.powered is not None]
    columns = zip(
        *((spread_of.mean[0], spread_of.error[0], spread_of.freedom[0]) for spread_of in spreads),
        strict=True,
    )
    return Spread(*map(np.array, columns))


# -- tests


@dataclass(frozen=True)
class MatchOutcome:
    """Result of testing one match."""

    test: str  # name of the test in `TEST_NAMES`; for "auto", the one that was chosen
    p: float
    low: float = math.nan
    high: float = math.nan
    inner_low: float = math.nan  # interval of level 1 - 2α, for the two one-sided tests of a margin
    inner_high: float = math.nan
    method: str | None = None
    """Kind of the interval, such as t, percentile or tukey; None without interval."""
    note: str = ""
    smallest_p: float = 0.0  # smallest p that these data could give


def outcomes(
    matches: Sequence[Match], settings: ComparisonSettings, numbers: Numbers
) -> list[MatchOutcome]:
    """Test each match; those on the same queries are tested at once."""
    chosen = [_choose_test(match, settings.test, numbers) for match in matches]
    tested: dict[int, MatchOutcome] = {}
    for same in group_by_queries(matches):
        for test in dict.fromkeys(chosen[i] for i in same):
            which = [i for i in same if chosen[i] == test and matches[i].queries > 0]
            if which:
                together = [matches[i] for i in which]
                tested |= dict(zip(which, TESTERS[test](test, together, settings), strict=True))
    careful = [
        _without_certainty(match, tested.get(i, MatchOutcome(chosen[i], 1.0)), settings)
        for i, match in enumerate(matches)
    ]
    return [replace(outcome, smallest_p=min(outcome.smallest_p, outcome.p)) for outcome in careful]


def _choose_test(match: Match, test: str, numbers: Numbers) -> str:
    """Return the test of a match; one that does not fit is an error."""
    name = match.measure.name
    if match.powered is not None:
        if test != "auto":
            raise InputError(
                "differences that trusted judgements correct are tested by "
                f"{TEST_NAMES[POWERED]}; {TESTS[test]} would test the uncorrected ones. "
                "Leave out test (--test), or trusted (--trusted)."
            )
        return POWERED
    if test == "bca" and match.uneven:
        test = "bootstrap"  # BCa is too narrow for uneven weights and groups
    is_mean = match.averaged is not None
    if test == "auto":
        test = "t" if is_mean else "bootstrap"
    if test in ("t", "randomisation") and not is_mean:
        raise MeasureError(
            f"{name} is not a mean over queries, so {TESTS[test]} does not apply; "
            "use the test bootstrap."
        )
    if test in ("wilcoxon", "sign") and (match.weights is not None or match.groups is not None):
        raise InputError(
            f"{TESTS[test]} supports neither weights nor groups; use the test t, randomisation or "
            "bootstrap."
        )
    repeated = match.ours.repeats is not None or match.theirs.repeats is not None
    if repeated and test != "t":
        raise InputError(
            f"only the test t takes repeats into account; {TESTS[test]} does not. Leave out the "
            "test, or the repeats."
        )
    if is_infinite(match, test):
        raise infinite_error(match, numbers, ", or use the test sign")
    if match.too_large:
        raise InputError(
            f"the values of {name} are too large to be averaged; give them in a larger unit."
        )
    return test


def is_infinite(match: Match, test: str = "auto") -> bool:
    is_median = match.ours.sample.aggregate == "median"
    return not is_median and test != "sign" and bool(match.infinite.any())


def infinite_error(match: Match, numbers: Numbers, otherwise: str = "") -> MeasureError:
    name, measure = match.measure.name, match.measure.measure
    where = list_queries([numbers.queries[i] for i in match.ours.place[match.infinite]])
    instead = "leave these queries out of all runs"
    if measure is not None:
        instead = f"use its median ({measure(aggregate='median')}) or RR"
    return MeasureError(
        f"{name} is infinite for {where}, so its mean is infinite too; {instead}{otherwise}."
    )


def _test_by_t(test: str, matches: list[Match], settings: ComparisonSettings) -> list[MatchOutcome]:
    with np.errstate(all="ignore"):
        if test == POWERED:
            tested = against_zero(powered_spread(matches), settings.levels)
            return _rescale(test, POWERED, matches, tested)
        tested = t_test(
            columns_of(matches),
            matches[0].weights,
            matches[0].groups,
            levels=settings.levels,
            more=further_variances(matches),
        )
    return _rescale(test, "t", matches, tested)


def _test_by_randomisation(
    test: str, matches: list[Match], settings: ComparisonSettings
) -> list[MatchOutcome]:
    from judged.statistics.randomisation import EXACT_UNITS, randomisation

    tested = randomisation(
        columns_of(matches),
        matches[0].weights,
        matches[0].groups,
        rounding=np.stack([match.averaged_rounding for match in matches], axis=1),
        levels=settings.levels,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    return [
        replace(outcome, smallest_p=1 / (settings.resamples + 1))
        if m.differing > EXACT_UNITS
        else outcome
        for outcome, m in zip(
            _rescale(test, "randomisation", matches, tested), matches, strict=True
        )
    ]


def _test_by_bootstrap(
    test: str, matches: list[Match], settings: ComparisonSettings
) -> list[MatchOutcome]:
    from judged.statistics.bootstrap import bootstrap, smallest_p

    method = "bca" if test == "bca" else "percentile"
    tested = bootstrap(
        [(match.ours.sample, match.theirs.sample) for match in matches],
        matches[0].groups,
        levels=settings.levels,
        method=method,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    # Resamples do not know that few queries differ: their signs alone allow for no smaller p.
    drawn = settings.resamples, matches[0].ours.sample, matches[0].groups
    least = 1 / (settings.resamples + 1) if test == "bca" else smallest_p(*drawn)
    alone = [_outcome(test, method, tested, i) for i in range(len(matches))]
    return [
        replace(
            outcome, p=max(outcome.p, match.smallest_p), smallest_p=max(least, match.smallest_p)
        )
        for outcome, match in zip(alone, matches, strict=True)
    ]


def _test_by_ranks(
    test: str, matches: list[Match], settings: ComparisonSettings
) -> list[MatchOutcome]:
    from judged.statistics import ranks

    columns = np.stack([match.differences for match in matches], axis=1)
    p = getattr(ranks, test)(columns, np.stack([match.rounding for match in matches], axis=1))
    known = [match.averaged is not None and not match.infinite.any() for match in matches]
    ends = iter(
        _test_by_t("t", [m for m, k in zip(matches, known, strict=True) if k], settings)
        if any(known)
        else []
    )
    return [
        replace(next(ends), test=test, p=float(p_value))
        if sure
        else MatchOutcome(test, float(p_value), note=UNSURE["infinite"])
        for p_value, sure in zip(p, known, strict=True)
    ]


TESTERS: dict[str, Callable[[str, list[Match], ComparisonSettings], list[MatchOutcome]]] = {
    "t": _test_by_t,
    "randomisation": _test_by_randomisation,
    "bootstrap": _test_by_bootstrap,
    "bca": _test_by_bootstrap,
    "wilcoxon": _test_by_ranks,
    "sign": _test_by_ranks,
    POWERED: _test_by_t,
}
"""Function of each test."""


def _rescale(test: str, method: str, matches: list[Match], tested: Tested) -> list[MatchOutcome]:
    """Convert results on the scale of means to that of the summary."""
    scaled = Tested(
        tested.p,
        *(
            np.stack([m.on_scale(ends[:, i]) for i, m in enumerate(matches)], axis=1)
            for ends in (tested.low, tested.high)
        ),
    )
    return [_outcome(test, method, scaled, i) for i in range(len(matches))]


def _outcome(test: str, method: str, tested: Tested, i: int) -> MatchOutcome:
    (low, inner_low), (high, inner_high) = tested.low[:, i], tested.high[:, i]
    ends = float(low), float(high), float(inner_low), float(inner_high)
    low, high, inner_low, inner_high = (end + 0.0 for end in ends)  # never -0
    return MatchOutcome(test, float(tested.p[i]), low, high, inner_low, inner_high, method)


def _without_certainty(
    match: Match, outcome: MatchOutcome, settings: ComparisonSettings
) -> MatchOutcome:
    """Remove certainty that the data cannot give, such as intervals from few differing queries."""
    floor = outcome.smallest_p or match.smallest_p
    bare = MatchOutcome(outcome.test, outcome.p, smallest_p=floor)
    if not match.differs.any():
        return replace(bare, p=1.0, smallest_p=1.0, note=UNSURE["identical"])
    if too_few(match, settings):
        uneven = too_uneven(match, settings)
        p = _p_of_few(match, outcome, uneven=uneven)
        note = UNSURE["few" if match.groups is None else "few groups"]
        if uneven:
            note = f"{counted_as(*match.sizes[1:])}, too few for a confidence interval"
        return replace(bare, p=p, smallest_p=match.smallest_p, note=note)
    if match.constant:
        p = outcome.p if outcome.test in ("wilcoxon", "sign") else match.smallest_p
        by_repeats = _by_repeats(match)
        if by_repeats:
            return replace(bare, p=max(p, by_repeats), note=UNSURE["constant"])
        # As certain as the signs of the differing queries are.
        point = match.difference
        sure = below(match.smallest_p / 2, settings.tested_level)
        ends = point, point, *((point, point) if sure else (math.nan, math.nan))
        return MatchOutcome(outcome.test, p, *ends, outcome.method, smallest_p=floor)
    if not outcome.note and math.isnan(outcome.low):
        p = 1.0 if math.isnan(outcome.p) else max(outcome.p, floor, match.smallest_p)
        return replace(bare, p=p, note=UNSURE["alike"])
    return replace(outcome, smallest_p=floor)


def _by_repeats(match: Match) -> float:
    """Return p by the variation between repeats alone; 0 without any."""
    if match.averaged is None or match.ours.repeats is match.theirs.repeats is None:
        return 0.0
    variances, freedoms = np.array(further_variances([match]))[:, :, 0].T
    whole = variances.sum()
    if not whole > 0:
        return 0.0
    freedom = whole**2 / (variances**2 / freedoms).sum()
    away = abs(match.averaged.mean()) / math.sqrt(whole)
    return float(2 * t_tail(np.array([away]), np.array([freedom]))[0])


def _p_of_few(match: Match, outcome: MatchOutcome, *, uneven: bool) -> float:
    """Return p of the exact randomisation test; with trusted judgements, by those alone."""
    # For uneven weights and other summaries than means, p of the test, but at least the smallest
    # that the signs of the differences allow.
    from judged.statistics.randomisation import EXACT_UNITS, exact_p

    few = match.by_trusted or match
    if not uneven:
        finite = few.averaged is not None and bool(np.isfinite(few.averaged).all())
        if few.averaged is not None and finite and few.differing <= EXACT_UNITS:
            off = few.averaged_rounding
            return exact_p(few.averaged, few.weights, few.groups, rounding=off)
        match = few
    return max(outcome.p, match.smallest_p) if math.isfinite(outcome.p) else 1.0


def group_by_measure(matches: Sequence[Match]) -> dict[str, list[int]]:
    """Return the positions of the matches of each measure, which are corrected together."""
    families: dict[str, list[int]] = {}
    for i, match in enumerate(matches):
        families.setdefault(match.measure.name, []).append(i)
    return families


def correct(
    matches: Sequence[Match],
    outcomes: Sequence[MatchOutcome],
    settings: ComparisonSettings,
    numbers: Numbers,
) -> tuple[list[MatchOutcome], list[float]]:
    """Return the outcomes, with simultaneous intervals if there are, and each corrected p."""
    if settings.correction in SIMULTANEOUS:
        return _simultaneous(matches, outcomes, settings, numbers)
    corrected_p = np.array([outcome.p for outcome in outcomes], float)
    for family in group_by_measure(matches).values():
        corrected_p[family] = corrected(corrected_p[family], settings.correction)
    return list(outcomes), corrected_p.tolist()


def _simultaneous(
    matches: Sequence[Match],
    outcomes: Sequence[MatchOutcome],
    settings: ComparisonSettings,
    numbers: Numbers,
) -> tuple[list[MatchOutcome], list[float]]:
    """Return p and intervals of all pairs of runs on a measure at once."""
    name = CORRECTIONS[settings.correction]
    if any(match.powered is not None for match in matches):
        raise InputError(f"{name} does not support trusted judgements; use correction holm.")
    if settings.test not in ("auto", "t", "randomisation"):
        raise InputError(f"{name} has its own test; leave out test={settings.test} (--test).")
    changed, corrected_p = list(outcomes), [outcome.p for outcome in outcomes]
    for family in group_by_measure(matches).values():
        first = matches[family[0]]
        measure = first.measure
        entries = [numbers.entry(measure, run) for run in numbers.runs]
        place = intersect_queries(entries)
        weighed = first.weights is not None or first.groups is not None
        repeated = any(entry.repeats is not None for entry in entries)
        incomplete = any(len(entry.place) != len(place) for entry in entries)
        if first.averaged is None or weighed or repeated or incomplete:
            raise InputError(
                f"{name} compares means over the same queries in all runs, without weights, groups "
                f"and repeats, and {measure.name} has no such values here; use correction holm, or "
                "missing=zero if runs lack queries."
            )
        averaged = [entry.sample.averaged for entry in entries]
        values = np.stack([of_run for of_run in averaged if of_run is not None], axis=1)
        if len(place) < 2:
            continue
        from judged.statistics.randomisation import randomised_tukey, tukey

        if settings.correction == "tukey":
            tested = tukey(values, settings.levels)
        else:
            resamples, seed = settings.resamples, settings.seed
            tested = randomised_tukey(values, settings.levels, resamples=resamples, seed=seed)
        places = {run: i for i, run in enumerate(numbers.runs)}
        for i in family:
            match, outcome = matches[i], outcomes[i]
            p = float(tested.p[places[match.run], places[match.against]])
            if outcome.method is None or match.constant:
                corrected_p[i] = max(outcome.p, p)
                continue
            corrected_p[i] = p
            assert match.averaged is not None
            half = np.array([-1.0, 1.0]) * np.asarray(tested.half_width)[:, None]
            ends = float(np.mean(match.averaged)) + half.ravel()
            low, high, inner_low, inner_high = map(float, match.on_scale(ends))
            outcome = replace(outcome, low=low, high=high, method=settings.correction)
            changed[i] = replace(outcome, inner_low=inner_low, inner_high=inner_high)
    return changed, corrected_p
