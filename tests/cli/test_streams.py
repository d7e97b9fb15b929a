"""Standard streams that lack characters, are closed, full or watched; files of odd names;
interrupts at any moment."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import pytest

pytestmark = pytest.mark.full  # starts a process for each case

JUDGED = [sys.executable, "-m", "judged"]
ONE_AFTER_THE_OTHER = """
import sys
from judged.cli import main

call = []
for word in [*sys.argv[1:], ";;"]:
    if word != ";;":
        call.append(word)
        continue
    try:
        main(call)
    except SystemExit as ended:
        assert ended.code in (0, 1, 2, None), call
    call = []
"""
"""A process that runs several commands, as starting one for each would take most of the time."""
NAME = "b\x1b[31m\x9b2J\u202eevil\x07 – 検"
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
ENCODINGS = [
    {"PYTHONIOENCODING": "cp1252"},
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "latin-1:strict"},
    {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
]
CALLS = [
    ["evaluate", "qrels", "run", "--tie-range", "--per-query"],
    ["evaluate", "qrels", "run", "--format", "json"],
    ["explain", "qrels", "run", "--query", "q–"],
    ["conventions", "ranx"],
    ["measures"],
    ["evaluate", "qrels", "run", "--∞"],
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "qrels").write_text("q– 0 x 1\nq– 0 y 1\nq2 0 検 1\n", encoding="utf-8")
    (tmp_path / "run").write_text("q– Q0 x 1 1 a\nq– Q0 n 1 1 a\nq2 Q0 検 1 1 a\n", "utf-8")
    return tmp_path


def one_after_the_other(calls: Iterable[Sequence[str | bytes]]) -> list[str | bytes]:
    words = [[*each, ";;"] for each in calls]
    return [sys.executable, "-c", ONE_AFTER_THE_OTHER, *chain.from_iterable(words)][:-1]


def run(arguments: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [*JUDGED, *arguments],
        cwd=folder,
        capture_output=True,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("environment", ENCODINGS, ids=str)
def test_an_encoding_that_lacks_characters(data: Path, environment: dict[str, str]) -> None:
    found = subprocess.run(
        one_after_the_other(CALLS),
        cwd=data,
        capture_output=True,
        env={**os.environ, **environment},
        check=False,
    )
    assert (found.returncode, b"Traceback" in found.stderr) == (0, False), found.stderr
    # Something of every call: values of queries, JSON, an explanation, a convention, measures.
    for said in (b"expected", b'"runs"', b"rank", b"ranx", b"nDCG"):
        assert said in found.stdout
    assert b"No such option" in found.stderr


def test_what_an_encoding_lacks_is_there_in_other_letters(data: Path) -> None:
    found = run(
        ["evaluate", "qrels", "run", "-m", "MRR", "--per-query"], data, PYTHONIOENCODING="ascii"
    )
    lines = found.stdout.decode("ascii").splitlines()
    assert lines[1].split()[:2] == ["run", "q-"]
    found = run(["trec-eval", "-q", "-m", "map", "qrels", "run"], data, PYTHONIOENCODING="cp1252")
    assert "q–" in found.stdout.decode("cp1252")
    found = run(["explain", "qrels", "run", "--query", "検"], data, PYTHONIOENCODING="cp1252")
    assert "'\\u691c'" in found.stderr.decode("cp1252")


def watched(calls: Iterable[Sequence[str]], folder: Path) -> str:
    """What a terminal gets on standard output and error."""
    ours, theirs = pty.openpty()
    command = one_after_the_other(calls)
    process = subprocess.Popen(command, cwd=folder, stdout=theirs, stderr=theirs)
    os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        parts.append(part)
    assert process.wait(timeout=60) == 0
    os.close(ours)
    return b"".join(parts).decode("utf-8")


@pytest.mark.slow
def test_nothing_from_data_steers_a_terminal(tmp_path: Path) -> None:
    import json

    (tmp_path / "qrels.json").write_text(json.dumps({NAME: {NAME: 1, "y": 0}}))
    (tmp_path / f"{NAME}.json").write_text(json.dumps({NAME: {NAME: 1.0, "y": 1.0, "z": 0.5}}))
    both = ["qrels.json", f"{NAME}.json"]
    calls = (
        ["evaluate", *both, "--per-query"],
        *(["evaluate", *both, "--per-query", "--format", form] for form in ("csv", "json")),
        ["explain", *both],
        ["explain", *both, "--query", NAME[1:]],
        ["evaluate", *both, f"{NAME}.lost"],
        ["evaluate", *both, f"--{NAME}"],
        [NAME],
        ["plot", "cmc", *both, "-o", f"{NAME}.svg"],
        ["conventions", *both, "-m", NAME],
    )
    # What rich draws with: colours, cursor and lines of its own.
    shown = re.sub(r"\x1b\[(\?25[lh]|[0-9;]*[mAK])|\r", "", watched(calls, tmp_path))
    assert STEERING.findall(shown) == [], shown
    assert "Traceback" not in shown
    assert all(said in shown for said in ("There is no command", "no such file"))


def test_a_pipe_gets_names_as_they_are(tmp_path: Path) -> None:
    name = "a\x1b[31mb"
    (tmp_path / "qrels.json").write_text('{"a\\u001b[31mb": {"x": 1}}')
    (tmp_path / "run.json").write_text('{"a\\u001b[31mb": {"x": 1}}')
    for form in ("csv", "trec"):
        found = run(
            ["evaluate", "qrels.json", "run.json", "--format", form, "--per-query"], tmp_path
        )
        assert name in found.stdout.decode()


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux only")
def test_a_file_whose_name_is_no_utf_8(data: Path) -> None:
    odd = b"r\xff\xe9.run"
    os.rename(data / "run", os.path.join(os.fsencode(data), odd))
    calls = (
        [b"evaluate", b"qrels", odd],
        [b"evaluate", b"qrels", odd, b"--format", b"json"],
        [b"evaluate", b"qrels", odd, b"--format", b"csv"],
        [b"evaluate", b"qrels", odd, b"-o", b"\xff.txt"],
        [b"evaluate", b"qrels", odd, b"-o", b"\xff.parquet"],
        [b"evaluate", b"qrels", odd, b"-o", b"\xff/x.json"],
        [b"evaluate", b"qrels", b"\xfe.run"],
        [b"explain", b"qrels", odd, b"--query", b"q2", b"--html", b"\xff.html"],
        [b"plot", b"cmc", b"qrels", odd, b"-o", b"\xff.svg"],
        [b"plot", b"cmc", b"qrels", odd, b"-o", b"\xff.html"],
    )
    command = one_after_the_other(calls)
    found = subprocess.run(command, cwd=data, capture_output=True, check=False)
    assert (found.returncode, b"Traceback" in found.stderr) == (0, False), found.stderr
    (found.stdout + found.stderr).decode("utf-8")
    assert {b"\xff.txt", b"\xff.parquet", b"\xff.html", b"\xff.svg"} <= {
        *os.listdir(os.fsencode(data))
    }


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-", "0<&- 1>&- 2>&-"])
def test_streams_that_are_closed(data: Path, closed: str) -> None:
    for arguments in (["evaluate", "qrels", "-"], ["evaluate", "qrels", "run", "-o", "new.csv"]):
        command = ["sh", "-c", f'exec "$@" {closed}', "sh", *JUDGED, *arguments]
        found = subprocess.run(command, cwd=data, capture_output=True, check=False)
        assert b"Traceback" not in found.stderr
        assert found.returncode in (0, 2)
        assert (data / "qrels").read_text(encoding="utf-8").startswith("q– 0")
    assert {path.name for path in data.iterdir()} <= {"qrels", "run", "new.csv"}
