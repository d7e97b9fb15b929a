"""Templates to answers: whole pages, or one part of one."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment, Template

PARTS = ("page", "terms", "band", "main")
"""The parts of every page that may be asked for alone; a template may have more."""


@cache
def environment() -> Environment:
    """The templates of pages and of the explorer."""
    try:
        from judged.pages import environment as shared  # type: ignore[attr-defined,unused-ignore]
    except ImportError:
        from jinja2 import Environment, PackageLoader, StrictUndefined

        return Environment(
            loader=PackageLoader("judged.web"), autoescape=True, undefined=StrictUndefined
        )
    return shared()  # type: ignore[no-any-return,unused-ignore]


@cache
def _alone(part: str) -> Template:
    """What a template extends whose one part is asked for."""
    if part == "page":
        return environment().get_template("explorer/page.html")
    return environment().from_string("{% block " + part + " %}{% endblock %}")


def rendered(template: str, part: str | None, context: dict[str, Any]) -> str:
    """A whole page, or one part of it: templates begin with {% extends layout %}."""
    layout = environment().get_template("explorer/explorer.html") if part is None else _alone(part)
    return environment().get_template(template).render(layout=layout, **context)
