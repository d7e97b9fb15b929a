"""Graded gain beside nDCG: G, Q, and nDCG averaged at relevant items and at levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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
from judged.measures.gain import (
    GAIN,
    by_gain,
    check_ideal,
    dcg,
    discounts,
    gaining,
    gains_of,
    no_gain,
)
from judged.measures.params import REL, Gains, Number
from judged.measures.registry import NO_RELEVANT, Example, Mask, Undefined, measure
from judged.measures.ties import Worth
from judged.rankings.rankings import Rankings

Table = Mapping[float, float] | None
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
    return replace(by_gain(r, gains=gains), sure=most <= least)


@measure(
    name="G",
    title="Normalised gain",
    says="Each retrieved item's gain, divided by the logarithm of how far the gain so far lags "
    "behind the ideal list's, summed and divided by all gain there is.",
    formula=(
        r"\frac{1}{\sum_j I_j}\sum_i\frac{gain_i}{\log_2(2+\sum_{j\le i}\max(I_j,1)-\sum_{j\le "
        r"i}gain_j)}"
    ),
    reference="trec_eval",
    range=(0, 1),
    params=(Gains(),),
    at=None,
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
    says=(
        "The mean, over all relevant items, of 1 divided by the logarithm of 2 plus the number of "
        "other results above."
    ),
    formula=r"\frac{1}{R}\sum_{relevant\ i}\frac{1}{\log_2(2+nonrelevant\ above)}",
    reference="trec_eval",
    range=(0, 1),
    params=(REL,),
    at=None,
    undefined=NO_RELEVANT,
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
    range=(0, 1),
    params=(Gains(),),
    at=None,
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
    range=(0, 1),
    params=(REL, Gains()),
    at=None,
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
    at = np.searchsorted(hit_query * width + hit_rank, query * width + rank, side="right")
    first = starts_of(_sizes(hit_query, r))[query]
    return np.where(at > first, sums[np.maximum(at - 1, 0)], 0.0)


@measure(
    name="Q",
    aliases=("Qmeasure", "Q-measure"),
    title="Q-measure",
    says="Average precision with graded relevance: at each relevant item, the number of relevant "
    "items so far plus beta times their gain, divided by the rank plus beta times the ideal gain "
    "there; averaged over all relevant items.",
    formula=r"\frac{1}{R}\sum_{relevant\ i}\frac{rel_i + \beta\, cg_i}{i + \beta\, cgI_i}",
    reference="sakai2004",
    range=(0, 1),
    params=(
        GAIN,
        Gains(),
        Number(
            "beta",
            1,
            "how much gain counts beside the number of relevant items",
            low=0,
            phrase="gain weighs {}",
        ),
    ),
    at=None,
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
