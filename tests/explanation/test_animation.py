"""The page and the GIF: what they hold, that they need nothing else, and what they look like at the
edges."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from judged import MissingExtraError, OutputError, explain
from judged.explanation.animation import MOST_ROWS, animation
from judged.measures import REGISTRY

LIST = "0 0 1 0 1 0 0 1 0 0"


class Tags(HTMLParser):
    """Every tag with its attributes, and whether all were closed."""

    VOID = frozenset({"meta", "input", "br", "line", "rect", "circle"})

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
    assert (frames[5].precision, frames[5].recall, frames[5].score) == (
        "2/5 = 0.4",
        "2/3 = 0.6667",
        "0.2444",
    )
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
    bars = animation(e).bars
    assert sum((bar.right - bar.left) * bar.height for bar in bars) == pytest.approx(
        e.value, abs=1e-12
    )
    assert all(0 <= bar.left < bar.right <= 1 for bar in bars)


def test_the_page_holds_the_data_and_needs_nothing_else() -> None:
    page = explain(LIST, measure="AP@10").to_html()
    tags = Tags(page)
    assert tags.open == []
    assert not re.search(r"https?:|//[a-z]|@import|url\(", page)
    assert not [attrs for _, attrs in tags.found if {"src", "href"} & set(attrs)]
    assert "<!--" not in page
    assert len(frames_of(page)) == 12
    for text in ("1/3", "2/5", "3/8", "0.3694", "(1/3 + 2/5 + 3/8) / 3", "Under other definitions"):
        assert text in page
    assert sum(attrs.get("class") == "bar" for _, attrs in tags.found) == 3
    assert page.count('<li class="tile ') == 10


def test_the_page_can_be_used_by_everyone() -> None:
    page = explain(LIST, measure="AP").to_html()
    for text in (
        'lang="en"',
        "prefers-color-scheme: dark",
        "prefers-reduced-motion",
        'aria-live="polite"',
        "ArrowRight",
        "focus-visible",
    ):
        assert text in page
    buttons = [attrs for tag, attrs in Tags(page).found if tag == "button"]
    assert len(buttons) == 5
    assert all(attrs["aria-label"] and attrs["type"] == "button" for attrs in buttons)


def test_ids_cannot_break_out_of_the_page() -> None:
    evil = '</script><script>alert("x")</script>'
    page = explain({evil: {evil: 1}}, {evil: {evil: 1.0}}, "AP").to_html()
    assert "<script>alert" not in page
    assert Tags(page).open == []


@pytest.mark.parametrize("name", REGISTRY)
def test_every_measure_has_a_page(name: str) -> None:
    example = REGISTRY[name].example
    e = explain(example.rankings(), measure=example.measure)
    page = e.to_html()
    assert Tags(page).open == []
    assert len(frames_of(page)) == len(animation(e).frames)
    assert e._repr_html_() in page


@pytest.mark.parametrize(
    "given",
    [
        {"judgements": "0 0"},
        {"judgements": {"q": {"a": 1}, "p": {"b": 1}}, "run": {"p": ["b"]}, "query": "q"},
    ],
)
def test_pages_of_nothing(given) -> None:
    page = explain(**given, policy={"empty": "skip"}).to_html()
    assert Tags(page).open == []


def test_a_long_walk_is_shortened() -> None:
    e = explain([0] * 99 + [1], measure="AP", rows=None)
    scene = animation(e)
    assert len(scene.rows) == MOST_ROWS
    assert scene.frames[-2].caption.startswith("55 results are skipped. Rank 100 is relevant")


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


def test_a_gif_shows_the_area_growing(tmp_path) -> None:
    from PIL import Image

    explain(LIST, measure="AP").save(tmp_path / "walk.gif")
    with Image.open(tmp_path / "walk.gif") as picture:
        sizes = []
        for number in (0, 3, 5, 8):
            picture.seek(number)
            colours = picture.convert("RGB").crop((72, 190, 500, 448)).getcolors(1 << 20)
            sizes.append(sum(count for count, colour in colours if colour[1] - colour[0] > 20))
    assert sizes == sorted(set(sizes))


def test_a_gif_without_pillow(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtraError) as raised:
        explain(LIST).save(tmp_path / "walk.gif")
    assert str(raised.value) == 'GIFs need Pillow: pip install "judged[charts]".'
    assert list(tmp_path.iterdir()) == []


def test_files_that_cannot_be_written(tmp_path) -> None:
    for name in ("walk.gif", "walk.html"):
        with pytest.raises(OutputError):
            explain(LIST).save(tmp_path / "nowhere" / name)
