"""Small drawings as inline SVG, with attributes only: the stylesheet gives the colours by class."""

from __future__ import annotations

from markupsafe import Markup, escape


def length(value: float) -> str:
    """A length as SVG has it: at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def drawing(width: float, height: float, shapes: str, *, label: str | None, kind: str) -> Markup:
    """An element of a kind; without a label it is hidden from screen readers."""
    named = f'role="img" aria-label="{escape(label)}"' if label else 'aria-hidden="true"'
    return Markup(
        f'<svg class="{kind}" width="{length(width)}" height="{length(height)}" '
        f'viewBox="0 0 {length(width)} {length(height)}" {named}>{shapes}</svg>'
    )


def box(x: float, y: float, width: float, height: float, kind: str, radius: float = 2) -> str:
    """A box with round corners."""
    return (
        f'<rect class="{kind}" x="{length(x)}" y="{length(y)}" width="{length(width)}" '
        f'height="{length(height)}" rx="{length(radius)}"/>'
    )
