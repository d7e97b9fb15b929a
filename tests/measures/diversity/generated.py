"""Judgements by subtopic and runs from a seed, with what real ones have: gaps both ways, short
lists, odd ids."""

from __future__ import annotations

import random
from dataclasses import dataclass

Row = tuple[str, str, str, int]
LETTERS = ("D", "d-", "é", "Ω", "文", "😀", "_", "1")


@dataclass(frozen=True)
class Collection:
    rows: list[Row]
    """The judgements: query, subtopic, item and grade, in no order."""
    run: dict[str, dict[str, float]]
    """No two scores of a query are the same."""

    @property
    def judgements(self) -> dict[str, dict[str, dict[str, int]]]:
        nested: dict[str, dict[str, dict[str, int]]] = {}
        for query, subtopic, item, grade in self.rows:
            nested.setdefault(query, {}).setdefault(item, {})[subtopic] = grade
        return nested


def generate(
    seed: int,
    *,
    queries: int = 25,
    items: int = 60,
    subtopics: int = 8,
    each: int = 8,
    longest: int = 80,
) -> Collection:
    """`each`: at most how many subtopics an item is judged for."""
    draw = random.Random(seed)
    rows: list[Row] = []
    run: dict[str, dict[str, float]] = {}
    for number in range(1, queries + 1):
        query = draw.choice(("", "q", "問")) + str(number)
        names = [f"{draw.choice(LETTERS)}{number}-{item}" for item in range(items)]
        # One query in eight has nothing relevant; some subtopics are never served, some serve one
        # query alone.
        grades = (
            (0, -1) if number % 8 == 0 else draw.choice([(0, 1), (0, 0, 0, 1), (0, 0, 1, 2, 3, -1)])
        )
        own = [
            draw.choice((str(name), f"{number}.{name}", f"ü{name}"))
            for name in range(1, draw.randint(1, subtopics) + 1)
        ]
        if number != 3:  # a query of the run that nobody judged
            for item in draw.sample(names, draw.randint(1, items // 2)):
                chosen = draw.sample(own, draw.randint(1, min(each, len(own))))
                rows += [(query, subtopic, item, draw.choice(grades)) for subtopic in chosen]
        if number != 5:  # a judged query that the run lacks
            unjudged = [f"{draw.choice(LETTERS)}{number}+{item}" for item in range(longest)]
            length = draw.choice([draw.randint(1, 6), draw.randint(7, longest)])
            listed = draw.sample(
                names + unjudged[: draw.choice([0, 10, longest])], min(length, items)
            )
            run[query] = {
                item: score / 64
                for item, score in zip(
                    listed, draw.sample(range(-9999, 9999), len(listed)), strict=True
                )
            }
    draw.shuffle(rows)
    return Collection(rows, run)
