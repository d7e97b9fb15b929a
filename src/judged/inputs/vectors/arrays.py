"""Read arrays from files: .npy, .npz, HDF5, safetensors, .fvecs and .fbin with their variants."""

from __future__ import annotations

import importlib
import json
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError, MissingExtraError
from judged.inputs.source import most_unpacked, too_large
from judged.inputs.vectors.formats import File, choose, choose_ids
from judged.inputs.vectors.vectors import (
    ROWS_AT_A_TIME,
    Lazy,
    Origin,
    Vectors,
    from_bfloat16,
    held_or_mapped,
)

NUMBER_TYPES: dict[str, str] = {
    **{"fvecs": "<f4", "bvecs": "u1", "ivecs": "<i4"},
    **{"fbin": "<f4", "u8bin": "u1", "i8bin": "i1"},
}
NPY_ERRORS = (
    *(OSError, EOFError, ValueError, TypeError, SyntaxError, OverflowError, MemoryError),
    TokenError,
)
"""Exceptions of numpy for a damaged header (a Python dict as text), or too few bytes."""
_HEADER = np.dtype("<u4")

MAX_DIMENSIONS = 1 << 24


def refuse_objects(file: File, dtype: np.dtype[Any], what: str = "vectors") -> None:
    if dtype.hasobject:
        raise InputError(
            f"{file.source}: the {what} are Python objects, a pickle, which may run any program "
            "and is never loaded; save them again as an array of numbers or texts."
        )


def open_npy(file: File, what: str = "vectors") -> NDArray[Any]:
    try:
        return np.lib.format.open_memmap(file.path, mode="r")
    except NPY_ERRORS as error:
        if "Python objects" in str(error):
            refuse_objects(file, np.dtype(object), what)
        raise file.damaged("npy", error) from None


def mapped_vectors(values: NDArray[Any], file: File) -> Vectors:
    held, origin = held_or_mapped(np.asarray(values), file.path)
    return Vectors(held, source=file.source, origin=origin)


def read_npy(file: File) -> Vectors:
    return mapped_vectors(open_npy(file), file)


def read_vecs(file: File) -> Vectors:
    """Read rows of a dimension (4 bytes) and the values."""
    format = str(file.format)
    size = file.path.stat().st_size
    dims = int(np.fromfile(file.path, _HEADER, 1)[0]) if size >= _HEADER.itemsize else 0
    if not 0 < dims < MAX_DIMENSIONS:
        raise file.damaged(format, f"it has {size:,} bytes and {dims:,} dimensions")
    row = np.dtype([("dims", _HEADER), ("values", NUMBER_TYPES[format], (dims,))])
    count, left = divmod(size, row.itemsize)
    rows = np.memmap(file.path, row, mode="r", shape=(count,)) if count else np.zeros(0, row)
    for begin in range(0, count, ROWS_AT_A_TIME):
        odd = np.flatnonzero(rows["dims"][begin : begin + ROWS_AT_A_TIME] != dims)
        if len(odd):
            where = begin + int(odd[0])
            differ = f"vector {where} (from 0) has {rows['dims'][where]} dimensions, not {dims}"
            raise file.damaged(format, differ)
    if left:
        raise file.damaged(format, f"cut off in vector {count} (from 0), of {dims} dimensions")
    return mapped_vectors(rows["values"], file)


def read_bin(file: File) -> Vectors:
    """Read the numbers of vectors and of dimensions (4 bytes each), then all values."""
    format = str(file.format)
    size = file.path.stat().st_size
    if size < 2 * _HEADER.itemsize:
        raise file.damaged(format, f"it has {size} bytes")
    count, dims = map(int, np.fromfile(file.path, _HEADER, 2))
    dtype = np.dtype(NUMBER_TYPES[format])
    needed = 2 * _HEADER.itemsize + count * dims * dtype.itemsize
    if size != needed:
        reason = f"{count:,} vectors of {dims:,} dimensions take {needed:,} bytes; it has {size:,}"
        raise file.damaged(format, reason)
    values = np.memmap(file.path, dtype, mode="r", offset=2 * _HEADER.itemsize, shape=(count, dims))
    return mapped_vectors(values, file)


Shape = tuple[int, ...]


def _shapes_of_numbers(
    arrays: Mapping[str, tuple[Shape, np.dtype[Any]]],
) -> dict[str, Shape | None]:
    return {
        name: shape if dtype.kind in "biuf" else None for name, (shape, dtype) in arrays.items()
    }


def texts(values: NDArray[Any], file: File) -> list[str]:
    if values.dtype.kind == "S" or (
        values.dtype.kind == "O" and any(isinstance(value, bytes) for value in values)
    ):
        try:
            return [value.decode() if isinstance(value, bytes) else str(value) for value in values]
        except UnicodeDecodeError:
            raise InputError(f"{file.label}: the ids are not UTF-8 text.") from None
    if values.dtype.kind not in "UiuO":
        raise InputError(f"{file.label}: ids must be texts or whole numbers; got {values.dtype}.")
    return [str(value) for value in values.tolist()]


def _with_ids(
    file: File,
    values: NDArray[Any] | Lazy,
    chosen: str,
    shapes: Mapping[str, Shape | None],
    ids: Callable[[str], NDArray[Any]],
) -> Vectors:
    """Return the vectors with the ids beside them; with several matrices, only ids that fit."""
    folder = chosen.rpartition("/")[0]
    beside = [name for name in shapes if name != chosen and name.rpartition("/")[0] == folder]
    name = choose_ids(beside)
    if name is None:
        return Vectors(values, source=file.source)
    read = ids(name)
    others = sum(shape is not None and len(shape) == 2 for shape in shapes.values()) > 1
    if others and read.shape != values.shape[:1]:
        note = (
            f"{file.source}: {name} has another length than the vectors, so it was not used as "
            "their ids."
        )
        return Vectors(values, source=file.source, notes=(note,))
    if read.ndim != 1:
        raise InputError(
            f"{file.label}: {name} should be ids, one per vector, but have shape {read.shape}."
        )
    return Vectors(values, tuple(texts(read, file)), file.source)


def read_npz(file: File) -> Vectors:
    archive = _Npz(file)
    chosen = choose(file, archive.shapes)
    values = archive.read(chosen, "vectors")
    return _with_ids(file, values, chosen, archive.shapes, lambda name: archive.read(name, "ids"))


def labelled_arrays(file: File, names: tuple[str, ...]) -> tuple[NDArray[Any], list[str] | None]:
    archive = _Npz(file)
    chosen = choose_named(file, list(archive.shapes), names)
    labels = archive.read(chosen, "labels")
    ids = choose_ids([name for name in archive.shapes if name != chosen])
    if ids is None or archive.headers[ids][0] != labels.shape[:1]:
        return labels, None
    return labels, texts(archive.read(ids, "ids"), file)


def choose_named(file: File, found: list[str], names: tuple[str, ...]) -> str:
    if file.key is not None:
        return choose(file, dict.fromkeys(found))
    name = found[0] if len(found) == 1 else choose_ids(found, names)
    if name is None:
        raise InputError(
            f"{file.label}: has {', '.join(found) or 'nothing'}, none with a name known for labels "
            f"({', '.join(names)}); choose one as {file.label}::NAME."
        )
    return name


def arrays_of_npz(file: File, mark: str) -> dict[str, NDArray[Any]] | None:
    """Return all arrays if one of them has the name of a mark."""
    archive = _Npz(file)
    if mark not in archive.shapes:
        return None
    return {name: archive.read(name, "numbers") for name in archive.shapes}


class _Npz:
    """A zip archive of .npy files; only those that are needed are read, and no pickle."""

    def __init__(self, file: File) -> None:
        self.file = file
        try:
            with zipfile.ZipFile(file.path) as archive:
                infos = archive.infolist()
                self.members = {
                    info.filename.removesuffix(".npy"): info
                    for info in infos
                    if info.filename.endswith(".npy")
                }
                self.headers = {
                    name: _npy_header(archive, member) for name, member in self.members.items()
                }
        except _ZIP_ERRORS as error:
            raise file.damaged("npz", error) from None
        if infos and not self.members:
            raise InputError(f"{file.label}: this is a zip archive, not a .npz file.")
        self.shapes = _shapes_of_numbers(self.headers)

    def read(self, name: str, what: str) -> NDArray[Any]:
        shape, dtype = self.headers[name]
        refuse_objects(self.file, dtype, what)
        member = self.members[name]
        needed, bound = int(np.prod(shape, dtype=object)) * dtype.itemsize, most_unpacked()
        if member.compress_type != zipfile.ZIP_STORED and max(needed, member.file_size) > bound:
            raise too_large(self.file.label, member.compress_size, bound)
        try:
            with zipfile.ZipFile(self.file.path) as archive, archive.open(member) as handle:
                return np.asarray(np.lib.format.read_array(handle, allow_pickle=False))
        except _ZIP_ERRORS as error:
            raise self.file.damaged("npz", error) from None


def _npy_header(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> tuple[Shape, np.dtype[Any]]:
    with archive.open(member) as handle:
        version = np.lib.format.read_magic(handle)[0]
        read = (np.lib.format.read_array_header_1_0, np.lib.format.read_array_header_2_0)
        shape, _, dtype = read[version > 1](handle)
        return shape, dtype


_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, RuntimeError, *NPY_ERRORS)


def _imported(library: str, file: File) -> Any:
    try:
        return importlib.import_module(library)
    except ImportError:
        needs = f'needs {library}: pip install "judged[vectors]".'
        raise MissingExtraError(f"{file.label}: {needs}") from None


def read_hdf5(file: File) -> Vectors:
    """Read HDF5; the file is opened again for each block, so that no handle stays open."""
    h5py = _imported("h5py", file)

    def array(name: str, where: Any = ...) -> NDArray[Any]:
        try:
            with h5py.File(file.path, "r") as opened:
                return np.asarray(opened[name][where])
        except _HDF5_ERRORS as error:
            raise file.damaged("hdf5", error) from None

    arrays: dict[str, tuple[Shape, np.dtype[Any]]] = {}

    def see(name: str, thing: Any) -> None:
        if isinstance(thing, h5py.Dataset) and thing.shape is not None:
            if thing.external or thing.is_virtual:  # which could be any file of the user
                raise InputError(
                    f"{file.label}: {name} is stored in other files, which are not read; write the "
                    "numbers into one file."
                )
            arrays[name] = (thing.shape, thing.dtype)

    try:
        with h5py.File(file.path, "r") as opened:
            opened.visititems(see)
    except _HDF5_ERRORS as error:
        raise file.damaged("hdf5", error) from None
    shapes = _shapes_of_numbers(arrays)
    chosen = choose(file, shapes)

    def read(rows: Any, columns: slice) -> NDArray[Any]:
        if isinstance(rows, slice):
            return array(chosen, (rows, columns))
        distinct, which = np.unique(rows, return_inverse=True)  # HDF5 reads rows in their order
        return array(chosen, (distinct, columns))[which]

    return _with_ids(file, Lazy(*arrays[chosen], read), chosen, shapes, array)


_HDF5_ERRORS = (
    *(OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError),
    *(OverflowError, MemoryError),
)


_TENSOR_TYPES = {
    **{"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "BOOL": "?"},
    **{f"{sign}{bits}": f"<{sign.lower()}{bits // 8}" for sign in "IU" for bits in (8, 16, 32, 64)},
}
"""Types of safetensors that numpy can hold; of BF16, the bits."""


def read_safetensors(file: File) -> Vectors:
    tensors = _tensors_of(file)
    shapes: dict[str, Shape | None] = {
        name: tuple(about["shape"]) for name, about in tensors.items()
    }
    chosen = choose(file, shapes)
    values, origin = _tensor(file, chosen, tensors[chosen])
    vectors = _with_ids(
        file, values, chosen, shapes, lambda name: np.asarray(_tensor(file, name, tensors[name])[0])
    )
    return replace(vectors, origin=origin)


def _tensors_of(file: File) -> dict[str, dict[str, Any]]:
    """Return the header of a file, once the library has checked it."""
    # The library's own arrays for numpy have no bfloat16 and are never mapped.
    safetensors = _imported("safetensors", file)
    try:
        with safetensors.safe_open(file.path, framework="numpy"), file.path.open("rb") as handle:
            size = int.from_bytes(handle.read(8), "little")
            header: dict[str, dict[str, Any]] = json.loads(handle.read(size))
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        reason = str(error).removeprefix("Error while deserializing header: ")
        raise file.damaged("safetensors", reason) from None
    header.pop("__metadata__", None)
    return {name: {**about, "begin": 8 + size} for name, about in header.items()}


def _tensor(
    file: File, name: str, about: dict[str, Any]
) -> tuple[NDArray[Any] | Lazy, Origin | None]:
    if about["dtype"] not in _TENSOR_TYPES:
        raise InputError(
            f"{file.label}: tensor {name} is {about['dtype']}; known types are "
            f"{', '.join(_TENSOR_TYPES)}."
        )
    dtype, shape = np.dtype(_TENSOR_TYPES[about["dtype"]]), tuple(about["shape"])
    if 0 in shape:
        return np.zeros(shape, dtype), None
    begin = about["begin"] + about["data_offsets"][0]
    mapped = np.memmap(file.path, dtype, mode="r", offset=begin, shape=shape)
    array, origin = held_or_mapped(np.asarray(mapped), file.path)
    return from_bfloat16(array) if about["dtype"] == "BF16" else array, origin
