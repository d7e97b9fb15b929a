from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from judged import InputError
from judged.charts.kinds.temperatures import temperature_probabilities
from support.temperatures import made_sweep, sweep

# One query whose scores differ by ln 2 each: at temperature 1 the odds are 4 : 2 : 1, at 1/2 16 : 4
# : 1, at 1/4 256 : 16 : 1.
SCORES = np.log(2) * np.array([[1.0, 2.0, 0.0]])
SMALL = sweep(SCORES, np.array([[False, True, False]]), [0.25, 0.5, 1.0])


def test_probabilities_worked_by_hand() -> None:
    table = temperature_probabilities(SMALL, temperatures=[0.25, 0.5, 1]).data
    assert table["name"].unique(maintain_order=True).to_list() == ["sharp", "medium", "smooth"]
    assert table.filter(name="smooth")["probability"].to_list() == pytest.approx(
        [4 / 7, 2 / 7, 1 / 7]
    )
    assert table.filter(name="medium")["probability"].to_list() == pytest.approx(
        [16 / 21, 4 / 21, 1 / 21]
    )
    assert table.filter(name="sharp")["probability"].to_list() == pytest.approx(
        [256 / 273, 16 / 273, 1 / 273]
    )
    # All three items are shown, so there is no rest.
    assert table.filter(name="sharp").select("rank_from", "rank_to").rows() == [
        (1, 1),
        (2, 2),
        (3, 3),
    ]


def test_further_ranks_are_one_row_and_all_add_up_to_one() -> None:
    found = made_sweep(7, (0.01, 0.05, 0.2, 1.0), queries=10, items=40)
    table = temperature_probabilities(found).data
    for name in ("sharp", "medium", "smooth"):
        own = table.filter(name=name)
        assert own.height == 11
        assert own.select("rank_from", "rank_to").row(-1) == (11, 40)
        assert own["probability"].sum() == pytest.approx(1)
    rows = {row["temperature"]: row["probabilities"] for row in found["temperatures"]}
    assert (
        table.filter(name="medium")["probability"].to_list()[:10]
        == rows[table.filter(name="medium")["temperature"][0]]
    )


def test_ranks_that_no_candidate_has_are_not_shown() -> None:
    rows = [
        {**row, "probabilities": [*row["probabilities"], *[0.0] * 7]}
        for row in SMALL["temperatures"]
    ]
    padded = temperature_probabilities({**SMALL, "temperatures": rows}).data
    assert padded.equals(temperature_probabilities(SMALL).data)


def test_every_panel_has_its_name_and_numbers() -> None:
    chart = temperature_probabilities(
        made_sweep(7, (0.01, 0.05, 0.2), queries=10, items=40), temperatures=(0.01, 0.05, 0.2)
    )
    svg = chart.to_svg()
    assert all(
        f">{words}<" in svg
        for words in ("sharp: 0.01", "medium: 0.05", "smooth: 0.2", "rest", "mean probability")
    )
    assert chart.notes == (
        "Full-corpus softmax: each query against all 40 items. 10 queries, similarity cosine.",
        "The last bars are all other items together, from rank 11 down.",
    )
    top = chart.data.filter(name="sharp")["probability"][0]
    assert f">{top:.2g}<" in svg


def test_two_panels_where_the_lowest_loss_is_at_the_end() -> None:
    chart = temperature_probabilities(SMALL, theme="dark")
    # The query is right: the lower the temperature, the lower the loss.
    assert chart.data.select("name", "temperature").unique(maintain_order=True).rows() == [
        ("medium", 0.25),
        ("smooth", 1.0),
    ]
    assert chart.notes[-1] == (
        "Medium is the temperature nearest to the lowest loss, at 0.25; no sharper one was swept."
    )
    assert chart.to_png()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        (
            [],
            "the temperature sweep, temperatures 1 has no probabilities of ranks; make the sweep "
            "again.",
        ),
        (
            [0.5, None],
            "the temperature sweep, temperatures 1, probabilities: 'number 2' must be a number; "
            "got None.",
        ),
    ],
)
def test_probabilities_that_are_not_there(probabilities: list[Any], message: str) -> None:
    rows = [{**row, "probabilities": probabilities} for row in SMALL["temperatures"]]
    with pytest.raises(InputError) as refused:
        temperature_probabilities({**SMALL, "temperatures": rows}, temperatures=[0.25, 0.5, 1])
    assert str(refused.value) == message
