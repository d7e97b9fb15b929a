"""The provenance of a report: files with sizes and hashes, versions, and commands."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
from collections.abc import Iterable, Iterator, Mapping
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


FLAGS = {"measures": "--measure"}
"""Options with other names on the command line."""
FILE_OPTIONS = ("texts", "queries", "pictures", "groups", "slices")
"""Options that may be files, of which only the name is shown."""
EXPLAINS = ("policy", "convention", "columns")
"""Options of a report that `judged explain` also has."""
PYTHON_ONLY = (
    *("collection", "item_to", "exclude_same_id", "unique", "trusted", "skip_bad", "format"),
    *("unanswerable", "threshold", "weights"),
)
"""Options of a report that change numbers and that its command does not have."""


def commands_of(
    judgements: Any, runs: Any, measures: Any, options: Mapping[str, Any], names: tuple[str, ...]
) -> tuple[str | None, tuple[str, str] | None]:
    """Return the commands of a report and of an explanation, before and after its query."""
    files = _files(judgements, runs)
    if files is None:
        return None, None
    wanted = [measures] if isinstance(measures, str) else list(measures or ())
    written = {
        name: _written(name, value)
        for name, value in options.items()
        if value is not None and value is not False
    }
    lost = {name for name, value in written.items() if value is None}
    if (lost & {*EXPLAINS}) or ({*written} & {*PYTHON_ONLY}):
        return None, None
    chosen = {name: value for name, value in written.items() if value is not None}
    scoring = {name: chosen[name] for name in EXPLAINS if name in chosen}
    policy = chosen.get("policy", {}).items()
    scoring["policy"] = {choice: value for choice, value in policy if choice != "missing"}
    # Rows that hold judgements and a run are no argument of their own.
    first = files[1:2] if len(files) > len(names) else []
    explained = shlex.join(["judged", "explain", files[0], *first]), shlex.join(_flags(scoring))
    if lost:
        return None, explained
    measured = [word for measure in wanted for word in ("-m", str(measure))]
    words = ["judged", "report", *files, *measured, *_flags(chosen), "-o", "report.html"]
    return shlex.join(words), explained


def _written(name: str, value: Any) -> Any:
    """Return the value of an option for the command line; None if that is impossible."""
    if isinstance(value, Policy):
        return value.to_dict()
    if name == "policy":
        return dict(value) if isinstance(value, Mapping) else None
    if name == "slices" and value in (True, RELEVANT):
        return RELEVANT
    if name in FILE_OPTIONS:
        return short_names([fspath(value)])[0] if isinstance(value, (str, PathLike)) else None
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
