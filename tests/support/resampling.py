"""Fewer resamples than the default, so that tests of resampling are fast."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from judged.comparison.settings import ComparisonSettings


@contextmanager
def resamples(number: int) -> Iterator[None]:
    """Make comparisons draw this many resamples by default."""
    defaults = ComparisonSettings.__init__.__kwdefaults__
    before = defaults["resamples"]
    defaults["resamples"] = number
    try:
        yield
    finally:
        defaults["resamples"] = before
