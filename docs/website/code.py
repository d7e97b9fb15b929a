"""Code without colours of its own: style.css gives them."""

from __future__ import annotations

from typing import ClassVar

from pygments.style import Style


class Plain(Style):
    """A style with a background only."""

    background_color = "var(--sunk)"
    styles: ClassVar = {}
