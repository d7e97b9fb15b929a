"""The order in which an annotator judges, scales, sessions, and files of what to judge."""

from __future__ import annotations

from pathlib import Path

import pytest

import judged
from judged.inputs.texts import Text
from judged.judgements.annotators import Log, LogEntry
from judged.judgements.worklist import (
    QUEUE_FILE,
    Scale,
    is_shared,
    last_session,
    read_tasks,
    worklist,
)
from support.errors import error_of

PLACES = [(f"q{query}", f"d{item}") for query in range(20) for item in range(20)]


def graded(*places: tuple[str, str]) -> Log:
    return Log(tuple(LogEntry("grade", *place, 1) for place in places))


def test_queries_keep_their_order_and_items_are_shuffled_for_each() -> None:
    ar, bo = (worklist(PLACES, name, Log()).places for name in ("ar", "bo"))
    assert ar != bo
    assert sorted(ar) == sorted(bo) == sorted(PLACES)
    assert list(dict.fromkeys(query for query, _ in ar)) == [f"q{query}" for query in range(20)]
    assert ar == worklist(PLACES, "ar", Log()).places
    assert ar != worklist(PLACES, "ar", Log(), seed=1).places


def test_the_overlap_is_the_same_for_all_and_about_its_share() -> None:
    many = [(f"q{at}", "d") for at in range(4000)]
    shared = {place for place in many if is_shared(place, overlap=0.1)}
    assert 320 < len(shared) < 480
    more = {place for place in many if is_shared(place, overlap=0.2)}
    assert shared < more
    assert shared != {place for place in many if is_shared(place, seed=1, overlap=0.1)}
    taken = set(many)
    for name in ("ar", "bo"):
        mine = worklist(many, name, Log(), taken=taken, overlap=0.1)
        assert set(mine.places) == shared


def test_what_another_graded_leaves_the_list_unless_it_is_ones_own() -> None:
    taken = set(PLACES[:10])
    own = graded(PLACES[0])
    mine = worklist(PLACES, "ar", own, taken=taken, overlap=0)
    assert set(mine.places) == set(PLACES[10:]) | {PLACES[0]}
    assert set(worklist(PLACES, "ar", own, taken=taken).places) == set(PLACES)


def test_the_next_that_waits() -> None:
    places = [("q", "a"), ("q", "b"), ("r", "c")]
    order = worklist(places, "ar", Log()).places
    log = Log((LogEntry("grade", *order[0], 1), LogEntry("skip", *order[1])))
    mine = worklist(places, "ar", log)
    assert mine.next_open() == order[2]
    assert mine.next_open(order[2]) == order[2]
    assert mine.next_open(order[2], skipped=True) == order[1]
    assert mine.next_open(("nobody", "knows")) == order[2]
    assert (mine.done, mine.skipped, mine.open_by_query) == (1, 1, {"r": 1})
    assert mine.neighbour(order[1], 1) == order[2]
    assert mine.neighbour(order[2], 1) is None
    assert mine.neighbour(order[0], -1) is None
    assert worklist([], "ar", log).next_open() is None


SAYS = (
    'grades are written as "0 not relevant, 1 relevant": numbers from 0 to 9, each with its '
    "meaning; got {!r}."
)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        *((each, SAYS.format(each)) for each in ("", "relevant", "0 no, 10 yes", "-1 spam, 0 no")),
        ("0 no, 0 yes", "grades: 0 occurs twice; got '0 no, 0 yes'."),
        ("1 yes", "grades: give two or more; got '1 yes'."),
    ],
)
def test_scales_that_are_none(given: str, says: str) -> None:
    assert error_of(Scale.read, given) == says


def test_scales() -> None:
    scale = Scale.read("2 fully, 0  not   relevant,1")
    assert str(scale) == "0 not relevant, 1, 2 fully"
    assert scale.top == 2
    assert [Scale.up_to(top).top for top in (None, 0, 1, 2, 3, 5, 40)] == [3, 1, 1, 2, 3, 5, 9]


def entry(action: str, item: str, minute: int, grade: int | None = None) -> LogEntry:
    hour, minute = divmod(minute, 60)
    time = f"2026-11-17T{9 + hour:02}:{minute:02}:00.000Z"
    return LogEntry(action, "q", item, grade, "", 10.0 if action == "grade" else None, time)


def test_a_sitting_begins_after_a_long_pause() -> None:
    log = Log(
        (
            entry("grade", "a", 0, 1),
            entry("grade", "b", 200, 2),
            entry("grade", "c", 201, 0),
            entry("grade", "c", 202, 2),
            entry("skip", "d", 203),
            entry("grade", "e", 204, 3),
            entry("undo", "e", 205),
        )
    )
    assert last_session(log) == {
        "begun": "2026-11-17T12:20:00.000Z",
        "by_grade": {2: 2},
        "graded": 2,
        "skipped": 1,
        "undone": 1,
        "seconds": 40.0,
        "median": 10.0,
    }
    assert last_session(Log())["median"] is None


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_what_a_queue_saves_is_what_is_judged(tmp_path: Path, ending: str) -> None:
    runs = {"one": {"q 1": ["a", "b"], "r": ["c"]}, "two": {"q 1": ["d", "b"], "r": ["e"]}}
    texts = {"b": {"title": "Bees", "text": "They fly."}, "c": "Cold."}
    queue = judged.queue({"q 1": {"a": 1}, "r": {"x": 1}}, runs, texts=texts, queries={"r": "Why?"})
    path = tmp_path / f"queue{ending}"
    queue.save(path)
    tasks = read_tasks(path)
    assert tasks.places == tuple(zip(queue.queries, queue.items, strict=True))
    assert tasks.texts["b"] == Text("Bees", "They fly.")
    assert tasks.queries["r"].heading == "Why?"
    assert tasks.notes == ()


def test_rows_with_a_grade_are_left_out_and_said(tmp_path: Path) -> None:
    path = tmp_path / "queue.csv"
    path.write_text("qid,docno,rel\nq,a,\nq,b,1\nq,c,0\nq,a,\n")
    tasks = read_tasks(path)
    assert tasks.places == (("q", "a"),)
    assert tasks.notes == ("2 rows of queue.csv already have a grade and are left out.",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("q1 0 d1 1\n", f"a queue is a table with {QUEUE_FILE.columns}."),
        ('{"q": {"d": 1}}', f"a queue is a table with {QUEUE_FILE.columns}."),
        (
            "query,text\nq,a\n",
            f"no column is the item; a queue has {QUEUE_FILE.columns}. The columns are query, "
            "text.",
        ),
        ("query,item\n", "holds no rows."),
    ],
)
def test_files_that_are_none(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "queue.txt"
    path.write_text(text)
    assert error_of(read_tasks, path) == f"{path}: {says}"
