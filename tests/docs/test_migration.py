"""Pages for those who come from other libraries: their code and ours give the same numbers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"<!-- (theirs|ours)(?:: \w+)? -->\n```python\n(.*?)```", re.DOTALL)
NEEDED = {
    "pytrec_eval": ["pytrec_eval"],
    "ir_measures": ["ir_measures"],
    "ranx": ["ranx"],
    "torchmetrics": ["torch", "torchmetrics"],
    "pytorch-metric-learning": ["torch", "pytorch_metric_learning"],
}
HEAVY = {"ragas": "ragas", "evidently": "evidently"}
"""Libraries that need versions of others which the rest cannot have."""
PAGES = {path.stem.removeprefix("migrate-"): path for path in sorted(DOCS.glob("migrate-*.md"))}


def pairs(page: str) -> list[tuple[str, str]]:
    """Every block of theirs with the block of ours that follows it."""
    found = BLOCK.findall(PAGES[page].read_text(encoding="utf-8"))
    assert [side for side, _ in found] == ["theirs", "ours"] * (len(found) // 2)
    blocks = [code for _, code in found]
    return list(zip(blocks[::2], blocks[1::2], strict=True))


def agree(theirs: str, ours: str) -> None:
    names: dict[str, Any] = {}
    exec(compile(theirs, "theirs", "exec"), names)
    exec(compile(ours, "ours", "exec"), names)
    assert names["theirs"]
    assert names["ours"] == pytest.approx(names["theirs"], abs=1e-6)


def test_every_library_that_people_come_from_has_a_page() -> None:
    assert {*PAGES} == {*NEEDED, "trec_eval", "ragas-evidently"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", NEEDED)
def test_their_code_and_ours_agree(page: str, has) -> None:
    for package in NEEDED[page]:
        has(package)
    [(theirs, ours)] = pairs(page)
    agree(theirs, ours)


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", HEAVY)
def test_rows_of_heavy_libraries_agree(library: str) -> None:
    pytest.importorskip(HEAVY[library])
    [(theirs, ours)] = [pair for pair in pairs("ragas-evidently") if library in pair[0]]
    agree(theirs, ours)


def test_our_side_of_heavy_libraries_gives_numbers_worked_by_hand() -> None:
    """Where ragas is not installed: precision (1/3 + 1/2) / 2, recall (1 + 1/2) / 2."""
    [(theirs, ours)] = [pair for pair in pairs("ragas-evidently") if "ragas" in pair[0]]
    names: dict[str, Any] = {}
    exec(theirs[theirs.index("rows = [") : theirs.index("async def")], names)
    exec(ours, names)
    assert names["ours"] == pytest.approx(
        {"id_based_context_precision": 5 / 12, "id_based_context_recall": 3 / 4}
    )
