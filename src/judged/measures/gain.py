"""Graded gain, discounted with rank: DCG and nDCG."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from judged.arrays import Floats, Ints, descending, divide, ordinals
from judged.errors import MeasureError
from judged.measures.params import Choice, Gains, K, Number
from judged.measures.registry import ITSELF, NEVER, Example, Mask, Undefined, measure
from judged.measures.ties import Closed, Worth, by_grade, mean_weights, own_merit, uncut
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


def exponential(grade: Floats) -> Floats:
    """Compute 2^grade - 1 for grades from 0.

    >>> exponential(np.array([0.0, 3.0])).tolist()
    [0.0, 7.0]
    """
    value = np.exp2(grade) - 1
    small = (grade > 0) & (grade < 1)  # here the subtraction would lose digits
    return np.where(small, np.expm1(np.minimum(grade, 1) * np.log(2)), value)


_GAINS: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda grade: grade,
    "exp": exponential,
    "binary": np.sign,
}


def gains_of(grade: Floats, *, gain: str, gains: Mapping[float, float] | None) -> Floats:
    """Return what items of these grades gain."""
    if not gains:
        return _GAINS[gain](np.maximum(grade, 0))
    listed = np.isin(grade, list(gains))
    value = _GAINS[gain](np.where(listed, 0, np.maximum(grade, 0)))
    for level, listed_gain in gains.items():
        value[grade == level] = listed_gain
    return value


def gaining(grade: Floats, gains: Mapping[float, float] | None) -> Mask:
    """Return which items gain something, however little."""
    some: Mask = grade > 0
    for level, listed_gain in (gains or {}).items():
        some = np.where(grade == level, listed_gain > 0, some)
    return some


SMALLEST_IDEAL = 1e-290
"""The DCG below which floats lose digits."""


def check_ideal(best: Floats) -> None:
    """Raise an error if the gains of a query overflow, or are so small that ratios lose digits."""
    if np.isinf(best).any():
        raise FloatingPointError  # `Measure` turns it into an error that names the measure
    if ((best > 0) & (best < SMALLEST_IDEAL)).any():
        raise MeasureError(
            f"the gains of a query sum up to less than {SMALLEST_IDEAL:g}, where numbers lose "
            "their digits; give larger grades or gains."
        )


def by_gain(r: Rankings, *, gain: str = "linear", gains: Mapping[float, float] | None) -> Worth:
    """Items are worth what they gain; without a table a better grade never gains less."""
    if not gains:
        return by_grade(r)
    return Worth(gains_of(r.hit_grade, gain=gain, gains=gains), 0.0)


_ANY = np.nextafter(0, 1)
"""R in nDCG@R: every item with a grade above 0 is relevant."""


def discounts(rank: Ints | Floats, log: float = 2) -> Floats:
    """Return the factors of gains at some ranks."""
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
) -> Floats:
    """Compute the DCG of k items that all gain as much as the query's best."""
    check_reach("nDCG(ideal=cutoff)", k)
    top = np.zeros(len(r))
    own = gains_of(r.pool_grade, gain=gain, gains=gains)
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
) -> Floats:
    """Compute the DCG of the best order."""
    if ideal == "cutoff":
        return _full(r, k=k, gain=gain, gains=gains, log=log)
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
            own = gains_of(grade[within], gain=gain, gains=None)
            return _discounted(r, query, r.pool_place[within], own, log)
    value = gains_of(grade, gain=gain, gains=gains)
    best = descending(value, np.bincount(query, minlength=len(r)))
    place = ordinals(query, len(r))
    within = place <= last[query]
    return _discounted(r, query[within], place[within], best[within], log)


def _no_ideal(r: Rankings, params: Mapping[str, Any]) -> Mask:
    shape = {name: params[name] for name in ("k", "gain", "gains", "log")}
    return _ideal(r, **shape, ideal="judged") == 0


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
) -> Floats:
    weight = mean_weights(r, r.cutoff(k, _ANY), lambda rank: discounts(rank, log))
    own = gains_of(r.hit_grade, gain=gain, gains=gains)
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
) -> Floats:
    within = r.within(k, _ANY)
    query = r.hit_query[within]
    own = gains_of(r.hit_grade[within], gain=gain, gains=gains)
    return _discounted(r, query, r.hit_rank[within], own, log)


def _normalised(r: Rankings, reached: Floats, *, ideal: str, **shape: Any) -> Floats:
    if ideal == "cutoff" and shape["k"] is None:
        raise MeasureError(
            "nDCG(ideal=cutoff) compares with k items and needs a k, as in nDCG(ideal=cutoff)@10."
        )
    best = _ideal(r, **shape, ideal="judged")
    check_ideal(best)
    if ideal == "judged":
        return divide(reached, best)
    # Relevant items exist but the ideal list is empty, as nothing was retrieved: such a list scores
    # 0.
    own = _ideal(r, **shape, ideal=ideal)
    check_ideal(own)
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
    shape: dict[str, Any] = {"k": k, "gain": gain, "gains": gains, "log": log}
    values = _normalised(r, _expected_dcg(r, **shape), ideal=ideal, **shape)
    return Closed(values, _ideal_is_fixed(r, k, ideal))


def _ideal_is_fixed(r: Rankings, k: Cutoff, ideal: str) -> Mask:
    """Return the queries whose ideal list is the same in every order of the ties."""
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
    shape: dict[str, Any] = {"k": k, "gain": gain, "gains": gains, "log": log}
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
