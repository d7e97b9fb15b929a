"""Files of vectors: the formats by name, how one is recognised, and which array of a file is meant."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from judged.errors import InputError
from judged.inputs.columns import NAMES
from judged.inputs.formats import without_compression
from judged.inputs.source import open_source
from judged.inputs.tables import Kind

FORMATS: dict[str, tuple[str, ...]] = {
    "npy": (".npy",),
    "npz": (".npz",),
    "hdf5": (".h5", ".hdf5"),
    "parquet": (".parquet", ".pq"),
    "fvecs": (".fvecs",),
    "bvecs": (".bvecs",),
    "ivecs": (".ivecs",),
    "fbin": (".fbin",),
    "u8bin": (".u8bin",),
    "i8bin": (".i8bin",),
    "safetensors": (".safetensors",),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "text": (".txt", ".vec"),
    "ndjson": (".ndjson", ".jsonl"),
}
"""Each format a user may name, with its suffixes. Content decides where it has a signature, else
the suffix."""

TEXT = ("csv", "tsv", "text", "ndjson")
SIGNATURES = (
    (b"\x93NUMPY", "npy"),
    (b"PK\x03\x04", "npz"),
    (b"PK\x05\x06", "npz"),
    (b"\x89HDF\r\n\x1a\n", "hdf5"),
    (b"PAR1", "parquet"),
)
ONE_ARRAY = ("npy", "fvecs", "bvecs", "ivecs", "fbin", "u8bin", "i8bin")
"""Formats whose files hold one array without a name."""
_SIGNED = {name for _, name in SIGNATURES}
_FORMAT_OF_SUFFIX = {suffix: name for name, suffixes in FORMATS.items() for suffix in suffixes}

VECTOR_NAMES = (
    "vectors",
    "embeddings",
    "vector",
    "embedding",
    "embs",
    "emb",
    "features",
    "x",
    "arr_0",
)
ID_NAMES = ("ids", "id", "_id", "names", "name", "keys", *NAMES["item"], *NAMES["query"])
"""What people call the vectors and their ids; of several ids the first name here is taken."""
SEPARATOR = "::"


@dataclass(frozen=True)
class File:
    """A path as it was given, and which array or column of the file is meant, where that was said."""

    path: Path
    label: str
    key: str | None = None

    @property
    def source(self) -> str:
        """What messages call the vectors in it."""
        return self.label if self.key is None else f"{self.label}{SEPARATOR}{self.key}"

    def damaged(self, format: str, reason: object) -> InputError:
        words = str(reason).partition("\n")[0].rstrip(".")
        return InputError(f"{self.label}: not {a_file(format)} that can be read ({words}).")


def a_file(format: str) -> str:
    return f"a {FORMATS[format][0]} file"


def file_of(path: str | os.PathLike[str], key: str | None) -> File:
    """The file and the key of "vectors.npz::queries"; a file that has "::" in its name is that
    file."""
    text = os.fspath(path)
    if key is None and SEPARATOR in text and not os.path.exists(text):
        text, _, key = text.rpartition(SEPARATOR)
    return File(Path(text), "standard input" if text == "-" else text, key)


def detect(file: File, format: str | None, kind: Kind) -> str | None:
    """The format of a file, by its first bytes and its name; None is text of some kind, for its
    lines to tell."""
    if format is not None and format not in FORMATS:
        near = difflib.get_close_matches(format.lower(), FORMATS, n=1)
        hint = f'; did you mean "{near[0]}"?' if near else "."
        raise InputError(
            f'There is no format "{format}" of vectors{hint} Formats: {", ".join(FORMATS)}.'
        )
    bare = without_compression(file.path)
    promised = _FORMAT_OF_SUFFIX.get(bare.suffix.lower())
    if bare != file.path and (format or promised) not in (None, *TEXT):
        what = a_file(format or str(promised))
        raise InputError(
            f"{file.label}: is compressed; decompress it first, {what} is read in place."
        )
    start = _start(file, kind)
    signed = next((name for signature, name in SIGNATURES if start.startswith(signature)), None)
    wanted = format or signed or promised
    if wanted is None and start[8:9] == b"{" and b"\x00" in start[:8]:
        return "safetensors"
    if wanted is not None and wanted not in TEXT:
        # A dimension or a length that fills all of its bytes would be of millions: those bytes are
        # something else.
        plausible = signed == wanted if wanted in _SIGNED or signed else b"\x00" in start[:8]
        if not plausible:
            _refuse(file, wanted, kind)
    if file.key is not None and wanted in ONE_ARRAY:
        raise InputError(
            f"{file.label}: {a_file(wanted)} holds one array; there is no {file.key!r} to choose."
        )
    return None if wanted == "text" and format is None else wanted


def _start(file: File, kind: Kind) -> bytes:
    """The first bytes; nothing of what can be read only once. What cannot be read is refused in the
    words of all readers."""
    try:
        if str(file.path) == "-" or stat.S_ISFIFO(file.path.stat().st_mode):
            return b""
        with file.path.open("rb") as handle:
            start = handle.read(16)
    except (OSError, ValueError):
        open_source(file.path, kind)
        raise
    if not start:
        open_source(file.path, kind)
    return start


def _refuse(file: File, format: str, kind: Kind) -> NoReturn:
    source = open_source(
        file.path, Kind(a_file(format), kind.value, kind.columns)
    )  # this names what it is, if it is not text
    what = "a Parquet file" if source.head().startswith(b"PAR1") else "text"
    raise InputError(f"{file.label}: this is {what}, not {a_file(format)}.")


def shaped(shape: Sequence[int]) -> str:
    return (
        " × ".join(map(str, shape))
        if len(shape) > 1
        else f"{shape[0]} numbers"
        if shape
        else "one number"
    )


def choose(
    file: File, shapes: Mapping[str, Sequence[int] | None], names: Sequence[str] = VECTOR_NAMES
) -> str:
    """Which array of several holds the vectors: the one asked for, the only matrix, or the one with
    the right name.

    `shapes` is None for an array that is not of numbers.
    """
    if file.key is not None:
        if file.key in shapes:
            return file.key
        near = difflib.get_close_matches(file.key, shapes, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise InputError(
            f"{file.label}: has no array {file.key!r}{hint} It has {', '.join(shapes) or 'none'}."
        )
    matrices = [name for name, shape in shapes.items() if shape is not None and len(shape) == 2]
    named = [name for name in matrices if name.rpartition("/")[2].lower() in names]
    if len(matrices) == 1 or len(named) == 1:
        return (matrices if len(matrices) == 1 else named)[0]
    if not matrices:
        found = ", ".join(
            f"{name} ({'no numbers' if shape is None else shaped(shape)})"
            for name, shape in shapes.items()
        )
        raise InputError(
            f"{file.label}: has no matrix of numbers, one row a vector; it has "
            f"{found or 'no arrays'}."
        )
    found = ", ".join(f"{name} ({shaped(shapes[name] or ())})" for name in matrices)
    raise InputError(
        f"{file.label}: has {len(matrices)} matrices, {found}; choose one with "
        f"key={matrices[0]!r}, "
        f'or as "{file.label}{SEPARATOR}{matrices[0]}".'
    )


def choose_ids(candidates: Sequence[str], names: Sequence[str] = ID_NAMES) -> str | None:
    """The surest name for ids among arrays or columns that may be ids; None where no name fits."""
    plain = {
        name.rpartition("/")[2].replace("-", "_").replace(" ", "_").lower(): name
        for name in reversed(candidates)
    }
    return next((plain[name] for name in names if name in plain), None)
