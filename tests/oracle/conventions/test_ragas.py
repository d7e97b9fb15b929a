"""The convention of ragas beside ragas: rows of ids, of texts, and of verdicts."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Mapping
from typing import Any

import pytest

from judged import evaluate
from judged.errors import ConventionError
from support.errors import error_of
from support.generated import Collection, generate
from support.loops import for_each
from support.peers import COLLECTIONS, HEAVY, Case, cases, compare, ranked

pytestmark = HEAVY

NAME = "ragas"
CLASSES = {
    "id_based_context_precision": "IDBasedContextPrecision",
    "id_based_context_recall": "IDBasedContextRecall",
    "context_precision": "LLMContextPrecisionWithReference",
    "non_llm_context_precision_with_reference": "NonLLMContextPrecisionWithReference",
    "non_llm_context_recall": "NonLLMContextRecall",
}
SMALL = {
    "ties": generate(171, queries=16, items=18, longest=12),
    "no ties": generate(172, queries=16, items=18, longest=12, ties=False),
    "nothing relevant": generate(
        173, queries=16, items=18, longest=12, ties=False, grades=(0, 0, 0, 0, 1)
    ),
}
"""Every pair of texts is compared, letter by letter."""


def metric(name: str) -> Any:
    return getattr(pytest.importorskip("ragas.metrics"), name)()


def row(retrieved: list[str], references: list[str]) -> Any:
    """The same contexts as ids and as texts."""
    schema = pytest.importorskip("ragas.dataset_schema")
    return schema.SingleTurnSample(
        user_input="?",
        retrieved_context_ids=retrieved,
        reference_context_ids=references,
        retrieved_contexts=list(map(text, retrieved)),
        reference_contexts=list(map(text, references)),
    )


def text(item: str) -> str:
    """A text that is like that of no other item."""
    draw = random.Random(item)
    return "".join(chr(draw.randrange(0x4E00, 0x9000)) for _ in range(12))


async def _scores(name: str, rows: Mapping[str, Any]) -> dict[str, float]:
    found = {}
    for query, sample in rows.items():
        try:
            found[query] = float(await metric(name).single_turn_ascore(sample))
        except ValueError:
            # As evaluate() of ragas does, which leaves such rows out.
            found[query] = math.nan
    return found


def values(given: Collection, name: str, k: int | None) -> dict[str, float]:
    """The rows that count; a query that the run lacks has nothing retrieved."""
    rows = {
        query: (ranked(given, query)[:k], [item for item, grade in grades.items() if grade > 0])
        for query, grades in given.judgements.items()
    }
    if name == "LLMContextPrecisionWithReference":
        found = {query: verdicts(*lists) for query, lists in rows.items()}
    else:
        samples = {query: row(*lists) for query, lists in rows.items()}
        found = asyncio.run(_scores(name, samples))
    return {query: value for query, value in found.items() if value == value}


def verdicts(retrieved: list[str], references: list[str]) -> float:
    """Its average precision of the verdicts that a language model gives."""
    module = pytest.importorskip("ragas.metrics._context_precision")
    said = [module.Verification(reason="", verdict=int(each in references)) for each in retrieved]
    return float(metric("LLMContextPrecisionWithReference")._calculate_average_precision(said))


def not_wholly_empty(given: Collection) -> Collection:
    """Without queries that have nothing relevant and nothing retrieved."""
    return Collection(
        {
            query: grades
            for query, grades in given.judgements.items()
            if query in given.run or max(grades.values()) > 0
        },
        given.rows,
    )


@for_each(
    "case",
    cases(NAME, {**CLASSES, **{f"{name}@{{k}}": each for name, each in CLASSES.items()}}),
    ids=str,
)
def test_every_name(case: Case) -> None:
    name = case.name.theirs.removesuffix("@{k}")
    k = int(case.places["k"]) if case.places else None
    for given in (SMALL if name.startswith("non_llm") else COLLECTIONS).values():
        some = not_wholly_empty(given)
        theirs = values(some, CLASSES[name], k)
        assert compare(NAME, case, some, theirs) == len(theirs) > 0


def test_rows_without_a_value_are_left_out_of_the_mean() -> None:
    ragas = pytest.importorskip("ragas")
    rows = {
        "found": row(["a", "b"], ["a"]),
        "nothing retrieved": row([], ["a"]),
        "nothing relevant": row(["b"], []),
    }
    names = [name for name in CLASSES if name != "context_precision"]
    found = ragas.evaluate(
        ragas.EvaluationDataset(samples=list(rows.values())),
        metrics=[metric(CLASSES[name]) for name in names],
        show_progress=False,
    )
    judgements = {"found": {"a": 1}, "nothing retrieved": {"a": 1}, "nothing relevant": {"c": 0}}
    run = {"found": ["a", "b"], "nothing retrieved": [], "nothing relevant": ["b"]}
    expected = (0.25, 0.5, 0.5, 1.0)
    for name, mean in zip(names, expected, strict=True):
        assert found._repr_dict[name] == pytest.approx(mean, abs=1e-9)
        ours = evaluate(judgements, run, name, convention=NAME).value()
        assert ours == pytest.approx(mean, abs=1e-9)


def test_precision_and_recall_need_one_policy_to_stand_together() -> None:
    both = ["id_based_context_precision", "id_based_context_recall"]
    assert error_of(
        evaluate, {"q": {"a": 1}}, {"q": ["a"]}, both, convention=NAME, error=ConventionError
    ) == (
        "ragas has missing=skip for id_based_context_precision and missing=zero for "
        "id_based_context_recall; evaluate them one at a time, or choose missing for both."
    )
