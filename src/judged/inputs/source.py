"""Bytes of files, pipes and standard input: decompressed, read whole or as a stream."""

from __future__ import annotations

import io
import os
import signal
import stat
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from pkgutil import resolve_name
from threading import get_ident
from typing import Any, BinaryIO, TypeVar

from judged.errors import InputError, JudgedError
from judged.inputs.formats import printable, signed
from judged.inputs.tables import Kind
from judged.options import size_in_bytes
from judged.text import counted, quote

HEAD_BYTES = 1 << 16
BYTES_WORTH_POLARS = 3 << 20
"""Up to this size, loading polars takes longer than parsing a file in Python."""
MAGIC_LENGTH = 16
BYTES_PER_BLOCK = 1 << 22
"""Text is parsed in blocks of this size, which stay in the processor's cache."""
BYTES_PER_READ = 1 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_FOREIGN = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"ARROW1\x00\x00", "an Arrow (Feather) file"),
    (b"\x80\x04\x95", "a Python pickle"),
    (b"\x80\x05\x95", "a Python pickle"),
    (b"\xff\xfe", "UTF-16 text (save it as UTF-8)"),
    (b"\xfe\xff", "UTF-16 text (save it as UTF-8)"),
)
LIMIT_VARIABLE = "JUDGED_MAX_UNPACKED"
_DEFAULT_LIMIT = "8GB"
_MAX_ZSTD_BLOCK = 1 << 17
_BYTES_PER_PART = 1 << 22


# Compressed bytes, detected by their first ones. A small file may unpack to more than any memory
# holds, so there is a limit, which the user can raise.


def _zstandard() -> Any:
    """Return the unpacker of Python from 3.14 on, or of `backports.zstd`; None without both."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        try:
            from backports import zstd
        except ImportError:
            return None
    return zstd.ZstdDecompressor()


def _gzip() -> Any:
    """Return the unpacker of isal if it is installed: it takes half of the time."""
    try:
        from isal import isal_zlib
    except ImportError:
        import zlib

        return zlib.decompressobj(wbits=31)
    return isal_zlib.decompressobj(wbits=31)


_BZIP2 = tuple(
    b"BZh%d%s" % (level, block) for level in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90")
)
_MAGIC = {
    "gzip": (b"\x1f\x8b",),
    "bzip2": _BZIP2,
    "xz": (b"\xfd7zXZ\x00",),
    "zstd": (b"\x28\xb5\x2f\xfd",),
}
_UNPACKERS: dict[str, Callable[[], Any]] = {
    "gzip": _gzip,
    "bzip2": lambda: resolve_name("bz2:BZ2Decompressor")(),
    "xz": lambda: resolve_name("lzma:LZMADecompressor")(),
    "zstd": _zstandard,
}
"""Functions that return `decompress(data, most)`, `eof` and `unused_data` for a part of a file."""


def compression(start: bytes) -> str | None:
    return next((name for name, magic in _MAGIC.items() if start.startswith(magic)), None)


def can_stream(packed: str) -> bool:
    """Return whether a library is installed that unpacks this compression piece by piece."""
    return _UNPACKERS[packed]() is not None


def unpacked(chunks: Iterable[bytes], packed: str, label: str) -> Iterator[bytes]:
    """Unpack bytes as they come, a few megabytes at a time, all parts of a file."""
    if not can_stream(packed):
        yield _by_polars(b"".join(chunks), label)
        return
    unpacker = None
    for chunk in chunks:
        data, part = chunk, b""
        while data or len(part) == _BYTES_PER_PART:  # there may be more to come of it
            if unpacker is None:
                data = data.lstrip(b"\0")  # some programs fill up the last block
                if not data:
                    break
                unpacker = _UNPACKERS[packed]()
            try:
                part = unpacker.decompress(data, _BYTES_PER_PART)
            except MemoryError:
                raise
            except Exception as error:  # every library has errors of its own
                raise _damaged(packed, label, str(error)) from None
            data = getattr(unpacker, "unconsumed_tail", b"")
            if unpacker.eof:
                data, unpacker = unpacker.unused_data, None
            if part:
                yield part
    if unpacker is not None:
        raise _damaged(packed, label, "it ends before its end is marked")


def most_unpacked() -> int:
    try:
        return size_in_bytes(os.environ.get(LIMIT_VARIABLE, _DEFAULT_LIMIT))
    except JudgedError as error:
        raise InputError(f"the environment variable {LIMIT_VARIABLE}: {error}") from None


def _damaged(name: str, label: str, reason: str) -> InputError:
    return InputError(
        f"{label}: the {name} data is damaged or cut off ({reason}); fetch or write the file again."
    )


def too_large(label: str, packed: int, limit: int) -> InputError:
    return InputError(
        f"{label}: its {counted(packed, 'byte')} unpack to more than {counted(limit, 'byte')}. If "
        f"that is meant, set the environment variable {LIMIT_VARIABLE} to a larger size (20GB, "
        "say), or unpack the file first: what is not compressed is not held in memory."
    )


def _by_polars(data: bytes, label: str) -> bytes:
    """Unpack zstd by polars, which reads the text as one cell of a table."""
    import polars as pl

    from judged.inputs.polars_errors import POLARS_ERRORS

    if sum(most_of_each_block(data)) > (limit := most_unpacked()):
        raise too_large(label, len(data), limit)
    try:
        cells = pl.read_csv(
            data,
            separator="\x01",
            eol_char="\x00",
            has_header=False,
            quote_char=None,
            schema={"text": pl.String},
        )
    except pl.exceptions.NoDataError:
        return b""
    except POLARS_ERRORS as error:
        raise _damaged("zstd", label, f"or not UTF-8 text: {error}") from None
    return b"\x00".join((text or "").encode() for text in cells["text"])


def most_of_each_block(data: bytes) -> Iterator[int]:
    """Yield the most that each block of zstd data can hold, from the headers of blocks."""
    at = 0
    while data[at : at + 4] == b"\x28\xb5\x2f\xfd":
        described = data[at + 4] if at + 4 < len(data) else 0
        single, checksum = described >> 5 & 1, described >> 2 & 1
        size_of_size = (single, 2, 4, 8)[described >> 6]
        at += 5 + (not single) + (0, 1, 2, 4)[described & 3] + size_of_size
        last = False
        while not last and at + 3 <= len(data):
            header = int.from_bytes(data[at : at + 3], "little")
            last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
            at += 3 + (1 if kind == 1 else size)  # one byte that is repeated, or all of them
            yield _MAX_ZSTD_BLOCK if kind == 2 else size
        at += 4 * checksum


# Files


@dataclass(frozen=True, eq=False)
class Source:
    """Decompressed bytes that can be read more than once, in a file or in memory."""

    label: str
    kind: Kind
    path: Path
    data: bytes | None  # None if the bytes are read from the file, so that polars can map it
    lasting: bool  # whether the path can be opened a second time; a pipe cannot
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def parts(self, size: int = BYTES_PER_READ) -> Iterator[bytes]:
        """Yield the bytes, some at a time, without a byte order mark."""
        try:
            with self.path.open("rb") if self.data is None else io.BytesIO(self.data) as handle:
                if handle.read(len(BYTE_ORDER_MARK)) != BYTE_ORDER_MARK:
                    handle.seek(0)
                while part := handle.read(size):
                    yield part
        except OSError as error:
            raise unreadable(self.label, error) from None

    def read(self) -> bytes:
        return b"".join(self.parts(-1))

    def head(self) -> bytes:
        return next(self.parts(HEAD_BYTES), b"")

    def size(self) -> int:
        return self.path.stat().st_size if self.data is None else len(self.data)

    def for_polars(self) -> Path | bytes:
        if self.data is not None:
            return self.data
        return self.path if printable(self.path) == str(self.path) else self.read()

    def lines(self, *, ends: bool = False) -> Iterator[bytes]:
        """Yield lines, which LF, CRLF or CR may end, with these ends or without."""
        for block in blocks(self.parts(HEAD_BYTES), HEAD_BYTES):
            yield from block.splitlines(ends)


class LineNumbers:
    """A function from row numbers to line numbers, by a second look at the source.

    `numbers` yields the line number of each row, in the order of rows.
    """

    def __init__(self, source: Source, numbers: Callable[[Source], Iterator[int]]) -> None:
        self.path, self.kind, self.numbers = source.path, source.kind, numbers
        # Only a source that cannot be opened twice is kept, because it may hold unpacked bytes.
        self.kept = None if source.lasting else source

    def __call__(self, rows: Sequence[int]) -> list[int]:
        numbers = self.numbers(self.kept or open_source(self.path, self.kind))
        wanted = set(rows)
        lines = {
            row: number
            for row, number in enumerate(islice(numbers, max(wanted, default=-1) + 1))
            if row in wanted
        }
        return [lines[row] for row in rows]


def let_interrupts_through() -> None:
    """Let Ctrl-C end a read of a pipe: polars makes reads continue after it."""
    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)


def standard_input() -> BinaryIO:
    if sys.stdin is None or sys.stdin.closed:
        raise InputError("standard input is closed; give a file, or pipe one in.")
    return sys.stdin.buffer


def size_and_start(path: Path, label: str) -> tuple[int | None, bytes]:
    """Return the size and the first bytes of a file; None and nothing of a pipe or a folder."""
    try:
        status = None if str(path) == "-" else path.stat()
        if status is None or not stat.S_ISREG(status.st_mode):
            return None, b""
        with path.open("rb") as handle:
            return status.st_size, handle.read(MAGIC_LENGTH)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise unreadable(label, error) from None


SMALL = 32 << 20
"""A file with fewer bytes is read whole: blocks pay for themselves from about here on."""


def may_be_large(given: Any) -> bool:
    """Return whether a run is a large or compressed file, a folder, a pipe or a lazy frame."""
    if not isinstance(given, (str, os.PathLike)):
        polars = sys.modules.get("polars")
        return polars is not None and isinstance(given, polars.LazyFrame)
    try:
        size, start = size_and_start(Path(given), "")
    except InputError:  # its reader reports the error
        return False
    if size is None or size >= SMALL:
        return True
    if start.startswith(b"PAR1"):
        return size >= SMALL // 4
    return size >= SMALL // 20 and compression(start) is not None


def open_source(path: str | Path, kind: Kind) -> Source:
    """Open a file; read what cannot be mapped: standard input ("-"), pipes, compressed files."""
    path = Path(path)
    label = "standard input" if str(path) == "-" else printable(path)
    size, start = size_and_start(path, label)
    data: bytes | None = None
    if size is None or compression(start) is not None:
        with open_stream(path, label) as stream:
            data = stream.rest(label, size or 0)
    return checked(Source(label, kind, path, data, size is not None))


def checked(source: Source) -> Source:
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
    if isinstance(error, FileNotFoundError):
        return InputError(f"{label}: no such file.")
    if isinstance(error, IsADirectoryError):
        return InputError(f"{label}: is a directory; give a file.")
    if isinstance(error, PermissionError):
        return InputError(f"{label}: no permission to read it.")
    reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
    return InputError(f"{label}: cannot be read ({reason}).")


def not_a_table(place: str, error: Exception) -> InputError:
    return InputError(f"{place}: the quotation marks do not match ({error}).")


def decoded(label: str, number: int, line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise InputError(
            f"{label}, line {number}: not UTF-8 text: {quote(line.strip())}. Convert the file to "
            "UTF-8 first."
        ) from None


def blocks(parts: Iterable[bytes], size: int, *, quoted: bool = False) -> Iterator[bytes]:
    """Yield whole lines, about `size` bytes at a time, each line ended.

    If `quoted`, a line end between quotation marks ends no row, and no block.
    """
    waiting: list[bytes] = []
    length = marks = 0
    short = (part[at : at + size] for part in parts for at in range(0, len(part), size))
    for part in short:
        waiting.append(part)
        length += len(part)
        cut = 0
        if length >= size:
            cut = _end_of_last_row(part, marks) if quoted else _end_of_last_line(part)
        if cut:
            # Only the last part is copied twice: copies of blocks took 10 % of reading.
            waiting[-1] = part[:cut]
            yield b"".join(waiting)
            waiting, length, marks = [part[cut:]], len(part) - cut, 0
            part = waiting[0]
        if quoted:
            marks += part.count(b'"')
    if rest := b"".join(waiting):
        yield rest if rest.endswith(b"\n") else rest + b"\n"


def _end_of_last_line(part: bytes) -> int:
    # A CR at the very end may be the first half of a CRLF.
    return (part.rfind(b"\n") + 1) or (part.rfind(b"\r", 0, len(part) - 1) + 1)


def _end_of_last_row(part: bytes, marks: int) -> int:
    """Return the place after the last LF before which quotation marks come in pairs."""
    cut = part.rfind(b"\n") + 1
    marks += part.count(b'"', 0, cut)
    while cut and marks % 2:
        before = part.rfind(b"\n", 0, cut - 1) + 1
        marks -= part.count(b'"', before, cut)
        cut = before
    return cut


def count_lines(block: bytes) -> int:
    return block.count(b"\n") + (block.count(b"\r") - block.count(b"\r\n") if b"\r" in block else 0)


def has_lone_returns(block: bytes) -> bool:
    """Return whether a CR is not followed by LF; polars knows no such line ends."""
    return b"\r" in block and block.count(b"\r") != block.count(b"\r\n")


Thing = TypeVar("Thing")


def ahead(things: Iterator[Thing]) -> Generator[Thing]:
    """Yield the same things, the next of which is made in a thread while one is used."""
    from concurrent.futures import ThreadPoolExecutor

    pool, none = ThreadPoolExecutor(1), object()
    thread = pool.submit(get_ident).result()
    coming = pool.submit(next, things, none)
    try:
        while (thing := coming.result()) is not none:
            coming = pool.submit(next, things, none)
            yield thing  # type: ignore[misc]
    finally:
        # a generator that was not closed may be collected in any thread, even in its own one,
        # which must not wait for itself.
        coming.cancel()
        if get_ident() == thread:
            pool.shutdown(wait=False)
        else:
            pool.shutdown()
            getattr(things, "close", bool)()


@contextmanager
def open_stream(
    path: Path, label: str, tell: Callable[[int], None] | None = None
) -> Iterator[ByteStream]:
    """Open the unpacked bytes of a file, a pipe or "-"; report to `tell` how many were read."""
    try:
        if str(path) == "-":
            yield ByteStream.of(standard_input(), label, tell)
            return
        with path.open("rb", buffering=0) as handle:
            before = os.fstat(handle.fileno())
            yield ByteStream.of(handle, label, tell)
            after = os.fstat(handle.fileno())
    except OSError as error:
        raise unreadable(label, error) from None
    is_same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    if stat.S_ISREG(before.st_mode) and not is_same:
        raise InputError(
            f"{label}: changed while it was read (from {before.st_size:,} to {after.st_size:,} "
            "bytes); wait until nothing writes to it, and try again."
        )


class ByteStream:
    """An iterator over unpacked bytes, of which some can be put back."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        self._parts = iter(parts)
        self._rest = b""
        self.opened: object = None  # a reference that keeps the file open

    @classmethod
    def of(
        cls, handle: BinaryIO, label: str, tell: Callable[[int], None] | None = None
    ) -> ByteStream:
        start = b""
        while len(start) < MAGIC_LENGTH and (more := _read(handle, MAGIC_LENGTH - len(start))):
            start += more
        packed = compression(start)

        def raw() -> Iterator[bytes]:
            done = len(start)
            yield start
            while part := _read(handle, BYTES_PER_READ):
                done += len(part)
                yield part
                if tell is not None:
                    tell(done)

        stream = cls(raw() if packed is None else unpacked(raw(), packed, label))
        stream.put_back(stream.read(len(BYTE_ORDER_MARK)).removeprefix(BYTE_ORDER_MARK))
        return stream

    def __iter__(self) -> Iterator[bytes]:
        while part := self._rest or next(self._parts, b""):
            self._rest = b""
            yield part

    def read(self, size: int) -> bytes:
        parts = []
        for part in self:
            parts.append(part[:size])
            self._rest = part[size:]
            size -= len(part)
            if size <= 0:
                break
        return b"".join(parts)

    def rest(self, label: str, packed: int) -> bytes:
        """Return all remaining bytes; more than the limit is an error."""
        limit = most_unpacked()
        data = self.read(limit + 1)
        if len(data) > limit:
            raise too_large(label, packed, limit)
        return data

    def put_back(self, data: bytes) -> None:
        self._rest = data + self._rest


def _read(handle: BinaryIO, size: int) -> bytes:
    let_interrupts_through()
    return handle.read(size) or b""
