"""Expressions: value, text, LaTeX and stages, by hand."""

from __future__ import annotations

from math import inf

import pytest

from judged.explanation.arithmetic import Named, figure, least, logarithm, num, total


@pytest.mark.parametrize(
    ("expression", "value", "text", "latex"),
    [
        (num(3), 3, "3", "3"),
        (num(1) / 2, 0.5, "1/2", r"\frac{1}{2}"),
        (
            total([num(1) / 2, num(2) / 5]) / 4,
            0.225,
            "(1/2 + 2/5) / 4",
            r"\frac{\frac{1}{2} + \frac{2}{5}}{4}",
        ),
        (1 - num(1) / 4, 0.75, "1 - 1/4", r"1 - \frac{1}{4}"),
        (num(1) - (num(2) - 3), 2, "1 - (2 - 3)", r"1 - \left(2 - 3\right)"),
        (total([1, num(1) - 0.5]), 1.5, "1 + (1 - 0.5)", r"1 + \left(1 - 0.5\right)"),
        (
            (1 - num(0.5)) * total([1, 2]),
            1.5,
            "(1 - 0.5) × (1 + 2)",
            r"\left(1 - 0.5\right) \cdot \left(1 + 2\right)",
        ),
        (num(2) ** 3 - 1, 7, "2^3 - 1", r"2^{3} - 1"),
        (num(3) / logarithm(num(4)), 1.5, "3 / log2(4)", r"\frac{3}{\log_{2}(4)}"),
        (logarithm(num(100), 10), 2, "log10(100)", r"\log_{10}(100)"),
        (logarithm(num(1), None), 0, "ln(1)", r"\ln(1)"),
        (least(6, 4), 4, "min(6, 4)", r"\min\left(6, 4\right)"),
        (num(-1) * 2, -2, "(-1) × 2", r"\left(-1\right) \cdot 2"),
        (Named("DCG@3", num(3)) / 2, 1.5, "DCG@3/2", r"\frac{\mathrm{DCG@3}}{2}"),
        (num(inf), inf, "∞", r"\infty"),
        (num(0.00001), 1e-5, "1e-05", r"1\cdot 10^{-5}"),
        (total([]), 0, "0", "0"),
    ],
)
def test_an_expression(expression, value, text, latex) -> None:
    assert expression.value == pytest.approx(value, abs=1e-15)
    assert expression.text() == text
    assert expression.latex() == latex


def test_stages_work_from_the_inside_out() -> None:
    dcg = num(2) / logarithm(num(2)) + num(1) / logarithm(num(4))
    assert dcg.stages() == ["2 / log2(2) + 1 / log2(4)", "2/1 + 1/2", "2 + 0.5", "2.5"]


def test_a_long_sum_says_how_many_parts_are_left_out() -> None:
    # Twelve parts: the first six, five left out, and the last.
    text = total(range(1, 13)).text()
    assert text == "1 + 2 + 3 + 4 + 5 + 6 + … (5 more) … + 12"
    assert total(range(1, 13)).value == 78


def test_figures() -> None:
    figures = [figure(each) for each in (0, -2, 1 / 3, 12.5, 1e20, -inf)]
    assert figures == ["0", "-2", "0.3333", "12.5", "1e+20", "-∞"]
