"""Files that hold several arrays by name: .npz, HDF5, safetensors."""

from __future__ import annotations

import importlib
import json
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError, MissingExtraError
from judged.inputs.compression import most_unpacked, too_large
from judged.inputs.vectors.formats import File, choose, choose_ids
from judged.inputs.vectors.lazy import Lazy, from_bfloat16
from judged.inputs.vectors.npy import NPY_ERRORS, refuse_objects
from judged.inputs.vectors.vectors import Origin, Vectors, held_or_mapped

Shape = tuple[int, ...]


def texts(values: NDArray[Any], file: File, what: str = "ids") -> list[str]:
    """Ids or labels as texts; whole numbers stay exact."""
    if values.dtype.kind == "S" or (
        values.dtype.kind == "O" and any(isinstance(value, bytes) for value in values)
    ):
        try:
            return [value.decode() if isinstance(value, bytes) else str(value) for value in values]
        except UnicodeDecodeError:
            raise InputError(f"{file.label}: the {what} are not UTF-8 text.") from None
    if values.dtype.kind not in "UiuO":
        raise InputError(
            f"{file.label}: {what} must be texts or whole numbers; got {values.dtype}."
        )
    return [str(value) for value in values.tolist()]


def _with_ids(
    file: File,
    values: NDArray[Any] | Lazy,
    chosen: str,
    shapes: Mapping[str, Shape | None],
    ids: Callable[[str], NDArray[Any]],
) -> Vectors:
    """The vectors with the ids that lie beside them. Where there are several matrices, ids count
    only if there are as many."""
    folder = chosen.rpartition("/")[0]
    beside = [name for name in shapes if name != chosen and name.rpartition("/")[0] == folder]
    name = choose_ids(beside)
    if name is None:
        return Vectors(values, source=file.source)
    read = ids(name)
    others = sum(shape is not None and len(shape) == 2 for shape in shapes.values()) > 1
    if others and read.shape != values.shape[:1]:
        note = (
            f"{file.source}: {name} are not as many as the vectors and were not taken for "
            "their ids."
        )
        return Vectors(values, source=file.source, notes=(note,))
    if read.ndim != 1:
        raise InputError(
            f"{file.label}: {name} should be ids, one per vector, but have shape {read.shape}."
        )
    return Vectors(values, tuple(texts(read, file)), file.source)


def read_npz(file: File) -> Vectors:
    with _Npz(file) as archive:
        chosen = choose(file, archive.shapes)
        values = archive.read(chosen, "vectors")
        return _with_ids(
            file, values, chosen, archive.shapes, lambda name: archive.read(name, "ids")
        )


def labelled_arrays(file: File, names: tuple[str, ...]) -> tuple[NDArray[Any], list[str] | None]:
    """Read one array by its name, and the ids beside it where there are as many."""
    with _Npz(file) as archive:
        chosen = choose_named(file, list(archive.shapes), names)
        labels = archive.read(chosen, "labels")
        ids = choose_ids([name for name in archive.shapes if name != chosen])
        if ids is None or archive.headers[ids][0] != labels.shape[:1]:
            return labels, None
        return labels, texts(archive.read(ids, "ids"), file)


def choose_named(file: File, found: list[str], names: tuple[str, ...]) -> str:
    """The array or column asked for, the only one, or the one with a known name."""
    if file.key is not None:
        return choose(file, dict.fromkeys(found))
    name = found[0] if len(found) == 1 else choose_ids(found, names)
    if name is None:
        raise InputError(
            f"{file.label}: has {', '.join(found)}, none with a name known for labels "
            f"({', '.join(names)}); "
            f'choose one as "{file.label}::{found[0]}".'
            if found
            else f"{file.label}: holds nothing."
        )
    return name


def arrays_of_npz(file: File, mark: str) -> dict[str, NDArray[Any]] | None:
    """All arrays, where one of them is the mark that is looked for."""
    with _Npz(file) as archive:
        return (
            {name: archive.read(name, "numbers") for name in archive.shapes}
            if mark in archive.shapes
            else None
        )


class _Npz:
    """A zip archive of .npy files, of which only those asked for are read, and no pickle ever."""

    def __init__(self, file: File) -> None:
        self.file = file

    def __enter__(self) -> _Npz:
        try:
            self.archive = zipfile.ZipFile(self.file.path)
            members = [name for name in self.archive.namelist() if name.endswith(".npy")]
            self.headers = {name.removesuffix(".npy"): self._header(name) for name in members}
        except _ZIP_ERRORS as error:
            raise self.file.damaged("npz", error) from None
        if not self.headers and self.archive.namelist():
            raise InputError(f"{self.file.label}: this is a zip archive, not a .npz file.")
        return self

    def __exit__(self, *_: object) -> None:
        self.archive.close()

    def _header(self, member: str) -> tuple[Shape, np.dtype[Any]]:
        with self.archive.open(member) as handle:
            first = np.lib.format.read_magic(handle) == (1, 0)
            read = (
                np.lib.format.read_array_header_1_0
                if first
                else np.lib.format.read_array_header_2_0
            )
            shape, _, dtype = read(handle)
            return shape, dtype

    @property
    def shapes(self) -> dict[str, Shape | None]:
        return {
            name: shape if dtype.kind in "biuf" else None
            for name, (shape, dtype) in self.headers.items()
        }

    def read(self, name: str, what: str) -> NDArray[Any]:
        shape, dtype = self.headers[name]
        refuse_objects(self.file, dtype, what)
        packed = self.archive.getinfo(f"{name}.npy")
        needed, bound = int(np.prod(shape, dtype=object)) * dtype.itemsize, most_unpacked()
        if packed.compress_type != zipfile.ZIP_STORED and max(needed, packed.file_size) > bound:
            raise too_large(self.file.label, packed.compress_size, bound)
        try:
            with self.archive.open(f"{name}.npy") as handle:
                return np.asarray(np.lib.format.read_array(handle, allow_pickle=False))
        except _ZIP_ERRORS as error:
            raise self.file.damaged("npz", error) from None


_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, RuntimeError, *NPY_ERRORS)


def read_hdf5(file: File) -> Vectors:
    """Opened again for each block, so that no handle stays open."""
    try:
        h5py = importlib.import_module("h5py")
    except ImportError:
        raise MissingExtraError(f"{file.label}: HDF5 files need h5py: pip install h5py") from None

    def array(name: str, where: Any = ...) -> NDArray[Any]:
        try:
            with h5py.File(file.path, "r") as opened:
                return np.asarray(opened[name][where])
        except _HDF5_ERRORS as error:
            raise file.damaged("hdf5", error) from None

    found: dict[str, tuple[Shape, np.dtype[Any]]] = {}
    elsewhere: set[str] = set()

    def see(name: str, thing: Any) -> None:
        if isinstance(thing, h5py.Dataset) and thing.shape is not None:
            if thing.external or thing.is_virtual:
                elsewhere.add(name)
            found[name] = (thing.shape, thing.dtype)

    try:
        with h5py.File(file.path, "r") as opened:
            opened.visititems(see)
    except _HDF5_ERRORS as error:
        raise file.damaged("hdf5", error) from None
    shapes = {
        name: shape if dtype.kind in "biuf" else None for name, (shape, dtype) in found.items()
    }
    chosen = choose(file, shapes)

    def beside(name: str) -> NDArray[Any]:
        _refuse_elsewhere(file, name, elsewhere)
        return array(name)

    _refuse_elsewhere(file, chosen, elsewhere)
    rows = Lazy(*found[chosen], lambda rows, columns: array(chosen, (rows, columns)))
    return _with_ids(file, rows, chosen, shapes, beside)


_HDF5_ERRORS = (
    *(OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError),
    *(OverflowError, MemoryError),
)
"""What h5py may raise for a damaged file."""


def _refuse_elsewhere(file: File, name: str, elsewhere: set[str]) -> None:
    """A file may name others, any that whoever reads it may read."""
    if name in elsewhere:
        raise InputError(
            f"{file.label}: {name} lies in other files, which are not followed; write the numbers "
            "into one file."
        )


_TENSORS = {
    **{"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "BOOL": "?"},
    **{f"{sign}{bits}": f"<{sign.lower()}{bits // 8}" for sign in "IU" for bits in (8, 16, 32, 64)},
}


def read_safetensors(file: File) -> Vectors:
    _, tensors = _tensors(file)
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    chosen = choose(file, shapes)
    values, origin = tensors[chosen].values()
    vectors = _with_ids(
        file, values, chosen, shapes, lambda name: np.asarray(tensors[name].values()[0])
    )
    return replace(vectors, origin=origin)


def tensors_of_safetensors(file: File, mark: str) -> tuple[str, dict[str, NDArray[Any]]] | None:
    """The metadata under the mark that is looked for, where it is there, and all tensors, in
    memory."""
    metadata, tensors = _tensors(file)
    if mark not in metadata:
        return None
    return metadata[mark], {name: np.array(tensor.values()[0]) for name, tensor in tensors.items()}


def _tensors(file: File) -> tuple[dict[str, str], dict[str, _Tensor]]:
    """8 bytes for the length of a JSON text, that text (type, shape and place of each tensor), and
    the tensors."""
    size = file.path.stat().st_size
    with file.path.open("rb") as handle:
        length = int.from_bytes(handle.read(8), "little")
        if 8 + length > size:
            raise file.damaged(
                "safetensors", f"its header should have {length:,} bytes, the file has {size:,}"
            )
        text = handle.read(length)
    try:
        header = dict(json.loads(text).items())
        metadata = {
            str(name): str(value)
            for name, value in dict(header.pop("__metadata__", None) or {}).items()
        }
        tensors = {name: _Tensor(file, name, 8 + length, entry) for name, entry in header.items()}
        for tensor in tensors.values():
            tensor.check(size)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise file.damaged(
            "safetensors", f"its header makes no sense: {type(error).__name__}: {error}"
        ) from None
    return metadata, tensors


class _Tensor:
    """One entry of the header."""

    def __init__(self, file: File, name: str, start: int, entry: Mapping[str, Any]) -> None:
        self.file, self.name, self.type = file, name, str(entry["dtype"])
        self.shape: Shape = tuple(map(int, entry["shape"]))
        self.begin, self.end = (start + int(offset) for offset in entry["data_offsets"])

    def check(self, size: int) -> None:
        if self.end > size:
            raise self.file.damaged(
                "safetensors",
                f"tensor {self.name} should end at byte {self.end:,}, the file has {size:,}",
            )
        if self.type in _TENSORS:
            needed = int(np.prod(self.shape, dtype=object)) * np.dtype(_TENSORS[self.type]).itemsize
            if min(self.shape, default=0) < 0 or self.begin < 0 or self.end - self.begin != needed:
                reason = (
                    f"tensor {self.name} should have {needed:,} bytes, it has "
                    f"{self.end - self.begin:,}"
                )
                raise self.file.damaged("safetensors", reason)

    def values(self) -> tuple[NDArray[Any] | Lazy, Origin | None]:
        """Return the numbers, and the file where they are mapped from it."""
        if self.type not in _TENSORS:
            raise InputError(
                f"{self.file.label}: tensor {self.name} is {self.type}; known are "
                f"{', '.join(_TENSORS)}."
            )
        dtype = np.dtype(_TENSORS[self.type])
        if self.begin == self.end:
            return np.zeros(self.shape, dtype), None
        mapped = np.memmap(self.file.path, dtype, mode="r", offset=self.begin, shape=self.shape)
        array, origin = held_or_mapped(np.asarray(mapped), self.file.path)
        return from_bfloat16(array) if self.type == "BF16" else array, origin
