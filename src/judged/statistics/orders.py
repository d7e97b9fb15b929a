"""Agreement of orders: Kendall's tau-b, tau-AP and the weighted tau."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, borders, divide, positions, starts_of
from judged.errors import InputError, quoted
from judged.options import real
from judged.statistics.samples import CLOSE
from judged.text import few, plain

FEWEST_SYSTEMS = 3
"""Two systems are in the same order or in the reversed one, which shows next to nothing."""
System = str | int
Pairs = tuple[tuple[System, System], ...]


@dataclass(frozen=True)
class OrderAgreement:
    """The agreement of two orders of the same systems.

    >>> order_agreement([0.5, 0.4, 0.3], [0.5, 0.4, 0.3]).tau
    1.0
    """

    systems: tuple[System, ...]
    """Names of the systems, or numbers from 0."""
    tau: float
    """Kendall's tau-b; NaN if undefined."""
    tau_ap: float
    """tau-AP with x as the truth: pairs count by their rank in y, ties by the mean over their
    orders."""
    tau_ap_reversed: float
    """tau-AP with y as the truth."""
    weighted_tau: float
    """Vigna's weighted tau: the mean of both with the ranks of x and of y, a pair weighing
    1/rank + 1/rank."""
    swaps: Pairs
    """Pairs in opposite order in x and y; the first is above the second in x. From the top of x."""
    tied_in_x: Pairs
    """Pairs tied in x only; the first is above the second in y."""
    tied_in_y: Pairs
    """Pairs tied in y only; the first is above the second in x."""
    note: str = ""
    """Why the numbers are undefined, where they are."""

    @property
    def tau_ap_symmetric(self) -> float:
        """The mean of tau-AP in both directions."""
        return (self.tau_ap + self.tau_ap_reversed) / 2

    @property
    def pairs(self) -> int:
        """The number of pairs of systems."""
        return math.comb(len(self.systems), 2)

    @property
    def same(self) -> bool:
        """True if both orders are the same, ties included."""
        return not (self.swaps or self.tied_in_x or self.tied_in_y)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; undefined numbers are None, and `note` says why.

        >>> order_agreement([3, 2, 1], [3, 1, 2]).to_dict()["swaps"]
        [[1, 2]]
        """
        taus = ("tau", "tau_ap", "tau_ap_reversed", "tau_ap_symmetric", "weighted_tau")
        pairs = ("swaps", "tied_in_x", "tied_in_y")
        return {
            "systems": list(self.systems),
            **{name: plain(getattr(self, name)) for name in taus},
            "pairs": self.pairs,
            "same": self.same,
            **{name: [list(pair) for pair in getattr(self, name)] for name in pairs},
            "note": self.note,
        }


def order_agreement(
    x: Mapping[str, float] | Sequence[float] | NDArray[Any],
    y: Mapping[str, float] | Sequence[float] | NDArray[Any],
) -> OrderAgreement:
    """Compare two orders of the same systems, by their values (higher is better).

    Values within a relative 1e-12 are ties. tau-AP is its mean over all orders of the ties of both
    sides. The weighted tau is that of `scipy.stats.weightedtau`.

    Parameters
    ----------
    x, y : dict or sequence of float
        The value of each of at least three systems: {name: value} with the same names in both, or
        two sequences of the same length. Values may be infinite, but not NaN.

    Returns
    -------
    OrderAgreement
        Undefined numbers are NaN, and its `note` says why.

    >>> found = order_agreement({"a": 0.5, "b": 0.4, "c": 0.1}, {"c": 0.2, "b": 0.7, "a": 0.6})
    >>> found.tau, found.swaps
    (0.3333333333333333, (('a', 'b'),))
    """
    sides = {name: _by_system(name, values) for name, values in (("x", x), ("y", y))}
    for name, other in (("x", "y"), ("y", "x")):
        if alone := [str(system) for system in sides[name] if system not in sides[other]]:
            raise InputError(
                f"x and y must have a value for the same systems; {name} has {few(alone)}, which "
                f"{other} lacks."
            )
    systems = tuple(sides["x"])
    if len(systems) < FEWEST_SYSTEMS:
        raise InputError(
            f"an agreement of orders needs at least three systems; got {len(systems)}. Two systems "
            "are in one order or in the other: compare their values."
        )
    first, second = (np.array([side[system] for system in systems]) for side in sides.values())
    above = [levels_of(first), levels_of(second)]
    orders = [np.sign(levels[None, :] - levels[:, None]).astype(np.int8) for levels in above]
    note = _undefined(above)
    tau, tau_ap, tau_ap_reversed, weighted = (math.nan,) * 4 if note else _taus(above, orders)
    order = np.lexsort((above[1], above[0]))
    return OrderAgreement(
        systems,
        tau,
        tau_ap,
        tau_ap_reversed,
        weighted,
        swaps=_name_pairs(systems, order, (orders[0] > 0) & (orders[1] < 0)),
        tied_in_x=_name_pairs(systems, order, (orders[0] == 0) & (orders[1] > 0)),
        tied_in_y=_name_pairs(systems, order, (orders[1] == 0) & (orders[0] > 0)),
        note=note,
    )


def _by_system(name: str, values: Any) -> dict[System, float]:
    """Return the value of each system; systems without names are numbers from 0."""
    if hasattr(values, "items"):  # a dict or a pandas Series
        cells = {key if isinstance(key, str | int) else str(key): x for key, x in values.items()}
    elif isinstance(values, str | bytes) or np.ndim(values) != 1:
        raise InputError(
            f"{name} must be {{system: value}}, or a sequence of values; got {quoted(values)}."
        )
    else:
        cells = dict(enumerate(values))
    if len(cells) < len(values):
        raise InputError(f"{name} has two values for one system; give one.")
    numbers: dict[System, float] = {}
    for system, cell in cells.items():
        value = cell.item() if isinstance(cell, np.generic) else cell
        number = value if isinstance(value, float) else real(value)
        if number is None or math.isnan(number):
            raise InputError(
                f"{name} must have a number for each system; got {quoted(cell)} for system "
                f"{quoted(system)}."
            )
        numbers[system] = number
    return numbers


def levels_of(values: Floats) -> Ints:
    """Count the distinct values above each value; values within rounding share a level."""
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
    tied = [name for name, level in zip("xy", levels, strict=True) if not level.any()]
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
    """Rank from 1 by the first levels, ties by the second."""
    ranks = np.empty(len(first))
    ranks[np.lexsort((second, first))] = np.arange(1.0, len(first) + 1)
    return ranks


def _tau(weights: Floats, orders: Sequence[NDArray[np.int8]]) -> float:
    """Compute tau-b of pairs that weigh the sum of their systems' weights."""
    pairs = weights[:, None] + weights
    first, second = orders
    untied = [float((pairs * (order != 0)).sum()) for order in orders]
    tau = float((pairs * (first * second)).sum()) / math.sqrt(untied[0] * untied[1])
    return max(-1.0, min(1.0, tau))


def _tau_ap(levels: Ints, truth: NDArray[np.int8]) -> float:
    """Compute tau-AP of an order against a truth: the mean over all orders of the ties of both."""
    # It is 2/(n−1) · Σ over pairs of P(the truth has i above j) · E[i above j, over rank(j) − 1] −
    # 1. A tied j has any rank of its tie alike. What is tied with j, at the r-th of m ranks, is
    # above it in r − 1 of m − 1 cases.
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
    tau = 2 * float((weights * (1 + truth) / 2).sum()) / (len(levels) - 1) - 1
    return max(-1.0, min(1.0, tau))


def _name_pairs(systems: tuple[System, ...], order: Ints, which: NDArray[np.bool_]) -> Pairs:
    """Return the pairs of systems, from the top of the order down."""
    rows, columns = np.nonzero(which[np.ix_(order, order)])
    pairs = zip(order[rows].tolist(), order[columns].tolist(), strict=True)
    return tuple((systems[high], systems[low]) for high, low in pairs)


def taus(first: Ints, second: Ints, segment: Ints, segments: int) -> Floats:
    """Compute tau-b of each segment's elements, given two columns of ranks with ties."""
    # `segment` numbers the segment of each element, in any order. NaN where a segment has fewer
    # than two elements, or all are tied on one side.
    order = _sorted_order(segment, first, second)
    first, second, segment = first[order], second[order], segment[order]
    sizes = np.bincount(segment, minlength=segments)
    every = _pair_counts(sizes)
    tied = _tied_pairs(borders(segment, first), segment, segments)
    tied_in_both = tied
    if tied.any():
        tied_in_both = _tied_pairs(borders(segment, first, second), segment, segments)
    discordant, ordered = _inversions(second, sizes)
    tied_in_second = _tied_pairs(borders(segment, ordered), segment, segments)
    # Where elements are tied in the first column the second one ascends: these are no inversions.
    concordant = every - tied - tied_in_second + tied_in_both - discordant
    untied = np.sqrt(every - tied) * np.sqrt(every - tied_in_second)
    return np.clip(divide(concordant - discordant, untied), -1.0, 1.0)


def _sorted_order(segment: Ints, first: Ints, second: Ints) -> Ints | slice:
    """Return the order by segment, first and second, packed into one number if it fits."""
    widths = [int(column.max(initial=0)).bit_length() for column in (segment, first, second)]
    if sum(widths) > 62:
        return np.lexsort((second, first, segment))
    packed = (segment << widths[1] | first) << widths[2] | second
    return slice(None) if (packed[1:] >= packed[:-1]).all() else np.argsort(packed, kind="stable")


def _pair_counts(sizes: Ints) -> Floats:
    return sizes * (sizes - 1) / 2


def _tied_pairs(new: NDArray[np.bool_], segment: Ints, segments: int) -> Floats:
    """Count the pairs of each segment that are in the same run of equal elements."""
    if new.all():
        return np.zeros(segments)
    starts = np.flatnonzero(new)
    sizes = np.diff(np.append(starts, len(new)))
    return np.bincount(segment[starts], _pair_counts(sizes), segments).astype(np.float64)


def _inversions(values: Ints, lengths: Ints) -> tuple[Floats, Ints]:
    """Count the pairs of each segment in descending order, and sort the values within segments."""
    # Segments of similar length are the rows of a padded matrix, merged block by block as in merge
    # sort.
    counts, ordered = np.zeros(len(lengths)), values.copy()
    starts = starts_of(lengths)
    size = np.ceil(np.log2(np.maximum(lengths, NARROW))).astype(np.int64)
    for bucket in np.unique(size[lengths > 1]):
        rows = np.flatnonzero((size == bucket) & (lengths > 1))
        step = max(1, (1 << 22) >> int(bucket))
        for begin in range(0, len(rows), step):
            some = rows[begin : begin + step]
            rows_at = positions(starts[some], lengths[some])
            filled = np.arange(1 << bucket) < lengths[some][:, None]
            most = int(values[rows_at].max())
            matrix = np.full(filled.shape, most + 1, np.int32 if most < 2**29 else np.int64)
            matrix[filled] = values[rows_at]
            counts[some], matrix = _merge(matrix)
            ordered[rows_at] = matrix[filled]
    return counts, ordered


NARROW, WIDE = 16, 128
"""Rows are padded to the first width at least, and compared pair by pair up to the second, which
halves the time of merging from the first on."""


def _merge(matrix: NDArray[Any]) -> tuple[Floats, NDArray[Any]]:
    """Count the inversions of each row (its width is a power of two), and sort the rows."""
    width = matrix.shape[1]
    half = min(width, WIDE)
    # One line of memory for each place of a block, so that lines are compared with lines.
    places = np.ascontiguousarray(matrix.reshape(-1, half).T)
    falls = np.zeros(places.shape[1], np.int64)
    for apart in range(1, half):
        fall = (places[:-apart] > places[apart:]).view(np.uint8)
        falls += np.add.reduce(fall, axis=0, dtype=np.uint8)  # fewer than WIDE
    counts = falls.reshape(len(matrix), -1).sum(axis=1).astype(np.float64)
    if width == half:
        return counts, np.sort(matrix, axis=1)
    while half < width:
        # Of equal values the left one is first: they are no inversion.
        side = (np.arange(2 * half) >= half).astype(matrix.dtype)
        blocks = matrix.reshape(-1, 2 * half) * 2 + side
        blocks.sort(axis=1)
        right = blocks & 1
        left_after = half - np.cumsum(1 - right, axis=1)
        counts += (left_after * right).sum(axis=1).reshape(len(matrix), -1).sum(axis=1)
        matrix = (blocks >> 1).reshape(len(matrix), width)
        half *= 2
    return counts, matrix
