"""Bytes as they come, from files and pipes, unpacked on the way and never held whole."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from judged.errors import InputError
from judged.inputs.blocks.pieces import ahead
from judged.inputs.compression import (
    Compression,
    compression,
    most_unpacked,
    too_large,
    unpacked,
)
from judged.inputs.source import (
    BYTE_ORDER_MARK,
    MAGIC_LENGTH,
    let_interrupts_through,
    standard_input,
    unreadable,
)
from judged.inputs.whitespace import blocks

if TYPE_CHECKING:
    from collections.abc import Callable

_PACKED = 1 << 20
"""So many packed bytes are read at a time."""


@dataclass(frozen=True)
class File:
    """A file or a pipe, by its path; "-" is standard input."""

    label: str
    path: Path
    lasting: bool
    """Whether it can be read more than once."""
    packed: Compression | None
    """How it is compressed; of a pipe nobody knows before it is read."""
    size: int | None
    """Its bytes, as they lie there."""

    @classmethod
    def at(cls, path: str | os.PathLike[str], label: str) -> File:
        """What is known of a file before it is read; nothing is taken from a pipe."""
        place = Path(path)
        if str(place) == "-":
            return cls(label, place, False, None, None)
        try:
            found = place.stat()
            if not stat.S_ISREG(found.st_mode):
                return cls(label, place, False, None, None)
            with place.open("rb") as handle:
                packed = compression(handle.read(MAGIC_LENGTH))
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            raise unreadable(label, error) from None
        return cls(label, place, True, packed, found.st_size)

    @contextmanager
    def opened(self, tell: Callable[[int], None] | None = None) -> Iterator[Reader]:
        """The bytes from the first one after a byte order mark; `tell` is told how many bytes of
        the file were read. A file that is another one in the end is refused."""
        try:
            if str(self.path) == "-":
                yield Reader.of(standard_input(), self.label, tell)
                return
            with self.path.open("rb", buffering=0) as handle:
                before = os.fstat(handle.fileno())
                if self.packed is None and self.lasting:
                    yield PlainReader(handle, before.st_size, tell)
                else:
                    yield Reader.of(handle, self.label, tell)
                after = os.fstat(handle.fileno())
        except OSError as error:
            raise unreadable(self.label, error) from None
        if self.lasting and (before.st_size, before.st_mtime_ns) != (
            after.st_size,
            after.st_mtime_ns,
        ):
            raise InputError(
                f"{self.label}: changed while it was read (from {before.st_size:,} to "
                f"{after.st_size:,} bytes); wait until nothing writes to it, and try again."
            )


class Reader:
    """Unpacked bytes, so many at a time."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self._rest = b""
        self.opened: object = None
        """What keeps the file open, where nobody else does."""

    @classmethod
    def of(cls, handle: BinaryIO, label: str, tell: Callable[[int], None] | None = None) -> Reader:
        """What a file holds, unpacked, without a byte order mark at its start."""
        start = b""
        while len(start) < MAGIC_LENGTH and (more := _read(handle, MAGIC_LENGTH - len(start))):
            start += more
        packed = compression(start)

        def raw(size: int) -> Iterator[bytes]:
            done = len(start)
            yield start
            while part := _read(handle, size):
                done += len(part)
                yield part
                if tell is not None:
                    tell(done)

        return cls(raw(_PACKED) if packed is None else unpacked(raw(_PACKED), packed, label)).bare()

    def bare(self) -> Reader:
        """The same, without a byte order mark at the start."""
        self.put_back(self.read(len(BYTE_ORDER_MARK)).removeprefix(BYTE_ORDER_MARK))
        return self

    def read(self, size: int) -> bytes:
        """So many bytes, or fewer where there are no more."""
        parts, length = [self._rest], len(self._rest)
        while length < size and (part := next(self._parts, None)) is not None:
            parts.append(part)
            length += len(part)
        whole = parts[0] if len(parts) == 1 else b"".join(parts)
        self._rest = whole[size:]
        return whole[:size]

    def lines(self, size: int) -> Iterator[bytes]:
        """Whole lines at a time, some `size` bytes, each line ended."""
        self._parts, self._rest = chain(_slices(self._rest), self._parts), b""
        parts: list[bytes] = []
        length = 0
        for part in self._parts:
            cut = part.rfind(b"\n") + 1 if length + len(part) >= size else 0
            if cut:
                block = b"".join([*parts, part[:cut]])
                # Nothing of a block is held twice while it is worked on.
                part, parts, length, cut = part[cut:], [], 0, 0
                yield block
                del block
            parts.append(part)
            length += len(part)
            if length >= 2 * size:  # a long line, or line ends of another kind
                break
        self._rest, parts = b"".join(parts), []
        yield from blocks(self, size)

    def rest(self, label: str, packed: int) -> bytes:
        """All that is left, where it has to be held whole: not more than the bound."""
        bound = most_unpacked()
        found = self.read(bound + 1)
        if len(found) > bound:
            raise too_large(label, packed, bound)
        return found

    def ahead(self) -> Reader:
        """The same, unpacked in a thread."""
        return Reader(ahead(chain([self._rest], self._parts)))

    def put_back(self, data: bytes) -> None:
        """Have bytes read once more."""
        self._rest = data + self._rest


class PlainReader(Reader):
    """The bytes of a file that is not compressed: lines are read from it to where they end, and so
    copied once."""

    def __init__(
        self, handle: BinaryIO, size: int, tell: Callable[[int], None] | None = None
    ) -> None:
        super().__init__(self._read_on())
        self._handle, self._size, self._tell = handle, size, tell
        marked = self._between(0, len(BYTE_ORDER_MARK)) == BYTE_ORDER_MARK
        handle.seek(len(BYTE_ORDER_MARK) if marked else 0)

    def _read_on(self) -> Iterator[bytes]:
        while part := _read(self._handle, _PACKED):
            self._told(self._handle.tell())
            yield part

    def _told(self, done: int) -> None:
        if self._tell is not None:
            self._tell(done)

    def lines(self, size: int) -> Iterator[bytes]:
        at = self._handle.tell() - len(self._rest)
        self._rest = b""
        while at < self._size:
            end = min(at + size, self._size)
            if end < self._size:
                behind = self._between(max(at, end - _LINE), end)
                cut = behind.rfind(b"\n") + 1
                if not cut:  # a long line, or line ends of another kind
                    break
                end -= len(behind) - cut
            block = self._between(at, end)
            if not block:
                break
            at += len(block)
            self._told(at)
            yield block if block.endswith(b"\n") else block + b"\n"
            del block
        self._handle.seek(at)
        self._parts = self._read_on()
        yield from blocks(self, size)

    def _between(self, begin: int, end: int) -> bytes:
        self._handle.seek(begin)
        return _read(self._handle, end - begin)


_LINE = 1 << 16
"""So many bytes before the end of a block are looked through for the end of a line."""


def _slices(data: bytes) -> Iterator[bytes]:
    for at in range(0, len(data), _PACKED):
        yield data[at : at + _PACKED]


def _read(handle: BinaryIO, size: int) -> bytes:
    """As `handle.read`, which may return fewer bytes than there are of a file without a buffer."""
    let_interrupts_through()
    return handle.read(size) or b""
