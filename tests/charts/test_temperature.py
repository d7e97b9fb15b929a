from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

import judged
from judged import InputError
from judged.charts.kinds.temperatures import temperature
from support.dense import cosines
from support.temperatures import at, made_sweep, scores_from, sweep

# Two queries with scores 1 and 0, the first right and the second wrong, at temperature 1 and as
# good as 0: p = e / (1 + e) = 0.7311 for the top item; losses are ln(1 + 1/e) = 0.3133 and ln(1 +
# e) = 1.3133, 0.8133 on average.
SCORES = np.array([[1.0, 0.0], [1.0, 0.0]])
RELEVANT = np.array([[True, False], [False, True]])
SMALL = sweep(SCORES, RELEVANT, [0.01, 1.0])


def value(table: pl.DataFrame, curve: str, place: float) -> float:
    [found] = table.filter(curve=curve, temperature=place)["value"].to_list()
    return float(found)


def test_the_numbers_of_two_queries_worked_by_hand() -> None:
    table = temperature(SMALL).data
    assert value(table, "queries to items", 1.0) == pytest.approx((0.31326169 + 1.31326169) / 2)
    assert value(table, "confidence", 1.0) == pytest.approx(0.73105858)
    assert value(table, "accuracy", 1.0) == 0.5
    # One bin holds both: |0.7311 - 0.5|. At 0.01 the confidence is 1.
    assert value(table, "calibration error", 1.0) == pytest.approx(0.23105858)
    assert value(table, "calibration error", 0.01) == pytest.approx(0.5)
    # -0.7311 ln 0.7311 - 0.2689 ln 0.2689
    assert value(table, "entropy", 1.0) == pytest.approx(0.58220311)
    # The wrong one loses by 1 / 0.01.
    assert value(table, "queries to items", 0.01) == pytest.approx(50.0)


def test_every_curve_is_the_twin_at_every_temperature() -> None:
    scores, relevant = scores_from(5, queries=12, items=30)
    table = temperature(sweep(scores, relevant, [0.01, 0.1, 1.0], both=True)).data
    fields = {
        "queries to items": "loss",
        "items to queries": "loss_back",
        "mean of both": "loss_both",
        "entropy": "entropy",
        "confidence": "confidence",
        "accuracy": "accuracy",
        "calibration error": "calibration_error",
    }
    assert table["curve"].unique(maintain_order=True).to_list() == list(fields)
    for each in (0.01, 0.1, 1.0):
        twin = at(scores, relevant, each, both=True)
        assert {name: value(table, name, each) for name in fields} == {
            n: twin[f] for n, f in fields.items()
        }


def test_the_best_temperatures_have_points_of_their_own_in_order() -> None:
    found = made_sweep(7, (0.01, 0.1, 1.0), queries=10, items=30)
    table = temperature(found).data.filter(curve="entropy")
    best = {found[name]["temperature"] for name in ("best_loss", "best_calibrated")}
    assert table["temperature"].to_list() == sorted({0.01, 0.1, 1.0, *best})
    assert table["best_loss"].unique().to_list() == [found["best_loss"]["temperature"]]
    assert table["best_calibrated"].unique().to_list() == [found["best_calibrated"]["temperature"]]


def test_a_sweep_of_vectors_is_the_twin_of_their_cosines() -> None:
    draw = np.random.default_rng(3)
    queries, items = (draw.normal(size=(rows, 4)).astype(np.float32) for rows in (20, 50))
    labels = draw.integers(0, 4, 20), draw.integers(0, 4, 50)
    real = judged.temperature.sweep(
        judged.Embeddings(queries, items),
        judged.relevance.same_label(*labels),
        [0.02, 0.1, 1.0],
        both=True,
    )
    twin = sweep(
        cosines(queries, items), labels[0][:, None] == labels[1], [0.02, 0.1, 1.0], both=True
    )
    tables = [
        temperature(each).data.filter(pl.col("temperature").is_in([0.02, 0.1, 1.0]))
        for each in (real, twin)
    ]
    assert (
        tables[0]
        .select("panel", "curve", "temperature")
        .equals(tables[1].select("panel", "curve", "temperature"))
    )
    assert tables[0]["value"].to_list() == pytest.approx(tables[1]["value"].to_list(), rel=1e-4)
    # The twin's best are of a grid with 80 temperatures, 5 % apart.
    assert tables[0]["best_loss"][0] == pytest.approx(tables[1]["best_loss"][0], rel=0.05)


def test_without_a_search_there_are_no_rules() -> None:
    table = temperature({**SMALL, "best_loss": None, "best_calibrated": None}).data
    assert table["temperature"].unique().to_list() == [0.01, 1.0]
    assert table.select("best_loss", "best_calibrated").unique().rows() == [(None, None)]
    assert "lowest loss" not in temperature({**SMALL, "best_loss": None}).to_svg()
    assert "best calibrated" in temperature({**SMALL, "best_loss": None}).to_svg()


def test_one_direction_has_one_line_of_losses() -> None:
    assert temperature(SMALL).data.filter(panel="loss")["curve"].unique().to_list() == [
        "queries to items"
    ]


def test_the_json_does_as_well_as_an_object() -> None:
    class Sweep:
        def to_dict(self) -> dict[str, Any]:
            return SMALL

    assert temperature(Sweep()).data.equals(temperature(json.loads(json.dumps(SMALL))).data)


def test_the_subtitle_says_which_softmax_and_that_the_ranking_stays() -> None:
    chart = temperature(
        {
            **made_sweep(7, (0.001, 0.1, 1.0), queries=30, items=30),
            "notes": ["Two queries are left out."],
        }
    )
    assert chart.notes == (
        "Full-corpus softmax: each query against all 30 items. 30 queries, similarity cosine.",
        "The ranking is the same at every temperature, and with it AP 0.6123 and nDCG@10 0.9045.",
        "Two queries are left out.",
    )
    batch = temperature({**SMALL, "softmax": "batch"})
    assert batch.notes[0] == (
        "In-batch softmax: each query against the 2 items of its batch. 2 queries, "
        "similarity cosine."
    )


def test_a_best_temperature_at_the_edge_is_said() -> None:
    # One query that is right: the lower the temperature, the lower the loss and the calibration
    # error.
    chart = temperature(sweep(SCORES[:1], RELEVANT[:1], [0.1, 1.0]))
    assert chart.notes[2] == (
        "The temperatures of the lowest loss and of the best calibration are the outermost that "
        "were swept; "
        "better ones may lie beyond."
    )
    one = temperature({**sweep(SCORES[:1], RELEVANT[:1], [0.1, 1.0]), "best_calibrated": None})
    assert one.notes[2] == (
        "The temperature of the lowest loss is the outermost that was swept; a better one "
        "may lie beyond."
    )


def test_both_rules_are_labelled_and_every_panel_is_there() -> None:
    found = made_sweep(7, (0.01, 0.1, 1.0), queries=10, items=30, both=True)
    svg = temperature(found).to_svg()
    for words in (
        "loss (symlog)",
        "entropy",
        "of the top item",
        "calibration error",
        "temperature",
    ):
        assert f">{words}<" in svg
    for words in ("queries to items", "items to queries", "mean of both", "confidence", "accuracy"):
        assert f">{words}<" in svg
    assert f">lowest loss: {found['best_loss']['temperature']:.3g}<" in svg
    assert f">best calibrated: {found['best_calibrated']['temperature']:.3g}<" in svg


def test_losses_that_differ_little_have_an_axis_from_zero() -> None:
    spec = temperature(sweep(SCORES, RELEVANT, [0.9, 1.0])).spec
    [title] = {
        layer["encoding"]["y"]["title"]
        for layer in spec["vconcat"][0]["layer"]
        if "y" in layer.get("encoding", {}) and "title" in layer["encoding"]["y"]
    }
    assert title == "loss"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"what": None},
            "this is no temperature sweep; make one with judged.temperature.sweep or `judged "
            "temperature … -o FILE.json`.",
        ),
        (
            {"what": "temperature study"},
            "this is a temperature study, not a temperature sweep; "
            "make one with judged.temperature.sweep or `judged temperature … -o FILE.json`.",
        ),
        (
            {"temperatures": []},
            "the temperature sweep must have temperatures, each above the one before; make it "
            "again.",
        ),
        (
            {"temperatures": SMALL["temperatures"][::-1]},
            "the temperature sweep must have temperatures, each above the one before; make it "
            "again.",
        ),
        ({"temperatures": 3}, "the temperature sweep: 'temperatures' must be a list; got 3."),
        (
            {"temperatures": [1.0]},
            "the temperature sweep: 'temperatures 1' must be an object; got 1.0.",
        ),
        (
            {"softmax": "half"},
            "the temperature sweep: 'softmax' must be corpus or batch; got 'half'.",
        ),
        (
            {"temperatures": [{**SMALL["temperatures"][0], "loss": "low"}]},
            "the temperature sweep, temperatures 1: 'loss' must be a number; got 'low'.",
        ),
        (
            {"temperatures": [{**SMALL["temperatures"][0], "temperature": -1.0}]},
            "a temperature must be a number above 0, from 1e-06 to 1e+06; got -1.0.",
        ),
        (
            {"ranking": {}},
            "the temperature sweep, ranking has no 'measures'; make it again.",
        ),
        ({"best_loss": 0.05}, "the temperature sweep: 'best_loss' must be an object; got 0.05."),
    ],
)
def test_what_is_no_sweep(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        temperature({**SMALL, **changed})
    assert str(refused.value) == message


@pytest.mark.parametrize("given", [[1, 2], "sweep", None, 7])
def test_what_is_no_object_at_all(given: Any) -> None:
    with pytest.raises(InputError, match=r"^this is no temperature sweep; make one with "):
        temperature(given)
