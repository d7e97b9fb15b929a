"""What a plan says, sentence by sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import judged

EVEN = np.linspace(-0.2, 0.2, 41)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            {"difference": 0.02, "sd": 0.1},
            [
                "You need 199 queries to see a difference of 0.02 with power 0.80.",
                "The interval of a difference is then about ±0.014 wide.",
            ],
        ),
        (
            {"difference": 0.02, "sd": 0.1, "power": 0.995},
            [
                "You need 517 queries to see a difference of 0.02 with power 0.995.",
                "The interval of a difference is then about ±0.00864 wide.",
            ],
        ),
        (
            {"difference": 0.02, "sd": 0.1, "queries": 50},
            [
                "With 50 queries, a difference of 0.02 is seen with power 0.28.",
                "The interval of a difference is then about ±0.0284 wide.",
            ],
        ),
        (
            {"sd": 0.1, "queries": 50, "power": 0.9},
            [
                "50 queries see a difference of 0.0468 or more with power 0.90.",
                "The interval of a difference is then about ±0.0284 wide.",
            ],
        ),
        (
            {"sd": 0.1, "half_width": 0.01},
            [
                "You need 387 queries for intervals of a difference of at most ±0.01.",
                "They see a difference of 0.0143 or more with power 0.80.",
            ],
        ),
        (
            {"sd": 0.1, "half_width": 0.01, "difference": 0.02},
            [
                "You need 199 queries to see a difference of 0.02 with power 0.80.",
                "You need at least 387 queries for intervals of a difference of at most ±0.01.",
                "Both take 387 queries.",
            ],
        ),
        (
            {"sd": 0.1, "margin": 0.01},
            [
                "You need 620 queries to show, with power 0.80, that a system that is as good is "
                "no worse by 0.01 or more.",
                "To be called equivalent within ±0.01, by both sides, takes 858 queries.",
                "The interval of a difference is then about ±0.00789 wide.",
            ],
        ),
        (
            {"sd": 0.1, "margin": 0.01, "difference": -0.005, "queries": 500},
            [
                "With 500 queries, a system that is worse by 0.005 is shown, with power 0.30, to "
                "be no worse by 0.01 or more.",
                "To be called equivalent within ±0.01, by both sides, it has power 0.25.",
                "The interval of a difference is then about ±0.00879 wide.",
            ],
        ),
        (
            {"sd": 0.1, "margin": 0.01, "difference": 0.02},
            [
                "You need 71 queries to show, with power 0.80, that a system that is better by "
                "0.02 is no worse by 0.01 or more.",
                "It cannot be called equivalent within ±0.01, for it is not.",
                "The interval of a difference is then about ±0.0237 wide.",
            ],
        ),
        (
            {"pilot": EVEN, "difference": 0.05},
            [
                "You need 48 queries (33 to 76) to see a difference of 0.05 with power 0.80.",
                "The interval of a difference is then about ±0.0348 wide.",
            ],
        ),
    ],
)
def test_the_answer(asked: dict[str, Any], said: list[str]) -> None:
    found = judged.plan(**asked)
    assert found.says() == said
    assert found.to_text().splitlines()[: len(said)] == said
    assert found.sentences()[: len(said)] == said


def test_what_it_stands_on() -> None:
    given = judged.plan(difference=0.02, sd=0.1, comparisons=6, design_effect=1.5)
    assert given.to_text().splitlines()[-4:-1] == [
        "Differences of queries are taken to spread by 0.1 (standard deviation).",
        "A design effect of 1.5: 461 queries count as 307 independent ones.",
        "test: paired t, two-sided; level 95 %; 6 comparisons: each counts where p is below 0.0083 "
        "(Bonferroni, the first step of Holm, so later steps see more).",
    ]
    groups = [at // 2 for at in range(40)]
    piloted = judged.plan(difference=0.05, pilot=EVEN[:40], groups=groups, margin=0.1)
    *_, spread, grouped, test, _ = piloted.to_text().splitlines()
    assert spread == (
        "differences of 20 groups spread by 0.118 (0.09 to 0.173 at 95 %), which makes the answer "
        "a range."
    )
    assert grouped == (
        "40 queries in 20 groups have a design effect of 2.05 (intraclass correlation 1.05): they "
        "count as 20 independent ones. The plan is for 6 groups of 2 queries on average."
    )
    assert test == (
        "test: paired t, one-sided for the margin, as the rule safe of judged gate; equivalent is "
        "both sides, as in judged compare; level 95 %."
    )


def test_samples_are_said() -> None:
    found = judged.plan(difference=0.05, pilot=EVEN, simulate=True)
    simulation = found.simulation
    assert simulation is not None
    assert found.says()[-1] == (
        "Of 10,000 samples drawn from the pilot's differences, the difference was shown in "
        f"{100 * simulation.power.value:.1f} % ({100 * simulation.power.low:.1f} % to "
        f"{100 * simulation.power.high:.1f} %), where t says {100 * found.power:.1f} %; without "
        f"any difference, one was shown in {100 * simulation.false_alarms.value:.1f} %."
    )


def test_quiet_and_verbose() -> None:
    found = judged.plan(difference=0.02, sd=0.1)
    quiet = found.to_text(quiet=True).splitlines()
    assert quiet[0].split()[0] == "difference"
    assert len(quiet) == 6  # the header and five differences
    loud = found.to_text(verbose=True)
    assert "noncentral t with n − 1 degrees of freedom" in loud
    assert "It does not say that there is a difference, nor which size matters." in loud


def test_a_table_with_a_range_and_one_without() -> None:
    [(header, rows)] = judged.plan(difference=0.02, sd=0.1).tables()
    assert header == ["difference", "d_z", "queries for 0.80", "power with 199"]
    assert rows[2] == ["0.02", "0.20", "199", "0.80"]
    [(header, rows)] = judged.plan(margin=0.02, pilot=EVEN).tables()
    assert header == [
        *("true difference", "d_z", "queries for 0.80", "to be equivalent", "power with 224")
    ]
    assert rows[0][0] == "−0.01"
    assert rows[-1][3] == "never"
    [(_, rows)] = judged.plan(difference=1e-5, sd=0.1).tables()
    assert rows[0][2] == "over 1,000,000,000"


def test_a_small_effect_is_not_0_and_a_power_is_as_asked() -> None:
    header, rows = judged.plan(difference=0.0001, sd=0.1, power=0.995).tables()[0]
    assert header[2] == "queries for 0.995"
    assert [row[1] for row in rows] == ["0.0005", "0.00075", "0.001", "0.0015", "0.002"]
