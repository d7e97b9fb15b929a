"""What is to be judged, from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

import judged
from judged.errors import InputError
from judged.inputs.texts import Text
from judged.judgements.worklist import QUEUE_FILE, read_tasks


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".ndjson", ".parquet"])
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
    with pytest.raises(InputError) as refused:
        read_tasks(path)
    assert str(refused.value) == f"{path}: {says}"
