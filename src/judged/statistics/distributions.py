"""Student's t without scipy, which takes longer to load than a small comparison takes: tails,
quantiles, and how often a true difference is found."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

import numpy as np

from judged.arrays import Floats

MANY = 1e5
"""From so many degrees of freedom on, tails are left to scipy: fractions would converge slowly."""
PANELS = 48
"""Into how many parts an integral is cut."""
GAUSS = (
    (0.0, 0.5688888888888889),
    (0.5384693101056831, 0.47862867049936647),
    (-0.5384693101056831, 0.47862867049936647),
    (0.9061798459386640, 0.23692688505618908),
    (-0.9061798459386640, 0.23692688505618908),
)
"""The five nodes and weights of Gauss and Legendre."""


def normal_quantile(share: float) -> float:
    """The value of a standard normal distribution that so large a share stays below.

    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    return NormalDist().inv_cdf(share)


def t_tail(away: Floats, freedom: Floats) -> Floats:
    """How often t is above a value from 0 on: the half of the two-sided p.

    >>> float(t_tail(np.array([4.30265272974946]), np.array([2.0]))[0].round(12))
    0.025
    """
    away, freedom = np.broadcast_arrays(np.asarray(away, float), np.asarray(freedom, float))
    found = np.full(away.shape, np.nan)
    plain = (freedom > 0) & (freedom < MANY) & ~np.isnan(away)
    if plain.any():
        found[plain] = _tail(away[plain], freedom[plain])
    many = (freedom >= MANY) & ~np.isnan(away)
    if many.any():
        from scipy.special import ndtr, stdtr

        endless = np.isinf(freedom)
        some, all_ = many & ~endless, many & endless
        found[some], found[all_] = stdtr(freedom[some], -away[some]), ndtr(-away[all_])
    return found


def _tail(away: Floats, freedom: Floats) -> Floats:
    """Half of the incomplete beta function at x = ν/(ν + t²), of ν/2 and 1/2; where x is large, of
    the other side, for its fraction converges where x is small."""
    away = np.minimum(away, np.finfo(np.float64).max)
    with np.errstate(over="ignore", divide="ignore"):
        log_ratio = 2 * np.log(away) - np.log(freedom)
        ratio = np.minimum(away / freedom * away, 1e300)
    # Of a ratio beyond what a float holds there is still the logarithm.
    log_x = -np.where(ratio == 1e300, log_ratio, np.log1p(ratio))
    x, other = 1 / (1 + ratio), ratio / (1 + ratio)
    a, b = freedom / 2, np.full(len(freedom), 0.5)
    near = x > (a + 1) / (a + 2.5)
    first, second = np.where(near, b, a), np.where(near, a, b)
    at = np.where(near, other, x)
    gamma = np.array([_log_ratio(each) for each in a.tolist()])
    log_other = np.where(away == 0, 0.0, log_ratio + log_x)
    front = np.exp(gamma - 0.5 * math.log(math.pi) + a * log_x + 0.5 * log_other)
    part = front * _fraction(first, second, at) / first
    return np.where(away == 0, 0.5, np.where(near, 0.5 - part / 2, part / 2))


def _log_ratio(a: float) -> float:
    """The logarithm of Γ(a + 1/2)/Γ(a), by its series where both are large."""
    if a < 30:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    return math.log(a) / 2 - 1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5) + 17 / (14336 * a**7)


def _fraction(a: Floats, b: Floats, x: Floats) -> Floats:
    """The continued fraction of the incomplete beta function, from its front; each ends as soon as
    it does not change any more."""
    result: Floats = np.empty(len(a))
    going, c = np.arange(len(a)), np.ones(len(a))
    d = 1 / _apart(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        before = found
        for step in (even, odd):
            d = 1 / _apart(1 + step * d)
            c = _apart(1 + step / c)
            found = found * (c * d)
        moves = np.abs(found - before) > 4e-16 * np.abs(found)
        result[going] = found
        if not moves.any():
            break
        a, b, x, c, d, found = (each[moves] for each in (a, b, x, c, d, found))
        going = going[moves]
    return result


def _apart(values: Floats) -> Floats:
    """Values that can be divided by."""
    return np.where(np.abs(values) < 1e-300, 1e-300, values)


def t_quantile(freedom: Floats, share: float) -> Floats:
    """The value of Student's t that so large a share, above a half, stays below.

    >>> float(t_quantile(np.array([2.0]), 0.975)[0].round(9))
    4.30265273
    """
    freedom = np.asarray(freedom, np.float64)
    each, place = np.unique(freedom, return_inverse=True)
    found = np.array([_quantile(float(own), 1 - share) for own in each])
    return np.asarray(found[place.reshape(freedom.shape)], np.float64)


@cache
def _quantile(freedom: float, beyond: float) -> float:
    """Where so small a share is beyond, by Newton's steps in logarithms, which never overshoot far:
    the logarithm of a tail falls ever faster."""
    if not freedom > 0:
        return math.nan
    normal = -normal_quantile(beyond)
    if math.isinf(freedom):
        return normal
    square, by = normal * normal, max(freedom, 1.0)
    at = normal * (1 + (square + 1) / (4 * by))
    if by > 3:
        at += normal * ((5 * square + 16) * square + 3) / (96 * by * by)
    log_scale = _log_ratio(freedom / 2) - math.log(freedom * math.pi) / 2
    for _ in range(100):
        tail = float(t_tail(np.array([at]), np.array([freedom]))[0])
        log_density = log_scale - (freedom + 1) / 2 * math.log1p(at * at / freedom)
        step = math.log(tail / beyond) * tail / math.exp(log_density)
        new = max(at + step, at / 2) if step < 0 else min(at + step, 2 * at + 1)
        if abs(new - at) <= 1e-8 * abs(at):  # the rest is its square, or rounding
            return new
        at = new
    return at


def t_power(distance: float, freedom: float, critical: float, sides: int = 2) -> float:
    """How often t is beyond its critical value where the true mean is so many standard errors from
    0: the noncentral t.

    Given the estimate s of the standard error relative to the true one, t is beyond it as often as
    a normal value is above s times the critical one; that is averaged over s, whose square times ν
    is a chi-square of ν degrees of freedom.

    >>> round(t_power(2.8, 49.0, 2.0095752371292397), 6)
    0.783709
    """
    if math.isinf(freedom):
        return _beyond(1.0, distance, critical, sides)
    low, high = _ends(freedom)
    # Below the first of these scales nearly everything is beyond the critical value, above the
    # last nothing is.
    sharp = max(critical, 1e-9)
    first = min(max((distance - 10) / sharp, low), high)
    last = min(max((distance + 10) / sharp, low), high)
    found = 0.0
    for begin, end in ((low, first), (first, last)):
        if begin < end:
            nodes, weights = _mesh(begin, end)
            beyond = [_beyond(s, distance, critical, sides) for s in nodes.tolist()]
            found += float((weights * np.exp(_log_density(nodes, freedom))) @ np.array(beyond))
    return found / _whole(freedom)


def t_power_within(above: float, under: float, freedom: float, critical: float) -> float:
    """How often both of two one-sided t tests are beyond their critical value where the true mean
    is so many standard errors above a lower bound, and under an upper one.

    As for `t_power`, given the scale s of the estimated error: both are where a normal value lies
    between s times the critical value minus `above`, and `under` minus that product.

    >>> round(t_power_within(3.0, 3.0, 49.0, 1.6765508919142629), 6)
    0.810924
    """
    middle = (above + under) / 2
    if not middle > 0:
        return 0.0
    sharp = max(critical, 1e-9)
    if math.isinf(freedom):
        return _within(1.0, above, under, critical) if middle > critical else 0.0
    low, high = _ends(freedom)
    last = min(max(middle / sharp, low), high)  # from there on the bounds have crossed
    first = min(max((min(above, under) - 10) / sharp, low), last)
    found = 0.0
    for begin, end in ((low, first), (first, last)):
        if begin < end:
            nodes, weights = _mesh(begin, end)
            within = [_within(s, above, under, critical) for s in nodes.tolist()]
            found += float((weights * np.exp(_log_density(nodes, freedom))) @ np.array(within))
    return found / _whole(freedom)


def _within(scale: float, above: float, under: float, critical: float) -> float:
    """How often a normal value lies between two bounds."""
    low, high = critical * scale - above, under - critical * scale
    return (math.erfc(low / math.sqrt(2)) - math.erfc(high / math.sqrt(2))) / 2


def _beyond(scale: float, distance: float, critical: float, sides: int) -> float:
    """How often a normal value around the distance is further from 0 than the critical value times
    a scale."""
    found = math.erfc((critical * scale - distance) / math.sqrt(2)) / 2
    if sides == 2:
        found += math.erfc((critical * scale + distance) / math.sqrt(2)) / 2
    return found


def _ends(freedom: float) -> tuple[float, float]:
    """The scales that an estimate lies between, but for e⁻⁴⁰."""
    apart = 2 * math.sqrt(40 / freedom)
    return math.sqrt(max(0.0, 1 - apart)), math.sqrt(1 + apart + 80 / freedom)


def _mesh(low: float, high: float) -> tuple[Floats, Floats]:
    """Nodes and weights between two scales, even in their roots: a density of few degrees of
    freedom is not smooth at 0, and that of roots is."""
    begin, width = math.sqrt(low), (math.sqrt(high) - math.sqrt(low)) / PANELS
    middle = begin + width * (np.arange(PANELS)[:, None] + 0.5)
    roots = (middle + width / 2 * np.array([node for node, _ in GAUSS])).ravel()
    weights = np.tile([weight for _, weight in GAUSS], PANELS) * width / 2
    return roots * roots, weights * 2 * roots


def _log_density(scale: Floats, freedom: float) -> Floats:
    """The logarithm of the density of a scale, but for a constant: 0 at 1."""
    return (freedom - 1) * np.log(scale) - freedom * (scale * scale - 1) / 2


@cache
def _whole(freedom: float) -> float:
    """What the density sums up to."""
    nodes, weights = _mesh(*_ends(freedom))
    return float(weights @ np.exp(_log_density(nodes, freedom)))
