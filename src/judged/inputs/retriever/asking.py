"""Asking a retriever one query after another, in threads, or in an event loop; each answer comes
with the time that its call took."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from inspect import isasyncgen, isawaitable, iscoroutine
from queue import Empty, SimpleQueue
from typing import Any

from judged.errors import InputError
from judged.inputs.retriever.calls import Call

clock: Callable[[], float] = time.perf_counter
sleep: Callable[[float], None] = time.sleep
sleep_in_loop: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(frozen=True)
class Answer:
    """What came of a query: what the retriever returned, or the error of the last try."""

    query: str
    found: Any = None
    seconds: float = 0.0
    """Of the call that was answered; those that failed before it and the waits are not in it."""
    tries: int = 1
    error: Exception | None = None


@dataclass(frozen=True)
class Asking:
    """How often and how many at once."""

    workers: int = 1
    retries: int = 0
    wait: float = 1.0
    """Seconds before the first further try; each wait is twice as long as the one before."""

    def __call__(self, call: Call, queries: Mapping[str, Any]) -> Generator[Answer]:
        """The answers, in the order in which they come; what is asked of this is not asked before
        somebody wants it.

        The first query is asked alone: whether a function has to be awaited shows by what it
        returns.
        """
        remaining = dict(queries)
        if remaining and not call.awaited:
            query = next(iter(remaining))
            try:
                first = self._answer(call, query, remaining[query])
            except _ToBeAwaitedError:
                call = replace(call, awaited=True)
            else:
                del remaining[query]
                yield first
        if call.awaited:
            yield from self._in_loop(call, remaining)
        elif self.workers > 1:
            yield from self._in_threads(call, remaining)
        else:
            for query, given in remaining.items():
                yield self._answer(call, query, given)

    def _waits(self) -> Iterator[float]:
        """The wait before each try: none before the first."""
        yield 0.0
        yield from (self.wait * 2**at for at in range(self.retries))

    def _answer(self, call: Call, query: str, given: Any) -> Answer:
        failed: Exception | None = None
        for tries, wait in enumerate(self._waits(), 1):
            if wait:
                sleep(wait)
            began = clock()
            try:
                found = call.function(given)
                if isinstance(found, Iterator):
                    found = list(found)  # the work of a generator is done here
            except Exception as error:
                failed = error
                continue
            took = clock() - began
            if isawaitable(found) or isasyncgen(found):
                if iscoroutine(found):
                    found.close()  # it has not begun
                raise _ToBeAwaitedError(
                    f"query {query!r}: the retriever returned something to be awaited, which it "
                    "did not do for its first query; give an async function."
                )
            return Answer(query, found, took, tries)
        return Answer(query, tries=self.retries + 1, error=failed)

    def _in_threads(self, call: Call, queries: Mapping[str, Any]) -> Iterator[Answer]:
        todo: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        done: SimpleQueue[Answer | BaseException] = SimpleQueue()
        stopped = threading.Event()
        for pair in queries.items():
            todo.put(pair)

        def work() -> None:
            while not stopped.is_set():
                try:
                    query, given = todo.get_nowait()
                except Empty:
                    return
                try:
                    done.put(self._answer(call, query, given))
                except BaseException as error:
                    done.put(error)
                    return

        # Threads of our own, not a pool: a program that is interrupted does not wait for them.
        for _ in range(min(self.workers, len(queries))):
            _start(work)
        try:
            yield from _received(done, len(queries))
        finally:
            stopped.set()

    def _in_loop(self, call: Call, queries: Mapping[str, Any]) -> Iterator[Answer]:
        """In a thread with a loop of its own, so that it works inside a running loop, too."""
        done: SimpleQueue[Answer | BaseException] = SimpleQueue()
        remaining = iter(queries.items())
        running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = []

        async def work() -> None:
            for query, given in remaining:
                done.put(await self._awaited_answer(call, query, given))

        async def everything() -> None:
            running.append((asyncio.get_running_loop(), asyncio.current_task()))
            await asyncio.gather(*(work() for _ in range(min(self.workers, len(queries)))))

        def run() -> None:
            try:
                asyncio.run(everything())
            except BaseException as error:
                done.put(error)

        thread = _start(run)
        try:
            yield from _received(done, len(queries))
        finally:
            for loop, task in running:
                if task is not None and not loop.is_closed():
                    loop.call_soon_threadsafe(task.cancel)
            thread.join(timeout=1)

    async def _awaited_answer(self, call: Call, query: str, given: Any) -> Answer:
        failed: Exception | None = None
        for tries, wait in enumerate(self._waits(), 1):
            if wait:
                await sleep_in_loop(wait)
            began = clock()
            try:
                found = call.function(given)
                if isawaitable(found):
                    found = await found
                if isasyncgen(found):
                    found = [each async for each in found]
                elif isinstance(found, Iterator):
                    found = list(found)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise  # by whoever asked for all of this
                failed = RuntimeError("the call was cancelled")
                continue
            except Exception as error:
                failed = error
                continue
            return Answer(query, found, clock() - began, tries)
        return Answer(query, tries=self.retries + 1, error=failed)


class _ToBeAwaitedError(InputError):
    """A function that was not known to be asynchronous."""


def _start(work: Callable[[], None]) -> threading.Thread:
    """A thread that ends with the program and sees the context of its maker."""
    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True)
    thread.start()
    return thread


def _received(done: SimpleQueue[Answer | BaseException], number: int) -> Iterator[Answer]:
    for _ in range(number):
        answer = done.get()
        if isinstance(answer, BaseException):
            raise answer
        yield answer
