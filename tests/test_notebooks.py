"""What notebooks show of each result: what matters first, words at the left, details folded, and
nothing that a name could break out of."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import judged
from judged.cli.doctor import Installation, Package
from judged.results import Result
from judged.text import SHORT
from support.loops import for_each

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
    "explanations": lambda: judged.explain(JUDGEMENTS, GOOD, ["RR", "nDCG@2"], query=EVIL),
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


@for_each("name", MADE)
def test_it_is_whole_and_nothing_breaks_out(shown: dict[str, str], name: str) -> None:
    found = Elements(shown[name])
    assert found.open == []
    assert "i" not in found.found  # which only the query is called
    assert "script" not in found.found
    assert "<b>good" not in shown[name]


FOLDED = "<details><summary>definitions and notes</summary>"


def test_details_are_folded_and_said_once(shown: dict[str, str]) -> None:
    assert FOLDED in shown["evaluation"]
    assert shown["intervals"].count("<td><b>") == 1
    assert shown["gate"].count("FAILED: RR") == 1
    before, _, folded = shown["plan"].partition("<details>")
    assert "noncentral" in folded
    assert "noncentral" not in before
    assert "No effect here: ties" in shown["identification"].partition("<details>")[2]
    # Nothing is bold where no difference is significant.
    assert "<td><b>" not in shown["comparison"]
    assert "Bold values:" not in shown["comparison"]


def test_every_result_with_tables_is_looked_at() -> None:
    """Those that are missing need learning, are pages and pictures of their own, lists as polars
    shows them, what commands alone print, or have tests of their rendering in their own folders."""

    def kinds(base: type) -> set[str]:
        found = {each for each in base.__subclasses__() if each.__module__.startswith("judged.")}
        return {each.__name__ for each in found}.union(*map(kinds, found))

    looked_at = {each.__name__ for make in MADE.values() for each in type(make()).__mro__}
    apart = {"Training", "Study", "Report", "Figure", "Chart", "Gallery", "TopK"}
    apart |= {"Abstention", "Benchmark", "Funnel", "SpanEvaluation"}
    assert kinds(Result) - looked_at <= apart | {"LibraryList", "LibraryDescription"}


@for_each("name", sorted(MADE.keys() - {"diagnosis"}))  # it has no table
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
