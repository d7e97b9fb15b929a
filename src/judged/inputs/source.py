"""Where bytes come from, a path or standard input, decompressed; and what can be wrong before the
first line."""

from __future__ import annotations

import io
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from judged.errors import InputError
from judged.inputs.compression import compression, decompressed
from judged.inputs.formats import printable, signed
from judged.inputs.tables import Kind
from judged.text import quote

HEAD = 1 << 16
SMALL = 3 << 20
"""Bytes; what has more is worth the time that it takes to load polars."""
MAGIC_LENGTH = 16
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_FOREIGN = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a zip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"ARROW1\x00\x00", "an Arrow (Feather) file"),
    (b"\x80\x04\x95", "a Python pickle"),
    (b"\x80\x05\x95", "a Python pickle"),
    (b"\xff\xfe", "UTF-16 text (save it as UTF-8)"),
    (b"\xfe\xff", "UTF-16 text (save it as UTF-8)"),
)


class _NamedFile(io.FileIO):
    """A file whose errors while it is read name it; Python names it when it is opened only."""

    def __init__(self, path: Path, label: str) -> None:
        super().__init__(path)
        self.label = label

    def readinto(self, buffer: Any) -> int | None:
        try:
            return super().readinto(buffer)
        except OSError as error:
            raise unreadable(self.label, error) from None

    def readall(self) -> bytes | None:  # type: ignore[override]
        try:
            return super().readall()
        except OSError as error:
            raise unreadable(self.label, error) from None


@dataclass(frozen=True, eq=False)
class Source:
    """Decompressed bytes that can be read more than once: still in the file, or in memory."""

    label: str
    """What messages call it."""
    kind: Kind
    path: Path
    data: bytes | None
    """None while the bytes can be read from the file as they are, so that polars can map it."""
    lasting: bool
    """Whether the path can be opened a second time; a pipe cannot."""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What each of the columns is that somebody named."""

    def open(self) -> BinaryIO:
        """From the first byte after a byte order mark."""
        try:
            handle: BinaryIO = (
                io.BufferedReader(_NamedFile(self.path, self.label))
                if self.data is None
                else io.BytesIO(self.data)
            )
        except OSError as error:
            raise unreadable(self.label, error) from None
        if handle.read(len(BYTE_ORDER_MARK)) != BYTE_ORDER_MARK:
            handle.seek(0)
        return handle

    def read(self) -> bytes:
        with self.open() as handle:
            return handle.read()

    def head(self) -> bytes:
        with self.open() as handle:
            return handle.read(HEAD)

    def size(self) -> int:
        """Bytes in all."""
        return self.path.stat().st_size if self.data is None else len(self.data)

    def for_polars(self) -> Path | bytes:
        if self.data is not None:
            return self.data
        return self.path if printable(self.path) == str(self.path) else self.read()

    def lines(self, *, ends: bool = False) -> Iterator[bytes]:
        """Lines, which LF, CRLF or CR may end, with these ends or without."""
        with self.open() as handle:
            for line in handle:
                yield from line.splitlines(ends)


@dataclass(frozen=True, eq=False)
class LineNumbers:
    """From row numbers to line numbers, by a second look at the source."""

    path: Path
    kind: Kind
    kept: Source | None
    """What cannot be opened a second time; decompressed bytes are not kept until then."""
    numbers: Callable[[Source], Iterator[int]]
    """The line number of each row, in the order of rows."""

    @classmethod
    def of(cls, source: Source, numbers: Callable[[Source], Iterator[int]]) -> LineNumbers:
        return cls(source.path, source.kind, None if source.lasting else source, numbers)

    def __call__(self, rows: Sequence[int]) -> list[int]:
        numbers = self.numbers(self.kept or open_source(self.path, self.kind))
        wanted = set(rows)
        found = {
            row: number
            for row, number in enumerate(islice(numbers, max(wanted, default=-1) + 1))
            if row in wanted
        }
        return [found[row] for row in rows]


def let_interrupts_through() -> None:
    """Let Ctrl-C end a read that may wait for ever, as of a pipe: once polars has computed
    something, reads go on after it."""
    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)


def standard_input() -> BinaryIO:
    """The bytes of standard input."""
    if sys.stdin is None or sys.stdin.closed:
        raise InputError("standard input is closed; give a file, or pipe one in.")
    return sys.stdin.buffer


def open_source(path: str | Path, kind: Kind) -> Source:
    """Reads what cannot be mapped: standard input ("-"), pipes and compressed files."""
    label = "standard input" if str(path) == "-" else printable(path)
    path = Path(path)
    data: bytes | None = None
    lasting = False
    piped = standard_input() if str(path) == "-" else None
    try:
        let_interrupts_through()
        if piped is not None:
            data = piped.read()
        else:
            lasting = stat.S_ISREG(path.stat().st_mode)
            with path.open("rb") as handle:
                start = handle.read(MAGIC_LENGTH)
                if not lasting or compression(start) is not None:
                    data = start + handle.read()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise unreadable(label, error) from None
    if data is not None and (packed := compression(data)) is not None:
        data = decompressed(data, packed, label)
    return checked(Source(label, kind, path, data, lasting))


def checked(source: Source) -> Source:
    """Refuse what is empty, or plainly another kind of file."""
    head = source.head()
    if not head:
        what = "file" if source.lasting else "input"
        raise InputError(f"{source.label}: the {what} is empty.")
    if signed(head):
        return source
    for magic, name in _FOREIGN:
        if head.startswith(magic):
            raise InputError(f"{source.label}: this is {name}, not {source.kind.phrase}.")
    if b"\x00" in head:
        raise InputError(f"{source.label}: this is a binary file, not {source.kind.phrase}.")
    return source


def unreadable(label: str, error: Exception) -> InputError:
    """The error for a file that cannot be opened, or not be read to its end."""
    if isinstance(error, FileNotFoundError):
        return InputError(f"{label}: no such file.")
    if isinstance(error, IsADirectoryError):
        return InputError(f"{label}: is a directory; give a file.")
    if isinstance(error, PermissionError):
        return InputError(f"{label}: no permission to read it.")
    reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
    return InputError(f"{label}: cannot be read ({reason}).")


def not_a_table(place: str, error: Exception) -> InputError:
    """The error for text that Python's csv module does not read."""
    if "field limit" in str(error):
        import csv

        return InputError(
            f"{place}: a cell has more than {csv.field_size_limit():,} characters; shorten it, or "
            "check that each quotation mark has its partner."
        )
    return InputError(f"{place}: the quotation marks do not match ({error}).")


def decoded(label: str, number: int, line: bytes) -> str:
    """A line as text."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise InputError(
            f"{label}, line {number}: not UTF-8 text: {quote(line.strip())}. Convert the file to "
            "UTF-8 first."
        ) from None
