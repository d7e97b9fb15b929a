"""Whatever text is given for a measure, it is read or refused."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judged.errors import MeasureError
from judged.measures import REGISTRY, Measure, parse_all, parse_measure
from judged.measures.measure import pieces_of
from support.rankings import random_measure

HOSTILE = {
    "blanks": "P" + " " * 3000 + "!",
    "brackets": "P" + "(" * 50_000,
    "nested": "P(rel=" + "[" * 5000 + "]" * 5000 + ")",
    "tables": "nDCG(gains=" + "{1:" * 5000 + "1" + "}" * 5000 + ")",
    "a list for a key": "nDCG(gains={[1]:2})",
    "twice": "nDCG(gains={1:2,1.0:3})",
    "long name": "x" * 100_000,
    "10^5000": "P@1" + "0" * 5000,
    "1e400": "P(rel=1e400)",
    "inf": "P(rel=-inf)",
    "full-width digits": "P@\uff11\uff10",
    "underscores": "P@1_0",
    "no text": "\x00",
    "a surrogate": "P@\ud800",
    "many @": "P" + "@" * 10_000,
    "a million points": "IAP(points=[" + "0.5," * 20_000 + "1])",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_refused_at_once(name: str) -> None:
    for read in (parse_measure, parse_all):
        with pytest.raises(MeasureError) as caught:
            read(HOSTILE[name])
        assert len(str(caught.value)) < 600


def test_numbers_for_any_option() -> None:
    """Extreme numbers are refused or kept as they are, whichever parameter they are given for."""
    texts = ["1" + "0" * 26, "1e400", "nan", "inf", "-1", "-0.0", "1e-320", "0", "1e308", "[[1]]"]
    for spec in REGISTRY.values():
        for param in spec.params:
            for text in texts:
                try:
                    found = parse_measure(f"{spec.name}({param.name}={text})")
                except MeasureError:
                    continue
                assert found.params[param.name] in (float(text), None)
                assert parse_measure(str(found)) == found


LETTERS = "PRnDCGAPk@()[]{}:=,.-+ \t'\"0123456789eE_relgainsexp\u0663\x00é"


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.text(alphabet=LETTERS, max_size=60))
def test_any_text(text: str) -> None:
    _read(text)


def test_damaged_texts() -> None:
    drawn = random.Random(13)
    specs = list(REGISTRY.values())
    for _ in range(3000):
        measure = random_measure(drawn.choice(specs), drawn)
        assert parse_all(f"{measure}, {measure} {measure}") == [measure]
        letters = list(str(measure))
        for _ in range(drawn.randint(1, 3)):
            at = drawn.randrange(len(letters) + 1)
            letters[at : at + drawn.randint(0, 2)] = drawn.choice(LETTERS)
        _read("".join(letters))


def _read(text: str) -> None:
    for read in (lambda text: [parse_measure(text)], parse_all, pieces_of):
        try:
            found = read(text)
        except MeasureError:
            continue
        for each in found:
            if isinstance(each, Measure):
                assert parse_measure(str(each)) == each
