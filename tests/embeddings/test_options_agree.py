"""Functions on vectors write their options out, so that people see them: names, order and defaults
must be the same."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import judged

BY = judged.Embeddings


def options(function: Callable[..., Any]) -> dict[str, Any]:
    """Keyword-only parameters with their defaults and annotations."""
    own = inspect.signature(function).parameters.values()
    return {
        each.name: (each.default, each.annotation) for each in own if each.kind == each.KEYWORD_ONLY
    }


def test_the_function_has_the_options_of_the_object() -> None:
    assert options(judged.evaluate_embeddings) == options(BY) | options(BY.evaluate)


@pytest.mark.parametrize(
    "method",
    [BY.rank, BY.rank_both, BY.evaluate_and_top_k, BY.top_k, BY.evaluate_index],
    ids=lambda method: method.__name__,
)
def test_shared_options_are_the_same_everywhere(method: Callable[..., Any]) -> None:
    shared, own = options(BY.evaluate), options(method)
    both = {name: own[name] for name in own if name in shared}
    assert both == {name: shared[name] for name in both}
