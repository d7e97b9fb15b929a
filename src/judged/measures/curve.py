"""Points and areas of curves: precision at a recall, recall at a precision, ROC."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from judged.arrays import Floats, divide
from judged.measures.average import enough_for
from judged.measures.confusion import collection_size
from judged.measures.params import REL, Number
from judged.measures.registry import NO_RELEVANT, Example, Mask, Undefined, measure
from judged.measures.ties import Closed, uncut
from judged.rankings.rankings import Rankings


@measure(
    name="PrecAtRecall",
    aliases=("PrecisionAtFixedRecall",),
    title="Precision at a fixed recall",
    says="Precision at the first rank where recall reaches the given point; 0 where it never does.",
    formula=r"P@i, \quad i = \min\{i : R@i \ge recall\}",
    reference="manning2008",
    range=(0, 1),
    params=(
        Number(
            "recall", 0.95, "the recall to reach", low=0, high=1, phrase="the recall to reach is {}"
        ),
        REL,
    ),
    at="recall",
    undefined=NO_RELEVANT,
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral", "perfect_is_best"},
    # Half of three relevant items is two, and the second stands at rank 4.
    example=Example("PrecAtRecall@0.5", "1 0 0 1 1", 0.5),
)
def precision_at_recall(r: Rankings, *, recall: float, rel: float) -> Floats:
    relevant = r.relevant(rel)
    enough = enough_for(recall, relevant)
    query, rank, ordinal = r.relevant_hits(None, rel)
    # A recall of 0 is reached at rank 1, whatever stands there.
    at = rank == 1 if recall == 0 else ordinal == enough[query]
    value = np.where(relevant == 0, np.nan, 0.0)
    value[query[at]] = (ordinal / rank)[at]
    return value


@measure(
    name="RecallAtPrec",
    aliases=("RecallAtFixedPrecision",),
    title="Recall at a fixed precision",
    says=(
        "The highest recall at any rank where precision is at least as high as given; 0 where it "
        "never is."
    ),
    formula=r"\max_{i:\, P@i \ge precision} R@i",
    reference="manning2008",
    range=(0, 1),
    params=(
        Number(
            "precision",
            0.95,
            "the precision to keep",
            low=0,
            high=1,
            phrase="the precision to keep is {}",
        ),
        REL,
    ),
    at="precision",
    undefined=NO_RELEVANT,
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral", "perfect_is_best"},
    # Precision is 1/2 at ranks 2 and 4 and 3/5 at rank 5, where all three relevant items are found.
    example=Example("RecallAtPrec@0.5", "0 1 0 1 1 0 0 0 0 1", 0.75),
)
def recall_at_precision(r: Rankings, *, precision: float, rel: float) -> Floats:
    query, rank, ordinal = r.relevant_hits(None, rel)
    holds = ordinal / rank >= precision
    most = np.zeros(len(r))
    np.maximum.at(most, query[holds], ordinal[holds].astype(np.float64))
    return divide(most, r.relevant(rel))


def _one_sided(r: Rankings, params: Mapping[str, Any]) -> Mask:
    relevant = r.relevant(params["rel"])
    return (relevant == 0) | (relevant == collection_size(r, "RankAUC"))


def _expected_rank_auc(r: Rankings, *, rel: float) -> Closed:
    # The value is linear in the ranks of relevant items, as long as their number is fixed.
    first, last = r.spans
    return Closed(_area(r, rel, (first + last) / 2), uncut(r, np.full(len(r), np.inf)))


@measure(
    name="RankAUC",
    aliases=("AUC", "ROCAUC"),
    title="Area under the ROC curve",
    says="The chance that a relevant item stands above one that is not, over the whole collection; "
    "items that were not retrieved stand below all others, in no order.",
    formula=r"\frac{1}{N (C-N)}\sum_{relevant\ i} |nonrelevant\ below\ i|",
    reference="fawcett2006",
    range=(0, 1),
    params=(REL,),
    at=None,
    undefined=Undefined("nothing is relevant, or everything is", _one_sided),
    laws={"swap_up_never_hurts", "perfect_is_best"},
    # Five items, two relevant at ranks 1 and 3: 3 and 2 of the 3 others stand below.
    example=Example("RankAUC", "1 0 1 0 0", 5 / 6, collection=5),
    expected=_expected_rank_auc,
)
def rank_auc(r: Rankings, *, rel: float) -> Floats:
    return _area(r, rel, r.hit_rank.astype(np.float64))


def _area(r: Rankings, rel: float, rank: Floats) -> Floats:
    """Compute the area for hits at these ranks."""
    size, relevant = collection_size(r, "RankAUC"), r.relevant(rel)
    others = size - relevant
    query, _, ordinal = r.relevant_hits(None, rel)
    found = r.total(query)
    below = r.total(query, others[query] - (rank[r.hit_grade >= rel] - ordinal))
    # What was not retrieved lies in the tail with all other items there: half of those count as
    # below.
    tail_others = others - (r.retrieved - found)
    return divide(below + (relevant - found) * tail_others / 2, relevant * others)
