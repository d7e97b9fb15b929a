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
from judged.inputs.tables import JUDGEMENTS, RUN, Judgements, Kind, Lookup, Run, check_table
from judged.options import ColumnsLike, FileFormat, JudgementsLike, RunLike, RunsLike

if TYPE_CHECKING:
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
        The judgements, as every function takes them; `Lookup` for a dict, a JSON document or lists.

    >>> read_judgements({"q1": {"a": 1, "b": 0}}).lists["q1"]
    {'a': 1, 'b': 0}
    """
    table: Judgements | Lookup = read_table(judgements, JUDGEMENTS, columns=columns, format=format)
    return table


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
        The run, as every function takes it; `Lookup` for a dict, a JSON document or lists.

    >>> read_run({"q1": ["b", "a"]}, name="mine").lists["q1"]
    {'b': 2, 'a': 1}
    """
    if name is not None and not isinstance(name, str):
        raise InputError(f"the name of a run must be a text; got {type(name).__name__}.")
    table: Run | Lookup = read_table(run, RUN, name=name, columns=columns, format=format)
    return table


def read_table(
    given: Any,
    kind: Kind,
    *,
    name: str | None = None,
    columns: ColumnsLike | None = None,
    format: FileFormat | None = None,
    small: bool = False,
) -> Any:
    """Read judgements or a run; a `small` file may become a dict, without polars."""
    this = "the run" if kind is RUN else "the judgements"
    if isinstance(given, (Judgements, Run, Lookup)):
        _refuse_columns(columns, kind, this, f"{'was' if kind is RUN else 'were'} read already")
        return replace(given, name=name) if name else given  # type: ignore[arg-type]
    if isinstance(given, (str, PathLike)):
        return table_in(opened(given, kind, columns), format, name=name, small=small)
    from judged.inputs.objects import as_known

    known = as_known(given, kind)
    if type(given).__module__.partition(".")[0] == "ranx":
        name = name or getattr(given, "name", None)
    name = name or "run"
    if isinstance(known, Mapping):
        from judged.inputs.dicts import lookup_from_dict

        what = "a dict of results" if kind is RUN else "a dict of judgements"
        _refuse_columns(columns, kind, what, "has no columns")
        return lookup_from_dict(known, kind, "a dict", name)
    from judged.inputs.frames import table_from_frame
    from judged.inputs.rows import rows_in, table_of

    rows = rows_in(table_of(known), [_LISTS[kind]], as_columns(columns))
    if rows is not None:
        return replace(rows[kind], name=name) if kind is RUN else rows[kind]
    return table_from_frame(known, kind, name=name, columns=as_columns(columns))


_LISTS = {JUDGEMENTS: "relevant", RUN: "retrieved"}


def table_in(
    source: Source, format: str | None = None, *, name: str | None = None, small: bool = False
) -> Any:
    """Read the judgements or the run of a file, which `source.kind` tells."""
    name = name or run_name(source.path)
    if small:
        from judged.inputs.trec import read_small

        if (lists := read_small(source, name, format)) is not None:
            return lists
    file_format = format_of(source, format)
    rows = rows_of_file(source, file_format, [_LISTS[source.kind]])
    refuse_nameless(source, file_format)
    table: Any = (
        rows[source.kind] if rows else resolve_name(file_format.reader)(source, file_format.name)
    )
    if not isinstance(table, Lookup):
        table = check_table(table)
    return replace(table, name=name) if source.kind is RUN else table


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
    return InputError(kind.mistaken_for(wanted, file, kind.columns, where))


def opened(path: str | PathLike[str], kind: Kind, columns: ColumnsLike | None) -> Source:
    from judged.inputs.source import open_source

    check_has_ids(path)
    return replace(open_source(fspath(path), kind), columns=as_columns(columns))


def format_of(source: Source, format: str | None) -> Format:
    """Return the format that the user named, or the detected one."""
    check_format(format)
    return detect_format(source) if format is None else FORMATS[format]


def refuse_nameless(source: Source, format: Format) -> None:
    """Raise an error if the user named columns of a format without a header."""
    if format.name in NAMELESS:
        why = "has no header with names of columns"
        _refuse_columns(source.columns, source.kind, source.label, why)


def rows_of_file(source: Source, format: Format, roles: Sequence[str]) -> dict[Kind, Lookup] | None:
    """Read the rows of a file that have these roles; None if it has no lists of ids."""
    if format.name in NAMELESS:
        return None
    from judged.inputs.rows import rows_in, table_in_file

    return rows_in(table_in_file(source, format.name), roles, as_columns(source.columns))


def _refuse_columns(columns: ColumnsLike | None, kind: Kind, source: str, why: str) -> None:
    if columns is not None:
        as_columns(columns).record(kind, source, why)


def as_runs(given: RunsLike) -> dict[str | None, Any]:
    """Return one run or several by name, unread."""
    if isinstance(given, (str, PathLike)):
        return dict([named_file(given)])
    if isinstance(given, (list, tuple)):
        if not given:
            raise InputError("no run was given.")
        if all(isinstance(run, (str, PathLike)) for run in given):
            named = list(map(named_file, given))
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
