"""The names that people use, trec_eval's and presets, wherever a measure is named."""

from pathlib import Path

import pytest

from judged import AP
from judged.conventions import find
from judged.conventions.libraries.trec_eval import GROUPS, NAMES, lines, understood
from judged.errors import MeasureError
from judged.measures import PRESETS, REGISTRY, parse_all, parse_measure
from judged.measures.conventions import named_all
from judged.measures.measure import read_all
from judged.measures.registry import is_name
from support.loops import for_each


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("ndcg_cut.10", ["nDCG@10"]),
        ("ndcg_cut_10", ["nDCG@10"]),
        ("map_cut_5", ["AP@5"]),
        ("recip_rank", ["RR"]),
        ("P_10", ["P@10"]),
        ("P.5,10", ["P@5", "P@10"]),
        ("ndcg.1=3,2=9", ["nDCG(gains={1:3,2:9})"]),
        (
            "iprec_at_recall..25,.5",
            ["IPrec(rounding=trec_eval)@0.25", "IPrec(rounding=trec_eval)@0.5"],
        ),
        ("iprec_at_recall_0.10", ["IPrec(rounding=trec_eval)@0.1"]),
        ("Rprec_mult_0.20", ["Rprec(mult=0.2)"]),
        ("gm_map", ["AP(aggregate=geometric)"]),
        ("set_P", ["P"]),
        ("set_F.4.0", ["F(beta=2)"]),
        ("num_rel_ret", ["NumRelRet"]),
        ("success", ["Success"]),
        ("unj_5", ["Unjudged@5"]),
        ("rbp.p=0.5", ["RBP(p=0.5)"]),
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


def test_groups_hold_known_names():
    assert all(name in NAMES for group in GROUPS.values() for name in group)


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


@for_each(
    ("spelling", "ours"),
    [
        ("hit_rate@10", "Success@10"),
        ("HitRate@10", "Success@10"),
        ("hit-rate@10", "Success@10"),
        ("hit@10", "Success@10"),
        ("HR@10", "Success@10"),
        ("top_k_accuracy@5", "Success@5"),
        ("success_5", "Success@5"),
        ("recall@10", "R@10"),
        ("recall_at_10", "R@10"),
        ("recall_5", "R@5"),
        ("R_100", "R@100"),
        ("precision@10", "P@10"),
        ("precision_at_10", "P@10"),
        ("P_10", "P@10"),
        ("mrr@10", "RR@10"),
        ("mrr_at_10", "RR@10"),
        ("MRR_10", "RR@10"),
        ("recip_rank", "RR"),
        ("recip_rank@10", "RR@10"),
        ("mean_reciprocal_rank", "RR"),
        ("map", "AP"),
        ("mAP@10", "AP@10"),
        ("map_at_10", "AP@10"),
        ("map_10", "AP@10"),
        ("mean_average_precision", "AP"),
        ("AP_11", "AP@11"),
        ("NDCG@10", "nDCG@10"),
        ("ndcg_at_10", "nDCG@10"),
        ("ndcg_10", "nDCG@10"),
        ("ndcg_cut_10", "nDCG@10"),
        ("normalized_discounted_cumulative_gain@5", "nDCG@5"),
        ("MedR", "Rank(aggregate=median)"),
        ("MdR", "Rank(aggregate=median)"),
        ("median_rank", "Rank(aggregate=median)"),
        ("MeanR", "Rank"),
        ("mean_rank", "Rank"),
        ("f1@10", "F@10"),
        ("f1_score@10", "F@10"),
        ("f1_at_10", "F@10"),
        ("r-precision", "Rprec"),
        ("r_precision", "Rprec"),
        ("bpref", "Bpref"),
        ("alpha_ndcg_10", "alpha_nDCG@10"),
    ],
)
def test_spellings_that_people_use(spelling, ours):
    assert str(parse_measure(spelling)) == ours
    if "_cut_" not in spelling:
        assert [str(each) for each in parse_all([spelling, spelling.upper()])] == [ours]


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
        ("F_2", "There is no measure 'F_2'. 'judged measures' lists them all."),
        # What takes no cutoff is not read without it.
        (
            "bpref_10",
            "There is no measure 'bpref_10'; did you mean 'Bpref'? 'judged measures' lists them "
            "all.",
        ),
        (
            "map.5",
            "There is no measure 'map.5'; did you mean 'MAP'? 'judged measures' lists them all.",
        ),
        (
            "R_",
            "There is no measure 'R_'; did you mean 'R'? 'judged measures' lists them all.",
        ),
        (
            "beri",
            "There is no measure 'beri'; did you mean 'beir'? 'judged measures' lists them all.",
        ),
        (
            "clip@5",
            "'clip' is a preset: it has no cutoff and no parameters of its own, and means "
            "Success@1, Success@5, Success@10, MedR, MeanR.",
        ),
    ],
)
def test_spellings_that_are_refused(spelling, message):
    for read in (parse_measure, parse_all):
        with pytest.raises(MeasureError) as caught:
            read(spelling)
        assert str(caught.value) == message


def test_a_preset_is_refused_where_one_measure_is_needed():
    with pytest.raises(
        MeasureError,
        match=r"^'msmarco' means 4 measures \(RR@10, R@50, R@1000, …\); name one of them\.$",
    ):
        parse_measure("msmarco")


def test_a_name_of_trec_eval_that_is_ours_too_means_the_same():
    """But for those that trec_eval takes for several cutoffs, and for its usual patience."""
    for name in NAMES:
        if is_name(name) and len(theirs := understood(name) or []) == 1 and "rbp" not in name:
            assert parse_measure(name) == parse_measure(theirs[0][1])


def test_the_readme_names_every_preset():
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    paragraph = text.partition("A preset stands for")[2].partition("\n\n")[0]
    assert [name for name in PRESETS if f"`{name}`" not in paragraph] == []


def test_no_preset_has_the_name_of_a_measure():
    assert not [name for name in PRESETS if is_name(name) or name in NAMES]


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("P@5,10", "P@5 P@10"),
        ("P@5, 10", "P@5 P@10"),
        ("nDCG@5,10,R@100", "nDCG@5 nDCG@10 R@100"),
        ("P@5,10,20 R@1,2", "P@5 P@10 P@20 R@1 R@2"),
        ("AP(rel=2, norm=capped)@5,10", "AP(rel=2, norm=capped)@5 AP(rel=2, norm=capped)@10"),
        ("P@R,5", "P@R P@5"),
        ("IPrec@0.1,.25", "IPrec@0.1 IPrec@0.25"),
        ("ndcg_at_5,10", "nDCG@5 nDCG@10"),
        ("recall_5,10,AP", "R@5 R@10 AP"),
        ("P.5,10,AP", "P@5 P@10 AP"),
        ("P@5,10,5", "P@5 P@10"),
        ("msmarco,AP,R@50,5", "RR@10 R@50 R@1000 nDCG@10 AP R@5"),
        ("AP msmarco", "AP RR@10 R@50 R@1000 nDCG@10"),
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
        with pytest.raises(MeasureError) as caught:
            read(text)
        assert str(caught.value) == (
            f"cannot read '{number}' in '{text}': a number behind a comma is another cutoff of the "
            f"measure before it, as in P@5,10, and {has_none} has none."
        )


@for_each("name", REGISTRY)
def test_underscores_are_the_cutoff_of_every_measure_that_has_one(name):
    spec = REGISTRY[name]
    if spec.at == "k":
        assert parse_measure(f"{name}_at_7") == parse_measure(f"{name}@7")
