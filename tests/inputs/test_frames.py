"""Frames from polars, pandas and pyarrow, and from anything else that speaks Arrow."""

from __future__ import annotations

import math
from functools import partial

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from judged.inputs.frames import table_from_frame
from judged.inputs.tables import JUDGEMENTS, RUN
from support.errors import error_of

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
