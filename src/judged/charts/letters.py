"""How wide text is, so that names get the room that they need: Helvetica's letters, which Arial and
Liberation Sans share."""

from __future__ import annotations

import math
from collections.abc import Iterable

from judged.charts.names import labels

_WIDTHS = {
    "fijlt.,:;!I|/\\'[]()` -": 0.3,
    "r": 0.34,
    'cksvxyzJ"{}': 0.5,
    "wmM%W@—": 0.95,
    "ABCDEFGHKLNOPQRSTUVXYZ&": 0.72,
}
_LETTER = {letter: width for letters, width in _WIDTHS.items() for letter in letters}
_USUAL = 0.56
_WIDE = 1.0
"""What is neither Latin nor a sign of punctuation, in widths of the font's size."""
BOLD = 1.07
SIZE = 11.5
"""Of text beside marks, in pixels."""
SHORTEST = 6
"""Letters that are left of a name where there is hardly any room."""


def text_width(text: str, *, size: float = SIZE, bold: bool = False) -> float:
    """About how many pixels a text takes, rather a few more than less.

    >>> round(text_width("nDCG@10")), round(text_width("nDCG@10", bold=True))
    (55, 59)
    """
    units = sum(_LETTER.get(each, _USUAL if ord(each) < 0x2100 else _WIDE) for each in text)
    return units * size * (BOLD if bold else 1.0)


def widest(texts: Iterable[str], *, size: float = SIZE, bold: bool = False) -> float:
    """The width of the widest of some texts."""
    return max((text_width(text, size=size, bold=bold) for text in texts), default=0.0)


def fitted(names: Iterable[str], room: float, *, bold: bool = False) -> dict[str, str]:
    """Names as short as there is room for, different where they are, and never shorter than six
    letters; where there is endless room, as they are.

    >>> fitted(["a system with a long name", "bm25"], 90)["a system with a long name"]
    'a syst…ng name'
    """
    every = list(names)
    if room == math.inf:
        return {name: name for name in every}
    found = labels(every)
    longest = max(map(len, found.values()), default=0)
    while longest > SHORTEST and widest(found.values(), bold=bold) > room:
        longest -= 1
        found = labels(every, longest)
    return found
