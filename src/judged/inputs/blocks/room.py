"""How much memory a run may take while it is read, and where what does not fit goes meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from judged.errors import InputError, OutputError, quoted
from judged.options import size_in_bytes
from judged.outputs import TEMPORARY
from judged.text import counted

MEMORY = "1GB"
ROW = 120
"""So many bytes a row takes while its list is judged."""


@dataclass(frozen=True)
class Room:
    """What reading may take.

    >>> Room.of("100MB").block
    2500000
    """

    memory: int
    """In bytes, beyond what the program and the judgements take."""
    temporary: str | None = None
    """The folder in which a temporary one is made; None for the system's."""

    @classmethod
    def of(cls, memory: str | int, temporary: str | os.PathLike[str] | None = None) -> Room:
        """What was asked for, checked."""
        size = size_in_bytes(memory, at_least=20_000_000)
        if temporary is None:
            return cls(size)
        if not isinstance(temporary, (str, os.PathLike)):
            raise InputError(f"temporary must be a folder; got {quoted(temporary)}.")
        folder = os.fspath(temporary)
        if not os.path.isdir(folder):
            raise InputError(f"temporary: there is no folder {folder!r}; make it first.")
        if not os.access(folder, os.W_OK):
            raise InputError(f"temporary: the folder {folder!r} cannot be written to.")
        return cls(size, folder)

    @property
    def block(self) -> int:
        """How many bytes of text are read at a time."""
        return min(16 << 20, self.memory // 40)

    @property
    def rows(self) -> int:
        """How many rows can be judged at once."""
        return self.memory // ROW

    def refuse_long(self, source: str, query: str, rows: int) -> None:
        """Refuse a list that does not fit."""
        if rows > self.rows:
            needed = -(-rows * ROW * 5 // 4 // 10**8) / 10
            raise InputError(
                f"{source}: query {query!r} has {counted(rows, 'result')} or more, which take "
                f"{needed:g} GB; memory is {self.memory / 10**9:g} GB. A list has to fit: give "
                f"more memory (memory='{needed:g}GB', --memory {needed:g}GB), or cut the lists of "
                "the run."
            )

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """A folder that only its owner can read, gone in the end whatever happens."""
        import shutil
        import tempfile

        place = self.temporary or tempfile.gettempdir()
        name = os.path.join(place, f"judged-{os.urandom(8).hex()}")
        TEMPORARY.add(name)  # before it is there: an interrupt may come at any time
        try:
            try:
                os.mkdir(name, 0o700)
            except OSError as error:
                raise OutputError(
                    f"{place}: no temporary folder can be made there ({error.strerror}); name "
                    "another one (temporary=, --temporary DIR)."
                ) from None
            yield Path(name)
        finally:
            shutil.rmtree(name, ignore_errors=True)
            TEMPORARY.discard(name)
