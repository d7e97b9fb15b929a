"""Sources of charts: evaluations and rankings, their names, their policy and errors."""

from __future__ import annotations

from dataclasses import replace

import judged
from judged import Rankings
from judged.charts import precision_recall
from judged.charts.sources import Systems
from support.errors import error_of
from support.loops import for_each

JUDGEMENTS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 0}}
RUN = {"q1": {"a": 1.0, "x": 1.0}, "q3": {"c": 1.0}}
RANKED = Rankings.from_run(JUDGEMENTS, RUN)


def test_an_evaluation_has_its_policy() -> None:
    evaluation = RANKED.evaluate("AP", policy={"missing": "skip", "empty": "skip", "ties": "best"})
    systems = Systems.of(evaluation)
    assert systems.policy == evaluation.policy
    assert systems.rankings[0].hit_rank.tolist() == [1, 1]
    assert Systems.of(systems) is systems
    # Only q1 counts, where a and x tie.
    assert systems.evaluate("AP").value("AP") == evaluation.value("AP") == 1
    assert systems.sentences() == [
        "Warning: The run has no results for 1 of 3 judged queries (q2), which are left "
        "out of the means.",
        "Queries without relevant items are left out.",
    ]
    # By id, descending, x comes first.
    assert Systems.of(RANKED).rankings[0].hit_rank.tolist() == RANKED.hit_rank.tolist() == [2, 1]


def test_charts_mention_missing_queries() -> None:
    systems = Systems.of([RANKED, Rankings.from_run(JUDGEMENTS, JUDGEMENTS)])
    missing = (
        "Warning: run: The run has no results for 1 of 3 judged queries (q2), which "
        "count as empty lists. Use missing=skip to leave them out."
    )
    assert systems.sentences() == [missing]
    assert systems.sentences("q2") == [missing]
    assert systems.sentences("q1") == []
    assert missing.replace("run: ", "", 1) in precision_recall(RANKED).notes
    assert not any("Warning" in note for note in precision_recall(RANKED, query="q1").notes)


def test_names_are_distinct() -> None:
    mine = Rankings.from_relevance([[1]], name="mine")
    assert Systems.of([mine, mine, mine]).names == ["mine", "mine (2)", "mine (3)"]


@for_each("source", [[], ["run"], "run"])
def test_other_sources_are_errors(source: object) -> None:
    assert error_of(Systems.of, source) == (
        "a chart is made from an evaluation, from rankings or from a list of rankings; got "
        "something else."
    )


@for_each("kind", ["cmc", "eleven_point", "measure_at_k", "ranges", "roc"])
def test_systems_with_different_queries_show_the_number_of_each(kind: str) -> None:
    def tied(name: str, queries: str) -> Rankings:
        grades = {query: {"a": 1, "b": 0} for query in queries}
        run = {query: {"a": 1.0, "b": 1.0} for query in queries}
        return replace(Rankings.from_run(grades, run, collection=5), name=name)

    one, back = tied("there", "pq"), tied("back", "xyz")
    notes = " ".join(getattr(judged.charts, kind)([one, back]).notes)
    assert ": 2 (there) and 3 (back)." in notes
    alike = " ".join(getattr(judged.charts, kind)([one, replace(one, name="again")]).notes)
    assert "2 queries" in alike
    assert "(there)" not in alike
