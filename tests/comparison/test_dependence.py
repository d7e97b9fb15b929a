"""What a verdict depends on: against every order of ties, and against judgements made by loops."""

from __future__ import annotations

from itertools import chain, permutations, product
from math import inf
from typing import Any

import numpy as np
import pytest

from judged import Policy, compare, evaluate
from judged.comparison import compare_evaluation
from judged.comparison.dependence import Alternatives
from judged.comparison.numbers import Numbers
from judged.comparison.outcomes import Match, match_pair
from judged.errors import PolicyError
from judged.evaluation.ranges import difference_is_bounded, last_rank
from judged.inputs import read_judgements, read_run
from judged.matching.listings import Listings
from judged.measures import parse_measure
from support.errors import error_of
from support.evaluating import add_choices
from support.joint import Lists, cases, judged_by_loops

SMALL = ["P@2", "AP", "RR", "nDCG@3", "DCG(gain=exp)", "Rank(aggregate=median)"]


def readings_of(
    judgements: Lists, runs: list[Lists], measures: Any, **options: Any
) -> Alternatives:
    """Of runs a, b, …, unjudged results included."""
    named = dict(zip("abc", runs, strict=False))
    policy = add_choices(options.pop("policy", None), depth=options.pop("depth", None))
    evaluation = evaluate(judgements, named, measures, policy=policy, **options)
    joint = Listings.of(
        read_judgements(judgements),
        [read_run(run) for run in runs],
        ties=evaluation.policy.ties,
    )
    return Alternatives(evaluation, Numbers.of(evaluation), joint)


def read(
    readings: Alternatives, measure: str, run: str = "b", against: str = "a"
) -> dict[str, Any]:
    known = {str(each.measure): each for each in readings.numbers.measures}
    name = str(parse_measure(measure))
    return readings.of(match_pair(readings.numbers, known[name], run, against))


def values(match: Match) -> list[list[float]]:
    return [match.ours.values.tolist(), match.theirs.values.tolist()]


def orders(scores: dict[str, float]) -> list[list[str]]:
    """Every order of a list that its scores allow."""
    ties = [
        [item for item, own in scores.items() if own == score]
        for score in sorted(set(scores.values()), reverse=True)
    ]
    return [[*chain.from_iterable(each)] for each in product(*map(permutations, ties))]


@pytest.mark.parametrize("ties", ["id", "input", "best", "worst", "expected"])
@pytest.mark.parametrize("depth", [None, 3])
def test_ties_are_read_at_the_ends_of_all_orders(ties: Any, depth: int | None) -> None:
    moved = 0
    for seed in range(4):
        judgements, *runs = cases(seed, items=5)
        policy = {"ties": ties}
        readings = readings_of(judgements, runs, SMALL, policy=policy, depth=depth)
        ends: dict[str, dict[int, list[list[float]]]] = {name: {} for name in SMALL}
        for number, run in enumerate(runs):
            ways: Lists = {}
            every: dict[str, list[str]] = {}
            for query in sorted(judgements):
                for at, order in enumerate(orders(run.get(query, {}))):
                    ways[f"{query}/{at}"] = judgements[query]
                    if query in run:
                        every[f"{query}/{at}"] = order
            scored = evaluate(ways, every, SMALL, policy={"depth": depth}).scored()
            names = [query.partition("/")[0] for query in ways]
            for name, measure in zip(SMALL, scored.values, strict=True):
                found: dict[str, list[float]] = {}
                for query, value in zip(names, scored.values[measure].tolist(), strict=True):
                    found.setdefault(query, []).append(value)
                low, high = ([f(own) for own in found.values()] for f in (min, max))
                ends[name][number] = [low, high] if name != SMALL[-1] else [high, low]
        for name in SMALL:
            (worst, best), (other_worst, other_best) = ends[name][1], ends[name][0]
            if worst == best and other_worst == other_best:
                assert "ties" not in read(readings, name)
                continue
            moved += 1
            one, other = read(readings, name)["ties"]
            for found, wanted in (
                (values(one), [worst, other_best]),
                (values(other), [best, other_worst]),
            ):
                np.testing.assert_allclose(found, wanted, atol=1e-12, err_msg=f"{name} {seed}")
    assert moved > 12


def test_summaries_of_their_own_are_read_in_the_order_by_worth() -> None:
    judgements = {"1": {"a": 1}, "2": {"a": 1, "b": 1}}
    tied = {query: {"a": 1.0, "b": 1.0, "c": 1.0} for query in judgements}
    other = {query: ["c", "b", "a"] for query in judgements}
    measures = ["F(average=means)@1", "Rank(of=all, aggregate=median)"]
    evaluation = evaluate(judgements, {"a": tied, "b": other}, measures)
    readings = Alternatives(evaluation, Numbers.of(evaluation))
    worst, best = read(readings, measures[0])["ties"]
    # Against a at its best: precision 1 and recall (1 + 1/2)/2; at its worst nothing is found.
    assert worst.against_value == pytest.approx(2 * 1 * 0.75 / 1.75)
    assert best.against_value == 0
    worst, best = read(readings, measures[1])["ties"]
    assert worst.theirs.sample.values.tolist() == [1, 1, 2]
    assert best.theirs.sample.values.tolist() == [3, 2, 3]
    assert worst.value == best.value == 3


def test_without_ties_of_judged_items_nothing_is_read() -> None:
    judgements = {"1": {"a": 1}, "2": {"a": 1}}
    runs = {"a": {"1": {"a": 2.0, "x": 1.0, "y": 1.0}}, "b": {"1": ["x", "a"]}}
    evaluation = evaluate(judgements, runs, ["AP", "RR"])
    readings = Alternatives(evaluation, Numbers.of(evaluation))
    assert readings.tie_ends("a") is None
    assert readings.tie_ends("b") is None
    assert read(readings, "AP") == {}


def test_ties_are_not_checked_where_the_depth_cuts_through_one() -> None:
    judgements = {"1": {"a": 2, "b": 0}}
    runs = {"a": {"1": {"a": 1.0, "x": 1.0, "b": 1.0}}, "b": {"1": ["x", "a"]}}
    evaluation = evaluate(judgements, runs, "RR", policy={"unjudged": "removed", "depth": 2})
    readings = Alternatives(evaluation, Numbers.of(evaluation))
    assert read(readings, "RR") == {}
    assert compare_evaluation(evaluation).notes == (
        "Whether verdicts depend on ties was not checked for a, because the depth cuts through "
        "ties. Leave out the depth to check.",
    )


@pytest.mark.parametrize("policy", [{}, {"empty": "skip"}, {"ties": "expected"}], ids=str)
@pytest.mark.parametrize("depth", [None, 3])
def test_unjudged_results_are_read_with_the_cutoff_of_each_measure(
    policy: dict[str, Any], depth: int | None
) -> None:
    names = ["P@2", "AP", "nDCG@3", "RBP", "Rprec", "R@3", "IPrec@0.5"]
    cutoffs = [2, inf, 3, inf, inf, 3, inf]
    chosen = Policy.of(policy)
    for seed in range(3):
        judgements, *runs = cases(seed)
        readings = readings_of(judgements, runs, names, policy=policy, depth=depth)
        for name, k in zip(names, cutoffs, strict=True):
            ends = read(readings, name)["unjudged"]
            for end, (one, other) in zip(ends, ((1, 0), (0, 1)), strict=True):
                made = judged_by_loops(judgements, runs[one], runs[other], chosen, depth, k)
                known = {}
                for side in (0, 1):
                    scored = evaluate(
                        made, runs[side], name, policy=add_choices(policy, depth=depth)
                    ).scored()
                    own = dict(zip(scored.rankings.queries, *scored.values.values(), strict=True))
                    known[side] = [own[query] for query in sorted(own) if own[query] == own[query]]
                np.testing.assert_allclose(values(end), [known[1], known[0]], atol=1e-12)


def test_only_numbers_are_cutoffs() -> None:
    known = {"nDCG@10": 10, "AP": None, "P@R": None, "Rprec": None, "IPrec@1": None, "RBP@7": 7}
    assert {name: last_rank(parse_measure(name)) for name in known} == known


def test_only_what_adds_up_is_bounded() -> None:
    bounded = ["P@10", "DCG", "DCG@5", "RBP", "RBP(p=0.5)@20", "NumRelRet", "TP@3"]
    loose = ["P", "P@R", "P(short=shrink)@3", "AP", "nDCG@10", "RR", "R@10", "Success@1", "DCG@R"]
    loose += ["P(aggregate=median)@10", "DCG(aggregate=geometric)", "DCG(gains={1:3,2:1})"]
    found = {name: difference_is_bounded(parse_measure(name), Policy()) for name in bounded + loose}
    assert found == {**dict.fromkeys(bounded, True), **dict.fromkeys(loose, False)}
    for other in ({"ties": "expected"}, {"empty": "skip"}, {"unjudged": "removed"}):
        assert not difference_is_bounded(parse_measure("P@10"), Policy.of(other))


def ten(better: int, queries: int = 10, ties: bool = False) -> tuple[Lists, dict[str, Lists]]:
    """Run b is better on the first queries, by a different rank each; the rest are the same."""
    judgements: Lists = {f"{at:02}": {"a": 1} for at in range(queries)}
    filler = [f"x{number}" for number in range(queries + 2)]
    runs: dict[str, Lists] = {"a": {}, "b": {}}
    for at, query in enumerate(judgements):
        order = [*filler[: 1 + at % 3], "a"]
        runs["a"][query] = {item: -float(rank) for rank, item in enumerate(order)}
        best = ["a", *filler[: 1 + at % 3]] if at < better else order
        runs["b"][query] = {item: 0.0 if ties else -float(n) for n, item in enumerate(best)}
    return judgements, runs


def test_a_verdict_that_ties_make_is_said_to() -> None:
    judgements, runs = ten(10, ties=True)
    # In the order of ids "a" stands last of all ties, as in run a.
    found = compare(judgements, runs, "RR").pair()
    assert (found.verdict, found.depends_on) == ("identical", ("ties",))
    assert found.says == (
        "RR: b has the same value as a on all 10 queries. With ties broken the other "
        "way, the verdict could be better."
    )
    found = compare(judgements, runs, "RR", policy={"ties": "best"}).pair()
    assert (found.verdict, found.depends_on) == ("better", ("ties",))
    assert found.says.endswith(". With ties broken the other way, the verdict could be identical.")


def test_a_copy_of_a_run_depends_on_nothing() -> None:
    judgements, runs = ten(10, ties=True)
    copies = {"a": runs["b"], "b": {query: dict(own) for query, own in runs["b"].items()}}
    for ties in ("id", "expected"):
        found = compare(judgements, copies, "RR", policy={"ties": ties}, unjudged_range=True)
        assert (found.pair().verdict, found.pair().depends_on) == ("identical", ())


def test_queries_that_one_run_lacks() -> None:
    judgements, runs = ten(6, queries=60)
    # With five losses to an empty list among 60 queries, and six wins: nothing is shown. On the 55
    # queries that both have there are six wins.
    for query in list(judgements)[-5:]:
        del runs["b"][query]
    found = compare(judgements, runs, "RR").pair()
    there = {query: judgements[query] for query in runs["b"]}
    alone = compare(there, runs, "RR").pair()
    assert (found.queries, alone.queries) == (60, 55)
    assert (found.verdict, alone.verdict) == ("not significant", "better")
    assert found.depends_on == ("missing",)
    assert found.says.endswith(". On the queries that both runs have, the verdict would be better.")
    skipped = compare(judgements, runs, "RR", policy={"missing": "skip"}).pair()
    assert (skipped.queries, skipped.verdict, skipped.depends_on) == (55, "better", ())


def test_queries_that_both_lack_are_no_reading() -> None:
    judgements, runs = ten(6, queries=60)
    for run in runs.values():
        del run["59"]
    found = compare(judgements, runs, "RR")
    assert found.pair().depends_on == ()
    assert found.notes == (
        "No run has results for 1 (59) of 60 judged queries. Each counts as an empty "
        "list. Do the judgements belong to another split?",
    )


def test_a_run_that_lacks_more_than_a_tenth_is_refused() -> None:
    judgements, runs = ten(6, queries=40)
    for query in list(judgements)[:5]:
        del runs["b"][query]
    assert error_of(compare, judgements, runs, "RR", error=PolicyError) == (
        "b has no results for 5 (00, 01, 02, …) of the 40 judged queries that a has. "
        "Did it run on all of them? To compare anyway, use policy={'missing': "
        "'zero'} to score these queries 0, or missing=skip to leave "
        "them out."
    )
    with pytest.raises(PolicyError, match="b has no results for 5"):
        compare(judgements, runs, "RR", policy={"ties": "input"})
    with pytest.raises(PolicyError, match="b has no results for 5"):
        compare(judgements, runs, "RR", policy=Policy(ties="input"))
    for chosen in ({"missing": "zero"}, {"missing": "skip"}, Policy(missing="skip")):
        assert compare(judgements, runs, "RR", policy=chosen).pair().queries in (35, 40)


def test_an_evaluation_is_asked_again_what_missing_queries_count() -> None:
    judgements = {f"{n:02}": {"x": 1} for n in range(40)}
    runs = {"a": {q: ["x"] for q in judgements}, "b": {q: ["x"] for q in list(judgements)[5:]}}
    found = evaluate(judgements, runs, "RR")
    with pytest.raises(PolicyError, match='To compare anyway, use missing="zero" to score'):
        found.compare()
    assert found.compare(missing="zero").pair().losses == 5
    skipped = evaluate(judgements, runs, "RR", policy={"missing": "skip"})
    assert skipped.compare().pair().queries == 35
    assert error_of(found.compare, error=PolicyError, missing="skip") == (
        "missing must be zero, as in this evaluation; got 'skip'. Evaluate again for "
        "another policy."
    )


def test_a_tenth_is_not_refused_and_a_share_is_of_what_the_other_has() -> None:
    judgements, runs = ten(6, queries=40)
    for query in list(judgements)[:4]:
        del runs["b"][query]
    assert compare(judgements, runs, "RR").pair().queries == 40
    # Of the 39 that a has, 4 are more than a tenth.
    del runs["a"]["39"]
    with pytest.raises(
        PolicyError, match=r"b has no results for 4 \(00, 01, 02, …\) of the 39 judged queries"
    ):
        compare(judgements, runs, "RR")


def test_groups_of_the_queries_that_both_have() -> None:
    judgements, runs = ten(6, queries=12)
    del runs["b"]["11"]
    evaluation = evaluate(judgements, runs, "RR")
    numbers = Numbers.of(evaluation)
    grouped = Numbers(
        numbers.runs, numbers.queries, numbers.measures, numbers.entries, np.arange(12) // 3 + 1
    )
    [shared] = read(Alternatives(evaluation, grouped), "RR")["missing"]
    assert shared.queries == 11
    assert shared.groups.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3]


def test_unjudged_results_that_could_turn_a_verdict() -> None:
    judgements, runs = ten(10)
    for query in judgements:
        # Both have an unjudged result above all others: another one each.
        runs["a"][query]["u"], runs["b"][query]["v"] = 1.0, 1.0
    found = compare(judgements, runs, ["P@1", "RR"], unjudged_range=True)
    row = found.pair(measure="P@1")
    assert (row.verdict, row.depends_on) == ("identical", ("unjudged",))
    assert row.says == (
        "P@1: b has the same value as a on all 10 queries. With the unjudged results "
        "judged, the verdict could be better or worse."
    )
    row = found.pair(measure="RR")
    assert (row.verdict, row.depends_on) == ("better", ("unjudged",))
    assert row.says.endswith(". With the unjudged results judged, the verdict could be worse.")
    assert found.notes == (
        "The effect of unjudged results on differences in RR was checked for two "
        "scenarios, which are not bounds. Other judgements may change more.",
    )
    assert compare(judgements, runs, "RR").pair().depends_on == ()


def test_unjudged_results_that_both_rank_alike_change_nothing() -> None:
    judgements, runs = ten(10)
    for query in judgements:
        # The filler is judged; one more result stands first in both.
        judgements[query] |= {item: 0 for item in runs["a"][query] if item != "a"}
        runs["a"][query]["u"] = runs["b"][query]["u"] = 1.0
    assert compare(judgements, runs, "P@2", unjudged_range=True).pair().depends_on == ()
    # With that one judged too there is nothing to tell of.
    whole = {query: {**own, "u": 0} for query, own in judgements.items()}
    found = compare(whole, runs, "AP", unjudged_range=True)
    assert (found.pair().depends_on, found.notes) == ((), ())


def test_where_an_end_is_infinite_there_is_no_verdict() -> None:
    # At depth 2 a tie of three may leave out the one that is relevant.
    judgements = {f"{at}": {"a": 1} for at in range(8)}
    runs: dict[str, Lists] = {
        "a": {query: {"a": 1.0, "u": 0.5} for query in judgements},
        "b": {query: {"a": 1.0, "u": 1.0, "w": 1.0} for query in judgements},
    }
    row = compare(judgements, runs, "Rank", policy={"ties": "best", "depth": 2}).pair()
    assert (row.verdict, row.depends_on) == ("identical", ("ties",))
    assert row.says == (
        "Rank: b has the same value as a on all 8 queries. With ties broken the "
        "other way, the verdict could be undefined (infinite values)."
    )


def test_documents_are_judged_jointly_as_documents() -> None:
    judgements = {f"{at}": {"d": 1} for at in range(8)}
    runs = {
        "a": {query: ["u#1", "d#1"] for query in judgements},
        "b": {query: ["v#2", "v#1", "d#3"] for query in judgements},
    }
    row = compare(judgements, runs, "P@1", item_to="doc:#", unjudged_range=True).pair()
    assert (row.verdict, row.depends_on) == ("identical", ("unjudged",))


def test_judgements_by_subtopic_are_refused() -> None:
    judgements = {"q": {"a": {"1": 1, "2": 0}}}
    runs: Any = {"a": {"q": ["a", "b"]}, "b": {"q": ["b", "a"]}}
    assert error_of(
        compare, judgements, runs, "alpha_nDCG@2", error=PolicyError, unjudged_range=True
    ) == (
        "the judgements: judged by subtopic, where an unjudged result may serve one subtopic and "
        "not another, so an unjudged range has no meaning. Leave out unjudged_range."
    )
