"""Templates: one environment for all of them, in which everything is escaped."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

ROOMS = ("judged.web.pages", "judged.web", "judged.web.report")
"""Whose folders `templates` are looked into, in this order."""
ID_LENGTH = 34
"""So many characters of an id are shown; the whole stands in the title."""


@cache
def environment() -> Environment:
    """Jinja's environment of all pages: every value is escaped, and a name that is not there is an
    error.

    Returns
    -------
    jinja2.Environment

    >>> environment().from_string("{{ name }}").render(name="<b>")
    '&lt;b&gt;'
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=ChoiceLoader([PackageLoader(room) for room in ROOMS]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals.update(_functions())
    made.filters.update({"visible": _visible, "cut": cut})
    return made


def render(template: str, **context: Any) -> str:
    """A template filled in.

    Parameters
    ----------
    template : str
        Its name, such as "layout.html".
    **context : Any
        What it shows, by name; every text in it is escaped.

    Returns
    -------
    str
        HTML.

    >>> "<svg" in render("parts/hatch.html")
    True
    """
    return environment().get_template(template).render(**context)


def cut(text: str, length: int = ID_LENGTH) -> str:
    """The beginning of a text that is too long, and an ellipsis.

    >>> cut("abcdef", 4), cut("abc", 4)
    ('abc…', 'abc')
    """
    return text if len(text) <= length else text[: length - 1] + "…"


def _visible(text: object) -> str:
    from judged.text import visible

    return visible(str(text))


def _functions() -> dict[str, Any]:
    """What templates may call, by name."""
    from judged.comparison.wording import percent_of, shown_p
    from judged.text import counted
    from judged.web.pages import compact, drawings, marks, numbers

    return {
        "draw_strip": drawings.strip,
        "draw_compact_strip": compact.compact_strip,
        "draw_mean_strip": drawings.mean_strip,
        "draw_logo": drawings.logo,
        "draw_empty_strip": drawings.empty_strip,
        "draw_legend": drawings.legend_cell,
        "draw_legend_relevant": drawings.legend_grades,
        "draw_whisker": marks.whisker,
        "draw_diverging": marks.diverging,
        "draw_bar": marks.bar,
        "draw_reading": marks.reading,
        "show_number": numbers.number,
        "show_signed": numbers.signed,
        "show_share": numbers.share,
        "show_count": numbers.count,
        "show_plain": numbers.plain_number,
        "show_p": shown_p,
        "show_level": percent_of,
        "favicon": drawings.favicon,
        "counted": counted,
    }
