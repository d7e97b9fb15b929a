"""Results kept under a bound of bytes, each computed once however many ask for it at once."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from threading import Condition
from typing import Any, TypeVar

import numpy as np

from judged.web.errors import StoppedError
from judged.web.jobs import progress_of_this_work, watching

Found = TypeVar("Found")
SMALL = 1_000
"""Bytes that anything takes that nobody measures."""
MANY = 200


@dataclass(eq=False)
class _Flight:
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
    _kept: OrderedDict[Hashable, _Kept] = field(default_factory=OrderedDict)
    _holders: Counter[int] = field(default_factory=Counter)
    """How many results hold a thing, by its identity."""
    _flights: dict[Hashable, _Flight] = field(default_factory=dict)
    _changed: Condition = field(default_factory=Condition)

    def get(self, key: Hashable, make: Callable[[], Found], *, lasting: bool = False) -> Found:
        """What is kept under a key, or is made now; whoever asks meanwhile waits for it."""
        while True:
            with self._changed:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    found: Found = self._kept[key].found
                    return found
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
                waited: Found = flight.found
                return waited
        return self._made(key, flight, make, lasting)

    def _made(
        self, key: Hashable, flight: _Flight, make: Callable[[], Found], lasting: bool
    ) -> Found:
        try:
            found = flight.found = make()
        except BaseException as error:
            flight.error = error
            raise
        else:
            self._keep(key, _Kept(found, sizes(found), lasting))
            return found
        finally:
            with self._changed:
                flight.done = True
                del self._flights[key]
                self._changed.notify_all()

    def _keep(self, key: Hashable, kept: _Kept) -> None:
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
class _Kept:
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
    found[id(thing)] = SMALL
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
    if len(parts) > MANY and all(isinstance(part, (str, int, float)) for part in parts):
        found[id(whole)] = sum(58 + len(part) if isinstance(part, str) else 32 for part in parts)
        return
    found[id(whole)] = 64 + 8 * len(parts)
    for part in parts:
        sizes(part, found)
