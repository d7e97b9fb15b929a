"""`--trusted` of evaluate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import judged as library
from support.cheap_judges import judged_twice

DATA = judged_twice()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`model.qrels`, `people.qrels`, `one.run` and `two.run`, where commands run."""
    for name, grades in (("model", DATA.cheap), ("people", DATA.people)):
        lines = (f"{q} 0 {item} {g}\n" for q, own in grades.items() for item, g in own.items())
        (tmp_path / f"{name}.qrels").write_text("".join(lines))
    for name, run in DATA.runs.items():
        lines = (
            f"{query} Q0 {item} {rank} {20 - rank} {name}\n"
            for query, items in run.items()
            for rank, item in enumerate(items, 1)
        )
        (tmp_path / f"{name}.run").write_text("".join(lines))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_numbers_of_the_library(judged: Any, folder: Path) -> None:
    files = "model.qrels", "one.run", "two.run", "-m", "P@5", "--trusted", "people.qrels"
    found = judged("evaluate", *files, "--format", "json")
    assert found.code == 0
    record = json.loads(found.out)
    expected = library.evaluate(DATA.cheap, DATA.runs, "P@5", trusted=DATA.people)
    for at, run in enumerate(DATA.runs):
        assert record["runs"][at]["trusted"]["P@5"] == expected.correction(run=run).to_dict()
    assert record["trusted"] == {"source": "people.qrels", "queries": 30}


def test_what_is_wrong_names_the_file(judged: Any, folder: Path) -> None:
    few = (folder / "people.qrels").read_text().splitlines()[: 12 * 5]
    (folder / "few.qrels").write_text("\n".join(few) + "\n")
    found = judged("evaluate model.qrels one.run -m RR --trusted few.qrels")
    assert (found.code, found.err) == (
        2,
        "judged: few.qrels: 5 queries have trusted judgements, and a correction takes at least 20; "
        "judge more of them, drawn at random, or leave --trusted out.\n",
    )
    swapped = judged("evaluate people.qrels one.run -m RR --trusted model.qrels")
    assert swapped.code == 2
    assert swapped.err.startswith(
        "judged: model.qrels: 50 queries are not among those that the cheap judgements are of ("
    )
    run = judged("evaluate model.qrels one.run --trusted two.run")
    assert run.err.startswith("judged: trusted: two.run looks like a run (6 columns")
