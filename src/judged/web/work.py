"""Jobs that may take long, and a cache of results with a limit in bytes."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass
from secrets import token_hex
from threading import Condition, Lock
from typing import Any, TypeVar

import numpy as np

from judged.web.errors import StoppedError

MAX_JOBS = 32  # how many jobs run at once; most of them wait for another
SECONDS_UNTIL_DROPPED = 120.0  # how long a finished job waits for its request to come back
SMALLEST_BYTES = 1_000  # the size of objects that are not measured
MANY_PARTS = 200  # collections of more texts or numbers count as one object

Cached = TypeVar("Cached")


@dataclass(eq=False)
class Progress:
    """The progress of a job."""

    what: str = ""
    done: float = 0
    total: float = 0
    unit: str = ""
    stopped: bool = False
    watched: Progress | None = None  # the progress of another job that this one waits for

    @property
    def shown(self) -> Progress:
        """The progress to show: that of the job it waits for, if any."""
        return self.watched.shown if self.watched is not None else self

    def say(self, what: str, done: float = 0, total: float = 0, unit: str = "") -> None:
        """Report progress; raise `StoppedError` if the user stopped the job."""
        self.check()
        self.what, self.done, self.total, self.unit = what, done, total, unit

    def check(self) -> None:
        """Raise `StoppedError` if the user stopped the job."""
        if self.stopped:
            raise StoppedError("This was stopped. Reload the page to start again.")


_CURRENT: ContextVar[Progress | None] = ContextVar("progress", default=None)


def progress_of_this_work() -> Progress:
    """Return the progress of the running job; outside of jobs, one that is not shown."""
    return _CURRENT.get() or Progress()


@contextmanager
def watching(other: Progress) -> Iterator[Progress]:
    """Show the progress of another job while this one waits for it."""
    progress = progress_of_this_work()
    progress.watched = None if other is progress else other
    try:
        yield progress
    finally:
        progress.watched = None


@dataclass(eq=False)
class Job:
    """A job that is running or finished."""

    id: str
    key: Hashable
    owner: str
    progress: Progress
    future: Future[Any]
    begun: float = field(default_factory=time.monotonic)

    async def wait(self, seconds: float | None) -> bool:
        await asyncio.wait([asyncio.wrap_future(self.future)], timeout=seconds)
        return self.future.done()


@dataclass(eq=False)
class Jobs:
    """All running jobs; equal requests share one."""

    _pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(MAX_JOBS, thread_name_prefix="judged")
    )
    _jobs: dict[Hashable, Job] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def start(self, key: Hashable, owner: str, work: Callable[[], Any]) -> Job:
        """Start a job, or return the running job of the same key."""
        with self._lock:
            now = time.monotonic()
            for old_key, old in list(self._jobs.items()):
                if old.future.done() and now - old.begun > SECONDS_UNTIL_DROPPED:
                    del self._jobs[old_key]
            job = self._jobs.get(key)
            if job is None:
                progress = Progress()
                future = self._pool.submit(_run, progress, work)
                job = self._jobs[key] = Job(token_hex(4), key, owner, progress, future)
            return job

    def finish(self, job: Job) -> Any:
        with self._lock:
            if self._jobs.get(job.key) is job:
                del self._jobs[job.key]
        if job.future.cancelled():
            job.progress.check()
        return job.future.result()

    def find(self, id: str, owner: str) -> Job | None:
        with self._lock:
            jobs = (job for job in self._jobs.values() if job.id == id and job.owner == owner)
            return next(jobs, None)

    def stop(self, job: Job) -> None:
        """Stop a job when it next reports progress."""
        job.progress.stopped = True
        job.future.cancel()

    def close(self) -> None:
        with self._lock:
            for job in self._jobs.values():
                self.stop(job)
        self._pool.shutdown(wait=False, cancel_futures=True)


def _run(progress: Progress, work: Callable[[], Any]) -> Any:
    token = _CURRENT.set(progress)
    try:
        return work()
    finally:
        _CURRENT.reset(token)


@dataclass(eq=False)
class _Computation:
    """A result that is being computed."""

    progress: Any
    done: bool = False
    result: Any = None
    error: BaseException | None = None


@dataclass(frozen=True, eq=False)
class _CachedResult:
    result: Any
    sizes: dict[int, int]
    lasting: bool


@dataclass(eq=False)
class Cache:
    """Results by key, each computed once, with a limit in bytes.

    Above the limit the least recently used are dropped, lasting ones last.

    >>> cache = Cache(10**6)
    >>> cache.get("a", lambda: 1), cache.get("a", lambda: 2)
    (1, 1)
    """

    most: int
    size: int = 0  # bytes of all results; objects that several results share count once
    _kept: OrderedDict[Hashable, _CachedResult] = field(default_factory=OrderedDict)
    _holders: Counter[int] = field(default_factory=Counter)
    """How many results hold an object, by its id."""
    _running: dict[Hashable, _Computation] = field(default_factory=dict)
    _changed: Condition = field(default_factory=Condition)

    def get(self, key: Hashable, make: Callable[[], Cached], *, lasting: bool = False) -> Cached:
        """Return the result of a key; compute it now, or wait for another thread that does."""
        while True:
            with self._changed:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    kept: Cached = self._kept[key].result
                    return kept
                running = self._running.get(key)
                if running is None:
                    running = self._running[key] = _Computation(progress_of_this_work())
                    break
                with watching(running.progress) as progress:
                    while not running.done:
                        self._changed.wait(0.2)
                        progress.check()
            if not isinstance(running.error, StoppedError):
                if running.error is not None:
                    raise running.error
                waited: Cached = running.result
                return waited
        try:
            made = running.result = make()
        except BaseException as error:
            running.error = error
            raise
        else:
            self._keep(key, _CachedResult(made, sizes(made), lasting))
            return made
        finally:
            with self._changed:
                running.done = True
                del self._running[key]
                self._changed.notify_all()

    def _keep(self, key: Hashable, kept: _CachedResult) -> None:
        with self._changed:
            if sum(kept.sizes.values()) > self.most:
                return
            self._kept[key] = kept
            for thing, size in kept.sizes.items():
                self.size += 0 if self._holders[thing] else size
                self._holders[thing] += 1
            while self.size > self.most:
                first = next(iter(self._kept))
                passing = (name for name, old in self._kept.items() if not old.lasting)
                self._drop(next(passing, first))

    def _drop(self, key: Hashable) -> None:
        for thing, size in self._kept.pop(key).sizes.items():
            self._holders[thing] -= 1
            if not self._holders[thing]:
                del self._holders[thing]
                self.size -= size

    def forget(self, which: Callable[[Any], bool]) -> None:
        """Drop the results of some keys."""
        with self._changed:
            for key in [key for key in self._kept if which(key)]:
                self._drop(key)

    def __contains__(self, key: Hashable) -> bool:
        with self._changed:
            return key in self._kept


def sizes(thing: Any, known: dict[int, int] | None = None) -> dict[int, int]:
    """Estimate the bytes of each array, frame and text in an object, by its id."""
    known = {} if known is None else known
    if id(thing) in known or thing is None or isinstance(thing, (bool, int, float)):
        return known
    known[id(thing)] = SMALLEST_BYTES
    if isinstance(thing, np.ndarray):
        known[id(thing)] = int(thing.nbytes)
    elif isinstance(thing, (str, bytes)):
        known[id(thing)] = 50 + len(thing)
    elif hasattr(thing, "estimated_size"):
        known[id(thing)] = int(thing.estimated_size())
    elif isinstance(thing, Mapping):
        _sizes_of_parts([*thing.keys(), *thing.values()], thing, known)
    elif isinstance(thing, (list, tuple, set, frozenset)):
        _sizes_of_parts(thing, thing, known)
    elif is_dataclass(thing) and not isinstance(thing, type):
        for attribute in fields(thing):
            sizes(getattr(thing, attribute.name, None), known)
    return known


def _sizes_of_parts(parts: Collection[Any], whole: Any, known: dict[int, int]) -> None:
    if len(parts) > MANY_PARTS and all(isinstance(part, (str, int, float)) for part in parts):
        known[id(whole)] = sum(58 + len(part) if isinstance(part, str) else 32 for part in parts)
        return
    known[id(whole)] = 64 + 8 * len(parts)
    for part in parts:
        sizes(part, known)
