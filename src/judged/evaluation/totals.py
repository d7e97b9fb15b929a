"""Summaries without the values of queries: of each block only exact sums are kept, which add up to
the very numbers that all values would give."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from judged.errors import InputError, MeasureError
from judged.evaluation.scores import Scored, score_run
from judged.rankings.findings import findings_of, total
from judged.rankings.rankings import Rankings
from judged.statistics.exact_sums import ExactSum
from judged.statistics.samples import Means

if TYPE_CHECKING:
    from judged.evaluation.settings import EvaluationSettings
    from judged.measures import Measure


@dataclass(frozen=True, eq=False)
class Total:
    """What the queries of a block give to one summary."""

    sample: Means
    """How columns become the number, without any rows."""
    sums: tuple[ExactSum, ...]
    """The sum of each column, and how many queries count."""
    errors: ExactSum | None = None
    """The squares of the values' standard errors, where they are estimates."""

    def __add__(self, other: Total) -> Total:
        errors = self.errors
        if errors is None or other.errors is None:
            errors = errors or other.errors
        else:
            errors = errors + other.errors
        some = self if self.count else other  # where no query counts, columns are of no meaning
        sums = some.sums
        if self.count and other.count:
            sums = tuple(one + two for one, two in zip(self.sums, other.sums, strict=True))
        return Total(some.sample, sums, errors)

    @property
    def count(self) -> int:
        """How many queries count."""
        return self.sums[0].count

    def value(self) -> float:
        """The number, as `Means.value` gives it of all rows."""
        sample = self.sample
        if not self.count:
            return float("nan")
        if sample.aggregate == "sum":
            return self.sums[0].value()
        which = ExactSum.value if sample.of_totals else ExactSum.mean
        return float(sample.function(np.array([which(each) for each in self.sums])))

    def error(self) -> float | None:
        """The standard error of the number, of a mean or a sum of estimates."""
        wanted = self.count and self.sample.aggregate in ("mean", "sum")
        if self.errors is None or not wanted:
            return None
        found = float(np.sqrt(self.errors.value()))
        return found if self.sample.aggregate == "sum" else found / self.count


@dataclass(frozen=True, eq=False)
class Totals:
    """The sums of a block for all measures."""

    rankings: Rankings
    """Rankings of no query, with what was found in the block."""
    sums: dict[Measure, Total] = field(default_factory=dict)


def refuse_needing_values(settings: EvaluationSettings) -> None:
    """Raise an error for what sums cannot give: medians, and policies that name queries."""
    for measure in settings.measures:
        if measure.params["aggregate"] == "median":
            raise MeasureError(
                f"{measure} is a median, which needs the values of all queries; ask for its mean, "
                "or use judged.evaluate."
            )
    for name in ("missing", "empty"):
        if getattr(settings.policy, name) == "error":
            raise InputError(
                f"{name}=error names queries, and a summary has none of them; choose another "
                "policy, or use judged.evaluate."
            )


def totals_of(rankings: Rankings, settings: EvaluationSettings) -> Totals:
    """Return the sums of a block of rankings.

    >>> from judged import Rankings
    >>> from judged.evaluation.settings import EvaluationSettings
    >>> settings = EvaluationSettings.of("RR", None)
    >>> r = Rankings.from_run({"q": {"a": 1}}, {"q": ["b", "a"]})
    >>> sum_up([totals_of(r, settings)], settings).summary
    {RR: 0.5}
    """
    if rankings.weights is not None:
        raise InputError("weights need the values of queries; use judged.evaluate.")
    scored = score_run(rankings, settings) if len(rankings) else None
    findings = findings_of(rankings if scored is None else scored.rankings)
    empty = replace(rankings.take([]), findings=findings)
    return Totals(empty, {} if scored is None else _totals(scored))


def _totals(scored: Scored) -> dict[Measure, Total]:
    totals = {}
    for measure in scored.values:
        sample = scored.sample(measure)
        assert isinstance(sample, Means)  # medians were refused
        errors = None
        if (estimated := scored.errors.get(measure)) is not None:
            errors = ExactSum.of(estimated[~np.isnan(estimated)] ** 2)
        sums = tuple(ExactSum.of(column) for column in sample.columns.T)
        rule = replace(sample, columns=sample.columns[:0])
        totals[measure] = Total(rule, sums, errors)
    return totals


def sum_up(blocks: Iterable[Totals], settings: EvaluationSettings) -> Scored:
    """Return the summaries of a run from the sums of all its blocks, without values of queries."""
    every = list(blocks)
    filled = [block for block in every if block.sums] or every[:1]
    findings = total(findings_of(block.rankings) for block in every)
    ordered = findings.in_order(sorted(findings.missing_queries))
    totals = filled[0].sums
    for block in filled[1:]:
        totals = {measure: each + block.sums[measure] for measure, each in totals.items()}
    errors = {measure: each.error() for measure, each in totals.items()}
    nothing = np.zeros(0)
    return Scored(
        replace(filled[0].rankings, findings=ordered),
        dict.fromkeys(totals, nothing),
        {measure: each.value() for measure, each in totals.items()},
        errors={measure: nothing for measure, each in totals.items() if each.errors is not None},
        summary_errors={measure: each for measure, each in errors.items() if each is not None},
        nothing=dict.fromkeys(totals, np.zeros(0, bool)),
        labels=settings.labels,
    )
