"""Judging equals brute force, whatever the ties, and does not depend on how the input is written
down."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from hypothesis import assume, example, given
from hypothesis import strategies as st

from judged import Rankings, evaluate
from judged.matching.ties import condensed, rearranged
from judged.measures import Measure
from support.evaluating import add_choices
from support.loops import for_each
from support.rankings import any_measure
from support.slow_judge import Judgements, Row, as_judged, judge_slowly

QUERIES = ("q1", "q2", "Q1", "01", "1", "ü", "問い")
ITEMS = ("a", "b", "A", "aa", "a-", "é", "z", "10", "9", "文書", "ﬁ", "😀")
"""In bytes: upper before lower case, é and 文書 after z, the emoji last (as UTF-16 it would come
before ﬁ)."""
HEAVY_TIES = st.sampled_from([1.0, 1.0, 1.0, 0.5, 0.5, 2.0, 0.0, -0.0, -1.5, np.inf, -np.inf])
NO_TIES = st.floats(-1e6, 1e6)
GRADES = st.sampled_from([0, 1, 1, 2, 3, -1, 0.5])

PAIRS = st.tuples(st.sampled_from(QUERIES), st.sampled_from(ITEMS))


@st.composite
def judgement_dicts(draw: st.DrawFn) -> Judgements:
    rows = draw(st.dictionaries(PAIRS, GRADES, min_size=1, max_size=25))
    result: dict[str, dict[str, float]] = {}
    for (query, item), grade in rows.items():
        result.setdefault(query, {})[item] = grade
    return result


@st.composite
def run_rows(draw: st.DrawFn, scores: st.SearchStrategy[float] = HEAVY_TIES) -> list[Row]:
    """Rows in any order: grouped by query or not, sorted by score or not."""
    rows = draw(
        st.lists(st.tuples(PAIRS, scores), min_size=1, max_size=40, unique_by=lambda row: row[0])
    )
    rows = [(query, item, score) for (query, item), score in rows]
    shape = draw(st.sampled_from(["as drawn", "grouped", "sorted"]))
    if shape != "as drawn":
        order = {query: place for place, (query, _, _) in reversed(list(enumerate(rows)))}
        rows.sort(key=lambda row: (order[row[0]], -row[2] if shape == "sorted" else 0))
    return rows


def run_dict(rows: list[Row]) -> dict[str, dict[str, float]]:
    result: dict[str, dict[str, float]] = {}
    for query, item, score in rows:
        result.setdefault(query, {})[item] = score
    return result


def run_frame(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(
        rows, schema={"query": pl.String, "item": pl.String, "score": pl.Float64}, orient="row"
    )


def judgement_frame(judgements: Judgements) -> pl.DataFrame:
    rows = [
        (query, item, float(grade))
        for query, grades in judgements.items()
        for item, grade in grades.items()
    ]
    return pl.DataFrame(
        rows, schema={"query": pl.String, "item": pl.String, "grade": pl.Float64}, orient="row"
    )


ROUTES = {
    "dict, dict": (dict, run_dict),
    "dict, frame": (dict, run_frame),
    "frame, dict": (judgement_frame, run_dict),
    "frame, frame": (judgement_frame, run_frame),
}


def have_a_query_in_common(judgements: Judgements, rows: list[Row]) -> bool:
    return any(query in judgements for query, _, _ in rows)


@for_each("route", ROUTES)
@given(
    ties=st.sampled_from(["id", "input", "best", "worst"]),
    judgements=judgement_dicts(),
    rows=run_rows(),
    depth=st.one_of(st.none(), st.integers(1, 8)),
    unjudged=st.sampled_from(["nonrelevant", "removed"]),
)
@example(  # a tie across the cut, with an unjudged item in it
    ties="best",
    judgements={"q1": {"a": 1, "b": 0}},
    rows=[("q1", "b", 1.0), ("q1", "c", 1.0), ("q1", "a", 1.0)],
    depth=2,
    unjudged="nonrelevant",
)
def test_brute_force(
    route: str, ties: str, judgements: Judgements, rows: list[Row], depth: int | None, unjudged: str
) -> None:
    assume(have_a_query_in_common(judgements, rows))
    read_judgements, read_run = ROUTES[route]
    policy = {"ties": ties, "unjudged": unjudged}
    rankings = Rankings.from_run(
        read_judgements(judgements), read_run(rows), policy=add_choices(policy, depth=depth)
    )
    expected = judge_slowly(judgements, rows, ties=ties, depth=depth, unjudged=unjudged)
    found = as_judged(rankings)
    # Where a tie reaches below the cut, its span is that of the whole list or of what is left.
    if depth is not None:
        found, expected = (
            [each._replace(hits=tuple(hit[:2] for hit in each.hits)) for each in judged]
            for judged in (found, expected)
        )
    assert found == expected


@given(judgements=judgement_dicts(), rows=run_rows(), ties=st.sampled_from(["best", "worst"]))
def test_ties_rearranged_later_are_as_if_decided_at_once(
    judgements: Judgements, rows: list[Row], ties: str
) -> None:
    assume(have_a_query_in_common(judgements, rows))
    made = Rankings.from_run(judgements, run_dict(rows))
    assert as_judged(rearranged(made, ties)) == judge_slowly(judgements, rows, ties=ties)
    assert as_judged(condensed(rearranged(made, ties))) == judge_slowly(
        judgements, rows, ties=ties, unjudged="removed"
    )
    assert as_judged(rearranged(condensed(made), ties)) == judge_slowly(
        judgements, rows, ties=ties, unjudged="removed"
    )


@given(
    y_true=st.lists(st.lists(st.tuples(GRADES, HEAVY_TIES), max_size=9), min_size=1, max_size=5),
    ties=st.sampled_from(["input", "best", "worst"]),
)
def test_matrices_by_brute_force(y_true: list[list[tuple[float, float]]], ties: str) -> None:
    grades = [[grade for grade, _ in row] for row in y_true]
    scores = [[score for _, score in row] for row in y_true]
    rankings = Rankings.from_scores(grades, scores, ties=ties)
    judgements = {
        str(at): {str(i): grade for i, grade in enumerate(row)} for at, row in enumerate(grades, 1)
    }
    rows = [
        (str(at), str(i), score) for at, row in enumerate(scores, 1) for i, score in enumerate(row)
    ]
    expected = judge_slowly(judgements, rows, ties=ties)
    found, expected = (
        [each._replace(missing=False) for each in judged]
        for judged in (as_judged(rankings), expected)
    )
    assert found == expected
    assert rankings.collection.tolist() == [len(row) for row in grades]


def one_score_each(rows: list[Row]) -> bool:
    scores = [(query, score) for query, _, score in rows]
    return len(set(scores)) == len(scores)


def values(judgements: Any, run: Any, measure: Measure, **options: Any) -> dict[str, float]:
    scored = evaluate(judgements, run, [measure], collection=100, **options).scored()
    return dict(zip(scored.rankings.queries, scored.values[measure].tolist(), strict=True))


@given(
    judgements=judgement_dicts(),
    rows=run_rows(scores=NO_TIES),
    measure=any_measure(diversity=False),
    data=st.data(),
)
def test_names_and_order_do_not_matter_without_ties(
    judgements: Judgements, rows: list[Row], measure: Measure, data: st.DataObject
) -> None:
    assume(have_a_query_in_common(judgements, rows))
    assume(one_score_each(rows))
    expected = values(judgements, run_dict(rows), measure)
    # items renamed
    new = dict(zip(ITEMS, data.draw(st.permutations(ITEMS)), strict=True))
    renamed = {
        query: {new[item]: grade for item, grade in grades.items()}
        for query, grades in judgements.items()
    }
    renamed_rows = [(query, new[item], score) for query, item, score in rows]
    np.testing.assert_equal(values(renamed, run_frame(renamed_rows), measure), expected)
    # rows and judgements in another order, as table and as dict
    shuffled = data.draw(st.permutations(rows))
    frame = judgement_frame(judgements)
    mixed = frame[data.draw(st.permutations(range(frame.height)))]
    np.testing.assert_equal(values(mixed, run_frame(shuffled), measure), expected)
    np.testing.assert_equal(values(mixed, run_dict(shuffled), measure), expected)
    # the tie rule
    for ties in ("input", "best", "worst"):
        np.testing.assert_equal(
            values(judgements, run_dict(rows), measure, policy={"ties": ties}), expected
        )


@given(judgements=judgement_dicts(), rows=run_rows(), measure=any_measure(diversity=False))
def test_no_tie_rule_is_better_than_best_or_worse_than_worst(
    judgements: Judgements, rows: list[Row], measure: Measure
) -> None:
    assume(have_a_query_in_common(judgements, rows))
    assume("swap_up_never_hurts" in measure.spec.laws)
    assume(measure.params.get("gains") is None and measure.params.get("norm") != "retrieved")
    # Below these, an item graded 0 gains and an unjudged one does not.
    assume(measure.params.get("rel", 1) > 0 and measure.params.get("min_rel", 0) >= 0)
    best, by_id, given_order, worst = (
        np.array(list(values(judgements, run_dict(rows), measure, policy={"ties": ties}).values()))
        for ties in ("best", "id", "input", "worst")
    )
    if not measure.spec.higher_is_better:
        best, worst = worst, best
    for between in (by_id, given_order):
        assert np.all((worst <= between + 1e-12) & (between <= best + 1e-12))
