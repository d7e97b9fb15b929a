"""Parquet files, folders of them and lazy frames: read whole, or in batches."""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from judged.errors import InputError
from judged.inputs.columns import NamedColumns, TableColumns, choose_columns
from judged.inputs.formats import printable
from judged.inputs.frames import complete, tidy, typed, with_checked_ranks
from judged.inputs.order import MOST_SAMPLED
from judged.inputs.polars_errors import reading_parquet, refusing
from judged.inputs.source import Source, check_unchanged, unreadable
from judged.inputs.tables import RUN, Piece, RawTable
from judged.text import listed

_ROWS_PER_BATCH = 1 << 18
_LOGS = {"_delta_log": "a Delta table", ".hoodie": "a Hudi table"}
"""Folders in which a table format lists its current files; others may be deleted or replaced."""
_RANK = "rank beside the score"
_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


def read_parquet(source: Source) -> RawTable:
    with reading_parquet(source.label):
        frame = scan_source(source)
        header = frame.collect_schema().names()
        columns = choose_columns(header, source.kind, source.label, source.columns)
        columns = with_checked_ranks(frame, columns, header)
        return tidy(frame, source.kind, source.label, columns, header)


def scan_source(source: Source) -> pl.LazyFrame:
    place = source.path if source.data is None else io.BytesIO(source.data)
    return pl.scan_parquet(place, glob=False)


def parquet_files(folder: Path, label: str) -> list[Path]:
    """List the Parquet files of a folder and of its folders called key=value."""
    files: list[Path] = []
    try:
        _refuse_logs(folder, label)
        for path in sorted(folder.iterdir()):
            if path.name.startswith((".", "_")):
                continue
            if path.is_dir() and "=" in path.name:
                files += parquet_files(path, label)
            elif path.is_file() and path.suffix.lower() in (".parquet", ".pq"):
                files.append(path)
            else:
                raise InputError(_other_folder(label, f"it holds {printable(path.name)}"))
    except OSError as error:
        raise unreadable(label, error) from None
    if not files:
        raise InputError(_other_folder(label, "no such file is in it"))
    return files


def _refuse_logs(folder: Path, label: str) -> None:
    folder = folder.absolute()
    table = next((path for path in (folder, *folder.parents) if "=" not in path.name), folder)
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


def scan_file(path: Path, label: str, folder: Path | None = None) -> pl.LazyFrame:
    """Scan a file; folders called key=value become columns of texts."""
    with reading_parquet(label):
        table = pl.scan_parquet(path, glob=False)
        known = table.collect_schema().names()
    if folder is None:
        return table
    keys = [part.partition("=") for part in path.relative_to(folder).parts[:-1]]
    return table.with_columns(
        pl.lit(None if value == _HIVE_NULL else unquote(value), dtype=pl.String).alias(key)
        for key, _, value in keys
        if key not in known
    )


@dataclass(frozen=True, eq=False)
class LazyRun:
    """A lazy table of which the columns of a run are chosen."""

    frame: pl.LazyFrame
    label: str
    select: list[pl.Expr]
    names: tuple[str, ...]
    """The columns that are read."""
    notes: tuple[str, ...]
    columns: TableColumns

    @classmethod
    def of(
        cls, frame: pl.LazyFrame, label: str, named: NamedColumns, *, sampled: bool = False
    ) -> LazyRun:
        """Choose the columns; if `sampled`, the first rows show whether ranks and scores agree."""
        with refusing(f"{label}: cannot be read"):
            schema = frame.collect_schema()
            header = schema.names()
            columns = choose_columns(header, RUN, label, named)
            if sampled:
                columns = with_checked_ranks(frame, columns, header)
            select, notes = typed(schema, RUN, label, columns, header)
            names = tuple(header[at] for at in columns.needed)
            return cls(frame, label, select, names, notes, columns)

    def pieces(self, first: int = 1, *, check_ranks: bool = True) -> Iterator[Piece]:
        """Read the rows in batches; the first row of the run has the number `first`."""
        row = 1
        select, notes = self.select, tuple[str, ...]()
        rank, schema = self.columns.rank, self.frame.collect_schema()
        if check_ranks and rank is not None and schema.dtypes()[rank].is_numeric():
            select = [*select, pl.col(schema.names()[rank]).alias(_RANK)]
        batches = self.frame.select(select).collect_batches(
            chunk_size=_ROWS_PER_BATCH, maintain_order=True
        )
        for batch in batches:
            if _RANK in batch.columns:
                if row == 1:
                    sample = batch.select("query", _RANK, "score").head(MOST_SAMPLED)
                    notes = self.columns.notes_on_ranks(sample.iter_rows())
                batch = batch.drop(_RANK)
            yield Piece(complete(batch, RUN, self.label, row), first, notes=notes)
            row, first, notes = row + batch.height, first + batch.height, ()


def lazy_pieces(table: LazyRun) -> Iterator[Piece]:
    with refusing(f"{table.label}: cannot be read"):
        yield from table.pieces()


def parquet_pieces(
    files: Sequence[Path],
    label: str,
    named: NamedColumns,
    *,
    folder: Path | None = None,
    tell: Callable[[int], None],
    first_rows: dict[Path, int],
) -> Iterator[Piece]:
    """Read the Parquet files of a run in batches."""
    first, done, names = 1, 0, None
    for path in files:
        first_rows[path] = first - 1
        file_label = label if folder is None else printable(path)
        before = path.stat()
        table = LazyRun.of(scan_file(path, file_label, folder), file_label, named)
        if names not in (None, table.names):
            raise InputError(
                f"{file_label}: has other columns ({', '.join(table.names)}) than the files before "
                f"it ({', '.join(names or ())}); a folder is one run, with the same columns "
                "in all files."
            )
        names = table.names
        with reading_parquet(file_label):
            rows = int(table.frame.select(pl.len()).collect().item())
            for piece in table.pieces(first, check_ranks=False):
                yield piece
                first += piece.frame.height
                tell(done + before.st_size * (first - 1 - first_rows[path]) // rows)
        done += before.st_size
        check_unchanged(file_label, before, path.stat())


def places_in(folder: Path, first_rows: Mapping[Path, int], rows: Sequence[int]) -> str:
    """Name the places of some rows, from 0 and ascending, of files that begin at `first_rows`."""
    # A file without rows begins where the next one does, and holds none of them.
    paths = {first: path for path, first in first_rows.items()}
    starts = sorted(paths)
    numbers: dict[int, list[str]] = {}
    for row in rows:
        start = starts[bisect_right(starts, row) - 1]
        numbers.setdefault(start, []).append(str(row - start + 1))
    return listed(
        [
            f"{'rows' if len(texts) > 1 else 'row'} {listed(texts)} of "
            f"{printable(paths[start].relative_to(folder))}"
            for start, texts in numbers.items()
        ]
    )
