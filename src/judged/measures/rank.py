"""Reciprocal rank, and ranks of relevant items."""

from __future__ import annotations

import numpy as np

from judged.arrays import Floats, Ints
from judged.measures.registry import (
    EVERY_LAW,
    REL,
    Choice,
    Example,
    K,
    Settled,
    aggregate_param,
    measure,
)
from judged.measures.tie_orders import first_chances, own_merit, ties_of
from judged.rankings.rankings import Cutoff, Rankings
from judged.statistics.samples import Means, Median, QueryRows, Sample, relative


def _expected_reciprocal_rank(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    query, rank, chance = first_chances(r, rel, r.cutoff(k, rel))
    return np.where(r.relevant(rel) == 0, np.nan, r.total(query, chance / rank))


@measure(
    name="RR",
    aliases=("MRR", "ReciprocalRank", "MeanReciprocalRank", "RecipRank"),
    title="Reciprocal rank",
    says="1 divided by the rank of the first relevant item; 0 where there is none down to k.",
    formula=r"\frac{1}{\min\{i \le k : g_i \ge rel\}}",
    reference="voorhees1999",
    params=(K, REL),
    laws=EVERY_LAW,
    example=Example("RR", "0 0 1 0 1", 1 / 3),
    expected=_expected_reciprocal_rank,
    monotone=own_merit,
)
def reciprocal_rank(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    return np.where(r.relevant(rel) == 0, np.nan, 1 / r.first(k, rel))


def _all_ranks(r: Rankings, rel: float) -> tuple[Ints, Floats]:
    """Return query and rank of every relevant item; infinite if not retrieved."""
    hit = r.hit_grade >= rel
    query, rank = (
        r.hit_query[hit],
        (_expected_ranks(r) if r.ties == "expected" else r.hit_rank)[hit],
    )
    lost = (r.relevant(rel) - r.total(query)).astype(np.int64)
    every = np.concatenate([query, np.repeat(np.arange(len(r)), lost)])
    ranks = np.concatenate([rank.astype(np.float64), np.full(lost.sum(), np.inf)])
    order = np.argsort(every, kind="stable")
    return every[order], ranks[order]


def _expected_ranks(r: Rankings) -> Floats:
    """Return the middle of the ranks of each hit's tie; infinite if a depth may cut it."""
    first, last = r.spans
    return np.where(last > r.retrieved[r.hit_query], np.inf, (first + last) / 2)


def _expected_rank(r: Rankings, *, rel: float, of: str, aggregate: str) -> Floats | None:
    if of == "all":
        return rank(r, rel=rel, of=of, aggregate=aggregate) if aggregate == "mean" else None
    ties = ties_of(r, rel, np.full(len(r), np.inf))
    relevant = r.relevant(rel)
    value = np.where(relevant == 0, np.nan, np.inf)
    # m relevant items cut the other n - m into m + 1 parts, equally long on average.
    part = (ties.size + 1) / (ties.relevant + 1)
    if of == "first":
        there = (ties.before == 0) & (ties.shown > ties.size - ties.relevant)
        middle = ties.first - 1 + part
    else:
        last = ties.before + ties.relevant == relevant[ties.query]
        there = last & (ties.shown == ties.size)
        middle = ties.first + ties.size - part
    value[ties.query[there]] = middle[there]
    return value


def _last(r: Rankings, rel: float) -> Floats:
    """Return the rank of each query's last relevant item; infinite if not retrieved."""
    relevant = r.relevant(rel)
    query, rank, ordinal = r.relevant_hits(None, rel)
    value = np.where(relevant == 0, np.nan, np.inf)
    last = ordinal == relevant[query]
    value[query[last]] = rank[last]
    return value


def _gives(r: Rankings, *, rel: float, of: str) -> QueryRows | None:
    if of != "all":
        return None
    query, ranks = _all_ranks(r, rel)
    return QueryRows(query, ranks[:, None], len(r))


def _made_of(rows: QueryRows, settled: Settled, *, aggregate: str) -> Sample:
    query, ranks = rows.owner, rows.columns[:, 0]
    # A query with nothing relevant has no ranks, and counts with the one value that the policy
    # gives it.
    empty = np.bincount(query, minlength=rows.size) == 0
    alone = np.flatnonzero(empty & settled.counted)
    counts = settled.counted[query]
    place = np.cumsum(settled.counted) - 1
    owner = place[np.concatenate([query[counts], alone])]
    pooled = np.concatenate([ranks[counts], settled.values[empty[settled.counted]]])
    size, weights = len(settled.values), relative(settled.weights)
    if aggregate == "median":
        return Median(pooled, owner, size, weights)
    totals, numbers = (
        np.bincount(owner, values, size) for values in (pooled, np.ones(len(pooled)))
    )
    return Means.ratio(totals.astype(np.float64), numbers.astype(np.float64), weights)


@measure(
    name="Rank",
    aliases={
        **{name: {"aggregate": "mean"} for name in ("MeanRank", "MeanR", "MnR")},
        **{name: {"aggregate": "median"} for name in ("MedianRank", "MedianR", "MedR", "MdR")},
    },
    title="Rank of relevant items",
    says="The rank at which relevant items were found; infinite for one that was not retrieved. "
    "Lower is better.",
    formula=r"\min\{i : g_i \ge rel\}",
    formulas={"of=all": r"\{i : g_i \ge rel\}", "of=last": r"\max\{i : g_i \ge rel\}"},
    reference="manning2008",
    range=(1, np.inf),
    params=(
        REL,
        Choice(
            "of",
            "first",
            "which relevant items",
            {
                "first": "the rank of each query's first relevant item",
                "last": "the rank of each query's last relevant item: how far one has to look for "
                "all of them; infinite where one was not retrieved",
                "all": "the ranks of all relevant items, those of all queries taken together for "
                "the summary",
            },
        ),
        aggregate_param("mean", ("mean", "median")),
    ),
    higher_is_better=False,
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral"},
    example=Example("Rank", "0 0 1 0 1", 3.0),
    gives=_gives,
    made_of=_made_of,
    expected=_expected_rank,
    monotone=lambda params: params["of"] == "first",
)
def rank(r: Rankings, *, rel: float, of: str, aggregate: str) -> Floats:
    undefined = r.relevant(rel) == 0
    if of == "first":
        return np.where(undefined, np.nan, r.first(None, rel))
    if of == "last":
        return _last(r, rel)
    query, ranks = _all_ranks(r, rel)
    count = r.total(query)
    if aggregate == "mean":
        return np.where(undefined, np.nan, r.total(query, ranks) / np.maximum(count, 1))
    value = np.full(len(r), np.nan)
    start = (np.cumsum(count) - count).astype(np.int64)[~undefined]
    size = count[~undefined].astype(np.int64)
    low, high = ranks[start + (size - 1) // 2], ranks[start + size // 2]
    value[~undefined] = np.where(np.isinf(high) & ~np.isinf(low), np.inf, (low + high) / 2)
    return value


@measure(
    name="INP",
    aliases=("mINP", "InverseNegativePenalty"),
    title="Inverse negative penalty",
    says="The number of relevant items divided by the rank of the last of them: how cheaply all "
    "of them are found; 0 where one was not retrieved.",
    formula=r"\frac{N}{rank_{last}}",
    reference="ye2021",
    params=(REL,),
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral", "perfect_is_best"},
    example=Example("INP", "1 0 0 1", 0.5),
)
def inverse_negative_penalty(r: Rankings, *, rel: float) -> Floats:
    return r.relevant(rel) / _last(r, rel)
