"""Sums and cosines rounded once: the double-precision number nearest to the real one.

Such a number does not depend on the order in which a processor adds, so that two machines, and two
ways to cut the work into pieces, agree on it to the last bit. Almost all are settled by a few
vectorised steps with a bound of what these leave out; what the bound leaves open is done with
fractions.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.errors import InputError

Numbers = NDArray[np.floating[Any]]
Rows = slice | Ints
_ROUNDING = 2.0**-53
_MORE = 12
"""Pieces for the few rows that one does not settle."""
_NARROW = 2.0**-400
"""Numbers smaller than this share of their vector's greatest are left to fractions: errors of their
products might vanish."""


class Sum(NamedTuple):
    """Sums as pairs of numbers to be added; what a pair lacks is at most the error."""

    high: Floats
    low: Floats
    error: Floats

    def take(self, rows: Rows) -> Sum:
        return Sum(*(each[rows] for each in self))


class Pairs(NamedTuple):
    """As many queries as items to be scored with each other: rows of both sides, each listed
    once."""

    queries: Numbers
    items: Numbers
    query: Ints
    item: Ints

    def left(self, rows: Rows) -> Numbers:
        return self.queries.take(self.query[rows], axis=0)

    def right(self, rows: Rows) -> Numbers:
        return self.items.take(self.item[rows], axis=0)

    def apart(self) -> Floats:
        """The difference of the two vectors of each pair, rounded."""
        with np.errstate(over="ignore"):
            return np.subtract(self.left(slice(None)), self.right(slice(None)), dtype=np.float64)

    def fractions(self, row: int) -> tuple[list[Fraction], list[Fraction]]:
        """The two vectors of a pair, as real numbers."""
        query, item = self.queries[self.query[row]], self.items[self.item[row]]
        return [Fraction(each) for each in query.tolist()], [
            Fraction(each) for each in item.tolist()
        ]


def two_sum(left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """A rounded sum and its error, exactly."""
    total = left + right
    added = total - left
    return total, (left - (total - added)) + (right - added)


def two_product(left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """A rounded product and its error, exactly, by halves of 26 bits."""
    product = left * right
    (a, b), (c, d) = _halves(left), _halves(right)
    return product, ((a * c - product) + a * d + b * c) + b * d


def _halves(numbers: Floats) -> tuple[Floats, Floats]:
    spread = numbers * 134217729.0
    high = spread - (spread - numbers)
    return high, numbers - high


def products(left: Numbers, right: Numbers) -> Floats:
    """Numbers whose sum over a row is exactly that of left times right."""
    if left.dtype == right.dtype == np.float32:
        return np.multiply(left, right, dtype=np.float64)  # 24 and 24 bits fit into 53
    return np.concatenate(two_product(left.astype(float), right.astype(float)), axis=1)


def sum_of(terms: Floats, pieces: int = 1) -> Sum:
    """The sum of each row; `terms` are overwritten.

    Adding and taking off a large power of two leaves of each term its leading bits, all multiples
    of one unit and together fewer than 2^53 of them: they add up without rounding, in any order.
    What is left of the terms is done the same way again, or summed with a bound of its rounding.
    """
    room = int(terms.shape[1] - 1).bit_length() + 1
    high = low = lost = np.zeros(len(terms))
    for _ in range(pieces):
        top = np.maximum(terms.max(axis=1), -terms.min(axis=1))
        if pieces > 1 and not top.any():
            break
        large = np.ldexp(1.0, np.frexp(top)[1] + room)[:, None]
        leading = terms + large
        leading -= large
        terms -= leading
        high, low, lost = _added(high, low, lost, leading.sum(axis=1))
    rest = terms.sum(axis=1)
    size = np.abs(terms, out=terms).sum(axis=1)
    high, low, lost = _added(high, low, lost, rest)
    # A sum of n numbers is off by at most n roundings of the sum of their sizes; twice that covers
    # the rounding of the bound itself.
    error = 2 * _ROUNDING * (terms.shape[1] + 1) * size + 2 * lost
    return Sum(*two_sum(high, low), error)


def _added(high: Floats, low: Floats, lost: Floats, more: Floats) -> tuple[Floats, Floats, Floats]:
    """A pair with a number added; the size of what the pair cannot hold comes to what was lost."""
    high, less = two_sum(high, more)
    low, missed = two_sum(low, less)
    return high, low, lost + np.abs(missed)


def _nearest(high: Floats, low: Floats, error: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """The number nearest to high + low, and whether it is so wherever within the error that
    lies."""
    error = np.where(error > 0, error + 2 * _ROUNDING * np.abs(low), 0.0)
    up, down = high + (low + error), high + (low - error)
    return high + low, up == down


def _all_settled(
    fast: Callable[[Rows, int], tuple[Floats, NDArray[np.bool_]]],
    slow: Callable[[int], float],
    wild: NDArray[np.bool_],
) -> Floats:
    """What a fast way gives where it is sure, in one piece or in many, and a slow way elsewhere."""
    result, sure = fast(slice(None), 1)
    left = np.flatnonzero(~sure | wild)
    if len(left):
        result[left], sure = fast(left, _MORE)
        for row in left[~sure | wild[left]].tolist():
            result[row] = slow(row)
    return result


def scaled(block: Numbers) -> tuple[Numbers, Ints, NDArray[np.bool_]]:
    """Vectors times powers of two that bring their greatest numbers near 1; the powers; and which
    vectors have numbers far smaller than their greatest. Single precision needs none of that."""
    if block.dtype == np.float32:
        none = np.zeros(len(block), np.int64)
        return block, none, none > 0
    size = np.abs(block)
    top = size.max(axis=1)
    power = np.frexp(top)[1].astype(np.int64)
    least = np.min(size, axis=1, where=size > 0, initial=np.inf)
    with np.errstate(under="ignore"):
        values = np.ldexp(block, -power[:, None])
        return values, power, np.ldexp(least, -power) < _NARROW


def dots(pairs: Pairs) -> Floats:
    """The dot product of each pair, rounded once."""
    (queries, up, wild), (items, more, wilder) = scaled(pairs.queries), scaled(pairs.items)
    near = Pairs(queries, items, pairs.query, pairs.item)
    power = up[pairs.query] + more[pairs.item]

    def fast(rows: Rows, pieces: int) -> tuple[Floats, NDArray[np.bool_]]:
        return _nearest(*sum_of(products(near.left(rows), near.right(rows)), pieces))

    def slow(row: int) -> float:
        left, right = pairs.fractions(row)
        real = sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))
        found, power[row] = _near_1(real)
        return found

    unsure = wild[pairs.query] | wilder[pairs.item]
    found = _all_settled(fast, slow, unsure)
    return _powered(found, power)


def _near_1(real: Fraction) -> tuple[float, int]:
    """A real number over a power of two, near 1 so that no digit vanishes, rounded; and the
    power."""
    power = real.numerator.bit_length() - real.denominator.bit_length()
    return float(real / Fraction(2) ** power), power


def _powered(found: Floats, power: Ints) -> Floats:
    """Scores times powers of two; what double precision cannot hold is no score."""
    if not power.any():
        return found
    with np.errstate(over="ignore", under="ignore"):
        result = np.ldexp(found, power)
        less = np.ldexp(result, -power) != found
    large = np.isinf(result)
    for wrong, size, change in ((large, "large", "divide"), (less & ~large, "small", "multiply")):
        if wrong.any():
            raise InputError(
                f"some numbers of the vectors are so {size} that double precision cannot hold a "
                f"score; {change} all of them by the same number."
            )
    return result


def cosines(pairs: Pairs) -> Floats:
    """The cosine of each pair, rounded once: parallel vectors have the same, however long."""
    (queries, _, wild), (items, _, wilder) = scaled(pairs.queries), scaled(pairs.items)
    near = Pairs(queries, items, pairs.query, pairs.item)

    def fast(rows: Rows, pieces: int) -> tuple[Floats, NDArray[np.bool_]]:
        product = sum_of(products(near.left(rows), near.right(rows)), pieces)
        if pieces == 1:
            squares = (
                sum_of(products(queries, queries)).take(pairs.query),
                sum_of(products(items, items)).take(pairs.item),
            )
        else:
            squares = (
                sum_of(products(near.left(rows), near.left(rows)), pieces),
                sum_of(products(near.right(rows), near.right(rows)), pieces),
            )
        return _nearest(*_cosine(product, *squares))

    def slow(row: int) -> float:
        left, right = pairs.fractions(row)
        real = sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))
        square = sum(a * a for a in left) * sum(a * a for a in right)
        root = nearest_root(real * real / square)
        return root if real > 0 else -root

    unsure = wild[pairs.query] | wilder[pairs.item]
    return _all_settled(fast, slow, unsure)


def _cosine(product: Sum, left: Sum, right: Sum) -> Sum:
    """The product over the root of the two squares' product, with twice the digits of a number."""
    square, rest = two_product(left.high, right.high)
    rest = rest + (left.high * right.low + left.low * right.high)
    root = np.sqrt(square)
    again, error = two_product(root, root)
    root_low = (((square - again) - error) + rest) / (2 * root)
    value = product.high / root
    again, error = two_product(value, root)
    low = ((((product.high - again) - error) + product.low) - value * root_low) / root
    # Each step is off by a few roundings of a rounding; 2^-95 is some hundred times as much. What
    # the three sums lack comes on top, as shares of them.
    share = left.error / left.high + right.error / right.high
    error = np.abs(value) * (2.0**-95 + 2 * share) + 4 * product.error / root
    return Sum(*two_sum(value, low), error)


def nearest_root(square: Fraction) -> float:
    """The double-precision number nearest to the root of a fraction.

    >>> nearest_root(Fraction(1, 4))
    0.5
    """
    if not square:
        return 0.0
    shift = max(0, 64 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2)
    scaled = square.numerator << 2 * shift
    root = isqrt(scaled // square.denominator)
    # One more digit says whether there is more to come: all that rounding needs to know.
    more = root * root * square.denominator != scaled
    return float(Fraction(2 * root + more, 2 << shift))


def lengths(block: Floats) -> Floats:
    """The length of each vector: its square rounded once, and the root of that."""
    values, power, _ = scaled(block)
    own = np.arange(len(block))
    return np.ldexp(np.sqrt(dots(Pairs(values, values, own, own))), power)


def times(left: Floats, right: Floats) -> Floats:
    """A matrix product in double precision of which every bit is the same on all processors.

    Rows and columns are cut into three slices of so few bits that the products of slices add up
    without rounding, in any order; the slices' products are then added in one order.
    """
    bits = (53 - int(left.shape[1] - 1).bit_length()) // 2
    (rows, up), (columns, more) = _slices(left, bits, 1), _slices(right, bits, 0)
    total = np.zeros((left.shape[0], right.shape[1]))
    for depth in (2, 1, 0):
        for at in range(depth + 1):
            total += np.ldexp(rows[at] @ columns[depth - at], -bits * (depth + 2))
    return np.ldexp(total, up + more)


def _slices(matrix: Floats, bits: int, axis: int) -> tuple[list[Floats], Ints]:
    """Whole numbers of at most so many bits, the leading ones first, and the power of two that the
    first are fractions of."""
    power = np.frexp(np.abs(matrix).max(axis=axis, keepdims=True))[1]
    rest = np.ldexp(matrix, -power)
    found = []
    for _ in range(3):
        rest = np.ldexp(rest, bits)
        found.append(np.rint(rest))
        rest = rest - found[-1]
    return found, power


def half_squares(pairs: Pairs) -> Floats:
    """Minus half the squared distance of each pair, rounded once."""

    def terms(left: Floats, right: Floats) -> Floats:
        apart, error = two_sum(left, -right)
        parts = list(two_product(apart, apart))
        if error.any():
            parts += [*two_product(2 * apart, error), *two_product(error, error)]
        return np.concatenate(parts, axis=1)

    def real(left: list[Fraction], right: list[Fraction]) -> Fraction:
        return sum(((a - b) ** 2 for a, b in zip(left, right, strict=True)), Fraction(0))

    return _of_differences(pairs, terms, real, 2) / -2


def absolute_sums(pairs: Pairs) -> Floats:
    """Minus the sum of absolute differences of each pair, rounded once."""

    def terms(left: Floats, right: Floats) -> Floats:
        apart, error = two_sum(left, -right)
        sign = np.sign(apart)
        return np.concatenate([sign * apart, sign * error], axis=1)

    def real(left: list[Fraction], right: list[Fraction]) -> Fraction:
        return sum((abs(a - b) for a, b in zip(left, right, strict=True)), Fraction(0))

    return -_of_differences(pairs, terms, real, 1)


def _of_differences(
    pairs: Pairs,
    terms: Callable[[Floats, Floats], Floats],
    real: Callable[[list[Fraction], list[Fraction]], Fraction],
    degree: int,
) -> Floats:
    (_, up, wild), (_, more, wilder) = scaled(pairs.queries), scaled(pairs.items)
    # Both vectors of a pair are divided by the same power of two.
    power = np.maximum(up[pairs.query], more[pairs.item])
    least = np.minimum(up[pairs.query], more[pairs.item])
    unsure = wild[pairs.query] | wilder[pairs.item] | (power - least > 400)

    def fast(rows: Rows, pieces: int) -> tuple[Floats, NDArray[np.bool_]]:
        left, right = (each.astype(np.float64) for each in (pairs.left(rows), pairs.right(rows)))
        if power.any():
            with np.errstate(under="ignore"):
                left, right = (np.ldexp(each, -power[rows][:, None]) for each in (left, right))
        return _nearest(*sum_of(terms(left, right), pieces))

    total = degree * power

    def slow(row: int) -> float:
        found, total[row] = _near_1(real(*pairs.fractions(row)))
        return found

    found = _all_settled(fast, slow, unsure)
    return _powered(found, total)
