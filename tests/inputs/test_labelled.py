"""Tables and arrays with labels and scores, as scikit-learn takes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import judged
from judged.errors import InputError, JudgedWarning
from support.loops import for_each

SEED = (  # ids, labels and scores of a tutorial: AP = (1/1 + 2/3 + 3/4 + 4/6) / 4
    "ID,label,predicted_score\n0,1,0.63\n1,0,0.24\n2,1,0.36\n3,0,0.85\n4,0,0.47\n5,1,0.71\n"
    "6,1,0.9\n7,0,0.16\n"
)
AP = (1 + 2 / 3 + 3 / 4 + 4 / 6) / 4


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(SEED)
    return pl.read_csv("t.csv")


def test_every_form_of_a_table(table: pl.DataFrame) -> None:
    table.write_parquet("t.parquet")
    table.write_ndjson("t.jsonl")
    table.select(y_true="label", y_score="predicted_score").write_csv("y.csv")
    flags = table.to_pandas().assign(label=table["label"].to_pandas() == 1)
    flags.to_csv("flags.csv", index=False)
    columns = table.to_dict(as_series=False)
    files = ("t.csv", "t.parquet", "t.jsonl", "y.csv", "flags.csv")
    for given in (*files, table, table.to_pandas(), flags, table.to_dicts(), columns):
        evaluation = judged.evaluate(given, measures="AP, P@4")
        assert evaluation.value("AP") == pytest.approx(AP, abs=1e-15), given
        assert evaluation.value("P@4") == 0.75
    assert "t.csv: no column is the query: all rows are results of one query." in str(
        judged.evaluate("t.csv", measures="AP").to_dict()
    )


def test_every_question_takes_a_table(table: pl.DataFrame) -> None:
    assert judged.explain("t.csv", measure="AP").value == pytest.approx(AP)
    first = judged.compare_conventions(table, measures="AP").rows()[0]
    assert first.value == pytest.approx(AP)
    assert judged.report("t.csv", measures=["AP"]) is not None


def test_several_queries_and_named_columns() -> None:
    rows = [
        {"user": 1, "item": "a", "rating": 1, "bm25_score": 0.1, "dense_score": 0.9},
        {"user": 1, "item": "b", "rating": 0, "bm25_score": 0.2, "dense_score": 0.8},
        {"user": 2, "item": "a", "rating": 1, "bm25_score": 0.3, "dense_score": 0.7},
    ]
    for name, value in (("bm25_score", 0.75), ("dense_score", 1.0)):
        for label in ("label", "grade"):
            columns = {label: "rating", "score": name}
            assert judged.evaluate(rows, measures="RR", columns=columns).value() == value
    with pytest.raises(InputError) as error:
        judged.evaluate(rows)
    assert str(error.value) == (
        'a list of rows: the score may be column "bm25_score" or "dense_score". Say which: '
        "columns={'score': 'bm25_score'}."
    )


def test_a_column_that_may_be_the_query_is_a_warning() -> None:
    rows = [
        {"group": group, "item": str(item), "label": item % 2, "score": item, "split": "test"}
        for group in "ab"
        for item in range(group == "b", 6, 2)
    ]
    with pytest.warns(JudgedWarning) as caught:
        assert judged.evaluate(rows, measures="P@1").value() == 1
    assert str(caught[0].message).endswith(
        'no column is the query: all rows are results of one query. If column "group" is the '
        "query, name it: columns={'query': 'group'}."
    )
    assert judged.evaluate(rows, measures="P@1", columns={"query": "group"}).value() == 0.5


def test_other_tables_stay_what_they_were() -> None:
    lists = [{"query": "q", "relevant": ["a"], "predictions": ["b", "a"]}]
    assert judged.evaluate(lists, measures="RR").value() == 0.5
    ids = [{"query": "q", "relevant": "3", "predictions": "3"}]
    with pytest.raises(InputError, match="list"):
        judged.evaluate(ids)
    with pytest.raises(InputError, match=r"judgements and a run are needed"):
        judged.evaluate([{"query": "q", "item": "a", "score": 0.5}])
    labels = [{"query": "q", "item": "a", "label": 1, "score": 0.5}]
    assert judged.evaluate(labels, {"q": ["b", "a"]}, "RR").value() == 0.5


@for_each(
    "rows, message",
    [
        ("label,score\nyes,.3\n", "line 2: the label is 'yes'; a label is a number, or true or"),
        ("label,score\n1,.3\n0,\n", "line 3: the score is missing."),
        ("label,score\n1,.3\n0,nan\n", "line 3: the score is NaN."),
        ("label,score\n1,true\n", "line 2: the score is 'true'; a score is a number."),
        ("label,score\n", "holds no rows."),
        ("query,label,score\n,1,2\n", "line 2: the query is missing."),
    ],
)
def test_wrong_cells_are_named(rows: str, message: str, table: pl.DataFrame) -> None:
    Path("wrong.csv").write_text(rows)
    with pytest.raises(InputError) as error:
        judged.evaluate("wrong.csv")
    assert message in str(error.value)


def test_arrays_agree_with_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(7)
    labels = random.integers(0, 4, (40, 30))
    scores = random.permuted(np.tile(np.arange(30.0), (40, 1)), axis=1)
    values = judged.evaluate_scores(labels, scores, "AP(rel=2), nDCG, nDCG@5")
    ap = [
        metrics.average_precision_score(row >= 2, row_scores)
        for row, row_scores in zip(labels, scores, strict=True)
    ]
    assert values.value("AP(rel=2)") == pytest.approx(np.mean(ap), abs=1e-12)
    assert values.value("nDCG") == pytest.approx(metrics.ndcg_score(labels, scores), abs=1e-12)
    assert values.value("nDCG@5") == pytest.approx(
        metrics.ndcg_score(labels, scores, k=5), abs=1e-12
    )
    queries = np.repeat(np.arange(40), 30)
    flat = judged.evaluate_scores(labels.ravel(), scores.ravel(), "nDCG", query=queries)
    assert flat.value() == values.value("nDCG")
    lists = judged.evaluate_scores(labels.tolist(), scores.tolist(), "nDCG")
    assert lists.value() == values.value("nDCG")


def test_columns_and_ragged_rows(table: pl.DataFrame) -> None:
    frame = table.to_pandas()
    for label, score in (
        (frame["label"], frame["predicted_score"]),
        (table["label"], table["predicted_score"]),
        (frame["label"].to_numpy() == 1, frame["predicted_score"].to_numpy(np.float32)),
    ):
        assert judged.evaluate_scores(label, score, "AP").value() == pytest.approx(AP)
    ragged = judged.evaluate_scores([[0, 1], [True]], [[0.2, 0.1], [3]], "RR", query=["a", "b"])
    assert ragged.value() == 0.75


@for_each(
    "labels, scores, query, message",
    [
        ([1, 0], [1], None, "y_true has 2 values and y_score has 1 value; they must have the same"),
        ([[1], [0, 1]], [[1], [2]], None, "row 1 of y_true has 2 labels and that of y_score 1 sco"),
        ([1, 0], [1, np.nan], None, "row 2: the score is NaN."),
        ([1, None], [1, 2], None, "row 2: the label is missing."),
        (["relevant", 0], [1, 2], None, "row 1: the label is 'relevant'; a label is a number, or"),
        ([], [], None, "y_true is empty."),
        ([1, 0], [[1, 2]], None, "y_true has 2 values and y_score has 1 row; they must have the"),
        ([[1], [0]], [[2], [1]], None, "y_true has one label in each row, so there is nothing to"),
        ([1, [0]], [1, 2], None, "y_true must have one dimension, or two: a row for each query."),
        ([1, 0], [1, 2], ["a"], "query has 1 value for 2 labels; give one for each."),
        ("10", "01", None, "y_true must be an array or a list; got '10'."),
    ],
)
def test_wrong_arrays(labels: object, scores: object, query: object, message: str) -> None:
    with pytest.raises(InputError) as error:
        judged.evaluate_scores(labels, scores, query=query)
    assert message in str(error.value)


def test_arrays_given_to_evaluate_point_to_evaluate_scores() -> None:
    labels, scores = np.array([1, 0]), np.array([0.5, 0.25])
    for pair in (
        (labels, scores),
        ([1, 0], [0.5, 0.25]),
        ([[1, 0]], [[0.5, 0.25]]),
        (pd.Series(labels), pd.Series(scores)),
        (pl.Series(labels), pl.Series(scores)),
    ):
        with pytest.raises(InputError, match=r"call judged\.evaluate_scores\(y_true, y_score\)"):
            judged.evaluate(*pair)
    with pytest.raises(InputError, match="evaluate_scores"):
        judged.compare(labels, scores)


def test_several_tables_are_several_runs(table: pl.DataFrame) -> None:
    labels = {"query": ["q", "q"], "item": ["a", "b"], "label": [1, 0]}
    tables = {"one": [0.5, 0.7], "two": [0.9, 0.7]}
    for name, scores in tables.items():
        pl.DataFrame({**labels, "score": scores}).write_csv(f"{name}.csv")
    pl.DataFrame({**labels, "label": [0, 0], "score": [1, 2]}).write_csv("other.csv")
    pl.DataFrame({**labels, "score": [1, 2]}).drop("label").write_csv("plain.csv")

    def values(runs: list[str]) -> dict[str, float]:
        found = judged.evaluate("one.csv", runs, "RR")
        return {run.name: found.value("RR", run=run.name) for run in found.runs}

    assert values(["two.csv"]) == {"one": 0.5, "two": 1.0}
    assert values(["two.csv", "plain.csv"]) == {"one": 0.5, "two": 1.0, "plain": 0.5}
    assert values(["plain.csv"]) == {"plain": 0.5}  # which needs judgements
    with pytest.raises(InputError) as error:
        values(["other.csv"])
    assert str(error.value) == (
        "one.csv and other.csv do not agree on what is relevant to query 'q'. Runs are "
        "compared on the same judgements."
    )


def test_several_columns_of_one_role_are_an_error(table: pl.DataFrame) -> None:
    given = table.with_columns(fold=pl.lit(1))
    with pytest.raises(InputError, match='the query may be column "ID" or "fold"'):
        judged.evaluate(given, measures="AP", columns={"query": ["ID", "fold"]})
