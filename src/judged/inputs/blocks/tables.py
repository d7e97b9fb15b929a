"""Tables with typed columns in batches: Parquet files by row groups, folders of them, lazy
frames."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import polars as pl

from judged.errors import InputError
from judged.inputs.blocks.footer import row_groups
from judged.inputs.blocks.pieces import Piece
from judged.inputs.columns import Columns, choose_columns
from judged.inputs.formats import printable
from judged.inputs.frames import Named, checked_ranks, complete, typed
from judged.inputs.order import MOST_SAMPLED
from judged.inputs.polars_errors import reading_parquet, refusing
from judged.inputs.source import unreadable
from judged.inputs.tables import RUN
from judged.text import counted, listed

if TYPE_CHECKING:
    from judged.inputs.blocks.room import Room

_ROWS = 1 << 18
"""So many rows are read at a time, or a row group where it has more."""
_LOGS = {"_delta_log": "a Delta table", ".hoodie": "a Hudi table"}
"""Folders in which a table format lists the files that count: others may be deleted or replaced."""
_RANK = "rank beside the score"
_MISSING = "__HIVE_DEFAULT_PARTITION__"


def parquet_files(folder: Path, label: str) -> list[Path]:
    """The Parquet files of a folder, and of folders in it that are called key=value; another
    folder is refused."""
    found: list[Path] = []
    try:
        _refuse_logs(folder, label)
        for path in sorted(folder.iterdir()):
            if path.name.startswith((".", "_")):
                continue
            if path.is_dir() and "=" in path.name:
                found += parquet_files(path, label)
            elif path.is_file() and path.suffix.lower() in (".parquet", ".pq"):
                found.append(path)
            else:
                raise InputError(_other_folder(label, f"it holds {printable(path.name)}"))
    except OSError as error:
        raise unreadable(label, error) from None
    if not found:
        raise InputError(_other_folder(label, "no such file is in it"))
    return found


def _refuse_logs(folder: Path, label: str) -> None:
    """Refuse a table whose log says which of its files count, and partitions of one."""
    folder = folder.absolute()
    table = next((each for each in (folder, *folder.parents) if "=" not in each.name), folder)
    for log, phrase in _LOGS.items():
        if (table / log).is_dir():
            raise InputError(
                f"{label}: is {phrase} (it has {log}), whose files include deleted and replaced "
                "rows. Read it with its own library and give the frame, or write it as plain "
                "Parquet."
            )


def _other_folder(label: str, why: str) -> str:
    return (
        f"{label}: is a folder, and only a folder of Parquet files is read, as one run; {why}. Of "
        f"several runs name the files: {label.rstrip('/')}/*."
    )


def scanned(path: Path, label: str, folder: Path | None = None) -> pl.LazyFrame:
    """The table in a file; folders called key=value are columns of it, of texts."""
    with reading_parquet(label):
        table = pl.scan_parquet(path, glob=False)
        known = table.collect_schema().names()
    if folder is None:
        return table
    keys = [part.partition("=") for part in path.relative_to(folder).parts[:-1]]
    return table.with_columns(
        pl.lit(None if value == _MISSING else unquote(value), dtype=pl.String).alias(key)
        for key, _, value in keys
        if key not in known
    )


@dataclass(frozen=True, eq=False)
class TypedTable:
    """A table whose columns are chosen, unread."""

    frame: pl.LazyFrame
    select: list[pl.Expr]
    chosen: tuple[str, ...]
    """The columns that are read."""
    notes: tuple[str, ...]
    """What was assumed of them."""
    columns: Columns

    @classmethod
    def of(
        cls, frame: pl.LazyFrame, label: str, named: Named, *, sampled: bool = False
    ) -> TypedTable:
        """Return the columns that a run has; `sampled` rows tell whether ranks and scores agree."""
        with refusing(f"{label}: cannot be read"):
            schema = frame.collect_schema()
            header = schema.names()
            columns = choose_columns(header, RUN, label, named)
            if sampled:
                columns = checked_ranks(frame, columns, header)
            select, notes = typed(schema, RUN, label, columns, header)
            chosen = tuple(header[at] for at in columns.needed)
            return cls(frame, select, chosen, notes, columns)


def parquet_pieces(
    files: Sequence[Path],
    label: str,
    named: Named,
    room: Room,
    *,
    folder: Path | None = None,
    tell: Callable[[int], None] | None = None,
    begun: dict[Path, int] | None = None,
) -> Iterator[Piece]:
    """The rows of a run in Parquet files, one after the other; `tell` is told how many bytes of
    them were read, `begun` at which row, from 0, each file begins."""
    first, done = 1, 0
    chosen = None
    for path in files:
        if begun is not None:
            begun[path] = first - 1
        own = label if folder is None else printable(path)
        with _unchanged(path, own):
            table = TypedTable.of(scanned(path, own, folder), own, named)
            if chosen not in (None, table.chosen):
                raise InputError(
                    f"{own}: has other columns ({', '.join(table.chosen)}) than the files before "
                    f"it ({', '.join(chosen or ())}); a folder is one run, with the same columns "
                    "in all files."
                )
            chosen = table.chosen
            batches = _batches(path, own, table.frame, room)
            size, rows, start = path.stat().st_size, sum(batches), 0
            for length in batches:
                part = table.frame.slice(start, length)
                with reading_parquet(own):
                    frame = part.select(table.select).collect(engine="streaming")
                yield Piece(complete(frame, RUN, own, 1 + start), first)
                start, first = start + length, first + length
                if tell is not None:
                    tell(done + size * start // rows)
            done += size


def places_in(folder: Path, begun: Mapping[Path, int], rows: Sequence[int]) -> str:
    """The places of some rows, from 0 and ascending, of files that begin at these rows.

    >>> begun = {Path("runs/a.parquet"): 0, Path("runs/b.parquet"): 10}
    >>> places_in(Path("runs"), begun, [3, 10, 11])
    'row 4 of a.parquet and rows 1 and 2 of b.parquet'
    """
    # A file without rows begins where the next one does, and holds none of them.
    firsts = {first: path for path, first in begun.items()}
    starts = sorted(firsts)
    numbers: dict[int, list[str]] = {}
    for row in rows:
        start = starts[bisect_right(starts, row) - 1]
        numbers.setdefault(start, []).append(str(row - start + 1))
    return listed(
        [
            f"{'rows' if len(found) > 1 else 'row'} {listed(found)} of "
            f"{printable(firsts[start].relative_to(folder))}"
            for start, found in numbers.items()
        ]
    )


def lazy_pieces(table: TypedTable, label: str) -> Iterator[Piece]:
    """The rows of a lazy frame, as polars makes them."""
    first = 1
    with refusing(f"{label}: cannot be read"):
        select, notes = table.select, tuple[str, ...]()
        rank, header = table.columns.rank, table.frame.collect_schema()
        if rank is not None and header.dtypes()[rank].is_numeric():
            select = [*select, pl.col(header.names()[rank]).alias(_RANK)]
        chosen = table.frame.select(select)
        for batch in chosen.collect_batches(chunk_size=_ROWS, maintain_order=True):
            if _RANK in batch.columns:
                if first == 1:
                    sample = batch.select("query", _RANK, "score").head(MOST_SAMPLED)
                    notes = table.columns.notes_on_ranks(sample.iter_rows())
                batch = batch.drop(_RANK)
            yield Piece(complete(batch, RUN, label, first), first, notes=notes)
            first, notes = first + batch.height, ()


def _batches(path: Path, label: str, table: pl.LazyFrame, room: Room) -> list[int]:
    """How many rows are read at a time: whole row groups, as each has to be unpacked whole."""
    with path.open("rb") as handle:
        groups = row_groups(handle)
    if groups is None:
        with reading_parquet(label):
            return [int(table.select(pl.len()).collect().item())]
    found: list[int] = []
    for group in groups:
        if group.size > room.memory:
            raise InputError(
                f"{label}: a row group has {counted(group.rows, 'row')} and {group.size:,} bytes; "
                f"memory is {room.memory:,} bytes. A row group has to fit: give more memory "
                "(memory=, --memory), or write the file again with smaller ones, of some 250,000 "
                "rows."
            )
        if found and found[-1] + group.rows <= _ROWS:
            found[-1] += group.rows
        else:
            found.append(group.rows)
    return [rows for rows in found if rows]


@contextmanager
def _unchanged(path: Path, label: str) -> Iterator[None]:
    """Refuse a file that is another one in the end."""
    before = path.stat()
    yield
    after = path.stat()
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise InputError(
            f"{label}: changed while it was read (from {before.st_size:,} to {after.st_size:,} "
            "bytes); wait until nothing writes to it, and try again."
        )
