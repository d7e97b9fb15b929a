"""Learned similarities: what they compute, which queries they saw, and their files.

A kind is declared by the maps of its two sides. A map works on vectors of length 1 and knows the
gradient of its weights. Training and scoring use the same map.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from json import JSONDecodeError
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, positions
from judged.embeddings import exact
from judged.embeddings.kernel import keys_of
from judged.embeddings.similarity import SIMILARITIES, Bilinear, Cosine, Custom, Similarity
from judged.embeddings.training import Training
from judged.errors import InputError, OutputError, did_you_mean, quoted
from judged.inputs.vectors import as_vectors
from judged.inputs.vectors.arrays import arrays_of_npz
from judged.inputs.vectors.formats import FORMATS, file_of
from judged.inputs.vectors.vectors import Matrix, Vectors
from judged.options import whole
from judged.outputs import check_target, replacing
from judged.text import listed

if TYPE_CHECKING:
    from judged.options import SimilarityLike, VectorsLike


# -- kinds


Array = NDArray[Any]
Weights = dict[str, Array]
Basis = Callable[[int], Array]
"""A function that returns the directions, as columns, that keep most of vectors."""
RANK = "rank"
"""The chosen rank, in the declaration of a shape."""


@dataclass(frozen=True)
class Map:
    """A change of the vectors of one side, which have length 1; this one leaves them."""

    weights: str = ""
    """The name of its weights; "" without any."""

    def forward(self, unit: Array, weights: Weights, *, exactly: bool = False) -> Array:
        """Map vectors; `exactly` with the same bits on every machine."""
        return unit

    def backward(self, unit: Array, weights: Weights, gradient: Array) -> Weights:
        """Return the gradient of the weights, from that of the mapped vectors."""
        return {}

    def shape(self, dims: int, other_dims: int, rank: int | None) -> tuple[int, ...]:
        """Return the shape of the weights, for vectors that are compared with others."""
        return ()

    def start(
        self, shape: tuple[int, ...], basis: Basis | None, random: np.random.Generator
    ) -> Array:
        """Return weights of a cosine, or near it, if both sides have one basis; or draw them."""
        return np.zeros(shape)


@dataclass(frozen=True)
class Scaled(Map):
    """Each dimension times its own number."""

    def forward(self, unit: Array, weights: Weights, *, exactly: bool = False) -> Array:
        return unit * weights[self.weights]

    def backward(self, unit: Array, weights: Weights, gradient: Array) -> Weights:
        return {self.weights: np.einsum("ij,ij->j", unit, gradient)}

    def shape(self, dims: int, other_dims: int, rank: int | None) -> tuple[int, ...]:
        return (dims,)

    def start(
        self, shape: tuple[int, ...], basis: Basis | None, random: np.random.Generator
    ) -> Array:
        return np.ones(shape)


@dataclass(frozen=True)
class Linear(Map):
    """Vectors times a matrix."""

    into: str | None = None
    """RANK, or None for as many dimensions as the other side has."""
    directed: bool = False
    """True for the direction of the product; what it maps to zeros stays so, and scores 0."""

    def forward(self, unit: Array, weights: Weights, *, exactly: bool = False) -> Array:
        matrix = weights[self.weights]
        mapped = exact.times(unit, matrix.astype(np.float64)) if exactly else unit @ matrix
        if not self.directed:
            return mapped
        if not exactly:
            return mapped / _lengths(mapped)
        length = exact.lengths(mapped)[:, None]
        return mapped / np.where(length > 0, length, 1.0)

    def backward(self, unit: Array, weights: Weights, gradient: Array) -> Weights:
        if self.directed:
            mapped = unit @ weights[self.weights]
            length = _lengths(mapped)
            direction = mapped / length
            along = np.einsum("ij,ij->i", direction, gradient)[:, None]
            turning = (gradient - direction * along) / length
            gradient = np.where((mapped != 0).any(axis=1, keepdims=True), turning, 0.0)
        return {self.weights: unit.T @ gradient}

    def shape(self, dims: int, other_dims: int, rank: int | None) -> tuple[int, ...]:
        return (dims, other_dims if self.into is None else int(rank or 0))

    def start(
        self, shape: tuple[int, ...], basis: Basis | None, random: np.random.Generator
    ) -> Array:
        return random.normal(0, shape[1] ** -0.5, shape) if basis is None else basis(shape[1])


def _lengths(mapped: Array) -> Array:
    """Return a column of lengths, 1 for zeros, by squares that neither overflow nor vanish."""
    length = np.sqrt(np.einsum("ij,ij->i", mapped, mapped, dtype=np.float64))[:, None]
    return np.where(length > 0, length, 1.0).astype(mapped.dtype)


@dataclass(frozen=True)
class SimilarityKind:
    """A learned similarity: the product of what two maps make of a query and an item."""

    name: str
    says: str
    left: Map
    right: Map
    rank_share: int | None = None
    """The default rank is the smaller number of dimensions divided by this; None without a rank."""
    equal_dims: bool = False
    """True if queries and items must have the same number of dimensions."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(side.weights for side in (self.left, self.right) if side.weights)

    def rank(self, given: Any, query_dims: int, item_dims: int) -> int | None:
        """Return the rank, checked."""
        most = min(query_dims, item_dims)
        if self.rank_share is None:
            if given is not None:
                ranked = [kind.name for kind in KINDS.values() if kind.rank_share is not None]
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
        if self.equal_dims and query_dims != item_dims:
            raise InputError(
                f"{self.name} compares dimension with dimension, but queries have {query_dims} "
                f"dimensions and items {item_dims}; choose another kind, such as bilinear."
            )
        sides = ((self.left, query_dims, item_dims), (self.right, item_dims, query_dims))
        return {
            side.weights: side.shape(dims, other_dims, rank)
            for side, dims, other_dims in sides
            if side.weights
        }

    def start(
        self, shapes: dict[str, tuple[int, ...]], basis: Basis | None, random: np.random.Generator
    ) -> Weights:
        """Return weights to begin with."""
        sides = (side for side in (self.left, self.right) if side.weights)
        return {side.weights: side.start(shapes[side.weights], basis, random) for side in sides}

    def dims(self, weights: Weights) -> tuple[int, int]:
        left = weights[self.names[0]]
        right = weights[self.right.weights] if self.right.weights else None
        return int(left.shape[0]), int(left.shape[-1] if right is None else right.shape[0])


_KINDS = (
    SimilarityKind("bilinear", "q W x, with a matrix W", Linear("W"), Map()),
    SimilarityKind(
        "low-rank", "(q U)·(x V), with two matrices", Linear("U", RANK), Linear("V", RANK), 4
    ),
    SimilarityKind(
        "diagonal",
        "the sum of w q x over dimensions, with a weight w for each",
        Scaled("w"),
        Map(),
        equal_dims=True,
    ),
    SimilarityKind(
        "two-tower-linear",
        "the cosine of q A and x B, with two matrices",
        Linear("A", RANK, directed=True),
        Linear("B", RANK, directed=True),
        1,
    ),
)
KINDS: dict[str, SimilarityKind] = {kind.name: kind for kind in _KINDS}
"""The kinds by name; in each, q and x are brought to length 1 first."""


def as_kind(given: Any) -> SimilarityKind:
    """Return a kind by its name.

    >>> as_kind("low-rank").shapes(8, 6, 2)
    {'U': (8, 2), 'V': (6, 2)}
    """
    if isinstance(given, str) and given in KINDS:
        return KINDS[given]
    raise InputError(
        f"Unknown kind of learned similarity: {quoted(given)}{did_you_mean(given, KINDS)} "
        f"Choose one of {', '.join(KINDS)}."
    )


# -- queries that training saw


MARKS = 4
"""Numbers that identify a vector: by one alone, two in a million would be taken for each other."""
NEAR = 1e-6
"""Marks move by 1e-7 when vectors are scaled in single precision, by 1e-3 when rounded to half."""


def marks_of(vectors: Vectors) -> Floats:
    """Return where vectors of length 1 lie along some fixed directions; NaN without a length."""
    along = np.random.default_rng(1).normal(size=(vectors.dims, MARKS))
    marks = np.empty((len(vectors), MARKS))
    for begin, block in vectors.blocks():
        with np.errstate(invalid="ignore", divide="ignore"):
            length = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
            marks[begin : begin + len(block)] = (block / length[:, None]) @ along
    return marks


def known(marks: Floats, among: Floats) -> NDArray[np.bool_]:
    """Tell which of some marks are those of others."""
    is_known = np.zeros(len(marks), bool)
    is_known[_near(marks, among)[0]] = True
    return is_known


def groups_of(block: Matrix) -> Ints:
    """Return a number for each vector, the same for those that point the same way."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # Equal ones first, so that many of them make no more pairs than one.
    _, first, which = np.unique(keys_of(block), return_index=True, return_inverse=True)
    marks = marks_of(Vectors(block[first]))
    pairs = _near(marks, marks)
    together = coo_array((np.ones(len(pairs[0]), bool), pairs), shape=(len(first), len(first)))
    return np.asarray(connected_components(together, directed=False)[1][which], np.int64)


def _near(marks: Floats, among: Floats) -> tuple[Ints, Ints]:
    """Return the pairs of marks that are the same: rows of the first, rows of the second."""
    order = np.argsort(among[:, 0])
    ordered = among[order]
    begin = np.searchsorted(ordered[:, 0], marks[:, 0] - NEAR, side="left")
    end = np.searchsorted(ordered[:, 0], marks[:, 0] + NEAR, side="right")
    end = np.where(np.isfinite(marks[:, 0]), end, begin)
    row, place = np.repeat(np.arange(len(marks)), end - begin), positions(begin, end - begin)
    same = (np.abs(marks[row] - ordered[place]) <= NEAR).all(axis=1)
    return row[same], order[place[same]]


@dataclass(frozen=True, eq=False)
class Seen:
    """The queries that training looked at, as marks of where their vectors point."""

    training: Floats
    validation: Floats

    def of(self, vectors: Vectors) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tell which of some vectors were trained on, and which chose when to stop."""
        marks = marks_of(vectors)
        return known(marks, self.training), known(marks, self.validation)


@dataclass(frozen=True, eq=False)
class Learned(Similarity):
    """A learned similarity, from `judged.learn.fit` or `judged.learn.load`; usable wherever one is.

    Parameters
    ----------
    kind, weights, training, seen, allowed, reverse
        The attributes of the same names.

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
    kind: SimilarityKind = field(kw_only=True)
    """The kind, one of `judged.learn.KINDS`."""
    weights: Weights = field(kw_only=True)
    """By their names in the kind, in single precision, not to be written to."""
    training: Training = field(kw_only=True)
    """The record of the training."""
    seen: Seen = field(kw_only=True, repr=False)
    """The queries that training looked at."""
    allowed: bool = field(kw_only=True, default=False)
    """True if it may be evaluated on queries that training saw."""
    reverse: bool = field(kw_only=True, default=False)
    """True if items search queries."""
    needs_direction: ClassVar[bool] = True
    maps: ClassVar[bool] = True

    def __post_init__(self) -> None:
        frozen = {name: np.array(self.weights[name], np.float32) for name in self.kind.names}
        for array in frozen.values():
            array.flags.writeable = False
        allowed = "; queries that training saw are not refused" if self.allowed else ""
        says = (
            f"the score is {self.kind.says}, q and x brought to length 1 (learned from "
            f"{self.training.training:,} queries at temperature {self.temperature:g}{allowed})"
        )
        object.__setattr__(self, "weights", frozen)
        object.__setattr__(self, "name", f"learned {self.kind.name}")
        object.__setattr__(self, "says", says)

    @property
    def temperature(self) -> float:
        """The temperature of the loss it was learned with."""
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
        return np.ascontiguousarray(side.forward(unit, self.weights, exactly=True))

    def reversed(self) -> Learned:
        return replace(self, reverse=not self.reverse)

    def allow_training_queries(self) -> Learned:
        """Return the same similarity, also for training queries, whose numbers are too high."""
        return replace(self, allowed=True)

    def unseen(self, queries: VectorsLike) -> Ints:
        """Return the row numbers of queries that training did not see, to be evaluated.

        Parameters
        ----------
        queries : VectorsLike
            Vectors of queries, or their file.
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
        names = ", ".join(queries.name(row) for row in known[:3].tolist())
        names += ", …" if len(known) > 3 else ""
        raise InputError(
            f"{queries.source}: {len(known):,} of {len(queries):,} queries ({names}) were seen "
            f"when this similarity was learned, {int(trained.sum()):,} in training and "
            f"{int((chose & ~trained).sum()):,} to choose when to stop; numbers on them flatter "
            "it. Leave these queries out, or allow them with allow_training_queries() "
            "(--allow-training-queries)."
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, whole or not at all; `judged.learn.load` returns the same bits.

        Parameters
        ----------
        path : str or os.PathLike
            A .npz file.
        """
        check_model_target(path)
        seen = {
            "training_queries": self.seen.training,
            "validation_queries": self.seen.validation,
        }
        arrays = {**self.weights, **seen}
        about = {
            "version": VERSION,
            "kind": self.kind.name,
            "training": self.training.to_dict(),
        }
        text = json.dumps(about, ensure_ascii=False, allow_nan=False).encode()
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez(file, **{MARK: np.frombuffer(text, np.uint8)}, **arrays)  # type: ignore[arg-type]


# -- files


MARK = "judged_learned"
"""The array of a .npz file that describes a learned similarity."""
VERSION = 1


def check_model_target(path: str | os.PathLike[str]) -> None:
    """Raise an error for a place that a learned similarity cannot be written to."""
    if Path(path).suffix.lower() != ".npz":
        raise OutputError(f"{path}: a learned similarity is written to a .npz file.")
    check_target(path)


def load(path: str | os.PathLike[str]) -> Learned:
    """Read a learned similarity from its file, with the marks of the queries that it saw.

    Parameters
    ----------
    path : str or os.PathLike
        A file that `Learned.save` or `judged learn` wrote.

    >>> load("no such file.npz")
    Traceback (most recent call last):
    judged.errors.InputError: no such file.npz: no such file.
    """
    learned = read_learned(path)
    if learned is None:
        file = file_of(path, None)
        if not file.path.exists():
            raise InputError(f"{file.label}: no such file.")
        raise InputError(
            f"{file.label}: not a learned similarity that judged wrote. Give the file of a plain "
            "matrix W as the similarity, without loading it."
        )
    return learned


def read_learned(path: str | os.PathLike[str]) -> Learned | None:
    """Return the learned similarity in a file; None if it is something else, or unreadable."""
    file = file_of(path, None)
    try:
        with file.path.open("rb") as handle:
            magic = handle.read(9)
    except (OSError, ValueError):
        return None
    if file.key is not None or not magic.startswith(FORMATS["npz"].magic):
        return None  # one array of a file is a matrix
    arrays = arrays_of_npz(file, MARK)
    if arrays is None:
        return None
    try:
        about = json.loads(arrays.pop(MARK).tobytes().decode())
        if (version := whole("version", about["version"])) > VERSION:
            raise InputError(
                f"{file.label}: was written by a newer judged (format {version}, this one reads "
                f"up to {VERSION}); update judged."
            )
        kind, training = KINDS[about["kind"]], Training.from_dict(about["training"])
        weights = {name: arrays[name] for name in kind.names}
        seen = Seen(arrays["training_queries"], arrays["validation_queries"])
    except (ArithmeticError, KeyError, TypeError, UnicodeError, JSONDecodeError) as error:
        raise InputError(
            f"{file.label}: not a learned similarity that can be read ({type(error).__name__}: "
            f"{error})."
        ) from None
    return Learned(kind=kind, weights=weights, training=training, seen=seen)


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
            f"Unknown similarity {given!r}{did_you_mean(given, SIMILARITIES)} Choose one of "
            f"{', '.join(SIMILARITIES)}."
        )
    if callable(given):
        return Custom(function=given)
    weights = np.asarray(given)
    if weights.ndim != 2 or weights.dtype.kind not in "biuf" or not np.isfinite(weights).all():
        raise InputError(
            "a similarity must be a name, a matrix of finite numbers, or a function of two blocks; "
            f"got {quoted(given)}."
        )
    return Bilinear(weights=weights.astype(np.float64))
