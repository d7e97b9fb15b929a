"""What the results of embeddings share with all others: a dict, a table, sentences, files."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import judged
from support.errors import error_of

BOTH = judged.Embeddings([[2.0, 1.0]], [[1.0, 0.0], [0.0, 3.0]], similarity="dot")


def lowest_first(block: Any, k: int) -> tuple[Any, Any]:
    return [[0]] * len(block), [[2.0]] * len(block)


RESULTS = {
    "top_k": BOTH.top_k(2),
    "index": BOTH.evaluate_index(lowest_first, {"0": {"1": 1}}, "RR", k=1),
    "diagnosis": BOTH.diagnose({"0": {"1": 1}}),
}


def test_the_first_k_as_a_run(tmp_path: Path) -> None:
    found = RESULTS["top_k"]
    assert found.to_dict() == {"0": {"1": 3.0, "0": 2.0}}
    assert found.sentences() == [
        "the first 2 of 2 items for 1 query",
        "tied results are ordered by item id, descending on bytes (trec_eval's rule)",
    ]
    for name in ("a.json", "a.csv", "a.parquet", "a.trec"):
        found.save(tmp_path / name)
        assert judged.evaluate({"0": {"0": 1}}, tmp_path / name, "RR").value() == 0.5


@pytest.mark.parametrize("option", [{"normalise": "csls(k=1)"}, {"unique": ["a", "b"]}])
def test_changed_scores_are_refused_where_others_know_only_the_items(option: Any) -> None:
    changed = judged.Embeddings([[2.0, 1.0]], [[1.0, 0.0], [0.0, 3.0]], **option)
    for what, call in {
        "a diagnosis": changed.diagnose,
        "an index": lambda: changed.evaluate_index(lowest_first, {"0": {"1": 1}}),
    }.items():
        assert error_of(call, error=judged.errors.InputError) == (
            f"{next(iter(option))} is not supported for {what}; leave it out."
        )


def test_embeddings_say_what_they_are() -> None:
    weights = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    both = judged.Embeddings([[1.0, 2.0]], [[1.0, 2.0, 3.0]] * 2, similarity=weights)
    assert repr(both) == "<Embeddings: 1 query and 2 items of 2 and 3 dimensions, by bilinear>"


# -- options that are the same everywhere


BY = judged.Embeddings
METHODS = [BY, BY.encode, BY.evaluate, BY.rank, BY.evaluate_and_top_k, BY.top_k]
METHODS += [BY.evaluate_index, BY.diagnose, judged.evaluate_embeddings]


def keywords(function: Callable[..., Any]) -> dict[str, Any]:
    """Keyword-only parameters with their defaults and annotations."""
    parameters = inspect.signature(function).parameters.values()
    return {
        parameter.name: (parameter.default, parameter.annotation)
        for parameter in parameters
        if parameter.kind == parameter.KEYWORD_ONLY
    }


def test_the_function_has_options_of_the_object() -> None:
    assert keywords(judged.evaluate_embeddings).items() <= keywords(BY).items()


@pytest.mark.parametrize("function", METHODS, ids=lambda function: function.__name__)
def test_shared_options_are_the_same_everywhere(function: Callable[..., Any]) -> None:
    shared, own = keywords(BY.evaluate), keywords(function)
    both = {name: own[name] for name in own if name in shared}
    assert both == {name: shared[name] for name in both}
    assert len(inspect.signature(function).parameters) <= 12
