"""The command line in this process, and small files to give it."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from judged.cli import main

PYTHON = re.compile(r"\(--|to_text\(|\b[Uu]se (?:ties|missing|empty)=|policy=\{")
"""Words of messages that are for callers in Python."""


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture
def judged(capsys: pytest.CaptureFixture[str]):
    def run(command: str, *arguments: object) -> Outcome:
        """Run a command as it is typed; further arguments are taken as they are."""
        with pytest.raises(SystemExit) as left:
            main([*shlex.split(command), *map(str, arguments)])
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        assert not PYTHON.search(said.err), said.err
        assert left.value.code != 70, said.err
        return Outcome(int(left.value.code or 0), said.out, said.err)

    return run


@pytest.fixture
def refuses(judged):
    """Run the commands of a text, each with its whole message below it, indented.

    A message that ends with … begins so. All commands that do something else are reported.
    """

    def check(text: str) -> None:
        wrong = []
        before = {path.name for path in Path().iterdir()}
        for case in re.split(r"\n(?=\S)", dedent(text).strip()):
            call, _, message = case.partition("\n")
            message = " ".join(message.split())
            found = judged(call)
            said = " ".join(found.err.split())
            if message.startswith("Error:"):
                said = f"Error:{said.partition('Error:')[2]}"
            same = said.startswith(message[:-1]) if message.endswith("…") else said == message
            if (found.code, found.out, same) != (2, "", True):
                wrong.append(f"{call}\n    {found.code}: {found.out[:200]}{said}")
        assert not wrong, "\n".join(wrong)
        assert {path.name for path in Path().iterdir()} - {"__pycache__"} == before

    return check


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with `qrels`, `a.run` and `b.run`, which is also the current one.

    q1: a finds its relevant x at rank 2 of 3 (y, x, z); q2: a finds u, v (both relevant) at ranks 1
    and 3; q3 is missing. b finds x at rank 1, u at 2, v at 1, and w (q3) at 1.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("q1 0 x 1\nq1 0 z 0\nq2 0 u 2\nq2 0 v 1\nq3 0 w 1\n")
    (tmp_path / "a.run").write_text(
        "q1 Q0 y 1 3.0 a\nq1 Q0 x 2 2.0 a\nq1 Q0 z 3 1.0 a\nq2 Q0 u 1 3.0 a\nq2 Q0 n 2 2.0 a\nq2 "
        "Q0 v 3 1.0 a\nq9 Q0 u 1 1 a\n"
    )
    (tmp_path / "b.run").write_text(
        "q1 Q0 x 1 3.0 b\nq2 Q0 v 1 3.0 b\nq2 Q0 u 2 2.0 b\nq3 Q0 w 1 1.0 b\n"
    )
    return tmp_path
