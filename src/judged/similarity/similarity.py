"""How alike two vectors are: blocks of queries and items in, a matrix of scores out, the higher the
more alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from judged.errors import InputError
from judged.inputs.vectors.vectors import Matrix, Vectors
from judged.segments import Floats


@dataclass(frozen=True, eq=False)
class Similarity:
    """How queries and items are scored: by their dot product, unless a subclass says otherwise.

    Vectors of each side are made ready once, a block at a time, and then blocks are scored.

    Parameters
    ----------
    name : str, optional
        What results call it.
    says : str, optional
        What its score is, in words; part of the definition of every number.

    >>> import numpy as np
    >>> query, item = np.float32([[1, 2]]), np.float32([[3, 4]])
    >>> Similarity().scores(query, item, np.empty((1, 1), np.float32)).tolist()
    [[11.0]]
    """

    name: str = "dot"
    """What results call it."""
    says: str = "the score is the dot product"
    """What its score is, in words."""
    precision: ClassVar[str] = "in single precision"
    """How exact its scores are, in words."""
    needs_direction: ClassVar[bool] = False
    """Whether a vector of zeros cannot be compared."""
    side_by_side: ClassVar[bool] = True
    """Whether several threads may score at a time."""
    both_ways: ClassVar[bool] = True
    """Whether an item's scores with all queries order them as the item's own search would."""

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        """A block of queries or items made ready to be scored.

        Parameters
        ----------
        block : array
            Some rows of the vectors, in single precision.
        vectors : Vectors
            What they are rows of, for messages.
        begin : int
            The number of the first of these rows, for messages.
        items : bool
            Whether these are items, not queries.

        Returns
        -------
        array
            As many rows, perhaps of other dimensions.

        >>> import judged, numpy as np
        >>> block = np.float32([[3, 4]])
        >>> Cosine().prepare(block, judged.Vectors(block), 0, items=True).round(1).tolist()
        [[0.6000000238418579, 0.800000011920929]]
        """
        return block

    def scores(self, queries: Matrix, items: Matrix, out: Matrix) -> Matrix:
        """The scores of two blocks that were made ready.

        Parameters
        ----------
        queries, items : array
            What `prepare` gave for some queries and some items.
        out : array
            Where the scores go, a row per query and a column per item.

        Returns
        -------
        array
            `out`.

        >>> import numpy as np
        >>> one, out = np.ones((1, 2), np.float32), np.empty((1, 1), np.float32)
        >>> Similarity().scores(one, one, out).tolist()
        [[2.0]]
        """
        return np.matmul(queries, items.T, out=out)

    def longest(self, ready: Matrix) -> float:
        """The length of the longest vector; no score exceeds the product of two such lengths.

        Parameters
        ----------
        ready : array
            Some vectors that were made ready.

        Returns
        -------
        float
            0 where scores are no products and cannot overflow as such.

        >>> import numpy as np
        >>> Similarity().longest(np.float32([[3, 4], [1, 0]]))
        5.0
        """
        return float(np.sqrt(np.einsum("ij,ij->i", ready, ready, dtype=np.float64).max()))

    def slack(self, queries: Matrix, longest: float) -> Floats | None:
        """How close two scores of a query may be and yet stand in the wrong order.

        Parameters
        ----------
        queries : array
            A block of queries that were made ready.
        longest : float
            The length of the longest item that was made ready.

        Returns
        -------
        array or None
            One number per query; None where scores are taken as they are.

        >>> import numpy as np
        >>> Similarity().slack(np.ones((1, 2), np.float32), 1.0) is None
        True
        """
        return None

    def placed(self, items: Vectors) -> Similarity:
        """The same, measured from where the numbers of some items are smallest, if that matters.

        Parameters
        ----------
        items : Vectors
            The items that are to be scored.

        Returns
        -------
        Similarity

        >>> import judged
        >>> Similarity().placed(judged.Embeddings([[1.0]], [[1.0]]).items).name
        'dot'
        """
        return self

    def shift(self, queries: Matrix) -> Floats:
        """What the scores of each query lack to be comparable with those of other queries.

        Parameters
        ----------
        queries : array
            A block of queries that were made ready.

        Returns
        -------
        array
            A column, to be added to the scores.

        >>> import numpy as np
        >>> Similarity().shift(np.ones((2, 3), np.float32)).tolist()
        [[0.0], [0.0]]
        """
        return np.zeros((len(queries), 1))

    def reversed(self) -> Similarity:
        """The same with items for queries and queries for items.

        Returns
        -------
        Similarity

        >>> Similarity().reversed().name
        'dot'
        """
        return self

    def allow_training_queries(self) -> Similarity:
        """The same, also for queries that it was learned from; most were not learned.

        Returns
        -------
        Similarity

        >>> Similarity().allow_training_queries().name
        'dot'
        """
        return self

    def check(self, queries: Vectors, items: Vectors) -> None:
        """Refuse vectors that cannot be compared, or must not be evaluated, with an `InputError`.

        Parameters
        ----------
        queries, items : Vectors
            Both sides.

        >>> import judged
        >>> both = judged.Embeddings([[1.0]], [[1.0]])
        >>> Similarity().check(both.queries, both.items)
        """
        if queries.dims != items.dims:
            raise InputError(
                f"{queries.source} have {queries.dims} dimensions, {items.source} have "
                f"{items.dims}; they must have as many. Do they come from the same model?"
            )


@dataclass(frozen=True, eq=False)
class Cosine(Similarity):
    name: str = "cosine"
    says: str = "the score is the cosine of the angle between the vectors"
    needs_direction: ClassVar[bool] = True

    def longest(self, ready: Matrix) -> float:
        return 1.0

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        # In double precision: the squares of large or tiny numbers must neither overflow nor
        # vanish.
        length = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
        if not length.all():
            row = begin + int(np.flatnonzero(length == 0)[0])
            raise InputError(
                f"{vectors.source}: vector {vectors.name(row)} is all zeros, has no direction and "
                "so no cosine; remove it, or choose another similarity."
            )
        if length.min() > 1e-30 and length.max() < 1e30:
            return block / length.astype(np.float32)[:, None]
        return (block / length[:, None]).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Rescored(Similarity, ABC):
    """One whose scores have slack, and a way to settle what lies within it."""

    @abstractmethod
    def slack(self, queries: Matrix, longest: float) -> Floats: ...

    @abstractmethod
    def exact(self, query: Matrix, items: Matrix) -> Floats:
        """Scores of one query with items, or of as many queries as items, without the rounding that
        `slack` stands for; neither are made ready."""
