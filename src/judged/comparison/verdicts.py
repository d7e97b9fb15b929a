"""Pairs of runs: tested, corrected, and decided by one of six verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Ints
from judged.comparison.numbers import Compared, Numbers
from judged.comparison.outcomes import (
    Match,
    MatchOutcome,
    columns_of,
    correct,
    further_variances,
    group_by_measure,
    group_by_queries,
    match_pair,
    outcomes,
    powered_spread,
    too_few,
)
from judged.comparison.settings import SIMULTANEOUS, ComparisonSettings
from judged.comparison.wording import QUERIES, amount, percent_of, shown_margin, with_ends
from judged.errors import InputError, quoted
from judged.evaluation.trusted import Correction
from judged.results import ResultPart
from judged.statistics.intervals import Interval
from judged.statistics.power import detectable
from judged.statistics.samples import CLOSE, Means, counted_as
from judged.statistics.t import below, spread
from judged.text import counted, listed

if TYPE_CHECKING:
    import polars as pl

    from judged.comparison.benchmark import MacroPair

VERDICTS = ("worse", "better", "equivalent", "not significant", "too few", "identical")
"""All verdicts, in the order in which sentences list them."""
SIGNIFICANT = ("better", "worse")
"""Verdicts of a statistically significant difference."""


@dataclass(frozen=True)
class Pair(ResultPart):
    """Two runs on one measure: their difference, how certain it is, and the verdict."""

    measure: str
    run: str  # the run that is compared
    against: str  # the run that it is compared with
    queries: int  # number of queries that count in both
    groups: int | None  # number of groups of queries; None if queries are independent
    value: float  # the run's value on these queries
    against_value: float  # the other run's value on these queries
    difference: float  # the run's value minus the other's
    relative: float | None
    """The difference as a share of the other's value; None if that is 0 or infinite."""
    interval: Interval  # confidence interval of the difference; its note explains why it is missing
    effect: float | None
    """Cohen's d_z: the mean difference in standard deviations of the differences."""
    wins: int  # number of queries on which the run is better
    ties: int  # number of queries on which both have the same value
    losses: int  # number of queries on which the other run is better
    p: float  # probability of a difference at least as large if there were none (two-sided)
    corrected_p: float  # p, corrected for the number of comparisons on the measure
    smallest_p: float  # smallest p that the number of differing queries, or of resamples, allows
    detectable: float | None
    """Smallest difference that would be detected with 80 % power; None if unknown, or if no
    difference could be."""
    verdict: str  # one of `VERDICTS`
    negligible: bool = False
    """True if the difference is significant, and significantly smaller than the margin."""
    depends_on: tuple[str, ...] = ()
    """Causes that could change the verdict: ties, missing, unjudged."""
    test: str = "t"  # the test that gave p
    says: str = ""
    effective_units: float | None = None
    """Effective number of queries or groups (Kish); None if all weigh the same."""
    trusted: Correction | None = None
    """Correction by trusted judgements. Then value, against_value, difference,
    interval, p and verdict are corrected; wins, ties and losses are not, and effect is None."""
    attribute: str | None = None  # attribute that the queries are a slice by; None for all queries
    slice: str | None = None  # name of the slice

    @property
    def units(self) -> float:
        """Effective number of queries, or of groups."""
        units = self.queries if self.groups is None else self.groups
        return units if self.effective_units is None else min(units, self.effective_units)

    def to_dict(self) -> dict[str, Any]:
        values = super().to_dict()
        del values["interval"]["estimate"]  # which is the difference
        return {
            name: value
            for name, value in values.items()
            if value is not None or name not in ("trusted", "attribute", "slice")
        }


# -- from p, interval and margin to a verdict


def verdict(
    match: Match,
    outcome: MatchOutcome,
    p: float,
    settings: ComparisonSettings,
    *,
    inside: bool | None = None,
) -> tuple[str, bool]:
    """Return the verdict at this p, and whether a significant difference is negligible."""
    # `inside` says whether the difference is significantly smaller than the margin, where the
    # number of comparisons is taken into account.
    if match.queries and not match.differs.any():
        return "identical", False
    if inside is None:
        margin = settings.margin_of(match.measure.name)
        inside = margin is not None and is_inside(match, outcome, margin, settings)
    if too_few(match, settings):
        return ("equivalent" if inside else "too few"), False
    if below(p, settings.level):
        return ("better" if is_better(match, outcome) else "worse"), inside
    return ("equivalent" if inside else "not significant"), False


def is_better(match: Match, outcome: MatchOutcome) -> bool:
    """Return whether the run is the better one by the quantity that the test is about."""
    won, _, lost = match.record
    direction = match.difference
    if outcome.test == "wilcoxon":
        from judged.statistics.ranks import leaning

        direction = leaning(match.differences, match.rounding)
    elif outcome.low > 0 or outcome.high < 0:
        direction = outcome.low + outcome.high
    if outcome.test == "sign" or direction == 0:
        return won > lost
    return (direction > 0) == match.measure.higher_is_better


def is_inside(
    match: Match, outcome: MatchOutcome, margin: float, settings: ComparisonSettings
) -> bool:
    """Return whether two one-sided tests put the difference inside the margin."""
    # If too few queries differ for an interval, the largest plausible share of differing queries,
    # times the range of the measure, has to be smaller than the margin.
    if too_few(match, settings):
        from judged.statistics.intervals import clopper_pearson

        aggregate = match.ours.sample.aggregate
        uneven = match.groups is not None or match.weights is not None or match.powered is not None
        if aggregate not in ("mean", "sum") or uneven or match.queries < 2:
            return False
        level = settings.tested_level
        share = clopper_pearson(match.differing, match.queries, level, one_sided=True)[1]
        return bool(share * match.width < margin)
    return is_smaller(-outcome.inner_low, margin) and is_smaller(outcome.inner_high, margin)


def is_smaller(size: float, margin: float) -> bool:
    """Return whether a size is below a margin by more than rounding; NaN never is."""
    return size < margin and not math.isclose(size, margin, rel_tol=1e-9)


# -- all pairs

Depends = Callable[
    [Sequence[Match], Sequence[str], Sequence[Ints] | None], Sequence[Mapping[str, Sequence[str]]]
]
"""Function from matches, their uncorrected verdicts and the queries of their slices to what each
verdict depends on, by cause."""


def list_pairs(runs: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """Return the pairs to compare: every run with the baseline, or all pairs."""
    if len(runs) < 2:
        raise InputError(
            "a comparison needs at least two runs; got " + (f"one, {runs[0]}." if runs else "none.")
        )
    if baseline is not None:
        if not isinstance(baseline, str) or baseline not in runs:
            raise InputError(
                f"the baseline {quoted(baseline)} is not one of the runs: {', '.join(runs)}."
            )
        return [(run, baseline) for run in runs if run != baseline]
    return [(runs[i], runs[j]) for j in range(len(runs)) for i in range(j + 1, len(runs))]


def decide_pairs(
    numbers: Numbers,
    settings: ComparisonSettings,
    baseline: str | None = None,
    depends: Depends | None = None,
) -> tuple[Pair, ...]:
    pairs = list_pairs(numbers.runs, baseline)
    matches = [
        match_pair(numbers, measure, *pair) for measure in numbers.measures for pair in pairs
    ]
    for match in matches:
        name, margin = match.measure.name, settings.margin_of(match.measure.name)
        if margin is not None and match.queries and margin >= match.width:
            raise InputError(
                f"the margin of {name} must be smaller than {match.width:g}, the largest possible "
                f"difference; got {margin:g}. Margins are in the measure's own unit, even if "
                "numbers are shown in percent."
            )
    return decide_matches(matches, settings, numbers, depends)


def decide_matches(
    matches: Sequence[Match],
    settings: ComparisonSettings,
    numbers: Numbers,
    depends: Depends | None = None,
    slices: Sequence[tuple[str | None, str | None]] = (),
    within: Sequence[Ints] | None = None,
) -> tuple[Pair, ...]:
    """Test, correct and decide matches together."""
    # `slices` are the attribute and name of each match's slice, which has the queries `within`.
    alone = outcomes(matches, settings, numbers)
    corrected, corrected_p = correct(matches, alone, settings, numbers)
    families = group_by_measure(matches)
    comparisons = [len(families[match.measure.name]) for match in matches]
    if settings.correction in SIMULTANEOUS:  # these count all pairs, even with a baseline
        comparisons = [math.comb(len(numbers.runs), 2)] * len(matches)
    otherwise: Sequence[Mapping[str, Sequence[str]]] = [{}] * len(matches)
    if depends is not None:
        tested = zip(matches, alone, strict=True)
        words = [verdict(match, outcome, outcome.p, settings)[0] for match, outcome in tested]
        otherwise = depends(matches, words, within)
    trusted = corrections_of(matches, alone, settings, numbers)
    inside = within_margins(matches, corrected, settings, numbers, comparisons)
    measured = sizes(matches, settings, comparisons)
    rows = []
    for i, (match, outcome) in enumerate(zip(matches, corrected, strict=True)):
        effect, least = measured[i]
        word, negligible = verdict(match, outcome, corrected_p[i], settings, inside=inside[i])
        wins, ties, losses = match.record
        against = abs(match.against_value)
        ends = (outcome.low, outcome.high, outcome.method, outcome.note)
        attribute, name = slices[i] if slices else (None, None)
        row = Pair(
            measure=match.measure.name,
            run=match.run,
            against=match.against,
            queries=match.queries,
            groups=match.number_of_groups,
            value=match.value,
            against_value=match.against_value,
            difference=match.difference,
            relative=match.difference / against if against and math.isfinite(against) else None,
            interval=Interval(match.difference, *ends),
            effect=effect,
            wins=wins,
            ties=ties,
            losses=losses,
            p=outcome.p,
            corrected_p=corrected_p[i],
            smallest_p=outcome.smallest_p,
            detectable=least,
            verdict=word,
            negligible=negligible,
            depends_on=tuple(otherwise[i]),
            test=outcome.test,
            effective_units=match.effective_units if match.uneven else None,
            trusted=trusted[i],
            attribute=attribute,
            slice=name,
        )
        says = describe_pair(row, settings, comparisons[i], otherwise[i])
        rows.append(replace(row, says=says))
    return tuple(rows)


def within_margins(
    matches: Sequence[Match],
    corrected: Sequence[MatchOutcome],
    settings: ComparisonSettings,
    numbers: Numbers,
    comparisons: Sequence[int],
) -> list[bool]:
    """Return for each match whether its difference is inside its margin, corrected."""
    inside = [False] * len(matches)
    for number in {*comparisons} if settings.margin is not None else ():
        adjusted = settings.among(number)
        which = [i for i, size in enumerate(comparisons) if size == number]
        tested = [corrected[i] for i in which]
        if adjusted != settings:
            tested = outcomes([matches[i] for i in which], adjusted, numbers)
        for i, outcome in zip(which, tested, strict=True):
            margin = settings.margin_of(matches[i].measure.name)
            inside[i] = margin is not None and is_inside(matches[i], outcome, margin, adjusted)
    return inside


def corrections_of(
    matches: Sequence[Match],
    tested: Sequence[MatchOutcome],
    settings: ComparisonSettings,
    numbers: Numbers,
    *,
    one_sided: bool = False,
) -> list[Correction | None]:
    """Return how trusted judgements corrected each tested difference; None without them."""

    def interval(match: Match, outcome: MatchOutcome) -> Interval:
        ends = (outcome.low, outcome.high)
        if one_sided:
            ends = (outcome.inner_low, outcome.inner_high)
        return Interval(match.difference, *ends, outcome.method, outcome.note)

    corrections: list[Correction | None] = []
    for match, outcome in zip(matches, tested, strict=True):
        correction = None
        if match.by_trusted is not None and match.powered is not None:
            [alone] = outcomes([match.by_trusted], settings, numbers)
            correction = Correction(
                match.queries,
                match.by_trusted.queries,
                match.ours.sample.value() - match.theirs.sample.value(),
                interval(match, outcome),
                interval(match.by_trusted, alone),
                float(match.powered.weight[0]),
            )
        corrections.append(correction)
    return corrections


# -- sizes of differences


def sizes(
    matches: Sequence[Match], settings: ComparisonSettings, comparisons: Sequence[int]
) -> list[tuple[float | None, float | None]]:
    """Return Cohen's d_z and the detectable difference of each match; None where unknown."""
    measured: list[tuple[float | None, float | None]] = [(None, None)] * len(matches)
    adjusted = [settings.among(number) for number in comparisons]
    for same in group_by_queries(matches):
        which = [i for i in same if _has_spread(matches[i])]
        if not which:
            continue
        together = [matches[i] for i in which]
        columns, first = columns_of(together), together[0]
        every = spread(columns, first.weights, first.groups, more=further_variances(together))
        for column, (i, match) in enumerate(zip(which, together, strict=True)):
            least = _least(every.error[column], every.freedom[column], match, adjusted[i])
            measured[i] = _effect(match), least
    for i, match in enumerate(matches):
        if match.powered is not None:
            corrected = powered_spread([match])
            error, freedom = float(corrected.error[0]), float(corrected.freedom[0])
            measured[i] = None, _least(error, freedom, match, adjusted[i])
        elif (jackknifed := _jackknife_error(match)) is not None:
            least = _least(jackknifed, match.effective_units - 1, match, adjusted[i])
            measured[i] = None, least
    return measured


def _effect(match: Match) -> float:
    """Return Cohen's d_z: the weighted mean difference in standard deviations of the units."""
    sums, weights = match.unit_sums
    shares, means = weights / weights.sum(), sums / weights
    size = np.abs(means).max()
    mean = float(shares @ (means / size))
    units = len(means)
    variance = float(shares @ (means / size - mean) ** 2) * units / (units - 1)
    return mean / math.sqrt(variance)


def _jackknife_error(match: Match) -> float | None:
    """Return the jackknife standard error of a difference of functions of means; else None."""
    from judged.statistics.bootstrap import left_out

    ours, theirs = match.ours.sample, match.theirs.sample
    if not isinstance(ours, Means) or not isinstance(theirs, Means) or ours.aggregate:
        return None
    units = match.units
    if units < 2:
        return None
    numbers = left_out(ours, match.groups), left_out(theirs, match.groups)
    without = numbers[0] - numbers[1]
    away = without - without.mean()
    if not np.abs(away).max() > CLOSE * np.abs(numbers).max():
        return None
    return float(np.sqrt((away**2).sum() * (units - 1) / units))


def _least(
    error: float, freedom: float, match: Match, settings: ComparisonSettings
) -> float | None:
    """Return the smallest detectable difference; None if unknown or larger than possible."""
    if too_few(match, settings):
        return None
    least = detectable(error, freedom, level=settings.tested_level, power=settings.power)
    on_scale = float(match.on_scale(least).item())
    (low, high), values = match.measure.range, (match.ours.values, match.theirs.values)
    outside = any(side.min() < low or side.max() > high for side in values)
    possible = math.isfinite(on_scale) and on_scale <= (math.inf if outside else match.width)
    return on_scale if possible else None


def _has_spread(match: Match) -> bool:
    return (
        match.averaged is not None
        and match.powered is None
        and match.units > 1
        and not match.constant
        and not match.infinite.any()
    )


# -- verdicts in words

OTHERWISE = {
    "ties": "With ties broken the other way, the verdict could be",
    "missing": "On the queries that both runs have, the verdict would be",
    "unjudged": "With the unjudged results judged, the verdict could be",
}
"""Beginnings of sentences on what a verdict depends on."""


def by_importance(rows: Sequence[Pair]) -> list[str]:
    return [row.says for row in sorted(rows, key=lambda row: VERDICTS.index(row.verdict))]


def describe_pair(
    pair: Pair,
    settings: ComparisonSettings,
    comparisons: int,
    otherwise: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Return a verdict in words; `otherwise` is what it would be, by cause."""
    margin = settings.margin_of(pair.measure)
    where = f", {pair.attribute} {pair.slice}" if pair.attribute else ""
    sentences = [f"{pair.measure}{where}: {_verdict_words(pair, settings)}."]
    if pair.negligible:
        sentences.append(f"The difference is smaller than the margin of {shown_margin(margin)}.")
    undecided = pair.verdict in ("not significant", "equivalent")
    if undecided and below(pair.p, settings.level):
        sentences.append(
            f"It is significant on its own, but not among {comparisons:,} comparisons."
        )
    elif pair.verdict == "not significant":
        sentences += _detectable(pair, settings)
    if pair.trusted is not None and pair.verdict != "identical":
        alone = pair.trusted.trusted
        ends = with_ends(alone.estimate, alone.low, alone.high, settings.level, sign="+")
        sentences.append(f"By the trusted judgements alone, the difference is {ends}.")
    for cause, words in (otherwise or {}).items():
        sentences.append(f"{OTHERWISE[cause]} {listed(list(words), 'or')}.")
    return " ".join(sentences)


def _verdict_words(pair: Pair, settings: ComparisonSettings) -> str:
    run, against = pair.run, pair.against
    if pair.verdict == "identical":
        return f"{run} has the same value as {against} on all {counted(pair.queries, *QUERIES)}"
    if pair.verdict == "too few":
        return _too_few_words(pair, settings)
    if pair.verdict == "equivalent":
        margin = shown_margin(settings.margin_of(pair.measure))
        return f"{run} and {against} are equivalent: they differ by less than {margin}"
    if pair.verdict in SIGNIFICANT:
        return f"{run} is significantly {pair.verdict} than {against} {_by(pair, settings.level)}"
    return f"no significant difference between {run} and {against}"


def _too_few_words(pair: Pair, settings: ComparisonSettings) -> str:
    run, against = pair.run, pair.against
    if pair.queries < 2:
        return f"{run} and {against} share {counted(pair.queries, *QUERIES)}: too few to test"
    differing = round(1 - math.log2(pair.smallest_p))  # or none, which allows for the same p
    if differing >= settings.fewest_units:
        worth = counted_as(pair.queries, pair.groups, pair.effective_units or 0.0)
        return f"{worth}: too few to compare {run} with {against}"
    of = counted(pair.queries, *QUERIES)
    if pair.trusted is not None:
        of = counted(pair.trusted.trusted_queries, "trusted query", "trusted queries")
    elif pair.groups is not None:
        of = counted(pair.groups, "group")
    only, verb = ("at most", "differs") if differing == 1 else ("only", "differ")
    return f"{only} {differing:,} of {of} {verb} between {run} and {against}: too few to test"


def _detectable(pair: Pair, settings: ComparisonSettings) -> list[str]:
    """Return a sentence on the detectable difference; nothing for tests of other quantities."""
    if pair.test in OTHER_TESTS or (pair.detectable is None and pair.effect is None):
        return []
    power = f"{percent_of(settings.power)} power"
    units = counted(pair.queries, *QUERIES)
    if pair.trusted is not None:
        of = counted(pair.trusted.trusted_queries, "trusted query", "trusted queries")
        units = f"{units}, {of}"
    elif pair.groups is not None:
        units = f"{units} in {counted(pair.groups, 'group')}"
    if pair.detectable is None:
        return [f"With {units}, no true difference would be detected with {power}."]
    least = amount(pair.detectable)
    return [f"With {units}, a true difference of {least} would be detected with {power}."]


OTHER_TESTS = {"sign": "", "wilcoxon": "the ranks of the differences"}
"""Tests that are not about the difference of the values, and what a run is better by."""


def _by(pair: Pair, level: float) -> str:
    low, high = pair.interval.low, pair.interval.high
    if pair.test in OTHER_TESTS:
        more, fewer = sorted((pair.wins, pair.losses), reverse=True)
        by = "by " + (OTHER_TESTS[pair.test] or f"{more:,} queries to {fewer:,}")
        if not math.isfinite(pair.value) or not math.isfinite(pair.against_value):
            return by
        within = f" ({percent_of(level)} CI {amount(low)} to {amount(high)})"
        within = "" if math.isnan(low) else within
        return f"{by}; the values differ by {amount(pair.difference)}{within}"
    if math.isnan(low) or math.isnan(high):
        why = f" (no confidence interval: {pair.interval.note})" if pair.interval.note else ""
        return f"by {amount(abs(pair.difference))}{why}"
    if low * high > 0:
        low, high = sorted((abs(low), abs(high)))
        return f"by {with_ends(abs(pair.difference), low, high, level)}"
    return f"by {with_ends(pair.difference, low, high, level)}"


# -- leaderboard


@dataclass(frozen=True)
class Place(ResultPart):
    """A run on a leaderboard."""

    run: str
    value: float
    rank_low: int  # best possible rank: one more than the number of significantly better runs
    rank_high: int  # worst possible rank: the number of runs minus that of significantly worse runs


def better_and_worse(row: Pair | MacroPair) -> tuple[str, str] | None:
    """Return the significantly better run and the worse one; None without."""
    if row.verdict == "better":
        return row.run, row.against
    return (row.against, row.run) if row.verdict == "worse" else None


def leaderboard(
    measure: Compared, values: dict[str, float], rows: Sequence[Pair] | Sequence[MacroPair]
) -> tuple[Place, ...]:
    """Order the runs by a measure, the best first and those without a value last."""
    # If pairs were compared on other queries than those of the values, or a run is significantly
    # better than one with a better value, ranks decide before values.
    behind, ahead = dict.fromkeys(values, 0), dict.fromkeys(values, 0)
    sign = -1 if measure.higher_is_better else 1
    by_ranks = False
    for row in rows:
        if row.measure != measure.name:
            continue
        pair = (row.run, row.value), (row.against, row.against_value)
        by_ranks |= any(not _is_same(values[run], value) for run, value in pair)
        if decided := better_and_worse(row):
            won, lost = decided
            ahead[won] += 1
            behind[lost] += 1
            by_ranks |= sign * values[won] > sign * values[lost]

    def place(run: str) -> tuple[bool, int, int, float]:
        missing = math.isnan(values[run])
        ranks = (behind[run], -ahead[run]) if by_ranks else (0, 0)
        return missing, *ranks, 0.0 if missing else sign * values[run]

    return tuple(
        Place(run, values[run], 1 + behind[run], len(values) - ahead[run])
        for run in sorted(values, key=place)
    )


def _is_same(value: float, other: float) -> bool:
    return math.isclose(value, other, rel_tol=1e-9) or (math.isnan(value) and math.isnan(other))


# -- pairs as a table for programs

POLARS_TYPES = {"str": "String", "int": "Int64", "float": "Float64", "bool": "Boolean"}
FLAT = {
    "interval": {"low": "Float64", "high": "Float64", "interval": "String", "note": "String"},
    "depends_on": {"depends_on": "String"},
    "trusted": {},
}
"""Columns of the fields of a pair that hold several values, with their polars types."""
TRUSTED_COLUMNS = {
    "trusted_queries": "Int64",
    **dict.fromkeys(("trusted_difference", "trusted_low", "trusted_high"), "Float64"),
    **dict.fromkeys(("cheap_difference", "weight"), "Float64"),
    "narrower": "String",
}
"""Further columns if trusted judgements correct the differences."""


def trusted_cells(fix: Correction | None) -> dict[str, Any]:
    if fix is None:
        return {}
    alone = fix.trusted
    ends = (fix.trusted_queries, alone.estimate, alone.low, alone.high)
    return dict(zip(TRUSTED_COLUMNS, (*ends, fix.cheap, fix.weight, fix.narrower), strict=True))


def make_frame(rows: Sequence[Pair]) -> pl.DataFrame:
    """Return a table of pairs, with the columns attribute and slice if some are in slices."""
    import polars as pl

    columns: dict[str, str] = {}
    if any(row.attribute for row in rows):
        columns |= dict.fromkeys(("attribute", "slice"), "String")
    for part in fields(Pair):
        if part.name not in ("attribute", "slice"):
            kind = POLARS_TYPES.get(str(part.type).partition(" ")[0], "")
            columns |= FLAT.get(part.name, {part.name: kind})
    if any(row.trusted is not None for row in rows):
        columns |= TRUSTED_COLUMNS
    cells = []
    for row in rows:
        interval = row.interval
        known = vars(row) | {"low": interval.low, "high": interval.high, "note": interval.note}
        known |= {"interval": interval.method or None, "depends_on": ", ".join(row.depends_on)}
        known |= trusted_cells(row.trusted)
        cells.append([known.get(name) for name in columns])
    schema = {name: getattr(pl, kind) for name, kind in columns.items()}
    return pl.DataFrame(cells, schema=schema, orient="row").fill_nan(None)
