"""The presentation layer: one document in every format, tables at every width."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest

from judged.errors import InputError, OutputError
from judged.results import Display, Document, Result, Table, text_lines, text_width, wrap_words
from judged.text import Bold, Left

WIDTHS = (60, 80, 120)
VERDICT = "not significant, negligible"
NAMES = ["bm25", "dense-retriever-with-a-long-name_v2", "検索システム", "my run with spaces"]


def evaluation(measures: int) -> Table:
    header = ["run", *(f"nDCG(gain=exp)@{10 * at}" for at in range(1, measures + 1))]
    rows = [
        [name, *(Bold("0.1234") if at else "0.0123" for at in range(measures))] for name in NAMES
    ]
    return Table(header, rows, words={"run"})


TABLES = {
    "small": Table(["run", "RR"], [["run", "0.5000"]], words={"run"}),
    "few measures": evaluation(3),
    "many measures": evaluation(20),
    "per query": Table(
        ["run", "query", "AP"],
        [[name, f"query-{at}", "0.5000"] for name in NAMES for at in range(30)],
        words={"run", "query"},
    ),
    "comparison": Table(
        [
            *("nDCG@10", "value", Left("95 % interval"), "against bm25"),
            *(Left("simultaneous 95 % interval"), "d_z", "wins/ties/losses", "p", "corrected"),
            *("detectable", Left("verdict")),
        ],
        [
            [
                *(name, "0.4321", "0.4000 … 0.4600", "+0.0123", "−0.0010 … +0.0250", "+0.25"),
                *("1,024/2,048/512", "0.0310", "0.0620", "0.0105", Bold(VERDICT)),
            ]
            for name in NAMES
        ],
    ),
    "prose": Table(
        ["definition", "value", "queries that differ", "used by"],
        [
            [
                "nDCG(gain=exp, discount=log2)@10 of a list cut at ten",
                "0.4321",
                "12 tied, 3 short, 1 missing",
                "trec_eval, pytrec_eval, ranx, ir-measures, BEIR, MTEB and several others",
            ]
        ]
        * 3,
        words={"definition", "queries that differ", "used by"},
        title="Definitions of nDCG@10",
    ),
    "no rows": Table(["a", "b"], []),
    "no header": Table(["", "rank"], [["relevant", "1"]]),
}


def words_of(table: Table) -> list[str]:
    return [word for row in table.rows for cell in row for word in cell.split()]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", TABLES)
def test_tables_fit_and_lose_nothing(name: str, width: int) -> None:
    table = TABLES[name]
    lines = text_lines(table, width)
    assert max(map(text_width, lines)) <= width
    shown = " ".join(lines).split()
    missing = {word for word in words_of(table) if shown.count(word) < words_of(table).count(word)}
    assert not missing
    assert all(line == line.rstrip() for line in lines)
    if table.title:
        assert lines[0] == table.title


@pytest.mark.parametrize("width", [None, *WIDTHS])
def test_numbers_and_verdicts_are_never_broken(width: int | None) -> None:
    table = TABLES["comparison"]
    lines = text_lines(table, width)
    for cell in {cell for row in table.rows for cell in row[1:]}:
        assert any(cell in line for line in lines), cell


def test_what_fits_is_left_as_it_is() -> None:
    table = Table(["run", Left("95 % interval"), "AP"], [["a", "0 … 1", "0.5"]], words={"run"})
    assert (
        text_lines(table, 80)
        == text_lines(table)
        == ["run  95 % interval   AP", "a    0 … 1          0.5"]
    )


def test_headers_are_wrapped_then_abbreviated_then_the_table_is_turned() -> None:
    header = ["run", "wins/ties/losses", "corrected p"]
    table = Table(header, [["a", "1/2/3", "0.5"]], words={"run"})
    assert text_lines(table, 32) == [
        "run  wins/ties/losses  corrected",
        "                               p",
        "a               1/2/3        0.5",
    ]
    assert text_lines(table, 20) == ["run  W/T/L  corr. p", "a    1/2/3      0.5"]
    assert text_lines(table, 16) == ["run      a", "W/T/L    1/2/3", "corr. p  0.5"]


def test_rows_stand_side_by_side_where_they_fit() -> None:
    table = Table(
        ["run", *(f"P@{at}" for at in range(9))],
        [[name, *["0.5000"] * 9] for name in "abc"],
        words={"run"},
    )
    lines = text_lines(table, 30)
    assert lines[:2] == ["run       a       b       c", "P@0  0.5000  0.5000  0.5000"]
    assert len(lines) == 10


def test_words_are_wrapped_at_spaces_only() -> None:
    assert wrap_words("a very-long-name-indeed b", 10) == ["a", "very-long-name-indeed", "b"]
    assert wrap_words("  an indented line", 12) == ["  an", "    indented", "    line"]
    assert wrap_words("", 5) == [""]


@dataclass(frozen=True, repr=False)
class Scores(Result):
    """A result with everything a document can have."""

    DISPLAY: ClassVar = frozenset({"per_query", "decimals"})
    SAVED_AS: ClassVar = {**Result.SAVED_AS, ".tex": "to_latex", ".xml": "to_junit"}

    run: str = "a|b_c<i>"

    def document(self, display: Display) -> Document:
        number = f"{0.5:.{display.decimals if display.decimals is not None else 4}f}"
        rows = [[self.run, Bold(number)]]
        return Document(
            answer=["PASSED: nothing fell.", "A second line."],
            tables=[
                Table(["run", "RR"], rows, words={"run"}, tips={"RR": "Reciprocal rank".strip}),
                Table(["query"], [["q"]], words={"query"}, title="Worst <queries>", folded=True),
            ],
            warnings=["1,000 scores are tied."],
            notes=["A note."],
            hint="hint",
            details=["RR is 1 / rank."],
        )

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        return {"run": self.run, "per_query": per_query}

    def to_frame(self, *, per_query: bool = False) -> pl.DataFrame:
        return pl.DataFrame({"run": [self.run], "queries": [int(per_query)]})

    def to_junit(self) -> str:
        return "<testsuite/>"


SCORES = Scores()


def test_text() -> None:
    table = ["run           RR", "a|b_c<i>  0.5000", "", "Worst <queries>", "query", "q"]
    above = ["PASSED: nothing fell.", "A second line.", "", *table]
    below = ["", "warning: 1,000 scores are tied.", "A note."]
    assert SCORES.to_text().splitlines() == [*above, *below, "hint"]
    assert SCORES.to_text(verbose=True).splitlines() == [*above, *below, "RR is 1 / rank."]
    assert SCORES.to_text(quiet=True).splitlines() == above
    assert SCORES.to_text(width=12).splitlines()[:3] == ["PASSED:", "nothing", "fell."]
    assert repr(SCORES) == SCORES.to_text(width=80)


def test_parts_and_sentences() -> None:
    assert SCORES.warnings() == ["1,000 scores are tied."]
    assert SCORES.sentences() == [
        *("warning: 1,000 scores are tied.", "PASSED: nothing fell.", "A second line."),
        *("A note.", "RR is 1 / rank."),
    ]
    assert SCORES.tables(decimals=1)[0].rows == [["a|b_c<i>", "0.5"]]
    assert [part for part in SCORES.parts() if isinstance(part, Table)] == SCORES.tables()


def test_markdown() -> None:
    assert SCORES.to_markdown() == (
        "PASSED: nothing fell.\n\nA second line.\n\n"
        "| run | RR |\n| --- | ---: |\n| a\\|b_c\\<i> | **0.5000** |\n\n"
        "<details><summary>Worst &lt;queries&gt;</summary>\n\n| query |\n| --- |\n| q |\n\n"
        "</details>\n\n**Warning: 1,000 scores are tied.**\n\n- A note.\n\n"
        "<details><summary>Definitions and notes</summary>\n\n- RR is 1 / rank.\n\n</details>\n"
    )
    assert SCORES.to_markdown(verbose=True).endswith("- A note.\n\n- RR is 1 / rank.\n")
    assert "Warning" not in SCORES.to_markdown(quiet=True)


def test_latex() -> None:
    lines = SCORES.to_latex(caption="All runs", label="tab:runs").splitlines()
    assert lines[0] == "% warning: 1,000 scores are tied."
    assert r"a\textbar{}b\_c\textless{}i\textgreater{} & \textbf{0.5000} \\" in lines
    assert sum(r"\footnotesize Warning: 1,000 scores are tied." in line for line in lines) == 1
    assert lines.count(r"\caption{All runs}") == lines.count(r"\label{tab:runs}") == 1
    assert lines.count(r"\end{tabular}") == 2
    assert SCORES.to_latex(quiet=True).startswith("\\begin{tabular}{lr}\n\\toprule")


def test_html() -> None:
    assert SCORES.to_html() == (
        "<p><b>PASSED: nothing fell.</b></p><p>A second line.</p>"
        '<table><thead><tr><th style="text-align:left">run</th>'
        '<th title="Reciprocal rank">RR</th></tr></thead><tbody><tr>'
        '<td style="text-align:left">a|b_c&lt;i&gt;</td><td><b>0.5000</b></td></tr></tbody></table>'
        "<details><summary>Worst &lt;queries&gt;</summary><table><thead><tr>"
        '<th style="text-align:left">query</th></tr></thead><tbody><tr>'
        '<td style="text-align:left">q</td></tr></tbody></table></details>'
        "<p><b>warning: 1,000 scores are tied.</b></p><ul><li>A note.</li></ul>"
        "<details><summary>definitions and notes</summary><ul><li>RR is 1 / rank.</li></ul>"
        "</details>"
    )
    assert "<details open><summary>definitions" in SCORES.to_html(verbose=True)
    assert SCORES._repr_html_() == SCORES.to_html()


def test_csv_and_json() -> None:
    assert Scores("=1+1").to_csv() == "run,queries\n'=1+1,0\n# warning: 1;000 scores are tied.\n"
    assert SCORES.to_csv(quiet=True, per_query=True) == "run,queries\na|b_c<i>,1\n"
    assert json.loads(SCORES.to_json(per_query=True)) == {"run": "a|b_c<i>", "per_query": True}


def test_save(tmp_path: Path) -> None:
    for extension in (".json", ".csv", ".md", ".html", ".txt", ".tex"):
        SCORES.save(tmp_path / f"scores{extension}", verbose=False)
    SCORES.save(tmp_path / "scores.parquet", per_query=True)
    assert pl.read_parquet(tmp_path / "scores.parquet")["queries"].to_list() == [1]
    assert (tmp_path / "scores.txt").read_text(encoding="utf-8") == SCORES.to_text() + "\n"
    assert (tmp_path / "scores.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    SCORES.save(tmp_path / "scores.xml")
    assert (tmp_path / "scores.xml").read_text(encoding="utf-8") == "<testsuite/>\n"
    with pytest.raises(OutputError, match=r"scores\.csv"):
        SCORES.save(tmp_path / "scores.csv", decimals=0)
    with pytest.raises(OutputError, match=r"per_query has no meaning in .*scores\.xml"):
        SCORES.save(tmp_path / "scores.xml", per_query=True)


@pytest.mark.parametrize(
    ("method", "options", "error", "message"),
    [
        ("to_text", {"sort": "RR"}, OutputError, "sort has no meaning in text; leave it out."),
        ("to_text", {"caption": "x"}, OutputError, "caption has no meaning in text; leave it out."),
        ("to_csv", {"decimals": 0}, OutputError, "decimals has no meaning in csv; leave it out."),
        ("to_html", {"width": 9}, OutputError, "width has no meaning in html; leave it out."),
        ("to_text", {"decimals": 99}, InputError, "decimals must be a whole number"),
        ("to_text", {"verbose": 1}, InputError, "verbose must be True or False; got 1."),
        ("to_latex", {"label": "a b"}, InputError, "label must be a key"),
        ("to_text", {"verbose": True, "quiet": True}, InputError, "exclude each other"),
        ("to_text", {"decimal": 2}, TypeError, "to_text() got an unexpected keyword argument"),
    ],
)
def test_wrong_options(method: str, options: dict, error: type, message: str) -> None:
    with pytest.raises(error) as refused:
        getattr(SCORES, method)(**options)
    assert message in str(refused.value)
    assert "leave" not in message or str(refused.value) == message


def test_options_without_effect_are_accepted() -> None:
    assert SCORES.to_text(sort=None, percent=False, caption=None) == SCORES.to_text()
    assert SCORES.to_json(verbose=True, quiet=False) == SCORES.to_json()
