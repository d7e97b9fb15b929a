"""`judged gate`: exit codes, reports, and a baseline that is never torn."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

SIZE = 12


@pytest.fixture
def gate(judged: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`judged gate` in this process and in the folder."""
    monkeypatch.chdir(folder)
    return partial(judged, "gate")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """`qrels`; `good.run` has the relevant item first, `bad.run` second."""
    (tmp_path / "qrels").write_text("".join(f"q{at:02} 0 r 1\n" for at in range(SIZE)))
    for name, ranks in (("good", "rx"), ("bad", "xr")):
        lines = (
            f"q{at:02} Q0 {item} {rank} {3 - rank} {name}\n"
            for at in range(SIZE)
            for rank, item in enumerate(ranks, 1)
        )
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return tmp_path


def test_exit_codes(gate: Any, folder: Path) -> None:
    none = gate("qrels", "good.run", "--baseline", "b.json", "-m", "RR", "--min", "RR=0.5")
    assert (none.code, none.out) == (2, "")
    command = "judged gate qrels good.run --baseline b.json -m RR --min RR=0.5 --update-baseline"
    assert none.err == f"judged: b.json: there is no baseline yet. This makes one: {command}\n"
    made = gate(*shlex.split(command)[2:])
    assert made.code == 0
    assert made.out.endswith("Wrote the baseline b.json.\n")
    same = gate("qrels", "good.run", "--baseline", "b.json")
    assert same.code == 0
    assert "PASSED: no significant drop in RR.\n" in same.out
    worse = subprocess.run(
        [sys.executable, "-m", "judged", "gate", "qrels", "bad.run", "--baseline", "b.json"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )
    assert worse.returncode == 1
    assert "FAILED: RR fell from 1.000 to 0.500 (significant); allowed drop: 0.\n" in worse.stdout
    kept = (folder / "b.json").read_bytes()
    assert gate("qrels", "bad.run", "--baseline", "b.json", "--update-baseline").code == 1
    assert (folder / "b.json").read_bytes() == kept
    forced = gate("qrels", "bad.run", "--baseline", "b.json", "--update-baseline", "--force")
    assert forced.code == 1
    assert (folder / "b.json").read_bytes() != kept
    assert gate("qrels", "bad.run", "--baseline", "b.json").code == 0
    by_run = gate("qrels", "bad.run", "--baseline", "good.run", "-m", "RR")
    assert by_run.code == 1
    repeats = gate("qrels", "good.run", "bad.run", "--baseline", "good.run", "-m", "RR")
    assert repeats.code in (0, 1)
    assert "good, bad against good (baseline)" in repeats.out


def test_too_small_a_set_decides_nothing_and_a_value_needs_no_baseline(
    gate: Any, folder: Path
) -> None:
    (folder / "few").write_text("".join(f"q{at:02} 0 r 1\n" for at in range(4)))
    for runs in (("good.run", "bad.run"), ("bad.run", "good.run")):
        small = gate("few", runs[0], "--baseline", runs[1], "-m", "RR")
        assert small.code == 2
        assert "UNDECIDED: too few queries for a significant drop in RR.\n" in small.out
    assert gate("few", "good.run", "--baseline", "good.run", "-m", "RR").code == 0
    reached = gate("qrels", "good.run", "--min", "RR=0.9")
    assert (reached.code, "PASSED: 1 minimum value reached.\n" in reached.out) == (0, True)
    assert gate("qrels", "bad.run", "--min", "RR=0.9").code == 1
    assert gate("qrels", "bad.run", "--min", "0.9", "-m", "RR").code == 1


HOSTILE = ["<&\"'>", "a]]>b", "x|y`*_", "[l](javascript:1)", "é\x01", "&#0;", "<script>", "\\"]


def test_reports_hold_hostile_ids(gate: Any, folder: Path) -> None:
    """What XML cannot hold, and what Markdown and HTML would take for something else."""
    (folder / "q.json").write_text(json.dumps({q: {"r": 1} for q in HOSTILE}))
    (folder / "old.json").write_text(json.dumps({q: ["r", "x"] for q in HOSTILE}))
    (folder / "new.json").write_text(json.dumps({q: ["x", "r"] for q in HOSTILE}))
    found = gate(
        *("q.json", "<b>|=new.json", "--baseline", "old.json", "-m", "RR"),
        *("--golden", "q.json", "-o", "j.xml", "-o", "m.md", "-o", "j.json"),
    )
    assert found.code == 2  # grades of items are no minimum of a measure
    (folder / "golden.json").write_text(json.dumps(HOSTILE))
    found = gate(
        *("q.json", "<b>|=new.json", "--baseline", "old.json", "-m", "RR"),
        *("--golden", "golden.json", "-o", "j.xml", "-o", "m.md", "-o", "j.json"),
    )
    assert found.code == 1
    suite = ElementTree.parse(folder / "j.xml").getroot()[0]
    assert suite.attrib["name"] == "judged gate <b>|"
    assert suite.attrib["tests"] == suite.attrib["failures"] == str(1 + len(HOSTILE))
    names = [case.attrib["name"] for case in suite.iter("testcase")]
    assert names == ["RR", *(f"{q} RR".replace("\x01", "\\x01") for q in HOSTILE)]
    whole = json.loads((folder / "j.json").read_text())
    assert {each["query"] for each in whole["worst"]["RR"]} == set(HOSTILE)
    markdown = (folder / "m.md").read_text()
    assert "\x01" not in markdown
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    for row in rows:
        cells = row.replace("\\\\", "").replace("\\|", "").count("|")
        assert cells in (6, 10), row
    assert not any("<script>" in row.replace("\\<", "") for row in rows)


def test_quiet_shows_the_verdict(gate: Any, folder: Path) -> None:
    quiet = gate("qrels", "bad.run", "--baseline", "good.run", "-m", "RR", "-q").out
    assert quiet.startswith("FAILED: RR fell from")
    assert "regression" in quiet


def test_nothing_is_decided(refuses, gate):
    refuses("""
    gate qrels good.run --baseline .
        judged: .: the baseline must be a regular file.
    gate qrels good.run --baseline qrels
        judged: qrels looks like judgements (4 columns: query, iteration, item, grade), not a
        run (6 columns: query, Q0, item, rank, score, tag). Were the two files given in the
        wrong order?
    gate qrels good.run --baseline good.run --max-drop =1
        Error: Invalid value for '--max-drop': '=1' names no measure, as in nDCG@10=0.01.
    gate qrels good.run --baseline good.run --rule lose
        Error: Invalid value for '--rule': 'lose' is not one of 'loss', 'safe', 'point'.
    gate qrels good.run --baseline good.run -o x.md -o ./x.md
        judged: x.md: is what both --output x.md and --output ./x.md would write; give each a file
        of its own.
    """)
