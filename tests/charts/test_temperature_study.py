from __future__ import annotations

import json
from typing import Any

import pytest

from judged import InputError
from judged.charts.kinds.temperatures import temperature_study
from support.temperatures import made_study

STUDY = made_study(7, (0.01, 0.1, 1.0))


def changed(**more: Any) -> dict[str, Any]:
    """The study with its first trained row changed."""
    found = json.loads(json.dumps(STUDY))
    found["rows"][1] |= more
    return found


def test_a_row_for_each_temperature_panel_and_curve() -> None:
    table = temperature_study(STUDY).data
    panels = [
        "AP",
        "nDCG@10",
        "RR",
        "loss",
        "of the top item",
        "alignment",
        "uniformity",
        "iterations",
    ]
    assert table["panel"].unique(maintain_order=True).to_list() == panels
    for panel, curves, untrained in (
        ("AP", 1, 1),
        ("loss", 2, 0),
        ("alignment", 1, 1),
        ("iterations", 2, 0),
    ):
        own = table.filter(panel=panel)
        assert own.height == curves * 3 + untrained
        assert own["temperature"].null_count() == untrained
    row = STUDY["rows"][2]
    assert table.filter(panel="AP", temperature=0.1).select("value", "low", "high").row(0) == tuple(
        row["measures"]["AP"].values()
    )
    assert table.filter(curve="to the best", temperature=0.1)["value"].to_list() == [
        row["best_iteration"]
    ]
    assert table.filter(curve="training", temperature=0.1)["value"].to_list() == [
        row["training_loss"]
    ]


@pytest.mark.parametrize(
    ("low", "high", "differs"),
    [
        (0.01, 0.2, True),
        (-0.2, -0.01, True),
        (-0.01, 0.01, False),
        (0.0, 0.1, False),
        (None, None, None),
    ],
)
def test_a_point_differs_where_the_interval_of_the_difference_leaves_out_zero(
    low: float | None, high: float | None, differs: bool | None
) -> None:
    ends = {"estimate": 0.1, "low": low, "high": high}
    table = temperature_study(changed(differences=dict.fromkeys(STUDY["measures"], ends))).data
    assert table.filter(panel="AP", temperature=0.01)["differs"].to_list() == [differs]


def test_without_bounds_there_is_no_bar_but_a_point() -> None:
    one = {"estimate": 0.7, "low": None, "high": float("nan")}
    study = changed(measures=dict.fromkeys(STUDY["measures"], one))
    row = temperature_study(study).data.filter(panel="AP", temperature=0.01)
    assert row.select("value", "low", "high").row(0) == (0.7, None, None)
    assert temperature_study(study).to_png()[:4] == b"\x89PNG"


def test_the_json_does_as_well_as_an_object() -> None:
    class Study:
        def to_dict(self) -> dict[str, Any]:
            return STUDY

    assert temperature_study(Study()).data.equals(
        temperature_study(json.loads(json.dumps(STUDY))).data
    )


def test_the_chart_has_its_words() -> None:
    chart = temperature_study(STUDY, theme="dark")
    assert chart.notes == (
        "Similarity two-tower-linear, trained with 180 queries and stopped by 60. "
        "All but training loss and iterations is of 60 held-out queries.",
        "Bars are 95% intervals of the mean; the band is that of the untrained similarity. "
        "Filled points differ from it, query by query.",
    )
    svg = chart.to_svg()
    assert svg.count(">untrained<") == 5
    for words in (
        "AP",
        "nDCG@10",
        "RR",
        "held-out",
        "training",
        "confidence",
        "accuracy",
        "alignment",
        "uniformity",
        "to the best",
    ):
        assert f">{words}<" in svg


def test_one_temperature_and_nothing_untrained() -> None:
    chart = temperature_study(
        {**STUDY, "rows": STUDY["rows"][1:2], "measures": ["AP"], "notes": ["A note."]}
    )
    assert chart.notes[1:] == ("Bars are 95% intervals of the mean.", "A note.")
    assert chart.to_svg().count(">untrained<") == 0


@pytest.mark.parametrize(
    ("study", "message"),
    [
        (
            {"what": "temperature sweep"},
            "this is a temperature sweep, not a temperature study; make one with "
            "judged.temperature.sweep(train=True) or `judged temperature --train … -o FILE.json`.",
        ),
        (
            {"rows": []},
            "this is no temperature study; make one with "
            "judged.temperature.sweep(train=True) or `judged temperature --train … -o FILE.json`.",
        ),
        (
            {**STUDY, "rows": STUDY["rows"][:1]},
            "the temperature study must have training temperatures, each above the one before; "
            "make it again.",
        ),
        (
            {**STUDY, "measures": ["AP", "Bpref"]},
            "the temperature study, rows 1, measures has no 'Bpref'; make it again.",
        ),
        (changed(loss="low"), "the temperature study, rows 2: 'loss' must be a number; got 'low'."),
        (
            changed(differences=3),
            "the temperature study, rows 2: 'differences' must be an object; got 3.",
        ),
        ({**STUDY, "queries": 300}, "the temperature study: 'queries' must be an object; got 300."),
    ],
)
def test_what_is_no_study(study: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        temperature_study(study)
    assert str(refused.value) == message
