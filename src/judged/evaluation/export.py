"""Evaluations as tables, dicts, TREC lines, and names for experiment trackers and model cards."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.results import Table
from judged.text import DECIMALS, Bold, counted, percent, shown

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.scores import Scored
    from judged.measures import Measure

WORDS = frozenset({"run", "query", "measure"})
"""Columns of tables that hold words."""


@dataclass(frozen=True)
class Look:
    """The format of the numbers of a table."""

    decimals: int | None = None
    """Number of decimals; by default four, and two for percentages."""
    percent: bool = False
    """True to show shares in percent."""

    def decimals_of(self, share: bool) -> int:
        """Return the number of decimals of a share, or of another number."""
        if self.decimals is not None:
            return self.decimals
        return DECIMALS - 2 if share and self.percent else DECIMALS

    def number(self, value: float | None, measure: Measure) -> str:
        """Return a value of a measure as tables show it."""
        return self.digits(value, is_share(measure))

    def digits(self, value: float | None, share: bool) -> str:
        """Return a share, or another number, as tables show it."""
        form = percent if share and self.percent else shown
        return form(value, self.decimals_of(share))

    def amount(self, by: float, measure: Measure) -> str:
        """Return a difference of two values, which is never shown as zero."""
        share = is_share(measure)
        last_digit = 10.0 ** -(self.decimals_of(share) + 2 * (share and self.percent))
        return self.number(max(by, last_digit), measure)

    def name(self, label: str, measure: Measure) -> str:
        """Return the name of a measure in the table, with % for percentages."""
        return f"{label} %" if self.percent and is_share(measure) else label


def is_share(measure: Measure) -> bool:
    """Return whether values lie between 0 and 1, so that percentages make sense."""
    return tuple(measure.spec.range) == (0, 1)


def table(evaluation: Evaluation, look: Look, *, per_query: bool = False) -> Table:
    """Return the table of an evaluation, with the best of several runs in bold."""
    from judged.rankings.rankings import OTHER_WAY

    frame = _with_queries(evaluation) if per_query else evaluation.summary_columns()
    header = list(frame)
    beside = evaluation.columns_beside
    width = 1 + len(beside)
    words = len(header) - width * len(evaluation.measures)  # run, query and its weight
    names = [look.name(evaluation.label(measure), measure) for measure in evaluation.measures]
    tips = dict(zip(names, (m.describe for m in evaluation.measures), strict=True))
    both_ways = len({OTHER_WAY in run.rankings.basis for run in evaluation.runs}) > 1
    columns: list[list[str]] = []
    for at, name in enumerate(header[words:]):
        measure, column = evaluation.measures[at // width], frame[name]
        cells = [look.number(value, measure) for value in column]
        alike = not (per_query or both_ways or at % width)  # intervals and ranges are no values
        standing_out = best(column, cells, measure) if alike else []
        columns.append([Bold(cell) if cell in standing_out else cell for cell in cells])
    rows = [
        [*(each if isinstance(each, str) else shown(each) for each in said), *numbers]
        for said, numbers in zip(
            zip(*(frame[name] for name in header[:words]), strict=True),
            zip(*columns, strict=True),
            strict=True,
        )
    ]
    if not beside:
        return Table([*header[:words], *names], rows, WORDS, tips=tips)
    split = [
        [*row[:words], name, *row[words + at * width :][:width]]
        for row in rows
        for at, name in enumerate(names)
    ]
    number = "corrected" if evaluation.trusted else "value"
    return Table([*header[:words], "measure", number, *beside], split, WORDS, tips=tips)


def _with_queries(evaluation: Evaluation) -> dict[str, list[Any]]:
    import polars as pl

    queries, means = evaluation.to_frame(per_query=True), evaluation.to_frame()
    words = [name for name in queries.columns if name not in means.columns[1:]]
    summary = means.select("run", pl.lit("all").alias("query"), pl.exclude("run"))
    frame = pl.concat([queries, summary], how="diagonal")
    return frame.select(*words, *means.columns[1:]).to_dict(as_series=False)


def tables(evaluation: Evaluation, look: Look, *, per_query: bool = False) -> list[Table]:
    """Return the table of values, and that of queries without relevant items if shown."""
    found = [table(evaluation, look, per_query=per_query)]
    if evaluation.runs and evaluation.runs[0].unanswerable is not None:
        from judged.evaluation.unanswerable import block

        found += block(evaluation, look)
    if evaluation.slices:
        found += evaluation.slices.value_tables(evaluation, look)
    return found


def best(values: Iterable[float | None], cells: Sequence[str], measure: Measure) -> list[str]:
    """Return the cell of the best of several values; none if all look alike or none is better.

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


def in_order(evaluation: Evaluation, sort: str | Measure | None) -> Evaluation:
    """Return the evaluation with its runs ordered by a measure, best first."""
    if sort is None:
        return evaluation
    measure = evaluation.measure(sort)
    sign = -1 if measure.spec.higher_is_better else 1

    def place(run: Scored) -> tuple[bool, float]:
        value = run.summary[measure]
        return math.isnan(value), 0.0 if math.isnan(value) else sign * value

    return replace(evaluation, runs=tuple(sorted(evaluation.runs, key=place)))


METRIC_NAMES = {
    "judged": "as tables have them: nDCG(gain=exp)@10",
    "mlflow": "of letters, digits and _ - . / alone: nDCG_gain_exp_at_10",
}
"""Ways of naming metrics, with an example of each."""


def plain_name(text: str) -> str:
    """Write a measure or the name of a run in letters, digits and ``_ - .``."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", text.replace(")", "").replace("@", "_at_"))


@dataclass(frozen=True)
class Latency:
    """The duration of the call that answered each query, in seconds."""

    seconds: Mapping[str, float]
    """The time of each query that was answered."""
    workers: int = 1
    """The largest number of queries in one call."""
    retried: tuple[str, ...] = ()
    """Queries that failed before they were answered; their failed calls and waits do not count."""

    @property
    def mean(self) -> float:
        """The mean over queries."""
        return float(np.mean(list(self.seconds.values())))

    def percentile(self, share: float) -> float:
        """Return a percentile from 0 to 100, with linear interpolation between queries."""
        return float(np.percentile(list(self.seconds.values()), share))

    def sentence(self) -> str:
        """Return the latencies as one phrase."""
        together = f", up to {self.workers:,} at once" if self.workers > 1 else ""
        again = len(self.retried)
        more = f"; {again:,} answered only when asked again" if again else ""
        return (
            f"mean {_show_seconds(self.mean)}, p50 {_show_seconds(self.percentile(50))}, "
            f"p95 {_show_seconds(self.percentile(95))} "
            f"({counted(len(self.seconds), 'query', 'queries')}{together}{more})"
        )

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return the numbers in seconds, as plain Python values that JSON can hold."""
        found = {
            "unit": "seconds",
            "mean": self.mean,
            "p50": self.percentile(50),
            "p95": self.percentile(95),
            "queries": len(self.seconds),
            "workers": self.workers,
            "retried": list(self.retried),
        }
        return {**found, "per_query": dict(self.seconds)} if per_query else found


def _show_seconds(seconds: float) -> str:
    """Three digits that count, in milliseconds below a second."""
    if seconds >= 0.9995:
        return f"{seconds:.3g} s" if seconds < 1000 else f"{seconds:,.0f} s"
    return f"{seconds * 1000:.3g} ms"
