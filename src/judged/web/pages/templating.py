"""Templates, stylesheet and scripts of all pages, and documents that are one file."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup

from judged.text import counted, palette, visible
from judged.text import script as as_json
from judged.web.pages import drawings, numbers

if TYPE_CHECKING:
    from jinja2 import Environment

    from judged.charts.chart import Chart

STYLES = (
    *("tokens", "base", "parts", "leaderboard", "compare", "query", "judge", "explanation"),
    *("playground", "embeddings", "report", "files", "print"),
)
"""The parts of the stylesheet, in order; only the first has colours."""
MODULES = ("app", "swap", "table", "copy", "steps", "playground", "slider", "files", "judge")
"""The JavaScript modules of the explorer; `app` imports the others."""
CLASSIC = ("theme", "walk", "report")
"""Scripts that also run from a file on disk, where modules do not load."""
SCRIPTS = (*CLASSIC, *MODULES)
DOCUMENT_STYLES = ("tokens", "base", "parts", "print")
PACKAGES = ("judged.web.pages", "judged.web", "judged.web.report")
"""Packages with a folder `templates`, in the order of the search."""
MAX_FIGURE_ROWS = 40  # how many rows of a chart's data are in the page; its files have all of them


@cache
def stylesheet(names: tuple[str, ...] = STYLES) -> str:
    return "\n".join(_asset("styles", f"{name}.css").strip() for name in names) + "\n"


@cache
def script(name: str) -> str:
    if name not in SCRIPTS:
        raise KeyError(name)
    return _asset("scripts", f"{name}.js")


def _asset(folder: str, name: str) -> str:
    path = resources.files("judged.web.pages").joinpath("assets", folder, name)
    return path.read_text(encoding="utf-8")


def favicon() -> str:
    boxes = ((1, 2, 28, "g3"), (9, 22, 8, "none"), (17, 10, 20, "g2"), (25, 2, 28, "hatch"))
    shapes = "".join(
        f'<rect x="{x}" y="{y}" width="6" height="{height}" rx="1" fill="{palette()[name][0]}"/>'
        for x, y, height, name in boxes
    )
    return "data:image/svg+xml," + quote(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">{shapes}</svg>'
    )


@cache
def environment() -> Environment:
    """Return the Jinja environment: it escapes every value, and unknown names are errors."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    from judged.comparison.wording import percent_of, shown_p

    made = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in PACKAGES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals.update(
        draw_strip=drawings.strip,
        draw_mean_strip=drawings.mean_strip,
        draw_logo=drawings.logo,
        draw_empty_strip=drawings.empty_strip,
        draw_legend=drawings.legend_cell,
        draw_legend_relevant=drawings.legend_grades,
        draw_whisker=drawings.whisker,
        draw_diverging=drawings.diverging,
        draw_bar=drawings.bar,
        draw_reading=drawings.reading,
        show_number=numbers.number,
        show_signed=numbers.signed,
        show_share=numbers.share,
        show_count=numbers.count,
        show_plain=numbers.plain_number,
        show_p=shown_p,
        show_level=percent_of,
        favicon=favicon,
        counted=counted,
    )
    made.filters.update(visible=lambda text: visible(str(text)), cut=numbers.shorten)
    return made


def render(template: str, **context: Any) -> str:
    return environment().get_template(template).render(**context)


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
    """Return one HTML file that loads nothing; `data` are values for its scripts, by id."""
    style = stylesheet(tuple(styles))
    texts = [script(name) for name in scripts]
    # Only this style and these scripts, by their hashes; pictures only as data.
    allowed = " ".join(map(_hash, texts)) or "'none'"
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {allowed}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return render(
        template,
        title=title,
        body=body,
        policy=policy,
        style=Markup(style),
        scripts=[Markup(text) for text in texts],
        data={name: Markup(as_json(value)) for name, value in (data or {}).items()},
        **context,
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def figure(
    chart: Chart,
    *,
    link: Callable[[dict[str, Any]], str | None] | None = None,
    tab_stops: bool = True,
    menu: Sequence[Mapping[str, Any]] = (),
    rows: int | None = MAX_FIGURE_ROWS,
    heading: int = 2,
) -> Markup:
    """Return a chart, made with `theme="page"`, as a figure whose marks may be links."""
    svg = chart.to_svg() if link is None else chart.to_linked_svg(link, tab_stops=tab_stops)
    [(columns, table)] = chart.tables()
    numeric = [kind.is_numeric() for kind in chart.data.dtypes]
    html = render(
        "parts/figure.html",
        title=chart.title,
        notes=chart.notes,
        drawing=Markup(svg),
        menu_links=list(menu),
        heading=f"h{heading}",
        columns=list(zip(columns, numeric, strict=True)),
        rows=[list(zip(row, numeric, strict=True)) for row in table[:rows]],
        count=len(table),
    )
    return Markup(html)
