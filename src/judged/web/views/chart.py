"""A chart: as a figure that a page loads after its numbers, as a page of its own, or as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judged.charts.kinds import KINDS, NEEDS, OF_JSON, Kind, kind_named
from judged.policy import CHOICES
from judged.web.commands import chart_command
from judged.web.errors import RefusedError
from judged.web.pages.templating import figure
from judged.web.visit import Page, RawContent, Visit

if TYPE_CHECKING:
    from judged.charts.chart import Chart

OPTIONS = ("k", "rel", "query", "bins")
PARAMS = ("kind", "of", "system", "against", "width", "height", "format", "file", *OPTIONS)
FORMATS = {
    "svg": ("image/svg+xml", "SVG"),
    "png": ("image/png", "PNG"),
    "csv": ("text/csv; charset=utf-8", "Data as CSV"),
    "json": ("application/json", "Vega-Lite"),
}
"""The files that a chart can be saved as, and what the menu calls them."""
WIDTH = 620
NARROWEST, WIDEST = 160, 1400
CELLS, MOST_ROWS = 80, 40
"""So many cells and rows of the data stand below a chart; its files have all of them."""
COSTLY = ("cmc", "eleven-point", "measure-at-k", "ranges")
"""Kinds of systems whose data cost more than their drawing; these are kept."""
LINKED = ("differences", "scatter", "forest")
"""Kinds whose marks lead somewhere."""


def page(visit: Visit) -> Page | RawContent:
    """The chart that the address names."""
    kind = _kind(visit)
    form = visit.params.one("format")
    if form is not None:
        return _file(visit, kind, visit.params.choice("format", tuple(FORMATS), "svg"))
    key = "figure", visit.workspace.identity, visit.params
    shown = visit.cache.get(key, lambda: _figure(visit, kind))
    context = {"figure": shown, "kind": kind}
    command = None
    if kind.needs not in OF_JSON:
        command = chart_command(visit, kind, systems_of(visit), _options(visit, kind))
    return Page("chart.html", kind.title, context, command)


def _kind(visit: Visit) -> Kind:
    given = visit.params.one("kind")
    if given is None:
        raise RefusedError(f"say which kind of chart: {', '.join(KINDS)}.", "kind")
    kind = kind_named(given)
    if kind.name == "gallery" or kind.needs in ("diagnosis", "plan"):
        raise RefusedError(f"the chart {kind.name} is not drawn here.", "kind")
    return kind


def _figure(visit: Visit, kind: Kind) -> Any:
    width = visit.params.whole("width", WIDTH, at_least=1)
    drawn = chart_of(visit, kind, theme="page", width=min(max(width, NARROWEST), WIDEST))
    menu = [
        {"text": name, "href": visit.url(format=form, width=None), "download": True}
        for form, (_, name) in FORMATS.items()
    ]
    menu.append({"text": "As a command", "href": visit.url(width=None)})
    link = _link(visit, kind)
    rows = min(max(CELLS // len(drawn.data.columns), 3), MOST_ROWS)
    return figure(drawn, link=link, tab_stops=kind.name == "forest", menu=menu, rows=rows)


def _file(visit: Visit, kind: Kind, form: str) -> RawContent:
    def made() -> bytes:
        drawn = chart_of(visit, kind, width=visit.params.whole("width", 0) or None)
        found = getattr(drawn, f"to_{form}")()
        return found if isinstance(found, bytes) else str(found).encode()

    key = "chart", visit.workspace.identity, visit.params
    return RawContent(visit.cache.get(key, made), FORMATS[form][0], f"{kind.name}.{form}")


def chart_of(visit: Visit, kind: Kind, **design: Any) -> Chart:
    """The chart of a kind under the terms of the address."""
    height = visit.params.whole("height", 0)
    if height:
        design["height"] = height
    if kind.needs not in OF_JSON:
        design["looks"] = {system.name: system.place for system in visit.workspace.systems}
    source, options = _source(visit, kind), _options(visit, kind)
    if kind.name not in COSTLY:
        drawn: Chart = kind.function(*source, **options, **design)
        return drawn
    key = (
        "table",
        visit.workspace.identity,
        visit.scoring.key,
        kind.name,
        *visit.params.all("system"),
    )
    table = visit.cache.get((*key, repr(options)), lambda: kind.data(*source, **options))
    drawn = kind.draw(table, sentences=source[0].sentences(), **design)
    return drawn


def systems_of(visit: Visit) -> list[str]:
    """The systems that are shown: those that were named, the one they are compared with first; or
    all of them."""
    names = list(dict.fromkeys(visit.params.all("system")))
    against = visit.params.one("against")
    if against is not None:
        names = [against, *(name for name in names if name != against)]
    for name in names:
        visit.workspace.system(name)
    return names or [system.name for system in visit.workspace.systems]


def _source(visit: Visit, kind: Kind) -> tuple[Any, ...]:
    """What the chart is made from."""
    if kind.needs in OF_JSON:
        return (_json(visit),)
    names, scoring, calculations = systems_of(visit), visit.scoring, visit.calculations
    _refuse_number(kind, names)
    if kind.needs == "results":
        return calculations.judgements(), calculations.run(names[0])
    if kind.needs == "results of a pair":
        return calculations.judgements(), {name: calculations.run(name) for name in names}
    if kind.needs in ("pair", "comparison", "values") and len(names) > 1:
        return (calculations.pairs(scoring, names, measures=_compared_by(visit, kind, names)),)
    if kind.needs == "values":
        return (calculations.evaluation(scoring),)
    from judged.charts.sources import Systems

    places = {system.name: at for at, system in enumerate(visit.workspace.systems)}
    rankings = calculations.rankings(scoring)
    return (Systems(tuple(rankings[places[name]] for name in names), scoring.policy),)


def _compared_by(visit: Visit, kind: Kind, names: list[str]) -> list[str] | None:
    """The measures of a comparison: one for a pair, and where one is named for more than two."""
    of = visit.params.one("of")
    if kind.needs == "pair":
        return [of or visit.scoring.labels[0]]
    return [of] if of is not None and len(names) > 2 else None


def _refuse_number(kind: Kind, names: list[str]) -> None:
    """An error where a kind shows one system or two, and there are others."""
    fewest, most = NEEDS[kind.needs].files
    if len(names) < fewest - 1 or (most is not None and len(names) > most - 1):
        raise RefusedError(
            f"{kind.name} needs {NEEDS[kind.needs].says}; got {len(names)}: {', '.join(names)}.",
            "system",
        )


def _json(visit: Visit) -> Any:
    """The result of another command that lies in the folder."""
    import json

    file = visit.workspace.file(visit.params.text("file"))
    try:
        return json.loads(file.path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"{file.name}: cannot be read as JSON ({error}).", "file") from None


def _options(visit: Visit, kind: Kind) -> dict[str, Any]:
    """The options of the kind that the address has; others are refused."""
    params, found = visit.params, dict[str, Any]()
    if (of := params.one("of")) is not None and kind.name != "forest" and kind.name != "systems":
        if "measures" in kind.options:
            found["measures"] = [of]
        elif "measure" in kind.options:
            found["measure"] = of
    for name in ("k", "bins"):
        if params.one(name) is not None:
            found[name] = params.whole(name, 1, at_least=1)
    if params.one("rel") is not None:
        found["rel"] = params.number("rel")
    if params.one("query") is not None:
        found["query"] = params.one("query")
    for name in ("ties", "unjudged"):
        if name in kind.options and name in CHOICES:
            found[name] = visit.scoring.policy.to_dict()[name]
    for name in found:
        if name not in kind.options:
            raise RefusedError(f"{name} has no meaning for {kind.name}.", name)
    return found


def _link(visit: Visit, kind: Kind) -> Any:
    """Where the mark of a row leads: to its query, or to the pair that it is about."""
    if kind.name not in LINKED:
        return None
    names = systems_of(visit)

    def to_query(row: dict[str, Any]) -> str | None:
        query = row.get("query")
        return (
            None
            if query is None
            else visit.url("/query", query=query, system=names, show=visit.params.one("of"))
        )

    def to_pair(row: dict[str, Any]) -> str | None:
        return visit.url(
            "/compare",
            system=[row["against"], row["run"]],
            against=row["against"],
            by=row["measure"],
        )

    return to_pair if kind.name == "forest" else to_query
