"""What notebooks show of each result: what matters first, words at the left, details folded, and
nothing that a name could break out of."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import judged
from judged.cli.doctor import Installation, Package
from judged.results import Result
from judged.text import SHORT, html_page

EVIL = "<i>q</i>"
JUDGEMENTS = {EVIL: {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1, "d": 1}}
RUNS = {
    "<b>good": {EVIL: {"c": 3.0, "a": 2.0, "x": 1.0}, "q2": {"d": 2.0, "a": 1.0}},
    "weak": {EVIL: {"b": 3.0, "a": 2.0, "c": 1.0}, "q2": {"b": 2.0, "a": 1.0}},
}
LEFT = ' style="text-align:left"'
pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore::judged.JudgedWarning")]


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


GOOD, WEAK = RUNS.values()
OTHERS = {EVIL: {"a": 0, "b": 0, "c": 2}, "q2": {"a": 1, "d": 0}}
VECTORS = judged.Embeddings([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.1], [1.0, 0.1], [0.0, 2.0]])
SAME = judged.relevance.same_label(["u", "v"], ["u", "u", "v"])
# Of 30 queries the third run gets every other one wrong, the second one of them.
THIRTY = {str(query): {"a": 1} for query in range(30)}
THREE = {
    "first run": {query: ["a", "b"] for query in THIRTY},
    "second run": {query: ["b", "a"] if query == "7" else ["a", "b"] for query in THIRTY},
    "third run": {q: ["b", "a"] if int(q) % 2 else ["a", "b"] for q in THIRTY},
}


def always_the_first(block: Any, k: int, ef: int = 1) -> tuple[Any, Any]:
    first = np.tile(np.arange(k), (len(block), 1))
    return first, np.tile(np.arange(k, 0, -1.0), (len(block), 1))


MADE: dict[str, Callable[[], Any]] = {
    "evaluation": lambda: judged.evaluate(JUDGEMENTS, RUNS, "RR, nDCG@2"),
    "intervals": lambda: judged.evaluate(JUDGEMENTS, RUNS, "RR").showing(intervals=True),
    "comparison": lambda: judged.compare(JUDGEMENTS, RUNS, "nDCG@2"),
    "three": lambda: judged.compare(THIRTY, THREE, "RR", baseline="first run"),
    "orders": lambda: judged.compare(THIRTY, THREE, "RR, P@1").orders(),
    "explanation": lambda: judged.explain(JUDGEMENTS, GOOD, "nDCG@2", query=EVIL),
    "identification": lambda: judged.identify("0.5", JUDGEMENTS, GOOD, "RR, AP"),
    "disagreement": lambda: judged.compare_conventions(JUDGEMENTS, GOOD, "RR@2"),
    "diagnosis": lambda: VECTORS.diagnose(),
    "advice": lambda: judged.advise(JUDGEMENTS, RUNS),
    "installation": lambda: Installation(
        {"system": EVIL},
        (Package("judged", "numpy", "1.26", "2.0", None), Package("web", EVIL, "1", None, None)),
        (),
    ),
    "index": lambda: VECTORS.evaluate_index(always_the_first, SAME, "Success@1", k=2),
    "plan": lambda: judged.plan(difference=0.02, sd=0.1),
    "overlap": lambda: judged.overlap(RUNS),
    "gate": lambda: judged.gate(THIRTY, THREE["third run"], "RR", baseline=THREE["first run"]),
    "agreement": lambda: judged.agreement(JUDGEMENTS, OTHERS),
    "merged": lambda: judged.merge_judgements({"<b>good": JUDGEMENTS, "other": OTHERS}),
    "queue": lambda: judged.queue(JUDGEMENTS, RUNS),
    "check": lambda: judged.check(JUDGEMENTS, RUNS),
    "fusion": lambda: judged.fuse(RUNS),
    "sweep": lambda: judged.temperature.sweep(VECTORS, SAME, [0.1, 1.0]),
}


@pytest.fixture(scope="module")
def shown() -> dict[str, str]:
    return {name: make()._repr_html_() for name, make in MADE.items()}


def rows(page: str) -> list[list[str]]:
    """The cells of all tables, as they stand there."""
    found = re.findall("<tr>(.*?)</tr>", page, re.DOTALL)
    return [re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL) for row in found]


@pytest.mark.parametrize("name", list(MADE))
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
    assert "<details><summary>definitions and notes</summary>" in page


def test_values_beside_intervals_are_marked_too(shown: dict[str, str]) -> None:
    page = shown["intervals"]
    assert f"<td{LEFT}>&lt;b&gt;good</td>" in page
    assert page.count("<td><b>") == 1
    assert "<td><b>1.0000</b></td>" in page


def test_what_the_audit_found_is_folded() -> None:
    page = judged.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}, "p": {"z": 1.0}}, "RR")._repr_html_()
    folded = page.partition("<details><summary>definitions and notes</summary>")[2]
    assert "<li>note: 1 query of the run without judgements ignored.</li>" in folded


def test_an_explanation_begins_with_value_and_query(shown: dict[str, str]) -> None:
    # Grades 2 and 1 in the best order.
    assert shown["explanation"].startswith(
        "<p><b>nDCG@2 (Normalised discounted cumulative gain) for query &lt;i&gt;q&lt;/i&gt; of "
        "run: 1.0000</b>"
    )
    assert f"<td{LEFT}><b>c</b></td><td><b>2</b></td>" in shown["explanation"]
    assert "nDCG@2 = DCG@2 / IDCG@2 = " in shown["explanation"]


def test_the_query_of_rankings_is_named_though_items_have_no_ids() -> None:
    rankings = judged.Rankings.from_run(JUDGEMENTS, RUNS["weak"])
    e = judged.explain(rankings, measure="RR", query="q2")
    assert e._repr_html_().startswith("<p><b>RR (Reciprocal rank) for query q2 of run: 0.5000</b>")
    assert (
        judged.explain("0 1", measure="RR")
        ._repr_html_()
        .startswith("<p><b>RR (Reciprocal rank): 0.5000</b>")
    )


def test_an_identification_says_what_fits_first(shown: dict[str, str]) -> None:
    page = shown["identification"]
    assert page.startswith("<p><b>8 explanations fit 0.5, the likeliest first.</b></p><table>")
    assert f"<th{LEFT}>definition</th>" in page
    assert "No effect here: ties" in page.partition("<details>")[2]


def test_an_identification_of_nothing_has_no_rows_that_fit() -> None:
    found = judged.identify("0.987654", JUDGEMENTS, RUNS["weak"], "RR")
    assert found._repr_html_().startswith("<p><b>No definition gives 0.987654.")


def test_a_disagreement_has_a_heading_for_each_measure(shown: dict[str, str]) -> None:
    page = shown["disagreement"]
    assert re.match(r"<p><b>RR@2: \d+ definitions", page)
    assert f"<td{LEFT}>RR@2" in page
    assert f"<th{LEFT}>choice</th>" in page
    assert "<li>Default policy: ties=id, " in page


def test_a_diagnosis_is_read_before_its_numbers(shown: dict[str, str]) -> None:
    page = shown["diagnosis"]
    assert page.startswith("<p><b>the items: 1 vector equal to an earlier one (0 = 1).</b></p>")
    assert "<li>Diagnosis by cosine</li>" in page


def test_every_result_with_tables_is_looked_at() -> None:
    """Those that are missing need learning, are pages and pictures of their own, lists as polars
    shows them, or what commands alone print."""

    def kinds(base: type) -> set[str]:
        found = {each for each in base.__subclasses__() if each.__module__.startswith("judged.")}
        return {each.__name__ for each in found}.union(*map(kinds, found))

    looked_at = {each.__name__ for make in MADE.values() for each in type(make()).__mro__}
    apart = {"Training", "Study", "Report", "Figure", "Chart", "Gallery", "TopK"}
    assert kinds(Result) - looked_at <= apart | {"LibraryList", "LibraryDescription"}


@pytest.mark.parametrize("name", sorted(MADE.keys() - {"diagnosis"}))  # it has no table
def test_numbers_stand_right_and_short_cells_are_never_broken(
    shown: dict[str, str], name: str
) -> None:
    cells = [cell for row in rows(shown[name]) for cell in row if cell.startswith("<td")]
    assert cells
    for cell in cells:
        text = re.sub("<.*?>", "", cell)
        broken = len(text) <= SHORT and re.search(r"[\s/-]", text)
        assert ("white-space:nowrap" in cell) == bool(broken), cell
        if name != "identification" and re.fullmatch(r"[+−-]?\d+\.\d{4}", text):
            assert "text-align:left" not in cell


def test_of_several_runs_the_best_and_those_not_significantly_worse_are_bold(
    shown: dict[str, str],
) -> None:
    # 29.5 of 30, and 22.5 of 30.
    page = shown["three"]
    assert "<td><b>1.0000</b></td>" in page
    assert "<td><b>0.9833</b></td>" in page
    assert "<td>0.7500</td>" in page
    assert (
        "Bold values: the best run, and those not significantly worse than it (all 3 pairs "
        "tested, Holm over 3)." in page
    )


def test_nothing_is_bold_where_nothing_is_shown(shown: dict[str, str]) -> None:
    assert "<td><b>" not in shown["comparison"]
    assert "Bold values:" not in shown["comparison"]


def test_markdown_marks_the_same_values_and_says_why() -> None:
    text = MADE["three"]().to_markdown()
    assert "| first run | **1.0000** |" in text
    assert "| third run | 0.7500 |" in text
    assert "- Bold values: the best run" in text


def test_a_comparison_folds_what_was_found_in_the_data() -> None:
    run = {"q": ["a"], "p": ["a"]}
    page = judged.compare({"q": {"a": 1}}, {"one": run, "two": run}, "RR")._repr_html_()
    folded = page.partition("<details>")[2]
    assert "1 query of the run without judgements ignored." in folded


def test_a_gate_says_first_whether_it_passed(shown: dict[str, str]) -> None:
    page = shown["gate"]
    assert page.startswith("<p><b>FAILED: RR fell from 1.000 to 0.750 (significant); ")
    assert page.count("FAILED: RR") == 1
    assert "<details><summary>Queries that lost most</summary><table>" in page
    passed = judged.gate(THIRTY, THREE["first run"], "RR", baseline=THREE["first run"])
    assert passed._repr_html_().startswith("<p><b>PASSED: no significant drop in RR.</b></p>")
    assert "<details>" not in passed._repr_html_().partition("<ul>")[0]


def test_a_plan_answers_first_and_folds_its_formulas(shown: dict[str, str]) -> None:
    page = shown["plan"]
    assert page.startswith("<p><b>You need 199 queries to detect a difference of 0.02 ")
    assert "noncentral" in page.partition("<details>")[2]
    assert "noncentral" not in page.partition("<details>")[0]


@pytest.mark.parametrize("name", ["plan", "overlap", "queue", "agreement", "index", "orders"])
def test_what_text_says_when_asked_is_folded(shown: dict[str, str], name: str) -> None:
    page = shown[name]
    assert "<details><summary>definitions and notes</summary><ul><li>" in page
    assert "verbose (-v)" not in page


def test_all_that_text_says_stands_in_the_page(shown: dict[str, str]) -> None:
    for name in ("plan", "overlap", "queue", "agreement", "orders", "gate", "merged", "fusion"):
        found = MADE[name]()
        for text in found.sentences():
            assert text in html.unescape(shown[name]), (name, text)


def test_a_page_of_a_file_sets_numbers_right_too(shown: dict[str, str]) -> None:
    assert "th, td { padding: 0.2em 1.2em 0.2em 0; text-align: right; }" in html_page(
        shown["evaluation"]
    )


def test_what_fails_or_is_missing_stands_out(shown: dict[str, str]) -> None:
    assert f"<td{LEFT}><b>regression</b></td>" in shown["gate"]
    assert f"<td{LEFT}><b>missing</b></td>" in shown["installation"]
    assert f"<td{LEFT}>ok</td>" in shown["installation"]
