"""Comparison: pairs of runs with their verdicts, and what was done to reach them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from judged.comparison.exports.exports import Exports
from judged.comparison.leaderboard import Place, leaderboard
from judged.comparison.numbers import Compared, Numbers
from judged.comparison.pair import Pair
from judged.comparison.repeats import Noise, noises
from judged.comparison.settings import Settings
from judged.comparison.slices.slices import Slices
from judged.errors import InputError, MeasureError, did_you_mean, quoted
from judged.statistics.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judged.comparison.orders import Orders
    from judged.evaluation.evaluation import Evaluation
    from judged.web.report.report import Report


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Exports):
    """What `compare` returns: every pair of runs on every measure, with its verdict.

    >>> from judged import compare_values
    >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
    >>> found.pair().verdict
    'identical'
    """

    numbers: Numbers
    """The per-query numbers of all runs, aligned by query id."""
    settings: Settings
    """How the runs were compared."""
    rows: tuple[Pair, ...]
    """One row per measure and pair of runs."""
    baseline: str | None = None
    """The run that all others were compared with, where one was named."""
    evaluation: Evaluation | None = None
    """Where the numbers come from, if judged computed them."""
    notes: tuple[str, ...] = ()
    """What was noticed on the way."""
    slices: Slices = field(default_factory=Slices)
    """The same in each slice of the queries, where some were asked for."""
    corrected_among: tuple[str, ...] = ()
    """The runs whose comparisons p values are corrected for, if they are more than `runs`."""

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs."""
        return self.numbers.runs

    @property
    def measures(self) -> tuple[str, ...]:
        """What the measures are called."""
        return tuple(each.name for each in self.numbers.measures)

    def measure(self, measure: object = None) -> Compared:
        """One of the measures that runs are compared on.

        Parameters
        ----------
        measure : str or Measure, optional
            The measure, by any of its names; needed only where there are several.

        Returns
        -------
        Compared

        >>> from judged import compare_values
        >>> compare_values({"a": {"1": 0.5}, "b": {"1": 0.25}}).measure().name
        'value'
        """
        known = {each.name: each for each in self.numbers.measures}
        if measure is None:
            if len(known) > 1:
                raise MeasureError(f"say which measure: {', '.join(known)}.")
            return self.numbers.measures[0]
        if isinstance(measure, str) and measure in known:
            return known[measure]
        if self.evaluation is not None:
            return known[self.evaluation.label(self.evaluation.measure(measure))]  # type: ignore[arg-type]
        hint = did_you_mean(str(measure), list(known))
        raise MeasureError(f"there is no measure {quoted(measure)} in this comparison{hint}")

    def pair(
        self, run: str | None = None, against: str | None = None, measure: object = None
    ) -> Pair:
        """One row.

        Parameters
        ----------
        run : str, optional
            The run that is compared; needed only where there are several pairs.
        against : str, optional
            The run that it is compared with.
        measure : str or Measure, optional
            One of the comparison's measures; needed only where there are several.

        Returns
        -------
        Pair

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
        >>> found.pair("b", "a").difference
        0.0
        """
        for given in (run, against):
            is_text = isinstance(given, str)
            if given is not None and not (is_text and given in self.runs):
                as_measure = is_text and given in self.measures
                hint = f"; give a measure as measure={given!r}" if as_measure else ""
                raise InputError(
                    f"there is no run {quoted(given)}{hint}; the runs are {', '.join(self.runs)}."
                )
        name = self.measure(measure).name
        rows = [
            row
            for row in self.rows
            if row.measure == name and run in (None, row.run) and against in (None, row.against)
        ]
        if len(rows) != 1:
            known = (row for row in self.rows if row.measure == name)
            there = ", ".join(f"{row.run} against {row.against}" for row in known)
            what = "say which pair" if rows else "there is no such pair"
            raise InputError(f"{what}: there is {there}.")
        return rows[0]

    def among(self, *runs: str) -> Comparison:
        """Keep the pairs of some runs, with the verdicts that they have among all runs.

        Parameters
        ----------
        *runs : str
            Two runs or more. A named baseline must be one of them.

        Returns
        -------
        Comparison
            Its p values stay corrected for the comparisons of all runs.

        >>> from judged import compare_values
        >>> values = {"a": {"1": 0.5}, "b": {"1": 0.2}, "c": {"1": 0.1}}
        >>> [(row.run, row.against) for row in compare_values(values).among("a", "c").rows]
        [('c', 'a')]
        """
        kept = tuple(run for run in self.runs if run in runs)
        for run in runs:
            self._run(run)
        if len(kept) < 2 or self.baseline not in (None, *kept):
            needed = "two runs or more" if len(kept) < 2 else f"the baseline {self.baseline}"
            raise InputError(f"among needs {needed}; got {', '.join(runs) or 'none'}.")
        numbers = replace(
            self.numbers,
            runs=kept,
            entries={key: entry for key, entry in self.numbers.entries.items() if key[1] in kept},
            repeated={run: own for run, own in self.numbers.repeated.items() if run in kept},
        )
        return replace(
            self,
            numbers=numbers,
            rows=tuple(row for row in self.rows if {row.run, row.against} <= set(kept)),
            slices=Slices(),
            corrected_among=self.corrected_among or self.runs,
        )

    def value(self, measure: object = None, run: str | None = None) -> float:
        """A run's number on all its queries, as `evaluate` has it.

        Parameters
        ----------
        measure : str or Measure, optional
            One of the comparison's measures; needed only where there are several.
        run : str, optional
            The name of a run.

        Returns
        -------
        float

        >>> from judged import compare_values
        >>> compare_values({"a": {"1": 0.5}, "b": {"1": 0.25}}).value(run="b")
        0.25
        """
        return self._values(self.measure(measure))[self._run(run)]

    def interval(self, measure: object = None, run: str | None = None) -> Interval:
        """A run's number with its own interval, which says nothing of differences.

        Parameters
        ----------
        measure : str or Measure, optional
            One of the comparison's measures; needed only where there are several.
        run : str, optional
            The name of a run.

        Returns
        -------
        Interval

        >>> from judged import compare_values
        >>> compare_values({"a": {"1": 0.5, "2": 0.4}, "b": {"1": 0.25, "2": 0}}).interval(run="a")
        Interval(estimate=0.45, low=-0.18..., high=1.08..., method='t', note='')
        """
        return self._intervals[self.measure(measure).name, self._run(run)]

    def _run(self, run: str | None) -> str:
        if run not in self.runs:
            raise InputError(f"there is no run {quoted(run)}; there is {', '.join(self.runs)}.")
        return str(run)

    def _values(self, measure: Compared) -> dict[str, float]:
        """Each run's number on a measure."""
        known = {run: self.numbers.entry(measure, run).number for run in self.runs}
        if self.evaluation is not None and measure.measure is not None:
            for run in self.evaluation.runs:
                if run.name in known:
                    known[run.name] = run.summary[measure.measure]
        return known

    @cached_property
    def _intervals(self) -> dict[tuple[str, str], Interval]:
        from judged.comparison.intervals import own_interval

        return {
            (measure.name, run): own_interval(self.numbers, measure, run, self.settings)
            for measure in self.numbers.measures
            for run in self.runs
        }

    @cached_property
    def _every_pair(self) -> tuple[Pair, ...]:
        """The rows of all pairs, also if the runs were compared with a baseline: which run is best
        is seen in the data, so all others are tested against it as all pairs are."""
        if len(self.rows) == math.comb(len(self.runs), 2) * len(self.measures):
            return self.rows
        from judged.comparison.decisions import decided

        return decided(self.numbers, self.settings)

    @cached_property
    def noise(self) -> tuple[Noise, ...]:
        """How far each run that was repeated moves from repeat to repeat, measure by measure."""
        return noises(self.numbers)

    def leaderboard(self, measure: object = None) -> tuple[Place, ...]:
        """The runs by a measure, best first, each with the ranks that the comparisons leave open.

        Parameters
        ----------
        measure : str or Measure, optional
            One of the comparison's measures; needed only where there are several.

        Returns
        -------
        tuple of Place

        >>> from judged import compare_values
        >>> found = compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}})
        >>> found.leaderboard()[0]
        Place(run='a', value=0.375, rank_low=1, rank_high=2)
        """
        known = self.measure(measure)
        return leaderboard(known, self._values(known), self.rows)

    def orders(self, *, beside: Mapping[str, Comparison] | None = None) -> Orders:
        """Whether every two measures put the runs in the same order, and which runs swap.

        Parameters
        ----------
        beside : dict of Comparison, optional
            Comparisons of the same runs whose measures stand beside these, as {name: comparison}:
            the same measure under another convention, policy or judgements. The name follows those
            of its measures.

        Returns
        -------
        Orders
            Measures of which lower is better are turned. Fewer than three runs are refused.

        >>> from judged import compare_values
        >>> values = {"a": [3, 1], "b": [2, 2], "c": [1, 3]}
        >>> found = compare_values(
        ...     {run: {"AP": {"q": x / 4}, "RR": {"q": y / 4}} for run, (x, y) in values.items()}
        ... )
        >>> found.orders().sentences()[0]
        'AP and RR swap 3 of 3 pairs of runs (no verdict tells them apart on either measure, so \
it may be chance).'
        """
        from judged.comparison.orders import orders_of

        return orders_of(self, beside)

    def report(self, *, measure: object = None, **options: Any) -> Report:
        """Everything about these runs in one HTML file, compared as they are here.

        Parameters
        ----------
        measure : str or Measure, optional
            What the runs are ranked by; by default the first measure.
        **options : Any
            `title`, `date`, `texts`, `queries`, `pictures` and `max_size`, as
            `judged.make_report` has them.

        Returns
        -------
        Report

        >>> from judged import compare
        >>> judgements = {str(q): {"a": 1} for q in range(8)}
        >>> runs = {"up": {str(q): ["a"] for q in range(8)}, "down": {"0": ["b", "a"]}}
        >>> found = compare(judgements, runs, "RR", policy={"missing": "zero"})
        >>> found.report().sentences()[0]
        'up leads on RR'
        """
        from judged.web.report import report_of

        return report_of(self, measure=measure, **options)
