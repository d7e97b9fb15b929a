"""Scoring by a convention: names, variants, policy, exports and what is refused."""

from __future__ import annotations

import json

import pytest

from judged import AP, Policy, compare_conventions, evaluate, nDCG
from judged.conventions import conventions, find
from judged.errors import ConventionError, MeasureError
from judged.measures.conventions import named_all
from support.loops import for_each

JUDGEMENTS = {"q1": {"a": 1, "b": 2, "c": 0}, "q2": {"d": 1}, "q3": {"e": 0}}
RUN = {"q1": {"c": 0.9, "a": 0.8, "x": 0.7}, "q2": {"d": 0.5}}


def score(measures: object, convention: str, **options: object) -> dict[str, float]:
    scores = evaluate(JUDGEMENTS, RUN, measures, convention=convention, **options).to_dict()[
        "runs"
    ][0]["scores"]  # type: ignore[arg-type]
    return {name: round(value, 6) for name, value in scores.items()}


def test_its_names_are_understood() -> None:
    # q1 finds a at rank 2: 1/2 of two relevant items; q2 is perfect; q3 is missing, and pytrec_eval
    # leaves it out.
    assert score("map, recip_rank", "pytrec_eval") == {"map": 0.625, "recip_rank": 0.75}


def test_our_names_are_its_variants() -> None:
    # Divided by what was found down to k: 1/2 in q1 and 1 in q2; q3 is left out, and q1's b was
    # never listed.
    assert score([AP @ 2, "AP@1"], "gldv2") == {
        "AP(norm=capped)@2": round((0.25 + 1 + 0) / 2, 6),
        "AP@1": 0.5,
    }
    assert score("AP(rel=2)@10", "gldv2") == {"AP(rel=2)@10": 0.0}


@pytest.mark.parametrize(
    ("measure", "convention", "theirs"),
    [
        ("F(beta=2)@10", "rectools", "F1Beta(k=10, beta=2)"),
        ("DCG(log=10)@5", "scikit-learn", "dcg_score(k=5, log_base=10)"),
        (
            "ERR(max_grade=3)@5",
            "elasticsearch",
            "expected_reciprocal_rank(k=5, maximum_relevance=3)",
        ),
        ("IPrec@0.3", "pytrec_eval", "iprec_at_recall_0.3"),
        ("Rprec(mult=0.5)", "pytrec_eval", "Rprec_mult_0.5"),
    ],
)
def test_parameters_find_their_place(measure: str, convention: str, theirs: str) -> None:
    (named,) = named_all(find(convention), [measure])
    assert named.theirs == theirs


def test_the_policy_is_its_own_unless_one_is_given() -> None:
    assert evaluate(JUDGEMENTS, RUN, "mAP@10", convention="gldv2").policy == Policy(
        ties="input", empty="skip"
    )
    assert evaluate(
        JUDGEMENTS, RUN, "mAP@10", convention="gldv2", policy={"empty": "one"}
    ).policy == Policy(ties="input", empty="one")
    whole = Policy(missing="skip")
    assert evaluate(JUDGEMENTS, RUN, "mAP@10", convention="gldv2", policy=whole).policy == whole


def test_without_measures_it_is_those_of_ours_that_it_has() -> None:
    assert list(score(None, "mteb")) == ["nDCG@10", "P@10", "R@100"]


def test_without_measures_and_none_of_ours() -> None:
    with pytest.raises(MeasureError) as error:
        score(None, "msmarco")
    assert (
        str(error.value)
        == "no measure was given; name one that MS MARCO's script has, such as MRR @10."
    )


def test_it_is_said_everywhere() -> None:
    evaluation = evaluate(JUDGEMENTS, RUN, ["mAP@10"], convention=find("gldv2"))
    values = [evaluation.value(*name) for name in ((), ("mAP@10",), ("AP(norm=capped)@10",))]
    assert len(set(values)) == 1
    line = (
        "convention: Google Landmarks v2 and Kaggle's MAP@k 2019, where AP(norm=capped)@10 is "
        "mAP@10"
    )
    assert line in evaluation.to_text(verbose=True)
    assert f"% {line}\n" in evaluation.to_latex()
    assert f"- {line}\n" in evaluation.to_markdown()
    assert "<li>convention: Google Landmarks v2" in evaluation._repr_html_()
    assert (
        "Convention: Google Landmarks v2 and Kaggle's MAP@k 2019, where it is mAP@10. "
        "Divided by min(N, k), the most that k results can hold.\n"
    ) in evaluation.definition()
    assert json.loads(evaluation.to_json())["convention"] == {
        "name": "gldv2",
        "version": "2019",
        "held": "reading",
        "names": {"AP(norm=capped)@10": "mAP@10"},
    }


def refused(measures: object, convention: str, error: type[Exception]) -> str:
    with pytest.raises(error) as raised:
        score(measures, convention)
    return str(raised.value)


@pytest.mark.parametrize(
    ("measure", "hint"),
    [
        *(
            (near, "; did you mean 'mAP@{k}'?")
            for near in ("mPA@10", "AP(area=trapezoid)@10", "AP")
        ),
        *((other, ".") for other in ("Bpref", nDCG @ 10)),
    ],
)
def test_a_measure_that_it_does_not_have(measure: object, hint: str) -> None:
    assert refused([measure], "gldv2", MeasureError) == (
        f"Google Landmarks v2 and Kaggle's MAP@k has no '{measure}'{hint} It has mAP@{{k}}."
    )


def test_what_cannot_be_expressed_says_why() -> None:
    assert refused("GAP", "gldv2", MeasureError) == (
        "Google Landmarks v2 and Kaggle's MAP@k has GAP, but judged cannot score it that way. One "
        "list of all queries' answers in order of confidence: make one query of them, and take AP."
    )


def test_two_names_of_one_measure_with_policies_of_their_own() -> None:
    both = ["average_precision_score", "label_ranking_average_precision_score"]
    assert refused(both, "sklearn", ConventionError) == (
        "scikit-learn has empty=zero for average_precision_score and empty=one for "
        "label_ranking_average_precision_score; evaluate them one at a time, or choose empty for "
        "both."
    )
    assert refused(both[::-1], "sklearn", ConventionError) == (
        "scikit-learn has empty=one for label_ranking_average_precision_score and empty=zero for "
        "average_precision_score; evaluate them one at a time, or choose empty for both."
    )
    assert set(score(both, "sklearn", policy={"empty": "skip"})) == {both[0]}


def test_two_names_of_one_measure_that_differ_where_it_is_undefined() -> None:
    both = "RetrievalFallOut(top_k=2) retrieval_fall_out(top_k=2)"
    assert refused(both, "torchmetrics", ConventionError) == (
        "RetrievalFallOut(top_k=2) and retrieval_fall_out(top_k=2) are both FallOut@2 here, though "
        "torchmetrics (retrieval) gives them different values for some queries; evaluate them one "
        "at a time."
    )


def test_names_of_different_policies() -> None:
    assert refused("NDCG@10 MRR@10", "beir", ConventionError) == (
        "BEIR has ties=id for NDCG@10 and ties=input for MRR@10; evaluate them one at a time, or "
        "choose ties for both."
    )
    assert set(score("NDCG@10 MRR@10", "beir", policy={"ties": "id", "missing": "zero"})) == {
        "NDCG@10",
        "MRR@10",
    }


@for_each("name", list(conventions()))
def test_no_library_is_refused_for_measures_that_nobody_named(name: str) -> None:
    """Some have no common measure; none is refused for having several policies."""
    given = {"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}
    if name in ("clap", "clip", "gldv2", "msmarco"):
        with pytest.raises(MeasureError, match="no measure was given; name one that "):
            evaluate(*given, convention=name)
    else:
        assert evaluate(*given, convention=name).measures


def test_what_a_library_does_first_is_said_where_it_is_not_done() -> None:
    judgements = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"b": 1}}
    run = {"q1": {"q1": 2.0, "a": 1.0}, "q2": {}, "q3": {"b": 1.0}}
    warned = compare_conventions(judgements, run, "P@5").warnings()
    assert (
        "1 result has the id of its query, which BEIR takes out first; its rows here are without "
        "that: see convention=beir." in warned
    )
    assert (
        "1 query has an empty list, which LlamaIndex takes for missing; its rows here are without "
        "that: see convention=llama-index." in warned
    )
    whole = {query: {f"x{query}": 1.0} for query in judgements}
    fine = compare_conventions(judgements, whole, "P@5").warnings()
    assert not any("here are without" in text for text in fine)
