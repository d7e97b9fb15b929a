"""All pairs of a comparison: tested, corrected, decided."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from judged.comparison.families import correct, families
from judged.comparison.match import Match, matched
from judged.comparison.numbers import Numbers
from judged.comparison.outcomes import Outcome, outcomes
from judged.comparison.pair import Pair
from judged.comparison.sentences import sentence
from judged.comparison.settings import SIMULTANEOUS, Settings
from judged.comparison.sizes import Size, sizes
from judged.comparison.verdicts import is_inside, verdict
from judged.errors import InputError, quoted
from judged.evaluation.trusted import Correction
from judged.statistics.intervals import Interval

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
