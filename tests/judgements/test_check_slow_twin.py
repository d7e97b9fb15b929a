"""Counts and effects on random collections, against plain loops."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import polars as pl
import pytest

import judged

MEASURES = ["AP", "nDCG@10"]
Grades = dict[str, dict[str, int]]


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Twin:
    """A small collection, and what there is to find in it."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        queries, items = [f"q{n}" for n in range(draw.randint(2, 5))], [f"d{n}" for n in range(8)]
        some = [*"xyzw"]
        self.items = {
            item: " ".join(draw.choices(some, k=draw.randint(0, 3)))
            for item in items
            if draw.random() < 0.9
        }
        self.queries = {q: " ".join(draw.choices(some, k=draw.randint(0, 2))) for q in queries}
        self.rows = [
            (query, draw.choice(items), draw.choice([0, 0, 1, 2, -1]))
            for query in queries
            for _ in range(draw.randint(1, 5))
        ]
        self.runs = {
            name: {q: {i: draw.random() for i in draw.sample(items, 5)} for q in queries[at:]}
            for at, name in enumerate("ab")
        }
        self.first: Grades = {}
        self.every: dict[tuple[str, str], list[int]] = {}
        for query, item, grade in self.rows:
            self.first.setdefault(query, {}).setdefault(item, grade)
            self.every.setdefault((query, item), []).append(grade)
        self.relevant = {q: {i for i, g in own.items() if g > 0} for q, own in self.first.items()}
        lists = [own for run in self.runs.values() for own in run.values()]
        self.known = {*self.items, *(item for own in lists for item in own)}

    def like(self, item: str) -> list[str]:
        """The items that say the same."""
        said = words(self.items.get(item, ""))
        same = [other for other, text in self.items.items() if said and words(text) == said]
        return [other for other in same if other != item]

    def expected(self) -> dict[str, tuple[int, Grades]]:
        """How many there are of each finding, and the judgements otherwise."""
        first, relevant = self.first, self.relevant

        def without(queries: set[str]) -> Grades:
            return {q: own for q, own in first.items() if q not in queries}

        pairs = [
            (one, other)
            for one, other in combinations(first, 2)
            if words(self.queries[one])
            and words(self.queries[one]) == words(self.queries[other])
            and relevant[one] != relevant[other]
        ]
        twins = {
            (query, twin): max(first[query][item] for item in self.like(twin) if item in own)
            for query, own in relevant.items()
            for item in own
            for twin in self.like(item)
            if twin not in first[query]
        }
        as_twins = {
            q: {**own, **{twin: g for (of, twin), g in twins.items() if of == q}}
            for q, own in first.items()
        }
        others = {
            pair: [grade for grade in grades if grade != grades[0]][-1]
            for pair, grades in self.every.items()
            if len(set(grades)) > 1
        }
        changed = {
            q: {item: others.get((q, item), grade) for item, grade in own.items()}
            for q, own in first.items()
        }
        lost = {(q, item) for q, own in relevant.items() for item in own - self.known}
        left = {
            q: {item: grade for item, grade in own.items() if (q, item) not in lost}
            for q, own in first.items()
            if not relevant[q] or relevant[q] & self.known
        }
        empty = {q for q, own in relevant.items() if not own}
        return {
            "query-twins": (len(pairs), without({q for pair in pairs for q in pair})),
            "item-twins": (len(twins), as_twins),
            "two-grades": (len(others), changed),
            "unreachable": (len(lost), left),
            "nothing-relevant": (len(empty), without(empty)),
        }


def values(judgements: Any, runs: Any) -> list[tuple[str, str, float]]:
    found = judged.evaluate(judgements, runs, MEASURES)
    return [
        (run.name, name, value)
        for run in found.runs
        for name, value in zip(MEASURES, run.summary.values(), strict=True)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_findings_are_those_of_plain_loops(seed: int) -> None:
    twin = Twin(seed)
    frame = pl.DataFrame(twin.rows, schema=["query", "item", "grade"], orient="row")
    found = judged.check(frame, twin.runs, MEASURES, queries=twin.queries, items=twin.items)
    as_is = values(twin.first, twin.runs)
    for name, (count, otherwise) in twin.expected().items():
        finding = found.finding(name)
        assert (0 if finding is None else finding.count) == count, name
        if finding is not None and finding.effect.changes:
            changes = finding.effect.changes
            assert [(each.run, each.measure, each.as_is) for each in changes] == as_is
            assert [(each.run, each.measure, each.otherwise) for each in changes] == values(
                otherwise, twin.runs
            )
