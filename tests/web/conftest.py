"""A real server in a thread, a browser, and data made by code, for all tests of the explorer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.served import Serve, Server, grades, lists, serving, write_judgements, write_run


@pytest.fixture
def server() -> Iterator[Serve]:
    """`server(folder)` serves a folder, or files, until the test ends."""
    with serving() as start:
        yield start


@pytest.fixture(scope="module")
def module_server() -> Iterator[Serve]:
    """The same for all tests of a file."""
    with serving() as start:
        yield start


@pytest.fixture
def browse(browser: Any) -> Iterator[Callable[..., Any]]:
    """`browse(server, "/files")` opens a page in a browser of its own; what its console complains
    of fails the test."""
    contexts, complaints = [], []

    def open_page(server: Server, path: str = "/", **options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda said: (
                complaints.append(said.text) if said.type in ("error", "warning") else None
            ),
        )
        page.goto(server.address)
        page.goto(f"http://127.0.0.1:{server.port}{path}")
        # On a busy machine a page may say at first how far it is.
        page.wait_for_selector("#working", state="detached", timeout=60_000)
        return page

    yield open_page
    for context in contexts:
        context.close()
    refused = [each for each in complaints if "the server responded with a status of 4" not in each]
    assert not refused


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with judgements and three runs, one of which lacks a query."""
    folder = tmp_path / "data"
    folder.mkdir()
    write_judgements(folder / "qrels.txt", grades())
    for seed, name in enumerate(("bm25", "dense", "hybrid")):
        write_run(folder / f"{name}.run", lists(seed=seed), name)
    short = {query: found for query, found in lists(seed=7).items() if query != "q5"}
    write_run(folder / "short.run", short, "short")
    return folder


@pytest.fixture
def served(server: Serve, data: Path) -> Server:
    """A server of that folder."""
    return server(data)
