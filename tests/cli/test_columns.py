"""--columns in every command that reads tables, and judgements without grades."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

COLUMNS = "query=question_id,item=file+page,score=prediction,grade=points"


@pytest.fixture
def tables(files: Path) -> None:
    """One query whose relevant page is at rank 2."""
    Path("golden.csv").write_text("question_id,file,page,points\nq,a,1,1\nq,b,2,0\n")
    Path("run.csv").write_text("question_id,file,page,prediction\nq,b,2,0.5\nq,a,1,0.25\n")


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["evaluate", "golden.csv", "run.csv", "-m", "RR"], "0.5000"),
        (["conventions", "golden.csv", "run.csv", "-m", "RR"], "0.5000"),
        (["identify", "0.5", "golden.csv", "run.csv", "-m", "RR"], "0.5"),
        (["explain", "golden.csv", "run.csv", "--measure", "RR", "--query", "q"], "0.5000"),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)
def test_every_command_takes_columns(judged: Any, arguments: list[str], shown: str) -> None:
    named = judged(*arguments, "--columns", COLUMNS)
    assert (named.code, shown in named.out) == (0, True), named
    wrong = judged(*arguments, "--columns", COLUMNS.replace("prediction", "predicton"))
    assert wrong.code == 2
    assert wrong.err == (
        'judged: columns, score=predicton: there is no column "predicton"; did you mean '
        '\'prediction\'? run.csv has the columns "question_id", "file", "page", "prediction".\n'
    )


@pytest.mark.usefixtures("files")
def test_columns_of_files_without_names(judged: Any) -> None:
    refused = judged("evaluate qrels a.run --columns item=chunk_id")
    assert refused.code == 2
    assert refused.err == (
        'judged: columns, item=chunk_id: there is no column "chunk_id". qrels has no header with '
        "names of columns; a.run has no header with names of columns.\n"
    )


@pytest.mark.usefixtures("files")
def test_judgements_without_grades(judged: Any) -> None:
    Path("golden.jsonl").write_text('{"query": "q1", "item": "x"}\n{"query": "q2", "item": "u"}\n')
    found = judged("evaluate golden.jsonl a.run -m RR --format json")
    assert found.code == 0
    assert (
        '"There are no grades: every item that is listed is relevant, with grade 1."' in found.out
    )
    assert '"RR": 0.75' in found.out
