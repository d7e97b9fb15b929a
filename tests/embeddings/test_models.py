"""Several models in one evaluation: `evaluate_embeddings({name: (queries, items)})`."""

from __future__ import annotations

from typing import Any

import numpy as np

from judged import Embeddings, evaluate_embeddings
from judged.embeddings import relevance
from support.errors import error_of
from support.loops import for_each

RANDOM = np.random.default_rng(3)
CLIP = RANDOM.normal(size=(30, 8)), RANDOM.normal(size=(40, 8))
OTHER = RANDOM.normal(size=(30, 5)), RANDOM.normal(size=(40, 5))
LABELS = np.arange(30) % 7, np.arange(40) % 7
QUERY_IDS, ITEM_IDS = [f"q{row}" for row in range(30)], [f"i{row}" for row in range(40)]
JUDGEMENTS = {query: {ITEM_IDS[row]: 1, ITEM_IDS[-1]: 2} for row, query in enumerate(QUERY_IDS)}


def vectors(values: Any, ids: list[str]) -> Any:
    from judged.inputs.vectors.vectors import Vectors

    return Vectors(np.asarray(values), tuple(ids))


OPTIONS: list[dict[str, Any]] = [
    {"relevance": LABELS},
    {"relevance": relevance.same_label(*LABELS), "both": True},
    {"relevance": JUDGEMENTS, "query_ids": QUERY_IDS, "item_ids": ITEM_IDS, "similarity": "dot"},
]


@for_each("options", OPTIONS)
def test_each_model_is_a_run_as_evaluated_alone(options: dict[str, Any]) -> None:
    both = evaluate_embeddings({"clip": CLIP, "other": OTHER}, measures="AP, RR", **options)
    runs = iter(both.runs)
    for name, pair in {"clip": CLIP, "other": OTHER}.items():
        alone = evaluate_embeddings(*pair, measures="AP, RR", name=name, **options)
        for run in alone.runs:
            joined = next(runs)
            assert joined.name == run.name
            assert joined.summary == run.summary
    assert next(runs, None) is None


def test_queries_that_are_the_items_are_left_out_of_their_own_ranking() -> None:
    label = LABELS[1].tolist()
    models = {"a": (CLIP[1], CLIP[1]), "b": (OTHER[1], OTHER[1])}
    found = evaluate_embeddings(models, relevance=label, measures="Success@1")
    alone = Embeddings(OTHER[1], OTHER[1], labels=label).evaluate("Success@1")
    assert found["Success@1"]["b"] == alone.value()
    assert [*found.compare().to_dict()["runs"]]


def test_judgements_by_id_need_no_common_order() -> None:
    order = np.arange(30)[::-1]
    moved = vectors(OTHER[0][order], [QUERY_IDS[row] for row in order])
    models = {
        "clip": (vectors(CLIP[0], QUERY_IDS), vectors(CLIP[1], ITEM_IDS)),
        "moved": (moved, vectors(OTHER[1], ITEM_IDS)),
        "other": (vectors(OTHER[0], QUERY_IDS), vectors(OTHER[1], ITEM_IDS)),
    }
    found = evaluate_embeddings(models, relevance=JUDGEMENTS, measures="AP")
    assert found["AP"]["moved"] == found["AP"]["other"]
    assert found.runs[0].rankings.queries == found.runs[1].rankings.queries
    assert error_of(evaluate_embeddings, models, relevance=LABELS) == (
        "models 'clip' and 'moved' have different queries, or the same in another order: row 0 "
        "(from 0) is 'q0' and 'q29'. Give both the same ids (query_ids and item_ids), in the same "
        "order unless judgements go by id."
    )


FEWER = (OTHER[0][:20], OTHER[1])
RENAMED = (OTHER[0], vectors(OTHER[1], [*ITEM_IDS[:-1], "x"]))
KNOWN = (CLIP[0], vectors(CLIP[1], ITEM_IDS))
WRONG: list[tuple[Any, str]] = [
    ({"a": CLIP, "b": FEWER}, "models 'a' and 'b' have different queries: 30 and 20."),
    (
        {"a": KNOWN, "b": RENAMED},
        "models 'a' and 'b' have different items, or the same in another order: row 39 (from 0) is "
        "'i39' and 'x'. Give both the same ids (query_ids and item_ids), in the same order unless "
        "judgements go by id.",
    ),
    (
        {"a": CLIP, "b": (CLIP[0], OTHER[1])},
        "the queries of b have 8 dimensions but the items of b have 5; the numbers must match. Do "
        "they come from the same model?",
    ),
    ({}, "models are missing; give {name: (queries, items)}."),
    ({"a": CLIP[0]}, "model 'a' must be a pair (queries, items); got ndarray."),
    ({1: CLIP}, "the name of a model must be a text; got 1."),
]


@for_each("models, message", WRONG)
def test_models_of_other_things_are_an_error(models: Any, message: str) -> None:
    assert error_of(evaluate_embeddings, models, relevance=LABELS, measures="AP") == message


def test_models_whose_labels_leave_out_other_items_are_an_error() -> None:
    models = {"a": (CLIP[1], CLIP[1]), "b": (OTHER[1], OTHER[1] + 1)}
    message = error_of(evaluate_embeddings, models, relevance=LABELS[1])
    assert message.startswith("a and b are of different judgements: query '0' has 5 judged items")


def test_missing_sides_are_an_error() -> None:
    assert error_of(evaluate_embeddings, {"a": CLIP}, CLIP[1], LABELS) == (
        "models {name: (queries, items)} have items; leave out items."
    )
    assert error_of(evaluate_embeddings, CLIP[0], relevance=LABELS) == (
        "items are missing; give queries and items, or {model: (queries, items)}."
    )
    assert error_of(evaluate_embeddings, *CLIP) == (
        "relevance is missing; give labels, judgements or judged.relevance."
    )
