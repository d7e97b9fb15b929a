"""Arguments that have no statistic, each with the whole message."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from judged.statistics import cohen_kappa, krippendorff_alpha, order_agreement
from judged.statistics.bootstrap import bootstrap
from judged.statistics.intervals import auroc, interval, mean_interval
from judged.statistics.randomisation import exact_p, randomisation, randomised_tukey
from judged.statistics.samples import Means, Median
from support.errors import error_of
from support.loops import for_each

MEDIAN = Median.of_values(np.arange(9.0))
RATIO = Means(np.random.default_rng(0).random((9, 2)), lambda m: m[..., 0] / m[..., 1])
LISTS = "kappa takes two lists of finite grades of the same items, one per assessor."
TABLE = "alpha takes a table of grades: a row per item, and two or more columns, one per assessor."
AREA = "an AUROC needs at least one score of each kind, and none that is NaN."
MEAN = "an interval of a mean needs one finite number for each query, and at least one."
LEVEL = "level must be a number between 0 and 1, as 0.95; got {!r}."
SAME = "x and y must have a value for the same systems; "
ABC = {"a": 1, "b": 2, "c": 3}

CASES: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], str]] = [
    (cohen_kappa, ([], []), {}, LISTS),
    (cohen_kappa, ([1], [1, 0]), {}, LISTS),
    (cohen_kappa, ([[1]], [[1]]), {}, LISTS),
    (cohen_kappa, ([1.0], [np.nan]), {}, LISTS),
    (cohen_kappa, (["a"], ["b"]), {}, "grades must be numbers."),
    (
        *(cohen_kappa, ([1], [1]), {"weights": "cubic"}),
        "weights must be one of plain, linear, quadratic; got 'cubic'.",
    ),
    (krippendorff_alpha, ([1, 2],), {}, TABLE),
    (krippendorff_alpha, ([[1], [2]],), {}, TABLE),
    (krippendorff_alpha, ([[1, np.inf]],), {}, TABLE),
    (
        *(krippendorff_alpha, ([[1, 1]],), {"metric": "ratio"}),
        "metric must be one of nominal, ordinal, interval; got 'ratio'.",
    ),
    (auroc, ([], [1.0]), {}, AREA),
    (auroc, ([math.nan], [1.0]), {}, AREA),
    (auroc, ([[1.0]], [1.0]), {}, AREA),
    *((mean_interval, (values,), {}, MEAN) for values in ([], [math.nan, 1.0], [[1.0, 2.0]])),
    *(
        (mean_interval, ([1.0, 2.0],), {"level": level}, LEVEL.format(level))
        for level in (0, 1, 95, "0.95", True)
    ),
    (interval, (MEDIAN,), {"method": "t"}, "t gives no interval of a median; percentile does."),
    (
        *(interval, (RATIO,), {"method": "t"}),
        "t gives no interval of a number that is no mean, sum or geometric mean; bca and "
        "percentile do.",
    ),
    (
        *(interval, (RATIO,), {"method": "bac"}),
        "the method of an interval must be one of t, bca, percentile; got 'bac'; did you mean "
        "'bca'?",
    ),
    (
        *(bootstrap, ([(MEDIAN,)],), {"method": "bca"}),
        "a median has no BCa interval: leaving out one query hardly moves it. Take the percentile "
        "interval.",
    ),
    (
        *(randomisation, (np.array([[1.0], [np.inf]]),), {}),
        "a randomisation test needs differences that are finite numbers.",
    ),
    (
        *(randomised_tukey, (np.array([[1.0, np.nan]]),), {}),
        "randomised Tukey needs values that are finite numbers.",
    ),
    (
        *(exact_p, (np.r_[np.ones(30), -np.ones(11)],), {}),
        "an exact p needs at most 40 units that differ, or all of one sign; 41 differ.",
    ),
    (
        *(order_agreement, ([0.5, 0.4], [0.4, 0.5]), {}),
        "an agreement of orders needs at least three systems; got 2. Two systems are in one order "
        "or in the other: compare their values.",
    ),
    (
        *(order_agreement, (ABC, {"a": 1, "b": 2, "d": 3}), {}),
        f"{SAME}x has c, which y lacks.",
    ),
    (
        *(order_agreement, (pd.Series([1, 2, 3], index=["a", "a", "b"]), ABC), {}),
        "x has two values for one system; give one.",
    ),
    (
        *(order_agreement, ([1, 2, 3], "123"), {}),
        "y must be {system: value}, or a sequence of values; got '123'.",
    ),
    (
        *(order_agreement, ({**ABC, "b": math.nan}, ABC), {}),
        "x must have a number for each system; got nan for system 'b'.",
    ),
]


@for_each(("function", "arguments", "options", "message"), CASES)
def test_the_whole_message(
    function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any], message: str
) -> None:
    assert error_of(function, *arguments, **options) == message
