"""Vectors and labels from files, told apart by what is in them, or else by their names."""

from __future__ import annotations

import os
from collections.abc import Callable

from judged.inputs.vectors import containers, npy, tables, text
from judged.inputs.vectors.formats import FORMATS, File, detect, file_of
from judged.inputs.vectors.labels import labels_from, labels_lists_from
from judged.inputs.vectors.vectors import Vectors, checked

__all__ = ["FORMATS", "labels_from", "labels_lists_from", "read_vectors"]

Reader = Callable[[File, str], Vectors]

_READERS: dict[str, Reader] = {
    "npy": lambda file, _: npy.read_npy(file),
    "npz": lambda file, _: containers.read_npz(file),
    "hdf5": lambda file, _: containers.read_hdf5(file),
    "safetensors": lambda file, _: containers.read_safetensors(file),
    "parquet": lambda file, _: tables.read_parquet(file),
    "ndjson": lambda file, _: tables.read_ndjson(file),
    **dict.fromkeys(npy.VECS, npy.read_vecs),
    **dict.fromkeys(npy.BINS, npy.read_bin),
    **dict.fromkeys(text.SEPARATORS, text.read_text),
}


def read_vectors(
    path: str | os.PathLike[str], *, format: str | None = None, key: str | None = None
) -> Vectors:
    """Vectors from a file, with their ids where it has them.

    `format` is one of FORMATS, where neither content nor name tells it. `key` chooses one of
    several arrays of a .npz, .h5 or .safetensors file, or a column of a .parquet or .ndjson file;
    "path::key" is the same.
    """
    file = file_of(path, key)
    found = detect(file, format, tables.VECTORS)
    return checked(text.read_text(file, None) if found is None else _READERS[found](file, found))
