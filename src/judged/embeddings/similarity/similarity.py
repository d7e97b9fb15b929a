"""How alike two vectors are: blocks of queries and items in, a matrix of scores out, the higher the
more alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from judged.arrays import Floats
from judged.embeddings.similarity.exact import Pairs, cosines, dots
from judged.embeddings.similarity.quick import quick_cosines, quick_dots
from judged.embeddings.similarity.rounding import Precision, product_bound
from judged.errors import InputError
from judged.inputs.vectors.vectors import Matrix, Vectors


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
    certain: ClassVar[bool] = True
    """Whether scores have a bound of their rounding, and pairs can be settled by `exact`."""
    maps: ClassVar[bool] = False
    """Whether what is compared are other vectors, made of the given ones in double precision."""
    keeps_whole: ClassVar[bool] = True
    """Whether vectors of whole numbers, or of halves, have such numbers for scores."""
    moves: ClassVar[bool] = False
    """Whether vectors are moved to be made ready, and so may be rounded to whole numbers."""
    needs_direction: ClassVar[bool] = False
    """Whether a vector of zeros cannot be compared."""
    side_by_side: ClassVar[bool] = True
    """Whether several threads may score at a time."""
    spread: ClassVar[int] = 1
    """How many numbers one number of a vector becomes when it is made ready."""
    both_ways: ClassVar[bool] = True
    """Whether an item's scores with all queries order them as the item's own search would."""

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        """A block of queries or items made ready to be scored.

        Parameters
        ----------
        block : array
            Some rows of the vectors, in the precision to work in.
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
        """The length of the longest vector.

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
        return float(self.lengths(ready).max())

    def lengths(self, ready: Matrix) -> Floats:
        """The length of each of some vectors that were made ready.

        Parameters
        ----------
        ready : array
            Some vectors that were made ready.

        Returns
        -------
        array

        >>> import numpy as np
        >>> Similarity().lengths(np.float32([[3, 4], [1, 0]])).tolist()
        [5.0, 1.0]
        """
        with np.errstate(over="ignore", under="ignore"):  # what is too long is refused
            found = np.sqrt(np.einsum("ij,ij->i", ready, ready, dtype=np.float64))
            if ready.dtype == np.float64 and not ((found > 1e-140) & (found < 1e140)).all():
                # The squares of large or tiny numbers overflow or vanish.
                power = np.frexp(np.abs(ready).max(axis=1))[1]
                near = np.ldexp(ready, -power[:, None])
                found = np.ldexp(np.sqrt(np.einsum("ij,ij->i", near, near)), power)
        return np.asarray(found)

    def greatest(self, own: float, other: float) -> float:
        """What no score of two vectors of some lengths exceeds.

        Parameters
        ----------
        own, other : float
            As `lengths` gives them, for vectors that were made ready.

        Returns
        -------
        float

        >>> Similarity().greatest(2.0, 3.0)
        6.0
        """
        return own * other

    def bound(self, queries: Matrix, longest: float, precision: Precision) -> Floats:
        """For each query what its scores with any items may be off by.

        Parameters
        ----------
        queries : array
            A block of queries that were made ready.
        longest : float
            The length of the longest item that was made ready.
        precision : type
            The precision in which they were made ready and are multiplied, numpy.float32 or
            numpy.float64.

        Returns
        -------
        array
            One number per query.

        >>> import numpy as np
        >>> bool(Similarity().bound(np.ones((1, 2), np.float32), 1.0, np.float32)[0] < 1e-6)
        True
        """
        own = self.lengths(queries)
        return product_bound(
            own, longest, queries.shape[1], self.blur(queries, precision), precision
        )

    def blur(self, ready: Matrix, precision: Precision) -> float:
        """How many roundings vectors that were made ready may be off by.

        Parameters
        ----------
        ready : array
            Some vectors that were made ready.
        precision : type
            The precision in which that was done.

        Returns
        -------
        float

        >>> import numpy as np
        >>> Similarity().blur(np.ones((1, 2)), np.float64)
        1.0
        """
        return 1.0

    def compared(self, block: Matrix, *, items: bool) -> Matrix:
        """What is compared, where that is not the vectors themselves but made of them.

        Parameters
        ----------
        block : array
            Some vectors, in double precision.
        items : bool
            Whether these are items, not queries.

        Returns
        -------
        array

        >>> import numpy as np
        >>> Similarity().compared(np.ones((1, 2)), items=True).tolist()
        [[1.0, 1.0]]
        """
        return block

    def exact(self, pairs: Pairs) -> Floats:
        """The scores of some pairs of vectors (as `compared` gave them), each rounded once.

        Parameters
        ----------
        pairs : Pairs
            Vectors of both sides, and which are scored with which.

        Returns
        -------
        array
            One score per pair, in double precision.

        >>> import numpy as np
        >>> ones = np.ones((1, 2))
        >>> Similarity().exact(Pairs(ones, ones, np.array([0]), np.array([0]))).tolist()
        [2.0]
        """
        return dots(pairs)

    def quick(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """The scores of `exact` with the rounding of each step in double precision.

        Parameters
        ----------
        pairs : Pairs
            Vectors of both sides, and which are scored with which.

        Returns
        -------
        scores : array
        errors : array
            What each score may be off by.

        >>> import numpy as np
        >>> ones = np.ones((1, 2))
        >>> scores, _ = Similarity().quick(Pairs(ones, ones, np.array([0]), np.array([0])))
        >>> scores.tolist()
        [2.0]
        """
        return quick_dots(pairs)

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
    keeps_whole: ClassVar[bool] = False
    needs_direction: ClassVar[bool] = True

    def lengths(self, ready: Matrix) -> Floats:
        return np.ones(len(ready))

    def blur(self, ready: Matrix, precision: Precision) -> float:
        # The length, a division and a cast; a length in double precision comes from a sum whose
        # rounding does not count beside single precision.
        return 3.0 if precision is np.float32 else ready.shape[1] / 2 + 4

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        if block.dtype == np.float64:
            # The squares of large or tiny numbers must neither overflow nor vanish.
            top = np.abs(block).max(axis=1)
            if not (top.min() > 1e-140 and top.max() < 1e140):
                block = np.ldexp(block, -np.frexp(top)[1][:, None])
        length = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
        if not length.all():
            row = begin + int(np.flatnonzero(length == 0)[0])
            held = vectors.rows(np.array([row]), np.float64).any()
            raise InputError(
                f"{vectors.source}: vector {vectors.name(row)} is all zeros"
                f"{' in single precision' if held else ''}, has no direction and so no cosine; "
                f"{SINGLE if held else 'remove it, or choose another similarity.'}"
            )
        if block.dtype == np.float64 or (length.min() > 1e-30 and length.max() < 1e30):
            return block / length.astype(block.dtype)[:, None]
        return (block / length[:, None]).astype(np.float32)

    def exact(self, pairs: Pairs) -> Floats:
        return cosines(pairs)

    def quick(self, pairs: Pairs) -> tuple[Floats, Floats]:
        return quick_cosines(pairs)


SINGLE = "leave out precision=single."
"""What to do about numbers that only single precision cannot hold."""
