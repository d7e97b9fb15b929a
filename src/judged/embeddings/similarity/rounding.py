"""How far a computed score may lie from the real one: proven bounds of rounding errors.

A rounding changes a number x by at most u |x|, u = 2^-24 in single and 2^-53 in double precision,
or by at most the smallest normal number t where x is smaller than that. So, for sums in any order:

- A product of two vectors of n numbers p and x is off by at most g |p| |x| + n t with
  g = n u / (1 - n u), as the sum of the |p_i x_i| is at most |p| |x| (Cauchy and Schwarz).
- Where the vectors are themselves off by at most k u of their lengths each (and t per number),
  that is another 2 k u |p| |x| and n t (|p| + |x|), but for terms of u squared.

One more rounding on each side pays for the terms left out, for the lengths' own rounding, and for
that of the real score to double precision, by which two scores may become one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from judged.arrays import Floats

Precision = type[np.floating[Any]]


def unit(precision: Precision) -> float:
    """The greatest share of a number that rounding it can change it by."""
    return float(np.finfo(precision).eps) / 2


def sum_error(count: int, precision: Precision) -> float:
    """What a sum of so many products is off by at most, as a share of the sum of their sizes."""
    share = count * unit(precision)
    return share / (1 - share) if share < 0.5 else np.inf


def product_bound(
    lengths: Floats, longest: float, dims: int, blur: float, precision: Precision
) -> Floats:
    """For each query a bound of what any of its products is off by.

    `lengths` are those of the queries, `longest` is that of the longest item, and `blur` the number
    of roundings that each vector was made ready with.
    """
    share = sum_error(dims, precision) + 2 * (blur + 1) * unit(precision)
    return share * lengths * longest + vanished(lengths + longest, dims, precision)


def vanished(lengths: Floats, dims: int, precision: Precision) -> Floats:
    """What is lost by numbers too small for the precision."""
    return 2 * dims * float(np.finfo(precision).tiny) * (1 + lengths)
