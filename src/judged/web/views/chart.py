"""A chart: as a figure that a page loads after its numbers, as a page, or as a file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from judged.charts.kinds import KINDS, NEEDS, OF_JSON, ChartKind, kind_named
from judged.policy import CHOICES
from judged.web.commands import chart_command
from judged.web.errors import RefusedError
from judged.web.pages.templating import figure
from judged.web.report.layout import OF_PAIR
from judged.web.visit import Page, RawContent, Visit

if TYPE_CHECKING:
    from judged.charts.canvas import Design
    from judged.charts.chart import Chart

OPTIONS = ("k", "rel", "query", "bins")
PARAMS = ("kind", "of", "system", "against", "width", "height", "format", *OPTIONS)
FORMATS = {
    "svg": ("image/svg+xml", "SVG"),
    "png": ("image/png", "PNG"),
    "csv": ("text/csv; charset=utf-8", "Data as CSV"),
    "json": ("application/json", "Vega-Lite"),
}
"""The files of a chart: media type and name in the menu."""
WIDTH, NARROWEST, WIDEST = 620, 160, 1400
MAX_CELLS, MAX_ROWS = 80, 40
"""The maximum of cells and rows below a chart; its files have all data."""
COSTLY = ("cmc", "eleven-point", "measure-at-k", "ranges")
"""Kinds of charts whose data are cached, because they cost more than the drawing."""
LINKED = ("differences", "scatter", "forest")  # kinds of charts whose marks are links


def page(visit: Visit) -> Page | RawContent:
    kind = _kind(visit)
    key = visit.workspace.identity, visit.params
    if visit.params.one("format") is not None:
        form = visit.params.choice("format", tuple(FORMATS), "svg")
        content = visit.cache.get(("chart", *key), lambda: _file(visit, kind, form))
        return RawContent(content, FORMATS[form][0], f"{kind.name}.{form}")
    shown = visit.cache.get(("figure", *key), lambda: _figure(visit, kind))
    command = chart_command(visit, kind, _systems(visit), _options(visit, kind))
    return Page("chart.html", kind.title, {"figure": shown, "kind": kind}, command)


def _kind(visit: Visit) -> ChartKind:
    name = visit.params.one("kind")
    if name is None:
        raise RefusedError(f"name the kind of chart: {', '.join(KINDS)}.", "kind")
    kind = kind_named(name)
    if kind.name == "gallery" or kind.needs in (*OF_JSON, "stages"):
        raise RefusedError(f"the chart {kind.name} is not supported here.", "kind")
    return kind


def _figure(visit: Visit, kind: ChartKind) -> Any:
    width = visit.params.whole("width", WIDTH, at_least=1)
    chart = _chart(visit, kind, theme="page", width=min(max(width, NARROWEST), WIDEST))
    if kind.name in OF_PAIR and visit.params.one("width"):  # inside another page
        chart = replace(chart, notes=chart.notes[2:])
    menu = [
        {"text": name, "href": visit.url(format=form, width=None), "download": True}
        for form, (_, name) in FORMATS.items()
    ]
    menu.append({"text": "As a command", "href": visit.url(width=None)})
    rows = min(max(MAX_CELLS // len(chart.data.columns), 3), MAX_ROWS)
    link, tab_stops = _link(visit, kind), kind.name == "forest"
    return figure(chart, link=link, tab_stops=tab_stops, menu=menu, rows=rows)


def _file(visit: Visit, kind: ChartKind, form: str) -> bytes:
    chart = _chart(visit, kind, width=visit.params.whole("width", 0) or None)
    content = getattr(chart, f"to_{form}")()
    return content if isinstance(content, bytes) else str(content).encode()


def _chart(visit: Visit, kind: ChartKind, **design: Any) -> Chart:
    height = visit.params.whole("height", 0)
    if height:
        design["height"] = height
    design["looks"] = visit.places
    source, options = _source(visit, kind), _options(visit, kind)
    if kind.name not in COSTLY:
        chart: Chart = kind.function(*source, **options, **design)
        return chart
    from judged.charts.canvas import Canvas

    named = visit.params.all("system"), repr(options)
    key = "table", visit.workspace.identity, visit.scoring.key, kind.name, *named
    table = visit.cache.get(key, lambda: kind.function(*source, **options).data)
    canvas = Canvas.of(cast("Design", design))
    chart = kind.draw(table, canvas, source[0].sentences())
    return chart


def _systems(visit: Visit) -> list[str]:
    """Return the named systems, the one to compare with first; by default all."""
    names = list(dict.fromkeys(visit.params.all("system")))
    against = visit.params.one("against")
    if against is not None:
        names = [against, *(name for name in names if name != against)]
    for name in names:
        visit.workspace.system(name)
    return names or [system.name for system in visit.workspace.systems]


def _source(visit: Visit, kind: ChartKind) -> tuple[Any, ...]:
    names, scoring, calculations = _systems(visit), visit.scoring, visit.calculations
    needs = NEEDS[kind.needs]
    fewest, most = needs.files
    if len(names) < fewest - 1 or (most is not None and len(names) > most - 1):
        raise RefusedError(
            f"{kind.name} needs {needs.says}; got {len(names)}: {', '.join(names)}.", "system"
        )
    if kind.needs == "results":
        return calculations.judgements(), calculations.run(names[0])
    if kind.needs in ("pair", "comparison", "values") and len(names) > 1:
        of = visit.params.one("of")
        measures = [of] if of is not None and len(names) > 2 else None
        if kind.needs == "pair":
            measures = [of or scoring.headline]
        compared = calculations.pairs(scoring, names, measures=measures)
        if kind.needs == "comparison" and len(names) > 2:  # the page names the winner last
            places = {name: at for at, name in enumerate(names)}
            order = sorted(compared.rows, key=lambda row: (-places[row.run], -places[row.against]))
            compared = replace(compared, rows=tuple(order))
        return (compared,)
    if kind.needs == "values":
        return (calculations.evaluation(scoring),)
    from judged.charts.sources import Systems

    places = {system.name: at for at, system in enumerate(visit.workspace.systems)}
    rankings = calculations.rankings(scoring)
    return (Systems(tuple(rankings[places[name]] for name in names), scoring.policy),)


def _options(visit: Visit, kind: ChartKind) -> dict[str, Any]:
    """Return the options of the address; those that the kind does not have are errors."""
    params, options = visit.params, dict[str, Any]()
    of = params.one("of")
    if of is not None and kind.name not in ("forest", "systems"):
        if "measures" in kind.options:
            options["measures"] = [of]
        elif "measure" in kind.options:
            options["measure"] = of
    for name in ("k", "bins"):
        if params.one(name) is not None:
            options[name] = params.whole(name, 1, at_least=1)
    if params.one("rel") is not None:
        options["rel"] = params.number("rel")
    if params.one("query") is not None:
        options["query"] = params.one("query")
    for name in ("ties", "unjudged"):
        if name in kind.options and name in CHOICES:
            options[name] = visit.scoring.policy.to_dict()[name]
    for name in options:
        if name not in kind.options:
            raise RefusedError(f"{kind.name} has no option {name}.", name)
    return options


def _link(visit: Visit, kind: ChartKind) -> Any:
    """Return the function from a row to the address of its mark: a query, or a pair."""
    if kind.name not in LINKED:
        return None
    names = _systems(visit)

    def to_query(row: dict[str, Any]) -> str | None:
        if row.get("query") is None:
            return None
        show = visit.params.one("of")
        return visit.url("/query", query=row["query"], system=names, show=show)

    def to_pair(row: dict[str, Any]) -> str | None:
        against, run, by = row["against"], row["run"], row["measure"]
        return visit.url("/compare", system=[against, run], against=against, by=by)

    return to_pair if kind.name == "forest" else to_query
