"""Whether the queries with trusted judgements can stand for all: drawn at random by the look of
their cheap values, judged as deeply, and apart often enough to tell by how much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from judged.arrays import Floats
from judged.evaluation.scores import TRUSTED
from judged.matching.variants import uncondensed
from judged.measures import parse_measure
from judged.statistics.aggregates import CLOSE
from judged.statistics.prediction_powered import sampled_alike
from judged.text import listed

if TYPE_CHECKING:
    from judged.evaluation.scores import Scored
    from judged.evaluation.trusted import TrustedRankings
    from judged.measures import Measure
    from judged.rankings.rankings import Rankings

UNLIKE = 0.01
"""Where p of Welch's test is below, the queries do not look as if they were drawn at random."""
SHALLOW = 0.1
"""By how much less of the first ten results trusted judgements may cover without a warning."""
FEW_APART = 6
"""Where fewer queries have another value by the trusted judgements, errors of the cheap ones are
too rare to be seen."""


def about_sample(
    cheap: Sequence[Scored],
    corrected: Sequence[Scored],
    trusted: TrustedRankings,
) -> list[str]:
    """Return what could mislead about corrected values."""
    return [
        *_all_of_them(cheap, trusted),
        *_unlike(cheap, corrected, trusted.source),
        *_other_scale(cheap, trusted),
        *_shallow(cheap, trusted),
        *_few_apart(cheap, corrected, trusted.source),
    ]


def _all_of_them(cheap: Sequence[Scored], trusted: TrustedRankings) -> list[str]:
    """Trusted judgements of all queries, which leave nothing for the cheap ones to say."""
    if any(len(own) < len(run.rankings) for run, own in zip(cheap, trusted.rankings, strict=True)):
        return []
    return [
        f"All queries have trusted judgements ({trusted.source}), so numbers are those by them "
        "alone. Are they the right ones? Then give them as the judgements, and leave trusted "
        "(--trusted) out."
    ]


def _each(
    cheap: Sequence[Scored], corrected: Sequence[Scored]
) -> Iterator[tuple[str, Floats, Floats, Floats | None]]:
    """Of each run and measure its name, the cheap values, the trusted ones and the weights, of the
    queries that count."""
    for run, own in zip(cheap, corrected, strict=True):
        for measure, values in run.values.items():
            counts = ~np.isnan(values)
            sample, people = run.sample(measure), own.others[TRUSTED].values[measure]
            name = _named(run, measure, several=len(cheap) > 1)
            yield name, values[counts], people[counts], sample.weights


def _named(run: Scored, measure: Measure, *, several: bool) -> str:
    return f"{run.label(measure)} of {run.name}" if several else run.label(measure)


def _unlike(cheap: Sequence[Scored], corrected: Sequence[Scored], source: str) -> list[str]:
    """Cheap values that differ between the queries with trusted judgements and the others."""
    found: dict[str, float] = {}
    for name, values, people, weights in _each(cheap, corrected):
        judged = ~np.isnan(people)
        p = float(sampled_alike(values[:, None], judged, weights)[0])
        if p < UNLIKE:
            found[name] = p
    if not found:
        return []
    return [
        f"The queries of {source} do not look like a random sample of all: by the cheap judgements "
        f"their values of {listed(list(found))} differ from the others' (Welch's test, "
        f"p = {min(found.values()):.2g}{' or more' if len(found) > 1 else ''}, below {UNLIKE:g}). "
        "Where they were chosen otherwise, corrected numbers are about other queries than all."
    ]


def _other_scale(cheap: Sequence[Scored], trusted: TrustedRankings) -> list[str]:
    """Grades that may be on two scales, as 0 to 3 and 0 to 1: measures take them as they are."""
    ours = max(float(run.rankings.grades.max(initial=0.0)) for run in cheap)
    theirs = max(float(r.pool_grade.max(initial=0.0)) for r in trusted.rankings)
    if ours == theirs:
        return []
    return [
        f"{trusted.source}: the highest grade is {theirs:g}, and {ours:g} by the cheap judgements: "
        "are both on one scale? Measures take grades as they are, and a correction would be of the "
        "scale."
    ]


def _shallow(cheap: Sequence[Scored], trusted: TrustedRankings) -> list[str]:
    """Trusted judgements that leave out many of the results that cheap ones cover."""
    least: tuple[float, float] | None = None
    for run, own in zip(cheap, trusted.rankings, strict=True):
        if own.complete or run.rankings.complete:
            continue
        place = {query: at for at, query in enumerate(run.rankings.queries)}
        which = np.array([place[query] for query in own.queries], np.int64)
        theirs, ours = _judged_share(own), _judged_share(run.rankings)[which]
        known = ~(np.isnan(theirs) | np.isnan(ours))
        if not known.any():
            continue
        shares = float(theirs[known].mean()), float(ours[known].mean())
        if shares[1] - shares[0] > SHALLOW and (least is None or shares[0] < least[0]):
            least = shares
    if least is None:
        return []
    return [
        f"{trusted.source}: on its queries {least[0]:.0%} of the first 10 results have trusted "
        f"judgements and {least[1]:.0%} cheap ones; what has none counts as unjudged, so a part "
        "of the correction may be that people judged fewer results."
    ]


def _judged_share(r: Rankings) -> Floats:
    return parse_measure("Judged@10").compute(uncondensed(r))


def _few_apart(cheap: Sequence[Scored], corrected: Sequence[Scored], source: str) -> list[str]:
    """Cheap values that trusted ones hardly ever differ from: how far errors go is not seen."""
    found: dict[str, int] = {}
    weights = [each.weight for run in corrected for each in run.corrections.values()]
    for (name, values, people, _), weight in zip(_each(cheap, corrected), weights, strict=True):
        judged = ~np.isnan(people)
        if weight > 0:
            found[name] = int((np.abs(people[judged] - values[judged]) > CLOSE).sum())
    rare = [name for name, number in found.items() if number < FEW_APART]
    if not rare:
        return []
    most = max(found[name] for name in rare)
    apart = "none" if most == 0 else f"at most {most}"
    return [
        f"Of the queries of {source} {apart} "
        f"{'has' if most < 2 else 'have'} another value of {listed(rare)} than by the cheap "
        "judgements: with errors that rare the corrected intervals may be too narrow."
    ]
