"""Judgements and runs in any form, each of which is read when it is needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from os import PathLike, fspath
from os.path import isfile, lexists
from typing import TYPE_CHECKING, Any, TypeAlias

from judged.errors import InputError, JudgedError, quoted
from judged.inputs import as_runs, format_of, opened, read_run, read_table, table_in
from judged.inputs.blocks import RunBlocks
from judged.inputs.columns import LISTS, as_columns, has_lists, is_labelled
from judged.inputs.formats import NAMELESS, check_has_ids, is_rankings_file, named_file, run_name
from judged.inputs.source import Source, may_be_large
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
    from judged.inputs.keyed import Sheet
    from judged.options import ColumnsLike, Engine, FileFormat, JudgementsLike, RunsLike

    OfJudgements: TypeAlias = "Callable[[Judgements | Lookup], Judgements | Lookup]"
    OfRun: TypeAlias = "Callable[[Any], Any]"


_LIST = re.compile(r"(?:[-+\d\s.,()]|\{[^{}]*\})+")
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
    """Judgements, and runs by name, which are read when they are needed."""

    given: Any
    """The judgements, or a `Source` that was opened, because a pipe cannot be opened again."""
    given_runs: Mapping[str | None, Any]
    columns: NamedColumns
    judgements_format: FileFormat | None = None
    run_format: FileFormat | None = None
    of_judgements: OfJudgements = _same  # a change made to the judgements once they are read
    of_run: OfRun = _same  # a change made to each run once it is read
    rows: Mapping[Kind, Any] | None = None
    """The contents of `given`, if it is a table that holds judgements and a run."""
    small: bool = False
    """True if small TREC files may be read as dicts, without polars: judgements and few runs."""
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
        refuse_arrays(judgements, runs)
        named = as_columns(columns, alone=False)
        if runs is None and not alone:
            both = _read_both(judgements, named, judgements_format)
            return cls(judgements, {None: both[RUN]}, named, rows=both)
        stay = engine != "memory" and runs is not None
        if stay:
            judgements = _staying(judgements, JUDGEMENTS, named)
        rows, given = _rows_beside_runs(judgements, runs, named, judgements_format)
        several: dict[str | None, Any] = {}
        if runs is None:
            if rows is not None:
                several = {None: rows[RUN]}
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
        if self.rows is not None:
            return self.rows[JUDGEMENTS]
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


def refuse_arrays(judgements: Any, run: Any) -> None:
    """Raise an error for arrays, tensors, columns or lists of labels and scores: they lack ids."""
    arrays = [
        type(given).__module__.partition(".")[0] in ("numpy", "torch", "jax", "jaxlib")
        for given in (judgements, run)
    ]
    if any(arrays) or (_are_numbers(judgements) and _are_numbers(run)):
        raise InputError(
            "arrays have no ids of queries and items. For labels and scores call "
            "judged.evaluate_scores(y_true, y_score); for grades in rank order give lists."
        )


NO_RELEVANT = (
    "relevant (--relevant) is the number of relevant items of a relevance list. With judgements, "
    "write the lowest relevant grade into the measure, such as P(rel=4)@10."
)


def typed_lists(judgements: Any, run: Any = None) -> list[Any] | None:
    """Return the relevance lists that replace judgements and runs; None if these are other data.

    A text that names a file is no list.

    >>> typed_lists("0 1", ["1 0"]), typed_lists([0, 1]), typed_lists("qrels.txt", "bm25.run")
    (['0 1', '1 0'], [[0, 1]], None)
    """
    if isinstance(judgements, str):
        runs = [] if run is None else list(run) if isinstance(run, (list, tuple)) else [run]
        if not _is_typed(judgements):
            return None
        for other in runs:
            if not _is_typed(other):
                raise InputError(
                    f"{judgements!r} is a relevance list, which replaces judgements and a run; "
                    f"{quoted(other)} is not. Give relevance lists alone, or judgements and runs."
                )
        return [judgements, *runs]
    if run is not None or not isinstance(judgements, (list, tuple)) or not judgements:
        return None
    if all(grade is None or isinstance(grade, Real) for grade in judgements):
        return [list(judgements)]
    return list(judgements) if all(map(_is_typed, judgements)) else None


def _is_typed(given: Any) -> bool:
    """Return whether this is a text or a sequence of grades, and no file."""
    if isinstance(given, str):
        is_list = _LIST.fullmatch(given) and any(map(str.isdigit, given))
        return bool(is_list) and not lexists(given)
    return isinstance(given, (list, tuple)) and all(
        grade is None or isinstance(grade, (Real, dict)) for grade in given
    )


def _are_numbers(given: Any) -> bool:
    """Return whether this is a list or a column of numbers, or a list of such lists."""
    if type(given).__name__ == "Series" and getattr(given, "ndim", 1) == 1:
        index = getattr(given, "index", None)
        given = given.to_list() if getattr(index, "nlevels", 1) == 1 else None
    if not isinstance(given, (list, tuple)) or not len(given):
        return False
    first = given[0]
    return isinstance(first, Real) or (isinstance(first, (list, tuple)) and _are_numbers(first))


def holds_rows(given: Any) -> bool:
    """Return whether this is a file or a table of rows, not a list of grades."""
    if isinstance(given, str):
        return isfile(given)
    if isinstance(given, PathLike):
        return True
    from judged.inputs.objects import as_known, is_record
    from judged.inputs.rows import records_in, table_of

    if isinstance(given, (list, tuple)):
        given = as_known(given, JUDGEMENTS) if given and is_record(given[0]) else None
    if isinstance(given, Mapping):
        return records_in(given) is not None
    table = table_of(given)
    if table is None:
        return False
    return has_lists(table.header, LISTS, alone=True) or is_labelled(table.header)


def _staying(given: Any, kind: Kind, columns: NamedColumns) -> Any:
    """Return a table of a database or Spark as a `RemoteTable`, anything else as it is."""
    if is_spark(given):
        from judged.engines.spark.run import SparkFrame

        return SparkFrame(given)
    if not is_table(given):
        return given
    from judged.engines.tables import database_table

    return database_table(given, kind, columns) or given


def _table_in(
    given: Any, kind: Kind, columns: NamedColumns, format: FileFormat | None
) -> tuple[Sheet | None, Any]:
    """Return the table with names of columns, if it is one, and the `Source` or table to read."""
    if isinstance(given, (str, PathLike)):
        source = opened(given, kind, columns)
        file_format = format_of(source, format).name
        if file_format in NAMELESS:
            return None, source
        from judged.inputs.rows import table_in_file

        return table_in_file(source, file_format), source
    from judged.inputs.objects import as_known
    from judged.inputs.rows import table_of

    known = as_known(given, kind)
    return table_of(known), given if isinstance(known, Mapping) else known


def _read_both(given: Any, columns: NamedColumns, format: FileFormat | None) -> dict[Kind, Any]:
    """Read rows with relevant and retrieved ids, or labels and scores; else raise an error."""
    from judged.inputs.rows import (
        missing_columns,
        read_labelled,
        records_in,
        rows_in,
        table_in_document,
        table_of,
    )

    user_name, table = None, None
    if isinstance(given, (str, PathLike)):
        user_name, given = named_file(fspath(given))
    if not isinstance(given, (Judgements, Lookup)):
        table, source = _table_in(given, JUDGEMENTS, columns, format)
        if table is None and isinstance(source, Mapping):
            table = table_of(records_in(source))
        elif table is None and isinstance(source, Source):
            table = table_in_document(source, format_of(source, format).name)
    rows: dict[Kind, Any] | None = read_labelled(table, columns)
    rows = rows or rows_in(table, LISTS, columns, alone=True)
    if rows is None:
        raise InputError(missing_columns(None if table is None else table.header))
    is_path = isinstance(given, (str, PathLike))
    name = user_name or (run_name(fspath(given)) if is_path else "run")
    return {**rows, RUN: replace(rows[RUN], name=name)}


def _rows_beside_runs(
    given: Any, runs: RunsLike | None, columns: NamedColumns, format: FileFormat | None
) -> tuple[dict[Kind, Any] | None, Any]:
    """Return the judgements and the run in rows that have runs beside them, and what to read.

    Rows with labels and scores are both only if a run has labels, too.
    """
    if isinstance(given, (Mapping, Judgements, Lookup, RemoteTable)):
        return None, given
    user_name, file = None, given
    if isinstance(given, (str, PathLike)):
        user_name, file = named_file(fspath(given))
    table, source = _table_in(file, JUDGEMENTS, columns, format)
    rows: dict[Kind, Any] | None = None
    if table is not None:
        from judged.inputs.rows import read_labelled, rows_in

        rows = rows_in(table, LISTS, columns)
        may_be_labels = rows is None and runs is not None and isinstance(file, (str, PathLike))
        if may_be_labels and is_labelled(table.header, columns):
            several: Any = runs
            if any(_has_labels(run, file, columns) for run in as_runs(several).values()):
                rows = read_labelled(table, columns)
    return rows, source if rows or user_name is None else given


def _has_labels(run: Any, judgements: str | PathLike[str], columns: NamedColumns) -> bool:
    """Return whether a run is another file with labels and scores; "-" cannot be read twice."""
    if not isinstance(run, (str, PathLike)) or fspath(run) in ("-", fspath(judgements)):
        return False
    try:
        table, _ = _table_in(run, RUN, columns, None)
    except JudgedError:  # its reader reports the error
        return False
    return table is not None and is_labelled(table.header, columns)


def _with_first(given: Any, rows: Mapping[Kind, Any], runs: RunsLike) -> dict[str | None, Any]:
    """Return the run of rows that hold everything, and the others after it."""
    paths = [runs] if isinstance(runs, (str, PathLike)) else runs
    everywhere = [given, *paths] if isinstance(paths, (list, tuple)) else []
    if everywhere and all(isinstance(file, (str, PathLike)) for file in everywhere):
        named = as_runs(everywhere)
        return {**named, next(iter(named)): rows[RUN]}
    others: dict[str | None, Any] = {name or "run": run for name, run in as_runs(runs).items()}
    is_path = isinstance(given, (str, PathLike))
    user_name, file = named_file(fspath(given)) if is_path else ("rows", "")
    first = user_name or run_name(file)
    return {f"{first} (rows)" if first in others else first: rows[RUN], **others}


def _read_beside(
    rows: Mapping[Kind, Any],
    given: Any,
    name: str | None,
    columns: NamedColumns,
    format: FileFormat | None,
) -> Run | Lookup:
    """Read a run beside rows that hold everything; judgements in both must agree."""
    from judged.inputs.rows import read_labelled, refuse_other_judgements, rows_in

    table, source = _table_in(given, RUN, columns, format)
    is_list = isinstance(rows[JUDGEMENTS], Lookup)
    other: dict[Kind, Any] | None = (
        rows_in(table, LISTS, columns) if is_list else read_labelled(table, columns)
    )
    if other is not None:
        refuse_other_judgements(rows[JUDGEMENTS], other[JUDGEMENTS])
        return read_run(other[RUN], name=name)
    if isinstance(source, Source):
        run: Run = table_in(source, format, name=name)
        return run
    return read_run(source, name=name, columns=columns)
