"""The one stylesheet and the scripts of all pages."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup

from judged.text import script as as_json
from judged.web.pages import drawings, numbers
from judged.web.pages.numbers import shorten

if TYPE_CHECKING:
    from jinja2 import Environment

    from judged.charts.chart import Chart


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


PACKAGES = ("judged.web.pages", "judged.web", "judged.web.report")
"""Whose folders `templates` are looked into, in this order."""


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
        loader=ChoiceLoader([PackageLoader(room) for room in PACKAGES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals.update(_functions())
    made.filters.update({"visible": _visible, "cut": shorten})
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


def favicon() -> str:
    """The sign of judged as an address of data, in the light colours.

    Returns
    -------
    str

    >>> favicon()[:19]
    'data:image/svg+xml,'
    """
    boxes = ((1, 2, 28, "g3"), (9, 22, 8, "none"), (17, 10, 20, "g2"), (25, 2, 28, "hatch"))
    shapes = "".join(
        f'<rect x="{x}" y="{y}" width="6" height="{height}" rx="1" fill="{palette()[name][0]}"/>'
        for x, y, height, name in boxes
    )
    return "data:image/svg+xml," + quote(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">{shapes}</svg>'
    )


def _visible(text: object) -> str:
    from judged.text import visible

    return visible(str(text))


def _functions() -> dict[str, Any]:
    """What templates may call, by name."""
    from judged.comparison.wording import percent_of, shown_p
    from judged.text import counted

    return {
        "draw_strip": drawings.strip,
        "draw_compact_strip": drawings.strip,
        "draw_mean_strip": drawings.mean_strip,
        "draw_logo": drawings.logo,
        "draw_empty_strip": drawings.empty_strip,
        "draw_legend": drawings.legend_cell,
        "draw_legend_relevant": drawings.legend_grades,
        "draw_whisker": drawings.whisker,
        "draw_diverging": drawings.diverging,
        "draw_bar": drawings.bar,
        "draw_reading": drawings.reading,
        "show_number": numbers.number,
        "show_signed": numbers.signed,
        "show_share": numbers.share,
        "show_count": numbers.count,
        "show_plain": numbers.plain_number,
        "show_p": shown_p,
        "show_level": percent_of,
        "favicon": favicon,
        "counted": counted,
    }


DOCUMENT_STYLES = ("tokens", "base", "parts", "print")
"""What a document needs of the stylesheet where nobody says."""


def document(
    template: str = "document.html",
    *,
    title: str,
    body: str | Markup = "",
    styles: Sequence[str] = DOCUMENT_STYLES,
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
    style = stylesheet(tuple(styles))
    texts = [script(name) for name in scripts]
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
    allowed = " ".join(map(_hash, scripts)) or "'none'"
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {allowed}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


MAX_FIGURE_ROWS = 40
"""So many rows of a chart's data stand in the page where nobody says; files have all of them."""


def figure(
    chart: Chart,
    *,
    link: Callable[[dict[str, Any]], str | None] | None = None,
    tab_stops: bool = True,
    menu: Sequence[Mapping[str, Any]] = (),
    rows: int | None = MAX_FIGURE_ROWS,
    heading: int = 2,
) -> Markup:
    """A chart as a figure of a page.

    Parameters
    ----------
    chart : Chart
        Made with `theme="page"`, for the width it gets here.
    link : callable, optional
        Takes a row of the chart's data and gives the address that its mark leads to, or None.
    tab_stops : bool, optional
        Whether the tab key stops at each of these links; false where a table beside has them.
    menu : sequence of dict, optional
        What the menu of the figure offers: dicts of `text`, `href` and, for a file to be saved,
        `download`.
    rows : int, optional
        How many rows of the data the folded table shows, 40 by default; None for all.
    heading : int, optional
        The level of its heading, 2 by default.

    Returns
    -------
    markupsafe.Markup

    >>> from judged import Rankings, charts
    >>> chart = charts.cmc(Rankings.from_relevance([[0, 1]]), theme="page", width=400)
    >>> figure(chart).startswith("<figure")
    True
    """
    svg = chart.to_svg() if link is None else chart.to_linked_svg(link, tab_stops=tab_stops)
    [(columns, table)] = chart.tables()
    numeric = [kind.is_numeric() for kind in chart.data.dtypes]
    shown = table if rows is None else table[:rows]
    html = render(
        "parts/figure.html",
        title=chart.title,
        notes=chart.notes,
        drawing=Markup(svg),
        menu_links=list(menu),
        heading=f"h{heading}",
        columns=list(zip(columns, numeric, strict=True)),
        rows=[list(zip(row, numeric, strict=True)) for row in shown],
        count=len(table),
    )
    return Markup(html)
