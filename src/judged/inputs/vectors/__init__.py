"""Vectors from arrays and files."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING

from judged.inputs.vectors.vectors import Vectors, array_of, checked, ids_of

if TYPE_CHECKING:
    from judged.options import Ids, Path, VectorFileFormat, VectorsLike

__all__ = ["Vectors", "as_vectors", "read_vectors"]


def read_vectors(
    path: Path, *, format: VectorFileFormat | None = None, key: str | None = None
) -> Vectors:
    """Vectors from a file, with their ids where it has them; large files stay on disk.

    Parameters
    ----------
    path : Path
        A file of vectors ("-" is standard input); "path::key" chooses an array as `key` does.
    format : VectorFileFormat, optional
        The format; by default the content tells, or else the name.
    key : str, optional
        Which of several arrays of a .npz, .h5 or .safetensors file, or which column of a .parquet
        or .ndjson file; by default the only one, or the one with a usual name ("embeddings", …).

    Returns
    -------
    Vectors
        The vectors and their ids.

    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/items.npz", vectors=np.eye(2), ids=["a", "b"])
    ...     read_vectors(f"{folder}/items.npz").ids
    ('a', 'b')
    """
    from pkgutil import resolve_name

    from judged.inputs.vectors.formats import FORMATS, VECTORS, detected

    file = detected(path, VECTORS, key=key, format=format)
    found: Vectors = resolve_name(FORMATS[file.format or "text"].reader)(file)
    return checked(found)


def as_vectors(
    given: VectorsLike,
    *,
    ids: Ids | None = None,
    dims: int | None = None,
    source: str = "the vectors",
) -> Vectors:
    """Vectors from whatever holds them, checked to be a matrix of numbers with ids that fit.

    Parameters
    ----------
    given : VectorsLike
        A file, a numpy, torch, jax or cupy array, lists of numbers, or `Vectors`.
    ids : Ids, optional
        One id per vector; by default those of the file, or else the row numbers are the ids.
    dims : int, optional
        Use only so many dimensions, the first; by default all.
    source : str, optional
        What messages call the vectors, where they come from no file.

    Returns
    -------
    Vectors
        The vectors and their ids.

    >>> as_vectors([[1.0, 0.0], [0.0, 1.0]], ids=["a", "b"]).dims
    2
    """
    if isinstance(given, Vectors):
        found = given
    elif isinstance(given, (str, PathLike)):
        found = read_vectors(given)
    else:
        found = Vectors(array_of(given, source), source=source)
    if ids is not None:
        found = replace(found, ids=ids_of(ids, source))
    return checked(found, dims)
