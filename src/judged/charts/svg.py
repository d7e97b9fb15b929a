"""Themes, and SVG text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from xml.etree import ElementTree

from judged.errors import InputError, quoted
from judged.options import choice
from judged.text import palette, visible

ThemeName = Literal["light", "dark", "page"]

# The hues of tokens.css are those of Okabe and Ito, a set made to be told apart with every kind of
# colour vision; they differ in lightness too, so that charts can be read in grey.
SERIES = 8  # colours of systems; a ninth system begins again with another dash
FONT = "Helvetica, Arial, Liberation Sans, sans-serif"

MARKS = {
    "better": ("triangle-up", "▲"),
    "worse": ("triangle-down", "▼"),
    "equivalent": ("square", "■"),
    "not significant": ("circle", "●"),
    "too few": ("diamond", "◊"),
    "identical": ("circle", "="),
}
"""The shape and the sign of each verdict, because colour alone is not enough."""


ROLES = {"background": "card", "ink": "ink", "muted": "soft", "grid": "line", "axis": "edge"}
ROLES |= {"fill": "area", "right": "better", "wrong": "worse"}
ROLES |= {"right_ink": "better-ink", "wrong_ink": "worse-ink"}
"""The token of each colour of a theme."""


@dataclass(frozen=True)
class Theme:
    """The colours of a chart."""

    canvas: str  # what the whole is drawn on
    background: str  # what lies behind marks, for the rims that part them
    ink: str
    muted: str
    grid: str
    axis: str
    series: tuple[str, ...]
    """One for each system or measure; every other is much lighter than its neighbours."""
    fill: str  # an area that carries meaning
    right: str
    wrong: str
    right_ink: str  # of text, which needs more contrast than marks
    wrong_ink: str

    @classmethod
    def of(cls, colour: Callable[[str], str], *, canvas: str | None = None) -> Theme:
        """Make a theme from the colour of each token."""
        series = tuple(colour(f"s{number}") for number in range(1, SERIES + 1))
        roles = {role: colour(token) for role, token in ROLES.items()}
        return cls(canvas=canvas or roles["background"], series=series, **roles)

    def ink_of(self, shade: str) -> str:
        """Return the colour of text about marks of a colour."""
        return {self.right: self.right_ink, self.wrong: self.wrong_ink}.get(shade, self.ink)

    @property
    def verdicts(self) -> dict[str, tuple[str, str, str]]:
        colours = {
            "better": self.right,
            "worse": self.wrong,
            "equivalent": self.series[2],
            "not significant": self.muted,
            "too few": self.series[3],
            "identical": self.ink,
        }
        return {word: (colours[word], *MARKS[word]) for word in colours}

    @property
    def config(self) -> dict[str, Any]:
        axis = {
            "labelColor": self.ink,
            "titleColor": self.ink,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "gridColor": self.grid,
            "domainColor": self.axis,
            "tickColor": self.axis,
            "labelFontSize": 11,
            "labelOverlap": "parity",
            "labelSeparation": 5,
            "titleFontSize": 12,
        }
        return {
            "background": self.canvas,
            "font": FONT,
            "axis": axis,
            "view": {"stroke": None},
            "title": {
                "color": self.ink,
                "subtitleColor": self.muted,
                "fontSize": 15,
                "subtitleFontSize": 11.5,
                "subtitleLineHeight": 16,
                "subtitlePadding": 6,
                "anchor": "start",
                "frame": "bounds",
                "offset": 14,
            },
            "header": {"labelColor": self.ink, "titleColor": self.ink, "labelFontSize": 12},
            "legend": {"labelColor": self.ink, "titleColor": self.ink},
            "text": {"color": self.ink, "fontSize": 11.5},
            "range": {"category": list(self.series)},
        }


THEMES = {
    "light": Theme.of(lambda name: palette()[name][0]),
    "dark": Theme.of(lambda name: palette()[name][1]),
    "page": Theme.of(lambda name: f"var(--{name})", canvas="transparent"),
}

DASHES: tuple[list[int], ...] = (
    [1, 0],
    [7, 3],
    [2, 2],
    [9, 3, 2, 3],
    [4, 2],
    [12, 4],
    [1, 3],
    [7, 2, 1, 2, 1, 2],
)
"""Dashes of lines, besides their colours."""


def theme_named(theme: str) -> Theme:
    return THEMES[choice("theme", theme, THEMES)]


def look_of(place: int, theme: Theme) -> tuple[str, list[int]]:
    """Return the colour and dash of a line by its place."""
    return theme.series[place % SERIES], DASHES[(place + place // SERIES) % len(DASHES)]


SPACE = "http://www.w3.org/2000/svg"
_XLINK = "{http://www.w3.org/1999/xlink}href"
ROW = "judged-row-"
"""The prefix in the description of a mark of a row; the number of the row follows."""
NUMBERED = {"window": [{"op": "row_number", "as": "row_number"}]}
"""Gives the rows of a table their numbers, from 1, for layers that are named `ROWS`."""
ROWS = "rows"
"""The name of a layer, or how it begins, whose marks stand each for a row of the chart's table; its
data have `row_number`."""
_GEOMETRY = frozenset(
    {
        *("d", "transform", "viewBox", "points", "stroke-dasharray", "width", "height", "r"),
        *("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "rx", "ry", "stroke-width"),
    }
)
"""Attributes whose numbers are places and sizes."""
_DROPPED = frozenset({"class", "role", "pointer-events", "version", "stroke-miterlimit"})
_USUAL = {
    "opacity": "1",
    "fill-opacity": "1",
    "stroke-opacity": "1",
    "stroke-width": "1",
    "text-anchor": "start",
    "font-family": FONT,
    "transform": "translate(0,0)",
}
"""Default values, which are left out."""
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
_LOCAL = re.compile(r"(?:[/?#.]|[\w%@~+=&;,!$*'()-]*(?:[/?#]|$))")
_ABROAD = re.compile(r"https?://", re.I)

ElementTree.register_namespace("", SPACE)


def tidy(
    drawn: str,
    *,
    label: str,
    width: int | None = None,
    link: Callable[[int], tuple[str | None, str]] | None = None,
    tab_stops: bool = True,
) -> str:
    """Remove what a page does not need; `link` turns marks of rows into links with words."""
    root = ElementTree.fromstring(drawn)
    if link is not None:
        _link(root, link, tab_stops)
    _own_ids(root, hashlib.sha256(drawn.encode()).hexdigest()[:8])
    _clean(root)
    tall = root.get("height", "0")
    wide = str(max(width or 0, round(float(root.get("width", "0")))))
    kept = {"viewBox": f"0 0 {wide} {tall}", "width": wide, "height": tall}
    root.attrib.clear()
    named = {"role": "group" if link is not None else "img", "aria-label": visible(label)}
    root.attrib.update({**kept, **named, "font-family": FONT})
    # Texts and attributes have no ">" as such, so this is the end of a tag.
    return ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")


def with_rows(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a specification in which every mark of a row holds its number."""

    def marked(part: Any) -> Any:
        if isinstance(part, list):
            return [marked(each) for each in part]
        if not isinstance(part, dict):
            return part
        if not str(part.get("name", "")).startswith(ROWS) or "mark" not in part:
            return {
                name: marked(value) if name in ("layer", "vconcat", "hconcat", "concat") else value
                for name, value in part.items()
            }
        number = {"calculate": f"'{ROW}' + datum.row_number", "as": "judged_row"}
        return {
            **part,
            "transform": [*part.get("transform", ()), number],
            "encoding": {**part["encoding"], "description": {"field": "judged_row"}},
        }

    found: dict[str, Any] = marked(spec)
    return found


def _link(
    root: ElementTree.Element, link: Callable[[int], tuple[str | None, str]], tab_stops: bool
) -> None:
    for parent in list(root.iter()):
        for at, mark in enumerate(list(parent)):
            said = mark.get("aria-label", "")
            if not said.startswith(ROW):
                continue
            address, words = link(int(said.removeprefix(ROW)) - 1)
            title = ElementTree.Element(f"{{{SPACE}}}title")
            title.text = visible(words)
            mark.insert(0, title)
            if address is not None:
                around = ElementTree.Element(f"{{{SPACE}}}a", {"href": _address(address)})
                if not tab_stops:
                    around.set("tabindex", "-1")
                around.append(mark)
                parent[at] = around


def _address(given: Any) -> str:
    """Return a relative address or one of the web: nothing that runs."""
    text = given if isinstance(given, str) else ""
    plain = text.isprintable() and not text.startswith(("//", " ")) and "\\" not in text
    if not text or not plain or not (_LOCAL.match(text) or _ABROAD.match(text)):
        raise InputError(
            "a link must be a relative address, or one that begins with http:// or https://; got "
            f"{quoted(given)}."
        )
    return text


def _own_ids(root: ElementTree.Element, prefix: str) -> None:
    """Give ids that no other drawing of the page has."""
    ids = {
        each.get("id", ""): f"c{prefix}-{each.get('id')}" for each in root.iter() if each.get("id")
    }
    for each in root.iter():
        for name, value in each.attrib.items():
            if name == "id":
                each.set(name, ids[value])
            elif value.startswith("url("):
                inside = value[4:].rstrip(")").strip("\"'").removeprefix("#")
                each.set(name, f"url(#{ids.get(inside, inside)})")


def _clean(part: ElementTree.Element) -> None:
    kept: list[ElementTree.Element] = []
    for child in part:
        if not child.tag.endswith(("}style", "}script")):
            _clean(child)
            kept += _without(child)
    part[:] = kept


def _without(each: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """Yield an element with the attributes that matter; nothing if it cannot be seen."""
    behind = each.get("class") in ("background", "foreground")
    if each.get("display") == "none" or (behind and not _painted(each)):
        return
    attributes = dict(_kept(each.attrib))
    if attributes.get("stroke-width") == "0":
        attributes = {name: attributes[name] for name in attributes if "stroke" not in name}
    each.attrib.clear()
    each.attrib.update(attributes)
    if each.tag == f"{{{SPACE}}}g" and not (len(each) and each.attrib):
        yield from each
    else:
        yield each


def _painted(each: ElementTree.Element) -> bool:
    return any(each.get(name, "none") not in ("none", "transparent") for name in ("fill", "stroke"))


def _kept(attributes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in attributes.items():
        if name == "style":
            pairs = (pair.partition(":") for pair in value.split(";") if pair.strip())
            yield from _kept({key.strip(): said.strip() for key, _, said in pairs})
            continue
        if name in _DROPPED or name == _XLINK or name.startswith("aria-"):
            continue
        shown = _NUMBER.sub(_rounded, value) if name in _GEOMETRY else value
        if name == "font-size":
            shown = shown.removesuffix("px")
        if _USUAL.get(name) != shown:
            yield name, shown


def _rounded(found: re.Match[str]) -> str:
    text = f"{float(found[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
