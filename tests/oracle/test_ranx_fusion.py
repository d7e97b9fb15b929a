"""Side by side with ranx's fusion, on lists without ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from judged import fuse
from support.loops import for_each
from support.parts import Later

ranx = Later("ranx")

METHODS = {"rrf": "rrf", "combsum": "sum", "combmnz": "mnz", "weighted": "wsum"}
NORMS = {
    **{"minmax": "min-max", "zscore": "zmuv", "max": "max", "sum": "sum", "rank": "rank"},
    "none": None,
}
WEIGHTS = [2.0, 1.0, 0.5]
SAME = {"one": {"q": {"a": 5.0, "b": 5.0}}, "two": {"q": {"a": 2.0, "c": 1.0}}}
Lists = dict[str, dict[str, float]]


def theirs(runs: dict[str, Lists], method: str, norm: str | None, **params: Any) -> Lists:
    found = ranx.fuse([ranx.Run(run) for run in runs.values()], norm, method, params=params)
    return {query: dict(items) for query, items in found.to_dict().items()}


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


@for_each(
    ("method", "norm"),
    [("rrf", None), *((method, norm) for method in METHODS if method != "rrf" for norm in NORMS)],
)
def test_the_same_scores(method: str, norm: str | None) -> None:
    runs, weights = generated(1), WEIGHTS if method == "weighted" else None
    params: dict[str, Any] = {"weights": weights} if weights else {}
    params |= {"k": 60} if method == "rrf" else {}
    expected = theirs(runs, METHODS[method], NORMS[norm] if norm else None, **params)
    ours = fuse(runs, method=method, normalise=norm, weights=weights).to_dict()
    assert ours.keys() == expected.keys()
    for query, items in ours.items():
        assert items == pytest.approx(expected[query], abs=1e-12)


def test_weights_count_before_the_number_of_lists() -> None:
    """With weights, ours is ranx's mnz of scores times weights; its wmnz is the sum of scores times
    the sum of weights."""
    ours = fuse(SAME, method="combmnz", normalise="none", weights=[2, 1]).to_dict()["q"]
    assert ours == {"a": (2 * 5 + 2) * 2, "b": 2 * 5, "c": 1}
    expected = theirs(SAME, "wmnz", None, weights=[2.0, 1.0])
    assert expected["q"] == {"a": (5 + 2) * (2 + 1), "b": 2 * 5, "c": 1}


def test_a_list_with_one_score_gives_nothing_in_ranx() -> None:
    """Ours gives 1 to each of its results (minmax), 0 (z) or an equal share (sum)."""
    for norm, value in {"minmax": 1.0, "zscore": 0.0, "sum": 0.5}.items():
        assert theirs(SAME, "sum", NORMS[norm])["q"]["b"] == 0
        assert fuse(SAME, method="combsum", normalise=norm).to_dict()["q"]["b"] == value
