"""Files: what is loaded, how it was read, and what is unclear about it."""

from __future__ import annotations

from judged.web.asked import Asked, Page
from judged.web.files import KINDS

PARAMS: tuple[str, ...] = ()


def page(asked: Asked) -> Page:
    """All files, and what each is."""
    workspace = asked.workspace
    context = {"workspace": workspace, "kinds": KINDS}
    return Page("files.html", "Files", context)


def asking(asked: Asked, why: str) -> Page:
    """The page that asks which file is what, where numbers were asked for."""
    context = {"workspace": asked.workspace, "why": why, "kinds": KINDS}
    return Page("asking.html", "Which files?", context, status=409)
