"""The leaderboard: its numbers are those of the library under every term."""

from __future__ import annotations

import contextlib
import re
import shlex
from base64 import b64decode
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from PIL import Image

import judged
from judged.cli import main
from judged.measures import parse_measure
from judged.measures.reference import find_topic
from judged.web.pages.numbers import plain_number
from support.boards import columns, numbers, shown_code, words
from support.served import Serve, Server, lists, write_judgements, write_run

SYSTEMS = ("bm25", "dense", "hybrid", "short")
TERMS: dict[str, dict[str, Any]] = {
    "": {},
    "ties=worst": {"policy": {"ties": "worst"}},
    "ties=input": {"policy": {"ties": "input"}},
    "ties=expected": {"policy": {"ties": "expected"}},
    "missing=skip": {"policy": {"missing": "skip"}},
    "empty=one": {"policy": {"empty": "one"}},
    "empty=skip": {"policy": {"empty": "skip"}},
    "unjudged=removed": {"policy": {"unjudged": "removed"}},
    "depth=5": {"policy": {"depth": 5}},
    "convention=trec_eval&missing=skip": {"convention": "trec_eval", "policy": {"missing": "skip"}},
    "convention=ranx&missing=zero&measure=ndcg%4010&measure=mrr": {
        "convention": "ranx",
        "policy": {"missing": "zero"},
        "measures": ["ndcg@10", "mrr"],
    },
    "measure=RBP(p%3D0.8)&measure=Rank": {"measures": ["RBP(p=0.8)", "Rank"]},
}


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.filterwarnings("ignore")
def test_numbers_are_those_of_evaluate(server: Serve, data: Path, terms: str) -> None:
    runs = [data / f"{name}.run" for name in SYSTEMS]
    found = judged.evaluate(data / "qrels.txt", runs, **TERMS[terms]).showing(intervals=True)
    answer = server(data).ask(f"/?{terms}")
    assert answer.status == 200
    assert columns(answer.text) == list(found.labels)
    shown = numbers(answer.text)
    assert sorted(shown) == sorted(SYSTEMS)
    for run in found.runs:
        assert shown[run.name] == [plain_number(run.summary[m]) for m in found.measures]
    typed = "measure=" in terms or "convention=" in terms
    first = found.measures[0] if typed else found.labels["nDCG@10"]
    best = max if first.spec.higher_is_better else min
    assert next(iter(shown)) == best(found.runs, key=lambda run: run.summary[first]).name


def test_a_mistyped_measure_marks_its_chip_and_leaves_the_table_alone(served: Server) -> None:
    usual = served.ask("/?measure=AP&measure=RR")
    wrong = served.ask("/?measure=AP&measure=RR&measure=nDGC%4010")
    assert wrong.status == 400
    assert numbers(wrong.text) == numbers(usual.text)
    assert '<li class="chip refused">' in wrong.text
    with pytest.raises(judged.errors.MeasureError) as refused:
        parse_measure("nDGC@10")
    assert str(refused.value) in words(wrong.text)
    alone = served.ask("/?measure=AP&measure=RR&measure=nDGC%4010", x_fragment="main")
    assert alone.status == 200


def test_what_a_measure_means(server: Serve, data: Path) -> None:
    page = words(server(data).ask("/?measure=AP&about=AP").text)
    known = judged.AP.definition()
    assert known["definition"] in page
    assert known["reference"] in page
    assert "1/N Σ_(i≤k) [g_i ≥ rel] P@i" in page


def test_columns_are_sorted_by_and_turned(served: Server) -> None:
    down = list(numbers(served.ask("/?sort=RR").text))
    up = list(numbers(served.ask("/?sort=RR&order=ascending").text))
    assert down == up[::-1]
    assert list(numbers(served.ask("/?sort=system").text)) == sorted(SYSTEMS)
    assert 'aria-sort="ascending"' in served.ask("/?sort=RR&order=ascending").text
    refused = served.ask("/?sort=P%401")
    assert refused.status == 400
    assert (
        "unknown column 'P@1' to sort by; did you mean 'P@10'? "
        "The columns are AP, nDCG@10, RR, P@10, R@100, system, judged@10." in words(refused.text)
    )


@pytest.mark.filterwarnings("ignore")
def test_differences_to_a_baseline(server: Serve, data: Path) -> None:
    page = server(data).ask("/?baseline=bm25&measure=AP").text
    runs = [data / f"{name}.run" for name in SYSTEMS]
    found = judged.compare(data / "qrels.txt", runs, "AP", baseline="bm25")
    for row in found.rows:
        assert f'title="{row.says}"'.replace("'", "&#39;") in page
    assert page.count('class="against"') == 3
    gone = server(data).ask("/?baseline=bm26")
    assert gone.status == 404
    assert "Unknown system 'bm26'; did you mean 'bm25'?" in words(gone.text)


@pytest.mark.filterwarnings("ignore")
def test_how_far_it_could_go(server: Serve, data: Path) -> None:
    page = words(server(data).ask("/?ranges=1&measure=RR").text)
    runs = [data / f"{name}.run" for name in SYSTEMS]
    found = judged.evaluate(data / "qrels.txt", runs, "RR").showing(
        tie_range=True, unjudged_range=True
    )
    for name in SYSTEMS:
        low, high = sorted(found.unjudged_range("RR", name))
        assert f"unjudged {plain_number(low)} to {plain_number(high)}" in page
        worst, _, best = found.tie_range("RR", name)
        assert f"ties {plain_number(worst)} to {plain_number(best)}" in page


def test_moves_after_a_change_of_terms(server: Serve, data: Path) -> None:
    was = quote("measure=AP")
    page = server(data).ask(f"/?measure=AP&unjudged=removed&was={was}").text
    assert page.count('class="moved') == 4
    assert page.count('class="before"') == 5  # one for each number, and one in the legend
    assert "4 of 4 numbers moved" in words(page)


def test_slices_are_those_of_compare(server: Serve, data: Path) -> None:
    rows = [f"q{query},{'long' if query % 2 else 'short'}" for query in range(20)]
    (data / "kinds.csv").write_text("query,kind\n" + "\n".join(rows) + "\n")
    page = server(data).ask("/?measure=AP&slices=kind").text
    runs = [data / f"{name}.run" for name in SYSTEMS]
    with pytest.warns():
        found = judged.compare(data / "qrels.txt", runs, "AP", slices=data / "kinds.csv")
    table = page.partition('aria-label="Slices"')[2].partition("</table>")[0]
    for each in (each for each in found.slices if each.attribute == "kind"):
        for name in SYSTEMS:
            assert plain_number(each.intervals["AP", name].estimate) in words(table)
    refused = server(data).ask("/?slices=knd")
    assert refused.status == 400
    assert "unknown attribute 'knd'; did you mean 'kind'?" in words(refused.text)


def test_one_system_has_no_ranks(server: Serve, tmp_path: Path, data: Path) -> None:
    for name in ("dense", "hybrid", "short"):
        (data / f"{name}.run").unlink()
    page = server(data).ask("/?measure=RR").text
    value = judged.evaluate(data / "qrels.txt", data / "bm25.run", "RR").value()
    assert f"bm25 has {value:.3f} on RR" in words(page)
    assert "Compare selected" not in page


def test_a_run_that_lacks_many_queries_is_not_compared_and_says_why(
    server: Serve, data: Path
) -> None:
    few = dict(list(lists(seed=3).items())[:10])
    write_run(data / "few.run", few, "few")
    page = words(server(data).ask("/?measure=RR").text)
    assert "has the highest RR" in page
    few_of = [data / f"{name}.run" for name in ("bm25", "few")]
    with pytest.raises(judged.errors.PolicyError) as refused:
        judged.compare(data / "qrels.txt", few_of, "RR")
    assert str(refused.value) in page


@pytest.mark.filterwarnings("ignore")
def test_files_to_save_hold_the_same_numbers(served: Server, data: Path) -> None:
    runs = [data / f"{name}.run" for name in SYSTEMS]
    found = judged.evaluate(data / "qrels.txt", runs, "AP, RR").showing(intervals=True)
    answer = served.ask("/download?format=csv&measure=AP&measure=RR")
    assert answer.text == found.to_csv()
    assert answer.headers["content-disposition"] == 'attachment; filename="leaderboard.csv"'
    answer = served.ask("/download?format=json&measure=AP&measure=RR")
    assert answer.json["runs"][0]["scores"] == found.to_dict()["runs"][0]["scores"]
    # The table as text is that of the page: its rows, in its order, without columns of intervals.
    plain = judged.evaluate(data / "qrels.txt", runs, "AP, RR")
    for form, written in (("tex", plain.to_latex), ("md", plain.to_markdown)):
        for order in ("ascending", "descending"):
            address = f"measure=AP&measure=RR&sort=RR&order={order}"
            saved = served.ask(f"/download?format={form}&{address}").text
            listed = re.findall(r"^\|? ?(\w+) [&|]", saved, re.MULTILINE)
            assert listed[1:] == list(numbers(served.ask(f"/?{address}").text))
            if order == "descending":
                rows = [line for line in saved.splitlines() if re.match(r"[\w|]", line)]
                assert set(rows) <= set(written(sort="RR").splitlines())
    assert served.ask("/download?format=doc").status == 400


@pytest.mark.filterwarnings("ignore")
def test_what_was_found_leads_to_what_it_speaks_of(served: Server, data: Path) -> None:
    page = served.ask("/found?measure=RR").text
    runs = [data / f"{name}.run" for name in SYSTEMS]
    found = judged.evaluate(data / "qrels.txt", runs, "RR")
    said = words(page)
    for text in found.warnings():
        assert text.partition(" (see ")[0].removesuffix(".") in said
    assert '<a href="/?measure=RR&amp;ranges=1">Show the range</a>' in page
    assert '<a href="/queries?measure=RR">Show the queries</a>' in page
    alone = served.ask("/found?measure=RR", x_fragment="figure").text
    assert alone.strip().startswith('<ul class="notes">')


@pytest.mark.filterwarnings("ignore")
def test_the_report_is_that_of_the_command(served: Server, tmp_path: Path) -> None:
    page = served.ask("/report?measure=AP&measure=RR&empty=skip&baseline=bm25")
    assert page.status == 200
    assert "The report is ready" in words(page.text)
    saved = served.ask("/report?measure=AP&measure=RR&empty=skip&baseline=bm25&save=1")
    assert saved.headers["content-disposition"] == 'attachment; filename="report.html"'
    assert saved.text.startswith("<!DOCTYPE html>")
    command = shlex.split(shown_code(page.text).replace("\\\n", ""))
    with contextlib.chdir(tmp_path), pytest.raises(SystemExit) as ended:
        main(command[1:])
    assert ended.value.code == 0
    ours, theirs = words(saved.text), words((tmp_path / "report.html").read_text())
    assert ours.partition("Methods")[0] == theirs.partition("Methods")[0]


def test_the_report_shows_the_texts_of_the_folder(server: Serve, data: Path) -> None:
    (data / "queries.csv").write_text("query,text\nq1,how do tides come about\n")
    served = server(data)
    assert f"--queries {data}/queries.csv" in shown_code(served.ask("/report?measure=AP").text)
    assert "how do tides come about" in served.ask("/report?measure=AP&save=1").text


@pytest.mark.filterwarnings("ignore")
def test_the_report_has_the_order_baseline_policy_and_slices_of_the_page(
    server: Serve, data: Path
) -> None:
    rows = "".join(f"q{at},{'long' if at % 2 else 'short'}\n" for at in range(20))
    (data / "kinds.csv").write_text("query_id,length\n" + rows)
    query = "?measure=AP&measure=RR&sort=RR&baseline=bm25&unjudged=removed&slices=length&depth=9"
    served = server(data)
    page = served.ask(f"/{query}").text
    [href] = re.findall(r'href="(/report[^"]*)">Write report', page)
    saved = served.ask(f"{unescape(href)}&save=1").text
    title = re.search(r"<h1>(.*?)</h1>", page)
    assert title is not None
    assert title[0] in saved
    assert "RR, length" in words(saved)
    assert "unjudged=removed" in saved
    command = shown_code(served.ask(unescape(href)).text)
    assert "-m RR -m AP" in command
    assert f"--baseline bm25 --slices {data}/kinds.csv" in command
    # Without measures, both rank by nDCG@10.
    first = served.ask("/").text
    assert re.search(r"<h1>[^<]*nDCG@10", first)
    assert "-m nDCG@10 -m AP" in shown_code(served.ask("/report").text)


def test_no_picture_outside_the_folder_gets_into_a_report(
    server: Serve, data: Path, tmp_path: Path
) -> None:
    Image.new("RGB", (8, 8), "red").save(tmp_path / "secret.png")
    Image.new("RGB", (8, 8), "blue").save(data / "inside.png")
    (data / "link.png").symlink_to(tmp_path / "secret.png")
    places = ["inside.png", "../secret.png", str(tmp_path / "secret.png"), "link.png", "gone.png"]
    rows = "".join(f"d{at},{places[at % 5]}\n" for at in range(30))
    (data / "pictures.csv").write_text("id,picture\n" + rows)
    saved = server(data).ask("/report?measure=RR&save=1").text
    pictures = set(re.findall(r"data:image/png;base64,([^\"]*)", saved))
    assert len(pictures) == 1
    with Image.open(BytesIO(b64decode(pictures.pop()))) as shown:
        assert shown.convert("RGB").getpixel((0, 0)) == (0, 0, 255)
    assert "pictures that cannot be read (d" in saved


@pytest.mark.parametrize("phrase", ["confusion matrix", "AUC-PR", "choose K"])
def test_people_s_words_for_what_is_no_measure_lead_on(
    server: Serve, data: Path, phrase: str
) -> None:
    answer = server(data).ask("/?" + urlencode({"measure": phrase}))
    assert f"'{phrase}' is not a measure. {find_topic(phrase)[0]}" in words(answer.text)  # type: ignore[index]
    known = dict(re.findall(r'<option value="([^"]*)">([^<]*)</option>', answer.text))
    assert unescape(known[phrase]) == find_topic(phrase)[0]  # type: ignore[index]
    assert known["AP"] == "Average precision"
    assert "hit rate" in known["Success"]
    assert known["MRR"] == known["RR"]


@pytest.mark.filterwarnings("ignore")
def test_the_heading_says_when_unjudged_results_could_change_the_winner(
    server: Serve, tmp_path: Path
) -> None:
    write_judgements(tmp_path / "qrels.txt", {f"q{at}": {"a": 1, "b": 0} for at in range(6)})
    for name, item in (("first", "a"), ("second", "new"), ("third", "b")):
        write_run(tmp_path / f"{name}.run", {f"q{at}": {item: 1.0} for at in range(6)})
    served = server(tmp_path)
    # P@1 is 1, 0 and 0: with "new" relevant and "a" not touched, second equals first.
    assert "could still lead" not in words(served.ask("/?measure=P@1").text)
    # With two results, second can have both relevant.
    more = {f"q{at}": {"new": 2.0, "newer": 1.0} for at in range(6)}
    write_run(tmp_path / "second.run", more)
    served = server(tmp_path)
    page = words(served.ask("/?measure=P@2").text)
    assert "second could still lead: 100 % of its top 10 is unjudged. Judge those." in page
