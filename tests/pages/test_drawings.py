"""Strips, whiskers and bars: where their shapes stand, worked by hand."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

from hypothesis import given
from hypothesis import strategies as st

from judged.rankings.strips import Cell
from judged.web.pages import drawings

NUMBERS = st.none() | st.floats(allow_nan=True, allow_infinity=True)


def shapes(svg: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg))


def boxes(svg: str) -> dict[str, list[tuple[float, float, float, float]]]:
    """Each box of a strip as left, top, right, bottom, by its kind."""
    found: dict[str, list[tuple[float, float, float, float]]] = {}
    for path in shapes(svg):
        for piece in path.attrib["d"].split("z")[:-1]:
            points = list(walked(piece))
            xs, ys = [x for x, _ in points], [y for _, y in points]
            found.setdefault(path.attrib["class"], []).append((min(xs), min(ys), max(xs), max(ys)))
    return found


def walked(path: str):
    """The points along a path of M, h, v and a."""
    x = y = 0.0
    for letter, rest in re.findall(r"([Mhva])([^Mhva]*)", path):
        numbers = [float(each) for each in re.findall(r"-?[\d.]+", rest)]
        if letter == "M":
            x, y = numbers
        elif letter == "h":
            x += numbers[0]
        elif letter == "v":
            y += numbers[0]
        else:
            x, y = x + numbers[-2], y + numbers[-1]
        yield round(x, 2), round(y, 2)


def test_heights_of_cells() -> None:
    cells = [Cell("relevant", 3.0, 3.0), Cell("relevant", 1.0, 3.0), Cell("irrelevant", 0.0, 3.0)]
    cells += [Cell("unjudged"), Cell("nothing")]
    svg = drawings.strip(cells, "bm25")
    # 13 wide, 2 apart, 18 high. Grade 1 of 3: 45 % + 55 % / 3 = 63.33 % of 18 = 11.4, so from 6.6.
    # The stub: 28 % of 18 = 5.04, so from 12.96. Outlines lie half a pixel inside.
    assert boxes(svg) == {
        "g3": [(0, 0, 13, 18)],
        "g1": [(15, 6.6, 28, 18)],
        "none": [(30, 12.96, 43, 18)],
        "hatched": [(45.5, 0.5, 57.5, 17.5)],
        "absent": [(60.5, 0.5, 72.5, 17.5)],
    }
    root = ElementTree.fromstring(svg)
    assert (root.attrib["width"], root.attrib["height"]) == ("73", "18")
    assert root.attrib["aria-label"] == (
        "bm25: rank 1 grade 3; rank 2 grade 1; rank 3 not relevant; rank 4 not judged; "
        "rank 5 no result"
    )
    assert 'fill="url(#hatch)"' in svg


def test_neighbours_of_one_kind_are_one_element_and_one_word() -> None:
    svg = drawings.strip([Cell("unjudged")] * 10)
    assert len(shapes(svg)) == 1
    assert 'aria-label="ranks 1–10 not judged"' in svg


def test_columns_of_a_mean_strip_stand_on_each_other() -> None:
    # 26 high: half relevant from 13 to 26, a quarter irrelevant from 6.5 to 13, the rest hatched.
    assert boxes(drawings.mean_strip([(0.5, 0.25, 0.25, 0.0)])) == {
        "g2": [(0, 13, 13, 26)],
        "none": [(0, 6.5, 13, 13)],
        "hatched": [(0.5, 0.5, 12.5, 6)],
    }


def test_a_whisker_stands_on_the_scale_of_its_column() -> None:
    _, reach, before, dot = shapes(drawings.whisker(0.5, 0.25, 0.75, (0.0, 1.0), 0.0))
    # 4 pixels at each end are for the dot: 0 stands at 4, 1 at 100.
    assert (reach.attrib["x1"], reach.attrib["x2"]) == ("28", "76")
    assert (before.attrib["cx"], dot.attrib["cx"]) == ("4", "52")


def test_bars() -> None:
    zero, gain, loss = (drawings.diverging(value, 1.0) for value in (0.0, 0.5, -0.5))
    assert len(shapes(zero)) == 1
    assert shapes(gain)[0].attrib | {"class": ""} == {
        "class": "", "x": "60", "y": "2", "width": "29.5", "height": "8", "rx": "1"
    }  # fmt: skip
    classes = [shapes(svg)[0].attrib["class"] for svg in (gain, loss)]
    assert classes == ["better-mark", "worse-mark"]
    assert shapes(loss)[0].attrib["x"] == "30.5"
    assert [each.attrib["width"] for each in shapes(drawings.bar(1.0, 4.0))] == ["162", "40.5"]


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_no_number_breaks_a_drawing(
    value: float | None, low: float | None, high: float | None, before: float | None
) -> None:
    scale = (0.0, 1.0)
    for svg in (
        drawings.whisker(value, low, high, scale, before),
        drawings.diverging(value, 1.0),
        drawings.bar(value, 1.0),
        drawings.reading(value, low, high),
        drawings.whisker(value, low, high, (1.0, 1.0)),
    ):
        ElementTree.fromstring(svg)
        assert "nan" not in svg
        assert "inf" not in svg
        assert "style" not in svg


def test_labels_are_escaped() -> None:
    svg = drawings.strip([Cell("unjudged")], '"><script>alert(1)</script>')
    assert "<script" not in svg
    assert ElementTree.fromstring(svg).attrib["aria-label"].startswith('"><script>')


def test_grades_in_words() -> None:
    for grade in (0.5, 2.5):
        assert drawings.strip_words([Cell("relevant", grade, 3.0)]) == f"rank 1 grade {grade}"


def test_the_ends_of_a_narrow_interval_are_named_as_one() -> None:
    drawn = drawings.reading(0.413, 0.389, 0.438)
    assert ">+0.389 to +0.438<" in drawn
    assert drawn.count("<text") == 2  # and the 0 that it is away from
    apart = drawings.reading(0.0195, -0.018, 0.057)
    assert ">−0.018<" in apart
    assert ">+0.057<" in apart
