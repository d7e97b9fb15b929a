"""A comparison of conventions as text, Markdown and JSON: exact numbers for programs, four decimals
for people."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from judged import __version__
from judged.disagreement.compare import Compared, Counts, Row
from judged.errors import MeasureError
from judged.measures import Measure, parse_measure
from judged.policy import Policy
from judged.text import aligned, plain, shown

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


@dataclass(frozen=True, eq=False)
class ConventionComparison:
    """Every definition of some measures on one run; `print` it, or take its rows."""

    run: str
    measures: tuple[Compared, ...]

    def rows(self, measure: str | Measure | None = None) -> tuple[Row, ...]:
        """The definitions of one measure, that which was asked for first."""
        return self.compared(measure).rows

    def compared(self, measure: str | Measure | None = None) -> Compared:
        """One measure's part; the measure needs a name only where there are several."""
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
        return {
            "run": self.run,
            "measures": [_measure_dict(each) for each in self.measures],
            "policy": Policy().to_dict(),
            "judged": __version__,
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def to_markdown(self) -> str:
        """A section and a table for each measure, with the reasons in every row."""
        parts = [
            part
            for each in self.measures
            for part in (f"### {each.measure}", _markdown(each), f"{_found(each)}.")
        ]
        return "\n\n".join([*parts, f"{assumed()}."]) + "\n"

    def __repr__(self) -> str:
        return "\n\n".join([*map(_text, self.measures), assumed()])


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
        f" in {different} row{'' if different == 1 else 's'}, as some policies have no effect here"
        if different < count
        else ""
    )
    return f"{compared.measure}: {count} definition{'' if count == 1 else 's'}{told}"


def reasons(compared: Compared) -> list[str]:
    """Each difference once, in words, with the number of queries that it touches by itself."""
    said = {each.choice: each for row in compared.rows for each in row.differences}
    return [f"{each.choice}: {each.says} ({_alone(each.touched)})" for each in said.values()]


def _alone(touched: int) -> str:
    return f"alone, {touched:,} {'query differs' if touched == 1 else 'queries differ'}"


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
    queries = f"{compared.found.queries:,} {'query' if compared.found.queries == 1 else 'queries'}"
    return f"{queries}{f', of them {kinds}' if kinds else ''}"


def assumed() -> str:
    return f"policy, where a definition does not say otherwise: {Policy()}"


def notes(compared: Compared) -> list[str]:
    """What stands under a table: the queries, and what the differences are."""
    stops = dict.fromkeys(f"stops: {row.stops}" for row in compared.rows if row.stops)
    return [_found(compared), *reasons(compared), *stops]


def _text(compared: Compared) -> str:
    rows = [HEADER, *cells(compared)]
    return "\n".join([heading(compared), *aligned(rows, right=[1]), *notes(compared)])


def _markdown(compared: Compared) -> str:
    lines = [(*HEADER, "why"), ("---", "---:", "---", "---", "---")]
    for group, line in zip(compared.alike, cells(compared), strict=True):
        row = group[0]
        why = [
            f"`{each.choice}`: {each.says} ({_alone(each.touched)})." for each in row.differences
        ]
        idle = [f"`{choice}`" for choice in without_effect(group)]
        why += [f"Without effect here: {', '.join(idle)}."] if idle else []
        lines.append(
            (f"`{row.definition.name}`", *line[1:], " ".join([*why, row.stops or ""]).strip())
        )
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


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
