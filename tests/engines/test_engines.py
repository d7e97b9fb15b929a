"""Every engine gives the same numbers to the last bit, and the same audit: whatever is in the data,
and whatever is asked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from judged.errors import InputError, JudgedError, JudgedWarning
from judged.evaluation.evaluation import Evaluation
from support.engine_cases import BATCHES
from support.engines import CASES, GAPS, WAYS, expected, told
from support.loops import for_each

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{JudgedWarning.__module__}.JudgedWarning"),
    # ibis asks duckdb and pandas for what they will not do much longer.
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The 'future.infer_string' option:DeprecationWarning"),
]


NOT_YET = (AssertionError, JudgedError, TypeError)


ENGINES = [
    pytest.param(name, marks=pytest.mark.full if name.startswith("spark") else ()) for name in WAYS
]
SAME, REFUSED = (
    [name for name, batch in BATCHES.items() if (batch.refused is not None) is refused]
    for refused in (False, True)
)


@pytest.fixture
def ask(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, str], Evaluation]:
    """Evaluate a batch on an engine; Spark is started by those who need it."""

    def evaluated(engine: str, batch: str) -> Evaluation:
        folder = tmp_path_factory.mktemp("engine")
        return WAYS[engine](BATCHES[batch], folder, lambda: request.getfixturevalue("spark"))

    return evaluated


@pytest.mark.parametrize("engine", ENGINES)
@for_each("batch", SAME)
def test_same_bits(engine: str, batch: str, ask: Callable[[str, str], Evaluation]) -> None:
    if (engine, batch) in GAPS:  # a gap is declared, and fails where it closes
        with pytest.raises(NOT_YET):
            assert told(ask(engine, batch), **BATCHES[batch].shown) == expected(batch)
    elif (engine, batch) in CASES:
        assert told(ask(engine, batch), **BATCHES[batch].shown) == expected(batch)


@pytest.mark.parametrize("engine", ENGINES)
@for_each("batch", REFUSED)
def test_same_refusal(engine: str, batch: str, ask: Callable[[str, str], Evaluation]) -> None:
    if (engine, batch) not in CASES:
        return
    message = BATCHES[batch].refused
    with pytest.raises(InputError, match=message):
        expected(batch)
    # SQLite keeps a NaN as NULL, and says so in other words.
    with pytest.raises(InputError, match=None if (engine, batch) in GAPS else message):
        ask(engine, batch)


def test_gaps_are_of_what_is_asked() -> None:
    assert set(GAPS) <= set(CASES)
