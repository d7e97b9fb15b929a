"""How a retriever is asked: by its own method, where it has one that is known, or by calling it.

Libraries are known by the methods of their objects and never imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import isclass, iscoroutinefunction, signature
from typing import Any

from judged.errors import InputError, quoted
from judged.text import listed

METHODS = {"invoke": "ainvoke", "retrieve": "aretrieve", "run": "run_async"}
"""The methods of LangChain, LlamaIndex and Haystack, each with the one to be awaited."""


@dataclass(frozen=True)
class Call:
    """A function from a query to what the retriever returns for it."""

    function: Callable[[Any], Any]
    name: str
    """What tables call the run."""
    awaited: bool
    """Whether it is known that what it returns has to be awaited."""
    run: Callable[..., Any] | None = None
    """The method of Haystack that it calls, with arguments that have names."""

    def check(self, query: Any) -> None:
        """Refuse a query that the method cannot be called with, as a pipeline with a text."""
        if self.run is None:
            return
        try:
            takes = signature(self.run, follow_wrapped=False)
        except (TypeError, ValueError):  # nobody knows what it takes
            return
        given = _keywords(query)
        try:
            takes.bind(**given)
        except TypeError:
            method = getattr(self.run, "__name__", "run")
            names, called = (
                listed([str(name) for name in each] or ["nothing"])
                for each in (takes.parameters, given)
            )
            raise InputError(
                f"{self.name}.{method} takes {names}, and would be called with {called}; give a "
                "function of the query that calls it, or queries that are mappings of what it "
                "takes."
            ) from None


def call_of(retriever: Any) -> Call:
    """How to ask a retriever; refused where that is not clear."""
    if isclass(retriever):
        raise InputError(
            f"the retriever is the class {retriever.__name__}; give an object of it, or a function."
        )
    methods = [
        next(name for name in both if _method(retriever, name))
        for both in METHODS.items()
        if any(_method(retriever, name) for name in both)
    ]
    if len(methods) > 1:
        raise InputError(
            f"the retriever has the methods {listed(methods)}; give the one to be called, as "
            f"retriever.{methods[0]}."
        )
    if not methods and not callable(retriever):
        if _method(retriever, "as_retriever"):  # a store of LangChain, an index of LlamaIndex
            raise InputError(
                f"an object of {type(retriever).__name__} is no retriever, but makes one: give "
                "what its as_retriever() returns."
            )
        known = listed([f".{name}" for name in METHODS], "or")
        raise InputError(
            f"a retriever is a function of a query, or an object with {known}; got "
            f"{quoted(retriever)}."
        )
    function = getattr(retriever, methods[0]) if methods else retriever
    if methods and methods[0] in ("run", METHODS["run"]):
        by_name = partial(_by_keyword, function)
        return Call(by_name, name_of(retriever), _awaited(function), function)
    return Call(function, name_of(retriever), _awaited(function))


def _method(retriever: Any, name: str) -> bool:
    return callable(getattr(retriever, name, None))


def _by_keyword(run: Callable[..., Any], query: Any) -> Any:
    return run(**_keywords(query))


def _keywords(query: Any) -> Mapping[str, Any]:
    """A component of Haystack names its inputs: a mapping has them all, else there is the query."""
    return query if isinstance(query, Mapping) else {"query": query}


def _awaited(function: Any) -> bool:
    return iscoroutinefunction(function) or iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def name_of(function: Any) -> str:
    """What a retriever or a function calls itself: a lambda has no name."""
    while isinstance(function, partial):
        function = function.func
    owner = getattr(function, "__self__", None)
    if owner is not None and not isclass(owner) and type(owner).__name__ != "module":
        function = owner
    name = getattr(function, "__name__", None) or type(function).__name__
    return name if isinstance(name, str) and name.isidentifier() else "retriever"
