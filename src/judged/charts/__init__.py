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
    from judged.charts.kinds.cmc import cmc
    from judged.charts.kinds.confusion import confusion
    from judged.charts.kinds.confusion_at_k import confusion_at_k
    from judged.charts.kinds.differences import differences
    from judged.charts.kinds.eleven_point import eleven_point
    from judged.charts.kinds.embedding_scores import embedding_scores
    from judged.charts.kinds.forest import forest
    from judged.charts.kinds.gallery import Gallery, gallery
    from judged.charts.kinds.measure_at_k import measure_at_k
    from judged.charts.kinds.power import power
    from judged.charts.kinds.precision_recall import precision_recall
    from judged.charts.kinds.precision_recall_at_k import precision_recall_at_k
    from judged.charts.kinds.ranges import ranges
    from judged.charts.kinds.rank_flow import rank_flow
    from judged.charts.kinds.rank_histogram import rank_histogram
    from judged.charts.kinds.reliability import reliability
    from judged.charts.kinds.roc import roc
    from judged.charts.kinds.scatter import scatter
    from judged.charts.kinds.scores import scores
    from judged.charts.kinds.systems import systems
    from judged.charts.kinds.temperature import temperature
    from judged.charts.kinds.temperature_probabilities import temperature_probabilities
    from judged.charts.kinds.temperature_reliability import temperature_reliability
    from judged.charts.kinds.temperature_study import temperature_study
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

    Returns
    -------
    Chart

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
