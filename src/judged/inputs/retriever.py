"""Ask a retriever the judged queries, and evaluate what it returns.

Retrievers of LangChain, LlamaIndex and Haystack are recognised by their methods and never imported.
"""

from __future__ import annotations

import asyncio
import contextvars
import itertools
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import isasyncgen, isawaitable, isclass, signature
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
from judged.inputs.source import let_interrupts_through
from judged.options import (
    OPTIONS,
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

SCORING_OPTIONS = set(SCORING) - {"skip_bad"}
MAX_FAILURES_AT_START = 20  # if so many queries failed and none was answered, no more are asked
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
    options = RetrieverOptions(k, item, workers, retries, wait, save, all_queries, name)
    task = RetrieverTask.of(retriever, queries, judgements, measures, options, scoring)
    return task.evaluate(progress)


# How a retriever is called

RETRIEVER_METHODS = {"invoke": "ainvoke", "retrieve": "aretrieve", "run": "run_async"}
"""Methods of LangChain, LlamaIndex and Haystack, each with its asynchronous twin."""


@dataclass(frozen=True)
class RetrieverCall:
    """A function from a query to what the retriever returns for it."""

    function: Callable[[Any], Any]
    name: str
    run: Callable[..., Any] | None = None
    """The method of Haystack that is called with keyword arguments."""

    def check(self, query: Any) -> None:
        if self.run is None:
            return
        try:
            takes = signature(self.run, follow_wrapped=False)
        except (TypeError, ValueError):  # it cannot be inspected
            return
        arguments = _keywords(query)
        try:
            takes.bind(**arguments)
        except TypeError:
            method = getattr(self.run, "__name__", "run")
            expected, called = (
                listed(list(map(str, names)) or ["nothing"])
                for names in (takes.parameters, arguments)
            )
            raise InputError(
                f"{self.name}.{method} takes {expected}, but is called with {called}; give a "
                "function of the query that calls it, or queries that are mappings of its "
                "arguments."
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
            lambda query: function(**_keywords(query)), name_of(retriever), function
        )
    return RetrieverCall(function, name_of(retriever))


def _method(retriever: Any, name: str) -> bool:
    return callable(getattr(retriever, name, None))


def _keywords(query: Any) -> Mapping[str, Any]:
    """Return the arguments of a Haystack component: a mapping, or the query alone."""
    return query if isinstance(query, Mapping) else {"query": query}


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


@dataclass(frozen=True)
class RetrieverOptions:
    """The options of `evaluate_retriever` that are about asking."""

    k: int = 100
    item: ItemOption = None
    workers: int = 1
    retries: int = 0
    wait: float = 1.0
    save: Path | None = None
    all_queries: bool = False
    name: str | None = None

    def __post_init__(self) -> None:
        for name in ("k", "workers", "retries", "wait"):
            OPTIONS[name](name, getattr(self, name))
        item = self.item
        if not (item is None or (isinstance(item, str) and item) or callable(item)):
            raise InputError(
                "item must be the path to the id in a result, such as 'metadata.doc_id', or a "
                f"function from a result to its id; got {quoted(item)}."
            )


@dataclass(frozen=True)
class RetrieverAnswer:
    query: str
    returned: Any = None
    seconds: float = 0.0  # the time of the successful call, without failed calls and waits
    tries: int = 1
    error: Exception | None = None


class _EventLoop:
    """A loop in a thread of its own, so that it works inside a running loop, too."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = _start(self._run)

    def _run(self) -> None:
        try:
            self.loop.run_forever()
        finally:
            self.loop.close()

    def wait_for(self, result: Any) -> Any:
        async def finished() -> Any:
            value = await result if isawaitable(result) else result
            return [part async for part in value] if isasyncgen(value) else value

        try:
            return asyncio.run_coroutine_threadsafe(finished(), self.loop).result()
        except CancelledError:
            raise RuntimeError("the call was cancelled") from None

    def close(self) -> None:
        async def end() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await self.loop.shutdown_asyncgens()
            self.loop.stop()

        asyncio.run_coroutine_threadsafe(end(), self.loop)
        self.thread.join(timeout=1)


class RetrieverClient:
    """Asks queries, in threads if there are several workers; awaitables go to an event loop."""

    def __init__(self, call: RetrieverCall, options: RetrieverOptions) -> None:
        self.function = call.function
        self.options = options
        self.loop: _EventLoop | None = None
        self.lock = threading.Lock()

    def ask(self, queries: Mapping[str, Any]) -> Generator[RetrieverAnswer]:
        """Yield the answers as they come."""
        stopped = threading.Event()
        try:
            if self.options.workers == 1:
                yield from itertools.starmap(self._answer, queries.items())
            else:
                yield from self._in_threads(queries, stopped)
        finally:
            stopped.set()
            if self.loop is not None:
                self.loop.close()

    def _in_threads(
        self, queries: Mapping[str, Any], stopped: threading.Event
    ) -> Iterator[RetrieverAnswer]:
        todo: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        done: SimpleQueue[RetrieverAnswer | BaseException] = SimpleQueue()
        for pair in queries.items():
            todo.put(pair)

        def work() -> None:
            while not stopped.is_set():
                try:
                    done.put(self._answer(*todo.get_nowait()))
                except Empty:
                    return
                except BaseException as error:
                    done.put(error)
                    return

        # Threads of our own, not a pool: a program that is interrupted does not wait for them.
        for _ in range(min(self.options.workers, len(queries))):
            _start(work)
        for _ in queries:
            let_interrupts_through()
            answer = done.get()
            if isinstance(answer, BaseException):
                raise answer
            yield answer

    def _answer(self, query: str, asked: Any) -> RetrieverAnswer:
        failed: Exception | None = None
        for tries in range(1, self.options.retries + 2):
            if tries > 1:
                sleep(self.options.wait * 2 ** (tries - 2))
            began = clock()
            try:
                returned = self.function(asked)
                if isawaitable(returned) or isasyncgen(returned):
                    returned = self._loop().wait_for(returned)
                if isinstance(returned, Iterator):
                    returned = list(returned)  # the work of a generator is done here
            except Exception as error:
                failed = error
                continue
            return RetrieverAnswer(query, returned, clock() - began, tries)
        return RetrieverAnswer(query, tries=self.options.retries + 1, error=failed)

    def _loop(self) -> _EventLoop:
        with self.lock:
            self.loop = self.loop or _EventLoop()
            return self.loop


def _start(work: Callable[[], None]) -> threading.Thread:
    """Start a thread that ends with the program and sees the context of its maker."""
    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True)
    thread.start()
    return thread


# The evaluation


@dataclass
class RetrieverTask:
    """Everything that is needed to ask and evaluate, checked before the first query."""

    call: RetrieverCall
    judgements: Judgements | Lookup
    measures: Any
    scoring: Mapping[str, Any]
    queries: Mapping[str, Any]
    options: RetrieverOptions
    notes: list[str]
    record: AnswerFile | None = None
    failed: dict[str, Exception] = field(default_factory=dict)

    def __post_init__(self) -> None:
        record = self.record
        self.todo = self.queries if record is None else record.resume(self.queries)
        self.answered = {} if record is None else dict(record.saved)
        self.reader = AnswerReader(self.options.item, self.options.k)

    @classmethod
    def of(
        cls,
        retriever: Any,
        queries: Any,
        judgements: Any,
        measures: Any,
        options: RetrieverOptions,
        scoring: Mapping[str, Any],
    ) -> RetrieverTask:
        call = call_of(retriever)
        for name in scoring:
            if name not in SCORING_OPTIONS:
                known = sorted(SCORING_OPTIONS)
                raise InputError(unknown_option("evaluate_retriever", name, known))
        columns, form = scoring.get("columns"), formats_of(scoring.get("format"))[0]
        read = read_judgements(judgements, columns=columns, format=form)
        judged = read.names() if isinstance(read, Judgements) else list(read.lists)
        rest = {key: value for key, value in scoring.items() if key not in ("columns", "format")}
        asked = {query: query for query in judged} if queries is None else read_queries(queries)
        chosen, notes = _choose_queries(asked, judged, all_queries=options.all_queries)
        call.check(next(iter(chosen.values())))
        with warnings.catch_warnings():
            # Wrong options are an error before anything is asked.
            warnings.simplefilter("ignore", JudgedWarning)
            evaluate(read, _stand_in(read, chosen), measures, **rest)
        record = None
        if options.save is not None:
            path = options.item
            if callable(path):
                path = f"the function {getattr(path, '__name__', type(path).__name__)}"
            settings = {"k": options.k, "from": path, "retriever": call.name}
            record = AnswerFile.at(options.save, settings)
        return cls(call, read, measures, rest, chosen, options, notes, record)

    def evaluate(self, progress: Progress | None = None) -> Evaluation:
        order = _ScoreOrder(self.answered)
        try:
            with closing(RetrieverClient(self.call, self.options).ask(self.todo)) as answers:
                for answer in answers:
                    self._take(answer, order)
                    if progress is not None:
                        progress(1)
        finally:
            if self.record is not None:
                self.record.close()
        if not self.answered:
            raise self._nothing()
        if not any(saved.results.items for saved in self.answered.values()):
            raise InputError(
                "the retriever returned no result for any query, so there is nothing to evaluate."
            )
        order.refuse_distances()
        if self.record is not None:
            self.record.finish(self.queries)
        answered = {query: self.answered[query] for query in self.queries if query in self.answered}
        lists = {query: saved.results.pairs for query, saved in answered.items()}
        run = read_run(lists, name=self.options.name or self.call.name)
        run = replace(run, notes=(*run.notes, *self._notes_on(answered, order)))
        latency = Latency(
            {query: answer.seconds for query, answer in answered.items()},
            max(answer.workers for answer in answered.values()),
            tuple(query for query, answer in answered.items() if answer.tries > 1),
        )
        evaluation = evaluate(self.judgements, run, self.measures, **self.scoring)
        return replace(evaluation, latency=latency)

    def _take(self, answer: RetrieverAnswer, order: _ScoreOrder) -> None:
        if answer.error is not None:
            self.failed[answer.query] = answer.error
            if not self.answered and len(self.failed) >= MAX_FAILURES_AT_START:
                raise self._nothing()
            return
        results = self.reader.read(answer.query, answer.returned)
        if Policy.of(self.scoring.get("policy")).duplicates == "error":
            _refuse_repeated(answer.query, results)
        asked = hash_of(answer.query, self.queries[answer.query]) if self.record else ""
        workers = self.options.workers
        saved = SavedAnswer(results, answer.seconds, answer.tries, workers, asked)
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
        text = " ".join(str(error).split())
        shown = text if len(text) <= 300 else f"{text[:300]}…"
        return f"{type(error).__name__}{f': {shown}' if shown else ''} (query {query!r})."

    def _notes_on(self, answered: Mapping[str, SavedAnswer], order: _ScoreOrder) -> list[str]:
        settings = EvaluationSettings.of(
            self.measures, self.scoring.get("policy"), self.scoring.get("convention")
        )
        notes = [*self.notes, *self._about_failed(settings.policy)]
        if self.record is not None:
            notes += self.record.notes
        if order.unlike:
            notes.append(
                Warned(
                    f"In {counted(order.unlike, 'query', 'queries')} the scores do not fall in the "
                    "order of the results. The scores define the ranks; return only ids to rank "
                    "by order."
                )
            )
        notes += self._about_cut(answered, settings.measures)
        if self.reader.path is not None:
            notes.append(f"The id of each result is its {self.reader.path}.")
        return notes + self._unknown(answered)

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
        cut = {query: saved.results for query, saved in answered.items() if saved.results.cut}
        if not cut:
            return []
        k = self.options.k
        left_out = (
            f"{counted(sum(results.cut for results in cut.values()), 'result')} beyond the first "
            f"{k:,} of {counted(len(cut), 'query', 'queries')} not kept (k={k:,})"
        )
        cutoffs = [measure.params.get("k") for measure in measures]
        deepest = max((cutoff for cutoff in cutoffs if isinstance(cutoff, int)), default=0)
        if deepest > k:
            return [Warned(f"{left_out}, though measures look down to rank {deepest:,}.")]
        if names := self._uncut(cut, measures):
            return [
                Warned(
                    f"{left_out}, though {listed(names)} {'looks' if len(names) == 1 else 'look'} "
                    "at whole lists: relevant results beyond count as not retrieved. Raise k, or "
                    f"give a cutoff, such as {names[0]}@{k}."
                )
            ]
        return [f"{left_out}."]

    def _uncut(self, cut: Mapping[str, RetrievedResults], measures: Sequence[Measure]) -> list[str]:
        """Name the measures without a cutoff that relevant results beyond k may raise."""
        wholes = [
            measure
            for measure in measures
            if measure.spec.rates_relevance
            and measure.spec.at is not None
            and measure.params.get(measure.spec.at) is None
        ]
        relevant: dict[str, set[str]] = {}
        for query, item, grade in _judged_rows(self.judgements) if wholes else ():
            best = max(grade.values()) if isinstance(grade, Mapping) else grade
            if query in cut and best > 0:
                relevant.setdefault(query, set()).add(item)
        lost = {query: items - set(cut[query].items) for query, items in relevant.items()}
        left = any(lost.values())
        unseen = any(items == relevant[query] for query, items in lost.items())
        if self._changes_ids:
            left = unseen = True
        return [
            str(measure)
            for measure in wholes
            if (unseen if measure.spec.name in _FIRST_ONLY else left)
        ]

    @property
    def _changes_ids(self) -> bool:
        return any(self.scoring.get(name) is not None for name in ("unique", "item_to"))

    def _unknown(self, answered: Mapping[str, SavedAnswer]) -> list[str]:
        """Return a warning if no returned id is judged."""
        if self._changes_ids:
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


def _choose_queries(
    asked: Mapping[str, Any], judged: list[str], *, all_queries: bool
) -> tuple[dict[str, Any], list[str]]:
    """Return the queries to ask, and notes on the others."""
    if not judged:
        raise InputError("the judgements are empty: no query is judged.")
    known = set(judged)
    judged_queries = {query: text for query, text in asked.items() if query in known}
    if not judged_queries:
        raise InputError(
            f"none of the queries is judged: the queries have {quoted(next(iter(asked)))}, the "
            f"judgements {quoted(next(iter(judged), None))}. Give queries the ids of the "
            "judgements."
        )
    notes: list[str] = []
    if not all_queries and len(judged_queries) < len(asked):
        left = counted(len(asked) - len(judged_queries), "query", "queries")
        notes.append(f"{left} without judgements not asked.")
    if lost := [query for query in judged if query not in asked]:
        notes.append(
            Warned(
                f"{counted(len(lost), 'judged query is', 'judged queries are')} not among the "
                f"queries to ask ({few(lost)})."
            )
        )
    return dict(asked) if all_queries else judged_queries, notes


def _stand_in(judgements: Judgements | Lookup, queries: Mapping[str, Any]) -> Lookup:
    """Return a run with one result, to check the options with."""
    pairs = ((query, item) for query, item, _ in _judged_rows(judgements))
    judged = (pair for pair in pairs if pair[0] in queries and pair[1] != pair[0])
    query, item = next(judged, (next(iter(queries)), "an item"))
    return Lookup({name: {item: 1.0} if name == query else {} for name in queries})


def _refuse_repeated(query: str, results: RetrievedResults) -> None:
    ranks: dict[str, int] = {}
    for rank, item in enumerate(results.items, 1):
        if ranks.setdefault(item, rank) != rank:
            raise InputError(
                f"query {query!r}: item {item!r} is returned twice, as results {ranks[item]} and "
                f"{rank}. If parts of a document share its id, give the path to their own with "
                'item=, or use policy={"duplicates": "first"}.'
            )


class _ScoreOrder:
    """Counts lists whose scores fall, and lists whose scores rise as distances do."""

    def __init__(self, answered: Mapping[str, SavedAnswer]) -> None:
        self.rising = self.falling = self.unlike = 0
        for saved in answered.values():
            self.add(saved.results, refuse=False)

    def add(self, results: RetrievedResults, *, refuse: bool = True) -> None:
        pairs = list(pairwise(results.scores or ()))
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
