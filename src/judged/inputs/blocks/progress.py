"""How far reading is, in bytes, for whoever watches: the command line, on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TypeAlias

Told: TypeAlias = Callable[[int], None]
"""Is told how many bytes are done."""
Watcher: TypeAlias = Callable[[str, "int | None"], AbstractContextManager[Told]]
"""Shows a phase of so many bytes, by its name."""

_WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Have a watcher shown the phases of all that is read meanwhile."""
    before = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(before)


@contextmanager
def phase(name: str, size: int | None) -> Iterator[Told]:
    """A phase of reading; what it gives is told how many bytes are done."""
    watcher = _WATCHER.get()
    if watcher is None:
        yield _nobody
        return
    with watcher(name, size) as told:
        yield told


def _nobody(done: int) -> None:
    """Nobody watches."""
