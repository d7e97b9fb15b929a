"""What charts of systems are made from: names, policies, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import judged
from judged import InputError, PolicyError, Rankings
from judged.charts import Systems, precision_recall, rank_histogram

JUDGEMENTS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 0}}
RUN = {"q1": {"a": 1.0, "x": 1.0}, "q3": {"c": 1.0}}


def test_an_evaluation_brings_its_policy_and_rankings_are_given_one() -> None:
    policy = {"missing": "skip", "empty": "skip"}
    evaluation = judged.evaluate(JUDGEMENTS, RUN, "AP", policy=policy)
    systems = Systems.of(judged.Rankings.from_run(JUDGEMENTS, RUN), policy=policy)
    assert systems.policy == Systems.of(evaluation).policy == evaluation.policy
    assert Systems.of(systems) is systems
    # Only q1 counts, where a and x tie; by id, descending, x comes first.
    assert systems.evaluate("AP").value("AP") == evaluation.value("AP") == 0.5
    assert precision_recall(systems).data.equals(precision_recall(evaluation).data)
    assert systems.sentences() == [
        "Warning: The run has no results for 1 of 3 judged queries (q2), which are left "
        "out of the means.",
        "Queries with nothing relevant are left out.",
    ]


def test_a_missing_query_reaches_the_figure() -> None:
    systems = Systems.of(
        [
            judged.Rankings.from_run(JUDGEMENTS, RUN),
            judged.Rankings.from_run(JUDGEMENTS, JUDGEMENTS),
        ]
    )
    lost = (
        "Warning: run: The run has no results for 1 of 3 judged queries (q2), which "
        "count as empty lists. Use missing=skip to leave them out."
    )
    assert systems.sentences() == [lost]
    assert systems.sentences("q2") == [lost]
    assert systems.sentences("q1") == []
    ranked = judged.Rankings.from_run(JUDGEMENTS, RUN)
    assert lost.replace("run: ", "", 1) in precision_recall(ranked).notes
    assert not any("Warning" in note for note in precision_recall(ranked, query="q1").notes)


def test_rankings_are_arranged_as_the_policy_says() -> None:
    ranked = judged.Rankings.from_run(JUDGEMENTS, RUN)
    [best] = Systems.of(ranked, policy={"ties": "best"}).rankings
    assert (best.ties, best.hit_rank.tolist()) == ("best", [1, 1])
    [same] = Systems.of(ranked).rankings
    assert np.array_equal(same.hit_rank, ranked.hit_rank)


def test_missing_queries_are_refused_where_the_policy_says_so() -> None:
    with pytest.raises(PolicyError) as refused:
        rank_histogram(
            Systems.of(judged.Rankings.from_run(JUDGEMENTS, RUN), policy={"missing": "error"})
        )
    assert str(refused.value) == (
        "run lacks 1 of 3 judged queries (q2), and missing=error says to stop; missing=zero "
        "counts them as empty, missing=skip leaves them out."
    )


def test_names_are_distinct() -> None:
    mine = Rankings.from_relevance([[1]], name="mine")
    assert Systems.of([mine, mine, mine]).names == ["mine", "mine (2)", "mine (3)"]


@pytest.mark.parametrize("source", [[], ["run"], "run"])
def test_what_is_no_system(source: object) -> None:
    with pytest.raises(InputError) as refused:
        Systems.of(source)  # type: ignore[arg-type]
    assert str(refused.value) == (
        "a chart is made from an evaluation, from rankings or from a list of rankings; got "
        "something else."
    )


@pytest.mark.parametrize("kind", ["cmc", "eleven_point", "measure_at_k", "ranges", "roc"])
def test_systems_that_were_asked_different_queries_say_how_many_each(kind: str) -> None:
    """As of both directions of embeddings: no count is that of the first system alone."""

    def asked(name: str, queries: str) -> Rankings:
        grades = {query: {"a": 1, "b": 0} for query in queries}
        tied = {query: {"a": 1.0, "b": 1.0} for query in queries}
        return replace(judged.Rankings.from_run(grades, tied, collection=5), name=name)

    one, back = asked("there", "pq"), asked("back", "xyz")
    said = " ".join(getattr(judged.charts, kind)([one, back]).notes)
    assert ": 2 (there) and 3 (back)." in said
    alike = " ".join(getattr(judged.charts, kind)([one, replace(one, name="again")]).notes)
    assert "2 queries" in alike
    assert "(there)" not in alike
