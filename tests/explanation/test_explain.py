"""`judged.explain`: worked examples by hand, inputs, what would help most, other definitions,
refusals."""

from __future__ import annotations

import json
from math import isnan, log2

import numpy as np
import pytest

import judged
from judged import explain
from judged.errors import InputError, MeasureError, PolicyError
from judged.explanation import Explanation
from judged.explanation.improvement import best_change
from judged.measures import REGISTRY, parse_measure
from support.evaluating import add_choices
from support.loops import for_each
from support.rankings import random_queries, rankings_of

# -- worked by hand


def test_average_precision_of_four_relevant_in_ten() -> None:
    # Relevant at 2, 5, 7, 9: 1/2 + 2/5 + 3/7 + 4/9 = 1.773016; divided by 4 = 0.443254.
    e = explain("0 1 0 0 1 0 1 0 1 0", measure="AP")
    assert e.value == pytest.approx(0.443254, abs=5e-7)
    assert e.arithmetic == (
        "AP = (1/2 + 2/5 + 3/7 + 4/9) / 4 = (0.5 + 0.4 + 0.4286 + 0.4444) / 4 = 1.773 / 4 = 0.4433"
    )
    # The same sum, divided by 6: 0.295503.
    e = explain("0 1 0 0 1 0 1 0 1 0", measure="AP", relevant=6)
    assert e.value == pytest.approx(1.773016 / 6, abs=1e-6)
    assert "6 relevant in all, 4 among the results that count" in e.steps.divisor.says
    # Relevant at 1, 3, 4, 6: 1 + 2/3 + 3/4 + 4/6 = 3.083333; divided by 4 = 37/48.
    e = explain("1 0 1 1 0 1 0 0", measure="AP")
    assert e.value == pytest.approx(37 / 48)
    assert {rank: added.value * 4 for rank, added in e.steps.adds.items()} == pytest.approx(
        {1: 1, 3: 2 / 3, 4: 0.75, 6: 2 / 3}
    )


def test_f_of_precision_and_recall() -> None:
    # Three of four results are relevant, three of four relevant items are found: 2 · 0.75 · 0.75 /
    # 1.5.
    e = explain("1 0 1 1 0 1 0 0", measure="F@4")
    assert [(line.symbol, line.value.text()) for line in e.steps.before] == [
        ("P", "3/4"),
        ("R", "3/4"),
    ]
    assert e.arithmetic.startswith("F@4 = 2 × P × R / (P + R) = 2 × 0.75 × 0.75 / (0.75 + 0.75) = ")
    assert e.arithmetic.endswith(" = 0.75")


def test_ndcg_with_dcg_and_ideal() -> None:
    # DCG = 1 + 1/log2(4) + 1/log2(5) + 1/log2(7) = 2.2869; IDCG = 1 + 1/log2(3) + 1/log2(4) +
    # 1/log2(5) = 2.5616.
    e = explain("1 0 1 1 0 1 0 0", measure="nDCG")
    dcg, ideal = 1 + 1 / 2 + 1 / log2(5) + 1 / log2(7), 1 + 1 / log2(3) + 1 / 2 + 1 / log2(5)
    assert e.steps.before[0].value.value == pytest.approx(dcg)
    assert e.steps.divisor.value.value == pytest.approx(ideal)
    assert e.arithmetic == "nDCG = DCG / IDCG = 2.2869 / 2.5616 = 0.8928"


def column(e: Explanation, name: str) -> list[float]:
    return [row[name] for row in e.to_dict()["ranks"] if row["counts"]]


def test_running_values_per_rank() -> None:
    # DCG of 0 2 1: 0, 2/log2(3), + 1/2; IDCG of 2 1 1: 2, + 1/log2(3), + 1/2.
    e = explain("0 2 1 1", measure="nDCG@3")
    dcg, ideal = [0, 2 / log2(3), 2 / log2(3) + 1 / 2], [2, 2 + 1 / log2(3), 2.5 + 1 / log2(3)]
    assert column(e, "DCG") == pytest.approx(dcg)
    assert column(e, "IDCG") == pytest.approx(ideal)
    assert column(e, "nDCG") == pytest.approx([0, dcg[1] / ideal[1], e.value])
    # Precision at ranks 2 and 3: 1/2 and 2/3.
    assert column(explain("0 1 1", measure="AP"), "sum") == pytest.approx([0, 1 / 2, 7 / 6])


@pytest.mark.parametrize("measure", ["P@3", "R@3", "F@3"])
def test_labels_at_the_cutoff(measure: str) -> None:
    e = explain("1 0 - 1", measure=measure, relevant=3)
    assert column(e, "predicted") == ["yes"] * 3
    assert column(e, "actual") == ["yes", "no", "no"]
    assert e.notes()[0] == (
        "Of 3 results predicted to be relevant, 1 is (TP) and 2 are not (FP); 2 relevant items are "
        "missed (FN)."
    )


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_fit(width: int) -> None:
    run = {"q": {f"bread-{rank:02}": -rank for rank in range(12)}}
    judgements = {"q": {"bread-03": 2, "bread-07": 1}}
    measures = ["AP@10", "nDCG@10", "F@10"]
    found = [explain(judgements, run, measure) for measure in measures]
    for result in (*found, explain(judgements, run, measures)):
        lines = result.to_text(width=width).splitlines()
        assert max(map(len, lines)) <= width
        assert any("bread-03" in line for line in lines)


# -- inputs

JUDGEMENTS = {"q1": {"a": 1, "b": 2, "c": 0, "lost": 3}, "q2": {"d": 1}}
RUN = {"q1": {"x": 9.0, "c": 8.0, "a": 7.0, "b": 6.0}, "q9": {"y": 1.0}}


def test_a_run_has_ids_and_items_that_were_lost() -> None:
    e = explain(JUDGEMENTS, RUN, "nDCG@10", query="q1")
    assert [(row.rank, row.item, row.grade, row.relevant) for row in e.rows] == [
        (1, "x", None, False),
        (2, "c", 0, False),
        (3, "a", 1, True),
        (4, "b", 2, True),
    ]
    assert e.lost == {"lost": 3.0}
    assert e.query == "q1"
    assert (
        e.value
        == judged.evaluate(JUDGEMENTS, RUN, "nDCG@10").to_frame(per_query=True)["nDCG@10"][0]
    )


@pytest.mark.parametrize(
    ("ties", "items"),
    [
        ("id", ["x", "d", "c", "b", "a", "y"]),
        ("input", ["x", "b", "a", "d", "c", "y"]),
        ("best", ["x", "c", "b", "d", "a", "y"]),
        ("worst", ["x", "d", "a", "b", "c", "y"]),
    ],
)
def test_ids_stand_where_the_tie_rule_puts_them(ties: str, items: list[str]) -> None:
    # b is of grade 1, c of grade 2, a of grade 0; d is unjudged and counts as grade 0 among ties.
    judgements = {"q": {"a": 0, "b": 1, "c": 2}}
    run = {"q": {"x": 2.0, "b": 1.0, "a": 1.0, "d": 1.0, "c": 1.0, "y": 0.0}}
    e = explain(judgements, run, "nDCG", policy={"ties": ties})
    shown = [row.item for row in e.rows]
    if ties in ("best", "worst"):  # a and d are equally good: either may stand first
        assert [item for item in shown if item not in "ad"] == [
            item for item in items if item not in "ad"
        ]
    else:
        assert shown == items
    grades = {item: float(grade) for item, grade in judgements["q"].items()}
    assert all(row.grade == grades.get(row.item) for row in e.rows)
    assert e.value == judged.evaluate(judgements, run, "nDCG", policy={"ties": ties}).value()


def test_ids_of_random_runs_agree_with_their_grades() -> None:
    draw = np.random.default_rng(5)
    for _ in range(60):
        items = [f"i{number}" for number in range(12)]
        judgements = {"q": {item: int(draw.integers(0, 3)) for item in draw.permutation(items)[:6]}}
        run = {"q": {item: float(draw.integers(0, 4)) for item in draw.permutation(items)[:9]}}
        policy = {
            "ties": str(draw.choice(["id", "input", "best", "worst"])),
            "unjudged": str(draw.choice(["nonrelevant", "removed"])),
        }
        depth = int(draw.integers(1, 10))
        e = explain(judgements, run, "AP", policy=add_choices(policy, depth=depth))
        assert all(
            row.item in run["q"] and row.grade == judgements["q"].get(row.item) for row in e.rows
        )
        shown = {row.item for row in e.rows}
        assert len(shown) == len(e.rows) == e.rankings.retrieved[0]
        relevant = {item for item, grade in judgements["q"].items() if grade > 0}
        assert set(e.lost) == relevant - shown
        assert (
            e.settled
            == judged.evaluate(
                judgements, run, "AP", policy=add_choices(policy, depth=depth)
            ).value()
        )


def test_a_judged_query_that_the_run_lacks() -> None:
    e = explain(JUDGEMENTS, {"q1": {"a": 1.0}}, "AP", query="q2")
    assert (e.value, e.rows, e.lost) == (0.0, (), {"d": 1.0})
    assert (
        "The run lacks the query: a judged query that the run lacks counts as an empty list."
        in e.to_text()
    )


def test_a_convention_says_the_variant() -> None:
    e = explain("0 1 0 1", measure="RetrievalMAP(top_k=3)", relevant=5, convention="torchmetrics")
    assert str(e.measure) == "AP(norm=retrieved)@3"
    assert e.value == 0.5


def test_an_undefined_value_says_what_the_policy_makes_of_it() -> None:
    e = explain("0 0", measure="AP", policy={"empty": "one"})
    assert isnan(e.value)
    assert (e.settled, e.steps) == (1.0, None)
    assert (
        "AP has no value here (the query has no relevant item), which the policy makes 1.0000"
        in e.to_text()
    )
    assert json.loads(e.to_json())["value"] is None


# -- long lists


def test_a_long_list_shows_the_ranks_that_matter() -> None:
    e = explain([0] * 50 + [1] + [0] * 49, measure="AP", rows=5)
    assert [row.rank for row in e.rows] == [1, 2, 3, 4, 51]
    assert e.left_out == 95
    text = e.to_text()
    assert "…  46 more" in text
    assert "…  49 more" in text
    assert "95 of 100 ranks are not shown, none of them relevant." in text
    assert e.value == pytest.approx(1 / 51)
    assert len(explain([0] * 100, measure="P", rows=None).rows) == 100


# -- what would help most


def test_the_shortest_of_the_best_swaps() -> None:
    # P@2 of 0 0 1: the relevant item at rank 1 or 2 makes 1/2; rank 2 is nearer.
    change = explain("0 0 1", measure="P@2").best_change
    assert (change.rank, change.to, change.value, change.gain) == (3, 2, 0.5, 0.5)


def test_an_item_that_was_not_retrieved_may_help_most() -> None:
    # AP of 0 1 with three relevant: swapped, 1/3; with another one at rank 1, (1 + 1)/3.
    change = explain("0 1", measure="AP", relevant=3).best_change
    assert (change.rank, change.to) == (None, 1)
    assert change.value == pytest.approx(2 / 3)


def test_of_a_measure_where_lower_is_better_less_is_more() -> None:
    # From infinity, any rank is better; rank 1 is best.
    change = explain("0 0 0 1", measure="Rank").best_change
    assert (change.rank, change.to, change.value) == (4, 1, 1.0)


def test_no_other_swap_is_better() -> None:
    from random import Random

    draw = Random(3)
    for query in random_queries(draw, 60):
        r = rankings_of([query])
        for name in ("AP", "nDCG", "RR", "P@3", "Bpref"):
            measure = parse_measure(name)
            now = measure.compute(r)[0]
            change = best_change(measure, now, r)
            tried = []
            for lower, grade in enumerate(query.shown):
                for upper in range(min(lower, 10)):
                    if (grade or 0) > 0 and (query.shown[upper] or 0) < grade:
                        moved = list(query.shown)
                        moved[upper], moved[lower] = moved[lower], moved[upper]
                        tried.append(
                            measure.compute(
                                rankings_of(
                                    [type(query)(tuple(moved), query.lost, query.elsewhere)]
                                )
                            )[0]
                        )
            best = max([value for value in tried if not isnan(value)], default=now)
            reached = now if change is None else change.value
            assert isnan(now) or reached >= best - 1e-12, (name, query)


# -- other definitions


def test_other_definitions_name_their_libraries() -> None:
    e = explain("0 1 0 1", measure="AP@2", relevant=5)
    # Only rank 2 counts, with precision 1/2: divided by 5, by min(5, 2) or by the one found.
    found = {str(each.measure): each for each in e.variants}
    assert found["AP(norm=retrieved)@2"].value == 0.5
    assert found["AP(norm=capped)@2"].value == 0.25
    assert ("torchmetrics (retrieval)", "RetrievalMAP(top_k=2)") in found[
        "AP(norm=retrieved)@2"
    ].libraries
    assert all(each.value != e.value for each in e.variants)


@for_each("name", REGISTRY)
def test_every_measure_prints_in_every_format(name: str) -> None:
    example = REGISTRY[name].example
    e = explain(example.rankings(), measure=example.measure)
    for text in (e.to_text(), e.to_markdown(), e.to_latex()):
        assert text.strip()
        assert "None" not in text
        assert "nan" not in text.replace("RankAUC", "").lower().split()
    assert json.loads(e.to_json())["value"] == pytest.approx(example.value)
    assert e.to_latex().startswith("\\begin{align*}\n")
    assert e.to_latex().count("{") == e.to_latex().count("}")
    columns = e.to_frame().select("rank", "relevant").rows()
    assert columns == [(row.rank, row.relevant) for row in e.rows]


def test_json_holds_every_column() -> None:
    result = explain("0 1 -", measure="AP@2", relevant=2).to_dict()
    # Precision at rank 2 is 1/2, divided by 2.
    judged_rank = {"grade": 0.0, "judged": True, "relevant": False, "counts": True}
    assert result["ranks"] == [
        {"rank": 1, **judged_rank, "precision": 0.0, "recall": 0.0, "sum": 0.0, "adds": 0.0},
        {
            "rank": 2,
            **judged_rank,
            "grade": 1.0,
            "relevant": True,
            "precision": 0.5,
            "recall": 0.5,
            "sum": 0.5,
            "adds": 0.25,
        },
        {"rank": 3, "grade": None, "judged": False, "relevant": False, "counts": False}
        | {"precision": None, "recall": None, "sum": None, "adds": 0.0},
    ]
    # The same as people read it, and the sum behind it line by line.
    assert result["table"] == {
        "header": ["rank", "grade", "precision", "recall", "sum", "adds"],
        "right": [0, 1, 2, 3, 4, 5],
        "rows": [
            ["1", "0", "0/1 = 0", "0/2 = 0", "0", ""],
            ["2", "1", "1/2 = 0.5", "1/2 = 0.5", "0.5", "0.25"],
            ["3", "unjudged", "", "", "", ""],
        ],
        "skipped": [0, 0, 0],
    }
    assert result["heading"] == "AP@2 (Average precision): 0.2500"
    assert [(line["text"], line["latex"]) for line in result["lines"]] == [
        ("N = 2", "2"),
        ("AP@2 = 1/2 / 2 = 0.5 / 2 = 0.25", r"\frac{\frac{1}{2}}{2}"),
    ]
    assert result["lines"][0]["says"] == (
        "the divisor: N, all relevant items of the query: 2 relevant in all, 1 among the results "
        "that count"
    )
    assert result["align"] == explain("0 1 -", measure="AP@2", relevant=2).to_latex()
    assert result["best_change"]["says"] in result["sentences"]
    assert result["walk"]["frames"][-1]["caption"] == "AP@2 = 1/2 / 2 = 0.25"
    assert result["walk"]["chart"]["kind"] == "area"


def test_it_can_be_saved_in_every_format(tmp_path) -> None:
    import polars as pl

    e = explain("0 1 - 1", measure="AP")
    endings = [*e.SAVED_AS, ".parquet"]
    assert set(endings) == {".json", ".csv", ".md", ".html", ".txt", ".tex", ".gif", ".parquet"}
    for ending in endings:
        e.save(tmp_path / f"ap{ending}")
    assert json.loads((tmp_path / "ap.json").read_text()) == e.to_dict()
    assert (tmp_path / "ap.html").read_text() == e.to_html()
    assert (tmp_path / "ap.tex").read_text() == e.to_latex()
    assert (tmp_path / "ap.gif").read_bytes()[:6] == b"GIF89a"
    assert pl.read_parquet(tmp_path / "ap.parquet").equals(e.to_frame())
    assert (tmp_path / "ap.csv").read_text().splitlines()[0].startswith("rank,grade,judged")
    with pytest.raises(judged.errors.OutputError, match="the ending says the format"):
        e.save(tmp_path / "ap.png")


def test_latex_of_the_filled_in_formula() -> None:
    assert explain("0 1 0 1", measure="AP").to_latex() == (
        "\\begin{align*}\n"
        "\\mathrm{AP} &= \\frac{1}{N}\\sum_{i\\le k}[g_i \\ge rel]\\, P@i \\\\\n"
        "N &= 2 \\\\\n"
        "\\mathrm{AP} &= \\frac{\\frac{1}{2} + \\frac{2}{4}}{2} = 0.5\n"
        "\\end{align*}\n"
    )


# -- pools


def test_a_pool_may_leave_out_what_is_not_relevant() -> None:
    """(1/2 + 2/5) / 3; the third relevant item at rank 1 would make it (1 + 2/2 + 3/5) / 3."""
    e = explain("0 1 0 0 1", measure="AP", pool="1 1 1")
    assert e.value == pytest.approx(0.3)
    assert e.improvement == (
        "What would help most: an item (grade 1), which was not retrieved, at rank 1 instead of "
        "the result there would make AP 0.8667."
    )
    assert e.rankings.pool_grade.tolist() == [1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize("measure", ["Bpref", "infAP", "nDCG", "Judged"])
def test_an_incomplete_pool_gives_the_numbers_of_the_whole_one(measure: str) -> None:
    short = explain("0 1 -1 0 2 -", measure=measure, pool=[2, 1, 1])
    whole = explain("0 1 -1 0 2 -", measure=measure, pool=[2, 1, 1, 0, 0, -1])
    assert short.to_dict() == whole.to_dict()


# -- refusals


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: explain(
                {"topic-1": {"a": 1}, "topic-2": {"a": 1}}, {"topic-1": {"a": 1.0}}, query="topic_2"
            ),
            "There is no judged query 'topic_2' among 2; did you mean 'topic-2'?",
        ),
        (
            lambda: explain(JUDGEMENTS, RUN, "AP", query="q9"),
            "query 'q9' is in the run but has no judgements, so it cannot be explained.",
        ),
        (
            lambda: explain(JUDGEMENTS, RUN, "AP"),
            "name the query to explain, such as query='q1'; there are 2 judged "
            "queries: q1, q2.",
        ),
        (
            lambda: explain("0 x 1"),
            "'0 x 1' is not a relevance list: 'x' is neither a grade nor - (not judged). "
            'Write the grades in rank order, such as "0 1 0 0 1".',
        ),
        (
            lambda: explain("run.txt"),
            "'run.txt' is not a relevance list: 'run.txt' is neither a grade nor - (not judged). "
            'Write the grades in rank order, such as "0 1 0 0 1". For files, give QRELS and RUN.',
        ),
        (
            lambda: explain("0 1 0 0 1", pool="1 0"),
            "pool of query 1 lacks a grade 1 that its list holds; pool is all grades there are, in "
            "the list and outside it.",
        ),
        (
            lambda: explain(JUDGEMENTS),
            "judgements and a run are needed; a relevance list is a text or a list of grades in "
            "rank order.",
        ),
        (
            lambda: explain("0 1", measure="AP, RR"),
            "explain takes one measure, or a list to explain them side by side; got AP, RR in one "
            "text.",
        ),
        (
            lambda: explain(JUDGEMENTS, RUN, "AP", query="q1", policy={"ties": "expected"}),
            "an explanation goes through one order of the results, and ties=expected is the mean "
            "over all orders; "
            "choose ties=id, input, best or worst.",
        ),
        (
            lambda: explain(JUDGEMENTS, RUN, "AP", query="q1", relevant=3),
            "relevant and pool describe a relevance list; with judgements, leave them out.",
        ),
        (
            lambda: explain("0 1", query="q1"),
            "a relevance list has one query without a name; leave out query.",
        ),
        (
            lambda: explain("0 1", rows=0),
            "rows must be a whole number from 1, or None for all; got 0.",
        ),
        (
            lambda: explain(JUDGEMENTS, {"a": RUN, "b": RUN}, "AP"),
            "explain takes one run.",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(call, message) -> None:
    with pytest.raises((InputError, MeasureError, PolicyError)) as raised:
        call()
    assert str(raised.value) == message


def test_gains_that_overflow():
    with pytest.raises(MeasureError, match=r"the sums for these grades exceed the largest float"):
        explain({"q": {"a": 1025, "b": 1024}}, {"q": ["b", "a"]}, "nDCG(gain=exp)", query="q")
