"""The advice in words, every word with the number behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.evaluation.advice.rows import (
    BEYOND,
    CAPPED,
    FEW_JUDGED,
    HALF,
    HARD,
    SATURATED,
    UNJUDGED,
)
from judged.results import Table
from judged.text import counted, few, listed

if TYPE_CHECKING:
    from judged.evaluation.advice.result import Advice
    from judged.evaluation.advice.rows import Row


def table(advice: Advice) -> Table:
    """A row for each measure."""
    several = len(advice.runs) > 1
    header = ["measure", "value", "ceiling", "at best", "at worst", "±"]
    header += ["differ", "separates", "d_z"] if several else []
    header += ["judged", "findings"]
    rows = [_cells(row, several) for row in advice.rows]
    return Table(header, rows, words={"measure", "findings"})


def _cells(row: Row, several: bool) -> list[str]:
    value = f"{row.highest:.4f}"
    if several and row.lowest != row.highest:
        value = f"{row.lowest:.4f} … {row.highest:.4f}"
    cells = [row.measure, value, f"{row.ceiling:.4f}", _share(row.at_best), _share(row.at_worst)]
    cells.append("–" if row.half_width is None else f"{row.half_width:.4f}")
    if several:
        effect = "–" if row.effect is None else f"{row.effect:.2f}"
        cells += [_share(row.differ), f"{row.separated} of {row.pairs}", effect]
    return [*cells, _share(row.judged), listed(row.findings) if row.findings else ""]


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}".replace("%", " %")


def warnings(advice: Advice) -> list[str]:
    """What could mislead whoever follows the advice."""
    said = []
    if len(advice.runs) < 2:
        said.append(
            "There is only 1 run: how well a measure tells systems apart can be said of two or "
            "more."
        )
    if advice.lists.queries < 25:
        said.append(
            f"There are only {counted(advice.lists.queries, 'judged query', 'judged queries')}: "
            "shares of so few say little."
        )
    if not advice.lists.known:
        said.append(
            "What each query can reach is not known, as the lists are too large to be kept or were "
            "judged by subtopic: ceilings are those of the measures themselves, so that a measure "
            "may be capped or saturated unseen."
        )
    if len(advice.runs) > 1:
        said.append(
            "A measure that was chosen because it separates these systems on these queries shows "
            "too much on the same queries: decide now, and compare on others."
        )
    return said


def sentences(advice: Advice) -> list[str]:
    """What was found, the worst first, where K should lie, and what to report."""
    said = [text for finding in _FOUND for text in _found(advice, finding)]
    return [*said, *_separating(advice), _depth(advice), _reported(advice)]


_FOUND = {
    SATURATED: lambda row: (
        f"{row.measure} has the best value for {_share(row.at_best)} of the queries: it cannot "
        "tell systems apart any more."
    ),
    HARD: lambda row: (
        f"{row.measure} has the worst value for {_share(row.at_worst)} of the queries: few of "
        "them can show anything."
    ),
    CAPPED: lambda row: (
        f"{row.measure} cannot exceed {row.ceiling:.2f} here, whatever the system: {_cap(row)}."
    ),
    UNJUDGED: lambda row: (
        f"{row.measure} looks at results of which only {_share(row.judged)} were judged: it "
        "rewards systems like those that were judged."
    ),
    BEYOND: lambda row: (
        f"{row.measure} looks at {row.k} results, but half of the lists have {row.length:g} or "
        "fewer."
    ),
}


def _cap(row: Row) -> str:
    """Why a measure is capped."""
    empty = row.judged_queries - row.queries
    if row.reachable >= HALF:
        has = "has" if empty == 1 else "have"
        return f"{empty:,} of {row.judged_queries:,} queries {has} nothing to find and score 0"
    few_or_many = "few" if row.k and row.k > row.relevant else "many"
    return f"queries have too {few_or_many} relevant items for it"


def _found(advice: Advice, finding: str) -> list[str]:
    rows = [row for row in advice.rows if finding in row.findings]
    if len(rows) <= 2:
        return [_FOUND[finding](row) for row in rows]
    others = few([row.measure for row in rows[1:]], 6)
    return [f"{_FOUND[finding](rows[0])} The same holds for {others}."]


def _separating(advice: Advice) -> list[str]:
    """Which measures tell the systems apart, and which need fewest queries for it."""
    if len(advice.runs) < 2:
        return []
    sound = [row for row in advice.rows if not row.findings and row.effect is not None]
    if not sound:
        return ["No measure that nothing speaks against has differences to look at."]
    ranked = sorted(sound, key=lambda row: (-row.separated, -(row.effect or 0.0)))
    top = ranked[0]
    best = [row.measure for row in ranked if row.separated == top.separated]
    said = [
        f"{few(best, 4)} {'shows' if len(best) == 1 else 'show'} most differences: {top.separated} "
        f"of {counted(top.pairs, 'pair')} of runs, corrected for their number."
    ]
    largest = max(sound, key=lambda row: row.effect or 0.0)
    if largest.effect and largest.detectable is not None:
        said.append(
            f"{largest.measure} has the largest effects (median d_z {largest.effect:.2f}): it "
            "needs the fewest queries; these would have shown a difference of "
            f"{largest.detectable:.3f}, 8 times in 10."
        )
    return said


def _depth(advice: Advice) -> str:
    """Where K should lie."""
    lists = advice.lists
    said = (
        f"Lists have {lists.length:g} results and queries {lists.relevant:g} relevant items "
        "(medians)"
    )
    depths = sorted({row.k for row in advice.rows if row.k is not None})
    shares = {row.k: row.judged for row in advice.rows if row.judged is not None}
    if not depths:
        return f"{said}."
    if not shares:
        within = [k for k in depths if k <= lists.length]
        only = "The judgements list relevant items only, so all other results count as irrelevant."
        if not within:
            return f"{said}: no K that was looked at lies within the lists. {only}"
        return f"{said}: choose K up to {within[-1]}. {only}"
    sound = [k for k in depths if k <= lists.length and (shares.get(k) or 0) >= FEW_JUDGED]
    if not sound:
        return f"{said}: no K that was looked at lies within lists that were judged; judge deeper."
    share = shares[sound[-1]] or 0.0
    part = "all" if share == 1 else f"at least {_share(share)} of the"
    return f"{said}: choose K up to {sound[-1]}, where {part} results were judged."


def _reported(advice: Advice) -> str:
    rows = advice.report()
    if not rows:
        return "Report: none of these measures; something speaks against each of them."
    parts = [
        f"{row.measure} ({row.highest:.4f}"
        + ("" if row.half_width is None else f" ± {row.half_width:.4f}")
        + (f", {row.separated} of {row.pairs} pairs told apart)" if row.pairs else ")")
        for row in rows
    ]
    return f"Report: {listed(parts)}, each with its interval, and say how many queries there were."
