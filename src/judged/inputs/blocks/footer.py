"""How a Parquet file is cut into row groups, from its footer alone: no library that is needed
anyway tells it, and a row group is what has to fit into memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

_MAGIC = b"PAR1"
_ROW_GROUPS = 4
_BYTES, _ROWS = 2, 3


@dataclass(frozen=True)
class RowGroup:
    """A part of a file that is read at once."""

    rows: int
    size: int
    """In bytes, once they are unpacked."""


def row_groups(handle: BinaryIO) -> list[RowGroup] | None:
    """The row groups of a file; None where the footer cannot be read, which its reader will say."""
    try:
        handle.seek(-8, 2)
        end = handle.read(8)
        length = int.from_bytes(end[:4], "little")
        if end[4:] != _MAGIC:
            return None
        handle.seek(-8 - length, 2)
        found = _Compact(handle.read(length)).struct()
        return [RowGroup(each[_ROWS], each[_BYTES]) for each in found[_ROW_GROUPS]]
    except (OSError, IndexError, KeyError, TypeError, ValueError, RecursionError):
        return None


class _Compact:
    """Thrift's compact protocol, as far as a footer has it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        whole, text = self._whole, self._text
        self._readers: dict[int, Callable[[], Any]] = {
            **dict.fromkeys((4, 5, 6), whole),
            3: self._byte,
            7: self._double,
            8: text,
            9: self._list,
            10: self._list,
            12: self.struct,
        }

    def struct(self) -> dict[int, Any]:
        """Fields by their numbers."""
        found: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            kind = head & 15
            number = number + (head >> 4) if head >> 4 else self._whole()
            found[number] = kind == 1 if kind in (1, 2) else self._readers[kind]()
        return found

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _unsigned(self) -> int:
        found = shift = 0
        while True:
            byte = self._byte()
            found |= (byte & 127) << shift
            if byte < 128:
                return found
            shift += 7

    def _whole(self) -> int:
        found = self._unsigned()
        return (found >> 1) ^ -(found & 1)

    def _double(self) -> None:
        self._at += 8

    def _text(self) -> None:
        size = self._unsigned()
        self._at += size

    def _list(self) -> list[Any]:
        head = self._byte()
        size = head >> 4 if head >> 4 < 15 else self._unsigned()
        kind = head & 15
        if kind in (1, 2):
            return [self._byte() == 1 for _ in range(size)]
        return [self._readers[kind]() for _ in range(size)]
