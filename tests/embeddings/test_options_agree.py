"""Functions on vectors write their options out, so that people see them: names and defaults must be
the same in all."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import judged
from judged.embeddings.embeddings import Embeddings

SHARED = {name: each.default for name, each in inspect.signature(Embeddings).parameters.items()}
LACKING = {
    judged.rank_embeddings: set(),
    judged.evaluate_embeddings: set(),
    judged.search.top_k: set(),
    judged.evaluate_index: {"normalise", "unique"},
    judged.diagnose: {"normalise", "unique"},
}
"""Options that have no meaning for a function."""


@pytest.mark.parametrize("function", LACKING, ids=lambda function: function.__name__)
def test_shared_options_are_the_same_everywhere(function: Callable[..., Any]) -> None:
    own = {name: each.default for name, each in inspect.signature(function).parameters.items()}
    assert {name: own.get(name, "missing") for name in SHARED if name not in LACKING[function]} == {
        name: default for name, default in SHARED.items() if name not in LACKING[function]
    }
    assert not LACKING[function] & set(own)
