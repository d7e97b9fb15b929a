"""Test forked processes: what needs polars is an error, never a deadlock; the rest works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
REFUSED = "polars was loaded before this process was forked."


EVERYTHING = """
import os, signal, sys
import numpy as np
import polars as pl
import judged

judgements = {f"q{i}": {f"d{j}": (i + j) % 3 for j in range(9)} for i in range(12)}
run = {q: {d: float(len(d) + g) for d, g in items.items()} for q, items in judgements.items()}
evaluation = judged.evaluate(judgements, {"a": run, "b": run}, ["RR", "nDCG@3"])
vectors = np.random.default_rng(1).normal(size=(40, 4)).astype(np.float32)
vectors[1::2] = vectors[::2] * np.float32(1 + 1e-7)
labels = np.arange(40) % 3
pl.DataFrame({"id": ["a", "b"], "x": [1.0, 2.0], "y": [3.0, 4.0]}).write_parquet("v.parquet")
own = pl.DataFrame({"a": [2, 1]})
calls = {
    "evaluate": lambda: judged.evaluate(judgements, run, "RR"),
    "frame": lambda: judged.evaluate(
        judgements, pl.DataFrame({"query": ["q1"], "item": ["d1"], "score": [1.0]}), "RR"
    ),
    "agreement": lambda: judged.agreement(judgements, judgements),
    "merge": lambda: judged.merge_judgements({"a": judgements, "b": judgements}),
    "check": lambda: judged.check(judgements, run),
    "read_vectors": lambda: judged.read_vectors("v.parquet"),
    "chart": lambda: judged.charts.cmc(evaluation).to_json(),
    "csv": lambda: evaluation.to_csv(),
    "per_query": lambda: evaluation.to_frame(per_query=True),
    "save": lambda: evaluation.save("out.parquet"),
    "ties": lambda: judged.evaluate_embeddings(
        vectors, vectors, judged.relevance.same_label(labels, labels), "AP"
    ),
    "overlap": lambda: judged.overlap({"a": run, "b": run}),
    "fuse": lambda: judged.fuse({"a": run, "b": run}),
    "compare": lambda: judged.compare(judgements, {"a": run, "b": run}, "RR").to_text(),
    "report": lambda: evaluation.report().save("out.html"),
    "own polars": lambda: own["a"].to_list(),
}
own.sort("a")
for name, call in calls.items():
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            call()
            print(name, "works")
        except judged.JudgedError as error:
            print(name, str(error).split(" Threads")[0])
        sys.stdout.flush()
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print(name, "hangs or fails")
"""


def test_whatever_needs_polars_is_an_error_in_a_fork(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", EVERYTHING],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    outcomes = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert outcomes.pop("own") == "polars works", "polars is guarded from judged alone"
    works = {name for name, outcome in outcomes.items() if outcome == "works"}
    assert {outcomes[name] for name in outcomes.keys() - works} == {REFUSED}, (
        outcomes,
        done.stderr,
    )
    assert len(outcomes) == 15
    assert "evaluate" in works
    assert not works & {"agreement", "frame", "merge", "read_vectors", "save"}
    assert not (tmp_path / "out.parquet").exists()
