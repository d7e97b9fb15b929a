"""Work under way, what is kept of it, and one request's crash that ends no other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judged.web.app import VIEWS
from judged.web.errors import StoppedError
from judged.web.work import Cache, Job, Jobs, progress_of_this_work, sizes
from support.served import Serve


def test_what_several_ask_for_at_once_is_made_once() -> None:
    cache, made, begun = Cache(10**6), [], threading.Event()

    def make() -> int:
        begun.set()
        time.sleep(0.2)
        made.append(1)
        return 7

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: cache.get("key", make), range(8))) == [7] * 8
    assert made == [1]


def test_an_error_is_not_kept() -> None:
    cache = Cache(10**6)
    with pytest.raises(ZeroDivisionError):
        cache.get("key", lambda: 1 // 0)
    assert cache.get("key", lambda: 1) == 1


def test_what_was_used_longest_ago_goes_first() -> None:
    cache = Cache(8_000)
    for key in "abc":
        cache.get(key, lambda: np.zeros(400))
        cache.get("a", lambda: np.zeros(400))
    assert [key in cache for key in "abc"] == [True, False, True]
    assert cache.size <= cache.most


def test_what_lasts_goes_last() -> None:
    cache = Cache(10_000)
    cache.get("table", lambda: np.zeros(400), lasting=True)
    for key in range(9):
        cache.get(key, lambda: np.zeros(400))
    assert "table" in cache
    cache.get("other table", lambda: np.zeros(1000), lasting=True)
    assert cache.size <= cache.most


def test_what_is_too_large_is_given_and_not_kept() -> None:
    cache = Cache(1_000)
    assert len(cache.get("large", lambda: np.zeros(400))) == 400
    assert "large" not in cache
    assert cache.size == 0


def test_what_two_results_share_counts_once() -> None:
    shared = np.zeros(1000)
    cache = Cache(10**6)
    cache.get("one", lambda: (shared, 1))
    before = cache.size
    cache.get("two", lambda: (shared, 2))
    assert cache.size - before < 1_000
    cache.forget(lambda key: key == "one")
    assert cache.size >= 8_000
    cache.forget(lambda key: True)
    assert cache.size == 0


def test_sizes_of_texts_and_tables() -> None:
    assert sum(sizes(tuple(map(str, range(1000)))).values()) > 50_000
    assert sum(sizes({"a": np.zeros(10), "b": [np.zeros(10)]}).values()) > 160


def test_work_is_stopped_where_it_says_how_far_it_is() -> None:
    jobs, steps = Jobs(), []

    def work() -> None:
        for step in range(1000):
            progress_of_this_work().say("Working", step, 1000, "steps")
            steps.append(step)
            time.sleep(0.01)

    job = jobs.start("key", "me", work)
    assert jobs.start("key", "me", work) is job
    while not steps:
        time.sleep(0.01)
    assert job.shown.what == "Working"
    assert jobs.find(job.id, "somebody else") is None
    found = jobs.find(job.id, "me")
    assert found is job
    jobs.stop(job)
    with pytest.raises(StoppedError) as stopped:
        job.future.result(5)
    assert str(stopped.value) == "This was stopped. Reload the page to start again."
    assert len(steps) < 900
    jobs.close()


def test_who_waits_for_the_work_of_others_sees_how_far_it_is() -> None:
    cache, jobs, go = Cache(10**6), Jobs(), threading.Event()

    def slow() -> int:
        progress_of_this_work().say("Reading a.run", 1, 2, "files")
        go.wait(5)
        return 1

    first = jobs.start("first", "me", lambda: cache.get("key", slow))
    while not first.what:
        time.sleep(0.01)
    second = jobs.start("second", "other", lambda: cache.get("key", slow))
    until = time.monotonic() + 5
    while second.shown.what != "Reading a.run" and time.monotonic() < until:
        time.sleep(0.01)
    assert second.shown.what == "Reading a.run"
    jobs.stop(second)
    with pytest.raises(StoppedError):
        second.future.result(5)
    go.set()
    assert first.future.result(5) == 1
    jobs.close()


def slowly(monkeypatch: pytest.MonkeyPatch, begun: threading.Event) -> None:
    """Reading that takes a while, and says how far it is."""
    from judged.web.calculations import Calculations

    usual = Calculations._data

    def read(self: Calculations) -> Any:
        begun.set()
        for step in range(40):
            progress_of_this_work().say("Reading slow.run", step, 40, "files")
            time.sleep(0.05)
        return usual(self)

    monkeypatch.setattr(Calculations, "_data", read)


def test_a_page_answers_at_once_and_says_how_far_it_is(
    server: Serve, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slowly(monkeypatch, threading.Event())
    running = server(data)
    running.ask("/files")
    begun = time.monotonic()
    answer = running.ask("/", patient=False)
    assert time.monotonic() - begun < 1.5
    assert answer.headers["x-working"]
    assert "Reading slow.run" in answer.text
    assert "Stop" in answer.text
    part = running.ask("/", patient=False, x_fragment="main")
    assert part.status == 202
    assert running.ask("/files", patient=False).status == 200
    assert "bm25" in running.ask("/").text


def test_work_can_be_stopped_from_its_page(
    server: Serve, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slowly(monkeypatch, threading.Event())
    running = server(data)
    job = running.ask("/", patient=False).headers["x-working"]
    stopped = running.ask(f"/stop?job={job}", method="POST")
    assert (stopped.status, stopped.headers["location"]) == (303, "/files")
    time.sleep(0.2)
    assert "This was stopped. Reload the page to start again." in running.ask("/").text


def test_one_crash_has_a_name_and_ends_no_other(
    server: Serve, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from judged.web.views import files

    usual = files._context

    def broken_context(visit: Any, workspace: Any) -> Any:
        if visit.params.one("depth") == "13":
            raise RuntimeError("a secret of the machine")
        return usual(visit, workspace)

    monkeypatch.setattr(files, "_context", broken_context)
    running = server(data)
    broken = running.ask("/files?depth=13")
    assert broken.status == 500
    assert "Something went wrong here (" in broken.text
    assert "The terminal has the details; nothing was lost." in broken.text
    assert "secret" not in broken.text
    id = broken.text.partition("went wrong here (")[2][:4]
    assert broken.headers["content-security-policy"]
    said = capsys.readouterr().err
    assert f"judged: request {id} failed:" in said
    assert "RuntimeError: a secret of the machine" in said
    assert running.ask("/files").status == 200


def test_a_crash_of_the_api_is_no_traceback(
    server: Serve, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def crash(*given: Any, **options: Any) -> None:
        raise RuntimeError("a secret of the machine")

    monkeypatch.setattr("judged.web.calculations.evaluate_rankings", crash)
    answer = server(data).ask("/api/evaluate")
    assert answer.status == 500
    assert answer.json["error"].startswith("Something went wrong here (")
    assert "secret" not in answer.text
    assert "a secret of the machine" in capsys.readouterr().err


def test_many_requests_at_once(server: Serve, data: Path) -> None:
    running = server(data, memory="20MB")
    depths = [f"/api/evaluate?measure=AP&depth={at % 20 + 1}" for at in range(200)]
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(running.ask, depths))
    assert [answer.status for answer in answers] == [200] * 200
    assert len({answer.body for answer in answers}) <= 20
    assert running.app.app.state.explorer.cache.size <= 20 * 10**6


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.path)
def test_every_page_knows_its_parameters(server: Serve, data: Path, view: Any) -> None:
    answer = server(data).ask(f"{view.path}?tise=best")
    assert answer.status == 400
    assert "Unknown parameter &#39;tise&#39;; did you mean &#39;ties&#39;?" in answer.text


def test_two_computations_run_at_once_and_the_newest_waits_least() -> None:
    cache, order, most = Cache(10**6), [], []
    may_end = [threading.Event() for _ in range(6)]
    running: list[int] = []

    def make(number: int) -> int:
        running.append(number)
        most.append(len(running))
        order.append(number)
        # A computation may need another: that one has its turn already.
        assert cache.get(("inner", number), lambda: number) == number
        may_end[number].wait(20)
        running.remove(number)
        return number

    def wait_until(ready: Callable[[], bool]) -> None:
        until = time.monotonic() + 20
        while not ready() and time.monotonic() < until:
            time.sleep(0.005)

    threads = []
    for number in range(6):
        threads.append(threading.Thread(target=cache.get, args=(number, lambda n=number: make(n))))
        threads[-1].start()
        wait_until(lambda number=number: len(order) + len(cache._waiting) > number)
    # One place becomes free at a time, so the order does not depend on the threads' luck.
    for ended in range(6):
        may_end[order[ended]].set()
        wait_until(lambda ended=ended: len(order) >= min(ended + 3, 6))
    for thread in threads:
        thread.join(20)
    assert max(most) == 2
    assert order == [0, 1, 5, 4, 3, 2]
    assert cache._free == 2


def test_work_that_no_request_asks_for_ends() -> None:
    job = Job()
    job.check()
    job.asked -= 100
    with pytest.raises(StoppedError):
        job.check()
    job.waiters = 1
    job.check()


def test_work_of_a_page_that_was_left_ends_soon_unless_another_page_asks_for_it(
    server: Serve, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slowly(monkeypatch, threading.Event())
    running = server(data)
    id = running.ask("/", patient=False).headers["x-working"]
    assert running.ask(f"/stop?left=1&job={id}", method="POST").status == 303
    (job,) = running.app.app.state.explorer.jobs._jobs.values()
    job.asked -= 4
    assert "This was stopped." in job.future.result(20).body.decode()
    # The page can be opened again at once.
    assert running.ask("/", patient=False).headers["x-working"] != id
    assert "bm25" in running.ask("/").text
