"""The page about identify names what is tried and what comes back."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from judged import Identification
from judged.conventions.candidates import COMMON, CUTOFFS, NUMBERS
from judged.conventions.identification import MatchedDefinition, NumberMatch

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "identify.md").read_text(encoding="utf-8")


def row(of: str) -> str:
    (found,) = re.findall(rf"^\| {of} \| (.*) \|$", TEXT, re.MULTILINE)
    return found


def test_measures_and_cutoffs() -> None:
    *most, last = COMMON
    assert row("measures").endswith(f"or {', '.join(most)} and {last}")
    assert row("cutoffs").endswith(
        f"or none, {', '.join(map(str, sorted(CUTOFFS)))}, R and the length of the longest list"
    )
    assert all(f"`{name}`" in row("parameters") for name in NUMBERS)


def test_attributes() -> None:
    result = TEXT.partition("## The result")[2]
    assert [
        each.name
        for each in fields(Identification)
        if each.name != "asked" and f"`.{each.name}`" not in result
    ] == []
    inner = [each.name for kind in (NumberMatch, MatchedDefinition) for each in fields(kind)]
    assert [name for name in inner if name != "distance" and f"`{name}`" not in result] == []
