"""Names in every output: seen as they are by whoever reads it, and nothing more than names."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import judged
from judged.results import csv_of
from judged.text import latex, markdown, markdown_table, script, to_json, visible
from support.hostile import NAMES
from support.loops import for_each

TAGS = set(re.findall(r"\w+", "table thead tbody tr th td p small ul li details summary"))
texts = st.text(max_size=12) | st.sampled_from(NAMES)
whole_texts = texts.filter(lambda text: not any("\ud800" <= sign <= "\udfff" for sign in text))


@given(st.text(st.characters(), max_size=20))
def test_what_is_visible_steers_nothing(text: str) -> None:
    shown = visible(text)
    assert not any(unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp") for sign in shown)
    assert not any(
        unicodedata.bidirectional(sign) in ("RLO", "LRO", "RLI", "PDF") for sign in shown
    )
    shown.encode("utf-8")
    assert visible(shown) == shown
    assert visible("検索 – ≥ é 😀 👨‍👩‍👧 می‌خواهم") == "検索 – ≥ é 😀 👨‍👩‍👧 می‌خواهم"


@given(
    st.recursive(texts, lambda each: st.lists(each) | st.dictionaries(texts, each), max_leaves=5)
)
def test_json_is_the_same_value_with_nothing_hidden(value: object) -> None:
    for written in (to_json(value), script(value)):
        assert json.loads(written) == value
        assert visible(written, keep="\n") == written
    assert not re.search("[<>&]", script(value))


@given(st.lists(whole_texts, min_size=1, max_size=5))
def test_no_text_of_a_csv_is_a_formula_and_all_can_be_had_back(names: list[str]) -> None:
    written = csv_of(pl.DataFrame({"n": range(len(names)), "name": names}))
    cells = [row[1] for row in csv.reader(io.StringIO(written, newline=""))][1:]
    number = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
    assert not any(
        cell.startswith(tuple("=+-@\t\r")) and not number.fullmatch(cell) for cell in cells
    )
    back = [cell[1:] if re.match("'+[=+\\-@\t\r＝＋－＠]", cell) else cell for cell in cells]
    assert back == names


@given(whole_texts)
def test_markdown_and_latex_stay_in_their_row(name: str) -> None:
    table = markdown_table(["run", "AP"], [[markdown(name), "0.5"]])
    assert len(table.split("\n")) == 3
    row = table.split("\n")[2]
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 3
    undone = re.sub(r"\\([^\w\s]|_)", r"\1", row[2:-8])
    assert undone == visible(name)
    assert not re.search(r"(?<!\\)(?:\\\\)*[`<*~]", row)
    set_as = latex(name)
    assert "\n" not in set_as
    assert "^" not in set_as
    assert "~" not in set_as
    assert not re.search(r"(?<!\\)[&%$#_]", set_as.replace(r"$\infty$", ""))


class Cells(HTMLParser):
    """The tags of a page, and the texts of its cells."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag == "td":
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data


@for_each("name", NAMES, ids=ascii)
def test_every_export_of_an_evaluation_keeps_a_name(name: str, tmp_path: Path) -> None:
    found = judged.evaluate({name: {"a": 1}}, {name: {name: ["b", "a"]}}, "RR")
    frame = found.to_frame(per_query=True)
    assert frame.row(0) == (name, name, 0.5)
    for ending in (".json", ".csv", ".md", ".html", ".txt", ".tex", ".trec", ".parquet"):
        found.save(tmp_path / f"saved{ending}", per_query=True)
    assert pl.read_parquet(tmp_path / "saved.parquet").equals(frame)
    assert json.loads(found.to_json(per_query=True))["runs"][0]["name"] == name
    shown = visible(name)
    assert found.to_text(per_query=True).split("\n")[1].split("  ")[0] == shown
    parser = Cells()
    parser.feed(found.to_html(per_query=True))
    assert parser.tags <= TAGS
    assert parser.cells[0] == visible(name, keep="\n\t")
    lines = found.to_latex(per_query=True).split("\n")
    assert all(line.startswith(("%", "\\")) or line.endswith(r" \\") or not line for line in lines)
