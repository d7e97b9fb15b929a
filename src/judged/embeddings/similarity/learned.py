"""A similarity that was learned from a user's own vectors, and knows from which of them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.embeddings.similarity import exact
from judged.embeddings.similarity.directions import known, marks_of
from judged.embeddings.similarity.learned_files import Parts, read, write
from judged.embeddings.similarity.maps import Kind, Weights
from judged.embeddings.similarity.record import Training
from judged.embeddings.similarity.similarity import Cosine, Similarity
from judged.errors import InputError
from judged.inputs.vectors import as_vectors
from judged.inputs.vectors.formats import file_of
from judged.inputs.vectors.vectors import Matrix, Vectors

if TYPE_CHECKING:
    from judged.options import VectorsLike

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
