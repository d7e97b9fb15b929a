"""Dependence of verdicts on ties, missing queries and unjudged results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Ints
from judged.comparison.numbers import (
    Compared,
    Entry,
    Numbers,
    average_repeats,
    entries_of,
    index_of,
    intersect_queries,
    positions,
)
from judged.comparison.outcomes import Mask, Match, is_infinite, outcomes
from judged.comparison.settings import ComparisonSettings
from judged.comparison.verdicts import verdict
from judged.errors import InputError, PolicyError, quoted
from judged.evaluation.ranges import difference_is_bounded, last_rank
from judged.evaluation.scores import Scored, score, score_ties
from judged.matching.ties import uncondensed
from judged.policy import Policy
from judged.text import Warned, counted, few, listed

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.matching.listings import Listings
    from judged.measures import Measure
    from judged.options import PolicyLike
    from judged.rankings.rankings import Rankings

UNDECIDED = "undefined (infinite values)"
Pairs = list[tuple[Entry, Entry]]


class Alternatives:
    """The runs of an evaluation under other assumptions, each computed once, on demand."""

    def __init__(
        self, evaluation: Evaluation, numbers: Numbers, joint: Listings | None = None
    ) -> None:
        self.evaluation = evaluation
        self.numbers = numbers
        self.joint = joint
        if joint is not None and numbers.repeated:
            raise InputError(
                "unjudged_range does not work with repeats, because it judges two runs at a time; "
                "leave one of them out."
            )
        self.unknown: list[str] = []
        """Runs whose ties were not checked."""
        self._runs = {run.rankings.name: run for run in evaluation.runs}
        self.rankings = {name: run.rankings for name, run in self._runs.items()}
        self._index = index_of(numbers.queries)
        self.tie_ends = cache(self._tie_ends)
        self._tied = cache(self._tied_entries)
        self._same = cache(self._is_copy)
        self._judged = cache(self._judged_jointly)

    def of(self, match: Match, within: Ints | None = None) -> dict[str, list[Match]]:
        """Return a match under other assumptions, by cause, where they change it."""
        matches_by_cause = {"ties": self._ties(match), "missing": self._missing(match)}
        if self.joint is not None:
            matches_by_cause["unjudged"] = self._unjudged(match, within)
        return {cause: matches for cause, matches in matches_by_cause.items() if matches}

    def _ties(self, match: Match) -> list[Match]:
        """Return the run in its worst order of ties against the other's best, and the reverse."""
        ours, theirs = (self._tied(run, match.measure) for run in (match.run, match.against))
        if not (ours or theirs) or self._same(match.run, match.against):
            return []
        return [
            replace(
                match,
                ours=ours[best].at(match.ours.place) if ours else match.ours,
                theirs=theirs[not best].at(match.theirs.place) if theirs else match.theirs,
            )
            for best in (False, True)
        ]

    def _is_copy(self, run: str, against: str) -> bool:
        ours, theirs = self._repeats(run), self._repeats(against)
        return len(ours) == len(theirs) and all(
            all(map(np.array_equal, *map(_lists_of, map(self.rankings.__getitem__, pair))))
            for pair in zip(ours, theirs, strict=True)
        )

    def _repeats(self, run: str) -> tuple[str, ...]:
        return self.numbers.repeated.get(run, (run,))

    def _tied_entries(self, name: str, compared: Compared) -> list[Entry]:
        """Return a run's values in its worst and best order of ties; nothing if these are equal."""
        measure = compared.measure
        assert measure is not None
        ends: list[tuple[Scored, Scored]] = []
        moved = False
        for repeat in self._repeats(name):
            usual = self._runs[repeat]
            worst, best = self.tie_ends(repeat) or (usual, usual)
            values = worst.values[measure], best.values[measure]
            moves = not np.array_equal(*values, equal_nan=True)
            moved |= moves
            ends.append((worst, best) if moves else (usual, usual))
        return [
            average_repeats(
                [entries_of(run, [measure], self._index)[measure] for run in runs], compared, name
            )
            for runs in zip(*ends, strict=True)
            if moved
        ]

    def _tie_ends(self, name: str) -> tuple[Scored, Scored] | None:
        """Return a run in the worst and best order of its ties; None if no judged one is tied."""
        run = self._runs[name]
        first, last = run.rankings.hit_tie_first, run.rankings.hit_tie_last
        if first is None or last is None:
            return None
        if run.rankings.depth is None and not (last > first).any():
            return None
        try:
            ends = (
                run.others if "worst" in run.others else score_ties(run, self.evaluation.settings)
            )
        except PolicyError:  # a depth cuts through a tie, and how many results stay depends on it
            self.unknown.append(name)
            return None
        return None if ends["worst"] is ends["best"] else (ends["worst"], ends["best"])

    def _missing(self, match: Match) -> list[Match]:
        """Return the pair on the queries that both runs have, if one lacks some."""
        place = match.ours.place
        ours, theirs = (
            np.logical_and.reduce([self._held[repeat][place] for repeat in self._repeats(run)])
            for run in (match.run, match.against)
        )
        if self.evaluation.policy.missing == "skip" or not (ours != theirs).any():
            return []
        both = place[ours & theirs]
        return [self._on(both, match, match.ours, match.theirs)]

    def _on(self, place: Ints, match: Match, ours: Entry, theirs: Entry) -> Match:
        groups = self.numbers.grouped(place)
        return replace(match, ours=ours.at(place), theirs=theirs.at(place), groups=groups)

    @cached_property
    def _held(self) -> dict[str, Mask]:
        held = {name: np.zeros(len(self._index), bool) for name in self._runs}
        for name, rankings in self.rankings.items():
            held[name][positions(rankings.queries, self._index)[~rankings.missing]] = True
        return held

    def _unjudged(self, match: Match, within: Ints | None) -> list[Match]:
        """Return the pair with unjudged results judged in favour of the run, and of the other."""
        measure = match.measure.measure
        assert measure is not None
        matches = []
        for entries in self._judged(match.run, match.against)[measure]:
            place = intersect_queries(entries)
            if within is not None:
                place = place[np.isin(place, within)]
            matches.append(self._on(place, match, *entries))
        return matches

    def _judged_jointly(self, run: str, against: str) -> dict[Measure, Pairs]:
        """Return both runs' values on each measure at both extremes."""
        assert self.joint is not None
        names = [*self.rankings]
        by_cutoff: dict[int | None, list[Measure]] = {}
        for measure in self.evaluation.measures:
            by_cutoff.setdefault(last_rank(measure), []).append(measure)
        top = self.rankings[run].top_grade
        pairs: dict[Measure, Pairs] = {measure: [] for measure in self.evaluation.measures}
        for k, measures in by_cutoff.items():
            settings = replace(self.evaluation.settings, measures=tuple(measures))
            for pair in self.joint.judged(
                (names.index(run), self.rankings[run]),
                (names.index(against), self.rankings[against]),
                top=top,
                cutoff=k,
            ):
                scored = (score(r, settings) for r in pair)
                one, two = (entries_of(scores, measures, self._index) for scores in scored)
                for measure in measures:
                    pairs[measure].append((one[measure], two[measure]))
        return pairs


def depends(
    matches: Sequence[Match],
    verdicts: Sequence[str],
    within: Sequence[Ints] | None,
    *,
    alternatives: Alternatives,
    settings: ComparisonSettings,
) -> list[dict[str, tuple[str, ...]]]:
    """Return for each match the other verdicts that would be given, by the cause of the change."""
    # `verdicts` are uncorrected, and `within` are the queries of each match's slice.
    others = [
        (i, cause, other)
        for i, match in enumerate(matches)
        for cause, read in alternatives.of(match, within[i] if within else None).items()
        for other in read
    ]
    finite = [other for _, _, other in others if not is_infinite(other, settings.test)]
    tested = iter(zip(finite, outcomes(finite, settings, alternatives.numbers), strict=True))
    otherwise: list[dict[str, tuple[str, ...]]] = [{} for _ in matches]
    for i, cause, other in others:
        word = UNDECIDED
        if not is_infinite(other, settings.test):
            match, outcome = next(tested)
            word = verdict(match, outcome, outcome.p, settings)[0]
        known = otherwise[i].get(cause, ())
        if word not in (verdicts[i], *known):
            otherwise[i][cause] = (*known, word)
    return otherwise


def about_alternatives(alternatives: Alternatives) -> list[str]:
    """Warn of checks of ties and unjudged results that were not made, or are incomplete."""
    evaluation, notes = alternatives.evaluation, []
    if unknown := list(dict.fromkeys(alternatives.unknown)):
        notes.append(
            f"Whether verdicts depend on ties was not checked for {listed(unknown)}, because the "
            "depth cuts through ties. Leave out the depth to check."
        )
    if alternatives.joint is not None and any(map(_has_unjudged, alternatives.rankings.values())):
        policy = evaluation.policy
        loose = [m for m in evaluation.measures if not difference_is_bounded(m, policy)]
        if loose:
            names = listed([evaluation.label(measure) for measure in loose])
            notes.append(
                f"The effect of unjudged results on differences in {names} was checked for two "
                "scenarios, which are not bounds. Other judgements may change more."
            )
    return [Warned(note) for note in notes]


def _lists_of(r: Rankings) -> tuple[NDArray[Any], ...]:
    """Return ranks, grades and ties of a run, before any depth cut it."""
    r = r.whole or r
    return (r.hit_query, r.hit_rank, r.hit_grade, *r.spans, r.retrieved, r.missing)


def _has_unjudged(r: Rankings) -> bool:
    r = uncondensed(r)
    judged = (r.hit_grade >= 0) & (r.hit_rank <= r.retrieved[r.hit_query])
    return bool(judged.sum() < r.retrieved.sum())


MAX_MISSING_SHARE = 0.1
"""A run that lacks more than this share of another run's queries is an error."""
ZERO = "policy={'missing': 'zero'} (--missing zero)"
"""The option that scores missing queries 0."""


def names_missing(policy: PolicyLike | None) -> bool:
    """Return whether a policy for missing queries was chosen, not just the default."""
    if isinstance(policy, Mapping):
        return "missing" in policy
    return isinstance(policy, Policy) and policy.missing != Policy().missing


def check_evaluated_missing(
    rankings: Sequence[Rankings], policy: Policy, missing: str | None
) -> None:
    """Check missing queries of evaluated runs, unless a policy for them was chosen."""
    if missing is not None and (not isinstance(missing, str) or missing != policy.missing):
        raise PolicyError(
            f"missing must be {policy.missing}, as in this evaluation; got {quoted(missing)}. "
            "Evaluate again for another policy."
        )
    if missing is None and not names_missing(policy):
        check_missing(rankings, 'missing="zero"')


def check_missing(rankings: Sequence[Rankings], zero: str = ZERO) -> None:
    """Check that no run lacks over a tenth of the queries of another; `zero` scores them 0."""
    for r in rankings:
        for other in rankings:
            lost = [r.queries[i] for i in np.flatnonzero(r.missing & ~other.missing)]
            refuse_missing(r.name, other.name, lost, int((~other.missing).sum()), zero)


def refuse_missing(run: str, other: str, lost: Sequence[str], there: int, zero: str = ZERO) -> None:
    if len(lost) > MAX_MISSING_SHARE * there:
        raise PolicyError(
            f"{run} has no results for {len(lost):,} ({few(lost)}) of the {there:,} judged queries "
            f"that {other} has. Did it run on all of them? To compare anyway, use {zero} to score "
            "these queries 0, or missing=skip to leave them out."
        )


def warn_of_missing(rankings: Sequence[Rankings], policy: Policy) -> list[str]:
    """Warn of judged queries that no run has."""
    nowhere = np.logical_and.reduce([r.missing for r in rankings])
    if not nowhere.any():
        return []
    effect = "They are left out" if policy.missing == "skip" else "Each counts as an empty list"
    of = counted(len(nowhere), "judged query", "judged queries")
    lost = [rankings[0].queries[i] for i in np.flatnonzero(nowhere)]
    return [
        Warned(
            f"No run has results for {len(lost):,} ({few(lost)}) of {of}. {effect}. Do the "
            "judgements belong to another split?"
        )
    ]
