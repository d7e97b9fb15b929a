"""A real browser for tests of pages, and what axe finds on a page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def launched() -> Iterator[Any]:
    """A browser without a window; tests that use it need the part `browser`."""
    from playwright.sync_api import sync_playwright

    path = next(found for name in BROWSERS if (found := shutil.which(name)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def violations(page: Any, *, only: list[str] | None = None) -> list[str]:
    """What axe finds wrong on a page, one line for each rule and element; by some rules only."""
    from axe_playwright_python.sync_playwright import Axe

    # What is right is not gathered: on a long page that takes longer than to find what is wrong.
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if only is not None:
        options["runOnly"] = only
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{rule['id']}: {node['html'][:200]} ({node.get('failureSummary', '')})"
        for rule in found
        for node in rule["nodes"]
    ]
