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


def test_what_is_left_out_is_said(judged, runs) -> None:
    judged("report", *runs, "-o", "whole.html")
    size = Path("whole.html").stat().st_size
    done = judged("report", *runs, "-o", "report.html", "--max-size", size - 1)
    assert "Left out: every query's values of further measures.\n" in done.err
    assert Path("report.html").stat().st_size < size
    refused = judged("report", *runs, "-o", "tiny.html", "--max-size", "10KB")
    assert refused.code == 2
    assert refused.err.startswith("judged: max_size is 10,000 bytes, and the report has ")
    assert not Path("tiny.html").exists()


def test_the_ending_is_looked_at_first(judged, runs) -> None:
    refused = judged("report", *runs, "-o", "report.pdf")
    assert refused.code == 2
    assert refused.err == "judged: report.pdf: the ending says the format, and must be .html.\n"


def test_quiet_says_nothing_but_what_was_written(judged, runs) -> None:
    done = judged("report", *runs, "-o", "report.html", "-q")
    assert (done.code, done.out) == (0, "")


def test_embeddings_have_a_report_with_the_items_that_were_found(judged, folder: Path) -> None:
    import numpy as np

    random = np.random.default_rng(16)
    np.save("queries.npy", random.normal(size=(6, 4)))
    np.save("items.npy", random.normal(size=(9, 4)))
    Path("qrels.txt").write_text("".join(f"{at} 0 item{at} 1\n" for at in range(6)))
    Path("ids.txt").write_text("".join(f"item{at}\n" for at in range(9)))
    call = ("embeddings", "queries.npy", "items.npy", "--qrels", "qrels.txt")
    done = judged(*call, "--item-ids", "ids.txt", "-m", "RR", "--report", "report.html")
    assert done.code == 0
    html = Path("report.html").read_text(encoding="utf-8")
    assert "item3" in html
    assert "queries.npy" in html
    assert "Hardest queries" in html
    again = shown(html, "This report again:")
    assert again == (
        "judged embeddings queries.npy items.npy --qrels qrels.txt --item-ids ids.txt "
        "--report report.html --measure RR"
    )
