"""Columns are called what was asked for, in every form that an evaluation has."""

from __future__ import annotations

import csv
import io
import json
import re

from hypothesis import given
from hypothesis import strategies as st

import judged
from judged import AP, Evaluation, evaluate
from judged.measures import PRESETS, Measure, parse_measure
from judged.measures.measure import label_of, labelled, read_all
from support.rankings import any_measure

JUDGEMENTS = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
RUN = {"q1": {"x": 3.0, "a": 2.0, "b": 1.0}, "q2": {"c": 1.0}}
ASKED = ["MAP", "MedR", "hit_rate@10", "nDCG@10", "map_cut_5"]
OURS = ["AP", "Rank(aggregate=median)", "Success@10", "nDCG@10", "AP@5"]


def labels(evaluation: Evaluation) -> list[str]:
    """The one list of labels, after all forms were seen to have it."""
    header = evaluation.to_frame().columns[1:]
    assert evaluation.to_frame(per_query=True).columns[2:] == header
    [(shown, _)] = evaluation.tables()
    assert shown[1:] == header
    assert list(evaluation.to_pandas().columns)[1:] == header
    rows = list(csv.reader(io.StringIO(evaluation.to_csv())))
    assert header in [row[1:] for row in rows]
    cells = [f"| {' | '.join(['run', *header])} |"]
    assert set(cells) <= set(evaluation.to_markdown().splitlines())
    tex = evaluation.to_latex().replace("\\_", "_")
    assert all(name in tex for name in header)
    heads = re.findall(r"<th[^>]*>([^<]*)</th>", evaluation.to_html())
    assert heads[-len(header) :] == header
    lines = evaluation.to_trec().splitlines()
    named = [line.split("\t")[0] for line in lines]
    assert [name for name in named if name not in ("runid", "warning")] == header
    found = json.loads(evaluation.to_json(per_query=True))
    [run] = found["runs"]
    assert list(run["scores"]) == header
    assert all(list(values) == header for values in run["per_query"].values())
    assert list(found["measures"]) == header
    assert list(evaluation.labels) == header
    for name, measure in evaluation.labels.items():
        assert found["measures"][name]["name"] == str(measure)
        assert evaluation.value(name) == evaluation.value(measure) == run["scores"][name]
    return header


def test_every_form_has_the_names_that_were_asked_for() -> None:
    found = evaluate(JUDGEMENTS, RUN, ASKED)
    assert labels(found) == ASKED
    assert [str(measure) for measure in found.measures] == OURS
    plain = evaluate(JUDGEMENTS, RUN, OURS)
    assert labels(plain) == OURS
    assert [found.value(name) for name in ASKED] == [plain.value(name) for name in OURS]
    assert found.value("MAP") == found.value("AP") == found.value("map") == found.value(AP)


def test_a_measure_counts_once_under_its_first_name() -> None:
    assert labels(evaluate(JUDGEMENTS, RUN, "map, AP, MAP, P@5,5,10, precision@5")) == [
        "map",
        "P@5",
        "P@10",
    ]


def test_objects_and_presets_keep_our_notation() -> None:
    asked = [parse_measure("MAP"), "clip", "mrr@10"]
    assert labels(evaluate(JUDGEMENTS, RUN, asked)) == ["AP", *PRESETS["clip"], "mrr@10"]
    assert labels(evaluate(JUDGEMENTS, RUN)) == list(judged.measures.DEFAULT)


def test_names_of_a_library_are_kept() -> None:
    found = evaluate(JUDGEMENTS, RUN, "hit_rate@1,10 AP@5, ndcg_burges@5", convention="ranx")
    assert labels(found) == ["hit_rate@1", "hit_rate@10", "AP@5", "ndcg_burges@5"]
    assert found.value("Success@10") == found.value("hit_rate@10")
    several = evaluate(JUDGEMENTS, RUN, "P.5,10", convention="trec_eval")
    assert labels(several) == ["P_5", "P_10"]
    assert labels(evaluate(JUDGEMENTS, RUN, "P.5,10")) == ["P_5", "P_10"]
    # What the library calls recall is a hit rate, and so says the definition.
    clip = evaluate(JUDGEMENTS, RUN, "R@10", convention="clip")
    assert labels(clip) == ["R@10"]
    assert "measure: R@10 is Success@10: Success" in "\n".join(clip.sentences())
    assert clip.value("R@10") == clip.value("Success@10")


def test_definitions_say_which_measure_it_is() -> None:
    found = evaluate(JUDGEMENTS, RUN, "MAP, RR")
    assert found.definition("MAP").startswith("MAP (AP, Average precision). ")
    assert found.definition("RR").startswith("RR (Reciprocal rank). ")
    assert "MAP (AP, Average precision): " in found.methods()
    lines = [line for line in found.sentences() if line.startswith("measure: ")]
    assert [line.partition(" with ")[0] for line in lines] == [
        "measure: MAP is AP: Average precision",
        "measure: RR is Reciprocal rank",
    ]


@given(st.lists(any_measure(), min_size=1, max_size=5))
def test_no_two_measures_share_a_label(measures: list[Measure]) -> None:
    read = read_all([str(measure) for measure in measures])
    assert read == {measure: str(measure) for measure in measures}
    same = labelled((measure, "X") for measure in measures)
    assert len(set(same.values())) == len(same) == len(set(measures))
    assert all(label_of(str(each), each) == str(each) for each in measures)


def test_recall_points_that_are_printed_alike_are_two_columns() -> None:
    found = evaluate(JUDGEMENTS, RUN, "iprec_at_recall..25,.251")
    assert labels(found) == ["iprec_at_recall_0.25", "IPrec(rounding=trec_eval)@0.251"]
