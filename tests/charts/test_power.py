"""The chart of power against the number of queries."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

import judged
from judged.charts.kinds.intervals import power
from judged.errors import InputError

PLAN = judged.plan(difference=0.02, sd=0.1)
PILOT = judged.plan(difference=0.05, pilot=np.linspace(-0.2, 0.2, 41))


def test_every_point_is_the_power_of_a_plan() -> None:
    table = power(PLAN).data
    assert table["curve"].unique(maintain_order=True).to_list() == [
        *("0.01", "0.015", "0.02", "0.03", "0.04")
    ]
    for row in table.sample(8, seed=1).rows(named=True):
        again = judged.plan(difference=row["difference"], sd=0.1, queries=row["queries"])
        assert row["power"] == again.power
        assert row["power_low"] is row["power_high"] is None
    assert (table["queries"].min(), table["queries"].max()) == (6, 398)


def test_the_point_of_the_plan_is_among_them() -> None:
    [own] = power(PLAN).data.filter(pl.col("asked") & (pl.col("queries") == 199)).rows(named=True)
    assert (own["curve"], own["planned"], own["power"]) == ("0.02", 199, PLAN.power)


def test_a_pilot_has_a_band() -> None:
    table = power(PILOT).data
    row = table.filter(curve="0.05", queries=PILOT.queries).row(0, named=True)
    for end, sd in zip(("power_high", "power_low"), PILOT.sd_interval or (), strict=True):
        again = judged.plan(difference=0.05, sd=sd, queries=PILOT.queries)
        assert row[end] == pytest.approx(again.power)
    assert row["power_low"] < row["power"] < row["power_high"]
    assert "area" in json.dumps(power(PILOT).spec)
    assert "area" not in json.dumps(power(PLAN).spec["layer"])


def test_its_json_gives_the_same_chart() -> None:
    values = {str(query): query % 5 / 10 for query in range(40)}
    groups = {query: int(query) // 4 for query in values}
    grouped = judged.plan(half_width=0.05, pilot=values, groups=groups)
    for plan in (PLAN, PILOT, grouped):
        read = json.loads(plan.to_json())
        assert power(read).data.equals(power(plan).data)
        assert power(read).title == power(plan).title


def test_what_it_says() -> None:
    chart = power(PILOT)
    assert chart.title == "How often a difference is shown"
    assert chart.notes == (
        "Each curve is a true difference.",
        "The band is where the curve of 0.05 may lie, as the standard deviation is known from the "
        "pilot only.",
        *PILOT.says(),
    )
    kept = power(judged.plan(margin=0.01, sd=0.1))
    assert kept.title == "How often a system is shown to be no worse by 0.01 or more"
    assert kept.data["curve"].unique(maintain_order=True).to_list() == [
        *("−0.005", "as good", "+0.005", "+0.01")
    ]
    values = {run: {str(q): q % 3 * by for q in range(12)} for run, by in (("a", 0), ("b", 0.1))}
    compared = judged.compare_values(values, measure_name="rating")
    named = power(judged.plan(difference=0.1, pilot=compared))
    assert named.title == "rating: how often a difference is shown"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"what": "temperature sweep"},
            "this is a temperature sweep, not a plan; make one with judged.plan or `judged plan … "
            "-o FILE.json`.",
        ),
        ({"sd": 0}, "the plan: 'sd' must be above 0; got 0."),
        ({"sd": "x"}, "the plan: 'sd' must be a number; got 'x'."),
        ({"level": 1}, "the plan: 'level' must be from 1e-09 to 0.999999999; got 1."),
        ({"queries": 2}, "the plan: 'queries' must be from 6 to 1000000000; got 2."),
        ({"differences": []}, "the plan has no differences to show; make it again."),
        ({"comparisons": 0}, "the plan: 'comparisons' must be from 1 to 1000000; got 0."),
    ],
)
def test_what_is_no_plan(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        power(PLAN.to_dict() | change)
    assert str(refused.value) == message
