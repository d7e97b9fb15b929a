"""The convention of scikit-learn beside scikit-learn, row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from support.generated import Collection
from support.loops import for_each
from support.peers import (
    COLLECTIONS,
    Case,
    cases,
    check_table,
    check_version,
    closed,
    compare,
    ours,
    two_by_default,
)

NAME = "scikit-learn"
UNTIED = ("gaps", "nothing relevant")
DATA = {name: closed(COLLECTIONS[name]) for name in ("ties and gaps", *UNTIED)}
"""Asked row by row, scikit-learn takes a while."""
GRADED = ("dcg_score", "ndcg_score")


def rows(given: Collection) -> dict[str, tuple[list[float], list[float]]]:
    """For each query its grades, none below 0, and its scores."""
    return {
        query: ([max(given.judgements[query][item], 0) for item in scores], list(scores.values()))
        for query, scores in given.run.items()
    }


def row_by_row(
    function: Callable[..., float], **options: Any
) -> Callable[[Collection], dict[str, float]]:
    return lambda given: {
        query: function([grades], [scores], **options)
        for query, (grades, scores) in rows(given).items()
    }


def average_precision(given: Collection) -> dict[str, float]:
    # A row with nothing relevant is 0, with a warning.
    return {
        query: metrics.average_precision_score(np.array(grades) > 0, scores) if any(grades) else 0.0
        for query, (grades, scores) in rows(given).items()
    }


def area(given: Collection) -> dict[str, float]:
    found = {
        query: (np.array(grades) > 0, scores) for query, (grades, scores) in rows(given).items()
    }
    return {
        query: metrics.roc_auc_score(truth, scores) if 0 < truth.sum() < len(truth) else 0.0
        for query, (truth, scores) in found.items()
    }


CALLS: dict[str, Callable[..., Any]] = {
    "ndcg_score": lambda: row_by_row(metrics.ndcg_score),
    "ndcg_score(k={k})": lambda k: row_by_row(metrics.ndcg_score, k=k),
    "dcg_score": lambda: row_by_row(metrics.dcg_score),
    "dcg_score(k={k})": lambda k: row_by_row(metrics.dcg_score, k=k),
    "dcg_score(k={k}, log_base={b})": lambda k, b: row_by_row(metrics.dcg_score, k=k, log_base=b),
    "average_precision_score": lambda: average_precision,
    "label_ranking_average_precision_score": lambda: (
        lambda given: {
            query: metrics.label_ranking_average_precision_score([np.array(grades) > 0], [scores])
            for query, (grades, scores) in rows(given).items()
        }
    ),
    "roc_auc_score": lambda: area,
    "top_k_accuracy_score(k={k})": lambda k: None,
}


def test_table() -> None:
    check_table(NAME, CALLS)


@pytest.mark.parametrize("collection", two_by_default(DATA))
@for_each(
    "case",
    [case for case in cases(NAME, places={"b": (2, 10, 3.5)}) if "top_k" not in case.theirs],
    ids=str,
)
def test_every_name(case: Case, collection: str) -> None:
    if not case.theirs.startswith(GRADED) and collection not in UNTIED:
        pytest.skip("tied scores are one step of a curve; see below")
    given = DATA[collection]
    if any(len(scores) < 2 for scores in given.run.values()):  # which scikit-learn refuses
        kept = {query for query, scores in given.run.items() if len(scores) > 1}
        given = Collection(
            {query: given.judgements[query] for query in kept},
            [row for row in given.rows if row[0] in kept],
        )
    theirs = CALLS[case.name.theirs](**case.places)(given)
    sizes = {query: len(scores) for query, scores in given.run.items()}
    assert compare(NAME, case, given, theirs, collection=sizes) == len(given.run)


@pytest.mark.parametrize("k", [1, 3, 10])
def test_top_k_accuracy(k: int) -> None:
    draw = np.random.default_rng(7)
    scores, label = (
        draw.permuted(np.tile(np.arange(25.0), (40, 1)), axis=1),
        draw.integers(0, 25, 40),
    )
    expected = metrics.top_k_accuracy_score(label, scores, k=k, labels=np.arange(25))
    run = [
        (f"q{query}", f"d{item}", scores[query, item]) for query in range(40) for item in range(25)
    ]
    given = Collection({f"q{query}": {f"d{item}": 1} for query, item in enumerate(label)}, run)
    assert ours(NAME, given, f"top_k_accuracy_score(k={k})").value() == pytest.approx(expected)


def test_tied_items_are_one_step_of_its_curve() -> None:
    assert metrics.average_precision_score([1, 0], [0.5, 0.5]) == 0.5
    assert metrics.label_ranking_average_precision_score([[1, 0]], [[0.5, 0.5]]) == 0.5
    # The mean over both orders would be (1 + 1/2) / 2.


def test_names_of_different_policies_are_not_mixed() -> None:
    from judged import ConventionError

    given = DATA["gaps"]
    with pytest.raises(ConventionError) as error:
        ours(NAME, given, "ndcg_score label_ranking_average_precision_score")
    assert str(error.value) == (
        "scikit-learn has empty=zero for ndcg_score and empty=one for "
        "label_ranking_average_precision_score; "
        "evaluate them one at a time, or choose empty for both."
    )


def test_version() -> None:
    check_version(NAME)
