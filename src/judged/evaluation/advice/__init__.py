"""Which measures these data can bear: what is saturated, capped, unjudged or noisy, what separates
the systems, where K should lie, and what to report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from judged.options import (
    LEVEL,
    JudgementsLike,
    MeasuresLike,
    RunsLike,
    Scoring,
    checked,
    later,
    takes_scoring,
)

if TYPE_CHECKING:
    from judged.evaluation.advice.result import Advice
    from judged.evaluation.evaluation import Evaluation
else:  # loaded by `typing.get_type_hints` only
    Advice = later("judged:Advice")
    Evaluation = later("judged:Evaluation")

__all__ = ["advise"]


@takes_scoring
@checked
def advise(
    judgements: JudgementsLike | Evaluation,
    runs: RunsLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    level: float = LEVEL,
    **scoring: Unpack[Scoring],
) -> Advice:
    """Recommend the measures and cutoffs that these data can support.

    Parameters
    ----------
    judgements : JudgementsLike or Evaluation
        A file, a dict {query: {item: grade}}, or a table; or an evaluation, whose runs are used.
    runs : RunsLike, optional
        The systems, as `judged.evaluate` takes them. With two or more, measures are also tested
        for how well they separate the systems.
    measures : MeasuresLike, optional
        The measures to examine; by default the usual ones at the usual cutoffs.
    level : float, optional
        The confidence level of intervals and tests.
    **scoring

    Returns
    -------
    Advice
        A row for each measure with the numbers behind it, and sentences.

    Examples
    --------
    >>> import judged
    >>> judgements = {f"q{n}": {"a": 1} for n in range(20)}
    >>> run = {f"q{n}": ["a", "b"] if n else ["b", "a"] for n in range(20)}
    >>> [row] = judged.advise(judgements, run, "Success@1").rows
    >>> row.at_best, row.findings
    (0.95, ('saturated',))
    """
    from judged.evaluation.advice.numbers import advice_of, wanted
    from judged.evaluation.evaluate import evaluate
    from judged.evaluation.evaluation import Evaluation, evaluate_rankings

    asked = wanted(measures)
    if isinstance(judgements, Evaluation):
        rankings = [run.rankings for run in judgements.runs]
        evaluation = evaluate_rankings(rankings, asked.computed, policy=judgements.policy)
    else:
        evaluation = evaluate(judgements, runs, asked.computed, **scoring)
    return advice_of(evaluation, asked, level)
