"""Work that may take long: how far it is, a way to stop it, and one piece of work for all who ask
for the same."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from secrets import token_hex
from threading import Lock
from typing import Any

from judged.web.errors import StoppedError

WORKERS = 32
"""So many pieces of work go on at once; most of them wait for another."""
KEPT = 120.0
"""Seconds that a finished piece of work waits for somebody to come back for it."""


@dataclass(eq=False)
class Progress:
    """How far a piece of work is."""

    what: str = ""
    """What is done, as "Reading bm25.run"."""
    done: float = 0
    total: float = 0
    unit: str = ""
    stopped: bool = False
    watched: Progress | None = None
    """The work of somebody else that this one waits for."""

    @property
    def shown(self) -> Progress:
        """What there is to show: what is waited for, where something is."""
        return self.watched.shown if self.watched is not None else self

    def say(self, what: str, done: float = 0, total: float = 0, unit: str = "") -> None:
        """Say what is done and how far it is; raises `StoppedError` where somebody stopped it."""
        self.check()
        self.what, self.done, self.total, self.unit = what, done, total, unit

    def check(self) -> None:
        """Raise `StoppedError` where somebody stopped the work."""
        if self.stopped:
            raise StoppedError("This was stopped. Ask again to begin again.")


_CURRENT: ContextVar[Progress | None] = ContextVar("progress", default=None)


def progress_of_this_work() -> Progress:
    """The progress of the work that the calling code is part of; one that nobody sees elsewhere."""
    return _CURRENT.get() or Progress()


@contextmanager
def watching(other: Progress) -> Iterator[Progress]:
    """Show how far somebody else's work is, as long as this work waits for it."""
    own = progress_of_this_work()
    own.watched = None if other is own else other
    try:
        yield own
    finally:
        own.watched = None


@dataclass(eq=False)
class Job:
    """A piece of work under way."""

    id: str
    key: Hashable
    owner: str
    progress: Progress
    future: Future[Any]
    begun: float = field(default_factory=time.monotonic)

    async def wait(self, seconds: float | None) -> bool:
        """Whether it is done, after so many seconds at most; None waits as long as it takes."""
        await asyncio.wait([asyncio.wrap_future(self.future)], timeout=seconds)
        return self.future.done()


@dataclass(eq=False)
class Jobs:
    """All work under way."""

    _pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(WORKERS, thread_name_prefix="judged")
    )
    _jobs: dict[Hashable, Job] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def start(self, key: Hashable, owner: str, work: Callable[[], Any]) -> Job:
        """Begin some work, or join who began the same."""
        with self._lock:
            self._drop_old()
            job = self._jobs.get(key)
            if job is None:
                progress = Progress()
                future = self._pool.submit(_run, progress, work)
                job = self._jobs[key] = Job(token_hex(4), key, owner, progress, future)
            return job

    def finish(self, job: Job) -> Any:
        """What became of work that is done; the next who asks begins again."""
        with self._lock:
            if self._jobs.get(job.key) is job:
                del self._jobs[job.key]
        if job.future.cancelled():
            job.progress.check()
        return job.future.result()

    def find(self, id: str, owner: str) -> Job | None:
        """The work of a name, if it is this owner's."""
        with self._lock:
            found = (job for job in self._jobs.values() if job.id == id and job.owner == owner)
            return next(found, None)

    def stop(self, job: Job) -> None:
        """Stop it at the next place where it says how far it is."""
        job.progress.stopped = True
        job.future.cancel()

    def close(self) -> None:
        """Stop everything."""
        with self._lock:
            for job in self._jobs.values():
                self.stop(job)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _drop_old(self) -> None:
        now = time.monotonic()
        for key, job in list(self._jobs.items()):
            if job.future.done() and now - job.begun > KEPT:
                del self._jobs[key]


def _run(progress: Progress, work: Callable[[], Any]) -> Any:
    token = _CURRENT.set(progress)
    try:
        return work()
    finally:
        _CURRENT.reset(token)
