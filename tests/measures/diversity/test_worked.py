"""Worked by hand: three items, three subtopics, one list with a gap and an item that was not
retrieved."""

from __future__ import annotations

from math import log2

import pytest

import judged

# Query "jaguar": subtopics car, cat, mac. Item a serves car and cat, b serves car, c serves mac
# (and was judged 0 for car). Item d serves car and was not retrieved. Nobody serves "guitar", which
# was judged once: it does not count, S = 3.
JUDGEMENTS = {
    "jaguar": {
        "a": {"car": 1, "cat": 2},
        "b": {"car": 1, "guitar": 0},
        "c": {"mac": 1, "car": 0},
        "d": {"car": 1},
    }
}
# Rank 1 is b, rank 2 nobody judged, rank 3 is a, rank 4 is c.
RUN = {"jaguar": ["b", "x", "a", "c"]}
# With alpha = 0.5 the gains are: rank 1: car 1; rank 3: car 0.5 + cat 1; rank 4: mac 1.
# The ideal list: a (2); then c (mac 1) over b and d (car 0.5); then d (car 0.5), as its id is
# greater; then b (car 0.25).

CASES = {
    # (1/log2(2) + 1.5/log2(4)) over (2/log2(2) + 1/log2(3) + 0.5/log2(4))
    "alpha_nDCG@3": 1.75 / (2 + 1 / log2(3) + 0.25),
    # All ranks: + 1/log2(5), and + 0.25/log2(5) in the ideal list.
    "alpha_nDCG": (1.75 + 1 / log2(5)) / (2.25 + 1 / log2(3) + 0.25 / log2(5)),
    # With alpha = 0 nothing is lost: 1 + 2/2 + 1/log2(5) over a 2, then c, d, b with 1 each.
    "alpha_nDCG(alpha=0)": (2 + 1 / log2(5)) / (2 + 1 / log2(3) + 1 / 2 + 1 / log2(5)),
    # Grade 2 is needed: only a serves cat; at rank 3, and first in the ideal list.
    "alpha_nDCG(rel=2)@10": 1 / 2,
    # Every rank serves all three subtopics: 3 (1 + 0.5/log2(3) + 0.25/log2(4))
    "alpha_DCG@3": 1.75 / (3 * (1 + 0.5 / log2(3) + 0.125)),
    # No k: a list of 4 items, as many as are relevant.
    "alpha_DCG": (1.75 + 1 / log2(5)) / (3 * (1 + 0.5 / log2(3) + 0.125 + 0.125 / log2(5))),
    # 1/1 + 1.5/3 + 1/4 = 1.75 over 3 (1 + 0.5/2 + 0.25/3 + 0.125/4)
    "ERR_IA@4": 1.75 / (3 * (1 + 1 / 4 + 1 / 12 + 1 / 32)),
    # 1 over 3, not over 1
    "ERR_IA@1": 1 / 3,
    # the same over 2/1 + 1/2 + 0.5/3 + 0.25/4
    "nERR_IA@4": 1.75 / (2 + 1 / 2 + 1 / 6 + 1 / 16),
    # 1 + 1.5 * 0.25 + 1 * 0.125 = 1.5, times (1 - 0.5 * 0.5)/3
    "NRBP": 1.5 * 0.75 / 3,
    # over 2 + 0.5 + 0.5 * 0.25 + 0.25 * 0.125
    "nNRBP": 1.5 / (2 + 0.5 + 0.125 + 0.03125),
    # patience 0.8: 1 + 1.5 * 0.64 + 0.512, times (1 - 0.5 * 0.8)/3
    "NRBP(beta=0.8)": (1 + 0.96 + 0.512) * 0.6 / 3,
    # car: b at 1, a at 3, d never: (1/1 + 2/3)/3; cat: a at 3: 1/3; mac: c at 4: 1/4
    "AP_IA": (5 / 9 + 1 / 3 + 1 / 4) / 3,
    # down to rank 3: mac is not found
    "AP_IA@3": (5 / 9 + 1 / 3) / 3,
    # 1 + 2 + 1 services in 4 ranks, 3 subtopics
    "P_IA@4": 4 / 12,
    # the missing results of a short list serve nothing
    "P_IA@10": 4 / 30,
    "P_IA": 4 / 12,
    # car; car and cat; all
    "StRecall@2": 1 / 3,
    "StRecall@3": 2 / 3,
    "StRecall": 1.0,
}


@pytest.mark.parametrize("measure", CASES)
def test_value(measure: str) -> None:
    assert judged.evaluate(JUDGEMENTS, RUN, [measure]).value() == pytest.approx(
        CASES[measure], abs=1e-15
    )
