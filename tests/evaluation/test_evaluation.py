"""Evaluation: one return shape, its attributes, its exports."""

import json
from html import escape

import polars as pl
import pytest

from judged import Policy, evaluate
from support.evaluating import add_choices

JUDGEMENTS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2, "d": 1}, "q3": {"e": 1}}
GOOD = {"q1": {"a": 3.0, "b": 2.0}, "q2": {"c": 2.0, "d": 1.0}, "q3": {"x": 1.0, "e": 0.5}}
WEAK = {"q1": {"b": 3.0, "a": 2.0}, "q2": {"d": 2.0, "c": 1.0}}


@pytest.fixture
def both():
    return evaluate(JUDGEMENTS, {"good": GOOD, "weak": WEAK}, ["RR", "nDCG@10", "MedianRank"])


def test_one_run_and_several_have_the_same_shape(both):
    assert evaluate(JUDGEMENTS, GOOD, "RR").to_frame().rows() == [("run", 2.5 / 3)]
    # good: RR 1, 1, 1/2; weak: 1/2, 1, 0 (missing).
    assert both.to_frame()["run"].to_list() == ["good", "weak"]
    assert both.to_frame()["RR"].to_list() == [pytest.approx(2.5 / 3), pytest.approx(1.5 / 3)]
    # ranks of the first relevant item: 1, 1, 2 and 2, 1, infinite
    assert both.to_frame()["MedianRank"].to_list() == [1.0, 2.0]


def test_default_measures():
    columns = evaluate(JUDGEMENTS, GOOD).to_frame().columns
    assert columns == ["run", "AP", "nDCG@10", "RR", "P@10", "R@100"]


def test_per_query_is_null_where_a_query_does_not_count():
    frame = evaluate(JUDGEMENTS, WEAK, ["RR"], policy=Policy(missing="skip")).to_frame(
        per_query=True
    )
    assert frame.columns == ["run", "query", "RR"]
    assert frame.rows() == [("run", "q1", 0.5), ("run", "q2", 1.0), ("run", "q3", None)]


PARAGRAPH = (
    "Rankings were evaluated with judged 0.2.0. "
    "RR (Reciprocal rank): 1 divided by the rank of the first relevant item; 0 where there is none "
    "down to k. "
    "Here, an item is relevant from grade 1 on; the summary is the mean over the queries. "
    "P(rel=2)@1 (Precision): Share of the first k results that are relevant; a missing result "
    "counts as not relevant. "
    "Here, only the first result counts; an item is relevant from grade 2 on; a list shorter "
    "than k is still divided by k, "
    "as if filled up with irrelevant items; the summary is the mean over the queries. "
    "A query's value is its mean over all orders of the tied results, each equally likely. "
    "Judged queries that the run lacks are left out. A query with nothing relevant gets the worst "
    "value. "
    "Unjudged items count as not relevant. "
    "The mean of RR, P(rel=2)@1 over the orders of ties is exact. "
    "Only the first 5 results of each list were used. "
    "Summaries are over 2 of the 3 judged queries. "
    "References: E. M. Voorhees. The TREC-8 question answering track report. TREC-8, 1999, 77-82. "
    "C. D. Manning, P. Raghavan, H. Schütze. Introduction to Information Retrieval. Cambridge "
    "University Press, 2008, "
    "chapter 8. F. McSherry, M. Najork. Computing information retrieval performance measures "
    "efficiently in the presence of "
    "tied scores. ECIR 2008, LNCS 4956, 414-421."
)


def test_the_definition_of_several_measures_is_a_methods_paragraph():
    policy = {"ties": "expected", "missing": "skip"}
    evaluation = evaluate(
        JUDGEMENTS, WEAK, ["RR", "P(rel=2)@1"], policy=add_choices(policy, depth=5)
    )
    assert evaluation.definition() == PARAGRAPH
    assert evaluation.methods() == PARAGRAPH
    assert evaluate(JUDGEMENTS, WEAK, "RR").definition().startswith("RR (Reciprocal rank). ")


@pytest.mark.parametrize(
    ("runs", "measures", "policy", "population"),
    [
        ({"a": GOOD}, ["RR", "P@1"], {}, "all 3 judged queries"),
        (
            {"a": GOOD, "b": WEAK},
            ["RR", "P@1"],
            {"missing": "skip"},
            "3 (a), 2 (b) of the 3 judged queries",
        ),
        (
            {"a": GOOD},
            ["RR", "RR(rel=2)"],
            {"empty": "skip"},
            "3 (RR), 1 (RR(rel=2)) of the 3 judged queries",
        ),
        (
            {"a": GOOD, "b": WEAK},
            ["RR", "RR(rel=2)"],
            {"empty": "skip", "missing": "skip"},
            "1 to 3 of the 3 judged queries, which differ by run and measure",
        ),
    ],
)
def test_the_paragraph_says_how_many_queries_count(runs, measures, policy, population):
    text = evaluate(JUDGEMENTS, runs, measures, policy=policy).definition()
    assert f"Summaries are over {population}. " in text


def test_every_export_but_the_plain_lines_carries_the_definition(both, tmp_path):
    text = both.methods()
    assert both.to_dict()["definition"] == text
    assert f"- {text}" in both.to_markdown()
    comments = [
        line.removeprefix("% ") for line in both.to_latex().splitlines() if line.startswith("% ")
    ]
    assert " ".join(comments).endswith(text)
    assert escape(text) in both._repr_html_()
    assert both.to_pandas().attrs["definition"] == text
    both.save(tmp_path / "values.parquet")
    assert pl.read_parquet_metadata(tmp_path / "values.parquet")["definition"] == text
    assert "Rankings were evaluated" not in both.to_csv() + both.to_trec()


def test_exports_agree(both, tmp_path):
    data = json.loads(both.to_json(per_query=True))
    assert data == json.loads(json.dumps(both.to_dict(per_query=True)))
    assert data["runs"][1]["per_query"]["q3"] == {
        "RR": 0.0,
        "nDCG@10": 0.0,
        "MedianRank": "Infinity",
    }
    assert both.to_pandas().to_dict("list") == both.to_frame().to_dict(as_series=False)
    both.save(tmp_path / "values.parquet", per_query=True)
    assert pl.read_parquet(tmp_path / "values.parquet").equals(both.to_frame(per_query=True))
    assert [path.name for path in tmp_path.iterdir()] == ["values.parquet"]
    assert both.to_csv().splitlines()[0] == "run,RR,nDCG@10,MedianRank"


def test_evaluations_of_queries_in_another_order_are_joined_query_by_query() -> None:
    judgements = {"p": {"a": 1}, "q": {"a": 1}, "r": {"a": 1}}
    good = {query: ["a"] for query in "pqr"}
    runs = {"x": good | {"p": ["b", "a"]}, "y": good}
    one = evaluate(judgements, {"x": runs["x"]}, "RR")
    other = evaluate(dict(reversed(judgements.items())), {"y": runs["y"]}, "RR")
    both, together = one.beside(other), evaluate(judgements, runs, "RR")
    assert [run.queries for run in both.runs] == [("p", "q", "r")] * 2
    assert both.advise().to_dict() == together.advise().to_dict()
    assert both.compare().to_dict() == together.compare().to_dict()
