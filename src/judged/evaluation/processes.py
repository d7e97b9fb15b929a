"""Work that is shared among processes, forked from this one so that they have all that it has."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from judged.errors import EngineError
from judged.process import keep_memory

Made = TypeVar("Made")
_work: Callable[[int], Any]


def forked(work: Callable[[int], Made], count: int, number: int) -> Iterator[Made]:
    """What some work gives for each number below a count, in their order; what it gives is
    pickled."""
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
    from multiprocessing import get_context

    global _work
    _work = work
    pool = ProcessPoolExecutor(number, mp_context=get_context("fork"), initializer=_prepare)
    try:
        with warnings.catch_warnings():
            # Of threads, which are those of BLAS: it looks after them when a process forks.
            warnings.simplefilter("ignore", DeprecationWarning)
            found = pool.map(_do, range(count))
        yield from found
    except BrokenProcessPool:
        raise EngineError(
            "a process that read runs was ended, as by a system that is out of memory; work on "
            "fewer at once (jobs=1, --jobs 1)."
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _prepare() -> None:
    """Leave interrupts to the process that waits, and cores to the others."""
    keep_memory()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("POLARS_MAX_THREADS", "1")


def _do(number: int) -> Any:
    return _work(number)
