"""Two runs judged in favour of one of them, by loops; and small runs with all that can be odd."""

from __future__ import annotations

from math import inf
from random import Random
from typing import Any

from judged.policy import Policy

Lists = dict[str, dict[str, float]]


def cases(seed: int, *, levels: tuple[int, ...] = (0, 1, 2), items: int = 7) -> tuple[Lists, ...]:
    """Judgements and two runs of some queries: with ties, lists of all lengths, queries that a run
    lacks, and items that are in the pool without a judgement."""
    draw = Random(seed)
    judgements: Lists = {"top": {"x": max(levels)}}
    runs: tuple[Lists, Lists] = ({}, {})
    for at in range(8):
        every = [f"d{number}" for number in range(items)]
        judged = draw.sample(every, draw.randint(0, 4))
        judgements[f"q{at}"] = {item: draw.choice((-1, *levels)) for item in judged}
        for run in runs:
            if draw.random() < 0.85:
                own = draw.sample(every, draw.randint(0, items))
                run[f"q{at}"] = {item: float(draw.choice([1, 2, 3, 4])) for item in own}
    runs[0]["nobody asked"] = {"d1": 1.0}
    for run in runs:
        run["q0"] = {"d0": 1.0, "d9": 0.5}
    return judgements, *runs


def order(scores: dict[str, float], ties: str) -> list[str]:
    items = list(scores) if ties == "input" else sorted(scores, reverse=True)
    return sorted(items, key=lambda item: -scores[item])


def heights(scores: dict[str, float], policy: Policy, depth: int | None) -> dict[str, Any]:
    """Rank and highest rank of each item, by loops."""
    found: dict[str, Any] = {}
    for rank, item in enumerate(order(scores, policy.ties), 1):
        first = 1 + sum(score > scores[item] for score in scores.values())
        last = sum(score >= scores[item] for score in scores.values())
        loose = policy.ties not in ("id", "input")
        at, highest = ((first + last) / 2, first) if loose else (rank, rank)
        if depth is None or highest <= depth:
            found[item] = at, highest
    return found


def judged_by_loops(
    judgements: Lists, run: Lists, against: Lists, policy: Policy, depth: int | None, k: float
) -> Lists:
    top = max(max(own.values(), default=0) for own in judgements.values())
    made: Lists = {}
    for query, own in judgements.items():
        made[query] = dict(own)
        one, other = (heights(each.get(query, {}), policy, depth) for each in (run, against))
        for item in {**one, **other}:
            reached = any(item in each and each[item][1] <= k for each in (one, other))
            if reached and own.get(item, -1) < 0:
                above = one.get(item, [inf])[0] < other.get(item, [inf])[0]
                made[query][item] = top if above else 0
    return made
