"""Encoded vectors kept on disk, so that nothing is encoded twice.

Each encoder has a folder, named by a hash, that only its owner can read. A file in it is an array
of records: the hash of a text or file, and its vector. The file is named by the hash of its own
bytes, so that damaged files are ignored. Nothing is ever unpickled.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError, OutputError
from judged.outputs import replacing
from judged.text import to_json

HASH_BYTES = 16
MAX_SMALL_FILES = 16
"""With more small files than this, they are joined."""
MAX_FILE_BYTES = 1 << 27
ENCODER_FILE = "encoder.json"


def _hash(*parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=HASH_BYTES)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()


def text_key(text: str) -> bytes:
    return _hash(b"text", text.encode("utf-8", "surrogatepass"))


def file_key(path: str) -> bytes:
    """Return the key of a file's vector, which depends on its bytes and not on its name."""
    try:
        with open(path, "rb") as handle:
            return _hash(b"file", hashlib.file_digest(handle, hashlib.sha256).digest())
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from None


@dataclass(frozen=True, eq=False)
class VectorCache:
    root: Path
    folder: Path

    @classmethod
    def open(cls, root: Path, key: str, description: dict[str, Any]) -> VectorCache:
        folder = root / _hash(key.encode("utf-8", "surrogatepass")).hex()
        try:
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise OutputError(f"{root}: cannot be used as a cache ({reason}).") from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise OutputError(f"{root}: cannot be used as a cache (it cannot be written to).")
        if not (folder / ENCODER_FILE).exists():
            with replacing(folder / ENCODER_FILE) as temporary:
                temporary.write_text(to_json(description) + "\n", encoding="utf-8")
        return cls(root, folder)

    def read(self, keys: Collection[bytes]) -> dict[bytes, NDArray[Any]]:
        vectors: dict[bytes, NDArray[Any]] = {}
        for path in self._files():
            records = _read_records(path)
            if records is not None:
                rows = {key: row for row, key in enumerate(_keys(records)) if key in keys}
                vectors |= zip(rows, records["vector"][list(rows.values())], strict=True)
        dims = {len(vector) for vector in vectors.values()}
        if len(dims) > 1:
            raise InputError(
                f"{self.folder}: holds vectors of {min(dims)} and of {max(dims)} dimensions, from "
                "different encoders with the same name. Delete this folder, or give each encoder "
                "its own encoder_name (--encoder-name)."
            )
        return vectors

    def add(self, keys: Sequence[bytes], vectors: NDArray[Any]) -> None:
        plain = vectors.astype(vectors.dtype.newbyteorder("<"), copy=False)
        fields = [("key", "u1", (HASH_BYTES,)), ("vector", plain.dtype, (plain.shape[1],))]
        records = np.empty(len(keys), np.dtype(fields))
        records["key"] = np.frombuffer(b"".join(keys), np.uint8).reshape(-1, HASH_BYTES)
        records["vector"] = plain
        self._write(records)

    def join_small_files(self) -> None:
        """Join small files if there are many, which one batch each has left."""
        small = [path for path in self._files() if _size(path) < MAX_FILE_BYTES // 2]
        if len(small) <= MAX_SMALL_FILES:
            return
        by_type: dict[Any, list[tuple[Path, NDArray[Any]]]] = {}
        for path in small:
            records = _read_records(path)
            if records is not None:
                group = by_type.setdefault(records.dtype, [])
                group.append((path, records))
                if sum(array.nbytes for _, array in group) > MAX_FILE_BYTES:
                    self._join(by_type.pop(records.dtype))
        for group in by_type.values():
            self._join(group)

    def _join(self, files: Sequence[tuple[Path, NDArray[Any]]]) -> None:
        # The old files go once the new one is in place, for other programs that read meanwhile.
        joined = self._write(np.concatenate([records for _, records in files]))
        for path, _ in files:
            if path != joined:
                with suppress(OSError):  # another program has joined them
                    path.unlink()

    def _write(self, records: NDArray[Any]) -> Path:
        buffer = io.BytesIO()
        np.save(buffer, records, allow_pickle=False)
        data = buffer.getvalue()
        path = self.folder / f"{_hash_file(data)}.npy"
        with replacing(path) as temporary:
            temporary.write_bytes(data)
        return path

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("*.npy"))


def _hash_file(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=HASH_BYTES).hexdigest()


def _read_records(path: Path) -> NDArray[Any] | None:
    """Return the records of a file; None if it is damaged or was joined with others meanwhile."""
    try:
        data = path.read_bytes()
        if _hash_file(data) != path.stem:
            return None
        records: NDArray[Any] = np.load(io.BytesIO(data), allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return records if records.dtype.names == ("key", "vector") else None


def _keys(records: NDArray[Any]) -> Iterable[bytes]:
    data = np.ascontiguousarray(records["key"]).tobytes()
    return (data[at : at + HASH_BYTES] for at in range(0, len(data), HASH_BYTES))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return MAX_FILE_BYTES
