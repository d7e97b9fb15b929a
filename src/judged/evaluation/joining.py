"""Evaluations of the same queries as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from judged.errors import InputError, quoted
from judged.evaluation.about import ANY
from judged.text import few, listed

if TYPE_CHECKING:
    from judged.evaluation.about import About
    from judged.evaluation.evaluation import Evaluation


def joined(evaluations: Sequence[Evaluation], names: Sequence[str] | None) -> Evaluation:
    """All runs of some evaluations in one; refused where they were asked or scored otherwise."""
    first = evaluations[0]
    for other in evaluations:
        if not isinstance(other, type(first)):
            raise InputError(f"beside takes evaluations; got {quoted(other)}.")
        _refuse_others(first, other)
        if other.trusted is not None:
            raise InputError(
                "evaluations that trusted judgements correct cannot be joined; give all runs to "
                "one evaluate."
            )
    runs = [run for each in evaluations for run in each.runs]
    known = _names([run.name for run in runs], names)
    named = [
        replace(run, about=replace(run.about, name=name), intervals={})
        for run, name in zip(runs, known, strict=True)
    ]
    kept = [each.rankings.get(run.name) for each in evaluations for run in each.runs]
    rankings = {
        name: replace(r, name=name) for name, r in zip(known, kept, strict=True) if r is not None
    }
    return replace(
        first, runs=tuple(named), latency=None, level=None, groups=None, rankings=rankings
    )


def _names(given: Sequence[str], names: Sequence[str] | None) -> Sequence[str]:
    """What the runs are called, each otherwise than the others."""
    known = list(given if names is None else names if isinstance(names, (list, tuple)) else ())
    if len(known) != len(given) or any(not isinstance(each, str) or not each for each in known):
        raise InputError(
            f"names must be a list with a name for each of {len(given):,} runs; got "
            f"{quoted(names)}."
        )
    twice = [name for name in dict.fromkeys(known) if known.count(name) > 1]
    if twice:
        raise InputError(
            f"two runs are called {quoted(twice[0])}; say with names what each is called."
        )
    return known


def _refuse_others(first: Evaluation, other: Evaluation) -> None:
    """Evaluations that cannot stand beside each other."""
    ours, theirs = ({str(measure) for measure in each.measures} for each in (first, other))
    if ours != theirs:
        raise InputError(
            f"the evaluations are by different measures: {listed(sorted(ours ^ theirs))} in one of "
            "them only."
        )
    if first.policy != other.policy:
        raise InputError(
            f"the evaluations assume different things: {first.policy} and {other.policy}."
        )
    one, two = (str(each.convention or "judged") for each in (first, other))
    if one != two:
        raise InputError(f"the evaluations follow different conventions: {one} and {two}.")
    r, s = first.runs[0].about, other.runs[0].about
    if set(r.queries) != set(s.queries):
        lost = sorted(set(r.queries) ^ set(s.queries))
        raise InputError(
            f"the evaluations are of different queries: {len(lost):,} are in one of them only "
            f"({few(lost)})."
        )
    if not np.array_equal(_relevant(r), _relevant(s)):
        raise InputError(
            "the evaluations are by different judgements: some queries have other numbers of "
            "relevant items in one than in the other."
        )


def _relevant(r: About) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """How many items are relevant for each query, in the order of query ids."""
    return np.asarray(r.relevant(ANY), float)[np.argsort(r.queries)]
