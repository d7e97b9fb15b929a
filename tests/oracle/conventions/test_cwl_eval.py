"""The convention of cwl-eval beside cwl-eval, query by query, ties included: the order of the file
counts."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from support.generated import Collection
from support.loops import for_each
from support.parts import Later, Needs
from support.peers import COLLECTIONS, Case, cases, compare, two_by_default, without_negative

NAME = "cwl-eval"
ruler = Later("cwl.ruler.cwl_ruler")
TOP = 4
METRICS: dict[str, Callable[..., Any]] = {
    "P@{k}": lambda k: ruler.PrecisionCWLMetric(k),
    "RR": lambda: ruler.RRCWLMetric(),
    "AP": lambda: ruler.APCWLMetric(),
    "NDCG-k@{k}": lambda k: ruler.NDCGCWLMetric(k),
    "INST-T={T}": lambda T: ruler.INSTCWLMetric(T),  # noqa: N803
    "INSQ-T={T}": lambda T: ruler.INSQCWLMetric(T),  # noqa: N803
    "BPM-Static-T={T}-K={k}": lambda T, k: ruler.BPMCWLMetric(T, k),  # noqa: N803
    "NERR-EQ8@k={k}": lambda k: ruler.NERReq8CWLMetric(k),
    "NERR-EQ9@k={k}": lambda k: ruler.NERReq9CWLMetric(k),
    "NERR-EQ10@phi={p}": lambda p: ruler.NERReq10CWLMetric(p),
    "NERR-EQ11@T={T}": lambda T: ruler.NERReq11CWLMetric(T),  # noqa: N803
    "RBP@{p}": lambda p: ruler.RBPCWLMetric(p),
}
BINARY = ("P@{k}", "RR", "AP")


@pytest.fixture(autouse=True)
def library(needs: Needs) -> None:
    needs("cwl_eval")


def in_order(given: Collection) -> Collection:
    """The rows of each query by descending score, as a run file has them; tied ones stay as they
    are."""
    return Collection(given.judgements, sorted(given.rows, key=lambda row: (row[0], -row[2])))


DATA = {
    name: in_order(without_negative(COLLECTIONS[name]))
    for name in ("ties and gaps", "nothing relevant", "short lists")
}
"""It walks down a thousand ranks for every query, which takes a while."""


@pytest.mark.parametrize("collection", two_by_default(DATA))
@for_each("case", cases(NAME, METRICS), ids=str)
def test_every_name(case: Case, collection: str) -> None:
    given, theirs = DATA[collection], {}
    for query in given.common:
        grades = [given.judgements[query].get(item, 0) for item in given.run[query]]
        gains = np.array(
            [float(grade > 0) if case.name.theirs in BINARY else grade / TOP for grade in grades]
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            metric = METRICS[case.name.theirs](**case.places)
            theirs[query] = float(metric.measure(ruler.Ranking(query, gains, np.ones(len(gains)))))
    assert compare(NAME, case, given, theirs) == len(given.common)
