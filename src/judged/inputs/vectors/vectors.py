"""Vectors from whatever holds them, seen as a matrix of numbers that is read block by block."""

from __future__ import annotations

import mmap
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError
from judged.segments import Floats, Ints

Matrix = NDArray[np.float32]
ROWS_AT_A_TIME = 1 << 16


@dataclass(frozen=True, eq=False)
class Lazy:
    """A matrix whose rows become numbers only when they are asked for: bfloat16, which numpy does
    not know, or HDF5."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    read: Callable[[slice, slice], NDArray[Any]]
    """Some rows, and of these some columns; both from the first wanted to the one after the last.
    """

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


def from_bfloat16(bits: NDArray[np.uint16]) -> NDArray[Any] | Lazy:
    """bfloat16 is the upper half of a float32; a matrix of them is widened block by block."""

    def widened(part: NDArray[np.uint16]) -> Matrix:
        return (part.astype(np.uint32) << 16).view(np.float32)

    if bits.ndim != 2:
        return widened(bits)
    return Lazy(
        bits.shape, np.dtype(np.float32), lambda rows, columns: widened(bits[rows, columns])
    )


@dataclass(frozen=True, eq=False)
class Vectors:
    """A matrix, one row a vector, in whatever type it came (memory-mapped, float16, int8, …)."""

    values: NDArray[Any] | Lazy
    ids: tuple[str, ...] | None = None
    source: str = "the vectors"
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return int(self.values.shape[0])

    @property
    def dims(self) -> int:
        return int(self.values.shape[1])

    def block(self, begin: int, end: int) -> Matrix:
        """Some rows in single precision; not to be written to."""
        with np.errstate(
            over="ignore"
        ):  # what is too large for a float32 becomes infinite, and is refused as that
            return np.ascontiguousarray(self.values[begin:end], dtype=np.float32)

    def blocks(self, size: int = ROWS_AT_A_TIME) -> Iterator[tuple[int, Matrix]]:
        for begin in range(0, len(self), size):
            yield begin, self.block(begin, begin + size)

    def rows(self, rows: Ints) -> Matrix:
        """Rows from here and there, in single precision."""
        if isinstance(self.values, Lazy):
            found = [self.block(row, row + 1) for row in rows.tolist()]
            return np.concatenate(found) if found else np.zeros((0, self.dims), np.float32)
        with np.errstate(over="ignore"):
            return np.asarray(self.values[rows], np.float32)

    def release(self) -> None:
        """Give back the memory of a mapped file's pages that were read; they are read again when
        they are needed."""
        under: Any = self.values
        while isinstance(under, np.ndarray):
            # Only of files that are mapped to be read: in others the pages may hold what is nowhere
            # else.
            if (
                isinstance(under, np.memmap)
                and under.mode == "r"
                and isinstance(under.base, mmap.mmap)
            ):
                if hasattr(mmap, "MADV_DONTNEED"):
                    under.base.madvise(mmap.MADV_DONTNEED)
                return
            under = under.base

    def name(self, row: int) -> str:
        """What messages and runs call a row: its id, or its number from 0."""
        return self.ids[row] if self.ids is not None else str(row)

    def names(self) -> tuple[str, ...]:
        return self.ids if self.ids is not None else tuple(map(str, range(len(self))))


def as_vectors(
    given: Any,
    *,
    ids: Sequence[Any] | None = None,
    dims: int | None = None,
    source: str = "the vectors",
) -> Vectors:
    """Vectors from a path, a numpy, torch, jax or cupy array, or anything that numpy can read.

    >>> as_vectors([[1.0, 0.0], [0.0, 1.0]], ids=["a", "b"]).dims
    2
    """
    if isinstance(given, Vectors):
        found = given
    elif isinstance(given, str) or hasattr(given, "__fspath__"):
        from judged.inputs.vectors.files import read_vectors

        found = read_vectors(given)
    else:
        found = Vectors(_as_array(given, source), source=source)
    if ids is not None:
        found = replace(found, ids=tuple(map(str, ids)))
    return checked(found, dims)


def _as_array(given: Any, source: str) -> NDArray[Any] | Lazy:
    """A numpy view of an array; arrays of other libraries come through their own conversion or
    DLPack."""
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise InputError(f"{source}: some numbers are masked; fill them, or remove their rows.")
    if _is_of(given, "torch"):
        return _from_torch(given, source)
    if _is_of(given, "cupy") and hasattr(given, "get"):
        return np.asarray(given.get())
    if hasattr(given, "toarray") and _is_of(given, "scipy"):
        raise InputError(f"{source}: a sparse matrix; give a dense one, as from its toarray().")
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


def _from_torch(given: Any, source: str) -> NDArray[Any] | Lazy:
    torch = sys.modules["torch"]
    tensor = given.detach().cpu()
    if tensor.layout != torch.strided:
        raise InputError(f"{source}: a sparse tensor; give a dense one, as from its to_dense().")
    tensor = tensor.resolve_neg().resolve_conj()
    if tensor.dtype == torch.bfloat16:
        return from_bfloat16(tensor.view(torch.int16).numpy().view(np.uint16))
    try:
        return np.asarray(tensor.numpy())
    except TypeError:  # the 8-bit floats, which numpy does not know
        return np.asarray(tensor.float().numpy())


def _from_rows(given: Sequence[Any], source: str) -> NDArray[Any]:
    """Rows may be lists or arrays; where they do not fit together, the first that differs is named."""
    rows = [np.asarray(_as_array(row, source)) if hasattr(row, "shape") else row for row in given]
    try:
        return np.asarray(rows)
    except (TypeError, ValueError) as error:
        lengths = [len(row) if hasattr(row, "__len__") else None for row in rows]
        odd = next((number for number, length in enumerate(lengths) if length != lengths[0]), None)
        if odd is None or lengths[odd] is None or lengths[0] is None:
            raise InputError(
                f"{source}: cannot be read as a matrix of numbers ({error})."
            ) from None
        raise InputError(differing(source, odd, lengths[odd], lengths[0])) from None


def differing(source: str, row: int, dims: int | None, expected: int | None) -> str:
    """The message for a vector that is longer or shorter than the first."""
    return (
        f"{source}: vector {row} (from 0) has {dims} dimensions, the first has {expected}; all "
        "must have as many."
    )


def checked(vectors: Vectors, dims: int | None = None) -> Vectors:
    """The vectors, cut to `dims`, once it is sure that they are a matrix of numbers with ids that
    fit."""
    values, source = vectors.values, vectors.source
    if not _is_numeric(values.dtype):
        raise InputError(f"{source}: vectors must be numbers; got {_described(values.dtype)}.")
    if values.shape[:1] == (0,):
        raise InputError(f"{source}: there is no vector in it.")
    if values.ndim != 2:
        hint = (
            " For a single vector give a matrix of one row, as x[None, :]."
            if values.ndim == 1
            else ""
        )
        raise InputError(
            f"{source}: one row a vector is needed, a matrix; got an array of shape "
            f"{values.shape}.{hint}"
        )
    if not vectors.dims:
        raise InputError(f"{source}: the vectors have no dimensions.")
    if dims is not None:
        if (
            not isinstance(dims, (int, np.integer))
            or isinstance(dims, bool)
            or not 1 <= dims <= vectors.dims
        ):
            raise InputError(
                f"{source}: dims must be a whole number from 1 to {vectors.dims}; got {dims!r}."
            )
        vectors = replace(
            vectors, values=values.first(dims) if isinstance(values, Lazy) else values[:, :dims]
        )
    if vectors.ids is not None:
        if len(vectors.ids) != len(vectors):
            raise InputError(
                f"{source}: {len(vectors.ids)} ids for {len(vectors)} vectors; there must be as "
                "many."
            )
        if len(set(vectors.ids)) < len(vectors.ids):
            again = next(name for name, times in Counter(vectors.ids).items() if times > 1)
            raise InputError(f"{source}: the id {again!r} occurs more than once.")
    return vectors


def _is_numeric(dtype: np.dtype[Any]) -> bool:
    """Real numbers and bits; also types that a library added to numpy (jax's bfloat16) and that fit
    into a float32."""
    return dtype.kind in "biuf" or (dtype.isbuiltin == 2 and bool(np.can_cast(dtype, np.float32)))


def _described(dtype: np.dtype[Any]) -> str:
    if dtype.kind == "c":
        return f"complex ones ({dtype}), which have no order"
    if dtype.kind in "US":
        return f"texts ({dtype})"
    if dtype.kind == "O":
        return "Python objects (rows of different lengths, or things that are no numbers)"
    if dtype.kind == "V" and dtype.names is None:
        return f"raw bytes ({dtype}; numpy saves bfloat16 so: save float32, or safetensors)"
    return str(dtype)


def unit(block: NDArray[Any]) -> Floats:
    """Vectors of length 1 in double precision."""
    block = block.astype(np.float64)
    return block / np.sqrt(np.einsum("ij,ij->i", block, block))[:, None]
