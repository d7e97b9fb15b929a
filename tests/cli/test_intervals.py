"""Intervals on the command line."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import judged as library


@pytest.fixture
def many(files: Path) -> Path:
    """Judgements and a run of twelve queries, whose relevant items stand at ranks 1 to 4."""
    ranks = [at % 4 + 1 for at in range(12)]
    (files / "many.qrels").write_text("".join(f"q{at:02} 0 x 1\n" for at in range(12)))
    rows = [
        f"q{at:02} Q0 {'x' if place == rank else f'd{place}'} {place} {9 - place} many\n"
        for at, rank in enumerate(ranks)
        for place in range(1, 5)
    ]
    (files / "many.run").write_text("".join(rows))
    groups = "".join(f"q{at:02},s{at // 3}\n" for at in range(12))
    (files / "groups.csv").write_text("query,group\n" + groups)
    return files


def expected(files: Path, **options: Any) -> Any:
    return library.evaluate(files / "many.qrels", files / "many.run", "RR").interval(**options)


@pytest.mark.parametrize("option", ["--interval", "--ci"])
def test_evaluate(judged: Any, many: Path, option: str) -> None:
    arguments = ("evaluate", "many.qrels", "many.run", "-m", "RR", option)
    table = pl.read_csv(io.StringIO(judged(*arguments, "--format", "csv", "-q").out))
    interval = expected(many)
    assert table.columns == ["run", "RR", "RR low", "RR high"]
    assert table.row(0)[1:] == pytest.approx((interval.estimate, interval.low, interval.high))
    text = judged(*arguments, "-v").out
    assert "intervals: 95 %: Student's t" in text
    data = json.loads(judged(*arguments, "--format", "json").out)
    assert data["level"] == 0.95
    assert data["runs"][0]["intervals"]["RR"] == {
        "estimate": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "method": "t",
    }
    lines = judged(*arguments, "--format", "trec").out
    assert lines == judged(*arguments[:-1], "--format", "trec").out


def test_level_and_groups(judged: Any, many: Path) -> None:
    arguments = ("evaluate", "many.qrels", "many.run", "-m", "RR", "--format", "json")
    asked = ("--interval", "--level", "0.9", "--groups", "groups.csv")
    data = json.loads(judged(*arguments, *asked).out)
    interval = expected(many, level=0.9, groups=many / "groups.csv")
    assert (data["level"], data["groups"]) == (0.9, 4)
    assert data["runs"][0]["intervals"]["RR"]["low"] == interval.low
    assert "by 4 groups of 12 queries" in data["definition"]


def test_what_is_refused(refuses, many):
    Path("some.csv").write_text("query,group\nq00,a\n")
    refuses("""
    evaluate many.qrels many.run -m RR --interval --groups some.csv
        judged: some.csv: 11 queries have no group ('q01', 'q02', 'q03', …); give every query
        one, if need be one of its own.
    """)
