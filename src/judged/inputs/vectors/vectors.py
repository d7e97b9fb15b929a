"""Vectors as a matrix of numbers that is read block by block, from arrays of any library."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.errors import InputError, quoted
from judged.options import whole
from judged.text import listed


@dataclass(frozen=True, eq=False)
class Lazy:
    """A matrix whose rows are read or changed when they are needed, such as those of HDF5."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    read: Callable[[Any, slice], NDArray[Any]]
    """A function of a slice or an array of rows, and of a slice of columns."""

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __getitem__(self, rows: slice | Ints) -> NDArray[Any]:
        if isinstance(rows, slice):
            rows = slice(*rows.indices(self.shape[0])[:2])
        return self.read(rows, slice(0, self.shape[1]))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype)

    def first(self, dims: int) -> Lazy:
        return replace(self, shape=(self.shape[0], dims))


def from_bfloat16(bits: NDArray[np.uint16]) -> NDArray[Any] | Lazy:
    """Widen bfloat16, the upper half of a float32; a matrix is widened block by block."""

    def widened(part: NDArray[np.uint16]) -> NDArray[Any]:
        return (part.astype(np.uint32) << 16).view(np.float32)

    if bits.ndim != 2:
        return widened(bits)
    return Lazy(
        bits.shape, np.dtype(np.float32), lambda rows, columns: widened(bits[rows, columns])
    )


def from_torch(given: Any, source: str) -> NDArray[Any] | Lazy:
    """Return a view of a tensor in main memory, or a copy of one on a device."""
    torch = sys.modules["torch"]
    tensor = given.detach()
    if tensor.layout != torch.strided:
        raise InputError(f"{source}: a sparse tensor; give a dense one, such as x.to_dense().")
    tensor = tensor.cpu().resolve_neg().resolve_conj()
    if tensor.dtype == torch.bfloat16:
        return from_bfloat16(tensor.view(torch.int16).numpy().view(np.uint16))
    try:
        return np.asarray(tensor.numpy())
    except TypeError:  # bfloat16 and the 8-bit floats, which numpy does not know
        return np.asarray(tensor.float().numpy())


Matrix = NDArray[Any]
ROWS_AT_A_TIME = 1 << 16


IN_MEMORY = 1 << 26  # largest file, in bytes, that is read whole; larger ones are mapped


@dataclass(frozen=True)
class Origin:
    path: Path
    state: tuple[int, ...]

    @classmethod
    def of(cls, path: Path) -> Origin:
        return cls(path, _state(path))

    def refuse_changed(self, source: str) -> None:
        """Raise an error if the file was changed; another file under its name does no harm."""
        state = _state(self.path)
        if state != self.state and state[:2] == self.state[:2]:
            raise InputError(
                f"{source}: the file was changed while it was read, so its numbers may come from "
                "both versions. Wait until it is written, and start again."
            )


def _state(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def held_or_mapped(mapped: NDArray[Any], path: Path) -> tuple[NDArray[Any], Origin | None]:
    """Return the numbers of a small file in memory, those of a large one as they are mapped."""
    if mapped.nbytes <= IN_MEMORY:
        return np.array(mapped), None
    return mapped, Origin.of(path)


@dataclass(frozen=True, eq=False)
class Vectors:
    """Vectors with their ids, read block by block in whatever type they came.

    Parameters
    ----------
    values : array or Lazy
        A matrix with one row per vector; it may be a mapped file, float16, int8, …
    ids : tuple of str, optional
        One id per vector; by default the row numbers are the ids.
    source : str, optional
        What messages call the vectors.
    notes : tuple of str, optional
        What was assumed while reading, a sentence each.
    made_by : str, optional
        The encoder that made the vectors, in words, where that is known.
    origin : Origin, optional
        The file that the numbers are mapped from, if they are.
    others : tuple of str, optional
        Other columns of the file, which may be ids whatever their name is.

    >>> vectors = Vectors(np.eye(3), ids=("a", "b", "c"))
    >>> len(vectors), vectors.dims
    (3, 3)
    """

    values: NDArray[Any] | Lazy
    ids: tuple[str, ...] | None = None
    source: str = "the vectors"
    notes: tuple[str, ...] = ()
    made_by: str | None = field(default=None, kw_only=True)
    origin: Origin | None = field(default=None, kw_only=True)
    others: tuple[str, ...] = field(default=(), kw_only=True)

    def __len__(self) -> int:
        return int(self.values.shape[0])

    @property
    def dims(self) -> int:
        return int(self.values.shape[1])

    @property
    def precise(self) -> type[np.floating[Any]]:
        """The precision that loses nothing: numpy.float32 or, for wider types, numpy.float64."""
        return np.float32 if np.can_cast(self.values.dtype, np.float32) else np.float64

    def block(self, begin: int, end: int, dtype: type[np.floating[Any]] = np.float32) -> Matrix:
        """Return some rows, in single precision by default; they must not be changed.

        Parameters
        ----------
        begin : int
            The first row, from 0.
        end : int
            The row after the last.
        dtype : type, optional
            numpy.float64 for double precision.

        >>> Vectors(np.eye(3)).block(1, 3).tolist()
        [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        """
        self.refuse_changed()
        with casting():
            return np.ascontiguousarray(self.values[begin:end], dtype=dtype)

    def blocks(
        self, size: int = ROWS_AT_A_TIME, dtype: type[np.floating[Any]] = np.float32
    ) -> Iterator[tuple[int, Matrix]]:
        """Yield all rows, block by block.

        Parameters
        ----------
        size : int, optional
            The number of rows in a block; the last may have fewer.
        dtype : type, optional
            numpy.float64 for double precision.

        >>> [(begin, block.shape) for begin, block in Vectors(np.eye(3)).blocks(2)]
        [(0, (2, 3)), (2, (1, 3))]
        """
        for begin in range(0, len(self), size):
            yield begin, self.block(begin, begin + size, dtype)

    def rows(self, rows: Ints, dtype: type[np.floating[Any]] = np.float32) -> Matrix:
        """Return rows by their numbers, in single precision by default.

        Parameters
        ----------
        rows : array of int
            Row numbers, from 0, in any order.
        dtype : type, optional
            numpy.float64 for double precision.

        >>> Vectors(np.eye(3)).rows(np.array([2, 0])).tolist()
        [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
        """
        self.refuse_changed()
        with casting():
            return np.asarray(self.values[rows], dtype)

    def refuse_changed(self) -> None:
        """Raise an `InputError` if the file was changed since it was opened.

        >>> Vectors(np.eye(3)).refuse_changed()
        """
        if self.origin is not None:
            self.origin.refuse_changed(self.source)

    def name(self, row: int) -> str:
        """Return the id of a row, or its number from 0.

        Parameters
        ----------
        row : int
            The row's number, from 0.

        >>> Vectors(np.eye(2), ids=("a", "b")).name(1), Vectors(np.eye(2)).name(1)
        ('b', '1')
        """
        return self.ids[row] if self.ids is not None else str(row)

    def names(self) -> tuple[str, ...]:
        """Return the ids of all rows, or their numbers from 0.

        >>> Vectors(np.eye(2)).names()
        ('0', '1')
        """
        return self.ids if self.ids is not None else tuple(map(str, range(len(self))))


def array_of(given: Any, source: str) -> NDArray[Any] | Lazy:
    """Return an array as numpy sees it; other libraries convert it, or DLPack does."""
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise InputError(f"{source}: some numbers are masked; fill them, or remove their rows.")
    if _is_of(given, "torch"):
        return from_torch(given, source)
    if _is_of(given, "cupy") and hasattr(given, "get"):
        return np.asarray(given.get())
    if hasattr(given, "toarray") and _is_of(given, "scipy"):
        raise InputError(f"{source}: a sparse matrix; give a dense one, such as x.toarray().")
    if isinstance(given, (list, tuple)):
        return _from_rows(given, source)
    try:
        if hasattr(given, "__dlpack__") and not hasattr(given, "__array__"):
            return np.from_dlpack(given)
        array = np.asarray(given)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise InputError(f"{source}: cannot be read as a matrix of numbers ({error}).") from None
    if array.ndim == 0 and array.dtype.kind == "O":
        raise InputError(
            f"{source}: cannot be read as a matrix of numbers; got {type(given).__name__}."
        )
    return array


def _is_of(given: Any, library: str) -> bool:
    return any(base.__module__.partition(".")[0] == library for base in type(given).__mro__)


def _from_rows(given: Sequence[Any], source: str) -> NDArray[Any]:
    """Join rows, which may be lists or arrays."""
    rows = [np.asarray(array_of(row, source)) if hasattr(row, "shape") else row for row in given]
    try:
        return np.asarray(rows)
    except (TypeError, ValueError):
        raise InputError(
            f"{source}: cannot be read as a matrix of numbers; give rows of equal length."
        ) from None


class ColumnIds(tuple[str, ...]):
    """Ids from a pandas Series, with its index: labels with the same index have the same rows."""

    index: Any


def is_of_pandas(given: Any) -> bool:
    return _is_of(given, "pandas") and hasattr(given, "iloc")


def ids_of(given: Any, source: str) -> tuple[str, ...]:
    if is_of_pandas(given):
        column = ColumnIds(ids_of(np.asarray(given), source))
        column.index = given.index
        return column
    if hasattr(given, "shape") and not isinstance(given, np.ndarray):
        given = np.asarray(array_of(given, source))
    ids = given.tolist() if isinstance(given, np.ndarray) else given
    if isinstance(ids, (str, bytes)) or not hasattr(ids, "__iter__"):
        raise InputError(f"{source}: ids must be a sequence, one per vector; got {quoted(given)}.")
    ids = list(ids)
    for row, name in enumerate(ids):
        if isinstance(name, (bool, np.bool_)) or not isinstance(name, (str, int, np.integer)):
            raise InputError(
                f"{source}: ids must be texts or whole numbers; that of vector {row} (from 0) is "
                f"{quoted(name)}."
            )
    return tuple(map(str, ids))


def refuse_other_ids(vectors: Vectors, names: Iterable[str], what: str) -> None:
    """Raise an error for a join by row number if another column of the file may be the ids."""
    given = tuple(names) if vectors.ids is None and vectors.others else ()
    if given and given != vectors.names():
        raise InputError(
            f"{vectors.source}: no column has a name of ids, and the {what} name "
            f"{quoted(given[0])}, which could be a row number or the id in column "
            f"{listed([quoted(name) for name in vectors.others], 'or')}. Name the column id to "
            "join by it, or leave it out of the file to join by row number."
        )


def check_vectors(vectors: Vectors, dims: int | None = None) -> Vectors:
    """Return the vectors, cut to `dims`, if they are a matrix of numbers with ids that fit."""
    values, source = vectors.values, vectors.source
    if not _is_numeric(values.dtype):
        raise InputError(f"{source}: vectors must be real numbers; got {values.dtype}.")
    if values.shape[:1] == (0,):
        raise InputError(f"{source}: there are no vectors in it.")
    if values.ndim != 2:
        hint = (
            " For a single vector give a matrix of one row, such as x[None, :]."
            if values.ndim == 1
            else ""
        )
        raise InputError(
            f"{source}: vectors must be a matrix with one row each; got an array of shape "
            f"{values.shape}.{hint}"
        )
    if not vectors.dims:
        raise InputError(f"{source}: the vectors have no dimensions.")
    if dims is not None:
        dims = whole(f"{source}: dims", dims, at_most=vectors.dims)
        vectors = replace(
            vectors, values=values.first(dims) if isinstance(values, Lazy) else values[:, :dims]
        )
    if vectors.ids is not None:
        if len(vectors.ids) != len(vectors):
            raise InputError(
                f"{source}: there are {len(vectors.ids)} ids for {len(vectors)} vectors; the "
                "numbers must match."
            )
        if len(set(vectors.ids)) < len(vectors.ids):
            again = next(name for name, times in Counter(vectors.ids).items() if times > 1)
            raise InputError(f"{source}: the id {again!r} occurs more than once.")
    return vectors


def _is_numeric(dtype: np.dtype[Any]) -> bool:
    """Return whether a type is real numbers or bits, or fits into a float32 (jax's bfloat16)."""
    return dtype.kind in "biuf" or (dtype.isbuiltin == 2 and bool(np.can_cast(dtype, np.float32)))


def casting() -> np.errstate:
    """Cast without warnings: too large numbers become infinite, which is an error later."""
    return np.errstate(over="ignore", invalid="ignore")


def unit(block: NDArray[Any]) -> Floats:
    block = block.astype(np.float64)
    return block / np.sqrt(np.einsum("ij,ij->i", block, block))[:, None]
