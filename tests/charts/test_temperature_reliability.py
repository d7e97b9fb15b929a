from __future__ import annotations

import numpy as np
import pytest

from judged import InputError
from judged.charts.kinds.distributions import calibration_error
from judged.charts.kinds.temperatures import temperature_reliability
from support.temperatures import made_sweep, sweep

# Four queries with scores 1 and 0, of which three are right: confidence is 1 / (1 + exp(-1/t)) for
# all of them.
SMALL = sweep(
    np.array([[1.0, 0.0]] * 4), np.array([[True, False]] * 3 + [[False, True]]), [0.2, 0.5, 1.0]
)


def test_bins_worked_by_hand() -> None:
    table = temperature_reliability(SMALL, temperatures=[0.2, 0.5, 1]).data
    assert table["name"].to_list() == ["sharp", "medium", "smooth"]
    assert table["count"].to_list() == [4, 4, 4]
    assert table["share_relevant"].to_list() == [0.75, 0.75, 0.75]
    # 1 / (1 + e^-5), 1 / (1 + e^-2), 1 / (1 + e^-1)
    assert table["score"].to_list() == pytest.approx([0.99330715, 0.88079708, 0.73105858])
    assert table["calibration_error"].to_list() == pytest.approx(
        [0.24330715, 0.13079708, 0.01894142]
    )
    # 0.7311 is in the eleventh of fifteen bins.
    assert table.select("score_from", "score_to").row(2) == pytest.approx((10 / 15, 11 / 15))


def test_the_error_in_the_title_is_that_of_the_bins() -> None:
    table = temperature_reliability(
        made_sweep(7, (0.005, 0.02, 0.08, 0.3), queries=50, items=40)
    ).data
    assert table["name"].n_unique() == 3
    for part in table.partition_by("name"):
        assert calibration_error(part) == pytest.approx(part["calibration_error"][0])
        assert part["count"].sum() == 50
        assert part["count"].min() > 0


def test_every_diagram_has_its_error_and_the_same_axis_of_counts() -> None:
    chart = temperature_reliability(SMALL, temperatures=[0.2, 0.5, 1], theme="dark")
    svg = chart.to_svg()
    for words in (
        "sharp: 0.2, ECE 0.243",
        "medium: 0.5, ECE 0.131",
        "smooth: 1, ECE 0.019",
        "confidence in the top item",
        "queries",
    ):
        assert f">{words}<" in svg
    counts = [
        panel["vconcat"][1]["encoding"]["y"]["scale"]["domain"] for panel in chart.spec["concat"]
    ]
    assert counts == [[0, 4]] * 3


def test_no_query_in_any_bin() -> None:
    rows = [
        {**row, "bins": [{**each, "count": 0} for each in row["bins"]]}
        for row in SMALL["temperatures"]
    ]
    with pytest.raises(InputError) as refused:
        temperature_reliability({**SMALL, "temperatures": rows}, temperatures=[0.2, 0.5, 1])
    assert (
        str(refused.value)
        == "the temperature sweep has no query in any bin of confidence; make it again."
    )
