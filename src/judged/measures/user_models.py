"""Models of a user who reads down the list and stops: RBP and ERR."""

from __future__ import annotations

import numpy as np

from judged.arrays import Floats, products_before
from judged.errors import MeasureError
from judged.measures.gain import exponential
from judged.measures.params import REL, Choice, K, Number, patience, show
from judged.measures.registry import NEVER, Example, measure
from judged.measures.ties import by_grade, mean_weights, own_merit
from judged.rankings.rankings import Cutoff, Rankings

MAX_GRADE = Number(
    "max_grade",
    4,
    "the highest grade an item can have",
    low=0,
    open=True,
    phrase="the highest possible grade is {}",
)


_LARGE = 1000
"""From here on, 2 to the power of a grade may be more than a number can hold."""


def _check_grades(r: Rankings, name: str, max_grade: float) -> None:
    if len(r.pool_grade) and (top := float(r.pool_grade.max())) > max_grade:
        raise MeasureError(
            f"max_grade of {name} is {show(max_grade)}, but the judgements hold a grade of "
            f"{show(top)}; write {name}(max_grade={show(top)}), the highest grade that could "
            "have been given."
        )


def _expected_rank_biased(
    r: Rankings, *, k: Cutoff, rel: float, p: float, gain: str, max_grade: float
) -> Floats:
    gained = _gained(r, rel=rel, gain=gain, max_grade=max_grade)
    weight = mean_weights(r, r.cutoff(k, rel), lambda rank: p ** (rank - 1))
    return (1 - p) * r.total(r.hit_query, gained * weight)


def _gained(r: Rankings, *, rel: float, gain: str, max_grade: float) -> Floats:
    if gain == "graded":
        _check_grades(r, "RBP", max_grade)
        return np.maximum(r.hit_grade, 0) / max_grade
    return (r.hit_grade >= rel).astype(np.float64)


@measure(
    name="RBP",
    title="Rank-biased precision",
    says=(
        "The rate at which a patient user gains, who goes on from each result to the next with "
        "probability p."
    ),
    formula=r"(1-p)\sum_{i\le k} g_i\, p^{i-1}",
    reference="moffat2008",
    range=(0, 1),
    params=(
        K,
        REL,
        patience("p", 0.8),
        Choice(
            "gain",
            "binary",
            "what an item gains",
            {
                "binary": "a relevant item gains 1",
                "graded": "an item gains its grade divided by max_grade, and rel does not matter",
            },
        ),
        MAX_GRADE,
    ),
    undefined=NEVER,
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral", "below_k_is_ignored"},
    # (1 - 0.5) (0.5^1 + 0.5^3)
    example=Example("RBP(p=0.5)", "0 1 0 1", 0.5 * (0.5 + 0.125)),
    expected=_expected_rank_biased,
    monotone=own_merit,
    adds=own_merit,
)
def rank_biased_precision(
    r: Rankings, *, k: Cutoff, rel: float, p: float, gain: str, max_grade: float
) -> Floats:
    gained = _gained(r, rel=rel, gain=gain, max_grade=max_grade)
    weight = np.where(r.within(k, rel), p ** (r.hit_rank - 1.0), 0.0)
    return (1 - p) * r.total(r.hit_query, gained * weight)


@measure(
    name="ERR",
    title="Expected reciprocal rank",
    says=(
        "The expected 1/rank at which a user stops, who stops at each result with a chance that "
        "grows with its grade."
    ),
    formula=(
        r"\sum_{i\le k}\frac{1}{i}\, p_i \prod_{j<i}(1-p_j), \quad p_i = "
        r"\frac{2^{g_i}-1}{2^{max}}"
    ),
    reference="chapelle2009",
    range=(0, 1),
    params=(K, MAX_GRADE),
    undefined=NEVER,
    laws={"append_unjudged_is_neutral", "below_k_is_ignored"},
    # p = 1/2 at ranks 1 and 3: 1/2 + 1/3 * 1/2 * 1/2
    example=Example("ERR(max_grade=1)", "1 0 1", 1 / 2 + 1 / 12),
    worth=by_grade,
    monotone=own_merit,
)
def expected_reciprocal_rank(r: Rankings, *, k: Cutoff, max_grade: float) -> Floats:
    _check_grades(r, "ERR", max_grade)
    grade = np.maximum(r.hit_grade, 0)
    if max_grade < _LARGE:
        stop = exponential(grade) / np.exp2(max_grade)
    else:
        stop = np.exp2(grade - max_grade) - np.exp2(-max_grade)
    reading = products_before(1 - stop, np.bincount(r.hit_query, minlength=len(r)))
    return r.total(
        r.hit_query, np.where(r.within(k, np.nextafter(0, 1)), stop * reading / r.hit_rank, 0.0)
    )
