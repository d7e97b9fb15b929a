"""Methods and functions on vectors share options, with the same defaults, and have few of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import judged

BY = judged.Embeddings
METHODS = [BY, BY.encode, BY.evaluate, BY.rank, BY.rank_both, BY.evaluate_and_top_k, BY.top_k]
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
