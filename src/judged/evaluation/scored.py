"""One run's values, and what they are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats, Ints
from judged.errors import InputError
from judged.evaluation.ranges import TIE_ORDERS, TRUSTED, UNJUDGED_ENDS
from judged.measures import Measure
from judged.statistics.aggregates import relative
from judged.statistics.samples import Means, Median, Sample
from judged.text import plain

if TYPE_CHECKING:
    from judged.evaluation.about import About
    from judged.evaluation.trusted import Correction
    from judged.evaluation.unanswerable import Unanswerable
    from judged.measures.spec import Mask
    from judged.rankings.audit import Audit
    from judged.rankings.weights import Weights
    from judged.statistics.intervals import Interval


@dataclass(frozen=True, eq=False)
class Scored:
    """One run's values: for each measure one number per query, and the summary.

    >>> from judged import evaluate
    >>> run = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").scored()
    >>> run.name, list(run.summary.values())
    ('run', [0.5])
    """

    about: About
    """Its queries, and what is known of their lists and judgements."""
    values: dict[Measure, Floats]
    """One number per query; NaN for a query that does not count."""
    summary: dict[Measure, float]
    """The mean over the queries that count, or what else the measure says; where there are trusted
    judgements, corrected by them."""
    samples: dict[Measure, Sample] = field(default_factory=dict)
    """What the summary is made of, for measures where that is not the values."""
    nothing: dict[Measure, Mask] = field(default_factory=dict)
    """Queries in which nothing is relevant to the measure."""
    errors: dict[Measure, Floats] = field(default_factory=dict)
    """Standard errors of the values, for measures whose expected value was estimated from random
    orders of ties."""
    summary_errors: dict[Measure, float] = field(default_factory=dict)
    """The same of the summaries."""
    unsure: dict[Measure, int] = field(default_factory=dict)
    """Measures whose values here, the worst or best over orders of ties, are of some orders only:
    others may go further. And in how many queries."""
    intervals: dict[Measure, Interval] = field(default_factory=dict)
    """The intervals of the summaries, where they were asked for."""
    others: dict[str, Scored] = field(default_factory=dict)
    """The same run under other assumptions, by their names: worst, expected, best; unjudged
    irrelevant, unjudged relevant; trusted, by the trusted judgements alone."""
    corrections: dict[Measure, Correction] = field(default_factory=dict)
    """How the summaries were corrected, where there are trusted judgements."""
    unanswerable: Unanswerable | None = None
    """What the run does with queries that have nothing relevant, where these are looked at apart.
    """
    labels: Mapping[Measure, str] = field(default_factory=dict)
    """What the measures are called, where that is not our notation."""

    @property
    def name(self) -> str:
        """The run's name."""
        return self.about.name

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries' ids, in the order of the values."""
        return self.about.queries

    @property
    def query_count(self) -> int:
        """How many queries there are, also where their values were not kept."""
        return len(self.about) or self.audit.judged_queries

    @property
    def audit(self) -> Audit:
        """What was found in the run's data."""
        return self.about.audit

    def label(self, measure: Measure) -> str:
        """What a measure is called in tables and files: as it was asked for.

        Parameters
        ----------
        measure : Measure
            One that was computed.

        Returns
        -------
        str

        >>> from judged import AP, evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "MAP").scored().label(AP)
        'MAP'
        """
        return self.labels.get(measure, str(measure))

    def sample(self, measure: Measure) -> Sample:
        """What a measure's summary is made of: one row per query that counts, in the order of the
        queries.

        Parameters
        ----------
        measure : Measure
            One that was computed.

        Returns
        -------
        Sample

        >>> from judged import RR, evaluate
        >>> run = {"q1": ["b", "a"], "q2": ["c"]}
        >>> scored = evaluate({"q1": {"a": 1}, "q2": {"c": 1}}, run, "RR").scored()
        >>> scored.sample(RR).columns.tolist()
        [[0.5], [1.0]]
        """
        self.refuse_unkept()
        if measure in self.samples:
            return self.samples[measure]
        counted = ~np.isnan(self.values[measure])
        values, weights = self.values[measure][counted], relative(self.about.weights_of(counted))
        aggregate = measure.params["aggregate"]
        if aggregate == "median":
            return Median.of_values(values, weights)
        return Means.of_values(values, aggregate, weights)

    @cached_property
    def in_order(self) -> Ints:
        """The queries as numbers among all of them, in the order of their ids."""
        queries = self.about.queries
        return np.array(sorted(range(len(queries)), key=queries.__getitem__), np.int64)

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold.

        Parameters
        ----------
        per_query : bool, optional
            Whether the values of every query are there too.

        Returns
        -------
        dict

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").scored().to_dict()["scores"]
        {'RR': 0.5}
        """
        entry = {"name": self.name, **self._numbers(per_query=per_query)}
        if self.intervals:
            entry["intervals"] = {self.label(m): at.to_dict() for m, at in self.intervals.items()}
        if self.corrections:
            entry["trusted"] = {self.label(m): at.to_dict() for m, at in self.corrections.items()}
            if per_query:
                entry["cheap_per_query"] = entry.pop("per_query")
                entry["trusted_per_query"] = self._by_query(self.others[TRUSTED].values)
        for range_, names in {"tie_range": TIE_ORDERS, "unjudged_range": UNJUDGED_ENDS}.items():
            if set(names) <= set(self.others):
                entry[range_] = {
                    name.removeprefix("unjudged "): self.others[name]._numbers(per_query=per_query)
                    for name in names
                }
        for name in set(TIE_ORDERS) & set(self.others):
            if unsure := self.others[name].unsure:
                entry["tie_range"]["at_least"] = {
                    self.label(m): count for m, count in unsure.items()
                }
        if self.about.weights is not None:
            entry["weights"] = self._weights(self.about.weights, per_query=per_query)
        if self.unanswerable is not None:
            entry["unanswerable"] = self.unanswerable.to_dict(per_query=per_query)
        if self.about.basis:
            entry["basis"] = list(self.about.basis)
        return {**entry, "audit": self.audit.to_dict()}

    def _numbers(self, *, per_query: bool) -> dict[str, Any]:
        """The scores, those of the queries, and the standard errors of what is an estimate."""
        entry: dict[str, Any] = {
            "scores": {self.label(m): plain(at) for m, at in self.summary.items()}
        }
        if self.errors:
            entry["standard_errors"] = {
                self.label(m): plain(self.summary_errors.get(m)) for m in self.errors
            }
        if per_query:
            entry["per_query"] = self._by_query(self.values)
            if self.errors:
                entry["standard_errors_per_query"] = self._by_query(self.errors)
        return entry

    def _weights(self, weights: Weights, *, per_query: bool) -> dict[str, Any]:
        """Where the weights come from, what they are worth, and those of the queries."""
        from judged.evaluation.weighting import effective_queries

        found = {self.label(m): effective_queries(self, m) for m in self.values}
        entry: dict[str, Any] = {"source": weights.source, "effective_queries": found}
        if per_query:
            queries = self.about.queries
            entry["per_query"] = dict(zip(queries, weights.values.tolist(), strict=True))
        return entry

    def refuse_unkept(self) -> None:
        """An error where the values of queries were not kept."""
        if not len(self.about) and self.audit.judged_queries:
            raise InputError(
                f"{self.name} was evaluated with per_query=False: the values of its queries were "
                "not kept, only summaries."
            )

    def _by_query(self, values: dict[Measure, Floats]) -> dict[str, dict[str, Any]]:
        self.refuse_unkept()
        names = list(map(self.label, values))
        columns = [column.tolist() for column in values.values()]
        return {
            query: dict(zip(names, map(plain, row), strict=True))
            for query, *row in zip(self.about.queries, *columns, strict=True)
        }
