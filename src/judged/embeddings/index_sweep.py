"""One parameter of an index, several values: what each finds of the exact lists, and how long it
takes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from judged import __version__
from judged.embeddings.index import SHARES, IndexEvaluation, evaluate_each
from judged.embeddings.index_adapter import as_index, asking
from judged.embeddings.index_settings import Setting, settings_of
from judged.embeddings.relations import Relation
from judged.embeddings.search import Search
from judged.options import checked_methods
from judged.results import Part, Result, Table
from judged.text import counted, plain, shown

if TYPE_CHECKING:
    import polars as pl

    from judged.evaluation.settings import Settings
    from judged.options import Ids, IndexLike, Progress

WARM = 3
"""Calls that are not timed: the first ones load what later ones find ready."""


@dataclass(frozen=True)
class Timing:
    """How long the index took, asked for one query at a time, and for all of them at once."""

    median: float
    """Seconds of a query, in the median."""
    p95: float
    """Seconds within which 95 % of the queries were answered."""
    per_second: float
    """Queries per second where all are asked for in one call."""
    queries: int
    """How many queries were timed."""


@dataclass(frozen=True, eq=False)
class Swept:
    """One value of the parameter."""

    value: int | float
    """What the index was told."""
    found: IndexEvaluation
    """What it finds of the exact lists."""
    timing: Timing
    """How long it takes."""


def sweep(
    index: IndexLike,
    exact: Search,
    relation: Relation,
    request: Settings,
    *,
    parameter: str,
    values: Sequence[int | float],
    k: int,
    timed: int,
    keys: Ids | None = None,
    progress: Progress | None = None,
) -> IndexSweep:
    """An index under each value of a parameter, against one exact search."""
    opened = as_index(index)
    with settings_of(opened, parameter, values) as settings:
        found = evaluate_each(opened, settings, exact, relation, request, k, keys, progress)
        timings = [_timing(opened, each, exact, k, timed) for each in settings]
    rows = zip(values, found, timings, strict=True)
    return IndexSweep(parameter, tuple(Swept(*row) for row in rows))


def _timing(index: Any, setting: Setting, exact: Search, k: int, timed: int) -> Timing:
    """Evenly chosen queries, one at a time, and then together; nothing else runs meanwhile."""
    count = len(exact.queries)
    rows = np.unique(np.linspace(0, count - 1, min(timed, count)).round().astype(np.int64))
    vectors = exact.queries.rows(rows)
    ask, k = asking(setting.of(index), exact.similarity), min(k, len(exact.items))
    setting.apply()
    for row in range(min(WARM, len(rows))):
        ask(vectors[row : row + 1], k)
    seconds = []
    for row in range(len(rows)):
        begin = time.perf_counter()
        ask(vectors[row : row + 1], k)
        seconds.append(time.perf_counter() - begin)
    begin = time.perf_counter()
    ask(vectors, k)
    together = max(time.perf_counter() - begin, 1e-9)
    return Timing(
        float(np.median(seconds)),
        float(np.percentile(seconds, 95)),
        len(rows) / together,
        len(rows),
    )


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class IndexSweep(Result):
    """What `Embeddings.sweep_index` returns: a row for each value of the parameter.

    >>> import judged
    >>> both = judged.Embeddings([[1.0, 0.0]], [[0.9, 0.1], [0.1, 0.9]])
    >>> def careless(block, k, ef):
    ...     return [[0 if ef > 1 else 1]] * len(block), [[0.0]] * len(block)
    >>> swept = both.sweep_index(
    ...     careless, {"0": {"0": 1}}, "RR", parameter="ef", values=[1, 2], k=1
    ... )
    >>> [(row.value, row.found.recall) for row in swept.rows]
    [(1, 0.0), (2, 1.0)]
    """

    parameter: str
    """What was changed."""
    rows: tuple[Swept, ...]
    """One for each value, in the order given."""

    WORDS: ClassVar[frozenset[str]] = frozenset()

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold.

        Returns
        -------
        dict
        """
        return {
            "what": "sweep of an index",
            "parameter": self.parameter,
            "k": self.rows[0].found.k,
            "rows": [
                {
                    "value": row.value,
                    "recall": plain(row.found.recall),
                    **{name: plain(row.found.quantile(at)) for name, at in SHARES.items()},
                    "loss": {name: plain(lost) for name, lost in row.found.loss.items()},
                    "seconds": row.timing.median,
                    "seconds_p95": row.timing.p95,
                    "queries_per_second": row.timing.per_second,
                    "timed": row.timing.queries,
                }
                for row in self.rows
            ],
            "warnings": self.warnings(),
            "judged": __version__,
        }

    def to_frame(self) -> pl.DataFrame:
        """One row for each value.

        Returns
        -------
        polars.DataFrame
        """
        import polars as pl

        rows = [
            {
                **{name: value for name, value in row.items() if name != "loss"},
                **{f"{name} loss": lost for name, lost in row["loss"].items()},
            }
            for row in self.to_dict()["rows"]
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def warnings(self) -> list[str]:
        """What could mislead whoever reads the numbers and nothing else.

        Returns
        -------
        list of str
        """
        said = dict.fromkeys(text for row in self.rows for text in row.found.warnings())
        return list(said)

    def sentences(self) -> list[str]:
        """Warnings, how it was timed, and the smallest value that finds nearly all.

        Returns
        -------
        list of str
        """
        first = self.rows[0]
        said = [
            f"recall, p5 and p50: the share of the exact first {first.found.k:,} that the index "
            "found, its mean, what the worst twentieth of the queries does not exceed, and the "
            "median",
            f"ms: one query at a time, {counted(first.timing.queries, 'query', 'queries')}, on "
            "this machine and as busy as it was; queries/s: all of them in one call",
        ]
        enough = [row for row in self.rows if row.found.recall >= 0.99]
        if enough:
            quickest = min(enough, key=lambda row: row.timing.median)
            said.append(
                f"{self.parameter} {quickest.value:g} is the quickest that finds 99 % or more of "
                f"the exact lists, in {quickest.timing.median * 1000:.3g} ms"
            )
        return [*self._warned(), *said]

    def tables(self) -> list[Table]:
        """One row for each value: recall with its quantiles, what is lost, and the time.

        Returns
        -------
        list of (header, rows)
        """
        names = list(self.rows[0].found.loss)
        header = [self.parameter, "recall", "p5", "p50", *(f"{name} loss" for name in names)]
        header += ["ms", "ms p95", "queries/s"]
        return [(header, [self._cells(row) for row in self.rows])]

    def _cells(self, row: Swept) -> list[str]:
        found, timing = row.found, row.timing
        return [
            f"{row.value:g}",
            *(shown(each) for each in (found.recall, found.quantile(0.05), found.quantile(0.5))),
            *map(shown, found.loss.values()),
            f"{timing.median * 1000:.3f}",
            f"{timing.p95 * 1000:.3f}",
            f"{timing.per_second:,.0f}",
        ]

    def _numbers(self) -> list[Part]:
        return [*self.tables()]
