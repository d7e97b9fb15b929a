"""What an index finds against the time of a query: data, words, and what is refused."""

from __future__ import annotations

import pytest

from judged.charts.kinds.index_sweep import data, draw, index_sweep
from judged.errors import InputError

SWEEP = {
    "what": "sweep of an index",
    "parameter": "ef",
    "k": 10,
    "rows": [
        {"value": 64, "recall": 0.99, "p5": 0.9, "seconds": 0.002},
        {"value": 16, "recall": 0.8, "p5": 0.4, "seconds": 0.0005},
    ],
}


def test_the_quickest_stands_first_and_times_are_milliseconds() -> None:
    table = data(SWEEP)
    assert table.select("curve", "value", "milliseconds", "recall").rows() == [
        ("mean", 16.0, 0.5, 0.8),
        ("mean", 64.0, 2.0, 0.99),
        ("p5", 16.0, 0.5, 0.4),
        ("p5", 64.0, 2.0, 0.9),
    ]


def test_what_is_said() -> None:
    chart = index_sweep(SWEEP)
    assert chart.title == "What the index finds of the exact first 10, by ef"
    assert chart.notes[0] == "Numbers at the points are values of ef."
    assert draw(data(SWEEP), theme="dark").title == chart.title


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rows": []}, "the sweep of an index has no values to show; make it again."),
        (
            {"what": "plan"},
            "this is a plan, not a sweep of an index; make one with Embeddings.sweep_index or "
            "`judged embeddings … --index FILE --sweep ef=16,32`.",
        ),
        (
            {"rows": [{"value": 1, "recall": None, "p5": 0.1, "seconds": 1.0}]},
            "the sweep of an index, rows 1: 'recall' must be a number; got None.",
        ),
    ],
)
def test_what_is_refused(changed: dict, message: str) -> None:
    with pytest.raises(InputError) as said:
        data({**SWEEP, **changed})
    assert str(said.value) == message
