"""Abstention: from which best score on a run should answer, so that few answers are wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from judged import __version__
from judged.arrays import Floats, Ints
from judged.errors import InputError, MeasureError, quoted
from judged.evaluation.scores import score_run
from judged.evaluation.settings import EvaluationSettings
from judged.options import real
from judged.rankings.rankings import Rankings
from judged.results import Display, Document, Frame, Result, Table
from judged.statistics.intervals import Interval, auroc, clopper_pearson
from judged.text import counted, percent, plain, shown

if TYPE_CHECKING:
    from judged.measures import Measure

RIGHT = "Success@1"
"""An answer is right if the first result is relevant, unless another measure is named."""
COVERAGES = 10
"""Thresholds that compete to be chosen: those that answer 10 %, 20 %, … of the queries. They depend
on scores alone, and the bounds are corrected for their number."""
COLUMNS = ("threshold", "answered", "coverage", "wrong", "risk", "upper bound")


@dataclass(frozen=True)
class Answers:
    """The best score of each query that has results, and whether the answer is wrong."""

    scores: Floats  # greatest first
    wrong: np.ndarray[Any, np.dtype[np.bool_]]
    queries: int  # with those that have no results, which are never answered

    @classmethod
    def of(cls, r: Rankings, measure: str | Measure = RIGHT) -> Answers:
        """Judge the answer to each query by a measure that is 0 or 1."""
        best = None if r.best_score is None else np.asarray(r.best_score, np.float64)
        if best is None:
            raise InputError(
                f"{r.name}: abstention compares the best scores of queries, and this run has no "
                "scores. Give a run with scores."
            )
        if r.weights is not None:
            raise InputError("the bounds of abstention count queries alike; leave out weights.")
        # Queries without relevant items stay in: every answer to them is wrong.
        policy = {"empty": "zero", "missing": "zero"}
        settings = EvaluationSettings.of_rankings([r], [measure], policy)
        [values] = score_run(r, settings).values.values()
        right = np.nan_to_num(np.asarray(values))
        if not np.isin(right, (0, 1)).all():
            raise MeasureError(
                f"{settings.measures[0]} is not 0 or 1 for each query, so it does not decide "
                "whether an answer is right; use a measure such as Success@1 or Success@5."
            )
        scored = np.flatnonzero(~np.isnan(best))
        order = scored[np.argsort(-best[scored], kind="stable")]
        return cls(best[order], right[order] == 0, len(r))

    def count_from(self, thresholds: Floats) -> tuple[Ints, Ints]:
        """Count answers, and wrong ones, if queries from each threshold on are answered."""
        answered = np.searchsorted(-self.scores, -thresholds, "right")
        return answered, np.concatenate([[0], np.cumsum(self.wrong)])[answered]

    def curve(self) -> tuple[Floats, Floats, Floats]:
        """Return every threshold, greatest first, with its coverage and its risk."""
        thresholds = np.unique(self.scores)[::-1]
        answered, wrong = self.count_from(thresholds)
        return thresholds, answered / self.queries, wrong / answered


@dataclass(frozen=True, eq=False, repr=False)
class Abstention(Result):
    """A threshold of the best score, the share of wrong answers from it on, and its bound.

    >>> import judged
    >>> judgements = {str(q): {"a": 1} for q in range(200)}
    >>> run = {str(q): {"a" if q < 150 else "b": 1 - q / 200} for q in range(200)}
    >>> found = judged.evaluate(judgements, run, "RR").abstention(risk=0.1)
    >>> found.threshold, found.coverage, found.auroc.estimate
    (0.305..., 0.7, 1.0)
    """

    run: str
    """The run that answers."""
    measure: str
    """The measure that is 1 where an answer is right."""
    queries: int
    """The number of queries."""
    risk: float
    """The largest share of wrong answers that is wanted."""
    level: float
    """The confidence level of the guarantee."""
    threshold: float | None
    """The least best score to answer from; None if no threshold is guaranteed."""
    given: bool
    """True if the caller named the threshold, False if it was chosen from the data."""
    rows: tuple[tuple[float, ...], ...] = field(default=())
    """For each threshold: answers, coverage, wrong answers, their share, and its upper bound."""
    auroc: Interval | None = None
    """The chance that a right answer has a greater best score than a wrong one; None if all answers
    are right, or all are wrong."""

    @property
    def _row(self) -> tuple[float, ...] | None:
        return next((row for row in self.rows if row[0] == self.threshold), None)

    @property
    def coverage(self) -> float:
        """The share of queries that are answered; 0 without a threshold."""
        return self._row[2] if self._row else 0.0

    @property
    def passed(self) -> bool:
        """True if at most the wanted share of answers is wrong, at the confidence level."""
        return self._row is not None and self._row[5] <= self.risk

    def says(self) -> str:
        """Return the result in one sentence."""
        row = self._row
        target, level = (f"{100 * share:.6g}" for share in (self.risk, self.level))
        if row is None:
            return (
                f"NO THRESHOLD: none guarantees that at most {target} % of the answers of "
                f"{self.run} are wrong, at {level} % confidence, with "
                f"{counted(self.queries, 'query', 'queries')}. More judged queries help, or a "
                "larger allowed share."
            )
        share, bound = percent(row[4], 1), percent(row[5], 1)
        if self.given:
            verdict = "PASSED" if self.passed else "FAILED"
            return (
                f"{verdict}: from a best score of {row[0]} on, {self.run} answers "
                f"{percent(row[2], 1)} % of the queries, and {share} % of these answers are wrong "
                f"(at most {bound} % at {level} % confidence; allowed: {target} %)."
            )
        return (
            f"Answer from a best score of {row[0]} on: {self.run} then answers "
            f"{percent(row[2], 1)} % of the queries, and at most {target} % of these answers are "
            f"wrong, at {level} % confidence (observed: {share} %)."
        )

    def to_dict(self) -> dict[str, Any]:
        row = self._row
        return {
            **{name: getattr(self, name) for name in ("run", "measure", "queries", "risk")},
            "level": self.level,
            "threshold": plain(self.threshold),
            "given": self.given,
            "passed": self.passed,
            "coverage": self.coverage,
            "observed_risk": None if row is None else plain(row[4]),
            "upper_bound": None if row is None else plain(row[5]),
            "auroc": None if self.auroc is None else self.auroc.to_dict(),
            "thresholds": [dict(zip(_NAMES, map(plain, row), strict=True)) for row in self.rows],
            "says": self.says(),
            "judged": __version__,
        }

    def to_frame(self) -> Frame:
        """Return a table with a row per threshold."""
        import polars as pl

        return pl.DataFrame(self.rows, dict.fromkeys(_NAMES, pl.Float64), orient="row")

    def document(self, display: Display) -> Document:
        rows = [
            [f"{row[0]}", f"{row[1]:.0f}", shown(row[2]), f"{row[3]:.0f}", *map(shown, row[4:])]
            for row in self.rows
        ]
        area = self.auroc
        apart = (
            "All answers are right, or all are wrong, so there is no AUROC."
            if area is None
            else f"AUROC: {shown(area.estimate)} ({100 * self.level:g} % CI {shown(area.low)} … "
            f"{shown(area.high)}), the chance that a right answer has a greater best score than a "
            "wrong one."
        )
        bound = "exact binomial bound (Clopper and Pearson)"
        corrected = "" if self.given else f", corrected for {len(self.rows)} thresholds"
        return Document(
            answer=[self.says()],
            tables=[Table(COLUMNS, rows)],
            notes=[apart],
            details=[
                f"An answer is right if {self.measure} is 1. Queries without relevant items count: "
                "every answer to them is wrong. Queries without results are never answered.",
                f"Upper bound: {bound}{corrected}. The guarantee holds for queries drawn as these "
                "were.",
            ],
        )


_NAMES = ("threshold", "answered", "coverage", "wrong", "risk", "upper_bound")


def abstain(
    r: Rankings, measure: str | Measure, *, risk: float, threshold: float | None, level: float
) -> Abstention:
    """Find the least threshold from which on few answers of a run are wrong, or test one."""
    if real(risk) is None or not 0 < risk < 1:
        raise InputError(
            f"risk is a share of answers between 0 and 1, such as 0.1; got {quoted(risk)}."
        )
    answers = Answers.of(r, measure)
    if not len(answers.scores):
        raise InputError(f"{r.name} has no results for any query, so there is nothing to answer.")
    if threshold is None:
        size = len(answers.scores)
        places = np.ceil(size * np.arange(1, COVERAGES + 1) / COVERAGES).astype(int) - 1
        thresholds = np.unique(answers.scores[places])[::-1]
    else:
        thresholds = np.array([threshold], np.float64)
        if not np.isfinite(thresholds[0]):
            raise InputError(f"threshold is a score, a finite number; got {threshold}.")
    answered, wrong = answers.count_from(thresholds)
    # Bonferroni: a bound for each threshold that could have been chosen.
    each = 1 - (1 - level) / len(thresholds)
    some = answered > 0
    bounds = np.where(
        some, clopper_pearson(wrong, np.maximum(answered, 1), each, one_sided=True)[1], 1.0
    )
    share = np.where(some, wrong / np.maximum(answered, 1), math.nan)
    columns = (thresholds, answered, answered / answers.queries, wrong, share, bounds)
    rows = tuple(tuple(map(float, row)) for row in zip(*columns, strict=True))
    held = [row[0] for row in rows if row[5] <= risk]
    area = None
    if answers.wrong.any() and not answers.wrong.all():
        area = auroc(answers.scores[~answers.wrong], answers.scores[answers.wrong], level=level)
    chosen = threshold if threshold is not None else min(held, default=None)
    return Abstention(
        run=r.name,
        measure=str(measure),
        queries=answers.queries,
        risk=float(risk),
        level=level,
        threshold=None if chosen is None else float(chosen),
        given=threshold is not None,
        rows=rows,
        auroc=area,
    )
