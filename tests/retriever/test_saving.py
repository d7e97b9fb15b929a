"""The run saved as it goes: read as a run, resumed after a crash, refused where it is another."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judged import Evaluation, evaluate, evaluate_retriever
from judged.errors import OutputError
from support.errors import error_of

JUDGEMENTS = {"q1": {"a": 1}, "q2": {"c": 1, "d": 1}, "q3": {"e": 1}, "q4": {"f": 1}}
LISTS: dict[str, Any] = {
    "q1": [("a", 0.5), ("b", 0.25)],
    "q2": [("b", 3.0), ("c", 3.0), ("d", math.inf)],
    "q3": [],
    "q4": [("f", 1e-300)],
}
SAVED = Path("run.jsonl")


class Recorder:
    """A retriever that knows what it was asked, and fails where it is told to."""

    def __init__(self, lists: dict[str, Any] = LISTS, fail: set[str] = frozenset()) -> None:  # type: ignore[assignment]
        self.lists, self.fail, self.asked = lists, fail, list[str]()

    def __call__(self, text: str) -> Any:
        self.asked.append(text)
        if text in self.fail:
            raise RuntimeError("down")
        return self.lists[text]


def values(found: Evaluation) -> Any:
    return found.to_frame(per_query=True).drop("run").rows()


@pytest.mark.parametrize(
    "lists",
    [
        LISTS,
        {"q1": ["b", "a"], "q2": ["c", "x", "d"], "q3": [], "q4": ["f"]},
        {"q1": [], "q2": ["c", "x", "d"], "q3": ["é e", "e"], "q4": ["f"]},
        {"q1": ["b", "a"], "q2": [("c", 2.0), ("x", 1.0)], "q3": [], "q4": [("f", 1)]},
    ],
    ids=["scores", "order", "empty first", "both"],
)
def test_what_is_saved_is_the_run(folder: Path, lists: dict[str, Any]) -> None:
    asked = Recorder(lists)
    found = evaluate_retriever(asked, None, JUDGEMENTS, ["RR", "AP", "NumRet"], save=SAVED)
    again = evaluate(JUDGEMENTS, SAVED, ["RR", "AP", "NumRet"])
    assert values(found) == values(again)
    assert again.audit["run"].missing_queries == ()
    asked.asked.clear()
    resumed = evaluate_retriever(asked, None, JUDGEMENTS, ["RR", "AP", "NumRet"], save=SAVED)
    assert asked.asked == []
    assert values(resumed) == values(found)
    assert resumed.latency == found.latency
    assert resumed.warnings()[0] == (
        "4 queries were answered earlier and read from run.jsonl, and nothing was asked; delete "
        "the file to ask all again."
    )


def test_failures_are_asked_again_and_only_these(folder: Path) -> None:
    asked = Recorder(fail={"q2", "q4"})
    first = evaluate_retriever(asked, None, JUDGEMENTS, "RR", save=SAVED)
    assert first.audit["Recorder"].missing_queries == ("q2", "q4")
    asked.fail, asked.asked = {"q4"}, []
    second = evaluate_retriever(asked, None, JUDGEMENTS, "RR", save=SAVED)
    assert asked.asked == ["q2", "q4"]
    assert second.warnings()[:2] == [
        "1 of 4 queries failed (q4). The first error was RuntimeError: down (query 'q4').",
        "2 queries were answered earlier and read from run.jsonl, the others were asked now; "
        "delete the file to ask all again.",
    ]
    rows = [json.loads(line) for line in SAVED.read_text().splitlines()]
    assert [row["query"] for row in rows] == ["q1", "q3", "q2"]


def test_wherever_a_crash_cuts_the_file_off_it_is_resumed(folder: Path) -> None:
    whole = evaluate_retriever(Recorder(), None, JUDGEMENTS, ["RR", "AP"], save=SAVED)
    content = SAVED.read_bytes()
    lines = content.splitlines(keepends=True)
    ends = np.cumsum([0, *map(len, lines)]).tolist()
    edges = {end + step for end in ends for step in (-2, -1, 0, 1)}
    for length in sorted({*edges, *range(1, len(content), 29)} & {*range(1, len(content) + 1)}):
        SAVED.write_bytes(content[:length])
        asked = Recorder()
        found = evaluate_retriever(asked, None, JUDGEMENTS, ["RR", "AP"], save=SAVED)
        complete = max(at for at, end in enumerate(ends) if end <= length)
        assert asked.asked == list(JUDGEMENTS)[complete:]
        assert values(found) == values(whole)
        said = any("was cut off" in text for text in found.warnings())
        assert said == (length != ends[complete])
        assert values(evaluate(JUDGEMENTS, SAVED, ["RR", "AP"])) == values(whole)


def test_a_file_of_something_else_is_left_alone(folder: Path) -> None:
    for content in (
        "q1 Q0 a 1 1.0 x\n",
        '{"query": "q1", "item": "a", "score": 1}',
        '{"q": "',
        '{"query": "q1", "scores": 1}\n',
    ):
        SAVED.write_text(content)
        assert error_of(evaluate_retriever, Recorder(), None, JUDGEMENTS, save=SAVED) == (
            "run.jsonl, line 1: this is not a run that evaluate_retriever has saved: "
            f'"{content.strip()}"; save to another file.'
        )
        assert SAVED.read_text() == content


def other(text: str) -> Any:
    return LISTS[text]


def test_what_differs_is_not_resumed(folder: Path) -> None:
    given = {"retriever": Recorder(), "queries": None, "judgements": JUDGEMENTS, "save": SAVED}
    evaluate_retriever(**given)
    before = SAVED.read_bytes()
    change: dict[str, Any]
    for change in (
        {"k": 5},
        {"item": "id"},
        {"item": other},
        {"retriever": other},
        {"queries": dict.fromkeys(JUDGEMENTS, "another")},
        {"queries": {"q2": "q2"}},
    ):
        message = error_of(evaluate_retriever, **{**given, **change})
        start = "run.jsonl, line 1: query 'q1' occurs twice, or its results are of another text or "
        assert message.startswith(f"{start}other settings than now (k ")
        assert SAVED.read_bytes() == before


def test_damaged_files(folder: Path) -> None:
    given: Any = (Recorder(), None, JUDGEMENTS, "RR")
    evaluate_retriever(*given, save=SAVED)
    first, *rest = SAVED.read_text().splitlines()
    SAVED.write_text("\n".join([first, *rest, rest[-1], ""]))
    assert error_of(evaluate_retriever, *given, save=SAVED) == (
        "run.jsonl, line 5: query 'q4' occurs twice, or its results are of another text or other "
        "settings than now (k 100, item None and retriever 'Recorder'); delete the file, or save "
        "to another."
    )
    for name in ("retrieved", "cut", "seconds", "tries", "at_once", "asked"):
        for number in (10**400, None, [0]):
            changed = json.dumps({**json.loads(first), name: number})
            SAVED.write_text("\n".join([changed, *rest, ""]))
            assert error_of(evaluate_retriever, *given, save=SAVED).startswith(
                "run.jsonl, line 1: this is not a run that evaluate_retriever has saved"
            )


def test_what_cannot_be_saved(folder: Path) -> None:
    assert error_of(evaluate_retriever, Recorder(), {"q1": object}, JUDGEMENTS, save=SAVED) == (
        "query 'q1' is <class 'object'>, which cannot be saved. Give texts, numbers, lists or "
        "dicts of these, or leave out save."
    )
    with pytest.raises(OutputError) as refused:
        evaluate_retriever(Recorder(), None, JUDGEMENTS, save="none/run.jsonl")
    assert str(refused.value) == "none/run.jsonl: there is no folder none; make it first."
    vectors = {"q1": np.array([1.0, 2.0])}
    evaluate_retriever(lambda vector: ["a"], vectors, JUDGEMENTS, save="v.jsonl")


PROGRAM = """
import sys, time
import judged

def search(text):
    print(text, file=sys.stderr, flush=True)
    if text == "q5" and sys.argv[1] == "hang":
        time.sleep(600)
    return [("x", 2.0), (text, 1.0)]

judgements = {f"q{number}": {f"q{number}": 1} for number in range(8)}
found = judged.evaluate_retriever(search, None, judgements, "RR", save="run.jsonl", workers=WORKERS)
print(found.value())
"""


def run(how: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "program.py", how],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_process_that_was_killed_is_resumed(folder: Path, how: int, workers: int) -> None:
    Path("program.py").write_text(PROGRAM.replace("WORKERS", str(workers)))
    killed = run("hang")
    waiting = 5 if workers == 1 else 7  # the other worker goes on
    _until(lambda: SAVED.exists() and SAVED.read_text().count('"asked"') >= waiting)
    killed.send_signal(how)
    killed.communicate(timeout=60)
    assert killed.returncode != 0
    resumed = run("go on")
    out, err = resumed.communicate(timeout=60)
    assert resumed.returncode == 0
    assert out == "0.5\n"
    assert err.split() == (["q5", "q6", "q7"] if workers == 1 else ["q5"])


def _until(done: Callable[[], bool]) -> None:
    for _ in range(3000):
        if done():
            return
        time.sleep(0.02)
    raise AssertionError("it took too long")
