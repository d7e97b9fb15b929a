"""The rows of a table of every query: thousands of them, so they are made in one go and as short as
HTML allows. Each value has its strip in the line below, one character a rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from judged.text import visible
from judged.web.pages.numbers import plain_number, signed
from judged.web.pages.templating import cut

WORDS = 140
"""So many characters of a query's text are shown."""


@dataclass(frozen=True, eq=False)
class Values:
    """One system's values of all queries, in the order of the rows."""

    values: Sequence[float]
    """NaN where a query does not count."""
    codes: Sequence[str] | None = None
    """The strip of each query, as `Strips.codes` has it; None where strips are left out."""

    def cells(self) -> list[str]:
        """The cells of the column."""
        shown = [_shown(value) for value in self.values]
        if self.codes is None:
            return [f"<td>{value}" for value in shown]
        return [f"<td>{value}\n{code}" for value, code in zip(shown, self.codes, strict=True)]


def query_rows(
    queries: Sequence[str],
    systems: Sequence[Values],
    *,
    differences: Mapping[str, float] | None = None,
    higher_is_better: bool = True,
    texts: Mapping[str, str] | None = None,
) -> Markup:
    """Rows of a table: the query, the value and strip of each system, and the difference.

    Parameters
    ----------
    queries : sequence of str
        The ids, in the order of the rows.
    systems : sequence of Values
        The columns.
    differences : mapping of str to float, optional
        The difference of two systems by query, for a last column; – where there is none.
    higher_is_better : bool, optional
        Whether a difference above 0 is a gain.
    texts : mapping of str to str, optional
        What queries say, by id.

    Returns
    -------
    Markup

    >>> query_rows(["q<1"], [Values([0.5], ["2.?-"])], differences={"q<1": -0.25}).splitlines()
    [Markup('<tr><th>q&lt;1<td>0.5000'), Markup('2.?-<td class=worse>−0.2500')]
    """
    heads = [_head(query, (texts or {}).get(query, "")) for query in queries]
    columns = [heads, *(each.cells() for each in systems)]
    if differences is not None:
        kinds = ("better", "worse") if higher_is_better else ("worse", "better")
        columns.append([_difference(differences.get(query), *kinds) for query in queries])
    return Markup("".join(map("".join, zip(*columns, strict=True))))


def _head(query: str, text: str) -> str:
    whole = visible(query)
    short = cut(whole)
    title = f' title="{escape(whole)}"' if short != whole else ""
    said = f"<small>{escape(cut(visible(text), WORDS))}</small>" if text else ""
    return f"<tr><th{title}>{escape(short)}{said}"


def _shown(value: float) -> str:
    return f"{value:.4f}" if 0 <= value < 100 else plain_number(value)


def _difference(value: float | None, above: str, below: str) -> str:
    kind = "" if not value or value != value else f" class={above if value > 0 else below}"
    return f"<td{kind}>{signed(value)}"
