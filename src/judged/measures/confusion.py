"""The confusion counts at k: what was shown and what was not, relevant and not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from judged.arrays import Floats, divide
from judged.errors import MeasureError
from judged.measures.params import REL, K
from judged.measures.registry import ITSELF, NEVER, Example, Mask, Undefined, measure
from judged.measures.ties import by_grade, own_merit
from judged.rankings.rankings import Cutoff, Rankings

_COUNT: dict[str, Any] = {
    "reference": "manning2008",
    "range": (0, np.inf),
    "params": (K, REL),
    "undefined": NEVER,
    "rates_relevance": False,
    "aggregate": "sum",
    "laws": {"below_k_is_ignored"},
    "expected": ITSELF,
    "worth": by_grade,
    "monotone": own_merit,
}


def collection_size(r: Rankings, name: str) -> Floats:
    """How many items there were to retrieve, or an error that says how to give it."""
    if r.collection is None:
        raise MeasureError(
            f"{name} counts the items that were not retrieved and needs the size of the "
            "collection; give it as collection=… (--collection on the command line)."
        )
    known = r.retrieved + r.total(r.pool_query) - r.total(r.hit_query)
    if (short := np.flatnonzero(r.collection < known)).size:
        at = short[0]
        raise MeasureError(
            f"the collection of query {r.queries[at]} holds {r.collection[at]:,} items, but "
            f"{int(known[at]):,} were retrieved or judged; {name} needs the number of all items "
            "there are."
        )
    return r.collection.astype(np.float64)


@measure(
    name="TP",
    aliases=("TruePositives",),
    title="True positives",
    says="How many relevant items are among the first k results.",
    formula=r"\sum_{i\le k}[g_i \ge rel]",
    example=Example("TP@3", "1 0 1 1", 2.0),
    adds=own_merit,
    **_COUNT,
)
def true_positives(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    return r.found(k, rel)


@measure(
    name="FP",
    aliases=("FalsePositives",),
    title="False positives",
    says=(
        "How many of the first k results are not relevant; places that a short list leaves empty "
        "are not counted."
    ),
    formula=r"\sum_{i\le \min(k,|results|)}[g_i < rel]",
    example=Example("FP@3", "1 0 1 1", 1.0),
    higher_is_better=False,
    **_COUNT,
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
    **_COUNT,
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
    **_COUNT,
)
def true_negatives(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    return collection_size(r, "TN") - r.shown(k, rel) - false_negatives(r, k=k, rel=rel)


@measure(
    name="Accuracy",
    title="Accuracy at k",
    says=(
        "Share of the collection that is on the right side of the cutoff: relevant items above "
        "it, all others below."
    ),
    formula=r"\frac{TP@k + TN@k}{C}",
    reference="manning2008",
    range=(0, 1),
    params=(K, REL),
    undefined=Undefined(
        "the collection is empty", lambda r, params: collection_size(r, "Accuracy") == 0
    ),
    rates_relevance=False,
    laws={"swap_up_never_hurts", "below_k_is_ignored"},
    example=Example("Accuracy@3", "1 0 1 1", 0.96, relevant=5, collection=100),
    expected=ITSELF,
)
def accuracy(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    size = collection_size(r, "Accuracy")
    wrong = false_positives(r, k=k, rel=rel) + false_negatives(r, k=k, rel=rel)
    return divide(size - wrong, size)


def _all_relevant(r: Rankings, params: Mapping[str, Any]) -> Mask:
    return collection_size(r, "Specificity") == r.relevant(params["rel"])


@measure(
    name="Specificity",
    aliases=("TNR",),
    title="Specificity at k",
    says="Share of the items that are not relevant which are not among the first k results.",
    formula=r"\frac{TN@k}{TN@k + FP@k}",
    reference="manning2008",
    range=(0, 1),
    params=(K, REL),
    undefined=Undefined("every item of the collection is relevant", _all_relevant),
    rates_relevance=False,
    laws={"swap_up_never_hurts", "below_k_is_ignored"},
    example=Example("Specificity@3", "1 0 1 1", 94 / 95, relevant=5, collection=100),
    expected=ITSELF,
)
def specificity(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    others = collection_size(r, "Specificity") - r.relevant(rel)
    return divide(others - false_positives(r, k=k, rel=rel), others)
