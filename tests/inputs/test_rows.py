"""Rows that are judgements and a run: what is read, what is assumed, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import judged
from judged.errors import InputError, JudgedWarning
from judged.inputs.columns import as_columns, has_lists
from judged.inputs.data import Data
from judged.inputs.rows import choose_row_columns
from judged.text import Warned
from support.loops import for_each
from support.tables import every_form, rows_of

ORDER = "There are no scores: the order of each list is the ranking."
GRADES = "There are no grades: every item that is listed is relevant, with grade 1."
LIST = "a list of rows"


def row(**columns: Any) -> list[dict[str, Any]]:
    return [{"query": "q", **columns}]


def frames(given: Any, **options: Any) -> tuple[list[Any], list[Any], list[str]]:
    """What judgements and run hold, and what is said."""
    data = Data.of(given, None, **options)
    judgements, run = data.judgements(), next(data.runs())
    notes = dict.fromkeys((*judgements.notes, *run.notes))
    return rows_of(judgements), rows_of(run), list(notes)


def refused(given: Any, run: Any = None, **options: Any) -> str:
    with pytest.raises(InputError) as error:
        judged.evaluate(given, run, "RR", **options)
    return str(error.value)


@pytest.mark.parametrize(
    ("query", "relevant", "retrieved"),
    [
        ("user_input", "reference_context_ids", "retrieved_context_ids"),  # ragas
        ("query", "expected_ids", "retrieved_ids"),  # LlamaIndex
        ("query", "expected_chunks", "retrieved_chunks"),  # TruLens
        ("question", "golden_chunk_ids", "retrieved_chunk_ids"),
        ("id", "relevant_document_ids", "retrieved_document_ids"),
        ("query_id", "gold", "retrieved"),
        ("query", "relevant", "results"),
        ("qid", "ground_truth", "predictions"),
        ("question", "positives", "ranking"),
        ("Question-ID", "relevant_docs", "Retrieved Docs"),
        ("userId", "groundTruth", "recommendations"),
        ("input", "reference_contexts", "retrieved_contexts"),
        ("prompt", "expected", "matches"),
        ("question", "ground_truth_ids", "context_ids"),
    ],
)
def test_names_that_are_understood(query: str, relevant: str, retrieved: str) -> None:
    header = ["answer", query, relevant, retrieved, "score", "latency", "response", "reference"]
    assert has_lists(header, ("relevant", "retrieved"), as_columns(None), False)
    names, beside, *_ = choose_row_columns(header, "rows", as_columns(None))
    assert names == {"query": query, "relevant": relevant, "retrieved": retrieved}
    assert beside == {"retrieved": ("score",), "relevant": ()}  # if it holds lists


def test_ids_are_surer_than_texts() -> None:
    given = row(
        reference_contexts=["one"],
        reference_context_ids=["a"],
        retrieved_contexts=["two", "one"],
        retrieved_context_ids=["b", "a"],
    )
    assert frames(given) == (
        [("q", "a", 1.0)],
        [("q", "b", 2.0), ("q", "a", 1.0)],
        [
            'Column "reference_context_ids" was taken for the relevant ids, not '
            '"reference_contexts".',
            'Column "retrieved_context_ids" was taken for the retrieved ids, not '
            '"retrieved_contexts".',
            GRADES,
            ORDER,
        ],
    )


def test_scores_and_grades_beside_ids() -> None:
    given = row(relevant=["a", "b"], grades=[2, 0], retrieved=["b", "a"], scores=[0.25, 0.5])
    assert frames(given)[:2] == (
        [("q", "a", 2.0), ("q", "b", 0.0)],
        [("q", "b", 0.25), ("q", "a", 0.5)],
    )
    # A number for the whole row is no list of scores.
    assert frames(row(relevant=["a"], retrieved=["b", "a"], scores=0.7))[1][0] == ("q", "b", 2.0)


RESULTS = {"relevant": ["a", "b"], "retrieved": ["b", "a", "c"]}


@pytest.mark.parametrize(
    "name", ["score", "similarities", "relevance_scores", "retrieval_scores", "rerank_score"]
)
def test_scores_by_any_name(name: str) -> None:
    found = frames(row(**RESULTS, **{name: [0.25, 0.5, 0.75]}))[1]
    assert found == [("q", "b", 0.25), ("q", "a", 0.5), ("q", "c", 0.75)]
    assert frames(row(**RESULTS, **{name: 0.7}))[1][0] == ("q", "b", 3.0)  # one for the whole row
    assert frames(row(**RESULTS, scores=[1, 2, 3], **{name: 0.7}))[1][0] == ("q", "b", 1.0)


@pytest.mark.parametrize("name", ["relevance", "labels", "grade", "relevances", "gold_labels"])
def test_grades_by_any_name(name: str) -> None:
    found = frames(row(**RESULTS, **{name: [3, 1]}))[0]
    assert found == [("q", "a", 3.0), ("q", "b", 1.0)]
    assert frames(row(**RESULTS, **{name: 0.7}))[0][0] == ("q", "a", 1.0)
    if name != "grade":
        # A number for each result is no grade of a relevant id.
        flags = frames(row(**RESULTS, **{name: [1, 1, 0]}))[0]
        assert flags == [("q", "a", 1.0), ("q", "b", 1.0)]
    topics = frames(row(**RESULTS, labels=["news", "sport"]))[0]
    assert topics == [("q", "a", 1.0), ("q", "b", 1.0)]


def test_lists_of_equal_length_beside_both() -> None:
    either = row(relevant=["a", "b"], retrieved=["b", "a"], relevance=[3, 1])
    assert refused(either) == (
        f'{LIST}: column "relevance" has a number for each id of columns "relevant" and '
        '"retrieved". Leave it out, or say that it grades the relevant ids: '
        "columns={'grades': 'relevance'}."
    )
    assert frames(either, columns={"grades": "relevance"})[0] == [("q", "a", 3.0), ("q", "b", 1.0)]


def test_ranks_of_results() -> None:
    results = [{"id": "b", "rank": 2}, {"id": "a", "rank": 1}]
    assert frames(row(relevant=["a"], retrieved=results))[1] == [("q", "b", -2.0), ("q", "a", -1.0)]
    typed = pl.DataFrame(row(relevant=["a"], retrieved=results))
    assert judged.evaluate(typed, measures="RR").value() == 1.0
    scored = [{"id": "b", "rank": 2, "score": 0.1}, {"id": "a", "rank": 1, "score": 0.9}]
    assert frames(row(relevant=["a"], retrieved=scored))[1] == [("q", "b", 0.1), ("q", "a", 0.9)]
    beside = frames(row(relevant=["a"], retrieved=results, scores=[0.1, 0.9]))[1]
    assert beside == [("q", "b", 0.1), ("q", "a", 0.9)]
    odd = [{"id": "b", "rank": 0.06}, {"id": "a", "rank": 0.03}]
    message = refused(row(relevant=["a"], retrieved=odd))
    assert message.startswith(f"{LIST}, query 'q', result 1: the rank is 0.06, but ranks are whole")
    twice = [{"id": "b", "similarity": 0.2, "rerank_score": 2}]
    assert refused(row(relevant=["a"], retrieved=twice)) == (
        f'{LIST}, query \'q\': the results have "similarity" and "rerank_score", '
        "which could both be the score; leave one out."
    )


@pytest.mark.parametrize(
    "results",
    [
        [["b", 0.5], ["a", 0.25]],
        [("b", 0.5), ("a", 0.25)],
        [{"id": "b", "score": 0.5}, {"id": "a", "score": 0.25}],
        [{"doc_id": "b", "similarity": 0.5}, {"doc_id": "a", "similarity": 0.25}],
        [{"_id": "b", "_score": 0.5}, {"_id": "a", "_score": 0.25}],
        {"b": 0.5, "a": 0.25},
        '[["b", 0.5], ["a", 0.25]]',
        "[('b', 0.5), ('a', 0.25)]",
    ],
)
def test_results_with_scores(results: Any) -> None:
    assert frames(row(gold=["a"], hits=results))[1] == [("q", "b", 0.5), ("q", "a", 0.25)]


def test_lists_that_are_empty_or_missing() -> None:
    given = [
        {"query": "a", "relevant": [], "retrieved": ["x"]},
        {"query": "b", "relevant": ["x"], "retrieved": []},
        {"query": "c", "relevant": ["x"], "retrieved": None},
        {"query": "d", "relevant": ["x"], "retrieved": ["x"]},
    ]
    for form in (given, pl.DataFrame(given), pl.DataFrame(given).to_pandas()):
        rankings = judged.Rankings.from_run(form)
        assert rankings.queries == ("a", "b", "c", "d")
        assert rankings.retrieved.tolist() == [1, 0, 0, 1]
        assert rankings.missing.tolist() == [False] * 4
        assert rankings.audit is not None
        assert rankings.audit.nothing_relevant == 1


def test_rows_without_a_query_are_numbered() -> None:
    given = [{"relevant": ["a"], "retrieved": ["a"]}] * 2
    judgements, _, notes = frames(given)
    assert [query for query, *_ in judgements] == ["1", "2"]
    assert notes[0] == f"{LIST}: no column is the query, so that rows are numbered from 1."


def test_whole_texts_are_warned_of() -> None:
    text = "A context that is a whole sentence, and long enough to be no id."
    with pytest.warns(JudgedWarning, match="Items are whole texts") as warned:
        found = judged.evaluate(row(reference_contexts=[text], contexts=["x", text]), None, "RR")
    assert found.value("RR") == 0.5
    assert str(warned[0].message) == (
        'Items are whole texts, such as "A context that is a whole sentence, and…": only a '
        "retrieved text that is the same, character by character, counts as relevant. Where there "
        "are ids, name their columns."
    )


def test_ids_of_two_kinds_are_warned_of() -> None:
    given = row(relevant=["chunk-7"], retrieved=["A text.", "Another."])
    assert frames(given)[2][0] == Warned(
        'None of the relevant ids, such as "chunk-7", is among the retrieved ones, such as '
        '"A text.": are they ids of the same kind?'
    )


REFUSED: dict[str, tuple[list[dict[str, Any]], str]] = {
    "objects with two ids": (
        row(relevant=["a"], retrieved=[{"chunk_id": "a#1", "doc_id": "a"}]),
        f'{LIST}, query \'q\': the results have "doc_id" and "chunk_id", which '
        'could both be the id; call the one "id".',
    ),
    "two columns of relevant ids": (
        row(relevant=["a"], gold=["b"], retrieved=["a"]),
        f'{LIST}: the relevant ids may be column "relevant" or "gold". Say which: '
        "columns={'relevant': 'relevant'}.",
    ),
    "two columns of retrieved ids": (
        row(relevant=["a"], results=["b"], retrieved=["a"]),
        f'{LIST}: the retrieved ids may be column "results" or "retrieved". Say which: '
        "columns={'retrieved': 'results'}.",
    ),
    "too few scores": (
        row(relevant=["a"], retrieved=["b", "a"], scores=[1]),
        f'{LIST}, row 1: 2 ids in column "retrieved", but 1 score in column "scores"; give one for '
        "each.",
    ),
    "a score that is missing": (
        row(relevant=["a"], retrieved=["b", "a"], scores=[1, None]),
        "item 'a' of query 'q' has None where a score should be; give a number.",
    ),
    "scores twice": (
        row(relevant=["a"], retrieved=[["b", 1]], scores=[1]),
        f'{LIST}: the score may be column "retrieved" or "scores". Say which: '
        "columns={'score': 'retrieved'}.",
    ),
    "a grade that is infinite": (
        row(relevant=["a"], retrieved=["b"], grades=[float("inf")]),
        f"{LIST}: the grade of item 'a' for query 'q' is inf; grades must be finite numbers.",
    ),
    "no list": (
        row(relevant=None, retrieved=["b"]),
        f'{LIST}, row 1: the relevant ids are missing (column "relevant"); write [] where nothing '
        "is relevant.",
    ),
    "a text": (
        row(relevant="a", retrieved=["b"]),
        f'{LIST}, row 1: column "relevant" holds "a", which is no list; write lists '
        'as JSON: ["a", "b"].',
    ),
    "ids with separators": (
        row(gold_ids="a;b", retrieved=["b"]),
        f'{LIST}, row 1: column "gold_ids" holds "a;b", which is no list; write '
        'lists as JSON: ["a", "b"].',
    ),
    "a list as numpy prints it": (
        row(relevant=["a"], retrieved="['a' 'b']"),
        f"{LIST}, row 1: column \"retrieved\" holds \"['a' 'b']\", which is no list; write lists "
        'as JSON: ["a", "b"].',
    ),
    "a number": (
        row(relevant=1, retrieved=["b"]),
        f'{LIST}, row 1: column "relevant" holds "1", which is no list of ids; write ["1"] for '
        "one.",
    ),
    "flags": (
        row(relevant=[0, 1, 1], retrieved=["a", "b", "c"]),
        f'{LIST}, row 1: column "relevant" holds "[0, 1, 1]", which says of each result whether it '
        "is relevant, not the ids of relevant items; judged.Rankings.from_relevance reads such "
        "lists.",
    ),
    "truths": (
        row(relevant=[True], retrieved=["a"]),
        f'{LIST}, row 1: column "relevant" holds "[True]", which says of each result whether it is '
        "relevant, not the ids of relevant items; judged.Rankings.from_relevance reads such lists.",
    ),
    "a set of results": (
        row(relevant={"a"}, retrieved={"a", "b"}),
        f'{LIST}, row 1: column "retrieved" holds a set, which has no order; give a list, best '
        "first.",
    ),
    "one object": (
        row(relevant={"id": 1}, retrieved=["a"]),
        f'{LIST}, row 1: column "relevant" holds "{{\'id\': 1}}"; write a list of ids, or '
        "{id: grade}.",
    ),
    "scores of relevant items": (
        row(relevant=[{"id": "a", "score": 0.5}], retrieved=["a"]),
        f"{LIST}, query 'q': the items have \"score\", which may be the score of a "
        'search; call it "grade" where it is one, or leave it out.',
    ),
    "the same query twice": (
        row(relevant=["a"], retrieved=["a"]) * 2,
        f'{LIST}: row 1 and row 2 have the same query, "q"; give each query one row, or say with '
        "columns={'query': …} which column tells them apart.",
    ),
    "a query that is missing": (
        [{"query": None, "relevant": ["a"], "retrieved": ["a"]}],
        f'{LIST}, row 1: the query is missing (column "query").',
    ),
    "an item twice": (
        row(relevant=["a"], retrieved=["b", "b"]),
        f"{LIST}: query 'q' has item 'b' more than once. Remove the repetitions, or keep "
        "the best-ranked of each with duplicates='first'.",
    ),
}


@pytest.mark.parametrize(("given", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(given: Any, message: str) -> None:
    assert refused(given) == message


def test_judgements_alone() -> None:
    needed = (
        "judgements and a run are needed, in this order. One table can hold both: with columns for "
        "the query, its relevant ids and its retrieved ids, or for query, item, label and score."
    )
    assert refused({"q": {"a": 1}}) == needed
    assert refused(5) == needed
    assert refused([{"query": "q", "doc_id": "a", "rel": 1}]) == (
        f'{needed} The columns are "query", "doc_id", "rel". Understood are, for example, query: '
        "query_id, question_id, query, question, user_input; relevant: relevant, relevant_ids, "
        "expected_ids, reference_context_ids, gold, ground_truth; retrieved: retrieved, "
        "retrieved_ids, retrieved_context_ids, predictions, results. Name others by "
        "columns={'relevant': …, 'retrieved': …}."
    )


def test_lines_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [{"query": f"q{n}", "gold": ["a"], "retrieved": ["a"]} for n in range(3)]
    lines[2]["gold"] = None  # type: ignore[assignment]
    Path("r.jsonl").write_text("\n\n".join(map(json.dumps, lines)))
    assert refused("r.jsonl") == (
        'r.jsonl, line 5: the relevant ids are missing (column "gold"); write [] where nothing is '
        "relevant."
    )
    Path("r.csv").write_text('query,gold,retrieved\nq1,"[""a""]","[""a""]"\nq2,"[""a""]",a b\n')
    assert refused("r.csv") == (
        'r.csv, line 3: column "retrieved" holds "a b", which is no list; write '
        'lists as JSON: ["a", "b"].'
    )
    Path("r.csv").write_text("query,gold,retrieved\nq1,[a,b],[a]\n")
    assert refused("r.csv") == (
        'r.csv, line 2: expected 3 fields, found 4: "q1 [a b] [a]". Put a cell with a separator in '
        "it between quotation marks."
    )


def test_columns_that_somebody_named() -> None:
    given = row(truth=["a"], bm25=["b", "a"], dense=["a", "b"], retrieved=["x"])
    for column, value in (("bm25", 0.5), ("dense", 1.0)):
        columns = {"relevant": "truth", "retrieved": column}
        assert judged.evaluate(given, None, "RR", columns=columns).value("RR") == value
    assert refused(given, columns={"relevant": "truht", "retrieved": "bm25"}).startswith(
        "judgements and a run are needed"
    )
    assert refused(row(gold=["a"], retrieved=["a"]), columns={"query": "qid"}) == (
        'columns, query=qid: there is no column "qid". a list of rows has the columns "query", '
        '"gold", "retrieved"; a list of rows has the columns "query", "gold", "retrieved".'
    )


def test_rows_of_several_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def write(name: str, gold: list[str], retrieved: list[str]) -> None:
        Path(name).write_text(json.dumps(row(gold=gold, retrieved=retrieved)[0]) + "\n")

    write("a.jsonl", ["x", "y"], ["z", "x"])
    write("b.jsonl", ["y", "x"], ["x", "z"])
    write("c.jsonl", ["x"], ["x", "z"])
    found = judged.evaluate("a.jsonl", ["b.jsonl"], "RR")
    assert {name: found.value("RR", run=name) for name in ("a", "b")} == {"a": 0.5, "b": 1.0}
    named = judged.evaluate("first=a.jsonl", ["second=b.jsonl"], "RR")
    assert [run["name"] for run in named.to_dict()["runs"]] == ["first", "second"]
    assert refused("a.jsonl", ["c.jsonl"]) == (
        "a.jsonl and c.jsonl do not agree on what is relevant to query 'q'. "
        "Runs are compared on the same judgements."
    )
    # Beside judgements of their own, only their results are read, and that is said.
    other = judged.evaluate({"q": {"z": 1}}, "c.jsonl", "RR")
    assert other.value("RR") == 0.5
    assert 'c.jsonl: column "gold" was not read; judgements were given.' in other.audit["c"].notes


# Rows with a label and a score, as scikit-learn takes them


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
    table.select(y_true="label", y_score="predicted_score").write_csv("y.csv")
    flags = table.to_pandas().assign(label=table["label"].to_pandas() == 1)
    flags.to_csv("flags.csv", index=False)
    columns = table.to_dict(as_series=False)
    for given in (*every_form(table).values(), "t.csv", "y.csv", "flags.csv", flags, columns):
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
    tied = scores // 10  # in rows of queries and in one row, ties break alike
    flat = judged.evaluate_scores(labels.ravel(), tied.ravel(), "nDCG", query=queries)
    assert flat.value() == judged.evaluate_scores(labels, tied, "nDCG").value()


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
