"""How sure the numbers of an evaluation are: their intervals, what ties and unjudged results could
do to them, and the queries that are in none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from judged.errors import InputError, PolicyError
from judged.evaluation.exports import Exports
from judged.evaluation.intervals import Groups, group_of_each, interval_of
from judged.evaluation.ranges import TieRange, UnjudgedRange
from judged.evaluation.scores import (
    TIE_ORDERS,
    TRUSTED,
    UNJUDGED_ENDS,
    score_ties,
    score_unjudged,
)
from judged.evaluation.unanswerable import (
    Unanswerable,
    inspect_unanswerable,
    unanswerable_queries,
)
from judged.measures import Measure
from judged.options import LEVEL, RESAMPLES, checked_methods, choice

if TYPE_CHECKING:
    import polars as pl

    from judged.evaluation.scores import Scored
    from judged.evaluation.settings import EvaluationSettings
    from judged.evaluation.trusted import Correction
    from judged.options import GroupsLike
    from judged.statistics.intervals import Interval


@checked_methods
class Uncertain(Exports):
    """What an evaluation knows beside each number; `Evaluation` holds what is in it."""

    if TYPE_CHECKING:

        def measure(self, measure: str | Measure | None = None) -> Measure: ...
        def scored(self, run: str | None = None) -> Scored: ...
        @property
        def settings(self) -> EvaluationSettings: ...

    def interval(
        self,
        measure: str | Measure | None = None,
        run: str | None = None,
        *,
        level: float | None = None,
        method: str | None = None,
        groups: GroupsLike | None = None,
        resamples: int = RESAMPLES,
        seed: int = 0,
    ) -> Interval:
        """A number with the bounds that would hold the true one in so many of all samples of
        queries.

        Parameters
        ----------
        measure : str or Measure, optional
            One of this evaluation's measures; needed only where there are several.
        run : str, optional
            The name of a run; needed only where there are several.
        level : float, optional
            In how many samples the bounds hold the true number; by default that of the evaluation,
            which is 0.95 unless said.
        method : {"t", "bca", "percentile"}, optional
            How the bounds are found; one that does not fit the summary is refused. By default
            what suits it: Student's t for means and sums, Wilson's for shares of queries, order
            statistics for medians, and a bootstrap for anything else.
        groups : GroupsLike, optional
            Which queries belong together: {query: group}, a table or a file; by default those of
            the evaluation.
        resamples : int, optional
            How many resamples a bootstrap takes.
        seed : int, optional
            Where a bootstrap's random numbers start.

        Returns
        -------
        Interval
            Its bounds are NaN where there is none; its note then says why.

        >>> from judged import Rankings
        >>> found = Rankings.from_relevance([[1], [0, 1]] * 6).evaluate("RR")
        >>> interval = found.interval()
        >>> round(interval.low, 4), round(interval.high, 4), interval.method
        (0.5841, 0.9159, 't')
        """
        scored = self.scored(run)
        known = None if groups is None else group_of_each(groups, [scored])
        return self._interval(scored, self.measure(measure), level, method, known, resamples, seed)

    def intervals(
        self,
        *,
        level: float | None = None,
        method: str | None = None,
        groups: GroupsLike | None = None,
        resamples: int = RESAMPLES,
        seed: int = 0,
    ) -> pl.DataFrame:
        """The interval of every number, one row per run and measure.

        Parameters
        ----------
        level, method, groups, resamples, seed
            As for `interval`.

        Returns
        -------
        polars.DataFrame
            With the columns run, measure, estimate, low, high, method, and note, which says why
            there is no interval where there is none.

        >>> from judged import Rankings
        >>> found = Rankings.from_relevance([[1], [0, 1]]).evaluate("P@1, Rank")
        >>> found.intervals()["method"].to_list()
        ['wilson', 't']
        """
        import polars as pl

        known = None if groups is None else group_of_each(groups, self.runs)
        rows = []
        for run in self.runs:
            for measure in self.measures:
                found = self._interval(run, measure, level, method, known, resamples, seed)
                row = run.name, self.label(measure), found.estimate, found.low, found.high
                rows.append((*row, found.method, found.note or None))
        numbers = dict.fromkeys(("estimate", "low", "high"), pl.Float64)
        words = dict.fromkeys(("method", "note"), pl.String)
        schema = {"run": pl.String, "measure": pl.String, **numbers, **words}
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        return frame.with_columns(pl.col(*numbers).fill_nan(None))

    def _interval(
        self,
        run: Scored,
        measure: Measure,
        level: float | None,
        method: str | None,
        groups: Groups | None,
        resamples: int,
        seed: int,
    ) -> Interval:
        """The interval that was computed already, or another."""
        if method is not None:
            from judged.statistics.intervals import METHODS

            choice("method", method, METHODS)
        usual = (level, method, resamples, seed) == (None, None, RESAMPLES, 0)
        if run.corrections and not (usual and groups is None):
            if (method, groups, resamples, seed) != (None, None, RESAMPLES, 0):
                raise InputError(
                    "the interval of a corrected number has no other method and no groups; leave "
                    "them out, or trusted."
                )
            from judged.evaluation.trusted import corrections

            return corrections(run, run.others[TRUSTED], level or LEVEL)[measure].corrected
        if usual and groups is None and measure in run.intervals:
            return run.intervals[measure]
        try:
            return interval_of(
                run,
                measure,
                level=level or self.level or LEVEL,
                method=method,
                groups=self.groups if groups is None else groups,
                resamples=resamples,
                seed=seed,
            )
        except InputError as error:
            raise InputError(f"{self.label(measure)}: {error}") from None

    def tie_range(self, measure: str | Measure | None = None, run: str | None = None) -> TieRange:
        """A number in the worst order of tied results, on average over all orders, and in the best.

        Each measure has its own worst and best order, in each query. Where a query has very many
        orders and nothing tells the best of them, the ends are those of the orders that were tried:
        a warning then names the measure.

        Parameters
        ----------
        measure : str or Measure, optional
            One of this evaluation's measures; needed only where there are several.
        run : str, optional
            The name of a run; needed only where there are several.

        Returns
        -------
        TieRange

        >>> from judged import evaluate
        >>> tied = {"q": {"a": 0.5, "b": 0.5}}
        >>> evaluate({"q": {"a": 1}}, tied, "RR").tie_range()
        TieRange(worst=0.5, expected=0.75, best=1.0)
        """
        return TieRange(*self._under_others(TIE_ORDERS, score_ties, measure, run))

    def unjudged_range(
        self, measure: str | Measure | None = None, run: str | None = None
    ) -> UnjudgedRange:
        """A number if all unjudged results had been judged: irrelevant, or of the top grade.

        Bounds for measures to which each result counts for itself, two scenarios for the others; a
        note names these.

        Parameters
        ----------
        measure : str or Measure, optional
            One of this evaluation's measures; needed only where there are several.
        run : str, optional
            The name of a run; needed only where there are several.

        Returns
        -------
        UnjudgedRange

        >>> from judged import evaluate
        >>> run = {"q": ["b", "a"]}
        >>> evaluate({"q": {"a": 1}}, run, "RR").unjudged_range()
        UnjudgedRange(irrelevant=0.5, relevant=1.0)
        """
        return UnjudgedRange(*self._under_others(UNJUDGED_ENDS, score_unjudged, measure, run))

    def correction(
        self, measure: str | Measure | None = None, run: str | None = None
    ) -> Correction:
        """How a number was corrected by trusted judgements, and what either judgements have alone.

        Parameters
        ----------
        measure : str or Measure, optional
            One of this evaluation's measures; needed only where there are several.
        run : str, optional
            The name of a run; needed only where there are several.

        Returns
        -------
        Correction

        >>> from judged import evaluate
        >>> cheap = {str(q): {"a": 1, "b": q % 2} for q in range(40)}
        >>> people = {str(q): {"a": 1, "b": q % 4 == 1} for q in range(20)}
        >>> lists = {str(q): ["b", "a"] for q in range(40)}
        >>> found = evaluate(cheap, lists, "P@2", trusted=people).correction()
        >>> found.cheap, found.trusted.estimate, round(found.corrected.estimate, 4), found.narrower
        (0.75, 0.625, 0.625, 'corrected')
        """
        known = self.scored(run).corrections
        if not known:
            raise PolicyError(
                "this evaluation was made without trusted judgements; evaluate again with trusted."
            )
        return known[self.measure(measure)]

    def unanswerable(
        self, threshold: float | None = None, *, run: str | None = None
    ) -> Unanswerable:
        """Return what a run does with the queries that have no relevant items.

        Parameters
        ----------
        threshold : float, optional
            The score from which on a result counts as an answer; by default every result does.
        run : str, optional
            The name of a run; needed only if there are several.

        Returns
        -------
        Unanswerable

        >>> from judged import evaluate
        >>> judgements = {"q1": {"a": 1}, "q2": {}}
        >>> evaluate(judgements, {"q1": ["a"], "q2": ["b"]}, "RR").unanswerable().answered
        1.0
        """
        scored = self.scored(run)
        if scored.unanswerable is not None:
            if threshold not in (None, scored.unanswerable.threshold):
                raise InputError(
                    "queries without relevant items are left out of this evaluation already; give "
                    "the threshold to showing()."
                )
            return scored.unanswerable
        r = scored.rankings
        nothing = unanswerable_queries(r, self.measures, self.convention)
        return inspect_unanswerable(
            r, nothing, threshold, skip_missing=self.policy.missing == "skip"
        )

    def _under_others(
        self,
        names: Iterable[str],
        score: Callable[[Scored, EvaluationSettings], dict[str, Scored]],
        measure: str | Measure | None,
        run: str | None,
    ) -> list[float]:
        scored = self.scored(run)
        if not set(names) <= set(scored.others):
            key = scored.name, score.__name__
            if key not in self._ranges:
                self._ranges[key] = score(scored, self.settings)
            others = self._ranges[key]
        else:
            others = scored.others
        return [others[name].summary[self.measure(measure)] for name in names]

    @cached_property
    def _ranges(self) -> dict[tuple[str, str], dict[str, Scored]]:
        return {}
