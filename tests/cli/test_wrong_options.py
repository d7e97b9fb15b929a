"""Whatever is given for an option of a command: a message and an exit code of 0, 1 or 2."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from judged.cli import cli
from support.loops import for_each

COMMANDS = {
    "evaluate": ("qrels", "a.run"),
    "compare": ("qrels", "a.run", "b.run", "--missing", "zero"),
    "retriever": ("qrels", "string:capwords"),
    "gate": ("qrels", "b.run", "--baseline", "b.run"),
    "explain": ("qrels", "a.run", "--query", "q1"),
    "identify": ("0.5", "qrels", "a.run", "-m", "RR"),
    "plan": ("--difference", "0.1", "--pilot", "qrels", "a.run", "b.run", "--missing", "zero"),
    "conventions": ("qrels", "a.run", "-m", "RR"),
    "trec-eval": ("qrels", "a.run"),
}
WRONG = ("", "x", "-1", "1.5", "nan", "1" + "0" * 26, "1" + "0" * 400, "1e400", "\u0663", "[1]")


def options() -> Iterator[Any]:
    context = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        for option in command.params:
            if isinstance(option, click.Option) and not option.is_flag:
                yield pytest.param(name, option.opts[-1], id=f"{name} {option.opts[-1]}")


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.full)])
@for_each(("command", "option"), list(options()))
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_value_has_a_message(
    judged: Any, files: Path, command: str, option: str, every: int
) -> None:
    for wrong in WRONG[len(option) % every :: every]:
        outcome = judged(command, *COMMANDS[command], option, wrong)
        assert outcome.code in (0, 1, 2)
        assert outcome.code == 0 or outcome.err or "FAILED" in outcome.out


def test_a_hostile_measure_is_refused_at_once(judged: Any) -> None:
    for text in ("P" + " " * 3000 + "!", "P(rel=" + "[" * 3000, "nDCG(gains={[1]:2})"):
        outcome = judged("measures", text)
        assert outcome.code == 2
        assert len(outcome.err) < 500
