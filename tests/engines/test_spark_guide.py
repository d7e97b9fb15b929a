"""The guide for tables in Spark: its blocks run in a real session, with the numbers of memory."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import judged

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "guide-spark.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"<!-- spark -->\n```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_guide_runs_and_gives_the_numbers_of_memory(spark: Any, folder: Path) -> None:
    left: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for block in BLOCKS:
            exec(compile(block, "guide-spark", "exec"), left)
    run = {
        "q1": {"d3": 9.0, "d7": 8.0, "d1": 7.5},
        "q2": {"d5": 3.0, "d4": 2.0},
        "q9": {"d1": 1.0},
    }
    judgements = {"q1": {"d1": 2, "d2": 0}, "q2": {"d4": 1}, "q3": {"d6": 1}}
    wanted = judged.evaluate(judgements, run, ["nDCG@10", "RR"])
    assert left["found"].to_metrics() == wanted.to_metrics()
    # Ranks 3 and 2 of the relevant items, and a query that is missing: (1/3 + 1/2 + 0) / 3.
    assert wanted.value("RR") == pytest.approx(5 / 18)
    assert left["totals"].value() == wanted.value("nDCG@10")
    rows = {row["query"]: row["nDCG@10"] for row in left["values"].collect()}
    assert rows == dict(wanted.per_query().select("query", "nDCG@10").rows())
    # In the other run d1 and d7 have changed places: rank 2 in place of 3 for q1.
    pair = left["comparison"].pair("new", "old")
    assert pair.wins == 1
    assert (folder / "systems.svg").stat().st_size > 1000
    assert len(BLOCKS) == 4
