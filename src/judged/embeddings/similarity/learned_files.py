"""Learned similarities in files: .npz or .safetensors, recognised by what is in them."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats
from judged.embeddings.similarity.directions import MARKS
from judged.embeddings.similarity.maps import KINDS, Kind, Weights
from judged.embeddings.similarity.record import Training
from judged.errors import InputError, OutputError
from judged.inputs.vectors.arrays import arrays_of_npz, tensors_of_safetensors
from judged.inputs.vectors.formats import FORMATS, File, file_of
from judged.options import temperature as checked_temperature
from judged.options import whole
from judged.outputs import check_target, replacing

MARK = "judged_learned"
"""The array of a .npz, or the entry in the metadata of a .safetensors file, that says what the file
is."""
VERSION = 1
KEYS = ("training_queries", "validation_queries")

Arrays = dict[str, NDArray[Any]]


def check_model_target(path: str | os.PathLike[str]) -> None:
    """Refuse a place or an ending that a learned similarity cannot be written to, before it is
    learned."""
    if Path(path).suffix.lower() not in _WRITERS:
        raise OutputError(
            f"{path}: a learned similarity is written to a {' or '.join(_WRITERS)} file."
        )
    check_target(path)


class Parts(NamedTuple):
    """What a file holds of a learned similarity."""

    kind: Kind
    weights: Weights
    training: Training
    training_marks: Floats
    """Of the queries that were trained on."""
    validation_marks: Floats
    """Of those that chose when to stop."""


def write(parts: Parts, path: str | os.PathLike[str]) -> None:
    """Write a learned similarity, whole or not at all."""
    check_model_target(path)
    arrays: Arrays = {**parts.weights, **dict(zip(KEYS, parts[-2:], strict=True))}
    record = parts.training.to_dict()
    about = {
        "version": VERSION,
        "kind": parts.kind.name,
        "checksum": _checksum(arrays, record),
        "training": record,
    }
    text = json.dumps(about, ensure_ascii=False, allow_nan=False)
    with replacing(path) as temporary:
        _WRITERS[Path(path).suffix.lower()](temporary, arrays, text)


def _write_npz(path: Path, arrays: Arrays, about: str) -> None:
    with path.open("wb") as file:
        np.savez(file, **{MARK: np.frombuffer(about.encode(), np.uint8)}, **arrays)  # type: ignore[arg-type]


def _write_safetensors(path: Path, arrays: Arrays, about: str) -> None:
    """8 bytes for the length of a JSON text, that text (type, shape and place of each tensor), and
    the tensors."""
    header: dict[str, Any] = {"__metadata__": {MARK: about}}
    end = 0
    # The widest numbers first, so that each begins at a multiple of its own size.
    ordered = sorted(arrays.items(), key=lambda entry: (-entry[1].itemsize, entry[0]))
    for name, array in ordered:
        header[name] = {
            "dtype": {"f": "F", "u": "U"}[array.dtype.kind] + str(array.itemsize * 8),
            "shape": list(array.shape),
            "data_offsets": [end, end + array.nbytes],
        }
        end += array.nbytes
    text = json.dumps(header, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for _, array in ordered:
            file.write(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())


_WRITERS: dict[str, Callable[[Path, Arrays, str], None]] = {
    ".npz": _write_npz,
    ".safetensors": _write_safetensors,
}


def read(path: str | os.PathLike[str]) -> Parts | None:
    """The learned similarity in a file; None where the file is something else, or cannot be read at
    all."""
    file = file_of(path, None)
    try:
        with file.path.open("rb") as handle:
            # One array of a file is a matrix.
            start = b"" if file.key is not None else handle.read(9)
    except (OSError, ValueError):
        return None
    if start.startswith(FORMATS["npz"].magic):
        arrays = arrays_of_npz(file, MARK)
        return None if arrays is None else _parts(file, arrays.pop(MARK).tobytes(), arrays)
    if start[8:] == b"{" and b"\x00" in start[:8]:
        found = tensors_of_safetensors(file, MARK)
        return None if found is None else _parts(file, found[0].encode(), found[1])
    return None


def _parts(file: File, text: bytes, arrays: Arrays) -> Parts:
    try:
        about = json.loads(text.decode())
        version = whole("version", about["version"])
    except (ArithmeticError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(file, f"its description makes no sense: {type(error).__name__}") from None
    if version > VERSION:
        raise InputError(
            f"{file.label}: was written by a newer judged (format {version}, this one reads up to "
            f"{VERSION}); update judged."
        )
    try:
        kind = KINDS[about["kind"]]
        training = Training.from_dict(about["training"])
        weights = {name: arrays[name] for name in kind.names}
        of_training, of_validation = (arrays[name] for name in KEYS)
        checksum = about["checksum"]
    except (ArithmeticError, KeyError, TypeError, ValueError) as error:
        raise _damaged(file, f"something is missing in it: {error}") from None
    numbers = {**weights, **dict(zip(KEYS, (of_training, of_validation), strict=True))}
    if checksum != _checksum(numbers, about["training"]):
        raise _damaged(file, "it is not what was written")
    _check_weights(file, kind, weights, training.rank)
    _check_rest(file, kind, training, [of_training, of_validation])
    return Parts(kind, weights, training, of_training, of_validation)


def _check_weights(file: File, kind: Kind, weights: Weights, rank: int | None) -> None:
    """Refuse weights that judged would not have written; a checksum can be made to fit."""
    for name, array in weights.items():
        if (
            array.dtype != np.float32
            or not array.ndim
            or not array.size
            or not np.isfinite(array).all()
        ):
            raise _damaged(file, f"{name} should hold finite numbers in single precision")
    shapes = {name: array.shape for name, array in weights.items()}
    try:
        fitting = kind.shapes(*kind.dims(weights), rank) == shapes
    except (InputError, TypeError):
        fitting = False
    if not fitting:
        found = (f"{name} {' × '.join(map(str, shape))}" for name, shape in shapes.items())
        raise _damaged(file, f"its weights do not fit together: {', '.join(found)}")


def _check_rest(file: File, kind: Kind, training: Training, marks: list[NDArray[Any]]) -> None:
    if any(
        each.dtype != np.float64 or each.shape != (len(each), MARKS) or not each.size
        for each in marks
    ):
        raise _damaged(file, "it does not say which queries training saw")
    try:
        checked_temperature(training.temperature)
        training.to_text(verbose=True)  # whoever can tell all of it has all of it
    except (ArithmeticError, InputError, IndexError, TypeError, ValueError):
        raise _damaged(file, "its record of the training makes no sense") from None
    if training.kind != kind.name:
        raise _damaged(
            file, f"its record is of a {training.kind}, its weights are of a {kind.name}"
        )


def _checksum(arrays: Arrays, record: Any) -> int:
    """Of names, shapes and bits of all arrays, and of the record."""
    total = zlib.crc32(json.dumps(record, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        total = zlib.crc32(f"{name} {array.dtype.str} {array.shape}".encode(), total)
        total = zlib.crc32(array.tobytes(), total)
    return total


def _damaged(file: File, reason: str) -> InputError:
    return InputError(f"{file.label}: not a learned similarity that can be read ({reason}).")
