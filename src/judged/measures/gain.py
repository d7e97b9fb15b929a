"""Graded gain: DCG and nDCG, G, Q, and nDCG averaged at relevant items and at levels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from judged.arrays import (
    Floats,
    Ints,
    borders,
    descending,
    divide,
    ordinals,
    running_sums,
    starts_of,
)
from judged.errors import MeasureError
from judged.measures.registry import (
    ITSELF,
    NEVER,
    NO_RELEVANT,
    REL,
    Choice,
    Example,
    Gains,
    K,
    Mask,
    NumberParam,
    Undefined,
    measure,
)
from judged.measures.tie_orders import Closed, Worth, by_grade, mean_weights, own_merit, uncut
from judged.rankings.rankings import Cutoff, Rankings

Table = Mapping[float, float] | None
"""Gains by grade."""
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
LOG = NumberParam(
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
        "shown": "the ideal list is made of all judged items, but has no more of them than the "
        "list has results",
        "cutoff": "the ideal list has k items that all gain as much as the best judged one, "
        "whether there are so many or not",
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


def gains_of(grade: Floats, *, gain: str, gains: Table) -> Floats:
    """Return what items of these grades gain."""
    if not gains:
        return _GAINS[gain](np.maximum(grade, 0))
    listed = np.isin(grade, list(gains))
    value = _GAINS[gain](np.where(listed, 0, np.maximum(grade, 0)))
    for level, listed_gain in gains.items():
        value[grade == level] = listed_gain
    return value


def gaining(grade: Floats, gains: Table) -> Mask:
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


def by_gain(r: Rankings, *, gain: str = "linear", gains: Table) -> Worth:
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


def _full(r: Rankings, *, k: Cutoff, gain: str, gains: Table, log: float) -> Floats:
    """Compute the DCG of k items that all gain as much as the query's best."""
    check_reach("nDCG(ideal=cutoff)", k)
    top = np.zeros(len(r))
    pool_gain = gains_of(r.pool_grade, gain=gain, gains=gains)
    np.maximum.at(top, r.pool_query, pool_gain)
    depth = r.cutoff(k, _ANY).astype(np.int64)
    sums = np.concatenate(
        [[0.0], np.cumsum(discounts(np.arange(1, depth.max(initial=0) + 1), log))]
    )
    return top * sums[depth]


def _ideal(r: Rankings, *, k: Cutoff, gain: str, gains: Table, log: float, ideal: str) -> Floats:
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
            pool_gain = gains_of(grade[within], gain=gain, gains=None)
            return _discounted(r, query, r.pool_place[within], pool_gain, log)
    value = gains_of(grade, gain=gain, gains=gains)
    best = descending(value, np.bincount(query, minlength=len(r)))
    place = ordinals(query, len(r))
    within = place <= last[query]
    return _discounted(r, query[within], place[within], best[within], log)


def _no_ideal(r: Rankings, params: Mapping[str, Any]) -> Mask:
    shape = {name: params[name] for name in ("k", "gain", "gains", "log")}
    return _ideal(r, **shape, ideal="judged") == 0


def no_gain(r: Rankings, params: Mapping[str, Any]) -> Mask:
    """Return a mask of the queries without a judged item that gains anything."""
    return r.total(r.pool_query[gaining(r.pool_grade, params["gains"])]) == 0


def _expected_dcg(r: Rankings, *, k: Cutoff, gain: str, gains: Table, log: float) -> Floats:
    weight = mean_weights(r, r.cutoff(k, _ANY), lambda rank: discounts(rank, log))
    hit_gain = gains_of(r.hit_grade, gain=gain, gains=gains)
    return r.total(r.hit_query, weight * hit_gain)


@measure(
    name="DCG",
    title="Discounted cumulative gain",
    says="The gains of the first k results, each divided by the logarithm of its rank plus one, "
    "summed.",
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
def dcg(r: Rankings, *, k: Cutoff, gain: str, gains: Table, log: float) -> Floats:
    within = r.within(k, _ANY)
    query = r.hit_query[within]
    hit_gain = gains_of(r.hit_grade[within], gain=gain, gains=gains)
    return _discounted(r, query, r.hit_rank[within], hit_gain, log)


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
    ideal_gain = _ideal(r, **shape, ideal=ideal)
    check_ideal(ideal_gain)
    return np.where(best == 0, np.nan, np.where(ideal_gain == 0, 0.0, divide(reached, ideal_gain)))


def _expected_ndcg(
    r: Rankings, *, k: Cutoff, gain: str, gains: Table, ideal: str, log: float
) -> Closed:
    shape: dict[str, Any] = {"k": k, "gain": gain, "gains": gains, "log": log}
    values = _normalised(r, _expected_dcg(r, **shape), ideal=ideal, **shape)
    return Closed(values, _ideal_is_fixed(r, k, ideal))


def _ideal_is_fixed(r: Rankings, k: Cutoff, ideal: str) -> Mask:
    """Return the queries whose ideal list is the same in every order of the ties."""
    return uncut(r, r.cutoff(k, _ANY)) if ideal == "retrieved" else np.ones(len(r), bool)


def _worth_to_ndcg(r: Rankings, *, k: Cutoff, gain: str, gains: Table, ideal: str) -> Worth:
    return by_gain(r, gain=gain, gains=gains)._replace(sure=_ideal_is_fixed(r, k, ideal))


@measure(
    name="nDCG",
    aliases=("NormalisedDCG", "NormalizedDCG", "NormalizedDiscountedCumulativeGain"),
    title="Normalised discounted cumulative gain",
    says="DCG divided by the DCG of the ideal list, so that a perfect order scores 1.",
    formula=r"\frac{DCG@k}{IDCG@k}, \quad DCG@k = \sum_{i\le k}\frac{gain(g_i)}{\log_2(i+1)}",
    reference="jarvelin2002",
    params=(K, GAIN, Gains(), IDEAL, LOG),
    undefined=Undefined("no judged item of the query has a gain", _no_ideal),
    laws={"append_unjudged_is_neutral", "below_k_is_ignored", "perfect_is_best"},
    # DCG = 1/log2(2) + 1/log2(4) = 1.5; the ideal has both relevant items on top: 1 + 1/log2(3)
    example=Example("nDCG@3", "1 0 1", 1.5 / (1 + 1 / np.log2(3))),
    expected=_expected_ndcg,
    worth=_worth_to_ndcg,
    divides=lambda params: ("DCG", "IdealDCG") if params["ideal"] == "judged" else None,
)
def ndcg(r: Rankings, *, k: Cutoff, gain: str, gains: Table, ideal: str, log: float) -> Floats:
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
def ideal_dcg(r: Rankings, *, k: Cutoff, gain: str, gains: Table, log: float) -> Floats:
    return _ideal(r, k=k, gain=gain, gains=gains, log=log, ideal="judged")


GAINLESS = Undefined("no judged item of the query has a gain", no_gain)


def _neither(r: Rankings, params: Mapping[str, Any]) -> Mask:
    return no_gain(r, params) | NO_RELEVANT.where(r, params)


class _Ideal:
    """The ideal list of every query: positive gains in descending order."""

    def __init__(self, r: Rankings, gains: Table, gain: str = "linear") -> None:
        some = gaining(r.pool_grade, gains)
        self.query = r.pool_query[some]
        self.size = np.bincount(self.query, minlength=len(r))
        value = gains_of(r.pool_grade[some], gain=gain, gains=gains)
        self.gain = descending(value, self.size)
        self.starts = starts_of(self.size)
        self.place = ordinals(self.query, len(r))

    def summed(self, value: Floats, query: Ints, rank: Ints) -> Floats:
        """Add up a value along the ideal list down to some ranks of some queries."""
        if not len(value):
            return np.zeros(len(rank))
        reached = np.minimum(rank, self.size[query])
        sums = running_sums(value, self.size)
        return np.where(
            reached > 0,
            sums[np.minimum(self.starts[query] + np.maximum(reached, 1) - 1, len(sums) - 1)],
            0.0,
        )


def _gaining(r: Rankings, gains: Table, gain: str = "linear") -> tuple[Ints, Ints, Floats]:
    """Query, rank and gain of the retrieved items that gain something."""
    some = gaining(r.hit_grade, gains)
    query = r.hit_query[some]
    value = gains_of(r.hit_grade[some], gain=gain, gains=gains)
    return query, r.hit_rank[some], value


def _sizes(query: Ints, r: Rankings) -> Ints:
    return np.bincount(query, minlength=len(r))


def _worth_of_one_gain(r: Rankings, *, gains: Table) -> Worth:
    """Value items by gain, which is sure only where all gains are equal."""
    value = gains_of(r.hit_grade, gain="linear", gains=gains)
    query, gain = r.hit_query[value > 0], value[value > 0]
    least, most = np.full(len(r), np.inf), np.zeros(len(r))
    np.minimum.at(least, query, gain)
    np.maximum.at(most, query, gain)
    return by_gain(r, gains=gains)._replace(sure=most <= least)


@measure(
    name="G",
    title="Normalised gain",
    says="Each retrieved item's gain, divided by the logarithm of how far the gain so far lags "
    "behind the ideal list's, summed and divided by all gain there is.",
    formula=r"\frac{1}{\sum_j I_j}\sum_i\frac{gain_i}{\log_2(2+\sum_{j\le i}\max(I_j,1)-\sum_{j\le "
    r"i}gain_j)}",
    reference="trec_eval",
    params=(Gains(),),
    undefined=GAINLESS,
    laws={"append_unjudged_is_neutral"},
    # The ideal list is 2 1: rank 1 lags by 2-1, rank 3 by 2+1+1-1-2: (1/log2(3) + 2/log2(3)) / 3
    example=Example("G", "1 0 2", (1 / np.log2(3) + 2 / np.log2(3)) / 3),
    worth=_worth_of_one_gain,
)
def normalised_gain(r: Rankings, *, gains: Table) -> Floats:
    ideal = _Ideal(r, gains)
    _check_sums(r, ideal)
    query, rank, gain = _gaining(r, gains)
    beyond = np.maximum(rank - ideal.size[query], 0)
    cost = ideal.summed(np.maximum(ideal.gain, 1), query, rank) + beyond
    lag = 2 + cost - running_sums(gain, _sizes(query, r))
    return divide(r.total(query, gain / np.log2(lag)), r.total(ideal.query, ideal.gain))


EXACT = {True: 2.0**53, False: 2.0**30}
"""Up to which sum of gains a difference of 1 is not lost to rounding: of whole numbers, of others.
"""


def _check_sums(r: Rankings, ideal: _Ideal) -> None:
    """G adds differences of sums of gains to 2, so these must be exact."""
    if not len(ideal.gain):
        return
    most = r.total(ideal.query, ideal.gain)
    broken = r.total(ideal.query[ideal.gain != np.floor(ideal.gain)]) > 0
    beyond = np.where(most <= np.where(broken, EXACT[False], EXACT[True]), 0.0, most)
    if (beyond != 0).any():
        worst = int(beyond.argmax())
        raise MeasureError(
            f"G compares sums of gains to the last unit, and query {r.queries[worst]} "
            f"has gains of {most[worst]:g} in all, too much for that; give smaller gains, such as "
            "G(gains={1:1,2:3}), or divide the grades."
        )


@measure(
    name="binG",
    title="Binary gain",
    says="The mean, over all relevant items, of 1 divided by the logarithm of 2 plus the number of "
    "other results above.",
    formula=r"\frac{1}{R}\sum_{relevant\ i}\frac{1}{\log_2(2+nonrelevant\ above)}",
    reference="trec_eval",
    params=(REL,),
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral", "perfect_is_best"},
    example=Example("binG", "1 0 1", (1 + 1 / np.log2(3)) / 2),
)
def binary_gain(r: Rankings, *, rel: float) -> Floats:
    query, rank, ordinal = r.relevant_hits(None, rel)
    return divide(r.total(query, 1 / np.log2(2 + rank - ordinal)), r.relevant(rel))


@measure(
    name="nDCGRel",
    aliases=("ndcg_rel",),
    title="Mean nDCG over the relevant items",
    says="The nDCG at the rank of each item that gains something, averaged over all of them; one "
    "that was not retrieved counts with the whole list's DCG over the whole ideal.",
    formula=r"\frac{1}{R}\sum_{relevant\ i} nDCG@i",
    reference="trec_eval",
    params=(Gains(),),
    undefined=GAINLESS,
    laws={"append_unjudged_is_neutral", "perfect_is_best"},
    # nDCG@2 = (1/log2(3)) / (1 + 1/log2(3)); the item not retrieved counts with the same.
    example=Example("nDCGRel", "0 1", (1 / np.log2(3)) / (1 + 1 / np.log2(3)), relevant=2),
    worth=by_gain,
)
def ndcg_over_relevant(r: Rankings, *, gains: Table) -> Floats:
    ideal = _Ideal(r, gains)
    query, rank, gain = _gaining(r, gains)
    reached = running_sums(gain * discounts(rank), _sizes(query, r))
    best = ideal.gain * discounts(ideal.place)
    whole_ideal = r.total(ideal.query, best)
    check_ideal(whole_ideal)
    at_hits = r.total(query, reached / ideal.summed(best, query, rank))
    lost = ideal.size - _sizes(query, r)
    whole = divide(dcg(r, k=None, gain="linear", gains=gains, log=2), whole_ideal)
    return divide(at_hits + np.where(lost > 0, lost * whole, 0.0), ideal.size.astype(np.float64))


@measure(
    name="RnDCG",
    title="Mean nDCG over the levels of gain",
    says="The nDCG at the ranks where the ideal list goes over to a lower gain, and at the end "
    "of the list where it goes on past them by more than one result, averaged.",
    formula=r"\frac{1}{n}\sum_{levels} nDCG@R_{level}",
    reference="trec_eval",
    params=(REL, Gains()),
    undefined=Undefined("the query has no relevant item, or none that gains anything", _neither),
    laws=set(),
    # The ideal list is 2 1: nDCG@1 = 1/2, nDCG@2 = (1 + 2/log2(3)) / (2 + 1/log2(3)); the list ends
    # there.
    example=Example("RnDCG", "1 2", (0.5 + (1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3))) / 2),
    worth=by_gain,
)
def ndcg_at_levels(r: Rankings, *, rel: float, gains: Table) -> Floats:
    ideal = _Ideal(r, gains)
    last = np.append(borders(ideal.query, ideal.gain)[1:], True)[: len(ideal.gain)]
    level_query, level_rank = ideal.query[last], ideal.place[last]
    longer = np.flatnonzero((r.retrieved > ideal.size + 1) & (ideal.size > 0))
    query = np.concatenate([level_query, longer])
    rank = np.concatenate([level_rank, r.retrieved[longer]])
    best = ideal.summed(ideal.gain * discounts(ideal.place), query, rank)
    check_ideal(best)
    reached = _dcg_at(r, gains, query, rank)
    value = divide(r.total(query, reached / best), r.total(query))
    return np.where(r.relevant(rel) == 0, np.nan, value)


def _dcg_at(r: Rankings, gains: Table, query: Ints, rank: Ints) -> Floats:
    """DCG of the retrieved list down to some ranks of some queries."""
    hit_query, hit_rank, gain = _gaining(r, gains)
    if not len(gain):
        return np.zeros(len(rank))
    sums = running_sums(gain * discounts(hit_rank), _sizes(hit_query, r))
    width = int(max(hit_rank.max(), rank.max(initial=0))) + 1
    place = np.searchsorted(hit_query * width + hit_rank, query * width + rank, side="right")
    first = starts_of(_sizes(hit_query, r))[query]
    return np.where(place > first, sums[np.maximum(place - 1, 0)], 0.0)


@measure(
    name="Q",
    aliases=("Qmeasure", "Q-measure"),
    title="Q-measure",
    says="Average precision with graded relevance: at each relevant item, the number of relevant "
    "items so far plus beta times their gain, divided by the rank plus beta times the ideal gain "
    "there; averaged over all relevant items.",
    formula=r"\frac{1}{R}\sum_{relevant\ i}\frac{rel_i + \beta\, cg_i}{i + \beta\, cgI_i}",
    reference="sakai2004",
    params=(
        GAIN,
        Gains(),
        NumberParam(
            "beta",
            1,
            "how much gain counts beside the number of relevant items",
            low=0,
            phrase="gain weighs {}",
        ),
    ),
    undefined=GAINLESS,
    laws={"append_unjudged_is_neutral", "perfect_is_best"},
    # The ideal list is 2 1: rank 1 gives (1 + 1)/(1 + 2), rank 3 gives (2 + 3)/(3 + 3).
    example=Example("Q", "1 0 2", (2 / 3 + 5 / 6) / 2),
    worth=by_gain,
)
def q_measure(r: Rankings, *, gain: str, gains: Table, beta: float) -> Floats:
    ideal = _Ideal(r, gains, gain)
    query, rank, value = _gaining(r, gains, gain)
    sizes = _sizes(query, r)
    blended = ordinals(query, len(r)) + beta * running_sums(value, sizes)
    best = rank + beta * ideal.summed(ideal.gain, query, rank)
    return divide(r.total(query, blended / best), ideal.size.astype(np.float64))
