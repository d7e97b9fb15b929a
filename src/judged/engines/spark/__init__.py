"""Runs, judgements and embeddings in Spark, evaluated in partitions by the code of every run."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judged.engines.spark._summary import per_query as per_query
    from judged.engines.spark._summary import summary as summary

__all__ = ["per_query", "summary"]


def __getattr__(name: str) -> Any:
    """Load the functions when they are first used."""
    if name in __all__:
        return getattr(import_module("judged.engines.spark._summary"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
