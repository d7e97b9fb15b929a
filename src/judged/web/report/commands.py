"""The commands that make a report again, and that explain a number of it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from judged.comparison.slices import RELEVANT
from judged.inputs.formats import named_file
from judged.policy import CHOICES, Policy
from judged.web.report.provenance import short_names

FLAGS = {"judgements_format": "--qrels-format", "measures": "--measure"}
"""Options whose names on the command line are others."""
FILES = ("texts", "queries", "pictures", "weights", "groups", "slices", "unique")
"""Options that may be files, of which only the name is shown."""
EXPLAINS = (
    *("policy", "convention", "depth", "duplicates", "collection", "item_to"),
    *("exclude_same_id", "columns", "judgements_format", "run_format"),
)
"""Options of a report that `judged explain` has too."""


@dataclass(frozen=True)
class Call:
    """What was given, where all of it can be written on a command line."""

    judgements: str
    runs: tuple[str, ...]
    """One argument each, NAME=FILE where the run has a name of its own."""
    measures: tuple[str, ...]
    options: Mapping[str, Any]
    """Those that were chosen, by their names in Python."""
    names: tuple[str, ...] = ()
    """What the runs are called."""
    whole: bool = True
    """Whether nothing was given that a command line cannot hold, as pictures in memory."""

    @property
    def report(self) -> str | None:
        """The command that makes the report again."""
        if not self.whole:
            return None
        words = ["judged", "report", self.judgements, *self.runs, *_measured(self.measures)]
        return _joined([*words, *_flags(self.options), "-o", "report.html"])

    def explain(self, run: str, query: str, measure: str) -> tuple[str, str, str]:
        """The command that explains the number of a query, in three parts: the second is the query
        as it stands there."""
        own = {name: self.options[name] for name in EXPLAINS if name in self.options}
        # Rows that hold judgements and a run are no argument of their own.
        named = dict(zip(self.names[len(self.names) - len(self.runs) :], self.runs, strict=True))
        words = ["judged", "explain", self.judgements, *([named[run]] if run in named else [])]
        after = _joined([*_value("-m", measure), *_flags(own)])
        return f"{_joined(words)} --query=", shlex.quote(query), f" {after}"

    def evaluate(self) -> str:
        """The command that prints every value of every query."""
        own = {name: self.options[name] for name in EXPLAINS if name in self.options}
        words = ["judged", "evaluate", self.judgements, *self.runs, *_measured(self.measures)]
        return _joined([*words, *_flags(own), "--per-query"])


def call_of(
    judgements: Any, runs: Any, measures: Any, options: Mapping[str, Any], names: tuple[str, ...]
) -> Call | None:
    """The call, or None where data or how they are judged cannot be written on a command line."""
    files = _files(judgements, runs)
    if files is None:
        return None
    wanted = [measures] if isinstance(measures, str) else list(measures or ())
    written = {
        name: _written(name, value)
        for name, value in options.items()
        if value is not None and value is not False
    }
    lost = {name for name, value in written.items() if value is None}
    if lost & set(EXPLAINS):
        return None
    chosen = {name: value for name, value in written.items() if value is not None}
    return Call(files[0], tuple(files[1:]), tuple(map(str, wanted)), chosen, names, not lost)


def _written(name: str, value: Any) -> Any:
    """The value of an option as a command line has it; None where it cannot have it."""
    if isinstance(value, Policy):
        return value.to_dict()
    if name == "slices" and value in (True, RELEVANT):
        return RELEVANT
    if name in FILES:
        return _file_name(fspath(value)) if isinstance(value, (str, PathLike)) else None
    if name == "item_to" and isinstance(value, str) and value.startswith("table:"):
        return f"table:{_file_name(value.removeprefix('table:'))}"
    if isinstance(value, Mapping):
        return dict(value) if all(isinstance(each, str) for each in value.values()) else None
    return value if isinstance(value, (str, int, float)) else None


def _files(judgements: Any, runs: Any) -> list[str] | None:
    """Judgements and runs as arguments; the names of files alone."""
    given: list[tuple[str | None, Any]] = [(None, judgements)]
    if isinstance(runs, Mapping):
        given += [(str(name), path) for name, path in runs.items()]
    elif runs is not None:
        given += [(None, each) for each in (runs if isinstance(runs, (list, tuple)) else [runs])]
    if not all(isinstance(path, (str, PathLike)) for _, path in given):
        return None
    split = [
        (name, fspath(path)) if name is not None else named_file(fspath(path))
        for name, path in given
    ]
    shown = short_names([path for _, path in split])
    return [
        path if name is None else f"{name}={path}"
        for (name, _), path in zip(split, shown, strict=True)
    ]


def _file_name(path: str) -> str:
    return short_names([path])[0]


def _measured(measures: tuple[str, ...]) -> list[str]:
    return [word for each in measures for word in ("-m", each)]


def _flags(options: Mapping[str, Any]) -> list[str]:
    """Options as they are written on the command line."""
    words: list[str] = []
    for name, value in options.items():
        flag = FLAGS.get(name, f"--{name.replace('_', '-')}")
        if name == "policy":
            chosen = ((each, value[each]) for each in CHOICES if each in value)
            words += [word for each, choice in chosen for word in (f"--{each}", choice)]
        elif name == "columns" and isinstance(value, Mapping):
            words += _value(flag, ",".join(f"{role}={column}" for role, column in value.items()))
        elif value is True:
            words.append(flag)
        else:
            words += _value(flag, str(value))
    return words


def _value(flag: str, value: str) -> list[str]:
    """An option and its value; joined where the value could be taken for an option itself."""
    return [f"{flag}={value}"] if value.startswith("-") else [flag, value]


def _joined(words: list[str]) -> str:
    return " ".join(map(shlex.quote, words))
