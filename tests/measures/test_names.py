"""The names that people use, trec_eval's and presets, wherever a measure is named."""

import re
from pathlib import Path

import pytest

from judged import AP
from judged.charts import KINDS
from judged.conventions import find
from judged.conventions.libraries.trec_eval import NAMES, lines
from judged.errors import MeasureError
from judged.measures import PRESETS, REGISTRY, parse_all, parse_measure
from judged.measures.conventions import named_all
from judged.measures.measure import read_all
from judged.measures.reference import TOPICS, find_topic
from judged.measures.registry import is_name
from support.errors import error_of
from support.loops import for_each


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("ndcg_cut.10", ["nDCG@10"]),
        ("map_cut_5", ["AP@5"]),
        ("recip_rank", ["RR"]),
        ("P.5,10", ["P@5", "P@10"]),
        ("ndcg.1=3,2=9", ["nDCG(gains={1:3,2:9})"]),
        (
            "iprec_at_recall..25,.5",
            ["IPrec(rounding=trec_eval)@0.25", "IPrec(rounding=trec_eval)@0.5"],
        ),
        ("Rprec_mult_0.20", ["Rprec(mult=0.2)"]),
        ("gm_map", ["AP(aggregate=geometric)"]),
        ("set_F.4.0", ["F(beta=2)"]),
        ("unj_5", ["Unjudged@5"]),
        ("bpref, infAP", ["Bpref", "infAP"]),
    ],
)
def test_trec_evals_names_are_understood(theirs, ours):
    assert [str(measure) for measure in parse_all(theirs)] == ours


def test_one_name_for_several_measures_is_refused_where_one_is_needed():
    with pytest.raises(
        MeasureError,
        match=(
            r"^'ndcg_cut' means 9 measures \(nDCG@5, nDCG@10, nDCG@15, …\); name one of "
            r"them\.$"
        ),
    ):
        parse_measure("ndcg_cut")


def test_every_name_stands_for_a_measure_of_ours():
    for name in NAMES:
        for line in lines(name):
            if line.measure:
                assert parse_measure(line.measure)


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_are_lists_of_measures(preset):
    measures = parse_all(preset)
    assert list(read_all(preset).values()) == list(PRESETS[preset])
    assert parse_all([preset, preset.upper()]) == measures


@pytest.mark.parametrize("asked", ["clip,hit_rate@10", "hit_rate@10,clip", ["clip", "hit_rate@10"]])
def test_what_was_asked_for_by_name_is_called_so_beside_a_preset(asked):
    found = read_all(asked)
    assert sorted(found.values()) == ["MeanR", "MedR", "Success@1", "Success@5", "hit_rate@10"]
    assert found[parse_measure("Success@10")] == "hit_rate@10"


SPELLINGS = {
    "Success@10": ["hit_rate@10", "HitRate@10", "hit-rate@10", "hit@10", "HR@10", "CMC@10"],
    "Success@5": ["top_k_accuracy@5", "success_5", "TopKAccuracy@5"],
    "R@10": ["recall@10", "recall_at_10"],
    "R@5": ["recall_5"],
    "R@100": ["R_100"],
    "P@10": ["precision@10", "precision_at_10", "P_10"],
    "RR@10": ["mrr@10", "mrr_at_10", "MRR_10", "recip_rank@10"],
    "RR": ["recip_rank", "mean_reciprocal_rank"],
    "AP": ["map", "mean_average_precision", "GMAP(aggregate=mean)"],
    "AP@10": ["mAP@10", "map_at_10", "map_10"],
    "AP@11": ["AP_11"],
    "AP(aggregate=geometric)": ["GMAP"],
    "nDCG@10": ["NDCG@10", "ndcg_at_10", "ndcg_10", "ndcg_cut_10"],
    "nDCG@5": ["normalized_discounted_cumulative_gain@5"],
    "Rank(aggregate=median)": ["MedR", "MdR", "median_rank", "MedianRank"],
    "Rank(of=all, aggregate=median)": ["MedR(of=all)"],
    "Rank": ["MeanR", "mean_rank", "MeanRank"],
    "F@10": ["f1@10", "f1_score@10", "f1_at_10"],
    "Rprec": ["r-precision", "r_precision"],
    "IAP(rounding=trec_eval)": ["11pt_avg"],
    "Specificity@3": ["TNR@3"],
    "Bpref": ["bpref"],
    "alpha_nDCG@10": ["alpha_ndcg_10"],
}


@for_each("ours", SPELLINGS)
def test_spellings_that_people_use(ours):
    for spelling in SPELLINGS[ours]:
        assert str(parse_measure(spelling)) == ours
        if not any(part in spelling for part in ("_cut_", "11pt", "(")):
            assert [str(each) for each in parse_all([spelling, spelling.upper()])] == [ours]


ALL = "'judged measures' lists them all."


@pytest.mark.parametrize(
    ("spelling", "message"),
    [
        (
            "acc@1",
            "'acc' has two meanings: Success@k, whether a relevant item is among the first k "
            "results, and Accuracy@k, the share of all items that are classified rightly; write "
            "the one that is meant.",
        ),
        (
            "Hits@10",
            "'Hits' has two meanings: Success@k, whether a relevant item is among the first k "
            "results, and NumRelRet@k, how many of them are relevant; write the one that is meant.",
        ),
        # A number behind F is what some write for beta.
        ("F_2", f"There is no measure 'F_2'. {ALL}"),
        # What takes no cutoff is not read without it.
        ("bpref_10", f"There is no measure 'bpref_10'; did you mean 'Bpref'? {ALL}"),
        ("map.5", f"There is no measure 'map.5'; did you mean 'MAP@5'? {ALL}"),
        ("R_", f"There is no measure 'R_'; did you mean 'R'? {ALL}"),
        ("beri", f"There is no measure 'beri'; did you mean 'beir'? {ALL}"),
        (
            "clip@5",
            "'clip' is a preset: it has no cutoff and no parameters of its own, and means "
            "Success@1, Success@5, Success@10, MedR, MeanR.",
        ),
    ],
)
def test_spellings_that_are_refused(spelling, message):
    for read in (parse_measure, parse_all):
        assert error_of(read, spelling, error=MeasureError) == message


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("P@5,10", "P@5 P@10"),
        ("nDCG@5,10,R@100", "nDCG@5 nDCG@10 R@100"),
        ("AP(rel=2, norm=capped)@5,10", "AP(rel=2, norm=capped)@5 AP(rel=2, norm=capped)@10"),
        ("IPrec@0.1,.25", "IPrec@0.1 IPrec@0.25"),
        ("ndcg_at_5,10", "nDCG@5 nDCG@10"),
        ("P.5,10,AP", "P@5 P@10 AP"),
        ("msmarco,AP,R@50,5", "RR@10 R@50 R@1000 nDCG@10 AP R@5"),
    ],
)
def test_several_cutoffs_and_presets_in_one_text(text, ours):
    wanted = parse_all(ours)
    assert parse_all(text) == parse_all([text, AP])[: len(wanted)] == wanted
    if not any(unknown_there in text for unknown_there in ("IPrec", "@R", "norm")):
        named = named_all(find("ir_measures"), [text])
        assert [each.measure for each in named] == wanted


@pytest.mark.parametrize(
    ("text", "has_none"), [("AP,10", "AP"), ("rag, 10", "rag"), ("P,5,R", "P")]
)
def test_a_number_continues_only_a_cutoff(text, has_none):
    number = text.split(",")[1].strip()
    for read in (parse_all, lambda given: named_all(find("ranx"), [given])):
        assert error_of(read, text, error=MeasureError) == (
            f"cannot read '{number}' in '{text}': a number after a comma is another cutoff of the "
            f"measure before it, as in P@5,10, but {has_none} has no cutoff."
        )


@for_each("name", REGISTRY)
def test_underscores_are_the_cutoff_of_every_measure_that_has_one(name):
    spec = REGISTRY[name]
    if spec.at == "k":
        assert parse_measure(f"{name}_at_7") == parse_measure(f"{name}@7")


PHRASES = {
    "average precision": "AP",
    "Average Precision@10": "AP@10",
    "top-k accuracy": "Success",
    "hit rate": "Success",
    "mean reciprocal rank": "RR",
    "median rank": "Rank(aggregate=median)",
    "true positives": "TP",
    "interpolated precision": "IPrec",
    "expected reciprocal rank": "ERR",
    "normalised discounted cumulative gain@5": "nDCG@5",
    "precision at 5": "P@5",
    "precision at k": "'precision@k' has no number for k; use a number, such as precision@10.",
    "hit rate@5, average precision": "Success@5 AP",
    "confusion matrix": "judged plot confusion-at-k",
    "precision-recall curve": "judged plot precision-recall",
    "AUC-PR": "judged plot precision-recall",
    "temperature": "judged temperature",
    "cosine similarity": "judged embeddings --similarity",
    "learned similarity": "judged learn",
    "normalise scores": "judged fuse",
    "Normalize scores": "judged fuse",
    "choose K": "judged advise",
    "significance test": "judged compare",
    "how many queries": "judged plan",
    "tied scores": "judged evaluate --ties",
    "nearest neighbors": "judged embeddings",
    "ILD": "alpha_nDCG",
    "Recall@K": "'Recall@K' has no number for k; use a number, such as Recall@10.",
    "MAP@K": "'MAP@K' has no number for k; use a number, such as MAP@10.",
    "NDCG@k": "'NDCG@k' has no number for k; use a number, such as NDCG@10.",
}


def test_words_that_people_search_for():
    for phrase, meant in PHRASES.items():
        topic = find_topic(phrase)
        if topic is None and "number" not in meant:
            assert parse_all(phrase) == parse_all(meant)
            continue
        message = error_of(parse_all, phrase, error=MeasureError)
        assert meant in message
        assert topic is None or message == f"{phrase!r} is not a measure. {topic[0]}"


def test_topics_name_what_exists():
    pages = {page.stem for page in Path("docs").glob("*.md")}
    for phrases, (says, page) in TOPICS.items():
        assert page in pages
        assert not any(map(is_name, phrases))
        for name in re.findall(r"'judged (?:plot )?([\w-]+)", says):
            assert name in KINDS or Path(f"src/judged/cli/{name}.py").exists(), name
