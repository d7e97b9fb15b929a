"""Summaries without the values of queries: of each block only exact sums are kept, which add up to
the very numbers that all values would give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from judged.errors import InputError, MeasureError
from judged.evaluation.about import About
from judged.evaluation.parts import gathered, part_of
from judged.evaluation.scored import Scored
from judged.rankings.findings import total
from judged.statistics.exact_sums import ExactSum
from judged.statistics.samples import Means

if TYPE_CHECKING:
    from judged.evaluation.parts import Asked, Part
    from judged.measures import Measure
    from judged.rankings.rankings import Rankings


@dataclass(frozen=True, eq=False)
class Total:
    """What the queries of a block give to one summary."""

    sample: Means
    """How columns become the number, without any rows."""
    sums: tuple[ExactSum, ...]
    """The sum of each column, and how many queries count."""
    errors: ExactSum | None = None
    """The squares of the values' standard errors, where they are estimates."""
    unsure: int = 0
    """In how many queries an order of ties may go further."""

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
        return Total(some.sample, sums, errors, self.unsure + other.unsure)

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
    """What a block gives to all summaries."""

    about: About
    """What is known of the block, without its queries."""
    usual: dict[Measure, Total] = field(default_factory=dict)
    others: dict[str, dict[Measure, Total]] = field(default_factory=dict)
    """The same under other assumptions, by their names."""


def refuse_needing_values(asked: Asked, **options: bool) -> None:
    """Refuse what cannot be had from sums: medians, weights, and policies that name queries."""
    for name, given in options.items():
        if given:
            raise InputError(f"{name} needs the values of queries; leave out per_query=False.")
    if asked.weights is not None:
        raise InputError("weights need the values of queries; leave out per_query=False.")
    for measure in asked.request.measures:
        if measure.params["aggregate"] == "median":
            raise MeasureError(
                f"{measure} is a median, which takes the values of all queries; leave out "
                "per_query=False, or ask for its mean."
            )
    policy = asked.request.policy
    for name in ("missing", "empty"):
        if getattr(policy, name) == "error":
            raise InputError(
                f"{name}=error names queries, and per_query=False brings none of them back; choose "
                "another policy, or leave out per_query=False."
            )


def totals_in(rankings: Rankings, asked: Asked) -> Totals:
    """The sums of a block of rankings."""
    return totals_of(part_of(rankings, asked), asked)


def totals_of(part: Part, asked: Asked) -> Totals:
    """The sums of a block.

    >>> from judged import judge
    >>> from judged.evaluation.parts import Asked, part_of
    >>> from judged.evaluation.request import Request
    >>> asked = Asked.of(Request.of("RR", None))
    >>> part = part_of(judge({"q": {"a": 1}}, {"q": ["b", "a"]}), asked)
    >>> summed([totals_of(part, asked)], asked).summary
    {RR: 0.5}
    """
    none = np.zeros(0, np.int64)
    about = replace(part.about.take(none), findings=part.about.findings)
    if not len(part.about):
        return Totals(about)
    if part.about.weights is not None:
        raise InputError("weights need the values of queries; leave out per_query=False.")
    scored = gathered([part], asked, part.about.queries)
    others = {name: _totals(each) for name, each in scored.others.items()}
    return Totals(about, _totals(scored), others)


def _totals(scored: Scored) -> dict[Measure, Total]:
    found = {}
    for measure in scored.values:
        sample = scored.sample(measure)
        if not isinstance(sample, Means):
            raise MeasureError(
                f"{measure} is a median, which takes the values of all queries; leave out "
                "per_query=False."
            )
        errors = None
        if (own := scored.errors.get(measure)) is not None:
            errors = ExactSum.of(own[~np.isnan(own)] ** 2)
        sums = tuple(ExactSum.of(column) for column in sample.columns.T)
        rule = replace(sample, columns=sample.columns[:0])
        found[measure] = Total(rule, sums, errors, scored.unsure.get(measure, 0))
    return found


def summed(parts: Iterable[Totals], asked: Asked, queries: Sequence[str] | None = None) -> Scored:
    """The summaries of a run from the sums of all its blocks; missing queries are named in the
    order of these queries, or by id."""
    every = list(parts)
    filled = [part for part in every if part.usual] or every[:1]
    about = About.concat([part.about for part in filled])
    findings = total(part.about.findings for part in every)
    order = sorted(findings.missing_queries) if queries is None else queries
    about = replace(about, findings=findings.in_order(order))
    names = filled[0].others
    others = {name: _scored([part.others[name] for part in filled], about) for name in names}
    usual = _scored([part.usual for part in filled], about)
    labels = asked.request.labels
    others = {name: replace(each, labels=labels) for name, each in others.items()}
    return replace(usual, others=others, labels=labels)


def _scored(parts: Sequence[dict[Measure, Total]], about: About) -> Scored:
    totals = parts[0]
    for part in parts[1:]:
        totals = {measure: each + part[measure] for measure, each in totals.items()}
    errors = {measure: each.error() for measure, each in totals.items()}
    nothing = np.zeros(0)
    return Scored(
        about,
        dict.fromkeys(totals, nothing),
        {measure: each.value() for measure, each in totals.items()},
        errors={measure: nothing for measure, each in totals.items() if each.errors is not None},
        summary_errors={measure: each for measure, each in errors.items() if each is not None},
        unsure={measure: each.unsure for measure, each in totals.items() if each.unsure},
        nothing=dict.fromkeys(totals, np.zeros(0, bool)),
    )
