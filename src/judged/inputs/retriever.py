"""Ask a retriever the judged queries, and evaluate what it returns.

Retrievers of LangChain, LlamaIndex and Haystack are recognised by their methods and never imported.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
import warnings
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import isasyncgen, isawaitable, isclass, iscoroutine, iscoroutinefunction, signature
from itertools import pairwise
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from judged.errors import InputError, JudgedWarning, PolicyError, quoted
from judged.evaluation.evaluate import evaluate
from judged.evaluation.export import Latency
from judged.evaluation.settings import EvaluationSettings
from judged.inputs import Judgements, Lookup, read_judgements, read_run
from judged.inputs.order import DISTANCES
from judged.inputs.retriever_answers import (
    AnswerFile,
    AnswerReader,
    ItemOption,
    RetrievedResults,
    SavedAnswer,
    hash_of,
    read_queries,
)
from judged.options import (
    SCORING,
    ItemLike,
    JudgementsLike,
    MeasuresLike,
    Path,
    Progress,
    QueriesLike,
    RetrieverLike,
    checked,
    formats_of,
    later,
    unknown_option,
)
from judged.policy import Policy
from judged.text import Warned, counted, few, listed

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.measures import Measure
else:  # loaded by `typing.get_type_hints` only
    Evaluation = later("judged:Evaluation")

OPTIONS = set(SCORING) - {"skip_bad"}
MAX_FAILURES_AT_START = 20
"""If so many queries failed and none was answered, no more are asked."""
_FIRST_ONLY = ("RR", "Success")


@checked
def evaluate_retriever(
    retriever: RetrieverLike,
    queries: QueriesLike | None,
    judgements: JudgementsLike,
    measures: MeasuresLike | None = None,
    *,
    k: int = 100,
    item: ItemLike | None = None,
    workers: int = 1,
    retries: int = 0,
    wait: float = 1.0,
    save: Path | None = None,
    all_queries: bool = False,
    name: str | None = None,
    **scoring: Any,
) -> Evaluation:
    """Ask a retriever the judged queries, and evaluate what it returns.

    Parameters
    ----------
    retriever : RetrieverLike
        A function of a query, or an object with `invoke` (LangChain), `retrieve` (LlamaIndex) or
        `run` (Haystack, called as `run(query=…)`, or with a mapping's keys); asynchronous ones,
        too. It returns ids, the best first, (id, score), mappings or objects.
    queries : QueriesLike or None
        {id: query}, a list of texts that are their own ids, rows with an id and a text, a table,
        or a file; None if the ids of the judgements are the queries.
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list; by default AP, nDCG@10, RR, P@10 and R@100.
    k : int, optional
        The number of results of each query that are kept. The retriever decides how many it
        returns.
    item : ItemLike, optional
        The path to the id in a result, such as "metadata.doc_id", or a function from a result to
        its id, or to (id, score). By default ids are found where that is clear.
    workers : int, optional
        The number of queries asked at once, in threads or in an event loop.
    retries : int, optional
        The number of times that a failed query is asked again.
    wait : float, optional
        Seconds before a query is asked again; twice as long each further time.
    save : str or os.PathLike, optional
        A file (.jsonl) to write results to as they come; a later call with the same file resumes
        from it. It can be read as a run.
    all_queries : bool, optional
        Ask queries without judgements, too.
    name : str, optional
        The name of the run; by default that of the retriever.
    **scoring
        Options of `evaluate`: policy, convention, …. `progress` is called with 1 after each query.

    Returns
    -------
    Evaluation
        With the `latency` of the queries. Failed queries are missing, and a warning names them.

    >>> texts = {"q1": "red apple", "q2": "blue sky"}
    >>> def search(text):
    ...     return ["a", "b"] if "apple" in text else ["b", "c"]
    >>> evaluate_retriever(search, texts, {"q1": {"a": 1}, "q2": {"c": 1}}, "RR").value()
    0.75
    """
    progress = scoring.pop("progress", None)
    task = RetrieverTask.of(
        retriever,
        queries,
        judgements,
        measures,
        k=k,
        item=item,
        workers=workers,
        retries=retries,
        wait=wait,
        save=save,
        all_queries=all_queries,
        name=name,
        scoring=scoring,
    )
    return task.evaluate(progress)


# How a retriever is called

RETRIEVER_METHODS = {"invoke": "ainvoke", "retrieve": "aretrieve", "run": "run_async"}
"""Methods of LangChain, LlamaIndex and Haystack, each with its asynchronous twin."""


@dataclass(frozen=True)
class RetrieverCall:
    """A function from a query to what the retriever returns for it."""

    function: Callable[[Any], Any]
    name: str
    awaited: bool
    run: Callable[..., Any] | None = None
    """The method of Haystack that is called with keyword arguments."""

    def check(self, query: Any) -> None:
        if self.run is None:
            return
        try:
            takes = signature(self.run, follow_wrapped=False)
        except (TypeError, ValueError):  # it cannot be inspected
            return
        given = _keywords(query)
        try:
            takes.bind(**given)
        except TypeError:
            method = getattr(self.run, "__name__", "run")
            names, called = (
                listed([str(name) for name in each] or ["nothing"])
                for each in (takes.parameters, given)
            )
            raise InputError(
                f"{self.name}.{method} takes {names}, but is called with {called}; give a function "
                "of the query that calls it, or queries that are mappings of its arguments."
            ) from None


def call_of(retriever: Any) -> RetrieverCall:
    if isclass(retriever):
        raise InputError(
            f"the retriever is the class {retriever.__name__}; give an object of it, or a function."
        )
    methods = [
        next(name for name in both if _method(retriever, name))
        for both in RETRIEVER_METHODS.items()
        if any(_method(retriever, name) for name in both)
    ]
    if len(methods) > 1:
        raise InputError(
            f"the retriever has the methods {listed(methods)}; give the one to call, such as "
            f"retriever.{methods[0]}."
        )
    if not methods and not callable(retriever):
        if _method(retriever, "as_retriever"):  # a store of LangChain, an index of LlamaIndex
            raise InputError(
                f"an object of {type(retriever).__name__} is not a retriever; give the result of "
                "its as_retriever()."
            )
        known = listed([f".{name}" for name in RETRIEVER_METHODS], "or")
        raise InputError(
            f"a retriever is a function of a query, or an object with {known}; got "
            f"{quoted(retriever)}."
        )
    function = getattr(retriever, methods[0]) if methods else retriever
    if methods and methods[0] in ("run", RETRIEVER_METHODS["run"]):
        return RetrieverCall(
            lambda query: function(**_keywords(query)),
            name_of(retriever),
            _awaited(function),
            function,
        )
    return RetrieverCall(function, name_of(retriever), _awaited(function))


def _method(retriever: Any, name: str) -> bool:
    return callable(getattr(retriever, name, None))


def _keywords(query: Any) -> Mapping[str, Any]:
    """Return the arguments of a Haystack component: a mapping, or the query alone."""
    return query if isinstance(query, Mapping) else {"query": query}


def _awaited(function: Any) -> bool:
    return iscoroutinefunction(function) or iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def name_of(function: Any) -> str:
    while isinstance(function, partial):
        function = function.func
    owner = getattr(function, "__self__", None)
    if owner is not None and not isclass(owner) and type(owner).__name__ != "module":
        function = owner
    name = getattr(function, "__name__", None) or type(function).__name__
    return name if isinstance(name, str) and name.isidentifier() else "retriever"


# Asking queries

clock: Callable[[], float] = time.perf_counter
sleep: Callable[[float], None] = time.sleep
sleep_in_loop: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(frozen=True)
class RetrieverAnswer:
    query: str
    found: Any = None
    seconds: float = 0.0
    """The time of the successful call, without failed calls and waits."""
    tries: int = 1
    error: Exception | None = None


@dataclass(frozen=True)
class RetrieverClient:
    workers: int = 1
    retries: int = 0
    wait: float = 1.0
    """Seconds before the second try; each wait is twice as long as the one before."""

    def __call__(
        self, call: RetrieverCall, queries: Mapping[str, Any]
    ) -> Generator[RetrieverAnswer]:
        """Yield the answers as they come."""
        remaining = dict(queries)
        if remaining and not call.awaited:
            query = next(iter(remaining))  # its result shows whether a function is asynchronous
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
        yield 0.0
        yield from (self.wait * 2**at for at in range(self.retries))

    def _answer(self, call: RetrieverCall, query: str, given: Any) -> RetrieverAnswer:
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
                    f"query {query!r}: the retriever returned an awaitable, but not for its first "
                    "query; give an async function."
                )
            return RetrieverAnswer(query, found, took, tries)
        return RetrieverAnswer(query, tries=self.retries + 1, error=failed)

    def _in_threads(
        self, call: RetrieverCall, queries: Mapping[str, Any]
    ) -> Iterator[RetrieverAnswer]:
        todo: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        done: SimpleQueue[RetrieverAnswer | BaseException] = SimpleQueue()
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

    def _in_loop(
        self, call: RetrieverCall, queries: Mapping[str, Any]
    ) -> Iterator[RetrieverAnswer]:
        """Run a loop in a thread of its own, so that it works inside a running loop, too."""
        done: SimpleQueue[RetrieverAnswer | BaseException] = SimpleQueue()
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

    async def _awaited_answer(self, call: RetrieverCall, query: str, given: Any) -> RetrieverAnswer:
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
                    raise  # the whole evaluation was cancelled
                failed = RuntimeError("the call was cancelled")
                continue
            except Exception as error:
                failed = error
                continue
            return RetrieverAnswer(query, found, clock() - began, tries)
        return RetrieverAnswer(query, tries=self.retries + 1, error=failed)


class _ToBeAwaitedError(InputError):
    """A function turned out to be asynchronous."""


def _start(work: Callable[[], None]) -> threading.Thread:
    """Start a thread that ends with the program and sees the context of its maker."""
    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True)
    thread.start()
    return thread


def _received(
    done: SimpleQueue[RetrieverAnswer | BaseException], number: int
) -> Iterator[RetrieverAnswer]:
    for _ in range(number):
        answer = done.get()
        if isinstance(answer, BaseException):
            raise answer
        yield answer


# The evaluation


@dataclass
class RetrieverTask:
    """Everything that is needed to ask and evaluate, checked before the first query."""

    call: RetrieverCall
    judgements: Judgements | Lookup
    measures: Any
    options: Mapping[str, Any]
    queries: Mapping[str, Any]
    todo: Mapping[str, Any]
    asking: RetrieverClient
    reader: AnswerReader
    record: AnswerFile | None
    name: str
    notes: list[str]
    answered: dict[str, SavedAnswer]
    failed: dict[str, Exception] = field(default_factory=dict)

    @classmethod
    @checked
    def of(
        cls,
        retriever: Any,
        queries: Any,
        judgements: Any,
        measures: Any,
        *,
        k: int,
        item: ItemOption,
        workers: int,
        retries: int,
        wait: float,
        save: Any,
        all_queries: bool,
        name: str | None = None,
        scoring: Mapping[str, Any],
    ) -> RetrieverTask:
        call = call_of(retriever)
        _check_item(item)
        for option in scoring:
            if option not in OPTIONS:
                raise InputError(unknown_option("evaluate_retriever", option, sorted(OPTIONS)))
        columns, form = scoring.get("columns"), formats_of(scoring.get("format"))[0]
        read = read_judgements(judgements, columns=columns, format=form)
        judged = read.names() if isinstance(read, Judgements) else list(read.lists)
        rest = {key: value for key, value in scoring.items() if key not in ("columns", "format")}
        asked = {query: query for query in judged} if queries is None else read_queries(queries)
        chosen, notes = _chosen(asked, judged, all_queries=all_queries)
        call.check(next(iter(chosen.values())))
        with warnings.catch_warnings():
            # Wrong options are an error before anything is asked.
            warnings.simplefilter("ignore", JudgedWarning)
            evaluate(read, _stand_in(read, chosen), measures, **rest)
        record = None
        if save is not None:
            path = item
            if callable(item):
                path = f"the function {getattr(item, '__name__', type(item).__name__)}"
            settings = {"k": k, "from": path, "retriever": call.name}
            record = AnswerFile.at(save, settings)
        return cls(
            call=call,
            judgements=read,
            measures=measures,
            options=rest,
            queries=chosen,
            todo=record.resume(chosen) if record else chosen,
            asking=RetrieverClient(workers, retries, wait),
            reader=AnswerReader(item, k),
            record=record,
            name=name or call.name,
            notes=notes,
            answered=dict(record.saved) if record else {},
        )

    def evaluate(self, progress: Progress | None = None) -> Evaluation:
        order = _Order(self.answered)
        try:
            with closing(self.asking(self.call, self.todo)) as answers:
                for answer in answers:
                    self._take(answer, order)
                    if progress is not None:
                        progress(1)
        finally:
            if self.record is not None:
                self.record.close()
        if not self.answered:
            raise self._nothing()
        if not any(each.results.items for each in self.answered.values()):
            raise InputError(
                "the retriever returned no result for any query, so there is nothing to evaluate."
            )
        order.refuse_distances()
        if self.record is not None:
            self.record.finish(self.queries)
        answered = {query: self.answered[query] for query in self.queries if query in self.answered}
        run = read_run(
            {query: each.results.pairs for query, each in answered.items()}, name=self.name
        )
        run = replace(run, notes=(*run.notes, *self._notes_on(answered, order)))
        latency = Latency(
            {query: answer.seconds for query, answer in answered.items()},
            max(answer.workers for answer in answered.values()),
            tuple(query for query, answer in answered.items() if answer.tries > 1),
        )
        evaluation = evaluate(self.judgements, run, self.measures, **self.options)
        return replace(evaluation, latency=latency)

    def _take(self, answer: RetrieverAnswer, order: _Order) -> None:
        if answer.error is not None:
            self.failed[answer.query] = answer.error
            if not self.answered and len(self.failed) >= MAX_FAILURES_AT_START:
                raise self._nothing()
            return
        results = self.reader.read(answer.query, answer.found)
        if Policy.of(self.options.get("policy")).duplicates == "error":
            _refuse_repeated(answer.query, results)
        asked = hash_of(answer.query, self.queries[answer.query]) if self.record else ""
        saved = SavedAnswer(results, answer.seconds, answer.tries, self.asking.workers, asked)
        self.answered[answer.query] = saved
        if self.record is not None:
            self.record.add(answer.query, saved)
        order.add(results)

    def _nothing(self) -> InputError:
        tried = len(self.failed)
        whole = tried == len(self.todo)
        which = "the query" if whole and tried == 1 else "all queries"
        if not whole:
            which = f"the first {tried} of {len(self.todo):,} queries"
        return InputError(f"{which} failed; the first error was {self._first_error()}")

    def _first_error(self) -> str:
        query, error = next(iter(self.failed.items()))
        said = " ".join(str(error).split())
        shown = said if len(said) <= 300 else f"{said[:300]}…"
        return f"{type(error).__name__}{f': {shown}' if shown else ''} (query {query!r})."

    def _notes_on(self, answered: Mapping[str, SavedAnswer], order: _Order) -> list[str]:
        request = EvaluationSettings.of(
            self.measures, self.options.get("policy"), self.options.get("convention")
        )
        said = [*self.notes, *self._about_failed(request.policy)]
        if self.record is not None:
            said += self.record.notes
        if order.unlike:
            said.append(
                Warned(
                    f"In {counted(order.unlike, 'query', 'queries')} the scores do not fall in the "
                    "order of the results. The scores define the ranks; return only ids to rank "
                    "by order."
                )
            )
        said += self._about_cut(answered, request.measures)
        if self.reader.path is not None:
            said.append(f"The id of each result is its {self.reader.path}.")
        return said + self._unknown(answered)

    def _about_failed(self, policy: Policy) -> list[str]:
        if not self.failed:
            return []
        names = ", ".join(list(self.failed)[:10]) + (", …" if len(self.failed) > 10 else "")
        number = counted(len(self.queries), "query", "queries")
        failed = f"{len(self.failed):,} of {number} failed ({names})"
        if policy.missing == "error":
            raise PolicyError(
                f"{failed}, which missing=error does not allow. The first error was "
                f"{self._first_error()}"
            )
        return [Warned(f"{failed}. The first error was {self._first_error()}")]

    def _about_cut(
        self, answered: Mapping[str, SavedAnswer], measures: Sequence[Measure]
    ) -> list[str]:
        cut = {query: each.results for query, each in answered.items() if each.results.cut}
        if not cut:
            return []
        k = self.reader.k
        said = (
            f"{counted(sum(each.cut for each in cut.values()), 'result')} beyond the first {k:,} "
            f"of {counted(len(cut), 'query', 'queries')} not kept (k={k:,})"
        )
        cutoffs = [measure.params.get("k") for measure in measures]
        deeper = max((each for each in cutoffs if isinstance(each, int)), default=0)
        if deeper > k:
            return [Warned(f"{said}, though measures look down to rank {deeper:,}.")]
        if names := self._uncut(cut, measures):
            return [
                Warned(
                    f"{said}, though {listed(names)} {'looks' if len(names) == 1 else 'look'} at "
                    "whole lists: relevant results beyond count as not retrieved. Raise k, or "
                    f"give a cutoff, such as {names[0]}@{k}."
                )
            ]
        return [f"{said}."]

    def _uncut(self, cut: Mapping[str, RetrievedResults], measures: Sequence[Measure]) -> list[str]:
        """Name the measures without a cutoff that relevant results beyond k may raise."""
        wholes = [
            measure
            for measure in measures
            if measure.spec.rates_relevance
            and measure.spec.at is not None
            and measure.params.get(measure.spec.at) is None
        ]
        relevant = _relevant_items(self.judgements, cut) if wholes else {}
        left: set[str] = set()
        unseen: set[str] = set()
        for query, results in cut.items():
            lost = relevant.get(query, set()) - set(results.items)
            left |= {query} if lost else set()
            unseen |= {query} if lost == relevant.get(query) and lost else set()
        if any(self.options.get(name) is not None for name in ("unique", "item_to")):
            left = unseen = set(cut)  # ids are others then
        return [
            str(measure)
            for measure in wholes
            if (unseen if measure.spec.name in _FIRST_ONLY else left)
        ]

    def _unknown(self, answered: Mapping[str, SavedAnswer]) -> list[str]:
        """Return a warning if no returned id is judged."""
        if any(self.options.get(name) is not None for name in ("unique", "item_to")):
            return []
        returned = dict.fromkeys(
            item for saved in answered.values() for item in saved.results.items
        )
        judged = dict.fromkeys(item for _, item, _ in _judged_rows(self.judgements))
        if not returned or not returned.keys().isdisjoint(judged):
            return []
        return [
            Warned(
                f"No result is a judged item: {quoted(next(iter(returned)))} and others were "
                f"returned, {quoted(next(iter(judged), None))} and others are judged. Give the "
                "path to the id with item=."
            )
        ]


def _judged_rows(judgements: Judgements | Lookup) -> Iterator[tuple[str, str, Any]]:
    """Yield query, item and grade (or grades by subtopic), always in the same order."""
    if isinstance(judgements, Judgements):
        yield from judgements.frame.select("query", "item", "grade").iter_rows()
        return
    for query, items in judgements.lists.items():
        for item, grade in items.items():
            yield query, item, grade


def _relevant_items(
    judgements: Judgements | Lookup, queries: Mapping[str, Any]
) -> dict[str, set[str]]:
    relevant: dict[str, set[str]] = {}
    for query, item, grade in _judged_rows(judgements):
        best = max(grade.values()) if isinstance(grade, Mapping) else grade
        if query in queries and best > 0:
            relevant.setdefault(query, set()).add(item)
    return relevant


def _chosen(
    asked: Mapping[str, Any], judged: list[str], *, all_queries: bool
) -> tuple[dict[str, Any], list[str]]:
    """Return the queries to ask, and notes on the others."""
    if not judged:
        raise InputError("the judgements are empty: no query is judged.")
    known = set(judged)
    ours = {query: each for query, each in asked.items() if query in known}
    if not ours:
        raise InputError(
            f"none of the queries is judged: the queries have {quoted(next(iter(asked)))}, the "
            f"judgements {quoted(next(iter(judged), None))}. Give queries the ids of the "
            "judgements."
        )
    notes: list[str] = []
    if not all_queries and len(ours) < len(asked):
        left = counted(len(asked) - len(ours), "query", "queries")
        notes.append(f"{left} without judgements not asked.")
    lost = [query for query in judged if query not in asked]
    if lost:
        names = few(lost)
        notes.append(
            Warned(
                f"{counted(len(lost), 'judged query is', 'judged queries are')} not among the "
                f"queries to ask ({names})."
            )
        )
    return dict(asked) if all_queries else ours, notes


def _stand_in(judgements: Judgements | Lookup, queries: Mapping[str, Any]) -> Lookup:
    """Return a run with one result, to check the options with."""
    pairs = ((query, item) for query, item, _ in _judged_rows(judgements))
    judged = (pair for pair in pairs if pair[0] in queries and pair[1] != pair[0])
    query, item = next(judged, (next(iter(queries)), "an item"))
    return Lookup({name: {item: 1.0} if name == query else {} for name in queries})


def _check_item(item: Any) -> None:
    if item is None or (isinstance(item, str) and item) or callable(item):
        return
    raise InputError(
        "item must be the path to the id in a result, such as 'metadata.doc_id', or a function "
        f"from a result to its id; got {quoted(item)}."
    )


def _refuse_repeated(query: str, results: RetrievedResults) -> None:
    if len(set(results.items)) == len(results.items):
        return
    seen: dict[str, int] = {}
    for rank, item in enumerate(results.items, 1):
        if item in seen:
            raise InputError(
                f"query {query!r}: item {item!r} is returned twice, as results {seen[item]} and "
                f"{rank}. If parts of a document share its id, give the path to their own with "
                'item=, or use policy={"duplicates": "first"}.'
            )
        seen[item] = rank


class _Order:
    """Counts lists whose scores fall, and lists whose scores rise as distances do."""

    def __init__(self, answered: Mapping[str, SavedAnswer]) -> None:
        self.rising = self.falling = self.unlike = 0
        for each in answered.values():
            self.add(each.results, refuse=False)

    def add(self, results: RetrievedResults, *, refuse: bool = True) -> None:
        scores = results.scores or ()
        pairs = list(pairwise(scores))
        if any(one < other for one, other in pairs):
            self.unlike += 1
            self.rising += all(one <= other for one, other in pairs)
        elif any(one > other for one, other in pairs):
            self.falling += 1
        if refuse and self.rising == DISTANCES:
            self.refuse_distances()

    def refuse_distances(self) -> None:
        if self.rising and self.rising == self.unlike and not self.falling:
            raise InputError(
                "the scores rise from the first to the last result of every list, as distances "
                "do, but the greatest score is best. Return (id, -distance), ids without scores, "
                "or results sorted by falling score."
            )
