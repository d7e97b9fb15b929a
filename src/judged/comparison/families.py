"""Many comparisons at once: p-values corrected in their families."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from judged.comparison.match import Match
from judged.comparison.numbers import Numbers, in_common
from judged.comparison.outcomes import Outcome
from judged.comparison.settings import CORRECTIONS, SIMULTANEOUS, Settings
from judged.errors import InputError
from judged.statistics.corrections import corrected


def families(matches: Sequence[Match], settings: Settings) -> list[list[int]]:
    """The numbers of the matches of each family."""
    if settings.family == "all":
        return [list(range(len(matches)))]
    found: dict[str, list[int]] = {}
    for at, match in enumerate(matches):
        found.setdefault(match.measure.name, []).append(at)
    return list(found.values())


def correct(
    matches: Sequence[Match], outcomes: Sequence[Outcome], settings: Settings, numbers: Numbers
) -> tuple[list[Outcome], list[float]]:
    """The outcomes, with simultaneous intervals where the correction has them, and the corrected
    p of each."""
    if settings.correction in SIMULTANEOUS:
        return _simultaneous(matches, outcomes, settings, numbers)
    found = np.array([outcome.p for outcome in outcomes], float)
    for family in families(matches, settings):
        found[family] = corrected(found[family], settings.correction)
    return list(outcomes), found.tolist()


def _simultaneous(
    matches: Sequence[Match], outcomes: Sequence[Outcome], settings: Settings, numbers: Numbers
) -> tuple[list[Outcome], list[float]]:
    """p and intervals of all pairs of runs on a measure, from the spread of all of them."""
    name = CORRECTIONS[settings.correction]
    if any(match.powered is not None for match in matches):
        raise InputError(f"{name} does not go with trusted judgements; choose holm.")
    if settings.family == "all":
        raise InputError(f"{name} corrects the comparisons of one measure; family must be measure.")
    if settings.test not in ("auto", "t", "randomisation"):
        raise InputError(f"{name} is a test of its own; leave out test={settings.test}.")
    changed, corrected_p = list(outcomes), [outcome.p for outcome in outcomes]
    for family in families(matches, settings):
        measure = matches[family[0]].measure
        entries = [numbers.entry(measure, run) for run in numbers.runs]
        place = in_common(entries)
        if any(match.averaged is None for match in (matches[at] for at in family)):
            raise InputError(f"{name} compares means; {measure.name} is none. Choose holm.")
        if any(len(entry.place) != len(place) for entry in entries):
            raise InputError(
                f"{name} needs the same queries in all runs, and on {measure.name} some count in "
                "some runs only; choose holm, or missing=zero."
            )
        first = matches[family[0]]
        repeated = any(entry.repeats is not None for entry in entries)
        if first.weights is not None or first.groups is not None or repeated:
            raise InputError(
                f"{name} goes neither with weights nor with groups nor with repeats; choose holm."
            )
        averaged = [entry.sample.averaged for entry in entries]
        values = np.stack([each for each in averaged if each is not None], axis=1)
        if len(place) < 2:
            continue
        if settings.correction == "tukey":
            from judged.statistics.tukey import tukey

            found = tukey(values, settings.levels)
        else:
            from judged.statistics.resampling.randomised_tukey import randomised_tukey

            found = randomised_tukey(
                values, settings.levels, resamples=settings.resamples, seed=settings.seed
            )
        places = {run: at for at, run in enumerate(numbers.runs)}
        for at in family:
            match, outcome = matches[at], outcomes[at]
            p = float(found.p[places[match.run], places[match.against]])
            if outcome.method is None or match.constant:
                corrected_p[at] = max(outcome.p, p)
                continue
            corrected_p[at] = p
            assert match.averaged is not None
            half = np.array([-1.0, 1.0]) * np.asarray(found.half_width)[:, None]
            ends = float(np.mean(match.averaged)) + half.ravel()
            low, high, inner_low, inner_high = map(float, match.on_scale(ends))
            changed[at] = replace(
                outcome,
                low=low,
                high=high,
                inner_low=inner_low,
                inner_high=inner_high,
                method=settings.correction,
            )
    return changed, corrected_p
