"""Frames from polars, pandas and pyarrow, and from anything else that speaks Arrow."""

from __future__ import annotations

import datetime
import enum
import math
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from judged.errors import InputError
from judged.inputs.frames import table_from_frame
from judged.inputs.tables import JUDGEMENTS, RUN
from judged.rankings.rankings import Rankings
from support.errors import error_of
from support.loops import for_each

read_run_frame = partial(table_from_frame, kind=RUN)
read_judgements_frame = partial(table_from_frame, kind=JUDGEMENTS)
DATA = {"qid": ["q1", "q1"], "docno": ["d1", "01"], "score": [1.5, 0.5]}
ROWS = [("q1", "d1", 1.5), ("q1", "01", 0.5)]


class Stranger:
    """Only the Arrow interface."""

    def __init__(self, data):
        self.table = pa.table(data)

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


MAKERS = {
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pandas": pd.DataFrame,
    "pyarrow": pa.table,
    "pyarrow batch": pa.RecordBatch.from_pydict,
    "stranger": Stranger,
}


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


def test_run(make):
    run = read_run_frame(make(DATA), name="bm25")
    assert run.frame.rows() == ROWS
    assert run.frame.schema == {"query": pl.String, "item": pl.String, "score": pl.Float64}
    assert (run.name, run.source, run.notes, run.where([1])) == (
        "bm25",
        "data frame 'bm25'",
        (),
        "row 2",
    )


def test_integer_ids(make):
    judgements = read_judgements_frame(
        make({"query": [1, 2], "item": [7, -8], "relevance": [1, 0]})
    )
    assert judgements.frame.rows() == [("1", "7", 1.0), ("2", "-8", 0.0)]
    assert judgements.notes == (
        'The integer ids of column "query" were turned into strings.',
        'The integer ids of column "item" were turned into strings.',
    )


def test_float_ids(make):
    assert error_of(
        read_run_frame, make({"query": [1.0, 2.0], "item": ["a", "b"], "score": [1, 2]})
    ) == (
        'a data frame: column "query" is Float64, but ids must be strings or integers. '
        "Floats come from missing values in pandas, or from ids read as numbers."
    )


def test_missing_ids(make):
    frame = make({"query": ["a", None], "item": ["a", "b"], "score": [1, 2]})
    assert error_of(read_run_frame, frame) == "a data frame, row 2: the query is missing."
    frame = make({"query": ["a", "a"], "item": ["a", ""], "score": [1, 2]})
    assert (
        error_of(read_run_frame, frame, source="my frame")
        == "my frame, row 2: the item is missing."
    )
    frame = make({"query": ["a", "a"], "item": [None, None], "score": [1, 2]})
    assert error_of(read_run_frame, frame) == "a data frame, row 1: the item is missing."


@pytest.mark.parametrize("maker", [maker for name, maker in MAKERS.items() if name != "pandas"])
def test_missing_values(maker):
    data = {"query": ["a", "a"], "item": ["a", "b"], "score": [1.0, None]}
    assert error_of(read_run_frame, maker(data)) == "a data frame, row 2: the score is missing."
    assert read_judgements_frame(maker(data)).frame.rows() == [("a", "a", 1.0)]


def test_nan(make):
    data = make({"query": ["a", "a"], "item": ["a", "b"], "score": [1.0, math.nan]})
    assert math.isnan(read_run_frame(data).frame["score"][1])
    assert error_of(read_judgements_frame, data) == (
        "a data frame, row 2: the grade is NaN; a grade must be a finite number."
    )


def test_pandas_columns_of_mixed_types():
    frame = pd.DataFrame({"qid": ["a", 1.5], "docno": ["a", "b"], "score": [1, 2]})
    assert (
        error_of(read_run_frame, frame)
        == 'a data frame: column "qid" mixes types, or has values that no column can hold; make '
        "ids strings and scores numbers."
    )


def test_the_frame_given_is_not_changed():
    frame = pd.DataFrame(DATA | {"rank": [1, 2]})
    before = frame.copy()
    read_run_frame(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_a_lazy_frame_that_fails(tmp_path):
    text = error_of(read_run_frame, pl.scan_parquet(tmp_path / "none.parquet"))
    assert text.startswith("a data frame: cannot be read (")
    assert "\n" not in text


# Odd columns in every role and every kind of frame: read, or an InputError


NAN = float("nan")
Plain = enum.Enum("Plain", "ONE")
ODD: dict[str, list[Any]] = {
    "lists": [["a"], ["b"]],
    "structs": [{"x": 1}, {"x": 2}],
    "dates": [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)],
    "times": [datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)],
    "durations": [datetime.timedelta(1), datetime.timedelta(2)],
    "bytes": [b"a", b"b"],
    "texts and numbers": ["a", 1],
    "numbers and texts": [1, "a"],
    "whole and other numbers": [1, 1.5],
    "a missing text": ["a", None],
    "a missing number": [1.0, None],
    "objects": [object(), object()],
    "nothing": [None, None],
    "truth values": [True, False],
    "truth values and nothing": [True, None],
    "decimals": [Decimal("1.5"), Decimal(2)],
    "large": [2**63, 2**63 + 1],
    "larger": [10**30, 2],
    "beyond floats": [10**400, 2],
    "nan": [NAN, 1.0],
    "complex": [1j, 2j],
    "tuples": [("a",), ("b",)],
    "enumerations": [Plain(1), Plain(1)],
    "sets": [{1}, {2}],
    "single precision": [np.float32(1), np.float32(2)],
    "texts": ["1.5", "x"],
    "surrogates": ["\ud800", "b"],
    "empty texts": ["", "b"],
    "fractions": [Fraction(1, 2), Fraction(1, 3)],
    "intervals": [pd.Interval(0, 1), pd.Interval(1, 2)],
    "periods": [pd.Period("2020"), pd.Period("2021")],
    "times of pandas": [pd.Timestamp("2020", tz="UTC"), pd.NaT],
    "not available": [pd.NA, 1],
}
KINDS: dict[str, Any] = {
    "pandas": pd.Series,
    "pandas objects": lambda values: pd.Series(values, dtype=object),
    "pandas categories": lambda values: pd.Series(pd.Categorical(values)),
    "polars": lambda values: pl.Series(values, strict=False),
    "polars objects": lambda values: pl.Series(values, dtype=pl.Object),
    "pyarrow": pa.array,
}


def frame(kind: str, columns: dict[str, Any]) -> Any:
    if kind == "pyarrow":
        return pa.table(columns)
    return (pd if kind.startswith("pandas") else pl).DataFrame(columns)


@for_each("kind", KINDS)
@for_each("odd", ODD)
def test_odd_columns(odd: str, kind: str) -> None:
    try:
        column = KINDS[kind](ODD[odd])
    except Exception:
        return  # there is no such column
    plain: dict[str, Any] = {"query": ["q", "q"], "item": ["a", "b"]}
    for role in ("query", "item", "score", "rank"):
        run = {**plain, **({} if role == "rank" else {"score": [1.0, 2.0]}), role: column}
        read_or_refused({"q": {"a": 1}}, frame(kind, run), role)
    for role in ("query", "item", "grade", "subtopic"):
        judgements = {**plain, "grade": [1, 0], role: column}
        read_or_refused(frame(kind, judgements), {"q": {"a": 1.0}}, role)


def read_or_refused(judgements: Any, run: Any, role: str) -> None:
    try:
        Rankings.from_run(judgements, run)
    except InputError as caught:
        error = caught
    else:
        return
    assert error.__cause__ is None
    told = (role, "score" if role == "rank" else role, "no query in common")
    assert any(word in str(error) for word in told), error


BASE = {"query": ["q", "q"], "item": ["a", "b"], "score": [1.0, 2.0]}
TABLE = pd.DataFrame(BASE)
SHAPES: dict[str, Any] = {
    "columns twice": (pd.concat([TABLE, TABLE], axis=1), 'there are two columns "query"'),
    "columns twice in Arrow": (
        pa.table([*map(pa.array, BASE.values()), pa.array(["p", "p"])], names=[*BASE, "query"]),
        "appears more than once|two columns|uplicate",
    ),
    "columns of two levels": (pd.concat({"x": TABLE}, axis=1), "no column with a query"),
    "no columns": (pd.DataFrame(index=[1, 2]), "no column with a query"),
    "a series": (TABLE["score"], "no column with a query"),
    "an array": (np.zeros((2, 3)), "arrays have no ids of queries and items"),
    "a number": (5, "should be a polars, pandas or pyarrow table"),
    "an empty generator": ((each for each in ()), "a list of rows: holds no rows."),
    "a class": (dict, "should be a polars, pandas or pyarrow table"),
}


@pytest.mark.parametrize(("given", "said"), SHAPES.values(), ids=SHAPES)
def test_shapes(given: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Rankings.from_run({"q": {"a": 1}}, given)
    with pytest.raises(InputError, match=said):
        Rankings.from_run(given, {"q": {"a": 1.0}})
