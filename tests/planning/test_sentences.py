"""What a plan says, sentence by sentence."""

from __future__ import annotations

from typing import Any

import numpy as np

import judged
from support.loops import for_each, told

EVEN = np.linspace(-0.2, 0.2, 41)


@for_each(
    "asked, said",
    told(
        """
        difference=0.02, sd=0.1
            You need 199 queries to detect a difference of 0.02 with 80 % power.
            The confidence interval of a difference is then about ±0.014.
        difference=0.02, sd=0.1, queries=50
            With 50 queries, a difference of 0.02 is detected with power 0.28.
            The confidence interval of a difference is then about ±0.0284.
        sd=0.1, queries=50, power=0.9
            50 queries detect a difference of 0.0468 with 90 % power.
            The confidence interval of a difference is then about ±0.0284.
        sd=0.1, margin=0.01
            You need 620 queries to show with 80 % power that an equally good system is not
              worse by 0.01 or more.
            Equivalence within ±0.01 needs 858 queries.
            The confidence interval of a difference is then about ±0.00789.
        sd=0.1, margin=0.01, difference=-0.005, queries=500
            With 500 queries, the power to show that a system that is worse by 0.005 is not
              worse by 0.01 or more is 0.30.
            The power to show equivalence within ±0.01 is 0.25.
            The confidence interval of a difference is then about ±0.00879.
        sd=0.1, margin=0.01, difference=0.02
            You need 71 queries to show with 80 % power that a system that is better by 0.02 is
              not worse by 0.01 or more.
            Equivalence within ±0.01 is impossible with this true difference.
            The confidence interval of a difference is then about ±0.0237.
        pilot=EVEN, difference=0.05
            You need 48 queries (33 to 76) to detect a difference of 0.05 with 80 % power.
            The confidence interval of a difference is then about ±0.0348.
        """,
        {"EVEN": EVEN},
    ),
)
def test_the_answer(asked: dict[str, Any], said: str) -> None:
    found = judged.plan(**asked)
    assert " ".join(found.says()) == said
    assert found.sentences()[: len(found.says())] == found.says()


def test_what_it_stands_on() -> None:
    given = judged.plan(difference=0.02, sd=0.1, comparisons=6)
    assert given.to_text().splitlines()[-4:-1] == [
        "",
        "Assumed standard deviation of per-query differences: 0.1.",
        "Test: paired t, two-sided; confidence level: 95 %; 6 comparisons: each is "
        "significant if p is below 0.0083 (Bonferroni, the first step of Holm).",
    ]
    groups = {str(at + 1): at // 2 for at in range(40)}
    piloted = judged.plan(difference=0.05, pilot=EVEN[:40], groups=groups, margin=0.1)
    *_, spread, grouped, test, _ = piloted.to_text().splitlines()
    assert spread == (
        "the standard deviation of differences of 20 groups is 0.118 (95 % CI 0.09 to 0.173), "
        "which gives the ranges."
    )
    assert grouped == (
        "The pilot has 40 queries in 20 groups. The plan is for 6 groups of 2 queries on average."
    )
    assert test == (
        "Test: paired t, one-sided for the margin, two one-sided tests for equivalence; confidence "
        "level: 95 %."
    )


def test_quiet_and_verbose() -> None:
    found = judged.plan(difference=0.02, sd=0.1)
    quiet = found.to_text(quiet=True).splitlines()
    assert quiet[0].split()[0] == "difference"
    assert len(quiet) == 6  # the header and five differences
    loud = found.to_text(verbose=True)
    assert "noncentral t with n − 1 degrees of freedom" in loud
    assert "It does not show that there is a difference, nor which size matters." in loud


def test_a_table_with_a_range_and_one_without() -> None:
    [(header, rows)] = judged.plan(difference=0.02, sd=0.1).tables()
    assert header == ["difference", "d_z", "queries for 80 % power", "power with 199"]
    assert rows[2] == ["0.02", "0.20", "199", "0.80"]
    [(header, rows)] = judged.plan(margin=0.02, pilot=EVEN).tables()
    assert header == [
        *("true difference", "d_z", "queries for 80 % power", "for equivalence", "power with 224")
    ]
    assert rows[0][0] == "−0.01"
    assert rows[-1][3] == "never"
    [(_, rows)] = judged.plan(difference=1e-5, sd=0.1).tables()
    assert rows[0][2] == "over 1,000,000,000"


def test_a_small_effect_is_not_0_and_a_power_is_as_asked() -> None:
    header, rows = judged.plan(difference=0.0001, sd=0.1, power=0.995).tables()[0]
    assert header[2] == "queries for 99.5 % power"
    assert [row[1] for row in rows] == ["0.0005", "0.00075", "0.001", "0.0015", "0.002"]
