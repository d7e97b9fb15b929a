"""Files, dicts, frames and lists in; tidy tables out, each with what its reader repaired or
assumed."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

from judged.errors import InputError
from judged.inputs.dicts import holds_several, judgements_from_dict, run_from_dict
from judged.inputs.tables import Judgements, Lookup, Run

__all__ = ["Judgements", "Lookup", "Run", "as_runs", "read_judgements", "read_run"]


def read_judgements(given: Any, *, format: str | None = None) -> Judgements | Lookup:
    """Judgements from whatever holds them: a path (or "-"), {query: {item: grade}} or a frame."""
    if isinstance(given, (Judgements, Lookup)):
        return given
    if isinstance(given, (str, PathLike)):
        from judged.inputs.files import read_judgements_file

        return read_judgements_file(fspath(given), format=format)
    if isinstance(given, Mapping):
        return judgements_from_dict(given)
    from judged.inputs.frames import judgements_from_frame

    return judgements_from_frame(given)


def read_run(given: Any, *, name: str | None = None, format: str | None = None) -> Run | Lookup:
    """A run from whatever holds it: a path (or "-"), {query: {item: score}}, {query: [items]} or a
    frame."""
    if isinstance(given, (Run, Lookup)):
        return given
    if isinstance(given, (str, PathLike)):
        from judged.inputs.files import read_run_file

        return read_run_file(fspath(given), format=format, name=name)
    if isinstance(given, Mapping):
        return run_from_dict(given, name=name or "run")
    from judged.inputs.frames import run_from_frame

    return run_from_frame(given, name=name or "run")


def as_runs(given: Any) -> dict[str | None, Any]:
    """One run or several, by name; what each is stays unread until its turn comes. None names a run
    that names itself."""
    if isinstance(given, Mapping) and holds_several(given):
        return {str(name): run for name, run in given.items()}
    if isinstance(given, (list, tuple)):
        if not given:
            raise InputError("no run was given.")
        if all(isinstance(each, (str, PathLike)) for each in given):
            return dict(zip(distinct_names([fspath(each) for each in given]), given, strict=True))
        raise InputError("several runs are given as a list of paths, or as a dict {name: run}.")
    return {None: given}


def distinct_names(paths: list[str]) -> list[str]:
    """Short names for runs from their paths; the whole path, and a number, where two would be
    called the same."""
    from judged.inputs.formats import run_name

    names = [run_name(path) for path in paths]
    names = [
        path if names.count(name) > 1 else name for path, name in zip(paths, names, strict=True)
    ]
    again = [names[:at].count(name) for at, name in enumerate(names)]
    return [
        f"{name} ({before + 1})" if before else name
        for name, before in zip(names, again, strict=True)
    ]
