"""Vectors that stay in their file, which is mapped into memory: .npy, .fvecs and its kin, .fbin and
its kin."""

from __future__ import annotations

from tokenize import TokenError
from typing import Any

import numpy as np

from judged.errors import InputError
from judged.inputs.vectors.formats import File, a_file
from judged.inputs.vectors.vectors import ROWS_AT_A_TIME, Vectors, differing, held_or_mapped

VECS: dict[str, np.dtype[Any]] = {
    "fvecs": np.dtype("<f4"),
    "bvecs": np.dtype("u1"),
    "ivecs": np.dtype("<i4"),
}
BINS: dict[str, np.dtype[Any]] = {
    "fbin": np.dtype("<f4"),
    "u8bin": np.dtype("u1"),
    "i8bin": np.dtype("i1"),
}
NPY_ERRORS = (
    OSError,
    EOFError,
    ValueError,
    TypeError,
    SyntaxError,
    OverflowError,
    MemoryError,
    TokenError,
)
"""What numpy may raise for a damaged header, which is the text of a Python dict, or for too few
bytes below it."""
_HEADER = np.dtype("<u4")

_TOO_MANY = 1 << 24


def refuse_objects(file: File, dtype: np.dtype[Any], what: str = "vectors") -> None:
    if dtype.hasobject:
        raise InputError(
            f"{file.source}: the {what} are Python objects, a pickle, which may run any program "
            "and is never loaded; "
            "save them again as an array of numbers or texts."
        )


def read_npy(file: File) -> Vectors:
    try:
        values = np.lib.format.open_memmap(file.path, mode="r")
    except NPY_ERRORS as error:
        if "Python objects" in str(error):
            refuse_objects(file, np.dtype(object))
        raise file.damaged("npy", error) from None
    by_column = values.ndim == 2 and values.flags.f_contiguous and not values.flags.c_contiguous
    slow = (
        f"{file.label} is in Fortran order, which is slow to read row by row; "
        "np.ascontiguousarray fixes it."
    )
    held, origin = held_or_mapped(np.asarray(values), file.path)
    return Vectors(held, source=file.source, notes=(slow,) if by_column else (), origin=origin)


def read_vecs(file: File) -> Vectors:
    """Each row: its dimension, 4 bytes, then its values."""
    format = str(file.format)
    size = file.path.stat().st_size
    if size < _HEADER.itemsize:
        raise file.damaged(format, f"it has {size} bytes")
    dims = int(np.fromfile(file.path, _HEADER, 1)[0])
    if dims >= _TOO_MANY:
        raise file.damaged(format, f"its first vector would have {dims:,} dimensions")
    row = np.dtype([("dims", _HEADER), ("values", VECS[format], (dims,))])
    count, left = divmod(size, row.itemsize)
    rows = np.memmap(file.path, row, mode="r", shape=(count,)) if count else np.zeros(0, row)
    for begin in range(0, count, ROWS_AT_A_TIME):
        odd = np.flatnonzero(rows["dims"][begin : begin + ROWS_AT_A_TIME] != dims)
        if len(odd):
            where = begin + int(odd[0])
            doubt = f" Is it {a_file(format)}, and whole?"
            raise InputError(differing(file.label, where, int(rows["dims"][where]), dims) + doubt)
    if left:
        raise InputError(
            f"{file.label}: cut off in vector {count} (from 0), of {dims} dimensions: "
            f"{row.itemsize:,} bytes are needed, {left:,} are left. Is it {a_file(format)}, and "
            "whole?"
        )
    held, origin = held_or_mapped(rows["values"], file.path)
    return Vectors(held, source=file.source, origin=origin)


def read_bin(file: File) -> Vectors:
    """The number of vectors and of dimensions, 4 bytes each, then all values."""
    format = str(file.format)
    size = file.path.stat().st_size
    if size < 2 * _HEADER.itemsize:
        raise file.damaged(format, f"it has {size} bytes")
    count, dims = map(int, np.fromfile(file.path, _HEADER, 2))
    needed = 2 * _HEADER.itemsize + count * dims * BINS[format].itemsize
    if size != needed:
        raise InputError(
            f"{file.label}: the header says {count:,} vectors of {dims:,} dimensions, which takes "
            f"{needed:,} bytes; "
            f"the file has {size:,}. Is it {a_file(format)}, and whole?"
        )
    values = np.memmap(
        file.path, BINS[format], mode="r", offset=2 * _HEADER.itemsize, shape=(count, dims)
    )
    held, origin = held_or_mapped(np.asarray(values), file.path)
    return Vectors(held, source=file.source, origin=origin)
