"""Every engine gives the same numbers to the last bit, and the same audit: whatever is in the data,
and whatever is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judged.errors import InputError, JudgedError, JudgedWarning
from judged.evaluation.evaluation import Evaluation
from support.engine_cases import BATCHES
from support.engines import CASES, GAPS, WAYS, expected, told

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{JudgedWarning.__module__}.JudgedWarning"),
    # ibis asks duckdb and pandas for what they will not do much longer.
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The 'future.infer_string' option:DeprecationWarning"),
]


NOT_YET = (AssertionError, JudgedError, TypeError)


def asked_of_engines(*, refused: bool) -> list[Any]:
    """Each engine with each batch; a gap is declared, and fails where it closes."""
    return [
        pytest.param(
            engine,
            batch,
            id=f"{engine}: {batch}",
            marks=[
                *([pytest.mark.full] if engine.startswith("spark") else []),
                *(
                    pytest.mark.xfail(reason=gap, strict=True, raises=NOT_YET)
                    for gap in [GAPS.get((engine, batch))]
                    if gap
                ),
            ],
        )
        for engine, batch in CASES
        if (BATCHES[batch].refused is not None) is refused
    ]


@pytest.fixture
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Evaluation]:
    """A way to evaluate a batch; Spark is started by those who need it."""
    way = WAYS[request.param]
    return lambda name: way(BATCHES[name], tmp_path, lambda: request.getfixturevalue("spark"))


@pytest.mark.parametrize(("engine", "batch"), asked_of_engines(refused=False), indirect=["engine"])
def test_same_bits(engine: Callable[[str], Evaluation], batch: str) -> None:
    assert told(engine(batch), **BATCHES[batch].shown) == expected(batch)


@pytest.mark.parametrize(("engine", "batch"), asked_of_engines(refused=True), indirect=["engine"])
def test_same_refusal(engine: Callable[[str], Evaluation], batch: str) -> None:
    message = BATCHES[batch].refused
    with pytest.raises(InputError, match=message):
        expected(batch)
    with pytest.raises(InputError, match=message):
        engine(batch)


def test_gaps_are_of_what_is_asked() -> None:
    assert set(GAPS) <= set(CASES)
