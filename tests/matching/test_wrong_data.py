"""Whatever is given for data: an error of judged, or a number; never another exception."""

from __future__ import annotations

import datetime
import json
from collections import OrderedDict
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import judged
from judged import JudgedError, Rankings, evaluate, explain, read_judgements, read_run
from support.errors import error_of
from support.loops import for_each

NAN, INF, HUGE = float("nan"), float("inf"), 10**400
WRONG: list[Any] = [
    *(
        None,
        0,
        1,
        -1,
        1.5,
        NAN,
        True,
        "",
        "x",
        "none/such",
        b"x",
        HUGE,
        "\x00",
        "a\ud800",
        Decimal(1),
    ),
    *([], [1], [[]], [[1]], [[1], [2, 3]], ["a"], [None], [["a"]], [[None]], [[[1]]], ["ab"], "ab"),
    *([["1"]], [[HUGE]], [[1j]], [[NAN]], [[INF]], [[True]], [[b"x"]], [{}], [{"q": 1}], [[{}]]),
    *([[{"s": 1}]], [[{"s": None}]], [np.zeros(2), np.zeros(3)], {1, 2}, (), (1, 2), range(3)),
    *({}, {"q": None}, {"q": 1}, {"q": "a"}, {"q": []}, {"q": {}}, {"q": [1]}, {"q": [[1]]}),
    *({"q": {"a": None}}, {"q": {"a": "1"}}, {"q": {"a": {}}}, {"q": {"a": {"s": 1}}}),
    *(
        {"q": {"a": {"s": None}}},
        {"q": {"a": [1]}},
        {1: {2: 3}},
        {None: {"a": 1}},
        {"q": {None: 1}},
    ),
    *({"q": ["a", "a"]}, {"q": [("a", 1)]}, {"q": {"a": INF}}, {"q": {"a": HUGE}}, {"r": 5}),
    *({"r": {"q": {"a": 1}}}, {"r": {"q": 5}}, {"q": object()}, object(), len, int, iter([])),
    *(np.zeros(0), np.zeros(3), np.zeros((2, 2)), np.array("a"), np.array([["a"]])),
    *(np.zeros((2, 2, 2)), np.array([1, 2], dtype=object), pl.DataFrame(), pl.Series([1])),
    *(pd.DataFrame(), pd.Series([1]), datetime.date(2020, 1, 1), OrderedDict(q={"a": 1})),
    MappingProxyType({"q": {"a": 1}}),
]
QRELS, RUN = {"q": {"a": 1}}, {"q": {"a": 1.0}}
CALLS: dict[str, Callable[[Any], Any]] = {
    "judge: judgements": lambda given: Rankings.from_run(given, RUN),
    "judge: run": lambda given: Rankings.from_run(QRELS, given),
    "judge: collection": lambda given: Rankings.from_run(QRELS, RUN, collection=given),
    "evaluate: judgements": lambda given: evaluate(given, RUN, "RR"),
    "evaluate: run": lambda given: evaluate(QRELS, given, "RR"),
    "evaluate: a grade": lambda given: evaluate({"q": {"a": given}}, RUN, "RR"),
    "evaluate: a score": lambda given: evaluate(QRELS, {"q": {"a": given}}, "RR"),
    "evaluate: a result": lambda given: evaluate(QRELS, {"q": ["a", given]}, "RR"),
    "evaluate: the score of a pair": lambda given: evaluate(QRELS, {"q": [("a", given)]}, "RR"),
    "evaluate: the item of a pair": lambda given: evaluate(
        QRELS, {"q": [("a", 1), (given, 2)]}, "RR"
    ),
    "evaluate: a repeated item": lambda given: evaluate(
        QRELS, {"q": [("a", given), ("a", 1)]}, "RR", policy={"duplicates": "first"}
    ),
    "evaluate: categories": lambda given: evaluate(QRELS, RUN, "RR", unique=given),
    "evaluate: a category": lambda given: evaluate(QRELS, RUN, "RR", unique={"a": given}),
    "read_run": read_run,
    "read_run: name": lambda given: read_run(RUN, name=given),
    "read_judgements": read_judgements,
    "explain: judgements": lambda given: explain(given, RUN, "AP"),
    "explain: run": lambda given: explain(QRELS, given, "AP"),
    "from_relevance": lambda given: Rankings.from_relevance(given).evaluate("AP"),
    "from_relevance: relevant": lambda given: Rankings.from_relevance([[1, 0]], relevant=given),
    "from_relevance: pool": lambda given: Rankings.from_relevance([[1, 0]], pool=given),
    "from_relevance: pool by subtopic": lambda given: Rankings.from_relevance(
        [[{"s": 1}]], pool=given
    ),
    "from_relevance: collection": lambda given: Rankings.from_relevance([[1, 0]], collection=given),
    "from_relevance: queries": lambda given: Rankings.from_relevance([[1, 0]], queries=given),
    "from_scores: y_true": lambda given: Rankings.from_scores(given, [[1, 2]]).evaluate("AP"),
    "from_scores: y_score": lambda given: Rankings.from_scores([[1, 0]], given).evaluate("AP"),
    "from_scores: both": lambda given: Rankings.from_scores(given, given).evaluate("AP"),
    "from_scores: queries": lambda given: Rankings.from_scores([[1, 0]], [[1, 2]], queries=given),
    "from_scores: ties": lambda given: Rankings.from_scores([[1, 0]], [[1, 2]], ties=given),
    "take": Rankings.from_relevance([[1, 0], [1]]).take,
}


@for_each("call", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_wrong_data(call: str) -> None:
    refused = 0
    for given in WRONG:
        try:
            CALLS[call](given)
        except JudgedError:
            refused += 1
        except Exception as error:
            raise AssertionError(f"{call} raises {error!r} for {given!r}") from error
    assert refused > 10


def test_neither_grades_nor_sizes_nor_indices() -> None:
    for wrong in ([["1"]], [[0.5, "x"]], ["ab"], {"q": [1]}):
        error_of(Rankings.from_relevance, wrong, error=JudgedError)
    for wrong in (1.5, [1.5], -1, True, "3", NAN, HUGE):
        for name in ("collection", "relevant"):
            message = error_of(Rankings.from_relevance, [[1]], **{name: wrong})
            assert f"{name} must be" in message
    for wrong in ([True, False], [2], [-1], [0.0], 0, "0"):
        message = error_of(Rankings.from_relevance([[1], [0]]).take, wrong)
        assert "the queries to take must be" in message


JUDGED = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
SCORED = {"q1": {"a": 0.9, "b": 0.8}, "q2": {"b": 0.7, "c": 0.1}}


def _as_json(given: Any, folder: Path, name: str) -> Path:
    path = folder / f"{name}.json"
    path.write_text(json.dumps(given))
    return path


def _as_frame(given: Any, folder: Path, name: str) -> pl.DataFrame:
    rows = [(query, item, value) for query, of in given.items() for item, value in of.items()]
    return pl.DataFrame(rows, schema=["query", "item", "score"], orient="row", strict=False)


def _as_csv(given: Any, folder: Path, name: str) -> Path:
    path = folder / f"{name}.csv"
    _as_frame(given, folder, name).write_csv(path)
    return path


@pytest.mark.parametrize("way", [lambda given, folder, name: given, _as_json, _as_frame, _as_csv])
def test_judgements_and_a_run_in_the_wrong_order(way: Any, tmp_path: Path) -> None:
    judgements, run = way(JUDGED, tmp_path, "qrels"), way(SCORED, tmp_path, "run")
    assert judged.evaluate(judgements, run, "RR").value() == 0.75
    with pytest.raises(judged.errors.InputError) as error:
        judged.evaluate(run, judgements, "RR")
    assert str(error.value).endswith(
        "Were the two given in the wrong order? If not, give the judgements as a table with a "
        "column 'grade', or add 0.5 to every score, which changes no rank and no tie."
    )
    assert "looks like judgements (whole numbers such as 1), and " in str(error.value)
    assert " like a run (scores such as 0.9). " in str(error.value)


def test_data_that_only_look_swapped() -> None:
    rated = {"u": {"a": 4.5, "b": 3.5, "c": 2.5}}
    shares = {"u": {"a": 0.33, "b": 0.67, "c": 0.33, "d": 0.67}}
    whole = {"u": {"a": 4, "b": 3, "c": 5}}
    for judgements, run in (
        (rated, whole),  # half stars, and ratings that were predicted as whole numbers
        (shares, whole),  # shares of three assessors
        (SCORED, {"q1": ["a", "b"], "q2": ["c"]}),
        (SCORED, {"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"c": 1}}),  # places, counted down
        (SCORED, {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}),
        (SCORED, {"q1": {"a": 9, "b": 8, "c": 7}, "q2": {"c": 9}}),
        (SCORED, {"q1": {"a": -1, "b": -2}, "q2": {"c": -1}}),
        (SCORED, {"q1": {"a": 1.5, "b": 0.5}, "q2": {"c": 1.5}}),  # as the error advises
        (SCORED, {"q1": {"a": 30, "b": 20}}),
        (JUDGED, JUDGED),
        (SCORED, SCORED),
    ):
        judged.evaluate(judgements, run, "RR")


def test_formats_that_rule_a_swap_out(tmp_path: Path) -> None:
    """Shares of clicks as grades, and stars as scores: right, where names or formats tell them."""
    stars = {"q1": {"a": 4, "b": 4}, "q2": {"c": 5, "b": 1}}
    frame = _as_frame(stars, tmp_path, "run")
    qrels, trec, table = tmp_path / "a.qrels", tmp_path / "a.run", tmp_path / "a.csv"
    lines = [(query, item, grade) for query, of in SCORED.items() for item, grade in of.items()]
    qrels.write_text("".join(f"{query} 0 {item} {grade}\n" for query, item, grade in lines))
    trec.write_text(
        "".join(f"{query} Q0 {item} 1 {score} t\n" for query, item, score in frame.rows())
    )
    graded = _as_frame(SCORED, tmp_path, "qrels").rename({"score": "relevance"})
    graded.write_csv(table)
    for judgements in (qrels, graded, table, graded.to_pandas()):
        for run in (stars, frame, trec, _as_csv(stars, tmp_path, "run")):
            assert judged.evaluate(judgements, run, "RR(rel=0.5)").value() == 0.75
    assert judged.evaluate(SCORED, trec, "RR(rel=0.5)").value() == 0.75
