"""Scores by their definitions, in exact arithmetic."""

from __future__ import annotations

from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np

from support.dense import Array


def real(name: str, query: Array, item: Array) -> float:
    """A score without any rounding but one, at the end."""
    getcontext().prec = 80
    left, right = ([Fraction(each) for each in row.tolist()] for row in (query, item))
    both = list(zip(left, right, strict=True))
    dot = sum((a * b for a, b in both), Fraction(0))
    if name == "cosine":
        square = sum(a * a for a in left) * sum(b * b for b in right)
        root = (Decimal(square.numerator) / Decimal(square.denominator)).sqrt()
        return float(Decimal(dot.numerator) / Decimal(dot.denominator) / root)
    if name == "euclidean":
        return float(-sum((a - b) ** 2 for a, b in both) / 2)
    if name == "manhattan":
        return float(-sum(abs(a - b) for a, b in both))
    if name == "hamming":
        return float(sum(1 if (a > 0) == (b > 0) else -1 for a, b in both))
    return float(dot)


def scores_of(name: str, queries: Array, items: Array) -> Array:
    return np.array([[real(name, query, item) for item in items] for query in queries])
