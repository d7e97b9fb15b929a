"""The page and the GIF: what they hold, that they need nothing else, and what they look like at the
edges."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from judged import explain
from judged.errors import MissingExtraError
from judged.explanation.animation import animation
from judged.explanation.arithmetic import figure
from judged.measures import REGISTRY
from support.loops import for_each

LIST = "0 0 1 0 1 0 0 1 0 0"


class Tags(HTMLParser):
    """Every tag with its attributes, and whether all were closed."""

    VOID = frozenset({"meta", "input", "br", "link"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def frames_of(page: str) -> list[dict[str, object]]:
    return json.loads(re.search(r'id="frames">(.*?)</script>', page, re.DOTALL)[1])


def test_frames_are_the_start_each_rank_and_the_end() -> None:
    frames = animation(explain(LIST, measure="AP@10")).frames
    assert [frame.rank for frame in frames] == [0, *range(1, 11), 10]
    # After rank 5: two of five, two of three, and (1/3 + 2/5)/3 of the value.
    assert (frames[5].readings, frames[5].score) == (("2", "2/5 = 0.4", "2/3 = 0.6667"), "0.2444")
    assert (
        frames[5].caption
        == "Rank 5 is relevant: 2 of the first 5 are, precision 0.4, which adds 0.1333."
    )
    assert frames[6].caption == "Rank 6 is not relevant."
    assert frames[-1].caption == "AP@10 = (1/3 + 2/5 + 3/8) / 3 = 0.3694"


@pytest.mark.parametrize(
    "measure",
    [
        "AP",
        "AP@8",
        "AP(norm=retrieved)@6",
        "AP(norm=capped)@2",
        "AP(area=trapezoid)",
        "AP(norm=cutoff)@9",
    ],
)
def test_the_area_is_the_average_precision(measure: str) -> None:
    e = explain(LIST, measure=measure, relevant=5)
    chart = animation(e).chart
    assert chart["kind"] == "area"
    assert chart["says"] == f"{measure} is the shaded area"
    bars = chart["bars"]
    assert sum((bar["right"] - bar["left"]) * bar["height"] for bar in bars) == pytest.approx(
        e.value, abs=1e-12
    )
    assert all(0 <= bar["left"] < bar["right"] <= 1 for bar in bars)


def test_the_page_holds_the_data_and_needs_nothing_else() -> None:
    page = explain(LIST, measure="AP@10").to_html()
    tags = Tags(page)
    assert tags.open == []
    without_icon = re.sub(r'<link rel="icon" href="data:[^"]*">', "", page)
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)", without_icon)
    assert not [
        attrs for tag, attrs in tags.found if {"src", "href"} & set(attrs) and tag != "link"
    ]
    assert not [attrs for _, attrs in tags.found if "style" in attrs]
    assert "<!--" not in page
    assert len(frames_of(page)) == 12
    for text in ("1/3", "2/5", "3/8", "0.3694", "(1/3 + 2/5 + 3/8) / 3", "Defined as"):
        assert text in page
    assert sum(attrs.get("class") == "piece" for _, attrs in tags.found) == 3
    # The tiles, and the rows of the table of the sum.
    assert page.count('<li data-rank="') == 10
    assert page.count('<tr data-rank="') == 10


def test_the_page_runs_only_what_it_came_with() -> None:
    page = explain(LIST, measure="AP").to_html()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1].replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    held = re.findall(r"<(?:style|script)>(.*?)</(?:style|script)>", page, re.DOTALL)
    assert len(held) == 3  # the style, the switch of colours, the walk
    for text in held:
        assert b64encode(sha256(text.encode()).digest()).decode() in policy
    assert policy.count("sha256-") == 3


def test_the_page_begins_with_query_and_value() -> None:
    page = explain({"q7": {"a": 1}}, {"q7": ["b", "a"]}, "RR").to_html()
    assert '<p class="eyebrow">query <span class="mono">q7</span> of run</p>' in page
    assert '<h1><span class="measure">RR</span> is 0.5000</h1>' in page
    assert 'eyebrow">' not in explain("0 1", measure="RR").to_html()
    skipped = explain("0 0", measure="AP", policy={"empty": "skip"}).to_html()
    assert '<h1><span class="measure">AP</span> does not count</h1>' in skipped


def test_ids_cannot_break_out_of_the_page() -> None:
    evil = '</script><script>alert("x")</script>'
    page = explain({evil: {evil: 1}}, {evil: {evil: 1.0}}, "AP").to_html()
    assert "<script>alert" not in page
    assert Tags(page).open == []


def test_steps_that_are_not_drawn_one_by_one_are_drawn_as_one() -> None:
    """100 relevant results of 100, then 100 more that alternate: 30 are shown, 120 drawn as one."""
    e = explain([1] * 100 + [0, 1] * 50, measure="AP", relevant=200)
    scene = animation(e)
    assert scene.chart["kind"] == "area"
    assert scene.rest == {"first": 31, "last": 200, "results": 170, "relevant": 120}
    *single, rest = scene.chart["bars"]
    assert [bar["items"] for bar in single] == [1] * 30
    assert (rest["rank"], rest["items"], rest["left"], rest["right"]) == (200, 120, 0.15, 0.75)
    assert sum(
        (bar["right"] - bar["left"]) * bar["height"] for bar in scene.chart["bars"]
    ) == pytest.approx(e.value, abs=1e-12)
    told, end = scene.frames[-2:]
    # The first 30 add 30/200; what is left of the value is said of all others together.
    adds = figure(e.value - 30 / 200)
    assert told.caption == (f"Ranks 31 to 200 as one step: 120 of 170 relevant, which adds {adds}.")
    assert told.readings == ("150", "150/200 = 0.75", "150/200 = 0.75")
    assert (told.score, end.score) == (figure(e.value), figure(e.value))
    page = e.to_html()
    assert '<rect class="piece rest" data-rank="200"' in page
    assert "170 more" in page


def test_the_walk_of_ndcg_shows_gains_discounts_and_the_ideal() -> None:
    """DCG@4: 2/1 + 0 + 3/2 + 0 = 3.5; the ideal 3/1 + 2/log2(3) + 1/2 = 4.7619."""
    e = explain("2 0 3 -", measure="nDCG@4", pool="3 2 1")
    scene = animation(e)
    assert scene.readings == ("gain", "discount", "adds to DCG@4", "DCG@4 so far", "IDCG@4 so far")
    assert [frame.readings for frame in scene.frames] == [
        ("–", "–", "–", "0", "0"),
        ("2", "1", "2", "2", "3"),
        ("0", "1.585", "0", "2", "4.2619"),
        ("3", "2", "1.5", "3.5", "4.7619"),
        ("0", "2.3219", "0", "3.5", "4.7619"),
        ("0", "2.3219", "0", "3.5", "4.7619"),
    ]
    assert [frame.caption for frame in scene.frames] == [
        "2 of 4 results are relevant, of 3 relevant items in all.",
        "Rank 1 (grade 2) adds 2/1 = 2 to DCG@4.",
        "Rank 2 is not relevant and gains nothing.",
        "Rank 3 (grade 3) adds 3/2 = 1.5 to DCG@4.",
        "The item at rank 4 is unjudged and counts as not relevant.",
        "nDCG@4 = DCG@4 / IDCG@4 = 0.735",
    ]
    chart = scene.chart
    assert chart["kind"] == "growth"
    assert [stage["reached"] for stage in chart["stages"]] == pytest.approx([2, 2, 3.5, 3.5])
    assert chart["stages"][2] == {
        "rank": 3,
        "first": 3,
        "gain": 3.0,
        "added": 1.5,
        "reached": 3.5,
        "ideal": chart["stages"][3]["ideal"],
    }
    assert chart["stages"][3]["ideal"] == pytest.approx(4.7619, abs=1e-4)
    assert chart["stages"][3]["reached"] / chart["stages"][3]["ideal"] == pytest.approx(e.value)
    assert chart["says"] == "how DCG@4 adds up down the list, against IDCG@4"
    assert dict(chart["legend"]) == {
        "line": "DCG@4",
        "dashed": "IDCG@4",
        "filled": "what each result adds",
        "outlined": "its gain",
    }
    assert [(tile["mark"], tile["label"]) for tile in scene.tiles] == [
        ("2", "+2"),
        ("0", ""),
        ("3", "+1.5"),
        ("·", ""),
    ]
    page = e.to_html()
    assert "Precision-recall" not in page
    assert '<polyline class="ideal"' in page


def test_the_ideal_list_goes_on_where_the_list_ends() -> None:
    scene = animation(explain("1", measure="nDCG@3", relevant=5))
    assert scene.rest == {"first": 2, "last": 3, "results": 0, "relevant": 0}
    # 1 + 1/log2(3) + 1/2
    assert scene.frames[-2].caption == (
        "The list has ended; the ideal one goes on to rank 3, where IDCG@3 is 2.1309."
    )
    assert scene.chart["kind"] == "growth"
    assert (scene.chart["stages"][-1]["first"], scene.chart["stages"][-1]["rank"]) == (2, 3)


@for_each("name", REGISTRY)
def test_the_walk_adds_up_to_the_value_of_every_measure(name: str) -> None:
    """However few results are walked past: the last step but one has all that adds up."""
    example = REGISTRY[name].example
    for rows in (1, 2, 30):
        e = explain(example.rankings(), measure=example.measure, rows=rows)
        scene = animation(e)
        json.dumps(scene.to_dict(), allow_nan=False)
        assert all(len(frame.readings) == len(scene.readings) for frame in scene.frames)
        page = e.to_html()
        assert Tags(page).open == []
        assert len(frames_of(page)) == len(scene.frames)
        if e.steps.adds is not None:
            assert scene.frames[-2].score == scene.frames[-1].score
        if scene.chart and scene.chart["kind"] == "growth":
            of = e.steps.cumulated
            whole = sum(term.value for term in of.terms.values()) if of else e.value
            assert scene.chart["stages"][-1]["reached"] == pytest.approx(whole)
            assert (
                max(stage["reached"] for stage in scene.chart["stages"]) <= scene.chart["ticks"][-1]
            )


# -- GIF


@pytest.mark.parametrize(
    ("grades", "measure"),
    [
        (LIST, "AP@10"),
        ("1 0 2 - 0 1", "nDCG@4"),
        ("0 0", "AP"),
        ([0] * 40 + [1], "RR"),
        ("- -", "P@3"),
    ],
)
def test_a_gif_has_a_picture_for_every_frame(grades, measure: str, tmp_path) -> None:
    from PIL import Image

    e = explain(grades, measure=measure, rows=None)
    e.save(tmp_path / "walk.gif")
    with Image.open(tmp_path / "walk.gif") as picture:
        assert picture.n_frames == len(animation(e).frames)
        assert picture.width == 800
        assert picture.info["loop"] == 0
        shown = set()
        for number in range(picture.n_frames):
            picture.seek(number)
            assert picture.info["duration"] >= 500
            shown.add(picture.convert("RGB").tobytes())
        assert len(shown) == picture.n_frames


def test_a_gif_without_pillow(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtraError) as raised:
        explain(LIST).save(tmp_path / "walk.gif")
    assert str(raised.value) == 'GIFs need Pillow: pip install "judged[charts]".'
    assert list(tmp_path.iterdir()) == []
