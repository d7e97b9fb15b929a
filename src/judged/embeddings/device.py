"""Tiles that lie on a device of torch, as a GPU: multiplied and counted there.

What comes back are counts, and the places of scores that are too close to tell. These are settled
in main memory as those of any other tile, so that ranks are the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from judged.arrays import Ints
from judged.embeddings.pieces import cut
from judged.embeddings.settling import Windows
from judged.embeddings.similarity.rounding import Precision, sum_error
from judged.embeddings.similarity.similarity import Similarity
from judged.embeddings.tiles import Limits, Tile
from judged.errors import InputError, MissingExtraError, quoted
from judged.inputs.vectors.vectors import Matrix, Vectors
from judged.text import listed

_COMPARED = 64
"""With so many relevant items in a row or fewer, a tile is compared with each; with more its rows
are put in order."""
_AT_A_TIME = 1 << 22
"""Scores whose places are looked up, or that are put in order, at a time."""
_SETTLED = 1 << 17
"""Scores that are settled together, or a row's where it has more."""
_SIDE = 64
"""Of the matrices that a device is tried with."""


@dataclass(frozen=True)
class Device:
    """A device that torch can reach from here."""

    name: str

    @classmethod
    def of(cls, name: str) -> Device:
        """The device of that name; refuses one that is not there, or that multiplies with less than
        single precision."""
        torch = _torch(name)
        if isinstance(name, torch.device):
            name = str(name)
        if not isinstance(name, str):
            raise InputError(f'device must be a name, as "cuda"; got {quoted(name)}.')
        try:
            where = torch.device(name)
            torch.zeros(1, device=where).item()
        except (RuntimeError, AssertionError, NotImplementedError, TypeError):
            raise InputError(
                f"there is no device {quoted(name)} here; torch {torch.__version__} sees "
                f"{listed(_there(torch))}. Leave device out to count in main memory."
            ) from None
        found = cls(str(where))
        found._check_precision()
        return found

    @property
    def tile(self) -> type[Tile]:
        """The kind of tiles that lie here."""
        return DeviceTile

    def put(self, matrix: Matrix) -> Any:
        """A matrix on the device."""
        torch = _torch(self.name)
        writable = np.require(matrix, requirements=["C", "W"])
        return torch.from_numpy(writable).to(self.name)

    def empty(self, shape: int | tuple[int, ...], kind: Precision) -> Any:
        """Room on the device."""
        torch = _torch(self.name)
        try:
            return torch.empty(shape, dtype=getattr(torch, np.dtype(kind).name), device=self.name)
        except (RuntimeError, TypeError) as error:
            raise InputError(
                f"device {self.name} has no room for a tile, or no {np.dtype(kind).name} "
                f"({str(error).splitlines()[0]}); give a smaller memory, or leave device out."
            ) from None

    def product(self, queries: Matrix, items: Any, out: Any) -> Any:
        """The scores of queries with items that lie on the device."""
        torch = _torch(self.name)
        with _full_precision(torch, self.name):
            return torch.matmul(self.put(queries), items.T, out=out)

    def _check_precision(self) -> None:
        """Whatever a program has set, products must have the rounding of single precision."""
        numbers = np.full((_SIDE, _SIDE), 1 + 2.0**-12, np.float32)
        right = self.put(numbers)
        found = self.product(numbers, right, self.empty((_SIDE, _SIDE), np.float32)).cpu().numpy()
        exact = _SIDE * (1 + 2.0**-12) ** 2
        if np.abs(found.astype(np.float64) - exact).max() > sum_error(_SIDE, np.float32) * exact:
            raise InputError(
                f"device {self.name} multiplies with less than single precision (as TF32 does), "
                "which cannot be counted with; switch that off, or leave device out."
            )


def device_of(
    name: str | None,
    sides: Sequence[Vectors],
    similarity: Similarity,
    precision: str,
    changes: dict[str, Any],
) -> Device | None:
    """The device to count on: the one that was named; or else that of the items or queries, where
    all that is asked for can be done there."""
    unsupported = [option for option, given in changes.items() if given is not None]
    if precision != "double":
        unsupported.append(f"precision={precision}")
    if type(similarity).scores is not Similarity.scores:
        function = "a function as similarity"
        unsupported.append(f"similarity={similarity.name}" if similarity.certain else function)
    if name is None:
        where = sides[1].device or sides[0].device
        return None if where is None or unsupported else Device.of(where)
    if unsupported:
        raise InputError(
            f"{unsupported[0]} is not there on a device; leave it out, or leave device out."
        )
    return Device.of(name)


@dataclass(frozen=True)
class DeviceTile(Tile):
    """Scores on a device."""

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(str(self.scores.dtype).removeprefix("torch."))

    def at(self, row: Ints, column: Ints) -> Matrix:
        return _fetched(self.scores[self._put(row), self._put(column)])

    def exclude(self, row: Ints, column: Ints) -> None:
        self.scores[self._put(row), self._put(column)] = -np.inf

    def count(self, limits: Limits) -> tuple[Ints, Ints, dict[int, Ints]]:
        above, level = np.empty(len(limits.row), np.int64), np.empty(len(limits.row), np.int64)
        rows, width = self.scores.shape
        most = int(limits.lengths.max(initial=0))
        step = rows if most <= _COMPARED else max(1, _AT_A_TIME // width)
        starts = np.cumsum(limits.lengths) - limits.lengths
        for begin in range(0, rows, step):
            at = slice(*np.searchsorted(limits.row, [begin, begin + step]).tolist())
            if at.start == at.stop:
                continue
            row = limits.row[at] - begin
            place = np.arange(at.start, at.stop) - starts[limits.row[at]]
            some = self.scores[begin : begin + step]
            low, high = (
                self._put(_table(row, place, each[at], len(some)))
                for each in (limits.low, limits.high)
            )
            greater, as_great = (_ordered if most > _COMPARED else _compared)(some, low, high)
            above[at], level[at] = (_fetched(each)[row, place] for each in (greater, as_great))
        return above, level, {}

    def within(
        self, windows: Windows, known: dict[int, Ints]
    ) -> Iterator[tuple[slice, Ints, Ints]]:
        rows, begins, counts = np.unique(windows.row, return_index=True, return_counts=True)
        step = max(1, _AT_A_TIME // self.scores.shape[1])
        for begin in range(0, len(rows), step):
            row, first, count = (each[begin : begin + step] for each in (rows, begins, counts))
            at = slice(int(first[0]), int(first[-1] + count[-1]))
            of = np.repeat(np.arange(len(row)), count)
            place = np.arange(at.start, at.stop) - first[of]
            low, high = (
                self._put(_table(of, place, each[at], len(row)))
                for each in (windows.low, windows.high)
            )
            some = self.scores[self._put(row)]
            last = _found(low, some, right=True) - 1
            inside = (last >= 0) & (some <= high.gather(1, last.clamp(min=0)))
            near, column = (_fetched(each) for each in inside.nonzero().unbind(1))
            window = first[near] + _fetched(last[inside])
            ends = np.cumsum(np.bincount(near, minlength=len(row)))
            for start, stop in cut(0, len(row), np.diff(ends, prepend=0), _SETTLED):
                mine = slice(int(ends[start - 1]) if start else 0, int(ends[stop - 1]))
                looked = slice(int(first[start]), int(first[stop - 1] + count[stop - 1]))
                yield looked, window[mine], column[mine]

    def reaching(self, k: int) -> tuple[Ints, Ints]:
        best = self.scores.topk(min(k, self.scores.shape[1]), dim=1).values[:, -1:]
        limit = _fetched(best)
        if self.slack is not None:
            kind = limit.dtype.type
            less = (limit - self.slack[:, None]).astype(kind)
            limit = np.nextafter(less, kind(-np.inf))
        there = ((self.scores >= self._put(limit)) & (self.scores > -np.inf)).nonzero()
        return _fetched(there[:, 0]), _fetched(there[:, 1])

    def _put(self, numbers: Matrix) -> Any:
        torch = _torch(str(self.scores.device))
        return torch.from_numpy(np.require(numbers, requirements=["C", "W"])).to(self.scores.device)


def _compared(scores: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """How many scores of a row are above each of its high limits, and not below each low one."""
    torch = _torch("")
    columns = range(low.shape[1])
    above = [(scores > high[:, at : at + 1]).sum(1) for at in columns]
    level = [(scores >= low[:, at : at + 1]).sum(1) for at in columns]
    return torch.stack(above, 1), torch.stack(level, 1)


def _ordered(scores: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """The same, by putting rows in order."""
    ordered = scores.sort(dim=1).values
    width = scores.shape[1]
    return width - _found(ordered, high, right=True), width - _found(ordered, low, right=False)


def _found(ordered: Any, wanted: Any, *, right: bool) -> Any:
    return _torch("").searchsorted(ordered, wanted.contiguous(), right=right)


def _table(row: Ints, place: Ints, numbers: Matrix, rows: int) -> Matrix:
    """Numbers row after row as a matrix, with infinity where a row has none."""
    found = np.full((rows, int(place.max(initial=-1)) + 1), np.inf, numbers.dtype)
    found[row, place] = numbers
    return found


def _fetched(tensor: Any) -> Any:
    return tensor.cpu().numpy()


def _torch(name: object) -> Any:
    try:
        import torch
    except ImportError:
        raise MissingExtraError(
            f"device={quoted(name)} needs torch: pip install torch, or leave device out."
        ) from None
    return torch


def _there(torch: Any) -> list[str]:
    """The devices that can be used."""
    found = ["cpu", *(f"cuda:{at}" for at in range(torch.cuda.device_count()))]
    return [*found, "mps"] if torch.backends.mps.is_available() else found


@contextmanager
def _full_precision(torch: Any, name: str) -> Iterator[None]:
    """Multiply in the precision of the numbers: no TF32, no bfloat16, whatever a program has
    chosen for its own products."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        with torch.no_grad(), torch.autocast(torch.device(name).type, enabled=False):
            yield
    finally:
        torch.set_float32_matmul_precision(before)
