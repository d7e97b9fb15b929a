"""A missing part skips a test, and fails it where it was asked for."""

from __future__ import annotations

import pytest

from support.parts import PARTS, REQUIRE, Needs


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PARTS, "spark", lambda: "there is none")


@pytest.mark.usefixtures("absent")
def test_a_missing_part_skips(needs: Needs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REQUIRE, "browser, torch")
    with pytest.raises(pytest.skip.Exception) as caught:
        needs("spark")
    assert str(caught.value) == "needs spark: there is none"


@pytest.mark.usefixtures("absent")
def test_a_missing_part_that_is_required_fails(
    needs: Needs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(REQUIRE, "browser, spark,torch")
    with pytest.raises(pytest.fail.Exception) as caught:
        needs("spark")
    assert str(caught.value) == "JUDGED_REQUIRE asks for spark, but there is none."


def test_a_part_that_is_there_is_silent(needs: Needs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PARTS, "torch", lambda: None)
    monkeypatch.setenv(REQUIRE, "torch")
    assert needs("torch") is None  # neither skipped nor failed


@pytest.mark.parametrize(("part", "required"), [("sprak", ""), ("perl", "torch,sprak")])
def test_an_unknown_part_is_an_error(
    needs: Needs, monkeypatch: pytest.MonkeyPatch, part: str, required: str
) -> None:
    monkeypatch.setenv(REQUIRE, required)
    with pytest.raises(
        ValueError, match=rf"^there is no part 'sprak'; there is {', '.join(PARTS)}\.$"
    ):
        needs(part)
