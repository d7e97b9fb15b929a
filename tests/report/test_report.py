"""What is in a report: every number is the library's, and everything says where it comes from."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import judged
from judged.charts import kinds
from judged.errors import InputError, OutputError
from judged.measures.reference import readable
from judged.rankings.strips import strips
from judged.web.pages.pairs import without_options
from judged.web.report.report import report_of
from support.errors import error_of
from support.reported import generated, run_text, write_files

MEASURES = ["nDCG@10", "RR", "P@3"]


@pytest.fixture
def files(folder: Path) -> list[str]:
    return write_files(folder)


@pytest.fixture
def report(files: list[str]) -> judged.results.Report:
    return judged.report(files[0], files[1:], MEASURES, baseline="bm25")


def section(html: str, name: str) -> str:
    """One part of a report."""
    found = re.search(
        rf'<section id="{name}">(.*?)</section>\s*(?:<section id|</main>)', html, re.S
    )
    return found[1] if found else ""


def words(html: str) -> str:
    """What people read."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def rows(html: str, measure: str) -> dict[str, list[str]]:
    """The cells of a table of every query."""
    table = re.search(rf'aria-label="Every query, {re.escape(measure)}".*?</table>', html, re.S)
    assert table
    body = table[0].partition("<tbody>")[2].partition("</tbody>")[0]
    cells = [re.split(r"<t[hd][^>]*>", row)[1:] for row in body.split("<tr>")[1:]]
    return {unescape(head): own for head, *own in cells}


def test_every_value_and_strip_of_every_query_is_the_librarys(
    report: judged.results.Report,
) -> None:
    html, evaluation = report.to_html(), report.contents.evaluation
    drawn = {run.name: strips(evaluation.rankings[run.name], 10).codes() for run in evaluation.runs}
    for label, measure in evaluation.labels.items():
        found = rows(html, label)
        assert list(found) == sorted(evaluation.runs[0].rankings.queries)
        for place, run in enumerate(evaluation.runs):
            for at, query in enumerate(run.rankings.queries):
                value, _, strip = found[query][place].strip().partition("\n")
                assert value == f"{run.values[measure][at]:.4f}"
                assert strip == (drawn[run.name][at] if label == "nDCG@10" else "")


def test_the_summary_has_all_numbers_with_intervals_and_ranks(
    report: judged.results.Report,
) -> None:
    shown, contents = section(report.to_html(), "summary"), report.contents
    plain = re.sub(r"</?[bi]>", "", shown)
    for run in contents.evaluation.runs:
        for measure in contents.evaluation.measures:
            assert f"{run.summary[measure]:.4f}" in plain
            assert f"from {run.intervals[measure].low:.4f}".replace("-", "−") in plain
    assert contents.comparison is not None
    ranks = [
        f"{each.rank_low}–{each.rank_high}" if each.rank_low != each.rank_high else each.rank_low
        for each in contents.comparison.leaderboard(contents.by)
    ]
    assert re.findall(r'class="right rank">([^<]*)<', shown) == [str(rank) for rank in ranks]


def test_the_comparison_is_that_of_the_library(
    files: list[str], report: judged.results.Report
) -> None:
    compared = judged.compare(files[0], files[1:], MEASURES, baseline="bm25")
    shown = words(section(report.to_html(), "comparison"))
    for row in compared.rows:
        assert f"{row.difference:+.4f}".replace("-", "−") in shown
        assert f"{row.wins} · {row.ties} · {row.losses}" in shown


def test_wins_and_losses_are_the_biggest_and_have_the_sums(report: judged.results.Report) -> None:
    contents = report.contents
    differences = contents.differences
    assert differences is not None
    assert contents.pair is not None
    assert contents.pair[1] == "bm25"
    wins, losses = contents.listed
    gained = [difference for _, difference, *_ in wins]
    assert gained == sorted(differences.values(), reverse=True)[: len(gained)]
    below = sorted(value for value in differences.values() if value < 0)
    assert [difference for _, difference, *_ in losses] == below[:5]
    shown = words(section(report.to_html(), "lists"))
    for *_, sides in (*wins, *losses):
        for _, value, explanation in sides:
            assert explanation.value == value
            assert explanation.arithmetic.rpartition(" = ")[2] in shown
    first = wins[0][3][1][2]
    assert all(item in shown for item in first.items.values())


def test_definitions_policy_audit_methods_and_sources(report: judged.results.Report) -> None:
    html, evaluation = report.to_html(), report.contents.evaluation
    meaning, methods = words(section(html, "meaning")), words(section(html, "methods"))
    for measure in evaluation.measures:
        assert words(measure.describe()) in meaning
        assert words(readable(measure.formula)) in meaning
    for sentence in evaluation.policy.sentences().values():
        assert sentence[1:] in meaning
    for line in evaluation.sentences():
        kind, _, text = line.partition(": ")
        if kind in ("warning", "note"):
            assert words(without_options(text)) in meaning
    assert report.contents.comparison is not None
    assert words(report.contents.comparison.methods()) in methods
    assert "@misc{jarvelin2002," in methods
    assert "@software{judged," in methods


def test_the_winner_comes_first_and_the_first_page_says_up_to_three_things(
    files: list[str],
) -> None:
    report = judged.report(files[0], files[1:], MEASURES)
    comparison = report.contents.comparison
    assert comparison is not None
    best, second, *_ = (place.run for place in comparison.leaderboard(MEASURES[0]))
    assert report.contents.pair == (best, second)
    html = report.to_html()
    # The chart has the measure that ranks systems, the table all measures.
    forest = next(text for text in html.split("<figure")[1:] if "differences of all pairs" in text)
    assert f"{MEASURES[0]}: first minus second" in forest
    assert not any(f"{name}: first minus second" in html for name in MEASURES[1:])
    summary = section(html, "summary")
    assert 1 <= summary.partition("What to know")[2].count('class="note ') <= 3


def test_files_have_names_sizes_and_hashes_and_no_place(
    report: judged.results.Report, files: list[str], folder: Path
) -> None:
    html = report.to_html()
    assert str(folder) not in html
    assert folder.name not in html
    shown = words(section(html, "methods"))
    for name in files:
        content = Path(name).read_bytes()
        assert f"{len(content):,} {hashlib.sha256(content).hexdigest()}" in shown
        assert name in shown


def test_two_files_of_one_name_get_their_folders(folder: Path) -> None:
    for name in ("old", "new"):
        Path(name).mkdir()
        (Path(name) / "top.run").write_text(run_text(name, 2))
    write_files(folder)
    found = judged.report("qrels.txt", {"a": "old/top.run", "b": "new/top.run"}, "RR")
    names = [file["name"] for file in found.contents.files]
    assert names == ["qrels.txt", "old/top.run", "new/top.run"]
    assert found.contents.again == (
        "judged report qrels.txt a=old/top.run b=new/top.run -m RR -o report.html"
    )


def test_the_same_input_gives_the_same_bytes(files: list[str]) -> None:
    one, other = (judged.report(files[0], files[1:]).to_html() for _ in range(2))
    assert one == other
    dated = replace(judged.report(files[0], files[1:]), date="16 November 2026")
    assert "16 November 2026" in dated.to_html()
    assert "2026" not in words(one)


def test_without_measures_systems_are_ranked_by_ndcg(files: list[str]) -> None:
    found = judged.report(files[0], files[1:])
    assert list(found.contents.evaluation.labels) == ["nDCG@10", "AP", "RR", "P@10", "R@100"]


def test_one_run_alone_has_its_hardest_queries(files: list[str]) -> None:
    found = judged.report(files[0], files[1], MEASURES)
    html, run = found.to_html(), found.contents.evaluation.runs[0]
    assert section(html, "comparison") == ""
    values = run.values[found.contents.measure]
    assert [sides[0][1] for *_, sides in found.contents.listed[1]] == sorted(values)[:5]
    assert "Hardest queries" in html
    assert "class=better" not in html


def test_runs_that_lack_queries_are_not_compared_unless_somebody_says_so(folder: Path) -> None:
    write_files(folder)
    Path("short.run").write_text(run_text("short", 2, range(6)))
    given = ("qrels.txt", ["bm25.run", "short.run"], "RR")
    found = judged.report(*given)
    says = (
        "short has no results for 6 (q6, q7, q8, …) of the 12 judged queries that bm25 has. Did it "
        "run on all of them? To compare anyway, use policy={'missing': 'zero'} "
        "to score these queries 0, or missing=skip to leave them out."
    )
    assert found.sentences()[-1] == says
    assert words(found.to_html()).count(says) == 1
    assert found.contents.comparison is None
    assert judged.report(*given, policy={"missing": "zero"}).contents.comparison is not None
    evaluation = judged.evaluate(*given)
    assert evaluation.report().contents.comparison is None
    assert evaluation.report(missing="zero").contents.comparison is not None


def test_runs_of_different_queries_stand_beside_each_other() -> None:
    random = np.random.default_rng(5)
    one, other = random.normal(size=(6, 4)), random.normal(size=(9, 4))
    pairs = {f"{at}": {f"{at}": 1} for at in range(6)}
    found = judged.Embeddings(one, other).evaluate(pairs, "RR", both=True)
    html = found.report().to_html()
    assert "The runs are about different queries, and are not compared." in html
    assert len(rows(html, "RR")) == len({q for run in found.runs for q in run.rankings.queries})


def test_ties_without_an_order_say_why_there_is_no_list(folder: Path, files: list[str]) -> None:
    found = judged.report(files[0], files[1:], "RR", policy={"ties": "expected"})
    assert "an explanation goes through one order of the results" in found.to_html()


def test_charts_that_cannot_be_drawn_say_why(files: list[str]) -> None:
    weights = {f"q{query}": 1 + query for query in range(12)}
    found = judged.report(files[0], files[1:], "nDCG@10", weights=weights)
    assert "this chart counts every query once" in words(found.to_html())


def test_without_the_extra_for_charts_there_is_a_report_all_the_same(
    files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    shown = words(judged.report(files[0], files[1:], "RR").to_html())
    assert 'pip install "judged[charts]"' in shown
    assert kinds.KINDS["forest"].title in shown


def test_texts_of_items_and_queries_stand_in_the_lists(files: list[str]) -> None:
    found = judged.report(
        files[0],
        files[1:],
        "RR",
        texts={f"d{at}": {"title": f"Title of {at}", "text": "words"} for at in range(30)},
        queries={f"q{at}": f"question {at}?" for at in range(12)},
    )
    html = found.to_html()
    listed, every = section(html, "lists"), section(html, "every-query")
    assert "Title of 1" in listed
    assert "question 1?" in listed
    assert all(f"<small>question {at}?</small>" in every for at in range(12))
    assert found.contents.again is None
    assert found.contents.explains is not None


def test_slices_are_those_of_the_comparison(files: list[str]) -> None:
    slices = {f"q{at}": {"language": "de" if at % 2 else "en"} for at in range(12)}
    found = judged.report(files[0], files[1:], ["RR", "P@3"], slices=slices)
    shown = words(section(found.to_html(), "slices"))
    assert "RR, language" in shown
    assert "de" in shown
    compared = found.contents.comparison
    assert compared is not None
    assert all(each.says in shown for each in compared.slices.differences)


def test_a_comparison_is_reported_as_it_was_made(files: list[str]) -> None:
    compared = judged.compare(files[0], files[1:], MEASURES, test="sign", level=0.9)
    found = compared.report(measure="RR").contents
    assert found.comparison is compared
    assert found.by == "RR"
    two = judged.compare(files[0], files[1:3], MEASURES)
    assert two.report().contents.comparison.rows == two.rows  # type: ignore[union-attr]


def test_values_of_another_tool_and_repeats_are_refused() -> None:
    values = judged.compare_values({"a": {"1": 0.5, "2": 0.1}, "b": {"1": 0.25, "2": 0.2}})
    assert error_of(values.report) == (
        "a report shows rankings, and this comparison is of values of another tool; save it as "
        ".html instead."
    )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"baseline": "bm52"},
            "unknown run 'bm52' to compare with; did you mean 'bm25'? The runs are bm25, dense, "
            "rerank.",
        ),
        ({"max_sizes": 5}, "report has no option 'max_sizes'."),
    ],
)
def test_wrong_options(files: list[str], options: dict[str, str], says: str) -> None:
    assert error_of(judged.report, files[0], files[1:], "RR", **options) == says


@pytest.mark.parametrize("options", [{"baseline": "bm25"}, {"slices": True}])
def test_one_run_has_no_use_for_what_compares(files: list[str], options: dict[str, object]) -> None:
    with pytest.raises(InputError, match="a report of one run has no use for"):
        judged.report(files[0], files[1], "RR", **options)


@pytest.mark.full
@pytest.mark.parametrize(
    ("systems", "queries", "most", "further"), [(5, 1_000, 1_050_000, 4), (10, 7_000, 3 * 10**6, 0)]
)
def test_large_reports_are_small_files(
    systems: int, queries: int, most: int, further: int, needs: object
) -> None:
    found = report_of(generated(systems, queries, ["nDCG@10", "AP", "RR", "P@10", "R@100"]))
    html = found.to_html()
    assert len(html.encode()) < most
    assert html.count('class="every ') == 1 + further
    left_out = "Left out: every query's values of further measures, to keep this file small."
    assert (left_out in words(html)) == (not further)


def test_only_html_is_written(report: judged.results.Report, folder: Path) -> None:
    with pytest.raises(OutputError) as refused:
        report.save("report.pdf")
    assert str(refused.value) == "report.pdf: the ending says the format, and must be .html."
    report.save("report.html")
    assert Path("report.html").read_text(encoding="utf-8") == report.to_html()
