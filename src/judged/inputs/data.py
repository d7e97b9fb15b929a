"""Judgements and runs in any form, each of which is read when it is needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from os import PathLike, fspath
from os.path import isfile
from typing import TYPE_CHECKING, Any, TypeAlias

from judged.errors import InputError, JudgedError
from judged.inputs import (
    as_runs,
    format_of,
    opened,
    read_judgements,
    read_run,
    read_table,
    rows_of_file,
    table_in,
)
from judged.inputs.blocks import RunBlocks, may_be_large
from judged.inputs.columns import LISTS, as_columns, has_lists
from judged.inputs.formats import check_has_ids, is_rankings_file, named_file, run_name
from judged.inputs.source import Source
from judged.inputs.tables import (
    JUDGEMENTS,
    RUN,
    AnyRun,
    Judgements,
    Kind,
    Lookup,
    RemoteTable,
    Run,
    is_spark,
    is_table,
)

if TYPE_CHECKING:
    from judged.inputs.blocks import Room
    from judged.inputs.columns import NamedColumns
    from judged.inputs.rows import RowContents
    from judged.options import ColumnsLike, Engine, FileFormat, JudgementsLike, RunsLike

    OfJudgements: TypeAlias = "Callable[[Judgements | Lookup], Judgements | Lookup]"
    OfRun: TypeAlias = "Callable[[Any], Any]"


FEW_RUNS = 4  # up to so many small runs are read in less time than it takes to load polars


def _same(table: Any) -> Any:
    return table


@dataclass(frozen=True, eq=False)
class Reading:
    """A run that is still to be read."""

    name: str
    is_file: bool  # whether it is a file in a folder, which any thread can read at any time
    read: Callable[[], Any]


@dataclass(frozen=True, eq=False)
class Data:
    """Judgements, and runs by name, which are read when they are needed.

    >>> data = Data.of({"q": {"a": 1}}, {"q": ["b", "a"]})
    >>> [run.name for run in data.runs()]
    ['run']
    """

    given: Any
    """The judgements, or a `Source` that was opened, because a pipe cannot be opened again."""
    given_runs: Mapping[str | None, Any]
    columns: NamedColumns
    judgements_format: FileFormat | None = None
    run_format: FileFormat | None = None
    of_judgements: OfJudgements = _same  # a change made to the judgements once they are read
    of_run: OfRun = _same  # a change made to each run once it is read
    rows: RowContents | None = None
    """The contents of `given`, if it is rows with relevant and retrieved ids."""
    small: bool = False
    """Whether small TREC files may be read as dicts, without polars: judgements and few runs."""
    room: Room | None = None  # the memory for runs in blocks; None if all runs are read whole

    @classmethod
    def of(
        cls,
        judgements: JudgementsLike,
        runs: RunsLike | None,
        *,
        columns: ColumnsLike | None = None,
        judgements_format: FileFormat | None = None,
        run_format: FileFormat | None = None,
        alone: bool = False,
        engine: Engine | None = "memory",
        room: Room | None = None,
        small: bool = False,
    ) -> Data:
        """Return the data that a caller passed.

        Without runs, `judgements` are rows that hold both, or stand `alone`. With an `engine`,
        tables of databases and Spark stay there (None: if they can).
        """
        check_not_rankings(judgements, runs)
        named = as_columns(columns, alone=False)
        if runs is None and not alone:
            both = _read_both(judgements, named, judgements_format)
            return cls(judgements, {None: both.run}, named, rows=both)
        stay = engine != "memory" and runs is not None
        if stay:
            judgements = _staying(judgements, JUDGEMENTS, named)
        rows, given = _rows_beside_runs(judgements, named, judgements_format)
        several: dict[str | None, Any] = {}
        if runs is None:
            if rows is not None and rows.run is not None:
                several = {None: rows.run}
        else:
            several = as_runs(runs) if rows is None else _with_first(judgements, rows, runs)
        if stay:
            several = {name: _staying(run, RUN, named) for name, run in several.items()}
        formats = judgements_format, run_format
        return cls(given, several, named, *formats, rows=rows, small=small, room=room)

    def then(self, *, judgements: OfJudgements = _same, run: OfRun = _same) -> Data:
        """Return the same data, with more changes made once they are read."""
        before, before_run = self.of_judgements, self.of_run
        return replace(
            self,
            of_judgements=lambda table: judgements(before(table)),
            of_run=lambda table: run(before_run(table)),
        )

    def whole(self) -> Data:
        """Return the same data, with all runs read whole."""
        runs = {
            name: run.whole() if isinstance(run, RemoteTable) else run
            for name, run in self.given_runs.items()
        }
        return replace(self, given_runs=runs, room=None)

    def kept(self) -> Data:
        """Return the same data with judgements and few runs in memory, to look at them twice.

        Of many runs, only those are kept that are no files. A run that cannot be read stays as it
        was given, and is an error when it is read.
        """
        runs = dict(self.given_runs)
        for name, given in self.given_runs.items():
            if self._few or not _is_file(given):
                run = self._readable(name, given)
                runs[name] = given if run is None else run
        return replace(self, given=self._read_judgements(), given_runs=runs)

    def readable_runs(self) -> Iterator[Any]:
        """Yield the runs that can be read, without changes."""
        for name, given in self.given_runs.items():
            run = self._readable(name, given)
            if run is not None:
                yield run

    def _readable(self, name: str | None, given: Any) -> AnyRun | RunBlocks | None:
        """Read a run; None if that fails."""
        try:
            return self._read_run(name, given)
        except JudgedError:
            if isinstance(given, str) and given == "-":  # which cannot be read again in its turn
                raise
            return None

    @property
    def _few(self) -> bool:
        return len(self.given_runs) <= FEW_RUNS

    def judgements(self) -> Judgements | Lookup:
        return self.of_judgements(self._read_judgements())

    def readings(self) -> list[Reading]:
        """Return the readers of the runs, which can be read side by side."""
        return [
            Reading(name or "run", _is_file(given), partial(self._changed_run, name, given))
            for name, given in self.given_runs.items()
        ]

    def runs(self) -> Iterator[Any]:
        """Yield the runs: `Run`, `Lookup` or, with room, `RunBlocks`."""
        return (reading.read() for reading in self.readings())

    def _changed_run(self, name: str | None, given: Any) -> Any:
        run = self._read_run(name, given)
        if isinstance(run, RunBlocks):
            return run if self.of_run is _same else run.then(self.of_run)
        return self.of_run(run)

    def run(self, one: str) -> Any:
        """Return the only run; `one` is the error message if there are several."""
        if len(self.given_runs) > 1:
            raise InputError(one)
        return next(self.runs())

    def _read_judgements(self) -> Judgements | Lookup:
        if self.rows is not None and self.rows.judgements is not None:
            return self.rows.judgements
        given, format = self.given, self.judgements_format
        if isinstance(given, RemoteTable):
            return given.judgements(self.columns)
        table: Judgements | Lookup
        if isinstance(given, Source):
            table = table_in(replace(given, columns=self.columns), format, small=self.small)
        else:
            table = read_table(
                given, JUDGEMENTS, columns=self.columns, format=format, small=self.small
            )
        return table

    def _read_run(self, name: str | None, given: Any) -> AnyRun | RunBlocks:
        if is_spark(given):
            given = _staying(given, RUN, self.columns)
        if isinstance(given, RemoteTable):
            return given.run(name, self.columns)
        if isinstance(given, RunBlocks):
            return given
        if self.rows is not None:
            if isinstance(given, (Run, Lookup)):
                return read_run(given, name=name)
            return _read_beside(self.rows, given, name, self.columns, self.run_format)
        if self.room is not None and may_be_large(given):
            from judged.inputs.large_runs import read_run_or_blocks

            return read_run_or_blocks(
                given, self.room, name=name, columns=self.columns, format=self.run_format
            )
        run: AnyRun = read_table(
            given,
            RUN,
            name=name,
            columns=self.columns,
            format=self.run_format,
            small=self.small and self._few,
        )
        return run


def _is_file(given: Any) -> bool:
    return isinstance(given, (str, PathLike)) and isfile(given)


def check_not_rankings(judgements: Any, runs: Any) -> None:
    """Raise an error for rankings files, which have no ids, or if only some are rankings files."""
    check_has_ids(judgements)
    several = runs.values() if isinstance(runs, Mapping) else runs
    for run in several if isinstance(runs, (Mapping, list, tuple)) else [runs]:
        if is_rankings_file(run):
            raise InputError(
                f"{run}: a rankings file replaces judgements and a run. Give rankings files alone, "
                "or judgements and runs."
            )


def holds_rows(given: Any) -> bool:
    """Return whether this is a file or a table of rows, not a list of grades."""
    if isinstance(given, str):
        return isfile(given) and not re.fullmatch(r"[-\d\s.,()]+", given)
    if isinstance(given, PathLike):
        return True
    from judged.inputs.objects import as_known, is_record
    from judged.inputs.rows import records_in, table_of

    if isinstance(given, (list, tuple)):
        given = as_known(given, JUDGEMENTS).given if given and is_record(given[0]) else None
    if isinstance(given, Mapping):
        return records_in(given) is not None
    table = table_of(given)
    return table is not None and has_lists(table.header, LISTS, alone=True)


def _staying(given: Any, kind: Kind, columns: NamedColumns) -> Any:
    """Return a table of a database or Spark as a `RemoteTable`, anything else as it is."""
    if is_spark(given):
        from judged.engines.spark.run import SparkFrame

        return SparkFrame(given)
    if not is_table(given):
        return given
    from judged.engines.tables import database_table

    return database_table(given, kind, columns) or given


def _read_both(given: Any, columns: NamedColumns, format: FileFormat | None) -> RowContents:
    """Read rows with relevant and retrieved ids; anything else is an error."""
    from judged.inputs.objects import as_known
    from judged.inputs.rows import (
        document_table,
        missing_columns,
        records_in,
        rows_in,
        table_in_file,
        table_of,
    )

    name, is_path = "run", isinstance(given, (str, PathLike))
    if is_path:
        user_name, given = named_file(fspath(given))
        source = opened(given, JUDGEMENTS, columns)
        name, file_format = user_name or run_name(source.path), format_of(source, format).name
        table = table_in_file(source, file_format)
        if table is None and file_format == "json":
            table = document_table(source)
    elif isinstance(given, (Judgements, Lookup)):
        table = None
    else:
        given = as_known(given, JUDGEMENTS).given
        table = table_of(records_in(given) if isinstance(given, Mapping) else given)
    rows = rows_in(table, LISTS, columns, alone=True)
    if rows is not None and rows.run is not None:
        return replace(rows, run=replace(rows.run, name=name))
    header = None if table is None else table.header
    is_file = is_path and isfile(given)
    if (is_file or (not is_path and "relevant" not in columns)) and _is_run(
        given, header, columns, format if is_file else None, damaged=is_file
    ):
        this = f"{given}: this" if is_file else "the only input"
        call = f"judged evaluate QRELS {given}" if is_file else "judged.evaluate(judgements, run)"
        raise InputError(f"{this} is a run, and the judgements are missing. Give both: {call}.")
    raise InputError(missing_columns(header))


def _is_run(
    given: Any, header: Any, columns: NamedColumns, format: FileFormat | None, *, damaged: bool
) -> bool:
    """Return whether this is a run; if it is neither, `damaged` raises the error."""
    if header is not None and "rank" in {str(name).lower() for name in header}:
        return True
    try:
        judgements = read_judgements(given, columns=columns, format=format)
    except InputError as error:
        try:
            read_run(given, columns=columns)
        except InputError:
            if damaged:
                raise error from None
            return False
        return True
    if not judgements.may_be_run:
        return False
    # Whole numbers in a column "score" may be grades, as in the judgements of BEIR.
    if isinstance(judgements, Lookup):
        grades = (grade for items in judgements.lists.values() for grade in items.values())
        return any(isinstance(grade, Real) and grade % 1 for grade in grades)
    values = judgements.frame["grade"]
    return bool((values != values.round()).any())


def _rows_beside_runs(
    given: Any, columns: NamedColumns, format: FileFormat | None
) -> tuple[RowContents | None, Any]:
    """Return the rows in judgements that have runs beside them, and the judgements to read."""
    if isinstance(given, (Mapping, Judgements, Lookup, RemoteTable)):
        return None, given
    if isinstance(given, (str, PathLike)):
        user_name, file = named_file(fspath(given))
        if not _may_hold_rows(file):
            return None, given
        source = opened(file, JUDGEMENTS, columns)
        rows = rows_of_file(source, format_of(source, format), LISTS)
        return rows, source if rows or user_name is None else given
    from judged.inputs.objects import as_known
    from judged.inputs.rows import rows_in, table_of

    known = as_known(given, JUDGEMENTS).given
    return rows_in(table_of(known), LISTS, columns), known


def _may_hold_rows(path: str | PathLike[str]) -> bool:
    """Return whether a file may hold rows; most judgements are plain text without a header."""
    if not isfile(path):
        return True
    try:
        with open(path, "rb") as handle:
            start = handle.read(4096).lstrip()
    except OSError:  # its reader names what is wrong
        return False
    first = start.partition(b"\n")[0]
    packed = start.startswith((b"\x1f\x8b", b"BZh", b"PAR1")) or not start[:4].isascii()
    return packed or start[:1] in (b"[", b"{") or b"," in first or b"\t" in first


def _with_first(given: Any, rows: RowContents, runs: RunsLike) -> dict[str | None, Any]:
    """Return the run of rows that hold everything, and the others after it."""
    paths = [runs] if isinstance(runs, (str, PathLike)) else runs
    everywhere = [given, *paths] if isinstance(paths, (list, tuple)) else []
    if everywhere and all(isinstance(file, (str, PathLike)) for file in everywhere):
        named = as_runs(everywhere)
        return {**named, next(iter(named)): rows.run}
    others: dict[str | None, Any] = {name or "run": run for name, run in as_runs(runs).items()}
    is_path = isinstance(given, (str, PathLike))
    user_name, file = named_file(fspath(given)) if is_path else ("rows", "")
    first = user_name or run_name(file)
    return {f"{first} (rows)" if first in others else first: rows.run, **others}


def _read_beside(
    rows: RowContents,
    given: Any,
    name: str | None,
    columns: NamedColumns,
    format: FileFormat | None,
) -> Run | Lookup:
    """Read a run beside rows that hold everything; relevant ids in both must agree."""
    from judged.inputs.objects import as_known
    from judged.inputs.rows import refuse_other_judgements, rows_in, table_of

    if isinstance(given, (str, PathLike)):
        source = opened(given, RUN, columns)
        other = rows_of_file(source, format_of(source, format), LISTS)
        if other is None:
            run: Run = table_in(source, format, name=name)
            return run
    else:
        known = as_known(given, RUN).given
        other = rows_in(table_of(known), LISTS, columns)
        if other is None:
            given = given if isinstance(known, Mapping) else known
            return read_run(given, name=name, columns=columns)
    if rows.judgements is not None and other.judgements is not None:
        refuse_other_judgements(rows.judgements, other.judgements)
    return read_run(other.run or given, name=name)
