"""Graded gain, discounted with rank: DCG and nDCG."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from judged.arrays import Floats, Ints, descending, divide, ordinals
from judged.errors import MeasureError
from judged.measures.expected import mean_weights
from judged.measures.params import Choice, Gains, K, Number
from judged.measures.spec import ITSELF, NEVER, Example, Mask, Undefined, measure
from judged.measures.worth import Closed, Worth, by_grade, own_merit, uncut
from judged.rankings.rankings import Cutoff, Rankings

GAIN = Choice(
    "gain",
    "linear",
    "what an item of grade g gains",
    {
        "linear": "an item gains its grade; a negative grade gains nothing",
        "exp": "an item of grade g gains 2^g - 1; a negative grade gains nothing",
        "binary": "an item of a grade above 0 gains 1",
    },
)
LOG = Number(
    "log",
    2,
    "the base of the discount",
    low=1,
    open=True,
    phrase="the item at rank i is divided by the logarithm of i + 1 to base {}",
)
IDEAL = Choice(
    "ideal",
    "judged",
    "which list is the ideal one",
    {
        "judged": "the ideal list is made of all judged items, retrieved or not",
        "retrieved": "the ideal list is the best order of the retrieved items that count",
        "shown": (
            "the ideal list is made of all judged items, but has no more of them than the list "
            "has results"
        ),
        "cutoff": (
            "the ideal list has k items that all gain as much as the best judged one, whether "
            "there are so many or not"
        ),
    },
)


Scale = Floats | None
"""The power of two by which the gain of each item is divided; None where no item needs it."""


def exponential(grade: Floats, scale: Scale = None) -> Floats:
    """2^grade - 1 for grades from 0, divided by 2^scale before it can overflow; the smallest grades
    keep their digits.

    >>> exponential(np.array([3.0, 5000.0]), np.array([0.0, 5000.0])).tolist()
    [7.0, 1.0]
    """
    # Only queries whose grades are all below 1 have a scale below 0.
    down = 0.0 if scale is None else np.maximum(scale, 0)
    large = np.exp2(grade - down) - np.exp2(-down)
    small = (grade > 0) & (grade < 1)
    if small.any():
        tiny = grade < 1e-30
        near = np.where(tiny, grade, np.expm1(np.minimum(grade, 1) * np.log(2)))
        # The smallest numbers have few digits: they are scaled before they are multiplied.
        large = np.where(small, _over(near, scale) * np.where(tiny, np.log(2), 1), large)
    return large


def _over(value: Floats, scale: Scale) -> Floats:
    """value / 2^scale for whole scales, exactly as far as a number can hold it."""
    if scale is None:
        return value
    # 2^scale may be more than a number can hold, so half of the way is gone at a time.
    half = np.trunc(np.clip(scale, -4000, 4000) / 2)
    rest = np.clip(scale, -4000, 4000) - half
    return np.ldexp(np.ldexp(value, -half.astype(np.int32)), -rest.astype(np.int32))


_GAINS: dict[str, Callable[[Floats, Scale], Floats]] = {
    "linear": _over,
    "exp": exponential,
    "binary": lambda grade, scale: _over(np.sign(grade), scale),
}


def gains_of(
    grade: Floats, *, gain: str, gains: Mapping[float, float] | None, scale: Scale = None
) -> Floats:
    """What items of these grades gain, divided by 2^scale."""
    if not gains:
        return _GAINS[gain](np.maximum(grade, 0), scale)
    listed = np.isin(grade, list(gains))
    value = _GAINS[gain](np.where(listed, 0, np.maximum(grade, 0)), scale)
    own = np.zeros(len(grade))
    for level, each in gains.items():
        own[grade == level] = each
    return np.where(listed, _over(own, scale), value)


def gaining(grade: Floats, gains: Mapping[float, float] | None) -> Mask:
    """Which items gain something, however little beside what others gain."""
    some: Mask = grade > 0
    for level, own in (gains or {}).items():
        some = np.where(grade == level, own > 0, some)
    return some


_ORDINARY = 400
"""Up to 2^400, and down to 2^-400, gains can be added and multiplied as they are."""


def scales(r: Rankings, *, gain: str, gains: Mapping[float, float] | None) -> Scale:
    """The power of two that each query's gains are divided by where they are so great, or so small,
    that sums would overflow or lose digits; None where there is no such query."""
    grade = r.pool_grade
    own = [value for value in (gains or {}).values() if value]
    greatest = grade.max(initial=0) if gain == "exp" else _size(grade.max(initial=0))
    least = _size(grade.min(initial=1, where=grade > 0))
    if max(greatest, -least, *(abs(_size(value)) for value in own), 0) <= _ORDINARY:
        return None
    size = np.zeros(len(grade)) if gain == "binary" else np.frexp(np.maximum(grade, 0))[1] + 0.0
    if gain == "exp":
        size = np.where(grade >= 1, np.floor(grade), size)
    size[grade <= 0] = -np.inf
    for level, value in (gains or {}).items():
        size[grade == level] = _size(value) if value else -np.inf
    top = np.full(len(r), -np.inf)
    np.maximum.at(top, r.pool_query, size)
    return np.where(np.isfinite(top) & (np.abs(top) > _ORDINARY), top, 0.0)


def _size(value: float) -> int:
    return int(np.frexp(value)[1])


def scale_of(scale: Scale, query: Ints) -> Scale:
    """The scale of each item, from that of its query."""
    return None if scale is None else scale[query]


def by_gain(r: Rankings, *, gain: str = "linear", gains: Mapping[float, float] | None) -> Worth:
    """Items are worth what they gain; without a table a better grade never gains less."""
    if not gains:
        return by_grade(r)
    return Worth(gains_of(r.hit_grade, gain=gain, gains=gains), 0.0)


_ANY = np.nextafter(0, 1)
"""R in nDCG@R: every item with a grade above 0 is relevant."""


def discounts(rank: Ints | Floats, log: float = 2) -> Floats:
    """What a gain at some rank is multiplied by."""
    return np.log(log) / np.log1p(rank)


def _discounted(r: Rankings, query: Ints, rank: Ints, gain: Floats, log: float) -> Floats:
    return r.total(query, gain * discounts(rank, log))


FARTHEST = 10_000_000
"""The greatest k of measures that go through all ranks down to it, results or not."""


def check_reach(name: str, k: Cutoff) -> None:
    """Refuses a k whose ranks would take hours to go through, or more memory than there is."""
    if isinstance(k, int) and k > FARTHEST:
        raise MeasureError(
            f"{name} goes through all ranks down to k, so k must be at most {FARTHEST:,}; got "
            f"{k:,}."
        )


def _full(
    r: Rankings,
    *,
    k: Cutoff,
    gain: str,
    gains: Mapping[float, float] | None,
    log: float,
    scale: Scale,
) -> Floats:
    """The DCG of k items that all gain as much as the query's best."""
    check_reach("nDCG(ideal=cutoff)", k)
    top = np.zeros(len(r))
    own = gains_of(r.pool_grade, gain=gain, gains=gains, scale=scale_of(scale, r.pool_query))
    np.maximum.at(top, r.pool_query, own)
    depth = r.cutoff(k, _ANY).astype(np.int64)
    sums = np.concatenate(
        [[0.0], np.cumsum(discounts(np.arange(1, depth.max(initial=0) + 1), log))]
    )
    return top * sums[depth]


def _ideal(
    r: Rankings,
    *,
    k: Cutoff,
    gain: str,
    gains: Mapping[float, float] | None,
    log: float,
    ideal: str,
    scale: Scale = None,
) -> Floats:
    """The DCG of the best order."""
    if ideal == "cutoff":
        return _full(r, k=k, gain=gain, gains=gains, log=log, scale=scale)
    last = r.shown(k, _ANY) if ideal == "shown" else r.cutoff(k, _ANY)
    if ideal == "retrieved":
        within = r.within(k, _ANY)
        query, grade = r.hit_query[within], r.hit_grade[within]
    else:
        query, grade = r.pool_query, r.pool_grade
        if not gains:
            # Better grades never gain less, so the pool's order is the ideal one and its top is all
            # that is needed.
            within = r.pool_place <= last[query]
            query = query[within]
            own = gains_of(grade[within], gain=gain, gains=None, scale=scale_of(scale, query))
            return _discounted(r, query, r.pool_place[within], own, log)
    value = gains_of(grade, gain=gain, gains=gains, scale=scale_of(scale, query))
    best = descending(value, np.bincount(query, minlength=len(r)))
    place = ordinals(query, len(r))
    within = place <= last[query]
    return _discounted(r, query[within], place[within], best[within], log)


def _no_ideal(r: Rankings, params: Mapping[str, Any]) -> Mask:
    shape = {name: params[name] for name in ("k", "gain", "gains", "log")}
    scale = scales(r, gain=params["gain"], gains=params["gains"])
    return _ideal(r, **shape, ideal="judged", scale=scale) == 0


def no_gain(r: Rankings, params: Mapping[str, Any]) -> Mask:
    """Which queries have no judged item that gains anything."""
    return r.total(r.pool_query[gaining(r.pool_grade, params["gains"])]) == 0


def _expected_dcg(
    r: Rankings,
    *,
    k: Cutoff,
    gain: str,
    gains: Mapping[float, float] | None,
    log: float,
    scale: Scale = None,
) -> Floats:
    weight = mean_weights(r, r.cutoff(k, _ANY), lambda rank: discounts(rank, log))
    own = gains_of(r.hit_grade, gain=gain, gains=gains, scale=scale_of(scale, r.hit_query))
    return r.total(r.hit_query, weight * own)


@measure(
    name="DCG",
    title="Discounted cumulative gain",
    says=(
        "The gains of the first k results, each divided by the logarithm of its rank plus one, "
        "summed."
    ),
    formula=r"\sum_{i\le k}\frac{gain(g_i)}{\log_2(i+1)}",
    reference="jarvelin2002",
    range=(0, np.inf),
    params=(K, GAIN, Gains(), LOG),
    undefined=NEVER,
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral", "below_k_is_ignored"},
    # 3/log2(2) + 2/log2(3) + 0
    example=Example("DCG@3", "3 2 0 1", 3 + 2 / np.log2(3)),
    expected=_expected_dcg,
    worth=by_gain,
    monotone=own_merit,
    adds=own_merit,
)
def dcg(
    r: Rankings,
    *,
    k: Cutoff,
    gain: str,
    gains: Mapping[float, float] | None,
    log: float,
    scale: Scale = None,
) -> Floats:
    within = r.within(k, _ANY)
    query = r.hit_query[within]
    own = gains_of(r.hit_grade[within], gain=gain, gains=gains, scale=scale_of(scale, query))
    return _discounted(r, query, r.hit_rank[within], own, log)


def _normalised(r: Rankings, reached: Floats, *, ideal: str, **shape: Any) -> Floats:
    if ideal == "cutoff" and shape["k"] is None:
        raise MeasureError(
            "nDCG(ideal=cutoff) compares with k items and needs a k, as in nDCG(ideal=cutoff)@10."
        )
    best = _ideal(r, **shape, ideal="judged")
    if ideal == "judged":
        return divide(reached, best)
    # Relevant items exist but the ideal list is empty, as nothing was retrieved: such a list scores
    # 0.
    own = _ideal(r, **shape, ideal=ideal)
    return np.where(best == 0, np.nan, np.where(own == 0, 0.0, divide(reached, own)))


def _expected_ndcg(
    r: Rankings,
    *,
    k: Cutoff,
    gain: str,
    gains: Mapping[float, float] | None,
    ideal: str,
    log: float,
) -> Closed:
    scale = scales(r, gain=gain, gains=gains)
    shape: dict[str, Any] = {"k": k, "gain": gain, "gains": gains, "log": log, "scale": scale}
    values = _normalised(r, _expected_dcg(r, **shape), ideal=ideal, **shape)
    return Closed(values, _ideal_is_fixed(r, k, ideal))


def _ideal_is_fixed(r: Rankings, k: Cutoff, ideal: str) -> Mask:
    """The queries whose ideal list is the same in every order of the ties."""
    return uncut(r, r.cutoff(k, _ANY)) if ideal == "retrieved" else np.ones(len(r), bool)


def _worth_to_ndcg(
    r: Rankings, *, k: Cutoff, gain: str, gains: Mapping[float, float] | None, ideal: str
) -> Worth:
    return replace(by_gain(r, gain=gain, gains=gains), sure=_ideal_is_fixed(r, k, ideal))


@measure(
    name="nDCG",
    aliases=("NormalisedDCG", "NormalizedDCG", "NormalizedDiscountedCumulativeGain"),
    title="Normalised discounted cumulative gain",
    says="DCG divided by the DCG of the ideal list, so that a perfect order scores 1.",
    formula=r"\frac{DCG@k}{IDCG@k}, \quad DCG@k = \sum_{i\le k}\frac{gain(g_i)}{\log_2(i+1)}",
    reference="jarvelin2002",
    range=(0, 1),
    params=(K, GAIN, Gains(), IDEAL, LOG),
    undefined=Undefined("no judged item of the query has a gain", _no_ideal),
    laws={"append_unjudged_is_neutral", "below_k_is_ignored", "perfect_is_best"},
    # DCG = 1/log2(2) + 1/log2(4) = 1.5; the ideal has both relevant items on top: 1 + 1/log2(3)
    example=Example("nDCG@3", "1 0 1", 1.5 / (1 + 1 / np.log2(3))),
    expected=_expected_ndcg,
    worth=_worth_to_ndcg,
    divides=lambda params: ("DCG", "IdealDCG") if params["ideal"] == "judged" else None,
)
def ndcg(
    r: Rankings,
    *,
    k: Cutoff,
    gain: str,
    gains: Mapping[float, float] | None,
    ideal: str,
    log: float,
) -> Floats:
    scale = scales(r, gain=gain, gains=gains)
    shape: dict[str, Any] = {"k": k, "gain": gain, "gains": gains, "log": log, "scale": scale}
    return _normalised(r, dcg(r, **shape), ideal=ideal, **shape)


@measure(
    name="IdealDCG",
    aliases=("IDCG",),
    title="DCG of the ideal list",
    says="The DCG that the best order of all judged items reaches at k: what nDCG divides by.",
    formula=r"\sum_{i\le k}\frac{gain(g^*_i)}{\log_2(i+1)}",
    reference="jarvelin2002",
    range=(0, np.inf),
    params=(K, GAIN, Gains(), LOG),
    undefined=NEVER,
    rates_relevance=False,
    laws={"append_unjudged_is_neutral", "below_k_is_ignored"},
    example=Example("IdealDCG@2", "0 1 3 2", 3 + 2 / np.log2(3)),
    expected=ITSELF,
    worth=by_grade,
    monotone=own_merit,
)
def ideal_dcg(
    r: Rankings, *, k: Cutoff, gain: str, gains: Mapping[float, float] | None, log: float
) -> Floats:
    return _ideal(r, k=k, gain=gain, gains=gains, log=log, ideal="judged")
