"""Numbers over queries, computed again for many resamples of units at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from judged.arrays import Floats, Ints, one_thread_each
from judged.statistics.resampling.medians import Medians
from judged.statistics.samples import Means, Median, Sample
from judged.statistics.units import number_of_units, unit_sums, unit_weights, weighed

BLOCK = 2**18
"""Counts of a block of resamples, so that they stay in a cache: one resample at least."""


def resampled(samples: Sequence[Sample], groups: Ints | None, resamples: int, seed: int) -> Floats:
    """Each sample's number on each resample: a row per sample."""
    means = [(at, one) for at, one in enumerate(samples) if isinstance(one, Means)]
    medians = [
        (at, Medians(one, groups)) for at, one in enumerate(samples) if isinstance(one, Median)
    ]
    table, places = _table([one for _, one in means], groups) if means else (np.empty(0), [])
    found = np.empty((len(samples), resamples))
    units = number_of_units(len(samples[0]), groups)
    # Products of one block are so small that threads of BLAS would mostly wait for each other.
    with one_thread_each(), np.errstate(all="ignore"):
        for start, counts in _counts(units, resamples, seed):
            rows = slice(start, start + len(counts))
            sums = counts @ table if means else counts
            for (at, one), (columns, weight) in zip(means, places, strict=True):
                found[at, rows] = one.function(sums[:, columns] / sums[:, weight])
            for at, median in medians:
                found[at, rows] = median.of(counts)
    return found


def left_out(sample: Means, groups: Ints | None) -> Floats:
    """The number without each of the units in turn."""
    sums = unit_sums(weighed(sample.columns, sample.weights), groups)
    weights = unit_weights(len(sample), sample.weights, groups)[:, None]
    with np.errstate(all="ignore"):
        return sample.function((sums.sum(axis=0) - sums) / (weights.sum() - weights))


def _counts(units: int, resamples: int, seed: int) -> Iterator[tuple[int, Floats]]:
    """How often each unit is drawn: the first resample of each block, and a row for each."""
    generator = np.random.default_rng(seed)
    block = max(1, BLOCK // max(units, 1))
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        draws = generator.integers(0, units, size=(rows, units))
        draws += units * np.arange(rows)[:, None]
        counts = np.bincount(draws.ravel(), minlength=rows * units)
        yield start, counts.reshape(rows, units).astype(np.float64)


def _table(
    samples: Sequence[Means], groups: Ints | None
) -> tuple[Floats, list[tuple[slice, slice]]]:
    """The columns and weights of all samples side by side, summed up by unit, and where those of
    each are."""
    parts: list[Floats] = []
    places: list[tuple[slice, slice]] = []
    known: list[tuple[Floats | None, slice]] = []
    width = 0

    def put(part: Floats) -> slice:
        nonlocal width
        parts.append(part)
        width += part.shape[1]
        return slice(width - part.shape[1], width)

    for one in samples:
        columns = put(unit_sums(weighed(one.columns, one.weights), groups))
        weight = next((at for given, at in known if given is one.weights), None)
        if weight is None:
            weight = put(unit_weights(len(one), one.weights, groups)[:, None])
            known.append((one.weights, weight))
        places.append((columns, weight))
    return np.concatenate(parts, axis=1), places
