"""Drawings for pages: small, safe, side by side, and with links."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from judged import Rankings, charts, compare_values
from judged.charts.svg import tidy
from judged.errors import InputError
from support.hostile import NAMES, SCRIPTS, drawn

SPACE = "{http://www.w3.org/2000/svg}"
GEOMETRY = ("d", "transform", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "viewBox")
PLAIN = {
    "svg",
    "g",
    "a",
    "title",
    "path",
    "rect",
    "circle",
    "line",
    "text",
    "tspan",
    "defs",
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
    for name, make in drawn(NAMES[::4], theme="page"):
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


def test_a_style_becomes_attributes() -> None:
    given = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
    given += '<path style="fill: red; stroke-width: 2.123" d="M0,0h1"/></svg>'
    [path] = ElementTree.fromstring(tidy(given, label="x"))
    assert path.attrib == {"fill": "red", "stroke-width": "2.12", "d": "M0,0h1"}


def test_a_drawing_has_a_name_and_says_what_it_is() -> None:
    root = ElementTree.fromstring(charts.cmc(pair("a"), title='a "b" <c>').to_svg())
    assert (root.get("role"), root.get("aria-label")) == ("img", 'a "b" <c>')


def links(svg: str) -> list[tuple[str | None, str | None]]:
    return [
        (each.get("href"), title.text)
        for each in ElementTree.fromstring(svg).iter(f"{SPACE}a")
        for title in each.iter(f"{SPACE}title")
    ]


@pytest.mark.parametrize("theme", ["light", "page"])
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


def test_marks_of_forest_and_systems_are_links_too() -> None:
    values = {"old": {str(q): q / 32 for q in range(9)}, "new": {str(q): 0.5 for q in range(9)}}
    comparison = compare_values(values, measure_name="quality")
    assert links(charts.forest(comparison).to_linked_svg(lambda row: row["run"])) == [
        ("new", "quality, new minus old: +0.3750 (+0.3092 … +0.4408), better")
    ]
    found = links(charts.systems(comparison).to_linked_svg(lambda row: f"/{row['run']}"))
    assert sorted(href or "" for href, _ in found) == ["/new", "/old"]


def test_words_and_tab_stops_can_be_chosen() -> None:
    chart = charts.scatter(pair("q1"), measure="RR")
    svg = chart.to_linked_svg(lambda row: "#x", words=lambda row: "<b>", tab_stops=False)
    assert '<a href="#x" tabindex="-1">' in svg
    assert "<title>&lt;b&gt;</title>" in svg


def test_many_queries_in_a_bar_are_no_link() -> None:
    lists = [[1, 0] if at % 2 else [0, 1] for at in range(700)]
    a = Rankings.from_relevance(lists, name="a")
    b = Rankings.from_relevance(lists[1:] + lists[:1], name="b")
    chart = charts.differences([a, b], measure="RR")
    svg = chart.to_linked_svg(lambda row: row["query"] and f"?query={row['query']}")
    assert len(links(svg)) == chart.data["query"].drop_nulls().len()
    assert "2 queries, on average: +0.5000" in svg or "3 queries, on average: +0.5000" in svg


def test_hostile_queries_are_only_words() -> None:
    chart = charts.differences(pair(*SCRIPTS), measure="RR", theme="page")
    svg = chart.to_linked_svg(lambda row: "?query=x", words=lambda row: row["query"])
    tags = {each.tag.removeprefix(SPACE) for each in ElementTree.fromstring(svg).iter()}
    assert tags <= PLAIN
    assert sorted(words or "" for _, words in links(svg)) == sorted(SCRIPTS)


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
    with pytest.raises(InputError) as refused:
        charts.scatter(pair("q"), measure="RR").to_linked_svg(lambda row: address)
    assert str(refused.value) == (
        "a link must be a relative address, or one that begins with http:// or https://; got "
        f"{address!r}."
    )


@pytest.mark.parametrize(
    "address", ["?q=a:b", "#a", "/x?y=1&z=2", "query/1", "https://example.org/a"]
)
def test_an_address_that_leads_somewhere(address: str) -> None:
    svg = charts.scatter(pair("q"), measure="RR").to_linked_svg(lambda row: address)
    assert links(svg)[0][0] == address


def test_a_chart_whose_marks_are_no_rows() -> None:
    with pytest.raises(InputError) as refused:
        charts.cmc(pair("q")).to_linked_svg(lambda row: "x")
    assert str(refused.value) == (
        "the marks of cmc do not stand for rows of its table, so that they cannot be links; take "
        "to_svg."
    )
