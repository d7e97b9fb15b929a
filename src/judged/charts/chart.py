"""Charts: data, a drawing, and the files of both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from textwrap import wrap
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from judged.charts.canvas import LONGEST, WIDTH, Canvas, drawable
from judged.charts.svg import tidy, with_rows
from judged.errors import InputError, MissingExtraError
from judged.results import Display, DisplayOptions, Document, Frame, Result, Table
from judged.text import html, script, shown, visible

if TYPE_CHECKING:
    from collections.abc import Callable

    import altair
    import polars as pl


VERSIONS = (5, 6)  # of Vega-Lite: what charts say is the same in all of them
SCALE = 2.0  # pixels of a PNG for each of the chart's own, so that text is sharp on today's screens
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>body {{ background: {colour}; }}</style>
<script>{library}</script>
</head>
<body>
<div id="chart"></div>
<script>
vegaEmbed("#chart", {spec}, {{"renderer": "svg"}}).catch(console.error);
</script>
</body>
</html>
"""
_HINT = 'pictures of charts need altair and vl-convert-python: pip install "judged[charts]".'


@dataclass(frozen=True, eq=False, repr=False)
class Figure(Result):
    """The base of charts and galleries: a result made of a table and of sentences."""

    kind: str
    """The name of the kind of chart, as `judged plot` takes it."""
    data: pl.DataFrame
    """The data of the drawing."""
    title: str
    """The heading of the chart."""
    notes: tuple[str, ...]
    """Sentences on how to read the chart, and on data that were left out or grouped."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "what": self.kind,
            "title": self.title,
            "notes": list(self.notes),
            "rows": rows_of(self.data),
        }

    def to_frame(self) -> Frame:
        return self.data

    def document(self, display: Display) -> Document:
        words = {
            name
            for name, kind in zip(self.data.columns, self.data.dtypes, strict=True)
            if not kind.is_numeric()
        }
        rows = [[_cell(value) for value in row] for row in self.data.rows()]
        return Document(tables=[Table(self.data.columns, rows, words=words)], notes=self.notes)

    def sentences(self, **display: Unpack[DisplayOptions]) -> list[str]:
        return list(self.notes)

    def __repr__(self) -> str:
        name = type(self).__name__
        called = name if name.lower() == self.kind else f"{name} {self.kind}"
        lines = [f"<{called}: {self.title}>", *(f"  {note}" for note in self.notes)]
        return "\n".join(map(visible, lines))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/plain": repr(self)}
        try:
            bundle["text/html"] = self._repr_html_()
        except MissingExtraError as missing:
            bundle["text/plain"] += f"\n  {missing}"
        return bundle


@dataclass(frozen=True, eq=False, repr=False)
class Chart(Figure):
    """A table, the Vega-Lite that shows it, and sentences on how to read it.

    Data and specification need no extra; pictures (`to_png`, `to_svg`, `to_pdf`, `to_html`) do.
    `save` writes any of them, or the data, by the ending of the file.

    >>> import judged
    >>> chart = judged.charts.cmc(judged.Rankings.from_relevance([[1, 0, 0], [0, 0, 1]]))
    >>> chart
    <Chart cmc: Cumulative match characteristic>
      Share of 2 queries with a relevant item among the first k.
    >>> chart.to_frame().columns
    ['run', 'queries', 'k', 'share']
    >>> chart.sentences() == list(chart.notes), chart.to_dict() == chart.spec
    (True, True)
    """

    SAVED_AS: ClassVar[dict[str, str]] = {
        ".png": "to_png",
        ".svg": "to_svg",
        ".pdf": "to_pdf",
        ".html": "to_html",
        ".json": "to_json",
        ".csv": "to_csv",
    }
    spec: dict[str, Any]
    """Vega-Lite, with the data in it."""
    canvas: Canvas = field(default_factory=Canvas)
    """Colours, size and title, as they were asked for."""
    words: Callable[[dict[str, Any]], str] | None = None
    """Returns the words of a mark from its row of `data`, in kinds with a mark per row."""

    def to_dict(self) -> dict[str, Any]:
        """Return the Vega-Lite specification with the data; `to_json` is the same as text."""
        return self.spec

    def to_svg(self) -> str:
        """Draw the chart as shapes.

        It can stand in a page beside others: it has no style, no script, and no id that another
        chart has. With the theme "page" its colours are CSS variables of that page.

        Returns
        -------
        str
            An SVG document, whose words are text.
        """
        svg: str = _converter().vegalite_to_svg(self.spec)
        return tidy(svg, label=self.title, width=self.canvas.width)

    def to_linked_svg(
        self, address: Callable[[dict[str, Any]], str | None], *, tab_stops: bool = True
    ) -> str:
        """Draw the chart as shapes, with a link on the mark of each row of the table.

        These are bars of `differences`, points of `scatter`, and marks of `forest` and `systems`.

        Parameters
        ----------
        address : callable
            Takes a row of `data` as a dict and gives where it leads: a relative address, or one of
            the web; None for a mark that is no link.
        tab_stops : bool, optional
            Whether the tab key stops at each link, by default true; false where the same links
            stand in a table beside the chart.

        Returns
        -------
        str
            An SVG document.

        >>> import judged
        >>> pair = [judged.Rankings.from_relevance([[1, 0]], queries=["watch"])] * 2
        >>> svg = judged.charts.scatter(pair).to_linked_svg(lambda row: f"?query={row['query']}")
        >>> svg.count("<a href=")
        1
        """

        words = self.words
        if words is None:
            raise InputError(
                f"{self.kind} has no mark per row of its table, so its marks cannot be links; use "
                "to_svg."
            )

        def link(number: int) -> tuple[str | None, str]:
            row = self.data.row(number, named=True)
            return address(row), words(row)

        svg: str = _converter().vegalite_to_svg(with_rows(self.spec))
        return tidy(svg, label=self.title, width=self.canvas.width, link=link, tab_stops=tab_stops)

    def to_png(self) -> bytes:
        """Draw the chart as pixels, two in each direction for one of the chart's own.

        Returns
        -------
        bytes
            A PNG file.
        """
        self._refuse_names()
        png: bytes = _converter().vegalite_to_png(self.spec, scale=SCALE)
        return png

    def to_pdf(self) -> bytes:
        """Draw the chart on a page of its own size.

        Returns
        -------
        bytes
            A PDF file.
        """
        self._refuse_names()
        pdf: bytes = _converter().vegalite_to_pdf(self.spec)
        return pdf

    def to_html(self, **display: Unpack[DisplayOptions]) -> str:
        """Draw a page that holds everything, also the JavaScript, and needs no network.

        Parameters
        ----------
        **display : Unpack[DisplayOptions]
            Options of `Display`; none has a meaning here.

        Returns
        -------
        str
            An HTML document.
        """
        self._display("to_html", display)
        self._refuse_names()
        _converter()
        colour = self.spec["config"]["background"]
        return _PAGE.format(
            title=html(self.title),
            colour=colour,
            library=_library(),
            spec=script({**self.spec, "$schema": schema(_version())}),
        )

    def _refuse_names(self) -> None:
        if self.canvas.in_page:
            raise InputError(
                "the theme 'page' has names of colours, for an SVG inside a page; draw the chart "
                "with the theme light or dark."
            )

    def to_altair(self) -> altair.TopLevelMixin:
        """Return the chart as an altair chart, to be changed or combined.

        Returns
        -------
        altair.Chart
            Or a layered or concatenated one, as the kind has it.
        """
        try:
            import altair
        except ImportError as error:
            raise MissingExtraError(_HINT) from error
        return altair.Chart.from_dict(self.spec)

    def _repr_html_(self) -> str:
        return f"<figure>{self.to_svg()}</figure>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        both = {
            f"application/vnd.vegalite.v{version}+json": {**self.spec, "$schema": schema(version)}
            for version in VERSIONS
        }
        return {**super()._repr_mimebundle_(include, exclude), **both}


def rows_of(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Return rows for JSON, which has neither NaN nor infinity, with seven digits."""

    def plain(value: Any) -> Any:
        if not isinstance(value, float):
            return value
        return float(f"{value:.7g}") if math.isfinite(value) else None

    return [{name: plain(value) for name, value in row.items()} for row in table.to_dicts()]


def _cell(value: Any) -> str:
    return shown(value) if value is None or isinstance(value, float) else str(value)


def schema(version: int) -> str:
    return f"https://vega.github.io/schema/vega-lite/v{version}.json"


@cache
def _version() -> int:
    """Return the installed Vega-Lite; converters without that information have the fifth."""
    versions = getattr(_converter(), "get_vegalite_versions", lambda: ["5"])()
    return max(int(each.partition(".")[0]) for each in versions)


@cache
def _library() -> str:
    found: str = _converter().javascript_bundle()
    return found


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise MissingExtraError(_HINT) from error
    return vl_convert


LETTERS = 6.0  # pixels of a letter of a note, about
TITLE_LETTERS = 8.0  # of a letter of the title


Drawing = tuple[str, Iterable[str], dict[str, Any]]
"""The title of a chart, its notes, and its Vega-Lite, which reads the rows of a "table"."""


def draws(
    kind: str,
    *,
    width: int | None = None,
    unseen: Sequence[str] = (),
    words: Callable[[dict[str, Any]], str] | None = None,
) -> Callable[[Callable[..., Drawing]], Callable[..., Chart]]:
    """Turn a drawing into a chart; columns that are `unseen` are left out of the Vega-Lite."""

    def decorate(function: Callable[..., Drawing]) -> Callable[..., Chart]:
        def draw(
            table: pl.DataFrame, canvas: Canvas, sentences: Iterable[str] = (), **more: Any
        ) -> Chart:
            title, notes, parts = function(table, canvas, **more)
            shown = title if canvas.title is None else canvas.title
            kept = tuple(note for note in (*notes, *sentences) if note)
            heading = _heading(shown, kept, canvas, width or _width(parts))
            spec = {
                "$schema": schema(VERSIONS[-1]),
                **({} if canvas.in_page else {"title": heading}),
                "config": canvas.theme.config,
                "padding": canvas.padding,
                "data": {"name": "table"},
                **parts,
                "datasets": {"table": rows_of(table.drop(unseen))},
            }
            return Chart(kind, table, shown or title, kept, drawable(spec), canvas, words)

        return draw

    return decorate


def _width(parts: dict[str, Any]) -> int:
    panels = parts.get("concat", [parts])
    return sum(panel.get("width", WIDTH) for panel in panels[: parts.get("columns", 1)])


def _heading(title: str, notes: Sequence[str], canvas: Canvas, width: int) -> dict[str, Any]:
    room = width + 90 if canvas.width is None else canvas.width - 2 * canvas.padding
    letters = min(max(50 if canvas.width is None else 20, int(room / LETTERS)), LONGEST)
    lines = [line for note in notes if canvas.notes for line in wrap(note, letters)]
    long = int(room / TITLE_LETTERS)
    broken = canvas.width is not None and len(title) > long
    return {"text": wrap(title, long) if broken else title, "subtitle": lines}
