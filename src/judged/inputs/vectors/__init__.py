"""Read vectors from arrays and files."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike

from judged.inputs.vectors.vectors import Vectors, array_of, check_vectors, ids_of
from judged.options import Ids, Path, VectorFileFormat, VectorsLike

__all__ = ["Vectors", "as_vectors", "read_vectors"]


def read_vectors(
    path: Path, *, format: VectorFileFormat | None = None, key: str | None = None
) -> Vectors:
    """Read vectors from a file, with their ids if it has any; large files stay on disk.

    Parameters
    ----------
    path : Path
        A file of vectors ("-" is standard input); "path::key" chooses an array as `key` does.
    format : VectorFileFormat, optional
        The format; by default it is recognised by the content or the name.
    key : str, optional
        The array of a .npz, .h5 or .safetensors file, or the column of a .parquet or .ndjson file;
        by default the only one, or the one with a usual name ("embeddings", …).

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
    vectors: Vectors = resolve_name(FORMATS[file.format or "text"].reader)(file)
    return check_vectors(vectors)


def as_vectors(
    given: VectorsLike,
    *,
    ids: Ids | None = None,
    dims: int | None = None,
    source: str = "the vectors",
) -> Vectors:
    """Return vectors from a file, an array or lists, with ids that fit."""
    if isinstance(given, Vectors):
        vectors = given
    elif isinstance(given, (str, PathLike)):
        vectors = read_vectors(given)
    else:
        vectors = Vectors(array_of(given, source), source=source)
    if ids is not None:
        vectors = replace(vectors, ids=ids_of(ids, source))
    return check_vectors(vectors, dims)
