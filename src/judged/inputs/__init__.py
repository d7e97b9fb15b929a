"""Files, dicts, frames and lists in; tidy tables out, each with what its reader repaired or
assumed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from judged.errors import InputError
from judged.inputs.formats import (
    FORMATS,
    NAMELESS,
    Format,
    check_format,
    detect_format,
    distinct_names,
    named_file,
    run_name,
)
from judged.inputs.named import as_columns
from judged.inputs.readings import Reading, to_judgements, to_run
from judged.inputs.tables import JUDGEMENTS, RUN, Judgements, Kind, Lookup, Run

if TYPE_CHECKING:
    from judged.inputs.named import Named
    from judged.inputs.rows.rows import Rows
    from judged.inputs.source import Source
    from judged.options import ColumnsLike, FileFormat, JudgementsLike, RunLike, RunsLike

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
        return judgements_in(opened(judgements, JUDGEMENTS, columns), format)
    from judged.inputs.objects import Records, as_known

    given = as_known(judgements, JUDGEMENTS).given
    if isinstance(given, Mapping):
        from judged.inputs.dicts import judgements_from_dict
        from judged.inputs.documents import document_of

        _refuse_columns(columns, JUDGEMENTS, "a dict of judgements", "has no columns")
        document = document_of(given, JUDGEMENTS, "a dict")
        lists = judgements_from_dict(given if document is None else document.lists)
        return with_notes(lists, () if document is None else document.notes)
    rows = rows_of_table(given, ("relevant",), as_columns(columns))
    if rows is not None and rows.judgements is not None:
        return rows.judgements
    from judged.inputs.frames import judgements_from_frame

    if isinstance(given, Records):
        return judgements_from_frame(given.frame(), source=given.label, columns=as_columns(columns))
    return judgements_from_frame(given, columns=as_columns(columns))


def judgements_in(source: Source, format: FileFormat | None = None) -> Judgements:
    """The judgements of a file."""
    found = format_of(source, format)
    rows = rows_of_file(source, found, ("relevant",))
    if rows is not None and rows.judgements is not None:
        return rows.judgements
    return to_judgements(_reading(source, found), source.label)


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
        return run_in(opened(run, RUN, columns), name, format)
    from judged.inputs.objects import Records, as_known

    known = as_known(run, RUN)
    given, name = known.given, name or known.name or "run"
    if isinstance(given, Mapping):
        from judged.inputs.dicts import run_from_dict
        from judged.inputs.documents import document_of

        _refuse_columns(columns, RUN, "a dict of results", "has no columns")
        document = document_of(given, RUN, "a dict")
        lists = run_from_dict(given if document is None else document.lists, name=name)
        return with_notes(lists, () if document is None else document.notes)
    rows = rows_of_table(given, ("retrieved",), as_columns(columns))
    if rows is not None and rows.run is not None:
        return replace(rows.run, name=name)
    from judged.inputs.frames import run_from_frame

    if isinstance(given, Records):
        return run_from_frame(
            given.frame(), name=name, source=given.label, columns=as_columns(columns)
        )
    return run_from_frame(given, name=name, columns=as_columns(columns))


def run_in(source: Source, name: str | None = None, format: FileFormat | None = None) -> Run:
    """The run of a file."""
    name = name or run_name(source.path)
    found = format_of(source, format)
    rows = rows_of_file(source, found, ("retrieved",))
    if rows is not None and rows.run is not None:
        return replace(rows.run, name=name)
    return to_run(_reading(source, found), source.label, name)


def with_notes(lists: Lookup, notes: tuple[str, ...]) -> Lookup:
    """The same, with more to say."""
    return replace(lists, notes=(*notes, *lists.notes)) if notes else lists


def opened(path: str | PathLike[str], kind: Kind, columns: ColumnsLike | None) -> Source:
    """A file, ready to be read."""
    from judged.inputs.source import open_source

    return replace(open_source(fspath(path), kind), columns=as_columns(columns))


def format_of(source: Source, format: str | None) -> Format:
    """The format of a file: the one that was named, or what its content tells."""
    check_format(format)
    return detect_format(source) if format is None else FORMATS[format]


def _reading(source: Source, format: Format) -> Reading:
    from pkgutil import resolve_name

    refuse_nameless(source, format)
    reading: Reading = resolve_name(format.reader)(source)
    return reading


def refuse_nameless(source: Source, format: Format) -> None:
    """Refuse columns that somebody named, where those of the format have no names."""
    if format.name in NAMELESS:
        why = "has no header with names of columns"
        _refuse_columns(source.columns, source.kind, source.label, why)


def rows_of_file(source: Source, format: Format, roles: Sequence[str]) -> Rows | None:
    """What the rows of a file hold in these roles; None where it has no lists of ids."""
    if format.name in NAMELESS:
        return None
    from judged.inputs.rows.loading import table_in_file
    from judged.inputs.rows.reading import rows_in

    return rows_in(table_in_file(source, format.name), roles, as_columns(source.columns))


def rows_of_table(given: Any, roles: Sequence[str], columns: Named) -> Rows | None:
    """What the rows of a table hold in these roles; None where it has no lists of ids."""
    from judged.inputs.rows.loading import table_of
    from judged.inputs.rows.reading import rows_in

    return rows_in(table_of(given), roles, columns)


def _refuse_columns(columns: ColumnsLike | None, kind: Kind, source: str, why: str) -> None:
    """Refuse columns that somebody named, where no other table can have them."""
    if columns is not None:
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
    if isinstance(given, (str, PathLike)):
        return dict([_named(given)])
    if isinstance(given, (list, tuple)):
        if not given:
            raise InputError("no run was given.")
        if all(isinstance(each, (str, PathLike)) for each in given):
            named = [_named(each) for each in given]
            return dict(zip(distinct_names(named), [file for _, file in named], strict=True))
    from judged.inputs.dicts import holds_several, with_texts
    from judged.inputs.objects import is_record

    if isinstance(given, Mapping) and holds_several(given):
        _refuse_repeats(given.values())
        return dict(with_texts(given, "", "runs").items())
    _refuse_repeats(given if isinstance(given, (list, tuple)) else [given])
    if isinstance(given, (list, tuple)):
        if is_record(given[0]):
            return {None: given}
        raise InputError(
            "several runs are given as a list of paths, or as a dict {name: run}; one run as a "
            "list of rows, each a dict, a namedtuple or a dataclass object."
        )
    return {None: given}


def _refuse_repeats(runs: Iterable[Any]) -> None:
    from judged.inputs.repeated import Repeats

    if any(isinstance(run, Repeats) for run in runs):
        raise InputError(
            "repeats of a run are for judged.compare and judged.gate; here give each as a run of "
            "its own, {name: run}."
        )


def _named(given: Any) -> tuple[str | None, Any]:
    """A run, and its name where it is a file that is given as NAME=FILE."""
    return named_file(given) if isinstance(given, str) else (None, given)
