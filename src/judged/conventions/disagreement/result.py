"""A disagreement as text, Markdown and JSON: exact numbers for programs, four decimals for
people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from judged import __version__
from judged.conventions.disagreement.compare import Compared, Counts, Row
from judged.errors import MeasureError
from judged.measures import Measure, parse_measure
from judged.options import checked
from judged.policy import Policy
from judged.results import Part, Result, Table
from judged.text import (
    counted,
    html,
    html_folded,
    markdown,
    markdown_table,
    plain,
    shown,
)

if TYPE_CHECKING:
    import polars as pl

KINDS = {
    "tied": "tied",
    "short": "short",
    "missing": "missing",
    "nothing_relevant": "with nothing relevant",
}
"""The kinds of queries, as tables name them."""
ABOUT = {
    "ties": "tied",
    "short": "short",
    "ideal": "short",
    "missing": "missing",
    "empty": "nothing_relevant",
}
"""The choices that treat a kind of queries in a way of their own; a table counts the kinds that a
row's choices are about."""
HEADER = ("definition", "value", "queries that differ", "used by")


@dataclass(frozen=True, eq=False, repr=False)
class Disagreement(Result):
    """Every definition of some measures on one run; `print` it, or take its rows.

    >>> from judged import compare_conventions
    >>> found = compare_conventions({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR@10")
    >>> found.rows()[0].value
    0.5
    """

    WORDS: ClassVar = frozenset(HEADER) - {"value"}

    run: str
    """The name of the run."""
    measures: tuple[Compared, ...]
    """The definitions of each measure, and what kinds of queries there are."""
    notes: tuple[str, ...] = ()
    """What could mislead about the data."""

    def rows(self, measure: str | Measure | None = None) -> tuple[Row, ...]:
        """The definitions of one measure, that which was asked for first.

        Parameters
        ----------
        measure : str or Measure, optional
            The measure as it was asked for; needed only where there are several.

        Returns
        -------
        tuple of Row

        >>> from judged import compare_conventions
        >>> found = compare_conventions({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR@10, P@1")
        >>> found.rows("P@1")[0].definition.name
        'P@1'
        """
        return self.compared(measure).rows

    def compared(self, measure: str | Measure | None = None) -> Compared:
        """One measure's part: its rows, and what kinds of queries there are.

        Parameters
        ----------
        measure : str or Measure, optional
            The measure as it was asked for; needed only where there are several.

        Returns
        -------
        Compared

        >>> from judged import compare_conventions
        >>> found = compare_conventions({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR@10")
        >>> found.compared().found.queries
        1
        """
        names = ", ".join(str(each.measure) for each in self.measures)
        if measure is None:
            if len(self.measures) > 1:
                raise MeasureError(f"say which measure: {names}.")
            return self.measures[0]
        wanted = parse_measure(measure)
        for each in self.measures:
            if each.measure == wanted:
                return each
        raise MeasureError(f"{wanted} was not compared; there is {names}.")

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold.

        Returns
        -------
        dict

        >>> from judged import compare_conventions
        >>> found = compare_conventions({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR@10")
        >>> found.to_dict()["measures"][0]["definitions"][0]["value"]
        0.5
        """
        return {
            "run": self.run,
            "warnings": self.warnings(),
            "measures": [_measure_dict(each) for each in self.measures],
            "policy": Policy().to_dict(),
            "judged": __version__,
        }

    def to_frame(self) -> pl.DataFrame:
        """One row per measure and definition: its value, its policy, the queries that differ.

        Returns
        -------
        polars.DataFrame

        >>> from judged import compare_conventions
        >>> found = compare_conventions({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR@10")
        >>> found.to_frame().row(0)[:4]
        ('RR@10', 'RR@10', 0.5, 0)
        """
        import polars as pl

        rows = [
            {
                "measure": str(each.measure),
                "definition": str(row.measure),
                "value": row.value,
                "differ": None if row.touched is None else row.touched.queries,
                **row.policy.to_dict(),
                "used_by": ", ".join(map(str, row.users)),
            }
            for each in self.measures
            for row in each.rows
        ]
        return pl.DataFrame(rows, schema_overrides={"value": pl.Float64, "differ": pl.Int64})

    def tables(self) -> list[Table]:
        """One table per measure; policies that make no difference to the data share a row.

        Returns
        -------
        list of (header, rows)

        >>> from judged import compare_conventions
        >>> found = compare_conventions({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR@10")
        >>> found.tables()[0][0]
        ('definition', 'value', 'queries that differ', 'used by')
        """
        return [(HEADER, cells(each)) for each in self.measures]

    def sentences(self) -> list[str]:
        """What makes definitions differ, measure by measure, and what was assumed.

        Returns
        -------
        list of str

        >>> from judged import compare_conventions
        >>> found = compare_conventions({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR@10")
        >>> found.sentences()[1]
        '1 query, of them 1 short'
        """
        said = [text for each in self.measures for text in (heading(each), *notes(each))]
        return [*self._warned(), *said, *self._said()]

    @checked
    def parts(self, *, verbose: bool = False, quiet: bool = False) -> list[Part]:
        """A table for each measure, with what makes its definitions differ under it; then the
        warnings, and what was assumed.

        Parameters
        ----------
        verbose : bool, optional
            Changes nothing: all sentences stand there anyway.
        quiet : bool, optional
            Whether the tables stand alone, each under its measure.

        Returns
        -------
        list of str or (header, rows)

        >>> from judged import compare_conventions
        >>> found = compare_conventions({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR@10")
        >>> found.to_text().splitlines()[1].split()
        ['definition', 'value', 'queries', 'that', 'differ', 'used', 'by']
        """
        numbers: list[Part] = []
        for each, table in zip(self.measures, self.tables(), strict=True):
            numbers += [heading(each), table, *([] if quiet else notes(each)), ""]
        warned = [] if quiet else self._warned()
        return self._parts(numbers, warned, verbose=verbose, quiet=quiet)

    def _said(self) -> list[str]:
        return [assumed()]

    def to_markdown(self) -> str:
        """A section and a table for each measure, with the reasons in every row.

        Returns
        -------
        str

        >>> from judged import compare_conventions
        >>> found = compare_conventions({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR@10")
        >>> print(found.to_markdown().splitlines()[0])
        ### RR@10
        """
        parts = [
            part
            for each in self.measures
            for part in (f"### {each.measure}", _markdown(each), f"{_found(each)}.")
        ]
        warned = [f"**Warning: {markdown(text)}**" for text in self.warnings()]
        return "\n\n".join([*warned, *parts, f"{assumed()}."]) + "\n"

    def to_html(self) -> str:
        """A heading and a table for each measure, the reasons folded under it, for notebooks.

        Returns
        -------
        str

        >>> from judged import compare_conventions
        >>> found = compare_conventions({"q": {"a": 1}}, {"q": ["b", "a"]}, "P@1")
        >>> found.to_html().partition(":")[0]
        '<p><b>P@1</b>'
        """
        shown = ""
        for each, table in zip(self.measures, self.tables(), strict=True):
            name, _, told = heading(each).partition(": ")
            shown += (
                f"<p><b>{html(name)}</b>: {html(told)}</p>"
                + self._html(*table)
                + html_folded("what makes them differ", notes(each))
            )
        return f"{shown}{self._html_warnings()}<p><small>{html(assumed())}</small></p>"


def cells(compared: Compared) -> list[tuple[str, str, str, str]]:
    """The rows of the table that people see; policies that make no difference to the data share
    one."""
    return [
        (
            _named(group),
            "stops" if group[0].stops else shown(group[0].value),
            _touched(group[0]),
            ", ".join(
                [
                    *([] if number else ["judged"]),
                    *(str(user) for row in group for user in row.users),
                ]
            ),
        )
        for number, group in enumerate(compared.alike)
    ]


def _named(group: tuple[Row, ...]) -> str:
    """The first definition, which has the fewest choices, and what the others have beside it
    without effect."""
    name, more = group[0].definition.name, ", ".join(without_effect(group))
    return f"{name} (no effect here: {more})" if more else name


def without_effect(group: tuple[Row, ...]) -> list[str]:
    """The choices of rows that are alike which the first of them does not have."""
    own = {each.choice for each in group[0].differences}
    return list(
        dict.fromkeys(
            each.choice for row in group for each in row.differences if each.choice not in own
        )
    )


def heading(compared: Compared) -> str:
    count, different = len(compared.rows), len(compared.alike)
    told = (
        f" in {counted(different, 'row')}, as some policies have no effect here"
        if different < count
        else ""
    )
    return f"{compared.measure}: {counted(count, 'definition')}{told}"


def reasons(compared: Compared) -> list[str]:
    """Each difference once, in words, with the number of queries that it touches by itself."""
    said = {each.choice: each for row in compared.rows for each in row.differences}
    return [f"{each.choice}: {each.says} ({_alone(each.touched)})" for each in said.values()]


def _alone(touched: int) -> str:
    return f"alone, {counted(touched, 'query differs', 'queries differ')}"


def _touched(row: Row) -> str:
    """How many queries differ, and of what kinds they are."""
    if row.touched is None or not row.differences:
        return ""
    about = {ABOUT.get(each.choice.partition("=")[0]) for each in row.differences}
    kinds = _kinds(row.touched, [kind for kind in KINDS if kind in about])
    return f"{row.touched.queries:,}{f' ({kinds})' if kinds else ''}"


def _kinds(counts: Counts, kinds: Iterable[str] = KINDS) -> str:
    return ", ".join(
        f"{getattr(counts, kind):,} {KINDS[kind]}" for kind in kinds if getattr(counts, kind)
    )


def _found(compared: Compared) -> str:
    kinds = _kinds(compared.found)
    queries = counted(compared.found.queries, "query", "queries")
    return f"{queries}{f', of them {kinds}' if kinds else ''}"


def assumed() -> str:
    return f"policy, where a definition does not say otherwise: {Policy()}"


def notes(compared: Compared) -> list[str]:
    """What stands under a table: the queries, and what the differences are."""
    stops = dict.fromkeys(f"stops: {row.stops}" for row in compared.rows if row.stops)
    return [_found(compared), *reasons(compared), *stops]


def _markdown(compared: Compared) -> str:
    rows = []
    for group, line in zip(compared.alike, cells(compared), strict=True):
        row = group[0]
        why = [
            f"`{each.choice}`: {each.says} ({_alone(each.touched)})." for each in row.differences
        ]
        idle = [f"`{choice}`" for choice in without_effect(group)]
        why += [f"Without effect here: {', '.join(idle)}."] if idle else []
        reasons = " ".join([*why, row.stops or ""]).strip()
        rows.append((f"`{row.definition.name}`", *line[1:], reasons))
    return markdown_table((*HEADER, "why"), rows, right=[1])


def _measure_dict(compared: Compared) -> dict[str, Any]:
    return {
        "measure": str(compared.measure),
        "found": asdict(compared.found),
        "definitions": [_row_dict(row) for row in compared.rows],
    }


def _row_dict(row: Row) -> dict[str, Any]:
    return {
        "measure": str(row.measure),
        "policy": row.policy.to_dict(),
        "value": plain(row.value),
        "stops": row.stops,
        "counted": row.counted,
        "differ": None if row.touched is None else asdict(row.touched),
        "differences": [asdict(each) for each in row.differences],
        "used_by": [
            {
                "convention": user.convention.name,
                "version": user.convention.version,
                "name": user.named.theirs,
                "note": user.named.name.note,
            }
            for user in row.users
        ],
    }
