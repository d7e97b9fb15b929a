"""Runs that lack queries: a system that did not run is not a system that scored zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from judged.errors import PolicyError, quoted
from judged.policy import Policy
from judged.text import Warned, counted, few

if TYPE_CHECKING:
    from judged.comparison.match import Mask
    from judged.options import PolicyLike
    from judged.rankings.rankings import Rankings

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
