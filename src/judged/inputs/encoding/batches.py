"""A batch given to an encoder, and what came back, which is looked at before it is used."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from inspect import isasyncgen, isawaitable, iscoroutine
from traceback import extract_tb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError
from judged.inputs.encoding.encoder import Encoder
from judged.inputs.encoding.identity import is_library_file
from judged.inputs.encoding.sources import Inputs
from judged.inputs.vectors.vectors import Vectors, array_of, checked
from judged.text import counted, quote


@dataclass(frozen=True)
class Batch:
    """Some rows of a side that are encoded in one call."""

    inputs: Inputs
    rows: Sequence[int]
    number: int
    """From 1."""
    batches: int

    def __str__(self) -> str:
        first, last = self.inputs.name(self.rows[0]), self.inputs.name(self.rows[-1])
        names = quote(first, 30) + (f" to {quote(last, 30)}" if len(self.rows) > 1 else "")
        return f"{self.inputs.source}, batch {self.number} of {self.batches} ({names})"

    @property
    def contents(self) -> list[str]:
        return [self.inputs.contents[row] for row in self.rows]


def batches_of(inputs: Inputs, rows: Sequence[int], size: int) -> Iterator[Batch]:
    """Rows of a side in batches, in the order in which they were given."""
    number = -(-len(rows) // size)
    for at in range(number):
        yield Batch(inputs, rows[at * size : (at + 1) * size], at + 1, number)


def encode(encoder: Encoder, batch: Batch, dims: int | None) -> NDArray[Any]:
    """The vectors of a batch: a matrix of finite numbers, a row for each, of so many dimensions."""
    found = _called(encoder, batch)
    if isawaitable(found) or isasyncgen(found):
        if iscoroutine(found):
            found.close()  # it has not begun
        raise InputError(
            f"{batch}: the encoder returned something to be awaited; give a function that returns "
            "the vectors themselves."
        )
    if found is None:
        raise InputError(f"{batch}: the encoder returned nothing (None); does it have a return?")
    array = np.asarray(array_of(found, str(batch)))
    if array.ndim == 2 and len(array) != len(batch.rows):
        given = counted(len(batch.rows), *batch.inputs.unit)
        raise InputError(
            f"{batch}: the encoder returned {counted(len(array), 'vector')} for {given}; one for "
            "each is needed."
        )
    vectors = checked(Vectors(array, source=str(batch)))
    if dims is not None and vectors.dims != dims:
        raise InputError(
            f"{batch}: the encoder returned vectors of {vectors.dims} dimensions, and of {dims} "
            "before; all must have as many."
        )
    array = _plain(array)
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(bad):
        name = batch.inputs.name(batch.rows[int(bad[0])])
        some = counted(len(bad), "vector", "vectors")
        raise InputError(
            f"{batch}: the encoder returned NaN or infinite numbers in {some}, first in that of "
            f"{quote(name, 30)}."
        )
    return array


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """A copy, for the encoder may use its array again for the next batch, of a type that every
    machine can read from a file."""
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        return array.astype(np.float64)
    return array.astype(array.dtype if array.dtype.kind in "biuf" else np.float32)


def _called(encoder: Encoder, batch: Batch) -> Any:
    try:
        found = encoder.call(batch.contents)
        return list(found) if isinstance(found, Iterator) else found
    except Exception as error:
        said = " ".join(str(error).split())
        why = f"{type(error).__name__}: {quote(said, 200)[1:-1]}" if said else type(error).__name__
        hint = " Give fewer at once by batch_size= (--batch-size)." if _is_full(said) else ""
        raise InputError(
            f"{batch}: the encoder {encoder.identity.name} failed ({why}){_place(error)}.{hint}"
        ) from error


def _is_full(said: str) -> bool:
    return "out of memory" in said.lower()


def _place(error: Exception) -> str:
    """Where it failed in code that is no library's."""
    frames = [frame for frame in extract_tb(error.__traceback__) if frame.filename]
    own = [frame for frame in frames if not is_library_file(frame.filename)]
    if not own:
        return ""
    return f" in {os.path.basename(own[-1].filename)}, line {own[-1].lineno}"
