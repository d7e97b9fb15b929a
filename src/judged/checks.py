"""Numbers that people give, once it is sure that they are what they should be."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from judged.errors import InputError, JudgedError
from judged.forks import polars_is_lost


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


LOWEST, HIGHEST = 1e-6, 1e6
"""Temperatures beyond these leave nothing of a score, or of the difference between two."""
LEARNING_TEMPERATURE = 0.05
"""What a similarity is learned at by default."""
SWEPT_TEMPERATURES = tuple(float(f"{10 ** (step / 3):.3g}") for step in range(-9, 10))
"""What a sweep looks at by default: three to each power of ten, from 0.001 to 1000."""
STUDIED_TEMPERATURES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""What a study learns at by default."""


def temperature(given: Any) -> float:
    """A temperature of a softmax.

    >>> temperature(0.05)
    0.05
    """
    real = not isinstance(given, bool) and isinstance(given, Real)
    if not real or not LOWEST <= float(given) <= HIGHEST:
        raise InputError(
            f"a temperature must be a number above 0, from {LOWEST:g} to {HIGHEST:g}; got "
            f"{given!r}."
        )
    return float(given)


_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def size_in_bytes(memory: str | int) -> int:
    """A size in bytes.

    >>> size_in_bytes("500MB"), size_in_bytes("1.5 GB"), size_in_bytes(2_000_000)
    (500000000, 1500000000, 2000000)
    """
    text = str(memory).strip().upper()
    number = text.rstrip("KMGTB ")
    try:
        size = int(float(number) * _UNITS[text[len(number) :].strip()])
    except (KeyError, ValueError, OverflowError):
        raise InputError(
            f"memory must be a size such as '500MB' or '2GB'; got {memory!r}."
        ) from None
    if size < 10**6:
        raise InputError(f"memory must be at least 1MB; got {memory!r}.")
    return size


def refuse_lost_polars() -> None:
    """An error where polars would wait for ever for threads that a fork left behind."""
    if polars_is_lost():
        raise JudgedError(
            "this process was forked while polars was in use, and polars would wait for ever in "
            "it. Start processes by multiprocessing.get_context('spawn') or 'forkserver', or "
            "evaluate dicts, which need no polars."
        )
