"""Each function on segments equals a loop over them."""

from __future__ import annotations

from itertools import accumulate, chain

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from judged import arrays

NUMBERS = st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0, -1.0, 0.25, np.inf, -np.inf])
PIECES = st.lists(st.lists(NUMBERS, max_size=9), max_size=8)
FINITE = st.lists(st.lists(st.floats(0, 1), max_size=9), max_size=8)


def flat(pieces: list[list[float]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array(list(chain.from_iterable(pieces)), dtype=float), np.array(
        [len(piece) for piece in pieces], dtype=np.int64
    )


@given(PIECES)
def test_starts_of(pieces: list[list[float]]) -> None:
    _, lengths = flat(pieces)
    assert arrays.starts_of(lengths).tolist() == [
        sum(map(len, pieces[:at])) for at in range(len(pieces))
    ]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 6)), max_size=8))
def test_positions(wanted: list[tuple[int, int]]) -> None:
    starts, lengths = (np.array([pair[i] for pair in wanted], dtype=np.int64) for i in (0, 1))
    expected = [place for start, length in wanted for place in range(start, start + length)]
    assert arrays.positions(starts, lengths).tolist() == expected


@given(PIECES)
def test_ordinals(pieces: list[list[float]]) -> None:
    segment = np.array([at for at, piece in enumerate(pieces) for _ in piece], dtype=np.int64)
    expected = [place for piece in pieces for place in range(1, len(piece) + 1)]
    assert arrays.ordinals(segment, len(pieces)).tolist() == expected


@given(PIECES)
@example([[0.0], [1.0]])  # a step up from one segment to the next is no disorder
@example([[], [0.0], [], [1.0], []])
def test_descending(pieces: list[list[float]]) -> None:
    values, lengths = flat(pieces)
    before = values.copy()
    result = arrays.descending(values, lengths)
    assert result.tolist() == [value for piece in pieces for value in sorted(piece, reverse=True)]
    assert np.array_equal(values, before)
    in_order = all(piece == sorted(piece, reverse=True) for piece in pieces)
    assert (result is values) == in_order


@given(FINITE)
def test_products_before(pieces: list[list[float]]) -> None:
    values, lengths = flat(pieces)
    expected = [
        product
        for piece in pieces
        for product in accumulate([1.0, *piece[:-1]], lambda a, b: a * b)
        if piece
    ]
    assert arrays.products_before(values, lengths).tolist() == expected


@given(PIECES)
def test_greatest_from_here(pieces: list[list[float]]) -> None:
    values, lengths = flat(pieces)
    expected = [max(piece[at:]) for piece in pieces for at in range(len(piece))]
    assert arrays.greatest_from_here(values, lengths).tolist() == expected


@given(PIECES, st.data())
def test_only_the_chosen_segments_are_touched(
    pieces: list[list[float]], data: st.DataObject
) -> None:
    values, lengths = flat(pieces)
    chosen = sorted(data.draw(st.sets(st.sampled_from(range(len(pieces)))))) if pieces else []
    result = arrays.by_rows(
        values,
        arrays.starts_of(lengths)[chosen],
        lengths[chosen],
        lambda rows: np.full(rows.shape, 7.0),
        padding=0.0,
    )
    expected = [
        7.0 if at in chosen else value for at, piece in enumerate(pieces) for value in piece
    ]
    assert result.tolist() == expected


@given(PIECES, st.lists(st.tuples(st.integers(0, 7), NUMBERS), max_size=12), st.booleans())
def test_count_above(
    pieces: list[list[float]], asked: list[tuple[int, float]], or_equal: bool
) -> None:
    asked = [(segment, value) for segment, value in asked if segment < len(pieces)]
    ordered = [sorted(piece, reverse=True) for piece in pieces]
    values, lengths = flat(ordered)
    segment = np.array([at for at, _ in asked], dtype=np.int64)
    value = np.array([number for _, number in asked], dtype=float)
    counts = arrays.count_above(
        values, arrays.starts_of(lengths), lengths, segment, value, or_equal=or_equal
    )
    expected = [
        sum(other >= number if or_equal else other > number for other in ordered[at])
        for at, number in asked
    ]
    assert counts.tolist() == expected
