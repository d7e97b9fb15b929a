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
    from judged.charts.canvas import Design as Design
    from judged.charts.chart import Chart as Chart
    from judged.charts.kinds.curves import cmc as cmc
    from judged.charts.kinds.curves import confusion_at_k as confusion_at_k
    from judged.charts.kinds.curves import eleven_point as eleven_point
    from judged.charts.kinds.curves import measure_at_k as measure_at_k
    from judged.charts.kinds.curves import precision_recall as precision_recall
    from judged.charts.kinds.curves import precision_recall_at_k as precision_recall_at_k
    from judged.charts.kinds.curves import risk_coverage as risk_coverage
    from judged.charts.kinds.curves import roc as roc
    from judged.charts.kinds.distributions import confusion as confusion
    from judged.charts.kinds.distributions import embedding_scores as embedding_scores
    from judged.charts.kinds.distributions import funnel as funnel
    from judged.charts.kinds.distributions import rank_histogram as rank_histogram
    from judged.charts.kinds.distributions import reliability as reliability
    from judged.charts.kinds.distributions import scores as scores
    from judged.charts.kinds.gallery import Gallery as Gallery
    from judged.charts.kinds.gallery import gallery as gallery
    from judged.charts.kinds.intervals import forest as forest
    from judged.charts.kinds.intervals import power as power
    from judged.charts.kinds.intervals import ranges as ranges
    from judged.charts.kinds.intervals import systems as systems
    from judged.charts.kinds.pairs import differences as differences
    from judged.charts.kinds.pairs import scatter as scatter
    from judged.charts.kinds.temperatures import temperature as temperature
    from judged.charts.kinds.temperatures import (
        temperature_probabilities as temperature_probabilities,
    )
    from judged.charts.kinds.temperatures import temperature_reliability as temperature_reliability
    from judged.charts.kinds.temperatures import temperature_study as temperature_study

_CLASSES = {"Chart": "chart", "Design": "canvas", "Gallery": "kinds.gallery"}
__all__ = sorted(["KINDS", "plot", *_CLASSES, *(kind.function_name for kind in KINDS.values())])


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
        elif chosen.needs == "results":
            if source.sources is None:
                raise InputError(
                    f"{chosen.name} shows single results, and this evaluation knows only ranks; "
                    "evaluate judgements and runs."
                )
            data = source.sources.whole()
            return chosen.function(data.judgements(), next(iter(data.runs())), **options)
    return chosen.function(source, **options)


def __getattr__(name: str) -> Any:
    if name in _CLASSES:
        return getattr(import_module(f"judged.charts.{_CLASSES[name]}"), name)
    if name in __all__:
        return KINDS[name.replace("_", "-")].function
    raise AttributeError(f"module 'judged.charts' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
