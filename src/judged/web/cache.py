"""Results kept under a bound of bytes, each computed once however many ask for it at once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from threading import Condition
from typing import Any, TypeVar

import numpy as np

from judged.web.errors import StoppedError
from judged.web.jobs import progress_of_this_work, watching

Kept = TypeVar("Kept")
SMALL = 1_000
"""Bytes that anything takes at least."""


@dataclass(eq=False)
class _Flight:
    """Something that is being computed."""

    progress: Any
    done: bool = False
    found: Any = None
    error: BaseException | None = None


@dataclass(eq=False)
class Cache:
    """Results by key; what was used longest ago goes first once they take more than `most` bytes.

    >>> cache = Cache(10**6)
    >>> cache.get("a", lambda: 1), cache.get("a", lambda: 2)
    (1, 1)
    """

    most: int
    size: int = 0
    _kept: OrderedDict[Hashable, tuple[Any, int]] = field(default_factory=OrderedDict)
    _flights: dict[Hashable, _Flight] = field(default_factory=dict)
    _changed: Condition = field(default_factory=Condition)

    def get(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """What is kept under a key, or is made now; whoever asks meanwhile waits for it."""
        while True:
            with self._changed:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    return self._kept[key][0]
                flight = self._flights.get(key)
                if flight is None:
                    flight = self._flights[key] = _Flight(progress_of_this_work())
                    break
                with watching(flight.progress) as own:
                    while not flight.done:
                        self._changed.wait(0.2)
                        own.check()
            if not isinstance(flight.error, StoppedError):
                if flight.error is not None:
                    raise flight.error
                return flight.found
        return self._made(key, flight, make)

    def _made(self, key: Hashable, flight: _Flight, make: Callable[[], Kept]) -> Kept:
        try:
            flight.found = make()
            size = size_of(flight.found)
        except BaseException as error:
            flight.error = error
            raise
        else:
            self._keep(key, flight.found, size)
            return flight.found
        finally:
            with self._changed:
                flight.done = True
                del self._flights[key]
                self._changed.notify_all()

    def _keep(self, key: Hashable, found: Any, size: int) -> None:
        with self._changed:
            if size > self.most:
                return
            self._kept[key] = found, size
            self.size += size
            while self.size > self.most:
                _, (_, gone) = self._kept.popitem(last=False)
                self.size -= gone

    def forget(self, which: Callable[[Any], bool]) -> None:
        """Drop what is kept under some keys."""
        with self._changed:
            for key in [key for key in self._kept if which(key)]:
                self.size -= self._kept.pop(key)[1]

    def __contains__(self, key: Hashable) -> bool:
        with self._changed:
            return key in self._kept


def size_of(thing: Any, seen: set[int] | None = None) -> int:
    """About how many bytes something takes: arrays, frames and texts, wherever they are in it."""
    seen = set() if seen is None else seen
    if id(thing) in seen or thing is None or isinstance(thing, (bool, int, float)):
        return 0
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        return int(thing.nbytes)
    if isinstance(thing, (str, bytes)):
        return 50 + len(thing)
    if hasattr(thing, "estimated_size"):
        return int(thing.estimated_size())
    if isinstance(thing, Mapping):
        parts: Any = [*thing.keys(), *thing.values()]
    elif isinstance(thing, (list, tuple, set, frozenset)):
        parts = thing
    elif is_dataclass(thing) and not isinstance(thing, type):
        parts = [getattr(thing, each.name, None) for each in fields(thing)]
        parts += [value for name, value in getattr(thing, "__dict__", {}).items()]
    else:
        return SMALL
    if len(parts) > 200 and isinstance(next(iter(parts)), str):
        return sum(50 + len(part) for part in parts if isinstance(part, str)) + 8 * len(parts)
    return SMALL + sum(size_of(part, seen) for part in parts)
