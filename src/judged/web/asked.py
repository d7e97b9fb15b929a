"""What a view is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from judged.web.calculations import Calculations
from judged.web.params import Params
from judged.web.terms import NAMES, Terms
from judged.web.workspace import CHOICES

if TYPE_CHECKING:
    from judged.web.cache import Cache
    from judged.web.settings import Settings
    from judged.web.workspace import Library, Session, Workspace

KEPT = (*CHOICES, *(name for name in NAMES if name != "was"))
"""The parameters that go along from page to page."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A question to a view: the address, and everything there is to answer it."""

    path: str
    params: Params
    session: Session
    library: Library
    cache: Cache
    settings: Settings

    @cached_property
    def terms(self) -> Terms:
        """The terms of the address."""
        return Terms.of(self.params)

    @cached_property
    def workspace(self) -> Workspace:
        """The files, and which of them numbers are made of."""
        return self.session.workspace(self.library, self.params)

    @cached_property
    def calculations(self) -> Calculations:
        """All numbers; an error where it is not clear of which files."""
        self.workspace.refuse_undecided()
        return Calculations(self.workspace, self.cache)

    def url(self, path: str | None = None, **changes: object) -> str:
        """An address: this page, or another one with the same terms; some parameters changed, and
        None takes one out.

        A parameter whose name is a word of Python is written with _ behind it, as `from_`.
        """
        params = self.params
        if path is not None and path != self.path:
            params = Params(tuple(pair for pair in params.pairs if pair[0] in KEPT))
        wanted = {name.removesuffix("_"): value for name, value in changes.items()}
        text = str(params.with_(wanted))
        return (path or self.path) + (f"?{text}" if text else "")


@dataclass(frozen=True, eq=False)
class Page:
    """An answer: a template, and what it needs."""

    template: str
    title: str
    context: Mapping[str, Any] = field(default_factory=dict)
    command: Command | None = None
    """What reproduces the numbers of the page."""
    status: int = 200


@dataclass(frozen=True)
class Command:
    """What reproduces the numbers of a view, for a terminal and for Python."""

    shell: str
    python: str


@dataclass(frozen=True)
class Raw:
    """An answer that is no page: a file to save, a picture."""

    content: bytes
    media_type: str
    name: str | None = None
    """What a browser calls it when it saves it; None to show it."""
    status: int = 200
