"""Corrections of values from cheap judgements by trusted judgements of some queries."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats, Ints
from judged.errors import InputError, MeasureError, PolicyError
from judged.evaluation.intervals import interval_of, summary_range
from judged.evaluation.scores import TRUSTED, Scored, score_run
from judged.options import LEVEL
from judged.rankings.rankings import Weights
from judged.statistics.intervals import Interval
from judged.statistics.prediction_powered import FEWEST_TRUSTED, Powered, powered, sampled_alike
from judged.statistics.samples import CLOSE, Means, Sample, effective_number
from judged.statistics.t import half_widths
from judged.text import counted, few, listed, plain, shown

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.measures import Measure
    from judged.options import JudgementsLike
    from judged.rankings.rankings import Rankings

METHOD = "prediction-powered"
"""The name of the intervals of corrected values."""
WITHOUT = {
    "per_query": "a correction is made of the values of queries",
    "interval": "corrected numbers have intervals of their own",
    "groups": "a correction takes queries for independent",
    "slices": "slices have too few queries that were judged twice",
    "repeats": "a correction is of one run of each system",
    "tie_range": "the range is that of the cheap numbers",
    "unjudged_range": "the range is that of the cheap numbers",
    "unanswerable": "either judgements may set other queries apart",
    "guarantees": "the best scores of single queries are compared",
    "golden": "a correction is of means, not of single queries",
    "update": "a baseline file keeps the values by one set of judgements",
}
"""Options that cannot be combined with trusted judgements, and why."""


def refuse_beside(trusted: Any, **options: Any) -> None:
    """Raise an error for options that trusted judgements do not support."""
    for name, given in options.items():
        if trusted is not None and given:
            raise InputError(
                f"trusted (--trusted) does not go with {name}: {WITHOUT[name]}. Leave one of both "
                "out."
            )


def refuse_corrected(evaluation: Evaluation, what: str) -> None:
    """Raise an error where values by the cheap judgements would appear beside corrected ones."""
    if evaluation.trusted is not None:
        raise InputError(
            f"{what} show the values of queries, which trusted judgements do not correct; leave "
            "trusted out for them."
        )


@dataclass(frozen=True)
class Correction:
    """A value, or a difference of two, corrected by trusted judgements of some queries."""

    queries: int
    """Number of queries with cheap judgements."""
    trusted_queries: int
    """Number of these that have trusted judgements too."""
    cheap: float
    """By the cheap judgements alone, of all queries."""
    corrected: Interval
    """By both."""
    trusted: Interval
    """By the trusted judgements alone, of their queries."""
    weight: float
    """λ: how much the cheap judgements count, from 0 (not at all) to 1 (in full)."""

    @property
    def narrower(self) -> str | None:
        """The narrower interval, corrected or trusted; None if one is not known."""
        if not (self.corrected.known and self.trusted.known):
            return None
        return "corrected" if self.ratio < 1 - CLOSE else "trusted"

    @property
    def ratio(self) -> float:
        """The width of the corrected interval relative to the trusted one; NaN if unknown."""
        width = self.trusted.high - self.trusted.low
        return (self.corrected.high - self.corrected.low) / width if width else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "queries": self.queries,
            "trusted_queries": self.trusted_queries,
            "corrected": self.corrected.to_dict(),
            "trusted": self.trusted.to_dict(),
            "cheap": plain(self.cheap),
            "weight": plain(self.weight),
            "narrower": self.narrower,
        }

    def says(self) -> str:
        """Return the correction in words, and which interval is narrower."""
        said = (
            f"{_with_ends(self.corrected)} corrected with λ = {self.weight:.2f}; "
            f"{_with_ends(self.trusted)} by the trusted judgements of {self.trusted_queries:,} "
            f"queries alone; {_shown(self.cheap)} by the cheap ones of {self.queries:,} alone"
        )
        if self.narrower is None:
            return said
        if math.isclose(self.ratio, 1, abs_tol=0.005):
            return f"{said}; both intervals are as wide"
        less = min(self.ratio, 1 / self.ratio)
        return f"{said}; the {self.narrower} interval is {1 - less:.0%} narrower".replace("%", " %")


def _shown(value: float) -> str:
    return shown(value).replace("-", "−")


def _with_ends(found: Interval) -> str:
    if not found.known:
        return f"{_shown(found.estimate)} (no interval)"
    return f"{_shown(found.estimate)} ({_shown(found.low)} to {_shown(found.high)})"


def correct_by_trusted(
    evaluation: Evaluation, judgements: JudgementsLike, rankings: list[Rankings]
) -> Evaluation:
    """Correct the summaries of an evaluation by rankings from trusted judgements."""
    source = _source(judgements)
    runs = []
    for run, own in zip(evaluation.runs, rankings, strict=True):
        place = _places(run.rankings.queries, own.queries, source)
        if run.rankings.weights is None:
            own = replace(own, weights=None)
        else:
            weights = run.rankings.weights
            own = replace(own, weights=Weights(weights.values[place], weights.source))
        people = _aligned(run, _scored(own, evaluation), place)
        runs.append(_corrected(run, people, LEVEL))
    return replace(
        evaluation,
        runs=tuple(runs),
        level=LEVEL,
        trusted={"source": source, "queries": len(rankings[0].queries)},
        trusted_warnings=tuple(about_sample(evaluation.runs, runs, source, rankings)),
    )


def at_level(evaluation: Evaluation, level: float) -> Evaluation:
    """Return a corrected evaluation with confidence intervals of another level."""
    runs = tuple(_corrected(run, run.others[TRUSTED], level) for run in evaluation.runs)
    return replace(evaluation, runs=runs, level=level)


def _source(trusted: JudgementsLike) -> str:
    from judged.inputs.formats import printable

    if isinstance(trusted, str) and trusted == "-":
        return "standard input"
    if isinstance(trusted, (str, os.PathLike)):
        return printable(os.fspath(trusted))
    return "the trusted judgements"


def _scored(own: Rankings, evaluation: Evaluation) -> Scored:
    """Score a run by the trusted judgements; errors name them."""
    try:
        return score_run(own, evaluation.settings)
    except (MeasureError, PolicyError) as error:
        raise type(error)(f"trusted: {error}") from None


def _places(queries: Sequence[str], own: Sequence[str], source: str) -> Ints:
    """Return the position of each trusted query among all queries."""
    at = {query: place for place, query in enumerate(queries)}
    unknown = [query for query in own if query not in at]
    if unknown:
        them = "it" if len(unknown) == 1 else "them"
        swapped = " Were the two given the wrong way round?" if set(at) < set(own) else ""
        raise InputError(
            f"{source}: {counted(len(unknown), 'query is', 'queries are')} not among those that "
            f"the cheap judgements are of ({few(unknown)}), so there is nothing to correct there; "
            f"leave {them} out, or judge {them} cheaply too.{swapped}"
        )
    refuse_few(len(own), source)
    return np.array([at[query] for query in own], np.int64)


def refuse_few(number: int, where: str, weights: Floats | None = None) -> None:
    """Raise an error if too few queries have trusted judgements."""
    if (
        weights is not None
        and number >= FEWEST_TRUSTED
        and (worth := effective_number(weights)) < FEWEST_TRUSTED
    ):
        raise InputError(
            f"{where}: {number:,} queries have trusted judgements, which by their weights say no "
            f"more than {worth:.1f} of equal weight (Kish), and a correction takes at least "
            f"{FEWEST_TRUSTED}; judge more of them, drawn at random, or leave the weights out."
        )
    if number < FEWEST_TRUSTED:
        raise InputError(
            f"{where}: {counted(number, 'query has', 'queries have')} trusted judgements, and a "
            f"correction takes at least {FEWEST_TRUSTED}; judge more of them, drawn at random, or "
            "leave trusted (--trusted) out."
        )


def _aligned(run: Scored, scored: Scored, place: Ints) -> Scored:
    """Return a run by trusted judgements, with NaN for other queries."""
    values: dict[Measure, Floats] = {}
    for measure, own in scored.values.items():
        label = run.label(measure)
        sample = run.sample(measure)
        _refuse_no_mean(measure, label, sample, scored.samples.get(measure))
        aligned = np.full(len(run.rankings), np.nan)
        aligned[place] = own
        _refuse_apart(run, label, place, aligned, run.values[measure])
        if np.isinf(own).any() or np.isinf(run.values[measure]).any():
            raise MeasureError(
                f"{label} is infinite for some queries, and a mean of infinite values says "
                "nothing; leave it out, or take RR."
            )
        counts = ~np.isnan(aligned)
        refuse_few(int(counts.sum()), label, run.rankings.weights_of(counts))
        values[measure] = aligned
    found = Scored(run.rankings, values, {}, labels=run.labels)
    found.summary.update({measure: found.sample(measure).value() for measure in values})
    return found


def _refuse_no_mean(measure: Measure, label: str, sample: Sample, made_of: Sample | None) -> None:
    """Raise an error for summaries other than means, which cannot be corrected."""
    if made_of is None and isinstance(sample, Means) and sample.aggregate in ("mean", "geometric"):
        return
    if isinstance(sample, Means) and sample.aggregate == "sum":
        instead = f"leave it out, or ask for its mean, {measure(aggregate='mean')}"
        raise MeasureError(
            f"{label} is a sum over queries, which trusted judgements of some of them cannot "
            f"correct; {instead}."
        )
    raise MeasureError(
        f"{label} is not a mean over queries, so trusted judgements cannot correct it; leave it "
        "out."
    )


def _refuse_apart(run: Scored, label: str, place: Ints, ours: Floats, theirs: Floats) -> None:
    """Raise an error if a query counts by one of both judgements only."""
    apart = np.isnan(ours[place]) != np.isnan(theirs[place])
    if apart.any():
        names = [run.rankings.queries[at] for at in place[apart]]
        raise PolicyError(
            f"{label}: {counted(len(names), 'query counts', 'queries count')} by one of both "
            f"judgements only ({few(names)}), as empty=skip leaves out what has nothing relevant; "
            "choose empty=zero (--empty zero), which counts all of them."
        )


def _corrected(run: Scored, people: Scored, level: float) -> Scored:
    found = corrections(run, people, level)
    return replace(
        run,
        summary={measure: each.corrected.estimate for measure, each in found.items()},
        intervals={measure: each.corrected for measure, each in found.items()},
        others={TRUSTED: replace(people, intervals={m: each.trusted for m, each in found.items()})},
        corrections=found,
    )


def corrections(run: Scored, people: Scored, level: float) -> dict[Measure, Correction]:
    """Return the correction of every measure of a run."""
    found: dict[Measure, Correction] = {}
    for measures in _alike(run, people):
        first = measures[0]
        counts, order = ~np.isnan(run.values[first]), run.in_order
        row = np.cumsum(counts) - 1
        order = order[counts[order]]
        judged = ~np.isnan(people.values[first])[order]
        samples = [run.sample(measure).take(row[order]) for measure in measures]
        own = np.cumsum(~np.isnan(people.values[first])) - 1
        theirs = [people.sample(measure).take(own[order[judged]]) for measure in measures]
        result = powered(
            columns_of(theirs), columns_of(samples), judged, weights=samples[0].weights
        )
        for at, (measure, sample) in enumerate(zip(measures, samples, strict=True)):
            about = run.values[measure][order], measure.spec.range, sample.aggregate
            found[measure] = Correction(
                len(order),
                int(judged.sum()),
                sample.value(),
                corrected_interval(sample, result, at, level, summary_range(*about)),
                interval_of(people, measure, level=level),
                float(result.weight[at]),
            )
    return {measure: found[measure] for measure in run.values}


def columns_of(samples: Iterable[Sample]) -> Floats:
    """Return the columns that values are means of."""
    known = [sample.averaged for sample in samples]
    return np.stack([each for each in known if each is not None], axis=1)


def _alike(run: Scored, people: Scored) -> list[list[Measure]]:
    """Group the measures by the queries that count."""
    found: dict[bytes, list[Measure]] = {}
    for measure, values in run.values.items():
        key = np.isnan(values).tobytes() + np.isnan(people.values[measure]).tobytes()
        found.setdefault(key, []).append(measure)
    return list(found.values())


def corrected_interval(
    sample: Sample, found: Powered, at: int, level: float, ends: tuple[float, float]
) -> Interval:
    """Return a corrected value with its interval, cut at the measure's range."""
    assert isinstance(sample, Means)
    mean, half = found.spread.mean[at], half_widths(found.spread, level)[at]
    estimate, low, high = np.clip(
        sample.function(np.array([[mean], [mean - half], [mean + half]])), *ends
    ).tolist()
    if math.isnan(low):
        return Interval(estimate, note=UNSPREAD)
    return Interval(estimate, low, high, METHOD)


UNSPREAD = (
    "all queries have the same value by the trusted judgements, which says nothing of how others "
    "would spread"
)
"""Why a corrected number has no interval."""


UNLIKE = 0.01
"""A smaller p of Welch's test means that the queries were probably not drawn at random."""
FEW_APART = 6
"""If fewer queries differ between the judgements, errors of the cheap ones are too rare to show."""


def about_sample(
    cheap: Sequence[Scored], corrected: Sequence[Scored], source: str, trusted: Sequence[Rankings]
) -> Iterator[str]:
    """Yield warnings about corrected values."""
    if all(len(own) == len(run.rankings) for run, own in zip(cheap, trusted, strict=True)):
        yield (
            f"All queries have trusted judgements ({source}), so numbers are those by them "
            "alone. Are they the right ones? Then give them as the judgements, and leave trusted "
            "(--trusted) out."
        )
    columns = list(_columns(cheap, corrected))
    p_values = {
        name: float(sampled_alike(values[:, None], ~np.isnan(people), weights)[0])
        for name, values, people, weights in columns
    }
    if unlike := {name: p for name, p in p_values.items() if p < UNLIKE}:
        yield (
            f"The queries of {source} do not look like a random sample of all: by the cheap "
            f"judgements their values of {listed(list(unlike))} differ from the others' (Welch's "
            f"test, p = {min(unlike.values()):.2g}{' or more' if len(unlike) > 1 else ''}, below "
            f"{UNLIKE:g}). Where they were chosen otherwise, corrected numbers are about other "
            "queries than all."
        )
    ours = max(float(run.rankings.grades.max(initial=0.0)) for run in cheap)
    theirs = max(float(r.pool_grade.max(initial=0.0)) for r in trusted)
    if ours != theirs:
        yield (
            f"{source}: the highest grade is {theirs:g}, and {ours:g} by the cheap judgements: "
            "are both on one scale? Measures take grades as they are, and a correction would be "
            "of the scale."
        )
    weights = [each.weight for run in corrected for each in run.corrections.values()]
    differing = {
        name: int((np.abs(people - values) > CLOSE).sum())  # NaN, without judgements, is not
        for (name, values, people, _), weight in zip(columns, weights, strict=True)
        if weight > 0
    }
    if rare := [name for name, number in differing.items() if number < FEW_APART]:
        number = max(differing[name] for name in rare)
        yield (
            f"Of the queries of {source} {f'at most {number}' if number else 'none'} "
            f"{'has' if number < 2 else 'have'} another value of {listed(rare)} than by the cheap "
            "judgements: with errors that rare the corrected intervals may be too narrow."
        )


def _columns(
    cheap: Sequence[Scored], corrected: Sequence[Scored]
) -> Iterator[tuple[str, Floats, Floats, Floats | None]]:
    """Yield name, cheap values, trusted values and weights of each run and measure."""
    for run, own in zip(cheap, corrected, strict=True):
        for measure, values in run.values.items():
            counts = ~np.isnan(values)
            sample, people = run.sample(measure), own.others[TRUSTED].values[measure]
            name = f"{run.label(measure)} of {run.name}" if len(cheap) > 1 else run.label(measure)
            yield name, values[counts], people[counts], sample.weights
