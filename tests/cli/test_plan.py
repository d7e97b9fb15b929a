"""`judged plan`: what it prints and writes, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def pilot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twelve queries; the second run has the relevant item at rank 1 or 2 by turns, the first at
    rank 2."""
    monkeypatch.chdir(tmp_path)
    queries = [f"q{at}" for at in range(12)]
    (tmp_path / "qrels").write_text("".join(f"{q} 0 x 1\n" for q in queries))
    for name, first in (("a.run", "yyyyyyyyyyyy"), ("b.run", "xyxyxyxyxyxy"), ("c.run", "xxy" * 4)):
        rows = [
            f"{q} Q0 {item} {rank} {3 - rank} r\n"
            for q, top in zip(queries, first, strict=True)
            for rank, item in enumerate((top, "xy".replace(top, "")), 1)
        ]
        (tmp_path / name).write_text("".join(rows))
    (tmp_path / "groups.csv").write_text(
        "query,group\n" + "".join(f"{q},g{at // 3}\n" for at, q in enumerate(queries))
    )
    return tmp_path


def test_a_plan(judged: Any) -> None:
    done = judged("plan --difference 0.02 --sd 0.1")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "You need 199 queries to detect a difference of 0.02 with 80 % power.\n"
        "The confidence interval of a difference is then about ±0.014.\n"
        "\n"
        "difference   d_z  queries for 80 % power  power with 199\n"
        "      0.01  0.10                     787            0.29\n"
        "     0.015  0.15                     351            0.56\n"
        "      0.02  0.20                     199            0.80\n"
        "      0.03  0.30                      90            0.99\n"
        "      0.04  0.40                      52           >0.99\n"
        "\n"
        "Assumed standard deviation of per-query differences: 0.1.\n"
        "Test: paired t, two-sided; confidence level: 95 %.\n"
    )


def test_its_json_is_drawn(judged: Any, pilot: Path) -> None:
    judged("plan --difference 0.02 --sd 0.1 -o plan.json")
    done = judged("plot power plan.json -o power.svg")
    assert done.code == 0
    assert ">199 queries<" in (pilot / "power.svg").read_text()


def test_what_is_refused(refuses, pilot):
    refuses("""
    plan --difference 0.02 --sd 0.1 a.run
        Error: RUN is for a pilot; give its judgements: --pilot QRELS RUN RUN.
    plan --difference 0.02 --sd 0.1 -m RR
        Error: --measure is for --pilot.
    plan --difference 0.02 --pilot qrels a.run b.run
        judged: a plan is for one measure, but the pilot has AP, nDCG@10, RR, P@10 and R@100;
        name one with measure (-m).
    plan --difference 0.02 --pilot qrels a.run b.run -m P@2
        judged: the pilot has no variance: no query differs between b and a. Take other queries,
        or give the standard deviation (with --sd).
    plan --difference 1 --pilot qrels a.run b.run -m RR
        judged: --difference must be smaller than 1, the largest possible of RR; got 1. It is in
        the measure's own unit, even if numbers are shown in percent.
    """)
