"""Rankings: frozen, made from lists or matrices, and what is said where input does not add up."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from typing import Any

import numpy as np
import pytest

from judged import Rankings, evaluate
from judged.errors import PolicyError
from judged.rankings.audit import Findings
from support.errors import error_of


def arrays(rankings: Rankings) -> dict[str, np.ndarray]:
    return {
        each.name: value
        for each in fields(rankings)
        if isinstance(value := getattr(rankings, each.name), np.ndarray)
    }


MADE = {
    "judge": Rankings.from_run(
        {"q": {"a": 1, "b": 0}, "r": {"c": 1}}, {"q": {"a": 1.0, "b": 1.0}}, collection=9
    ),
    "relevance": Rankings.from_relevance([[0, 1], []], collection=[5, 6]),
    "scores": Rankings.from_scores([[0, 1], [1, 1]], [[0.5, 0.5], [1, 2]]),
    "scores, best": Rankings.from_scores([[0, 1], [1, 1]], [[0.5, 0.5], [1, 2]], ties="best"),
    "cut and condensed": Rankings.from_run(
        {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 2.0}}, policy={"unjudged": "removed", "depth": 5}
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_frozen(name: str) -> None:
    rankings = MADE[name]
    assert len(arrays(rankings)) >= 7
    for each in (*arrays(rankings).values(), *arrays(rankings.take([0])).values()):
        with pytest.raises(ValueError, match="read-only"):
            each[...] = 0
    with pytest.raises(FrozenInstanceError):
        rankings.name = "other"  # type: ignore[misc]


def test_the_callers_arrays_stay_the_callers() -> None:
    truth, scores = np.array([[3.0, 1.0, 2.0]]), np.array([[1.0, 3.0, 2.0]])
    before = truth.copy(), scores.copy()
    rankings = Rankings.from_scores(truth, scores)
    relevance, pool, collection = np.array([0.0, 1.0]), np.array([0.0, 2.0, 1.0]), np.array([7])
    listed = Rankings.from_relevance([relevance], pool=[pool], collection=collection)
    assert np.array_equal(truth, before[0])
    assert np.array_equal(scores, before[1])
    assert pool.tolist() == [0, 2, 1]
    for array in (truth, scores, relevance, pool, collection):
        assert array.flags.writeable
        array[...] = 99
    assert rankings.hit_grade.tolist() == [1, 2, 3]
    assert listed.pool_grade.tolist() == [2, 1, 0]
    assert listed.hit_grade.tolist() == [0, 1]
    assert listed.collection.tolist() == [7]


def test_take() -> None:
    rankings = Rankings.from_run(
        {"q": {"a": 1, "b": 0}, "r": {"c": 2}},
        {"q": {"a": 1.0, "b": 3.0}},
        collection={"q": 4, "r": 5},
    )
    taken = rankings.take([1, 0, 1])
    assert taken.queries == ("r", "q", "r")
    assert taken.retrieved.tolist() == [0, 2, 0]
    assert taken.missing.tolist() == [True, False, True]
    assert taken.hit_query.tolist() == [1, 1]
    assert taken.hit_rank.tolist() == [1, 2]
    assert taken.hit_grade.tolist() == [0, 1]
    assert taken.pool_query.tolist() == [0, 1, 1, 2]
    assert taken.pool_grade.tolist() == [2, 1, 0, 2]
    assert taken.collection.tolist() == [5, 4, 5]
    assert len(rankings.take([])) == 0


# -- from lists


def test_lists_of_different_length_with_unjudged_items() -> None:
    rankings = Rankings.from_relevance(
        [[0, None, 2], [], [None]], relevant=[2, 1, 0], queries=["x", "y", "z"], name="mine"
    )
    assert rankings.queries == ("x", "y", "z")
    assert rankings.retrieved.tolist() == [3, 0, 1]
    assert rankings.hit_query.tolist() == [0, 0]
    assert rankings.hit_rank.tolist() == [1, 3]
    assert rankings.hit_grade.tolist() == [0, 2]
    assert rankings.pool_query.tolist() == [0, 0, 0, 1]
    assert rankings.pool_grade.tolist() == [2, 1, 0, 1]
    assert not rankings.missing.any()
    assert rankings.name == "mine"


def test_one_number_for_all_queries() -> None:
    assert Rankings.from_relevance([[1], [0]], relevant=3).relevant(1).tolist() == [3, 3]


def test_nan_is_an_unjudged_item() -> None:
    assert Rankings.from_relevance([[float("nan"), 1]]).hit_rank.tolist() == [2]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"relevance": []},
            "relevance holds no list; give one list of grades in rank order for each query.",
        ),
        (
            {"relevance": [0, 1]},
            "relevance must hold one list of numbers for each query; got 0. For a single query "
            "write [[…]].",
        ),
        (
            {"relevance": [[0], [1]], "queries": ["a"]},
            "queries has 1 ids, relevance has 2 lists; the lengths must match.",
        ),
        ({"relevance": [[0], [1]], "queries": ["a", "a"]}, "queries must be distinct ids."),
        (
            {"relevance": [[1]], "relevant": [1], "pool": [[1]]},
            "give relevant (a count) or pool (all grades), not both.",
        ),
        (
            {"relevance": [[0, 1], [1, 1]], "relevant": [1, 1]},
            "relevant of query 2 is 1, but its list alone holds 2 relevant items; "
            "relevant counts all there are, in the list and outside it.",
        ),
        (
            {"relevance": [[0], [1]], "relevant": [1]},
            "relevant must be one number, or one for each of the 2 queries; got 1.",
        ),
        (
            {"relevance": [[0], [1]], "pool": [[1]]},
            "pool must hold one list of grades for each of the 2 queries; got 1.",
        ),
        (
            {"relevance": [[0], [1]], "collection": [5]},
            "collection must be one number, or one for each of the 2 queries; got 1.",
        ),
        (
            {"relevance": [[1], [3, 2, 3]], "pool": [[1], [3, 2, 1]]},
            "pool of query 2 lacks a grade 3 that its list holds; pool is all grades there are, "
            "in the list and outside it.",
        ),
        (
            {"relevance": [[1, float("inf")]]},
            "a grade of query 1 is inf; grades must be finite numbers.",
        ),
        (
            {"relevance": [[1]], "pool": [[1, float("nan")]]},
            "a grade of query 1 is nan; grades must be finite numbers.",
        ),
    ],
)
def test_lists_that_do_not_add_up(given: dict[str, Any], message: str) -> None:
    assert error_of(Rankings.from_relevance, **given) == message


# -- from matrices


def test_rows_of_different_length() -> None:
    rankings = Rankings.from_scores(
        [[1, 0, 2], [], [1]], [[0.1, 0.9, 0.5], [], [0]], queries=["x", "y", "z"]
    )
    assert rankings.retrieved.tolist() == [3, 0, 1]
    assert rankings.hit_grade.tolist() == [0, 2, 1, 1]
    assert rankings.hit_rank.tolist() == [1, 2, 3, 1]
    assert rankings.pool_grade.tolist() == [2, 1, 0, 1]
    assert rankings.collection.tolist() == [3, 0, 1]


@pytest.mark.parametrize(
    ("ties", "grades"), [("input", [1, 0, 2]), ("best", [2, 1, 0]), ("worst", [0, 1, 2])]
)
def test_ties_of_a_row(ties: str, grades: list[float]) -> None:
    assert Rankings.from_scores([[1, 0, 2]], [[5, 5, 5]], ties=ties).hit_grade.tolist() == grades


@pytest.mark.parametrize(
    ("y_true", "y_score", "message"),
    [
        ([], [], "y_true holds no rows; give one row for each query."),
        (
            [0, 1],
            [0.5, 0.4],
            "y_true must hold one list of numbers for each query; got 0. For a single query write "
            "[[…]].",
        ),
        (
            [[0, 1]],
            [0.5, 0.4],
            "y_score must hold one list of numbers for each query; got 0.5. For a single query "
            "write [[…]].",
        ),
        ([[0], [1]], [[0.5]], "y_true has 2 rows, y_score has 1; the lengths must match."),
        (
            [[0], [1, 0]],
            [[0.5], [1]],
            "row 1 of y_true has 2 values, that of y_score has 1; the lengths must match.",
        ),
        ([[0, 1], [0, 1]], [[1, 2], [1, np.nan]], "y_score has a NaN in row 1; give a number."),
        ([[0, np.nan]], [[1, 2]], "y_true has a NaN in row 0; give a number."),
        ([[0, np.inf]], [[1, 2]], "a grade of query 1 is inf; grades must be finite numbers."),
    ],
)
def test_matrices_that_do_not_add_up(y_true: Any, y_score: Any, message: str) -> None:
    assert error_of(Rankings.from_scores, y_true, y_score) == message


@pytest.mark.parametrize("ties", ["id", "random"])
def test_rows_have_no_ids(ties: str) -> None:
    assert (
        error_of(Rankings.from_scores, [[0]], [[0]], ties=ties, error=PolicyError)
        == f"items have no ids here: ties must be input, best, worst or expected; got {ties!r}."
    )


def test_tensors_of_every_type() -> None:
    torch = pytest.importorskip("torch")
    grades, scores = [[0, 1, 1], [1, 0, 0]], [[0.75, 0.5, 0.25], [0.125, 0.25, 0.5]]
    expected = Rankings.from_scores(grades, scores)
    for kind in (torch.bfloat16, torch.float16, torch.float32, torch.float64):
        tensor = torch.tensor(scores, dtype=kind, requires_grad=True)
        for rows in (tensor, list(tensor), [list(row) for row in tensor]):
            for given in (grades, torch.tensor(grades), torch.tensor(grades, dtype=torch.bfloat16)):
                found = Rankings.from_scores(given, rows)
                assert found.hit_grade.tolist() == expected.hit_grade.tolist()
                assert found.hit_rank.tolist() == expected.hit_rank.tolist()
    found = Rankings.from_relevance(torch.tensor(grades, dtype=torch.bfloat16))
    assert found.hit_grade.tolist() == [0, 1, 1, 1, 0, 0]


def test_counts_of_the_maker_override_those_of_the_rankings() -> None:
    r = Rankings.from_relevance([[1, None, 0]])
    assert Findings.of(r, run_queries=1, complete=True).judged_results == 3
    assert Findings.of(r, run_queries=1, complete=True, judged_results=2).judged_results == 2


def test_only_blocks_of_one_run_are_joined() -> None:
    judgements = {"p": {"a": 1, "b": 0}, "q": {"a": 1}}
    run = {"p": ["b", "a"], "q": ["a"]}

    def block(query: str, **options: Any) -> Rankings:
        evaluation = evaluate({query: judgements[query]}, {query: run[query]}, "RR", **options)
        return evaluation.runs[0].rankings

    one = block("p")
    assert Rankings.concat([one, block("q")]).evaluate("RR").value() == 0.75
    for other, message in (
        (block("p"), "query 'p' is in two of the rankings; join those of different queries."),
        (
            block("q", policy={"depth": 1}),
            "rankings of depth=None and depth=1 cannot be joined; make them by the same rules.",
        ),
        (
            block("q", policy={"ties": "worst"}),
            "rankings of ties=id and ties=worst cannot be joined; make them by the same rules.",
        ),
        (
            block("q", weights={"q": 2}),
            "only some of the rankings to join have weights; give all or none.",
        ),
    ):
        assert error_of(Rankings.concat, [one, other]) == message
