"""Runs that lack queries: a system that did not run is not a system that scored zero."""

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
from judged.comparison.settings import Settings
from judged.comparison.verdicts import verdict
from judged.errors import InputError, PolicyError, quoted
from judged.evaluation.ranges import TieEnds, difference_is_bounded, last_rank, tie_ends
from judged.evaluation.scores import Scored, score
from judged.matching.variants import FAVOURS, Variants, uncondensed
from judged.measures.orders import tied_queries
from judged.policy import Policy
from judged.text import Warned, counted, few, listed

if TYPE_CHECKING:
    from judged.comparison.match import Mask
    from judged.evaluation.evaluation import Evaluation
    from judged.matching.listings import Joint
    from judged.measures import Measure
    from judged.options import PolicyLike
    from judged.rankings.rankings import Rankings

Otherwise = dict[str, tuple[str, ...]]
"""What a verdict depends on, and what it would be in its place."""
UNDECIDED = "none, as some values are infinite"
"""In place of a verdict that cannot be given."""
Pairs = list[tuple[Entry, Entry]]


class Readings:
    """The runs of an evaluation under other assumptions, each worked out once, when asked for.

    With a `joint`, unjudged results are looked into.
    """

    def __init__(
        self, evaluation: Evaluation, numbers: Numbers, joint: Joint | None = None
    ) -> None:
        self.evaluation = evaluation
        self.numbers = numbers
        self.joint = joint
        if joint is not None and numbers.repeated:
            raise InputError(
                "unjudged_range judges two runs at a time, and repeats are several; leave one of "
                "both out."
            )
        self._asked = evaluation.measures, evaluation.policy, evaluation.convention
        self._runs = {run.name: (number, run) for number, run in enumerate(evaluation.runs)}
        self._rankings = evaluation.rankings
        self._places = Places(numbers.queries)
        self._ends: dict[str, tuple[Scored, Scored] | None] = {}
        self._copies: dict[tuple[str, str], bool] = {}
        self._entries: dict[tuple[str, Measure], list[Entry]] = {}
        self._joint: dict[tuple[str, str], dict[Measure, Pairs]] = {}

    def of(self, match: Match, within: Ints | None = None) -> dict[str, list[Match]]:
        """A match under other assumptions, by their names; nothing for one that changes nothing.
        `within` are the queries of its slice, where it is of one."""
        found = {"ties": self._ties(match), "missing": self._missing(match)}
        if self.joint is not None:
            found["unjudged"] = self._unjudged(match, within)
        return {cause: matches for cause, matches in found.items() if matches}

    def _ties(self, match: Match) -> list[Match]:
        """The run in its worst order of ties against the other's best, and the reverse."""
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
        """Whether two runs have the same ranks and ties everywhere, as a run and its copy: whoever
        breaks the ties of one breaks those of the other alike."""
        if not {*self._repeats(run), *self._repeats(against)} <= set(self._rankings):
            return False
        if (run, against) not in self._copies:
            ours, theirs = (
                [_listed(self._rankings[each]) for each in self._repeats(name)]
                for name in (run, against)
            )
            self._copies[run, against] = len(ours) == len(theirs) and all(
                all(map(np.array_equal, *both)) for both in zip(ours, theirs, strict=True)
            )
        return self._copies[run, against]

    def _repeats(self, run: str) -> tuple[str, ...]:
        """The names of a run's repeats in the evaluation: its own, where it has none."""
        return self.numbers.repeated.get(run, (run,))

    def _tied(self, name: str, compared: Compared) -> list[Entry]:
        """What a run has on a measure in its worst order of ties and in the best; nothing where
        these do not move it. Of a repeated run each repeat is at its own."""
        measure = compared.measure
        assert measure is not None
        if (name, measure) not in self._entries:
            usual = [self._runs[each][1] for each in self._repeats(name)]
            ends = [self.tie_ends(run.name) or (run, run) for run in usual]
            moved = any(
                measure in each.values for own in ends for each in own if own[0] is not own[1]
            )
            self._entries[name, measure] = [
                averaged(
                    [
                        entry_of(
                            own[best] if measure in own[best].values else run, measure, self._places
                        )
                        for own, run in zip(ends, usual, strict=True)
                    ],
                    compared,
                    name,
                )
                for best in (False, True)
                if moved
            ]
        return self._entries[name, measure]

    def tie_ends(self, name: str) -> tuple[Scored, Scored] | None:
        """A run in the worst order of its ties and in the best, with the measures that these move;
        None where nothing that is judged ties."""
        if name not in self._ends:
            self._ends[name] = self._tie_ends(self._runs[name][1])
        return self._ends[name]

    def _tie_ends(self, run: Scored) -> tuple[Scored, Scored] | None:
        if {"worst", "best"} <= set(run.others):
            return run.others["worst"], run.others["best"]
        kept = self._rankings.get(run.name)
        if kept is None or kept.hit_tie_first is None:
            return None
        try:
            unbroken = Variants(kept).under("expected")
        except PolicyError:  # a depth cuts through a tie, and how many results stay depends on it
            return self._by_grade(run)
        ends = tie_ends(run.values, unbroken, *self._asked)
        if not ends:
            return None
        worst, best = (Scored(run.rankings, {}, {}, labels=run.labels) for _ in FAVOURS)
        for measure, moved in ends.items():
            self._put_ends(worst, best, measure, moved)
        return worst, best

    def _put_ends(self, worst: Scored, best: Scored, measure: Measure, ends: TieEnds) -> None:
        """Enter what ties make of one measure."""
        higher = measure.spec.higher_is_better
        for side, values in (
            (worst, ends.low if higher else ends.high),
            (best, ends.high if higher else ends.low),
        ):
            if measure.spec.made_of is not None:
                found = ends.by_worth(measure, *self._asked[1:], best=side is best)
                if found is None:
                    return
                values = found.values
                if found.sample is not None:
                    side.samples[measure] = found.sample
            side.values[measure] = values
            side.summary[measure] = side.sample(measure).value()
            if ends.unsure:
                side.unsure[measure] = ends.unsure

    def _by_grade(self, run: Scored) -> tuple[Scored, Scored] | None:
        """A run with tied results in the order of their grades: two orders of many."""
        kept = self._rankings[run.name]
        variants = Variants(kept)
        try:
            worst, best = (score(variants.under(ties), *self._asked) for ties in ("worst", "best"))
        except PolicyError:
            return None
        tied = int(tied_queries(kept.whole or kept).sum())
        unsure = dict.fromkeys(self.evaluation.measures, tied)
        return replace(worst, unsure=unsure), replace(best, unsure=unsure)

    def _missing(self, match: Match) -> list[Match]:
        """The pair on the queries that both have, where one has queries that the other lacks."""
        place = match.ours.place
        ours, theirs = (
            np.logical_and.reduce([self._held[each][place] for each in self._repeats(run)])
            for run in (match.run, match.against)
        )
        if self.evaluation.policy.missing == "skip" or not (ours != theirs).any():
            return []
        both = place[ours & theirs]
        return [self._on(both, match, match.ours, match.theirs)]

    def _on(self, place: Ints, match: Match, ours: Entry, theirs: Entry) -> Match:
        """A match of other numbers, on some queries."""
        groups = self.numbers.grouped(place)
        return replace(match, ours=ours.at(place), theirs=theirs.at(place), groups=groups)

    @cached_property
    def _held(self) -> dict[str, Mask]:
        """Of each run which queries it has, in the order of their ids."""
        found = {}
        for name, (_, run) in self._runs.items():
            held = np.zeros(len(self._places), bool)
            held[self._places.of(run.rankings.queries)[~run.rankings.missing]] = True
            found[name] = held
        return found

    def _unjudged(self, match: Match, within: Ints | None) -> list[Match]:
        """The pair judged in favour of the run, and of the other."""
        key = match.run, match.against
        if key not in self._joint:
            self._joint[key] = self._judged_jointly(*key)
        measure = match.measure.measure
        assert measure is not None
        found = []
        for entries in self._joint[key][measure]:
            place = in_common(entries)
            if within is not None:
                place = place[np.isin(place, within)]
            found.append(self._on(place, match, *entries))
        return found

    def _judged_jointly(self, run: str, against: str) -> dict[Measure, Pairs]:
        """What both runs have on each measure at both ends; those that look down to the same rank
        together."""
        assert self.joint is not None
        (number, ours), (other, _) = self._runs[run], self._runs[against]
        by_cutoff: dict[int | None, list[Measure]] = {}
        for measure in self.evaluation.measures:
            by_cutoff.setdefault(last_rank(measure), []).append(measure)
        top = ours.rankings.top_grade
        found: dict[Measure, Pairs] = {measure: [] for measure in self.evaluation.measures}
        for k, measures in by_cutoff.items():
            for pair in self.joint.judged(
                (number, self._rankings[run]),
                (other, self._rankings[against]),
                top=top,
                cutoff=k,
            ):
                scored = [score(r, tuple(measures), *self._asked[1:]) for r in pair]
                for measure in measures:
                    one, two = (entry_of(each, measure, self._places) for each in scored)
                    found[measure].append((one, two))
        return found


def depends(
    matches: Sequence[Match],
    verdicts: Sequence[str],
    readings: Readings,
    settings: Settings,
    within: Ints | None = None,
) -> list[Otherwise]:
    """For each match what its verdict before correction depends on, and what it would be; all are
    tested at once."""
    others = [
        (at, cause, other)
        for at, match in enumerate(matches)
        for cause, read in readings.of(match, within).items()
        for other in read
    ]
    finite = [other for _, _, other in others if not is_infinite(other, settings.test)]
    tested = iter(zip(finite, outcomes(finite, settings, readings.numbers), strict=True))
    found: list[Otherwise] = [{} for _ in matches]
    for at, cause, other in others:
        word = UNDECIDED
        if not is_infinite(other, settings.test):
            match, outcome = next(tested)
            word = verdict(match, outcome, outcome.p, settings)[0]
        known = found[at].get(cause, ())
        if word not in (verdicts[at], *known):
            found[at][cause] = (*known, word)
    return found


def about_readings(readings: Readings) -> list[str]:
    """What the looks into ties and unjudged results do not tell."""
    evaluation = readings.evaluation
    said: list[str] = []
    unseen = [
        run.name
        for run in evaluation.runs
        if run.audit.tied_results
        and run.name not in evaluation.rankings
        and readings.tie_ends(run.name) is None
    ]
    if unseen:
        ranks = "its ranks were" if len(unseen) == 1 else "their ranks were"
        said.append(
            Warned(
                f"Whether verdicts depend on ties of {listed(unseen)} was not looked into, for "
                f"{ranks} not kept: evaluate with tie_range=True (--tie-range), or compare the "
                "runs themselves."
            )
        )
    unsure = {
        measure: None
        for run in evaluation.runs
        for end in readings.tie_ends(run.name) or ()
        for measure in end.unsure
    }
    if unsure:
        names = listed([evaluation.label(measure) for measure in unsure])
        said.append(
            Warned(
                f"Whether a verdict on {names} depends on ties was seen from some of their orders: "
                "others may go further."
            )
        )
    if readings.joint is not None and any(_has_unjudged(r) for r in evaluation.rankings.values()):
        loose = [m for m in evaluation.measures if not difference_is_bounded(m, evaluation.policy)]
        if loose:
            names = listed([evaluation.label(measure) for measure in loose])
            said.append(
                Warned(
                    f"What unjudged results could do to differences in {names} was seen from two "
                    "scenarios, not bounds: other judgements of them may go further."
                )
            )
    return said


def _listed(r: Rankings) -> tuple[NDArray[Any], ...]:
    """Ranks, grades and ties of a run, before any depth cut it."""
    r = r.whole or r
    return (r.hit_query, r.hit_rank, r.hit_grade, *r.spans, r.retrieved, r.missing)


def _has_unjudged(r: Rankings) -> bool:
    """Whether a run has results that nobody judged."""
    r = uncondensed(r)
    judged = (r.hit_grade >= 0) & (r.hit_rank <= r.retrieved[r.hit_query])
    return bool(judged.sum() < r.retrieved.sum())


MOST_LACKING = 0.1
"""A run that lacks more than this share of what another run has is refused."""


def says_missing(policy: PolicyLike | None) -> bool:
    """Whether somebody chose what missing queries count. A `Policy` has all choices, those of
    nobody too, so of one only another choice than the usual tells."""
    if isinstance(policy, Mapping):
        return "missing" in policy
    return isinstance(policy, Policy) and policy.missing != Policy().missing


def refuse_unsaid(
    rankings: Sequence[Rankings | Rankings], policy: Policy, missing: str | None
) -> None:
    """The same of runs that are evaluated already, unless what missing queries count was chosen, or
    is said now."""
    if missing is not None and (not isinstance(missing, str) or missing != policy.missing):
        raise PolicyError(
            f"missing must be {policy.missing}, as in this evaluation; got {quoted(missing)}. "
            "Evaluate again for another choice."
        )
    if missing is None and not says_missing(policy):
        refuse_lacking(rankings, 'missing="zero"')


def refuse_lacking(
    rankings: Sequence[Rankings | Rankings],
    zero: str = "policy={'missing': 'zero'} (--missing zero)",
) -> None:
    """Refuse a run that lacks more than a tenth of the judged queries that another run has; `zero`
    is how to say that they count."""
    for r in rankings:
        for other in rankings:
            lost, there = r.missing & ~other.missing, int((~other.missing).sum())
            if lost.sum() > MOST_LACKING * there:
                raise PolicyError(
                    f"{r.name} lacks {_some(r, lost)} of the {there:,} judged queries that "
                    f"{other.name} has: did it run on all of them? To compare the two all the "
                    f"same, say what these queries count: {zero} takes them for empty lists, "
                    "missing=skip leaves them out."
                )


def in_no_run(rankings: Sequence[Rankings | Rankings], policy: Policy) -> list[str]:
    """A warning of judged queries that no run has."""
    nowhere = np.logical_and.reduce([r.missing for r in rankings])
    if not nowhere.any():
        return []
    done = "they are left out" if policy.missing == "skip" else "each counts as an empty list"
    of = counted(len(nowhere), "judged query", "judged queries")
    return [
        Warned(
            f"No run has {_some(rankings[0], nowhere)} of {of}; {done}. Are the judgements of "
            "another split?"
        )
    ]


def _some(r: Rankings | Rankings, which: Mask) -> str:
    """How many queries, and the first few of them."""
    names = [r.queries[at] for at in np.flatnonzero(which)]
    return f"{len(names):,} ({few(names)})"
