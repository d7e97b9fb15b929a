"""How far unjudged results could still move the difference of two runs, and whether they could
turn it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.evaluation.ranges import difference_is_bounded, last_rank
from judged.evaluation.scores import score
from judged.judgements.queues.candidates import best_ranks
from judged.judgements.queues.limits import Limits, limits_of
from judged.matching.joint import Joint, Pair
from judged.text import plain, shown

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.matching.listings import Listings

_NOTHING = 1e-12
"""A difference that is smaller is rounding."""


@dataclass(frozen=True)
class Bound:
    """Two runs on the judged queries: by how much they differ, and what that may become once
    unjudged results are judged.

    >>> print(Bound("new", "old", "P@10", 0.1, 0.05, 0.2, unjudged=3).says)
    P@10: new - old is 0.1000 and could become 0.0500 to 0.2000: no judgement of results of judged \
queries can change that new is better.
    """

    run: str
    """The later of the two runs."""
    against: str
    """The other."""
    measure: str
    """What they are measured by."""
    difference: float
    """What the run has more than the other."""
    low: float
    """The least that the difference becomes if every unjudged result that the measure looks at is
    judged in favour of one run, or of the other."""
    high: float
    """The most."""
    unjudged: int
    """How many results the measure looks at, in one run or in both, that nobody judged."""
    bounded: bool = True
    """Whether no judgements of these results give a difference beyond low and high; where not, the
    two are scenarios, and others may go further."""
    higher_is_better: bool = True
    """Whether a higher value is the better one."""
    limits: Limits | None = None
    """Where the two are scenarios: between what the difference stays all the same, if anything is
    known of it. No judgements need lead as far."""

    @property
    def can_turn(self) -> bool | None:
        """Whether judgements can change which run is better; None where two scenarios do not and
        others may.

        >>> Bound("new", "old", "AP", 0.1, 0.05, 0.2, unjudged=3, bounded=False).can_turn is None
        True
        """
        if math.isnan(self.difference + self.low + self.high):
            return None
        if _signs(self.low, self.difference, self.high) > 1:
            return True
        settled = self.limits is not None and _signs(self.difference, *self.limits) == 1
        return False if self.bounded or settled else None

    @property
    def better(self) -> str:
        """The run that is better now; where both are equal, the first.

        >>> Bound("new", "old", "Rank", 2.0, 1.0, 3.0, unjudged=3, higher_is_better=False).better
        'old'
        """
        ahead = self.difference > 0 if self.higher_is_better else self.difference < 0
        return self.run if ahead else self.against

    @property
    def worse(self) -> str:
        """The other."""
        return self.against if self.better == self.run else self.run

    @property
    def says(self) -> str:
        """What that means, in words."""
        known = f"{self.measure}: {self.run} - {self.against} is {shown(self.difference)}"
        state = f"{self.better} is better" if self.difference else "both are equal"
        if math.isnan(self.difference):
            return f"{known}, as no query counts."
        if not self.unjudged:
            known += ", and every result that it looks at is judged"
            if self.can_turn is False:
                return f"{known}: {state}."
            return f"{known}; other items that prove relevant may change that {state}."
        known += f" and could become {shown(self.low)} to {shown(self.high)}"
        if not self.bounded:
            known += " in two scenarios, all unjudged results judged for one run or for the other"
        if self.can_turn:
            return f"{known}: that {state} can change."
        if self.limits is not None:
            low, high = map(shown, self.limits)
            known += f", and never leaves {low} to {high}"
        if self.can_turn is None:
            return f"{known}: neither changes that {state}, and others may."
        return f"{known}: no judgement of results of judged queries can change that {state}."

    def to_dict(self) -> dict[str, Any]:
        """All of it, as plain Python values that JSON can hold.

        Returns
        -------
        dict

        >>> Bound("new", "old", "P@10", 0.1, 0.05, 0.2, unjudged=3).to_dict()["can_turn"]
        False
        """
        return {
            "run": self.run,
            "against": self.against,
            "difference": plain(self.difference),
            "low": plain(self.low),
            "high": plain(self.high),
            "unjudged": self.unjudged,
            "bounded": self.bounded,
            "limits": None if self.limits is None else list(self.limits),
            "can_turn": self.can_turn,
        }


def bounds_of(listings: Listings, evaluation: Evaluation, *, top: float) -> tuple[Bound, ...]:
    """Each pair of runs, by the only measure of an evaluation; what is judged in favour of a run
    gets the top grade."""
    (measure,) = evaluation.measures
    joint, k = Joint.of_listings(listings), last_rank(measure)
    bounded = difference_is_bounded(measure, evaluation.policy)
    # A negative grade is no judgement. A query that nobody judged is in no number yet.
    judged = len(listings.pool.queries)
    open_ = ~(listings.grades >= 0) & (listings.query < judged)
    every = np.bincount(listings.query[open_], minlength=judged)
    asked = (measure,), evaluation.policy, evaluation.convention
    found = []
    for against, run in combinations(range(len(evaluation.runs)), 2):
        ours, theirs = evaluation.runs[run], evaluation.runs[against]
        reached = best_ranks(listings, evaluation.policy.ties, (run, against))
        last = np.iinfo(np.int64).max - 1 if k is None else k
        unjudged = int((open_ & (reached <= last)).sum())
        pair = Pair(*(evaluation.scored(each.name).rankings for each in (ours, theirs)))
        ends = pair, pair
        if unjudged:
            both = (run, pair.run), (against, pair.against)
            best, worst = joint.judged(*both, top=top, cutoff=k)
            ends = best, worst
        differences = [_difference(ours.summary[measure], theirs.summary[measure])]
        for end in ends if unjudged else ():
            one, other = (score(each, *asked).summary[measure] for each in end)
            differences.append(_difference(one, other))
        found.append(
            Bound(
                ours.name,
                theirs.name,
                evaluation.label(measure),
                differences[0],
                min(differences),
                max(differences),
                unjudged,
                # What stands elsewhere may change what is the ideal, or how much is relevant.
                bounded or not every.any(),
                measure.spec.higher_is_better,
                limits_of(evaluation, pair, ends, every, top) if every.any() else None,
            )
        )
    return tuple(found)


def _signs(*numbers: float) -> int:
    """How many signs some numbers have; 0 is one, and so is what is only rounding."""
    return len({0 if abs(each) <= _NOTHING else int(np.sign(each)) for each in numbers})


def _difference(one: float, other: float) -> float:
    """How far one is above the other; what is only rounding is nothing."""
    if one == other:  # be they infinite
        return 0.0
    gap = one - other
    return 0.0 if abs(gap) <= _NOTHING * max(1.0, min(abs(one), abs(other))) else gap
