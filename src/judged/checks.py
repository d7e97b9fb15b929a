"""Numbers that people give, once it is sure that they are what they should be."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from judged.errors import InputError


def whole(
    name: str, given: Any, *, at_least: int = 1, at_most: int | None = None, otherwise: str = ""
) -> int:
    """A whole number; `otherwise` says what else may be given.

    >>> whole("bins", 15)
    15
    """
    whole = not isinstance(given, bool) and isinstance(given, Integral)
    if not whole or int(given) < at_least or (at_most is not None and int(given) > at_most):
        limit = "" if at_most is None else f" to {at_most:,}"
        raise InputError(
            f"{name} must be a whole number from {at_least}{limit}{otherwise}; got {given!r}."
        )
    return int(given)


def number(
    name: str, given: Any, *, at_least: float | None = None, at_most: float = math.inf
) -> float:
    """A finite number.

    >>> number("rel", 2)
    2.0
    """
    finite = not isinstance(given, bool) and isinstance(given, Real) and math.isfinite(given)
    if not finite or (at_least is not None and float(given) < at_least) or float(given) > at_most:
        limits = "" if at_least is None else f" from {at_least:g}"
        limits += f" to {at_most:g}" if math.isfinite(at_most) else ""
        raise InputError(f"{name} must be a finite number{limits}; got {given!r}.")
    return float(given)
