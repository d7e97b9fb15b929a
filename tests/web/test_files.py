"""Files told apart by content, asked for where that leaves it open, sent, removed and changed."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import polars as pl
import pytest

from judged.web import uploads
from judged.web.files import DataFile, identify_file
from judged.web.visit import Params
from judged.web.workspace import ServedFiles, Session, Workspace
from support.browser import violations
from support.errors import error_of
from support.loops import for_each
from support.served import Serve, Server, grades, lists, write_judgements, write_run

RUN = "q1 Q0 d1 1 3.5 x\nq1 Q0 d2 2 2.5 x\n"
QRELS = "q1 0 d1 1\nq1 0 d2 0\n"
SCORES = {"q1": {"d1": 1.5, "d2": 0.25}, "q2": {"d3": 2.75}}
ROWS = [{"query": "q1", "relevant": ["a"], "retrieved": ["b", "a"]}]


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("anything.txt", RUN, "run"),
        ("anything.txt", QRELS, "judgements"),
        ("swapped.run", QRELS, "judgements"),
        ("swapped.qrels", RUN, "run"),
        ("a.csv", "query,item,score\nq1,d1,0.5\n", "run"),
        ("a.csv", "query,item,grade\nq1,d1,1\n", "judgements"),
        ("a.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\n", "unclear"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\n", "judgements"),
        ("a.txt.gz", gzip.compress(RUN.encode()), "run"),
        ("a.json", json.dumps(SCORES), "run"),
        ("a.json", json.dumps(ROWS), "rows"),
        ("a.json", json.dumps({"q1": ["a", "b"]}), "unclear"),
        ("my-run.json", json.dumps({"q1": ["a", "b"]}), "run"),
        ("gold.json", json.dumps({"q1": ["a", "b"]}), "judgements"),
        ("a.jsonl", '{"query": "q1", "item": "d1", "score": 0.5}\n', "run"),
        ("corpus.jsonl", '{"_id": "d1", "title": "T", "text": "some words"}\n', "texts"),
        ("queries.jsonl", '{"_id": "q1", "text": "some words"}\n', "queries"),
        ("a.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 20, "picture"),
        ("a.webp", b"RIFF\x10\0\0\0WEBPVP8 ", "picture"),
        ("a.pdf", b"%PDF-1.7", "other"),
        ("empty.txt", b"", "other"),
        ("report.html", '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta a b c d e>\n', "other"),
        ("run_all.py", "import os\nimport sys\nprint(1)\n", "other"),
        ("log.txt", "line one\nline two\nand one more\n", "other"),
        ("run.txt", "line one\nline two\nand one more\n", "run"),
        ("broken.txt", QRELS + "q2\n", "judgements"),
        ("broken.txt", RUN + "q2\n", "run"),
        ("a.bin", bytes(range(256)), "other"),
    ],
)
def test_content_tells(tmp_path: Path, name: str, content: str | bytes, kind: str) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert identify_file(DataFile(name, path, size=path.stat().st_size)).kind == kind


def test_vectors_and_labels(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.zeros((3, 2)))
    np.save(tmp_path / "l.npy", np.zeros(3))
    np.savez(tmp_path / "v.npz", queries=np.zeros((3, 2)))
    kinds = {
        path.name: identify_file(DataFile(path.name, path, size=path.stat().st_size)).kind
        for path in tmp_path.iterdir()
    }
    assert kinds == {"v.npy": "vectors", "l.npy": "labels", "v.npz": "vectors"}


def test_a_long_file_is_told_by_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text(RUN * 20_000)
    assert identify_file(DataFile("long.txt", path, size=path.stat().st_size)).kind == "run"


def workspace(folder: Path, query: str = "") -> Workspace:
    return Session("one").workspace(ServedFiles((folder,)), Params.read(query))


OTHERS = {
    "config.yaml": "model: bm25\nk1: 0.9\n",
    "notes.txt": "remember to rerun bm25\nwith other settings now\n",
    "go.sh": "#!/bin/sh\njudged evaluate qrels.txt a.run\n",
    "x.py": "import os\nfor x in y: print(1)\n",
    "train.log": "epoch 1 loss 0.5\nepoch 2 loss 0.4\n",
    "training.txt": "epoch 1 loss 0.5\nepoch 2 loss 0.4\n",
    "chart.svg": '<svg xmlns="x">\n</svg>\n',
    "chart.json": '{"$schema": "https://vega.github.io/", "datasets": {}}',
}


def test_an_ordinary_folder(server: Serve, data: Path) -> None:
    for name, text in OTHERS.items():
        (data / name).write_text(text)
    (data / "bad.run").write_text(RUN.replace("q1", "q9") * 20 + "q9 Q0 d2\n")
    (data / "twice.run").write_text(RUN + RUN)
    (data / "empty.run").write_text("")
    (data / "elsewhere.run").write_text(RUN.replace("q1", "z1"))
    served = server(data)
    for path in (
        "/?measure=RR",
        "/compare?measure=RR",
        "/queries?measure=RR",
        "/judge?annotator=a",
    ):
        assert served.ask(path).status == 200, path
    page = served.ask("/?measure=RR").text
    assert page.count("is left out.") == 4
    assert "expected 6 fields, found 3" in page
    assert "have no query in common" in page
    assert '<a class="button" href="/?measure=RR&amp;duplicates=first"' in page
    kept = served.ask("/?measure=RR&duplicates=first").text
    assert kept.count("is left out.") == 3
    assert 'value="twice"' in kept
    files = served.ask("/files").text
    assert "training.txt is not used: it has the form of judgements, but qrels.txt fits" in files
    assert "bad.run, line 41: expected 6 fields" in files
    # What an address names is refused, not left out.
    assert served.ask("/?run=bad.run&run=bm25.run").status == 422
    assert served.ask("/api/evaluate").status == 422


def test_several_judgements_are_asked_about(data: Path) -> None:
    write_judgements(data / "other.qrels", grades(seed=5))
    found = workspace(data)
    assert found.undecided == (
        "There are 2 files of judgements: other.qrels, qrels.txt. Say which one is meant."
    )
    chosen = workspace(data, "judgements=qrels.txt&run=dense.run")
    assert not chosen.undecided
    assert [system.name for system in chosen.systems] == ["dense"]
    assert chosen.systems[0].place == 1


def test_a_folder_inside_with_judgements_and_runs_is_another_collection(data: Path) -> None:
    inside = data / "text"
    for folder in (inside / "texts", data / "more"):
        folder.mkdir(parents=True)
    write_judgements(inside / "judgements.txt", grades(seed=5))
    write_run(inside / "fused.run", lists())
    (inside / "texts" / "queries.tsv").write_text("id\ttext\nq1\twords\n")
    write_run(data / "more" / "late.run", lists())
    found = workspace(data)
    assert not found.undecided
    assert found.judgements is not None
    assert found.judgements.name == "qrels.txt"
    assert not [file.name for file in found.files if file.name.startswith("text/")]
    assert "more/late.run" in [system.file.name for system in found.systems]
    assert found.problems == (
        f"text has judgements and runs of its own; judged serve {inside} opens them.",
    )
    assert [system.name for system in workspace(inside).systems] == ["fused"]


def test_the_demo_opens_with_its_images_and_with_its_texts(server: Serve, tmp_path: Path) -> None:
    from judged.cli.demo_data import write_demo, write_text_demo

    write_demo(tmp_path)
    text = write_text_demo(tmp_path / "text").folder
    images = workspace(tmp_path)
    assert [system.name for system in images.systems] == [
        "cosine-pca8",
        "cosine-pixels",
        "euclidean-pixels",
    ]
    assert [system.name for system in workspace(text).systems] == ["bm25", "dense", "fused"]
    page = server(text).ask("/query?query=q09").text
    assert "drinks that do not contain caffeine" in page
    assert "Herbal infusions such as peppermint" in page


@for_each(
    "write, says",
    [
        (write_run, "There are runs and no judgements, so nothing can be evaluated. Add them."),
        (write_judgements, "There are judgements, x.txt, and no run. Add the results of a system."),
    ],
)
def test_half_of_what_is_needed(tmp_path: Path, write: Any, says: str) -> None:
    write(tmp_path / "x.txt", lists() if write is write_run else grades())
    assert workspace(tmp_path).undecided == says


def test_two_files_of_one_name(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_run(tmp_path / name / "bm25.run", lists())
    write_judgements(tmp_path / "q.txt", grades())
    names = [system.name for system in workspace(tmp_path).systems]
    assert names == [str(tmp_path / "one" / "bm25.run"), str(tmp_path / "two" / "bm25.run")]


def test_the_page_that_asks(server: Serve, data: Path) -> None:
    write_judgements(data / "other.qrels", grades(seed=5))
    answer = server(data).ask("/")
    assert answer.status == 409
    assert "Which files?" in answer.text
    assert 'value="other.qrels"' in answer.text


def test_a_folder_without_anything_useful(server: Serve, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# nothing\n\nto see here, at all\n")
    answer = server(tmp_path).ask("/")
    assert answer.status == 200
    assert "Nothing to judge yet" in answer.text
    assert "has 1 file, but no judgements or results." in answer.text


def test_a_folder_of_vectors_leads_to_them(server: Serve, tmp_path: Path) -> None:
    np.save(tmp_path / "queries.npy", np.ones((2, 2)))
    np.save(tmp_path / "items.npy", np.ones((3, 2)))
    text = server(tmp_path).ask("/").text
    assert "but no judgements or results. It has 2 files of vectors." in text
    assert '<a class="button" href="/embeddings">' in text


def test_a_file_that_changes_is_read_again(served: Server, data: Path) -> None:
    before = served.ask("/api/evaluate?measure=AP").json
    assert "changed on disk" not in served.ask("/files").text
    write_run(data / "bm25.run", lists(seed=50), "bm25")
    os.utime(data / "bm25.run", ns=(1, 1))
    served.app.app.state.explorer.library._next_scan = 0.0
    after = served.ask("/api/evaluate?measure=AP").json
    assert before["runs"][0]["scores"] != after["runs"][0]["scores"]
    said = served.ask("/files").text
    assert "bm25.run" in said
    assert "changed on disk and was read again." in said
    assert "changed on disk" not in served.ask("/files").text


def post(running: Any, path: str, body: bytes = b"", **headers: str) -> Any:
    return running.ask(path, method="POST", body=body, **headers)


def test_what_is_sent_can_be_evaluated_and_removed(served: Server, data: Path) -> None:
    answer = post(served, "/api/upload?name=mine.run", (data / "dense.run").read_bytes())
    assert (answer.status, answer.json["kind"]) == (200, "run")
    systems = [each["name"] for each in served.ask("/api/systems").json["systems"]]
    assert systems == ["bm25", "dense", "hybrid", "short", "mine"]
    found = served.ask("/api/evaluate?measure=AP").json["runs"]
    assert found[4]["scores"] == found[1]["scores"]
    assert post(served, "/api/remove?name=mine.run").json == {"removed": "mine.run"}
    assert len(served.ask("/api/systems").json["systems"]) == 4
    gone = post(served, "/api/remove?name=mine.run")
    assert (gone.status, gone.json["error"]) == (
        404,
        "no file 'mine.run' was sent from here; there is none.",
    )
    assert sorted(path.name for path in data.iterdir()) == [
        *("bm25.run", "dense.run", "hybrid.run", "qrels.txt", "short.run")
    ]


def test_what_is_sent_lies_in_a_folder_of_our_own_that_goes(served: Server) -> None:
    post(served, "/api/upload?name=../../evil.run", RUN.encode())
    explorer = served.app.app.state.explorer
    (path,) = explorer.uploads.folder.iterdir()
    assert "evil" not in path.name
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [file["name"] for file in served.ask("/api/files").json["files"]][-1] == "evil.run"
    explorer.close()
    assert not path.parent.exists()


@pytest.mark.parametrize(
    ("address", "body", "status", "error"),
    [
        ("name=bm25.run", RUN, 409, None),
        ("", RUN, 400, "say what the file is called: name=…."),
        ("name=..", RUN, 400, "say what the file is called: name=…."),
        (f"name={'x' * 300}", RUN, 400, "the name of a file may have 200 letters; this has more."),
        ("name=a.run", "", 400, "a.run: the file is empty."),
        ("nmae=a.run", RUN, 400, "Unknown parameter 'nmae'; did you mean 'name'?"),
    ],
)
def test_uploads_that_are_refused(
    served: Server, address: str, body: str, status: int, error: str | None
) -> None:
    answer = post(served, f"/api/upload?{address}", body.encode())
    assert answer.status == status
    assert error is None or answer.json["error"] == error
    folder = served.app.app.state.explorer.uploads._folder
    assert folder is None or not list(folder.iterdir())


def test_limits_of_uploads(server: Serve, data: Path) -> None:
    running = server(data, upload_limit="1MB")
    large = (RUN * 40_000).encode()
    message = (
        "a.run: all files that a browser sends may have 1,000,000 bytes together (upload_limit). "
        "Start judged serve with the folder of the file instead: then it stays "
        "where it is."
    )
    answer = post(running, "/api/upload?name=a.run", large)
    assert (answer.status, answer.json["error"]) == (413, message)
    bomb = gzip.compress(large)
    answer = post(running, "/api/upload?name=b.run.gz", bomb)
    assert (answer.status, answer.json["error"]) == (
        413,
        f"b.run.gz: its {len(bomb):,} bytes unpack to more than 1,000,000 bytes (upload_limit).",
    )
    assert post(running, "/api/upload?name=c.run", large[:700_000]).status == 200
    answer = post(running, "/api/upload?name=d.run", large[:700_000])
    assert answer.status == 413
    folder = running.app.app.state.explorer.uploads.folder
    assert len(list(folder.iterdir())) == 1


def test_bombs_of_other_formats_are_refused(server: Serve, data: Path, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:  # 15 GB declared in about a kilobyte
        file.create_dataset("x", (60_000_000, 64), "f4", chunks=(1024, 64))
    lists = pl.DataFrame({"query": ["q"], "items": [[0] * 10]}).lazy()
    lists.select(
        "query", pl.col("items").list.eval(pl.lit(0).repeat_by(10**6).explode())
    ).collect().write_parquet(tmp_path / "b.parquet")
    running = server(data, upload_limit="5MB")
    for name in ("a.h5", "b.parquet"):
        body = (tmp_path / name).read_bytes()
        assert len(body) < 100_000
        answer = post(running, f"/api/upload?name={name}", body)
        assert answer.status == 413, (name, answer.text)
        assert "unpack to more than 5,000,000 bytes (upload_limit)" in answer.json["error"]


def test_addresses_that_cost_too_much_are_refused(served: Server) -> None:
    many = "&".join(f"measure=P@{k}" for k in range(1, 900))
    answer = served.ask(f"/?{many}")
    assert answer.status == 400
    assert "a page shows up to 40 measures; the address has 899." in answer.text
    answer = served.ask("/playground?list=0+1&relevant=1000000")
    assert answer.status == 400
    assert "relevant must be a whole number from 0 to 10,000; got 1000000." in answer.text
    answer = served.ask("/?level=0.9999999999999999")
    assert answer.status == 400
    assert "level must be at most 0.999999999" in answer.text


def test_pictures_are_counted_and_runs_found_behind_them(server: Serve, data: Path) -> None:
    for at in range(3_000):
        folder = data / "images" / f"{at % 3}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{at}.jpg").touch()
    deep = data / "runs" / "may" / "a" / "b" / "c"
    deep.mkdir(parents=True)
    write_run(deep / "late.run", lists(seed=4), "late")
    running = server(data)
    page = running.ask("/files").text
    assert "3,000 pictures" in page
    assert "0.jpg" not in page
    systems = [each["name"] for each in running.ask("/api/systems").json["systems"]]
    assert systems[-1] == "late"


def test_zstd_is_refused_where_it_cannot_be_unpacked_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "can_stream", lambda packed: False)
    (tmp_path / "a.run.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    assert error_of(uploads.unpacked_size, tmp_path / "a.run.zst", 10) == (
        "zstd files need backports.zstd to be unpacked; send another format."
    )


def test_files_that_come_at_once_share_the_limit(server: Serve, data: Path) -> None:
    running = server(data, upload_limit="1MB")
    large = (RUN * 40_000).encode()[:400_000]

    def send(name: str) -> int:
        status: int = post(running, f"/api/upload?name={name}.run", large).status
        return status

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(send, "abcdef"))
    assert found.count(200) <= 2
    assert set(found) <= {200, 413}
    uploads = running.app.app.state.explorer.uploads
    assert sum(path.stat().st_size for path in uploads.folder.iterdir()) <= 1_000_000
    assert set(uploads._arriving.values()) == {0}


def test_a_wrong_file_is_named_as_it_was_sent(served: Server) -> None:
    post(served, "/api/upload?name=bad.run", (RUN + "q1 Q0 d9\n").encode())
    answer = served.ask("/api/evaluate")
    assert answer.status == 422
    assert answer.json["error"].startswith("bad.run, line 3: expected 6 fields, found 3:")


def test_two_browsers_do_not_mix(
    served: Server, browse: Callable[..., Any], tmp_path: Path
) -> None:
    # Nothing fades in, so that axe sees colours as they are.
    mine, other = (browse(served, "/files", reduced_motion="reduce") for _ in range(2))
    path = write_run(tmp_path / "mine.run", lists(seed=8), "mine")
    mine.locator("input[type=file]").set_input_files(str(path))
    mine.get_by_role("row", name="mine.run").wait_for()
    assert not violations(mine)
    other.reload()
    assert "mine.run" not in other.content()
    mine.get_by_role("button", name="Remove mine.run").click()
    mine.get_by_role("row", name="mine.run").wait_for(state="detached")


def test_a_wrong_upload_says_so_and_leaves_the_page(
    server: Serve, data: Path, browse: Callable[..., Any], tmp_path: Path
) -> None:
    page = browse(server(data, upload_limit="1MB"), "/files")
    path = tmp_path / "large.run"
    path.write_text(RUN * 40_000)
    page.locator("input[type=file]").set_input_files(str(path))
    said = "large.run: all files that a browser sends may have"
    page.locator("[data-sent] .refused", has_text=said).wait_for()
    assert "bm25.run" in page.content()


def test_files_dropped_on_the_empty_page(
    server: Serve, data: Path, browse: Callable[..., Any], tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    page = browse(server(empty), "/files")
    page.get_by_role("heading", name="Nothing to judge yet").wait_for()
    assert not violations(page)
    names = ("qrels.txt", "bm25.run")
    texts = {name: (data / name).read_text() for name in names}
    page.evaluate(
        """(texts) => {
          const held = new DataTransfer();
          for (const [name, text] of Object.entries(texts)) held.items.add(new File([text], name));
          const options = { dataTransfer: held, bubbles: true, cancelable: true };
          document.querySelector("main").dispatchEvent(new DragEvent("dragover", options));
          document.querySelector("main").dispatchEvent(new DragEvent("drop", options));
        }""",
        texts,
    )
    page.get_by_role("row", name="bm25.run").wait_for()
    page.get_by_role("button", name="Evaluate these").click()
    page.wait_for_url("**/?judgements=qrels.txt&run=bm25.run*")


def test_every_file_of_rows_is_a_system(server: Serve, tmp_path: Path) -> None:
    def rows(*lists: list[str]) -> str:
        return "".join(
            json.dumps({"query": f"q{at}", "relevant": ["a"], "retrieved": each}) + "\n"
            for at, each in enumerate(lists)
        )

    (tmp_path / "base.ndjson").write_text(rows(["b", "a"], ["a", "b"]))
    (tmp_path / "tuned.ndjson").write_text(rows(["a", "b"], ["a", "b"]))
    served = server(tmp_path)
    found = json.loads(served.ask("/api/evaluate?measure=RR").text)
    assert {run["name"]: run["scores"]["RR"] for run in found["runs"]} == {"base": 0.75, "tuned": 1}
    text = served.ask("/files").text
    assert "judgements and a system" in text
    assert "a comparison" not in served.ask("/compare?measure=RR").text
    command = served.ask("/query?query=q0&of=base").text.replace(" \\\n ", "")
    assert "judged explain base.ndjson" in command.replace(f"{tmp_path}/", "")
    assert "judged explain" not in served.ask("/query?query=q0&of=tuned").text
    only = json.loads(served.ask("/api/evaluate?measure=RR&judgements=tuned.ndjson").text)
    assert [run["name"] for run in only["runs"]] == ["tuned", "base"]


def test_uploads_have_their_names_on_every_page(served: Server) -> None:
    post(served, "/api/upload?name=my%20%26.run", RUN.encode())
    post(served, "/api/upload?name=texts.csv", b"id,text\nd1,a\nd1,b\n")
    folder = str(served.app.app.state.explorer.uploads.folder)
    for page in ("/", "/files", "/queries", "/query?query=q1", "/report?save=1", "/embeddings"):
        text = served.ask(page).text
        assert folder not in text, page
        assert not re.search(r"\b[0-9a-f]{24}\b", text.replace("sha256", "")), page
    assert "my &amp;.run" in served.ask("/report?save=1").text
