"""How a chart is drawn, whatever it shows: colours, size, title, notes, looks of systems."""

from __future__ import annotations

import re
from typing import Any, get_type_hints
from xml.etree import ElementTree

import pytest

from judged import Rankings, charts
from judged.charts.canvas import DESIGN, Canvas, Design
from judged.charts.svg import DASHES, THEMES, TOKENS
from judged.errors import InputError
from support.hostile import drawn

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


def test_a_chart_is_as_wide_as_it_is_asked_to_be(
    narrow: dict[str, tuple[charts.Chart, str]],
) -> None:
    wide = {name: size(svg)[0] for name, (_, svg) in narrow.items()}
    assert {name: found for name, found in wide.items() if found != 360} == {}


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
        assert used <= {"none", "transparent", *(f"var(--{token})" for token in TOKENS)}, name


def test_pictures_cannot_have_names_of_colours() -> None:
    chart = charts.cmc(A, theme="page")
    for use in (chart.to_png, chart.to_pdf, chart.to_html):
        with pytest.raises(InputError) as refused:
            use()
        assert str(refused.value) == (
            "the theme 'page' has names of colours, for an SVG inside a page; draw the chart with "
            "the theme light or dark."
        )


def test_the_themes_are_one_list_of_colours() -> None:
    for place, theme in enumerate((THEMES["light"], THEMES["dark"])):
        assert theme.ink == TOKENS["ink"][place]
        assert theme.background == theme.canvas == TOKENS["card"][place]
        assert theme.series == tuple(TOKENS[f"s{number}"][place] for number in range(1, 9))
    assert THEMES["page"].right == "var(--better)"


def test_title_and_notes_can_be_left_out_and_the_chart_still_has_them() -> None:
    for name, chart in kinds(title="Mine", notes=False).items():
        assert chart.spec["title"] == {"text": "Mine", "subtitle": []}, name
        assert chart.title == "Mine"
        assert chart.sentences() == list(chart.notes)
    bare = charts.cmc(A, title="", notes=False)
    assert bare.spec["title"] == {"text": "", "subtitle": []}
    assert bare.title == "Cumulative match characteristic"


def test_a_narrow_chart_breaks_its_title_and_notes() -> None:
    chart = charts.eleven_point(A, width=260)
    assert chart.spec["title"]["text"] == ["Interpolated precision at", "eleven recall points"]
    assert max(map(len, chart.spec["title"]["subtitle"])) <= 40


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
    evaluation = charts.Systems.of([A, B]).evaluate("RR")
    drawn = charts.systems(evaluation, looks={"a": 4, "b": 5}).spec["vconcat"][0]["data"]["values"]
    assert {row["name"]: row["shade"] for row in drawn} == {"a": series[4], "b": series[5]}


def _sized(ranked: Rankings) -> Rankings:
    return Rankings.from_relevance([[1, 0], [1, 0]], name=ranked.name, collection=2)


@pytest.mark.parametrize(
    ("design", "message"),
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
    with pytest.raises(InputError) as refused:
        charts.cmc(A, **design)
    assert str(refused.value) == message


def test_an_option_that_does_not_exist() -> None:
    with pytest.raises(TypeError) as refused:
        charts.cmc(A, colour="red")  # type: ignore[call-arg]
    assert str(refused.value) == (
        "a chart got an unexpected keyword argument 'colour'; how it is drawn is said by theme, "
        "width, height, title, notes, looks."
    )


def test_the_options_are_those_that_editors_offer() -> None:
    assert tuple(get_type_hints(Design)) == DESIGN
    assert {*DESIGN} - {"theme"} <= {*Canvas.__dataclass_fields__}
