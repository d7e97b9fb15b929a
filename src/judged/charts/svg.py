"""Themes, and SVG text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal
from xml.etree import ElementTree

from judged.errors import InputError, quoted
from judged.options import choice
from judged.text import visible

ThemeName = Literal["light", "dark", "page"]

# The hues are those of Okabe and Ito, a set made to be told apart with every kind of colour vision;
# they differ in lightness too, so that charts can be read in grey.
TOKENS: dict[str, tuple[str, str]] = {
    "paper": ("#faf9f6", "#131618"),
    "card": ("#ffffff", "#1a1e21"),
    "sunk": ("#f3f1ec", "#101214"),
    "line": ("#e4e1d9", "#2d3338"),
    "edge": ("#918c7e", "#717a82"),
    "ink": ("#1b1f23", "#e8eaec"),
    "soft": ("#585e66", "#a9b1b9"),
    "faint": ("#686e76", "#8b939b"),
    "accent": ("#0a5ea8", "#74baf1"),
    "accent-soft": ("#e6f0f9", "#14293b"),
    "on-accent": ("#ffffff", "#0d1a26"),
    "better": ("#0072b2", "#56b4e9"),
    "better-ink": ("#00629b", "#7cc4ef"),
    "worse": ("#d55e00", "#e8793a"),
    "worse-ink": ("#ad4500", "#f29a66"),
    "g1": ("#9fcbea", "#2b668e"),
    "g2": ("#2479b5", "#3f97d0"),
    "g3": ("#0a3f6d", "#a9ddfc"),
    "on-g1": ("#0a3559", "#ffffff"),
    "on-g2": ("#ffffff", "#06202f"),
    "on-g3": ("#ffffff", "#0b2a40"),
    "none": ("#d9d5ca", "#3a4147"),
    "on-none": ("#57534a", "#c3c9cf"),
    "hatch": ("#8f8a7c", "#6d767f"),
    "area": ("#cfe3f1", "#1d3b52"),
    "warn-ink": ("#6f4500", "#f3cf80"),
    "warn-soft": ("#fff4d9", "#2e2613"),
    "warn-line": ("#e3c878", "#6b5620"),
    "bad-ink": ("#8f1d14", "#f5a79f"),
    "bad-soft": ("#fdece9", "#351a17"),
    "bad-line": ("#e2a49d", "#7a3a33"),
    "focus": ("#b45309", "#f0a24a"),
    "s1": ("#0072b2", "#56b4e9"),
    "s2": ("#c98300", "#f0e442"),
    "s3": ("#00634a", "#0b9e77"),
    "s4": ("#cc79a7", "#e8a9cb"),
    "s5": ("#7a2e00", "#d55e00"),
    "s6": ("#56b4e9", "#c9e6fa"),
    "s7": ("#444444", "#9a9a9a"),
    "s8": ("#b8a900", "#e69f00"),
}
"""Every colour by its name: on light grounds, and on dark ones."""
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
"""The shape and the sign of each verdict, so that no verdict is told by colour alone."""


@dataclass(frozen=True)
class Verdict:
    """How a verdict looks."""

    colour: str
    shape: str
    sign: str


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
    irrelevant: str  # what was judged and is not relevant

    @classmethod
    def of(cls, colour: Callable[[str], str], *, canvas: str | None = None) -> Theme:
        """Make a theme from the colour of each token."""
        return cls(
            canvas=canvas or colour("card"),
            background=colour("card"),
            ink=colour("ink"),
            muted=colour("soft"),
            grid=colour("line"),
            axis=colour("edge"),
            series=tuple(colour(f"s{number}") for number in range(1, SERIES + 1)),
            fill=colour("area"),
            right=colour("better"),
            wrong=colour("worse"),
            right_ink=colour("better-ink"),
            wrong_ink=colour("worse-ink"),
            irrelevant=colour("none"),
        )

    def ink_of(self, shade: str) -> str:
        """Return the colour of text about marks of a colour."""
        return {self.right: self.right_ink, self.wrong: self.wrong_ink}.get(shade, self.ink)

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """How each verdict of a comparison looks: by colour, by shape and by its sign."""
        colours = {
            "better": self.right,
            "worse": self.wrong,
            "equivalent": self.series[2],
            "not significant": self.muted,
            "too few": self.series[3],
            "identical": self.ink,
        }
        return {word: Verdict(colours[word], *MARKS[word]) for word in colours}

    @property
    def config(self) -> dict[str, Any]:
        """Vega-Lite's settings."""
        axis = {
            "labelColor": self.ink,
            "titleColor": self.ink,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "gridColor": self.grid,
            "domainColor": self.axis,
            "tickColor": self.axis,
            "labelFontSize": 11,
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
    "light": Theme.of(lambda name: TOKENS[name][0]),
    "dark": Theme.of(lambda name: TOKENS[name][1]),
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
"""Of lines, beside their colours."""


def theme_named(theme: str) -> Theme:
    return THEMES[choice("theme", theme, THEMES)]


def look_of(place: int, theme: Theme) -> tuple[str, list[int]]:
    """Return the colour and dash of a line by its place."""
    return theme.series[place % SERIES], DASHES[(place + place // SERIES) % len(DASHES)]


SPACE = "http://www.w3.org/2000/svg"
_XLINK = "{http://www.w3.org/1999/xlink}href"
ROW = "judged-row-"
"""What the description of a mark begins with that stands for a row; the number of the row
follows."""
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
"""What is so without being said."""
_INHERITED = (
    *("fill", "stroke", "stroke-width", "font-size", "font-weight", "text-anchor"),
    "stroke-dasharray",
)
"""What a group can say for all that is in it."""
MANY = 4  # neighbours of one look that are worth a group
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
_CIRCLE = re.compile(r"M([\d.]+),0A\1,\1,0,1,1,-\1,0A\1,\1,0,1,1,\1,0")
_MOVED = re.compile(r"translate\(([-\d.]+),([-\d.]+)\)")
_OF_LINES = {"transform", "x2", "y2", "stroke"}
_LOCAL = re.compile(r"(?:[/?#.]|[\w%@~+=&;,!$*'()-]*(?:[/?#]|$))")
_ABROAD = re.compile(r"https?://", re.I)

ElementTree.register_namespace("", SPACE)


def tidy(
    drawn: str,
    *,
    label: str,
    width: int | None = None,
    link: Callable[[int], tuple[str | None, str] | None] | None = None,
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
    root: ElementTree.Element, link: Callable[[int], tuple[str | None, str] | None], tab_stops: bool
) -> None:
    for parent in list(root.iter()):
        for at, mark in enumerate(list(parent)):
            said = mark.get("aria-label", "")
            if not said.startswith(ROW):
                continue
            found = link(int(said.removeprefix(ROW)) - 1)
            if found is None:
                continue
            address, words = found
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
    for each in part:
        if each.tag.endswith("}style") or each.tag.endswith("}script"):
            continue
        _clean(each)
        kept += _without(each)
    part[:] = kept
    if part.tag == f"{{{SPACE}}}g":
        _gather(part)


def _without(each: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """Yield an element with the attributes that matter; nothing if it cannot be seen."""
    kind = each.get("class", "")
    hidden = each.get("display") == "none"
    unseen = kind in ("background", "foreground") and not _painted(each)
    if hidden or unseen:
        return
    attributes = dict(_kept(each.attrib))
    if attributes.get("stroke-width") == "0":
        attributes = {name: attributes[name] for name in attributes if "stroke" not in name}
    each.attrib.clear()
    each.attrib.update(attributes)
    if each.tag == f"{{{SPACE}}}path" and _CIRCLE.fullmatch(each.get("d", "")):
        _round(each)
    if each.tag == f"{{{SPACE}}}g":
        if not len(each):
            return
        if not each.attrib:
            yield from each
            return
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


def _round(each: ElementTree.Element) -> None:
    radius = each.attrib.pop("d")[1:].partition(",")[0]
    moved = _MOVED.fullmatch(each.get("transform", "translate(0,0)"))
    each.tag = f"{{{SPACE}}}circle"
    if moved:
        each.attrib.pop("transform", None)
        each.set("cx", moved[1])
        each.set("cy", moved[2])
    each.set("r", radius)


def _one_path(lines: list[ElementTree.Element]) -> ElementTree.Element:
    steps = []
    for each in lines:
        moved = _MOVED.fullmatch(each.get("transform", "translate(0,0)"))
        start = f"{moved[1]},{moved[2]}" if moved else "0,0"
        steps.append(f"M{start}l{each.get('x2', '0')},{each.get('y2', '0')}")
    stroke = {"stroke": lines[0].get("stroke", "none")}
    return ElementTree.Element(f"{{{SPACE}}}path", {"d": "".join(steps), **stroke})


def _gather(group: ElementTree.Element) -> None:
    """Write attributes that all parts of a group share once, on the group."""
    parts = list(group)
    if len(parts) < 2:
        return
    if all(each.tag == f"{{{SPACE}}}line" and set(each.attrib) <= _OF_LINES for each in parts):
        looks = {each.get("stroke") for each in parts}
        if len(looks) == 1:
            group[:] = [_one_path(parts)]
            return
    inside = [each[0] if each.tag == f"{{{SPACE}}}a" else each for each in parts]
    for name in _INHERITED:
        values = {each.get(name) for each in inside}
        if len(values) == 1 and None not in values and name not in group.attrib:
            group.set(name, values.pop() or "")
            for each in inside:
                del each.attrib[name]
    _wrap(group, parts, inside)


def _wrap(
    group: ElementTree.Element, parts: list[ElementTree.Element], inside: list[ElementTree.Element]
) -> None:
    """Put many neighbours of one look into a group that has it."""
    kept: list[ElementTree.Element] = []
    both = zip(parts, inside, strict=True)
    for look, run in groupby(both, key=lambda pair: _look(pair[1])):
        same = list(run)
        if len(same) < MANY or not look or len(same) == len(parts):
            kept += [part for part, _ in same]
            continue
        around = ElementTree.Element(f"{{{SPACE}}}g", dict(look))
        for part, mark in same:
            for name, _ in look:
                del mark.attrib[name]
            around.append(part)
        kept.append(around)
    group[:] = kept


def _look(mark: ElementTree.Element) -> tuple[tuple[str, str], ...]:
    return tuple((name, mark.attrib[name]) for name in _INHERITED if name in mark.attrib)
