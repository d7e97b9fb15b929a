"""How near a list comes to an ideal one: compatibility, a rank-biased overlap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

import numpy as np

from judged.arrays import Floats, Ints, along, borders, count_above, divide, ordinals, starts_of
from judged.errors import MeasureError
from judged.measures.params import Choice, K, Number, show
from judged.measures.registry import Example, Mask, Undefined, measure
from judged.rankings.rankings import Cutoff, Rankings

_ANY = float(np.nextafter(0, 1))
"""Every item with a grade above 0 belongs to the ideal list."""


_NEAREST = 1e-8
"""How near to 1 the patience may be: the number of steps that sums take grows with 1 / sqrt(1 - p).
"""


@dataclass(frozen=True)
class Flag(Choice):
    """Yes or no, also written as Python does."""

    def check(self, value: Any) -> str:
        return super().check(str(value).lower() if isinstance(value, (str, bool)) else value)


def _nothing_preferred(r: Rankings, params: Mapping[str, Any]) -> Mask:
    return r.relevant(_ANY) == 0


@measure(
    name="Compat",
    aliases=("Compatibility",),
    title="Compatibility",
    says="The rank-biased overlap of the list with an ideal one, which holds the items of a "
    "grade above 0, the best grades first and equal grades in the order that suits the list "
    "best; divided by the most that any list can reach.",
    formula=(
        r"\frac{\sum_i p^{i-1}\,|L_i \cap I_i| / i}{\sum_i p^{i-1}\,|I_i| / i}, \quad L_i, "
        r"I_i:\ first\ i\ items"
    ),
    reference="clarke2021",
    range=(0, 1),
    params=(
        K,
        Number(
            "p",
            0.95,
            "the user's patience",
            low=0,
            high=1,
            open=True,
            phrase="each rank weighs {} times the one before",
        ),
        Flag(
            "normalize",
            "true",
            "whether the overlap is divided by the most that any list can reach",
            {
                "true": "the overlap is divided by the ideal list's overlap with itself",
                "false": (
                    "the overlap is divided by the sum of all ranks' weights, so that a short "
                    "ideal list has less than 1"
                ),
            },
        ),
    ),
    undefined=Undefined("no judged item of the query has a grade above 0", _nothing_preferred),
    laws={
        "swap_up_never_hurts",
        "append_unjudged_is_neutral",
        "below_k_is_ignored",
        "perfect_is_best",
    },
    # The item is in both lists from rank 2 on, in the ideal one from rank 1; 1 + 0.5/2 + 0.5^2/3 +
    # … = 2 ln 2: (2 ln 2 - 1) / (2 ln 2)
    example=Example("Compat(p=0.5)", "0 1", 1 - 1 / (2 * np.log(2))),
)
def compatibility(r: Rankings, *, k: Cutoff, p: float, normalize: str) -> Floats:
    if 1 - p < _NEAREST:
        raise MeasureError(
            f"p of Compat must not be nearer to 1 than {_NEAREST:g}, where its sums have no end; "
            f"got {show(p)}."
        )
    # An item that is at rank a of one list and rank b of the other counts at all ranks from the
    # later of the two on.
    hit, ideal = r.hit_grade > 0, r.pool_grade > 0
    query = r.hit_query[hit]
    later = np.maximum(r.hit_rank[hit], _ideal_rank(r, query, r.hit_grade[hit]))
    end = r.cutoff(k, _ANY)
    overlap = r.total(query, _weights_from(later, end[query], p))
    most = r.total(
        r.pool_query[ideal], _weights_from(r.pool_place[ideal], end[r.pool_query[ideal]], p)
    )
    weights = -np.expm1(end * np.log(p)) / (1 - p)
    return divide(overlap, most if normalize == "true" else np.where(most > 0, weights, 0.0))


def _ideal_rank(r: Rankings, query: Ints, grade: Floats) -> Ints:
    """Rank each preferred hit in the ideal list, after better items and earlier equals."""
    sizes = np.bincount(r.pool_query, minlength=len(r))
    better = count_above(r.pool_grade, starts_of(sizes), sizes, query, grade, or_equal=False)
    # An item's equals in its query are those with as many better ones; the sort is stable, so ranks
    # keep their order.
    tier = query * (int(sizes.max(initial=0)) + 1) + better
    order = np.argsort(tier, kind="stable")
    number = np.cumsum(borders(tier[order])) - 1
    place = np.empty(len(query), np.int64)
    place[order] = ordinals(number, len(order))
    return better + place


def _weights_from(rank: Ints, end: Floats, p: float) -> Floats:
    """Add up p^(i - 1) / i over the ranks i from some rank to the last."""

    def tail(rank: Floats) -> Floats:
        return _tail(rank, p)

    return np.where(rank <= end, along(tail, rank.astype(np.float64)) - along(tail, end + 1), 0.0)


def _tail(rank: Floats, p: float) -> Floats:
    """Add up p^(i - 1) / i over all i from some rank on (from 1); 0 for infinity.

    Gauss's continued fraction of 1/m + p/(m + 1) + p²/(m + 2) + …, from the inside out: some 10 /
    sqrt(1 - p) steps, where the series itself would take 40 / (1 - p), and each rank on its own.

    >>> round(float(_tail(np.array([1.0]), 0.5)[0] / np.log(2)), 12)
    2.0
    """
    m = np.where(np.isfinite(rank), np.maximum(rank, 1.0), 1.0)
    fraction = np.ones(len(m))
    for n in range(ceil(10 / sqrt(1 - p)), 0, -1):
        fraction = 1 - p * n**2 / ((m + 2 * n - 1) * (m + 2 * n) * fraction)
        fraction = 1 - p * (m + n - 1) ** 2 / ((m + 2 * n - 2) * (m + 2 * n - 1) * fraction)
    return np.where(np.isfinite(rank), p ** (m - 1) / (m * fraction), 0.0)
