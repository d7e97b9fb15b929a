"""What an annotator did is in two plain files, and nothing of it is lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from judged.errors import InputError, OutputError
from judged.inputs import read_judgements
from judged.judgements import annotators as module
from judged.judgements.annotators import (
    Annotator,
    Log,
    annotators_in,
    qrels_of,
    read_log,
    settled_in,
)
from support.errors import error_of
from support.hostile import NAMES


@pytest.fixture
def ar(tmp_path: Path) -> Annotator:
    return Annotator(tmp_path, "ar")


def lines(annotator: Annotator) -> list[dict[str, object]]:
    return [json.loads(line) for line in annotator.log_path.read_text().splitlines()]


def test_every_key_is_a_line_and_the_judgements_follow(ar: Annotator) -> None:
    ar.grade("w17", "p10", 2, note="in part", seconds=4.26)
    ar.skip("w17", "p11")
    ar.grade("w18", "p1", 0)
    found = lines(ar)
    assert [each.pop("time", "")[10:11] for each in found] == ["T"] * 3  # type: ignore[index]
    assert found[0] == {
        "action": "grade",
        "query": "w17",
        "item": "p10",
        "grade": 2,
        "note": "in part",
        "seconds": 4.3,
    }
    assert [each["action"] for each in found] == ["grade", "skip", "grade"]
    assert ar.qrels.read_text() == "w17 0 p10 2\nw18 0 p1 0\n"
    assert ar.log().standing["w17", "p11"].skipped
    assert annotators_in(ar.folder.parent) == ("ar",)


def test_undo_takes_back_key_after_key_and_no_line_goes(ar: Annotator) -> None:
    assert (ar.undo(), ar.take_back("q", "a"), ar.repair()) == (None, None, False)
    assert not ar.folder.exists()  # nothing is written before the first key
    ar.grade("q", "a", 1)
    ar.grade("q", "a", 3)
    ar.grade("q", "b", 2)
    before = ar.log_path.read_bytes()
    assert ar.undo() == ar.log().entries[2]
    assert ar.grades() == {"q": {"a": 3}}
    ar.undo()
    assert ar.grades() == {"q": {"a": 1}}
    ar.undo()
    assert ar.grades() == {}
    assert not ar.qrels.exists()
    assert ar.undo() is None
    assert ar.log_path.read_bytes().startswith(before)
    assert len(ar.log().entries) == 6
    ar.grade("q", "a", 1)
    ar.grade("q", "b", 2)
    taken = ar.take_back("q", "a")
    assert taken is not None
    assert (taken.grade, ar.take_back("q", "a"), ar.grades()) == (1, None, {"q": {"b": 2}})
    settled = settled_in(ar.folder.parent)
    settled.grade("q", "a", 1)
    assert (settled.qrels.name, annotators_in(ar.folder.parent)) == ("settled.qrels", ("ar",))


def test_a_note_stays_until_another_is_given(ar: Annotator) -> None:
    ar.note("q", "a", "look again")
    assert ar.log().standing["q", "a"] == module.Standing(None, False, "look again")
    ar.grade("q", "a", 1)
    assert ar.log().standing["q", "a"].note == "look again"
    ar.grade("q", "a", 2, note="")
    assert ar.log().standing["q", "a"] == module.Standing(2, False, "")
    ar.skip("q", "a")
    assert ar.grades() == {}


@pytest.mark.parametrize("cut", [1, -2, -1])
def test_a_half_line_is_left_out_and_said(ar: Annotator, cut: int) -> None:
    ar.grade("q", "a", 1)
    whole = ar.log_path.read_bytes()
    ar.grade("q", "b", 2)
    data = ar.log_path.read_bytes()
    ar.log_path.write_bytes(data[: len(whole) + cut] if cut > 0 else data[:cut])
    log = ar.log()
    if cut == -1:  # all but the end of the line: nothing of it is missing
        assert (log.grades, log.problems) == ({"q": {"a": 1, "b": 2}}, ())
    else:
        assert log.grades == {"q": {"a": 1}}
        [said] = log.problems
        assert said.startswith("ar.log.ndjson, line 2: skipped, because it is not ")
    assert ar.repair() is (cut != -1)
    assert read_judgements(ar.qrels)
    ar.grade("q", "c", 3)
    assert ar.grades()["q"]["c"] == 3
    assert len(ar.log().problems) == (cut != -1)


@pytest.mark.parametrize(
    "line",
    [
        b'{"query": "q", "item": "a", "grade": 12}',
        b'{"query": "q", "item": "a", "grade": 1%s}' % (b"0" * 400),
        b'{"query": "q", "item": "a", "grade": true}',
        b'{"query": "q", "item": "", "grade": 1}',
        b'{"query": "q", "item": 7, "grade": 1}',
        b'{"query": "q", "item": "a", "grade": 1, "seconds": NaN}',
        b'{"query": "q", "item": "a", "grade": 1, "action": "praise"}',
        b'{"query": "q", "item": "a", "grade": 1, "action": "skip"}',
        b'{"item": "a", "grade": 1}',
        b"[1]",
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_what_is_no_entry_is_left_out_and_said(ar: Annotator, line: bytes) -> None:
    ar.grade("q", "b", 1)
    with ar.log_path.open("ab") as handle:
        handle.write(line + b"\n")
    ar.grade("q", "c", 2)
    assert ar.grades() == {"q": {"b": 1, "c": 2}}
    assert len(ar.log().problems) == 1


def test_ids_come_back_as_they_were(ar: Annotator) -> None:
    ids = [name for name in (*NAMES, " two  spaces ", "x" * 3_000, "café", "1,2") if name]
    for at, name in enumerate(ids):
        ar.grade(name, ids[-at], at % 4)
    wanted = {name: {ids[-at]: at % 4} for at, name in enumerate(ids)}
    assert ar.grades() == wanted
    read = read_judgements(ar.qrels).frame  # type: ignore[union-attr]
    assert {(q, i): g for q, i, g in read.iter_rows()} == {
        (query, item): grade for query, each in wanted.items() for item, grade in each.items()
    }


WRITER = """
import sys
from judged.judgements.annotators import Annotator
folder, begin, end = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
ar = Annotator(folder, "ar")
for at in range(begin, end):
    ar.grade("q", f"d{at}", at % 4)
    print(at, flush=True)
"""


def writer(folder: Path, begin: int, end: int) -> subprocess.Popen[str]:
    code = [sys.executable, "-c", WRITER, str(folder), str(begin), str(end)]
    return subprocess.Popen(code, stdout=subprocess.PIPE, text=True)


def test_windows_programs_and_threads_of_one_annotator_lose_nothing(tmp_path: Path) -> None:
    running = [writer(tmp_path, 0, 40), writer(tmp_path, 40, 80)]

    def judge(begin: int) -> None:
        own = Annotator(tmp_path, "ar")
        for at in range(begin, begin + 40):
            own.grade("q", f"d{at}", at % 4)

    threads = [threading.Thread(target=judge, args=(begin,)) for begin in (80, 120)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [process.wait() for process in running] == [0, 0]
    for process in running:
        process.communicate()
    ar = Annotator(tmp_path, "ar")
    assert len(ar.log().entries) == 160
    assert ar.log().problems == ()
    assert ar.grades() == {"q": {f"d{at}": at % 4 for at in range(160)}}
    assert ar.qrels.read_text() == qrels_of(ar.grades())


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is of POSIX")
def test_a_kill_loses_at_most_the_key_on_its_way(tmp_path: Path) -> None:
    process = writer(tmp_path, 0, 100_000)
    assert process.stdout is not None
    for _ in range(20):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate()
    said = 20 + len([line for line in rest.splitlines() if line])
    ar = Annotator(tmp_path, "ar")
    assert said <= len(ar.log().entries) <= said + 1
    ar.repair()
    assert ar.qrels.read_text() == qrels_of(ar.grades())
    ar.grade("q", "after", 3)
    assert ar.grades()["q"]["after"] == 3


def test_a_full_disk_is_said_and_the_log_is_as_it_was(
    ar: Annotator, monkeypatch: pytest.MonkeyPatch
) -> None:
    ar.grade("q", "a", 1)
    before = ar.log_path.read_bytes()
    write = os.write

    def half(descriptor: int, data: bytes) -> int:
        if len(data) > 20:
            return write(descriptor, data[:20])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", half)
    message = error_of(ar.grade, "q", "b", 2, error=OutputError)
    monkeypatch.undo()
    assert message == (
        f"{ar.log_path}: cannot be written (No space left on device); this judgement was not saved."
    )
    assert ar.log_path.read_bytes() == before


def test_judgements_that_cannot_be_written_are_said_and_the_key_is_kept(ar: Annotator) -> None:
    ar.grade("q", "a", 1)
    ar.qrels.unlink()
    ar.qrels.mkdir()
    assert error_of(ar.grade, "q", "b", 2, error=OutputError) == (
        f"{ar.qrels}: is a directory; give a file to write to. The judgement is saved in "
        "ar.log.ndjson; the file of judgements is updated as soon as it can be written."
    )
    assert ar.grades() == {"q": {"a": 1, "b": 2}}


def test_what_is_in_the_way_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "judgements").write_text("a file")
    assert error_of(Annotator(tmp_path, "ar").grade, "q", "a", 1, error=OutputError) == (
        f"{tmp_path}/judgements/ar.log.ndjson: cannot be written (File exists); this judgement "
        "was not saved."
    )
    (tmp_path / "judgements").unlink()
    (tmp_path / "judgements").mkdir()
    own = tmp_path / "judgements" / "expert.qrels"
    own.write_text("q 0 d 1\n")
    assert error_of(Annotator(tmp_path, "expert").grade, "q", "a", 1, error=OutputError) == (
        f"{own}: exists without expert.log.ndjson, so it was not written by judged and is not "
        "replaced; choose another name, or move the file."
    )
    assert own.read_text() == "q 0 d 1\n"


def test_nothing_is_written_through_links(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.mkdir()
    folder.mkdir()
    (folder / "judgements").symlink_to(outside)
    with pytest.raises(
        OutputError, match=r"judgements: is a link to another folder; judgements are not"
    ):
        Annotator(folder, "ar").grade("q", "a", 1)
    (folder / "judgements").unlink()
    (folder / "judgements").mkdir()
    for ending in (".log.ndjson", ".qrels"):
        (outside / "held").write_text("")
        link = folder / "judgements" / f"ar{ending}"
        link.symlink_to(outside / "held")
        with pytest.raises(OutputError, match="is a link; judgements are not written"):
            Annotator(folder, "ar").grade("q", "a", 1)
        link.unlink()
        assert (outside / "held").read_text() == ""


NAME = (
    "an annotator's name has letters, digits, - and _, begins with a letter or a digit, and has at "
    "most 40 characters; got {}."
)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        *(
            (each, NAME.format(repr(each)))
            for each in ("", "../x", "a/b", "a b", ".a", "-a", "a.b")
        ),
        ("a\\b", NAME.format(r"'a\\b'")),
        (7, NAME.format("7")),
        ("x" * 41, NAME.format(repr("x" * 41))),
        (
            "Settled",
            "'settled' is reserved for the grades that settle disagreements; choose another name.",
        ),
        ("CON", "'CON' is the name of a device on Windows; choose another name."),
        (
            "AR",
            "there is already an annotator 'ar', and 'AR' would be the same file on some machines; "
            "judge as 'ar', or choose another name.",
        ),
    ],
)
def test_names_that_are_none(ar: Annotator, name: str, says: str) -> None:
    ar.grade("q", "a", 1)
    assert error_of(Annotator, ar.folder.parent, name) == says


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ({"grade": 10}, "grade must be a whole number from 0 to 9; got 10."),
        ({"seconds": float("nan")}, "seconds must be a finite number from 0; got nan."),
        ({"seconds": -1}, "seconds must be a finite number from 0; got -1."),
        ({"note": "x" * 2001}, "a note has at most 2,000 characters; this has 2,001."),
        ({"item": ""}, "item must be an id; it is empty."),
        ({"query": "\ud800"}, r"query must be an id that UTF-8 can encode; got '\ud800'."),
        ({"query": None}, "query must be an id, as a text; got None."),
    ],
)
def test_what_cannot_be_kept(ar: Annotator, call: dict[str, object], says: str) -> None:
    assert error_of(ar.grade, **{"query": "q", "item": "a", "grade": 1, **call}) == says
    assert not ar.folder.exists()


def test_a_log_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert read_log(tmp_path / "x.log.ndjson").entries == Log().entries
    (tmp_path / "y.log.ndjson").mkdir()
    with pytest.raises(InputError, match=r"y\.log\.ndjson: cannot be read \(Is a directory\)\."):
        read_log(tmp_path / "y.log.ndjson")


def test_a_log_read_again_after_each_key_is_that_of_a_new_reader(
    ar: Annotator, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, read = random.Random(3), []
    parse = module.LogEntry.read
    monkeypatch.setattr(module.LogEntry, "read", lambda line: read.append(line) or parse(line))
    for _ in range(150):
        place = f"q{draw.randrange(4)}", draw.choice(["a", "b", "c"])
        match draw.choice(["grade", "grade", "skip", "note", "undo"]):
            case "grade":
                ar.grade(*place, draw.randrange(3))
            case "skip":
                ar.skip(*place)
            case "note":
                ar.note(*place, draw.choice(["n", ""]))
            case _:
                ar.undo()
        again = ar.log()
        fresh = Log(again.entries)
        assert again.kept == fresh.kept
        assert list(again.standing.items()) == list(fresh.standing.items())
        assert again.grades == fresh.grades
    # A key parses its own line only, so it costs the same after 30,000 keys as after 100.
    assert len(read) == len(again.entries)
    ar.log_path.write_bytes(ar.log_path.read_bytes().replace(b'"q0"', b'"q9"'))
    assert {entry.query for entry in ar.log().entries} == {"q1", "q2", "q3", "q9"}
