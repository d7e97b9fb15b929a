"""A similarity that was learned from a user's own vectors, and knows from which of them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError
from judged.inputs.vectors import as_vectors
from judged.inputs.vectors.vectors import Matrix, Vectors
from judged.segments import Floats, Ints
from judged.similarity.directions import known, marks_of
from judged.similarity.maps import Kind, Weights
from judged.similarity.record import Training
from judged.similarity.similarity import Cosine, Similarity

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
    """A learned similarity, made by `judged.learn.fit` or read by `judged.learn.load`; usable
    wherever a similarity is."""

    name: str = field(init=False, default="learned")
    says: str = field(init=False, default="")
    kind: Kind = field(kw_only=True)
    weights: Weights = field(kw_only=True)
    """By their names in the kind, in single precision, not to be written to."""
    training: Training = field(kw_only=True)
    """How it came about."""
    seen: Seen = field(kw_only=True, repr=False)
    allowed: bool = field(kw_only=True, default=False)
    """Whether it may be evaluated on queries that training saw."""
    turned: bool = field(kw_only=True, default=False)
    """Whether items search queries."""
    needs_direction: ClassVar[bool] = True

    def __post_init__(self) -> None:
        frozen = {name: np.array(self.weights[name], np.float32) for name in self.kind.names}
        for array in frozen.values():
            array.flags.writeable = False
        allowed = "; queries that training saw are not refused" if self.allowed else ""
        said = (
            f"the score is {self.kind.says}, q and x brought to length 1 (learned from "
            f"{self.training.training:,} "
            f"queries at temperature {self.training.temperature:g}{allowed})"
        )
        object.__setattr__(self, "weights", frozen)
        object.__setattr__(self, "name", f"learned {self.kind.name}")
        object.__setattr__(self, "says", said)

    @property
    def temperature(self) -> float:
        return self.training.temperature

    def __repr__(self) -> str:
        dims = " and ".join(map(str, self.kind.dims(self.weights)))
        return (
            f"<Learned: {self.kind.name} for queries and items of {dims} dimensions, "
            f"temperature {self.temperature:g}>"
        )

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        unit = Cosine().prepare(block, vectors, begin, items=items)
        side = self.kind.right if items != self.turned else self.kind.left
        return np.ascontiguousarray(side.forward(unit, self.weights), np.float32)

    def turned_round(self) -> Learned:
        return replace(self, turned=not self.turned)

    def allow_training_queries(self) -> Learned:
        """The same, which does not refuse queries that training saw."""
        return replace(self, allowed=True)

    def unseen(self, queries: Any) -> Ints:
        """The row numbers of queries that training did not see: those that it may be evaluated on."""
        trained, chose = self.seen.of(
            as_vectors(queries, dims=self.kind.dims(self.weights)[0], source="the queries")
        )
        return np.flatnonzero(~(trained | chose))

    def check(self, queries: Vectors, items: Vectors) -> None:
        searching, searched = (items, queries) if self.turned else (queries, items)
        wanted = self.kind.dims(self.weights)
        if wanted != (searching.dims, searched.dims):
            raise InputError(
                f"this similarity was learned from queries of {wanted[0]} dimensions and items of "
                f"{wanted[1]}, but "
                f"{searching.source} have {searching.dims} and {searched.source} {searched.dims}."
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
            "when this similarity was "
            f"learned, {int(trained.sum()):,} in training and {int((chose & ~trained).sum()):,} to "
            "choose when to stop; "
            "numbers on them flatter it. Leave these queries out, or allow them: "
            ".allow_training_queries() in Python, "
            "--allow-training-queries on the command line."
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a .npz or .safetensors file, whole or not at all; `judged.learn.load` gives
        back the same bits."""
        from judged.similarity.learned_files import save

        save(self, path)
