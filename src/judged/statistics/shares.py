"""Intervals of shares: so many successes of so many."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from judged.arrays import Floats
from judged.statistics.distributions import normal_quantile


def wilson(successes: ArrayLike, size: ArrayLike, level: float) -> tuple[Floats, Floats]:
    """Wilson's score interval: the shares from which what was found is not too far.

    Parameters
    ----------
    successes, size : array
        How many of how many; neither need be whole, as an effective number is not.
    level : float
        In how many of all samples the interval holds the true share, about.

    Returns
    -------
    tuple of two arrays
        Lower and upper ends.

    >>> [round(float(end), 4) for end in wilson(10, 10, 0.95)]
    [0.7225, 1.0]
    """
    successes, size = np.asarray(successes, np.float64), np.asarray(size, np.float64)
    z = normal_quantile((1 + level) / 2)
    share = successes / size
    middle = share + z * z / (2 * size)
    half = z * np.sqrt(share * (1 - share) / size + (z / size) ** 2 / 4)
    whole = 1 + z * z / size
    low = np.where(successes <= 0, 0.0, (middle - half) / whole)
    high = np.where(successes >= size, 1.0, (middle + half) / whole)
    return low, high


def clopper_pearson(
    successes: ArrayLike, size: ArrayLike, level: float, *, one_sided: bool = False
) -> tuple[Floats, Floats]:
    """The exact interval of a share, by the binomial; never too narrow.

    Parameters
    ----------
    successes, size : array
        How many of how many.
    level : float
        In how many of all samples, at least, the interval holds the true share.
    one_sided : bool
        Whether each end alone has that level, in place of both together.

    Returns
    -------
    tuple of two arrays
        Lower and upper ends.

    >>> [round(float(end), 4) for end in clopper_pearson(10, 10, 0.95)]
    [0.6915, 1.0]
    """
    from scipy.special import betaincinv

    successes, size = np.asarray(successes, np.float64), np.asarray(size, np.float64)
    outside = (1 - level) / (1 if one_sided else 2)
    none, all_of_them = successes <= 0, successes >= size
    failures = size - successes
    low = betaincinv(np.where(none, 1, successes), failures + 1, outside)
    # The upper end of successes is 1 minus the lower end of failures.
    high = 1 - betaincinv(np.where(all_of_them, 1, failures), successes + 1, outside)
    return np.where(none, 0.0, low), np.where(all_of_them, 1.0, high)
