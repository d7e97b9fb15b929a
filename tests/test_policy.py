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
from support.loops import for_each

# q1: a at rank 1 of 2 (RR 1, P@2 1/2). q2: b at rank 2 of 2 (RR 1/2). q3 is missing from the run.
# q4 has nothing relevant.
JUDGEMENTS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}, "q4": {"d": 0}}
RUN = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"x": 2.0, "b": 1.0}, "q4": {"d": 2.0, "x": 1.0}}


W = inf  # the worst rank
EFFECTS: list[tuple[str, str, list[float] | None, float]] = [
    # measure, policy, values of q1 to q4, summary
    ("RR", "", [1, 0.5, 0, 0], 1.5 / 4),
    ("RR", "missing=zero empty=zero", [1, 0.5, 0, 0], 1.5 / 4),
    ("RR", "missing=skip", [1, 0.5, nan, 0], 1.5 / 3),
    ("RR", "empty=one", [1, 0.5, 0, 1], 2.5 / 4),
    ("RR", "empty=skip", [1, 0.5, 0, nan], 1.5 / 3),
    ("RR", "missing=skip empty=one", [1, 0.5, nan, 1], 2.5 / 3),
    ("RR", "missing=skip empty=skip", [1, 0.5, nan, nan], 1.5 / 2),
    # Lower is better: the worst rank is infinite, the best is 1.
    ("MeanRank", "", [1, 2, W, W], W),
    ("MeanRank", "empty=one", [1, 2, W, 1], W),
    ("MeanRank", "empty=skip", [1, 2, W, nan], W),
    ("MeanRank", "missing=skip", [1, 2, nan, W], W),
    ("MeanRank", "missing=skip empty=skip", [1, 2, nan, nan], 1.5),
    ("MeanRank", "missing=skip empty=one", [1, 2, nan, 1], 4 / 3),
    ("MedianRank", "", [1, 2, W, W], W),
    ("MedianRank", "empty=one", [1, 2, W, 1], 1.5),
    ("MedianRank", "empty=skip", [1, 2, W, nan], 2),
    ("MedianRank", "missing=skip", [1, 2, nan, W], 2),
    ("MedianRank", "missing=skip empty=skip", [1, 2, nan, nan], 1.5),
    ("MedianRank", "missing=skip empty=one", [1, 2, nan, 1], 1),
    # All relevant items: 1, 2 and infinite (q3); q4 has none and counts with the worst rank, the
    # best or not at all.
    ("MedianRank(of=all)", "", None, W),
    ("MedianRank(of=all)", "empty=one", None, 1.5),
    ("MedianRank(of=all)", "empty=skip", None, 2),
    ("MeanRank(of=all)", "", None, W),
    ("MeanRank(of=all)", "missing=skip empty=skip", None, 1.5),
    ("MeanRank(of=all)", "missing=skip empty=one", None, (1 + 2 + 1) / 3),
    # P@2: 1/2, 1/2, 0, 0; R@2: 1, 1, 0, undefined.
    # zero: mean P 1/4, mean R 2/4: F = 2 (1/4)(1/2) / (3/4) = 1/3
    ("F(average=means)@2", "", None, 1 / 3),
    # one: P and R of q4 become 1: mean P 2/4, mean R 3/4: F = 2 (1/2)(3/4) / (5/4) = 3/5
    ("F(average=means)@2", "empty=one", None, 3 / 5),
    # skip: mean P 1/3, mean R 2/3: F = 2 (1/3)(2/3) / 1 = 4/9
    ("F(average=means)@2", "empty=skip", None, 4 / 9),
    # without q3 too: mean P 1/2, mean R 1: F = 2 (1/2) / (3/2) = 2/3
    ("F(average=means)@2", "empty=skip missing=skip", None, 2 / 3),
    # 2 (1/2)(1) / (3/2) = 2/3 for q1 and q2
    ("F@2", "", [2 / 3, 2 / 3, 0, 0], 1 / 3),
    ("F@2", "empty=one", [2 / 3, 2 / 3, 0, 1], (2 / 3 + 2 / 3 + 0 + 1) / 4),
    # Counts are what they are, of the queries that count.
    *(
        (measure, policy, counts, sum(counts))
        for policy in ("empty=zero", "empty=one")
        for measure, counts in (
            ("NumRet", [2.0, 2, 0, 2]),
            ("NumRel", [1.0, 1, 1, 0]),
            ("NumRelRet", [1.0, 1, 0, 0]),
            ("NumQ", [1.0, 1, 1, 1]),
            ("TP@1", [1.0, 0, 0, 0]),
            ("FP@1", [0.0, 1, 0, 1]),
            ("FN@1", [0.0, 1, 1, 0]),
        )
    ),
    ("NumQ", "missing=skip", None, 3),
    ("NumQ", "missing=skip empty=skip", None, 2),
    ("NumRet", "empty=skip", None, 4),
]


@for_each(("measure", "policy", "per_query", "summary"), EFFECTS)
def test_what_a_policy_does(
    measure: str, policy: str, per_query: list[float] | None, summary: float
) -> None:
    choices = dict(choice.split("=") for choice in policy.split())
    found = evaluate(JUDGEMENTS, RUN, [measure], policy=choices)
    assert found.value() == pytest.approx(summary, abs=1e-15)
    if per_query is not None:
        values = found.scored().values[found.measure()].tolist()
        assert values == pytest.approx(per_query, nan_ok=True, abs=1e-15)


def test_what_is_nothing_relevant_hangs_on_the_level() -> None:
    rankings = Rankings.from_run({"q": {"a": 1}, "r": {"a": 2}}, {"q": {"a": 1.0}, "r": {"a": 1.0}})
    for empty, values in {"one": [1, 1], "skip": [None, 1], "zero": [0, 1]}.items():
        found = rankings.evaluate(["RR(rel=2)"], policy={"empty": empty})
        assert found.to_frame(per_query=True)["RR(rel=2)"].to_list() == values


def test_gain_needs_only_a_grade_above_zero() -> None:
    rankings = Rankings.from_run({"q": {"a": 0.5}}, {"q": {"a": 1.0}})
    assert rankings.evaluate(["nDCG"], policy={"empty": "skip"}).value() == 1
    assert isnan(rankings.evaluate(["RR"], policy={"empty": "skip"}).value())


def test_no_query_that_counts_has_no_mean() -> None:
    rankings = Rankings.from_relevance([[0, 0]])
    assert isnan(rankings.evaluate(["AP"], policy={"empty": "skip"}).value())
    assert isnan(rankings.evaluate(["MedianRank(of=all)"], policy={"empty": "skip"}).value())
    assert rankings.evaluate(["MedianRank(of=all)"], policy={"empty": "zero"}).value() == inf


@for_each(
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


@for_each(
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

TIED_DATA = {"q": {"a": 1, "b": 0}}, {"q": {"x": 2.0, "a": 1.0, "b": 1.0, "y": 1.0}}
TIED = Rankings.from_run(*TIED_DATA)
"""Ranks 2 to 4 are tied; by descending id y, b, a."""


@for_each(
    ("ties", "whole", "of_three"),
    [("id", 1 / 4, 0), ("best", 1 / 2, 1 / 2), ("worst", 1 / 4, 0), ("expected", 13 / 36, 5 / 18)],
)
def test_ties_can_be_rearranged_even_across_a_depth(
    ties: str, whole: float, of_three: float
) -> None:
    assert TIED.evaluate(["RR"], policy={"ties": ties}).value() == pytest.approx(whole, abs=1e-15)
    # Ranks 1 to 3 of the whole list count, and a is at rank 2, 3 or 4.
    cut = Rankings.from_run(*TIED_DATA, policy={"depth": 3})
    for rankings in (cut, cut.take([0])):
        found = rankings.evaluate(["RR"], policy={"ties": ties}).value()
        assert found == pytest.approx(of_three, abs=1e-15)


def test_removing_the_unjudged_later() -> None:
    # b before a without x and y
    assert TIED.evaluate(["RR"], policy={"unjudged": "removed"}).value() == 1 / 2
    assert TIED.evaluate(["RR"], policy={"unjudged": "removed", "ties": "best"}).value() == 1


ONE_ITEM = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}


def test_what_was_decided_stays_where_the_policy_says_nothing() -> None:
    best = Rankings.from_run(*ONE_ITEM, policy={"ties": "best", "unjudged": "removed"})
    kept = Policy(ties="best", unjudged="removed")
    assert best.evaluate(["RR"]).policy == kept
    assert best.evaluate(["RR"], policy={"empty": "skip"}).policy == replace(kept, empty="skip")


@for_each(
    ("rankings", "policy", "message"),
    [
        (
            TIED,
            {"ties": "input"},
            "were made with ties=id, which cannot be undone; make them again with ties=input.",
        ),
        (
            replace(Rankings.from_run(*ONE_ITEM, policy={"depth": 1}), whole=None),
            {"ties": "best"},
            "were made with ties=id and depth=1, which cannot be undone; make them again with "
            "ties=best.",
        ),
        (
            Rankings.from_relevance([[0, 1]]),
            {"ties": "best"},
            "were made with ties=input, which cannot be undone; make them again with ties=best.",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_undone(rankings: Rankings, policy: dict[str, str], message: str) -> None:
    found = error_of(rankings.evaluate, ["RR"], policy=policy, error=PolicyError)
    assert found == f"these rankings {message}"


def test_removed_items_do_not_come_back() -> None:
    removed = Rankings.from_run(*ONE_ITEM, policy={"unjudged": "removed"})
    policy = {"unjudged": "nonrelevant"}
    assert error_of(removed.evaluate, ["RR"], policy=policy, error=PolicyError) == (
        "the unjudged items of these rankings were removed, which cannot be undone; make them "
        "again."
    )


# -- asking an evaluation


@for_each(
    ("ask", "error", "message"),
    [
        ((None, "one"), MeasureError, "say which measure: RR, P@1."),
        (("AP", "one"), MeasureError, "AP was not evaluated; there is RR, P@1."),
        (("RR", None), InputError, "say which run: one, two."),
        (("RR", "three"), InputError, "there is no run 'three'; there is one, two."),
    ],
)
def test_questions_without_an_answer(ask: Any, error: type[Exception], message: str) -> None:
    evaluation = evaluate(JUDGEMENTS, {"one": RUN, "two": RUN}, ["RR", "P@1"])
    assert error_of(evaluation.value, *ask, error=error) == message


def test_every_choice_has_a_short_form() -> None:
    from judged.policy import DUPLICATES, SHORT, SHORT_DUPLICATES

    assert {name: list(words) for name, (_, words) in SHORT.items()} == {
        name: list(sentences) for name, sentences in CHOICES.items()
    }
    assert list(SHORT_DUPLICATES[1]) == list(DUPLICATES)
