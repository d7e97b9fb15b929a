"""Numbers and ids as pages show them, and the rows of the report's table of every query."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal

from markupsafe import Markup, escape

from judged.text import DECIMALS, percent, shown, visible

NO_BREAK = "\u00a0"
ID_LENGTH = 34  # how many characters of an id are shown; its title has the whole id
TEXT_LENGTH = 140  # how many characters of a query's text are shown


def minus(text: str) -> str:
    return text.replace("-", "−")


def plain_number(value: float | None, decimals: int = DECIMALS) -> str:
    """Format a number with four decimals and a comma at thousands; – if it is missing.

    >>> plain_number(-0.25), plain_number(12345.0), plain_number(float("nan"))
    ('−0.2500', '12,345', '–')
    """
    return minus(shown(value, decimals))


def count(value: int) -> str:
    return minus(f"{value:,}")


def signed(value: float | None, decimals: int = DECIMALS) -> str:
    """Format a difference with its sign, except for what is shown as 0.

    >>> signed(0.0195), signed(-0.018, 3), signed(0.0), signed(-1e-9), signed(None)
    ('+0.0195', '−0.018', '0.0000', '0.0000', '–')
    """
    text = plain_number(value, decimals)
    return f"+{text}" if value is not None and value > 0 and text.strip("0.") else text


def share(value: float | None, decimals: int = 0) -> str:
    """Format a share in percent; only exact values are 0 % and 100 %.

    >>> share(0.76), share(0.0004), share(0.9996), share(1.0), share(0.125, 1)
    ('76\\xa0%', '<1\\xa0%', '>99\\xa0%', '100\\xa0%', '12.5\\xa0%')
    """
    if value is None or not math.isfinite(value):
        return plain_number(value)
    step = Decimal(1).scaleb(-decimals)
    text = percent(value, decimals)
    if 0 < value < 1 and Decimal(text) == 0:
        text = f"<{step}"
    elif 0 < value < 1 and Decimal(text) == 100:
        text = f">{100 - step}"
    return f"{minus(text)}{NO_BREAK}%"


def sure_digits(value: float | None, half_width: float | None, decimals: int = DECIMALS) -> int:
    """Count the characters of a number down to the first digit of its half width.

    >>> text = plain_number(0.5767)
    >>> [text[: sure_digits(0.5767, half)] for half in (0.035, 0.004, 0.2, 3.0, 0.0, None)]
    ['0.57', '0.576', '0.5', '0.', '0.5767', '0.5767']
    """
    text = plain_number(value, decimals)
    if half_width is None or not half_width > 0 or "." not in text:
        return len(text)
    if math.isinf(half_width):
        return text.index(".") + 1
    place = -Decimal(repr(float(half_width))).adjusted()
    return min(len(text), text.index(".") + 1 + max(place, 0))


def number(
    value: float | None, half_width: float | None = None, decimals: int = DECIMALS
) -> Markup:
    """Format a number with faint digits below half the width of its confidence interval.

    >>> print(number(0.5767, 0.035))
    <span class="number"><b>0.57</b><i>67</i></span>
    >>> print(number(0.25))
    <span class="number">0.2500</span>
    """
    text = plain_number(value, decimals)
    if half_width is None or not half_width > 0:
        return Markup('<span class="number">{}</span>').format(text)
    sure = sure_digits(value, half_width, decimals)
    rest = Markup("<i>{}</i>").format(text[sure:]) if text[sure:] else ""
    return Markup('<span class="number"><b>{}</b>{}</span>').format(text[:sure], rest)


def shorten(text: str, length: int = ID_LENGTH) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def query_rows(
    queries: Sequence[str],
    systems: Sequence[tuple[Sequence[float], Sequence[str] | None]],
    *,
    differences: Mapping[str, float] | None = None,
    higher_is_better: bool = True,
    texts: Mapping[str, str] | None = None,
) -> Markup:
    """Return table rows, as short as HTML allows, because a report has thousands of them."""
    columns = [[_head(query, (texts or {}).get(query, "")) for query in queries]]
    columns += [_cells(values, codes) for values, codes in systems]
    if differences is not None:
        kinds = ("better", "worse") if higher_is_better else ("worse", "better")
        columns.append([_difference(differences.get(query), *kinds) for query in queries])
    return Markup("".join(map("".join, zip(*columns, strict=True))))


def _cells(values: Sequence[float], codes: Sequence[str] | None) -> list[str]:
    texts = [f"{v:.4f}" if 0 <= v < 100 else plain_number(v) for v in values]
    if codes is None:
        return [f"<td>{text}" for text in texts]
    return [f"<td>{text}\n{code}" for text, code in zip(texts, codes, strict=True)]


def _head(query: str, text: str) -> str:
    whole = visible(query)
    short = shorten(whole)
    title = f' title="{escape(whole)}"' if short != whole else ""
    small = f"<small>{escape(shorten(visible(text), TEXT_LENGTH))}</small>" if text else ""
    return f"<tr><th{title}>{escape(short)}{small}"


def _difference(value: float | None, above: str, below: str) -> str:
    kind = "" if not value or value != value else f" class={above if value > 0 else below}"
    return f"<td{kind}>{signed(value)}"
