"""Examples for users of other libraries: their code and ours give the same numbers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "migrating.md"
BLOCKS = {
    (side, library): code
    for side, library, code in re.findall(
        r"<!-- (theirs|ours): (\w+) -->\n```python\n(.*?)```",
        PAGE.read_text(encoding="utf-8"),
        re.DOTALL,
    )
}
TORCH = ("torchmetrics", "pytorch_metric_learning")
HEAVY = ("ragas", "evidently")
"""Libraries that need versions of others which the rest cannot have."""
LIBRARIES = [
    *("pytrec_eval", "ir_measures", "ranx"),
    *(pytest.param(library, marks=pytest.mark.full) for library in TORCH),
    *(pytest.param(library, marks=pytest.mark.heavy) for library in HEAVY),
]


def test_every_library_has_both_sides() -> None:
    libraries = {*("pytrec_eval", "ir_measures", "ranx"), *TORCH, *HEAVY}
    assert {*BLOCKS} == {(side, name) for side in ("theirs", "ours") for name in libraries}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", LIBRARIES)
def test_their_code_and_ours_agree(library: str, has: Any) -> None:
    for package in ("torch", library) if library in TORCH else (library,):
        has(package)
    names: dict[str, Any] = {}
    for side in ("theirs", "ours"):
        exec(compile(BLOCKS[side, library], f"{side}: {library}", "exec"), names)
    assert names["theirs"]
    assert names["ours"] == pytest.approx(names["theirs"], abs=1e-6)


def test_our_side_of_ragas_gives_numbers_worked_by_hand() -> None:
    """Where ragas is not installed: precision (1/3 + 1/2) / 2, recall (1 + 1/2) / 2."""
    theirs, names = BLOCKS["theirs", "ragas"], dict[str, Any]()
    exec(theirs[theirs.index("rows = [") : theirs.index("async def")], names)
    exec(BLOCKS["ours", "ragas"], names)
    assert names["ours"] == pytest.approx(
        {"id_based_context_precision": 5 / 12, "id_based_context_recall": 3 / 4}
    )
