"""Runs and judgements from files, dicts, frames and lists, as tidy tables with notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from judged.errors import InputError
from judged.inputs.columns import as_columns
from judged.inputs.formats import (
    FORMATS,
    NAMELESS,
    Format,
    check_format,
    check_has_ids,
    detect_format,
    distinct_names,
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
    RawTable,
    Run,
    to_judgements,
    to_run,
)
from judged.options import ColumnsLike, FileFormat, JudgementsLike, RunLike, RunsLike

if TYPE_CHECKING:
    from judged.inputs.columns import NamedColumns
    from judged.inputs.rows import RowContents
    from judged.inputs.source import Source

__all__ = ["Judgements", "Lookup", "Run", "as_runs", "read_judgements", "read_run"]


def read_judgements(
    judgements: JudgementsLike,
    *,
    columns: ColumnsLike | None = None,
    format: FileFormat | None = None,
) -> Judgements | Lookup:
    """Read and check judgements; an error names the line.

    Parameters
    ----------
    judgements : JudgementsLike
        A file ("-" is standard input), a dict {query: {item: grade}}, {query: [relevant items]} or
        {query: {item: {subtopic: grade}}}, or a table.
    columns : ColumnsLike, optional
        The columns of a table, such as {"query": "question_id", "item": "chunk_id"}; by default
        they are chosen by name.
    format : FileFormat, optional
        The format of the file; by default it is detected.

    Returns
    -------
    Judgements or Lookup
        The judgements, as every function takes them; `Lookup` for a dict.

    >>> read_judgements({"q1": {"a": 1, "b": 0}}).lists["q1"]
    {'a': 1, 'b': 0}
    """
    if isinstance(judgements, (Judgements, Lookup)):
        _refuse_columns(columns, JUDGEMENTS, "the judgements", "were read already")
        return judgements
    if isinstance(judgements, (str, PathLike)):
        return judgements_in(opened(judgements, JUDGEMENTS, columns), format)
    from judged.inputs.objects import Records, as_known

    known = as_known(judgements, JUDGEMENTS).given
    if isinstance(known, Mapping):
        from judged.inputs.dicts import judgements_from_dict

        _refuse_columns(columns, JUDGEMENTS, "a dict of judgements", "has no columns")
        lists, notes = _unwrapped(known, JUDGEMENTS)
        return _with_notes(judgements_from_dict(lists), notes)
    rows = rows_of_table(known, ("relevant",), as_columns(columns))
    if rows is not None and rows.judgements is not None:
        return rows.judgements
    from judged.inputs.frames import judgements_from_frame

    if isinstance(known, Records):
        return judgements_from_frame(known.frame(), source=known.label, columns=as_columns(columns))
    return judgements_from_frame(known, columns=as_columns(columns))


def judgements_in(source: Source, format: FileFormat | None = None) -> Judgements:
    file_format = format_of(source, format)
    rows = rows_of_file(source, file_format, ("relevant",))
    if rows is not None and rows.judgements is not None:
        return rows.judgements
    return to_judgements(_read(source, file_format), source.label)


def any_judgements(source: Source, *, format: FileFormat | None = None) -> Judgements | Lookup:
    """Read the judgements of a file, as a dict without polars if the file is small and plain."""
    from judged.inputs.trec import read_small_judgements

    return read_small_judgements(source, format) or judgements_in(source, format)


def read_run(
    run: RunLike,
    *,
    name: str | None = None,
    columns: ColumnsLike | None = None,
    format: FileFormat | None = None,
) -> Run | Lookup:
    """Read and check a run; an error names the line.

    Parameters
    ----------
    run : RunLike
        A file ("-" is standard input), a dict {query: {item: score}}, {query: [items, best first]}
        or {query: [(item, score), …]}, or a table.
    name : str, optional
        The name of the run in tables; by default the name of its file, or "run".
    columns : ColumnsLike, optional
        The columns of a table, such as {"query": "question_id", "item": "chunk_id"}; by default
        they are chosen by name.
    format : FileFormat, optional
        The format of the file; by default it is detected.

    Returns
    -------
    Run or Lookup
        The run, as every function takes it; `Lookup` for a dict.

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

    named = as_known(run, RUN)
    known, name = named.given, name or named.name or "run"
    if isinstance(known, Mapping):
        from judged.inputs.dicts import run_from_dict

        _refuse_columns(columns, RUN, "a dict of results", "has no columns")
        lists, notes = _unwrapped(known, RUN)
        return _with_notes(run_from_dict(lists, name=name), notes)
    rows = rows_of_table(known, ("retrieved",), as_columns(columns))
    if rows is not None and rows.run is not None:
        return replace(rows.run, name=name)
    from judged.inputs.frames import run_from_frame

    if isinstance(known, Records):
        return run_from_frame(
            known.frame(), name=name, source=known.label, columns=as_columns(columns)
        )
    return run_from_frame(known, name=name, columns=as_columns(columns))


def run_in(source: Source, name: str | None = None, format: FileFormat | None = None) -> Run:
    name = name or run_name(source.path)
    file_format = format_of(source, format)
    rows = rows_of_file(source, file_format, ("retrieved",))
    if rows is not None and rows.run is not None:
        return replace(rows.run, name=name)
    return to_run(_read(source, file_format), source.label, name)


def any_run(
    path: str | PathLike[str],
    *,
    name: str | None = None,
    columns: ColumnsLike | None = None,
    format: FileFormat | None = None,
) -> Run | Lookup:
    """Read the run of a file, as a dict without polars if the file is small and plain."""
    from judged.inputs.trec import read_small_run

    source = opened(path, RUN, columns)
    return read_small_run(source, name, format) or run_in(source, name, format)


def read_runs(
    runs: Mapping[Any, Any],
    where: str,
    *,
    columns: ColumnsLike | None = None,
    format: FileFormat | None = None,
) -> Iterator[Run | Lookup]:
    """Yield runs; `where` tells the user where judgements belong, if one is judgements."""
    for name, run in runs.items():
        try:
            yield read_run(run, name=name, columns=columns, format=format)
        except InputError as error:
            raise in_place(error, run, RUN, where) from None


def in_place(error: InputError, given: Any, wanted: Kind, where: str) -> InputError:
    """Return an error; if a file is of the other kind, the error tells `where` it belongs."""
    kind = JUDGEMENTS if wanted is RUN else RUN
    file = printable(given) if isinstance(given, (str, PathLike)) else ""
    if str(error) != kind.mistaken_for(wanted, file):
        return error
    return InputError(
        f"{file} looks like {kind.phrase} ({kind.columns}), not {wanted.phrase}. {where}"
    )


def _unwrapped(given: Mapping[Any, Any], kind: Kind) -> tuple[Mapping[Any, Any], tuple[str, ...]]:
    """Return the lists of a dict that another tool writes, or the dict itself; and notes."""
    from judged.inputs.dicts import document_of

    return document_of(given, kind, "a dict") or (given, ())


def _with_notes(lists: Lookup, notes: tuple[str, ...]) -> Lookup:
    return replace(lists, notes=(*notes, *lists.notes)) if notes else lists


def opened(path: str | PathLike[str], kind: Kind, columns: ColumnsLike | None) -> Source:
    from judged.inputs.source import open_source

    check_has_ids(path)
    return replace(open_source(fspath(path), kind), columns=as_columns(columns))


def format_of(source: Source, format: str | None) -> Format:
    """Return the format that the user named, or the detected one."""
    check_format(format)
    return detect_format(source) if format is None else FORMATS[format]


def _read(source: Source, format: Format) -> RawTable:
    refuse_nameless(source, format)
    table: RawTable = resolve_name(format.reader)(source, format.name)
    return table


def refuse_nameless(source: Source, format: Format) -> None:
    """Raise an error if the user named columns of a format without a header."""
    if format.name in NAMELESS:
        why = "has no header with names of columns"
        _refuse_columns(source.columns, source.kind, source.label, why)


def rows_of_file(source: Source, format: Format, roles: Sequence[str]) -> RowContents | None:
    """Read the rows of a file that have these roles; None if it has no lists of ids."""
    if format.name in NAMELESS:
        return None
    from judged.inputs.rows import rows_in, table_in_file

    return rows_in(table_in_file(source, format.name), roles, as_columns(source.columns))


def rows_of_table(given: Any, roles: Sequence[str], columns: NamedColumns) -> RowContents | None:
    """Read the rows of a table that have these roles; None if it has no lists of ids."""
    from judged.inputs.rows import rows_in, table_of

    return rows_in(table_of(given), roles, columns)


def _refuse_columns(columns: ColumnsLike | None, kind: Kind, source: str, why: str) -> None:
    if columns is not None:
        as_columns(columns).record(kind, source, why)


def as_runs(given: RunsLike) -> dict[str | None, Any]:
    """Return one run or several by name, unread."""
    if isinstance(given, (str, PathLike)):
        return dict([_named(given)])
    if isinstance(given, (list, tuple)):
        if not given:
            raise InputError("no run was given.")
        if all(isinstance(run, (str, PathLike)) for run in given):
            named = [_named(run) for run in given]
            return dict(zip(distinct_names(named), [file for _, file in named], strict=True))
    from judged.inputs.dicts import holds_several, with_texts
    from judged.inputs.objects import is_record

    if isinstance(given, Mapping) and holds_several(given):
        _refuse_repeats(given.values())
        return dict(with_texts(given, "", "runs").items())
    _refuse_repeats(given if isinstance(given, (list, tuple)) else [given])
    if isinstance(given, (list, tuple)) and not is_record(given[0]):
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
    return named_file(given) if isinstance(given, str) else (None, given)
