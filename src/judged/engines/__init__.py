"""The same numbers from tables that live elsewhere: Spark, databases."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["spark"]


def __getattr__(name: str) -> Any:
    """`judged.engines.spark`, loaded when it is first used."""
    if name in __all__:
        return import_module(f"judged.engines.{name}")
    raise AttributeError(f"module 'judged.engines' has no attribute {name!r}")
