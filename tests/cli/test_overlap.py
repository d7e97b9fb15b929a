"""`judged overlap`: whole outputs of a small example, and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def test_text(judged: Any, files: Path) -> None:
    found = judged("overlap a.run b.run --depth 2")
    assert found.code == 0
    # q1: y x against x, overlaps 0 and 1: 0.1·0.9/2 + 0.81/2 = 0.45; q2: u n against v u, the same.
    assert found.out == (
        "a and b: RBO 0.4500 over 2 queries (at least 0.1558, at most 0.8775); 1.0 shared items "
        "on average.\n"
        "\n"
        "run  against  queries     RBO  95 % CI  Jaccard@2  shared  tau-b\n"
        "a    b              2  0.4500  –           0.4167     1.0      –\n"
    )
    assert found.err == (
        "warning: a and b are compared on the 2 queries for which both have results. Left out: 1 "
        "query only in a (q9), 1 query only in b (q3).\n"
    )


def test_every_query(judged: Any, files: Path) -> None:
    told = judged("overlap a.run B=b.run --depth 2 --per-query").out
    assert (
        "run  against  query     RBO   least  residual  Jaccard@2  shared  tau-b\n"
        "a    B        q1     0.4500  0.1558    0.7442     0.5000     1.0      –\n"
        "a    B        q2     0.4500  0.1558    0.6992     0.3333     1.0      –\n"
    ) in told


def test_refusals(refuses, files):
    refuses("""
    overlap a.run b.run --p 2
        judged: --p must be a number between 0 and 1, such as 0.9; got 2.0.
    overlap a.run qrels
        judged: qrels looks like judgements (4 columns: query, iteration, item, grade), not a
        run. Overlap takes only runs.
    """)
