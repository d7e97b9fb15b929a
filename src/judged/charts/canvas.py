"""The canvas of a chart: names, labels, axes and the design."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from judged.charts.svg import Theme, ThemeName, look_of, theme_named
from judged.errors import InputError, quoted
from judged.options import whole
from judged.text import visible

LONGEST = 100
"""Letters of a name; the middle of a longer one is left out, so that charts stay charts."""
LABEL = 34  # letters of a name that stands beside marks
_CODE = frozenset({"$schema", "calculate", "filter", "test", "expr", "font"})
"""Parts of a specification that are not drawn."""


def drawable(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a specification whose texts can be drawn; equal texts stay equal.

    >>> drawable({"title": "a\\x00", "values": [{"run": "a\\x00"}, {"run": "a\\\\x00"}]})
    {'title': 'a\\\\x00 (2)', 'values': [{'run': 'a\\\\x00 (2)'}, {'run': 'a\\\\x00'}]}
    """
    # vl-convert ends the whole process where it meets a control character.
    every = dict.fromkeys(_texts(spec))
    plain = {text for text in every if _shown(text) == text}
    names: dict[str, str] = {}
    for text in every:
        if text not in plain:
            names[text] = _distinct(_shown(text), plain)
            plain.add(names[text])
    return _renamed(spec, names)


def labels(names: Iterable[str], longest: int = LABEL) -> dict[str, str]:
    """Return names as they are drawn beside marks: visible, short and distinct."""
    short: dict[str, str] = {}
    for name in dict.fromkeys(names):
        short[name] = _distinct(_shown(name, longest), set(short.values()))
    return short


def _shown(text: str, longest: int = LONGEST) -> str:
    shown = visible(text if len(text) <= longest else _shortened(text, longest))
    return shown if len(shown) <= longest else _shortened(shown, longest)


def _shortened(text: str, longest: int) -> str:
    half = longest // 2
    return f"{text[: half - 1]}…{text[-half:]}"


def _distinct(name: str, taken: set[str]) -> str:
    found, number = name, 2
    while found in taken:
        found, number = f"{name} ({number})", number + 1
    return found


def _texts(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for name, value in part.items():
            if not _is_code(name, value):
                yield from _texts(value)
    elif isinstance(part, (list, tuple)):
        for each in part:
            yield from _texts(each)


def _renamed(part: Any, names: dict[str, str]) -> Any:
    if isinstance(part, str):
        return names.get(part, part)
    if isinstance(part, dict):
        found = {
            name: value if _is_code(name, value) else _renamed(value, names)
            for name, value in part.items()
        }
        return _titled(found) if "field" in found else found
    return [_renamed(each, names) for each in part] if isinstance(part, (list, tuple)) else part


def _titled(channel: dict[str, Any]) -> dict[str, Any]:
    """Set the title on the axis if it has a backslash, which Vega-Lite would read as an escape."""
    title = channel.get("title")
    if not isinstance(title, str) or "\\" not in title:
        return channel
    return channel | {
        "title": title.replace("\\", "/"),
        "axis": {**(channel.get("axis") or {}), "title": title},
    }


def _is_code(name: str, value: Any) -> bool:
    return name in _CODE and isinstance(value, str)


_WIDTHS = {
    "fijlt.,:;!I|/\\'[]()` -": 0.3,
    "r": 0.34,
    'cksvxyzJ"{}': 0.5,
    "wmM%W@—": 0.95,
    "ABCDEFGHKLNOPQRSTUVXYZ&": 0.72,
}
_LETTER = {letter: width for letters, width in _WIDTHS.items() for letter in letters}
_USUAL = 0.56
_WIDE = 1.0  # what is neither Latin nor a sign of punctuation, in widths of the font's size
BOLD = 1.07
SIZE = 11.5  # of text beside marks, in pixels
SHORTEST = 6  # letters that are left of a name where there is hardly any room


def text_width(text: str, *, size: float = SIZE, bold: bool = False) -> float:
    """Estimate the pixels that a text takes, rather more than less."""
    units = sum(_LETTER.get(each, _USUAL if ord(each) < 0x2100 else _WIDE) for each in text)
    return units * size * (BOLD if bold else 1.0)


def widest(texts: Iterable[str], *, size: float = SIZE, bold: bool = False) -> float:
    return max((text_width(text, size=size, bold=bold) for text in texts), default=0.0)


def fitted(names: Iterable[str], room: float, *, bold: bool = False) -> dict[str, str]:
    """Return names shortened to the room there is, still distinct and of at least six letters."""
    every = list(names)
    if room == math.inf:
        return {name: name for name in every}
    found = labels(every)
    longest = max(map(len, found.values()), default=0)
    while longest > SHORTEST and widest(found.values(), bold=bold) > room:
        longest -= 1
        found = labels(every, longest)
    return found


WIDTH, HEIGHT = 460, 300  # pixels of a frame, unless a kind or the design says otherwise


def mark(kind: str, **look: Any) -> dict[str, Any]:
    return {"type": kind, **look}


def encode(**channels: Any) -> dict[str, Any]:
    return channels


def layer(
    mark: dict[str, Any], encoding: dict[str, Any], *, values: Any = None, **others: Any
) -> dict[str, Any]:
    """Return marks of the chart's rows, or of other `values`; `others` are name and transform."""
    data = {} if values is None else {"data": {"values": values}}
    return {**data, **others, "mark": mark, "encoding": encoding}


def when(test: str, value: Any, otherwise: Any) -> dict[str, Any]:
    """Return a channel with one of two values."""
    return {"condition": {"test": test, "value": value}, "value": otherwise}


def keep_rows(field: str, value: Any) -> dict[str, Any]:
    """Return a transform that keeps the rows with a value."""
    return {"filter": {"field": field, "equal": value}}


def layers(*parts: dict[str, Any], width: int = WIDTH, height: int = HEIGHT) -> dict[str, Any]:
    return {"width": width, "height": height, "layer": list(parts)}


FAR = 6  # from this ratio to the least, or to 1, on, the greatest loss would flatten all others


def share_axis(title: str, field: str, *, low: float = 0.0, top: float = 1.0) -> dict[str, Any]:
    return number_axis(title, field, scale={"domain": [low, top], "nice": False, "zero": False})


def span_of(
    values: Iterable[float], *, floor: float = 0.0, top: float = 1.0
) -> tuple[float, float]:
    """Return round ends around values, from `floor` if they come near to it.

    >>> span_of([0.3, 0.87]), span_of([0.1, 0.9]), span_of([0.5])
    ((0.3, 0.9), (0.0, 1.0), (0.4, 0.6))
    """
    finite = [value for value in values if math.isfinite(value)] or [floor, top]
    low, high = min(finite), max(finite)
    if low - floor < 0.25 * (high - floor) and low >= floor:
        low = floor
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1e9) if (high - low) / s <= 6)
    if step == 1e9:
        return low, max(top, high)
    low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    if high - low < step / 2:
        low, high = low - 0.1, high + 0.1
    return round(max(low, floor), 9), round(min(high, max(top, low + step)), 9)


def name_axis(title: str | None, field: str, **more: Any) -> dict[str, Any]:
    return {"field": field, "type": "nominal", "title": title, "sort": None, **more}


def number_axis(title: str | None, field: str, **more: Any) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "title": title, **more}


def rank_axis(title: str, field: str, last: int) -> dict[str, Any]:
    """Return an axis of ranks from 1, logarithmic if there are many."""
    if last > 50:
        scale = {"type": "log", "domain": [1, last], "nice": False}
        axis = {"format": ",d", "values": ticks(1, last, 9)}
        return number_axis(title, field, scale=scale, axis=axis)
    marked = range(1, last + 1) if last <= 20 else [1, *range(5, last + 1, 5)]
    axis = {"format": ",d", "values": list(marked)}
    return number_axis(title, field, scale={"domain": [1, max(last, 2)], "nice": False}, axis=axis)


def temperature_axis(
    low: float, high: float, *, title: str | None, most: int = 9
) -> dict[str, Any]:
    """Return a logarithmic axis with round numbers; without a title, only its grid lines."""
    if high / low < 1.05:
        low, high = low / 2, high * 2
    axis = {"values": ticks(low, high, most), "format": ",~g"}
    bare = {} if title else {"labels": False, "ticks": False}
    scale = {"type": "log", "domain": [low, high], "nice": False}
    return number_axis(title, "temperature", scale=scale, axis={**axis, **bare})


def room_above(most: float) -> float:
    """Return the end of an axis from 0, which does not magnify rounding errors."""
    return most * 1.06 if most > 1e-9 else 1.0


def loss_axis(least: float, most: float) -> tuple[dict[str, Any], float, float, bool]:
    """Return the axis of losses, its ends, and whether it is logarithmic, which large ones need."""
    if max(least, 1.0) * FAR >= most:
        low, high = min(0.0, least), room_above(most)
        scale: dict[str, Any] = {"domain": [low, high], "nice": False}
        axis: dict[str, Any] = {"tickCount": 4}
        return number_axis("loss", "value", scale=scale, axis=axis), low, high, False
    low, high = least / 1.1 if least > 1 else 0.0, most * 1.1
    scale = {"type": "symlog", "constant": 1, "domain": [low, high], "nice": False}
    marked = ticks(max(low, 1.0), high, 4)
    axis = {"values": marked if low else [0, *marked], "format": ",.6~g"}
    return number_axis("loss (symlog)", "value", scale=scale, axis=axis), low, high, True


def ticks(low: float, high: float, most: int) -> list[float]:
    """Return at most `most` round numbers between two, spread by their logarithm.

    >>> ticks(0.001, 1000, 9)
    [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
    >>> ticks(0.02, 0.3, 9), ticks(0.051, 0.069, 5)
    ([0.02, 0.05, 0.1, 0.2], [0.055, 0.06, 0.065])
    """
    reach = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    grids = [
        [float(f"{step}e{power}") for power in reach for step in steps]
        for steps in ((1, 2, 5), (1, 3), (1,))
    ]
    grids += [
        [float(f"1e{power}") for power in reach if power % each == 0]
        for each in range(2, len(reach) + 1)
    ]
    within = [
        [value for value in grid if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
        for grid in grids
    ]
    found = next(values for values in within if len(values) <= most)
    return found if len(found) >= 3 else _even(low, high, most)


def _even(low: float, high: float, most: int) -> list[float]:
    """Return multiples of the smallest round step that does not crowd, for a short range."""
    power = math.floor(math.log10((high - low) / most))
    steps = [float(f"{step}e{power + up}") for up in (0, 1, 2) for step in (1, 2, 5)]
    for step in steps:
        places = range(math.ceil(low / step), math.floor(high / step) + 1)
        if len(places) <= most:
            break
    return [round(place * step, 12 - power) for place in places]


Looks = Mapping[str, int] | Sequence[str]
"""The place of each system, from 0, which gives it its colour and dash; or names in that order."""
NARROWEST, WIDEST = 160, 4000
LOWEST = 80
PADDING = 12  # pixels around a picture; a drawing in a page has its room from the page
LEFT, BELOW = 62, 46
"""Pixels of an axis with its numbers and its title: beside the frame, and below it."""
ROOMY = 600  # pixels of a drawing that has room for words beside its area
PIECE = 37  # pixels of the piece of a line before its name, with the gaps around it
NAMES_SHARE = 0.42  # how much of the width names may take
SHARE_ON_PAGE = 0.3  # the same on a page, which otherwise has names below the area
ASPECT = 0.6  # the height of an area on a page, as a share of the drawing's width


class Design(TypedDict, total=False):
    """Options of the drawing, which all kinds of chart take as keyword arguments.

    Parameters
    ----------
    theme : {'light', 'dark', 'page'}, optional
        Colours for light pages, which is the default, or for dark ones; or names of colours
        (`var(--ink)`), for an SVG inside a page that says what they are. A drawing for a page has
        no title and no notes: the page sets them.
    width : int, optional
        Pixels of the whole drawing, from 160; names and axes are in it, and texts keep their size.
    height : int, optional
        Pixels of the drawing without title and notes, from 80.
    title : str, optional
        Instead of the chart's own title; an empty one leaves it out.
    notes : bool, optional
        Whether the notes stand under the title, by default true.
    looks : {name: place} or sequence of str, optional
        Gives each system its colour and its dash by its place, from 0, whatever else is in the
        chart. Systems that are not named take the places that are left.

    >>> from judged import Rankings
    >>> from judged.charts import cmc
    >>> cmc(Rankings.from_relevance([[0, 1]]), title="", notes=False, width=300).spec["title"]
    {'text': '', 'subtitle': []}
    """

    theme: ThemeName
    width: int | None
    height: int | None
    title: str | None
    notes: bool
    looks: Looks | None


DESIGN = tuple(Design.__annotations__)  # the names of these options


@dataclass(frozen=True)
class PlotArea:
    """The size of the area of marks, and the names beside it."""

    width: int
    height: int
    names: dict[str, str] = field(default_factory=dict)  # as short as there is room for
    below: bool = False  # True if names are below the plot, because they are too wide beside it
    on_top: tuple[dict[str, Any], ...] = ()  # words around the area

    def layers(self, *parts: dict[str, Any]) -> dict[str, Any]:
        return layers(*parts, *self.on_top, width=self.width, height=self.height)


@dataclass(frozen=True)
class Canvas:
    """A design that was checked."""

    name: ThemeName = "light"
    width: int | None = None
    height: int | None = None
    title: str | None = None
    notes: bool = True
    looks: Mapping[str, int] | None = None

    @classmethod
    def of(cls, design: Design) -> Canvas:
        """Check the options of a drawing."""
        if unknown := sorted(set(design) - set(DESIGN)):
            raise TypeError(
                f"a chart got an unexpected keyword argument {unknown[0]!r}; its drawing has the "
                f"options {', '.join(DESIGN)}."
            )
        name, title = design.get("theme", "light"), design.get("title")
        notes = design.get("notes", True)
        theme_named(name)
        if title is not None and not isinstance(title, str):
            raise InputError(f"title must be a text; got {quoted(title)}.")
        if not isinstance(notes, bool):
            raise InputError(f"notes must be True or False; got {quoted(notes)}.")
        if (width := design.get("width")) is not None:
            width = whole("width", width, at_least=NARROWEST, at_most=WIDEST)
        if (height := design.get("height")) is not None:
            height = whole("height", height, at_least=LOWEST, at_most=WIDEST)
        return cls(name, width, height, title, notes, _places(design.get("looks")))

    @property
    def theme(self) -> Theme:
        return theme_named(self.name)

    @property
    def in_page(self) -> bool:
        return self.name == "page"

    @property
    def has_room_beside(self) -> bool:
        """True if words fit beside the area; a page lists queries itself."""
        return not self.in_page and (self.width is None or self.width >= ROOMY)

    @property
    def padding(self) -> int:
        return 2 if self.in_page else PADDING

    def across(
        self, width: int, *, beside: float = LEFT + 10, panels: int = 1, gap: int = 0
    ) -> int:
        """Return the width of one frame, or of each of several, without what is beside it."""
        if self.width is None:
            return width
        free = self.width - 2 * self.padding - gap * (panels - 1)
        return max(40, int(free / panels - beside))

    def down(self, height: int, *, below: float = BELOW, panels: int = 1, gap: int = 0) -> int:
        """Return the height of one frame, or of each of several, without what is below it."""
        if self.height is None:
            return height
        free = self.height - 2 * self.padding - gap * (panels - 1)
        return max(20, int(free / panels - below))

    def frame(
        self,
        width: int,
        height: int,
        names: Iterable[str] = (),
        *,
        left: float = LEFT,
        before: float = PIECE,
        below: float = BELOW,
        behind: Mapping[str, str] | None = None,
        panels: int = 1,
        gap: int = 0,
        rows: int = 1,
        row_gap: int = 0,
    ) -> PlotArea:
        """Return a frame with room for `before`, names (shortened) and `behind` to its right."""
        every = list(dict.fromkeys(names))
        more = behind or dict.fromkeys(every, "")
        room = float("inf")
        if self.width is not None:
            room = max(self.width / panels * NAMES_SHARE - before, 40)
        room -= widest(more.values(), bold=True)
        short = {
            name: f"{word}{more[name]}" for name, word in fitted(every, room, bold=True).items()
        }
        beside = before + widest(short.values(), bold=True) if every else 10.0
        share = self.width / panels if self.in_page and self.width is not None else 0.0
        under = share > 0 and beside > SHARE_ON_PAGE * share
        if under:
            full = {name: f"{word}{more[name]}" for name, word in labels(every).items()}
            short, beside = full, 16.0
        wide = self.across(width, beside=left + beside, panels=panels, gap=gap)
        tall = self.down(height, below=below, panels=rows, gap=row_gap)
        if share and self.height is None and rows == 1:
            tall = min(max(round(ASPECT * share), 160), 420)
        return PlotArea(wide, tall, short, below=under)

    def columns(self, panels: int, narrowest: int) -> int:
        """Return how many panels fit side by side."""
        if self.width is None:
            return panels
        return min(panels, max(1, self.width // narrowest))

    def look(self, names: Sequence[str]) -> list[tuple[str, list[int]]]:
        """Return the colour and dash of each system: by its own place, or by the next free one."""
        known = self.looks or {}
        left = (place for place in range(len(names) + len(known)) if place not in known.values())
        places = [known[name] if name in known else next(left) for name in names]
        return [look_of(place, self.theme) for place in places]


def _places(looks: Looks | None) -> Mapping[str, int] | None:
    if looks is None:
        return None
    if isinstance(looks, Mapping):
        return {
            str(name): whole(f"the look of {name}", place, at_least=0)
            for name, place in looks.items()
        }
    if isinstance(looks, str) or not isinstance(looks, Sequence):
        raise InputError(
            "looks are given as {name: place}, or as a list of names; got "
            f"{type(looks).__name__}."
        )
    return {str(name): place for place, name in enumerate(looks)}
