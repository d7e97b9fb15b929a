"""The page of agreement: what it shows is the library's, and differences are settled apart."""

from __future__ import annotations

import json
import re
import shlex
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest

import judged
from judged.judgements.annotators import Annotator, settled_in
from judged.web.pages.numbers import plain_number
from support.judging import pressed
from support.served import Answer, Serve, Server

pytestmark = pytest.mark.filterwarnings("ignore")
NAMES = ("bm25", "dense", "hybrid", "short")


def both(data: Path) -> dict[str, Annotator]:
    """Two annotators, who differ on every third item."""
    found = {name: Annotator(data, name) for name in ("ar", "bo")}
    for at in range(24):
        place = f"q{at % 6}", f"d{at}"
        found["ar"].grade(*place, at % 3)
        found["bo"].grade(*place, (at + (at % 3 == 0)) % 3)
    return found


def settle(server: Server, **given: object) -> Answer:
    return pressed(server, "/agreement", **given)


def test_agreement_is_that_of_the_library(served: Server, data: Path) -> None:
    alone = served.ask("/agreement")
    assert alone.status == 200
    assert "Two annotators are needed" in alone.text
    assert "Nobody has judged here yet." in alone.text
    assert "band refused" not in alone.text
    says = "Agreement is of two annotators or more, and no annotator has judged here yet."
    assert served.ask("/api/agreement").json["error"].startswith(says)
    assert 'href="/agreement"' not in served.ask("/files").text
    two = both(data)
    served.app.app.state.explorer.library.look_again()
    assert 'href="/agreement"' in served.ask("/files").text
    page = served.ask("/agreement").text
    found = judged.agreement({name: each.qrels for name, each in two.items()})
    for interval in (found.kappa, found.alphas["ordinal"], found.agreement):
        for number in (interval.estimate, interval.low, interval.high):
            assert plain_number(number, 3) in page
    assert served.ask("/api/agreement").json == json.loads(found.to_json())
    assert "8 items with different grades" in page
    for name in NAMES:
        assert name in page
    # The command of the page gives the same: the files of the annotators, compared.
    [command] = re.findall(r"<code>(judged agreement .*?)\njudged merge", page, re.DOTALL)
    files = shlex.split(unescape(command).replace("\\\n", ""))[2:]
    assert judged.agreement(files).to_dict()["pairs"] == found.to_dict()["pairs"]


def test_the_order_under_each_annotator_is_that_of_merged_judgements(
    server: Serve, data: Path
) -> None:
    two = both(data)
    page = server(data).ask("/agreement").text
    runs = [str(data / f"{name}.run") for name in NAMES]
    for each in two.values():
        given = {"own": each.qrels, "collection": data / "qrels.txt"}
        under = judged.merge_judgements(given, rule="first")
        found = judged.evaluate(under, runs, "nDCG@10")
        for name in NAMES:
            assert f"{found.value(run=name):.4f}" in page


def test_differences_are_settled_by_a_judge_of_its_own(server: Serve, data: Path) -> None:
    two = both(data)
    running = server(data)
    answer = settle(running, query="q0", item="d0", grade=2)
    assert answer.headers["location"] == "/agreement#differences"
    settled = settled_in(data)
    assert settled.grades() == {"q0": {"d0": 2}}
    assert [each.grades()["q0"]["d0"] for each in two.values()] == [0, 1]
    page = running.ask("/agreement").text
    assert "1 item settled, 7 open" in page
    assert '<th scope="col" class="right">all, settled first</th>' in page
    merged = judged.merge_judgements({name: each.qrels for name, each in two.items()})
    first = judged.merge_judgements({"settled": settled.qrels, "merged": merged}, rule="first")
    whole = judged.merge_judgements({"m": first, "c": data / "qrels.txt"}, rule="first")
    value = judged.evaluate(whole, str(data / "bm25.run"), "nDCG@10").value()
    assert f"{value:.4f}" in page
    settle(running, query="q0", item="d0", action="undo")
    assert settled.grades() == {}
    same = settle(running, query="q1", item="d1", grade=2)
    assert same.status == 404
    assert "Annotators do not differ on this item, or not any more." in same.text
    assert settle(running, query="q0", item="d0", grade=9).status == 400


def test_several_annotators_made_one(server: Serve, data: Path, tmp_path: Path) -> None:
    two = both(data)
    running = server(data)
    settle(running, query="q0", item="d0", grade=2)
    judges = {name: each.qrels for name, each in two.items()}

    def read(path: str) -> dict[tuple[str, str], float]:
        answer = running.ask(path)
        assert answer.status == 200
        file = tmp_path / "merged.qrels"
        file.write_bytes(answer.body)
        rows = judged.read_judgements(file).frame.iter_rows()  # type: ignore[union-attr]
        return {(query, item): grade for query, item, grade in rows}

    for rule in ("majority", "mean", "highest"):
        frame = judged.merge_judgements(judges, rule=rule).to_frame()
        wanted = {(query, item): grade for query, item, grade in frame.iter_rows()}
        assert read(f"/merged?rule={rule}") == wanted
        assert read(f"/merged?rule={rule}&settled=1") == {**wanted, ("q0", "d0"): 2.0}
    whole = read("/merged?settled=1&collection=1")
    rows = judged.read_judgements(data / "qrels.txt").frame.iter_rows()  # type: ignore[union-attr]
    base = {(query, item): grade for query, item, grade in rows}
    assert whole == {**base, **read("/merged?settled=1")}
    assert running.ask("/merged?rule=best").status == 400
    assert running.ask("/merged").headers["content-disposition"] == (
        'attachment; filename="merged-majority.qrels"'
    )


def test_three_annotators_have_pairs_and_one_alpha(server: Serve, data: Path) -> None:
    both(data)
    third = Annotator(data, "cy")
    for at in range(12):
        third.grade(f"q{at % 6}", f"d{at}", at % 2)
    running = server(data)
    page = running.ask("/agreement").text
    assert "3 annotators, 24 items judged by two or more" in page
    assert "Krippendorff's α of all: nominal" in page
    pair = running.ask("/agreement?first=bo&second=cy").text
    assert "<h2>bo and cy</h2>" in pair
    assert running.ask(f"/agreement?first={quote('<b>')}").status == 400
