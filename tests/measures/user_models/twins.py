"""Slow twins of the user models: the definition read aloud, rank by rank, one query at a time.

A twin takes the grades in rank order (None: nobody judged the item), all grades of the pool, and
the measure's parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, log2, nan
from typing import Any

from scipy.special import zeta

Grades = Sequence[float | None]
TWINS: dict[str, Callable[..., float]] = {}
"""By the measure's name."""


def twin(function: Callable[..., float]) -> Callable[..., float]:
    TWINS[function.__name__.removeprefix("twin_")] = function
    return function


def expected(
    shown: Grades,
    pool: Sequence[float],
    *,
    k: Any,
    min_rel: float,
    max_rel: float,
    go_on: Callable[[int, float, float], float],
    rest: Callable[[int, float], float] = lambda last, gained: nan,
) -> float:
    """Gain per result read: `go_on(rank, gain, gained so far)` is C; `rest(last, gained)` is what
    the ranks after the last one of the list add to the reading, per chance of getting to the first
    of them, where there is no k."""
    end = sum(grade > min_rel for grade in pool) if k == "R" else len(shown) if k is None else k
    chance, reaped, read, gained = 1.0, 0.0, 0.0, 0.0
    for rank in range(1, end + 1):
        grade = shown[rank - 1] if rank <= len(shown) else None
        gain = 0.0 if grade is None else max(grade - min_rel, 0) / (max_rel - min_rel)
        gained += gain
        reaped += chance * gain
        read += chance
        chance *= go_on(rank, gain, gained)
    if k is None and chance > 0:
        read += chance * rest(len(shown), gained)
    return reaped / read if read else 0.0


def squares(last: int, ahead: float) -> float:
    """The sum of S(i) over i > last, where S is 1 at last + 1 and falls as 1/(i - 1 + ahead)²: x²
    (1/x² + 1/(x + 1)² + …)."""
    x = last + ahead
    return float(x**2 * zeta(2, x))


@twin
def twin_SDCG(shown: Grades, pool: Sequence[float], **given: Any) -> float:  # noqa: N802
    return expected(shown, pool, **given, go_on=lambda i, gain, gained: log2(i + 1) / log2(i + 2))


@twin
def twin_INSQ(shown: Grades, pool: Sequence[float], *, T: float, **given: Any) -> float:  # noqa: N802, N803
    def go_on(i: int, gain: float, gained: float) -> float:
        return ((i + 2 * T - 1) / (i + 2 * T)) ** 2

    return expected(
        shown, pool, **given, go_on=go_on, rest=lambda last, gained: squares(last, 2 * T)
    )


@twin
def twin_INST(shown: Grades, pool: Sequence[float], *, T: float, **given: Any) -> float:  # noqa: N802, N803
    def go_on(i: int, gain: float, gained: float) -> float:
        left = T - gained
        return ((i + T + left - 1) / (i + T + left)) ** 2

    return expected(
        shown, pool, **given, go_on=go_on, rest=lambda last, gained: squares(last, 2 * T - gained)
    )


@twin
def twin_BPM(shown: Grades, pool: Sequence[float], *, T: float, **given: Any) -> float:  # noqa: N802, N803
    # Rounding: gains that add up to T must end the reading.
    return expected(shown, pool, **given, go_on=lambda i, gain, gained: float(gained < T - 1e-9))


@twin
def twin_NERR8(shown: Grades, pool: Sequence[float], **given: Any) -> float:  # noqa: N802
    return expected(shown, pool, **given, go_on=lambda i, gain, gained: 1 - gain)


@twin
def twin_NERR9(shown: Grades, pool: Sequence[float], **given: Any) -> float:  # noqa: N802
    return expected(shown, pool, **given, go_on=lambda i, gain, gained: i / (i + 1) * (1 - gain))


@twin
def twin_NERR10(shown: Grades, pool: Sequence[float], *, p: float, **given: Any) -> float:  # noqa: N802
    def go_on(i: int, gain: float, gained: float) -> float:
        return p * (1 - gain)

    return expected(shown, pool, **given, go_on=go_on, rest=lambda last, gained: 1 / (1 - p))


@twin
def twin_NERR11(shown: Grades, pool: Sequence[float], *, T: float, **given: Any) -> float:  # noqa: N802, N803
    def go_on(i: int, gain: float, gained: float) -> float:
        return ((i + 2 * T - 1) / (i + 2 * T)) ** 2 * (1 - gain)

    return expected(
        shown, pool, **given, go_on=go_on, rest=lambda last, gained: squares(last, 2 * T)
    )


def overlap(one: Sequence[object], other: Sequence[object], *, p: float, depth: int) -> float:
    """Σ p^(i-1) |first i of one ∩ first i of the other| / i."""
    total, weight, common = 0.0, 1.0, 0
    seen: tuple[set[object], set[object]] = set(), set()
    for i in range(depth):
        for items, own, others in ((one, *seen), (other, *reversed(seen))):
            if i < len(items):
                own.add(items[i])
                common += items[i] in others
        total += weight * common / (i + 1)
        weight *= p
    return total


@twin
def twin_Compat(shown: Grades, pool: Sequence[float], *, k: Any, p: float, normalize: str) -> float:  # noqa: N802
    lost = list(pool)
    for grade in shown:
        if grade is not None:
            lost.remove(grade)
    # Items are numbers: those of the list are their ranks, the others come after.
    grades = {**dict(enumerate(shown, 1)), **dict(enumerate(lost, len(shown) + 1))}
    ideal = sorted(
        (item for item, grade in grades.items() if (grade or 0) > 0),
        key=lambda item: (-(grades[item] or 0), item),
    )
    if not ideal:
        return nan
    endless = int(45 / (1 - p)) + len(grades)
    depth = len(ideal) if k == "R" else endless if k is None else k
    whole = (
        overlap(ideal, ideal, p=p, depth=depth)
        if normalize == "true"
        else sum(p**i for i in range(depth))
    )
    return overlap(range(1, len(shown) + 1), ideal, p=p, depth=depth) / whole if whole else -inf
