"""From p, interval and margin to one of six words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from judged.comparison.match import Match
from judged.comparison.outcomes import Outcome, too_few
from judged.comparison.settings import Settings
from judged.statistics.tested import below
from judged.text import Warned, listed

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation


def verdict(
    match: Match, outcome: Outcome, p: float, settings: Settings, *, inside: bool | None = None
) -> tuple[str, bool]:
    """The verdict at this p, corrected or not, and whether a difference that is shown is shown to
    be smaller than the margin; `inside` is whether it is, where the number of comparisons is taken
    into account."""
    if match.queries and not match.differs.any():
        return "identical", False
    if inside is None:
        margin = settings.margin_of(match.measure.name)
        inside = margin is not None and is_inside(match, outcome, margin, settings)
    if too_few(match, settings):
        return ("equivalent" if inside else "too few"), False
    if below(p, settings.level):
        return ("better" if leads(match, outcome) else "worse"), inside
    return ("equivalent" if inside else "no evidence"), False


def leads(match: Match, outcome: Outcome) -> bool:
    """Whether the run is the better one, by what is tested: by the queries, the ranks of their
    differences, or the interval; else by the numbers."""
    won, _, lost = match.record
    up = match.difference
    if outcome.test == "wilcoxon":
        from judged.statistics.ranks import leaning

        up = leaning(match.differences, match.rounding)
    elif outcome.low > 0 or outcome.high < 0:
        up = outcome.low + outcome.high
    if outcome.test == "sign" or up == 0:
        return won > lost
    return (up > 0) == match.measure.higher_is_better


def is_inside(match: Match, outcome: Outcome, margin: float, settings: Settings) -> bool:
    """Whether the difference is shown to be smaller than a margin, both ways.

    Where too few queries differ for an interval, the share of queries that may differ at most,
    times the width of the measure's range, has to be smaller; of queries that count alike.
    """
    if too_few(match, settings):
        from judged.statistics.shares import clopper_pearson

        aggregate = match.ours.sample.aggregate
        uneven = match.groups is not None or match.weights is not None or match.powered is not None
        if aggregate not in ("mean", "sum") or uneven or match.queries < 2:
            return False
        level = settings.tested_level
        share = clopper_pearson(match.differing, match.queries, level, one_sided=True)[1]
        return bool(share * match.width < margin)
    return is_smaller(-outcome.inner_low, margin) and is_smaller(outcome.inner_high, margin)


def is_smaller(size: float, margin: float) -> bool:
    """Return whether a size is below a margin, not only by rounding; NaN never is."""
    return size < margin and not math.isclose(size, margin, rel_tol=1e-9)


def about_descriptions(evaluation: Evaluation) -> list[str]:
    """A warning where measures only count or describe, so that no value is better than another."""
    names = [evaluation.label(m) for m in evaluation.measures if not m.spec.rates_relevance]
    if not names:
        return []
    verb = "counts or describes" if len(names) == 1 else "count or describe"
    return [
        Warned(
            f"{listed(names)} {verb} results, which is neither good nor bad: better stands for "
            "higher and worse for lower."
        )
    ]
