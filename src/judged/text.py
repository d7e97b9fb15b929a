"""Text for people and for programs: numbers, counts, tables in plain text and Markdown, JSON."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any


class Warned(str):
    """A note that could mislead whoever overlooks it; it travels where notes do, and comes first.

    >>> Warned("The third column was taken for scores.")
    'The third column was taken for scores.'
    """

    __slots__ = ()


def shown(value: float | None) -> str:
    """A number for people: four decimals, counts as they are.

    >>> shown(0.25), shown(1234.0), shown(None), shown(math.inf)
    ('0.2500', '1,234', '–', '∞')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:,.0f}" if abs(value) >= 100 and float(value).is_integer() else f"{value:.4f}"


def plain(value: float | None) -> float | str | None:
    """A number for JSON, which has neither NaN (null) nor infinity ("Infinity")."""
    if value is None or math.isnan(value):
        return None
    return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "query", "queries"), counted(2500, "query", "queries"), counted(2, "line")
    ('1 query', '2,500 queries', '2 lines')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(words: Sequence[str], last: str = "and") -> str:
    """Words in a row.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"], "or")
    ('a', 'a and b', 'a, b or c')
    """
    *most, end = words
    return f"{', '.join(most)} {last} {end}" if most else end


def quote(text: str | bytes, limit: int = 80) -> str:
    """Text from a file between quotation marks, shortened so that a message stays one line.

    Control characters are spelled out, all but the tab: printed as they are they could break the
    line, or steer the terminal.

    >>> print(quote(b"a\\nb"), quote("a long line", 6))
    "a\\nb" "a lon…"
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    text = "".join(
        each if each.isprintable() or each == "\t" else each.encode("unicode_escape").decode()
        for each in text
    )
    return f'"{text}"' if len(text) <= limit else f'"{text[: limit - 1]}…"'


def aligned(rows: Sequence[Sequence[str]], *, right: Collection[int] = ()) -> list[str]:
    """Lines whose cells stand under each other; the columns in `right` end there, all others begin
    there.

    >>> aligned([("run", "AP"), ("mine", "0.5")], right=[1])
    ['run    AP', 'mine  0.5']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return [line.rstrip() for line in lines]


def markdown_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[int] = ()
) -> str:
    """A table in Markdown; the numbers of the columns in `right` are set to the right.

    >>> print(markdown_table(["run", "AP"], [["a|b", "0.5"]], right=[1]))
    | run | AP |
    | --- | ---: |
    | a\\|b | 0.5 |
    """
    marks = ["---:" if at in right else "---" for at in range(len(header))]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
        for row in [header, marks, *rows]
    )


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in HTML, for notebooks."""
    from html import escape  # its table of entities takes longer to load than all of this

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><thead>{line(header, 'th')}</thead><tbody>{body}</tbody></table>"


def to_json(given: Any) -> str:
    """JSON as all commands print and all results save it: indented, no NaN, a last line feed."""
    import json

    return json.dumps(given, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
