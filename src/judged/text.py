"""Tables for people, in plain text."""

from __future__ import annotations

from collections.abc import Collection, Sequence


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
