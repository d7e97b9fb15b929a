"""Numbers as pages show them, worked by hand."""

from __future__ import annotations

import math

import pytest

from judged.web.pages.numbers import number, plain_number, share, signed, sure_digits


@pytest.mark.parametrize(
    ("value", "half_width", "sure"),
    [
        # The first digit of 0.035 stands at the second decimal: 0.58 could be 0.54, so the third
        # decimal says nothing.
        (0.5767, 0.035, "0.57"),
        (0.5767, 0.01, "0.57"),
        (0.5767, 0.0099, "0.576"),
        (0.5767, 0.1, "0.5"),
        (0.5767, 0.9, "0.5"),
        (0.5767, 1.0, "0."),
        (0.5767, 25.0, "0."),
        (0.5767, math.inf, "0."),
        (0.5767, 0.0001, "0.5767"),
        (0.5767, 0.00000001, "0.5767"),
        (0.5767, 0.0, "0.5767"),
        (0.5767, math.nan, "0.5767"),
        (-0.25, 0.035, "−0.25"),
        (12.5, 0.3, "12.5"),
        (1234.0, 10.0, "1,234"),
        (None, 0.1, "–"),
        (math.nan, 0.1, "–"),
    ],
)
def test_digits_that_are_sure(value: float | None, half_width: float, sure: str) -> None:
    assert plain_number(value)[: sure_digits(value, half_width)] == sure


def test_the_rest_is_faint() -> None:
    assert number(0.5767, 0.035) == '<span class="number"><b>0.57</b><i>67</i></span>'
    assert number(0.5767, 0.00001) == '<span class="number"><b>0.5767</b></span>'
    assert number(0.5767) == '<span class="number">0.5767</span>'
    assert number(0.5767, decimals=3) == '<span class="number">0.577</span>'
    assert number(None, 0.1) == '<span class="number"><b>–</b></span>'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0\u00a0%"),
        (1e-9, "<1\u00a0%"),
        (0.0051, "1\u00a0%"),
        (0.76, "76\u00a0%"),
        (0.994, "99\u00a0%"),
        (0.9951, ">99\u00a0%"),
        (1.0, "100\u00a0%"),
        (None, "–"),
        (math.nan, "–"),
    ],
)
def test_only_nothing_is_0_and_only_everything_is_100(value: float | None, text: str) -> None:
    assert share(value) == text


def test_signs() -> None:
    values = (0.5, -0.5, 0.0, -0.0, 1e-9, -1e-9, math.inf)
    texts = "+0.5000 −0.5000 0.0000 0.0000 0.0000 0.0000 +∞"
    assert " ".join(map(signed, values)) == texts
