"""Every command's output at 60, 80 and 120 columns: nothing is split, dropped or cut."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from support.loops import for_each

WIDE = 400
CALLS = (
    "evaluate qrels first-long-name.run second-long-name.run --ci --tie-range",
    "evaluate qrels first-long-name.run --per-query",
    "compare qrels first-long-name.run second-long-name.run -m RR,P@2",
    "compare qrels first-long-name.run second-long-name.run --slices slices.csv",
    "compare qrels first-long-name.run second-long-name.run third.run --orders -m RR,P@2",
    "gate qrels first-long-name.run --baseline second-long-name.run -m RR",
    "explain qrels first-long-name.run --query q01",
    "conventions qrels first-long-name.run -m AP@10",
    "identify 0.5 qrels first-long-name.run",
    "overlap first-long-name.run second-long-name.run third.run",
    "advise qrels first-long-name.run second-long-name.run",
    "queue qrels first-long-name.run second-long-name.run",
    "agreement qrels other first-long-name.run third.run",
    "check qrels first-long-name.run",
    "funnel qrels first-long-name.run third.run -k 2",
    "plan --difference 0.02 --sd 0.2",
    "embeddings v.npy v.npy --pairs --exclude-self --diagnose",
    "temperature v.npy v.npy --pairs -t 0.1",
    "doctor",
)


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Judgements of two assessors, three runs, slices of queries, and vectors."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    queries = [f"q{number:02}" for number in range(24)]
    for name in ("qrels", "other"):
        lines = (f"{q} 0 d{item} {random.integers(0, 3)}\n" for q in queries for item in range(5))
        Path(name).write_text("".join(lines))
    for name in ("first-long-name", "second-long-name", "third"):
        lines = (
            f"{q} Q0 d{item} {rank} {9 - rank} {name}\n"
            for q in queries
            for rank, item in enumerate(random.permutation(7), 1)
        )
        Path(f"{name}.run").write_text("".join(lines))
    slices = (f"{q},{'short' if at % 2 else 'long'}\n" for at, q in enumerate(queries))
    Path("slices.csv").write_text("".join(["query,kind\n", *slices]))
    np.save("v.npy", random.normal(size=(12, 4)))


@for_each("call", CALLS)
def test_nothing_is_lost_at_any_width(
    judged, collection, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    free = shutil.disk_usage(".")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: free)  # doctor shows it

    def words(width: int) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(width))
        found = judged(call)
        assert found.code in (0, 1), found.err
        lines = found.out.splitlines()
        tables = [line for line in lines if "  " in line.strip()]
        assert [line for line in tables if width < WIDE and len(line) > width] == []
        return found.out.split()

    wide = set(words(WIDE))
    for width in (60, 80, 120):
        assert wide - {*words(width)} == set(), width
