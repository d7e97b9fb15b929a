"""Which three temperatures of a sweep are shown, and what is said about the choice."""

from __future__ import annotations

from typing import Any

import pytest

from judged import InputError
from judged.charts.sweep import Record, temperature_of, three, written


def swept(*temperatures: float, best: float) -> Record:
    rows = [{"temperature": temperature} for temperature in temperatures]
    return Record(
        "the temperature sweep", {"temperatures": rows, "best_loss": {"temperature": best}}
    )


def names(sweep: Record, temperatures: Any = None) -> dict[str, float]:
    return {name: temperature_of(row) for name, row in three(sweep, temperatures).rows.items()}


def test_medium_is_nearest_to_the_lowest_loss_and_the_others_to_a_quarter_and_four_times() -> None:
    # A quarter of 0.09 is 0.0225, by ratio nearer to 0.02 than to 0.05; four times is 0.36.
    sweep = swept(0.001, 0.02, 0.05, 0.1, 0.2, 0.4, 5.0, best=0.09)
    assert names(sweep) == {"sharp": 0.02, "medium": 0.1, "smooth": 0.4}
    assert three(sweep, None).note == (
        "Medium is the temperature nearest to the lowest loss, at 0.09; the others to a quarter "
        "and to four times of it."
    )


def test_nearest_is_by_ratio_and_three_are_three() -> None:
    # Four times 0.05 is 0.2, to which 0.1, the medium one, is nearer than 1; but that is taken.
    assert names(swept(0.01, 0.1, 1.0, best=0.05)) == {"sharp": 0.01, "medium": 0.1, "smooth": 1.0}


def test_at_an_end_of_the_sweep_there_are_two_and_it_is_said() -> None:
    assert names(swept(0.01, 0.1, best=0.01)) == {"medium": 0.01, "smooth": 0.1}
    assert three(swept(0.01, 0.1, best=0.01), None).note.endswith(
        "at 0.01; no sharper one was swept."
    )
    assert three(swept(0.01, 0.1, best=0.1), None).note.endswith(
        "at 0.1; no smoother one was swept."
    )
    assert three(swept(0.1, best=0.1), None).note.endswith(
        "at 0.1; no sharper or smoother one was swept."
    )


def test_without_a_search_medium_is_the_lowest_that_was_swept() -> None:
    rows = [
        {"temperature": at, "loss": 9.0, "loss_both": loss}
        for at, loss in ((0.01, 3.0), (0.1, 2.0), (1.0, 2.5))
    ]
    sweep = Record("the temperature sweep", {"temperatures": rows, "best_loss": None})
    assert names(sweep) == {"sharp": 0.01, "medium": 0.1, "smooth": 1.0}
    one_way = [
        {**row, "loss": loss, "loss_both": None}
        for row, loss in zip(rows, (3.0, 2.0, 1.0), strict=True)
    ]
    assert names(Record("the temperature sweep", {**sweep.fields, "temperatures": one_way})) == {
        "sharp": 0.1,
        "medium": 1.0,
    }


def test_temperatures_that_are_asked_for_are_taken_in_their_order() -> None:
    sweep = swept(0.01, 0.1, 1.0, 10.0, best=0.1)
    assert names(sweep, [10, 0.01, 1]) == {"sharp": 0.01, "medium": 1.0, "smooth": 10.0}
    assert three(sweep, [10, 0.01, 1]).note == ""


def test_the_nearest_are_named_where_others_were_asked_for() -> None:
    chosen = three(swept(0.01, 0.1, 1.0, best=0.1), (0.012, 0.1, 0.5))
    assert (
        chosen.note
        == "Asked for 0.012, 0.1 and 0.5; the nearest that were swept are 0.01, 0.1 and 1."
    )


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ((0.1, 1), "temperatures must be three numbers, as in 0.01, 0.1, 1; got 2."),
        (0.1, "temperatures must be three numbers, as in 0.01, 0.1, 1; got 1."),
        ("0.1,1,2", "temperatures must be three numbers, as in 0.01, 0.1, 1; got 1."),
        ((0.1, 0, 1), "a temperature must be a number above 0, from 1e-06 to 1e+06; got 0."),
        (
            (0.1, float("nan"), 1),
            "a temperature must be a number above 0, from 1e-06 to 1e+06; got nan.",
        ),
        (
            (0.01, 0.012, 1),
            "temperatures 0.01 and 0.012 are both nearest to 0.01 in the sweep; name others, or "
            "sweep these.",
        ),
    ],
)
def test_temperatures_that_cannot_be_shown(asked: Any, message: str) -> None:
    with pytest.raises(InputError) as refused:
        three(swept(0.01, 0.1, 1.0, best=0.1), asked)
    assert str(refused.value) == message


def test_temperatures_are_written_out() -> None:
    assert [written(each) for each in (0.0021544, 0.05, 1.0, 1000.0, 123456.0)] == [
        "0.00215",
        "0.05",
        "1",
        "1,000",
        "123,000",
    ]
