"""What a chart can be written as, how it shows itself, and what it says where the extra is
missing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import get_args

import pytest

from judged import JudgedError, MissingExtraError, OutputError, Rankings, charts
from judged.charts.canvas import Frame
from judged.charts.lines import end_labels, spread
from judged.charts.svg import THEMES, ThemeName, look_of

SIGNATURES = {
    ".png": b"\x89PNG",
    ".svg": b"<svg",
    ".pdf": b"%PDF",
    ".html": b"<!DOCTYPE html>",
    ".json": b"{",
    ".csv": b"run,",
    ".parquet": b"PAR1",
}


@pytest.fixture(scope="module")
def chart() -> charts.Chart:
    return charts.precision_recall(Rankings.from_relevance([[0, 0, 1, 0, 1, 0, 0, 1, 0, 0]]))


@pytest.mark.parametrize("ending", [*charts.Chart.SAVED_AS, ".parquet"])
def test_every_format_is_written(chart: charts.Chart, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"chart{ending}"
    chart.save(path)
    assert path.read_bytes().lstrip()[:20].startswith(SIGNATURES[ending])
    assert list(tmp_path.iterdir()) == [path]


def test_html_needs_no_network(chart: charts.Chart) -> None:
    page = chart.to_html()
    assert "<script src" not in page
    assert "cdn.jsdelivr.net" not in page
    assert len(page) > 300_000


def test_a_page_has_the_title_and_the_colour_of_its_chart() -> None:
    ranked = Rankings.from_relevance([[0, 1]], queries=["<a & b>"])
    page = charts.precision_recall(ranked, query="<a & b>", theme="dark").to_html()
    head = page.partition("<script")[0]
    assert '<html lang="en">' in head
    assert "<title>Precision and recall of run, query &lt;a &amp; b&gt;: AP 0.5000</title>" in head
    assert f"<style>body {{ background: {THEMES['dark'].background}; }}</style>" in head


def test_svg_holds_its_words_as_text(chart: charts.Chart) -> None:
    svg = chart.to_svg()
    assert all(
        f">{words}<" in svg
        for words in ("precision", "recall", "interpolated", "saw-tooth", "rank 3", chart.title)
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_themes_differ_in_their_background(theme: ThemeName) -> None:
    chart = charts.precision_recall(Rankings.from_relevance([[0, 1]]), theme=theme)
    assert THEMES[theme].background in chart.to_svg()


def test_themes_are_those_that_editors_offer() -> None:
    assert tuple(THEMES) == get_args(ThemeName)


def test_a_theme_that_does_not_exist() -> None:
    with pytest.raises(JudgedError) as refused:
        charts.precision_recall(Rankings.from_relevance([[0, 1]]), theme="grey")
    assert str(refused.value) == "theme must be one of light, dark, page; got 'grey'."


def test_an_ending_that_says_nothing(chart: charts.Chart) -> None:
    with pytest.raises(OutputError) as refused:
        chart.save("chart.gif")
    assert str(refused.value) == (
        "chart.gif: the ending says the format, and must be .png, .svg, .pdf, .html, .json, .csv "
        "or .parquet."
    )


def test_a_folder_that_is_not_there(chart: charts.Chart, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="there is no folder"):
        chart.save(tmp_path / "none" / "chart.png")


def test_notebooks_get_vega_lite_and_a_drawing(chart: charts.Chart) -> None:
    bundle = chart._repr_mimebundle_()
    for version in (5, 6):
        assert bundle[f"application/vnd.vegalite.v{version}+json"] == {
            **chart.spec,
            "$schema": f"https://vega.github.io/schema/vega-lite/v{version}.json",
        }
    assert bundle["text/html"].startswith("<figure><svg")
    assert bundle["text/plain"].startswith(
        "<Chart precision-recall: Precision and recall of run, query 1: AP 0.3694>"
    )


def test_json_is_the_specification(chart: charts.Chart) -> None:
    assert json.loads(chart.to_json()) == chart.spec


def test_a_chart_is_a_result(chart: charts.Chart) -> None:
    assert chart.to_dict() is chart.spec
    assert chart.to_frame() is chart.data
    assert chart.sentences() == list(chart.notes)
    # Words begin at the left, numbers end at the right; then the notes.
    small = charts.cmc(Rankings.from_relevance([[1], [0]], name="mine"))
    assert small.to_text() == (
        "run   queries  k   share\n"
        "mine        2  1  0.5000\n"
        "\n"
        "Share of 2 queries with a relevant item among the first k."
    )
    assert small.to_csv() == "run,queries,k,share\nmine,2,1,0.5\n"


def test_altair_takes_the_chart(chart: charts.Chart) -> None:
    assert chart.to_altair().to_dict()["title"] == chart.spec["title"]


HINT = 'pictures of charts need altair and vl-convert-python: pip install "judged[charts]".'


def test_without_the_extra_there_is_a_hint_and_the_data(
    chart: charts.Chart, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("vl_convert", "altair"):
        monkeypatch.setitem(sys.modules, module, None)
    for use in (chart.to_png, chart.to_svg, chart.to_pdf, chart.to_html, chart.to_altair):
        with pytest.raises(MissingExtraError) as refused:
            use()
        assert str(refused.value) == HINT
    bundle = chart._repr_mimebundle_()
    assert "text/html" not in bundle
    assert bundle["text/plain"].endswith(HINT)
    assert chart.data.height == 7
    assert chart.to_json()


def test_labels_keep_apart() -> None:
    assert spread([1.0, 1.0, 1.0], 0.1, 0, 1) == [1.0, 0.9, 0.8]
    assert spread([0.0, 0.0], 0.1, 0, 1) == [0.1, 0.0]
    assert spread([0.2, 0.8], 0.1, 0, 1) == [0.2, 0.8]


def test_labels_keep_apart_where_the_axis_is_symlog() -> None:
    # log(1 + 99) over 140 pixels: ten labels of 14 pixels fit, so the second is a tenth of the way
    # down, at 100^0.9 - 1.
    ends = [("first", 99.0), ("second", 99.0)]
    looks = [look_of(place, THEMES["light"]) for place in range(2)]
    frame = Frame(100, 140, {})
    made = end_labels(ends, looks, y={}, frame=frame, low=0, high=99, symlog=True)
    assert [row["at"] for row in made["data"]["values"]] == pytest.approx([99, 100**0.9 - 1])
