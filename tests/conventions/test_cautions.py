"""What a library does with some data and judged does not: a warning where the data are such, and
none where they are not."""

from __future__ import annotations

from typing import Any

import pytest

import judged
from judged import Rankings, evaluate, explain
from judged.conventions import HELD, THRESHOLDS, WHEN, Caution, Convention, Name, conventions
from judged.errors import ConventionError, JudgedWarning
from judged.evaluation.settings import THRESHOLD
from judged.evaluation.warnings import CONDITIONS
from support.loops import for_each

ALL = list(conventions().values())
NUMBERS = {"k": 10, "rel": 2, "p": 0.8, "b": 2, "m": 4, "T": 2.5, "x": 0.5}

PLAIN_JUDGEMENTS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
PLAIN_RUN = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"y": 2.0, "b": 1.0}, "q3": {"c": 2.0, "z": 1.0}}
"""Every query has one relevant item, which is found; nothing is tied. The ranks are 1, 2 and 1."""

SUCH: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "tied": (PLAIN_JUDGEMENTS, {**PLAIN_RUN, "q1": {"a": 1.0, "x": 1.0}}),
    "tied in single precision": (
        PLAIN_JUDGEMENTS,
        {**PLAIN_RUN, "q1": {"a": 1.00000001, "x": 1.0}},
    ),
    "not positive": (PLAIN_JUDGEMENTS, {**PLAIN_RUN, "q1": {"a": 0.0, "x": -1.0}}),
    "own ids": (PLAIN_JUDGEMENTS, {**PLAIN_RUN, "q1": {"q1": 2.0, "a": 1.0}}),
    "graded": ({**PLAIN_JUDGEMENTS, "q1": {"a": 2}}, PLAIN_RUN),
    "fractional": ({**PLAIN_JUDGEMENTS, "q1": {"a": 1.5}}, PLAIN_RUN),
    "negative": ({**PLAIN_JUDGEMENTS, "q1": {"a": 1, "x": -1}}, PLAIN_RUN),
    "not relevant": ({**PLAIN_JUDGEMENTS, "q1": {"a": 1, "x": 0}}, PLAIN_RUN),
    "all relevant": (PLAIN_JUDGEMENTS, PLAIN_RUN),
    "nothing relevant": ({**PLAIN_JUDGEMENTS, "q1": {"a": 0}}, PLAIN_RUN),
    "several relevant": ({**PLAIN_JUDGEMENTS, "q1": {"a": 1, "x": 1}}, PLAIN_RUN),
    "unlisted": ({**PLAIN_JUDGEMENTS, "q1": {"a": 1, "lost": 1}}, PLAIN_RUN),
    "uneven": (PLAIN_JUDGEMENTS, {**PLAIN_RUN, "q1": {"a": 2.0}}),
    "unjudged queries": (PLAIN_JUDGEMENTS, {**PLAIN_RUN, "q4": {"a": 2.0, "x": 1.0}}),
    "missing": ({**PLAIN_JUDGEMENTS, "q4": {"d": 1}}, PLAIN_RUN),
    "not whole": ({**PLAIN_JUDGEMENTS, "q4": {"d": 1}}, {**PLAIN_RUN, "q4": {"w": 2.0, "d": 1.0}}),
}
"""Data of which each condition holds."""
WITH_IRRELEVANT = {"q1": {"a": 1, "x": 0}, "q2": {"b": 1, "y": 0}, "q3": {"c": 1, "z": 0}}
"""Every result is judged."""


def pairs() -> list[Any]:
    return [
        pytest.param(convention, name, caution, id=f"{convention.name}-{caution.when}")
        for convention in ALL
        for name in convention.names
        if name.ours
        for caution in (*convention.cautions, *name.cautions)
    ]


def filled(convention: Convention, name: Name) -> str:
    return name.filled({**NUMBERS, "p": 80} if convention.name == "ranx" else NUMBERS)[0]


def said(convention: Convention, name: Name, judgements: Any, run: Any) -> list[str]:
    options: dict[str, Any] = {"collection": 50}
    if "ERR" not in name.ours:
        options["policy"] = {"missing": "zero", "empty": "zero"}
    return evaluate(
        judgements, run, filled(convention, name), convention=convention, **options
    ).warnings()


@for_each(("convention", "name", "caution"), pairs())
def test_every_caution_is_a_warning_where_it_holds(
    convention: Convention, name: Name, caution: Caution
) -> None:
    if caution.when == "repeated":
        rows = [("q1", "a", 3.0), ("q1", "a", 2.0), ("q2", "b", 1.0), ("q3", "c", 1.0)]
        import polars as pl

        run = pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")
        found = evaluate(
            PLAIN_JUDGEMENTS,
            run,
            filled(convention, name),
            convention=convention,
            policy={"duplicates": "first"},
        ).warnings()
    else:
        found = said(convention, name, *SUCH[caution.when])
    assert any(caution.says in text for text in found)


@for_each("convention", ALL, ids=lambda each: each.name)
def test_there_is_none_where_nothing_of_the_kind_is_there(convention: Convention) -> None:
    for name in convention.names:
        if not name.ours or "subtopic" in name.note:  # which plain judgements lack
            continue
        cautions = (*convention.cautions, *name.cautions)
        takes_all = any(caution.when == "not relevant" for caution in cautions)
        evaluation = evaluate(
            PLAIN_JUDGEMENTS if takes_all else WITH_IRRELEVANT,
            PLAIN_RUN,
            filled(convention, name),
            convention=convention,
            collection=50,
        )
        # Items of {rel} or more are another matter: nothing may be relevant then.
        assert "{rel}" in name.theirs or evaluation.warnings() == []
        assert not {caution.says for caution in cautions} & set(evaluation.warnings())


def test_a_warning_names_the_runs_that_it_is_about() -> None:
    runs = {"plain": PLAIN_RUN, "tied": SUCH["tied"][1]}
    (text,) = evaluate(PLAIN_JUDGEMENTS, runs, "recall@10", convention="sbert").warnings()
    assert text == (
        "tied: sentence-transformers orders tied results by ascending id, which no policy of "
        "judged does."
    )
    with pytest.warns(JudgedWarning, match="takes every line of the judgements as relevant"):
        evaluate({"q": {"a": 1, "b": 0}}, {"q": ["b", "a"]}, "MRR@10", convention="msmarco")


def test_every_condition_is_known_used_and_computed() -> None:
    used = {
        caution.when
        for convention in ALL
        for cautions in (convention.cautions, *(name.cautions for name in convention.names))
        for caution in cautions
    }
    assert used == set(WHEN)
    assert set(CONDITIONS) == set(WHEN) - {"own ids"}
    assert set(SUCH) == set(WHEN) - {"repeated"}
    used = {name.threshold for convention in ALL for name in convention.names if name.threshold}
    assert used == set(THRESHOLDS) == set(THRESHOLD)


@for_each("convention", ALL, ids=lambda each: each.name)
def test_a_convention_says_how_it_was_held_against_its_library(convention: Convention) -> None:
    assert convention.held in HELD
    # What has a distribution was run; of what has none, somebody read the source.
    if convention.package:
        assert convention.held == "run"
    title = f"{convention.title} {convention.version}".strip()
    note = f"The definitions of {title} are from reading its source"
    name = next(name for name in convention.names if name.ours)
    text = evaluate(
        PLAIN_JUDGEMENTS, PLAIN_RUN, filled(convention, name), convention=convention, collection=50
    ).to_text(verbose=True)
    assert (note in text) == (convention.held == "reading")


# -- what is done to the data


def by_every_way_in(tmp_path: Any) -> list[tuple[Any, Any]]:
    import polars as pl

    (tmp_path / "qrels").write_text("q 0 a 1\nr 0 b 1\n")
    (tmp_path / "run").write_text("q Q0 q 1 2.0 t\nq Q0 a 2 1.0 t\nr Q0 r 1 3.0 t\n")
    rows = [("q", "q", 2.0), ("q", "a", 1.0), ("r", "r", 3.0)]
    return [
        ({"q": {"a": 1}, "r": {"b": 1}}, {"q": {"q": 2.0, "a": 1.0}, "r": {"r": 3.0}}),
        ({"q": {"a": 1}, "r": {"b": 1}}, {"q": ["q", "a"], "r": ["r"]}),
        (str(tmp_path / "qrels"), str(tmp_path / "run")),
        (
            pl.DataFrame({"query": ["q", "r"], "item": ["a", "b"], "grade": [1, 1]}),
            pl.DataFrame(rows, schema=["query", "item", "score"], orient="row"),
        ),
    ]


def test_beir_drops_the_item_with_the_id_of_its_query(tmp_path: Any) -> None:
    """q finds a first, once q itself is out; r has nothing else, and counts as 0."""
    for judgements, run in by_every_way_in(tmp_path):
        evaluation = evaluate(judgements, run, "NDCG@10", convention="beir")
        assert evaluation.value() == 0.5
        assert not any("id of" in text for text in evaluation.warnings())
        assert (
            "2 results have the id of their query: taken out first, as BEIR does."
            in evaluation.scored().audit.notes
        )
        assert evaluate(judgements, run, "nDCG@10", policy={"missing": "skip"}).value() < 0.5
    evaluation = evaluate({"q": {"a": 1}}, {"q": ["a", "b"]}, "NDCG@10", convention="beir")
    assert not any("id of" in note for note in evaluation.scored().audit.notes)
    run = {"q": {"q": 2.0, "a": 1.0}}
    found = explain({"q": {"a": 1}}, run, "NDCG@10", query="q", convention="beir")
    assert found.value == 1.0


def test_rankings_that_are_made_already_are_warned_of() -> None:
    said = Rankings.from_relevance([[0, 1]]).evaluate("NDCG@10", convention="beir").warnings()
    own = "BEIR removes results that have the id of their query"
    assert sum(text.startswith(own) for text in said) == 1


def test_opensearch_finds_out_what_is_relevant() -> None:
    """Grades 3, 2 and 1: half of the best is 1.5, and the 90th percentile of three grades, by the
    nearest rank, is the third: 3. So only the best is relevant, and it stands third."""
    judgements = {"q": {"a": 1, "b": 2, "c": 3}}
    run = {"q": ["a", "b", "c"]}
    wanted = ["Precision@3", "MAP@3", "MRR", "Recall@1", "NDCG@3"]
    found = evaluate(judgements, run, wanted, convention="opensearch")
    scores = found.to_dict()["runs"][0]["scores"]
    assert [round(score, 6) for score in list(scores.values())[:4]] == [0.333333] * 3 + [0.0]
    assert list(scores) == wanted
    assert str(found.measure("NDCG@3")) == "nDCG(gain=exp)@3"
    assert scores["NDCG@3"] == pytest.approx(evaluate(judgements, run, "nDCG(gain=exp)@3").value())
    # A threshold that is said is the one that holds.
    assert evaluate(judgements, run, "P(rel=2)@3", convention="opensearch").value() == (
        pytest.approx(2 / 3)
    )
    with pytest.raises(ConventionError, match="name the lowest relevant grade"):
        explain(judgements, run, "P@3", query="q", convention="opensearch")


def test_unrated_results_among_the_first_k_in_elasticsearch() -> None:
    """One rated result, relevant, among the first two; another one third, which does not move up:
    1 of 1. Were unrated results removed from the whole list, it would be 1 of 2."""
    judgements = {"q": {"a": 1, "b": 0}}
    run = {"q": ["a", "x", "b"]}
    value = evaluate(
        judgements,
        run,
        "precision(k=2)",
        convention="elasticsearch",
        policy={"unjudged": "removed", "depth": 2},
    ).value()
    assert value == 1.0


def test_an_empty_list_is_missing_where_the_library_needs_results() -> None:
    """ragas leaves a row without retrieved ids out of precision by id: (1/2 + 0/1) / 2, not / 3."""
    rows: list[dict[str, Any]] = [
        {"question": "found", "gold": ["a"], "retrieved": ["a", "b"]},
        {"question": "nothing retrieved", "gold": ["a"], "retrieved": []},
        {"question": "nothing relevant", "gold": [], "retrieved": ["b"]},
    ]
    judgements = {each["question"]: each["gold"] for each in rows}
    run = {each["question"]: each["retrieved"] for each in rows}
    name = "id_based_context_precision"
    for given in ((rows, None), (judgements, run), (judgements, judged.read_run(run))):
        found = judged.evaluate(*given, name, convention="ragas")
        assert found.value() == pytest.approx(1 / 4)
        assert found.warnings()[0] == (
            "The run has no results for 1 of 3 judged queries (nothing retrieved), which are left "
            "out of the means."
        )
        assert judged.evaluate(*given, "P").value() == pytest.approx(1 / 6)
    warned = (
        "ragas treats a query without results as missing; in these rankings it is an empty list. "
        "Evaluate the run itself."
    )
    rankings = judged.Rankings.from_run(rows, policy={"ties": "input"})
    assert warned in rankings.evaluate(name, convention="ragas").warnings()
    with pytest.raises(judged.errors.PolicyError, match=r"lacks 1 of 2 judged queries \(q\)"):
        judged.evaluate(
            {"p": ["a"], "q": ["a"]}, {"p": ["a"], "q": []}, "mrr", convention="llama-index"
        )
