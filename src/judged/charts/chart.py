"""Chart: a table and how it is drawn. It shows itself in notebooks and saves itself to files that
need no network."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from judged.errors import MissingExtraError, OutputError
from judged.outputs import check_target, replacing

if TYPE_CHECKING:
    import altair
    import polars as pl

Drawn = TypeVar("Drawn")
SCALE = 2.0
"""Pixels of a PNG for each of the chart's own, so that text is sharp on today's screens."""


@dataclass(frozen=True, eq=False)
class Chart:
    """What a kind of chart makes: the data that are shown, the Vega-Lite that shows them, and what
    there is to say.

    The data and the specification need no extra; pictures do.
    """

    kind: str
    data: pl.DataFrame
    spec: dict[str, Any]
    """Vega-Lite, with the data in it."""
    notes: tuple[str, ...] = ()
    """What stands under the title: sentences on how to read the chart, and what was left out or put
    together."""

    @property
    def title(self) -> str:
        return str(self.spec["title"]["text"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a .png, .svg or .pdf, an .html that works without a network, or the Vega-Lite as
        .json."""
        write_as(self, path, FORMATS)

    def to_json(self) -> str:
        """The Vega-Lite specification, data included."""
        return json.dumps(self.spec, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def to_svg(self) -> str:
        svg: str = _converter().vegalite_to_svg(self.spec)
        return svg

    def to_png(self) -> bytes:
        png: bytes = _converter().vegalite_to_png(self.spec, scale=SCALE)
        return png

    def to_pdf(self) -> bytes:
        pdf: bytes = _converter().vegalite_to_pdf(self.spec)
        return pdf

    def to_html(self) -> str:
        """A page with everything in it, the JavaScript too."""
        html: str = _converter().vegalite_to_html(self.spec, bundle=True)
        colour = self.spec["config"]["background"]
        head = (
            f"<title>{escape(self.title)}</title>\n    <style>body {{ background: {colour}; "
            "}</style>"
        )
        return html.replace("<title>Chart</title>", head, 1).replace(
            "<html>", '<html lang="en">', 1
        )

    def to_altair(self) -> altair.TopLevelMixin:
        """The same chart in altair's hands, to be changed or combined."""
        try:
            import altair
        except ImportError as error:
            raise MissingExtraError(_HINT) from error
        return altair.Chart.from_dict(self.spec)

    def __repr__(self) -> str:
        return "\n".join(
            [f"<Chart {self.kind}: {self.title}>", *(f"  {note}" for note in self.notes)]
        )

    def _repr_html_(self) -> str:
        return f"<figure>{self.to_svg()}</figure>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Vega-Lite for notebooks that draw it themselves, a drawing for all others; words where
        the extra is missing."""
        bundle: dict[str, Any] = {
            "text/plain": repr(self),
            "application/vnd.vegalite.v5+json": self.spec,
        }
        try:
            bundle["text/html"] = self._repr_html_()
        except MissingExtraError as missing:
            bundle["text/plain"] += f"\n  {missing}"
        return bundle


FORMATS: dict[str, Callable[[Chart], bytes]] = {
    ".png": Chart.to_png,
    ".svg": lambda chart: chart.to_svg().encode(),
    ".pdf": Chart.to_pdf,
    ".html": lambda chart: chart.to_html().encode(),
    ".json": lambda chart: chart.to_json().encode(),
}
"""What a chart can be written as, by the ending of the file."""

_HINT = 'pictures of charts need altair and vl-convert-python: pip install "judged[charts]".'


def write_as(
    chart: Drawn, path: str | os.PathLike[str], formats: Mapping[str, Callable[[Drawn], bytes]]
) -> None:
    """Write what a chart is as a file of this ending; what cannot be written there is refused
    before anything is drawn."""
    make = formats[checked_ending(path, formats)]
    check_target(path)
    content = make(chart)
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def checked_ending(path: str | os.PathLike[str], allowed: Iterable[str]) -> str:
    """The ending of a file, where it is one that can be written."""
    ending = Path(path).suffix.lower()
    known = list(allowed)
    if ending not in known:
        *most, last = known
        raise OutputError(
            f"{path}: is written as {', '.join(most)} or {last}; give the file one of these "
            "endings."
        )
    return ending


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise MissingExtraError(_HINT) from error
    return vl_convert
