"""Drawing: designs, formats, notebooks, SVG for pages, and links."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, get_type_hints
from xml.etree import ElementTree

import pytest

from judged import Rankings, charts
from judged.charts.canvas import DESIGN, Canvas, Design
from judged.charts.lines import spread
from judged.charts.svg import DASHES, THEMES, tidy
from judged.errors import MissingExtraError, OutputError
from judged.evaluation.evaluation import evaluate_rankings
from judged.web.pages.templating import palette
from support import hostile
from support.errors import error_of
from support.hostile import SCRIPTS, drawn
from support.loops import for_each

# -- chart


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


def test_every_format_is_written(chart: charts.Chart, tmp_path: Path) -> None:
    for extension, signature in SIGNATURES.items():
        path = tmp_path / f"chart{extension}"
        chart.save(path)
        assert path.read_bytes().lstrip()[:20].startswith(signature)
    assert {path.suffix for path in tmp_path.iterdir()} == {*charts.Chart.SAVED_AS, ".parquet"}


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


def test_an_ending_that_says_nothing(chart: charts.Chart) -> None:
    with pytest.raises(OutputError) as refused:
        chart.save("chart.gif")
    assert str(refused.value) == (
        "chart.gif: the ending says the format, and must be .png, .svg, .pdf, .html, .json, .csv "
        "or .parquet."
    )


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


# -- canvas


NAMES = ("a", "a system with a long name", "third")
A = Rankings.from_relevance([[0, 1], [1, 0]], name="a")
B = Rankings.from_relevance([[1, 0], [1, 0]], name="b")


def kinds(**design: Any) -> dict[str, charts.Chart]:
    made = {name: make() for name, make in drawn(NAMES, **design)}
    return {name: chart for name, chart in made.items() if isinstance(chart, charts.Chart)}


def size(svg: str) -> tuple[int, int]:
    root = ElementTree.fromstring(svg)
    return int(root.get("width", "")), int(root.get("height", ""))


@pytest.fixture(scope="module")
def narrow() -> dict[str, tuple[charts.Chart, str]]:
    """Every kind as narrow as on a phone."""
    made = kinds(theme="page", width=360)
    return {name: (chart, chart.to_svg()) for name, chart in made.items()}


@pytest.mark.full
def test_a_chart_is_as_wide_as_it_is_asked_to_be(
    narrow: dict[str, tuple[charts.Chart, str]],
) -> None:
    wide = {name: size(svg)[0] for name, (_, svg) in narrow.items()}
    assert {name: found for name, found in wide.items() if found != 360} == {}


@pytest.mark.full
def test_a_wide_chart_is_about_as_high_as_it_is_asked_to_be() -> None:
    made = kinds(theme="page", width=760, height=700)
    found = {name: size(chart.to_svg()) for name, chart in made.items()}
    assert {name: wide for name, (wide, _) in found.items() if wide != 760} == {}
    assert {name: high for name, (_, high) in found.items() if not 560 <= high <= 740} == {}


def test_texts_keep_their_size(narrow: dict[str, tuple[charts.Chart, str]]) -> None:
    for _, svg in narrow.values():
        assert "scale(" not in svg
        assert set(re.findall(r'font-size="([\d.]+)"', svg)) <= {"11", "11.5", "12", "13", "24"}


def test_a_drawing_for_a_page_has_only_names_of_colours_and_neither_title_nor_notes(
    narrow: dict[str, tuple[charts.Chart, str]],
) -> None:
    for name, (chart, svg) in narrow.items():
        assert "title" not in chart.spec, name
        assert f">{chart.title}<" not in svg
        used = set(re.findall(r'(?:fill|stroke)="([^"]*)"', svg))
        assert used <= {"none", "transparent", *(f"var(--{token})" for token in palette())}, name


def test_pictures_cannot_have_names_of_colours() -> None:
    chart = charts.cmc(A, theme="page")
    for use in (chart.to_png, chart.to_pdf, chart.to_html):
        assert error_of(use) == (
            "the theme 'page' has names of colours, for an SVG inside a page; draw the chart with "
            "the theme light or dark."
        )


def test_the_themes_are_one_list_of_colours() -> None:
    for place, theme in enumerate((THEMES["light"], THEMES["dark"])):
        assert theme.ink == palette()["ink"][place]
        assert theme.background == theme.canvas == palette()["card"][place]
        assert theme.series == tuple(palette()[f"s{number}"][place] for number in range(1, 9))
    assert THEMES["page"].right == "var(--better)"


@pytest.mark.full
def test_title_and_notes_can_be_left_out_and_the_chart_still_has_them() -> None:
    for name, chart in kinds(title="Mine", notes=False).items():
        assert chart.spec["title"] == {"text": "Mine", "subtitle": []}, name
        assert chart.title == "Mine"
        assert chart.sentences() == list(chart.notes)
    bare = charts.cmc(A, title="", notes=False)
    assert bare.spec["title"] == {"text": "", "subtitle": []}
    assert bare.title == "Cumulative match characteristic"


def colours(chart: charts.Chart) -> dict[str, tuple[str, list[int]]]:
    [encoding] = [
        each["encoding"] for each in chart.spec["layer"] if "strokeDash" in each.get("encoding", {})
    ]
    scale = encoding["color"]["scale"]
    dashes = encoding["strokeDash"]["scale"]["range"]
    return dict(zip(scale["domain"], zip(scale["range"], dashes, strict=True), strict=True))


def test_a_system_keeps_its_look_whatever_else_is_shown() -> None:
    series = THEMES["light"].series
    looks = {"b": 3, "z": 0}
    assert colours(charts.cmc([A, B], looks=looks)) == {
        "a": (series[1], DASHES[1]),
        "b": (series[3], DASHES[3]),
    }
    assert colours(charts.cmc(B, looks=looks)) == {"b": (series[3], DASHES[3])}
    assert colours(charts.roc(_sized(B), looks=["a", "b"])) == {"b": (series[1], DASHES[1])}
    ninth = colours(charts.cmc(B, looks={"b": 8}))["b"]
    assert ninth == (series[0], DASHES[1])
    evaluation = evaluate_rankings([A, B], "RR")
    drawn = charts.systems(evaluation, looks={"a": 4, "b": 5}).spec["vconcat"][0]["data"]["values"]
    assert {row["name"]: row["shade"] for row in drawn} == {"a": series[4], "b": series[5]}


def _sized(ranked: Rankings) -> Rankings:
    return Rankings.from_relevance([[1, 0], [1, 0]], name=ranked.name, collection=2)


@for_each(
    "design, message",
    [
        ({"width": 20}, "width must be a whole number from 160 to 4,000; got 20."),
        ({"width": "wide"}, "width must be a whole number from 160 to 4,000; got 'wide'."),
        ({"height": 0}, "height must be a whole number from 80 to 4,000; got 0."),
        ({"title": 3}, "title must be a text; got 3."),
        ({"notes": "no"}, "notes must be True or False; got 'no'."),
        ({"looks": "a"}, "looks are given as {name: place}, or as a list of names; got str."),
        ({"looks": {"a": -1}}, "the look of a must be a whole number from 0; got -1."),
    ],
)
def test_a_design_that_is_none(design: Any, message: str) -> None:
    assert error_of(charts.cmc, A, **design) == message


def test_an_option_that_does_not_exist() -> None:
    with pytest.raises(TypeError) as refused:
        charts.cmc(A, colour="red")  # type: ignore[call-arg]
    assert str(refused.value) == (
        "a chart got an unexpected keyword argument 'colour'; its drawing has the options "
        "theme, width, height, title, notes, looks."
    )


def test_the_options_are_those_that_editors_offer() -> None:
    assert tuple(get_type_hints(Design)) == DESIGN
    assert {*DESIGN} - {"theme"} <= {*Canvas.__dataclass_fields__}


# -- svg


SPACE = "{http://www.w3.org/2000/svg}"
GEOMETRY = ("d", "transform", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "viewBox")
PLAIN = {
    *("svg", "g", "a", "title", "path", "rect", "circle", "line", "text", "tspan", "defs"),
    "clipPath",
}


def pair(*queries: str) -> list[Rankings]:
    lists = [[0] * at + [1] + [0] * (len(queries) - at) for at in range(len(queries))]
    others = [[0, *each[:-1]] for each in lists]
    return [
        Rankings.from_relevance(each, name=name, queries=list(queries))
        for name, each in (("old", others), ("new", lists))
    ]


def test_nothing_in_a_drawing_runs_styles_or_loads() -> None:
    for name, make in drawn(hostile.NAMES[::4], theme="page"):
        if name.startswith("gallery"):
            continue
        root = ElementTree.fromstring(make().to_svg())
        for each in root.iter():
            assert each.tag.removeprefix(SPACE) in PLAIN, name
            for attribute, value in each.attrib.items():
                assert attribute not in ("style", "href"), name
                assert not attribute.startswith("on"), name
                assert not attribute.endswith("}href"), name
                if "url(" in value:
                    assert value.startswith("url(#"), name


def test_ids_of_two_drawings_differ() -> None:
    one = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><defs><clipPath id="clip0"/>'
    )
    one += '</defs><g clip-path="url(#clip0)"><text>{}</text></g></svg>'
    first, second = (tidy(one.format(words), label="x") for words in "ab")
    ids = [re.findall(r'id="([^"]+)"', each) for each in (first, second)]
    assert ids[0] != ids[1]
    assert f'clip-path="url(#{ids[0][0]})"' in first


def test_coordinates_are_rounded_and_texts_are_not() -> None:
    words = "q 0.123456789"
    chart = charts.differences(pair(words, "b", "c"), measure="RR")
    svg = chart.to_svg()
    assert words in svg
    root = ElementTree.fromstring(svg)
    for each in root.iter():
        for name in GEOMETRY:
            assert not re.search(r"\.\d{3}", each.get(name, "")), (each.tag, name)


def test_a_drawing_has_a_name_and_says_what_it_is() -> None:
    root = ElementTree.fromstring(charts.cmc(pair("a"), title='a "b" <c>').to_svg())
    assert (root.get("role"), root.get("aria-label")) == ("img", 'a "b" <c>')


def links(svg: str) -> list[tuple[str | None, str | None]]:
    return [
        (each.get("href"), title.text)
        for each in ElementTree.fromstring(svg).iter(f"{SPACE}a")
        for title in each.iter(f"{SPACE}title")
    ]


@for_each("theme", ["light", "page"])
def test_every_bar_and_point_leads_to_its_query(theme: str) -> None:
    both = pair("q1", "q2", "q3")
    for draw in (charts.differences, charts.scatter):
        chart = draw(both, measure="RR", theme=theme)
        found = links(chart.to_linked_svg(lambda row: f"?query={row['query']}"))
        assert [href for href, _ in found] == [f"?query={query}" for query in chart.data["query"]]
        assert all(chart.data["query"][at] in (words or "") for at, (_, words) in enumerate(found))
    bars = charts.differences(both, measure="RR").to_linked_svg(lambda row: None)
    assert "<a " not in bars
    # 1 - 1/2, 1/2 - 1/3, 1/3 - 1/4
    assert re.findall(r"<title>([^<]*)</title>", bars) == [
        "q1: +0.5000",
        "q2: +0.1667",
        "q3: +0.0833",
    ]


def test_hostile_queries_are_only_words() -> None:
    chart = charts.differences(pair(*SCRIPTS), measure="RR", theme="page")
    svg = chart.to_linked_svg(lambda row: "?query=x")
    tags = {each.tag.removeprefix(SPACE) for each in ElementTree.fromstring(svg).iter()}
    assert tags <= PLAIN
    named = [(words or "").rpartition(": ")[0] for _, words in links(svg)]
    assert sorted(named) == sorted(SCRIPTS)


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        " javascript:alert(1)",
        "data:text/html,x",
        "//evil",
        "/\\evil",
        "a\tb",
        3,
    ],
)
def test_an_address_that_could_run_is_refused(address: str) -> None:
    assert error_of(charts.scatter(pair("q"), measure="RR").to_linked_svg, lambda row: address) == (
        "a link must be a relative address, or one that begins with http:// or https://; got "
        f"{address!r}."
    )


@pytest.mark.parametrize(
    "address", ["?q=a:b", "#a", "/x?y=1&z=2", "query/1", "https://example.org/a"]
)
def test_an_address_that_leads_somewhere(address: str) -> None:
    svg = charts.scatter(pair("q"), measure="RR").to_linked_svg(lambda row: address)
    assert links(svg)[0][0] == address


# -- room on a page


@for_each(
    "names", [("a", "b"), ("a-system-with-a-rather-long-name-1", "another-long-name-of-one-2")]
)
def test_on_a_page_the_plot_has_most_of_the_room(names: tuple[str, str]) -> None:
    both = [
        Rankings.from_relevance([[0, 1, 0, 1, 0, 1], [1, 1, 0, 0, 0, 1]], name=names[0]),
        Rankings.from_relevance([[1, 1, 0, 1, 0, 0], [1, 1, 0, 0, 1, 0]], name=names[1]),
    ]
    for draw in (charts.eleven_point, charts.measure_at_k, charts.precision_recall):
        chart = draw(both, theme="page", width=420)
        assert chart.spec["width"] >= 0.6 * 420, chart.kind
        assert 0.5 * 420 <= chart.spec["height"] <= 0.7 * 420
        svg = chart.to_svg()
        assert all(f">{name}" in svg for name in names)
    assert charts.measure_at_k(both, theme="page", width=420).title == (
        f"{names[1]} has the highest nDCG at all 6 cutoffs"
    )


def test_axes_cover_the_data() -> None:
    lists = [[1, 1, 1, 0]] * 3
    a, b = (Rankings.from_relevance(lists, name=name) for name in "ab")
    [line, *_] = charts.eleven_point([a, b]).spec["layer"]
    assert line["encoding"]["y"]["scale"]["domain"] == [0.9, 1.0]
    [line, *_] = charts.cmc([a, b]).spec["layer"]
    assert line["encoding"]["y"]["scale"]["domain"] == [0.8, 1.0]
