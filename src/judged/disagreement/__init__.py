"""Why numbers differ: a measure as every known library defines it, side by side on one run."""

from __future__ import annotations

from typing import Any

from judged.disagreement.compare import Rows, compare
from judged.disagreement.definitions import family
from judged.disagreement.result import ConventionComparison
from judged.errors import InputError
from judged.evaluation.request import Measures
from judged.inputs import as_runs, read_judgements, read_run
from judged.inputs.tables import Judgements, Lookup, Run
from judged.measures import parse_all

__all__ = ["DEFAULT", "ConventionComparison", "compare_conventions", "compare_tables"]

DEFAULT = ("AP@10", "nDCG@10", "P@10", "R@10", "RR@10")
"""Names that stand for different numbers in many libraries."""


def compare_conventions(
    judgements: Any,
    run: Any,
    measures: Measures | None = None,
    *,
    depth: int | None = None,
    duplicates: str = "error",
) -> ConventionComparison:
    """Every definition that a known library has for these measures: its value, who uses it, and
    what makes it differ.

    The first row of each measure is the measure as it was asked for, with judged's default policy;
    every difference is one from that row, in words, with the number of queries that it touches.

    >>> judgements = {"q": {"a": 1, "b": 1, "c": 1}}
    >>> comparison = compare_conventions(judgements, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}, "AP@2")
    >>> [(str(row.measure), row.value) for row in comparison.rows() if row.used_by("replay", "torchmetrics")]
    [('AP(norm=capped)@2', 0.5), ('AP(norm=retrieved)@2', 1.0)]
    """
    if None not in as_runs(run):
        raise InputError("compare_conventions takes one run; compare several one at a time.")
    read = read_judgements(judgements), read_run(run)
    return compare_tables(*read, measures, depth=depth, duplicates=duplicates)


def compare_tables(
    judgements: Judgements | Lookup,
    run: Run | Lookup,
    measures: Measures | None = None,
    *,
    depth: int | None = None,
    duplicates: str = "error",
) -> ConventionComparison:
    """As `compare_conventions`, with judgements and a run that were read already."""
    wanted = parse_all(DEFAULT if measures is None else measures)
    rows = Rows(judgements, run, depth=depth, duplicates=duplicates)
    return ConventionComparison(
        run.name, tuple(compare(rows, measure, family(measure)) for measure in wanted)
    )
