"""The colours of charts and pages: one list, of which a theme takes the light ones, the dark ones,
or their names, for a page that has them as CSS variables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from judged.options import choice

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
SERIES = 8
"""Colours of systems; a ninth system begins again with another dash."""
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

    canvas: str
    """What the whole is drawn on."""
    background: str
    """What lies behind marks, for the rims that part them."""
    ink: str
    muted: str
    grid: str
    axis: str
    series: tuple[str, ...]
    """One for each system or measure; every other is much lighter than its neighbours."""
    fill: str
    """An area that carries meaning."""
    right: str
    wrong: str
    right_ink: str
    """Of text, which needs more contrast than marks."""
    wrong_ink: str
    irrelevant: str
    """What was judged and is not relevant."""

    @classmethod
    def of(cls, colour: Callable[[str], str], *, canvas: str | None = None) -> Theme:
        """A theme from what each name of the list stands for."""
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
        """The colour of text that speaks of marks of a colour."""
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
    """Colour and dash of a line by its place; where colours begin again, dashes differ."""
    return theme.series[place % SERIES], DASHES[(place + place // SERIES) % len(DASHES)]
