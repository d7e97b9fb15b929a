"""Many runs at once: side by side, in the order given, the bad ones all named or left out."""

from __future__ import annotations

import os
import random
import threading
from pathlib import Path

import pytest

import judged
from judged.errors import EngineError, InputError, JudgedWarning
from judged.inputs.data import Data, Reading
from support.errors import error_of

QUERIES = [f"q{number}" for number in range(9)]
ITEMS = [f"d{number}" for number in range(30)]
SHORT = 'r3.run, line 1: expected 6 fields, found 3: "q1 Q0 a". ' + (
    "A line of a run is: query Q0 item rank score tag."
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Judgements and twelve runs, with ties, and lists of all lengths."""
    draw = random.Random(18)
    lines = [f"{query} 0 {item} {draw.randrange(3)}\n" for query in QUERIES for item in ITEMS[::2]]
    (tmp_path / "qrels").write_text("".join(lines))
    for number in range(12):
        lines = [
            f"{query} Q0 {item} 1 {draw.randrange(6)} x\n"
            for query in QUERIES
            for item in draw.sample(ITEMS, draw.randrange(1, 30))
        ]
        (tmp_path / f"r{number}.run").write_text("".join(lines))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def runs(number: int = 12) -> list[str]:
    return [f"r{at}.run" for at in range(number)]


def spoil(folder: Path, *numbers: int) -> None:
    for number in numbers:
        (folder / f"r{number}.run").write_text("q1 Q0 a\n")


@pytest.mark.parametrize("jobs", [1, 2, 5, None])
def test_numbers_do_not_depend_on_how_many_are_worked_on_at_once(folder, jobs):
    measures = ["AP", "nDCG@5", "RR", "F(average=means)"]
    each = [judged.evaluate("qrels", run, measures).to_dict(per_query=True) for run in runs()]
    with judged.config(jobs=jobs):
        every = judged.evaluate("qrels", runs(), measures)
    assert [run.name for run in every.runs] == [f"r{number}" for number in range(12)]
    assert every.to_dict(per_query=True)["runs"] == [found["runs"][0] for found in each]


def test_progress_tells_of_runs_in_their_order(folder):
    told: list[int] = []
    with judged.config(jobs=3):
        judged.evaluate("qrels", runs(), "AP", progress=told.append)
    assert told == [9] * 12


def test_names_every_bad_run(folder):
    spoil(folder, 3)
    (folder / "r7.run").write_text("")
    assert error_of(judged.evaluate, "qrels", [*runs(), "gone.run"], "AP") == (
        "3 of 13 runs cannot be evaluated; skip_bad leaves them out:\n"
        f"r3: {SHORT}\nr7: r7.run: the file is empty.\ngone: gone.run: no such file."
    )


def test_what_is_wrong_with_all_of_them_is_said_once():
    runs = {"a": {"q": {"x": float("nan")}}, "b": {"q": {"x": float("nan")}}}
    with pytest.raises(InputError, match=r"\Aa dict: the score of item 'x'.*\Z"):
        judged.evaluate({"q": {"x": 1}}, runs, "AP")
    with pytest.raises(InputError, match=r"\A2 of 3 runs cannot be evaluated;.*\na: .*\nb: .*\Z"):
        judged.evaluate({"q": {"x": 1}}, {**runs, "c": {"q": ["x"]}}, "AP")


def test_bad_runs_are_left_out_where_that_is_asked_for(folder):
    whole = judged.evaluate("qrels", [run for run in runs() if run != "r3.run"], "AP")
    spoil(folder, 3)
    with pytest.warns(JudgedWarning, match="r3 was skipped: "):
        found = judged.evaluate("qrels", runs(), "AP", skip_bad=True)
    assert found.skipped == {"r3": SHORT}
    assert found.warnings()[0] == f"r3 was skipped: {SHORT}"
    as_dict = found.to_dict()
    assert as_dict["skipped"] == {"r3": SHORT}
    assert as_dict["runs"] == whole.to_dict()["runs"]
    assert "skipped" not in whole.to_dict()


def test_some_run_has_to_be_left(folder):
    spoil(folder, 0, 1)
    with pytest.raises(InputError) as raised:
        judged.evaluate("qrels", runs(2), "AP", skip_bad=True)
    bad = "expected 6 fields, found 3"
    assert str(raised.value).startswith("2 of 2 runs cannot be evaluated:\nr0: r0.run, line 1: ")
    assert str(raised.value).count(bad) == 2


def test_a_pipe_among_files(folder):
    expected = judged.evaluate("qrels", runs(4), "AP").to_dict()["runs"]
    text = (folder / "r2.run").read_bytes()
    (folder / "r2.run").unlink()
    os.mkfifo(folder / "r2.run")
    writer = threading.Thread(target=(folder / "r2.run").write_bytes, args=(text,))
    writer.start()
    with judged.config(jobs=3):
        assert judged.evaluate("qrels", runs(4), "AP").to_dict()["runs"] == expected
    writer.join()


def test_named_columns_are_looked_for_in_the_first_run_whatever_is_read_first(folder):
    (folder / "r0.csv").write_text("query,item,points\n" + "q1,d2,1\nq1,d0,0.5\n")
    for number in range(1, 9):
        (folder / f"r{number}.csv").write_text("query,item,score\nq1,d0,2\n")
    runs = [f"r{number}.csv" for number in range(9)]
    with judged.config(jobs=4), pytest.warns(JudgedWarning, match='r8.csv has no column "points"'):
        found = judged.evaluate("qrels", runs, "RR", columns={"score": "points"})
    assert len(found.runs) == 9


def test_an_engine_that_is_lost_is_no_bad_run(folder, monkeypatch):
    def lost() -> None:
        raise EngineError("the cluster is gone.")

    usual = Data.readings
    changed = lambda self: [*usual(self), Reading("lost", True, lost)]  # noqa: E731
    monkeypatch.setattr(Data, "readings", changed)
    with pytest.raises(EngineError, match=r"\Athe cluster is gone.\Z"):
        judged.evaluate("qrels", runs(2), "AP", skip_bad=True)
