"""Runs in order, each with the ranks that the comparisons leave open."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from judged.comparison.match import Match, Size, matched, sizes, too_few
from judged.comparison.numbers import Compared, Numbers
from judged.comparison.outcomes import Outcome, correct, families, outcomes
from judged.comparison.settings import SIMULTANEOUS, Settings
from judged.comparison.wording import QUERIES, amount, shown_margin, with_ends
from judged.errors import InputError, quoted
from judged.evaluation.trusted import Correction
from judged.statistics.intervals import Interval
from judged.statistics.samples import counted_as
from judged.statistics.t import below, fewest_units
from judged.text import Warned, counted, listed, plain

if TYPE_CHECKING:
    import polars as pl

    from judged.evaluation.evaluation import Evaluation


@dataclass(frozen=True)
class Pair:
    """Two runs on one measure: how they differ, how sure that is, and what it means.

    >>> import judged
    >>> values = {"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}}
    >>> judged.compare_values(values).pair().verdict
    'identical'
    """

    measure: str
    """What the measure is called."""
    run: str
    """The run that is compared."""
    against: str
    """The run that it is compared with."""
    queries: int
    """How many queries count in both."""
    groups: int | None
    """How many groups of queries there are; None where each query stands for itself."""
    value: float
    """The run's number on these queries."""
    against_value: float
    """The other run's."""
    difference: float
    """The run's number minus the other's."""
    relative: float | None
    """The difference as a share of the other's number; None where that is 0 or infinite."""
    interval: Interval
    """Where the difference lies, at the level; its note says why there is none."""
    effect: float | None
    """Cohen's d_z: the mean difference in standard deviations of the differences."""
    wins: int
    """On how many queries the run is better."""
    ties: int
    """On how many both are the same."""
    losses: int
    """On how many the other is better."""
    p: float
    """How often a difference at least as large would be seen if there were none."""
    corrected_p: float
    """The same among all comparisons of its family."""
    smallest_p: float
    """The smallest p that the signs of so many differing queries could give, or so many resamples.
    """
    detectable: float | None
    """The smallest difference that would have been found, at the power that was asked for; None
    where there is no telling, and where none would have been: too few queries differ, or it is
    larger than any that there can be."""
    verdict: str
    """better, worse, equivalent, no evidence, too few or identical."""
    negligible: bool = False
    """Whether the difference is shown, and shown to be smaller than the margin."""
    depends_on: tuple[str, ...] = ()
    """What would change the verdict: ties, missing, unjudged."""
    test: str = "t"
    """The test that p is of."""
    says: str = ""
    """The verdict as a sentence."""
    effective_units: float | None = None
    """How many queries, or groups, of equal weight would say as much (Kish); None where all count
    the same."""
    wider: float | None = None
    """With groups: how many times as wide the interval (of t) is as if queries were independent."""
    trusted: Correction | None = None
    """How the difference was corrected by trusted judgements, where there are some: value,
    against_value, difference, interval, p and verdict are corrected then; wins, ties and losses
    stay those by the cheap judgements, and effect is None."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON.

        Returns
        -------
        dict

        >>> import judged
        >>> values = {"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}}
        >>> judged.compare_values(values).pair().to_dict()["interval"]["low"] is None
        True
        """
        interval = {
            "low": plain(self.interval.low),
            "high": plain(self.interval.high),
            "method": self.interval.method,
        }
        if self.interval.note:
            interval["note"] = self.interval.note
        return {
            "measure": self.measure,
            "run": self.run,
            "against": self.against,
            "queries": self.queries,
            "groups": self.groups,
            "effective_units": plain(self.effective_units),
            "wider": plain(self.wider),
            "value": plain(self.value),
            "against_value": plain(self.against_value),
            "difference": plain(self.difference),
            "relative": plain(self.relative),
            "interval": interval,
            "effect": plain(self.effect),
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
            "p": plain(self.p),
            "corrected_p": plain(self.corrected_p),
            "smallest_p": plain(self.smallest_p),
            "detectable": plain(self.detectable),
            "verdict": self.verdict,
            "negligible": self.negligible,
            "depends_on": list(self.depends_on),
            "test": self.test,
            "says": self.says,
            **({} if self.trusted is None else {"trusted": self.trusted.to_dict()}),
        }


def verdict(
    match: Match, outcome: Outcome, p: float, settings: Settings, *, inside: bool | None = None
) -> tuple[str, bool]:
    """The verdict at this p, corrected or not, and whether a difference that is shown is shown to
    be smaller than the margin; `inside` is whether it is, where the number of comparisons is taken
    into account."""
    if match.queries and not match.differs.any():
        return "identical", False
    if inside is None:
        margin = settings.margin_of(match.measure.name)
        inside = margin is not None and is_inside(match, outcome, margin, settings)
    if too_few(match, settings):
        return ("equivalent" if inside else "too few"), False
    if below(p, settings.level):
        return ("better" if leads(match, outcome) else "worse"), inside
    return ("equivalent" if inside else "no evidence"), False


def leads(match: Match, outcome: Outcome) -> bool:
    """Whether the run is the better one, by what is tested: by the queries, the ranks of their
    differences, or the interval; else by the numbers."""
    won, _, lost = match.record
    up = match.difference
    if outcome.test == "wilcoxon":
        from judged.statistics.ranks import leaning

        up = leaning(match.differences, match.rounding)
    elif outcome.low > 0 or outcome.high < 0:
        up = outcome.low + outcome.high
    if outcome.test == "sign" or up == 0:
        return won > lost
    return (up > 0) == match.measure.higher_is_better


def is_inside(match: Match, outcome: Outcome, margin: float, settings: Settings) -> bool:
    """Whether the difference is shown to be smaller than a margin, both ways.

    Where too few queries differ for an interval, the share of queries that may differ at most,
    times the width of the measure's range, has to be smaller; of queries that count alike.
    """
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
    """Return whether a size is below a margin, not only by rounding; NaN never is."""
    return size < margin and not math.isclose(size, margin, rel_tol=1e-9)


def about_descriptions(evaluation: Evaluation) -> list[str]:
    """A warning where measures only count or describe, so that no value is better than another."""
    names = [evaluation.label(m) for m in evaluation.measures if not m.spec.rates_relevance]
    if not names:
        return []
    verb = "counts or describes" if len(names) == 1 else "count or describe"
    return [
        Warned(
            f"{listed(names)} {verb} results, which is neither good nor bad: better stands for "
            "higher and worse for lower."
        )
    ]


OTHERWISE = {
    "ties": "with ties broken the other way the verdict could be",
    "missing": "on the queries that both have the verdict would be",
    "unjudged": "with the unjudged results judged the verdict could be",
}
"""What a verdict may depend on, in words."""


IMPORTANCE = ("worse", "better", "equivalent", "no evidence", "too few", "identical")
"""Verdicts in the order in which they are said: what is shown comes first."""


def by_importance(rows: Sequence[Pair]) -> list[str]:
    """What all rows say, the shown differences first."""
    return [row.says for row in sorted(rows, key=lambda row: IMPORTANCE.index(row.verdict))]


def sentence(
    pair: Pair,
    settings: Settings,
    comparisons: int,
    otherwise: Mapping[str, Sequence[str]] | None = None,
    where: str = "",
) -> str:
    """What a row says; `comparisons` is how many there are in its family, `otherwise` what the
    verdict depends on and would be then, `where` its slice."""
    said = f"{pair.measure}{where}: {_verdict(pair, settings)}"
    if _counts_alone(pair, settings) and pair.verdict in ("no evidence", "equivalent"):
        said += f"; the difference would count alone, not among {comparisons:,} comparisons"
    if pair.trusted is not None and pair.verdict != "identical":
        alone = pair.trusted.trusted
        within = with_ends(alone.estimate, alone.low, alone.high, sign="+")
        said += f"; by the trusted judgements alone {within}"
    for cause, words in (otherwise or {}).items():
        said += f"; {OTHERWISE[cause]} {listed(list(words), 'or')}"
    return said + "."


def _counts_alone(pair: Pair, settings: Settings) -> bool:
    """Whether only the number of comparisons keeps a difference from being shown."""
    shown_alone = below(pair.p, settings.level)
    return bool(shown_alone and not below(pair.corrected_p, settings.level))


def _verdict(pair: Pair, settings: Settings) -> str:
    run, against = pair.run, pair.against
    units = _units(pair)
    if pair.verdict == "identical":
        return f"{run} gives the same value as {against} on all {counted(pair.queries, *QUERIES)}"
    if pair.verdict == "too few":
        few = round(1 - math.log2(pair.smallest_p))
        if pair.queries < 2:
            return f"{run} and {against} share {counted(pair.queries, *QUERIES)}: too few to tell"
        if few >= fewest_units(settings.level):
            worth = counted_as(pair.queries, pair.groups, pair.effective_units or 0.0)
            return f"{worth}: too few to compare {run} with {against}"
        differing, of = min(pair.wins + pair.losses, few), counted(pair.queries, *QUERIES)
        if pair.trusted is not None:
            differing = few
            of = counted(pair.trusted.trusted_queries, "trusted query", "trusted queries")
        elif pair.groups is not None:
            differing, of = few, counted(pair.groups, "group")
        verb = "differs" if differing == 1 else "differ"
        by_units = pair.groups is not None or pair.trusted is not None
        unsure = few == 1 and (by_units or pair.wins + pair.losses != 1)
        only = "at most" if unsure else "only"  # one or none allow for the same p
        return f"{only} {differing:,} of {of} {verb} between {run} and {against}: too few to tell"
    margin = settings.margin_of(pair.measure)
    if pair.verdict == "equivalent":
        return f"{run} differs from {against} by less than {shown_margin(margin)}"
    if pair.verdict in ("better", "worse"):
        said = f"{run} is {pair.verdict} than {against} by {_by(pair)}"
        if pair.negligible:
            said += f", a difference smaller than the margin of {shown_margin(margin)}"
        return said
    said = f"no evidence that {run} differs from {against}"
    times = f"{settings.power * 10:g} times in 10"
    about_means = pair.test not in ("wilcoxon", "sign")
    if _counts_alone(pair, settings) or not about_means:
        return said  # what is detectable is so alone, by a test of means
    if pair.detectable is None and pair.effect is not None:
        return f"{said}; {units} could not have shown any difference {times}"
    if pair.detectable is None:
        return said
    least = amount(pair.detectable)
    return f"{said}; {units} would have shown a difference of {least} or more, {times}"


def _units(pair: Pair) -> str:
    if pair.trusted is not None:
        of = counted(pair.trusted.trusted_queries, "trusted query", "trusted queries")
        return f"{counted(pair.queries, *QUERIES)} with {of}"
    if pair.groups is None:
        return counted(pair.queries, *QUERIES)
    return f"{counted(pair.queries, *QUERIES)} in {counted(pair.groups, 'group')}"


OFQUERIES = {"sign": "", "wilcoxon": "the ranks of the differences"}
"""Tests that are not about the difference of the numbers: by what a run is better."""


def _by(pair: Pair) -> str:
    """By how much, with the interval; as sizes, where both ends are on one side of zero."""
    low, high = pair.interval.low, pair.interval.high
    if pair.test in OFQUERIES:
        more, fewer = sorted((pair.wins, pair.losses), reverse=True)
        said = OFQUERIES[pair.test] or f"{more:,} queries to {fewer:,}"
        if not math.isfinite(pair.value) or not math.isfinite(pair.against_value):
            return said
        within = "" if math.isnan(low) else f" ({amount(low)} to {amount(high)})"
        return f"{said}; the values differ by {amount(pair.difference)}{within}"
    if math.isnan(low) or math.isnan(high):
        why = f" (no interval: {pair.interval.note})" if pair.interval.note else ""
        return f"{amount(abs(pair.difference))}{why}"
    if low * high > 0:
        low, high = sorted((abs(low), abs(high)))
        return with_ends(abs(pair.difference), low, high)
    return with_ends(pair.difference, low, high)


Depends = Callable[[Sequence[Match], Sequence[str]], Sequence[Mapping[str, Sequence[str]]]]
"""From matches and their verdicts before correction to what these depend on, and what they would
be."""


def compared_runs(runs: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """The pairs: all against the baseline, the second of two against the first, or all."""
    if len(runs) < 2:
        raise InputError(
            "a comparison needs at least two runs; got " + (f"one, {runs[0]}." if runs else "none.")
        )
    if baseline is not None:
        if not isinstance(baseline, str) or baseline not in runs:
            raise InputError(
                f"the baseline {quoted(baseline)} is none of the runs: {', '.join(runs)}."
            )
        return [(run, baseline) for run in runs if run != baseline]
    return [(runs[i], runs[j]) for j in range(len(runs)) for i in range(j + 1, len(runs))]


def decided(
    numbers: Numbers,
    settings: Settings,
    baseline: str | None = None,
    depends: Depends | None = None,
) -> tuple[Pair, ...]:
    """All rows, measure by measure."""
    pairs = compared_runs(numbers.runs, baseline)
    matches = [matched(numbers, each, *pair) for each in numbers.measures for pair in pairs]
    for match in matches:
        _refuse_boundless_margin(match, settings)
    return rows_of(matches, settings, numbers, depends)


def _refuse_boundless_margin(match: Match, settings: Settings) -> None:
    """A margin that no difference can reach would make everything equivalent, as 1 for 1 %."""
    name, width = match.measure.name, match.width
    margin = settings.margin_of(name)
    if margin is not None and match.queries and margin >= width:
        raise InputError(
            f"the margin of {name} must be smaller than {width:g}, the largest difference there "
            f"can be; got {margin:g}. Margins are in the measure's own unit, also where numbers "
            "are shown in percent."
        )


def rows_of(
    matches: Sequence[Match],
    settings: Settings,
    numbers: Numbers,
    depends: Depends | None = None,
    where: Sequence[str] = (),
) -> tuple[Pair, ...]:
    """Matches tested, corrected and decided together; `where` is said after its measure."""
    alone = outcomes(matches, settings, numbers)
    found, corrected_p = correct(matches, alone, settings, numbers)
    many = {at: len(family) for family in families(matches, settings) for at in family}
    if settings.correction in SIMULTANEOUS:  # which count all pairs, whatever the baseline
        many = dict.fromkeys(many, math.comb(len(numbers.runs), 2))
    otherwise: Sequence[Mapping[str, Sequence[str]]] = [{}] * len(matches)
    if depends is not None:
        words = [
            verdict(match, each, each.p, settings)[0]
            for match, each in zip(matches, alone, strict=True)
        ]
        otherwise = depends(matches, words)
    trusted = corrections_of(matches, settings, numbers)
    inside = within_margins(matches, found, settings, numbers, many)
    comparisons = [many[at] for at in range(len(matches))]
    every = zip(
        matches, found, corrected_p, sizes(matches, settings, comparisons), inside, strict=True
    )
    rows = []
    for at, (match, outcome, p, size, is_within) in enumerate(every):
        row = row_of(match, outcome, p, size, settings, inside=is_within)
        row = replace(row, depends_on=tuple(otherwise[at]), trusted=trusted[at])
        here = where[at] if where else ""
        rows.append(replace(row, says=sentence(row, settings, many[at], otherwise[at], here)))
    return tuple(rows)


def within_margins(
    matches: Sequence[Match],
    found: Sequence[Outcome],
    settings: Settings,
    numbers: Numbers,
    many: Mapping[int, int],
) -> list[bool]:
    """Whether each difference is shown to be smaller than its margin, corrected for how many
    comparisons there are in its family."""
    inside = [False] * len(matches)
    for comparisons in {*many.values()} if settings.margin is not None else ():
        own = settings.among(comparisons)
        which = [at for at, number in many.items() if number == comparisons]
        tested = [found[at] for at in which]
        if own != settings:
            tested = outcomes([matches[at] for at in which], own, numbers)
        for at, outcome in zip(which, tested, strict=True):
            margin = settings.margin_of(matches[at].measure.name)
            inside[at] = margin is not None and is_inside(matches[at], outcome, margin, own)
    return inside


def corrections_of(
    matches: Sequence[Match], settings: Settings, numbers: Numbers, *, one_sided: bool = False
) -> list[Correction | None]:
    """How each difference was corrected by trusted judgements, what these say alone, and what the
    cheap ones do; None where there are no trusted ones. Intervals are at the level, or such that
    each end holds at it."""
    known = [match for match in matches if match.by_trusted is not None]
    alone = [match.by_trusted for match in known if match.by_trusted is not None]

    def intervals(of: Sequence[Match]) -> Iterator[Interval]:
        for match, found in zip(of, outcomes(of, settings, numbers), strict=True):
            ends = (found.inner_low, found.inner_high) if one_sided else (found.low, found.high)
            yield Interval(match.difference, *ends, found.method, found.note)

    both = zip(intervals(known), intervals(alone), strict=True)
    return [
        None
        if match.by_trusted is None or match.powered is None
        else Correction(
            match.queries,
            match.by_trusted.queries,
            match.ours.sample.value() - match.theirs.sample.value(),
            *next(both),
            float(match.powered.weight[0]),
        )
        for match in matches
    ]


def row_of(
    match: Match,
    outcome: Outcome,
    corrected_p: float,
    size: Size,
    settings: Settings,
    *,
    inside: bool,
) -> Pair:
    """A row without what it depends on, and without its sentence."""
    word, negligible = verdict(match, outcome, corrected_p, settings, inside=inside)
    wins, ties, losses = match.record
    against = abs(match.against_value)
    relative = match.difference / against if against and math.isfinite(against) else None
    return Pair(
        measure=match.measure.name,
        run=match.run,
        against=match.against,
        queries=match.queries,
        groups=None if match.groups is None else match.units,
        value=match.value,
        against_value=match.against_value,
        difference=match.difference,
        relative=relative,
        interval=Interval(
            match.difference, outcome.low, outcome.high, outcome.method, outcome.note
        ),
        effect=size.effect,
        wins=wins,
        ties=ties,
        losses=losses,
        p=outcome.p,
        corrected_p=corrected_p,
        smallest_p=outcome.smallest_p,
        detectable=size.detectable,
        verdict=word,
        negligible=negligible,
        test=outcome.test,
        effective_units=match.effective_units if match.uneven else None,
        wider=size.wider,
    )


@dataclass(frozen=True)
class Place:
    """A run on a leaderboard.

    >>> Place("bm25", 0.21, 1, 2).to_dict()
    {'run': 'bm25', 'value': 0.21, 'rank_low': 1, 'rank_high': 2}
    """

    run: str
    """The run's name."""
    value: float
    """Its number."""
    rank_low: int
    """The best rank it may have: one more than the number of runs that are shown better."""
    rank_high: int
    """The worst rank it may have: the number of runs less those that are shown worse."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON.

        Returns
        -------
        dict

        >>> Place("bm25", 0.21, 1, 1).to_dict()["rank_low"]
        1
        """
        return {
            "run": self.run,
            "value": plain(self.value),
            "rank_low": self.rank_low,
            "rank_high": self.rank_high,
        }


def leaderboard(
    measure: Compared, values: dict[str, float], rows: Sequence[Pair]
) -> tuple[Place, ...]:
    """Order the runs by a measure, the best first and those without a value last.

    Where pairs were compared on other queries than those of the values, or a run is shown better
    than one with a better value, the ranks decide, and values only between equal ranks.
    """
    own = [row for row in rows if row.measure == measure.name]
    behind, ahead = dict.fromkeys(values, 0), dict.fromkeys(values, 0)
    sign = -1 if measure.higher_is_better else 1
    by_ranks = False
    for row in own:
        pair = (row.run, row.value), (row.against, row.against_value)
        by_ranks |= any(not _is_same(values[run], value) for run, value in pair)
        if row.verdict in ("better", "worse"):
            won, lost = (
                (row.run, row.against) if row.verdict == "better" else (row.against, row.run)
            )
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


COLUMNS = {
    **dict.fromkeys(("measure", "run", "against"), "String"),
    **dict.fromkeys(("queries", "groups"), "Int64"),
    **dict.fromkeys(("effective_units", "wider"), "Float64"),
    **dict.fromkeys(("value", "against_value", "difference", "relative", "low", "high"), "Float64"),
    "interval": "String",
    "effect": "Float64",
    **dict.fromkeys(("wins", "ties", "losses"), "Int64"),
    **dict.fromkeys(("p", "corrected_p", "smallest_p", "detectable"), "Float64"),
    "verdict": "String",
    "negligible": "Boolean",
    **dict.fromkeys(("depends_on", "test", "note", "says"), "String"),
}
"""The columns of the table of pairs, and their types in polars: the same whatever is in them."""


TRUSTED = {
    "trusted_queries": "Int64",
    **dict.fromkeys(("trusted_difference", "trusted_low", "trusted_high"), "Float64"),
    **dict.fromkeys(("cheap_difference", "weight"), "Float64"),
    "narrower": "String",
}
"""Further columns, where trusted judgements correct the differences."""


def frame_of(rows: Sequence[Pair]) -> pl.DataFrame:
    """Rows as a table."""
    import polars as pl

    corrected = any(row.trusted is not None for row in rows)
    columns = {**COLUMNS, **(TRUSTED if corrected else {})}
    return pl.DataFrame(
        [[_frame_cell(row, name) for name in columns] for row in rows],
        schema={name: getattr(pl, kind) for name, kind in columns.items()},
        orient="row",
    )


def _frame_cell(row: Pair, name: str) -> Any:
    """What a row has in a column; where there is no number, none."""
    if name in ("low", "high", "note"):
        found: Any = getattr(row.interval, name)
    elif name == "interval":
        found = row.interval.method or None
    elif name in TRUSTED:
        found = _trusted_cell(row, name)
    elif name == "depends_on":
        found = ", ".join(row.depends_on)
    else:
        found = getattr(row, name)
    return None if isinstance(found, float) and found != found else found


def _trusted_cell(row: Pair, name: str) -> Any:
    """What a row has in a column about trusted judgements."""
    known = row.trusted
    if known is None:
        return None
    alone = known.trusted
    return {
        "trusted_difference": alone.estimate,
        "trusted_low": alone.low,
        "trusted_high": alone.high,
        "cheap_difference": known.cheap,
    }.get(name, getattr(known, name, None))
