"""Contenders that resample: `python -m bench.statistics NAME QUERIES COLUMNS SYSTEMS RESAMPLES`
prints one line of JSON.

Only the call is timed; numbers are drawn from a seed, and every contender has called once before,
on few queries.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from bench.contenders import clocked

Report = dict[str, Any]
Numbers = Any
FEW = 12
"""Queries of the first call, which nobody times."""


def drawn(queries: int, columns: int, systems: int = 1) -> Numbers:
    """Values of systems on queries, for each of some measures: a little apart, with ties."""
    import numpy as np

    generator = np.random.default_rng(0)
    values = generator.beta(0.6, 1.4, (queries, systems, columns))
    return (values + 0.02 * np.arange(systems)[:, None]).round(3)


def differences(queries: int, columns: int) -> Numbers:
    """What paired tests take: a column per pair."""
    values = drawn(queries, columns, 2)
    return values[:, 1] - values[:, 0]


def nothing(queries: int, columns: int, systems: int, resamples: int) -> Report:
    """Only the numbers and the libraries: what memory is there before anything is resampled."""
    import scipy.special  # noqa: F401

    import judged.statistics.bootstrap
    import judged.statistics.randomisation  # noqa: F401

    numbers = drawn(queries, columns)
    product = numbers[:FEW, 0]
    return {"calls": clocked(lambda: product @ product.T, 1)}


def judged_bca(queries: int, columns: int, systems: int, resamples: int) -> Report:
    from judged.statistics.bootstrap import bootstrap
    from judged.statistics.samples import Means

    def call(size: int) -> None:
        samples = [Means.of_values(column) for column in drawn(size, columns)[:, 0].T]
        bootstrap(samples, method="bca", resamples=resamples)

    return _timed(call, queries)


def scipy_bca(queries: int, columns: int, systems: int, resamples: int) -> Report:
    import numpy as np
    from scipy import stats

    def call(size: int) -> None:
        for column in drawn(size, columns)[:, 0].T:
            stats.bootstrap((column,), np.mean, method="BCa", n_resamples=resamples, batch=100)

    return _timed(call, queries)


def judged_flips(queries: int, columns: int, systems: int, resamples: int) -> Report:
    from judged.statistics.randomisation import randomisation

    return _timed(
        lambda size: randomisation(differences(size, columns), resamples=resamples), queries
    )


def scipy_flips(queries: int, columns: int, systems: int, resamples: int) -> Report:
    from scipy import stats

    def call(size: int) -> None:
        for column in differences(size, columns).T:
            stats.permutation_test(
                (column,),
                lambda values, axis: values.mean(axis=axis),
                permutation_type="samples",
                vectorized=True,
                n_resamples=resamples,
                batch=100,
            )

    return _timed(call, queries)


def ranx_flips(queries: int, columns: int, systems: int, resamples: int) -> Report:
    from ranx.statistical_tests import fisher_randomization_test

    def call(size: int) -> None:
        values = drawn(size, columns, 2)
        for column in range(columns):
            fisher_randomization_test(
                values[:, 0, column].copy(), values[:, 1, column].copy(), n_permutations=resamples
            )

    return _timed(call, queries)


def judged_exact(queries: int, columns: int, systems: int, resamples: int) -> Report:
    from judged.statistics.randomisation import exact_p

    column = differences(queries, 1)[:, 0]
    return _timed(lambda size: exact_p(column[:size]), queries)


def judged_tukey(queries: int, columns: int, systems: int, resamples: int) -> Report:
    from judged.statistics.randomisation import randomised_tukey

    return _timed(
        lambda size: randomised_tukey(drawn(size, columns, systems), resamples=resamples), queries
    )


def scipy_tukey(queries: int, columns: int, systems: int, resamples: int) -> Report:
    from scipy import stats

    def call(size: int) -> None:
        values = drawn(size, columns, systems)
        for column in range(columns):
            stats.tukey_hsd(*values[..., column].T)

    return _timed(call, queries)


CONTENDERS: dict[str, Callable[[int, int, int, int], Report]] = {
    "nothing": nothing,
    "judged-bca": judged_bca,
    "scipy-bca": scipy_bca,
    "judged-flips": judged_flips,
    "scipy-flips": scipy_flips,
    "ranx-flips": ranx_flips,
    "judged-exact": judged_exact,
    "judged-tukey": judged_tukey,
    "scipy-tukey": scipy_tukey,
}


def _timed(call: Callable[[int], Any], queries: int) -> Report:
    call(min(FEW, queries))
    return {"calls": clocked(lambda: call(queries), 1)}


if __name__ == "__main__":
    print(json.dumps(CONTENDERS[sys.argv[1]](*map(int, sys.argv[2:]))))
