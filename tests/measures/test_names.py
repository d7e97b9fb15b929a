"""trec_eval's names and presets, wherever a measure is named."""

import pytest

from judged.conventions.trec_eval import GROUPS, NAMES, lines
from judged.errors import MeasureError
from judged.measures import PRESETS, parse_all, parse_measure


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
            r"^'ndcg_cut' stands for 9 measures \(nDCG@5, nDCG@10, nDCG@15, …\); name one of "
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
    assert [str(measure) for measure in measures] == list(PRESETS[preset])
    assert parse_all([preset, preset.upper()]) == measures
