"""The worked example of docs/adding.md is a measure that works."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import judged
from judged.measures import REGISTRY, Spec, parse_measure, registry
from judged.measures.reference import BIBLIOGRAPHY

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "adding.md").read_text(encoding="utf-8")


@pytest.fixture
def new() -> Iterator[Spec]:
    """The example's measure, registered for one test."""
    (code,) = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    known, names = set(REGISTRY), dict(registry._NAMES)
    try:
        exec(compile(code, "adding.md", "exec"), {"__name__": "judged.measures.precision"})
        (name,) = set(REGISTRY) - known
        yield REGISTRY[name]
    finally:
        for name in set(REGISTRY) - known:
            del REGISTRY[name]
        registry._NAMES.clear()
        registry._NAMES.update(names)


def test_its_example_is_right(new: Spec) -> None:
    measure = parse_measure(new.example.measure)
    assert measure.compute(new.example.rankings()).tolist() == [new.example.value]


def test_it_is_understood_everywhere(new: Spec) -> None:
    assert [str(parse_measure(alias)) for alias in new.aliases] == [new.name] * len(new.aliases)
    assert getattr(judged, new.name).definition()["reference"] == BIBLIOGRAPHY[new.reference]
    value = judged.evaluate({"q": {"a": 1}}, {"q": ["x", "y", "z", "a"]}, new.name).value()
    assert value == 3.0


def test_it_is_undefined_exactly_when_it_says_so(new: Spec) -> None:
    rankings = judged.Rankings.from_relevance([[0, 1], [0, 0], []], relevant=[1, 0, 2])
    measure = parse_measure(new.name)
    assert (
        np.isnan(measure.compute(rankings)).tolist()
        == measure.undefined(rankings).tolist()
        == [False, True, False]
    )


def test_the_helpers_it_names_exist() -> None:
    (named,) = re.findall(r"`Rankings` has the helpers: ([^.]*)\.", " ".join(TEXT.split()))
    assert all(hasattr(judged.Rankings, helper) for helper in re.findall(r"`(\w+)`", named))


def test_the_places_it_names_exist() -> None:
    text = TEXT + (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:tests|src|docs|bench|\.ci)[\w./]*)`", text)
    assert "tests/oracle/conventions" in named
    assert [path for path in named if not (ROOT / path).exists()] == []
