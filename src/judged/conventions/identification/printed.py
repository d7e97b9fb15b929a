"""The number that was printed: what its text can stand for, and which values fit it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from judged.arrays import Floats
from judged.errors import InputError, quoted
from judged.measures.spec import Mask
from judged.options import real
from judged.text import counted

SINGLE = 2.0**-22
"""How far a number of single precision may lie from the exact one, relative to it: some libraries
know no other numbers."""


_PRINTED = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
"""A number as programs print it."""


@dataclass(frozen=True)
class Reading:
    """One way to read the text: a number, and what its last digit is worth.

    >>> reading = Reading(0.4433, 0.0001)
    >>> values = np.array([0.44325, 0.44335, 0.44339, 0.4434])
    >>> reading.rounded(values).tolist(), reading.cut(values).tolist()
    ([True, True, False, False], [False, False, True, False])
    """

    number: float
    step: float
    percent: bool = False

    @property
    def half(self) -> float:
        """How far a value may lie from the number and still be rounded to it, whichever way halves
        are rounded."""
        return max(self.step / 2, SINGLE * abs(self.number)) + 1e-12

    def rounded(self, values: Floats) -> Mask:
        """Which values are the number when rounded."""
        return np.abs(values - self.number) <= self.half

    def cut(self, values: Floats) -> Mask:
        """Which values are the number only when the digits behind its last are cut off."""
        beyond = (values - self.number) * (-1 if self.number < 0 else 1)
        return (beyond > self.half) & (beyond < self.step - 1e-12)

    def fits(self, values: Floats) -> Mask:
        return self.rounded(values) | self.cut(values)

    @property
    def width(self) -> float:
        """The length of the interval that fits."""
        return self.half + max(self.half, self.step)


@dataclass(frozen=True)
class Asked:
    """A printed number and its readings."""

    text: str
    readings: tuple[Reading, ...]
    decimals: int

    @classmethod
    def of(cls, given: Any) -> Asked:
        """From a text, or from a number as Python writes it.

        >>> Asked.of("44.33%").readings
        (Reading(number=0.4433, step=0.0001, percent=True),)
        """
        text = str(given).strip() if isinstance(given, str) or real(given) is not None else ""
        bare = text.removesuffix("%").strip()
        number = Decimal(bare) if _PRINTED.fullmatch(bare) else Decimal("NaN")
        if not number.is_finite() or abs(number.adjusted()) > 300 or len(text) > 300:
            raise InputError(
                f"cannot read the number {quoted(given)}; write it as it was printed, such as "
                "0.4433, 44.33 or 44.33%."
            )
        exponent = int(number.as_tuple().exponent)
        plain = Reading(float(number), 10.0**exponent)
        percent = Reading(float(number.scaleb(-2)), 10.0 ** (exponent - 2), percent=True)
        if text.endswith("%"):
            readings: tuple[Reading, ...] = (percent,)
        else:
            readings = (plain, percent) if number > 1 else (plain,)
        return cls(text, readings, max(-exponent, 0))

    def sentences(self) -> list[str]:
        """How the text was read."""
        places = f"at {counted(self.decimals, 'decimal')}" if self.decimals else "as a whole number"
        said = [f"{self.text} is any value that is rounded to it, or cut off to it, {places}."]
        for reading in self.readings:
            if reading.percent:
                also = "also " if len(self.readings) > 1 else ""
                said.append(
                    f"{self.text} is {also}read as a percentage, "
                    f"{reading.number:.{self.decimals + 2}f}."
                )
        return said
