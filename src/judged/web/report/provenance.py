"""The provenance of a report: files with sizes and hashes, versions, and commands."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from judged import __version__
from judged.comparison.slices import RELEVANT
from judged.inputs.formats import named_file
from judged.policy import CHOICES, Policy

LIBRARIES = ("numpy", "polars", "scipy", "vl-convert-python")


def versions() -> dict[str, str]:
    known = {"judged": __version__, "Python": platform.python_version()}
    for library in LIBRARIES:
        try:
            known[library] = version(library)
        except PackageNotFoundError:
            continue
    return known


def input_files(inputs: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """Return the files among the inputs: role, name, bytes and SHA-256; None for standard input."""
    paths = [(role, path) for role, source in inputs.items() for path in paths_in(source)]
    names = short_names([path for _, path in paths])
    files = []
    for (role, path), name in zip(paths, names, strict=True):
        size = digest = None
        if path != "-" and os.path.isfile(path):
            size = os.path.getsize(path)
            with open(path, "rb") as handle:
                digest = hashlib.file_digest(handle, "sha256").hexdigest()
        files.append({"role": role, "name": name, "bytes": size, "sha256": digest})
    return tuple(files)


def paths_in(source: Any) -> Iterator[str]:
    """Yield the files of one input: a path, NAME=FILE, FILE::ARRAY, table:FILE, or several."""
    if isinstance(source, Mapping):
        source = [part for part in source.values() if isinstance(part, (str, PathLike))]
    for part in source if isinstance(source, (list, tuple)) else [source]:
        if isinstance(part, str):
            names = [part, part.partition("::")[0], part.removeprefix("table:")]
            names += named_file(part)[1:] if "=" in part else ()
            yield from islice((name for name in names if name == "-" or os.path.isfile(name)), 1)
        elif isinstance(part, PathLike):
            yield str(os.fspath(part))


def short_names(paths: Iterable[str]) -> list[str]:
    """Return file names, with as many folders as distinguish them.

    >>> short_names(["/home/me/a/top.run", "/home/me/b/top.run", "qrels.txt", "-"])
    ['a/top.run', 'b/top.run', 'qrels.txt', '-']
    """
    parts = [Path(path).absolute().parts if path != "-" else ("-",) for path in paths]
    names = []
    for whole in parts:
        others = set(parts) - {whole}
        length = next(
            (n for n in range(1, len(whole)) if all(p[-n:] != whole[-n:] for p in others)),
            len(whole),
        )
        names.append("/".join(whole[-length:]))
    return names


FLAGS = {"judgements_format": "--qrels-format", "measures": "--measure"}
"""Options with other names on the command line."""
FILE_OPTIONS = ("texts", "queries", "pictures", "weights", "groups", "slices", "unique")
"""Options that may be files, of which only the name is shown."""
EXPLAINS = (
    *("policy", "convention", "depth", "duplicates", "collection", "item_to"),
    *("exclude_same_id", "columns", "judgements_format", "run_format"),
)
"""Options of a report that `judged explain` also has."""


@dataclass(frozen=True)
class ReportCall:
    """The inputs of a report, if a command line can hold them."""

    judgements: str
    runs: tuple[str, ...]  # one argument for each run, NAME=FILE if the name is given
    measures: tuple[str, ...]
    options: Mapping[str, Any]
    names: tuple[str, ...] = ()
    whole: bool = True  # whether a command line can hold all inputs

    @property
    def report(self) -> str | None:
        if not self.whole:
            return None
        words = ["judged", "report", self.judgements, *self.runs, *_measured(self.measures)]
        return _joined([*words, *_flags(self.options), "-o", "report.html"])

    @property
    def _scoring(self) -> dict[str, Any]:
        return {name: self.options[name] for name in EXPLAINS if name in self.options}

    def explain(self, run: str, query: str, measure: str) -> tuple[str, str, str]:
        """Return the command that explains a number, in three parts: the second is the query."""
        # Rows that hold judgements and a run are no argument of their own.
        named = dict(zip(self.names[len(self.names) - len(self.runs) :], self.runs, strict=True))
        words = ["judged", "explain", self.judgements, *([named[run]] if run in named else [])]
        after = _joined([*_value("-m", measure), *_flags(self._scoring)])
        return f"{_joined(words)} --query=", shlex.quote(query), f" {after}"

    def evaluate(self) -> str:
        words = ["judged", "evaluate", self.judgements, *self.runs, *_measured(self.measures)]
        return _joined([*words, *_flags(self._scoring), "--per-query"])


def call_of(
    judgements: Any, runs: Any, measures: Any, options: Mapping[str, Any], names: tuple[str, ...]
) -> ReportCall | None:
    """Return the call; None if a command line cannot hold it."""
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
    return ReportCall(files[0], tuple(files[1:]), tuple(map(str, wanted)), chosen, names, not lost)


def _written(name: str, value: Any) -> Any:
    """Return the value of an option for the command line; None if that is impossible."""
    if isinstance(value, Policy):
        return value.to_dict()
    if name == "policy":
        return dict(value) if isinstance(value, Mapping) else None
    if name == "slices" and value in (True, RELEVANT):
        return RELEVANT
    if name in FILE_OPTIONS:
        return _file_name(fspath(value)) if isinstance(value, (str, PathLike)) else None
    if name == "item_to" and isinstance(value, str) and value.startswith("table:"):
        return f"table:{_file_name(value.removeprefix('table:'))}"
    if isinstance(value, Mapping):
        return dict(value) if all(isinstance(text, str) for text in value.values()) else None
    return value if isinstance(value, (str, int, float)) else None


def _files(judgements: Any, runs: Any) -> list[str] | None:
    """Return judgements and runs as arguments; None if one of them is not a file."""
    sources: list[tuple[str | None, Any]] = [(None, judgements)]
    if isinstance(runs, Mapping):
        sources += [(str(name), path) for name, path in runs.items()]
    elif runs is not None:
        sources += [(None, run) for run in (runs if isinstance(runs, (list, tuple)) else [runs])]
    if not all(isinstance(path, (str, PathLike)) for _, path in sources):
        return None
    files = [(name, fspath(path)) if name else named_file(fspath(path)) for name, path in sources]
    shown = short_names([path for _, path in files])
    return [
        path if name is None else f"{name}={path}"
        for (name, _), path in zip(files, shown, strict=True)
    ]


def _file_name(path: str) -> str:
    return short_names([path])[0]


def _measured(measures: tuple[str, ...]) -> list[str]:
    return [word for measure in measures for word in ("-m", measure)]


def _flags(options: Mapping[str, Any]) -> list[str]:
    words: list[str] = []
    for name, value in options.items():
        flag = FLAGS.get(name, f"--{name.replace('_', '-')}")
        if name == "policy":
            for choice in (*CHOICES, "depth", "duplicates"):
                if value.get(choice) is not None:
                    words += [f"--{choice}", str(value[choice])]
        elif name == "columns" and isinstance(value, Mapping):
            words += _value(flag, ",".join(f"{role}={column}" for role, column in value.items()))
        elif value is True:
            words.append(flag)
        else:
            words += _value(flag, str(value))
    return words


def _value(flag: str, value: str) -> list[str]:
    """Join option and value if the value begins with a dash."""
    return [f"{flag}={value}"] if value.startswith("-") else [flag, value]


def _joined(words: list[str]) -> str:
    return " ".join(map(shlex.quote, words))
