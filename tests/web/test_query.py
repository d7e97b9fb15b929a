"""The page of one query: lists, values and sums are the library's own."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

import judged
from judged.policy import CHOICES
from support.hostile import FLAG, SCRIPTS
from support.served import Serve, Server, grades, write_judgements, write_run

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000" + "1f15c489"
    "0000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)


def address(path: str = "/query", **params: object) -> str:
    return f"{path}?" + urlencode(params, doseq=True)


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", text)))


@pytest.mark.parametrize("system", ["bm25", "short"])
@pytest.mark.parametrize(
    ("measure", "options"),
    [
        ("AP", {}),
        ("nDCG@5", {"ties": "best"}),
        ("RR", {"unjudged": "removed"}),
        ("P@5", {"depth": 7}),
        ("map_cut_5", {"convention": "trec_eval", "missing": "zero"}),
    ],
)
def test_the_sum_is_that_of_explain(
    server: Serve, data: Path, system: str, measure: str, options: dict[str, object]
) -> None:
    text = (
        server(data)
        .ask(address(query="q4", measure=measure, system=system, explain=measure, **options))
        .text
    )
    policy = {name: value for name, value in options.items() if name in (*CHOICES, "depth")}
    others = {name: value for name, value in options.items() if name not in policy}
    files = str(data / "qrels.txt"), str(data / f"{system}.run")
    told = judged.explain(*files, measure, query="q4", policy=policy or None, **others)  # type: ignore[arg-type]
    said = plain(text)
    assert f"comes to {measure} = {told.settled:.4f}" in said
    for line in told.lines:
        assert line.value.stages()[-1] in said
    for item in [row.item for row in told.rows]:
        assert item is not None
        assert item in said
    if told.improvement:
        assert told.improvement in said


def test_values_are_those_of_evaluate(server: Serve, data: Path) -> None:
    text = server(data).ask(address(query="q7", system=["bm25", "dense", "hybrid"])).text
    files = [str(data / f"{name}.run") for name in ("bm25", "dense", "hybrid")]
    frame = judged.evaluate(str(data / "qrels.txt"), files).to_frame(per_query=True)
    table = text.partition('class="dense values"')[2].partition("</table>")[0]
    rows = [plain(row) for row in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)][1:]
    for row in rows:
        measure, *shown = row.split()
        own = frame.filter(query="q7")
        expected = [own.filter(run=name)[measure].item() for name in ("bm25", "dense", "hybrid")]
        assert shown[:3] == [f"{value:.4f}" for value in expected]
        difference = expected[2] - expected[0]
        assert shown[3].replace("−", "-").lstrip("+-") == f"{abs(difference):.4f}"


def test_lists_are_in_the_order_of_the_library(server: Serve, data: Path) -> None:
    text = server(data).ask(address(query="q7", system="dense", k=50)).text
    shown = re.findall(r'class="heading"[^>]*>([^<]*)<', text)
    told = judged.explain(
        str(data / "qrels.txt"), str(data / "dense.run"), "AP", query="q7", rows=None
    )
    assert shown == [row.item for row in told.rows]


def test_heading_without_and_with_a_text(server: Serve, data: Path) -> None:
    served = server(data)
    relevant = sum(grade > 0 for grade in grades()["q4"].values())
    said = plain(served.ask(address(query="q4")).text)
    assert f"query q4 · {relevant} of 15 judged items are relevant" in said
    (data / "queries.tsv").write_text("query_id\ttext\nq4\tdoes cold weather & rain\n")
    served = server(data)
    assert ">does cold weather &amp; rain</h1>" in served.ask(address(query="q4")).text
    assert ">q5</h1>" in served.ask(address(query="q5")).text


def test_texts_missing_for_some(server: Serve, data: Path) -> None:
    rows = [{"_id": f"d{at}", "title": f"Title {at}", "text": "long " * 2000} for at in range(15)]
    (data / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    text = server(data).ask(address(query="q4", system="bm25", k=50)).text
    shown = re.findall(r'class="heading"[^>]*>([^<]*)<', text)
    assert any(name.startswith("Title ") for name in shown)
    assert any(re.fullmatch(r"d\d+", name) for name in shown)
    assert len(text) < 100_000
    item = re.search(r'class="heading" href="([^"]*)"[^>]*>Title', text)
    assert item is not None
    whole = server(data).ask(unescape(item[1])).text
    assert whole.count("long ") >= 2000
    assert "rank" in plain(whole.partition('id="item"')[2].partition("</section>")[0])


def test_a_table_of_texts_that_cannot_be_read_is_said(server: Serve, data: Path) -> None:
    (data / "corpus.jsonl").write_text('{"_id": "d1", "text": "a"}\n{"_id": "d1", "text": "b"}\n')
    said = plain(server(data).ask(address(query="q4")).text)
    assert 'line 2: item "d1" has a text already; give each one row.' in said


def test_pictures_only_where_a_table_names_them(server: Serve, data: Path, tmp_path: Path) -> None:
    (data / "pictures").mkdir()
    (data / "pictures" / "one.png").write_bytes(PNG)
    (data / "secret.txt").write_text("secret")
    outside = tmp_path / "outside.png"
    outside.write_bytes(PNG)
    (data / "link.png").symlink_to(outside)
    (data / "pictures.csv").write_text(
        "id,picture\nd1,pictures/one.png\nd2,secret.txt\nd3,../outside.png\nd4,link.png\n"
        f"d5,{outside}\nd6,nothing.png\n"
    )
    served = server(data)
    good = served.ask(address("/picture", item="d1"))
    assert (good.status, good.headers["content-type"], good.body) == (200, "image/png", PNG)
    statuses = {
        name: served.ask(address("/picture", item=name)).status
        for name in ("d2", "d3", "d4", "d5", "d6", "d7", "../secret.txt")
    }
    assert statuses == {
        **{"d2": 400, "d3": 404, "d4": 404, "d5": 404, "d6": 404, "d7": 404},
        "../secret.txt": 404,
    }
    html = served.ask(address(query="q4", system="bm25", k=50)).text
    listed = set(re.findall(r'<img src="/picture\?item=([^"&]*)"', html))
    assert listed <= {"d1", "d2", "d6"}


def test_a_query_that_is_gone(server: Serve, data: Path) -> None:
    answer = server(data).ask(address(query="q44", sort="relevant"))
    assert answer.status == 404
    assert "Query 'q44' is not one of the 20 judged queries." in unescape(answer.text)
    near = re.findall(r"<li><a [^>]*>([^<]*)</a>", answer.text)
    assert near[0] == "q4"
    assert len(near) == 8
    assert "sort=relevant" in answer.text


def test_a_system_that_is_gone(server: Serve, data: Path) -> None:
    answer = server(data).ask(address(query="q4", system="bm26"))
    assert answer.status == 404
    assert "Unknown system 'bm26'; did you mean 'bm25'?" in unescape(answer.text)
    assert re.findall(r"<li><a [^>]*>([^<]*)</a>", answer.text)[0] == "bm25"


def test_an_order_of_ties_that_is_none_has_lists_and_no_sum(server: Serve, data: Path) -> None:
    answer = server(data).ask(address(query="q4", ties="expected"))
    assert answer.status == 200
    assert "an explanation goes through one order of the results" in plain(answer.text)
    assert 'class="heading"' in answer.text


def test_the_playground_gets_the_same_list(server: Serve, data: Path) -> None:
    text = server(data).ask(address(query="q4", system="bm25", measure="nDCG@5")).text
    link = re.search(r'href="(/playground\?[^"]*list=[^"]*)"', text)
    assert link is not None
    params = {name: each[0] for name, each in parse_qs(urlsplit(unescape(link[1])).query).items()}
    assert params["k"] == "5"
    assert params["add"] == "nDCG@5"
    # How many are relevant is enough, unless something of a higher grade was not retrieved.
    count = int(params["relevant"]) if "relevant" in params else None
    told = judged.explain(params["list"], measure="nDCG@5", relevant=count, pool=params.get("pool"))
    files = str(data / "qrels.txt"), str(data / "bm25.run")
    assert told.value == judged.explain(*files, "nDCG@5", query="q4").value


def test_steps_go_through_the_order_of_the_table(served: Server, data: Path) -> None:
    params = {"sort": "relevant", "order": "ascending", "find": "q1"}
    text = served.ask(address("/queries", **params)).text.partition("<tbody>")[2]
    links = [unescape(each) for each in re.findall(r'<a href="(/query\?[^"]*)"', text)]
    wanted = [parse_qs(urlsplit(link).query)["query"][0] for link in links]
    walked, link = [], links[0]
    while True:
        walked.append(parse_qs(urlsplit(link).query)["query"][0])
        after = re.search(r'href="([^"]*)"[^>]*data-key="j"', served.ask(link).text)
        if after is None:
            break
        link = unescape(after[1])
    assert walked == wanted
    assert len(walked) == 11


def test_hostile_names_everywhere(server: Serve, tmp_path: Path) -> None:
    names = [name for name in SCRIPTS if name.split() == [name]]
    judgements = {name: {other: at % 3 for at, other in enumerate(names)} for name in names}
    write_judgements(tmp_path / "qrels.txt", judgements)
    run = {name: {other: float(at) for at, other in enumerate(names)} for name in names}
    write_run(tmp_path / "a<b>&'c'.run", run)
    write_run(tmp_path / "plain.run", run)
    rows = [{"_id": name, "title": name, "text": name} for name in names]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    queries = "\n".join(map(json.dumps, ({"_id": name, "text": name} for name in names)))
    (tmp_path / "queries.jsonl").write_text(queries)
    served = server(tmp_path)
    for name in names:
        text = served.ask(address(query=name, item=names[0])).text
        assert text.count("<script") == 2
        assert "<img" not in text
        assert FLAG in text
        assert not re.search(r"<[^>]*\son\w+=", re.sub(r'"[^"]*"', '""', text))


def test_a_query_that_a_run_lacks(server: Serve, data: Path) -> None:
    text = server(data).ask(address(query="q5", system=["bm25", "short"])).text
    assert "The run has no results for this query." in text


def test_a_number_without_a_sum_has_the_command_of_its_value(server: Serve, data: Path) -> None:
    text = server(data).ask("/query?query=q1&ties=expected&missing=zero").text
    assert "judged evaluate" in text
    assert "--per-query" in text
    assert "judged explain" not in text
