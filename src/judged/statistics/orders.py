"""Do two columns of values put the same systems in the same order?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, starts_of
from judged.errors import InputError, quoted
from judged.options import real
from judged.statistics.aggregates import CLOSE
from judged.text import counted, few, plain, shown

LEAST = 3
"""Two systems are in the same order or in the reversed one, which says next to nothing."""
System = str | int
Pairs = tuple[tuple[System, System], ...]


@dataclass(frozen=True)
class OrderAgreement:
    """How far two orders of the same systems agree.

    >>> order_agreement([0.5, 0.4, 0.3], [0.5, 0.4, 0.3]).tau
    1.0
    """

    systems: tuple[System, ...]
    """The systems, as they were given: names, or numbers from 0."""
    tau: float
    """Kendall's tau-b: pairs in the same order less swapped ones, over the root of the pairs that
    are not tied in x times those that are not tied in y. NaN where it is undefined."""
    tau_ap: float
    """tau-AP with x as the truth: pairs count by how high they stand in y, and ties by the mean
    over all their orders."""
    tau_ap_reversed: float
    """tau-AP with y as the truth: pairs count by how high they stand in x."""
    weighted_tau: float
    """Vigna's weighted tau: a pair weighs 1/rank + 1/rank, once with the ranks of x, once with
    those of y, and this is the mean of both."""
    swaps: Pairs
    """The pairs that stand one way in x and the other way in y; the first of each is above the
    second in x. From the top of x down."""
    tied_in_x: Pairs
    """The pairs that are tied in x and not in y; the first of each is above the second in y."""
    tied_in_y: Pairs
    """The pairs that are tied in y and not in x; the first of each is above the second in x."""
    note: str = ""
    """Why the numbers are undefined, where they are."""

    @property
    def tau_ap_symmetric(self) -> float:
        """The mean of tau-AP in both directions."""
        return (self.tau_ap + self.tau_ap_reversed) / 2

    @property
    def pairs(self) -> int:
        """How many pairs of systems there are."""
        return math.comb(len(self.systems), 2)

    @property
    def same(self) -> bool:
        """Whether both have the same order: no pair is swapped, and none tied in one alone."""
        return not (self.swaps or self.tied_in_x or self.tied_in_y)

    def sentences(self) -> list[str]:
        """What was found, in words.

        Returns
        -------
        list of str

        >>> print(*order_agreement({"a": 3, "b": 2, "c": 1}, {"a": 3, "b": 1, "c": 2}).sentences())
        1 of 3 pairs is swapped (b above c in x). tau-b 0.3333; tau-AP 0.5000 with x as the \
truth, 0.5000 with y; weighted tau 0.5455.
        """
        return [self._swapped(), *self._tied(), self._numbers()]

    def _swapped(self) -> str:
        if not self.swaps:
            return f"None of the {self.pairs:,} pairs is swapped."
        some = few([f"{high} above {low}" for high, low in self.swaps])
        are = "is" if len(self.swaps) == 1 else "are"
        return f"{len(self.swaps):,} of {self.pairs:,} pairs {are} swapped ({some} in x)."

    def _tied(self) -> list[str]:
        ties = [("x", self.tied_in_x), ("y", self.tied_in_y)]
        return [
            f"Tied in {side} alone: {counted(len(pairs), 'pair')} "
            f"({few([f'{one} and {other}' for one, other in pairs])})."
            for side, pairs in ties
            if pairs
        ]

    def _numbers(self) -> str:
        if self.note:
            return f"tau-b, tau-AP and weighted tau are undefined: {self.note}."
        return (
            f"tau-b {shown(self.tau)}; tau-AP {shown(self.tau_ap)} with x as the truth, "
            f"{shown(self.tau_ap_reversed)} with y; weighted tau {shown(self.weighted_tau)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON; numbers that are undefined are None, and `note` says why.

        Returns
        -------
        dict

        >>> order_agreement([3, 2, 1], [3, 1, 2]).to_dict()["swaps"]
        [[1, 2]]
        """
        return {
            "systems": list(self.systems),
            "tau": plain(self.tau),
            "tau_ap": plain(self.tau_ap),
            "tau_ap_reversed": plain(self.tau_ap_reversed),
            "tau_ap_symmetric": plain(self.tau_ap_symmetric),
            "weighted_tau": plain(self.weighted_tau),
            "pairs": self.pairs,
            "same": self.same,
            "swaps": [list(pair) for pair in self.swaps],
            "tied_in_x": [list(pair) for pair in self.tied_in_x],
            "tied_in_y": [list(pair) for pair in self.tied_in_y],
            "note": self.note,
        }

    def __str__(self) -> str:
        return "\n".join(self.sentences())


def order_agreement(
    x: Mapping[str, float] | Sequence[float] | NDArray[Any],
    y: Mapping[str, float] | Sequence[float] | NDArray[Any],
) -> OrderAgreement:
    """How far two columns of values, higher being better, put the same systems in one order.

    Values that are equal but for rounding (a relative 1e-12) are ties. Kendall's tau-b leaves them
    out; tau-AP is its mean over all orders of the ties of both sides, each order of x met with each
    of y; the weighted tau is that of `scipy.stats.weightedtau` with its defaults: hyperbolic
    weights, added, ranked by x (ties of x by y) and by y (ties of y by x).

    Parameters
    ----------
    x, y : dict or sequence of float
        The value of each system, at least three: {name: value} with the same names in both, in any
        order, or two sequences of the same length. Values may be infinite; one that is NaN is
        refused.

    Returns
    -------
    OrderAgreement
        Undefined numbers are NaN, and its `note` says why.

    >>> found = order_agreement({"a": 0.5, "b": 0.4, "c": 0.1}, {"c": 0.2, "b": 0.7, "a": 0.6})
    >>> found.tau, found.swaps
    (0.3333333333333333, (('a', 'b'),))
    """
    systems, first, second = _aligned(x, y)
    above = [levels_of(first), levels_of(second)]
    orders = [np.sign(each[None, :] - each[:, None]).astype(np.int8) for each in above]
    note = _undefined(above)
    tau, tau_ap, tau_ap_reversed, weighted = (math.nan,) * 4 if note else _taus(above, orders)
    order = np.lexsort((above[1], above[0]))
    return OrderAgreement(
        systems,
        tau,
        tau_ap,
        tau_ap_reversed,
        weighted,
        swaps=_named(systems, order, (orders[0] > 0) & (orders[1] < 0)),
        tied_in_x=_named(systems, order, (orders[0] == 0) & (orders[1] > 0)),
        tied_in_y=_named(systems, order, (orders[1] == 0) & (orders[0] > 0)),
        note=note,
    )


def _aligned(x: Any, y: Any) -> tuple[tuple[System, ...], Floats, Floats]:
    """The systems with their values in x and in y."""
    tables = [_table(name, each) for name, each in (("x", x), ("y", y))]
    if (tables[0] is None) != (tables[1] is None):
        raise InputError(
            "x and y must both be {system: value}, or both a sequence of values; got "
            f"{type(x).__name__} and {type(y).__name__}."
        )
    if tables[0] is None or tables[1] is None:
        given = [_listed(name, each) for name, each in (("x", x), ("y", y))]
        if len(given[0]) != len(given[1]):
            raise InputError(
                "x and y must have a value for the same systems; got "
                f"{counted(len(given[0]), 'value')} and {counted(len(given[1]), 'value')}."
            )
        systems: tuple[System, ...] = tuple(range(len(given[0])))
    else:
        _check_names(tables[0], tables[1])
        systems = tuple(tables[0])
        given = [[table[name] for name in systems] for table in tables if table is not None]
    if len(systems) < LEAST:
        raise InputError(
            f"an agreement of orders needs at least three systems; got {len(systems)}. Two systems "
            "are in one order or in the other: compare their values."
        )
    first, second = (
        np.array([_number(name, of, value) for of, value in zip(systems, values, strict=True)])
        for name, values in zip("xy", given, strict=True)
    )
    return systems, first, second


def _table(name: str, given: Any) -> dict[System, Any] | None:
    """What has names, as a dict: a mapping, or a Series of pandas, whose order means nothing."""
    if not (hasattr(given, "keys") and hasattr(given, "items")):
        return None
    found: dict[System, Any] = {}
    for key, value in given.items():
        system = key if isinstance(key, str | int) else str(key)
        if system in found:
            raise InputError(f"{name} has two values for system {quoted(system)}; give one.")
        found[system] = value
    return found


def _listed(name: str, given: Any) -> list[Any]:
    try:
        if isinstance(given, str | bytes) or np.ndim(given) != 1:
            raise TypeError
        return list(given)
    except (TypeError, ValueError):
        raise InputError(
            f"{name} must be {{system: value}}, or a sequence of values; got {quoted(given)}."
        ) from None


def _check_names(x: dict[Any, Any], y: dict[Any, Any]) -> None:
    for name, own, other, others in (("x", x, "y", y), ("y", y, "x", x)):
        alone = [str(system) for system in own if system not in others]
        if alone:
            raise InputError(
                f"x and y must have a value for the same systems; {name} has {few(alone)}, which "
                f"{other} lacks."
            )


def _number(name: str, system: System, given: Any) -> float:
    value = given.item() if isinstance(given, np.generic) else given
    if isinstance(value, float) and math.isnan(value):
        raise InputError(
            f"{name} has no value (NaN) for system {quoted(system)}; leave it out of both."
        )
    found = value if isinstance(value, float) else real(value)
    if found is None:
        raise InputError(
            f"{name} must have a number for each system; got {quoted(given)} for system "
            f"{quoted(system)}."
        )
    return found


def levels_of(values: Floats) -> Ints:
    """How many different values are above each; values that are equal but for rounding share it."""
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    sizes = np.where(np.isfinite(ordered), np.abs(ordered), 0.0)
    off = CLOSE * np.maximum(sizes, min(1.0, float(sizes.max(initial=0.0))))
    with np.errstate(invalid="ignore"):
        gaps = ordered[:-1] - ordered[1:]  # two infinite ones have no gap
    levels = np.empty(len(values), np.int64)
    levels[order] = np.concatenate([[0], np.cumsum(gaps > np.maximum(off[1:], off[:-1]))])
    return levels


def _undefined(levels: Sequence[Ints]) -> str:
    tied = [name for name, each in zip("xy", levels, strict=True) if not each.any()]
    return f"all systems are tied in {' and in '.join(tied)}" if tied else ""


def _taus(
    levels: Sequence[Ints], orders: Sequence[NDArray[np.int8]]
) -> tuple[float, float, float, float]:
    ranks = [_ranks(levels[0], levels[1]), _ranks(levels[1], levels[0])]
    weighted = [_tau(1 / rank, orders) for rank in ranks]
    return (
        _tau(np.ones(len(levels[0])), orders),
        _tau_ap(levels[1], orders[0]),
        _tau_ap(levels[0], orders[1]),
        sum(weighted) / 2,
    )


def _ranks(first: Ints, second: Ints) -> Floats:
    """Ranks from 1 by the first levels, ties by the second. Systems that are tied in both may be in
    any order: it changes nothing."""
    ranks = np.empty(len(first))
    ranks[np.lexsort((second, first))] = np.arange(1.0, len(first) + 1)
    return ranks


def _tau(weights: Floats, orders: Sequence[NDArray[np.int8]]) -> float:
    """tau-b of pairs that weigh the sum of their systems' weights."""
    pairs = weights[:, None] + weights
    first, second = orders
    untied = [float((pairs * (each != 0)).sum()) for each in orders]
    found = float((pairs * (first * second)).sum()) / math.sqrt(untied[0] * untied[1])
    return max(-1.0, min(1.0, found))


def _tau_ap(levels: Ints, truth: NDArray[np.int8]) -> float:
    """tau-AP of an order with ties against a truth with ties, the mean over all orders of both.

    It is 2/(n−1) · Σ over pairs of P(the truth has i above j) · E[i above j, over rank(j) − 1] − 1.
    The rank of j is any of its tie's alike. What stands above the tie is above j at each of them;
    what is tied with j, at the r-th of m ranks, in r − 1 of m − 1 cases.
    """
    sizes = np.bincount(levels)
    ranks = np.arange(len(levels))  # less one
    over = np.divide(1.0, ranks, out=np.zeros(len(ranks)), where=ranks > 0)
    starts = starts_of(sizes)
    tie = np.repeat(np.arange(len(sizes)), sizes)
    from_above = np.bincount(tie, over) / sizes
    place = ranks - starts[tie]
    from_tie = np.bincount(tie, over * place) / np.maximum(sizes * (sizes - 1), 1)
    higher, equal = levels[:, None] < levels, levels[:, None] == levels
    weights = np.where(higher, from_above[levels], np.where(equal, from_tie[levels], 0.0))
    np.fill_diagonal(weights, 0.0)
    found = 2 * float((weights * (1 + truth) / 2).sum()) / (len(levels) - 1) - 1
    return max(-1.0, min(1.0, found))


def _named(systems: tuple[System, ...], order: Ints, which: NDArray[np.bool_]) -> Pairs:
    """The pairs of systems, from the top of the order down."""
    rows, columns = np.nonzero(which[np.ix_(order, order)])
    pairs = zip(order[rows].tolist(), order[columns].tolist(), strict=True)
    return tuple((systems[high], systems[low]) for high, low in pairs)
