"""Uploaded files: their folder, their names, and limits."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from secrets import token_hex
from typing import Any

from judged.errors import JudgedError
from judged.inputs.source import can_stream, compression, unpacked
from judged.outputs import TEMPORARY
from judged.text import counted
from judged.web.errors import RefusedError
from judged.web.files import DataFile, identify_file
from judged.web.workspace import Session

PIECE = 1 << 20
LONGEST = 200


@dataclass(eq=False)
class Uploads:
    """The folder of uploads, which is removed when the server stops."""

    limit: int  # bytes of all files of a session together
    _folder: Path | None = field(default=None)
    _arriving: Counter[str] = field(default_factory=Counter)
    """Bytes that are being uploaded, by session: several files may arrive at once."""

    @property
    def folder(self) -> Path:
        """The folder, private to this user, made on first use."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="judged-"))
            TEMPORARY.add(str(self._folder))
        return self._folder

    async def receive(
        self, session: Session, name: str | None, length: str | None, pieces: AsyncIterator[bytes]
    ) -> DataFile:
        """Receive a file; nothing is left of it on an error."""
        shown = checked_name(name)
        told_size = int(length) if length and length.isascii() and length.isdigit() else 0
        if told_size > self._room(session):
            raise self._too_large(shown)
        path = self.folder / (token_hex(12) + "".join(PurePosixPath(shown).suffixes[-2:])[:20])
        size = 0
        try:
            with path.open("xb") as handle:
                async for piece in pieces:
                    size += len(piece)
                    self._arriving[session.id] += len(piece)
                    if self._room(session) < 0:
                        raise self._too_large(shown)
                    handle.write(piece)
            if not size:
                raise RefusedError(f"{shown}: the file is empty.", "name")
            return DataFile(shown, path, size=size, changed=path.stat().st_mtime_ns, uploaded=True)
        except BaseException:
            path.unlink(missing_ok=True)
            self.arrived(session, size)
            raise

    def arrived(self, session: Session, size: int) -> None:
        self._arriving[session.id] -= size

    def _room(self, session: Session) -> int:
        there = sum(file.size for file in session.uploads.values())
        return self.limit - there - self._arriving[session.id]

    def _too_large(self, name: str) -> RefusedError:
        return RefusedError(
            f"{name}: all files that a browser sends may have {counted(self.limit, 'byte')} "
            "together (upload_limit, --upload-limit). Start judged serve with the folder of the "
            "file instead: then it stays where it is.",
            "name",
            status=413,
        )

    def looked_at(self, file: DataFile) -> DataFile:
        """Return a file with its kind; an error if it unpacks to more than the limit."""
        try:
            if unpacked_size(file.path, self.limit) > self.limit:
                raise RefusedError(
                    f"{file.name}: its {counted(file.size, 'byte')} unpack to more than "
                    f"{counted(self.limit, 'byte')} (upload_limit, --upload-limit).",
                    "name",
                    status=413,
                )
            identified = identify_file(file)
        except BaseException:
            file.path.unlink(missing_ok=True)
            raise
        return _renamed(identified)

    def demo(self, session: Session, write: Callable[[Path], object], taken: set[str]) -> None:
        folder = self.folder / token_hex(12)
        folder.mkdir()
        write(folder)
        for path in sorted(folder.iterdir()):
            state = path.stat()
            file = DataFile(path.name, path, size=state.st_size, changed=state.st_mtime_ns)
            identified = identify_file(replace(file, uploaded=True))
            if identified.kind != "other" and identified.name not in taken:
                session.uploads[identified.name] = _renamed(identified)

    def close(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            TEMPORARY.discard(str(self._folder))
            self._folder = None


def _renamed(file: DataFile) -> DataFile:
    return replace(file, note=file.note.replace(str(file.path), file.name))


def checked_name(text: str | None) -> str:
    name = (text or "").replace("\\", "/").rpartition("/")[2].strip()
    name = "".join(letter for letter in name if letter.isprintable())
    if not name or set(name) <= {"."}:
        raise RefusedError("say what the file is called: name=….", "name")
    if len(name) > LONGEST:
        raise RefusedError(f"the name of a file may have {LONGEST} letters; this has more.", "name")
    return name


def remove_all(session: Session) -> None:
    for file in session.uploads.values():
        file.path.unlink(missing_ok=True)
    session.uploads.clear()


def unpacked_size(path: Path, most: int) -> int:
    """Return the unpacked size of a file; stop counting above `most`."""
    with path.open("rb") as handle:
        start = handle.read(16)
        handle.seek(0)
        if start.startswith(b"PK\x03\x04"):
            return _in_zip(path)
        if start.startswith(b"PAR1"):
            return _in_parquet(path)
        if start.startswith(b"\x89HDF\r\n\x1a\n"):
            return _in_hdf5(path)
        packed = compression(start)
        if packed is None:
            return 0
        if not can_stream(packed):  # it could not be unpacked piece by piece
            raise RefusedError(
                f"{packed} files need backports.zstd to be unpacked; send another format.", "name"
            )
        size = 0
        try:
            for part in unpacked(iter(partial(handle.read, PIECE), b""), packed, path.name):
                size += len(part)
                if size > most:
                    break
        except JudgedError:  # the reader says what is wrong with it
            pass
        return size


def _in_zip(path: Path) -> int:
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, OSError):
        return 0


def _in_hdf5(path: Path) -> int:
    """Return the bytes of all arrays as declared: a small file can declare gigabytes of zeros."""
    try:
        import h5py
    except ModuleNotFoundError:  # the reader says what to install
        return 0
    sizes: list[int] = []

    def measure(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            sizes.append(int(item.size or 0) * item.dtype.itemsize)

    try:
        with h5py.File(path) as file:
            file.visititems(measure)
    except (OSError, RuntimeError):
        return 0
    return sum(sizes)


def _in_parquet(path: Path) -> int:
    """Return about how many bytes the table takes; lists may be long though rows are few."""
    import polars as pl

    from judged.inputs.polars_errors import reading_parquet

    try:
        with reading_parquet(str(path)):
            scan = pl.scan_parquet(path)
            rows = int(scan.select(pl.len()).collect().item())
            columns = scan.collect_schema()
    except JudgedError:
        return 0
    if any(kind.is_nested() for kind in columns.values()):
        try:
            from pyarrow.parquet import ParquetFile
        except ModuleNotFoundError:
            raise RefusedError(
                "Parquet files with lists need pyarrow to be measured before they are read; send "
                "another format, or start judged serve with the folder of the file.",
                "name",
            ) from None
        groups = ParquetFile(path).metadata
        leaves = [
            groups.row_group(group).column(column).num_values
            for group in range(groups.num_row_groups)
            for column in range(groups.num_columns)
        ]
        return 8 * sum(leaves)
    return rows * 8 * max(1, len(columns))
