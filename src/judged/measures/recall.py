"""How much of what is relevant was shown, and its balance with precision."""

from __future__ import annotations

import numpy as np

from judged.arrays import Floats, divide
from judged.measures.params import REL, Choice, K, Number
from judged.measures.precision import SHORT, precision
from judged.measures.registry import ITSELF, NO_RELEVANT, Example, Settled, aggregate_param, measure
from judged.rankings.rankings import Cutoff, Rankings
from judged.statistics.samples import Means, Rows, relative


@measure(
    name="R",
    aliases={"Recall": {}, "SetR": {}, "SetRelP": {"norm": "capped"}, "RelP": {"norm": "capped"}},
    title="Recall",
    says="Share of the query's relevant items that are among the first k results.",
    formula=r"\frac{1}{N}\sum_{i\le k}[g_i \ge rel]",
    reference="manning2008",
    range=(0, 1),
    params=(
        K,
        REL,
        Choice(
            "norm",
            "relevant",
            "what the hits are divided by",
            {
                "relevant": "divided by N, all relevant items of the query",
                "capped": (
                    "divided by min(N, k), the most that k results can hold (or by min(N, list "
                    "length) without a k)"
                ),
            },
        ),
    ),
    undefined=NO_RELEVANT,
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral", "below_k_is_ignored"},
    example=Example("R@5", "0 1 0 0 1", 0.5, relevant=4),
    expected=ITSELF,
)
def recall(r: Rankings, *, k: Cutoff, rel: float, norm: str) -> Floats:
    relevant = r.relevant(rel)
    if norm == "capped":
        most = np.maximum(r.retrieved, 1) if k is None else r.cutoff(k, rel)
        return divide(r.found(k, rel), np.minimum(relevant, most))
    return divide(r.found(k, rel), relevant)


_HUGE = 1e100
"""From here on, precision changes no digit of F, and the square of beta would overflow."""


def _balance(precision: Floats, recall: Floats, beta: float) -> Floats:
    if beta > _HUGE:
        return recall
    weight = float(f"{beta * beta:.15g}")  # beta=√2 weighs 2, not 2.0000000000000004
    whole = weight * precision + recall
    return np.where(
        whole == 0,
        0.0,
        np.divide((1 + weight) * precision * recall, np.where(whole == 0, 1.0, whole)),
    )


def _gives(r: Rankings, *, k: Cutoff, rel: float, short: str, average: str) -> Rows | None:
    if average == "queries":
        return None
    parts = precision(r, k=k, rel=rel, short=short), recall(r, k=k, rel=rel, norm="relevant")
    return Rows(np.arange(len(r)), np.stack(parts, axis=1), len(r))


def _made_of(rows: Rows, settled: Settled, *, beta: float) -> Means:
    return Means(
        np.ascontiguousarray(settled.settle(rows.columns.T).T),
        lambda means: _balance(means[..., 0], means[..., 1], beta),
        weights=relative(settled.weights),
    )


@measure(
    name="F",
    aliases=("F1", "F1Score", "F-measure", "SetF"),
    title="F measure",
    says="Harmonic balance of precision and recall at k; 0 where nothing relevant was found.",
    formula=r"\frac{(1+\beta^2) P R}{\beta^2 P + R}",
    reference="vanrijsbergen1979",
    range=(0, 1),
    params=(
        K,
        REL,
        SHORT,
        Number(
            "beta",
            1,
            "how many times more recall matters than precision",
            low=0,
            open=True,
            phrase="recall weighs {} times as much as precision",
        ),
        Choice(
            "average",
            "queries",
            "what is averaged",
            {
                "queries": "F is computed for each query and then averaged",
                "means": "F is computed once, from the mean precision and the mean recall",
            },
        ),
        aggregate_param("mean", ("mean",)),
    ),
    undefined=NO_RELEVANT,
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral", "below_k_is_ignored"},
    example=Example("F@4", "1 0 1 1 0 1 0 0", 0.75),
    # Both divisors are fixed, and P R / (β² P + R) with P = x/a and R = x/b is linear in x.
    expected=ITSELF,
    gives=_gives,
    made_of=_made_of,
)
def f_measure(r: Rankings, *, k: Cutoff, rel: float, short: str, beta: float) -> Floats:
    found = np.nan_to_num(precision(r, k=k, rel=rel, short=short))
    return _balance(found, recall(r, k=k, rel=rel, norm="relevant"), beta)
