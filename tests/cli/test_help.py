"""Help texts: short, starting with a verb, with one example for each command."""

from __future__ import annotations

import re

import click
import pytest

from judged.cli import COMMANDS, TOPICS, cli
from judged.cli._command import Command

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
    shown = judged("evaluate --help").out
    assert "Example:\n    judged evaluate qrels.txt bm25.run dense.run -m nDCG@10 -m R@100" in shown


MOST_OPTIONS = 345
"""Options of all commands together: a new one replaces another."""


def test_the_help_fits_a_screen(judged, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = judged("--help").out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    words = " ".join(lines).replace(",", " ").split()
    assert [name for name in COMMANDS if name not in words] == []
    assert list(COMMANDS) == [name for names in TOPICS.values() for name in names]
    everything = judged("--help-all").out
    assert [name for name, says in COMMANDS.items() if says not in everything] == []


def test_help_shows_common_options_and_help_all_the_rest(judged) -> None:
    total = 0
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        own = options(command)
        total += len(own)
        short, whole = (
            judged(name, "--help").out.partition("Options:\n")[2],
            judged(name, "--help-all").out,
        )
        shown = [o for o in own if re.search(rf"^  {re.escape(o.names[0])}[ ,]", short, re.M)]
        assert len(shown) <= 10, name
        assert [option.flag for option in own if f"{option.names[0]}" not in whole] == []
        for option in own:
            for meaning in option.meanings.values():
                assert meaning not in " ".join(short.split()), option.flag
    assert total <= MOST_OPTIONS


def test_other_spellings_and_mistakes(judged, files) -> None:
    usual = judged("evaluate qrels a.run -m RR --format markdown").out
    for option in ("--measure", "--measures", "--metric", "--metrics"):
        assert judged("evaluate qrels a.run", option, "RR", "--format", "md").out == usual
    for call, message in {
        "evaluate qrels a.run -m nDCG@10 RR": "RR is a measure: write -m nDCG@10,RR",
        "evaluate qrels a.run -k 10": "No such option: -k. Write the cutoff into the measure: -m "
        "nDCG@10.",
    }.items():
        found = judged(call)
        assert (found.code, found.err.splitlines()[-1]) == (2, f"Error: {message}")
