"""Formats of vector files, how they are recognised, and which array of a file is read."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from judged.errors import InputError, did_you_mean, quoted
from judged.inputs.columns import CONTENT, NAMES
from judged.inputs.formats import Format, check_format, promised, signed, without_compression
from judged.inputs.source import open_source
from judged.inputs.tables import Kind

VECTORS = Kind("vectors", "number", "one row per vector")


@dataclass(frozen=True)
class VectorFormat(Format):
    text: bool = False  # whether it is text, which may be compressed; other files are read in place
    one_array: bool = False


_ROOM = "judged.inputs.vectors"
FORMATS = {
    row.name: row
    for row in (
        VectorFormat("npy", (".npy",), f"{_ROOM}.arrays:read_npy", (b"\x93NUMPY",), one_array=True),
        VectorFormat("npz", (".npz",), f"{_ROOM}.arrays:read_npz", (b"PK\x03\x04", b"PK\x05\x06")),
        VectorFormat(
            "hdf5", (".h5", ".hdf5"), f"{_ROOM}.arrays:read_hdf5", (b"\x89HDF\r\n\x1a\n",)
        ),
        VectorFormat("parquet", (".parquet", ".pq"), f"{_ROOM}.tables:read_parquet", (b"PAR1",)),
        *(
            VectorFormat(name, (f".{name}",), f"{_ROOM}.arrays:{reader}", one_array=True)
            for name, reader in (
                *((name, "read_vecs") for name in ("fvecs", "bvecs", "ivecs")),
                *((name, "read_bin") for name in ("fbin", "u8bin", "i8bin")),
            )
        ),
        VectorFormat("safetensors", (".safetensors",), f"{_ROOM}.arrays:read_safetensors"),
        VectorFormat("csv", (".csv",), f"{_ROOM}.tables:read_text", text=True),
        VectorFormat("tsv", (".tsv",), f"{_ROOM}.tables:read_text", text=True),
        VectorFormat("text", (".txt", ".vec"), f"{_ROOM}.tables:read_text", text=True),
        VectorFormat("ndjson", (".ndjson", ".jsonl"), f"{_ROOM}.tables:read_ndjson", text=True),
    )
}
"""Content decides where it has a signature, else the suffix. A reader takes a `File` and returns
`Vectors`."""

VECTOR_NAMES = (
    *("vectors", "embeddings", "vector", "embedding", "embs", "emb", "features", "x", "arr_0"),
)
ID_NAMES = (
    *("ids", "id", "_id", "names", "name", "keys"),
    *(name for name in (*NAMES["item"], *NAMES["query"]) if name not in CONTENT),
)
"""Usual names of the vectors and their ids; of several ids the first name here is taken."""
SEPARATOR = "::"


@dataclass(frozen=True)
class File:
    """A path as it was given, and what is known of the file."""

    path: Path
    label: str
    key: str | None = None  # which array or column of the file is meant, where that was said
    format: str | None = None  # None for text of some kind, which its lines tell

    @property
    def source(self) -> str:
        return self.label if self.key is None else f"{self.label}{SEPARATOR}{self.key}"

    def damaged(self, format: str, reason: object) -> InputError:
        words = str(reason).partition("\n")[0].rstrip(".")
        return InputError(f"{self.label}: not {a_file(format)} that can be read ({words}).")


def a_file(format: str) -> str:
    return f"a {FORMATS[format].suffixes[0]} file"


def file_of(path: str | os.PathLike[str], key: str | None) -> File:
    """Split "vectors.npz::queries" into file and key, unless a file has that name."""
    if not isinstance(path, (str, os.PathLike)) or not isinstance(text := os.fspath(path), str):
        raise InputError(f"a path to a file must be a text or a path; got {quoted(path)}.")
    if key is None and SEPARATOR in text and not os.path.exists(text):
        text, _, key = text.rpartition(SEPARATOR)
    return File(Path(text), "standard input" if text == "-" else text, key)


def detected(
    path: str | os.PathLike[str], kind: Kind, *, key: str | None = None, format: str | None = None
) -> File:
    """Recognise the format of a file by its first bytes and its name, unless it is given."""
    check_format(format, FORMATS, " of vectors")
    file = file_of(path, key)
    by_name = promised(file.path, FORMATS)
    wanted = format or by_name
    if without_compression(file.path) != file.path and wanted and not FORMATS[wanted].text:
        raise InputError(
            f"{file.label}: is compressed; decompress it first, {a_file(wanted)} is read in place."
        )
    start = _start(file, kind)
    by_start = signed(start, FORMATS)
    wanted = format or by_start or by_name
    if wanted is None and is_safetensors(start):
        wanted = "safetensors"
    elif wanted is not None and not FORMATS[wanted].text:
        # a dimension or a length that fills all of its bytes would be of millions: those bytes are
        # something else.
        plausible = (
            by_start == wanted if FORMATS[wanted].magic or by_start else b"\x00" in start[:8]
        )
        if not plausible:
            _refuse(file, wanted, kind)
        if file.key is not None and FORMATS[wanted].one_array:
            raise InputError(
                f"{file.label}: {a_file(wanted)} holds one array; there is no {file.key!r} to "
                "choose."
            )
    return replace(file, format=None if wanted == "text" and format is None else wanted)


def is_safetensors(start: bytes) -> bool:
    return start[8:9] == b"{" and b"\x00" in start[:8]


def _start(file: File, kind: Kind) -> bytes:
    """Return the first bytes; none of a pipe, which can be read only once."""
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
    # This names what it is, if it is neither text nor a format of runs.
    head = open_source(file.path, replace(kind, phrase=a_file(format))).head()
    what = "a Parquet file" if head.startswith(FORMATS["parquet"].magic) else "text"
    raise InputError(f"{file.label}: this is {what}, not {a_file(format)}.")


def choose(file: File, shapes: Mapping[str, Sequence[int] | None]) -> str:
    """Return the array with the vectors: the chosen one, the only matrix, or by its name."""
    if file.key is not None:
        if file.key in shapes:
            return file.key
        raise InputError(
            f"{file.label}: has no array {file.key!r}{did_you_mean(file.key, shapes)} It has "
            f"{', '.join(shapes) or 'none'}."
        )
    matrices = [name for name, shape in shapes.items() if shape is not None and len(shape) == 2]
    named = [name for name in matrices if name.rpartition("/")[2].lower() in VECTOR_NAMES]
    if len(matrices) == 1 or len(named) == 1:
        return (matrices if len(matrices) == 1 else named)[0]
    if not matrices:
        raise InputError(
            f"{file.label}: has no matrix of numbers, one row per vector; it has "
            f"{', '.join(shapes) or 'no arrays'}."
        )
    raise InputError(
        f"{file.label}: has {len(matrices)} matrices, {', '.join(matrices)}; choose one with "
        f'key={matrices[0]!r}, or as "{file.label}{SEPARATOR}{matrices[0]}".'
    )


def is_index(name: str) -> bool:
    """Return True for the names that pandas gives an unnamed index."""
    return re.fullmatch(r"(Unnamed: \d+|__index_level_\d+__|index)?", name.strip()) is not None


def choose_ids(candidates: Sequence[str], names: Sequence[str] = ID_NAMES) -> str | None:
    plain = {
        name.rpartition("/")[2].replace("-", "_").replace(" ", "_").lower(): name
        for name in reversed(candidates)
    }
    return next((plain[name] for name in names if name in plain), None)
