"""`judged report`: one file, said what is in it, and the commands that it shows."""

from __future__ import annotations

import re
import shlex
from html import unescape
from pathlib import Path

import pytest

from support.reported import write_files


@pytest.fixture
def runs(folder: Path) -> list[str]:
    return write_files(folder)


def shown(html: str, before: str) -> str:
    """The command that stands in a report behind some words."""
    found = re.search(rf"{before}.*?<pre>(.*?)</pre>", html, re.S)
    assert found
    return unescape(re.sub(r"<[^>]*>", "", found[1]))


def test_the_report_says_what_came_out_and_makes_itself_again(judged, runs) -> None:
    options = ("-m", "nDCG@10", "-m", "RR", "--ties", "input", "--baseline", "dense")
    more = ("--title", "It's <ours>", "--depth", "5", "-o", "report.html")
    done = judged("report", *runs, *options, *more)
    assert done.code == 0
    assert done.out == "rerank is first on nDCG@10, not significantly better than dense\n"
    size = Path("report.html").stat().st_size
    assert f"wrote report.html ({size:,} bytes)" in done.err
    html = Path("report.html").read_text(encoding="utf-8")
    again = shlex.split(shown(html, "This report again:"))
    assert again[:2] == ["judged", "report"]
    Path("report.html").rename("before.html")
    assert judged(*again[1:]).code == 0
    assert Path("report.html").read_text(encoding="utf-8") == html


def test_the_command_for_any_query_gives_the_number_of_the_table(judged, runs) -> None:
    judged("report", *runs, "-m", "nDCG@10", "--ties", "worst", "-o", "report.html")
    html = Path("report.html").read_text(encoding="utf-8")
    words = shlex.split(shown(html, "How any of these numbers comes about"))
    assert words[:2] == ["judged", "explain"]
    value = re.search(r"<tr><th>q0<td>(0\.\d{4})", html)
    assert value
    explained = judged(*words[1:])
    assert explained.out.splitlines()[0].endswith(f" for query q0 of bm25: {value[1]}")


def test_the_ending_is_looked_at_first(judged, runs) -> None:
    refused = judged("report", *runs, "-o", "report.pdf")
    assert refused.code == 2
    assert refused.err == "judged: report.pdf: the ending says the format, and must be .html.\n"
