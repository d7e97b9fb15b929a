"""Messages: ids are never quoted at full length, whatever raises them."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest

import judged
from judged.cli import main
from judged.errors import JudgedError, shortened

LONG = "x y" * 40_000
JUDGEMENTS = {LONG: {LONG: 1}, "b": {"x": 1}}
CALLS: dict[str, Callable[[], object]] = {
    "score": lambda: judged.evaluate(JUDGEMENTS, {LONG: {LONG: float("nan")}}),
    "missing": lambda: judged.evaluate(JUDGEMENTS, {"b": {"x": 1}}, policy={"missing": "error"}),
    "ids": lambda: judged.evaluate({LONG: {LONG: 1}}, {LONG + "2": {LONG: 1.0}}),
    "twice": lambda: judged.evaluate({"b": {"x": 1}}, {"b": [LONG, LONG]}),
    "grade": lambda: judged.evaluate({LONG: {LONG: "bad"}}, {LONG: {LONG: 1.0}}),
    "query": lambda: judged.explain(JUDGEMENTS, JUDGEMENTS, "RR", query=LONG + "3"),
    "weights": lambda: judged.evaluate(JUDGEMENTS, JUDGEMENTS, weights={LONG: -1.0}),
    "groups": lambda: judged.evaluate(JUDGEMENTS, JUDGEMENTS).showing(
        intervals=True, groups={LONG + "z": "a"}
    ),
    "fuse": lambda: judged.fuse({"a": {"q": [LONG, LONG]}, "b": {"q": ["a"]}}),
    "agreement": lambda: judged.agreement(JUDGEMENTS, {LONG + "w": {LONG: 1}}),
}


def test_no_message_quotes_an_id_at_full_length() -> None:
    lengths = {}
    for name, call in CALLS.items():
        with pytest.raises(JudgedError) as caught:
            call()
        lengths[name] = len(str(caught.value))
    assert all(30 < length < 1000 for length in lengths.values()), lengths


def test_no_warning_quotes_an_id_at_full_length() -> None:
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        judged.evaluate(JUDGEMENTS, {"b": {"x": 1}})
    assert issued
    assert all(len(str(warning.message)) < 1000 for warning in issued)


def test_nor_does_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    for call in (["evaluate", "x" * 100_000, "run"], ["measures", "y" * 100_000], ["z" * 100_000]):
        with pytest.raises(SystemExit) as ended:
            main(call)
        assert ended.value.code == 2
        assert 30 < len(capsys.readouterr().err) < 1000, call


def test_prose_is_not_cut() -> None:
    prose = "a run's results, 'each' of them. " * 100
    assert shortened(prose) == prose
    assert shortened(f"item {'a b' * 300!r}, {'c' * 600} and 'd'.") == (
        f"item '{('a b' * 300)[:79]}…', {'c' * 80}… and 'd'."
    )
