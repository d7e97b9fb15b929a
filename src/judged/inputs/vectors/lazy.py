"""Matrices whose rows are read when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Ints


@dataclass(frozen=True, eq=False)
class Lazy:
    """A matrix whose rows become numbers only when they are asked for: bfloat16, which numpy does
    not know, or HDF5."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    read: Callable[[slice, slice], NDArray[Any]]
    """Some rows, and of these some columns; both from the first wanted to the one after the last.
    """
    take: Callable[[Ints, slice], NDArray[Any]] | None = None
    """Rows from here and there, and of these some columns, where that takes one step."""
    device: str | None = None
    """Where the numbers lie, if not in main memory or in a file."""

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        begin, end, _ = rows.indices(self.shape[0])
        return self.read(slice(begin, end), slice(0, self.shape[1]))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype)

    def first(self, dims: int) -> Lazy:
        return replace(self, shape=(self.shape[0], dims))

    def part(self, begin: int, end: int) -> Lazy:
        """Rows one after the other."""

        def read(rows: slice, columns: slice) -> NDArray[Any]:
            return self.read(slice(rows.start + begin, rows.stop + begin), columns)

        def take(rows: Ints, columns: slice) -> NDArray[Any]:
            assert self.take is not None
            return self.take(rows + begin, columns)

        some = None if self.take is None else take
        return replace(self, shape=(end - begin, self.shape[1]), read=read, take=some)


def from_bfloat16(bits: NDArray[np.uint16]) -> NDArray[Any] | Lazy:
    """bfloat16 is the upper half of a float32; a matrix of them is widened block by block."""

    def widened(part: NDArray[np.uint16]) -> NDArray[Any]:
        return (part.astype(np.uint32) << 16).view(np.float32)

    if bits.ndim != 2:
        return widened(bits)
    return Lazy(
        bits.shape, np.dtype(np.float32), lambda rows, columns: widened(bits[rows, columns])
    )
