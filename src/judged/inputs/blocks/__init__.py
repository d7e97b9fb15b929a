"""Runs that are read in blocks of whole queries, so that no run need fit into memory.

Small runs, and what cannot be cut (JSON documents, dicts, rows with lists), are read whole.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike, fspath, stat
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from judged.inputs.compression import compression

if TYPE_CHECKING:
    from judged.inputs.layouts import LastTag
    from judged.inputs.tables import Lookup, Run

    Cut: TypeAlias = Callable[[frozenset[str] | None], Iterator[Run | Lookup]]
    Change: TypeAlias = Callable[[Run | Lookup], Run | Lookup]

Made = TypeVar("Made")

SMALL = 32 << 20
"""A file with fewer bytes is read whole: blocks pay for themselves from about here on."""


def may_be_large(given: Any) -> bool:
    """Whether a run is worth a look at how it may be read: a file of many bytes, a compressed one,
    a folder or a pipe, or a lazy frame."""
    if not isinstance(given, (str, PathLike)):
        polars = sys.modules.get("polars")
        return polars is not None and isinstance(given, polars.LazyFrame)
    if fspath(given) == "-":
        return True
    try:
        found = stat(given)
        if not S_ISREG(found.st_mode) or found.st_size >= SMALL:
            return True
        with open(given, "rb") as handle:
            start = handle.read(16)
    except (OSError, ValueError):  # its reader says what is wrong
        return False
    if start.startswith(b"PAR1"):
        return found.st_size >= SMALL // 4
    return found.st_size >= SMALL // 20 and compression(start) is not None


class UngroupedError(Exception):
    """A query came back after its block: what was made of the blocks so far does not hold."""


@dataclass(frozen=True, eq=False)
class RunBlocks:
    """A run that is read block by block."""

    name: str
    source: str
    """What messages call it."""
    blocks: Cut
    """Given the judged queries (None: all count), tables of whole queries, no query in two of
    them. Rows of queries that nobody judged are left out, and counted in `passed` of the tables.
    Where a query comes back it raises `UngroupedError`, and reads another way when asked again."""
    tag: LastTag | None = None
    """What the run calls itself in its own file, where it does, once it has been read."""

    def gather(self, make: Callable[[], Made]) -> Made:
        """What `make` makes of all blocks; made again from the start where a query came back.

        >>> RunBlocks("run", "run.txt", lambda judged: iter(())).gather(lambda: "made")
        'made'
        """
        try:
            return make()
        except UngroupedError:
            return make()

    @contextmanager
    def opened(self, judged: frozenset[str] | None) -> Iterator[Iterator[Run | Lookup]]:
        """The blocks; what reads them, and what they left on disk, is gone in the end, whatever
        happens meanwhile."""
        blocks = self.blocks(judged)
        try:
            yield blocks
        finally:
            getattr(blocks, "close", bool)()

    def only(self, query: str) -> Run | Lookup | None:
        """The results of one query, with what else is known of the run; None where it has none."""
        found = self.gather(lambda: list(self.blocks(frozenset([query]))))
        return next((table for table in found if holds(table)), None)

    def in_input_order(self) -> RunBlocks:
        """Return the run for ties=input; an error where its rows have no order."""
        return self

    def then(self, change: Change) -> RunBlocks:
        """The same run, with something done to each block."""

        def changed(judged: frozenset[str] | None) -> Iterator[Run | Lookup]:
            with self.opened(judged) as blocks:
                yield from map(change, blocks)

        return replace(self, blocks=changed)


def _elsewhere(judged: frozenset[str] | None) -> Iterator[Run | Lookup]:
    raise AssertionError("the blocks of a distant run are judged where they lie")


@dataclass(frozen=True, eq=False)
class DistantRun(RunBlocks):
    """A run whose blocks never come here: they are judged where they lie."""

    blocks: Cut = _elsewhere

    def rankings(self, matcher: Any) -> Iterator[Any]:
        """Yield `Rankings` of whole queries, made by a `Matcher`; `Rankings.concat` joins them."""
        raise NotImplementedError


def holds(table: Run | Lookup) -> bool:
    """Whether a block has a query, be it with an empty list."""
    lists = getattr(table, "lists", None)
    return bool(lists) if lists is not None else bool(table.frame.height or table.queries)  # type: ignore[union-attr]
