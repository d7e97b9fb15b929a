"""Help texts: short, starting with a verb, with one example for each command."""

from __future__ import annotations

import re

import click
import pytest

from judged.cli import COMMANDS, cli
from judged.cli._files import Command

MOST_WORDS = 15
NO_VERBS = {
    *("a", "an", "the", "what", "how", "which", "whether", "where", "of", "with", "by", "in"),
    *("for", "one", "its", "their", "those", "that", "this", "only", "all", "both", "names"),
}


def options(command: click.Command) -> list[click.Option]:
    return [param for param in command.params if isinstance(param, click.Option)]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_short_help_and_an_example(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert isinstance(command, Command)
    assert command.example.split()[:2] == ["judged", name]
    assert COMMANDS[name].endswith(".")
    assert len(COMMANDS[name].split()) <= MOST_WORDS
    wrong = []
    for option in options(command):
        first = re.match(r".*?\.(?= |$)", option.help or "")
        words = first[0].split() if first else []
        if not words or len(words) > MOST_WORDS or words[0].lower() in NO_VERBS:
            wrong.append((option.opts[-1], option.help))
    assert wrong == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_options_of_an_example_exist(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    known = {flag for option in options(command) for flag in option.opts}
    assert {word for word in command.example.split() if re.match("--?[a-z]", word)} <= known


def test_an_example_is_shown(judged) -> None:
    shown = judged("evaluate", "--help").out
    assert "Example:\n    judged evaluate qrels.txt bm25.run dense.run -m nDCG@10 -m R@100" in shown
