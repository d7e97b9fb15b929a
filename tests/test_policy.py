"""What is done where the data leave room: missing queries, queries with nothing relevant, and what
each choice is called."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isnan, nan
from typing import Any

import pytest

from judged import Policy, Rankings, evaluate
from judged.errors import InputError, MeasureError, PolicyError
from judged.policy import CHOICES
from support.errors import error_of

# q1: a at rank 1 of 2 (RR 1, P@2 1/2). q2: b at rank 2 of 2 (RR 1/2). q3 is missing from the run.
# q4 has nothing relevant.
JUDGEMENTS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}, "q4": {"d": 0}}
RUN = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"x": 2.0, "b": 1.0}, "q4": {"d": 2.0, "x": 1.0}}


def values(measure: str, **policy: str) -> list[float]:
    evaluation = evaluate(JUDGEMENTS, RUN, [measure], policy=policy)
    return evaluation.scored().values[evaluation.measure()].tolist()


def summary(measure: str, **policy: str) -> float:
    return evaluate(JUDGEMENTS, RUN, [measure], policy=policy).value()


def same(ours: list[float], expected: list[float]) -> bool:
    return ours == pytest.approx(expected, nan_ok=True, abs=1e-15)


@pytest.mark.parametrize(
    ("policy", "per_query", "mean"),
    [
        ({}, [1, 0.5, 0, 0], 1.5 / 4),
        ({"missing": "zero", "empty": "zero"}, [1, 0.5, 0, 0], 1.5 / 4),
        ({"missing": "skip"}, [1, 0.5, nan, 0], 1.5 / 3),
        ({"empty": "one"}, [1, 0.5, 0, 1], 2.5 / 4),
        ({"empty": "skip"}, [1, 0.5, 0, nan], 1.5 / 3),
        ({"missing": "skip", "empty": "one"}, [1, 0.5, nan, 1], 2.5 / 3),
        ({"missing": "skip", "empty": "skip"}, [1, 0.5, nan, nan], 1.5 / 2),
    ],
)
def test_reciprocal_rank(policy: dict[str, str], per_query: list[float], mean: float) -> None:
    assert same(values("RR", **policy), per_query)
    assert summary("RR", **policy) == pytest.approx(mean, abs=1e-15)


@pytest.mark.parametrize(
    ("policy", "per_query", "mean", "median"),
    [
        # Lower is better: the worst rank is infinite, the best is 1.
        ({}, [1, 2, inf, inf], inf, inf),
        ({"empty": "one"}, [1, 2, inf, 1], inf, 1.5),
        ({"empty": "skip"}, [1, 2, inf, nan], inf, 2),
        ({"missing": "skip"}, [1, 2, nan, inf], inf, 2),
        ({"missing": "skip", "empty": "skip"}, [1, 2, nan, nan], 1.5, 1.5),
        ({"missing": "skip", "empty": "one"}, [1, 2, nan, 1], 4 / 3, 1),
    ],
)
def test_ranks(policy: dict[str, str], per_query: list[float], mean: float, median: float) -> None:
    assert same(values("Rank", **policy), per_query)
    assert summary("MeanRank", **policy) == pytest.approx(mean)
    assert summary("MedianRank", **policy) == median


def test_ranks_of_all_relevant_items_are_those_of_the_queries_that_count() -> None:
    # 1, 2 and infinite (q3); q4 has none and counts with the worst rank, the best or not at all.
    assert summary("MedianRank(of=all)") == inf
    assert summary("MedianRank(of=all)", empty="one") == 1.5
    assert summary("MedianRank(of=all)", empty="skip") == 2
    assert summary("MeanRank(of=all)") == inf
    assert summary("MeanRank(of=all)", missing="skip", empty="skip") == 1.5
    assert summary("MeanRank(of=all)", missing="skip", empty="one") == (1 + 2 + 1) / 3


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        # P@2: 1/2, 1/2, 0, 0; R@2: 1, 1, 0, undefined.
        # zero: mean P 1/4, mean R 2/4: F = 2 (1/4)(1/2) / (3/4) = 1/3
        ({}, 1 / 3),
        # one: P and R of q4 become 1: mean P 2/4, mean R 3/4: F = 2 (1/2)(3/4) / (5/4) = 3/5
        ({"empty": "one"}, 3 / 5),
        # skip: mean P 1/3, mean R 2/3: F = 2 (1/3)(2/3) / 1 = 4/9
        ({"empty": "skip"}, 4 / 9),
        # without q3 too: mean P 1/2, mean R 1: F = 2 (1/2) / (3/2) = 2/3
        ({"empty": "skip", "missing": "skip"}, 2 / 3),
    ],
)
def test_f_of_the_means(policy: dict[str, str], expected: float) -> None:
    assert summary("F(average=means)@2", **policy) == pytest.approx(expected, abs=1e-15)


def test_f_of_the_queries() -> None:
    # 2 (1/2)(1) / (3/2) = 2/3 for q1 and q2
    assert same(values("F@2"), [2 / 3, 2 / 3, 0, 0])
    assert summary("F@2") == pytest.approx(1 / 3)
    assert summary("F@2", empty="one") == pytest.approx((2 / 3 + 2 / 3 + 0 + 1) / 4)


@pytest.mark.parametrize("empty", ["zero", "one"])
@pytest.mark.parametrize(
    ("measure", "per_query", "total"),
    [
        ("NumRet", [2, 2, 0, 2], 6),
        ("NumRel", [1, 1, 1, 0], 3),
        ("NumRelRet", [1, 1, 0, 0], 2),
        ("NumQ", [1, 1, 1, 1], 4),
        ("TP@1", [1, 0, 0, 0], 1),
        ("FP@1", [0, 1, 0, 1], 2),
        ("FN@1", [0, 1, 1, 0], 2),
    ],
)
def test_counts_are_what_they_are(
    measure: str, per_query: list[float], total: float, empty: str
) -> None:
    assert values(measure, empty=empty) == per_query
    assert summary(measure, empty=empty) == total


def test_counts_concern_the_queries_that_count() -> None:
    assert summary("NumQ", missing="skip") == 3
    assert summary("NumQ", missing="skip", empty="skip") == 2
    assert summary("NumRet", empty="skip") == 4


def test_what_is_nothing_relevant_hangs_on_the_level() -> None:
    rankings = Rankings.from_run({"q": {"a": 1}, "r": {"a": 2}}, {"q": {"a": 1.0}, "r": {"a": 1.0}})
    assert rankings.evaluate(["RR(rel=2)"], policy={"empty": "one"}).to_frame(per_query=True)[
        "RR(rel=2)"
    ].to_list() == [1, 1]
    assert rankings.evaluate(["RR(rel=2)"], policy={"empty": "skip"}).to_frame(per_query=True)[
        "RR(rel=2)"
    ].to_list() == [None, 1]
    assert rankings.evaluate(["RR(rel=2)"]).to_frame(per_query=True)["RR(rel=2)"].to_list() == [
        0,
        1,
    ]


def test_gain_needs_only_a_grade_above_zero() -> None:
    rankings = Rankings.from_run({"q": {"a": 0.5}}, {"q": {"a": 1.0}})
    assert rankings.evaluate(["nDCG"], policy={"empty": "skip"}).value() == 1
    assert isnan(rankings.evaluate(["RR"], policy={"empty": "skip"}).value())


def test_no_query_that_counts_has_no_mean() -> None:
    rankings = Rankings.from_relevance([[0, 0]])
    assert isnan(rankings.evaluate(["AP"], policy={"empty": "skip"}).value())
    assert isnan(rankings.evaluate(["MedianRank(of=all)"], policy={"empty": "skip"}).value())
    assert rankings.evaluate(["MedianRank(of=all)"], policy={"empty": "zero"}).value() == inf


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (
            {"missing": "error"},
            "run lacks 1 of 4 judged queries (q3), and missing=error says to stop; "
            "missing=zero counts them as empty, missing=skip leaves them out.",
        ),
        (
            {"empty": "error"},
            "nothing is relevant for 1 of 4 judged queries (q4), and empty=error says to stop; "
            "empty=zero gives them the worst value, empty=skip leaves them out.",
        ),
    ],
)
def test_errors_on_demand(policy: dict[str, str], message: str) -> None:
    assert error_of(evaluate, JUDGEMENTS, RUN, ["AP"], policy=policy, error=PolicyError) == message


# -- the policy itself
# -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"ties": "ids"},
            "ties must be one of id, input, best, worst, expected; got 'ids'; did you mean 'id'?",
        ),
        ({"missing": "ignore"}, "missing must be one of zero, skip, error; got 'ignore'."),
        ({"empty": None}, "empty must be one of zero, one, skip, error; got None."),
        (
            {"unjudged": "remove"},
            "unjudged must be one of nonrelevant, removed; got 'remove'; did you mean 'removed'?",
        ),
        (
            {"tie": "id"},
            "Policy takes no 'tie'; did you mean 'ties'? It takes ties, missing, empty, unjudged, "
            "duplicates, depth.",
        ),
        (
            {"xyz": "id"},
            "Policy takes no 'xyz'. It takes ties, missing, empty, unjudged, duplicates, depth.",
        ),
        ("skip", "policy must be a judged.Policy or a dict of its choices; got str."),
    ],
)
def test_what_is_no_policy(given: Any, message: str) -> None:
    assert error_of(evaluate, JUDGEMENTS, RUN, policy=given, error=PolicyError) == message


def test_a_policy_says_what_it_means() -> None:
    assert str(Policy()) == "ties=id, missing=zero, empty=zero, unjudged=nonrelevant"
    assert set(Policy().sentences()) == set(CHOICES) == set(Policy().to_dict())
    definition = evaluate(JUDGEMENTS, RUN, ["RR"], policy={"missing": "skip"}).definition()
    assert definition == (
        "RR (Reciprocal rank). 1 divided by the rank of the first relevant item; 0 where there is "
        "none down to k. "
        "Here, an item is relevant from grade 1 on; the summary is the mean over the queries.\n"
        "Formula: \\frac{1}{\\min\\{i \\le k : g_i \\ge rel\\}}\n"
        "Undefined when: the query has no relevant item.\n"
        "Policy: tied results are ordered by item id, descending on bytes (trec_eval's rule); "
        "judged queries that the run "
        "lacks are left out; a query with nothing relevant gets the worst value; unjudged items "
        "count as not relevant.\n"
        "Reference: E. M. Voorhees. The TREC-8 question answering track report. TREC-8, 1999, "
        "77-82."
    )


# -- rankings made once, evaluated under other policies
# --------------------------------------------------------------

TIED = Rankings.from_run({"q": {"a": 1, "b": 0}}, {"q": {"x": 2.0, "a": 1.0, "b": 1.0, "y": 1.0}})
"""Ranks 2 to 4 are tied; by descending id y, b, a."""


@pytest.mark.parametrize(
    ("ties", "expected"), [("id", 1 / 4), ("best", 1 / 2), ("worst", 1 / 4), ("expected", 13 / 36)]
)
def test_ties_can_be_rearranged(ties: str, expected: float) -> None:
    assert TIED.evaluate(["RR"], policy={"ties": ties}).value() == pytest.approx(
        expected, abs=1e-15
    )


@pytest.mark.parametrize(
    ("ties", "expected"), [("id", 0), ("best", 1 / 2), ("worst", 0), ("expected", 5 / 18)]
)
def test_ties_can_be_rearranged_across_a_depth(ties: str, expected: float) -> None:
    # Ranks 1 to 3 of the whole list count, and a is at rank 2, 3 or 4.
    cut = Rankings.from_run(
        {"q": {"a": 1, "b": 0}},
        {"q": {"x": 2.0, "a": 1.0, "b": 1.0, "y": 1.0}},
        policy={"depth": 3},
    )
    assert cut.evaluate(["RR"], policy={"ties": ties}).value() == pytest.approx(expected, abs=1e-15)
    assert cut.take([0]).evaluate(["RR"], policy={"ties": ties}).value() == pytest.approx(
        expected, abs=1e-15
    )


def test_removing_the_unjudged_later() -> None:
    # b before a without x and y
    assert TIED.evaluate(["RR"], policy={"unjudged": "removed"}).value() == 1 / 2
    assert TIED.evaluate(["RR"], policy={"unjudged": "removed", "ties": "best"}).value() == 1


def test_what_was_decided_stays_where_the_policy_says_nothing() -> None:
    best = Rankings.from_run(
        {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, policy={"ties": "best", "unjudged": "removed"}
    )
    assert best.evaluate(["RR"]).policy == Policy(ties="best", unjudged="removed")
    assert best.evaluate(["RR"], policy={"empty": "skip"}).policy == Policy(
        ties="best", unjudged="removed", empty="skip"
    )


@pytest.mark.parametrize(
    ("rankings", "policy", "message"),
    [
        (
            TIED,
            {"ties": "input"},
            "these rankings were made with ties=id, which cannot be undone; make them again with "
            "ties=input.",
        ),
        (
            replace(
                Rankings.from_run(
                    {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, policy={"depth": 1}
                ),
                whole=None,
            ),
            {"ties": "best"},
            "these rankings were made with ties=id and depth=1, which cannot be undone; make them "
            "again with ties=best.",
        ),
        (
            Rankings.from_relevance([[0, 1]]),
            {"ties": "best"},
            "these rankings were made with ties=input, which cannot be undone; make them again "
            "with ties=best.",
        ),
        (
            Rankings.from_run({"q": {"a": 1}}, {"q": {"a": 1.0}}, policy={"unjudged": "removed"}),
            {"unjudged": "nonrelevant"},
            "the unjudged items of these rankings were removed, which cannot be undone; make them "
            "again.",
        ),
    ],
)
def test_what_cannot_be_undone(rankings: Rankings, policy: dict[str, str], message: str) -> None:
    assert error_of(rankings.evaluate, ["RR"], policy=policy, error=PolicyError) == message


# -- asking an evaluation
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda e: e.value(run="one"), MeasureError, "say which measure: RR, P@1."),
        (lambda e: e.value("AP", "one"), MeasureError, "AP was not evaluated; there is RR, P@1."),
        (lambda e: e.value("RR"), InputError, "say which run: one, two."),
        (
            lambda e: e.value("RR", "three"),
            InputError,
            "there is no run 'three'; there is one, two.",
        ),
    ],
)
def test_questions_without_an_answer(ask: Any, error: type[Exception], message: str) -> None:
    evaluation = evaluate(JUDGEMENTS, {"one": RUN, "two": RUN}, ["RR", "P@1"])
    assert error_of(ask, evaluation, error=error) == message


def test_every_choice_has_a_short_form() -> None:
    from judged.policy import DUPLICATES, SHORT, SHORT_DUPLICATES

    assert {name: list(words) for name, (_, words) in SHORT.items()} == {
        name: list(sentences) for name, sentences in CHOICES.items()
    }
    assert list(SHORT_DUPLICATES[1]) == list(DUPLICATES)
