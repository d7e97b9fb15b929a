"""Precision, recall and F at a cutoff, R-precision and success."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from judged.arrays import Floats, divide, needed
from judged.measures.registry import (
    EVERY_LAW,
    ITSELF,
    REL,
    Choice,
    Example,
    K,
    Mask,
    NumberParam,
    Settled,
    Undefined,
    aggregate_param,
    measure,
)
from judged.measures.tie_orders import all_chances, first_chances, own_merit
from judged.rankings.rankings import Cutoff, Rankings
from judged.statistics.samples import Means, QueryRows, relative

SHORT = Choice(
    "short",
    "pad",
    "what a list with fewer than k results is divided by",
    {
        "pad": "a list shorter than k is still divided by k, as if filled up with irrelevant items",
        "shrink": "a list shorter than k is divided by its own length",
    },
)


def divisor(r: Rankings, *, k: Cutoff, rel: float, short: str) -> Floats:
    """Return what precision divides by: the cutoff, or the length of a shorter list."""
    return r.shown(k, rel) if k is None or short == "shrink" else r.cutoff(k, rel)


def _nothing_to_divide_by(r: Rankings, params: Mapping[str, Any]) -> Mask:
    return divisor(r, k=params["k"], rel=params["rel"], short=params["short"]) == 0


@measure(
    name="P",
    aliases=("Precision", "SetP"),
    title="Precision",
    says="Share of the first k results that are relevant; a missing result counts as not relevant.",
    formula=r"\frac{1}{k}\sum_{i\le k}[g_i \ge rel]",
    reference="manning2008",
    params=(K, REL, SHORT),
    undefined=Undefined(
        "there is nothing to divide by: an empty list without a fixed k, or k=R with nothing "
        "relevant",
        _nothing_to_divide_by,
        of_run=True,
    ),
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral", "below_k_is_ignored"},
    example=Example("P@5", "0 1 0 0 1", 0.4),
    expected=ITSELF,
    monotone=own_merit,
    adds=lambda params: isinstance(params["k"], int) and params["short"] != "shrink",
)
def precision(r: Rankings, *, k: Cutoff, rel: float, short: str) -> Floats:
    return divide(r.found(k, rel), divisor(r, k=k, rel=rel, short=short))


@measure(
    name="Rprec",
    aliases=("R-precision", "RPrecision"),
    title="R-precision",
    says="Precision at rank R, where R is the query's number of relevant items; equal to recall at "
    "that rank.",
    formula=r"\frac{1}{R}\sum_{i\le R}[g_i \ge rel]",
    reference="manning2008",
    params=(
        REL,
        NumberParam(
            "mult",
            1,
            "how many times R the rank is, rounded up",
            low=0,
            open=True,
            phrase="the rank is {} times R, rounded up",
        ),
    ),
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral"},
    example=Example("Rprec", "1 0 1 0 1", 1 / 2, relevant=4),
    expected=ITSELF,
)
def r_precision(r: Rankings, *, rel: float, mult: float) -> Floats:
    rank = needed(mult, r.relevant(rel))
    return divide(r.counted(r.hit_grade >= rel, rank), rank)


def _expected_success(r: Rankings, *, k: Cutoff, rel: float, of: str) -> Floats:
    if of == "all":
        chance = all_chances(r, rel, r.cutoff(k, rel))
    else:
        query, _, chances = first_chances(r, rel, r.cutoff(k, rel))
        chance = np.minimum(r.total(query, chances), 1.0)
    return np.where(r.relevant(rel) == 0, np.nan, chance)


@measure(
    name="Success",
    aliases=("Hit", "HitRate", "HR", "TopKAccuracy", "CMC"),
    title="Success (hit rate, top-k accuracy, CMC)",
    says="1 if at least one of the first k results is relevant (with of=all, if every relevant "
    "item is among them), otherwise 0; its mean is the share of queries with a hit.",
    formula=r"\max_{i\le k}[g_i \ge rel]",
    formulas={"of=all": r"[\sum_{i\le k}[g_i \ge rel] = N]"},
    reference="craswell2009",
    params=(
        K,
        REL,
        Choice(
            "of",
            "any",
            "which relevant items have to be among the first k",
            {
                "any": "one relevant item is enough",
                "all": "all relevant items of the query have to be there; it is 0 where one was "
                "not retrieved, and where more than k are relevant",
            },
        ),
    ),
    laws=EVERY_LAW,
    example=Example("Success@3", "0 0 1 0", 1.0),
    expected=_expected_success,
    # One more relevant item below k is the end of all of them.
    monotone=lambda params: params["of"] == "any" and own_merit(params),
)
def success(r: Rankings, *, k: Cutoff, rel: float, of: str) -> Floats:
    relevant = r.relevant(rel)
    least = relevant if of == "all" else 1
    return np.where(relevant == 0, np.nan, r.found(k, rel) >= least)


@measure(
    name="R",
    aliases={"Recall": {}, "SetR": {}, "SetRelP": {"norm": "capped"}, "RelP": {"norm": "capped"}},
    title="Recall",
    says="Share of the query's relevant items that are among the first k results.",
    formula=r"\frac{1}{N}\sum_{i\le k}[g_i \ge rel]",
    reference="manning2008",
    params=(
        K,
        REL,
        Choice(
            "norm",
            "relevant",
            "what the hits are divided by",
            {
                "relevant": "divided by N, all relevant items of the query",
                "capped": "divided by min(N, k), the most that k results can hold (or by min(N, "
                "list length) without a k)",
            },
        ),
    ),
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


def _gives(r: Rankings, *, k: Cutoff, rel: float, short: str, average: str) -> QueryRows | None:
    if average == "queries":
        return None
    parts = precision(r, k=k, rel=rel, short=short), recall(r, k=k, rel=rel, norm="relevant")
    return QueryRows(np.arange(len(r)), np.stack(parts, axis=1), len(r))


def _made_of(rows: QueryRows, settled: Settled, *, beta: float) -> Means:
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
    params=(
        K,
        REL,
        SHORT,
        NumberParam(
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
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral", "below_k_is_ignored"},
    example=Example("F@4", "1 0 1 1 0 1 0 0", 0.75),
    # Both divisors are fixed, and P R / (β² P + R) with P = x/a and R = x/b is linear in x.
    expected=ITSELF,
    gives=_gives,
    made_of=_made_of,
)
def f_measure(r: Rankings, *, k: Cutoff, rel: float, short: str, beta: float) -> Floats:
    precisions = np.nan_to_num(precision(r, k=k, rel=rel, short=short))
    return _balance(precisions, recall(r, k=k, rel=rel, norm="relevant"), beta)
