"""User models worked by hand, and what they say when asked for what cannot be."""

from __future__ import annotations

from math import log, log2, pi

import numpy as np
import pytest

from judged import Rankings
from judged.errors import MeasureError
from judged.measures import parse_measure
from support.errors import error_of
from support.loops import for_each


def value(measure: str, grades: str, pool: list[float] | None = None) -> float:
    row = [None if grade == "-" else float(grade) for grade in grades.split()]
    rankings = Rankings.from_relevance([row], pool=None if pool is None else [pool])
    return float(parse_measure(measure).compute(rankings)[0])


# Grades 2 0 4 - 1 on the scale 0 to 4: gains 1/2, 0, 1, 0 (unjudged), 1/4.
LIST = "2 0 4 - 1"
VALUES: list[tuple[str, str, float]] = [
    # At 4: (1/2 + 1/log2(4)) / (1 + 1/log2(3) + 1/2 + 1/log2(5)) = 1 / (1.5 + 1/log2(3) +
    # 1/log2(5))
    ("SDCG@4", LIST, 1 / (1.5 + 1 / log2(3) + 1 / log2(5))),
    # Two results are all there is, but the user reads five: 1/2 / (1 + 1/log2(3) + 1/2 + 1/log2(5)
    # + 1/log2(6))
    ("SDCG@5", "2 0", 0.5 / (1.5 + 1 / log2(3) + 1 / log2(5) + 1 / log2(6))),
    # T = 1: chances 1, 4/9, 4/16, 4/25, 4/36. At 3: (1/2 + 1/4) / (1 + 4/9 + 1/4) = (3/4) / (61/36)
    # = 27/61
    ("INSQ@3", LIST, 27 / 61),
    # Without end: (1/2 + 1/4 + 1/4 · 1/9) / (4 (pi²/6 - 1)) = (7/9) / (4 (pi²/6 - 1))
    ("INSQ", LIST, (7 / 9) / (4 * (pi**2 / 6 - 1))),
    # T = 1/2: chances 1, 1/4, 1/9, …, in all pi²/6; the first gains 1.
    ("INSQ(T=0.5)", "4", 6 / pi**2),
    # T = 1, gained 1/2 after rank 1 and 3/2 after rank 3:
    # C(1) = ((1 + 1 + 1/2 - 1) / (1 + 1 + 1/2))² = (3/5)², C(2) = ((2 + 3/2 - 1) / (2 + 3/2))² =
    # (5/7)² S = 1, 9/25, 9/25 · 25/49 = 9/49. At 3: (1/2 + 9/49) / (1 + 9/25 + 9/49) = (67/98) /
    # (1891/1225)
    ("INST@3", LIST, (67 / 98) / (1891 / 1225)),
    # Nothing gained: all weights are INSQ's, and the value is 0.
    ("INST", "0 - 0", 0),
    # One full gain at rank 2, T = 1: C(1) = (2/3)², then C(i) = (i/(i + 1))²; S = 1, 4/9, and from
    # rank 2 on S(i) = 4/9 · 4/i², which sum to 16/9 (pi²/6 - 1): (4/9) / (1 + 16/9 (pi²/6 - 1))
    ("INST(max_rel=1)", "0 1", (4 / 9) / (1 + 16 / 9 * (pi**2 / 6 - 1))),
    # Gains 1/2, 0, 1: rank 3 brings 1.5, more than T = 1: 1.5/3. For T = 2 the user reads all 10:
    # 1.75/10.
    ("BPM@10", LIST, 0.5),
    ("BPM(T=2)@10", LIST, 0.175),
    ("BPM(T=0.5)@10", LIST, 0.5),  # 1/2 at rank 1 is enough
    ("BPM@2", LIST, 0.25),
    # Ten tenths are 1, whatever ten times 0.1 is in binary: the user stops at rank 10 with 1/10 a
    # result, not 2/11.
    ("BPM(max_rel=10)@20", "1 " * 10 + "10", 1 / 10),
    # Equation 8, at 5: chances 1, 1/2, 1/2, and none after the sure stop at rank 3: (1/2 + 1/2) / 2
    ("NERR8@5", LIST, 0.5),
    # A list of one half: (1/2) / (1 + 1/2 · 4)
    ("NERR8@5", "2", 1 / 6),
    # Equation 9: chances 1, 1/4, 1/6: (1/2 + 1/6) / (17/12) = 8/17
    ("NERR9@5", LIST, 8 / 17),
    # Equation 10, p = 1/2: chances 1, 1/4, 1/8: (5/8) / (11/8); alone, a half: (1/2) / (1 + 1/2
    # (1/2 + 1/4 + …)) = 1/3
    ("NERR10(p=0.5)", LIST, 5 / 11),
    ("NERR10(p=0.5)", "2", 1 / 3),
    # Equation 11, T = 1: chances 1, 4/9 · 1/2 = 2/9, 1/4 · 1/2 = 1/8: (1/2 + 1/8) / (1 + 2/9 + 1/8)
    # = (45/72) / (97/72)
    ("NERR11", LIST, 45 / 97),
    # Alone, a half: (1/2) / (1 + 1/2 · 4 (1/9 + 1/16 + …)) = (1/2) / (1 + 2 (pi²/6 - 5/4))
    ("NERR11", "2", 0.5 / (1 + 2 * (pi**2 / 6 - 5 / 4))),
    # On the scale 1 to 3, grades 1 and below gain nothing, 2 gains 1/2, 3 gains 1: (0 + 1/2 + 1) /
    # 3
    ("BPM(T=9, min_rel=1, max_rel=3)@3", "1 2 3", 0.5),
    ("BPM(T=9, min_rel=1, max_rel=3)@3", "-1 0 3", 1 / 3),
    # On the scale -1 to 1 grade 0 gains 1/2, and what nobody judged still gains nothing.
    ("BPM(T=9, min_rel=-1, max_rel=1)@2", "0 -", 0.25),
]
# p = 1/2; from rank m on the weights 1/2^(i-1) / i sum to t(1) = 2 ln 2, t(2) = t(1) - 1, t(3) =
# t(2) - 1/4.
T1, T2, T3 = 2 * log(2), 2 * log(2) - 1, 2 * log(2) - 5 / 4
COMPATIBILITIES: list[tuple[str, str, list[float] | None, float]] = [
    # Ideal: 3, 2, 1. The list 1 - 3: 3 is in both from rank 3 on, 1 too, 2 was not retrieved.
    ("Compat(p=0.5)", "1 - 3", [3, 2, 1], 2 * T3 / (T1 + T2 + T3)),
    # Equal grades come in the list's order: both orders are ideal.
    ("Compat(p=0.5)", "1 1", None, 1.0),
    # One of two equals retrieved, at rank 1: the ideal list puts it first. t(1) / (t(1) + t(2))
    ("Compat(p=0.5)", "1", [1, 1], T1 / (T1 + T2)),
    # Not divided by what is possible, but by 1 + 1/2 + 1/4 + … = 2.
    ("Compat(p=0.5, normalize=False)", "1", [1, 1], T1 / 2),
    # Down to rank 2 only: (1 + 1/4) / ((1 + 1/4) + 1/4) and over the weights 1 + 1/2
    ("Compat(p=0.5)@2", "1", [1, 1], 1.25 / 1.5),
    ("Compat(p=0.5, normalize=False)@2", "1", [1, 1], 1.25 / 1.5),
    # Down to R = 1: what is at rank 2 does not count.
    ("Compat(p=0.5)@R", "- 1", None, 0),
]


@for_each(
    ("measure", "grades", "pool", "expected"),
    [*((name, grades, None, wanted) for name, grades, wanted in VALUES), *COMPATIBILITIES],
)
def test_values(measure: str, grades: str, pool: list[float] | None, expected: float) -> None:
    assert value(measure, grades, pool) == pytest.approx(expected, abs=1e-14)


def test_compatibility_of_nothing_and_deep_down() -> None:
    assert np.isnan(value("Compat", "0 -1 -"))
    # Deep down a weight keeps its digits: p^999 / 1000 (1 + 1000/1001 p + 1000/1002 p² + …) over
    # the same from rank 1.
    deep = sum(0.5**i / (1000 + i) for i in range(60)) * 0.5**999
    assert value("Compat(p=0.5)", "- " * 999 + "1") == pytest.approx(deep / T1, rel=1e-13)


def test_no_reading_is_no_gain() -> None:
    for name in ("INST", "INSQ", "BPM", "SDCG", "NERR8", "NERR9", "NERR10", "NERR11"):
        assert value(f"{name}@R", "0 - 0") == 0
        assert value(f"{name}@3", "") == 0


def test_a_flag_is_also_a_python_truth() -> None:
    assert str(parse_measure("Compat")(normalize=False)) == "Compat(normalize=false)"


ENDLESS = "{0} is a user who reads no further than some rank and needs it, as in {0}@10."


@for_each(
    ("measure", "message"),
    [
        *((name, ENDLESS.format(name)) for name in ("BPM", "SDCG", "NERR8", "NERR9")),
        ("Compat(normalize=maybe)", "normalize of Compat must be true or false; got maybe."),
        (
            "INST(max_rel=1)",
            "max_rel of INST is 1, but the judgements hold a grade of 2; write INST(max_rel=2), "
            "the highest grade that could have been given.",
        ),
        ("INSQ(min_rel=3, max_rel=3)", "min_rel of INSQ must be below max_rel; got 3 and 3."),
        ("INST(T=0.4)", "T of INST must be a number from 0.5; got 0.4."),
        ("INSQ(T=0)", "T of INSQ must be a number above 0; got 0."),
        ("NERR10(p=1)", "p of NERR10 must be a number between 0 and 1; got 1."),
    ],
)
def test_errors(measure: str, message: str) -> None:
    assert error_of(value, measure, "2 0", error=MeasureError) == message
