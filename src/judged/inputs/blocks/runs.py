"""A run as it is read: grouped by query, until it turns out that it is not."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judged.errors import InputError
from judged.inputs.blocks import RunBlocks, UngroupedError
from judged.inputs.blocks.partitions import partitioned
from judged.inputs.blocks.pieces import Piece, ahead
from judged.inputs.blocks.progress import phase
from judged.inputs.blocks.queries import About as About
from judged.inputs.blocks.queries import whole_queries

if TYPE_CHECKING:
    from judged.inputs.blocks.progress import Told
    from judged.inputs.blocks.room import Room
    from judged.inputs.tables import Lookup, Run


@dataclass(eq=False)
class Blocks:
    """What `RunBlocks.blocks` is: called with the judged queries, it reads the run."""

    about: About
    pieces: Callable[[Told], Iterator[Piece]]
    room: Room
    size: int | None = None
    """How many bytes there are, where it is known."""
    lasting: bool = True
    """Whether it can be read more than once."""
    grouped: bool = True
    used: bool = False

    def run(self) -> RunBlocks:
        """The run that is read so."""
        return RunBlocks(self.about.name, self.about.source, self, self.about.tag)

    def __call__(self, judged: frozenset[str] | None) -> Iterator[Run | Lookup]:
        """Tables of whole judged queries."""
        if self.used and not self.lasting:
            raise InputError(
                f"{self.about.source}: can be read only once, but is needed twice here; write it "
                "to a file first, and give that."
            )
        self.used = True
        if not self.lasting:
            memory = f"{self.room.memory / 10**9:g} GB"
            return self._parted(judged, f"cannot be read twice, and may not fit into {memory}")
        return self._grouped(judged) if self.grouped else self._parted(judged, _UNGROUPED)

    def _grouped(self, judged: frozenset[str] | None) -> Iterator[Run]:
        with (
            phase(f"Reading {self.about.name}", self.size) as told,
            closing(ahead(self._some(told))) as pieces,
        ):
            try:
                yield from whole_queries(pieces, self.about, judged, self.room)
            except UngroupedError:
                self.grouped = False
                raise

    def _parted(self, judged: frozenset[str] | None, why: str) -> Iterator[Run]:
        said = f"{self.about.source}: {why}; its rows are put on disk by query first.\n"
        if sys.stderr is not None:
            sys.stderr.write(said)
        with phase(f"Putting {self.about.name} on disk", self.size) as told:
            some = self._some(told)
            with closing(ahead(some) if self.lasting else some) as pieces:
                yield from partitioned(pieces, self.about, judged, self.room, self.size)

    def _some(self, told: Told) -> Generator[Piece]:
        """The pieces; an error where there is not one row."""
        found = False
        for piece in self.pieces(told):
            found = found or piece.frame.height > 0
            yield piece
        if not found:
            raise InputError(f"{self.about.source}: holds no rows.")


_UNGROUPED = "is not grouped by query"
