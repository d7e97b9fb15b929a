"""What notebooks show of each result: what matters first, words at the left, details folded, and
nothing that a name could break out of."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

import judged

EVIL = "<i>q</i>"
JUDGEMENTS = {EVIL: {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1, "d": 1}}
RUNS = {
    "<b>good": {EVIL: {"c": 3.0, "a": 2.0, "x": 1.0}, "q2": {"d": 2.0, "a": 1.0}},
    "weak": {EVIL: {"b": 3.0, "a": 2.0, "c": 1.0}, "q2": {"b": 2.0, "a": 1.0}},
}
LEFT = ' style="text-align:left"'
pytestmark = pytest.mark.filterwarnings("ignore::judged.JudgedWarning")


class Elements(HTMLParser):
    """Which elements there are; all that are opened are closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def results() -> dict[str, Any]:
    good = RUNS["<b>good"]
    vectors = judged.Embeddings([[1.0, 0.0]], [[1.0, 0.1], [1.0, 0.1], [0.0, 2.0]])
    return {
        "evaluation": judged.evaluate(JUDGEMENTS, RUNS, "RR, nDCG@2"),
        "intervals": judged.evaluate(JUDGEMENTS, RUNS, "RR", interval=True),
        "comparison": judged.compare(JUDGEMENTS, RUNS, "nDCG@2"),
        "explanation": judged.explain(JUDGEMENTS, good, "nDCG@2", query=EVIL),
        "identification": judged.identify("0.5", JUDGEMENTS, good, "RR, AP"),
        "disagreement": judged.compare_conventions(JUDGEMENTS, good, "RR@2"),
        "diagnosis": vectors.diagnose(),
    }


@pytest.fixture(scope="module")
def shown() -> dict[str, str]:
    return {name: result._repr_html_() for name, result in results().items()}


@pytest.mark.parametrize("name", list(results()))
def test_it_is_whole_and_nothing_breaks_out(shown: dict[str, str], name: str) -> None:
    found = Elements(shown[name])
    assert found.open == []
    assert "i" not in found.found  # which only the query is called
    assert "script" not in found.found
    assert "<b>good" not in shown[name]


def test_the_best_run_is_marked_and_names_stand_left(shown: dict[str, str]) -> None:
    page = shown["evaluation"]
    assert f"<td{LEFT}>&lt;b&gt;good</td><td><b>1.0000</b></td><td><b>1.0000</b></td>" in page
    assert f"<td{LEFT}>weak</td><td>0.5000</td>" in page
    assert f"{LEFT}>run</th>" in page
    assert "<details><summary>definitions</summary>" in page


def test_values_beside_intervals_are_marked_too(shown: dict[str, str]) -> None:
    page = shown["intervals"]
    assert f"<td{LEFT}>&lt;b&gt;good</td>" in page
    assert page.count("<td><b>") == 1
    assert "<td><b>1.0000</b></td>" in page


def test_what_the_audit_found_is_folded() -> None:
    page = judged.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}, "p": {"z": 1.0}}, "RR")._repr_html_()
    assert (
        "<details><summary>what was found in the data</summary><ul><li>1 query of the run without "
        "judgements ignored.</li></ul></details>" in page
    )


def test_an_explanation_begins_with_value_and_query(shown: dict[str, str]) -> None:
    # Grades 2 and 1 in the best order.
    assert shown["explanation"].startswith(
        "<p><b>nDCG@2 (Normalised discounted cumulative gain) for query &lt;i&gt;q&lt;/i&gt; of "
        "run: 1.0000</b>"
    )
    assert f"<td{LEFT}><b>c</b></td><td><b>2</b></td>" in shown["explanation"]
    assert "<code>nDCG@2 = DCG@2 / IDCG@2 = " in shown["explanation"]


def test_the_query_of_rankings_is_named_though_items_have_no_ids() -> None:
    rankings = judged.judge(JUDGEMENTS, RUNS["weak"])
    e = judged.explain(rankings, measure="RR", query="q2")
    assert e._repr_html_().startswith("<p><b>RR (Reciprocal rank) for query q2 of run: 0.5000</b>")
    assert (
        judged.explain("0 1", measure="RR")
        ._repr_html_()
        .startswith("<p><b>RR (Reciprocal rank): 0.5000</b>")
    )


def test_an_identification_says_what_fits_first(shown: dict[str, str]) -> None:
    page = shown["identification"]
    assert page.startswith("<p><b>0.5</b>: ")
    assert f"<th{LEFT}>measure</th>" in page
    assert "<details><summary>how it was read and what was tried</summary>" in page


def test_an_identification_of_nothing_has_no_rows_that_fit() -> None:
    found = judged.identify("0.987654", JUDGEMENTS, RUNS["weak"], "RR")
    assert found._repr_html_().startswith("<p><b>0.987654</b>: Nothing that was tried gives")


def test_a_disagreement_has_a_heading_for_each_measure(shown: dict[str, str]) -> None:
    page = shown["disagreement"]
    assert re.match(r"<p><b>RR@2</b>: \d+ definitions", page)
    assert f"<td{LEFT}>RR@2" in page
    assert "<details><summary>what makes them differ</summary>" in page
    assert "policy, where a definition does not say otherwise: " in page


def test_a_diagnosis_is_read_before_its_numbers(shown: dict[str, str]) -> None:
    page = shown["diagnosis"]
    assert page.startswith("<pre>Diagnosis by cosine\n")
    assert "equal to an earlier one" in page.partition("<details>")[0]
    assert "<details><summary>all numbers</summary><table>" in page
