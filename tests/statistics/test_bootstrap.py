"""The bootstrap: resamples and BCa as scipy has them, p by inversion, and what has no spread."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtr, ndtri

from judged.statistics import bootstrap as module
from judged.statistics.bootstrap import bootstrap, median_of, resampled
from judged.statistics.samples import CLOSE, Means, Median, Sample
from judged.statistics.t import below
from support.resampling import check_agreement

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)


def harmonic(means: np.ndarray) -> np.ndarray:
    """F1 of two means, undefined where both are 0."""
    first, second = means[..., 0], means[..., 1]
    return 2 * first * second / (first + second)


def scipys(values: np.ndarray, method: str, statistic: Any = np.mean, level: float = 0.95) -> Any:
    return stats.bootstrap(
        (values,),
        statistic,
        method=method,
        confidence_level=level,
        random_state=np.random.default_rng(0),
        vectorized=True,
    )


def ends(tested: Any) -> tuple[np.ndarray, np.ndarray]:
    return tested.low, tested.high


@pytest.mark.parametrize("size", [2, 7, 50, 300])
def test_resamples_are_those_of_scipy(size: int) -> None:
    """The same draws from the same seed, so the same distribution."""
    values = np.random.default_rng(size).gamma(0.5, size=size)
    found = resampled([Means.of_values(values), Median.of_values(values)], None, 9_999, 0)
    for row, statistic in zip(found, (np.mean, np.median), strict=True):
        expected = scipys(values, "percentile", statistic).bootstrap_distribution
        np.testing.assert_allclose(row, expected, rtol=1e-12)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("tied", [False, True])
def test_ends_are_those_of_scipy_up_to_neighbours(level: float, tied: bool) -> None:
    """scipy interpolates between resamples; here an end is one of them, the next outwards."""
    generator = np.random.default_rng(7)
    values = generator.choice([0.0, 0.5, 1.0], 40) if tied else generator.gamma(0.5, size=40)
    sample = Means.of_values(values)
    ordered = np.sort(resampled([sample], None, 9_999, 0)[0])
    for method, name in (("percentile", "percentile"), ("bca", "BCa")):
        low, high = ends(bootstrap([(sample,)], levels=(level,), method=method))
        expected = scipys(values, name, level=level).confidence_interval
        for end, other, outwards in ((low, expected.low, -1), (high, expected.high, 1)):
            least, most = np.searchsorted(ordered, [end[0, 0] - 1e-12, end[0, 0] + 1e-12])
            near = ordered[[max(least - 3, 0), min(most + 3, 9_998)]]
            assert near[0] <= other <= near[1]
            assert (other - end[0, 0]) * outwards <= 1e-12


def test_bca_by_its_formula() -> None:
    """a1 = Φ(z + (z + z_α)/(1 − a(z + z_α))) of B + 1 places, one of them infinite."""
    values = np.random.default_rng(3).gamma(0.3, size=25)
    resampled_means = np.sort(resampled([Means.of_values(values)], None, 9_999, 0)[0])
    z = ndtri((resampled_means < values.mean()).mean())
    away = values - values.mean()
    a = (away**3).sum() / (6 * (away**2).sum() ** 1.5)
    low, high = ends(bootstrap([(Means.of_values(values),)], method="bca", levels=(0.9,)))
    for end, quantile, step in ((low, 0.05, 1), (high, 0.95, -1)):
        s = z + ndtri(quantile)
        place = float(ndtr(z + s / (1 - a * s))) * 10_000
        at = int(np.ceil(place) if step == 1 else np.floor(place))
        assert end[0, 0] == pytest.approx(resampled_means[at - 2 if step == 1 else at], rel=1e-12)


def test_percentile_by_hand() -> None:
    """Of 9,999 resamples and one at infinity, the first whose p is not below 0.05 is the 250th: the
    249th of the bootstrap."""
    values = np.random.default_rng(1).normal(size=30)
    ordered = np.sort(resampled([Means.of_values(values)], None, 9_999, 0)[0])
    low, high = ends(bootstrap([(Means.of_values(values),)]))
    assert low[0, 0] == ordered[248]
    assert high[0, 0] == ordered[-249]


def test_p_by_counting() -> None:
    """Twice the share of resamples on the other side, with one more."""
    generator = np.random.default_rng(2)
    first, second = (Means.of_values(generator.normal(mean, 1, 30)) for mean in (0.4, 0.0))
    one, two = resampled([first, second], None, 9_999, 0)
    expected = 2 * (1 + min((one <= two).sum(), (one >= two).sum())) / 10_000
    assert bootstrap([(first, second)]).p.tolist() == [expected]


def test_never_a_p_of_0() -> None:
    far = Means.of_values(np.linspace(5, 6, 30)), Means.of_values(np.zeros(30))
    assert bootstrap([far]).p.tolist() == [2 / 10_000]
    assert 1 / 10_000 <= bootstrap([far], method="bca").p[0] < 0.001
    tested = bootstrap([far], levels=(0.9999,))
    assert tested.low[0, 0] == -np.inf


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[tuple[Sample, Sample]], np.ndarray | None]:
    """Pairs of each kind of number, with ties, weights and groups."""
    size = draw(st.integers(1, 25))
    value = st.one_of(st.sampled_from([0.0, 0.1, 0.3, 1 / 3, 0.5, 1.0]), st.floats(0, 1))
    column = st.lists(value, min_size=size, max_size=size).map(np.array)
    weights = groups = None
    if draw(st.booleans()):
        weights = np.array(draw(st.lists(st.floats(0.01, 9), min_size=size, max_size=size)))
    if draw(st.booleans()):
        given = draw(st.lists(st.integers(0, 9), min_size=size, max_size=size))
        groups = np.unique(given, return_inverse=True)[1]
    pairs: list[tuple[Sample, Sample]] = []
    for aggregate in ("mean", "geometric"):
        one, two = (Means.of_values(draw(column), aggregate, weights) for _ in range(2))
        pairs.append((one, two))
    one, two = (
        Means(np.stack([draw(column), draw(column)], axis=1), harmonic, weights=weights)
        for _ in range(2)
    )
    pairs.append((one, two))
    pairs.append((Median.of_values(draw(column), weights), Median.of_values(draw(column), weights)))
    return pairs, groups


@given(problems())
def test_p_and_interval_agree(problem: Any) -> None:
    pairs, groups = problem
    for method, some in (("percentile", pairs), ("bca", pairs[:-1])):
        tested = bootstrap(some, groups, levels=LEVELS, method=method, resamples=99)
        check_agreement(tested, LEVELS)
        defined = tested.p[~np.isnan(tested.p)]
        assert ((defined > 0) & (defined <= 1)).all()
        turned = [(two, one) for one, two in some]
        mirrored = bootstrap(turned, groups, levels=LEVELS, method=method, resamples=99)
        np.testing.assert_allclose(mirrored.p, tested.p, rtol=1e-9)
        np.testing.assert_allclose(mirrored.low, -tested.high, rtol=1e-9, atol=1e-12)


def test_intervals_are_there_to_agree() -> None:
    generator = np.random.default_rng(8)
    pairs = [
        (Means.of_values(generator.normal(0.3, 1, 20)), Means.of_values(generator.normal(0, 1, 20)))
        for _ in range(50)
    ]
    for method in ("percentile", "bca"):
        tested = bootstrap(pairs, levels=LEVELS, method=method, resamples=199)
        assert check_agreement(tested, LEVELS) == 50 * len(LEVELS)
        assert 0 < below(tested.p, 0.9).sum() < 50


def test_nothing_differs() -> None:
    """p is 1 and there is no interval, whatever the kind of number."""
    values = np.array([0.5, 0.25, 1.0, np.inf])
    finite = values[:3].repeat(2)
    for pair in (
        (Median.of_values(values), Median.of_values(values.copy())),
        (Means.of_values(finite), Means.of_values(finite.copy())),
    ):
        tested = bootstrap([pair])
        assert tested.p.tolist() == [1.0]
        assert np.isnan([tested.low, tested.high]).all()
    tested = bootstrap([(Means.of_values(finite), Means.of_values(finite.copy()))], method="bca")
    assert tested.p.tolist() == [1.0]
    assert np.isnan(tested.low).all()


def test_no_spread() -> None:
    """One query and equal values have no interval; a difference that all resamples have is a
    point, with the smallest p that they allow."""
    for values in (np.array([0.5]), np.full(9, 0.1)):
        for method in ("percentile", "bca"):
            low, high = ends(bootstrap([(Means.of_values(values),)], method=method))
            assert np.isnan([low, high]).all()
    values = np.random.default_rng(0).uniform(size=20)
    shifted = Means.of_values(values + 0.25), Means.of_values(values)
    for method in ("percentile", "bca"):
        tested = bootstrap([shifted], method=method, resamples=999)
        assert tested.p[0] == pytest.approx(2 / 1000)
        assert tested.low[0, 0] == tested.high[0, 0] == pytest.approx(0.25)


def test_infinite_medians() -> None:
    """Ranks of 1, 2 and never: an end may be infinite, and two infinite medians differ by 0."""
    ranks = np.array([1.0, 2.0, np.inf, np.inf, 3.0])
    low, high = ends(bootstrap([(Median.of_values(ranks),)], levels=(0.9,)))
    assert low[0, 0] == 1
    assert high[0, 0] == np.inf
    other = np.array([2.0, 2.0, np.inf, np.inf, 3.0])
    tested = bootstrap([(Median.of_values(ranks), Median.of_values(other))], levels=(0.5,))
    assert tested.p.tolist() == [1.0]
    assert tested.low.tolist() == [[0.0]]
    never, second = Median.of_values(np.full(9, np.inf)), Median.of_values(np.full(9, 2.0))
    tested = bootstrap([(never, second), (second, never)], resamples=999)
    assert tested.p == pytest.approx(2 / 1000)
    assert tested.low.tolist() == tested.high.tolist() == [[np.inf, -np.inf]]


def test_undefined_resamples_count_against_both_ends() -> None:
    """One query of three has values of both kinds: (2/3)³ of all resamples leave F undefined, more
    than any end at 80 % may leave out."""
    columns = np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    low, high = ends(bootstrap([(Means(columns, harmonic),)], levels=(0.8,)))
    assert (low[0, 0], high[0, 0]) == (-np.inf, np.inf)
    pooled = Median(np.array([1.0, 2.0, 5.0]), np.array([0, 0, 0]), 3)
    low, high = ends(bootstrap([(pooled,)], levels=(0.8,)))
    assert np.isnan([low, high]).all()


def test_undefined_number() -> None:
    nothing = Means(np.zeros((4, 2)), harmonic)
    tested = bootstrap([(nothing, Means.of_values(np.arange(4.0)))], method="bca")
    assert np.isnan([tested.p[0], tested.low[0, 0], tested.high[0, 0]]).all()


def test_groups_are_drawn_as_a_whole() -> None:
    """Groups of equal values are as good as their means with their sizes for weights."""
    generator = np.random.default_rng(4)
    sizes = np.array([3, 1, 2, 5, 1, 4])
    values = generator.normal(size=6)
    groups = np.repeat(np.arange(6), sizes)
    order = generator.permutation(len(groups))
    whole = Means.of_values(values[groups][order])
    parts = Means.of_values(values, weights=sizes.astype(float))
    for method in ("percentile", "bca"):
        grouped = ends(bootstrap([(whole,)], groups[order], method=method, levels=LEVELS))
        weighted = ends(bootstrap([(parts,)], method=method, levels=LEVELS))
        np.testing.assert_allclose(grouped, weighted, rtol=1e-12)
    median = resampled([Median.of_values(values[groups][order])], groups[order], 999, 0)
    pooled = Median(values[groups], groups, 6)
    np.testing.assert_allclose(median, resampled([pooled], None, 999, 0), rtol=1e-12)


def test_uneven_units_have_expanded_percentiles() -> None:
    """Phi(-t * sqrt(e / (e - 1))) is left out on each side, t that of e - 1 degrees of freedom."""
    weights = 1 / np.arange(1.0, 101)
    sample = Means.of_values(np.random.default_rng(3).normal(size=100), weights=weights)
    effective = weights.sum() ** 2 / (weights**2).sum()
    outside = ndtr(stats.t.ppf(0.025, effective - 1) * np.sqrt(effective / (effective - 1)))
    ordered = np.sort(resampled([sample], None, 9_999, 0)[0])
    rank = int(np.ceil(outside * 10_000))
    for method in ("percentile", "bca"):
        low, high = ends(bootstrap([(sample,)], method=method))
        assert (low[0, 0], high[0, 0]) == (ordered[rank - 2], ordered[-rank + 1]), method


def test_blocks_and_portions_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(9)
    samples: list[Sample] = [Means.of_values(generator.uniform(size=80)) for _ in range(3)]
    samples += [Median.of_values(generator.uniform(size=80)) for _ in range(1)]
    pairs = [(one, two) for one in samples for two in samples if one is not two]
    together = bootstrap(pairs, levels=LEVELS, resamples=199)
    monkeypatch.setattr(module, "COUNTS_PER_BLOCK", 7 * 80)
    monkeypatch.setattr(module, "BYTES_AT_ONCE", 8 * 5 * 199)
    portions = bootstrap(pairs, levels=LEVELS, resamples=199)
    np.testing.assert_array_equal(portions.p, together.p)
    np.testing.assert_allclose(portions.low, together.low, rtol=1e-12)


# -- medians of many resamples, beside those of one at a time


def weighted_median(sample: Median, counts: np.ndarray) -> float:
    """The weighted median if each query is taken as often as it is counted."""
    weights = counts if sample.weights is None else counts * sample.weights
    order = np.argsort(sample.values, kind="stable")
    values = sample.values[order]
    upto = np.cumsum(weights[sample.owner[order]])
    half = upto[-1] / 2
    low = np.argmax(upto >= half * (1 - CLOSE))
    high = np.argmax(upto > half * (1 + CLOSE))
    return float((values[low] + values[high]) / 2) if half > 0 else np.nan


@pytest.mark.parametrize("numbers", [1, 2**20])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_medians_as_one_by_one(
    numbers: int, weighted: bool, grouped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of values with ties, infinite ones, and queries that have none or several."""
    monkeypatch.setattr(module, "NUMBERS_PER_BLOCK", numbers)
    generator = np.random.default_rng(numbers)
    for _ in range(40):
        size = int(generator.integers(1, 30))
        owner = generator.integers(0, size, generator.integers(1, 150))
        values = generator.choice([1.0, 2.0, 3.0, 5.0, np.inf], len(owner))
        weights = generator.uniform(0.1, 3.0, size) if weighted else None
        sample = Median(values, owner, size, weights)
        groups = np.unique(generator.integers(0, size, size), return_inverse=True)[1]
        units = groups.max() + 1 if grouped else size
        draws = generator.integers(0, units, (20, units))
        counts = np.stack([np.bincount(row, minlength=units) for row in draws]).astype(float)
        found = median_of(sample, groups if grouped else None)(counts)
        for row, median in zip(counts[:, groups] if grouped else counts, found, strict=True):
            times = row[owner].astype(int)
            taken = values.repeat(times)
            if weights is None:
                expected = np.median(taken) if len(taken) else np.nan
            else:
                expected = weighted_median(sample, row)
            np.testing.assert_equal(median, expected)
