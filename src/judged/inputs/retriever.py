"""Ask a retriever the judged queries, and evaluate what it returns.

Retrievers of LangChain, LlamaIndex and Haystack are recognised by their methods and never imported.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import closing
from dataclasses import replace
from functools import partial
from inspect import isasyncgen, isawaitable, isclass
from itertools import pairwise
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from judged.errors import InputError, JudgedWarning, PolicyError, quoted
from judged.evaluation.evaluate import evaluate
from judged.evaluation.export import Latency
from judged.evaluation.settings import EvaluationSettings
from judged.inputs import Judgements, Lookup, read_judgements, read_run
from judged.inputs.objects import method_of
from judged.inputs.order import DISTANCES
from judged.inputs.retriever_answers import (
    AnswerFile,
    AnswerReader,
    ItemOption,
    RetrievedResults,
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
    takes_scoring,
    unknown_option,
)
from judged.text import Warned, counted, few, listed

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
else:  # loaded by `typing.get_type_hints` only
    Evaluation = later("judged:Evaluation")

SCORING_OPTIONS = set(SCORING) - {"skip_bad"}
MAX_FAILURES_AT_START = 20  # if so many queries failed and none was answered, no more are asked
_FIRST_ONLY = ("RR", "Success")


@takes_scoring
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
    task = RetrieverTask(
        retriever,
        queries,
        judgements,
        measures,
        scoring,
        k=k,
        item=item,
        workers=workers,
        retries=retries,
        wait=wait,
        save=save,
        all_queries=all_queries,
        name=name,
    )
    return task.evaluate(progress)


# How a retriever is called

RETRIEVER_METHODS = {"invoke": "ainvoke", "retrieve": "aretrieve", "run": "run_async"}
"""Methods of LangChain, LlamaIndex and Haystack, each with its asynchronous twin."""


def call_of(retriever: Any) -> Callable[[Any], Any]:
    """Return a function from a query to what the retriever returns."""
    method = method_of(retriever, "retriever", RETRIEVER_METHODS.items())
    if method is None and not callable(retriever):
        if hasattr(retriever, "as_retriever"):  # a store of LangChain, an index of LlamaIndex
            raise InputError(
                f"an object of {type(retriever).__name__} is not a retriever; give the result of "
                "its as_retriever()."
            )
        known = listed([f".{name}" for name in RETRIEVER_METHODS], "or")
        raise InputError(
            f"a retriever is a function of a query, or an object with {known}; got "
            f"{quoted(retriever)}."
        )
    function = retriever if method is None else getattr(retriever, method)
    if method not in ("run", RETRIEVER_METHODS["run"]):
        return function
    return lambda query: function(**(query if isinstance(query, Mapping) else {"query": query}))


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


def ask_queries(
    function: Callable[[Any], Any],
    queries: Mapping[str, Any],
    workers: int,
    retries: int,
    wait: float,
) -> Generator[tuple[str, Any, float, int]]:
    """Yield each query, its answer or exception, the seconds of the last call, and the tries."""
    loop = _EventLoop()
    stopped = threading.Event()
    todo: SimpleQueue[str] = SimpleQueue()
    done: SimpleQueue[tuple[str, Any, float, int] | BaseException] = SimpleQueue()

    def ask(query: str) -> tuple[str, Any, float, int]:
        for tries in range(1, retries + 2):
            if tries > 1:
                sleep(wait * 2 ** (tries - 2))
            began = clock()
            try:
                answer = loop.finish(function(queries[query]))
                break
            except Exception as error:
                answer = error
                if isinstance(error, TypeError) and "argument" in str(error):
                    break  # it takes other arguments, so another call would fail, too
        return query, answer, clock() - began, tries

    def work() -> None:
        while not stopped.is_set():
            try:
                done.put(ask(todo.get_nowait()))
            except Empty:
                return
            except BaseException as error:
                done.put(error)
                return

    try:
        if workers == 1:
            yield from map(ask, queries)
            return
        for query in queries:
            todo.put(query)
        # Threads of our own, not a pool: a program that is interrupted does not wait for them.
        for _ in range(min(workers, len(queries))):
            _start_thread(work)
        for _ in queries:
            let_interrupts_through()
            answer = done.get()
            if isinstance(answer, BaseException):
                raise answer
            yield answer
    finally:
        stopped.set()
        loop.close()


class _EventLoop:
    """A loop in a thread of its own, so that it works inside a running loop, too."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self.lock = threading.Lock()

    def finish(self, returned: Any) -> Any:
        """Return what is awaited or generated, or anything else as it is."""
        if isinstance(returned, Iterator):
            return list(returned)
        if not (isawaitable(returned) or isasyncgen(returned)):
            return returned
        with self.lock:
            if self.loop is None:
                self.loop = asyncio.new_event_loop()
                self.thread = _start_thread(partial(_run_and_close, self.loop))

        async def wait() -> Any:
            value = await returned if isawaitable(returned) else returned
            return [part async for part in value] if isasyncgen(value) else value

        try:
            return self.finish(asyncio.run_coroutine_threadsafe(wait(), self.loop).result())
        except CancelledError:
            raise RuntimeError("the call was cancelled") from None

    def close(self) -> None:
        if (loop := self.loop) is None:
            return

        async def end() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await loop.shutdown_asyncgens()
            loop.stop()

        asyncio.run_coroutine_threadsafe(end(), loop)
        self.thread.join(timeout=1)


def _run_and_close(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


def _start_thread(work: Callable[[], None]) -> threading.Thread:
    """Start a thread that ends with the program and sees the context of its maker."""
    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True)
    thread.start()
    return thread


# The evaluation


class RetrieverTask:
    """Everything that is needed to ask and evaluate, checked before the first query."""

    def __init__(
        self,
        retriever: Any,
        queries: Any,
        judgements: Any,
        measures: Any,
        scoring: Mapping[str, Any],
        *,
        k: int,
        item: ItemOption,
        save: Path | None,
        all_queries: bool,
        name: str | None,
        **asking: Any,
    ) -> None:
        for option, value in {"k": k, **asking}.items():
            OPTIONS[option](option, value)
        if not (item is None or (isinstance(item, str) and item) or callable(item)):
            raise InputError(
                "item must be the path to the id in a result, such as 'metadata.doc_id', or a "
                f"function from a result to its id; got {quoted(item)}."
            )
        for option in scoring:
            if option not in SCORING_OPTIONS:
                known = sorted(SCORING_OPTIONS)
                raise InputError(unknown_option("evaluate_retriever", option, known))
        self.scoring = dict(scoring)
        columns, form = self.scoring.pop("columns", None), self.scoring.pop("format", None)
        read = read_judgements(judgements, columns=columns, format=formats_of(form)[0])
        self.judgements, self.measures = read, measures
        judged = read.names() if isinstance(read, Judgements) else list(read.lists)
        texts = {query: query for query in judged} if queries is None else read_queries(queries)
        self.queries, self.notes = _choose_queries(texts, judged, all_queries=all_queries)
        self.function, self.asking = call_of(retriever), asking
        with warnings.catch_warnings():
            # Wrong options are an error before anything is asked.
            warnings.simplefilter("ignore", JudgedWarning)
            evaluate(read, _stand_in(read, self.queries), measures, **self.scoring)
        self.settings = EvaluationSettings.of(
            measures, scoring.get("policy"), scoring.get("convention")
        )
        called = name_of(retriever)
        self.name, self.reader = name or called, AnswerReader(item, k)
        self.todo: Mapping[str, Any] = self.queries
        self.answers: dict[str, RetrievedResults] = {}
        self.failed: dict[str, Exception] = {}
        self.file: AnswerFile | None = None
        if save is not None:
            if callable(item):
                item = f"the function {getattr(item, '__name__', type(item).__name__)}"
            self.file = AnswerFile(save, {"k": k, "item": item, "retriever": called}, self.queries)
            self.answers.update(self.file.answers)
            self.todo = {q: text for q, text in self.queries.items() if q not in self.answers}
            self.notes += self.file.notes

    def evaluate(self, progress: Progress | None = None) -> Evaluation:
        try:
            with closing(ask_queries(self.function, self.todo, **self.asking)) as returned:
                for query, answer, seconds, tries in returned:
                    self._take(query, answer, seconds, tries)
                    if progress is not None:
                        progress(1)
        finally:
            if self.file is not None:
                self.file.close()
        if not self.answers:
            raise self._nothing()
        if not any(results.items for results in self.answers.values()):
            raise InputError(
                "the retriever returned no result for any query, so there is nothing to evaluate."
            )
        answers = {query: self.answers[query] for query in self.queries if query in self.answers}
        run = read_run({query: results.pairs for query, results in answers.items()}, name=self.name)
        run = replace(run, notes=(*run.notes, *self._notes_on(answers)))
        latency = Latency(
            {query: results.seconds for query, results in answers.items()},
            max(results.workers for results in answers.values()),
            tuple(query for query, results in answers.items() if results.tries > 1),
        )
        evaluation = evaluate(self.judgements, run, self.measures, **self.scoring)
        return replace(evaluation, latency=latency)

    def _take(self, query: str, answer: Any, seconds: float, tries: int) -> None:
        if isinstance(answer, Exception):
            self.failed[query] = answer
            if not self.answers and len(self.failed) >= MAX_FAILURES_AT_START:
                raise self._nothing()
            return
        results = self.reader.read(query, answer)
        if self.settings.policy.duplicates == "error":
            _refuse_repeated(query, results)
        results = replace(results, seconds=seconds, tries=tries, workers=self.asking["workers"])
        self.answers[query] = results
        if self.file is not None:
            self.file.add(query, results)
        if len(self.answers) == DISTANCES:
            _count_unsorted(self.answers)

    def _nothing(self) -> InputError:
        failed, total = len(self.failed), len(self.todo)
        which = f"the first {failed} of {total:,} queries"
        if failed == total:
            which = "the query" if failed == 1 else "all queries"
        return InputError(f"{which} failed; the first error was {self._first_error()}")

    def _first_error(self) -> str:
        query, error = next(iter(self.failed.items()))
        text = " ".join(str(error).split())
        shown = text if len(text) <= 300 else f"{text[:300]}…"
        return f"{type(error).__name__}{f': {shown}' if shown else ''} (query {query!r})."

    def _notes_on(self, answers: Mapping[str, RetrievedResults]) -> list[str]:
        notes: list[str] = []
        if self.failed:
            total = counted(len(self.queries), "query", "queries")
            failed = f"{len(self.failed):,} of {total} failed ({few(list(self.failed))})"
            first = f"The first error was {self._first_error()}"
            if self.settings.policy.missing == "error":
                raise PolicyError(f"{failed}, which missing=error does not allow. {first}")
            notes.append(Warned(f"{failed}. {first}"))
        notes += self.notes
        if unsorted := _count_unsorted(answers):
            notes.append(
                Warned(
                    f"In {counted(unsorted, 'query', 'queries')} the scores do not fall in the "
                    "order of the results. The scores define the ranks; return only ids to rank "
                    "by order."
                )
            )
        notes += self._notes_on_cut(answers)
        if self.reader.path is not None:
            notes.append(f"The id of each result is its {self.reader.path}.")
        returned = [item for results in answers.values() for item in results.items]
        judged = dict.fromkeys(item for _, item, _ in _judged_rows(self.judgements))
        if not self._changes_ids and judged.keys().isdisjoint(returned):
            notes.append(
                Warned(
                    f"No result is a judged item: {quoted(returned[0])} and others were returned, "
                    f"{quoted(next(iter(judged), None))} and others are judged. Give the path to "
                    "the id with item (--item)."
                )
            )
        return notes

    def _notes_on_cut(self, answers: Mapping[str, RetrievedResults]) -> list[str]:
        """Warn of results beyond k if a measure looks further and relevant items may be there."""
        cut = {query: results for query, results in answers.items() if results.cut}
        if not cut:
            return []
        relevant: dict[str, set[str]] = {}
        for query, item, grade in _judged_rows(self.judgements):
            best = max(grade.values()) if isinstance(grade, Mapping) else grade
            if query in cut and best > 0:
                relevant.setdefault(query, set()).add(item)
        lost = {query: items.difference(cut[query].items) for query, items in relevant.items()}
        any_lost = self._changes_ids or any(lost.values())
        all_lost = self._changes_ids or any(lost[query] == relevant[query] for query in lost)
        k, names = self.reader.k, []
        for measure in self.settings.measures:
            spec = measure.spec
            cutoff = measure.params.get(spec.at) if spec.at is not None else 0
            is_deeper = cutoff is None or (spec.at == "k" and cutoff > k)
            is_hurt = all_lost if spec.name in _FIRST_ONLY else any_lost
            if spec.rates_relevance and is_deeper and is_hurt:
                names.append(str(measure))
        left_out = (
            f"{counted(sum(results.cut for results in cut.values()), 'result')} beyond the first "
            f"{k:,} of {counted(len(cut), 'query', 'queries')} not kept (k={k:,})"
        )
        if not names:
            return [f"{left_out}."]
        look = "looks" if len(names) == 1 else "look"
        return [
            Warned(
                f"{left_out}, though {listed(names)} {look} further: relevant results beyond "
                f"count as not retrieved. Raise k, or use cutoffs up to {k:,}."
            )
        ]

    @property
    def _changes_ids(self) -> bool:
        return any(self.scoring.get(name) is not None for name in ("unique", "item_to"))


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
                "item (--item), or use duplicates='first' (--duplicates first)."
            )


def _count_unsorted(answers: Mapping[str, RetrievedResults]) -> int:
    """Count lists whose scores do not fall; an error if all rise, as distances do."""
    rising = falling = unsorted = 0
    for results in answers.values():
        pairs = list(pairwise(results.scores or ()))
        if any(one < other for one, other in pairs):
            unsorted += 1
            rising += all(one <= other for one, other in pairs)
        elif any(one > other for one, other in pairs):
            falling += 1
    if rising and rising == unsorted and not falling:
        raise InputError(
            "the scores rise from the first to the last result of every list, as distances "
            "do, but the greatest score is best. Return (id, -distance), ids without scores, "
            "or results sorted by falling score."
        )
    return unsorted
