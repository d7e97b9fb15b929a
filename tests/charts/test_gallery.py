"""The gallery: which results are shown, that its page stands alone, and what it refuses."""

from __future__ import annotations

import json
import re
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from judged.charts.kinds.gallery import gallery
from judged.charts.pictures import MAX_PIXELS, opened, pixels_of, read_pictures
from judged.charts.svg import THEMES
from judged.errors import InputError, MissingExtraError, OutputError
from support.errors import error_of
from support.loops import for_each

JUDGEMENTS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}, "q3": {"a": 1}}
RUN = {"q1": {"a": 3.0, "b": 2.0, "x": 2.0}, "q2": {"x": 5.0, "c": 4.0}, "q3": {"b": 1.0}}
GREY = np.full((8, 8), 128, np.uint8)
PICTURES = dict.fromkeys(["q1", "q2", "q3", "a", "b", "c", "x"], GREY)


def data(run: Any = RUN, **options: Any) -> Any:
    return gallery(JUDGEMENTS, run, pictures=PICTURES, **options).data


def test_the_first_results_with_what_they_are() -> None:
    table = data(query="q1")
    # b and x tie; by id, descending, x comes first, and nobody judged it.
    assert table.select("rank", "item", "grade", "relevant").rows() == [
        (1, "a", 1.0, True),
        (2, "x", None, False),
        (3, "b", 0.0, False),
    ]
    assert data(query="q1", k=1)["item"].to_list() == ["a"]
    assert data(query="q2", rel=3)["relevant"].to_list() == [False, False]


def test_queries_go_from_the_best_to_the_worst() -> None:
    # At k = 1 only q1 has found something.
    assert data(k=1)["query"].to_list() == ["q1", "q2", "q3"]
    assert data(k=1, queries=2)["query"].to_list() == ["q1", "q3"]


def test_the_page_stands_alone_and_tells_right_from_wrong() -> None:
    page = gallery(JUDGEMENTS, RUN, pictures=PICTURES).to_html()
    assert set(re.findall(r'src="([^",]*)', page)) == {"data:image/png;base64"}
    assert set(re.findall(r'href="([^",]*)', page)) == {"data:image/svg+xml"}
    assert "script-src 'none'" in page.replace("&#39;", "'")
    assert not re.search(r'style="|<script', page)
    assert page.count('class="right"') == 2
    assert page.count('class="wrong"') == 4
    text = re.sub(r"<[^>]*>", "", page)
    assert "1 ✓right a" in text
    assert "2 ✗wrong x" in text
    assert "query q11 of 3 right" in text


def test_ids_cannot_break_the_page() -> None:
    pictures = {"<q>": GREY, '"a"': GREY}
    page = gallery({"<q>": {'"a"': 1}}, {"<q>": ['"a"']}, pictures=pictures).to_html()
    assert "<q>" not in page
    assert 'alt="&#34;a&#34;"' in page


@for_each("theme", ["light", "dark"])
def test_the_picture_has_frames_in_two_colours(theme: str) -> None:
    shown = gallery(JUDGEMENTS, RUN, pictures=PICTURES, theme=theme)
    image = Image.open(BytesIO(shown.to_png())).convert("RGB")
    colours = {f"#{bytes(colour).hex()}" for _, colour in image.getcolors(1 << 20)}
    assert {
        THEMES[theme].right,
        THEMES[theme].wrong,
        THEMES[theme].background,
        "#808080",
    } <= colours
    assert image.width > 400


def test_pictures_come_from_files_bytes_arrays_and_images(tmp_path: Path) -> None:
    Image.fromarray(GREY).save(tmp_path / "a.png")
    (tmp_path / "pictures.csv").write_text("id,picture\nq,a.png\na,a.png\n")
    assert read_pictures(tmp_path / "pictures.csv") == {
        "q": tmp_path / "a.png",
        "a": tmp_path / "a.png",
    }
    whole = (tmp_path / "a.png").read_bytes()
    pages = {
        gallery({"q": {"a": 1}}, {"q": ["a"]}, pictures=pictures).to_html()
        for pictures in (
            tmp_path / "pictures.csv",
            {"q": whole, "a": whole},
            {"q": GREY, "a": Image.fromarray(GREY)},
            {"q": str(tmp_path / "a.png"), "a": np.stack([GREY] * 3, axis=2)},
        )
    }
    assert len(pages) == 1


def test_what_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("name,picture\na,a.png\n")
    one = ({"q": {"a": 1}}, {"q": ["a"]})
    for pictures, message in (
        ({"q": GREY}, "pictures must have all queries and items that are shown; a is missing."),
        (
            {"q": GREY, "a": tmp_path / "none.png"},
            f"the picture of a: {tmp_path / 'none.png'}: no such file.",
        ),
        (
            tmp_path / "bad.csv",
            f'{tmp_path / "bad.csv"}: has the columns "name", "picture"; it needs id and picture.',
        ),
        (
            7,
            "pictures are given as {id: picture}, or as a CSV or TSV file with the columns id and "
            "picture.",
        ),
        (
            {"q": GREY, "a": np.zeros((2, 2))},
            "the picture of a must be a path, bytes, an image of Pillow, or an array of 8-bit grey "
            "or RGB pixels; "
            "got ndarray of float64 (2, 2).",
        ),
    ):
        assert error_of(lambda given=pictures: gallery(*one, pictures=given).to_html()) == message
    assert (
        error_of(gallery, *one, pictures={}, query="p")
        == "query 'p' does not exist. The queries are q."
    )
    assert (
        error_of(gallery, *one, pictures={}, queries=0)
        == "queries must be a whole number from 1; got 0."
    )
    with pytest.raises(OutputError) as wrong:
        gallery(*one, pictures={"q": GREY, "a": GREY}).save("gallery.svg")
    assert (
        str(wrong.value)
        == "gallery.svg: the ending says the format, and must be .html, .png, .json, .csv or "
        ".parquet."
    )


def test_a_gallery_is_a_result(tmp_path: Path) -> None:
    shown = gallery(JUDGEMENTS, RUN, pictures=PICTURES, k=1)
    assert repr(shown).startswith("<Gallery: First results of run>\n  A whole frame is")
    assert shown.sentences() == list(shown.notes)
    shown.save(tmp_path / "shown.json")
    saved = json.loads((tmp_path / "shown.json").read_text(encoding="utf-8"))
    assert (saved["what"], saved["title"]) == ("gallery", "First results of run")
    assert [row["item"] for row in saved["rows"]] == ["a", "x", "b"]


def test_without_the_extra_there_is_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = gallery(JUDGEMENTS, RUN, pictures=PICTURES)
    monkeypatch.setitem(sys.modules, "PIL", None)
    for use in (shown.to_html, shown.to_png):
        with pytest.raises(MissingExtraError) as refused:
            use()
        assert str(refused.value) == 'galleries need Pillow: pip install "judged[charts]".'
    assert shown._repr_mimebundle_()["text/plain"].endswith('pip install "judged[charts]".')


def test_only_pictures_are_opened(tmp_path: Path) -> None:
    # EPS is a program, which Pillow hands to Ghostscript.
    program = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n"
    path = tmp_path / "picture.png"
    path.write_bytes(program)
    for given in (program, path, str(path)):
        with pytest.raises(InputError, match="the picture of a cannot be read"):
            opened(given, "a")
    # A few bytes that claim to be a picture of 60,000 by 60,000 pixels.
    huge = b"P5 60000 60000 255\n" + bytes(99)
    with pytest.raises(InputError, match="the picture of a cannot be read"):
        opened(huge, "a")
    large = b"P5 8000 8000 255\n" + bytes(99)
    with pytest.raises(InputError, match="it has more than 50,000,000 pixels"):
        opened(large, "a")
    assert pixels_of(large) == 64_000_000
    assert pixels_of(huge) > MAX_PIXELS
    assert pixels_of(program) == 0
