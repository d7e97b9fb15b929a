"""Measures for incomplete judgements: unjudged items are left out, or counted."""

from __future__ import annotations

import numpy as np

from judged.arrays import Floats, counts_before, divide, ordinals
from judged.measures.registry import ITSELF, NEVER, REL, Example, K, Undefined, measure, patience
from judged.measures.tie_orders import by_grade, mean_weights, own_merit
from judged.rankings.rankings import Cutoff, Rankings


def _nonrelevant(r: Rankings, rel: float) -> Floats:
    """Count the items of each query that were judged not relevant."""
    return r.total(r.pool_query[(r.pool_grade >= 0) & (r.pool_grade < rel)])


@measure(
    name="Bpref",
    tells_unjudged=True,
    aliases={"GMBpref": {"aggregate": "geometric"}},
    title="Binary preference",
    says="For each relevant item, the share of the judged nonrelevant items that do not stand "
    "above it, counting no more of them than there are relevant items; unjudged items play no "
    "part.",
    formula=r"\frac{1}{R}\sum_{relevant\ i}\left(1-\frac{\min(n_i, R)}{\min(N, R)}\right)",
    reference="buckley2004",
    params=(REL,),
    laws={"append_unjudged_is_neutral"},
    # One nonrelevant item above the second relevant one; R = 2, N = 2: (1 + (1 - 1/2)) / 2
    example=Example("Bpref", "1 0 1 0", 0.75),
    worth=by_grade,
)
def binary_preference(r: Rankings, *, rel: float) -> Floats:
    relevant, nonrelevant = r.relevant(rel), _nonrelevant(r, rel)
    hit = r.hit_grade >= rel
    above = counts_before((r.hit_grade >= 0) & ~hit, r.hit_query, len(r))
    query = r.hit_query[hit]
    wrong = np.minimum(above[hit], relevant[query])
    lost = divide(wrong, np.minimum(nonrelevant, relevant)[query])
    return divide(r.total(query, 1 - np.where(wrong == 0, 0.0, lost)), relevant)


EPSILON = 1e-5
"""trec_eval's constant against a division by zero."""


@measure(
    name="infAP",
    tells_unjudged=True,
    aliases=("InferredAP",),
    title="Inferred average precision",
    says="Average precision estimated from a pool of which only a sample was judged: precision "
    "above each relevant item is inferred from the judged items there; items in the pool that "
    "were not judged have a negative grade, and items outside the pool count as not relevant.",
    formula=r"\frac{1}{R}\sum_{relevant\ i}\left(\frac{1}{i}+\frac{i-1}{i}\cdot\frac{pooled_i}{i-1}"
    r"\cdot\frac{rel_i+\epsilon}{rel_i+nonrel_i+2\epsilon}\right)",
    reference="yilmaz2006",
    params=(REL,),
    laws={"append_unjudged_is_neutral"},
    # Rank 1 adds 1; rank 3 adds 1/3 + 2/3 (2/2) (1 + e)/(2 + 2e) = 1/3 + 1/3; two relevant items.
    example=Example("infAP", "1 0 1", (1 + 2 / 3) / 2),
)
def inferred_average_precision(r: Rankings, *, rel: float) -> Floats:
    hit = r.hit_grade >= rel
    queries = len(r)
    relevant_above = counts_before(hit, r.hit_query, queries)[hit]
    nonrelevant_above = counts_before((r.hit_grade >= 0) & ~hit, r.hit_query, queries)[hit]
    pooled_above = ordinals(r.hit_query, queries)[hit] - 1
    rank = r.hit_rank[hit].astype(np.float64)
    judged_right = (relevant_above + EPSILON) / (relevant_above + nonrelevant_above + 2 * EPSILON)
    above = np.maximum(rank - 1, 1)  # what is pooled above rank 1 is nothing
    value = 1 / rank + (rank - 1) / rank * (pooled_above / above) * judged_right
    return divide(r.total(r.hit_query[hit], value), r.relevant(rel))


@measure(
    name="Judged",
    tells_unjudged=True,
    title="Share of judged results",
    says="Share of the first k results that were judged, relevant or not (a negative grade is no "
    "judgement); a list shorter than k is divided by its own length.",
    formula=r"\frac{|judged \cap first\ k|}{\min(k, |results|)}",
    reference="buckley2004",
    params=(K,),
    undefined=Undefined(
        "nothing was retrieved, or k=R with nothing relevant",
        lambda r, params: r.shown(params["k"], 1) == 0,
        of_run=True,
    ),
    rates_relevance=False,
    laws={"below_k_is_ignored"},
    example=Example("Judged@4", "1 - 0 -", 0.5),
    expected=ITSELF,
    worth=by_grade,
    monotone=own_merit,
)
def judged_share(r: Rankings, *, k: Cutoff) -> Floats:
    return divide(r.counted(r.hit_grade >= 0, r.cutoff(k, 1)), r.shown(k, 1))


def _places(r: Rankings, k: Cutoff) -> Floats:
    """Count the places, including those that a short list leaves empty."""
    return r.shown(k, 1) if k is None else r.cutoff(k, 1)


@measure(
    name="Unjudged",
    tells_unjudged=True,
    aliases=("unj",),
    title="Share of unjudged results",
    says="Share of the first k places that hold an item nobody judged; the empty places of a short "
    "list count as judged.",
    formula=r"\frac{|unjudged \cap first\ k|}{k}",
    reference="buckley2004",
    params=(K,),
    undefined=Undefined(
        "nothing was retrieved and there is no k, or k=R with nothing relevant",
        lambda r, p: _places(r, p["k"]) == 0,
        of_run=True,
    ),
    higher_is_better=False,
    rates_relevance=False,
    laws={"below_k_is_ignored"},
    example=Example("Unjudged@4", "1 - 0 -", 0.5),
    expected=ITSELF,
    worth=by_grade,
    monotone=own_merit,
)
def unjudged_share(r: Rankings, *, k: Cutoff) -> Floats:
    shown = r.shown(k, 1)
    judged = r.counted(r.hit_grade >= 0, r.cutoff(k, 1))
    return divide(shown - judged, _places(r, k))


def _expected_residual(r: Rankings, *, p: float) -> Floats:
    weight = mean_weights(r, np.full(len(r), np.inf), lambda rank: p ** (rank - 1))
    judged = r.hit_grade >= 0
    return np.maximum(1 - (1 - p) * r.total(r.hit_query[judged], weight[judged]), 0)


@measure(
    name="RBPResidual",
    tells_unjudged=True,
    aliases=("RBP_resid",),
    title="Residual of rank-biased precision",
    says="How much RBP could grow if every unjudged item, in the list and after its end, turned "
    "out to be relevant.",
    formula=r"(1-p)\sum_{unjudged\ i} p^{i-1} + p^{n}",
    reference="moffat2008",
    params=(patience("p", 0.8),),
    undefined=NEVER,
    higher_is_better=False,
    rates_relevance=False,
    # Rank 2 is unjudged and two results are shown: (1 - 0.5) 0.5 + 0.5^2
    example=Example("RBPResidual(p=0.5)", "1 -", 0.5),
    expected=_expected_residual,
    worth=by_grade,
    monotone=own_merit,
)
def rank_biased_residual(r: Rankings, *, p: float) -> Floats:
    judged = r.hit_grade >= 0
    weight = p ** (r.hit_rank[judged] - 1.0)
    return np.maximum(1 - (1 - p) * r.total(r.hit_query[judged], weight), 0)
