"""Charts: the data of each in a table, the drawing made from that table alone.

>>> import judged
>>> rankings = judged.Rankings.from_relevance([[0, 1, 0, 0, 1, 0, 1, 0, 1, 0]])
>>> judged.charts.precision_recall(rankings).data["precision"].max()
0.5

A chart is loaded when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from judged.charts.kinds import KINDS

if TYPE_CHECKING:
    from judged.charts.canvas import Design
    from judged.charts.chart import Chart
    from judged.charts.kinds.curves import (
        cmc,
        confusion_at_k,
        eleven_point,
        measure_at_k,
        precision_recall,
        precision_recall_at_k,
        roc,
    )
    from judged.charts.kinds.distributions import (
        confusion,
        embedding_scores,
        rank_histogram,
        reliability,
        scores,
    )
    from judged.charts.kinds.gallery import Gallery, gallery
    from judged.charts.kinds.intervals import forest, power, ranges, systems
    from judged.charts.kinds.pairs import differences, rank_flow, scatter
    from judged.charts.kinds.temperatures import (
        temperature,
        temperature_probabilities,
        temperature_reliability,
        temperature_study,
    )
    from judged.charts.sources import Systems

__all__ = [
    "KINDS",
    "Chart",
    "Design",
    "Gallery",
    "Systems",
    "cmc",
    "confusion",
    "confusion_at_k",
    "differences",
    "eleven_point",
    "embedding_scores",
    "forest",
    "gallery",
    "measure_at_k",
    "plot",
    "power",
    "precision_recall",
    "precision_recall_at_k",
    "ranges",
    "rank_flow",
    "rank_histogram",
    "reliability",
    "roc",
    "scatter",
    "scores",
    "systems",
    "temperature",
    "temperature_probabilities",
    "temperature_reliability",
    "temperature_study",
]


def plot(source: Any, kind: str, **options: Any) -> Any:
    """Draw a chart of an evaluation.

    Parameters
    ----------
    source : Evaluation, Comparison, Rankings or other result
        What the chart is made from.
    kind : str
        A kind of chart, such as "precision-recall"; `KINDS` lists them.
    **options : Any
        Those of the kind.

    >>> from judged import Rankings
    >>> chart = plot(Rankings.from_relevance([[0, 1]]), "precision-recall")
    >>> chart.data.height > 0
    True
    """
    from judged.charts.kinds import kind_named
    from judged.errors import InputError
    from judged.evaluation.evaluation import Evaluation

    chosen = kind_named(kind)
    if isinstance(source, Evaluation):
        if chosen.needs == "comparison":
            source = source.compare()
        elif chosen.needs.startswith("results"):
            if source.sources is None:
                raise InputError(
                    f"{chosen.name} shows single results, and this evaluation knows only ranks; "
                    "evaluate judgements and runs."
                )
            data = source.sources.whole()
            judgements, runs = data.judgements(), list(data.runs())
            if chosen.needs == "results":
                return chosen.function(judgements, runs[0], **options)
            return chosen.function(judgements, {run.name: run for run in runs}, **options)
    return chosen.function(source, **options)


_CLASSES = {"Chart": "chart", "Design": "canvas", "Gallery": "kinds.gallery", "Systems": "sources"}


def __getattr__(name: str) -> Any:
    if name in _CLASSES:
        return getattr(import_module(f"judged.charts.{_CLASSES[name]}"), name)
    if name in __all__:
        return KINDS[name.replace("_", "-")].function
    raise AttributeError(f"module 'judged.charts' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
