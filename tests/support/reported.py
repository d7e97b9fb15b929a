"""Reports for tests: small ones of hand-made files, and large ones of generated rankings."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from judged.evaluation.evaluation import Evaluation, evaluate_rankings
from judged.rankings.rankings import Rankings

QRELS = "".join(
    f"q{query} 0 d{item} {grade}\n"
    for query in range(12)
    for item, grade in ((query, 2), (query + 1, 1), (query + 2, 0), (query + 9, 3))
)
"""Four judged items for each of twelve queries."""


def run_text(name: str, shift: int, queries: Iterable[int] = range(12)) -> str:
    """A run that finds the first relevant item at a rank that depends on the query."""
    lines = []
    for query in queries:
        first = (query * shift) % 5
        items = [f"x{at}" for at in range(first)] + [f"d{query}", f"d{query + 2}", f"d{query + 9}"]
        lines += [
            f"q{query} Q0 {item} {rank} {10 - rank} {name}\n" for rank, item in enumerate(items, 1)
        ]
    return "".join(lines)


def write_files(folder: Path) -> list[str]:
    """Judgements and three runs; the names of the files."""
    (folder / "qrels.txt").write_text(QRELS)
    for name, shift in (("bm25", 3), ("dense", 2), ("rerank", 1)):
        (folder / f"{name}.run").write_text(run_text(name, shift))
    return ["qrels.txt", "bm25.run", "dense.run", "rerank.run"]


def generated(systems: int, queries: int, measures: Iterable[str]) -> Evaluation:
    """An evaluation of lists of 20 results, of which half are judged."""
    random = np.random.default_rng(16)
    rankings = []
    for system in range(systems):
        chance = random.random((queries, 20))
        grades = random.integers(1, 4, (queries, 20))
        relevant = chance < 0.1 + 0.02 * system
        lists = [
            [
                int(grade) if hit else (0 if odd < 0.5 else None)
                for grade, hit, odd in zip(*rows, strict=True)
            ]
            for rows in zip(grades, relevant, chance, strict=True)
        ]
        made = Rankings.from_relevance(lists, name=f"system-{system}")
        rankings.append(made)
    return evaluate_rankings(rankings, list(measures))
