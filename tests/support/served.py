"""What tests of the explorer share: a server's answers, and data made by code."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from judged.web import ServerSettings
from judged.web.visit import Params, Visit
from judged.web.work import Cache
from judged.web.workspace import ServedFiles, Session


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Server:
    """A server that runs."""

    port: int
    key: str | None
    app: Any

    @property
    def address(self) -> str:
        """What a browser opens."""
        return f"http://127.0.0.1:{self.port}/" + (f"?key={self.key}" if self.key else "")

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        body: bytes | None = None,
        key: bool = True,
        patient: bool = True,
        **headers: str,
    ) -> Answer:
        """One request, with the key in a header unless it is not wanted; `x_fragment="main"` is
        the header X-Fragment. Who is patient asks again while a page is being made."""
        answer = self._once(path, method, body, key, headers)
        while patient and "x-working" in answer.headers:
            time.sleep(0.05)
            answer = self._once(path, method, body, key, headers)
        return answer

    def _once(
        self, path: str, method: str, body: bytes | None, key: bool, headers: dict[str, str]
    ) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if key and self.key:
            named["x-judged-key"] = self.key
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body=body, headers=named)
            found = connection.getresponse()
            held = {name.lower(): value for name, value in found.getheaders()}
            return Answer(found.status, held, found.read())
        finally:
            connection.close()


def visit_of(
    folder: Path | None,
    query: str = "",
    path: str = "/",
    *,
    cache: Cache | None = None,
    library: ServedFiles | None = None,
) -> Visit:
    """A visit of a page, without a server."""
    paths = () if folder is None else (folder,)
    known, kept = library or ServedFiles(paths), cache or Cache(10**8)
    settings = ServerSettings.of([*paths])
    return Visit(path, Params.read(query), Session("one"), known, kept, settings)


Serve = Callable[..., Server]
KEY = "the-key-of-tests"


@contextmanager
def serving() -> Iterator[Serve]:
    """Starts servers, `start(folder)`, each in a thread, and ends them."""
    uvicorn = pytest.importorskip("uvicorn")
    from judged.web import ServerSettings, application, bound

    running: list[tuple[Any, threading.Thread]] = []

    def start(*paths: Path | str, key: str | bool = KEY, **options: Any) -> Server:
        settings = ServerSettings.of(list(paths), port=0, key=key, **options)
        listening = bound(settings, print)
        settings = replace(settings, port=listening.getsockname()[1])
        app = application(settings)
        own = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
        thread = threading.Thread(target=own.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        running.append((own, thread))
        until = time.monotonic() + 20
        while not own.started and time.monotonic() < until:
            time.sleep(0.01)
        return Server(settings.port, settings.key, app)

    yield start
    for own, thread in running:
        own.should_exit = True
        thread.join(10)


def lists(
    queries: int = 20, items: int = 30, seed: int = 0, *, levels: int = 40
) -> dict[str, dict[str, float]]:
    """A run with ties: the scores of some items for each query, of few levels."""
    draw = random.Random(seed)
    return {
        f"q{query}": {
            f"d{item}": draw.randrange(levels) / 4 for item in draw.sample(range(items), items // 2)
        }
        for query in range(queries)
    }


def grades(queries: int = 20, items: int = 30, seed: int = 99) -> dict[str, dict[str, int]]:
    """Judgements of half of the items, one query with nothing relevant among them."""
    draw = random.Random(seed)
    return {
        f"q{query}": {
            f"d{item}": 0 if query == 3 else draw.choice([0, 0, 1, 2])
            for item in draw.sample(range(items), items // 2)
        }
        for query in range(queries)
    }


def write_run(path: Path, run: dict[str, dict[str, float]], tag: str = "run") -> Path:
    """A run as TREC writes it, the rows of a query in the order of the dict."""
    rows = [
        f"{query} Q0 {item} {rank} {score} {tag}"
        for query, found in run.items()
        for rank, (item, score) in enumerate(found.items(), 1)
    ]
    path.write_text("\n".join(rows) + "\n")
    return path


def write_judgements(path: Path, judged: dict[str, dict[str, int]]) -> Path:
    """Judgements as TREC writes them."""
    rows = [
        f"{query} 0 {item} {grade}"
        for query, each in judged.items()
        for item, grade in each.items()
    ]
    path.write_text("\n".join(rows) + "\n")
    return path
