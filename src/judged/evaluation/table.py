"""What the table of an evaluation looks like: the order of its rows, its digits, what is bold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from judged.results import Table
from judged.text import DECIMALS, Best, percent, shown

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.exports import Exports
    from judged.evaluation.records import Records
    from judged.evaluation.scores import Scored
    from judged.measures import Measure


@dataclass(frozen=True)
class Look:
    """How the numbers of a table are shown.

    >>> Look(percent=True).decimals_of(True), Look(decimals=3).decimals_of(True)
    (2, 3)
    """

    decimals: int | None = None
    """How many; by default four, and two of a percentage."""
    percent: bool = False
    """Whether shares are shown in percent."""

    def decimals_of(self, share: bool) -> int:
        """How many decimals a share has, or another number."""
        if self.decimals is not None:
            return self.decimals
        return DECIMALS - 2 if share and self.percent else DECIMALS

    def number(self, value: float | None, measure: Measure) -> str:
        """A value of a measure, as the table has it."""
        return self.digits(value, is_share(measure))

    def digits(self, value: float | None, share: bool) -> str:
        """A share, or another number."""
        form = percent if share and self.percent else shown
        return form(value, self.decimals_of(share))

    def amount(self, by: float, measure: Measure) -> str:
        """A difference of two values, which is never shown as none."""
        return self.number(max(by, self._digit(measure)), measure)

    def _digit(self, measure: Measure) -> float:
        share = is_share(measure)
        return 10.0 ** -(self.decimals_of(share) + 2 * (share and self.percent))

    def name(self, label: str, measure: Measure) -> str:
        """What a measure is called in the table: a percentage says so."""
        return f"{label} %" if self.percent and is_share(measure) else label


def is_share(measure: Measure) -> bool:
    """Whether the values of a measure go from 0 to 1, so that they may be percentages."""
    return tuple(measure.spec.range) == (0, 1)


def table(evaluation: Records, look: Look, *, per_query: bool = False) -> Table:
    """One row per run, or per run and query with the summary last; with intervals or ranges, one
    for each measure too. The best of several runs stands out, unless they search both ways: neither
    way is better than the other."""
    from judged.rankings.columns import OTHER_WAY

    frame = _with_queries(evaluation) if per_query else evaluation.summary_columns()
    header = list(frame)
    beside = evaluation.columns_beside
    width = 1 + len(beside)
    words = len(header) - width * len(evaluation.measures)  # run, query and its weight
    names = [look.name(evaluation.label(measure), measure) for measure in evaluation.measures]
    both_ways = len({OTHER_WAY in run.rankings.basis for run in evaluation.runs}) > 1
    columns: list[list[str]] = []
    for at, name in enumerate(header[words:]):
        measure, column = evaluation.measures[at // width], frame[name]
        cells = [look.number(value, measure) for value in column]
        alike = not (per_query or both_ways or at % width)  # intervals and ranges are no values
        standing_out = best(column, cells, measure) if alike else []
        columns.append([Best(cell) if cell in standing_out else cell for cell in cells])
    rows = [
        [*(each if isinstance(each, str) else shown(each) for each in said), *numbers]
        for said, numbers in zip(
            zip(*(frame[name] for name in header[:words]), strict=True),
            zip(*columns, strict=True),
            strict=True,
        )
    ]
    if not beside:
        return [*header[:words], *names], rows
    split = [
        [*row[:words], name, *row[words + at * width :][:width]]
        for row in rows
        for at, name in enumerate(names)
    ]
    number = "corrected" if evaluation.trusted else "value"
    return [*header[:words], "measure", number, *beside], split


def _with_queries(evaluation: Records) -> dict[str, list[Any]]:
    """The values of every query, and below them the summary."""
    import polars as pl

    summary = evaluation.summary.select("run", pl.lit("all").alias("query"), pl.exclude("run"))
    known = evaluation.per_query.columns
    said = [name for name in known if name not in evaluation.summary.columns or name == "run"]
    frame = pl.concat([evaluation.per_query, summary], how="diagonal")
    return frame.select(*said, *summary.columns[2:]).to_dict(as_series=False)


def tables(evaluation: Exports, look: Look, per_query: bool) -> list[Table]:
    """The table, and that of queries with nothing relevant where they are looked at apart."""
    from judged.evaluation.unanswerable import block

    return [table(evaluation, look, per_query=per_query), *block(evaluation, look)]


def best(values: Iterable[float | None], cells: Sequence[str], measure: Measure) -> list[str]:
    """What the best of several values is shown as; nothing where all are shown alike, or where no
    value is better than another: of counts and descriptions.

    Which is best is decided by the exact values. What is shown alike stands out alike, for a table
    cannot tell it apart.
    """
    known = {
        value: cell
        for value, cell in zip(values, cells, strict=True)
        if value is not None and not math.isnan(value)
    }
    if not measure.spec.rates_relevance or len(set(known.values())) < 2:
        return []
    return [known[max(known) if measure.spec.higher_is_better else min(known)]]


def in_order(evaluation: Records, sort: str | Measure | None) -> Evaluation:
    """The evaluation with its runs by a measure, the best first and those without a value last;
    what is equal keeps its order."""
    given = cast("Evaluation", evaluation)
    if sort is None:
        return given
    measure = given.measure(sort)
    sign = -1 if measure.spec.higher_is_better else 1

    def place(run: Scored) -> tuple[bool, float]:
        value = run.summary[measure]
        return math.isnan(value), 0.0 if math.isnan(value) else sign * value

    return replace(given, runs=tuple(sorted(given.runs, key=place)))
