"""Dependence of verdicts on ties, missing queries and unjudged results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Ints
from judged.comparison.match import Mask, Match
from judged.comparison.numbers import (
    Compared,
    Entry,
    Numbers,
    Places,
    averaged,
    entry_of,
    in_common,
)
from judged.comparison.outcomes import is_infinite, outcomes
from judged.comparison.settings import ComparisonSettings
from judged.comparison.verdicts import verdict
from judged.errors import InputError, PolicyError, quoted
from judged.evaluation.ranges import TieEnds, difference_is_bounded, last_rank, tie_ends
from judged.evaluation.scores import Scored, score
from judged.matching.variants import FAVOURS, Variants, uncondensed
from judged.measures.ties import tied_queries
from judged.policy import Policy
from judged.text import Warned, counted, few, listed

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.matching.listings import Joint
    from judged.measures import Measure
    from judged.options import PolicyLike
    from judged.rankings.rankings import Rankings

Otherwise = dict[str, tuple[str, ...]]
"""Verdicts that would be given, by the cause that changes them."""
UNDECIDED = "undefined (infinite values)"
Pairs = list[tuple[Entry, Entry]]


class Alternatives:
    """The runs of an evaluation under other assumptions, each computed once, on demand.

    With a `joint`, unjudged results are considered too.
    """

    def __init__(
        self, evaluation: Evaluation, numbers: Numbers, joint: Joint | None = None
    ) -> None:
        self.evaluation = evaluation
        self.numbers = numbers
        self.joint = joint
        if joint is not None and numbers.repeated:
            raise InputError(
                "unjudged_range does not work with repeats, because it judges two runs at a time; "
                "leave one of them out."
            )
        self._asked = evaluation.measures, evaluation.policy, evaluation.convention
        self._runs = {run.name: (number, run) for number, run in enumerate(evaluation.runs)}
        self.names = [*self._runs]
        self._rankings = evaluation.rankings
        self._places = Places(numbers.queries)
        self._ends: dict[str, tuple[Scored, Scored] | None] = {}
        self._copies: dict[tuple[str, str], bool] = {}
        self._entries: dict[tuple[str, Measure], list[Entry]] = {}
        self._joint: dict[tuple[str, str], dict[Measure, Pairs]] = {}

    def of(self, match: Match, within: Ints | None = None) -> dict[str, list[Match]]:
        """Return a match under other assumptions, by cause, where they change it.

        `within` are the queries of its slice.
        """
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

    def _same(self, run: str, against: str) -> bool:
        """Return whether two runs have the same ranks and ties."""
        if (run, against) not in self._copies:
            ours, theirs = self._repeats(run), self._repeats(against)
            known = len(ours) == len(theirs) and {*ours, *theirs} <= set(self._rankings)
            self._copies[run, against] = known and all(
                all(map(np.array_equal, *map(_listed, map(self._rankings.__getitem__, pair))))
                for pair in zip(ours, theirs, strict=True)
            )
        return self._copies[run, against]

    def _repeats(self, run: str) -> tuple[str, ...]:
        return self.numbers.repeated.get(run, (run,))

    def _tied(self, name: str, compared: Compared) -> list[Entry]:
        """Return a run's values in its worst and best order of ties; nothing if these are equal."""
        measure = compared.measure
        assert measure is not None
        if (name, measure) not in self._entries:
            repeats = self._repeats(name)
            usual = [self._runs[repeat][1] for repeat in repeats]
            ends = [
                self.tie_ends(repeat) or (run, run)
                for repeat, run in zip(repeats, usual, strict=True)
            ]
            moved = any(
                measure in end.values for both in ends for end in both if both[0] is not both[1]
            )
            for best in (False, True) if moved else ():
                runs = [
                    both[best] if measure in both[best].values else run
                    for both, run in zip(ends, usual, strict=True)
                ]
                entries = [entry_of(run, measure, self._places) for run in runs]
                self._entries.setdefault((name, measure), []).append(
                    averaged(entries, compared, name)
                )
            self._entries.setdefault((name, measure), [])
        return self._entries[name, measure]

    def tie_ends(self, name: str) -> tuple[Scored, Scored] | None:
        """Return a run in the worst and best order of its ties, with the measures that change.

        None without ties of judged results.
        """
        if name not in self._ends:
            self._ends[name] = self._tie_ends(self._runs[name][1], self._rankings.get(name))
        return self._ends[name]

    def _tie_ends(self, run: Scored, kept: Rankings | None) -> tuple[Scored, Scored] | None:
        if {"worst", "best"} <= set(run.others):
            return run.others["worst"], run.others["best"]
        if kept is None or kept.hit_tie_first is None:
            return None
        try:
            variants = Variants(kept)
            if not variants.tied:
                return None
            unbroken = variants.under("expected")
        except PolicyError:  # a depth cuts through a tie, and how many results stay depends on it
            return self._by_grade(kept)
        ends = tie_ends(run.values, unbroken, *self._asked)
        if not ends:
            return None
        worst, best = (Scored(run.rankings, {}, {}, labels=run.labels) for _ in FAVOURS)
        for measure, moved in ends.items():
            self._put_ends(worst, best, measure, moved)
        return worst, best

    def _put_ends(self, worst: Scored, best: Scored, measure: Measure, ends: TieEnds) -> None:
        higher = measure.spec.higher_is_better
        for side, values in (
            (worst, ends.low if higher else ends.high),
            (best, ends.high if higher else ends.low),
        ):
            if measure.spec.made_of is not None:
                by_worth = ends.by_worth(measure, *self._asked[1:], best=side is best)
                if by_worth is None:
                    return
                values = by_worth.values
                if by_worth.sample is not None:
                    side.samples[measure] = by_worth.sample
            side.values[measure] = values
            side.summary[measure] = side.sample(measure).value()
            if ends.unsure:
                side.unsure[measure] = ends.unsure

    def _by_grade(self, kept: Rankings) -> tuple[Scored, Scored] | None:
        """Return a run with tied results ordered by grade, which gives two of many orders."""
        variants = Variants(kept)
        try:
            worst, best = (score(variants.under(ties), *self._asked) for ties in ("worst", "best"))
        except PolicyError:
            return None
        tied = int(tied_queries(kept.whole or kept).sum())
        unsure = dict.fromkeys(self.evaluation.measures, tied)
        return replace(worst, unsure=unsure), replace(best, unsure=unsure)

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
        """Return a match of other values, on some queries."""
        groups = self.numbers.grouped(place)
        return replace(match, ours=ours.at(place), theirs=theirs.at(place), groups=groups)

    @cached_property
    def _held(self) -> dict[str, Mask]:
        """Mask of the queries that each run has."""
        held = {name: np.zeros(len(self._places), bool) for name in self._runs}
        for name, (_, run) in self._runs.items():
            held[name][self._places.of(run.rankings.queries)[~run.rankings.missing]] = True
        return held

    def _unjudged(self, match: Match, within: Ints | None) -> list[Match]:
        """Return the pair with unjudged results judged in favour of the run, and of the other."""
        key = match.run, match.against
        if key not in self._joint:
            self._joint[key] = self._judged_jointly(*key)
        measure = match.measure.measure
        assert measure is not None
        matches = []
        for entries in self._joint[key][measure]:
            place = in_common(entries)
            if within is not None:
                place = place[np.isin(place, within)]
            matches.append(self._on(place, match, *entries))
        return matches

    def _judged_jointly(self, run: str, against: str) -> dict[Measure, Pairs]:
        """Return both runs' values on each measure at both extremes."""
        assert self.joint is not None
        (number, ours), (other, _) = self._runs[run], self._runs[against]
        by_cutoff: dict[int | None, list[Measure]] = {}
        for measure in self.evaluation.measures:
            by_cutoff.setdefault(last_rank(measure), []).append(measure)
        top = ours.rankings.top_grade
        pairs: dict[Measure, Pairs] = {measure: [] for measure in self.evaluation.measures}
        for k, measures in by_cutoff.items():
            for pair in self.joint.judged(
                (number, self._rankings[run]),
                (other, self._rankings[against]),
                top=top,
                cutoff=k,
            ):
                scored = [score(r, tuple(measures), *self._asked[1:]) for r in pair]
                for measure in measures:
                    one, two = (
                        entry_of(run_scores, measure, self._places) for run_scores in scored
                    )
                    pairs[measure].append((one, two))
        return pairs


def depends(
    matches: Sequence[Match],
    verdicts: Sequence[str],
    within: Sequence[Ints] | None,
    *,
    alternatives: Alternatives,
    settings: ComparisonSettings,
) -> list[Otherwise]:
    """Return for each match what its uncorrected verdict depends on, and the other verdicts.

    `within` are the queries of each match's slice.
    """
    others = [
        (at, cause, other)
        for at, match in enumerate(matches)
        for cause, read in alternatives.of(match, within[at] if within else None).items()
        for other in read
    ]
    finite = [other for _, _, other in others if not is_infinite(other, settings.test)]
    tested = iter(zip(finite, outcomes(finite, settings, alternatives.numbers), strict=True))
    otherwise: list[Otherwise] = [{} for _ in matches]
    for at, cause, other in others:
        word = UNDECIDED
        if not is_infinite(other, settings.test):
            match, outcome = next(tested)
            word = verdict(match, outcome, outcome.p, settings)[0]
        known = otherwise[at].get(cause, ())
        if word not in (verdicts[at], *known):
            otherwise[at][cause] = (*known, word)
    return otherwise


def about_alternatives(alternatives: Alternatives) -> list[str]:
    """Warn of checks of ties and unjudged results that were not made, or are incomplete."""
    evaluation = alternatives.evaluation
    notes: list[str] = []
    unsure = {
        evaluation.label(measure): None
        for name in alternatives.names
        for end in alternatives.tie_ends(name) or ()
        for measure in end.unsure
    }
    if unsure:
        notes.append(
            f"Whether verdicts on {listed([*unsure])} depend on ties was checked for some orders "
            "of ties only. Other orders may change more."
        )
    rankings = evaluation.rankings.values()
    if alternatives.joint is not None and any(map(_has_unjudged, rankings)):
        policy = evaluation.policy
        loose = [m for m in evaluation.measures if not difference_is_bounded(m, policy)]
        if loose:
            names = listed([evaluation.label(measure) for measure in loose])
            notes.append(
                f"The effect of unjudged results on differences in {names} was checked for two "
                "scenarios, which are not bounds. Other judgements may change more."
            )
    return [Warned(note) for note in notes]


def _listed(r: Rankings) -> tuple[NDArray[Any], ...]:
    """Return ranks, grades and ties of a run, before any depth cut it."""
    r = r.whole or r
    return (r.hit_query, r.hit_rank, r.hit_grade, *r.spans, r.retrieved, r.missing)


def _has_unjudged(r: Rankings) -> bool:
    r = uncondensed(r)
    judged = (r.hit_grade >= 0) & (r.hit_rank <= r.retrieved[r.hit_query])
    return bool(judged.sum() < r.retrieved.sum())


MAX_MISSING_SHARE = 0.1
"""A run that lacks more than this share of another run's queries is an error."""


def names_missing(policy: PolicyLike | None) -> bool:
    """Return whether a policy was chosen for missing queries.

    In a `Policy`, only a choice other than the default shows that.
    """
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


def check_missing(
    rankings: Sequence[Rankings], zero: str = "policy={'missing': 'zero'} (--missing zero)"
) -> None:
    """Check that no run lacks more than a tenth of the judged queries of another.

    `zero` is the option that scores them 0.
    """
    for r in rankings:
        for other in rankings:
            lost, there = r.missing & ~other.missing, int((~other.missing).sum())
            if lost.sum() > MAX_MISSING_SHARE * there:
                raise PolicyError(
                    f"{r.name} has no results for {_some(r, lost)} of the {there:,} judged queries "
                    f"that {other.name} has. Did it run on all of them? To compare anyway, use "
                    f"{zero} to score these queries 0, or missing=skip to leave them out."
                )


def in_no_run(rankings: Sequence[Rankings], policy: Policy) -> list[str]:
    """Warn of judged queries that no run has."""
    nowhere = np.logical_and.reduce([r.missing for r in rankings])
    if not nowhere.any():
        return []
    effect = "They are left out" if policy.missing == "skip" else "Each counts as an empty list"
    of = counted(len(nowhere), "judged query", "judged queries")
    return [
        Warned(
            f"No run has results for {_some(rankings[0], nowhere)} of {of}. {effect}. Do the "
            "judgements belong to another split?"
        )
    ]


def _some(r: Rankings, which: Mask) -> str:
    """Return how many queries there are, with the first few ids."""
    names = [r.queries[at] for at in np.flatnonzero(which)]
    return f"{len(names):,} ({few(names)})"


def evaluate_with_results(
    judgements: Any, runs: Any, measures: Any, **scoring: Any
) -> tuple[Evaluation, Joint]:
    """Evaluate runs and keep all their results, for the effect of unjudged ones on pairs."""
    from judged.evaluation.evaluate import match_runs
    from judged.evaluation.evaluation import evaluate_rankings
    from judged.evaluation.settings import EvaluationSettings
    from judged.evaluation.warnings import announce_warnings
    from judged.inputs.data import Data
    from judged.matching.listings import Joint
    from judged.options import formats_of

    judgements_format, run_format = formats_of(scoring.pop("format", None))
    data = Data.of(
        judgements,
        runs,
        columns=scoring.pop("columns", None),
        judgements_format=judgements_format,
        run_format=run_format,
        engine=None,
    )
    policy, convention = scoring.pop("policy", None), scoring.pop("convention", None)
    settings = EvaluationSettings.of(measures, policy, convention, prepares=True)
    matched = match_runs(data, settings, keep=True, **scoring)
    joint = Joint.of(
        matched.judgements,
        matched.tables,
        policy=settings.policy,
        duplicates=settings.policy.duplicates,
    )
    evaluation = evaluate_rankings(
        matched.rankings,
        settings,
        weights=scoring.get("weights"),
        sources=data,
        skipped=matched.skipped,
    )
    return announce_warnings(evaluation), joint
