"""A missing part skips a test, and fails it where it was asked for."""

from __future__ import annotations

import pytest

from support.parts import PARTS, REQUIRE, Needs


def test_a_missing_part_skips_or_fails(needs: Needs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PARTS, "spark", lambda: "there is none")
    monkeypatch.setitem(PARTS, "torch", lambda: None)
    monkeypatch.setenv(REQUIRE, "browser, torch")
    needs("torch")  # it is there: neither skipped nor failed
    with pytest.raises(pytest.skip.Exception) as skipped:
        needs("spark")
    assert str(skipped.value) == "needs spark: there is none"
    monkeypatch.setenv(REQUIRE, "browser, spark,torch")
    with pytest.raises(pytest.fail.Exception) as failed:
        needs("spark")
    assert str(failed.value) == "JUDGED_REQUIRE asks for spark, but there is none."


def test_an_unknown_part_is_an_error(needs: Needs, monkeypatch: pytest.MonkeyPatch) -> None:
    for part, required in (("sprak", ""), ("perl", "torch,sprak")):
        monkeypatch.setenv(REQUIRE, required)
        with pytest.raises(ValueError, match=r"^there is no part 'sprak'; there is browser, "):
            needs(part)
