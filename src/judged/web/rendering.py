"""Templates to answers: whole pages, or one part of one."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from judged.web.pages import environment

if TYPE_CHECKING:
    from jinja2 import Template


@cache
def _frame(part: str | None) -> Template:
    """What the template of all pages extends: the layout, or what holds one block alone."""
    if part is None:
        return environment().get_template("layout.html")
    return environment().from_string("{% block " + part + " %}{% endblock %}")


def rendered(template: str, part: str | None, context: dict[str, Any]) -> str:
    """A whole page, or one block of it."""
    return environment().get_template(template).render(frame=_frame(part), **context)
