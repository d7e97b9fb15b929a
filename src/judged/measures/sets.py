"""The retrieved items as a set, their order set aside: what is left of P and R without a cutoff."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from judged.arrays import Floats, divide
from judged.measures.confusion import collection_size
from judged.measures.params import REL, K, Number
from judged.measures.registry import ITSELF, NEVER, NO_RELEVANT, Example, Mask, Undefined, measure
from judged.measures.ties import Closed, by_grade, own_merit, uncut
from judged.rankings.rankings import Cutoff, Rankings


def _expected_set(r: Rankings, *, rel: float) -> Closed:
    return Closed(set_average_precision(r, rel=rel), uncut(r, np.full(len(r), np.inf)))


@measure(
    name="SetAP",
    aliases=("set_map",),
    title="Unranked average precision",
    says=(
        "Precision of the whole list times its recall: average precision if the list had no order."
    ),
    formula=r"P \cdot R",
    reference="buckley2005",
    range=(0, 1),
    params=(REL,),
    at=None,
    undefined=NO_RELEVANT,
    laws={"swap_up_never_hurts"},
    # Two of four results are relevant, two of five relevant items were found.
    example=Example("SetAP", "1 0 1 0", 0.5 * 0.4, relevant=5),
    expected=_expected_set,
)
def set_average_precision(r: Rankings, *, rel: float) -> Floats:
    # One division, as in trec_eval: a value half-way between two decimals is printed the same.
    found, relevant = r.found(None, rel), r.relevant(rel)
    return divide(found * found, np.maximum(r.retrieved, 1) * relevant)


def _weight(name: str, default: float, says: str) -> Number:
    return Number(name, default, f"the worth of each {says}", phrase=f"each {says} is worth {{}}")


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
    at=None,
    undefined=NEVER,
    rates_relevance=False,
    example=Example("Utility", "1 0 1 0 0", -1.0),
    expected=ITSELF,
    worth=by_grade,
    monotone=own_merit,
)
def utility(r: Rankings, *, rel: float, a: float, b: float, c: float, d: float) -> Floats:
    found, relevant = r.found(None, rel), r.relevant(rel)
    value = a * found + b * (r.retrieved - found) + c * (relevant - found)
    return (
        value + d * (collection_size(r, "Utility") + found - r.retrieved - relevant) if d else value
    )


def _all_relevant(r: Rankings, params: Mapping[str, Any]) -> Mask:
    return collection_size(r, "FallOut") == r.relevant(params["rel"])


@measure(
    name="FallOut",
    aliases=("FPR",),
    title="Fall-out at k",
    says="Share of the items that are not relevant which are among the first k results.",
    formula=r"\frac{FP@k}{FP@k + TN@k}",
    reference="manning2008",
    range=(0, 1),
    params=(K, REL),
    undefined=Undefined("every item of the collection is relevant", _all_relevant),
    higher_is_better=False,
    rates_relevance=False,
    laws={"swap_up_never_hurts", "below_k_is_ignored"},
    example=Example("FallOut@3", "1 0 1 1", 1 / 95, relevant=5, collection=100),
    expected=ITSELF,
)
def fall_out(r: Rankings, *, k: Cutoff, rel: float) -> Floats:
    return divide(
        r.shown(k, rel) - r.found(k, rel), collection_size(r, "FallOut") - r.relevant(rel)
    )
