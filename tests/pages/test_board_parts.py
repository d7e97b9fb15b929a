"""The leaderboard and the compare panel as HTML: every number is there, and nothing runs."""

from __future__ import annotations

import re

import judged
from judged.web.pages.boards import board
from judged.web.pages.pairs import panel
from judged.web.pages.templating import environment
from judged.web.views.compare import largest_differences

HOSTILE = "<script>alert(1)</script>{{7*7}}\"'"
JUDGEMENTS = {str(q): {"a": 1, "b": 0} for q in range(12)} | {HOSTILE: {"a": 1}}
RUNS = {
    "good": {query: ["a", "b"] for query in JUDGEMENTS},
    HOSTILE: {query: ["x", "b", "a"] for query in JUDGEMENTS},
}


def rendered(text: str, **context: object) -> str:
    source = f'{{% from "parts/boards.html" import {", ".join(NAMES)} %}}{text}'
    return environment().from_string(source).render(**context)


NAMES = ("leaderboard", "board_table", "compare_panel", "differing_table", "line")


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", page))


def test_the_table_has_every_number_and_its_interval() -> None:
    found = judged.evaluate(JUDGEMENTS, RUNS, "RR, P@1").showing(intervals=True)
    page = rendered("{{ leaderboard(it) }}", it=board(found, found.compare()))
    assert page.count("<tr>") == 3
    assert "1.0000" in text_of(page)
    assert "0.3333" in text_of(page)
    assert page.count('scope="row"') == 2
    assert 'type="checkbox"' not in page


def test_names_run_nothing() -> None:
    found = judged.evaluate(JUDGEMENTS, RUNS, "RR").showing(intervals=True, unjudged_range=True)
    compared = found.compare()
    view = board(found, found.compare(baseline="good"), ranges=found)
    page = rendered(
        "{{ line(it.heading) }}{{ board_table(it, pick=[]) }}{{ compare_panel(panel) }}"
        "{{ differing_table(extremes, panel.pair, open=open) }}",
        it=view,
        panel=panel(compared),
        extremes=largest_differences(compared),
        open=lambda query: f"/query?query={query}",
    )
    assert "<script" not in page
    assert "{{7*7}}" in page
    assert 'style="' not in page


def test_sorted_columns_say_so() -> None:
    found = judged.evaluate(JUDGEMENTS, RUNS, "RR, P@1")

    def sort(column: str) -> dict[str, str | None]:
        return {"href": f"?sort={column}", "direction": "descending" if column == "RR" else None}

    page = rendered("{{ board_table(it, sort=sort) }}", it=board(found), sort=sort)
    assert page.count('aria-sort="descending"') == 1
    assert page.count('aria-sort="none"') == 3


def test_the_panel_shows_what_is_known_of_a_pair() -> None:
    compared = judged.evaluate(JUDGEMENTS, RUNS, "RR").compare()
    words = text_of(rendered("{{ compare_panel(it) }}", it=panel(compared)))
    assert "−0.667" in words
    assert "better, equal, worse0 · 0 · 13" in words
    assert "detectable difference" in words
