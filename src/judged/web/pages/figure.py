"""A chart in a page: its drawing, title and notes in the page's own type, its data as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from judged.web.pages.templating import render

if TYPE_CHECKING:
    from judged.charts.chart import Chart

ROWS = 40
"""So many rows of a chart's data stand in the page where nobody says; files have all of them."""


def figure(
    chart: Chart,
    *,
    link: Callable[[dict[str, Any]], str | None] | None = None,
    tab_stops: bool = True,
    menu: Sequence[Mapping[str, Any]] = (),
    rows: int | None = ROWS,
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
