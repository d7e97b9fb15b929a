"""Runs that are read in blocks of whole queries, so that a run need not fit into memory.

Small runs, and inputs that cannot be cut (JSON documents, dicts, rows with lists), are read whole.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from judged.errors import InputError, OutputError
from judged.options import size_in_bytes
from judged.outputs import TEMPORARY
from judged.text import counted

if TYPE_CHECKING:
    from judged.inputs.tables import Lookup, Run
    from judged.inputs.trec import LastTag

    Cut: TypeAlias = Callable[[frozenset[str] | None], Iterator[Run | Lookup]]
    Change: TypeAlias = Callable[[Run | Lookup], Run | Lookup]

Made = TypeVar("Made")

MEMORY = "1GB"
BYTES_PER_ROW = 120  # memory that a row takes while its query is matched

Told: TypeAlias = Callable[[int], None]  # a function that is told how many bytes are done
Watcher: TypeAlias = Callable[[str, "int | None"], AbstractContextManager[Told]]
"""A function that shows the progress of a phase, given its name and bytes."""
_WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Show the progress of everything that is read inside this context."""
    before = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(before)


@contextmanager
def phase(name: str, size: int | None) -> Iterator[Told]:
    watcher = _WATCHER.get()
    if watcher is None:
        yield lambda done: None
        return
    with watcher(name, size) as told:
        yield told


@dataclass(frozen=True)
class Room:
    """The memory that reading may take, and the folder for what does not fit."""

    memory: int  # bytes, beyond those of the program and the judgements
    temporary: str | None = None
    """The folder in which a temporary one is made; None for the system's."""

    @classmethod
    def of(cls, memory: str | int, temporary: str | os.PathLike[str] | None = None) -> Room:
        folder = None if temporary is None else os.fspath(temporary)
        return cls(size_in_bytes(memory, at_least=20_000_000), folder)

    @property
    def block(self) -> int:
        """Bytes of text that are read at a time."""
        return min(16 << 20, self.memory // 40)

    @property
    def rows(self) -> int:
        """Rows that can be matched at once."""
        return self.memory // BYTES_PER_ROW

    def refuse_long(self, source: str, query: str, rows: int) -> None:
        """Raise an error if the results of a query do not fit."""
        if rows > self.rows:
            needed = -(-rows * BYTES_PER_ROW * 5 // 4 // 10**8) / 10
            raise InputError(
                f"{source}: query {query!r} has {counted(rows, 'result')} or more, which take "
                f"{needed:g} GB; memory is {self.memory / 10**9:g} GB. A list has to fit: give "
                f"more memory (judged.config(memory='{needed:g}GB'), --memory {needed:g}GB), or "
                "cut the lists of the run."
            )

    @property
    def _place(self) -> str:
        import tempfile  # which takes a while, and is seldom needed

        return self.temporary or tempfile.gettempdir()

    @contextmanager
    def refusing_full_disk(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OutputError(
                f"{self._place}: a run that is not grouped by query, or comes through a pipe, "
                f"cannot be kept there ({error.strerror}); name a folder with more room "
                "(TMPDIR, or judged.config(temporary=DIR)), or sort the run by query."
            ) from None

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """Make a folder that only its owner can read, and remove it in the end."""
        import shutil

        name = os.path.join(self._place, f"judged-{os.urandom(8).hex()}")
        TEMPORARY.add(name)  # before it is made, because an interrupt may come at any time
        try:
            with self.refusing_full_disk():
                os.mkdir(name, 0o700)
            yield Path(name)
        finally:
            shutil.rmtree(name, ignore_errors=True)
            TEMPORARY.discard(name)

    def copy(self, parts: Iterable[bytes]) -> TemporaryCopy:
        """Write bytes to a temporary file."""
        from tempfile import NamedTemporaryFile

        with (
            self.refusing_full_disk(),
            NamedTemporaryFile(prefix="judged-", dir=self._place, delete=False) as file,
        ):
            copy = TemporaryCopy(file.name)
            file.writelines(parts)
        return copy


class TemporaryCopy:
    """A file that is deleted once nothing refers to this object."""

    def __init__(self, name: str) -> None:
        self.name = name
        TEMPORARY.add(name)
        weakref.finalize(self, _remove_copy, name)


def _remove_copy(name: str) -> None:
    with suppress(OSError):
        os.unlink(name)
    TEMPORARY.discard(name)


class UngroupedError(Exception):
    """A query came back after its block, so the results of the blocks so far are wrong."""


@dataclass(frozen=True, eq=False)
class RunBlocks:
    name: str
    source: str
    blocks: Cut
    """A function from the judged queries (None: all) to tables of whole queries.

    Rows of unjudged queries are left out, and counted in `passed` of the tables. If a query comes
    back, it raises `UngroupedError`, and reads another way when called again."""
    tag: LastTag | None = None  # the name of the run in its own file, once it has been read

    def gather(self, make: Callable[[], Made]) -> Made:
        """Call `make`, which reads all blocks, and again if a query came back."""
        try:
            return make()
        except UngroupedError:
            return make()

    @contextmanager
    def opened(self, judged: frozenset[str] | None) -> Iterator[Iterator[Run | Lookup]]:
        """Yield the blocks, and remove temporary files in the end."""
        blocks = self.blocks(judged)
        try:
            yield blocks
        finally:
            getattr(blocks, "close", bool)()

    def only(self, query: str) -> Run | Lookup | None:
        """Return the results of one query, or None."""
        tables = self.gather(lambda: list(self.blocks(frozenset([query]))))
        return next((table for table in tables if holds(table)), None)

    def in_input_order(self) -> RunBlocks:
        """Return the run for ties=input; an error if its rows have no order."""
        return self

    def then(self, change: Change) -> RunBlocks:
        """Return the same run, with a change made to each block."""

        def changed(judged: frozenset[str] | None) -> Iterator[Run | Lookup]:
            with self.opened(judged) as blocks:
                yield from map(change, blocks)

        return replace(self, blocks=changed)


def _elsewhere(judged: frozenset[str] | None) -> Iterator[Run | Lookup]:
    raise AssertionError("the blocks of a distant run are matched where they are")


@dataclass(frozen=True, eq=False)
class DistantRun(RunBlocks):
    """A run whose blocks are matched where they are, such as on a cluster."""

    blocks: Cut = _elsewhere

    def rankings(self, matcher: Any) -> Iterator[Any]:
        """Yield `Rankings` of whole queries, made by a `Matcher`; `Rankings.concat` joins them."""
        raise NotImplementedError


def holds(table: Run | Lookup) -> bool:
    lists = getattr(table, "lists", None)
    return bool(lists) if lists is not None else bool(table.frame.height or table.queries)  # type: ignore[union-attr]
