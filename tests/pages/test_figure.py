"""Charts as figures of a page."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from judged import charts
from judged.rankings.rankings import Rankings
from judged.web.pages.templating import figure

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def chart() -> charts.Chart:
    pytest.importorskip("vl_convert")
    of = Rankings.from_relevance([[0, 1, 0], [1, 0, 0]], queries=["a", "b"])
    return charts.cmc(
        [replace(of, name=HOSTILE), replace(of, name="bm25")], theme="page", width=380
    )


def test_title_and_notes_are_the_pages_own(chart: charts.Chart) -> None:
    html = figure(chart, heading=3)
    assert f"<h3>{chart.title}</h3>" in html
    assert all(f"<p>{note}</p>" in html for note in chart.notes)
    drawing = html[html.index("<svg") : html.index("</svg>")]
    assert f">{chart.title}<" not in drawing


def test_nothing_in_a_figure_is_a_colour_a_style_or_a_script(chart: charts.Chart) -> None:
    html = figure(chart)
    assert re.findall(r"#[0-9a-f]{6}\b|\sstyle=|<style|<script|\son\w+=", html) == []
    assert "var(--" in html


def test_the_data_are_a_folded_table(chart: charts.Chart) -> None:
    html = figure(chart, rows=None)
    rows = re.findall(r"<tr>(?!<th)", html)
    assert len(rows) == len(chart.data)
    assert "&lt;script&gt;" in html
    cut = figure(chart, rows=2)
    assert "The first 2 rows of 6." in cut
    assert len(re.findall(r"<tr>(?!<th)", cut)) == 2


def test_a_menu_only_where_there_are_links(chart: charts.Chart) -> None:
    assert "<summary aria-label" not in figure(chart)
    with_menu = figure(chart, menu=[{"text": "SVG", "href": "/chart.svg", "download": True}])
    assert '<a href="/chart.svg" download>SVG</a>' in with_menu


def test_marks_are_links() -> None:
    pytest.importorskip("vl_convert")
    a = Rankings.from_relevance([[1, 0], [0, 1]], queries=["q 1", "q&2"], name="a")
    b = Rankings.from_relevance([[0, 1], [1, 0]], queries=["q 1", "q&2"], name="b")
    drawn = charts.differences([a, b], theme="page", width=380)
    html = figure(drawn, link=lambda row: f"/query?id={row['query']}")
    assert html.count('<a href="/query?id=q') == 2
    assert 'role="group"' in html
