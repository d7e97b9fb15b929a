"""The ranking 0 1 0 0 1 0 1 0 1 0, of 4 (A) and of 6 (B) relevant items, by every definition of AP
that libraries have.

The relevant items stand at ranks 2, 5, 7 and 9, with precision 1/2, 2/5, 3/7 and 4/9 there. Down to
rank 3 these sum up to 1/2, down to 5 to 9/10, down to 10 to 1/2 + 2/5 + 3/7 + 4/9 = 1117/630.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import pytest

from judged import compare_conventions
from judged.conventions.disagreement import DefinitionRow
from support.loops import for_each

RELEVANCE = [0, 1, 0, 0, 1, 0, 1, 0, 1, 0]
RUN = {"q": {f"d{rank}": -float(rank) for rank in range(1, 11)}}
LISTED = {f"d{rank}": grade for rank, grade in enumerate(RELEVANCE, 1)}
RELEVANT = {"A": 4, "B": 6}
JUDGEMENTS = {"A": {"q": LISTED}, "B": {"q": {**LISTED, "lost 1": 1, "lost 2": 1}}}
SUMS = {3: Fraction(1, 2), 5: Fraction(9, 10), 10: Fraction(1117, 630)}
FOUND = {3: 1, 5: 2, 10: 4}
WHOLE = SUMS[10]

# Each relevant item adds the mean of the precision just before it and at it: (0/1 + 1/2), (1/4 +
# 2/5), (2/6 + 3/7) and (3/8 + 4/9), each by two.
TRAPEZOID = sum(map(Fraction, ("1/2", "1/4", "2/5", "1/3", "3/7", "3/8", "4/9"))) / 2
# Cut at R: of 4, only rank 2 is left; of 6, ranks 2 and 5.
AT_R = {"A": Fraction(1, 2) / 4, "B": Fraction(9, 10) / 6}


@cache
def rows(case: str, k: int) -> tuple[DefinitionRow, ...]:
    return compare_conventions(JUDGEMENTS[case], RUN, f"AP@{k}").rows()


def value(case: str, k: int, convention: str, measure: str) -> float | None:
    """The value of the definition that a library has, by our name for it."""
    (found,) = {
        row.value
        for row in rows(case, k)
        if row.used_by(convention) and str(row.measure) == measure
    }
    return found


BY_ALL = (
    "trec_eval pytrec_eval ir_measures ranx trectools rectools recommenders evidently beir "
    "mteb pytorch-metric-learning"
)
BY_AT_MOST = "spark replay recommenders sentence-transformers gldv2"


@for_each("case", RELEVANT)
@for_each("k", SUMS)
@for_each("convention", BY_ALL.split())
def test_divided_by_all_relevant_items(case: str, k: int, convention: str) -> None:
    assert value(case, k, convention, f"AP@{k}") == pytest.approx(float(SUMS[k] / RELEVANT[case]))


@for_each("case", RELEVANT)
@for_each("k", SUMS)
@for_each("convention", BY_AT_MOST.split())
def test_divided_by_as_many_as_k_results_can_hold(case: str, k: int, convention: str) -> None:
    assert value(case, k, convention, f"AP(norm=capped)@{k}") == pytest.approx(
        float(SUMS[k] / min(RELEVANT[case], k))
    )


@for_each("case", RELEVANT)
@for_each("k", SUMS)
def test_other_divisors_and_libraries_without_such_a_cutoff(case: str, k: int) -> None:
    for convention, measure, expected in (
        ("torchmetrics", f"AP(norm=retrieved)@{k}", SUMS[k] / FOUND[k]),
        ("rectools", f"AP(norm=cutoff)@{k}", SUMS[k] / k),
        ("cwl-eval", "AP(norm=retrieved)@1000", WHOLE / 4),
        ("revisitop", "AP(area=trapezoid)", TRAPEZOID / RELEVANT[case]),
        ("reid", "AP", WHOLE / RELEVANT[case]),
        ("scikit-learn", "AP", WHOLE / RELEVANT[case]),
        ("pytorch-metric-learning", "AP@R", AT_R[case]),
    ):
        assert value(case, k, convention, measure) == pytest.approx(float(expected)), measure


PRINTED = {
    # AP@3, AP@5 and AP@10 of A and B, as they are often quoted
    "AP": "0.1250 0.0833  0.2250 0.1500  0.4433 0.2955",
    "AP(norm=capped)": "0.1667 0.1667  0.2250 0.1800  0.4433 0.2955",
    "AP(norm=retrieved)": "0.5000 0.5000  0.4500 0.4500  0.4433 0.4433",
    "AP(norm=cutoff)": "0.1667 0.1667  0.1800 0.1800  0.1773 0.1773",
}


@for_each("measure", PRINTED)
def test_the_table_as_it_is_printed(measure: str) -> None:
    wanted = iter(PRINTED[measure].split())
    for k in SUMS:
        for case in RELEVANT:
            shown = {
                f"{row.value:.4f}" for row in rows(case, k) if str(row.measure) == f"{measure}@{k}"
            }
            assert shown == {next(wanted)}
