"""p-values of many comparisons, corrected for their number."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from judged.arrays import Floats
from judged.options import choice


def holm(p: Floats) -> Floats:
    """Holm's step-down: the k-th smallest of m times m + 1 - k, and none below one before it."""
    return _stepped(p, lambda ordered: np.maximum.accumulate(ordered * np.arange(len(p), 0, -1)))


def bonferroni(p: Floats) -> Floats:
    """Each times their number."""
    return np.minimum(p * len(p), 1.0)


def benjamini_hochberg(p: Floats) -> Floats:
    """The step-up of false discoveries: the k-th smallest of m times m/k, none above a later."""
    size = len(p)
    shares = size / np.arange(1, size + 1)
    return _stepped(p, lambda ordered: np.minimum.accumulate((ordered * shares)[::-1])[::-1])


def uncorrected(p: Floats) -> Floats:
    """As they are."""
    return p


CORRECTIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "holm": holm,
    "bonferroni": bonferroni,
    "bh": benjamini_hochberg,
    "none": uncorrected,
}
"""Corrections that need nothing but p-values."""


def corrected(p: Floats, correction: str) -> Floats:
    """p-values corrected for their number.

    Parameters
    ----------
    p : array of any shape
        All comparisons of a family. NaN stays NaN and is not counted.
    correction : str
        "holm", "bonferroni", "bh" (Benjamini and Hochberg's false discoveries) or "none".

    Returns
    -------
    array

    >>> corrected(np.array([0.01, 0.04, 0.03]), "holm")
    array([0.03, 0.06, 0.06])
    """
    correct = CORRECTIONS[choice("correction", correction, tuple(CORRECTIONS))]
    found = np.array(p, np.float64)
    counts = ~np.isnan(found)
    found[counts] = correct(found[counts])
    return found


def _stepped(p: Floats, step: Callable[[Floats], Floats]) -> Floats:
    """What a step makes of ordered p-values, in their own order and at most 1."""
    order = np.argsort(p, kind="stable")
    found = np.empty_like(p)
    found[order] = np.minimum(step(p[order]), 1.0)
    return found
