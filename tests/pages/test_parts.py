"""The macros that all pages are made of."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from judged.rankings.strips import Cell
from judged.web.pages.templating import environment
from support.hostile import SCRIPTS
from support.loops import for_each


def made(part: str, call: str, **context: Any) -> str:
    name = call.partition("(")[0]
    text = f'{{% from "parts/{part}.html" import {name} %}}{{{{ {call} }}}}'
    return environment().from_string(text).render(**context)


def test_a_head_says_how_the_table_is_sorted() -> None:
    head = made("tables", "th('AP', sort, right=true, measure=true)", sort={
        "href": "/?sort=AP", "direction": "descending"
    })  # fmt: skip
    assert head == (
        '<th scope="col" class="right measure" aria-sort="descending">'
        '<a class="sort" href="/?sort=AP" data-swap="main">AP'
        '<span aria-hidden="true">&nbsp;↓</span></a></th>'
    )
    other = made("tables", "th('AP', sort)", sort={"href": "/?sort=AP", "direction": None})
    assert 'aria-sort="none"' in other
    assert "↓" not in other
    assert made("tables", "th('AP')") == '<th scope="col">AP</th>'


def test_an_id_is_cut_and_whole_in_its_title() -> None:
    assert made("tables", "id('387')") == '<span class="cut">387</span>'
    long = "a" * 35
    assert made("tables", "id(text)", text=long) == (
        f'<span class="cut" title="{long}">{"a" * 33}…</span>'
    )
    assert "title" not in made("tables", "id(text)", text="a" * 34)


@pytest.mark.parametrize(("place", "look"), [(0, "s1"), (7, "s8"), (8, "s1")])
def test_a_system_has_its_colour_by_its_place(place: int, look: str) -> None:
    assert f'class="swatch {look}"' in made("tables", "system('bm25', place)", place=place)


def test_a_badge_says_its_grade_in_words_and_digits() -> None:
    cells = {
        "3": Cell("relevant", 3.0, 3.0),
        "0": Cell("irrelevant", 0.0, 3.0),
        "?": Cell("unjudged"),
        "–": Cell("nothing"),
    }
    words = ["grade 3", "not relevant", "not judged", "no result"]
    for (sign, cell), said in zip(cells.items(), words, strict=True):
        badge = made("strip", "badge(cell)", cell=cell)
        assert badge.endswith(f">{sign}</span>")
        assert f'aria-label="{said}"' in badge


def test_a_difference_is_coloured_by_what_is_better() -> None:
    kinds = [
        made("numbers", "signed(value, better=better)", value=value, better=better)
        for value, better in ((0.5, 1), (0.5, -1), (-0.5, 1), (0.0, 1), (0.5, None), (None, 1))
    ]
    looks = [re.search('class="number ?(.*?)"', kind)[1] for kind in kinds]  # type: ignore[index]
    assert looks == ["better", "worse", "worse", "", "", ""]


def test_notes_and_bands_say_what_they_are() -> None:
    assert "Warning: " in made("notes", "note('warn', 'x')")
    assert "Warning: " not in made("notes", "note('info', 'x')")
    assert 'role="alert"' in made("notes", "band('refused', 'x')")
    assert 'role="status"' in made("notes", "band('changed', 'x')")
    assert "<progress" not in made("notes", "band('changed', 'x')")
    assert '<progress value="1" max="4"' in made("notes", "band('working', 'x', '', 1, 4)")
    assert "<progress aria-label" in made("notes", "band('working', 'x')")


def shape(html: str) -> list[tuple[str, list[str]]]:
    """The elements of HTML and the names of their attributes, but for the title of what was cut."""
    found: list[tuple[str, list[str]]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.append((tag, [name for name, _ in attrs if name != "title"]))

    Reader().feed(html)
    return found


CALLS = [
    ("tables", "th(text)"),
    ("tables", "th(text, title=text)"),
    ("tables", "id(text, text)"),
    ("tables", "system(text, 1)"),
    ("notes", "note('info', text, strong=text)"),
    ("notes", "notes([{'kind': 'warn', 'text': text}])"),
    ("notes", "band('refused', text, text)"),
    ("notes", "band('working', text)"),
    ("strip", "strip(cells, text)"),
    ("strip", "mean_strip([(1, 0, 0, 0)], text)"),
    ("menu", "menu([{'text': text, 'href': text}], text)"),
    ("legend", "legend(interval=text)"),
]


@for_each(("part", "call"), CALLS)
@for_each("text", [*SCRIPTS, "{{7*7}}", "\u202eabc", "a" * 3000])
def test_no_text_gets_out_of_its_place(part: str, call: str, text: str) -> None:
    cells = [Cell("unjudged")]
    plain, found = (made(part, call, text=each, cells=cells) for each in ("x", text))
    assert shape(found) == shape(plain)
    assert "49" not in found
