"""The leaderboard of report and explorer: systems by measures, with intervals and ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judged.errors import InputError, did_you_mean, quoted
from judged.evaluation.scores import TIE_ORDERS, UNJUDGED_ENDS, is_bounded
from judged.rankings.strips import mean_strip
from judged.text import listed
from judged.web.pages.pairs import leading

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.comparison.verdicts import Pair
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.scores import Scored
    from judged.measures import Measure
    from judged.statistics.intervals import Interval

FEW_JUDGED = 0.75  # a system with a smaller share of judged results is marked
Shares = Sequence[tuple[float, float, float, float]]
"""For each rank, the shares of queries with a relevant, irrelevant, unjudged and no result."""
STRIP_RANKS = 10
SYSTEM, JUDGED = "system", f"judged@{STRIP_RANKS}"
"""Columns besides the measures that a leaderboard can be sorted by."""


def board(
    evaluation: Evaluation,
    comparison: Comparison | None = None,
    *,
    before: Evaluation | None = None,
    ranges: Evaluation | None = None,
    refused: Sequence[str] = (),
    by: str | None = None,
    headline: str | None = None,
    ascending: bool | None = None,
    places: Mapping[str, int] | None = None,
    strips: Sequence[Shares] | None = None,
) -> dict[str, Any]:
    """Return the leaderboard of an evaluation: heading, columns and rows, sorted by a column.

    `headline` is the measure that ranks systems if the column is none, `before` the evaluation
    before the last change of settings, `places` those of the systems among the files.

    >>> from judged import evaluate
    >>> runs = {"one": {"q": ["b", "a"]}, "two": {"q": ["a"]}}
    >>> [row["name"] for row in board(evaluate({"q": {"a": 1}}, runs, "RR"))["rows"]]
    ['two', 'one']
    """
    order = _order(evaluation, by)
    ranked_by = order if order in evaluation.labels else headline or next(iter(evaluation.labels))
    leaderboard = [] if comparison is None else comparison.leaderboard(ranked_by)
    ranks = {place.run: f"{place.rank_low}" for place in leaderboard}
    ranks |= {p.run: f"{p.rank_low}–{p.rank_high}" for p in leaderboard if p.rank_low < p.rank_high}
    rows: list[dict[str, Any]] = []
    for at, run in enumerate(evaluation.runs):
        rows.append(
            {
                "name": run.name,
                "place": at if places is None else places[run.name],
                "ranks": ranks.get(run.name, ""),
                "cells": [
                    {
                        **value_cell(name, run.summary[measure], run.intervals.get(measure)),
                        **_moved(before, run, name, measure),
                        "against": _against_baseline(comparison, run.name, name),
                        "ranges": _ranges(ranges, run.name, name),
                    }
                    for name, measure in evaluation.labels.items()
                ],
                "strip": mean_strip(run.rankings, STRIP_RANKS) if strips is None else strips[at],
                "judged": run.audit.judged_at_10,
                "few": run.audit.judged_at_10 < FEW_JUDGED,
                "is_baseline": comparison is not None and comparison.baseline == run.name,
            }
        )
    if ascending is None:
        ascending = order == SYSTEM or not _higher_first(evaluation, order)
    rows = _sorted(rows, evaluation, order, ascending)
    if order == ranked_by and ascending != _higher_first(evaluation, order):
        # If values and ranks are of different queries, the ranks decide.
        position = {run: at for at, run in enumerate(ranks)}
        rows.sort(key=lambda row: position.get(row["name"], len(position)))
    cells = [cell for row in rows for cell in row["cells"]]
    return {
        "heading": leading(evaluation, comparison, ranked_by),
        "columns": [
            {
                "name": name,
                "title": measure.spec.title,
                "higher_is_better": measure.spec.higher_is_better,
                "scale": _scale([row["cells"][at] for row in rows]),
            }
            for at, (name, measure) in enumerate(evaluation.labels.items())
        ],
        "rows": rows,
        "by": ranked_by,
        "order": order,
        "descending": not ascending,
        "level": evaluation.level,
        "notes": [*refused, *_on_other_queries(comparison)],
        # Without an order of ties, strips show one of several orders.
        "unordered": evaluation.policy.ties == "expected",
        "moved": any(cell["before"] is not None for cell in cells),
        "ranged": any(cell["ranges"] for cell in cells),
    }


def value_cell(measure: str, value: float, interval: Interval | None) -> dict[str, Any]:
    """Return a value with its confidence interval; digits below half its width are faint."""
    low, high = (math.nan, math.nan) if interval is None else (interval.low, interval.high)
    half_width = (high - low) / 2
    return {
        "measure": measure,
        "value": value,
        "low": low,
        "high": high,
        "half_width": None if math.isnan(half_width) else half_width,
        "note": "" if interval is None else interval.note,
    }


def _order(evaluation: Evaluation, by: str | None) -> str:
    columns = [*evaluation.labels, SYSTEM, JUDGED]
    if by is None:
        return columns[0]
    if by in columns:
        return by
    raise InputError(
        f"unknown column {quoted(by)} to sort by{did_you_mean(by, columns)} "
        f"The columns are {', '.join(columns)}."
    )


def _higher_first(evaluation: Evaluation, order: str) -> bool:
    known = evaluation.labels.get(order)
    return known is None or known.spec.higher_is_better


def _on_other_queries(comparison: Comparison | None) -> list[str]:
    """Warn if differences to the baseline are of other queries than the values beside them."""
    if comparison is None or comparison.baseline is None:
        return []
    counts = {key: len(entry.place) for key, entry in comparison.numbers.entries.items()}
    runs = dict.fromkeys(
        row.run
        for row in comparison.rows
        if any(counts[row.measure, run] != row.queries for run in (row.run, row.against))
    )
    if not runs:
        return []
    return [
        f"{listed(list(runs))} {'has' if len(runs) == 1 else 'have'} other queries than "
        f"{comparison.baseline}. Values are of each system's queries, differences of the queries "
        "that count in both."
    ]


def _moved(
    before: Evaluation | None, run: Scored, name: str, measure: Measure
) -> dict[str, float | None]:
    """Return the value before the last change, and how far it moved; None if it did not."""
    value, old = run.summary[measure], None
    scored = {} if before is None else {known.name: known for known in before.runs}
    if before is not None and name in before.labels and run.name in scored:
        old = scored[run.name].summary[before.labels[name]]
    if old is None or old == value or (math.isnan(old) and math.isnan(value)):
        return {"before": None, "move": None}
    return {"before": old, "move": value - old}


def _against_baseline(comparison: Comparison | None, run: str, name: str) -> Pair | None:
    if comparison is None or comparison.baseline in (None, run) or name not in comparison.measures:
        return None
    return comparison.pair(run, comparison.baseline, name)


def _ranges(ranges: Evaluation | None, run: str, name: str) -> list[dict[str, Any]]:
    """Return the values under other assumptions; they are `sure` if they are bounds."""
    if ranges is None or name not in ranges.labels:
        return []
    scored, measure = ranges.scored(run), ranges.labels[name]
    spans: list[dict[str, Any]] = []
    if set(TIE_ORDERS) <= set(scored.others):
        ties = ranges.tie_range(measure, run)
        low, high = sorted((ties.worst, ties.best))
        sure = not any(measure in scored.others[order].unsure for order in TIE_ORDERS)
        spans.append({"about": "ties", "low": low, "high": high, "sure": sure})
    if set(UNJUDGED_ENDS) <= set(scored.others):
        low, high = sorted(ranges.unjudged_range(measure, run))
        sure = is_bounded(scored, measure, ranges.policy)
        spans.append({"about": "unjudged", "low": low, "high": high, "sure": sure})
    return spans


def _sorted(
    rows: list[dict[str, Any]], evaluation: Evaluation, order: str, ascending: bool
) -> list[dict[str, Any]]:
    if order == SYSTEM:
        return sorted(rows, key=lambda row: str(row["name"]), reverse=not ascending)
    at = list(evaluation.labels).index(order) if order != JUDGED else None

    def key(row: dict[str, Any]) -> tuple[bool, float]:
        value = row["judged"] if at is None else row["cells"][at]["value"]
        missing = math.isnan(value)
        return missing, 0.0 if missing else value if ascending else -value

    return sorted(rows, key=key)


def _scale(cells: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    ends = [cell[name] for cell in cells for name in ("value", "low", "high", "before")]
    ends += [span[end] for cell in cells for span in cell["ranges"] for end in ("low", "high")]
    finite = [end for end in ends if end is not None and math.isfinite(end)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    space = (high - low) * 0.06 or max(abs(high), 1.0) * 0.5
    return low - space, high + space
