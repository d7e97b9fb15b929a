"""Models of users who read down the list and stop: RBP, ERR, the C/W/L family, compatibility."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil, sqrt
from typing import Any

import numpy as np

from judged.arrays import (
    Floats,
    Ints,
    along,
    borders,
    count_above,
    divide,
    ordinals,
    products_before,
    running_sums,
    starts_of,
)
from judged.errors import MeasureError
from judged.measures.gain import check_reach, discounts, exponential
from judged.measures.registry import (
    EVERY_LAW,
    NEVER,
    REL,
    Choice,
    Example,
    K,
    Mask,
    NumberParam,
    Undefined,
    measure,
    patience,
    share_param,
    show,
)
from judged.measures.registry import Cutoff as CutoffParam
from judged.measures.tie_orders import by_grade, mean_weights, own_merit
from judged.rankings.rankings import Cutoff, Rankings

MAX_GRADE = NumberParam(
    "max_grade",
    4,
    "the highest grade an item can have",
    low=0,
    open=True,
    phrase="the highest possible grade is {}",
)


_LARGE = 1000
"""From here on, 2 to the power of a grade may be more than a number can hold."""


def _check_top(r: Rankings, name: str, param: str, highest: float) -> None:
    if len(r.pool_grade) and (top := float(r.pool_grade.max())) > highest:
        raise MeasureError(
            f"{param} of {name} is {show(highest)}, but the judgements hold a grade of "
            f"{show(top)}; write {name}({param}={show(top)}), the highest grade that could "
            "have been given."
        )


def _expected_rank_biased(
    r: Rankings, *, k: Cutoff, rel: float, p: float, gain: str, max_grade: float
) -> Floats:
    gained = _gained(r, rel=rel, gain=gain, max_grade=max_grade)
    weight = mean_weights(r, r.cutoff(k, rel), lambda rank: p ** (rank - 1))
    return (1 - p) * r.total(r.hit_query, gained * weight)


def _gained(r: Rankings, *, rel: float, gain: str, max_grade: float) -> Floats:
    if gain == "graded":
        _check_top(r, "RBP", "max_grade", max_grade)
        return np.maximum(r.hit_grade, 0) / max_grade
    return (r.hit_grade >= rel).astype(np.float64)


@measure(
    name="RBP",
    title="Rank-biased precision",
    says="The rate at which a patient user gains, who goes on from each result to the next with "
    "probability p.",
    formula=r"(1-p)\sum_{i\le k} g_i\, p^{i-1}",
    reference="moffat2008",
    params=(
        K,
        REL,
        patience("p", 0.8),
        Choice(
            "gain",
            "binary",
            "what an item gains",
            {
                "binary": "a relevant item gains 1",
                "graded": "an item gains its grade divided by max_grade, and rel does not matter",
            },
        ),
        MAX_GRADE,
    ),
    undefined=NEVER,
    laws={"swap_up_never_hurts", "append_unjudged_is_neutral", "below_k_is_ignored"},
    # (1 - 0.5) (0.5^1 + 0.5^3)
    example=Example("RBP(p=0.5)", "0 1 0 1", 0.5 * (0.5 + 0.125)),
    expected=_expected_rank_biased,
    monotone=own_merit,
    adds=own_merit,
)
def rank_biased_precision(
    r: Rankings, *, k: Cutoff, rel: float, p: float, gain: str, max_grade: float
) -> Floats:
    gained = _gained(r, rel=rel, gain=gain, max_grade=max_grade)
    weight = np.where(r.within(k, rel), p ** (r.hit_rank - 1.0), 0.0)
    return (1 - p) * r.total(r.hit_query, gained * weight)


@measure(
    name="ERR",
    title="Expected reciprocal rank",
    says="The expected 1/rank at which a user stops, who stops at each result with a chance that "
    "grows with its grade.",
    formula=r"\sum_{i\le k}\frac{1}{i}\, p_i \prod_{j<i}(1-p_j), \quad p_i = "
    r"\frac{2^{g_i}-1}{2^{max}}",
    reference="chapelle2009",
    params=(K, MAX_GRADE),
    undefined=NEVER,
    laws={"append_unjudged_is_neutral", "below_k_is_ignored"},
    # p = 1/2 at ranks 1 and 3: 1/2 + 1/3 * 1/2 * 1/2
    example=Example("ERR(max_grade=1)", "1 0 1", 1 / 2 + 1 / 12),
    worth=by_grade,
    monotone=own_merit,
)
def expected_reciprocal_rank(r: Rankings, *, k: Cutoff, max_grade: float) -> Floats:
    _check_top(r, "ERR", "max_grade", max_grade)
    grade = np.maximum(r.hit_grade, 0)
    if max_grade < _LARGE:
        stop = exponential(grade) / np.exp2(max_grade)
    else:
        stop = np.exp2(grade - max_grade) - np.exp2(-max_grade)
    reading = products_before(1 - stop, np.bincount(r.hit_query, minlength=len(r)))
    return r.total(
        r.hit_query, np.where(r.within(k, np.nextafter(0, 1)), stop * reading / r.hit_rank, 0.0)
    )


# -- the C/W/L framework: INST, INSQ, BPM, SDCG, NERR 8-11
#
# A user goes on from rank i to the next with the chance C(i) and so comes to rank i with the chance
# S(i) = C(1) ⋯ C(i - 1). The value is what the user gains per result read:
#
#     Σ S(i) gain(i)  /  Σ S(i),        both over the ranks 1 to k, or all ranks without a k.
#
# Ranks after the end of a list gain nothing, but the user reads on, so the lengths of lists do not
# matter. (cwl_eval, and ir_measures with it, stop at rank 1000: their INST is INST@1000 here.)
# Between two results that gain something only the rank changes, and S has a closed sum over such a
# stretch: the cost grows with the number of results that gain something, not with the lists.


REACH = CutoffParam(
    "the user reads no further than rank k; R is the number of the query's items that gain "
    "something",
    endless="the user may read on without end",
    as_relevant="the user reads no further than as many results as gain something",
    first="the user reads no further than rank 1",
    several="the user reads no further than rank {}",
)
MIN_REL = NumberParam(
    "min_rel", 0, "the grade up to which an item gains nothing", phrase="grades up to {} gain 0"
)
MAX_REL = NumberParam(
    "max_rel",
    4,
    "the highest grade an item can have, which gains 1",
    phrase="grade {} gains 1 and grades between in proportion",
)
GOAL = NumberParam(
    "T",
    1,
    "the gain that the user hopes for, in items of the best grade",
    low=0,
    open=True,
    phrase="the user hopes to gain {}",
)
SCALE = (MIN_REL, MAX_REL)

_READER: dict[str, Any] = {
    "laws": {"append_unjudged_is_neutral", "below_k_is_ignored"},
    "undefined": NEVER,
}
_STEADY: dict[str, Any] = {
    "laws": {*_READER["laws"], "swap_up_never_hurts"},
    "undefined": NEVER,
    "monotone": own_merit,
}
"""Users of whom gain does not make the weights of other ranks smaller."""

Weight = Callable[[Floats, Floats], Floats]
Summed = Callable[[Floats, Floats, Floats], Floats]


class _Reading:
    """The results that gain something, and the stretches of ranks between them."""

    def __init__(
        self, r: Rankings, name: str, *, k: Cutoff, min_rel: float, max_rel: float
    ) -> None:
        _check_scale(r, name, min_rel, max_rel)
        above, span = r.hit_grade - min_rel, np.float64(max_rel) - np.float64(min_rel)
        end = r.cutoff(k, np.nextafter(min_rel, np.inf))
        chosen = np.flatnonzero((above > 0) & (r.hit_rank <= end[r.hit_query]))
        self.rankings = r
        self.query = r.hit_query[chosen]
        self.sizes = np.bincount(self.query, minlength=len(r))
        self.rank = r.hit_rank[chosen].astype(np.float64)
        self.gain = above[chosen] / span
        # Sums of grades, which are mostly whole numbers, are exact: ten times a tenth must be 1.
        self.gained = running_sums(above[chosen], self.sizes) / span
        some = self.sizes > 0
        firsts = starts_of(self.sizes)[some]
        self.first = end.copy()
        self.first[some] = self.rank[firsts]
        self.until = np.append(self.rank[1:], np.inf)[: len(self.rank)]
        self.until[firsts + self.sizes[some] - 1] = end[some]
        self.end = end

    def total(self, values: Floats) -> Floats:
        return self.rankings.total(self.query, values)

    def rate(self, *, stay: Floats | None = None, weight: Weight, summed: Summed) -> Floats:
        """Compute what the user gains per result read.

        S(i) is the product of `stay` over the gaining results above rank i (1 where no gain stops
        the user), times `weight(i, gained)`, where `gained` is what those results gained;
        `summed(a, b, gained)` is the sum of the weights of the ranks a + 1 to b.
        """
        chance = weight(self.rank, self.gained - self.gain)
        zero = np.zeros(len(self.end))
        if stay is None:
            read = summed(zero, self.end, zero)
        else:
            before = products_before(stay, self.sizes)
            chance *= before
            read = summed(zero, self.first, zero) + self.total(
                before * stay * summed(self.rank, self.until, self.gained)
            )
        return np.divide(self.total(self.gain * chance), read, out=zero, where=read > 0)


def _check_scale(r: Rankings, name: str, min_rel: float, max_rel: float) -> None:
    if min_rel >= max_rel:
        raise MeasureError(
            f"min_rel of {name} must be below max_rel; got {show(min_rel)} and {show(max_rel)}."
        )
    _check_top(r, name, "max_rel", max_rel)


def _check_end(name: str, k: Cutoff) -> None:
    if k is None:
        raise MeasureError(
            f"{name} is a user who reads no further than some rank and needs it, as in {name}@10."
        )


# -- weights that depend on the rank alone


def even(rank: Floats, gained: Floats) -> Floats:
    return np.ones(len(rank))


def even_sum(start: Floats, stop: Floats, gained: Floats) -> Floats:
    return stop - start


@measure(
    name="SDCG",
    title="Scaled discounted cumulative gain",
    says="DCG divided by the DCG of k items of the best grade: unlike nDCG it does not ask how "
    "many such items there are.",
    formula=r"\frac{\sum_{i\le k} gain_i/\log_2(i+1)}{\sum_{i\le k} 1/\log_2(i+1)}, \quad gain_i = "
    r"\frac{g_i - min}{max - min}",
    reference="azzopardi2019",
    params=(REACH, *SCALE),
    # (1/log2(2) + 1/log2(4)) / (1/log2(2) + 1/log2(3) + 1/log2(4))
    example=Example("SDCG(max_rel=1)@3", "1 0 1", 1.5 / (1.5 + 1 / np.log2(3))),
    **_STEADY,
)
def scaled_dcg(r: Rankings, *, k: Cutoff, min_rel: float, max_rel: float) -> Floats:
    _check_end("SDCG", k)
    check_reach("SDCG", k)
    reading = _Reading(r, "SDCG", k=k, min_rel=min_rel, max_rel=max_rel)
    sums = np.append(0.0, np.cumsum(discounts(np.arange(1, int(reading.end.max(initial=0)) + 1))))
    return reading.rate(
        weight=lambda rank, gained: discounts(rank.astype(np.int64)),
        summed=lambda start, stop, gained: sums[stop.astype(np.int64)],
    )


@measure(
    name="INSQ",
    title="INSQ",
    says="Gain per result read by a user who hopes for a gain of T and goes on the more surely the "
    "further down they are.",
    formula=r"\frac{\sum_i S(i)\,gain_i}{\sum_i S(i)}, \quad S(i) = \prod_{j<i} C(j), \quad "
    r"C(i) = \left(\frac{i+2T-1}{i+2T}\right)^2",
    reference="moffat2012",
    params=(REACH, GOAL, *SCALE),
    # S(i) = (2/(i + 1))^2: 4/9 at rank 2, and 4 (1/4 + 1/9 + 1/16 + …) = 4 (pi^2/6 - 1) in all.
    example=Example("INSQ(max_rel=1)", "0 1", (4 / 9) / (4 * (np.pi**2 / 6 - 1))),
    **_STEADY,
)
def insq(r: Rankings, *, k: Cutoff, T: float, min_rel: float, max_rel: float) -> Floats:  # noqa: N803
    reading = _Reading(r, "INSQ", k=k, min_rel=min_rel, max_rel=max_rel)
    weight, summed = _squares(T)
    return reading.rate(weight=weight, summed=summed)


def _squares(goal: float) -> tuple[Weight, Summed]:
    """Return (2T / (2T + i - 1))² and its sums."""

    def weight(rank: Floats, gained: Floats) -> Floats:
        return (2 * goal / (2 * goal + rank - 1)) ** 2

    def beyond(rank: Floats) -> Floats:
        return 4 * goal**2 * inverse_squares(2 * goal + rank)

    def summed(start: Floats, stop: Floats, gained: Floats) -> Floats:
        return along(beyond, start) - along(beyond, stop)

    return weight, summed


# -- users whom gain stops


@measure(
    name="INST",
    title="INST",
    says="Gain per result read by a user who hopes for a gain of T and is the more likely to stop "
    "the more of it is gained.",
    formula=r"\frac{\sum_i S(i)\,gain_i}{\sum_i S(i)}, \quad S(i) = \prod_{j<i} C(j), \quad "
    r"C(i) = \left(\frac{i+T+T_i-1}{i+T+T_i}\right)^2, \quad T_i = T - \sum_{j\le i} gain_j",
    reference="moffat2015",
    # With less than half an item to hope for, C would be above 1.
    params=(REACH, NumberParam("T", 1, GOAL.says, low=0.5, phrase=GOAL.phrase), *SCALE),
    # After rank 1 nothing is left to hope for: C(i) = (i/(i + 1))^2, S(i) = 1/i^2, and their sum is
    # pi^2/6.
    example=Example("INST(max_rel=1)", "1 0", 6 / np.pi**2),
    **_READER,
)
def inst(r: Rankings, *, k: Cutoff, T: float, min_rel: float, max_rel: float) -> Floats:  # noqa: N803
    reading = _Reading(r, "INST", k=k, min_rel=min_rel, max_rel=max_rel)
    # While y has been gained, C(i) = ((i - 1 + x) / (i + x))² with x = 2T - y, so S(i) falls as 1 /
    # (i - 1 + x)²; a gain changes x, and S goes on from where it was.
    ahead = 2 * T + reading.rank - 1 - reading.gained
    return reading.rate(
        stay=(ahead / (ahead + reading.gain)) ** 2,
        weight=lambda rank, gained: (2 * T / (2 * T + rank - 1 - gained)) ** 2,
        summed=lambda start, stop, gained: (
            4
            * T**2
            * (inverse_squares(2 * T + start - gained) - inverse_squares(2 * T + stop - gained))
        ),
    )


ROUNDING = 1e-9
"""A sum that falls short of a goal by less than this share of it reaches it: ten tenths, added one
after the other, are 0.9999999999999999."""


@measure(
    name="BPM",
    title="Bejeweled player model",
    says="Mean gain of the results down to where a gain of T is reached, or down to rank k where "
    "it is not.",
    formula=r"\frac{1}{n}\sum_{i\le n} gain_i, \quad n = \min(k, \min\{i: \sum_{j\le i} gain_j \ge "
    r"T\})",
    reference="zhang2017",
    params=(REACH, GOAL, *SCALE),
    # Gains 0.5, 0 and 0.5 make 1 at rank 3.
    example=Example("BPM(max_rel=2)@4", "1 0 1 2", 1 / 3),
    **_READER,
)
def bejeweled_player(r: Rankings, *, k: Cutoff, T: float, min_rel: float, max_rel: float) -> Floats:  # noqa: N803
    _check_end("BPM", k)
    reading = _Reading(r, "BPM", k=k, min_rel=min_rel, max_rel=max_rel)
    unmet = reading.gained < T * (1 - ROUNDING)
    return reading.rate(stay=unmet.astype(np.float64), weight=even, summed=even_sum)


_NERR = r"\frac{\sum_i S(i)\,gain_i}{\sum_i S(i)}, \quad S(i) = \prod_{j<i} C(j), \quad C(i) = "


@measure(
    name="NERR8",
    title="Nearly expected reciprocal rank, equation 8",
    says="Gain per result read by a user who stops at each result with a chance equal to its gain.",
    formula=_NERR + r"1 - gain_i",
    reference="azzopardi2021",
    params=(REACH, *SCALE),
    # Gains 0.5, 0 and 1 meet a user who is there with the chances 1, 0.5 and 0.5: (0.5 + 0.5) / 2
    example=Example("NERR8(max_rel=2)@3", "1 0 2", 0.5),
    **_STEADY,
)
def nerr8(r: Rankings, *, k: Cutoff, min_rel: float, max_rel: float) -> Floats:
    _check_end("NERR8", k)
    reading = _Reading(r, "NERR8", k=k, min_rel=min_rel, max_rel=max_rel)
    return reading.rate(stay=1 - reading.gain, weight=even, summed=even_sum)


@measure(
    name="NERR9",
    title="Nearly expected reciprocal rank, equation 9",
    says="Gain per result read by a user who stops at each result with a chance equal to its gain, "
    "and otherwise goes on from rank i with the chance i / (i + 1).",
    formula=_NERR + r"\frac{i}{i+1}(1 - gain_i)",
    reference="azzopardi2021",
    params=(REACH, *SCALE),
    # Gains 0.5, 0 and 1; chances 1, 1/2 · 1/2 and 1/3 · 1/2: (1/2 + 1/6) / (1 + 1/4 + 1/6) = (8/12)
    # / (17/12)
    example=Example("NERR9(max_rel=2)@3", "1 0 2", 8 / 17),
    **_STEADY,
)
def nerr9(r: Rankings, *, k: Cutoff, min_rel: float, max_rel: float) -> Floats:
    _check_end("NERR9", k)
    reading = _Reading(r, "NERR9", k=k, min_rel=min_rel, max_rel=max_rel)
    return reading.rate(
        stay=1 - reading.gain,
        weight=lambda rank, gained: 1 / rank,
        summed=lambda start, stop, gained: along(harmonic, stop) - along(harmonic, start),
    )


@measure(
    name="NERR10",
    title="Nearly expected reciprocal rank, equation 10",
    says="Gain per result read by a user who stops at each result with a chance equal to its gain, "
    "and otherwise goes on with probability p.",
    formula=_NERR + r"p\,(1 - gain_i)",
    reference="azzopardi2021",
    params=(REACH, patience("p", 0.9), *SCALE),
    # Gains 0.5, 0 and 1; chances 1, 1/4, 1/8 and none after it: (1/2 + 1/8) / (1 + 1/4 + 1/8)
    example=Example("NERR10(p=0.5, max_rel=2)", "1 0 2", 5 / 11),
    **_STEADY,
)
def nerr10(r: Rankings, *, k: Cutoff, p: float, min_rel: float, max_rel: float) -> Floats:
    reading = _Reading(r, "NERR10", k=k, min_rel=min_rel, max_rel=max_rel)

    def power(rank: Floats) -> Floats:
        return p**rank

    return reading.rate(
        stay=1 - reading.gain,
        weight=lambda rank, gained: along(power, rank - 1),
        summed=lambda start, stop, gained: (
            along(power, start) * -np.expm1((stop - start) * np.log(p)) / (1 - p)
        ),
    )


@measure(
    name="NERR11",
    title="Nearly expected reciprocal rank, equation 11",
    says="Gain per result read by a user who stops at each result with a chance equal to its gain, "
    "and otherwise goes on as one who hopes for a gain of T does in INSQ.",
    formula=_NERR + r"\left(\frac{i+2T-1}{i+2T}\right)^2(1 - gain_i)",
    reference="azzopardi2021",
    params=(REACH, GOAL, *SCALE),
    # Chances 1 and (2/3)^2, and none after the gain of 1 at rank 2: (4/9) / (1 + 4/9)
    example=Example("NERR11(max_rel=1)", "0 1", 4 / 13),
    **_STEADY,
)
def nerr11(r: Rankings, *, k: Cutoff, T: float, min_rel: float, max_rel: float) -> Floats:  # noqa: N803
    reading = _Reading(r, "NERR11", k=k, min_rel=min_rel, max_rel=max_rel)
    weight, summed = _squares(T)
    return reading.rate(stay=1 - reading.gain, weight=weight, summed=summed)


def inverse_squares(x: Floats) -> Floats:
    """Add up 1/x² + 1/(x + 1)² + 1/(x + 2)² + …, for x above 0."""
    from scipy.special import zeta

    return np.asarray(zeta(2, x))


def harmonic(n: Floats) -> Floats:
    """Add up 1 + 1/2 + … + 1/n, for whole n from 0.

    >>> harmonic(np.array([0.0, 1.0, 2.0])).tolist()
    [0.0, 1.0, 1.5]
    """
    from scipy.special import digamma

    return np.asarray(digamma(n + 1) + np.euler_gamma)


_ANY = float(np.nextafter(0, 1))
"""Every item with a grade above 0 belongs to the ideal list."""


_NEAREST = 1e-8
"""The least distance of the patience from 1; the steps of sums grow with 1 / sqrt(1 - p)."""


def _nothing_preferred(r: Rankings, params: Mapping[str, Any]) -> Mask:
    return r.relevant(_ANY) == 0


@measure(
    name="Compat",
    aliases=("Compatibility",),
    title="Compatibility",
    says="The rank-biased overlap of the list with an ideal one, which holds the items of a "
    "grade above 0, the best grades first and equal grades in the order that suits the list "
    "best; divided by the most that any list can reach.",
    formula=r"\frac{\sum_i p^{i-1}\,|L_i \cap I_i| / i}{\sum_i p^{i-1}\,|I_i| / i}, \quad L_i, "
    r"I_i:\ first\ i\ items",
    reference="clarke2021",
    params=(
        K,
        share_param(
            "p", 0.95, "the user's patience", "each rank weighs {} times the one before", open=True
        ),
        Choice(
            "normalize",
            "true",
            "whether the overlap is divided by the most that any list can reach",
            {
                "true": "the overlap is divided by the ideal list's overlap with itself",
                "false": "the overlap is divided by the sum of all ranks' weights, so that a short "
                "ideal list has less than 1",
            },
        ),
    ),
    undefined=Undefined("no judged item of the query has a grade above 0", _nothing_preferred),
    laws=EVERY_LAW,
    # The item is in both lists from rank 2 on, in the ideal one from rank 1; 1 + 0.5/2 + 0.5^2/3 +
    # … = 2 ln 2: (2 ln 2 - 1) / (2 ln 2)
    example=Example("Compat(p=0.5)", "0 1", 1 - 1 / (2 * np.log(2))),
)
def compatibility(r: Rankings, *, k: Cutoff, p: float, normalize: str) -> Floats:
    if 1 - p < _NEAREST:
        raise MeasureError(
            f"p of Compat must not be nearer to 1 than {_NEAREST:g}, where its sums have no end; "
            f"got {show(p)}."
        )
    # An item that is at rank a of one list and rank b of the other counts at all ranks from the
    # later of the two on.
    hit, ideal = r.hit_grade > 0, r.pool_grade > 0
    query = r.hit_query[hit]
    later = np.maximum(r.hit_rank[hit], _ideal_rank(r, query, r.hit_grade[hit]))
    end = r.cutoff(k, _ANY)
    overlap = r.total(query, _weights_from(later, end[query], p))
    most = r.total(
        r.pool_query[ideal], _weights_from(r.pool_place[ideal], end[r.pool_query[ideal]], p)
    )
    weights = -np.expm1(end * np.log(p)) / (1 - p)
    return divide(overlap, most if normalize == "true" else np.where(most > 0, weights, 0.0))


def _ideal_rank(r: Rankings, query: Ints, grade: Floats) -> Ints:
    """Rank each preferred hit in the ideal list, after better items and earlier equals."""
    sizes = np.bincount(r.pool_query, minlength=len(r))
    better = count_above(r.pool_grade, starts_of(sizes), sizes, query, grade, or_equal=False)
    # An item's equals in its query are those with as many better ones; the sort is stable, so ranks
    # keep their order.
    tier = query * (int(sizes.max(initial=0)) + 1) + better
    order = np.argsort(tier, kind="stable")
    number = np.cumsum(borders(tier[order])) - 1
    place = np.empty(len(query), np.int64)
    place[order] = ordinals(number, len(order))
    return better + place


def _weights_from(rank: Ints, end: Floats, p: float) -> Floats:
    """Add up p^(i - 1) / i over the ranks i from some rank to the last."""

    def tail(rank: Floats) -> Floats:
        return _tail(rank, p)

    return np.where(rank <= end, along(tail, rank.astype(np.float64)) - along(tail, end + 1), 0.0)


def _tail(rank: Floats, p: float) -> Floats:
    """Add up p^(i - 1) / i over all i from some rank on (from 1); 0 for infinity.

    Gauss's continued fraction of 1/m + p/(m + 1) + p²/(m + 2) + …, from the inside out: some 10 /
    sqrt(1 - p) steps, where the series itself would take 40 / (1 - p), and each rank on its own.

    >>> round(float(_tail(np.array([1.0]), 0.5)[0] / np.log(2)), 12)
    2.0
    """
    m = np.where(np.isfinite(rank), np.maximum(rank, 1.0), 1.0)
    fraction = np.ones(len(m))
    for n in range(ceil(10 / sqrt(1 - p)), 0, -1):
        fraction = 1 - p * n**2 / ((m + 2 * n - 1) * (m + 2 * n) * fraction)
        fraction = 1 - p * (m + n - 1) ** 2 / ((m + 2 * n - 2) * (m + 2 * n - 1) * fraction)
    return np.where(np.isfinite(rank), p ** (m - 1) / (m * fraction), 0.0)
