"""How the scores of all pairs of queries and items are spread: those of relevant pairs against the
rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import polars as pl

from judged.charts.canvas import Design
from judged.charts.chart import Chart
from judged.charts.kinds import scores, takes_design
from judged.embeddings.diagnosis import Diagnosis
from judged.errors import InputError
from judged.inputs.polars_errors import POLARS_ERRORS

KIND = "embedding-scores"


def _table(diagnosis: Diagnosis | Mapping[str, Any]) -> pl.DataFrame:
    found = diagnosis.to_dict() if isinstance(diagnosis, Diagnosis) else diagnosis
    if not isinstance(found, Mapping) or not {"scores", "similarity"} <= set(found):
        raise _no_diagnosis()
    if found["scores"] is None:
        raise InputError(
            "the diagnosis has no scores: one side has no vector that can be compared."
        )
    try:
        return _bins(found, found["scores"])
    except (KeyError, TypeError, ValueError, OverflowError, *POLARS_ERRORS):
        raise _no_diagnosis() from None


def _no_diagnosis() -> InputError:
    return InputError(
        "this is no diagnosis of embeddings; make one with Embeddings.diagnose or `judged "
        "embeddings … --diagnose`."
    )


def _bins(found: Mapping[str, Any], histogram: Mapping[str, Any]) -> pl.DataFrame:
    groups, means = {"other": histogram["others"]}, {"other": histogram["others_mean"]}
    if histogram["relevant"] is not None:
        groups = {"relevant": histogram["relevant"], **groups}
        means["relevant"] = histogram["relevant_mean"]
    known = {name: float("nan") if mean is None else mean for name, mean in means.items()}
    said = (
        f"All pairs of {found['queries']['count']:,} queries and {found['items']['count']:,} items."
    )
    return scores.histogram(str(found["similarity"]), list(histogram["edges"]), groups, known, said)


@takes_design()
def embedding_scores(diagnosis: Diagnosis | Mapping[str, Any], **design: Unpack[Design]) -> Chart:
    """Histograms of the scores of relevant pairs and of all others, exact over all pairs.

    >>> import judged
    >>> both = judged.Embeddings([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]])
    >>> found = both.diagnose(judged.relevance.same_label(["a", "b"], ["a", "b"]))
    >>> embedding_scores(found).data.filter(count=2)["group"].to_list()
    ['relevant', 'other']
    """
    return draw(_table(diagnosis), **design)


def draw(table: pl.DataFrame, **design: Unpack[Design]) -> Chart:
    return scores.draw(table, kind=KIND, **design)
