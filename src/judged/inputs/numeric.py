"""What counts as a number in a text file: what polars reads as one, so that each path through the
readers agrees."""

from __future__ import annotations

import re

_NUMBER = re.compile(
    r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|infinity|nan)",
    re.ASCII | re.IGNORECASE,
)


def is_number(text: str) -> bool:
    """As `float` takes them, without its "1_000" and its digits of other scripts."""
    return _NUMBER.fullmatch(text) is not None
