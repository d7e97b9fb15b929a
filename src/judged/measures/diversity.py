"""Novelty and diversity: lists that should serve many subtopics early and none too often.

All follow ndeval, the program of TREC's Web tracks: an item serves a subtopic or does not (its
grade for the subtopic is at least `rel`), and a query's subtopics are those that some judged item
serves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from judged.arrays import Floats, Ints, borders, divide, ordinals, starts_of
from judged.errors import MeasureError
from judged.measures.gain import check_reach, discounts
from judged.measures.precision import divisor
from judged.measures.registry import (
    REL,
    Example,
    K,
    Mask,
    Undefined,
    measure,
    patience,
    share_param,
)
from judged.measures.tie_orders import Worth
from judged.rankings.rankings import Cutoff, Rankings, Subtopics

ALPHA = share_param(
    "alpha",
    0.5,
    "how little a subtopic is worth when it was served before: 0 nothing lost, 1 all",
    "each time a subtopic was served before multiplies its worth by 1 - {}",
)
BETA = patience("beta", 0.5)
SERVING = (
    "A result gains 1 for every subtopic it serves, or less where results above it serve the "
    "subtopic too."
)
THINKABLE = (
    "what a list would get whose every item serves every subtopic (a list of k items or, where "
    "there is no k, of as many as the query has relevant items)."
)
GREEDY = (
    "The ideal list takes at each rank the item that gains most there and, of several, the one "
    "with the greatest id: a list can score a little above 1 where that is not the best of all."
)


def _worths(alpha: float, most: int) -> Floats:
    """Return the worth of a subtopic after it was served 0, 1, 2, … times."""
    return np.cumprod(np.append(1.0, np.full(most, 1 - alpha)))


def _gained(
    r: Rankings, served: Served, weights: Floats, *, k: Cutoff, rel: float, alpha: float
) -> Floats:
    """Add up the gains of each list, weighted by rank."""
    retrieved = np.flatnonzero(np.isfinite(served.rank))
    times = times_before(served, retrieved)
    worth = _worths(alpha, int(times.max(initial=0)))[times]
    gain = np.bincount(served.item[retrieved], worth, minlength=served.items)
    hits = np.flatnonzero(r.within(k, rel))
    return r.total(r.hit_query[hits], gain[served.hit_item[hits]] * weights[r.hit_rank[hits] - 1])


SAME = 1e-12
"""Gains that differ by less are the same: sums of the same numbers in another order."""


def _ideal(
    r: Rankings, served: Served, weights: Floats, *, k: Cutoff, rel: float, alpha: float
) -> Floats:
    """Add up the gains of the list that takes the best item at each rank."""
    total = np.zeros(len(r))
    cutoff = r.cutoff(k, rel)
    worth = np.ones(served.subtopics)
    query, item, subtopic = served.query, served.item, served.subtopic
    taken = np.zeros(served.items, bool)
    rank = 0
    while len(query):
        rank += 1
        # Items that are left, numbered again: the pairs of an item lie together, and so do the
        # items of a query.
        new = borders(item)
        number = np.cumsum(new) - 1
        gain = np.bincount(number, worth[subtopic])
        owner = query[new]
        begins = np.flatnonzero(borders(owner))
        best = np.repeat(np.maximum.reduceat(gain, begins), np.diff(np.append(begins, len(owner))))
        good = np.flatnonzero(gain >= best * (1 - SAME))
        chosen = good[borders(owner[good])]
        total[owner[chosen]] += gain[chosen] * weights[rank - 1]
        taken[item[new][chosen]] = True
        done = taken[item]
        worth[subtopic[done]] *= 1 - alpha
        left = ~done & (cutoff[query] > rank)
        query, item, subtopic = query[left], item[left], subtopic[left]
    return total


def _best_thinkable(r: Rankings, weights: Floats, *, k: Cutoff, rel: float, alpha: float) -> Floats:
    """Return the weighted gains of a list that serves one subtopic at every rank."""
    length = r.relevant(rel) if k is None else r.cutoff(k, rel)
    sums = np.append(0.0, np.cumsum(_worths(alpha, len(weights))[: len(weights)] * weights))
    return sums[length.astype(np.int64)]


Weights = Callable[[int], Floats]
"""A function from a length to the factors of gains at rank 1, 2, …"""


def _over_thinkable(
    r: Rankings, name: str, weights_of: Weights, *, k: Cutoff, rel: float, alpha: float
) -> Floats:
    """Divide the gains of each list by those of one that serves all subtopics at each rank."""
    check_reach(name, k)
    served = served_by(r, rel, name)
    weights = weights_of(max(_deepest(r, served), k if isinstance(k, int) else 0))
    best = subtopics_of(r, served) * _best_thinkable(r, weights, k=k, rel=rel, alpha=alpha)
    return divide(_gained(r, served, weights, k=k, rel=rel, alpha=alpha), best)


def _over_ideal(
    r: Rankings, name: str, weights_of: Weights, *, k: Cutoff, rel: float, alpha: float
) -> Floats:
    served = served_by(r, rel, name)
    weights = weights_of(_deepest(r, served))
    best = _ideal(r, served, weights, k=k, rel=rel, alpha=alpha)
    return divide(_gained(r, served, weights, k=k, rel=rel, alpha=alpha), best)


def _deepest(r: Rankings, served: Served) -> int:
    """Return a rank that no list and no ideal list goes below."""
    return max(int(r.hit_rank.max(initial=0)), int(np.bincount(served.query).max(initial=0)))


def _logarithmic(length: int) -> Floats:
    return discounts(np.arange(1, length + 1))


def _reciprocal(length: int) -> Floats:
    return 1 / np.arange(1, length + 1, dtype=np.float64)


def _geometric(beta: float) -> Weights:
    return lambda length: beta ** np.arange(length, dtype=np.float64)


# -- the measures

_GAIN = r"gain_i = \sum_{s\ of\ i}(1-\alpha)^{times\ before}"
_COMMON_LAWS = {"append_unjudged_is_neutral", "below_k_is_ignored"}


@measure(
    name="alpha_DCG",
    aliases=("alpha-DCG",),
    title="Alpha discounted cumulative gain",
    says=f"{SERVING} The gains of the first k results are divided by the logarithm of the rank "
    f"plus one, summed, and divided by {THINKABLE}",
    formula=r"\frac{\sum_{i\le k} gain_i/\log_2(i+1)}{S\sum_{i\le "
    rf"k}}(1-\alpha)^{{i-1}}/\log_2(i+1)}}, \quad {_GAIN}",
    reference="clarke2008",
    params=(K, REL, ALPHA),
    laws=_COMMON_LAWS,
    # Rank 1 serves a and b, rank 3 serves b again: 2/log2(2) + 0.5/log2(4) = 2.25.
    # The best thinkable list serves both at every rank: 2 (1/log2(2) + 0.5/log2(3) + 0.25/log2(4)).
    example=Example(
        "alpha_DCG@3", '{"a":1,"b":1} - {"b":1}', 2.25 / (2 * (1 + 0.5 / np.log2(3) + 0.125))
    ),
)
def alpha_dcg(r: Rankings, *, k: Cutoff, rel: float, alpha: float) -> Floats:
    return _over_thinkable(r, "alpha_DCG", _logarithmic, k=k, rel=rel, alpha=alpha)


@measure(
    name="alpha_nDCG",
    aliases=("alpha-nDCG",),
    title="Alpha normalised discounted cumulative gain",
    says=f"{SERVING} The gains of the first k results are divided by the logarithm of the rank "
    f"plus one, summed, and divided by the same of the ideal list. {GREEDY}",
    formula=r"\frac{\sum_{i\le k} gain_i/\log_2(i+1)}{the\ same\ of\ the\ ideal\ list}, "
    rf"\quad {_GAIN}",
    reference="clarke2008",
    range=(0, np.inf),
    params=(K, REL, ALPHA),
    laws=_COMMON_LAWS,
    # Rank 1 serves a, rank 2 serves a again and b: 1/log2(2) + (0.5 + 1)/log2(3).
    # The ideal list has them the other way round: 2/log2(2) + 0.5/log2(3).
    example=Example(
        "alpha_nDCG@2", '{"a":1} {"a":1,"b":1}', (1 + 1.5 / np.log2(3)) / (2 + 0.5 / np.log2(3))
    ),
)
def alpha_ndcg(r: Rankings, *, k: Cutoff, rel: float, alpha: float) -> Floats:
    return _over_ideal(r, "alpha_nDCG", _logarithmic, k=k, rel=rel, alpha=alpha)


@measure(
    name="ERR_IA",
    aliases=("ERR-IA",),
    title="Intent-aware expected reciprocal rank",
    says="Expected reciprocal rank of a user who wants one of the subtopics, each as likely as "
    "the others, and is satisfied by an item that serves it with probability alpha; divided by "
    f"{THINKABLE}",
    formula=r"\frac{\sum_{i\le k} gain_i/i}{S\sum_{i\le k}(1-\alpha)^{i-1}/i}, \quad "
    rf"{_GAIN}",
    reference="clarke2011",
    params=(K, REL, ALPHA),
    laws=_COMMON_LAWS,
    # Rank 1 serves a, rank 2 serves a again and b: 1 + (0.5 + 1)/2 = 1.75, divided by 2 (1 +
    # 0.5/2).
    example=Example("ERR_IA@2", '{"a":1} {"a":1,"b":1}', 0.7),
)
def err_ia(r: Rankings, *, k: Cutoff, rel: float, alpha: float) -> Floats:
    return _over_thinkable(r, "ERR_IA", _reciprocal, k=k, rel=rel, alpha=alpha)


@measure(
    name="nERR_IA",
    aliases=("nERR-IA",),
    title="Intent-aware normalised expected reciprocal rank",
    says="Expected reciprocal rank of a user who wants one of the subtopics, each as likely as "
    "the others, and is satisfied by an item that serves it with probability alpha; divided by "
    f"the same of the ideal list. {GREEDY}",
    formula=rf"\frac{{\sum_{{i\le k}} gain_i/i}}{{the\ same\ of\ the\ ideal\ list}}, \quad {_GAIN}",
    reference="clarke2011",
    range=(0, np.inf),
    params=(K, REL, ALPHA),
    laws=_COMMON_LAWS,
    # 1 + (0.5 + 1)/2 = 1.75; the ideal list has them the other way round: 2 + 0.5/2.
    example=Example("nERR_IA@2", '{"a":1} {"a":1,"b":1}', 1.75 / 2.25),
)
def nerr_ia(r: Rankings, *, k: Cutoff, rel: float, alpha: float) -> Floats:
    return _over_ideal(r, "nERR_IA", _reciprocal, k=k, rel=rel, alpha=alpha)


@measure(
    name="NRBP",
    title="Novelty- and rank-biased precision",
    says=f"{SERVING} A user who goes on from each result to the next with probability beta "
    "collects the gains. Divided by what an endless list would get whose every item serves every "
    "subtopic.",
    formula=rf"\frac{{1-(1-\alpha)\beta}}{{S}}\sum_i gain_i\,\beta^{{i-1}}, \quad {_GAIN}",
    reference="clarke2009",
    params=(REL, ALPHA, BETA),
    laws={"append_unjudged_is_neutral"},
    # Rank 1 serves a, rank 2 serves a again and b: 1 + (0.5 + 1) 0.5 = 1.75, times (1 - 0.25)/2.
    example=Example("NRBP", '{"a":1} {"a":1,"b":1}', 0.65625),
)
def nrbp(r: Rankings, *, rel: float, alpha: float, beta: float) -> Floats:
    served = served_by(r, rel, "NRBP")
    weights = _geometric(beta)(_deepest(r, served))
    reached = _gained(r, served, weights, k=None, rel=rel, alpha=alpha)
    return divide((1 - (1 - alpha) * beta) * reached, subtopics_of(r, served))


@measure(
    name="nNRBP",
    title="Normalised novelty- and rank-biased precision",
    says=f"{SERVING} A user who goes on from each result to the next with probability beta "
    f"collects the gains. Divided by the same of the ideal list. {GREEDY}",
    formula=r"\frac{\sum_i gain_i\,\beta^{i-1}}{the\ same\ of\ the\ ideal\ list}, \quad "
    rf"{_GAIN}",
    reference="clarke2009",
    range=(0, np.inf),
    params=(REL, ALPHA, BETA),
    laws={"append_unjudged_is_neutral"},
    # 1 + (0.5 + 1) 0.5 = 1.75; the ideal list has them the other way round: 2 + 0.5 * 0.5.
    example=Example("nNRBP", '{"a":1} {"a":1,"b":1}', 1.75 / 2.25),
)
def nnrbp(r: Rankings, *, rel: float, alpha: float, beta: float) -> Floats:
    return _over_ideal(r, "nNRBP", _geometric(beta), k=None, rel=rel, alpha=alpha)


@measure(
    name="AP_IA",
    aliases=("MAP_IA", "MAP-IA"),
    title="Intent-aware average precision",
    says="Average precision of the list for each subtopic, as if it were the query, averaged over "
    "the subtopics.",
    formula=r"\frac{1}{S}\sum_s\frac{1}{N_s}\sum_{i\le k,\ i\ serves\ s} P_s@i",
    reference="agrawal2009",
    params=(K, REL),
    laws=_COMMON_LAWS,
    # a is served at rank 1 and 3: (1/1 + 2/3)/2; b at rank 3 alone: 1/3.
    example=Example("AP_IA", '{"a":1} - {"a":1,"b":1}', (5 / 6 + 1 / 3) / 2),
)
def ap_ia(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    served = served_by(r, rel, "AP_IA")
    within = np.flatnonzero(
        served.rank <= r.cutoff(k, rel)[served.query] if k else np.isfinite(served.rank)
    )
    precision = (times_before(served, within) + 1) / served.rank[within]
    summed = np.bincount(served.subtopic[within], precision, minlength=served.subtopics)
    number, first, items = np.unique(served.subtopic, return_index=True, return_counts=True)
    query = served.query[first]
    return divide(r.total(query, summed[number] / items), r.total(query))


def _no_precision(r: Rankings, params: Mapping[str, Any]) -> Mask:
    nothing = divisor(r, k=params["k"], rel=params["rel"], short="pad") == 0
    return nothing | (r.relevant(params["rel"]) == 0)


def _worth_by_number(r: Rankings, *, rel: float) -> Worth:
    served = served_by(r, rel, "P_IA")
    number = np.bincount(served.item, minlength=served.items)
    return Worth(number[served.hit_item].astype(np.float64), 0.0)


@measure(
    name="P_IA",
    aliases=("P-IA",),
    title="Intent-aware precision",
    says="Precision of the first k results for each subtopic, as if it were the query, averaged "
    "over the subtopics; a missing result serves none.",
    formula=r"\frac{1}{S\,k}\sum_{i\le k}|subtopics\ of\ i|",
    reference="agrawal2009",
    params=(K, REL),
    undefined=Undefined(
        "the query has no relevant item, or there is no k and its list is empty",
        _no_precision,
        of_run=True,
    ),
    laws=_COMMON_LAWS,
    # a is served at both ranks, b at the second: 3 of 2 * 2.
    example=Example("P_IA@2", '{"a":1} {"a":1,"b":1} {"b":1}', 0.75),
    worth=_worth_by_number,
)
def p_ia(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    served = served_by(r, rel, "P_IA")
    shown = served.rank <= r.shown(k, rel)[served.query]
    return divide(
        r.total(served.query[shown]),
        subtopics_of(r, served) * divisor(r, k=k, rel=rel, short="pad"),
    )


@measure(
    name="StRecall",
    aliases=("strec", "S-recall"),
    title="Subtopic recall",
    says="Share of the query's subtopics that the first k results serve.",
    formula=r"\frac{1}{S}\,|\bigcup_{i\le k} subtopics\ of\ i|",
    reference="zhai2003",
    params=(K, REL),
    laws=_COMMON_LAWS,
    # Of a, b and c the first two results serve a and b.
    example=Example("StRecall@2", '{"a":1} {"a":1,"b":1} {"c":1}', 2 / 3),
)
def subtopic_recall(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    served = served_by(r, rel, "StRecall")
    shown = served.rank <= r.shown(k, rel)[served.query]
    _, first = np.unique(served.subtopic[shown], return_index=True)
    return divide(r.total(served.query[shown][first]), subtopics_of(r, served))


class Served(NamedTuple):
    """Pairs of an item and a subtopic that it serves, numbered over all queries."""

    query: Ints
    item: Ints
    subtopic: Ints
    rank: Floats
    """The item's rank; infinite where it was not retrieved."""
    hit_item: Ints
    items: int
    """The number of items in all."""

    @property
    def subtopics(self) -> int:
        return int(self.subtopic.max(initial=-1)) + 1


def served_by(r: Rankings, rel: float, name: str) -> Served:
    judged, hit_item = r.subtopics, r.hit_item
    if judged is None or hit_item is None:
        raise MeasureError(
            f"{name} needs judgements by subtopic, and these have none. Subtopics are the second "
            "column of TREC qrels (where it is not the same in all rows), a column named "
            "subtopic, aspect, nugget, intent or iteration, or {query: {item: {subtopic: grade}}}."
        )
    first_item = _firsts(judged, judged.item, len(r))
    first_subtopic = _firsts(judged, judged.subtopic, len(r))
    items = int((first_item[judged.query] + judged.item).max(initial=-1)) + 1
    hit_item = first_item[r.hit_query] + hit_item
    rank = np.full(items, np.inf)
    rank[hit_item] = r.hit_rank
    kept = judged.grade >= rel
    query = judged.query[kept]
    item = first_item[query] + judged.item[kept]
    return Served(
        query, item, first_subtopic[query] + judged.subtopic[kept], rank[item], hit_item, items
    )


def _firsts(judged: Subtopics, number: Ints, queries: int) -> Ints:
    """Return offsets that make the numbers within each query run over all queries."""
    count = np.zeros(queries, np.int64)
    np.maximum.at(count, judged.query, number + 1)
    return starts_of(count)


def subtopics_of(r: Rankings, served: Served) -> Floats:
    """Count the subtopics of each query that some item serves."""
    _, first = np.unique(served.subtopic, return_index=True)
    return r.total(served.query[first])


def times_before(served: Served, chosen: Ints) -> Ints:
    """Count the chosen pairs of the same subtopic at a lower rank, for each of them."""
    subtopic, rank = served.subtopic[chosen], served.rank[chosen].astype(np.int64)
    order = np.argsort(subtopic * (int(rank.max(initial=0)) + 1) + rank, kind="stable")
    times = np.empty(len(chosen), np.int64)
    times[order] = ordinals(subtopic[order], served.subtopics) - 1
    return times
