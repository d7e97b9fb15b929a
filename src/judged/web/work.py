"""Jobs that may take long, and a cache of results with a limit in bytes."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field, fields, is_dataclass
from secrets import token_hex
from threading import Event, Lock
from typing import Any, TypeVar

import numpy as np

from judged.web.errors import StoppedError

MAX_JOBS = 32  # how many jobs run at once; most of them wait for another
MAX_COMPUTATIONS = 2
SECONDS_UNTIL_ABANDONED = 90.0  # browsers ask again each second, in a hidden tab each minute
SECONDS_AFTER_LEAVING = 3.0  # the same for a page that was closed, which another tab may show too
SECONDS_UNTIL_DROPPED = 120.0  # how long a finished job waits for its request to come back
SMALLEST_BYTES = 1_000  # the size of objects that are not measured
MANY_PARTS = 200  # the size of larger collections is estimated from so many of their parts

Cached = TypeVar("Cached")


@dataclass(eq=False)
class Job:
    """A job that is running or finished, and its progress."""

    key: Hashable = None
    owner: str = ""
    id: str = field(default_factory=lambda: token_hex(4))
    future: Future[Any] = field(default_factory=Future)
    begun: float = field(default_factory=time.monotonic)
    what: str = ""
    done: float = 0
    total: float = 0
    unit: str = ""
    stopped: bool = False
    asked: float = field(default_factory=time.monotonic)  # when a request last asked for it
    waiters: int = 0  # requests that wait for it now
    patience: float = SECONDS_UNTIL_ABANDONED
    watched: Job | None = None  # another job that this one waits for

    @property
    def shown(self) -> Job:
        """The job whose progress to show: the one it waits for, if any."""
        return self.watched.shown if self.watched is not None else self

    def say(self, what: str, done: float = 0, total: float = 0, unit: str = "") -> None:
        """Report progress; raise `StoppedError` if the user stopped the job."""
        self.check()
        self.what, self.done, self.total, self.unit = what, done, total, unit

    @property
    def is_abandoned(self) -> bool:
        """True if no request asks for it any more."""
        return not self.waiters and time.monotonic() - self.asked > self.patience

    def check(self) -> None:
        """Raise `StoppedError` if the user stopped the job, or no request asks for it any more."""
        if self.stopped or self.is_abandoned:
            raise StoppedError("This was stopped. Reload the page to start again.")

    async def wait(
        self, seconds: float | None, is_gone: Callable[[], Awaitable[bool]] | None = None
    ) -> bool:
        """Wait for the job; stop it where the only request that waits for it is gone."""
        future = asyncio.wrap_future(self.future)
        until = time.monotonic() + (math.inf if seconds is None else seconds)
        self.waiters += 1
        try:
            while not self.future.done() and time.monotonic() < until:
                await asyncio.wait([future], timeout=min(0.5, until - time.monotonic()))
                if is_gone is not None and self.waiters == 1 and await is_gone():
                    self.stopped = True
                    self.future.cancel()
                    break
        finally:
            self.waiters -= 1
            self.asked = time.monotonic()
        return self.future.done()


_HAS_TURN: ContextVar[bool] = ContextVar("turn", default=False)
_CURRENT: ContextVar[Job | None] = ContextVar("job", default=None)


def progress_of_this_work() -> Job:
    """Return the running job; outside of jobs, one that is not shown."""
    return _CURRENT.get() or Job()


@contextmanager
def watching(other: Job) -> Iterator[Job]:
    """Show the progress of another job while this one waits for it."""
    job = progress_of_this_work()
    job.watched = None if other is job else other
    try:
        yield job
    finally:
        job.watched = None


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
            if job is None or job.is_abandoned:
                job = self._jobs[key] = Job(key, owner)
                context = copy_context()
                context.run(_CURRENT.set, job)
                job.future = self._pool.submit(context.run, work)
            return job

    def finish(self, job: Job) -> Any:
        with self._lock:
            if self._jobs.get(job.key) is job:
                del self._jobs[job.key]
        if job.future.cancelled():
            job.check()
        return job.future.result()

    def find(self, id: str, owner: str) -> Job | None:
        with self._lock:
            jobs = (job for job in self._jobs.values() if job.id == id and job.owner == owner)
            return next(jobs, None)

    def stop(self, job: Job) -> None:
        """Stop a job when it next reports progress."""
        job.stopped = True
        job.future.cancel()

    def close(self) -> None:
        with self._lock:
            for job in self._jobs.values():
                self.stop(job)
        self._pool.shutdown(wait=False, cancel_futures=True)


CachedResult = tuple[Any, dict[int, int], bool]
"""A result, the sizes of its objects by id, and whether it is lasting."""


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
    _kept: OrderedDict[Hashable, CachedResult] = field(default_factory=OrderedDict)
    _holders: Counter[int] = field(default_factory=Counter)
    """The number of results that hold an object, by its id."""
    _running: dict[Hashable, tuple[Job, Future[Any]]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _free: int = MAX_COMPUTATIONS
    _waiting: list[Event] = field(default_factory=list)
    """Computations that wait for their turn, the newest last."""

    def get(self, key: Hashable, make: Callable[[], Cached], *, lasting: bool = False) -> Cached:
        """Return the result of a key; compute it now, or wait for another thread that does."""
        while True:
            with self._lock:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    kept: Cached = self._kept[key][0]
                    return kept
                running = self._running.get(key)
                if running is None and _HAS_TURN.get():
                    future: Future[Cached] = Future()
                    self._running[key] = progress_of_this_work(), future
                    break
            if running is None:
                # Only who has a turn says that it computes, so nobody waits for who waits.
                with self._turn():
                    return self.get(key, make, lasting=lasting)
            with watching(running[0]) as job:
                while not wait([running[1]], 0.2).done:
                    job.check()
            if not isinstance(running[1].exception(), StoppedError):
                shared: Cached = running[1].result()
                return shared
        try:
            made = make()
            self._keep(key, (made, sizes(made), lasting))
        except BaseException as error:
            self._running.pop(key)  # before those who wait look again
            future.set_exception(error)
            raise
        self._running.pop(key)
        future.set_result(made)
        return made

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for one of a few places in which computations run; the newest comes first."""
        event = Event()
        with self._lock:
            if self._free:
                self._free -= 1
                event.set()
            else:
                self._waiting.append(event)
        job = progress_of_this_work()
        try:
            while not event.wait(0.2):
                job.check()
        except StoppedError:
            with self._lock:
                if event in self._waiting:
                    self._waiting.remove(event)
                    raise
            self._end_turn()  # it was given a place at the last moment
            raise
        token = _HAS_TURN.set(True)
        try:
            yield
        finally:
            _HAS_TURN.reset(token)
            self._end_turn()

    def _end_turn(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.pop().set()
            else:
                self._free += 1

    def _keep(self, key: Hashable, kept: CachedResult) -> None:
        with self._lock:
            if sum(kept[1].values()) > self.most:
                return
            self._kept[key] = kept
            for thing, size in kept[1].items():
                self.size += 0 if self._holders[thing] else size
                self._holders[thing] += 1
            while self.size > self.most:
                first = next(iter(self._kept))
                passing = (name for name, (_, _, lasting) in self._kept.items() if not lasting)
                self._drop(next(passing, first))

    def _drop(self, key: Hashable) -> None:
        for thing, size in self._kept.pop(key)[1].items():
            self._holders[thing] -= 1
            if not self._holders[thing]:
                del self._holders[thing]
                self.size -= size

    def forget(self, which: Callable[[Any], bool]) -> None:
        with self._lock:
            for key in [key for key in self._kept if which(key)]:
                self._drop(key)

    def __contains__(self, key: Hashable) -> bool:
        with self._lock:
            return key in self._kept


def sizes(thing: Any, known: dict[int, int] | None = None) -> dict[int, int]:
    """Estimate the bytes of each array, frame and text in an object, by its id."""
    known = {} if known is None else known
    if id(thing) in known or thing is None:
        return known
    known[id(thing)] = SMALLEST_BYTES
    if isinstance(thing, (bool, int, float)):
        known[id(thing)] = 32
    elif isinstance(thing, np.ndarray):
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
    if len(parts) > MANY_PARTS:  # from some of them, because a queue has 100,000s
        sample = [*parts][:: -(-len(parts) // MANY_PARTS)]
        known[id(whole)] = sum(sizes(sample).values()) * len(parts) // len(sample)
        return
    known[id(whole)] = 64 + 8 * len(parts)
    for part in parts:
        sizes(part, known)
