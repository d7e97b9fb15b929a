"""Counts: retrieved sets, confusion counts, and how much there was."""

from __future__ import annotations

from typing import Any

import numpy as np

from judged.arrays import Floats, divide
from judged.measures.registry import (
    ITSELF,
    NEVER,
    REL,
    Example,
    K,
    NumberParam,
    Undefined,
    collection_size,
    measure,
)
from judged.measures.tie_orders import Closed, Worth, by_grade, own_merit, uncut
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
_CONFUSION: dict[str, Any] = {
    **_COUNT,
    "reference": "manning2008",
    "params": (K, REL),
    "laws": {"below_k_is_ignored"},
}


_RATE: dict[str, Any] = {
    "reference": "manning2008",
    "params": (K, REL),
    "rates_relevance": False,
    "laws": {"swap_up_never_hurts", "below_k_is_ignored"},
    "expected": ITSELF,
}


def _nothing_irrelevant(name: str) -> Undefined:
    return Undefined(
        "every item of the collection is relevant",
        lambda r, params: collection_size(r, name) == r.relevant(params["rel"]),
    )


def _expected_set(r: Rankings, *, rel: float) -> Closed:
    return Closed(set_average_precision(r, rel=rel), uncut(r, np.full(len(r), np.inf)))


@measure(
    name="SetAP",
    aliases=("set_map",),
    title="Unranked average precision",
    says="Precision of the whole list times its recall: average precision if the list had no "
    "order.",
    formula=r"P \cdot R",
    reference="buckley2005",
    params=(REL,),
    laws={"swap_up_never_hurts"},
    # Two of four results are relevant, two of five relevant items were found.
    example=Example("SetAP", "1 0 1 0", 0.5 * 0.4, relevant=5),
    expected=_expected_set,
)
def set_average_precision(r: Rankings, *, rel: float) -> Floats:
    # One division, as in trec_eval: a value half-way between two decimals is printed the same.
    hits, relevant = r.found(None, rel), r.relevant(rel)
    return divide(hits * hits, np.maximum(r.retrieved, 1) * relevant)


def _weight(name: str, default: float, says: str) -> NumberParam:
    return NumberParam(
        name, default, f"the worth of each {says}", phrase=f"each {says} is worth {{}}"
    )


@measure(
    name="Utility",
    title="Utility of the retrieved set",
    says="A weighted sum of the four counts of the retrieved set.",
    formula=r"a\, TP + b\, FP + c\, FN + d\, TN",
    reference="buckley2005",
    range=(-np.inf, np.inf),
    params=(
        REL,
        _weight("a", 1, "relevant item that was retrieved"),
        _weight("b", -1, "irrelevant item that was retrieved"),
        _weight("c", 0, "relevant item that was not retrieved"),
        _weight("d", 0, "irrelevant item that was not retrieved"),
    ),
    undefined=NEVER,
    rates_relevance=False,
    example=Example("Utility", "1 0 1 0 0", -1.0),
    expected=ITSELF,
    worth=by_grade,
    monotone=own_merit,
)
def utility(r: Rankings, *, rel: float, a: float, b: float, c: float, d: float) -> Floats:
    hits, relevant = r.found(None, rel), r.relevant(rel)
    value = a * hits + b * (r.retrieved - hits) + c * (relevant - hits)
    return (
        value + d * (collection_size(r, "Utility") + hits - r.retrieved - relevant) if d else value
    )


@measure(
    name="FallOut",
    aliases=("FPR",),
    title="Fall-out at k",
    says="Share of the items that are not relevant which are among the first k results.",
    formula=r"\frac{FP@k}{FP@k + TN@k}",
    undefined=_nothing_irrelevant("FallOut"),
    higher_is_better=False,
    example=Example("FallOut@3", "1 0 1 1", 1 / 95, relevant=5, collection=100),
    **_RATE,
)
def fall_out(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    return divide(
        r.shown(k, rel) - r.found(k, rel), collection_size(r, "FallOut") - r.relevant(rel)
    )


@measure(
    name="TP",
    aliases=("TruePositives",),
    title="True positives",
    says="How many relevant items are among the first k results.",
    formula=r"\sum_{i\le k}[g_i \ge rel]",
    example=Example("TP@3", "1 0 1 1", 2.0),
    adds=own_merit,
    **_CONFUSION,
)
def true_positives(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    return r.found(k, rel)


@measure(
    name="FP",
    aliases=("FalsePositives",),
    title="False positives",
    says="How many of the first k results are not relevant; places that a short list leaves empty "
    "are not counted.",
    formula=r"\sum_{i\le \min(k,|results|)}[g_i < rel]",
    example=Example("FP@3", "1 0 1 1", 1.0),
    higher_is_better=False,
    **_CONFUSION,
)
def false_positives(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    return r.shown(k, rel) - r.found(k, rel)


@measure(
    name="FN",
    aliases=("FalseNegatives",),
    title="False negatives",
    says="How many relevant items are not among the first k results.",
    formula=r"N - TP@k",
    example=Example("FN@3", "1 0 1 1", 3.0, relevant=5),
    higher_is_better=False,
    **_CONFUSION,
)
def false_negatives(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    return r.relevant(rel) - r.found(k, rel)


@measure(
    name="TN",
    aliases=("TrueNegatives",),
    title="True negatives",
    says="How many items of the collection are neither relevant nor among the first k results.",
    formula=r"C - TP@k - FP@k - FN@k",
    example=Example("TN@3", "1 0 1 1", 94.0, relevant=5, collection=100),
    **_CONFUSION,
)
def true_negatives(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    return collection_size(r, "TN") - r.shown(k, rel) - false_negatives(r, k=k, rel=rel)


@measure(
    name="Accuracy",
    title="Accuracy at k",
    says="Share of the collection that is on the right side of the cutoff: relevant items above "
    "it, all others below.",
    formula=r"\frac{TP@k + TN@k}{C}",
    undefined=Undefined(
        "the collection is empty", lambda r, params: collection_size(r, "Accuracy") == 0
    ),
    example=Example("Accuracy@3", "1 0 1 1", 0.96, relevant=5, collection=100),
    **_RATE,
)
def accuracy(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    size = collection_size(r, "Accuracy")
    wrong = false_positives(r, k=k, rel=rel) + false_negatives(r, k=k, rel=rel)
    return divide(size - wrong, size)


@measure(
    name="Specificity",
    aliases=("TNR",),
    title="Specificity at k",
    says="Share of the items that are not relevant which are not among the first k results.",
    formula=r"\frac{TN@k}{TN@k + FP@k}",
    undefined=_nothing_irrelevant("Specificity"),
    example=Example("Specificity@3", "1 0 1 1", 94 / 95, relevant=5, collection=100),
    **_RATE,
)
def specificity(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    others = collection_size(r, "Specificity") - r.relevant(rel)
    return divide(others - false_positives(r, k=k, rel=rel), others)


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
    example=Example("NumQ", "0 1 0", 1.0),
    **_COUNT,
)
def queries(r: Rankings) -> Floats:
    return np.ones(len(r))
