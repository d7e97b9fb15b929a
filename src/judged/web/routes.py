"""All pages: their addresses, their views, and their places in the navigation."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from judged.web.asked import Asked, Page, Raw


@dataclass(frozen=True)
class View:
    """A page: a module of `judged.web.views` with a function `page(asked)`.

    A module may say with `PARAMS` which parameters its addresses have besides the terms: others
    are refused. With `NUMBERS` it says that the bar of terms stands above it, and with `PATIENCE`
    for how many seconds the answer is waited for before a page says that it is being made: files
    and charts are no pages that could say it.
    """

    path: str
    module: str
    title: str
    """What the navigation calls it; empty for what does not stand there."""

    @property
    def code(self) -> Any:
        """The module."""
        return import_module(f"judged.web.views.{self.module}")

    @property
    def answer(self) -> Callable[[Asked], Page | Raw]:
        """The function that answers."""
        found: Callable[[Asked], Page | Raw] = self.code.page
        return found


VIEWS = (
    View("/", "leaderboard", "Leaderboard"),
    View("/compare", "compare", "Compare"),
    View("/queries", "queries", "Queries"),
    View("/judge", "judge", "Judge"),
    View("/embeddings", "embeddings", "Embeddings"),
    View("/playground", "playground", "Playground"),
    View("/files", "files", "Files"),
    View("/reading", "reading", ""),
    View("/query", "query", ""),
    View("/judge/changes", "judge_changes", ""),
    View("/agreement", "agreement", ""),
    View("/merged", "merged", ""),
    View("/playground/curve", "playground_curve", ""),
    View("/playground/steps", "playground_steps", ""),
    View("/picture", "picture", ""),
    View("/found", "found", ""),
    View("/identify", "identify", ""),
    View("/chart", "chart", ""),
    View("/download", "download", ""),
    View("/report", "report", ""),
)
"""Every page, in the order of the navigation."""
