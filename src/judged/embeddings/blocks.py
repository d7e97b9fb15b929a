"""Queries in blocks, worked on side by side."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Protocol, TypeVar

from judged.arrays import one_thread_each
from judged.inputs.vectors.vectors import Vectors

Result = TypeVar("Result")


class Blocks(Protocol):
    """Queries that are worked on a block at a time."""

    @property
    def threads(self) -> int:
        """Blocks that may be worked on side by side."""
        ...

    def blocks(self) -> Iterator[tuple[int, int]]:
        """The blocks of queries: first and end."""
        ...


def over_blocks(
    product: Blocks,
    work: Callable[[int, int], Result],
    progress: Callable[[int], None] | None = None,
    *,
    blocks: Sequence[tuple[int, int]] | None = None,
) -> Iterator[Result]:
    """What some work on each block of queries gives, in their order; as many side by side as the
    product allows, and no more of them waiting than that. Blocks are the product's own, unless
    others are named.

    Each thread multiplies and counts for itself: a BLAS with threads of its own would keep them
    spinning, and so a core busy, while others count.
    """
    blocks = list(product.blocks()) if blocks is None else blocks
    with ExitStack() as stack:
        if product.threads > 1 and len(blocks) > 1:
            stack.enter_context(one_thread_each())
            pool = stack.enter_context(ThreadPoolExecutor(product.threads))
            results = _in_turn(pool, work, blocks, 2 * product.threads)
        else:
            results = (work(*block) for block in blocks)
        for (begin, end), result in zip(blocks, results, strict=True):
            yield result
            if progress is not None:
                progress(end - begin)
    for side in ("queries", "items"):
        if isinstance(vectors := getattr(product, side, None), Vectors):
            vectors.refuse_changed()


def _in_turn(
    pool: ThreadPoolExecutor,
    work: Callable[[int, int], Result],
    blocks: Sequence[tuple[int, int]],
    ahead: int,
) -> Iterator[Result]:
    """The results in the order of the blocks; at most so many are begun before they are wanted."""
    waiting: deque[Future[Result]] = deque()
    try:
        for block in blocks:
            if len(waiting) == ahead:
                yield waiting.popleft().result()
            waiting.append(pool.submit(work, *block))
        while waiting:
            yield waiting.popleft().result()
    finally:
        for each in waiting:
            each.cancel()
