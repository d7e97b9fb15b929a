"""Work that may take long: how far it is, a way to stop it, and one piece of work for all who ask
for the same."""

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

MAX_JOBS = 32
"""So many pieces of work go on at once; most of them wait for another."""
SECONDS_UNTIL_DROPPED = 120.0
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
        default_factory=lambda: ThreadPoolExecutor(MAX_JOBS, thread_name_prefix="judged")
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
            if job.future.done() and now - job.begun > SECONDS_UNTIL_DROPPED:
                del self._jobs[key]


def _run(progress: Progress, work: Callable[[], Any]) -> Any:
    token = _CURRENT.set(progress)
    try:
        return work()
    finally:
        _CURRENT.reset(token)


Cached = TypeVar("Found")
SMALLEST_BYTES = 1_000
"""Bytes that anything takes that nobody measures."""
MANY_PARTS = 200


@dataclass(eq=False)
class _Computation:
    """Something that is being computed."""

    progress: Any
    done: bool = False
    found: Any = None
    error: BaseException | None = None


@dataclass(eq=False)
class Cache:
    """Results by key; what was used longest ago goes first once they take more than `most` bytes,
    and what was marked as lasting only after everything else.

    >>> cache = Cache(10**6)
    >>> cache.get("a", lambda: 1), cache.get("a", lambda: 2)
    (1, 1)
    """

    most: int
    size: int = 0
    """What all results take together; what several of them share counts once."""
    _kept: OrderedDict[Hashable, _CachedResult] = field(default_factory=OrderedDict)
    _holders: Counter[int] = field(default_factory=Counter)
    """How many results hold a thing, by its identity."""
    _flights: dict[Hashable, _Computation] = field(default_factory=dict)
    _changed: Condition = field(default_factory=Condition)

    def get(self, key: Hashable, make: Callable[[], Cached], *, lasting: bool = False) -> Cached:
        """What is kept under a key, or is made now; whoever asks meanwhile waits for it."""
        while True:
            with self._changed:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    found: Cached = self._kept[key].found
                    return found
                flight = self._flights.get(key)
                if flight is None:
                    flight = self._flights[key] = _Computation(progress_of_this_work())
                    break
                with watching(flight.progress) as own:
                    while not flight.done:
                        self._changed.wait(0.2)
                        own.check()
            if not isinstance(flight.error, StoppedError):
                if flight.error is not None:
                    raise flight.error
                waited: Cached = flight.found
                return waited
        return self._made(key, flight, make, lasting)

    def _made(
        self, key: Hashable, flight: _Computation, make: Callable[[], Cached], lasting: bool
    ) -> Cached:
        try:
            found = flight.found = make()
        except BaseException as error:
            flight.error = error
            raise
        else:
            self._keep(key, _CachedResult(found, sizes(found), lasting))
            return found
        finally:
            with self._changed:
                flight.done = True
                del self._flights[key]
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
                self._drop(
                    next((name for name, each in self._kept.items() if not each.lasting), first)
                )

    def _drop(self, key: Hashable) -> None:
        for thing, size in self._kept.pop(key).sizes.items():
            self._holders[thing] -= 1
            if not self._holders[thing]:
                del self._holders[thing]
                self.size -= size

    def forget(self, which: Callable[[Any], bool]) -> None:
        """Drop what is kept under some keys."""
        with self._changed:
            for key in [key for key in self._kept if which(key)]:
                self._drop(key)

    def __contains__(self, key: Hashable) -> bool:
        with self._changed:
            return key in self._kept


@dataclass(frozen=True, eq=False)
class _CachedResult:
    """A result, and what it takes."""

    found: Any
    sizes: dict[int, int]
    lasting: bool


def sizes(thing: Any, found: dict[int, int] | None = None) -> dict[int, int]:
    """About how many bytes something takes: those of each array, frame and text in it, by its
    identity."""
    found = {} if found is None else found
    if id(thing) in found or thing is None or isinstance(thing, (bool, int, float)):
        return found
    found[id(thing)] = SMALLEST_BYTES
    if isinstance(thing, np.ndarray):
        found[id(thing)] = int(thing.nbytes)
    elif isinstance(thing, (str, bytes)):
        found[id(thing)] = 50 + len(thing)
    elif hasattr(thing, "estimated_size"):
        found[id(thing)] = int(thing.estimated_size())
    elif isinstance(thing, Mapping):
        _sizes_of_all([*thing.keys(), *thing.values()], thing, found)
    elif isinstance(thing, (list, tuple, set, frozenset)):
        _sizes_of_all(thing, thing, found)
    elif is_dataclass(thing) and not isinstance(thing, type):
        for each in fields(thing):
            sizes(getattr(thing, each.name, None), found)
    return found


def _sizes_of_all(parts: Collection[Any], whole: Any, found: dict[int, int]) -> None:
    """What the parts of something take; many texts are counted as one thing."""
    if len(parts) > MANY_PARTS and all(isinstance(part, (str, int, float)) for part in parts):
        found[id(whole)] = sum(58 + len(part) if isinstance(part, str) else 32 for part in parts)
        return
    found[id(whole)] = 64 + 8 * len(parts)
    for part in parts:
        sizes(part, found)
