"""Comparing two systems or more: the page says what the library says."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import judged
from judged.comparison.wording import shown_p
from judged.web.pages.numbers import plain_number
from judged.web.pages.pairs import verdict_heading
from support.boards import words
from support.served import Serve, Server

pytestmark = pytest.mark.filterwarnings("ignore")


def compared(data: Path, *systems: str, **options: Any) -> judged.Comparison:
    runs = [data / f"{name}.run" for name in systems]
    return judged.compare(data / "qrels.txt", runs, **options)


def test_two_systems(server: Serve, data: Path) -> None:
    page = server(data).ask("/compare?system=dense&against=bm25&by=RR").text
    found = compared(data, "bm25", "dense", "hybrid", "short", policy={"missing": "zero"})
    pair = found.pair("dense", "bm25", measure="RR")
    heading = verdict_heading(pair, found.settings)
    said = words(page)
    assert heading.title in said
    assert heading.line in said
    assert plain_number(pair.value) in said
    assert f"better, equal, worse{pair.wins} · {pair.ties} · {pair.losses}" in said


def test_without_names_the_two_best_are_compared_the_better_with_the_other(
    server: Serve, data: Path
) -> None:
    found = judged.evaluate(data / "qrels.txt", [data / f"{n}.run" for n in SYSTEMS], "RR")
    first, second = sorted(found.runs, key=lambda run: -run.summary[judged.RR])[:2]
    said = words(server(data).ask("/compare?measure=RR").text)
    assert f"{first.name} − {second.name}, RR" in said


SYSTEMS = ("bm25", "dense", "hybrid", "short")


def test_swapping_turns_the_difference(served: Server) -> None:
    one = words(served.ask("/compare?system=dense&against=bm25&by=RR").text)
    other = words(served.ask("/compare?system=bm25&against=dense&by=RR").text)
    assert "dense − bm25, RR" in one
    assert "bm25 − dense, RR" in other


def test_what_unjudged_results_could_do(served: Server, data: Path) -> None:
    before = words(served.ask("/compare?system=dense&against=bm25&by=RR").text)
    assert "The effect of unjudged results was not examined." in before
    after = words(served.ask("/compare?system=dense&against=bm25&by=RR&ranges=1").text)
    assert "dense − bm25, RR" in after
    assert "The effect of unjudged results was not examined." not in after
    found = compared(data, "bm25", "dense", measures="RR", unjudged_range=True).pair()
    could = "with the unjudged results judged the verdict could be" in found.says
    assert ("With the unjudged results judged the verdict could be" in after) == could


def test_the_queries_that_differ_most_lead_to_their_pages(server: Serve, data: Path) -> None:
    page = server(data).ask("/compare?system=dense&against=bm25&by=RR").text
    found = compared(data, "bm25", "dense", measures="RR")
    values = {run.name: run.values[judged.RR] for run in found.evaluation.runs}  # type: ignore[union-attr]
    queries = found.evaluation.runs[0].rankings.queries  # type: ignore[union-attr]
    most = max(range(len(queries)), key=lambda at: values["dense"][at] - values["bm25"][at])
    assert f"/query?query={queries[most]}&amp;system=bm25&amp;system=dense&amp;show=RR" in page


def test_several_systems_are_compared_in_pairs(served: Server, data: Path) -> None:
    address = "/compare?system=bm25&system=dense&system=hybrid&by=RR"
    page = words(served.ask(address).text)
    found = compared(data, "bm25", "dense", "hybrid", measures="RR")
    assert len(found.rows) == 3
    for row in found.rows:
        ways = (row.wins, row.ties, row.losses), (row.losses, row.ties, row.wins)
        assert any(" · ".join(map(str, way)) in page for way in ways)
    rows = page.partition("Every pair on")[2].partition("verdict")[2]
    assert rows.strip().startswith(found.leaderboard("RR")[0].run)
    [forest] = re.findall(r'data-load="([^"]*kind=forest[^"]*)"', served.ask(address).text)
    table = pl.read_csv(served.ask(unescape(forest) + "&format=csv").body)
    best, second, last = (place.run for place in found.leaderboard("RR"))
    pairs = [(best, second), (best, last), (second, last)]
    assert table.select("run", "against").rows() == pairs
    one = served.ask("/compare?system=bm25&system=dense&system=hybrid&baseline=bm25&by=RR").text
    assert one.count('scope="row"') == 2


def test_a_system_that_is_gone(server: Serve, data: Path) -> None:
    answer = server(data).ask("/compare?system=dence&against=bm25")
    assert answer.status == 404
    assert "Unknown system 'dence'; did you mean 'dense'?" in words(answer.text)


@pytest.mark.parametrize(
    "asked",
    [
        "kind=measure-at-k&of=nDCG",
        "kind=eleven-point",
        "kind=differences&system=dense&against=bm25&of=RR",
        "kind=scatter&system=dense&against=bm25&of=RR",
        "kind=forest&system=dense&against=bm25",
        "kind=systems",
        "kind=ranges&of=RR",
        "kind=cmc",
        "kind=rank-histogram&system=dense",
        "kind=scores&system=dense",
    ],
)
def test_charts_are_figures_files_and_pages(served: Server, asked: str) -> None:
    figure = served.ask(f"/chart?{asked}&width=420", x_fragment="figure")
    assert figure.status == 200, words(figure.text)
    assert figure.text.strip().startswith("<figure")
    assert 'style="' not in figure.text
    page = served.ask(f"/chart?{asked}")
    assert "As a command" in page.text
    csv = served.ask(f"/chart?{asked}&format=csv")
    assert csv.headers["content-type"] == "text/csv; charset=utf-8"


def test_chart_files(served: Server) -> None:
    asked = "/chart?kind=differences&system=dense&against=bm25&of=RR"
    assert served.ask(f"{asked}&format=png").body.startswith(b"\x89PNG")
    assert served.ask(f"{asked}&format=svg").text.startswith("<svg")
    assert served.ask(f"{asked}&format=json").json["$schema"].startswith("https://vega.github.io/")
    marks = served.ask(asked, x_fragment="figure").text
    assert "/query?query=q" in marks


def test_charts_that_cannot_be(served: Server) -> None:
    for asked, says in {
        "kind=pie": "unknown chart 'pie'",
        "kind=scatter": "scatter needs judgements and two runs; got 4: bm25, dense, hybrid, short.",
        "kind=cmc&bins=4": "cmc has no option bins.",
        "kind=cmc&k=x": "k must be a whole number from 1; got 'x'.",
        "kind=gallery": "the chart gallery is not supported here.",
        "kind=power": "the chart power is not supported here.",
    }.items():
        answer = served.ask(f"/chart?{asked}")
        assert answer.status == 400
        assert says in words(answer.text)


def three_close_systems(folder: Path) -> Path:
    """Three runs of 40 queries: the pair "a" and "b" is significant alone, but not among three."""
    ranks = {
        "a": [2, 3, 2] + [1] * 37,
        "b": [1] * 30 + [2, 2, 3, 2, 3, 2, 2, 3, 3, 4],
        "c": [1] * 20 + [2] * 8 + [1] * 6 + [3] * 6,
    }
    (folder / "qrels.txt").write_text("".join(f"q{q} 0 x 1\n" for q in range(40)))
    for name, places in ranks.items():
        lines = [
            f"q{q} Q0 {'x' if rank == place else f'{name}{rank}'} {rank} {9 - rank} {name}\n"
            for q, place in enumerate(places)
            for rank in range(1, 6)
        ]
        (folder / f"{name}.run").write_text("".join(lines))
    return folder


@pytest.mark.parametrize("baseline", [None, "a"])
def test_a_pair_has_one_verdict_by_every_way_in(
    server: Serve, tmp_path: Path, baseline: str | None
) -> None:
    folder = three_close_systems(tmp_path)
    runs = [folder / f"{name}.run" for name in "abc"]
    alone = judged.compare(folder / "qrels.txt", runs[:2], "RR").pair()
    assert alone.verdict == "worse"
    compared = judged.compare(folder / "qrels.txt", runs, "RR", baseline=baseline)
    pair = compared.pair("b", "a")
    # Without a baseline p is corrected for three comparisons, with one for two.
    assert pair.verdict == ("not significant" if baseline is None else "worse")
    assert alone.p <= pair.corrected_p

    named = "" if baseline is None else f"&baseline={baseline}"
    served = server(folder)
    api = served.ask(f"/api/compare?measure=RR{named}").json
    report = judged.report(folder / "qrels.txt", runs, "RR", baseline=baseline)
    chart = served.ask(
        f"/chart?kind=forest&system=b&against=a&of=RR&measure=RR{named}&format=csv"
    ).text
    found = {
        "API": [
            (row["verdict"], row["corrected_p"])
            for row in api["pairs"]
            if (row["run"], row["against"]) == ("b", "a")
        ],
        "report": [
            (row.verdict, row.corrected_p)
            for row in report.contents.comparison.rows  # type: ignore[union-attr]
            if {row.run, row.against} == {"b", "a"}  # the better one comes first
        ],
        "chart": [
            (row["verdict"], row["corrected_p"])
            for row in pl.read_csv(chart.encode()).iter_rows(named=True)
        ],
    }
    expected = [(pair.verdict, pair.corrected_p)]
    assert {way: [(v, pytest.approx(p)) for v, p in rows] for way, rows in found.items()} == (
        dict.fromkeys(found, expected)
    )
    two = words(served.ask(f"/compare?measure=RR&system=b&against=a{named}").text)
    assert verdict_heading(pair, compared.settings).title in two
    assert f"corrected p{shown_p(pair.corrected_p)}" in two
    number = "3" if baseline is None else "2"
    assert f"Holm over {number} comparisons of RR among all 3 runs" in two
    # A row of the leaderboard never has a rank that its own verdict excludes.
    for page in (served.ask(f"/?measure=RR{named}").text, report.to_html()):
        ranks = re.findall(r'class="right rank">([^<]*)<', page)
        best = [f"{p.rank_low}–{p.rank_high}".replace("1–1", "1") for p in compared.leaderboard()]
        assert ranks == [f"{rank}" for rank in best]
