"""Many runs side by side: each is read and judged in a thread of its own, and results are handed on
in the order of the runs. polars parses and joins, and numpy sorts, without holding Python's lock.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from judged.errors import EngineError, InputError, JudgedError
from judged.inputs.blocks import RunBlocks
from judged.text import counted

if TYPE_CHECKING:
    from judged.inputs.data import Reading

Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Outcome(Generic[Made]):
    """What came of a run: what was made of it, or why it cannot be evaluated."""

    name: str
    made: Made | None = None
    error: JudgedError | None = None


def side_by_side(
    readings: Sequence[Sequence[Reading]],
    make: Callable[[Sequence[Any]], Made],
    *,
    jobs: int | None,
    first_alone: bool = False,
) -> Iterator[Outcome[Made]]:
    """What is made of each run, at most `jobs` at once (None: one for each core), in the order
    given; with `first_alone` the others are begun once the first is there. A run may be read in
    several ways (`readings`), of which it is made together.

    What is not a file in a folder (a pipe, say) is read when its turn comes, for it may let a
    thread wait for ever; and a run in blocks is made of then, for it uses all cores, and the memory
    that it may have, by itself.
    """
    if first_alone and readings:
        yield _outcome(readings[0][0].name, partial(_read_and, make, readings[0]))
        yield from side_by_side(readings[1:], make, jobs=jobs)
        return
    files = sum(_is_file(reading) for reading in readings)
    threads = min(jobs or _cores(), files)
    if threads < 2:
        for reading in readings:
            yield _outcome(reading[0].name, partial(_read_and, make, reading))
        return
    from concurrent.futures import ThreadPoolExecutor

    def begin(reading: Sequence[Reading]) -> Callable[[], Made]:
        """What is left to do in the order given: nothing but to hand over, where all is done."""
        tables = _read(reading)
        if any(isinstance(table, RunBlocks) for table in tables):
            return lambda: make(tables)
        made = make(tables)
        return lambda: made

    pool = ThreadPoolExecutor(threads)
    try:
        begun: deque[tuple[str, Callable[[], Callable[[], Made]]]] = deque()
        for reading in readings:
            own = pool.submit(begin, reading).result if _is_file(reading) else None
            begun.append((reading[0].name, own or partial(begin, reading)))
        while begun:
            name, rest = begun.popleft()
            yield _outcome(name, partial(_ended, rest))
    finally:
        pool.shutdown(cancel_futures=True)


def _outcome(name: str, make: Callable[[], Made]) -> Outcome[Made]:
    try:
        return Outcome(name, make())
    except EngineError:  # nothing about this run
        raise
    except JudgedError as error:
        return Outcome(name, error=error)


def _read_and(make: Callable[[Sequence[Any]], Made], reading: Sequence[Reading]) -> Made:
    return make(_read(reading))


def _ended(begun: Callable[[], Callable[[], Made]]) -> Made:
    return begun()()


def _read(reading: Sequence[Reading]) -> list[Any]:
    return [each.read() for each in reading]


def _is_file(reading: Sequence[Reading]) -> bool:
    return all(each.is_file for each in reading)


def _cores() -> int:
    """How many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def refuse_bad(bad: Sequence[Outcome[Any]], number: int, *, skip_bad: bool) -> None:
    """Refuse runs that cannot be evaluated, all of them at once; with `skip_bad` only where no run
    is left."""
    errors = [each.error for each in bad if each.error is not None]
    if not errors or (skip_bad and len(errors) < number):
        return
    alike = len({str(error) for error in errors}) == 1
    if len(errors) == 1 or (alike and len(errors) == number):  # about no run in particular
        raise errors[0]
    reasons = "".join(f"\n{each.name}: {each.error}" for each in bad)
    some = f"{len(errors)} of {counted(number, 'run')}"
    hint = "" if len(errors) == number else "; skip_bad (--skip-bad) leaves them out"
    kinds = {type(error) for error in errors}
    kind = kinds.pop() if len(kinds) == 1 else InputError
    raise kind(f"{some} cannot be evaluated{hint}:{reasons}")
