"""Tensors of torch, and arrays that live on a device: read from there a few rows at a time."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError
from judged.inputs.vectors.lazy import Lazy, from_bfloat16

_HOST = (1, 3)
"""What DLPack calls main memory, and the part of it that a device can read."""


def from_torch(given: Any, source: str) -> NDArray[Any] | Lazy:
    """A tensor in main memory as it is; one on a device stays there."""
    torch = sys.modules["torch"]
    tensor = given.detach()
    if tensor.layout != torch.strided:
        raise InputError(f"{source}: a sparse tensor; give a dense one, as from its to_dense().")
    if tensor.ndim == 2 and not in_main_memory(tensor):
        return _on_device(tensor)
    tensor = tensor.cpu().resolve_neg().resolve_conj()
    if tensor.dtype == torch.bfloat16:
        return from_bfloat16(tensor.view(torch.int16).numpy().view(np.uint16))
    return _numbers(tensor)


def from_device(given: Any) -> Lazy | None:
    """A matrix of cupy, jax or another library that lives on a device and stays there, seen through
    torch by DLPack; None for others, and where torch is not installed or has not that device."""
    place = getattr(given, "__dlpack_device__", None)
    try:
        if place is None or int(place()[0]) in _HOST or getattr(given, "ndim", 0) != 2:
            return None
        torch: Any = importlib.import_module("torch")
        return _on_device(torch.from_dlpack(given))
    except Exception:  # whatever a library or a driver says, main memory is there
        return None


def in_main_memory(tensor: Any) -> bool:
    """Whether numpy can read a tensor where it is."""
    return bool(tensor.device.type == "cpu")


def _on_device(tensor: Any) -> Lazy:
    def rows(which: slice, columns: slice) -> NDArray[Any]:
        return _fetched(tensor[which, columns])

    def take(which: NDArray[np.int64], columns: slice) -> NDArray[Any]:
        import torch

        place = torch.from_numpy(np.ascontiguousarray(which)).to(tensor.device)
        return _fetched(tensor[:, columns].index_select(0, place))

    shape = int(tensor.shape[0]), int(tensor.shape[1])
    kind = _fetched(tensor[:0]).dtype
    return Lazy(shape, kind, rows, take, device=str(tensor.device))


def _fetched(tensor: Any) -> NDArray[Any]:
    """A part of a tensor in main memory, in a type that numpy knows."""
    return _numbers(tensor.cpu().resolve_neg().resolve_conj())


def _numbers(tensor: Any) -> NDArray[Any]:
    try:
        return np.asarray(tensor.numpy())
    except TypeError:  # bfloat16 and the 8-bit floats, which numpy does not know
        return np.asarray(tensor.float().numpy())
