"""Files, dicts, frames and lists in; tidy tables out, each with what its reader repaired or
assumed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from judged.checks import refuse_lost_polars
from judged.errors import InputError
from judged.inputs.columns import as_columns
from judged.inputs.dicts import (
    holds_several,
    judgements_from_dict,
    run_from_dict,
    with_texts,
)
from judged.inputs.formats import (
    FORMATS,
    NAMELESS,
    check_format,
    detect_format,
    named_file,
    printable,
    run_name,
)
from judged.inputs.tables import (
    JUDGEMENTS,
    RUN,
    Judgements,
    Kind,
    Lookup,
    Reading,
    Run,
    to_judgements,
    to_run,
)

if TYPE_CHECKING:
    from judged.inputs.source import Source
    from judged.types import ColumnsLike, FileFormat, JudgementsLike, RunLike, RunsLike

__all__ = ["Judgements", "Lookup", "Run", "as_runs", "read_judgements", "read_run"]


def read_judgements(
    judgements: JudgementsLike,
    *,
    columns: ColumnsLike | None = None,
    format: FileFormat | None = None,
) -> Judgements | Lookup:
    """Judgements from whatever holds them, checked; a mistake is named with its line.

    Parameters
    ----------
    judgements : JudgementsLike
        A file ("-" is standard input), a dict {query: {item: grade}}, {query: [relevant items]} or
        {query: {item: {subtopic: grade}}}, or a table.
    columns : ColumnsLike, optional
        What each column of a table is, such as {"query": "question_id", "item": "chunk_id"}; by
        default their names tell.
    format : FileFormat, optional
        The format of the file; by default its content tells.

    Returns
    -------
    Judgements or Lookup
        The judgements, as every function here takes them; `Lookup` for a dict.

    >>> read_judgements({"q1": {"a": 1, "b": 0}}).lists["q1"]
    {'a': 1, 'b': 0}
    """
    if isinstance(judgements, (Judgements, Lookup)):
        _refuse_columns(columns, JUDGEMENTS, "the judgements", "were read already")
        return judgements
    if isinstance(judgements, (str, PathLike)):
        source, reading = _read_file(fspath(judgements), JUDGEMENTS, columns, format)
        return to_judgements(reading, source.label)
    if isinstance(judgements, Mapping):
        _refuse_columns(columns, JUDGEMENTS, "a dict of judgements", "has no columns")
        return judgements_from_dict(judgements)
    from judged.inputs.frames import judgements_from_frame

    return judgements_from_frame(judgements, columns=as_columns(columns))


def read_run(
    run: RunLike,
    *,
    name: str | None = None,
    columns: ColumnsLike | None = None,
    format: FileFormat | None = None,
) -> Run | Lookup:
    """A run from whatever holds it, checked; a mistake is named with its line.

    Parameters
    ----------
    run : RunLike
        A file ("-" is standard input), a dict {query: {item: score}}, {query: [items, best first]}
        or {query: [(item, score), …]}, or a table.
    name : str, optional
        What tables call the run; by default the name of its file, or "run".
    columns : ColumnsLike, optional
        What each column of a table is, such as {"query": "question_id", "item": "chunk_id"}; by
        default their names tell.
    format : FileFormat, optional
        The format of the file; by default its content tells.

    Returns
    -------
    Run or Lookup
        The run, as every function here takes it; `Lookup` for a dict.

    >>> read_run({"q1": ["b", "a"]}, name="mine").lists["q1"]
    {'b': 2, 'a': 1}
    """
    if name is not None and not isinstance(name, str):
        raise InputError(f"the name of a run must be a text; got {type(name).__name__}.")
    if isinstance(run, (Run, Lookup)):
        _refuse_columns(columns, RUN, "the run", "was read already")
        return replace(run, name=name) if name else run
    if isinstance(run, (str, PathLike)):
        source, reading = _read_file(fspath(run), RUN, columns, format)
        return to_run(reading, source.label, name or run_name(source.path))
    if isinstance(run, Mapping):
        _refuse_columns(columns, RUN, "a dict of results", "has no columns")
        return run_from_dict(run, name=name or "run")
    from judged.inputs.frames import run_from_frame

    return run_from_frame(run, name=name or "run", columns=as_columns(columns))


def _read_file(
    path: str, kind: Kind, columns: ColumnsLike | None, format: str | None
) -> tuple[Source, Reading]:
    from pkgutil import resolve_name

    from judged.inputs.source import open_source

    check_format(format)
    refuse_lost_polars()
    source = replace(open_source(path, kind), columns=as_columns(columns))
    found = detect_format(source) if format is None else FORMATS[format]
    if found.name in NAMELESS:
        _refuse_columns(source.columns, kind, source.label, "has no header with names of columns")
    return source, resolve_name(found.reader)(source)


def _refuse_columns(columns: ColumnsLike | None, kind: Kind, source: str, why: str) -> None:
    """Refuse columns that somebody named, where no other table can have them."""
    if columns:
        as_columns(columns).record(kind, source, why)


def as_runs(given: RunsLike) -> dict[str | None, Any]:
    """One run or several, by name; what each is stays unread until its turn comes.

    Parameters
    ----------
    given : RunsLike
        A run, a dict {name: run}, or a list of files; a file may be named: "NAME=FILE".

    Returns
    -------
    dict
        {name: run as given}; None names a run that names itself.

    >>> as_runs(["runs/bm25.run", "runs/dense.run.gz"])
    {'bm25': 'runs/bm25.run', 'dense': 'runs/dense.run.gz'}
    >>> as_runs("first stage=runs/bm25.run")
    {'first stage': 'runs/bm25.run'}
    """
    if isinstance(given, Mapping) and holds_several(given):
        return dict(with_texts(given, "", "runs").items())
    if isinstance(given, (list, tuple)):
        if not given:
            raise InputError("no run was given.")
        if all(isinstance(each, (str, PathLike)) for each in given):
            named = [_named(each) for each in given]
            return dict(zip(distinct_names(named), [file for _, file in named], strict=True))
        raise InputError("several runs are given as a list of paths, or as a dict {name: run}.")
    return dict([_named(given)])


def _named(given: Any) -> tuple[str | None, Any]:
    """A run, and its name where it is a file that is given as NAME=FILE."""
    return named_file(given) if isinstance(given, str) else (None, given)


def distinct_names(named: Sequence[tuple[str | None, str | PathLike[str]]]) -> list[str]:
    """The names of runs, for those that have none short names from their paths; the whole path,
    and a number, where two would be called the same."""
    given = [name for name, _ in named if name is not None]
    if twice := next((name for name in given if given.count(name) > 1), None):
        raise InputError(f"two runs are called {twice!r}; give each a name of its own.")
    names = [name or run_name(fspath(path)) for name, path in named]
    names = [
        printable(path) if own is None and names.count(name) > 1 else name
        for (own, path), name in zip(named, names, strict=True)
    ]
    again = [names[:at].count(name) for at, name in enumerate(names)]
    return [
        f"{name} ({before + 1})" if before else name
        for name, before in zip(names, again, strict=True)
    ]
