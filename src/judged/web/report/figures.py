"""The charts of a report, or why one is not there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judged.charts.kinds import KINDS
from judged.errors import JudgedError

if TYPE_CHECKING:
    from judged.charts.chart import Chart
    from judged.web.report.contents import Contents

WIDE, HALF = 940, 430
"""How wide the drawing of a chart is: alone in its row, or two beside each other."""

DEEPEST = 15
"""Where curves along ranks end; each rank costs an evaluation of all systems."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """A chart, or the sentence that stands in its place."""

    kind: str
    """As `judged plot` takes it."""
    title: str
    chart: Chart | None
    why: str = ""
    """Why there is none, as the library says it."""
    wide: bool = False
    """Whether it stands alone in its row."""


def of_comparison(contents: Contents) -> list[Drawn]:
    """Draw all differences, and those of the pair that is shown query by query."""
    if contents.comparison is None or contents.pair is None:
        return []
    pair = contents.comparison.among(*contents.pair)
    return [
        _drawn(contents, "forest", contents.comparison),
        _drawn(contents, "scatter", pair, measure=contents.by),
        _drawn(contents, "differences", pair, wide=True, measure=contents.by),
    ]


def of_systems(contents: Contents) -> list[Drawn]:
    """Curves of all systems, and how far ties and unjudged results could move their numbers."""
    one = len(contents.evaluation.runs) == 1
    own = ["precision-recall", "rank-histogram"] if one else ["eleven-point"]
    found = [_drawn(contents, kind, contents.evaluation) for kind in own]
    measure = contents.measure
    if measure.spec.at == "k":
        found.append(
            _drawn(contents, "measure-at-k", contents.evaluation, measures=[measure], k=DEEPEST)
        )
    found.append(_drawn(contents, "cmc", contents.evaluation, k=DEEPEST))
    found.append(_drawn(contents, "ranges", contents.evaluation, measures=[measure]))
    return found


def _drawn(
    contents: Contents, kind: str, source: Any, *, wide: bool = False, **options: Any
) -> Drawn:
    known = KINDS[kind]
    try:
        chart = known.function(
            source, theme="page", width=WIDE if wide else HALF, looks=contents.looks, **options
        )
    except JudgedError as refused:
        return Drawn(kind, known.title, None, str(refused), wide)
    return Drawn(kind, known.title, chart, wide=wide)
