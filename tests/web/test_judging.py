"""The judging page: what is kept, what is hidden, what is refused."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

import judged
from judged.errors import InputError
from judged.judgements.annotators import Annotator, settled_in
from judged.web import ServerSettings
from support.boards import words
from support.hostile import NAMES as HOSTILE
from support.judging import FORM, pressed
from support.served import Answer, Serve, Server

pytestmark = pytest.mark.filterwarnings("ignore")
NAMES = ("bm25", "dense", "hybrid", "short")


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    path = tmp_path / "queue.csv"
    rows = [f"q{query},x{item}," for query in range(3) for item in range(4)]
    path.write_text("query,item,grade\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def judging(server: Serve, data: Path, queue: Path) -> Server:
    """A server of the folder and the queue."""
    return server(data, queue=queue)


def shown(answer: Answer) -> dict[str, str]:
    """What lies on the desk, from the address of the form."""
    [action] = re.findall(r'<form method="post" action="([^"]*)" data-judge>', answer.text)
    found = parse_qs(urlsplit(unescape(action)).query)
    return {name: found[name][0] for name in ("query", "item") if name in found}


def test_a_key_is_kept_and_leads_to_the_next_item(judging: Server, data: Path) -> None:
    first = shown(judging.ask("/judge?annotator=ar"))
    answer = pressed(judging, grade=2, note="so so", seconds=3.25, **first)
    assert answer.status == 303
    assert answer.headers["location"].startswith("/judge?annotator=ar&query=q0&item=x")
    following = shown(judging.ask(answer.headers["location"]))
    assert following != first
    ar = Annotator(data, "ar")
    [entry] = ar.log().entries
    assert (entry.place, entry.grade) == ((first["query"], first["item"]), 2)
    assert (entry.note, entry.seconds) == ("so so", 3.2)
    assert ar.qrels.read_text() == f"{first['query']} 0 {first['item']} 2\n"
    back = judging.ask(answer.headers["location"])
    assert "1 of 12 done" in back.text
    assert judging.ask("/judge").status == 200  # the name is kept for the browser


def test_all_items_then_nothing_waits(server: Serve, data: Path, queue: Path) -> None:
    running = server(data, queue=queue, annotator="ar")
    address, seen = "/judge", []
    for at in range(12):
        place = shown(running.ask(address))
        seen.append((place["query"], place["item"]))
        what = {"action": "skip"} if at == 5 else {"grade": at % 3}
        address = pressed(running, **what, **place).headers["location"]
    assert len(set(seen)) == 12
    assert [query for query, _ in seen] == sorted(query for query, _ in seen)
    finished = running.ask(address).text
    assert "Everything is judged" in finished
    assert "11 items of 12 items have a grade from ar." in finished
    again = shown(running.ask("/judge?annotator=ar&skipped=1"))
    assert (again["query"], again["item"]) == seen[5]
    ended = running.ask("/judge?annotator=ar&end=1").text
    assert "Enough for today: 11 items judged" in ended
    assert "1 item skipped" in ended


def test_undo_leads_back_to_what_it_took_back(judging: Server, data: Path) -> None:
    place = shown(judging.ask("/judge?annotator=ar"))
    pressed(judging, grade=3, **place)
    answer = pressed(judging, action="undo")
    found = parse_qs(urlsplit(answer.headers["location"]).query)
    assert (found["query"], found["item"]) == ([place["query"]], [place["item"]])
    assert Annotator(data, "ar").grades() == {}
    assert pressed(judging, action="undo").status == 303


def test_a_note_alone_stays_on_the_item(judging: Server, data: Path) -> None:
    place = shown(judging.ask("/judge?annotator=ar"))
    answer = pressed(judging, action="note", note="two\r\nlines <b>", **place)
    page = judging.ask(answer.headers["location"])
    assert shown(page) == place
    assert "two\nlines &lt;b&gt;</textarea>" in page.text
    pressed(judging, grade=1, **place)
    assert Annotator(data, "ar").log().standing[tuple(place.values())].note == "two\nlines <b>"


def test_a_script_gets_the_next_address(judging: Server) -> None:
    place = shown(judging.ask("/judge?annotator=ar"))
    address = f"/judge?{urlencode({'annotator': 'ar', **place})}"
    json_too = {"content_type": FORM, "accept": "application/json"}
    answer = judging.ask(address, method="POST", body=b"grade=1", **json_too)
    assert answer.status == 200
    assert answer.json["next"].startswith("/judge?annotator=ar&query=q0")


def test_texts_and_pictures_are_shown(server: Serve, data: Path, queue: Path) -> None:
    (data / "one.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    rows = "".join(f"{name},one.png\n" for name in ("q0", "x0", "x1", "x2", "x3"))
    (data / "pictures.csv").write_text("id,picture\n" + rows)
    (data / "queries.tsv").write_text("query_id\ttext\nq0\tWhy <b>?\n")
    texts = "".join(f"x{at}\tTitle {at}\tText & {at}\n" for at in range(4))
    (data / "corpus.tsv").write_text("doc_id\ttitle\ttext\n" + texts)
    page = server(data, queue=queue).ask("/judge?annotator=ar")
    item = shown(page)["item"]
    assert '<h1 class="asked">Why &lt;b&gt;?</h1>' in page.text
    assert f"<h2>Title {item[1]}</h2>" in page.text
    assert f"Text &amp; {item[1]}</p>" in page.text
    assert re.findall(r'<img[^>]* src="([^"]*)"', page.text) == [
        "/picture?item=q0",
        f"/picture?item={item}",
    ]


@pytest.mark.parametrize("by", ["effect", "depth"])
def test_the_queue_is_that_of_the_library(served: Server, data: Path, by: str) -> None:
    runs = {name: str(data / f"{name}.run") for name in NAMES}
    wanted = judged.queue(str(data / "qrels.txt"), runs, depth=5, by=by)
    page = served.ask(f"/judge?annotator=ar&by={by}&k=5")
    assert f"0 of {len(wanted.items):,} done" in page.text
    assert shown(page)["query"] == wanted.queries[0]
    assert re.search(r"<option value=\"" + by + r"\" selected>", page.text)


def test_the_page_is_blind(served: Server, data: Path) -> None:
    page = served.ask("/judge?annotator=ar")
    place = shown(page)
    bo = Annotator(data, "bo")
    bo.grade(place["query"], place["item"], 2, note="a note of bo's")
    answer = pressed(served, grade=1, **place)
    for text in (
        page.text,
        served.ask(answer.headers["location"]).text,
        served.ask(f"/judge?annotator=ar&{urlencode(place)}").text,
        served.ask("/judge?annotator=ar&end=1").text,
        json.dumps(dict(answer.headers)),
    ):
        said = text.replace('class="dense"', "")
        for name in NAMES:
            assert name not in said
        assert "a note of bo" not in text
        assert "effect=" not in text
    board = served.ask("/?baseline=bm25").text
    [tab] = re.findall(r'<a href="(/judge[^"]*)">Judge</a>', board)
    assert "bm25" not in served.ask(unescape(tab)).text
    asked = served.ask("/judge/changes?annotator=ar").text
    assert all(name in asked for name in NAMES)


def test_a_measure_that_is_none_is_said(server: Serve, data: Path) -> None:
    answer = server(data).ask("/judge?annotator=ar&measure=nDCH")
    assert answer.status == 400
    assert "There is no measure &#39;nDCH&#39;; did you mean &#39;nDCG&#39;?" in answer.text


def test_annotators_get_orders_of_their_own(judging: Server, data: Path) -> None:

    def order(name: str) -> list[str]:
        address, found = f"/judge?annotator={name}", []
        for _ in range(12):
            page = judging.ask(address)
            place = shown(page)
            found.append(f"{place['query']} {place['item']}")
            after = re.search(r'href="([^"]*)" data-swap="main" data-key="ArrowRight"', page.text)
            if after is None:
                break
            address = after[1].replace("&amp;", "&")
        return found

    ar, bo = order("ar"), order("bo")
    assert sorted(ar) == sorted(bo)
    assert len(ar) == 12
    assert ar != bo
    assert not (data / "judgements").exists()


def test_the_overlap_is_for_all_and_the_rest_for_the_first(server: Serve, data: Path) -> None:
    path = data.parent / "many.csv"
    places = [(f"q{at}", f"d{at}") for at in range(200)]
    path.write_text("query,item\n" + "".join(f"{q},{i}\n" for q, i in places))
    running = server(data, queue=path, overlap=0.1)
    ar = Annotator(data, "ar")
    for place in places:
        ar.grade(*place, 1)
    [count] = re.findall(r"0 of (\d+) done", running.ask("/judge?annotator=bo").text)
    assert 5 < int(count) < 40
    assert "200 of 200 done" in running.ask("/judge?annotator=ar").text


def test_another_window_is_not_lost(judging: Server, data: Path) -> None:
    place = shown(judging.ask("/judge?annotator=ar"))
    pressed(judging, grade=1, **place)
    answer = pressed(judging, grade=2, **place)  # of a window that still shows the item
    assert "</a> 2 fully (it was 1)" in judging.ask(answer.headers["location"]).text
    log = Annotator(data, "ar").log()
    assert [entry.grade for entry in log.entries] == [1, 2]
    assert log.grades == {place["query"]: {place["item"]: 2}}


def test_ids_of_any_kind_are_judged_as_what_they_are(
    server: Serve, data: Path, tmp_path: Path
) -> None:
    ids = [*HOSTILE, " two  spaces ", "x" * 3_000]
    path = tmp_path / "queue.ndjson"
    rows = [json.dumps({"query": ids[at - 1], "item": name}) for at, name in enumerate(ids)]
    path.write_text("\n".join(rows))
    running = server(data, queue=path)
    address = "/judge?annotator=ar"
    for at, _ in enumerate(ids):
        page = running.ask(address)
        address = pressed(running, grade=at % 3, **shown(page)).headers["location"]
    wanted = {(ids[at - 1], name) for at, name in enumerate(ids)}
    assert set(Annotator(data, "ar").log().standing) == wanted
    assert f"{len(ids)} of {len(ids)} done" in running.ask(address).text


@pytest.mark.parametrize(
    ("fields", "status", "says"),
    [
        (
            {"grade": 7},
            400,
            "grade must be one of 0 not relevant, 1 partly, 2 fully; got &#39;7&#39;.",
        ),
        ({"grade": "x"}, 400, "grade must be a whole number from 0 to 9; got &#39;x&#39;."),
        ({}, 400, "grade must be one of 0 not relevant, 1 partly, 2 fully; got &#39;&#39;."),
        ({"grade": 1, "item": "nobody"}, 404, "This item is not among those that are to be"),
        ({"grade": 1, "item": ""}, 400, "query and item are missing; name both."),
        (
            {"grade": 1, "annotator": ""},
            400,
            "the annotator is missing; add annotator=NAME to the address.",
        ),
        ({"grade": 1, "annotator": "../x"}, 400, "an annotator&#39;s name has letters, digits,"),
        ({"grade": 1, "annotator": "settled"}, 400, "is reserved for the grades that settle"),
        ({"action": "praise"}, 400, "action must be one of grade, skip, note, undo;"),
        ({"grade": 1, "seconds": "-1"}, 400, "seconds must be a finite number from 0; got -1.0."),
        (
            {"grade": 1, "seconds": "nan"},
            400,
            "seconds must be a finite number; got &#39;nan&#39;.",
        ),
        ({"grade": 1, "colour": "red"}, 400, "Unknown parameter &#39;colour&#39;."),
        ({"grade": 1, "note": "x" * 2001}, 400, "a note has at most 2,000 characters; this has"),
        ({"grade": 1, "note": "x" * 300_000}, 413, "a form may have 200,000 bytes; this has more."),
    ],
)
def test_keys_that_are_refused(
    judging: Server, data: Path, fields: dict[str, object], status: int, says: str
) -> None:
    place = shown(judging.ask("/judge?annotator=ar"))
    answer = pressed(judging, **{**place, **fields})
    assert answer.status == status
    assert says in answer.text
    assert not (data / "judgements").exists()


def test_only_our_own_pages_may_write(judging: Server, data: Path) -> None:
    for path in ("/judge?annotator=ar&query=q0&item=x0", "/agreement?query=q0&item=x0"):
        for headers in ({"origin": "http://evil.example"}, {"sec_fetch_site": "cross-site"}, {}):
            answer = judging.ask(path, method="POST", body=b"grade=1", key=False, **headers)
            assert answer.status == 403
    assert judging.ask("/judge", method="POST", body=b"{}").status == 400
    assert not (data / "judgements").exists()


def test_a_folder_that_cannot_be_written_to_is_said(judging: Server, data: Path) -> None:
    place = shown(judging.ask("/judge?annotator=ar"))
    (data / "judgements").write_text("in the way")
    answer = pressed(judging, grade=1, **place)
    assert answer.status == 400
    assert "cannot be written (File exists); this judgement was not saved." in answer.text
    assert "0 of 12 done" in judging.ask("/judge?annotator=ar").text


def test_a_half_line_is_said_on_the_page(judging: Server, data: Path) -> None:
    ar = Annotator(data, "ar")
    ar.grade("q0", "x1", 2)
    with ar.log_path.open("ab") as handle:
        handle.write(b'{"time": "2026-11-17T')
    ar.qrels.unlink()
    page = judging.ask("/judge?annotator=ar").text
    assert "ar.log.ndjson, line 2: skipped, because it is not a complete entry:" in page
    assert "1 of 12 done" in page
    assert ar.qrels.read_text() == "q0 0 x1 2\n"


def test_judgements_of_annotators_stay_out_of_the_collections(server: Serve, data: Path) -> None:
    running = server(data)
    Annotator(data, "ar").grade("q0", "d1", 2)
    settled_in(data).grade("q0", "d1", 1)
    (data / "judgements" / "expert.qrels").write_text("q0 0 d1 1\n")
    kinds = {each["name"]: each["kind"] for each in running.ask("/api/files").json["files"]}
    assert kinds["judgements/ar.qrels"] == kinds["judgements/settled.qrels"] == "annotator"
    assert kinds["judgements/ar.log.ndjson"] == "log"
    assert kinds["judgements/expert.qrels"] == "judgements"  # nobody judged it here
    (data / "judgements" / "expert.qrels").unlink()
    Annotator(data, "ar").grade("q0", "d2", 2)
    later = server(data)
    found = later.ask("/api/evaluate?measure=AP").json
    runs = [str(data / f"{name}.run") for name in NAMES]
    alone = judged.evaluate(str(data / "qrels.txt"), runs, "AP")
    assert found == json.loads(alone.to_json())
    chosen = later.ask("/api/evaluate?measure=AP&judgements=judgements/ar.qrels")
    assert chosen.status == 200
    assert chosen.json != found


def test_a_collection_without_judgements_can_begin(server: Serve, data: Path) -> None:
    (data / "qrels.txt").unlink()
    running = server(data)
    page = running.ask("/judge?annotator=ar&by=depth&k=5")
    runs = {name: str(data / f"{name}.run") for name in NAMES}
    wanted = judged.queue({}, runs, depth=5, by="depth")
    assert f"0 of {len(wanted.items):,} done" in page.text
    assert "on topic" in page.text
    assert "beside the file you started from" not in page.text
    assert pressed(running, grade=3, by="depth", k=5, **shown(page)).status == 303
    assert running.ask("/").status == 409  # nobody said that one annotator is the truth
    assert server(data).ask("/?judgements=judgements/ar.qrels").status == 200
    Annotator(data, "bo").grade(*shown(page).values(), 3)
    agreement = running.ask("/agreement")
    assert agreement.status == 200
    assert "There are runs and no judgements" in agreement.text


def test_where_there_is_no_folder(server: Serve, data: Path, tmp_path: Path) -> None:
    answer = server().ask("/judge?annotator=ar")
    assert answer.status == 409
    assert "Judging needs a folder to keep grades in" in answer.text
    elsewhere = tmp_path / "other"
    elsewhere.mkdir()
    (elsewhere / "bm25.run").write_text((data / "bm25.run").read_text())
    assert server(data / "qrels.txt", elsewhere / "bm25.run").ask("/judge").status == 409
    files = server(data / "qrels.txt", data / "bm25.run")
    place = shown(files.ask("/judge?annotator=ar"))
    assert pressed(files, grade=1, **place).status == 303
    assert (data / "judgements" / "ar.qrels").exists()


def test_who_judges(judging: Server, data: Path) -> None:
    Annotator(data, "bo").grade("q0", "x1", 1)
    page = judging.ask("/judge").text
    assert "Who judges?" in page
    assert re.search(r'href="/judge\?annotator=bo">bo <span class="soft">1 item</span>', page)
    refused = judging.ask("/judge?annotator=BO")
    assert refused.status == 400
    assert "there is already an annotator &#39;bo&#39;" in refused.text
    assert "Who judges?" in judging.ask("/judge?annotator=bo&who=1").text


def test_grades_are_those_of_the_collection_unless_others_are_chosen(
    server: Serve, data: Path, queue: Path
) -> None:
    assert "partly" in server(data, queue=queue).ask("/judge?annotator=ar").text
    chosen = server(data, queue=queue, grades="0 no, 1 yes, 5 <b>great</b>")
    page = chosen.ask("/judge?annotator=ar").text
    assert re.findall(r'name="grade" value="(\d)"', page) == ["0", "1", "5"]
    assert "&lt;b&gt;great" in page


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"overlap": 1.5}, "overlap must be a finite number from 0 to 1; got 1.5."),
        ({"queue": "nothing.csv"}, "nothing.csv: no such file."),
        (
            {"annotator": "settled"},
            "'settled' is reserved for the grades that settle disagreements;",
        ),
    ],
)
def test_settings_that_are_refused(options: dict[str, object], says: str) -> None:
    with pytest.raises(InputError) as refused:
        ServerSettings.of([], **options)
    assert str(refused.value).startswith(says)


def test_a_queue_inside_the_folder_is_no_file_of_judgements(server: Serve, data: Path) -> None:
    path = data / "queue.csv"
    path.write_text("query,item,grade\nq0,d1,\nq0,d2,1\n")
    running = server(data, queue=path)
    kinds = {each["name"]: each["kind"] for each in running.ask("/api/files").json["files"]}
    assert kinds["queue.csv"] == "queue"
    page = running.ask("/judge?annotator=ar").text
    assert "0 of 1 done" in page
    assert "1 row of queue.csv already has a grade and is left out." in page


def test_grades_count_on_the_leaderboard(server: Serve, data: Path) -> None:
    ar = Annotator(data, "ar")
    runs = {name: judged.read_run(data / f"{name}.run") for name in NAMES}
    listed = runs["bm25"].frame.filter(query="q0").sort("score", descending=True)["item"]
    for item in listed.to_list()[:3]:
        ar.grade("q0", item, 2)
    served = server(data)
    page = served.ask("/judge?annotator=ar").text
    assert '<a class="button" href="/?grader=ar">See what changed</a>' in page
    qrels = served.ask("/merged?collection=1").text
    (data.parent / "merged.qrels").write_text(qrels)
    expected = judged.evaluate(data.parent / "merged.qrels", runs, "AP")
    shown = served.ask("/?measure=AP&grader=ar").text
    assert "<b>qrels.txt with ar’s grades</b>" in shown
    assert "numbers moved, most of all" in shown
    assert f"{expected.value('AP', 'bm25'):.4f}"[:4] in words(shown)
    assert "judged merge" in shown
    assert '<option value="ar" selected>' in shown
    assert served.ask("/?grader=bo").status == 404
    assert served.ask("/report?measure=AP&grader=ar").status == 200


def test_a_result_is_graded_where_it_is_listed(server: Serve, data: Path) -> None:
    served = server(data, annotator="ar")
    page = served.ask("/query?query=q1&system=bm25&measure=AP").text
    hrefs = re.findall(r'<a class="mark" href="([^"]*)"', page)
    opened = served.ask(unescape(hrefs[0])).text
    [action] = re.findall(r'action="(/judge[^"]*)" aria-label="Grade this result"', opened)
    item = parse_qs(urlsplit(unescape(action)).query)["item"][0]
    answer = served.ask(unescape(action), method="POST", body=b"grade=1", content_type=FORM)
    assert answer.status == 303
    assert answer.headers["location"].startswith("/query?measure=AP&query=q1&system=bm25&grader=ar")
    assert Annotator(data, "ar").grades() == {"q1": {item: 1}}
    after = served.ask(answer.headers["location"].partition("#")[0]).text
    assert len(re.findall(r'<a class="mark"', after)) == len(hrefs) - 1
