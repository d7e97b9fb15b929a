"""How far one has to look: reciprocal rank and ranks themselves."""

from __future__ import annotations

import numpy as np

from judged.measures.params import REL, Choice, K
from judged.measures.spec import AGGREGATIONS, NO_RELEVANT, Example, Settled, aggregate_param, measure
from judged.rankings import Cutoff, Rankings
from judged.segments import Floats, Ints


@measure(
    name="RR",
    aliases=("MRR", "ReciprocalRank"),
    title="Reciprocal rank",
    says="1 divided by the rank of the first relevant item; 0 where there is none down to k.",
    formula=r"\frac{1}{\min\{i \le k : g_i \ge rel\}}",
    reference="voorhees1999",
    range=(0, 1),
    params=(K, REL),
    undefined=NO_RELEVANT,
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral", "below_k_is_ignored", "perfect_is_best"},
    example=Example("RR", "0 0 1 0 1", 1 / 3),
)
def reciprocal_rank(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    return np.where(r.relevant(rel) == 0, np.nan, 1 / r.first(k, rel))


def _all_ranks(r: Rankings, rel: float) -> tuple[Ints, Floats]:
    """Query and rank of every relevant item in the pool; infinite for those not retrieved."""
    query, rank, _ = r.relevant_hits(None, rel)
    lost = (r.relevant(rel) - r.found(None, rel)).astype(np.int64)
    every = np.concatenate([query, np.repeat(np.arange(len(r)), lost)])
    ranks = np.concatenate([rank.astype(np.float64), np.full(lost.sum(), np.inf)])
    order = np.argsort(every, kind="stable")
    return every[order], ranks[order]


def _summary(r: Rankings, settled: Settled, *, rel: float, of: str, aggregate: str) -> float:
    if of == "first":
        return AGGREGATIONS[aggregate](settled.values)
    query, ranks = _all_ranks(r, rel)
    ranks = ranks[settled.counted[query]]
    return AGGREGATIONS[aggregate](ranks) if len(ranks) else float("nan")


@measure(
    name="Rank",
    aliases={"MeanRank": {"aggregate": "mean"}, "MedianRank": {"aggregate": "median"}, "MedR": {"aggregate": "median"}},
    title="Rank of relevant items",
    says="The rank at which relevant items were found; infinite for one that was not retrieved. Lower is better.",
    formula=r"\min\{i : g_i \ge rel\}",
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
                "all": "the ranks of all relevant items, those of all queries taken together for the summary",
            },
        ),
        aggregate_param("mean", ("mean", "median")),
    ),
    at=None,
    undefined=NO_RELEVANT,
    higher_is_better=False,
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral"},
    example=Example("Rank", "0 0 1 0 1", 3.0),
    summarise=_summary,
)
def rank(r: Rankings, *, rel: float, of: str, aggregate: str) -> Floats:
    undefined = r.relevant(rel) == 0
    if of == "first":
        return np.where(undefined, np.nan, r.first(None, rel))
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
    says="The number of relevant items divided by the rank of the last of them: how cheaply all of them are found; "
    "0 where one was not retrieved.",
    formula=r"\frac{N}{rank_{last}}",
    reference="ye2021",
    range=(0, 1),
    params=(REL,),
    at=None,
    undefined=NO_RELEVANT,
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral", "perfect_is_best"},
    example=Example("INP", "1 0 0 1", 0.5),
)
def inverse_negative_penalty(r: Rankings, *, rel: float) -> Floats:
    relevant = r.relevant(rel)
    query, rank, ordinal = r.relevant_hits(None, rel)
    value = np.where(relevant == 0, np.nan, 0.0)
    last = ordinal == relevant[query]
    value[query[last]] = (ordinal / rank)[last]
    return value
