"""Learned similarities: what they compute, which queries they saw, and their files.

A kind is declared by the maps of its two sides. A map works on vectors of length 1 and knows the
gradient of its weights. Training and scoring use the same map.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, positions
from judged.embeddings import exact
from judged.embeddings.kernel import keys_of
from judged.embeddings.similarity import SIMILARITIES, Bilinear, Cosine, Custom, Similarity
from judged.embeddings.training import Training
from judged.errors import InputError, OutputError, did_you_mean, quoted
from judged.inputs.vectors import as_vectors
from judged.inputs.vectors.arrays import arrays_of_npz, tensors_of_safetensors
from judged.inputs.vectors.formats import FORMATS, File, file_of
from judged.inputs.vectors.vectors import Matrix, Vectors
from judged.options import temperature as checked_temperature
from judged.options import whole
from judged.outputs import check_target, replacing
from judged.text import listed

if TYPE_CHECKING:
    from judged.options import SimilarityLike, VectorsLike


# -- kinds


Array = NDArray[Any]
Weights = dict[str, Array]
Basis = Callable[[int], Array]
"""So many directions, as the columns of a matrix, that keep as much as can be of vectors; all of
them: the identity."""


class Arithmetic(Protocol):
    """Matrix products and lengths whose every bit is the same on all machines."""

    def times(self, left: Array, right: Array) -> Array: ...

    def lengths(self, block: Array) -> Array: ...


RANK = "rank"
"""Stands for the chosen rank where a shape is declared."""


@dataclass(frozen=True)
class Map:
    """Vectors as they are, and what other maps make of them."""

    weights: str = ""
    """What its weights are called; nothing where it has none."""

    def forward(self, unit: Array, weights: Weights, how: Arithmetic | None = None) -> Array:
        """What becomes of vectors of length 1; in which arithmetic, where numpy's own is not
        meant."""
        return unit

    def backward(self, unit: Array, weights: Weights, gradient: Array) -> Weights:
        """The gradient of the weights, from that of the mapped vectors."""
        return {}

    def shape(self, own: int, other: int, rank: int | None) -> tuple[int, ...]:
        """Of the weights, for vectors of `own` dimensions that are compared with others."""
        return ()

    def start(
        self, shape: tuple[int, ...], basis: Basis | None, random: np.random.Generator
    ) -> Array:
        """Weights to begin with: those of a plain cosine, or of the nearest to it, where both sides
        have one `basis`."""
        return np.zeros(shape)


@dataclass(frozen=True)
class Scaled(Map):
    """Each dimension times a number of its own."""

    def forward(self, unit: Array, weights: Weights, how: Arithmetic | None = None) -> Array:
        return unit * weights[self.weights]

    def backward(self, unit: Array, weights: Weights, gradient: Array) -> Weights:
        return {self.weights: np.einsum("ij,ij->j", unit, gradient)}

    def shape(self, own: int, other: int, rank: int | None) -> tuple[int, ...]:
        return (own,)

    def start(
        self, shape: tuple[int, ...], basis: Basis | None, random: np.random.Generator
    ) -> Array:
        return np.ones(shape)


@dataclass(frozen=True)
class Linear(Map):
    """Times a matrix."""

    into: str | None = None
    """RANK, or None for as many dimensions as the other side has."""

    def forward(self, unit: Array, weights: Weights, how: Arithmetic | None = None) -> Array:
        matrix = weights[self.weights]
        return unit @ matrix if how is None else how.times(unit, matrix.astype(np.float64))

    def backward(self, unit: Array, weights: Weights, gradient: Array) -> Weights:
        return {self.weights: unit.T @ gradient}

    def shape(self, own: int, other: int, rank: int | None) -> tuple[int, ...]:
        return (own, other if self.into is None else int(rank or 0))

    def start(
        self, shape: tuple[int, ...], basis: Basis | None, random: np.random.Generator
    ) -> Array:
        return random.normal(0, shape[1] ** -0.5, shape) if basis is None else basis(shape[1])


@dataclass(frozen=True)
class Directed(Linear):
    """Times a matrix, and of that only the direction. What the matrix maps to nothing stays zeros,
    and scores 0."""

    def forward(self, unit: Array, weights: Weights, how: Arithmetic | None = None) -> Array:
        mapped = super().forward(unit, weights, how)
        if how is None:
            return mapped / _lengths(mapped)
        length = how.lengths(mapped)[:, None]
        return mapped / np.where(length > 0, length, 1.0)

    def backward(self, unit: Array, weights: Weights, gradient: Array) -> Weights:
        mapped = super().forward(unit, weights)
        length = _lengths(mapped)
        direction = mapped / length
        along = np.einsum("ij,ij->i", direction, gradient)[:, None]
        turning = (gradient - direction * along) / length
        return super().backward(
            unit, weights, np.where((mapped != 0).any(axis=1, keepdims=True), turning, 0.0)
        )


def _lengths(mapped: Array) -> Array:
    """A column of lengths, 1 for zeros; squares in double precision, where they neither overflow
    nor vanish."""
    length = np.sqrt(np.einsum("ij,ij->i", mapped, mapped, dtype=np.float64))[:, None]
    return np.where(length > 0, length, 1.0).astype(mapped.dtype)


@dataclass(frozen=True)
class Kind:
    """A learned similarity: the score is the product of what the two maps make of a query and an
    item of length 1."""

    name: str
    says: str
    left: Map
    right: Map
    rank_share: int | None = None
    """The rank, where none is given, is the smaller number of dimensions divided by this; None for
    kinds without a rank."""
    equal_dims: bool = False
    """Whether queries and items must have as many dimensions."""

    @property
    def names(self) -> tuple[str, ...]:
        """Its weights."""
        return tuple(side.weights for side in (self.left, self.right) if side.weights)

    def rank(self, given: Any, query_dims: int, item_dims: int) -> int | None:
        """The rank, once it is sure that it is one."""
        most = min(query_dims, item_dims)
        if self.rank_share is None:
            if given is not None:
                ranked = [each.name for each in KINDS.values() if each.rank_share is not None]
                raise InputError(
                    f"{self.name} takes no rank; leave it out, or choose a kind that does "
                    f"({listed(ranked)})."
                )
            return None
        if given is None:
            return max(1, most // self.rank_share)
        return whole("rank", given, at_most=most, otherwise=", the dimensions of the vectors")

    def shapes(
        self, query_dims: int, item_dims: int, rank: int | None
    ) -> dict[str, tuple[int, ...]]:
        """What shape its weights have for vectors of these dimensions."""
        if self.equal_dims and query_dims != item_dims:
            raise InputError(
                f"{self.name} compares dimension with dimension, but queries have {query_dims} "
                f"dimensions and items {item_dims}; choose another kind, such as bilinear."
            )
        sides = ((self.left, query_dims, item_dims), (self.right, item_dims, query_dims))
        return {
            side.weights: side.shape(own, other, rank) for side, own, other in sides if side.weights
        }

    def start(
        self, shapes: dict[str, tuple[int, ...]], basis: Basis | None, random: np.random.Generator
    ) -> Weights:
        """Weights to begin with."""
        sides = (side for side in (self.left, self.right) if side.weights)
        return {side.weights: side.start(shapes[side.weights], basis, random) for side in sides}

    def dims(self, weights: Weights) -> tuple[int, int]:
        """The dimensions of queries and items that such weights are for."""
        left = weights[self.names[0]]
        right = weights[self.right.weights] if self.right.weights else None
        return int(left.shape[0]), int(left.shape[-1] if right is None else right.shape[0])


KINDS: dict[str, Kind] = {
    each.name: each
    for each in (
        Kind("bilinear", "q W x, with a matrix W", Linear("W"), Map()),
        Kind(
            "low-rank",
            "(q U)·(x V), with two matrices",
            Linear("U", RANK),
            Linear("V", RANK),
            rank_share=4,
        ),
        Kind(
            "diagonal",
            "the sum of w q x over dimensions, with a weight w for each",
            Scaled("w"),
            Map(),
            equal_dims=True,
        ),
        Kind(
            "two-tower-linear",
            "the cosine of q A and x B, with two matrices",
            Directed("A", RANK),
            Directed("B", RANK),
            rank_share=1,
        ),
    )
}
"""In each, q and x are brought to length 1 first."""


def as_kind(given: Any) -> Kind:
    """A kind by its name.

    >>> as_kind("low-rank").shapes(8, 6, 2)
    {'U': (8, 2), 'V': (6, 2)}
    """
    if isinstance(given, str) and given in KINDS:
        return KINDS[given]
    raise InputError(
        f"There is no kind {quoted(given)} of learned similarity{did_you_mean(given, KINDS)} "
        f"There is {', '.join(KINDS)}."
    )


# -- queries that training saw


MARKS = 4
"""So many numbers stand for a vector: by one alone, two in a million would be taken for each other.
"""
NEAR = 1e-6
"""Marks move by about 1e-7 where vectors are scaled in single precision, and by 1e-3 where they are
rounded to half."""


def marks_of(vectors: Vectors) -> Floats:
    """Where vectors of length 1 lie along some directions drawn once and for all; NaN where there
    is no length."""
    along = np.random.default_rng(1).normal(size=(vectors.dims, MARKS))
    marks = np.empty((len(vectors), MARKS))
    for begin, block in vectors.blocks():
        with np.errstate(invalid="ignore", divide="ignore"):
            length = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
            marks[begin : begin + len(block)] = (block / length[:, None]) @ along
    return marks


def known(marks: Floats, among: Floats) -> NDArray[np.bool_]:
    """Which of some marks are those of others."""
    found = np.zeros(len(marks), bool)
    found[_near(marks, among)[0]] = True
    return found


def groups_of(block: Matrix) -> Ints:
    """A number for each vector, the same for those that point the same way."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # Equal ones first, so that many of them make no more pairs than one.
    _, first, which = np.unique(keys_of(block), return_index=True, return_inverse=True)
    marks = marks_of(Vectors(block[first]))
    pairs = _near(marks, marks)
    together = coo_array((np.ones(len(pairs[0]), bool), pairs), shape=(len(first), len(first)))
    return np.asarray(connected_components(together, directed=False)[1][which], np.int64)


def _near(marks: Floats, among: Floats) -> tuple[Ints, Ints]:
    """The pairs of marks that are the same: rows of the first, rows of the second."""
    order = np.argsort(among[:, 0])
    ordered = among[order]
    begin = np.searchsorted(ordered[:, 0], marks[:, 0] - NEAR, side="left")
    end = np.searchsorted(ordered[:, 0], marks[:, 0] + NEAR, side="right")
    end = np.where(np.isfinite(marks[:, 0]), end, begin)
    row, place = np.repeat(np.arange(len(marks)), end - begin), positions(begin, end - begin)
    same = (np.abs(marks[row] - ordered[place]) <= NEAR).all(axis=1)
    return row[same], order[place[same]]


_NAMED = 3


@dataclass(frozen=True, eq=False)
class Seen:
    """The queries that training looked at, as marks of where their vectors point."""

    training: Floats
    validation: Floats

    def of(self, vectors: Vectors) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which of some vectors were trained on, and which chose when to stop."""
        marks = marks_of(vectors)
        return known(marks, self.training), known(marks, self.validation)


@dataclass(frozen=True, eq=False)
class Learned(Similarity):
    """A learned similarity, from `judged.learn.fit` or `judged.learn.load`; usable wherever one is.

    Parameters
    ----------
    kind : Kind
        What each side's vectors go through, one of `judged.learn.KINDS`.
    weights : dict of arrays
        The weights of the kind, by their names.
    training : Training
        How it came about.
    seen : Seen
        The queries that training saw, which it refuses to be evaluated on.
    allowed : bool, optional
        Whether it may be evaluated on them all the same; no by default.
    reverse : bool, optional
        Whether items search queries; no by default.

    >>> import numpy as np, judged
    >>> label = np.arange(60) % 3
    >>> vectors = np.eye(3)[label] + 0.5 * np.random.default_rng(0).normal(size=(60, 3))
    >>> same = judged.relevance.same_label(label, label)
    >>> learned = judged.learn.fit(judged.Embeddings(vectors, vectors), same, kind="diagonal")
    >>> learned
    <Learned: diagonal for queries and items of 3 and 3 dimensions, temperature 0.05>
    >>> rows = learned.unseen(vectors)
    >>> len(rows) == learned.training.held_out_queries
    True
    >>> fresh = judged.Embeddings(vectors[rows], vectors, similarity=learned)
    >>> fresh.evaluate(judged.relevance.same_label(label[rows], label), "P@1").value()
    1.0
    """

    name: str = field(init=False, default="learned")
    says: str = field(init=False, default="")
    kind: Kind = field(kw_only=True)
    """What each side's vectors go through."""
    weights: Weights = field(kw_only=True)
    """By their names in the kind, in single precision, not to be written to."""
    training: Training = field(kw_only=True)
    """How it came about."""
    seen: Seen = field(kw_only=True, repr=False)
    """The queries that training looked at."""
    allowed: bool = field(kw_only=True, default=False)
    """Whether it may be evaluated on queries that training saw."""
    reverse: bool = field(kw_only=True, default=False)
    """Whether items search queries."""
    needs_direction: ClassVar[bool] = True
    maps: ClassVar[bool] = True
    keeps_whole: ClassVar[bool] = False

    def __post_init__(self) -> None:
        frozen = {name: np.array(self.weights[name], np.float32) for name in self.kind.names}
        for array in frozen.values():
            array.flags.writeable = False
        allowed = "; queries that training saw are not refused" if self.allowed else ""
        said = (
            f"the score is {self.kind.says}, q and x brought to length 1 (learned from "
            f"{self.training.training:,} queries at temperature {self.temperature:g}{allowed})"
        )
        object.__setattr__(self, "weights", frozen)
        object.__setattr__(self, "name", f"learned {self.kind.name}")
        object.__setattr__(self, "says", said)

    @property
    def temperature(self) -> float:
        """That of the loss it was learned with."""
        return self.training.temperature

    def __repr__(self) -> str:
        dims = " and ".join(map(str, self.kind.dims(self.weights)))
        return (
            f"<Learned: {self.kind.name} for queries and items of {dims} dimensions, "
            f"temperature {self.temperature:g}>"
        )

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        unit = Cosine().prepare(block, vectors, begin, items=items)  # refuses zeros
        if block.dtype == np.float64:
            return self.compared(block, items=items)
        side = self.kind.right if items != self.reverse else self.kind.left
        return np.ascontiguousarray(side.forward(unit, self.weights), np.float32)

    def compared(self, block: Matrix, *, items: bool) -> Matrix:
        side = self.kind.right if items != self.reverse else self.kind.left
        unit = block / exact.lengths(block)[:, None]
        return np.ascontiguousarray(side.forward(unit, self.weights, exact))

    def reversed(self) -> Learned:
        return replace(self, reverse=not self.reverse)

    def allow_training_queries(self) -> Learned:
        """The same, which does not refuse queries that training saw; numbers on them flatter it.

        Returns
        -------
        Learned
        """
        return replace(self, allowed=True)

    def unseen(self, queries: VectorsLike) -> Ints:
        """The row numbers of queries that training did not see: those that it may be evaluated on.

        Parameters
        ----------
        queries : VectorsLike
            Vectors of queries, or their file.

        Returns
        -------
        array of int
        """
        trained, chose = self.seen.of(
            as_vectors(queries, dims=self.kind.dims(self.weights)[0], source="the queries")
        )
        return np.flatnonzero(~(trained | chose))

    def check(self, queries: Vectors, items: Vectors) -> None:
        searching, searched = (items, queries) if self.reverse else (queries, items)
        wanted = self.kind.dims(self.weights)
        if wanted != (searching.dims, searched.dims):
            raise InputError(
                f"this similarity was learned from queries of {wanted[0]} dimensions and items of "
                f"{wanted[1]}, but {searching.source} have {searching.dims} and {searched.source} "
                f"{searched.dims}."
            )
        if not self.allowed:
            self._refuse_seen(searching)

    def _refuse_seen(self, queries: Vectors) -> None:
        trained, chose = self.seen.of(queries)
        known = np.flatnonzero(trained | chose)
        if not len(known):
            return
        names = ", ".join(queries.name(row) for row in known[:_NAMED].tolist()) + (
            ", …" if len(known) > _NAMED else ""
        )
        raise InputError(
            f"{queries.source}: {len(known):,} of {len(queries):,} queries ({names}) were seen "
            f"when this similarity was learned, {int(trained.sum()):,} in training and "
            f"{int((chose & ~trained).sum()):,} to choose when to stop; numbers on them flatter "
            "it. Leave these queries out, or allow them: .allow_training_queries() in Python, "
            "--allow-training-queries on the command line."
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, whole or not at all; `judged.learn.load` gives back the same bits.

        Parameters
        ----------
        path : str or os.PathLike
            A .npz or .safetensors file.
        """
        seen = (self.seen.training, self.seen.validation)
        write(Parts(self.kind, self.weights, self.training, *seen), path)


def load(path: str | os.PathLike[str]) -> Learned:
    """A learned similarity from its file, without the queries' vectors: it still knows them again.

    Parameters
    ----------
    path : str or os.PathLike
        A file that `Learned.save` or `judged learn` wrote.

    Returns
    -------
    Learned

    >>> load("no such file.npz")
    Traceback (most recent call last):
    judged.errors.InputError: no such file.npz: no such file.
    """
    found = read_learned(path)
    if found is None:
        file = file_of(path, None)
        if not file.path.exists():
            raise InputError(f"{file.label}: no such file.")
        raise InputError(
            f"{file.label}: is no learned similarity that judged wrote. A plain matrix W needs no "
            "loading: give its file as the similarity."
        )
    return found


def read_learned(path: str | os.PathLike[str]) -> Learned | None:
    """The learned similarity in a file; None where the file is something else, or cannot be read at
    all."""
    parts = read(path)
    if parts is None:
        return None
    kind, weights, training, *seen = parts
    return Learned(kind=kind, weights=weights, training=training, seen=Seen(*seen))


# -- files


MARK = "judged_learned"
"""The array of a .npz, or the entry in the metadata of a .safetensors file, that says what the file
is."""
VERSION = 1
KEYS = ("training_queries", "validation_queries")

Arrays = dict[str, NDArray[Any]]


def check_model_target(path: str | os.PathLike[str]) -> None:
    """Refuse a place or an ending that a learned similarity cannot be written to, before it is
    learned."""
    if Path(path).suffix.lower() not in _WRITERS:
        raise OutputError(
            f"{path}: a learned similarity is written to a {' or '.join(_WRITERS)} file."
        )
    check_target(path)


class Parts(NamedTuple):
    """What a file holds of a learned similarity."""

    kind: Kind
    weights: Weights
    training: Training
    training_marks: Floats
    """Of the queries that were trained on."""
    validation_marks: Floats
    """Of those that chose when to stop."""


def write(parts: Parts, path: str | os.PathLike[str]) -> None:
    """Write a learned similarity, whole or not at all."""
    check_model_target(path)
    arrays: Arrays = {**parts.weights, **dict(zip(KEYS, parts[-2:], strict=True))}
    record = parts.training.to_dict()
    about = {
        "version": VERSION,
        "kind": parts.kind.name,
        "checksum": _checksum(arrays, record),
        "training": record,
    }
    text = json.dumps(about, ensure_ascii=False, allow_nan=False)
    with replacing(path) as temporary:
        _WRITERS[Path(path).suffix.lower()](temporary, arrays, text)


def _write_npz(path: Path, arrays: Arrays, about: str) -> None:
    with path.open("wb") as file:
        np.savez(file, **{MARK: np.frombuffer(about.encode(), np.uint8)}, **arrays)  # type: ignore[arg-type]


def _write_safetensors(path: Path, arrays: Arrays, about: str) -> None:
    """8 bytes for the length of a JSON text, that text (type, shape and place of each tensor), and
    the tensors."""
    header: dict[str, Any] = {"__metadata__": {MARK: about}}
    end = 0
    # The widest numbers first, so that each begins at a multiple of its own size.
    ordered = sorted(arrays.items(), key=lambda entry: (-entry[1].itemsize, entry[0]))
    for name, array in ordered:
        header[name] = {
            "dtype": {"f": "F", "u": "U"}[array.dtype.kind] + str(array.itemsize * 8),
            "shape": list(array.shape),
            "data_offsets": [end, end + array.nbytes],
        }
        end += array.nbytes
    text = json.dumps(header, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for _, array in ordered:
            file.write(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())


_WRITERS: dict[str, Callable[[Path, Arrays, str], None]] = {
    ".npz": _write_npz,
    ".safetensors": _write_safetensors,
}


def read(path: str | os.PathLike[str]) -> Parts | None:
    """The learned similarity in a file; None where the file is something else, or cannot be read at
    all."""
    file = file_of(path, None)
    try:
        with file.path.open("rb") as handle:
            # One array of a file is a matrix.
            start = b"" if file.key is not None else handle.read(9)
    except (OSError, ValueError):
        return None
    if start.startswith(FORMATS["npz"].magic):
        arrays = arrays_of_npz(file, MARK)
        return None if arrays is None else _parts(file, arrays.pop(MARK).tobytes(), arrays)
    if start[8:] == b"{" and b"\x00" in start[:8]:
        found = tensors_of_safetensors(file, MARK)
        return None if found is None else _parts(file, found[0].encode(), found[1])
    return None


def _parts(file: File, text: bytes, arrays: Arrays) -> Parts:
    try:
        about = json.loads(text.decode())
        version = whole("version", about["version"])
    except (ArithmeticError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(file, f"its description makes no sense: {type(error).__name__}") from None
    if version > VERSION:
        raise InputError(
            f"{file.label}: was written by a newer judged (format {version}, this one reads up to "
            f"{VERSION}); update judged."
        )
    try:
        kind = KINDS[about["kind"]]
        training = Training.from_dict(about["training"])
        weights = {name: arrays[name] for name in kind.names}
        of_training, of_validation = (arrays[name] for name in KEYS)
        checksum = about["checksum"]
    except (ArithmeticError, KeyError, TypeError, ValueError) as error:
        raise _damaged(file, f"something is missing in it: {error}") from None
    numbers = {**weights, **dict(zip(KEYS, (of_training, of_validation), strict=True))}
    if checksum != _checksum(numbers, about["training"]):
        raise _damaged(file, "it is not what was written")
    _check_weights(file, kind, weights, training.rank)
    _check_rest(file, kind, training, [of_training, of_validation])
    return Parts(kind, weights, training, of_training, of_validation)


def _check_weights(file: File, kind: Kind, weights: Weights, rank: int | None) -> None:
    """Refuse weights that judged would not have written; a checksum can be made to fit."""
    for name, array in weights.items():
        if (
            array.dtype != np.float32
            or not array.ndim
            or not array.size
            or not np.isfinite(array).all()
        ):
            raise _damaged(file, f"{name} should hold finite numbers in single precision")
    shapes = {name: array.shape for name, array in weights.items()}
    try:
        fitting = kind.shapes(*kind.dims(weights), rank) == shapes
    except (InputError, TypeError):
        fitting = False
    if not fitting:
        found = (f"{name} {' × '.join(map(str, shape))}" for name, shape in shapes.items())
        raise _damaged(file, f"its weights do not fit together: {', '.join(found)}")


def _check_rest(file: File, kind: Kind, training: Training, marks: list[NDArray[Any]]) -> None:
    if any(
        each.dtype != np.float64 or each.shape != (len(each), MARKS) or not each.size
        for each in marks
    ):
        raise _damaged(file, "it does not say which queries training saw")
    try:
        checked_temperature(training.temperature)
        training.to_text(verbose=True)  # whoever can tell all of it has all of it
    except (ArithmeticError, InputError, IndexError, TypeError, ValueError):
        raise _damaged(file, "its record of the training makes no sense") from None
    if training.kind != kind.name:
        raise _damaged(
            file, f"its record is of a {training.kind}, its weights are of a {kind.name}"
        )


def _checksum(arrays: Arrays, record: Any) -> int:
    """Of names, shapes and bits of all arrays, and of the record."""
    total = zlib.crc32(json.dumps(record, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        total = zlib.crc32(f"{name} {array.dtype.str} {array.shape}".encode(), total)
        total = zlib.crc32(array.tobytes(), total)
    return total


def _damaged(file: File, reason: str) -> InputError:
    return InputError(f"{file.label}: not a learned similarity that can be read ({reason}).")


# -- any similarity


def as_similarity(given: SimilarityLike) -> Similarity:
    """Return a similarity from a name, a matrix, a function, or a file."""
    if isinstance(given, Similarity):
        return given
    if isinstance(given, os.PathLike):
        given = os.fspath(given)
    if isinstance(given, str):
        if given in SIMILARITIES:
            return SIMILARITIES[given]
        if "." in given or os.path.exists(given):
            from judged.inputs.vectors import read_vectors

            if (learned := read_learned(given)) is not None:
                return learned
            return as_similarity(np.asarray(read_vectors(given).values))
        raise InputError(
            f"There is no similarity {given!r}{did_you_mean(given, SIMILARITIES)} Choose one of "
            f"{', '.join(SIMILARITIES)}."
        )
    if callable(given):
        return Custom(function=given)
    weights = np.asarray(given)
    if weights.ndim != 2:
        raise InputError(
            "a similarity must be a name, a matrix, or a function of two blocks; got "
            f"{type(given).__name__}."
        )
    if weights.dtype.kind not in "biuf":
        raise InputError(
            f"the matrix of a bilinear similarity must hold numbers; got {weights.dtype}."
        )
    weights = weights.astype(np.float64)
    if not np.isfinite(weights).all():
        raise InputError(
            "the matrix of a bilinear similarity holds NaN or infinite numbers; fix it."
        )
    return Bilinear(weights=weights)
