"""How much there was: sizes of lists and pools, and the number of queries."""

from __future__ import annotations

from typing import Any

import numpy as np

from judged.arrays import Floats
from judged.measures.params import REL, K
from judged.measures.registry import ITSELF, NEVER, Example, measure
from judged.measures.ties import Worth, by_grade, own_merit
from judged.rankings.rankings import Cutoff, Rankings

_COUNT: dict[str, Any] = {
    "reference": "buckley2005",
    "range": (0, np.inf),
    "undefined": NEVER,
    "rates_relevance": False,
    "aggregate": "sum",
    "expected": ITSELF,
    "worth": by_grade,
    "monotone": own_merit,
}


@measure(
    name="NumRet",
    title="Number of results",
    says="How many results the query has, down to k.",
    formula=r"\min(k, |results|)",
    params=(K, REL),
    example=Example("NumRet", "0 1 0", 3.0),
    **_COUNT,
)
def retrieved(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    return r.shown(k, rel)


@measure(
    name="NumRel",
    title="Number of relevant items",
    says="How many items are relevant to the query, retrieved or not.",
    formula=r"N = |\{g \ge rel\}|",
    params=(REL,),
    at=None,
    example=Example("NumRel", "0 1 0", 4.0, relevant=4),
    **_COUNT,
)
def relevant(r: Rankings, *, rel: float) -> Floats:
    return r.relevant(rel)


@measure(
    name="NumRelRet",
    title="Number of relevant results",
    says="How many of the first k results are relevant.",
    formula=r"\sum_{i\le k}[g_i \ge rel]",
    params=(K, REL),
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral", "below_k_is_ignored"},
    example=Example("NumRelRet", "0 1 0", 1.0, relevant=4),
    adds=own_merit,
    **_COUNT,
)
def relevant_retrieved(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    return r.found(k, rel)


def _worth_of_nonrelevant(r: Rankings, *, rel: float) -> Worth:
    return Worth(((r.hit_grade >= 0) & (r.hit_grade < rel)).astype(np.float64), 0.0)


@measure(
    name="NumNonrelRet",
    tells_unjudged=True,
    title="Number of judged results that are not relevant",
    says="How many of the first k results were judged and found not relevant.",
    formula=r"\sum_{i\le k}[0 \le g_i < rel]",
    params=(K, REL),
    laws={"append_unjudged_is_neutral", "below_k_is_ignored"},
    example=Example("NumNonrelRet", "0 1 - 0", 2.0),
    **{**_COUNT, "worth": _worth_of_nonrelevant},
)
def nonrelevant_retrieved(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    return r.counted((r.hit_grade >= 0) & (r.hit_grade < rel), r.cutoff(k, rel))


@measure(
    name="NumQ",
    title="Number of queries",
    says="How many queries the summary is about: 1 per query, summed.",
    formula=r"|Q|",
    params=(),
    at=None,
    example=Example("NumQ", "0 1 0", 1.0),
    **_COUNT,
)
def queries(r: Rankings) -> Floats:
    return np.ones(len(r))
