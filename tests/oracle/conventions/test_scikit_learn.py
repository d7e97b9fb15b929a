"""The convention of scikit-learn beside scikit-learn, row by row."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from judged.errors import ConventionError
from support.errors import error_of
from support.generated import Collection
from support.loops import for_each
from support.peers import (
    COLLECTIONS,
    Case,
    cases,
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
EVERY = cases(NAME, places={"b": (2, 10, 3.5)})
CASES = [case for case in EVERY if not case.theirs.startswith("top_k_accuracy")]  # see below


def rows(given: Collection) -> dict[str, tuple[list[float], list[float]]]:
    """For each query its grades, none below 0, and its scores."""
    return {
        query: ([max(given.judgements[query][item], 0) for item in scores], list(scores.values()))
        for query, scores in given.run.items()
    }


def theirs_of(case: Case, given: Collection) -> dict[str, float]:
    name, options = case.call()
    function, found = getattr(metrics, name), {}
    for query, (grades, scores) in rows(given).items():
        relevant = np.array(grades) > 0
        if name in GRADED:
            found[query] = function([grades], [scores], **options)
        elif name == "label_ranking_average_precision_score":
            found[query] = function([relevant], [scores])
        elif not relevant.any() or (name == "roc_auc_score" and relevant.all()):
            found[query] = 0.0  # there, with a warning
        else:
            found[query] = function(relevant, scores)
    return found


@pytest.mark.parametrize("collection", two_by_default(DATA))
@for_each("case", CASES, ids=str)
def test_every_name(case: Case, collection: str) -> None:
    if not case.theirs.startswith(GRADED) and collection not in UNTIED:
        pytest.skip("tied scores are one step of a curve")
    given = DATA[collection]
    if any(len(scores) < 2 for scores in given.run.values()):  # which scikit-learn refuses
        kept = {query for query, scores in given.run.items() if len(scores) > 1}
        given = Collection(
            {query: given.judgements[query] for query in kept},
            [row for row in given.rows if row[0] in kept],
        )
    theirs = theirs_of(case, given)
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


def test_names_of_different_policies_are_not_mixed() -> None:
    given = DATA["gaps"]
    assert error_of(
        ours, NAME, given, "ndcg_score label_ranking_average_precision_score", error=ConventionError
    ) == (
        "scikit-learn has empty=zero for ndcg_score and empty=one for "
        "label_ranking_average_precision_score; "
        "evaluate them one at a time, or choose empty for both."
    )
