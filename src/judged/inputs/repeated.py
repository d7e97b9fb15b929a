"""Several runs of one system, such as with other seeds, given instead of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

from judged.errors import InputError
from judged.inputs.dicts import with_texts
from judged.inputs.formats import distinct_names, named_file, printable

Repeated = Mapping[str, tuple[str, ...]]  # the names of the repeats of each run that has some
_NAMELESS = "repeats have no name of their own; give them as {name: judged.repeats(…)}."


@dataclass(frozen=True, eq=False)
class Repeats:
    """Several runs of one system, which `compare` takes instead of a run."""

    runs: tuple[Any, ...]
    """The runs as given."""


def repeats(*runs: Any) -> Repeats:
    """Declare several runs of one system, such as with other seeds, to be compared as one.

    The value of a query is the mean over the repeats. The confidence interval of a difference
    includes how much the repeats differ, so it is about the system and not about one run of it.

    Parameters
    ----------
    *runs : RunLike
        The runs; for `compare_values`, {query: value} or {measure: {query: value}} of each.

    >>> import judged
    >>> judgements = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> seeds = judged.repeats({"q1": ["a"], "q2": ["b"]}, {"q1": ["b", "a"], "q2": ["b"]})
    >>> runs = {"one": {"q1": ["b", "a"], "q2": ["a", "b"]}, "other": seeds}
    >>> judged.compare(judgements, runs, "RR").value(run="other")
    0.875
    """
    if not runs:
        raise InputError("repeats needs at least one run; got none.")
    if any(run is None or isinstance(run, Repeats) for run in runs):
        raise InputError("repeats holds runs, not None and not other repeats.")
    return Repeats(runs)


def apart(runs: Any) -> tuple[Any, Repeated]:
    """Return runs with every repeat as a run of its own, and which of them belong together."""
    if isinstance(runs, Repeats):
        raise InputError(_NAMELESS)
    if isinstance(runs, (list, tuple)):
        runs = _from_files(runs)
    if not isinstance(runs, Mapping) or not any(isinstance(r, Repeats) for r in runs.values()):
        return runs, {}
    named = with_texts(runs, "", "runs")
    single: dict[str, Any] = {}
    belong: dict[str, tuple[str, ...]] = {}
    for name, given in named.items():
        if not isinstance(given, Repeats):
            single[name] = given
            continue
        belong[name] = tuple(f"{name} ({number})" for number in range(1, len(given.runs) + 1))
        for repeat, run in zip(belong[name], given.runs, strict=True):
            if repeat in named:
                raise InputError(
                    f"the repeats of {name} are called {belong[name][0]} and so on, and another "
                    f"run is called {repeat} too; call it something else."
                )
            single[repeat] = run
    return single, belong


def _from_files(runs: list[Any] | tuple[Any, ...]) -> Any:
    """Return runs by name if a list of files has repeats; else the list itself."""
    if any(isinstance(run, Repeats) for run in runs):
        raise InputError(_NAMELESS)
    if not all(isinstance(run, (str, PathLike)) for run in runs):
        return runs
    named = list(map(named_file, runs))
    given = [files_of(name, file) for name, file in named]
    if not any(isinstance(run, Repeats) for run in given):
        return runs
    return dict(zip(distinct_names(named), given, strict=True))


def files_of(name: str | None, file: Any) -> Any:
    """Return the repeats of NAME=FILE,FILE,…; a file of that very name is one run."""
    if name is None or not isinstance(file, str) or "," not in file or os.path.lexists(file):
        return file
    files = [part.strip() for part in file.split(",")]
    place = printable(f"{name}={file}")
    if not all(files):
        raise InputError(f"{place}: repeats are NAME=FILE,FILE,… with a file between all commas.")
    if twice := next((part for part in files if files.count(part) > 1), None):
        raise InputError(
            f"{place}: {printable(twice)} occurs twice; a run cannot be a repeat of itself."
        )
    return Repeats(tuple(files))
