"""Side by side with ranx's fusion, on lists without ties.

ranx runs in a process of its own without its compiler: its code is the same, and compiling it takes
a minute.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from judged import fuse

METHODS = {"rrf": "rrf", "combsum": "sum", "combmnz": "mnz", "weighted": "wsum"}
NORMS = {
    "minmax": "min-max",
    "zscore": "zmuv",
    "max": "max",
    "sum": "sum",
    "rank": "rank",
    "none": None,
}
THEIRS = """
import json, sys
from ranx import Run, fuse

asked = json.load(sys.stdin)
found = []
for runs, method, norm, params in asked:
    fused = fuse([Run(each) for each in runs], norm=norm, method=method, params=params)
    found.append({q: {i: float(s) for i, s in of.items()} for q, of in fused.to_dict().items()})
json.dump(found, sys.stdout)
"""
WEIGHTS = [2.0, 1.0, 0.5]


def generated(seed: int) -> dict[str, dict[str, dict[str, float]]]:
    """Three runs of the same queries, whose lists share some of their items."""
    rng = np.random.default_rng(seed)
    runs: dict[str, dict[str, dict[str, float]]] = {}
    for name in ("one", "two", "three"):
        runs[name] = {}
        for query in range(12):
            items = rng.choice(40, rng.integers(2, 25), replace=False)
            scores = np.sort(rng.gamma(2.0, 3.0, len(items)) + 0.1)[::-1]
            runs[name][f"q{query}"] = {
                f"d{item}": float(score) for item, score in zip(items, scores, strict=True)
            }
    return runs


def cases() -> list[tuple[str, str | None, bool]]:
    scores = [(method, norm) for method in METHODS if method != "rrf" for norm in NORMS]
    plain = [("rrf", None), *scores]
    return [(method, norm, method == "weighted") for method, norm in plain]


@pytest.fixture(scope="module")
def theirs() -> Any:
    """What ranx finds: for each case, then for one score in a list, then for weights of mnz."""
    runs = list(generated(1).values())
    asked: list[Any] = []
    for method, norm, weighted in cases():
        params: dict[str, Any] = {"weights": WEIGHTS} if weighted else {}
        params |= {"k": 60} if method == "rrf" else {}
        asked.append((runs, METHODS[method], NORMS[norm] if norm else None, params))
    same = [{"q": {"a": 5.0, "b": 5.0}}, {"q": {"a": 2.0, "c": 1.0}}]
    asked += [(same, "sum", norm, {}) for norm in ("min-max", "zmuv", "sum")]
    asked.append((same, "wmnz", None, {"weights": [2.0, 1.0]}))
    done = subprocess.run(
        [sys.executable, "-c", THEIRS],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(("method", "norm", "weighted"), cases())
def test_the_same_scores(theirs: Any, method: str, norm: str | None, weighted: bool) -> None:
    expected = theirs[cases().index((method, norm, weighted))]
    ours = fuse(
        generated(1), method=method, normalise=norm, weights=WEIGHTS if weighted else None
    ).to_dict()
    assert ours.keys() == expected.keys()
    for query, items in ours.items():
        assert items == pytest.approx(expected[query], abs=1e-12)


def test_weights_count_before_the_number_of_lists(theirs: Any) -> None:
    """With weights, ours is ranx's mnz of scores times weights; its wmnz is the sum of scores times
    the sum of weights."""
    runs = {"one": {"q": {"a": 5.0, "b": 5.0}}, "two": {"q": {"a": 2.0, "c": 1.0}}}
    ours = fuse(runs, method="combmnz", normalise="none", weights=[2, 1]).to_dict()["q"]
    assert ours == {"a": (2 * 5 + 2) * 2, "b": 2 * 5, "c": 1}
    assert theirs[-1]["q"] == {"a": (5 + 2) * (2 + 1), "b": 2 * 5, "c": 1}


def test_a_list_with_one_score_gives_nothing_in_ranx(theirs: Any) -> None:
    """Ours gives 1 to each of its results (minmax), 0 (z) or an equal share (sum)."""
    runs = {"one": {"q": {"a": 5.0, "b": 5.0}}, "two": {"q": {"a": 2.0, "c": 1.0}}}
    found = {
        norm: fuse(runs, method="combsum", normalise=norm).to_dict()["q"]
        for norm in ("minmax", "zscore", "sum")
    }
    assert [each["q"]["b"] for each in theirs[-4:-1]] == [0, 0, 0]
    assert {norm: each["b"] for norm, each in found.items()} == {
        "minmax": 1.0,
        "zscore": 0.0,
        "sum": 0.5,
    }
