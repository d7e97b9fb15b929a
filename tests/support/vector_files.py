"""The bytes of files of vectors and labels, each written by hand or by the library whose format it
is."""

from __future__ import annotations

import io
import json
import struct
from typing import Any

import numpy as np
import polars as pl

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"


def npy(array: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def vecs(array: Any) -> bytes:
    return b"".join(struct.pack("<i", len(row)) + row.tobytes() for row in array)


def binary(array: Any) -> bytes:
    return struct.pack("<ii", *array.shape) + array.tobytes()


def safetensors(*, metadata: dict[str, str] | None = None, **tensors: tuple[str, Any]) -> bytes:
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    data = b""
    for name, (dtype, array) in tensors.items():
        header[name] = {
            "dtype": dtype,
            "shape": array.shape,
            "data_offsets": [len(data), len(data) + array.nbytes],
        }
        data += array.tobytes()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def parquet(**columns: Any) -> bytes:
    file = io.BytesIO()
    pl.DataFrame(columns).write_parquet(file)
    return file.getvalue()


ROWS = np.array([[1, -2.5, 3], [0, 0.15625, 7]], np.float32)
OBJECTS = npy(np.array([[1, "a"]], object), allow_pickle=True)
PICKLE = (
    "are Python objects, a pickle, which may run any program and is never loaded; "
    "save them again as an array of numbers or texts."
)
