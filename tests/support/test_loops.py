"""A loop over cases runs all of them and reports every failure."""

from __future__ import annotations

import pytest

from support.loops import for_each


def test_all_failures_are_reported_together() -> None:
    ran = []

    @for_each(("number", "name"), [(1, "one"), pytest.param(2, "two", id="second"), (3, "three")])
    def check(number: int, name: str) -> None:
        ran.append(name)
        assert number == 2, f"{name} is odd"

    with pytest.raises(pytest.fail.Exception) as failed:
        check()
    assert ran == ["one", "two", "three"]
    text = str(failed.value)
    assert text.startswith("2 of 3 cases failed:\n1, 'one': AssertionError: one is odd")
    assert "3, 'three': AssertionError: three is odd" in text


def test_all_combinations_run_with_the_fixtures() -> None:
    ran = []

    @for_each("one", lambda: [1, 2])
    @for_each("other", ["a", "b"])
    def check(one: int, other: str, fixture: str) -> None:
        ran.append((one, other, fixture))

    check(fixture="x")
    assert ran == [(1, "a", "x"), (1, "b", "x"), (2, "a", "x"), (2, "b", "x")]


def test_skipped_cases_skip_the_test_only_where_all_of_them_are() -> None:
    @for_each("number", [1, 2])
    def check(number: int, last: int) -> None:
        if number <= last:
            pytest.skip("not here")

    check(last=1)
    with pytest.raises(pytest.skip.Exception):
        check(last=2)


def test_a_loop_without_cases_fails() -> None:
    @for_each("number", [])
    def check(number: int) -> None:
        pass

    with pytest.raises(AssertionError, match="there is no case to run"):
        check()
