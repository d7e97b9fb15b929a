"""Asking a retriever: every way to call it, what fails, what is measured and what is said."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judged
from judged import evaluate_retriever
from judged.errors import InputError, PolicyError
from judged.inputs import retriever as asking
from judged.inputs.retriever_answers import read_queries
from support.errors import error_of
from support.loops import for_each

JUDGEMENTS = {"q1": {"a": 1}, "q2": {"c": 1, "d": 1}, "q3": {"e": 1}}
TEXTS = {"q1": "one", "q2": "two", "q3": "three"}
LISTS = {"one": ["a", "b"], "two": ["b", "c", "d"], "three": []}
RUN = {"q1": ["a", "b"], "q2": ["b", "c", "d"], "q3": []}
MEASURES = ["RR", "AP", "nDCG@10"]


def search(text: str) -> list[str]:
    return LISTS[text]


async def search_later(text: str) -> list[str]:
    await asyncio.sleep(0)
    return LISTS[text]


class LangChain:
    def invoke(self, text: str) -> list[str]:
        return LISTS[text]

    async def ainvoke(self, text: str) -> list[str]:
        raise AssertionError("not asked for")


class LlamaIndex:
    async def aretrieve(self, text: str) -> list[str]:
        return LISTS[text]


class Haystack:
    def run(self, *, query: str, top_k: int | None = None) -> dict[str, list[str]]:
        return {"documents": LISTS[query]}


class Called:
    def __call__(self, text: str) -> list[str]:
        return LISTS[text]


class Awaited:
    async def __call__(self, text: str) -> list[str]:
        return LISTS[text]


def generated(text: str) -> Iterator[str]:
    yield from LISTS[text]


async def generated_later(text: str) -> Any:
    for each in LISTS[text]:
        yield each


RETRIEVERS: dict[str, tuple[Any, str]] = {
    "function": (search, "search"),
    "lambda": (lambda text: LISTS[text], "retriever"),
    "partial": (partial(search), "search"),
    "generator": (generated, "generated"),
    "object": (Called(), "Called"),
    "invoke": (LangChain(), "LangChain"),
    "bound": (LangChain().invoke, "LangChain"),
    "run": (Haystack(), "Haystack"),
    "async function": (search_later, "search_later"),
    "async partial": (partial(search_later), "search_later"),
    "async lambda": (lambda text: search_later(text), "retriever"),
    "async object": (Awaited(), "Awaited"),
    "async generator": (generated_later, "generated_later"),
    "aretrieve": (LlamaIndex(), "LlamaIndex"),
}


@for_each("workers", [1, 3])
@for_each("kind", RETRIEVERS)
def test_every_way_of_asking_gives_what_the_run_gives(kind: str, workers: int) -> None:
    retriever, name = RETRIEVERS[kind]
    evaluation = evaluate_retriever(retriever, TEXTS, JUDGEMENTS, MEASURES, workers=workers)
    expected = judged.evaluate(JUDGEMENTS, {name: RUN}, MEASURES)
    assert evaluation.to_frame().equals(expected.to_frame())
    assert evaluation.to_frame(per_query=True).equals(expected.to_frame(per_query=True))
    assert evaluation.warnings() == expected.warnings()
    assert evaluation.latency is not None
    assert list(evaluation.latency.seconds) == ["q1", "q2", "q3"]


def test_it_works_inside_a_running_loop() -> None:
    async def notebook(retriever: Any) -> float:
        return evaluate_retriever(retriever, TEXTS, JUDGEMENTS, "RR", workers=2, name="x").value()

    for retriever in (search, search_later):
        with ThreadPoolExecutor(1) as thread:  # here, tests of pages may have a loop of their own
            assert thread.submit(asyncio.run, notebook(retriever)).result() == 0.5


class Both:
    def retrieve(self, text: str) -> list[str]:
        return []

    def run(self, query: str) -> list[str]:
        return []


class Store:
    """As a vector store of LangChain, or an index of LlamaIndex."""

    def as_retriever(self) -> Any:
        return search


class Pipeline:
    """As one of Haystack, which takes inputs by component."""

    def run(self, data: dict[str, Any], include: Any = None) -> Any:
        raise AssertionError("it is not called with data")


@for_each(
    ("retriever", "queries", "message"),
    [
        (
            LangChain,
            TEXTS,
            "the retriever is the class LangChain; give an object of it, or a function.",
        ),
        (
            Both(),
            TEXTS,
            "the retriever has the methods retrieve and run; give the one to call, such as "
            "retriever.retrieve.",
        ),
        (
            "bm25",
            TEXTS,
            "a retriever is a function of a query, or an object with .invoke, .retrieve or .run; "
            "got 'bm25'.",
        ),
        (
            Store(),
            TEXTS,
            "an object of Store is not a retriever; give the result of its as_retriever().",
        ),
        (
            Pipeline(),
            TEXTS,
            "all queries failed; the first error was TypeError: Pipeline.run() got an unexpected "
            "keyword argument 'query' (query 'q1').",
        ),
    ],
)
def test_what_is_no_retriever(retriever: Any, queries: Any, message: str) -> None:
    """A call with wrong arguments is not repeated."""
    options: Any = {"retries": 9, "wait": 99}
    assert error_of(evaluate_retriever, retriever, queries, JUDGEMENTS, **options) == message


def test_a_component_gets_its_inputs_by_name() -> None:
    class Embedded:
        def run(self, *, query_embedding: list[float]) -> dict[str, Any]:
            return {"documents": ["a"] if query_embedding == [1.0] else []}

    queries = {"q1": {"query_embedding": [1.0]}, "q2": {"query_embedding": [2.0]}}
    found = evaluate_retriever(Embedded(), queries, JUDGEMENTS, "RR", policy={"missing": "skip"})
    assert found.value() == 0.5


def test_threads_run_at_once_and_no_more_than_asked_for() -> None:
    together = threading.Barrier(3, timeout=20)
    running, most = [0], [0]
    lock = threading.Lock()

    def slow(text: str) -> list[str]:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        if text != "0":  # the first is asked alone
            together.wait()
        with lock:
            running[0] -= 1
        return [text]

    queries = [str(number) for number in range(7)]
    judgements = {query: {query: 1} for query in queries}
    found = evaluate_retriever(slow, queries, judgements, "RR", workers=3)
    assert found.value() == 1.0
    assert most == [3]
    assert found.latency is not None
    assert found.latency.workers == 3


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands still unless somebody moves it; waiting moves it, too."""
    now = [100.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(asking, "clock", lambda: now[0])
    monkeypatch.setattr(asking, "sleep", sleep)
    return now


def test_latency_is_that_of_each_call_and_in_every_form(time: list[float]) -> None:
    def took(text: str) -> Iterator[str]:
        time[0] += {"one": 1.0, "two": 2.0, "three": 6.0}[text]
        yield "a"

    evaluation = evaluate_retriever(took, TEXTS, JUDGEMENTS, "RR")
    # sorted 1, 2, 6: the median is 2; 95 % of the way is 1.9 steps along, 2 + 0.9 · 4 = 5.6
    line = "latency: mean 3 s, p50 2 s, p95 5.6 s (3 queries)"
    assert line in evaluation.sentences()
    assert line in evaluation.to_html()
    assert line in evaluation.to_markdown()
    assert evaluation.to_dict(per_query=True)["latency"] == {
        "unit": "seconds",
        "mean": 3.0,
        "p50": 2.0,
        "p95": pytest.approx(5.6),
        "queries": 3,
        "workers": 1,
        "retried": [],
        "per_query": {"q1": 1.0, "q2": 2.0, "q3": 6.0},
    }
    assert "latency" not in judged.evaluate(JUDGEMENTS, RUN).to_dict()


@pytest.mark.parametrize("later", [False, True])
def test_retries_wait_and_are_not_in_the_latency(time: list[float], later: bool) -> None:
    calls: list[tuple[str, float]] = []

    def flaky(text: str) -> list[str]:
        calls.append((text, time[0]))
        time[0] += 0.25
        if text == "two" and sum(each == "two" for each, _ in calls) < 4:
            raise ConnectionError("busy")
        return LISTS[text]

    async def flaky_later(text: str) -> list[str]:
        return flaky(text)

    retriever = flaky_later if later else flaky
    found = evaluate_retriever(retriever, TEXTS, JUDGEMENTS, "RR", retries=3, wait=2.0)
    # 100 for one, then two at 100.25; failing takes 0.25, and waits are 2, 4 and 8 seconds
    asked = [("two", at) for at in (100.25, 102.5, 106.75, 115.0)]
    assert calls == [("one", 100.0), *asked, ("three", 115.25)]
    assert found.value() == 0.5
    assert found.latency is not None
    assert found.latency.seconds == {"q1": 0.25, "q2": 0.25, "q3": 0.25}
    assert found.latency.retried == ("q2",)
    assert found.latency.sentence() == (
        "mean 250 ms, p50 250 ms, p95 250 ms (3 queries; 1 answered only when asked again)"
    )


def failing(text: str) -> list[str]:
    if text == "two":
        raise TimeoutError("no answer\nin 3 s")
    return LISTS[text]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("missing", "value", "done"),
    [
        ("zero", 1 / 3, "count as empty lists. Use missing=skip to leave them out"),
        ("skip", 1 / 2, "are left out of the means"),
    ],
)
def test_a_query_that_failed_is_missing_and_named(
    missing: str, value: float, done: str, workers: int
) -> None:
    found = evaluate_retriever(
        failing, TEXTS, JUDGEMENTS, "RR", workers=workers, policy={"missing": missing}
    )
    assert found.value() == pytest.approx(value)
    assert found.audit["failing"].missing_queries == ("q2",)
    assert found.warnings() == [
        "1 of 3 queries failed (q2). The first error was TimeoutError: no answer in 3 s "
        "(query 'q2').",
        f"The run has no results for 1 of 3 judged queries (q2), which {done}.",
    ]
    assert found.latency is not None
    assert list(found.latency.seconds) == ["q1", "q3"]


def test_missing_error_stops_with_the_first_error() -> None:
    with pytest.raises(PolicyError) as error:
        evaluate_retriever(failing, TEXTS, JUDGEMENTS, policy={"missing": "error"})
    assert str(error.value) == (
        "1 of 3 queries failed (q2), which missing=error does not allow. The first error was "
        "TimeoutError: no answer in 3 s (query 'q2')."
    )


def test_if_all_fail_there_is_no_number() -> None:
    calls = []

    def broken(text: str, k: int) -> list[str]:
        return []

    def down(text: str) -> list[str]:
        calls.append(text)
        raise RuntimeError

    with pytest.raises(InputError) as error:
        evaluate_retriever(broken, TEXTS, JUDGEMENTS)
    assert str(error.value).startswith("all queries failed; the first error was TypeError: ")
    assert str(error.value).endswith("missing 1 required positional argument: 'k' (query 'q1').")
    many = {f"q{number}": {"a": 1} for number in range(100)}
    with pytest.raises(InputError) as error:
        evaluate_retriever(down, None, many)
    assert str(error.value) == (
        "the first 20 of 100 queries failed; the first error was RuntimeError (query 'q0')."
    )
    assert len(calls) == 20


def test_wrong_options_are_refused_before_anything_is_asked() -> None:
    def never(text: str) -> list[str]:
        raise AssertionError("asked")

    options: dict[str, Any]
    for options, message in (
        ({"measures": "nDCH"}, "There is no measure 'nDCH'"),
        ({"policy": {"ties": "x"}}, "ties must be one of"),
        ({"workers": 0}, "workers must be a whole number from 1 to 1,024; got 0."),
        ({"retries": -1}, "retries must be a whole number from 0 to 1,000; got -1."),
        ({"wait": -1}, "wait must be a finite number from 0 to 3600; got -1."),
        ({"k": 0}, "k must be a whole number from 1; got 0."),
        (
            {"item": 3},
            "item must be the path to the id in a result, such as 'metadata.doc_id', or a "
            "function from a result to its id; got 3.",
        ),
        ({"polici": {}}, "evaluate_retriever has no option 'polici'; did you mean 'policy'?"),
        ({"run_format": "trec"}, "evaluate_retriever has no"),
        ({"collection": {"q1": 3}}, "collection has no size for query 'q2'"),
        (
            {"save": "run.txt"},
            "run.txt: the ending says the format, and must be .jsonl or .ndjson.",
        ),
        ({"queries": {"q1": "one"}, "policy": {"missing": "error"}}, "lacks 2 of 3 judged queries"),
    ):
        with pytest.raises(judged.JudgedError) as error:
            evaluate_retriever(
                **{"retriever": never, "queries": TEXTS, "judgements": JUDGEMENTS, **options}
            )
        assert message in str(error.value)


def test_progress_counts_queries_where_they_are_asked() -> None:
    done: list[int] = []
    threads = set()

    def count(number: int) -> None:
        done.append(number)
        threads.add(threading.current_thread())

    evaluate_retriever(failing, TEXTS, JUDGEMENTS, "RR", workers=3, progress=count)
    assert done == [1, 1, 1]
    assert threads == {threading.current_thread()}


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_is_not_a_failed_query(error: type[BaseException], workers: int) -> None:
    def interrupted(text: str) -> list[str]:
        if text == "two":
            raise error
        return LISTS[text]

    with pytest.raises(error):
        evaluate_retriever(interrupted, TEXTS, JUDGEMENTS, workers=workers)


def test_a_call_that_cancels_itself_is_a_failed_query() -> None:
    async def cancelled(text: str) -> list[str]:
        if text == "two":
            raise asyncio.CancelledError
        return LISTS[text]

    found = evaluate_retriever(cancelled, TEXTS, JUDGEMENTS, "RR", workers=2)
    assert found.warnings()[0] == (
        "1 of 3 queries failed (q2). The first error was RuntimeError: the call was cancelled "
        "(query 'q2')."
    )


# Queries to ask, by every way in


TWO = {"q1": "red apple", "q2": 'blue, "sky"'}


def test_texts_are_their_own_ids(folder: Path) -> None:
    own = {text: text for text in TWO.values()}
    assert read_queries(list(own)) == read_queries(tuple(own)) == own
    assert read_queries(np.array(list(own))) == own
    assert read_queries([{"question": text} for text in own]) == own
    Path("lines.txt").write_text("\n".join(own))
    assert read_queries("lines.txt") == own
    Path("one.tsv").write_text("\n".join(["question", *own]))
    assert read_queries("one.tsv") == own
    found = evaluate_retriever(lambda text: ["a"], list(own), {"red apple": {"a": 1}}, "RR")
    assert found.value() == 1.0


NEEDED = "an id and a title or a text are needed."


@for_each(
    ("given", "message"),
    [
        ({}, "there are no queries to ask; give at least one."),
        ([], "there are no queries to ask; give at least one."),
        (3, "texts of queries are {id: text}, {id: {title, text}}, rows with"),
        (["a", "b", "a"], 'the queries given, row 3: query "a" has a text already; give each one'),
        (
            [{"id": "q1", "text": "a"}, {"id": "q2"}],
            'the queries given: query "q2" has no text to ask.',
        ),
        (
            [{"id": "q1", "words": "a"}],
            f'the queries given: the columns are "id", "words"; {NEEDED}',
        ),
        ({"": "a"}, "the queries: the id '' is an empty text"),
        ({1: "a", "1": "b"}, "the queries: some queries, such as 1, are the same as texts"),
    ],
)
def test_wrong_queries(given: Any, message: str) -> None:
    assert error_of(read_queries, given).startswith(message)


TWO_JUDGED = {"q1": {"a": 1}, "q2": {"b": 1}}


def test_only_judged_queries_are_asked() -> None:
    asked: list[str] = []

    def search(text: str) -> list[str]:
        asked.append(text)
        return ["a"]

    queries = {"q3": "three", "q2": "two", "q1": "one"}
    found = evaluate_retriever(search, queries, TWO_JUDGED, "RR")
    assert asked == ["two", "one"]
    assert "note: 1 query without judgements not asked." in found.sentences()
    asked.clear()
    found = evaluate_retriever(search, queries, TWO_JUDGED, "RR", all_queries=True)
    assert asked == ["three", "two", "one"]
    assert found.audit["search"].ignored_queries == 1
    assert found.value() == 0.5


def test_a_judged_query_without_a_text_is_missing_and_said() -> None:
    found = evaluate_retriever(lambda text: ["a"], {"q1": "one"}, TWO_JUDGED, "RR")
    assert found.value() == 0.5
    assert found.warnings() == [
        "1 judged query is not among the queries to ask (q2).",
        "The run has no results for 1 of 2 judged queries (q2), which "
        "count as empty lists. Use missing=skip to leave them out.",
    ]


def test_queries_that_nobody_judged() -> None:
    assert error_of(evaluate_retriever, lambda text: ["a"], ["red apple"], TWO_JUDGED) == (
        "none of the queries is judged: the queries have 'red apple', the judgements 'q1'. Give "
        "queries the ids of the judgements."
    )
    assert (
        error_of(evaluate_retriever, lambda text: ["a"], None, {})
        == "the judgements are empty: no query is judged."
    )


def test_the_judged_ids_themselves() -> None:
    found = evaluate_retriever(lambda text: text.split(), None, {"x a": {"a": 1}}, "RR")
    assert found.value() == 0.5
