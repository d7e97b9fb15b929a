"""Tests of matches: p-values, confidence intervals, and corrections for multiple comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judged.comparison.match import (
    Match,
    alike,
    columns_of,
    further_variances,
    powered_spread,
    too_few,
    too_uneven,
)
from judged.comparison.numbers import Numbers, in_common
from judged.comparison.settings import (
    CORRECTIONS,
    POWERED,
    SIMULTANEOUS,
    TEST_NAMES,
    TESTS,
    ComparisonSettings,
)
from judged.errors import InputError, MeasureError
from judged.statistics.ranks import corrected
from judged.statistics.samples import counted_as
from judged.statistics.t import Tested, below

UNSURE = {
    "identical": "no query differs",
    "few": "too few queries differ",
    "few groups": "too few groups differ",
    "constant": "all queries differ by the same amount",
    "alike": "all resamples of the queries give the same difference",
    "infinite": "some values are infinite",
}
"""Reasons why a difference has no confidence interval."""


@dataclass(frozen=True)
class MatchOutcome:
    """Result of testing one match."""

    test: str
    """Name of the test in `TEST_NAMES`; for "auto", the one that was chosen."""
    p: float
    low: float = math.nan
    high: float = math.nan
    inner_low: float = math.nan
    """Interval of level 1 - 2α, for the two one-sided tests of a margin."""
    inner_high: float = math.nan
    method: str | None = None
    """Kind of the interval, such as t, percentile or tukey; None without interval."""
    note: str = ""
    """Reason for a missing confidence interval."""
    smallest_p: float = 0.0
    """Smallest p that these data could give."""


def outcomes(
    matches: Sequence[Match], settings: ComparisonSettings, numbers: Numbers
) -> list[MatchOutcome]:
    """Test each match; those on the same queries are tested at once."""
    chosen = [_chosen(match, settings.test, numbers) for match in matches]
    tested: dict[int, MatchOutcome] = {}
    for same in alike(matches):
        for test in dict.fromkeys(chosen[at] for at in same):
            which = [at for at in same if chosen[at] == test and matches[at].queries > 0]
            if which:
                together = [matches[at] for at in which]
                tested |= dict(zip(which, TESTERS[test](test, together, settings), strict=True))
    careful = [
        _without_certainty(match, tested.get(at, MatchOutcome(chosen[at], 1.0)), settings)
        for at, match in enumerate(matches)
    ]
    return [replace(outcome, smallest_p=min(outcome.smallest_p, outcome.p)) for outcome in careful]


def _chosen(match: Match, test: str, numbers: Numbers) -> str:
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
        from judged.comparison.wording import some

        where = some([numbers.queries[at] for at in match.ours.place[match.infinite]])
        raise MeasureError(
            f"{name} is infinite for {where}, so its mean is infinite too; {_instead(match)}use "
            "the test sign, which counts only wins and losses."
        )
    if match.too_large:
        raise InputError(
            f"the values of {name} are too large to be averaged; give them in a larger unit."
        )
    return test


def is_infinite(match: Match, test: str) -> bool:
    """Return whether infinite values rule a test out."""
    return averages(match) and test != "sign" and bool(match.infinite.any())


def averages(match: Match) -> bool:
    """Return whether infinite values make the summary infinite."""
    return match.ours.sample.aggregate != "median"


def _instead(match: Match) -> str:
    """Return what can be compared instead of a mean of infinite values."""
    measure = match.measure.measure
    if measure is None:
        return "leave these queries out of all runs, or "
    return f"compare its median ({measure(aggregate='median')}), compare RR, or "


def _student(test: str, matches: list[Match], settings: ComparisonSettings) -> list[MatchOutcome]:
    from judged.statistics.t import t_test

    with np.errstate(all="ignore"):
        tested = t_test(
            columns_of(matches),
            matches[0].weights,
            matches[0].groups,
            levels=settings.levels,
            more=further_variances(matches),
        )
    return _read(test, "t", matches, tested)


def _powered(test: str, matches: list[Match], settings: ComparisonSettings) -> list[MatchOutcome]:
    from judged.statistics.t import against_zero

    with np.errstate(all="ignore"):
        tested = against_zero(powered_spread(matches), settings.levels)
    return _read(test, POWERED, matches, tested)


def _randomised(
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
        for outcome, m in zip(_read(test, "randomisation", matches, tested), matches, strict=True)
    ]


def _bootstrapped(
    test: str, matches: list[Match], settings: ComparisonSettings
) -> list[MatchOutcome]:
    from judged.statistics.bootstrap import bootstrap_pairs, smallest_p

    method = "bca" if test == "bca" else "percentile"
    tested = bootstrap_pairs(
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
    alone = [_outcome(test, method, tested, at) for at in range(len(matches))]
    return [
        replace(
            outcome, p=max(outcome.p, match.smallest_p), smallest_p=max(least, match.smallest_p)
        )
        for outcome, match in zip(alone, matches, strict=True)
    ]


def _ranked(test: str, matches: list[Match], settings: ComparisonSettings) -> list[MatchOutcome]:
    from judged.statistics import ranks

    columns = np.stack([match.differences for match in matches], axis=1)
    p = getattr(ranks, test)(columns, np.stack([match.rounding for match in matches], axis=1))
    known = [match.averaged is not None and not match.infinite.any() for match in matches]
    ends = iter(
        _student("t", [m for m, k in zip(matches, known, strict=True) if k], settings)
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
    "t": _student,
    "randomisation": _randomised,
    "bootstrap": _bootstrapped,
    "bca": _bootstrapped,
    "wilcoxon": _ranked,
    "sign": _ranked,
    POWERED: _powered,
}
"""Function of each test."""


def _read(test: str, method: str, matches: list[Match], tested: Tested) -> list[MatchOutcome]:
    """Convert results on the scale of means to that of the summary."""
    scaled = Tested(
        tested.p,
        *(
            np.stack([m.on_scale(ends[:, at]) for at, m in enumerate(matches)], axis=1)
            for ends in (tested.low, tested.high)
        ),
    )
    return [_outcome(test, method, scaled, at) for at in range(len(matches))]


def _outcome(test: str, method: str, tested: Tested, at: int) -> MatchOutcome:
    (low, inner_low), (high, inner_high) = tested.low[:, at], tested.high[:, at]
    ends = float(low), float(high), float(inner_low), float(inner_high)
    low, high, inner_low, inner_high = (end + 0.0 for end in ends)  # never -0
    return MatchOutcome(test, float(tested.p[at]), low, high, inner_low, inner_high, method)


def _without_certainty(
    match: Match, outcome: MatchOutcome, settings: ComparisonSettings
) -> MatchOutcome:
    """Remove certainty that the data cannot give.

    No interval if too few queries differ, and a point if all differ by the same amount.
    """
    floor = outcome.smallest_p or match.smallest_p
    bare = MatchOutcome(outcome.test, outcome.p, smallest_p=floor)
    if not match.differs.any():
        return replace(bare, p=1.0, smallest_p=1.0, note=UNSURE["identical"])
    if too_few(match, settings):
        uneven = too_uneven(match, settings)
        p = _at_least(match, outcome) if uneven else _exact(match, outcome)
        groups = None if match.groups is None else match.units
        note = UNSURE["few" if groups is None else "few groups"]
        if uneven:
            worth = counted_as(match.queries, groups, match.effective_units)
            note = f"{worth}, too few for a confidence interval"
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
    from judged.statistics.t import t_tail

    if match.averaged is None or match.ours.repeats is match.theirs.repeats is None:
        return 0.0
    variances, freedoms = np.array(further_variances([match]))[:, :, 0].T
    whole = variances.sum()
    if not whole > 0:
        return 0.0
    freedom = whole**2 / (variances**2 / freedoms).sum()
    away = abs(match.averaged.mean()) / math.sqrt(whole)
    return float(2 * t_tail(np.array([away]), np.array([freedom]))[0])


def _at_least(match: Match, outcome: MatchOutcome) -> float:
    """Return p of the test, but at least the smallest that the signs of differences allow."""
    return max(outcome.p, match.smallest_p) if math.isfinite(outcome.p) else 1.0


def _exact(match: Match, outcome: MatchOutcome) -> float:
    """Return p of the exact randomisation test; with trusted judgements, by those alone."""
    match = match.by_trusted or match
    from judged.statistics.randomisation import EXACT_UNITS, exact_p

    finite = match.averaged is not None and bool(np.isfinite(match.averaged).all())
    if match.averaged is None or not finite or match.differing > EXACT_UNITS:
        return _at_least(match, outcome)
    off = match.averaged_rounding
    return exact_p(match.averaged, match.weights, match.groups, rounding=off)


def families_of(matches: Sequence[Match]) -> dict[str, list[int]]:
    """Return the positions of the matches of each measure, which are corrected together."""
    families: dict[str, list[int]] = {}
    for at, match in enumerate(matches):
        families.setdefault(match.measure.name, []).append(at)
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
    for family in families_of(matches).values():
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
        raise InputError(f"{name} has its own test; leave out test={settings.test}.")
    changed, corrected_p = list(outcomes), [outcome.p for outcome in outcomes]
    for family in families_of(matches).values():
        first = matches[family[0]]
        measure = first.measure
        entries = [numbers.entry(measure, run) for run in numbers.runs]
        place = in_common(entries)
        wrong = ""
        if any(matches[at].averaged is None for at in family):
            wrong = f"compares means, and {measure.name} is not one; use correction holm"
        elif any(len(entry.place) != len(place) for entry in entries):
            wrong = (
                f"needs the same queries in all runs, but on {measure.name} the runs have "
                "different ones; use correction holm, or missing=zero"
            )
        elif (
            first.weights is not None
            or first.groups is not None
            or any(entry.repeats is not None for entry in entries)
        ):
            wrong = "supports neither weights nor groups nor repeats; use correction holm"
        if wrong:
            raise InputError(f"{name} {wrong}.")
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
        places = {run: at for at, run in enumerate(numbers.runs)}
        for at in family:
            match, outcome = matches[at], outcomes[at]
            p = float(tested.p[places[match.run], places[match.against]])
            if outcome.method is None or match.constant:
                corrected_p[at] = max(outcome.p, p)
                continue
            corrected_p[at] = p
            assert match.averaged is not None
            half = np.array([-1.0, 1.0]) * np.asarray(tested.half_width)[:, None]
            ends = float(np.mean(match.averaged)) + half.ravel()
            low, high, inner_low, inner_high = map(float, match.on_scale(ends))
            outcome = replace(outcome, low=low, high=high, method=settings.correction)
            changed[at] = replace(outcome, inner_low=inner_low, inner_high=inner_high)
    return changed, corrected_p
