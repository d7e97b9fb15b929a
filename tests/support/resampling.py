"""Fewer resamples than the default, so that tests of resampling are fast."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from judged.comparison.settings import ComparisonSettings
from judged.statistics.t import Tested, below


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


def check_agreement(tested: Tested, levels: tuple[float, ...]) -> int:
    """p is below 1 - level exactly where the interval leaves out 0; how many intervals there
    are."""
    some = 0
    for level, low, high in zip(levels, tested.low, tested.high, strict=True):
        there = ~np.isnan(low)
        outside = (low > 0) | (high < 0)
        assert (low[there] <= high[there]).all()
        assert (outside == below(tested.p, level))[there].all()
        some += int(there.sum())
    return some
