"""Run and judgements: what is refused, in which words, and what is counted."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from judged import Policy, evaluate
from judged.rankings.rankings import Rankings
from judged.results import Audit
from support.errors import error_of
from support.evaluating import rank
from support.loops import for_each


def frame(*rows: tuple[str, str, float], value: str = "score") -> pl.DataFrame:
    return pl.DataFrame(
        rows, schema={"query": pl.String, "item": pl.String, value: pl.Float64}, orient="row"
    )


def grades(*rows: tuple[str, str, float]) -> pl.DataFrame:
    return frame(*rows, value="grade")


refused = partial(error_of, rank)


# -- duplicates

REMEDY = "Remove the repetitions, or keep the best-ranked of each with duplicates='first'."


REPEATED = "query 'q' has item '{}' more than once"
NAN = "the score of item '{}' for query 'q' is NaN"
NO_PLACE = "A NaN cannot be ranked; give it a number or remove it."
ONE = {"q": {"a": 1}}
WRONG: dict[str, tuple[Any, Any, str]] = {
    "repeated rows of a run": (
        ONE,
        frame(("q", "a", 1.0), ("q", "b", 2.0), ("q", "a", 3.0)),
        f"a data frame, rows 1 and 3: {REPEATED.format('a')}. {REMEDY}",
    ),
    "many of them": (
        ONE,
        frame(*[("q", item, score) for score in (3.0, 2.0, 1.0) for item in ("a", "b", "c")]),
        f"a data frame, rows 1, 4 and 7: {REPEATED.format('a')} (and 2 more such pairs). {REMEDY}",
    ),
    "repeated judgements": (
        grades(("q", "a", 1.0), ("q", "b", 1.0), ("q", "b", 0.0)),
        {"q": {"a": 1.0}},
        f"a data frame, rows 2 and 3: {REPEATED.format('b')}. {REMEDY}",
    ),
    "repeated in a list": (
        ONE,
        {"q": ["a", "b", "a"]},
        f"a dict: {REPEATED.format('a')}. {REMEDY}",
    ),
    "NaN in a frame": (
        {**ONE, "r": {"c": 1}},
        frame(("q", "a", 1.0), ("q", "b", np.nan), ("r", "c", np.nan)),
        f"a data frame, row 2: {NAN.format('b')} (and 1 more). {NO_PLACE}",
    ),
    "NaN in a dict": (
        ONE,
        {"q": {"a": 1.0, "b": np.nan}},
        f"a dict: {NAN.format('b')}. {NO_PLACE}",
    ),
    **{
        f"grade {grade}": (
            {"q": {"a": 1, "b": grade}},
            {"q": {"a": 1.0}},
            f"the judgements: the grade of item 'b' for query 'q' is {grade}; grades must be "
            "finite numbers.",
        )
        for grade in (np.nan, np.inf)
    },
}


@for_each("name", WRONG)
def test_what_is_refused(name: str) -> None:
    judgements, run, message = WRONG[name]
    assert refused(judgements, run) == message


def test_duplicate_lines_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("# a comment\nq 0 a 1\n\nq 0 b 1\nq 0 a 0\n", encoding="utf-8")
    Path("run").write_text(
        "q Q0 a 1 3 t\nq Q0 b 2 2 t\nr Q0 a 1 1 t\nq Q0 a 3 1 t\n", encoding="utf-8"
    )
    for where, judgements, run in (
        ("qrels, lines 2 and 5", "qrels", {"q": {"a": 1.0}}),
        ("run, lines 1 and 4", ONE, "run"),
    ):
        assert refused(judgements, run) == f"{where}: {REPEATED.format('a')}. {REMEDY}"


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
def test_the_best_ranked_duplicate_is_kept(order: list[int]) -> None:
    run = frame(("q", "a", 1.0), ("q", "x", 2.0), ("q", "a", 3.0), ("r", "a", 9.0))[order]
    rankings = Rankings.from_run({"q": {"a": 1, "x": 0}}, run, policy={"duplicates": "first"})
    assert rankings.hit_rank.tolist() == [1, 2]
    assert rankings.hit_grade.tolist() == [1, 0]
    assert rankings.retrieved.tolist() == [2]
    assert rankings.audit.duplicates_dropped == 1
    assert "1 duplicate row dropped, the best-ranked kept." in rankings.audit.sentences()


def test_the_first_duplicate_judgement_is_kept() -> None:
    rankings = Rankings.from_run(
        grades(("q", "a", 0.0), ("q", "a", 1.0), ("q", "b", 2.0)),
        {"q": {"a": 1.0}},
        policy={"duplicates": "first"},
    )
    assert rankings.hit_grade.tolist() == [0]
    assert rankings.pool_grade.tolist() == [2, 0]
    assert rankings.audit.duplicates_dropped == 1


# -- nothing in common


@pytest.mark.parametrize(
    ("judged", "run", "hint"),
    [
        ("1", "001", "They would agree with the run's ids without leading zeros: {}"),
        ("000", "0", "They would agree with the judgements' ids without leading zeros: {}"),
        ("1", "1.0", "They would agree with the run's ids cut at the last '.': {}"),
        ("Topic-a", "topic-A", "They would agree with all ids in lower case: {}"),
        ("a", " a", "They would agree with the run's ids without white space at the ends: {}"),
        (
            "MB301",
            "301",
            "They would agree with the judgements' ids without the letters before the number: {}",
        ),
        ("MB301", "TREC301", "Their numbers agree, the letters around them do not: {}"),
        ("a", "b", "Do the two belong to the same collection?"),
    ],
)
@pytest.mark.parametrize("route", ["dict", "frame"])
def test_no_query_in_common(judged: str, run: str, hint: str, route: str) -> None:
    given = {run: {"x": 1.0}} if route == "dict" else frame((run, "x", 1.0))
    source = "a dict" if route == "dict" else "a data frame"
    assert refused({judged: {"x": 1}}, given) == (
        f"{source} and the judgements have no query in common. The run has {run!r}; the judgements "
        f"have {judged!r}. {hint.format('ids are compared as exact texts.')}"
    )


@pytest.mark.parametrize("run", [{}, {"q": {}}, {"q": {}, "other": {"a": 1.0}}])
def test_an_empty_run_is_refused(run: Any) -> None:
    assert refused({"q": {"a": 1}, "r": {"a": 1}}, run) == (
        "a dict: the run is empty. An empty run is not a system that scored zero; is it the right "
        "one?"
    )


# -- depth and collection


@pytest.mark.parametrize("collection", [10, {"q": 10, "r": 10, "other": 3}])
def test_collection(collection: Any) -> None:
    rankings = Rankings.from_run(
        {"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 1.0}}, collection=collection
    )
    assert rankings.evaluate(["TN@1"]).to_frame(per_query=True)["TN@1"].to_list() == [9, 9]


# -- small and odd inputs


def test_ids_are_exact_texts() -> None:
    rankings = Rankings.from_run(
        {"q": {"01": 1, "1": 0, "1.0": 2}}, {"q": {"1": 3.0, "01": 2.0, " 1": 1.0}}
    )
    assert rankings.hit_grade.tolist() == [0, 1]


def test_judging_changes_nothing_of_the_callers() -> None:
    judgements = {"q": {"b": 1, "a": 0}}
    run = {"q": {"b": 1.0, "a": 2.0}}
    before = repr((judgements, run))
    evaluate(judgements, run, policy={"ties": "best", "depth": 1})
    assert repr((judgements, run)) == before
    table = frame(("q", "b", 1.0), ("q", "a", 2.0))
    copy = table.clone()
    evaluate(judgements, table)
    assert table.equals(copy)


# -- the audit

# q1: eleven results; a and b tied (and an unjudged one with them), c below the first ten, one grade
# negative (b). q2: two results, none judged. q3: missing. q4: nothing relevant, its grade lies
# between 0 and 1. q5 of the run: not judged.
JUDGEMENTS = {
    "q1": {"a": 1, "b": -1, "c": 2, "d": 1},
    "q2": {"a": 1},
    "q3": {"a": 1},
    "q4": {"a": 0.5},
}
RUN = {
    "q1": {"a": 5.0, "b": 5.0, "x0": 5.0, **{f"x{i}": 5.0 - i for i in range(1, 8)}, "c": -9.0},
    "q2": {"x": float("inf"), "y": 1.0},
    "q4": {"a": 1.0},
    "q5": {"a": 1.0},
}


def found(judgements: Any = JUDGEMENTS, run: Any = RUN, **options: Any) -> Audit:
    rankings = rank(judgements, run, **options)
    assert rankings.audit is not None
    return rankings.audit


ROWS = frame(
    *[(query, item, score) for query, items in RUN.items() for item, score in items.items()]
)


@pytest.mark.parametrize("run", [RUN, ROWS], ids=["dict", "frame"])
def test_what_the_audit_counts(run: Any) -> None:
    assert found(run=run) == Audit(
        judged_queries=4,
        run_queries=4,
        missing_queries=("q3",),
        ignored_queries=1,
        results=11 + 2 + 1,
        judged_results=3 + 0 + 1,
        # of the first ten, only a is judged (b is not, c is eleventh): 1/10; 0/2; 1/1; q3 has no
        # results
        judged_at_10=(1 / 10 + 0 + 1) / 3,
        tied_results=2,
        tied_queries=1,
        short_lists=2,
        nothing_relevant=1,
        fractional_grades=1,
        negative_grades=1,
        infinite_scores=1,
    )


def test_what_depth_and_removal_count() -> None:
    audit = found(depth=5, policy=Policy(unjudged="removed"))
    assert audit.cut_by_depth == 6
    # q1 shows x0, b, a, x1, x2 and keeps a; q2 keeps none of two; q4 its one.
    assert audit.unjudged_removed == 4 + 2
    assert audit.judged_at_10 == pytest.approx((1 / 5 + 0 + 1) / 3)


def test_what_the_audit_says() -> None:
    assert found(depth=5).sentences() == [
        "1 judged query not in the run (q3).",
        "2 judged results in 1 query tied with other results: their ranks depend on the tie rule.",
        "1 judged query without relevant items (no grade of 1 or above).",
        "1 grade between 0 and 1: not relevant unless rel is lower, as in P(rel=0.5)@10.",
        "1 query of the run without judgements ignored.",
        "1 score infinite.",
        "6 results below the depth limit ignored.",
        "2 queries with fewer than 10 results.",
        "40.0% of the top-10 results are judged; unjudged results count as not relevant.",
    ]


def test_the_audit_agrees_with_the_measures() -> None:
    measures = ["NumQ", "NumRet", "Judged@10"]
    evaluation = evaluate(JUDGEMENTS, RUN, measures, policy={"missing": "skip"})
    audit = evaluation.scored().audit
    assert evaluation.value("NumQ") == audit.judged_queries - len(audit.missing_queries)
    assert evaluation.value("NumRet") == audit.results
    assert evaluation.value("Judged@10") == pytest.approx(audit.judged_at_10)
