"""Average precision, and points and areas of curves: precision-recall and ROC."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from judged.arrays import Floats, Ints, divide, greatest_from_here, needed, starts_of
from judged.errors import MeasureError
from judged.measures.registry import (
    NEVER,
    REL,
    Choice,
    Example,
    K,
    Mask,
    Points,
    Undefined,
    collection_size,
    measure,
    share_param,
)
from judged.measures.tie_orders import (
    Closed,
    Ties,
    Worth,
    by_grade,
    counts_shown,
    precisions,
    precisions_before,
    sums_of,
    ties_of,
    uncut,
)
from judged.rankings.rankings import Cutoff, Rankings

NORM = Choice(
    "norm",
    "relevant",
    "what the sum of precisions is divided by",
    {
        "relevant": "divided by N, all relevant items of the query",
        "capped": "divided by min(N, k), the most that k results can hold",
        "retrieved": "divided by the number of relevant items among the results that count",
        "cutoff": "divided by k",
    },
)
AREA = Choice(
    "area",
    "step",
    "how the area under the precision-recall curve is taken",
    {
        "step": "precision is taken at each relevant item (the exact area under the uninterpolated "
        "curve)",
        "trapezoid": "precision just before and at each relevant item is averaged",
        "interpolated": "precision at each relevant item is the best precision there or further "
        "down",
    },
)


def _expected_average_precision(
    r: Rankings, *, k: Cutoff, rel: float, norm: str, area: str
) -> Floats | None:
    _check_cutoff(k, norm)
    if area == "interpolated":
        return None
    ties = ties_of(r, rel, r.cutoff(k, rel))
    last = int((ties.first + ties.shown).max(initial=1)) - 1
    harmonic = sums_of(np.reciprocal, last)

    def height(ties: Ties, which: Ints, relevant: Floats, size: Floats) -> Floats:
        shape = (ties.first[which], ties.shown[which], relevant, size, ties.before[which], harmonic)
        at_hits = precisions(*shape)
        return at_hits if area == "step" else (at_hits + precisions_before(*shape)) / 2

    every = np.arange(len(ties.query))
    cut = (ties.shown > 0) & (ties.shown < ties.size)
    sure = every[~cut] if norm == "retrieved" else every
    summed = r.total(ties.query[sure], height(ties, sure, ties.relevant[sure], ties.size[sure]))
    relevant = r.relevant(rel)
    if norm != "retrieved":
        return divide(summed, _divisors(r, k, rel, norm))
    # How many relevant items are found depends on the order of the one tie that the cutoff cuts
    # through: each number of them that may stand above it has a chance and, given that number, is
    # spread over the places above it.
    whole_ties = r.total(ties.query[~cut], np.where(ties.shown > 0, ties.relevant, 0.0)[~cut])
    value = summed / np.maximum(whole_ties, 1)
    tie, number, chance = counts_shown(ties, every[cut])
    query = ties.query[tie]
    cut_values = (summed[query] + height(ties, tie, number, ties.shown[tie])) / np.maximum(
        whole_ties[query] + number, 1
    )
    value[ties.query[cut]] = 0
    value += r.total(query, chance * cut_values)
    return np.where(relevant == 0, np.nan, value)


def _worth_to_average_precision(r: Rankings, *, k: Cutoff, rel: float, norm: str) -> Worth:
    # One more relevant item above the cutoff may lower the mean over those that are there.
    sure = uncut(r, r.cutoff(k, rel)) if norm == "retrieved" else None
    return by_grade(r)._replace(sure=sure)


@measure(
    name="AP",
    aliases={
        "MAP": {},
        "AveP": {},
        "AveragePrecision": {},
        "MeanAveragePrecision": {},
        "GMAP": {"aggregate": "geometric"},
    },
    title="Average precision",
    says="Precision at the rank of each relevant item, summed over those retrieved down to k and "
    "divided: a relevant item that was not retrieved adds nothing.",
    formula=r"\frac{1}{N}\sum_{i\le k}[g_i \ge rel]\, P@i",
    reference="buckley2000",
    params=(K, REL, NORM, AREA),
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral", "below_k_is_ignored"},
    example=Example("AP", "0 1 0 0 1 0 1 0 1 0", (1 / 2 + 2 / 5 + 3 / 7 + 4 / 9) / 4),
    expected=_expected_average_precision,
    worth=_worth_to_average_precision,
)
def average_precision(r: Rankings, *, k: Cutoff, rel: float, norm: str, area: str) -> Floats:
    _check_cutoff(k, norm)
    divisors = _divisors(r, k, rel, norm)
    query, rank, ordinal = r.relevant_hits(k, rel)
    height = ordinal / rank
    if area == "trapezoid":
        before = np.divide(ordinal - 1, rank - 1, out=np.ones(len(rank)), where=rank > 1)
        height = (before + height) / 2
    elif area == "interpolated":
        height = greatest_from_here(height, np.bincount(query, minlength=len(r)))
    return divide(r.total(query, height), divisors)


def _check_cutoff(k: Cutoff, norm: str) -> None:
    if norm == "cutoff" and k is None:
        raise MeasureError("AP(norm=cutoff) divides by k and needs one, as in AP(norm=cutoff)@10.")


def _divisors(r: Rankings, k: Cutoff, rel: float, norm: str) -> Floats:
    """Return the divisor of each query; 0 without relevant items."""
    divisors = relevant = r.relevant(rel)
    if norm == "capped":
        divisors = np.minimum(relevant, r.cutoff(k, rel))
    elif norm == "retrieved":
        divisors = np.maximum(r.found(k, rel), 1)
    elif norm == "cutoff":
        divisors = r.cutoff(k, rel)
    return np.where(relevant == 0, 0, divisors)


ROUNDED = {"trec_eval": 0.5, "trec_eval9": 0.9}
"""Added before a number of items is rounded down."""

_ASKS = "a recall point p asks for floor(p N + {}) relevant items, as in {}"
ROUNDING = Choice(
    "rounding",
    "exact",
    "how many relevant items a recall point asks for",
    {
        "exact": "a recall point is reached when recall is at least as high",
        "trec_eval": _ASKS.format(ROUNDED["trec_eval"], "trec_eval 10"),
        "trec_eval9": _ASKS.format(ROUNDED["trec_eval9"], "trec_eval 9 and pytrec_eval"),
    },
)


def enough_for(point: float, relevant: Floats, rounding: str = "exact") -> Floats:
    """Return how many relevant items a recall point requires, at least one."""
    if rounding == "exact":
        return np.maximum(needed(point, relevant), 1)
    return np.maximum(np.floor(point * relevant + ROUNDED[rounding]), 1)


def recall_points(points: int | tuple[float, ...]) -> tuple[float, ...]:
    """Return recall points, evenly spaced if only their number is given."""
    return points if isinstance(points, tuple) else tuple(i / (points - 1) for i in range(points))


def _interpolated(
    r: Rankings, points: tuple[float, ...], rel: float, rounding: str
) -> Iterator[Floats]:
    """Find for each recall point the best precision from there on; 0 if never reached."""
    query, rank, ordinal = r.relevant_hits(None, rel)
    retrieved = np.bincount(query, minlength=len(r))
    best = np.append(greatest_from_here(ordinal / rank, retrieved), 0.0)
    relevant, starts, nowhere = r.relevant(rel), starts_of(retrieved), len(best) - 1
    undefined = np.where(relevant == 0, np.nan, 0.0)
    for point in points:
        enough = enough_for(point, relevant, rounding).astype(np.int64)
        yield best[np.where(enough <= retrieved, starts + enough - 1, nowhere)] + undefined


@measure(
    name="IPrec",
    aliases=("InterpolatedPrecision",),
    title="Interpolated precision at a recall point",
    says="The best precision at any rank where recall is at least the given point.",
    formula=r"\max_{i:\, R@i \ge recall} P@i",
    reference="manning2008",
    params=(share_param("recall", 0, "the recall point", "the recall point is {}"), REL, ROUNDING),
    at="recall",
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral", "perfect_is_best"},
    example=Example("IPrec@0.5", "0 0 1 0 1 0 0 1", 0.4),
)
def interpolated_precision(r: Rankings, *, recall: float, rel: float, rounding: str) -> Floats:
    return next(_interpolated(r, (recall,), rel, rounding))


@measure(
    name="IAP",
    aliases=("AP11", "InterpolatedAP"),
    title="Interpolated average precision (11-point)",
    says="Interpolated precision averaged over recall points.",
    formula=r"\frac{1}{n}\sum_{r \in points} \max_{i:\, R@i \ge r} P@i",
    reference="manning2008",
    params=(Points(), REL, ROUNDING),
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral", "perfect_is_best"},
    # Recall 0 to 0.6 is reached with the best precision 0.4, recall 0.7 to 1 with 0.375.
    example=Example("IAP", "0 0 1 0 1 0 0 1", (7 * 0.4 + 4 * 0.375) / 11),
)
def interpolated_average(
    r: Rankings, *, points: int | tuple[float, ...], rel: float, rounding: str
) -> Floats:
    wanted = recall_points(points)
    # One point after the other: a query's value must not depend, in its last digit, on how many
    # queries there are. The last first, as in trec_eval.
    values = _interpolated(r, wanted[::-1], rel, rounding)
    return sum(values, np.zeros(len(r))) / len(wanted)


@measure(
    name="YAAP",
    title="Yet another average precision",
    says="The logarithm of the odds of the expected number of relevant items: average precision "
    "made fit for averaging.",
    formula=r"\log\frac{1+s}{1+N-s}, \quad s = \sum_i [g_i \ge rel]\, P@i",
    reference="robertson2012",
    range=(-np.inf, np.inf),
    params=(REL,),
    undefined=NEVER,
    rates_relevance=False,
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral"},
    example=Example("YAAP", "1 0 1", np.log((1 + 5 / 3) / (1 + 2 - 5 / 3))),
)
def yet_another_average_precision(r: Rankings, *, rel: float) -> Floats:
    query, rank, ordinal = r.relevant_hits(None, rel)
    expected = r.total(query, ordinal / rank)
    return np.log((1 + expected) / (1 + r.relevant(rel) - expected))


@measure(
    name="PrecAtRecall",
    aliases=("PrecisionAtFixedRecall",),
    title="Precision at a fixed recall",
    says="Precision at the first rank where recall reaches the given point; 0 where it never does.",
    formula=r"P@i, \quad i = \min\{i : R@i \ge recall\}",
    reference="manning2008",
    params=(share_param("recall", 0.95, "the recall to reach", "the recall to reach is {}"), REL),
    at="recall",
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral", "perfect_is_best"},
    # Half of three relevant items is two, and the second stands at rank 4.
    example=Example("PrecAtRecall@0.5", "1 0 0 1 1", 0.5),
)
def precision_at_recall(r: Rankings, *, recall: float, rel: float) -> Floats:
    relevant = r.relevant(rel)
    enough = enough_for(recall, relevant)
    query, rank, ordinal = r.relevant_hits(None, rel)
    # A recall of 0 is reached at rank 1, whatever stands there.
    reached = rank == 1 if recall == 0 else ordinal == enough[query]
    value = np.where(relevant == 0, np.nan, 0.0)
    value[query[reached]] = (ordinal / rank)[reached]
    return value


@measure(
    name="RecallAtPrec",
    aliases=("RecallAtFixedPrecision",),
    title="Recall at a fixed precision",
    says="The highest recall at any rank where precision is at least as high as given; 0 where it "
    "never is.",
    formula=r"\max_{i:\, P@i \ge precision} R@i",
    reference="manning2008",
    params=(
        share_param("precision", 0.95, "the precision to keep", "the precision to keep is {}"),
        REL,
    ),
    at="precision",
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
    params=(REL,),
    undefined=Undefined("nothing is relevant, or everything is", _one_sided),
    laws={"swap_up_never_hurts", "perfect_is_best"},
    # Five items, two relevant at ranks 1 and 3: 3 and 2 of the 3 others stand below.
    example=Example("RankAUC", "1 0 1 0 0", 5 / 6, collection=5),
    expected=_expected_rank_auc,
)
def rank_auc(r: Rankings, *, rel: float) -> Floats:
    return _area(r, rel, r.hit_rank.astype(np.float64))


def _area(r: Rankings, rel: float, rank: Floats) -> Floats:
    size, relevant = collection_size(r, "RankAUC"), r.relevant(rel)
    others = size - relevant
    query, _, ordinal = r.relevant_hits(None, rel)
    retrieved = r.total(query)
    below = r.total(query, others[query] - (rank[r.hit_grade >= rel] - ordinal))
    # What was not retrieved lies in the tail with all other items there: half of those count as
    # below.
    tail_others = others - (r.retrieved - retrieved)
    return divide(below + (relevant - retrieved) * tail_others / 2, relevant * others)
