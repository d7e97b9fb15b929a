"""The one stylesheet and the scripts of all pages."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

STYLES = (
    "tokens",
    "base",
    "parts",
    "leaderboard",
    "compare",
    "query",
    "judge",
    "explanation",
    "playground",
    "embeddings",
    "report",
    "files",
    "print",
)
"""The parts of the stylesheet, in their order; colours stand in the first alone."""
MODULES = ("app", "swap", "table", "copy", "steps", "playground", "slider", "files", "judge")
"""The modules of the explorer; `app` is the entry, which imports the others."""
CLASSIC = ("theme", "walk", "report")
"""Scripts that run by themselves, also from a file on disk, where modules do not load."""
SCRIPTS = (*CLASSIC, *MODULES)


@cache
def stylesheet(names: tuple[str, ...] = STYLES) -> str:
    """The stylesheet of all pages, as one text; or some parts of it.

    Parameters
    ----------
    names : tuple of str, optional
        Which of `STYLES`.

    Returns
    -------
    str

    >>> stylesheet().startswith(":root")
    True
    """
    return "\n".join(_text("styles", f"{name}.css").strip() for name in names) + "\n"


@cache
def palette() -> dict[str, tuple[str, str]]:
    """Every colour by the name of its token: the light one and the dark one.

    Returns
    -------
    dict

    >>> palette()["ink"]
    ('#1b1f23', '#e8eaec')
    """
    found = re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\);", _text("styles", "tokens.css"))
    return {name: (light, dark) for name, light, dark in found}


@cache
def script(name: str) -> str:
    """One of the scripts.

    Parameters
    ----------
    name : str
        One of `SCRIPTS`.

    Returns
    -------
    str

    >>> "localStorage" in script("theme")
    True
    """
    if name not in SCRIPTS:
        raise KeyError(name)
    return _text("scripts", f"{name}.js")


def _text(folder: str, name: str) -> str:
    found = resources.files("judged.web.pages").joinpath("assets", folder, name)
    return found.read_text(encoding="utf-8")
