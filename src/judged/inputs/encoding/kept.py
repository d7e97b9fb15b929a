"""Vectors kept on disk, by what was encoded: whatever was done once is not done again.

An encoder has a folder, named by a hash, that only its owner can read. Each file in it is an array
of records, a hash of what was encoded and its vector, and is named by a hash of its bytes: one that
was damaged is left out. Nothing in them is ever unpickled.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError, OutputError
from judged.outputs import replacing
from judged.text import to_json

SIZE = 16
"""How many bytes a hash has."""
MANY = 16
"""With more files than this, small ones are made one."""
LARGE = 1 << 27
"""Files are not made larger than some 128 MB."""
ABOUT = "encoder.json"


def hashed(*parts: bytes) -> bytes:
    """A hash of parts, each of which counts for itself."""
    found = hashlib.blake2b(digest_size=SIZE)
    for part in parts:
        found.update(len(part).to_bytes(8, "little") + part)
    return found.digest()


def text_key(text: str) -> bytes:
    """What a text's vector is kept under."""
    return hashed(b"text", text.encode("utf-8", "surrogatepass"))


def file_key(path: str) -> bytes:
    """What the vector of a file is kept under: its bytes, whatever it is called."""
    try:
        with open(path, "rb") as handle:
            return hashed(b"file", hashlib.file_digest(handle, hashlib.sha256).digest())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from None


def usual_folder() -> Path:
    """Where vectors are kept unless another folder is named: with what else programs keep for this
    user."""
    if given := os.environ.get("XDG_CACHE_HOME"):
        base = Path(given)
    elif sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        base = Path(os.environ["LOCALAPPDATA"])
    elif sys.platform == "darwin":
        base = Path("~/Library/Caches").expanduser()
    else:
        base = Path("~/.cache").expanduser()
    return base / "judged" / "vectors"


@dataclass(frozen=True, eq=False)
class Kept:
    """The vectors of one encoder."""

    root: Path
    folder: Path

    @classmethod
    def under(cls, root: Path, key: str, about: dict[str, Any]) -> Kept:
        """The folder of an encoder, made where it is not there."""
        folder = root / hashed(key.encode("utf-8", "surrogatepass")).hex()
        try:
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise OutputError(f"{root}: vectors cannot be kept there ({reason}).") from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise OutputError(f"{root}: vectors cannot be kept there (it cannot be written to).")
        if not (folder / ABOUT).exists():
            with replacing(folder / ABOUT) as temporary:
                temporary.write_text(to_json(about) + "\n", encoding="utf-8")
        return cls(root, folder)

    def read(self, wanted: Collection[bytes]) -> dict[bytes, NDArray[Any]]:
        """The vectors of those that are there."""
        found: dict[bytes, NDArray[Any]] = {}
        for path in self._files():
            records = _records(path)
            if records is None:
                continue
            some = {key: row for row, key in enumerate(_keys(records)) if key in wanted}
            # A copy: files hold what nobody asks for now, and each that is mapped stays open.
            found |= zip(some, records["vector"][list(some.values())], strict=True)
        dims = {len(vector) for vector in found.values()}
        if len(dims) > 1:
            few, many = min(dims), max(dims)
            raise InputError(
                f"{self.folder}: holds vectors of {few} and of {many} dimensions, of different "
                "encoders under one name; delete this folder, or give each a name of its own."
            )
        return found

    def add(self, keys: Sequence[bytes], vectors: NDArray[Any]) -> None:
        """Keep some more, all or nothing."""
        plain = vectors.astype(vectors.dtype.newbyteorder("<"), copy=False)
        kind = [("key", "u1", (SIZE,)), ("vector", plain.dtype, (plain.shape[1],))]
        records = np.empty(len(keys), np.dtype(kind))
        records["key"] = np.frombuffer(b"".join(keys), np.uint8).reshape(-1, SIZE)
        records["vector"] = plain
        self._write(records)

    def tidy(self) -> None:
        """Make one of many small files."""
        small = [path for path in self._files() if _size(path) < LARGE // 2]
        if len(small) <= MANY:
            return
        parts: dict[Any, list[tuple[Path, NDArray[Any]]]] = {}
        for path in small:
            records = _records(path)
            if records is not None:
                own = parts.setdefault(records.dtype, [])
                own.append((path, records))
                if sum(each.nbytes for _, each in own) > LARGE:
                    self._join(parts.pop(records.dtype))
        for own in parts.values():
            self._join(own)

    def _join(self, parts: Sequence[tuple[Path, NDArray[Any]]]) -> None:
        """Make one file of several, which go once it is in place: whoever reads meanwhile finds
        either."""
        made = self._write(np.concatenate([records for _, records in parts]))
        for path, _ in parts:
            if path != made:
                with suppress(OSError):  # another program did the same
                    path.unlink()

    def _write(self, records: NDArray[Any]) -> Path:
        buffer = io.BytesIO()
        np.save(buffer, records, allow_pickle=False)
        data = buffer.getvalue()
        path = self.folder / f"{hashlib.blake2b(data, digest_size=SIZE).hexdigest()}.npy"
        with replacing(path) as temporary:
            temporary.write_bytes(data)
        return path

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("*.npy"))


def _records(path: Path) -> NDArray[Any] | None:
    """What is in a file; None where it is not what was written, or has gone meanwhile."""
    try:
        if _size(path) < LARGE // 2:
            data = path.read_bytes()
            digest = hashlib.blake2b(data, digest_size=SIZE).hexdigest()
            records: NDArray[Any] = np.load(io.BytesIO(data), allow_pickle=False)
        else:  # few, and perhaps larger than memory
            with path.open("rb") as handle:
                hasher = partial(hashlib.blake2b, digest_size=SIZE)
                digest = hashlib.file_digest(handle, hasher).hexdigest()
            records = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    ours = digest == path.stem and records.dtype.names == ("key", "vector")
    return records if ours else None


def _keys(records: NDArray[Any]) -> Iterable[bytes]:
    data = np.ascontiguousarray(records["key"]).tobytes()
    return (data[at : at + SIZE] for at in range(0, len(data), SIZE))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return LARGE
