"""Texts of numbers: what each can stand for."""

from __future__ import annotations

import numpy as np
import pytest

from judged.conventions.candidates import PrintedNumber
from support.errors import error_of


@pytest.mark.parametrize(
    ("given", "readings"),
    [
        ("0.4433", [(0.4433, 1e-4, False)]),
        (" .450 ", [(0.45, 1e-3, False)]),
        ("0.45", [(0.45, 1e-2, False)]),
        ("1", [(1, 1, False)]),
        ("1.0", [(1, 0.1, False)]),
        ("44.33%", [(0.4433, 1e-4, True)]),
        ("44.33 %", [(0.4433, 1e-4, True)]),
        ("0.5%", [(0.005, 1e-3, True)]),
        ("44.33", [(44.33, 1e-2, False), (0.4433, 1e-4, True)]),
        ("44", [(44, 1, False), (0.44, 1e-2, True)]),
        ("-0.25", [(-0.25, 1e-2, False)]),
        ("4.433e-1", [(0.4433, 1e-4, False)]),
        (0.4433, [(0.4433, 1e-4, False)]),
        (1, [(1, 1, False)]),
    ],
)
def test_readings(given: object, readings: list[tuple[float, float, bool]]) -> None:
    found = [(each.number, each.step, each.percent) for each in PrintedNumber.of(given).readings]
    assert [each[2] for each in found] == [each[2] for each in readings]
    np.testing.assert_allclose(
        [each[:2] for each in found], [each[:2] for each in readings], rtol=1e-12
    )


@pytest.mark.parametrize("given", ["", "AP", "0,4433", "nan", "inf", "1.2.3", "%", True, None])
def test_what_is_no_number(given: object) -> None:
    assert error_of(PrintedNumber.of, given) == (
        f"cannot read the number {given!r}; write it as it was printed, such as "
        "0.4433, 44.33 or 44.33%."
    )


@pytest.mark.parametrize(
    ("text", "value", "how"),
    [
        ("0.4433", 0.44325, "rounded"),  # a half, upwards
        ("0.4432", 0.44325, "rounded"),  # a half, to the even digit
        ("0.4433", 0.44334999, "rounded"),
        ("0.4433", 0.44336, "cut"),
        ("0.4433", 0.443399, "cut"),
        ("0.4433", 0.4434, ""),
        ("0.4433", 0.44324, ""),
        ("-0.25", -0.2549, "rounded"),
        ("-0.25", -0.259, "cut"),
        ("-0.25", -0.244, ""),
        ("0.0", 0.04, "rounded"),
        ("0.44325396825", 0.4432539682539683, "rounded"),
        # 0.4432539682539683 in single precision.
        ("0.44325396418571472", 0.4432539682539683, "rounded"),
        ("0.44325", 0.4432539682539683, "rounded"),
        ("0.4432539682539683", 0.44325, ""),
    ],
)
def test_what_fits(text: str, value: float, how: str) -> None:
    (reading,) = PrintedNumber.of(text).readings
    values = np.array([value])
    assert (bool(reading.rounded(values)[0]), bool(reading.cut(values)[0])) == (
        how == "rounded",
        how == "cut",
    )
    assert bool(reading.fits(values)[0]) == bool(how)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("0.4433", ["0.4433 stands for any value rounded or cut off to it at 4 decimals."]),
        ("0.4", ["0.4 stands for any value rounded or cut off to it at 1 decimal."]),
        (
            "44.33%",
            [
                "44.33% stands for any value rounded or cut off to it at 2 decimals.",
                "44.33% is read as a percentage, 0.4433.",
            ],
        ),
        (
            "44",
            [
                "44 stands for any value rounded or cut off to it as a whole number.",
                "44 is also read as a percentage, 0.44.",
            ],
        ),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert PrintedNumber.of(text).sentences() == sentences
