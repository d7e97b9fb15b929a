"""The parts of the page of vectors that are loaded after its numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.text import Warned, shown
from judged.web.asked import Page
from judged.web.errors import UnreadableError
from judged.web.pages.numbers import share
from judged.web.vectors.looked import (
    Looked,
    command_of,
    figures_of,
    items_of,
    kept_of,
    picture_of,
    query_of,
    width_of,
    worst_first,
)

if TYPE_CHECKING:
    from judged.learning.temperature.sweep_result import Point, Sweep

ROWS = 6
"""So many queries of the gallery are shown at a time."""


def temperature(looked: Looked) -> Page:
    """The slider: every number at every stop comes from the sweep."""
    asked, sweep = looked.asked, looked.sweep()
    evaluation, first = looked.evaluated()
    query = query_of(asked, evaluation)
    alone = looked.sweep(query)
    at = _nearest(sweep.points, asked.params.number("temperature"), sweep)
    basis = "; ".join(sweep.basis) + "."
    stops = [_stop(point, own) for point, own in zip(sweep.points, alone.points, strict=True)]
    return Page(
        "embeddings_temperature.html",
        "Temperature",
        {
            "stops": stops,
            "at": at,
            "items": items_of(looked, first, evaluation, query),
            "query": query,
            "queries": sweep.queries,
            "candidates": sweep.candidates,
            "notes": [_note(text) for text in sweep.sentences() if text != basis],
            "basis": basis,
            "kept": kept_of(asked, "temperature"),
        },
        command=command_of(
            ["judged", "temperature", *looked.search.words(), "--query", query],
            looked.search,
            f"sweep = judged.temperature.sweep(embeddings, relevance, query={query!r})",
        ),
    )


def curves(looked: Looked) -> Page:
    """All numbers along the sweep, as a chart."""
    from judged.charts.kinds.temperature import temperature as drawn

    chart = drawn(looked.sweep(), theme="page", width=width_of(looked))
    command = command_of(
        ["judged", "temperature", *looked.search.words()],
        looked.search,
        "sweep = judged.temperature.sweep(embeddings, relevance)",
    )
    return Page("embeddings_figures.html", chart.title, figures_of([chart]), command)


def _stop(point: Point, own: Point) -> dict[str, Any]:
    """A stop of the slider: texts as they are shown, and shares for the widths of bars."""
    return {
        "temperature": f"{point.temperature:.4g}",
        "loss": shown(point.loss, 3),
        "confidence": share(point.confidence, 1),
        "accuracy": share(point.accuracy, 1),
        "calibration_error": shown(point.calibration_error, 3),
        "entropy": shown(point.entropy, 3),
        "all": [[shown(each, 3), each] for each in point.probabilities],
        "one": [[shown(each, 3), each] for each in own.probabilities],
    }


def _nearest(points: Sequence[Point], wanted: float | None, sweep: Sweep) -> int:
    """The stop nearest to a temperature, by ratio; where none is named, to the lowest loss."""
    if wanted is None or wanted <= 0:
        wanted = sweep.best_loss.temperature if sweep.best_loss else points[0].temperature
    apart = [abs(np.log(point.temperature / wanted)) for point in points]
    return int(np.argmin(apart))


def scores(looked: Looked) -> Page:
    """How the scores of relevant pairs and of others are spread, and the diagnosis in words."""
    from judged.charts.kinds.embedding_scores import embedding_scores

    def made() -> Any:
        embeddings, relevance = looked.search.compared
        return embeddings.diagnose(relevance)

    diagnosis = looked.kept("diagnosis", made)
    chart = embedding_scores(diagnosis, theme="page", width=width_of(looked))
    found = diagnosis.sentences()
    notes = [{"kind": "warn", "text": text} for text in found] or [
        {"kind": "info", "text": "Nothing about these vectors asks for a second look."}
    ]
    return Page(
        "embeddings_scores.html",
        chart.title,
        {**figures_of([chart]), "notes": notes, "described": diagnosis.to_text().splitlines()[1:]},
        command=command_of(
            ["judged", "embeddings", *looked.search.words(), "--diagnose"],
            looked.search,
            "diagnosis = embeddings.diagnose(relevance)",
        ),
    )


def gallery(looked: Looked) -> Page:
    """Queries by a measure, the worst first, each with its first items."""
    asked = looked.asked
    evaluation, first = looked.evaluated()
    measure = evaluation.measure(asked.params.one("sort") or next(iter(evaluation.labels)))
    order = worst_first(evaluation, evaluation.label(measure))
    begin = asked.params.whole("from", 0, at_most=max(len(order) - 1, 0))
    values = evaluation.runs[0].values[measure]
    names = evaluation.runs[0].rankings.queries
    rows = [
        {
            "query": names[at],
            "picture": picture_of(asked, names[at]),
            "place": place,
            "value": values[at],
            "found": items_of(looked, first, evaluation, names[at]),
            "href": asked.url(part=None, query=names[at]),
        }
        for place, at in enumerate(order[begin : begin + ROWS], begin + 1)
    ]
    return Page(
        "embeddings_gallery.html",
        "Gallery",
        {
            "rows": rows,
            "count": len(order),
            "measure": evaluation.label(measure),
            "measures": list(evaluation.labels),
            "before": asked.url(from_=max(begin - ROWS, 0)) if begin else None,
            "after": asked.url(from_=begin + ROWS) if begin + ROWS < len(order) else None,
            "kept": kept_of(asked, "sort", "from"),
        },
    )


def study(looked: Looked) -> Page:
    """Studies and sweeps of temperatures whose JSON lies in the folder."""

    from judged.charts.kinds.temperature import temperature as of_sweep
    from judged.charts.kinds.temperature_study import temperature_study as of_study

    kinds = {"study": of_study, "sweep": of_sweep}
    files = looked.asked.workspace.studies
    drawn = []
    for file in files:
        try:
            read = json.loads(file.path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            raise UnreadableError(f"{file.name}: cannot be read as JSON any more.") from None
        drawn.append(kinds[file.kind](read, theme="page", width=width_of(looked)))
    context = figures_of(drawn, [file.name for file in files])
    return Page("embeddings_figures.html", "Studies of temperatures", context)


def _note(text: str) -> dict[str, str]:
    return {"kind": "warn" if isinstance(text, Warned) else "info", "text": text}


PARTS: dict[str, Callable[[Looked], Page]] = {
    "temperature": temperature,
    "curves": curves,
    "scores": scores,
    "gallery": gallery,
    "study": study,
}
"""Each part by the name that addresses have for it."""
