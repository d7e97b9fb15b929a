"""Colours that differ in lightness too, so that charts can be read by the colour-blind and in grey;
light and dark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from judged.checks import choice

ThemeName = Literal["light", "dark"]


MARKS = {
    "better": ("triangle-up", "▲"),
    "worse": ("triangle-down", "▼"),
    "equivalent": ("square", "■"),
    "no evidence": ("circle", "●"),
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

    background: str
    ink: str
    muted: str
    grid: str
    series: tuple[str, ...]
    """One for each system or measure; every other is much lighter than its neighbours."""
    fill: str
    """An area that carries meaning."""
    right: str
    wrong: str

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """How each verdict of a comparison looks: by colour, by shape and by its sign."""
        colours = {
            "better": self.right,
            "worse": self.wrong,
            "equivalent": self.series[2],
            "no evidence": self.muted,
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
            "domainColor": self.muted,
            "tickColor": self.muted,
            "labelFontSize": 11,
            "titleFontSize": 12,
        }
        return {
            "background": self.background,
            "font": "Helvetica, Arial, Liberation Sans, sans-serif",
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


# The hues are those of Okabe and Ito, a set made to be told apart with every kind of colour vision.
THEMES = {
    "light": Theme(
        background="#ffffff",
        ink="#1f2328",
        muted="#59636e",
        grid="#e6e8eb",
        series=(
            "#0072b2",
            "#c98300",
            "#00634a",
            "#cc79a7",
            "#7a2e00",
            "#56b4e9",
            "#444444",
            "#b8a900",
        ),
        fill="#cfe3f1",
        right="#0072b2",
        wrong="#d55e00",
    ),
    "dark": Theme(
        background="#15191e",
        ink="#e8eaed",
        muted="#a5adb6",
        grid="#2d333b",
        series=(
            "#56b4e9",
            "#f0e442",
            "#0b9e77",
            "#e8a9cb",
            "#d55e00",
            "#c9e6fa",
            "#9a9a9a",
            "#e69f00",
        ),
        fill="#1d3b52",
        right="#56b4e9",
        wrong="#e8793a",
    ),
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
