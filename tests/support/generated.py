"""Runs and judgements from a seed, with what real ones have: ties, gaps both ways, short lists, odd
grades and ids."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

Nested = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Collection:
    judgements: dict[str, dict[str, int]]
    rows: list[tuple[str, str, float]]
    """The run: query, item and score, in no order."""

    @property
    def run(self) -> Nested:
        nested: Nested = {}
        for query, item, score in self.rows:
            nested.setdefault(query, {})[item] = score
        return nested

    @property
    def common(self) -> list[str]:
        """Judged queries that the run has."""
        listed = {query for query, _, _ in self.rows}
        return [query for query in self.judgements if query in listed]


LETTERS = ("D", "d-", "é", "Ω", "文", "z.", "_")


def generate(
    seed: int,
    *,
    queries: int = 40,
    items: int = 120,
    longest: int = 60,
    grades: Sequence[int] = (0, 0, 0, 1, 1, 2, 3, -1),
    ties: bool = True,
    gaps: bool = True,
    letters: Sequence[str] = LETTERS,
    shortest: int = 0,
) -> Collection:
    """Scores are multiples of 1/64, so that evaluators with single precision see the same ties."""
    draw = random.Random(seed)
    judgements: dict[str, dict[str, int]] = {}
    rows = []
    for number in range(1, queries + 1):
        query = f"{number + 300}"
        names = [f"{draw.choice(letters)}{number}-{item}" for item in range(items)]
        if not gaps or draw.random() < 0.9:
            judgements[query] = {
                name: draw.choice(grades)
                for name in draw.sample(names, draw.randint(1, items // 3))
            }
            # A query whose grades are all negative makes pytrec_eval read stale memory: wrong
            # counts, NaN, endless loops.
            if max(judgements[query].values()) < 0:
                judgements[query][names[0]] = 0
        if not gaps or draw.random() < 0.9:
            length = (
                draw.choice([draw.randint(max(shortest, 1), 5), longest])
                if gaps
                else draw.randint(max(shortest, 1), longest)
            )
            scores = (
                [draw.randint(-5, 5) / 4 for _ in range(length)]
                if ties
                else [score / 64 for score in draw.sample(range(-10_000, 10_000), length)]
            )
            rows += list(zip([query] * length, draw.sample(names, length), scores, strict=True))
    draw.shuffle(rows)
    return Collection(judgements, rows)
