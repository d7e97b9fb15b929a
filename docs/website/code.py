"""Code without colours of its own: style.css gives them, from the tokens of all pages."""

from __future__ import annotations

from typing import ClassVar

from pygments.style import Style


class Plain(Style):
    """Nothing but the ground."""

    background_color = "var(--sunk)"
    styles: ClassVar = {}
