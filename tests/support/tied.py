"""Rankings with ties, and every order their tied results may have, by brute force."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, permutations, product
from math import prod
from random import Random

import numpy as np

from judged import Rankings
from judged.measures import Measure
from support.rankings import GRADES, Query
from support.twins import by_twin


@dataclass(frozen=True)
class Tied:
    """One query: groups of results with one score each, best score first, and judged items that
    were not retrieved."""

    groups: tuple[tuple[float | None, ...], ...]
    lost: tuple[float, ...] = ()
    elsewhere: int = 0

    def orders(self, depth: int | None = None) -> Iterator[Query]:
        """Every different list that some order of the ties makes; all are equally likely."""
        for groups in product(
            *(sorted(set(permutations(group)), key=repr) for group in self.groups)
        ):
            shown = tuple(chain.from_iterable(groups))
            below = shown[len(shown) if depth is None else depth :]
            judged = tuple(grade for grade in below if grade is not None)
            yield Query(
                shown[:depth], (*self.lost, *judged), self.elsewhere + len(below) - len(judged)
            )


def rankings_of_ties(
    queries: list[Tied], *, ties: str = "expected", depth: int | None = None
) -> Rankings:
    judgements: dict[str, dict[str, float]] = {}
    run: dict[str, dict[str, float]] = {}
    collection: dict[str, int] = {}
    for number, query in enumerate(queries):
        name = f"q{number}"
        results = [
            (score, grade) for score, group in enumerate(reversed(query.groups)) for grade in group
        ]
        items = {f"i{at}": pair for at, pair in enumerate(results)}
        run[name] = {item: float(score) for item, (score, _) in items.items()}
        judgements[name] = {item: grade for item, (_, grade) in items.items() if grade is not None}
        judgements[name] |= {f"lost{at}": grade for at, grade in enumerate(query.lost)}
        collection[name] = len(results) + len(query.lost) + query.elsewhere
    return Rankings.from_run(
        judgements, run, collection=collection, policy={"ties": ties, "depth": depth}
    )


def random_ties(draw: Random, count: int, *, most_orders: int = 120) -> list[Tied]:
    """Queries with ties of all sizes, empty lists, queries with nothing relevant; each has a
    judgement."""
    result: list[Tied] = []
    while len(result) < count:
        groups = tuple(
            tuple(
                draw.choice([None, None, *GRADES]) for _ in range(draw.choice([1, 1, 2, 2, 3, 4]))
            )
            for _ in range(draw.randint(0, 4))
        )
        lost = tuple(draw.choice(GRADES) for _ in range(draw.choice([0, 0, 1, 3])))
        judged = any(grade is not None for group in groups for grade in group) or lost
        if judged and prod(len(set(permutations(group))) for group in groups) <= most_orders:
            result.append(Tied(groups, lost, draw.randint(0, 3)))
    # The first has a result and a judgement, whatever was drawn.
    return [Tied(((1.0, None),), (2.0,)), *result[1:]]


def mean_of_twins(measure: Measure, query: Tied, *, depth: int | None = None) -> float:
    return float(np.mean(list(map(by_twin(measure), query.orders(depth)))))
