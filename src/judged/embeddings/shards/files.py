"""Arrays and what is said of them in .npz files, recognised by what is in them."""

from __future__ import annotations

import json
import os
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError
from judged.inputs.vectors.containers import arrays_of_npz
from judged.inputs.vectors.formats import file_of
from judged.outputs import checked_ending, replacing

if TYPE_CHECKING:
    from judged.options import Path

_MARK = "judged_counts"
"""The array that says what the file is."""
_VERSION = 1
Arrays = dict[str, NDArray[Any]]


def write(path: str | os.PathLike[str], arrays: Arrays, about: dict[str, Any]) -> None:
    """Write counts, whole or not at all."""
    if str(path) != os.devnull:
        checked_ending(path, [".npz"])
    said = {"version": _VERSION, "checksum": _checksum(arrays, about), "about": about}
    text = json.dumps(said, allow_nan=False)  # only ASCII: ids may hold anything
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **{_MARK: np.frombuffer(text.encode(), np.uint8)}, **arrays)  # type: ignore[arg-type]


def read(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """The arrays of a file, and what is said of them."""
    file = file_of(path, None)
    if not file.path.exists():
        raise InputError(f"{file.label}: no such file.")
    try:
        arrays = arrays_of_npz(file, _MARK)
    except InputError:
        arrays = None
    if arrays is None:
        raise InputError(
            f"{file.label}: holds no counts of shards, as `judged embeddings --part` writes them."
        )
    try:
        said = json.loads(arrays.pop(_MARK).tobytes())
        about: dict[str, Any] = said["about"]
        right = said["version"] == _VERSION and said["checksum"] == _checksum(arrays, about)
    except (ArithmeticError, KeyError, TypeError, ValueError, RecursionError):
        right = False
    if not right:
        raise InputError(
            f"{file.label}: is damaged, or was written by another version of judged; count that "
            "part again."
        )
    return arrays, about


def _checksum(arrays: Arrays, about: dict[str, Any]) -> str:
    digest = blake2b(json.dumps(about).encode(), digest_size=16)
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
