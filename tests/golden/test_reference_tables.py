"""One ranking, many definitions: the divisors of AP@k and the gains of nDCG, worked by hand."""

from __future__ import annotations

import pytest

from judged import Rankings
from support.loops import for_each


def test_trapezoid_area_of_a_relevant_item_on_top() -> None:
    # It has precision 1 before it too: (1 + 1) / 2.
    assert Rankings.from_relevance([[1]]).evaluate(["AP(area=trapezoid)"]).value() == 1


def test_a_recall_point_that_binary_numbers_miss() -> None:
    # 25 relevant items, recall 0.28 is 7 of them: reached at rank 7 with precision 1. 0.28 · 25 is
    # 7.000000000000001 in binary, which must not ask for an eighth (at rank 9, where precision is
    # 8/9).
    assert 0.28 * 25 > 7
    rankings = Rankings.from_relevance([[1, 1, 1, 1, 1, 1, 1, 0, 1]], relevant=[25])
    assert rankings.evaluate(["IPrec@0.28"]).value() == 1.0
    assert rankings.evaluate(["IPrec@0.29"]).value() == 8 / 9
    assert rankings.evaluate(["IPrec@0.36"]).value() == 0.0


# Grades 3 2 3 0 1 2 retrieved out of a pool of 3 3 3 2 2 2 1 0. Discounts 1/log2(i+1) for i = 1 …
# 8: 1, 0.630930, 0.5, 0.430677, 0.386853, 0.356207, 0.333333, 0.315465.
GRADED = Rankings.from_relevance([[3, 2, 3, 0, 1, 2]], pool=[[3, 3, 3, 2, 2, 2, 1, 0]])


@for_each(
    ("measure", "expected"),
    [
        # linear: DCG@3 = 3 + 2(.630930) + 3(.5) = 5.761860; ideal 3(1 + .630930 + .5) = 6.392789
        ("nDCG@3", 5.761860 / 6.392789),
        # DCG@6 = 5.761860 + 0 + .386853 + 2(.356207) = 6.861127; ideal 6.392789 + 2(.430677 +
        # .386853 + .356207) = 8.740262
        ("nDCG@6", 6.861127 / 8.740262),
        # the list ends at 6: DCG@10 = DCG@6; ideal 8.740262 + 1(.333333) + 0 = 9.073595
        ("nDCG@10", 6.861127 / 9.073595),
        # 2^g - 1 (7, 3, 1, 0): DCG@3 = 7 + 3(.630930) + 7(.5) = 12.392789; ideal 7(2.130930) =
        # 14.916508
        ("nDCG(gain=exp)@3", 12.392789 / 14.916508),
        # + .386853 + 3(.356207) = 13.848265; ideal 14.916508 + 3(1.173737) = 18.437718
        ("nDCG(gain=exp)@6", 13.848265 / 18.437718),
        # ideal 18.437718 + .333333
        ("nDCG(gain=exp)@10", 13.848265 / 18.771051),
        # binary: the first three are relevant
        ("nDCG(gain=binary)@3", 1.0),
        # 2.130930 + .386853 + .356207 = 2.873990; ideal 2.130930 + 1.173737 = 3.304667
        ("nDCG(gain=binary)@6", 2.873990 / 3.304667),
        # ideal + .333333 (seven relevant)
        ("nDCG(gain=binary)@10", 2.873990 / 3.638000),
        # ideal = the retrieved list sorted, 3 3 2 2 1 0: 3(1.630930) + 2(.5 + .430677) + .386853 =
        # 7.140996
        ("nDCG(ideal=retrieved)", 6.861127 / 7.140996),
        # gains {1: 3, 2: 9}, grade 3 keeps 3: DCG = 3 + 9(.630930) + 3(.5) + 3(.386853) +
        # 9(.356207) = 14.544792; the ideal puts the nines first: 9(2.130930) + 3(.430677 + .386853
        # + .356207 + .333333) = 23.699578
        ("nDCG(gains={1:3,2:9})", 14.544792 / 23.699578),
    ],
)
def test_the_gains_of_ndcg(measure: str, expected: float) -> None:
    assert GRADED.evaluate([measure]).value() == pytest.approx(expected, abs=1e-6)


def test_an_ideal_of_the_retrieved_is_easily_pleased() -> None:
    # One of five relevant items, at rank 1: perfect against the retrieved list, 1 / 2.948459
    # against the judged one (1 + .630930 + .5 + .430677 + .386853).
    one = Rankings.from_relevance([[1]], relevant=[5])
    assert one.evaluate(["nDCG(ideal=retrieved)"]).value() == 1.0
    assert one.evaluate(["nDCG"]).value() == pytest.approx(1 / 2.948459, abs=1e-6)


def test_the_logarithm_cancels_in_ndcg_and_not_in_dcg() -> None:
    # log_b divides every discount by the same number: DCG to base 10 is DCG to base 2 times
    # log10(2) = 0.301030 inverted.
    assert GRADED.evaluate(["nDCG(log=10)"]).value() == pytest.approx(
        GRADED.evaluate(["nDCG"]).value(), abs=1e-15
    )
    assert GRADED.evaluate(["DCG(log=10)"]).value() == pytest.approx(6.861127 / 0.30103, abs=2e-5)
    # Järvelin's base e: 3/ln 2 + 2/ln 3 = 4.328085 + 1.820478
    first_two = Rankings.from_relevance([[3, 2]])
    assert first_two.evaluate(["DCG(log=2.718281828459045)"]).value() == pytest.approx(
        6.148563, abs=1e-6
    )
