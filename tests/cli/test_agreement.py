"""`judged agreement` and `judged merge`, as a newcomer uses them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import judged as library

ANN = "".join(f"q{at} 0 a {at % 3}\nq{at} 0 b {at % 2}\nq{at} 0 c 0\n" for at in range(12))
BOB = "".join(f"q{at} 0 a {at % 3}\nq{at} 0 b 0\nq{at} 0 d 1\n" for at in range(12))
CARL = "".join(f"q{at} 0 a 1\nq{at} 0 b {at % 2}\n" for at in range(12))
RUN = "".join(
    f"q{at} Q0 {item} 1 {score} x\n" for at in range(12) for item, score in (("a", 2), ("b", 1))
)
OTHER = RUN.replace(" 2 x", " 0 x")


@pytest.fixture
def judges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "ann.qrels": ANN,
        "bob.qrels": BOB,
        "carl.qrels": CARL,
        "x.run": RUN,
        "y.run": OTHER,
    }.items():
        Path(name).write_text(text)
    return tmp_path


def test_two_judges(judged, judges) -> None:
    done = judged("agreement", "ann.qrels", "bob.qrels")
    assert (done.code, done.err) == (0, "")
    found = library.agreement("ann.qrels", "bob.qrels")
    assert found.to_text().startswith(done.out.strip())
    assert done.out.startswith("ann and bob gave the same grade to 75.0 % (")
    assert "24 of 48 items were graded by one assessor only and are left out." in done.out
    assert "\n\nnumber " in done.out


def test_names_runs_and_json(judged, judges) -> None:
    call = ("agreement", "A=ann.qrels", "B=bob.qrels", "first=x.run", "y.run", "-m", "RR,AP")
    found = json.loads(judged(*call, "--format", "json").out)
    assert [each["name"] for each in found["assessors"]] == ["A", "B"]
    assert list(found["runs"]["values"]) == ["RR", "AP"]
    assert set(found["runs"]["values"]["RR"]["A"]) == {"first", "y"}
    assert found["pairs"][0]["kappa"]["plain"]["estimate"] is not None
    python = library.agreement(
        ["A=ann.qrels", "B=bob.qrels"], runs=["first=x.run", "y.run"], measures="RR,AP"
    )
    assert found == python.to_dict()


def test_further_judges_and_options(judged, judges) -> None:
    done = judged(
        *("agreement", "ann.qrels", "bob.qrels", "--judge", "carl.qrels", "--level", "0.9"),
        *("--resamples", "999", "--seed", "3", "--rel", "2", "-q"),
    )
    assert done.code == 0
    assert "90 % confidence interval" in done.out
    assert "ann, carl" in done.out
    assert "left out" not in done.out  # quiet: the answer and the tables alone


def test_a_file_by_its_ending(judged, judges) -> None:
    for ending in ("json", "csv", "md", "html", "txt", "parquet"):
        assert judged("agreement", "ann.qrels", "bob.qrels", "-o", f"out.{ending}").code == 0
        assert Path(f"out.{ending}").stat().st_size > 100
    assert "kappa_plain" in Path("out.csv").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["ann.qrels", "x.run"],
            "x.run looks like a run (6 columns: query, Q0, item, rank, score, tag), not "
            "judgements. The judgements of two assessors come first, then runs; give further "
            "assessors as {name: judgements} (--judge FILE).",
        ),
        (
            ["ann.qrels", "bob.qrels", "carl.qrels"],
            "carl.qrels looks like judgements (4 columns: query, iteration, item, grade), not a "
            "run. The judgements of two assessors come first, then runs; give further assessors as "
            "{name: judgements} (--judge FILE).",
        ),
        (["ann.qrels", "none.qrels"], "none.qrels: no such file."),
        (
            ["ann.qrels", "bob.qrels", "--level", "95"],
            "--level must be a number between 0 and 1, as 0.95; got 95.0.",
        ),
        (
            ["-", "-"],
            "standard input (-) can be read only once; give the other as a file.",
        ),
    ],
)
def test_what_is_refused(judged, judges, arguments, message) -> None:
    done = judged("agreement", *arguments)
    assert (done.code, done.out, done.err) == (2, "", f"judged: {message}\n")


def test_what_readers_say_comes_with_the_judge(judged, judges) -> None:
    rows = [line.split() for line in ANN.splitlines()]
    table = "".join(f"{query},{item},{grade}\n" for query, _, item, grade in rows)
    Path("dora.csv").write_text(f"query,item,grade\n{table}q1,e,\n")
    done = judged("agreement", "dora=dora.csv", "bob.qrels")
    assert done.err == "warning: dora: 1 row has no grade and is left out as unjudged.\n"
    assert library.agreement("dora.csv", "bob.qrels").kappa == (
        library.agreement("ann.qrels", "bob.qrels").kappa
    )


def test_one_file_is_wrong_usage(judged, judges) -> None:
    done = judged("agreement", "ann.qrels")
    assert done.code == 2
    assert "Missing argument 'QRELS'" in done.err


def test_a_merger(judged, judges) -> None:
    done = judged("merge", "ann.qrels", "bob.qrels", "carl.qrels", "-o", "merged.qrels")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "48 items of 12 queries, judged: 24 by one assessor, 24 by three assessors."
    assert lines[-1] == "Rule majority: the most frequent grade, the lowest of several."
    wanted = library.merge_judgements(["ann.qrels", "bob.qrels", "carl.qrels"])
    again = library.read_judgements("merged.qrels")
    assert again.frame.equals(wanted.frame)
    assert done.err.endswith(f"wrote merged.qrels ({Path('merged.qrels').stat().st_size} bytes)\n")


def test_rules_and_formats(judged, judges) -> None:
    for rule in ("mean", "median", "highest", "lowest", "first"):
        for ending in ("csv", "json", "parquet", "qrels"):
            path = f"{rule}.{ending}"
            done = judged("merge", "A=ann.qrels", "B=carl.qrels", "--rule", rule, "-o", path)
            assert done.code == 0
            wanted = library.merge_judgements({"A": "ann.qrels", "B": "carl.qrels"}, rule=rule)
            assert library.read_judgements(path).frame.equals(wanted.frame)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["ann.qrels", "bob.qrels", "-o", "ann.qrels"],
            "ann.qrels: is read by this very command; write to another file.",
        ),
        (
            ["ann.qrels", "-o", "merged.qrels"],
            "merge_judgements needs two or more assessors; got 1.",
        ),
        (
            ["ann.qrels", "bob.qrels", "-o", "merged.xls"],
            "merged.xls: the file extension decides the format and must be .qrels, .qrel, .trec, "
            ".txt, .json, .csv, .md, .html or .parquet.",
        ),
        (
            ["ann.qrels", "bob.qrels", "-o", "none/merged.qrels"],
            "none/merged.qrels: there is no folder none; make it first.",
        ),
        (
            ["ann.qrels", "x.run", "-o", "merged.qrels"],
            "x.run looks like a run (6 columns: query, Q0, item, rank, score, tag), not "
            "judgements. Only judgements can be merged.",
        ),
    ],
)
def test_what_a_merger_refuses(judged, judges, arguments, message) -> None:
    done = judged("merge", *arguments)
    assert (done.code, done.out, done.err) == (2, "", f"judged: {message}\n")
    assert not Path("merged.qrels").exists()
    assert Path("ann.qrels").read_text() == ANN
