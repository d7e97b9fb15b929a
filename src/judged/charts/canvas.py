"""How a chart is drawn, whatever it shows: colours, size, title, notes, and the look of systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from judged.charts.letters import fitted, widest
from judged.charts.themes import Theme, ThemeName, look_of, theme_named
from judged.errors import InputError, quoted
from judged.options import whole

Looks = Mapping[str, int] | Sequence[str]
"""The place of each system, from 0, which gives it its colour and dash; or names in that order."""
NARROWEST, WIDEST = 160, 4000
LOWEST = 80
PADDING = 12
"""Pixels around a picture; a drawing in a page has its room from the page."""
LEFT, BELOW = 62, 46
"""Pixels of an axis with its numbers and its title: beside the frame, and below it."""
PIECE = 37
"""Pixels of the piece of a line before its name, with the gaps around it."""
NAMES_SHARE = 0.42
"""How much of the width names may take."""


class Design(TypedDict, total=False):
    """How a chart is drawn, whatever it shows. All kinds take these, each by its name.

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


DESIGN = tuple(Design.__annotations__)
"""The names of these options."""


@dataclass(frozen=True)
class Frame:
    """Where marks are: its size, and the names that stand beside it."""

    width: int
    height: int
    names: dict[str, str]
    """Names as short as there is room for."""


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
        """From options of a kind; refuses what has no meaning."""
        if unknown := sorted(set(design) - set(DESIGN)):
            raise TypeError(
                f"a chart got an unexpected keyword argument {unknown[0]!r}; how it is drawn is "
                f"said by {', '.join(DESIGN)}."
            )
        name, width, height = (
            design.get("theme", "light"),
            design.get("width"),
            design.get("height"),
        )
        theme_named(name)
        title, notes = design.get("title"), design.get("notes", True)
        if title is not None and not isinstance(title, str):
            raise InputError(f"title must be a text; got {quoted(title)}.")
        if not isinstance(notes, bool):
            raise InputError(f"notes must be True or False; got {quoted(notes)}.")
        return cls(
            name,
            None if width is None else whole("width", width, at_least=NARROWEST, at_most=WIDEST),
            None if height is None else whole("height", height, at_least=LOWEST, at_most=WIDEST),
            title,
            notes,
            _places(design.get("looks")),
        )

    @property
    def theme(self) -> Theme:
        """The colours."""
        return theme_named(self.name)

    @property
    def in_page(self) -> bool:
        """Whether a page sets title and notes, and knows the colours."""
        return self.name == "page"

    @property
    def padding(self) -> int:
        """Pixels around the drawing."""
        return 2 if self.in_page else PADDING

    def across(
        self, width: int, *, beside: float = LEFT + 10, panels: int = 1, gap: int = 0
    ) -> int:
        """The width of a frame, or of each of several side by side that are a gap apart: its usual
        one, or what the width of the whole leaves of it when all that is `beside` each has its
        room."""
        if self.width is None:
            return width
        free = self.width - 2 * self.padding - gap * (panels - 1)
        return max(40, int(free / panels - beside))

    def down(self, height: int, *, below: float = BELOW, panels: int = 1, gap: int = 0) -> int:
        """The height of a frame, or of each of several above each other; all that is `below` or
        above them has its room."""
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
    ) -> Frame:
        """A frame with an axis to its left and names to its right, which are shortened where they
        would take too much of the width; `before` is what lies between frame and names, `behind`
        what is said after each. Or each of several frames, in columns and rows."""
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
        return Frame(
            self.across(width, beside=left + beside, panels=panels, gap=gap),
            self.down(height, below=below, panels=rows, gap=row_gap),
            short,
        )

    def columns(self, panels: int, narrowest: int) -> int:
        """How many panels stand side by side: all, or as many as the width has room for."""
        if self.width is None:
            return panels
        return min(panels, max(1, self.width // narrowest))

    def look(self, names: Sequence[str]) -> list[tuple[str, list[int]]]:
        """The colour and the dash of each system: by its own place, where it has one, or by the
        next that is left."""
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
