"""Objects that cannot be asked as they are: refused before anything is asked, with what to do."""

from __future__ import annotations

from functools import wraps
from types import SimpleNamespace
from typing import Any

import pytest

from judged import evaluate_retriever
from support.errors import error_of

JUDGEMENTS = {"q1": {"a": 1}, "q2": {"c": 1}}
TEXTS = {"q1": "one", "q2": "two"}


def search(text: str) -> list[str]:
    return {"one": ["a", "b"], "two": ["b", "c"]}[text]


class Store:
    """As a vector store of LangChain, or an index of LlamaIndex."""

    def as_retriever(self) -> Any:
        return search


def test_a_store_is_no_retriever() -> None:
    assert error_of(evaluate_retriever, Store(), TEXTS, JUDGEMENTS, "RR") == (
        "an object of Store is not a retriever; give the result of its as_retriever()."
    )
    assert evaluate_retriever(Store().as_retriever(), TEXTS, JUDGEMENTS, "RR").value() == 0.75


class Pipeline:
    """As one of Haystack, which takes inputs by component."""

    def run(self, data: dict[str, Any], include: Any = None) -> Any:
        raise AssertionError("nothing may be asked")


class Alone:
    async def run_async(self) -> Any:
        raise AssertionError("nothing may be asked")


@pytest.mark.parametrize(
    ("retriever", "queries", "said"),
    [
        (Pipeline(), TEXTS, "Pipeline.run takes data and include, but is called with query"),
        (
            Pipeline(),
            {"q1": {"data": {}, 7: "x"}},
            "Pipeline.run takes data and include, but is called with data and 7",
        ),
        (
            Pipeline(),
            {"q1": {}},
            "Pipeline.run takes data and include, but is called with nothing",
        ),
        (Alone(), TEXTS, "Alone.run_async takes nothing, but is called with query"),
    ],
)
def test_a_component_that_cannot_be_called_so_is_refused_at_once(
    retriever: Any, queries: Any, said: str
) -> None:
    """Not only when every query has failed, with all its retries."""
    assert error_of(
        evaluate_retriever, retriever, queries, JUDGEMENTS, "RR", retries=9, wait=99
    ) == (
        f"{said}; give a function of the query that calls it, or queries that are mappings of "
        f"its arguments."
    )


def test_what_a_component_takes_need_not_be_known() -> None:
    """A wrapper takes what it takes, whatever it wraps; of some callables nothing is known."""

    class Unknown:
        __signature__ = "none"

        def __call__(self, query: str) -> list[str]:
            return search(query)

    def inner(*, query_embedding: list[float]) -> list[str]:
        return search("")

    @wraps(inner)
    def outer(query: str) -> list[str]:
        return search(query)

    for run in (Unknown(), outer, lambda **inputs: search(inputs["query"])):
        component = SimpleNamespace(run=run)
        assert evaluate_retriever(component, TEXTS, JUDGEMENTS, "RR").value() == 0.75
