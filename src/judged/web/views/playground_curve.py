"""The precision-recall curve of the playground's list, with AP as its area."""

from __future__ import annotations

from judged.web.asked import Asked, Page
from judged.web.playground.answer import Answer
from judged.web.playground.state import OWN, State

PARAMS = (*OWN, "example", "width")
WIDEST = 1_600
NARROWEST = 240
HEIGHT = 280


def page(asked: Asked) -> Page:
    """The figure alone, made for the width it gets."""
    from judged.charts import precision_recall
    from judged.web.pages.figure import figure

    width = asked.params.whole("width", 400, at_least=0, at_most=10_000)
    answer = Answer(State.of(asked.params))
    chart = precision_recall(
        answer.curve,
        theme="page",
        width=min(max(width, NARROWEST), WIDEST),
        height=HEIGHT,
        title="Precision against recall",
    )
    return Page("playground_curve.html", "Precision against recall", {"figure": figure(chart)})
