"""Judgements of a cheap judge for all queries, of people for some, and two runs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Grades = dict[str, dict[str, int]]


class Judged(NamedTuple):
    cheap: Grades
    people: Grades
    runs: dict[str, dict[str, list[str]]]


def judged_twice(
    queries: int = 80, people: int = 30, *, wrong: float = 0.1, seed: int = 1
) -> Judged:
    """A cheap judge who errs in a share of the items, mostly to the good; people are right."""
    rng = np.random.default_rng(seed)
    items = [f"d{at}" for at in range(12)]
    cheap: Grades = {}
    truth: Grades = {}
    runs: dict[str, dict[str, list[str]]] = {"one": {}, "two": {}}
    for at in range(queries):
        query = f"q{at:03}"
        right = rng.random(12) < rng.uniform(0.1, 0.5)
        right[0] = True  # something is relevant for every query, whoever judges
        errs = rng.random(12) < wrong * np.where(right, 0.5, 1.5)
        errs[0] = False
        truth[query] = dict(zip(items, right.astype(int).tolist(), strict=True))
        cheap[query] = dict(zip(items, (right ^ errs).astype(int).tolist(), strict=True))
        for name, noise in (("one", 0.9), ("two", 0.6)):
            order = np.argsort(-(right + rng.normal(0, noise, 12)))
            runs[name][query] = [items[place] for place in order]
    chosen = sorted(rng.choice(queries, people, replace=False).tolist())
    return Judged(cheap, {f"q{at:03}": truth[f"q{at:03}"] for at in chosen}, runs)
