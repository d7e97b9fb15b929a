"""What is printed, worked out by the usual rules of arithmetic, is the value: brackets are where
they must be, in text and at every stage of shortening."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from explanation.test_steps import explained, random_rankings
from judged.errors import MeasureError
from judged.explanation import arithmetic
from judged.explanation.arithmetic import Expression, Named, Number
from judged.measures import REGISTRY
from support.loops import for_each
from support.rankings import random_measure

TRIALS = 15


def worked_out(text: str) -> float:
    """The value of a text as Python, or a pocket calculator, works it out."""
    code = text.replace("×", "*").replace("^", "**").replace("∞", "math.inf")
    code = re.sub(r"log([0-9.e+]+)\(", r"base(\1)(", code).replace("ln(", "math.log(")

    def base(number: float) -> Any:
        return lambda value: math.log(value) / math.log(number)

    return float(eval(code, {"math": math, "base": base, "max": max, "min": min}))


@pytest.fixture
def all_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers with all their digits, sums with all their parts, and names replaced by values."""
    monkeypatch.setattr(arithmetic, "figure", lambda value: repr(float(value)).replace("inf", "∞"))
    monkeypatch.setattr(arithmetic, "MOST_PARTS", 10**6)
    monkeypatch.setattr(Named, "text", lambda self: Number(self.value).text())


def expressions(steps: Any) -> Iterator[Expression]:
    yield steps.value
    yield from (steps.adds or {}).values()
    lines = (*steps.before, *([steps.divisor] if steps.divisor else ()))
    yield from (line.value for line in lines)
    for _, cells in steps.columns:
        yield from (cell for cell in cells if isinstance(cell, Expression))


@for_each("name", REGISTRY)
@pytest.mark.usefixtures("all_digits")
def test_the_text_comes_to_the_value(name: str) -> None:
    draw = Random(name)
    for _ in range(TRIALS):
        measure, r = random_measure(REGISTRY[name], draw), random_rankings(name, draw)
        try:
            if math.isnan(measure.compute(r)[0]):
                continue
        except MeasureError:
            continue
        for each in expressions(explained(measure, r)):
            check(each, str(measure))


def check(expression: Expression, where: str) -> None:
    value, now = expression.value, expression
    while True:
        text = now.text()
        found = worked_out(text)
        same = found == value or math.isclose(found, value, rel_tol=1e-9, abs_tol=1e-12)
        assert same, (where, text, value)
        if isinstance(now, Number):
            return
        now = now.shortened()
