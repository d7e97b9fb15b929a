"""How often comparisons raise a false alarm and find a difference, on values as retrieval has
them: skewed, tied, many differences of 0. Each with its Monte Carlo error."""

from __future__ import annotations

import math

import numpy as np
import pytest

import judged
from judged.arrays import Floats
from judged.statistics.ranks import corrected
from judged.statistics.t import below, t_test

pytestmark = [pytest.mark.full, pytest.mark.slow]

ERRORS = 4
"""So many standard errors of the simulation itself may a share be off."""


def population(seed: int, runs: int = 2) -> Floats:
    """Per-query values of some systems over 5,000 queries: a third at the ends, in steps of a
    twentieth, most of them the same in all systems."""
    rng = np.random.default_rng(seed)
    size = 5_000
    base = rng.beta(0.5, 0.8, size)
    moved = rng.exponential(0.25, (runs, size)) * rng.choice([-1, 1], (runs, size), p=[0.55, 0.45])
    moved *= rng.random((runs, size)) < 0.7
    return np.round(np.clip(base + moved, 0, 1) * 20) / 20


def error_of(share: float, trials: int) -> float:
    return math.sqrt(share * (1 - share) / trials)


def test_no_false_certainty_end_to_end() -> None:
    """Two systems of equal means, compared as anybody does: better or worse 1 time in 20."""
    one, two = population(7)
    two = two - two.mean() + one.mean()
    rng = np.random.default_rng(7)
    trials, shown = 300, 0
    for _ in range(trials):
        some = rng.integers(0, len(one), 25)
        values = {
            name: {f"q{at:02}": float(each) for at, each in enumerate(own[some])}
            for name, own in (("one", one), ("two", two))
        }
        shown += judged.compare_values(values).pair().verdict in ("better", "worse")
    assert shown / trials < 0.055 + ERRORS * error_of(0.05, trials)
    assert shown / trials > 0.05 - ERRORS * error_of(0.05, trials)


def test_equivalent_is_claimed_of_few_families_at_the_margin() -> None:
    """Ten systems in two camps that truly differ by the margin: without a correction 44 % of all
    families hold a false claim."""
    rng = np.random.default_rng(9)
    claims = 0
    for _ in range(60):
        table = rng.normal(0, 0.1, (10, 60)) + 0.05 * (np.arange(10) % 2)[:, None]
        values = {
            f"s{run}": {f"q{at:02}": float(value) for at, value in enumerate(own)}
            for run, own in enumerate(table)
        }
        rows = judged.compare_values(values, margin=0.05).rows
        apart = [row for row in rows if (int(row.run[1]) + int(row.against[1])) % 2]
        claims += any(row.verdict == "equivalent" or row.negligible for row in apart)
    assert claims / 60 < 0.05 + ERRORS * error_of(0.05, 60)


@pytest.mark.parametrize("runs", [2, 4])
def test_what_is_detectable_is_found_as_often_as_it_says(runs: int) -> None:
    """A system that differs by what is called detectable is shown 8 times in 10 under Holm, where
    no other one differs."""
    rng = np.random.default_rng(runs)
    trials, queries = 400, 40
    given = {
        f"s{run}": {f"q{at:02}": float(x) for at, x in enumerate(rng.normal(0, 1, queries))}
        for run in range(runs)
    }
    # The spread is known: differences of two systems have a variance of 2.
    row = judged.compare_values(given, baseline="s0").pair("s1")
    d = np.array([given["s1"][query] - given["s0"][query] for query in given["s0"]])
    assert row.detectable is not None
    detectable = row.detectable * math.sqrt(2) / float(d.std(ddof=1))
    shown = 0
    for _ in range(trials):
        table = rng.normal(0, 1, (runs, queries))
        table[1] += detectable
        p = corrected(t_test((table[1:] - table[0]).T).p, "holm")
        shown += bool(below(p[0], 0.95))
    assert shown / trials == pytest.approx(0.8, abs=0.02 + 3 * error_of(0.8, trials))


def test_ten_equal_systems_on_eight_queries_raise_few_false_alarms_by_bootstrap() -> None:
    """Half of all families did while p was that of resamples alone."""
    rng = np.random.default_rng(8)
    alarms = 0
    for _ in range(20):
        values = {
            f"s{run}": {f"q{at}": float(value) for at, value in enumerate(rng.random(8))}
            for run in range(10)
        }
        found = judged.compare_values(values, test="bootstrap")
        alarms += any(row.verdict in ("better", "worse") for row in found.rows)
    assert alarms <= 3
