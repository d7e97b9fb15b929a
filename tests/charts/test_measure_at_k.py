from __future__ import annotations

import pytest

from judged import InputError, MeasureError, Rankings, parse_measure
from judged.charts.kinds.curves import measure_at_k

EIGHT = [1, 0, 1, 1, 0, 1, 0, 0]


def test_precision_at_every_cutoff_of_the_worked_walk() -> None:
    table = measure_at_k(Rankings.from_relevance([EIGHT]), measures="P").data
    assert table["k"].to_list() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert table["value"].to_list() == pytest.approx(
        [1, 1 / 2, 2 / 3, 3 / 4, 3 / 5, 4 / 6, 4 / 7, 4 / 8]
    )


def test_ndcg_is_the_default_and_its_parameters_are_kept() -> None:
    assert measure_at_k(Rankings.from_relevance([EIGHT])).data["measure"].unique().to_list() == [
        "nDCG"
    ]
    table = measure_at_k(
        Rankings.from_relevance([EIGHT]), measures=["P(rel=2)@5", parse_measure("R")], k=2
    ).data
    assert table["measure"].to_list() == ["P(rel=2)", "P(rel=2)", "R", "R"]
    assert table["value"].to_list() == [0, 0, 0.25, 0.25]


def test_many_cutoffs_are_thinned_out_and_the_chart_says_so() -> None:
    chart = measure_at_k(Rankings.from_relevance([[1] * 500]), measures="P", k=500)
    shown = chart.data["k"].to_list()
    assert (shown[0], shown[-1]) == (1, 500)
    assert len(shown) <= 40
    assert f"Computed at {len(shown)} of the 500 cutoffs." in chart.notes
    assert chart.spec["title"]["subtitle"][1] == chart.notes[1]


def test_a_panel_for_each_measure() -> None:
    chart = measure_at_k(Rankings.from_relevance([EIGHT]), measures=["P", "R"])
    assert [panel["layer"][0]["encoding"]["y"]["title"] for panel in chart.spec["concat"]] == [
        "P@k",
        "R@k",
    ]


def test_a_measure_without_a_cutoff() -> None:
    with pytest.raises(MeasureError) as refused:
        measure_at_k(Rankings.from_relevance([EIGHT]), measures="Bpref")
    assert (
        str(refused.value)
        == "Bpref has no cutoff k, so there is no curve of it along k; take one such as P or nDCG."
    )


@pytest.mark.parametrize("k", [0, -1, 2.5, True])
def test_a_cutoff_that_is_none(k: object) -> None:
    with pytest.raises(InputError) as refused:
        measure_at_k(Rankings.from_relevance([EIGHT]), k=k)  # type: ignore[arg-type]
    assert str(refused.value) == f"k must be a whole number from 1; got {k!r}."
