"""Documents: pages in one file, which load nothing and run only what they came with."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from markupsafe import Markup

from judged.text import script as as_json
from judged.web.pages import assets
from judged.web.pages.templating import render

STYLES = ("tokens", "base", "parts", "print")
"""What a document needs of the stylesheet where nobody says."""


def document(
    template: str = "document.html",
    *,
    title: str,
    body: str | Markup = "",
    styles: Sequence[str] = STYLES,
    scripts: Sequence[str] = ("theme",),
    data: Mapping[str, Any] | None = None,
    **context: Any,
) -> str:
    """One HTML file with everything in it, which a Content-Security-Policy keeps to itself.

    Parameters
    ----------
    template : str, optional
        One that extends "document.html", whose blocks it fills.
    title : str
        Of the page.
    body : str or markupsafe.Markup, optional
        What stands in the page, where there is no template of its own.
    styles, scripts : sequence of str, optional
        Names of parts of the stylesheet, and of classic scripts, which run in this order.
    data : {id: value}, optional
        Values for the scripts, as JSON in elements with these ids.
    **context : Any
        What the template shows.

    Returns
    -------
    str

    >>> page = document(title="A < B", body="1 < 2")
    >>> page.startswith("<!DOCTYPE html>"), "1 &lt; 2" in page, "sha256-" in page
    (True, True, True)
    """
    style = assets.stylesheet(tuple(styles))
    texts = [assets.script(name) for name in scripts]
    return render(
        template,
        title=title,
        body=body,
        policy=_policy(style, texts),
        style=Markup(style),
        scripts=[Markup(text) for text in texts],
        data={name: Markup(as_json(value)) for name, value in (data or {}).items()},
        **context,
    )


def _policy(style: str, scripts: Sequence[str]) -> str:
    """Only this style and these scripts, by their hashes; pictures only as data."""
    allowed = " ".join(map(_hashed, scripts)) or "'none'"
    return (
        f"default-src 'none'; style-src {_hashed(style)}; script-src {allowed}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hashed(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
