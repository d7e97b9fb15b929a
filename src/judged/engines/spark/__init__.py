"""Runs, judgements and embeddings in Spark, evaluated in partitions by the code of every run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judged.engines.spark.run import per_query as per_query
    from judged.engines.spark.run import summary as summary

__all__ = ["per_query", "summary"]


def __getattr__(name: str) -> Any:
    """Load functions when they are first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from judged.engines.spark import run

    return getattr(run, name)
