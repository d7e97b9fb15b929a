"""Conventions side by side: which rows there are, what makes them differ, and how many queries that
touches."""

from __future__ import annotations

import json
import re
from typing import Any

import polars as pl
import pytest

from judged import JudgedError, Policy, compare_conventions, evaluate
from judged.conventions import conventions, find
from judged.conventions.disagreement import (
    DEFAULT,
    DefinitionRow,
    Disagreement,
    family,
)
from judged.errors import InputError, MeasureError, PolicyError
from judged.measures import parse_measure
from judged.measures.conventions import relatives
from support.errors import error_of

# tied: of two equal results the relevant one has the lower id, and comes first in the input. short:
# one result, relevant. lost: not in the run. none: nothing relevant. plain: three results without
# ties, the first one relevant of two in all.
JUDGEMENTS = {
    "tied": {"a": 1, "b": 0},
    "short": {"a": 1},
    "lost": {"a": 1},
    "none": {"a": 0},
    "plain": {"a": 1, "z": 1},
}
RUN = {
    "tied": {"a": 1.0, "b": 1.0},
    "short": {"a": 1.0},
    "none": {"a": 2.0, "b": 1.0},
    "plain": {"a": 3.0, "b": 2.0, "c": 1.0},
}


def compared(measure: str = "AP@2") -> Disagreement:
    return compare_conventions(JUDGEMENTS, RUN, measure)


def row_of(convention: str, measure: str = "AP@2", ours: str | None = None) -> DefinitionRow:
    (found,) = [
        row
        for row in compared(measure).rows()
        if row.used_by(convention) and str(row.measure) == (ours or measure)
    ]
    return found


# -- which rows there are


def test_what_was_asked_for_comes_first_with_the_usual_policy() -> None:
    first, *others = compared("AP(norm=capped, rel=2)@2").rows()
    assert (str(first.measure), first.policy, first.differences) == (
        "AP(rel=2, norm=capped)@2",
        Policy(),
        (),
    )
    assert all(row.measure.params["rel"] == 2 for row in others)
    assert "norm=relevant" in [each["choice"] for row in others for each in row.differences]


@pytest.mark.parametrize("measure", DEFAULT)
def test_every_value_is_that_of_the_convention_itself(measure: str) -> None:
    rows = compared(measure).rows()
    assert len({row.meaning for row in rows}) == len(rows)
    libraries = [relatives(each, parse_measure(measure)) for each in conventions().values()]
    assert sum(len(row.users) for row in rows) == sum(map(len, libraries))
    for row in rows:
        for convention, named in row.users:
            theirs: Any
            try:
                theirs = evaluate(JUDGEMENTS, RUN, named.theirs, convention=convention).value()
            except PolicyError:
                theirs = None
            wanted = theirs if theirs is None else pytest.approx(theirs, abs=1e-12)
            assert row.value == wanted, named.theirs
            assert (row.stops is None) == (theirs is not None)


@pytest.mark.parametrize(
    ("convention", "measure", "names"),
    [
        ("trec_eval", "RR@10", {"recip_rank": "RR"}),  # it has no other
        ("trec_eval", "AP@10", {"map_cut_10": "AP@10"}),  # and not map, which is without a cutoff
        ("trec_eval", "AP", {"map": "AP"}),
        ("msmarco", "RR@5", {"MRR @10": "RR@10"}),  # looks farther
        ("msmarco", "RR@20", {}),  # does not look so far
        ("pytorch-metric-learning", "P@10", {}),
        ("pytorch-metric-learning", "AP@R", {"mean_average_precision_at_r": "AP@R"}),
        ("cwl-eval", "AP", {"AP": "AP(norm=retrieved)@1000"}),
        ("clip", "R@5", {"R@5": "Success@5"}),  # a hit rate by the name of recall
        ("clap", "AP@10", {"mAP@10": "RR@10"}),
        ("recommenders", "AP@10", {"map(k=10)": "AP@10", "map_at_k(k=10)": "AP(norm=capped)@10"}),
        ("trec_eval", "AP(aggregate=geometric)", {"map": "AP(aggregate=geometric)"}),
        ("rectools", "F(beta=2)@3", {"F1Beta(k=3)": "F@3", "F1Beta(k=3, beta=2)": "F(beta=2)@3"}),
    ],
)
def test_what_a_library_has_under_the_name_of_a_measure(
    convention: str, measure: str, names: dict[str, str]
) -> None:
    assert {
        each.theirs: str(each.measure)
        for each in relatives(find(convention), parse_measure(measure))
    } == names


# -- what makes them differ


@pytest.mark.parametrize(
    ("convention", "measure", "ours", "choice", "says"),
    [
        (
            *("replay", "AP@2", "AP(norm=capped)@2", "norm=capped"),
            "divided by min(N, k), the most that k results can hold",
        ),
        (
            *("pytrec_eval", "AP@2", "AP@2", "missing=skip"),
            "judged queries that the run lacks are left out",
        ),
        (
            *("clip", "R@2", "Success@2", "Success@2"),
            "it is another measure, Success (hit rate, top-k accuracy, CMC). 1 if at least one of",
        ),
    ],
)
def test_a_difference_in_words(
    convention: str, measure: str, ours: str, choice: str, says: str
) -> None:
    first, *others = row_of(convention, measure, ours).differences
    assert first["choice"] == choice
    assert first["says"].startswith(says) if others else first["says"] == says


# -- how many queries are touched


def counts(row: DefinitionRow) -> dict[str, int]:
    assert row.touched is not None
    return {name: count for name, count in row.touched.items() if count}


@pytest.mark.parametrize(
    ("convention", "measure", "ours", "value", "touched"),
    [
        # AP@2: tied 1/2 by id, as b comes first; short 1; lost 0; none 0; plain (1/1) / 2: 2 / 5
        ("ir_measures", "AP@2", "AP@2", 2 / 5, {}),
        # tied 1, as a comes first in the input: 2.5 / 5
        ("quepid", "AP@2", "AP@2", 2.5 / 5, {"queries": 1, "tied": 1}),
        # without the query that is lost: 2 / 4
        ("pytrec_eval", "AP@2", "AP@2", 2 / 4, {"queries": 1, "missing": 1}),
        # without the query that has nothing relevant: 2 / 4
        ("evidently", "AP@2", "AP@2", 2 / 4, {"queries": 1, "nothing_relevant": 1}),
        # both: tied 1, and without the lost query: 2.5 / 4
        ("recommenders", "AP@2", "AP@2", 2.5 / 4, {"queries": 2, "tied": 1, "missing": 1}),
        # tied (1 + 1/2) / 2, and plain divided by the one that was found: (3/4 + 1 + 1) / 5
        ("torchmetrics", "AP@2", "AP(norm=retrieved)@2", 2.75 / 5, {"queries": 2, "tied": 1}),
        # divided by 2: tied 1/4, short 1/2, plain 1/2 as before: 1.25 / 5
        ("rectools", "AP@2", "AP(norm=cutoff)@2", 1.25 / 5, {"queries": 2, "tied": 1, "short": 1}),
        # P@2 is 1/2 for tied, short and plain; divided by its one result, short has 1: (1/2 + 1 +
        # 1/2) / 5
        ("elasticsearch", "P@2", "P(short=shrink)@2", 2 / 5, {"queries": 1, "short": 1}),
        # R@2 is 1, 1, 0, 0 and 1/2; a hit is 1, and the query with nothing relevant is left out: 3
        # / 4
        ("clip", "R@2", "Success@2", 3 / 4, {"queries": 2, "nothing_relevant": 1}),
    ],
)
def test_queries_that_differ(
    convention: str, measure: str, ours: str, value: float, touched: dict[str, int]
) -> None:
    row = row_of(convention, measure, ours)
    assert (row.value, counts(row)) == (pytest.approx(value), touched)


def test_what_each_difference_touches_by_itself() -> None:
    differences = {
        each["choice"]: each["touched"] for row in compared().rows() for each in row.differences
    }
    assert differences == {
        "ties=input": 1,  # tied
        "ties=expected": 1,
        "missing=skip": 1,  # lost
        "missing=error": 1,
        "empty=skip": 1,  # none
        "empty=one": 1,
        "empty=error": 1,
        "unjudged=removed": 0,  # nothing unjudged stands before a relevant item
        "rel=half or tenth": 0,  # all relevant items have the best grade of their query
        "norm=capped": 0,  # no query has more than two relevant items
        "norm=cutoff": 2,  # tied and short have one relevant item
        "norm=retrieved": 1,  # plain
        "k=none": 0,
        "k=R": 1,  # tied: the one place belongs to the irrelevant result
        "k=1000": 0,
        # tied: its curve rises from 0 to 1/2 on the way, where the first result is relevant it
        # is flat
        "area=trapezoid": 1,
        "RR@10": 1,  # plain
    }


def test_what_was_found_in_all() -> None:
    (one,) = compared().measures
    assert one.found == {"queries": 5, "tied": 1, "short": 1, "missing": 1, "nothing_relevant": 1}
    assert (
        compared("AP").measures[0].found["short"] == 0
    )  # no cutoff, so no list is too short for it
    assert row_of("ir_measures").counted == 5
    assert row_of("pytorch-metric-learning").counted == 4


def test_a_library_that_would_stop_has_no_value_but_a_reason() -> None:
    row = row_of("ranx")
    assert (row.value, row.touched, row.counted) == (None, None, 0)
    assert row.stops == (
        "run lacks 1 of 5 judged queries (lost), and missing=error says to stop; "
        "missing=zero counts them as empty, missing=skip leaves them out."
    )
    whole = compare_conventions({"q": {"a": 1}}, {"q": {"a": 1.0}}, "AP@2")
    assert [row.stops for row in whole.rows()] == [None] * len(whole.rows())


def test_a_depth_and_duplicates() -> None:
    frame = pl.DataFrame(
        {"query": ["q", "q", "q"], "item": ["a", "a", "b"], "score": [3.0, 2.0, 1.0]}
    )
    given = {"q": {"a": 1, "b": 1}}
    with pytest.raises(InputError):
        compare_conventions(given, frame, "R@5")
    assert (
        compare_conventions(given, frame, "R@5", policy={"duplicates": "first"}).rows()[0].value
        == 1.0
    )
    assert (
        compare_conventions(given, frame, "R@5", policy={"duplicates": "first", "depth": 1})
        .rows()[0]
        .value
        == 0.5
    )


# -- what comes out


def test_text() -> None:
    text = compared("R@2").to_text(verbose=True)
    lines = [re.sub(" {2,}", "  ", line).strip() for line in text.splitlines()]
    assert lines[:7] == [
        "R@2: 5 values from judged and 23 libraries",
        "value  definition  libraries",
        "0.8333  R@2, missing=skip, empty=skip; R(norm=capped)@2, missing=skip, empty=skip  ragas "
        "non_llm_context_recall@2, mteb R_cap_at_2",
        "0.7500  Success@2, empty=skip  clap, clip",
        "0.6250  R@2, empty=skip; R@2, missing=skip; R(norm=capped)@2, missing=skip  evidently, "
        "sentence-transformers, beir Recall@2, mteb recall_at_2, pytrec_eval, trectools, recbole, "
        "ragas id_based_context_recall@2, recommenders, lightfm",
        "0.5000  R@2; R(norm=capped)@2  judged, ir_measures, rectools, replay, spark, "
        "torchmetrics, elasticsearch, haystack, opensearch",
        "stops  R@2, missing=error; R@2, missing=error, empty=error; R(norm=capped)@2, "
        "missing=error; R(norm=capped)@2, empty=error  trec_eval, ranx, llama-index, beir R_cap@2",
    ]
    assert lines[8:11] == [
        "R@2: 20 definitions",
        "definition  value  queries that differ  used by",
        "R@2  0.5000  judged, ir_measures R@2, rectools Recall(k=2), replay Recall@2, spark "
        "recallAt(2)",
    ]
    assert "R@2, missing=error  stops  trec_eval recall_2" in lines
    # Two queries differ: one has nothing relevant and is left out; the other one is of no kind that
    # a choice is about.
    assert (
        "Success@2, ties=input, empty=skip  0.7500  2 (1 without relevant items)  clap R@2, clip "
        "R@2" in lines
    )
    assert "R@2: 5 queries (1 tied, 1 short, 1 missing, 1 without relevant items).\n" in text
    assert "missing=skip  judged queries that the run lacks are left out  1" in lines
    assert text.endswith(
        "\nDefault policy: ties=id, missing=zero, empty=zero, unjudged=nonrelevant."
    )


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_library_is_cut_or_broken(width: int) -> None:
    found = compared("AP@2")
    text = found.to_text(width=width)
    assert max(map(len, text.splitlines())) <= width
    words = set(re.findall(r"[^\s,]+", text))
    assert {convention.name for row in found.rows() for convention, _ in row.users} <= words


def test_json() -> None:
    told = json.loads(compared("R@2").to_json())
    assert list(told) == ["run", "warnings", "measures", "policy", "judged"]
    (measure,) = told["measures"]
    assert (measure["measure"], measure["found"]["queries"]) == ("R@2", 5)
    (ranx,) = [
        each
        for each in measure["definitions"]
        if each["used_by"] and each["used_by"][0]["convention"] == "ranx"
    ]
    assert ranx["value"] is None
    assert ranx["stops"].startswith("run lacks 1 of 5")
    assert ranx["differ"] is None
    assert ranx["used_by"] == [
        {"convention": "ranx", "version": "0.3.21", "name": "recall@2", "note": ""}
    ]
    assert ranx["differences"][0] == {
        "choice": "ties=input",
        "says": "tied results keep the order of the input",
        "touched": 0,
    }
    assert measure["definitions"][0]["policy"] == told["policy"] == Policy().to_dict()


# -- what is refused


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: compare_conventions(JUDGEMENTS, {"one": RUN, "two": RUN}),
            InputError,
            "compare_conventions takes one run; call it once for each run.",
        ),
        (lambda: compared().rows("P@2"), MeasureError, "P@2 was not compared, only AP@2."),
        (
            lambda: compare_conventions(JUDGEMENTS, RUN, "P@2 R@2").rows(),
            MeasureError,
            "name one measure: P@2, R@2.",
        ),
        (
            lambda: compare_conventions(JUDGEMENTS, RUN, "APP@2"),
            MeasureError,
            "There is no measure 'APP'; did you mean 'AP'? 'judged measures' lists them all.",
        ),
    ],
)
def test_messages(call: Any, kind: type[JudgedError], message: str) -> None:
    with pytest.raises(kind) as error:
        call()
    assert str(error.value) == message


def test_a_measure_that_nobody_else_has_has_one_row() -> None:
    rows = family(parse_measure("Compat"))
    assert [meaning.name for meaning, _, _ in rows] == ["Compat"]
    assert repr(compared("Compat")).splitlines()[0] == "Compat: 1 value from judged"


# -- a relevance list in place of a run


def test_a_relevance_list_has_the_values_of_the_same_run() -> None:
    judgements = {"q": {"a": 1, "b": 0, "c": 2, "lost": 1}}
    run = {"q": {"d": 5.0, "c": 4.0, "b": 3.0, "a": 3.0}}  # b before a, by id and in the input
    for measure in (*DEFAULT, "nDCG(gain=exp)@3", "AP"):
        listed = compare_conventions("- 2 (0 1)", measures=measure, pool="2 1 1 0")
        of_run = compare_conventions(judgements, run, measure)
        assert [(row.meaning, row.users, row.value) for row in listed.rows()] == [
            (row.meaning, row.users, row.value) for row in of_run.rows()
        ]
    assert compare_conventions([None, 2, 0, 1], measures="RR").rows()[0].value == 0.5


def test_a_rule_for_what_is_relevant_is_a_difference() -> None:
    # Half of the best grade 4 is 2: of the grades 1, 4 and 2 the first is not relevant.
    found = compare_conventions("1 4 2", measures="RR@10")
    (row,) = [row for row in found.rows() if row.used_by("opensearch")]
    assert (found.rows()[0].value, row.value) == (1.0, 0.5)
    assert [each["choice"] for each in row.differences] == ["rel=half or tenth", "ties=input"]
    assert row.differences[0]["says"].startswith(
        "relevant are, for each query, grades above 0 that"
    )
    assert "RR@10, rel=half or tenth, ties=input" in found.to_text(verbose=True)


def test_a_value_for_what_is_undefined_is_a_difference() -> None:
    found = compare_conventions("1 1", measures="FallOut@10", collection=2)
    values = {
        named.theirs: row.value
        for row in found.rows()
        for convention, named in row.users
        if convention.name == "torchmetrics"
    }
    assert values == {"RetrievalFallOut(top_k=10)": 1.0, "retrieval_fall_out(top_k=10)": 0.0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"policy": {"depth": 3}},
            "depth cuts the lists of a run; write a relevance list as long as it should be.",
        ),
        (
            {"exclude_same_id": True},
            "item_to and exclude_same_id are about the ids of a run; there is none.",
        ),
        ({"relevant": 1, "pool": "1"}, "give relevant (a count) or pool (all grades), not both."),
    ],
)
def test_what_a_relevance_list_has_no_use_for(options: dict[str, Any], message: str) -> None:
    assert error_of(compare_conventions, "0 1", measures="AP@10", **options) == message


def test_a_run_says_itself_what_is_relevant() -> None:
    assert (
        error_of(compare_conventions, JUDGEMENTS, RUN, "AP@2", relevant=3)
        == "relevant, pool and collection apply to a relevance list only."
    )
