"""Agreement of two or more assessors: numbers worked by hand, sentences and errors."""

from __future__ import annotations

import math
from operator import itemgetter
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
import polars as pl
import pytest

import judged
from judged.arrays import Floats
from judged.judgements.pairs import UNBOUNDED, UNSPREAD
from judged.statistics.agreement import kappa_sample
from judged.statistics.bootstrap import bootstrap
from support.errors import error_of
from support.loops import for_each
from support.tables import rows_of

Given = dict[str, dict[str, float]]

# Ten items of two queries; both gave 0 to 4 of them, 1 to 2 and 2 to 1.
ANN: Given = {
    "q1": {"a": 0, "b": 0, "c": 1, "d": 2, "e": 1},
    "q2": {"a": 0, "b": 0, "c": 1, "d": 2, "e": 2, "alone": 1},
}
BOB: Given = {
    "q1": {"a": 0, "b": 0, "c": 1, "d": 2, "e": 0},
    "q2": {"a": 0, "b": 0, "c": 1, "d": 1, "e": 0, "other": 2},
    "q3": {"a": 1},
}


def made(seed: int, queries: int = 12, items: int = 10, flips: float = 0.3) -> tuple[Given, Given]:
    """Two judges who give the same grade but for some flips."""
    generator = np.random.default_rng(seed)
    first = generator.integers(0, 3, (queries, items))
    other = np.where(
        generator.random(first.shape) < flips, generator.integers(0, 3, first.shape), first
    )

    def lists(grades: Any) -> Given:
        return {
            f"q{query}": {f"d{item}": float(grade) for item, grade in enumerate(row)}
            for query, row in enumerate(grades)
        }

    return lists(first), lists(other)


def flat(first: Given, second: Given) -> tuple[Floats, Floats]:
    both = [(grade, second[q][i]) for q, own in first.items() for i, grade in own.items()]
    return np.array(both, float).T


def test_the_numbers_by_hand() -> None:
    found = judged.agreement({"ann": ANN, "bob": BOB})
    pair = found.pair()
    assert (pair.items, pair.queries, pair.only_first, pair.only_second) == (10, 2, 1, 2)
    assert pair.grades == (0.0, 1.0, 2.0)
    assert pair.counts == ((4, 0, 0), (1, 2, 0), (1, 1, 1))
    # 7 of 10 the same; chance: (4·6 + 3·3 + 3·1)/100.
    assert found.agreement.estimate == 0.7
    assert pair.chance == pytest.approx(0.36)
    assert found.kappa.estimate == pytest.approx((0.7 - 0.36) / (1 - 0.36))
    # Relevant to ann 6, to bob 4, to both 4.
    assert pair.first_relevant.estimate == 0.6
    assert pair.second_relevant.estimate == 0.4
    assert pair.overlap.estimate == pytest.approx(4 / 6)
    assert pair.difference.estimate == pytest.approx(-0.4)  # (1 + 2 + 1)/10 lower


def test_the_interval_is_a_bootstrap_of_queries() -> None:
    first, second = made(2)
    found = judged.agreement(first, second, resamples=999, seed=4, level=0.9)
    one, other = flat(first, second)
    # Queries are drawn in the order of their names: q0, q1, q10, q11, q2, …
    query = np.repeat(np.argsort(np.argsort(list(first))), 10)
    sample = kappa_sample(one, other, query)
    alone = bootstrap([(sample,)], levels=(0.9,), resamples=999, seed=4)
    assert (found.kappa.low, found.kappa.high) == (alone.low[0, 0], alone.high[0, 0])
    again = judged.agreement(first, second, resamples=999, seed=4, level=0.9)
    assert again.to_dict() == found.to_dict()
    other_seed = judged.agreement(first, second, resamples=999, seed=5, level=0.9)
    assert other_seed.kappa.low != found.kappa.low


def test_every_way_in_gives_the_same(tmp_path: Path) -> None:
    first, second = made(3)
    wanted = judged.agreement({"one": first, "two": second}, resamples=999).to_dict()

    def rows(given: Given) -> list[dict[str, Any]]:
        names = ("query", "item", "grade")
        return [
            dict(zip(names, row, strict=True)) for row in rows_of(judged.read_judgements(given))
        ]

    for name, given in (("one", first), ("two", second)):
        lines = ["{query} 0 {item} {grade:g}\n".format_map(row) for row in rows(given)]
        (tmp_path / f"{name}.qrels").write_text("".join(reversed(lines)))
    shuffled = pd.DataFrame(rows(second)).sample(frac=1, random_state=0)
    files = [tmp_path / "one.qrels", tmp_path / "two.qrels"]
    for given in (
        {"one": pl.DataFrame(rows(first)), "two": shuffled},
        {"one": rows(first), "two": judged.read_judgements(second)},
    ):
        assert judged.agreement(given, resamples=999).to_dict() == wanted
    for found in (judged.agreement(files, resamples=999), judged.agreement(*files, resamples=999)):
        of_files = found.to_dict()
        assert {**of_files, "differences": []} == {**wanted, "differences": []}
        key = itemgetter("query", "item")
        assert sorted(of_files["differences"], key=key) == sorted(wanted["differences"], key=key)
    named = judged.agreement([f"A={files[0]}", f"B={files[1]}"], resamples=999)
    assert named.assessors == ("A", "B")


def test_what_is_said_of_two() -> None:
    first, lower = made(4)
    for at in range(12):
        lower[f"q{at}"] |= dict.fromkeys(("d0", "d1", "d2"), 0.0)
    found = judged.agreement({"ann": first, "bob": lower}, resamples=999)
    alike, stricter, relevant = found.sentences()[:3]
    pair = found.pair()
    agreed, kappa, gap = pair.agreement, pair.kappa, pair.difference
    assert alike == (
        f"ann and bob gave the same grade to {agreed.estimate:.1%}"[:-1]
        + f" % ({100 * agreed.low:.1f} to {100 * agreed.high:.1f}) of the 120 items that both "
        f"judged. Chance alone would give {100 * pair.chance:.1f} %, so Cohen's kappa is "
        f"{kappa.estimate:.3f} ({kappa.low:.3f} to {kappa.high:.3f})."
    )
    assert pair.stricter == "bob"
    assert stricter == (
        f"bob is stricter: the grades are {-gap.estimate:.3f} lower than those of ann on average "
        f"({-gap.high:.3f} to {-gap.low:.3f})."
    )
    assert "% of these items are relevant to ann and " in relevant
    swapped = judged.agreement({"bob": lower, "ann": first}, resamples=999)
    assert swapped.pair().stricter == "bob"
    assert swapped.pair().difference.estimate == -gap.estimate


def test_nobody_is_called_stricter_by_few_queries() -> None:
    every = {f"q{q}": {"a": 1.0, "b": 1.0} for q in range(10)}
    lower = {f"q{q}": {"a": 0.0, "b": float(q % 2)} for q in range(10)}
    for number in (9, 10):
        ann, bob = ({q: own[q] for q in list(own)[:number]} for own in (every, lower))
        found = judged.agreement({"ann": ann, "bob": bob}, resamples=999)
        assert found.pair().stricter == (None if number < 10 else "bob")
    few = judged.agreement({"ann": ann, "bob": {"q0": lower["q0"]}}, resamples=999)
    assert (
        "1 query is too few to tell which assessor is stricter (10 are needed): the mean grade of "
        "bob minus ann is -1.000." in few.sentences()
    )


def test_kappa_without_variation_is_undefined() -> None:
    same: Given = {f"q{query}": {"a": 0, "b": 0} for query in range(12)}
    found = judged.agreement({"ann": same, "bob": same})
    why = "ann and bob gave the same grade (0) to all 24 items, so chance agreement is 100 %"
    for each in (*found.pair().kappas.values(), *found.alphas.values()):
        assert math.isnan(each.estimate)
        assert (each.known, each.note) == (False, why)
    said = found.sentences()
    assert said[0] == (
        "ann and bob gave the same grade to 100.0 % of the 24 items that both judged. Cohen's "
        f"kappa is undefined: {why}."
    )
    assert said[1] == "ann and bob give the same grades on average."
    assert said[2] == (
        "0.0 % of these items are relevant to ann and 0.0 % to bob (grade 1 or higher)."
    )
    assert said[3] == (
        "The overlap of the relevant is undefined: neither ann nor bob found anything relevant."
    )
    plain = found.to_dict()["pairs"][0]["kappa"]["plain"]
    assert (plain["estimate"], plain["low"], plain["note"]) == (None, None, why)


def test_one_query_has_no_interval() -> None:
    found = judged.agreement({"q": {"a": 1, "b": 0}}, {"q": {"a": 1, "b": 1}})
    assert found.kappa.estimate == 0.0
    assert found.kappa.note == "one query is not enough to estimate the variation between queries"
    assert found.warnings()[0] == (
        "Only one query has items judged by both, so there is no confidence interval: first and "
        "second."
    )


def test_few_queries_are_warned_of() -> None:
    found = judged.agreement(*made(8, queries=9), resamples=999)
    assert found.kappa.known
    assert found.warnings() == [
        "Fewer than 10 queries have items judged by both, so confidence intervals are too narrow: "
        "first and second."
    ]
    assert judged.agreement(*made(8, queries=10), resamples=999).warnings() == []


def test_a_negative_grade_is_no_judgement() -> None:
    first, second = made(10)
    first["q0"]["d0"] = -1
    first["q1"] = {"d0": -2}
    found = judged.agreement(first, second, {"x": {"q0": ["d1"], "q1": ["d0"]}}, resamples=999)
    assert found.pair().items == 120 - 1 - 10
    assert found.pair().only_second == 11
    assert found.warnings()[0] == (
        "first: 2 grades are negative and ignored; a negative grade means in the pool, but not "
        "judged."
    )
    assert found.to_dict()["assessors"][0] == {
        "name": "first",
        "judged": 109,
        "queries": 11,
        "alone": 0,
        "negative": 2,
    }
    assert found.boards is not None
    assert found.boards.queries == 11  # nobody judged q1 but the second


def test_scales_that_differ_are_warned_of() -> None:
    first, _ = made(11)
    binary = {q: {i: min(g, 1.0) for i, g in own.items()} for q, own in first.items()}
    [warning] = judged.agreement({"ann": first, "bob": binary}, resamples=999).warnings()
    assert warning == (
        "ann gave the grades 0, 1 and 2, and bob the grades 0 and 1. If their scales differ, map "
        "one to the other first."
    )
    scores = {q: {i: 7.5 + g for i, g in own.items()} for q, own in first.items()}
    assert judged.agreement({"ann": first, "run": scores}, resamples=999).warnings() == [
        "ann gave the grades 0, 1 and 2, and run the grades 7.5, 8.5 and 9.5: no grade in common. "
        "Is one of them a run, or on another scale?",
        "run found everything relevant. If the judgements list only relevant items, agreement on "
        "the shared items says little.",
    ]


def test_differences_are_listed_the_largest_first() -> None:
    found = judged.agreement({"ann": ANN, "bob": BOB})
    assert found.differences.columns == ["query", "item", "grade of ann", "grade of bob"]
    assert found.differences.rows() == [
        ("q2", "e", 2.0, 0.0),
        ("q1", "e", 1.0, 0.0),
        ("q2", "d", 2.0, 1.0),
    ]
    assert found.to_dict()["differences"][0] == {
        "query": "q2",
        "item": "e",
        "grades": {"ann": 2.0, "bob": 0.0},
    }


def test_judgements_by_subtopic() -> None:
    first = {"q": {"a": {"1": 1, "2": 0}, "b": {"1": 0}}}
    second = {"q": {"a": {"1": 1, "2": 1}, "b": {"1": 0}}}
    found = judged.agreement(first, second)
    assert found.pair().items == 3
    assert found.agreement.estimate == pytest.approx(2 / 3)
    assert "of the 3 items by subtopic that both judged" in found.sentences()[1]
    assert found.differences.rows() == [("q", "a", "2", 0.0, 1.0)]
    assert error_of(judged.agreement, first, {"q": {"a": 1}}) == (
        "first judged by subtopic, and second did not, so their grades cannot be compared. Give "
        "all of them by subtopic, or none."
    )


def test_a_measure_with_another_lowest_relevant_grade_is_warned_of() -> None:
    own = {"q": {"a": 2, "b": 0}, "r": {"a": 0, "b": 1}}
    runs = {"q": ["a", "b"], "r": ["a", "b"]}
    judges = {"ann": own, "bob": own}
    said = (
        "Items are relevant from grade 2 here, but from grade 1 in RR. Set the grade of a measure "
        "as in P(rel=2)@10."
    )
    asked = {"runs": runs, "resamples": 999, "rel": 2}
    assert said in judged.agreement(judges, measures="RR, nDCG@2", **asked).warnings()
    for measure in ("RR(rel=2)", "nDCG@2"):
        found = judged.agreement(judges, measures=measure, **asked)
        assert not any("Set the grade of a measure" in text for text in found.warnings())


def test_a_difference_without_spread_shows_the_stricter_judge() -> None:
    """From ten queries on; with equal grades neither judge is stricter."""
    high = {f"q{at}": {"a": 2, "b": 2, "c": 1} for at in range(10)}
    low = {query: {item: grade - 1 for item, grade in own.items()} for query, own in high.items()}
    for one, other, stricter in ((high, low, "two"), (low, high, "one"), (low, low, None)):
        pair = judged.agreement({"one": one, "two": other}).pair()
        assert pair.stricter == stricter
    found = judged.agreement({"one": high, "two": low})
    assert (
        "two is stricter: the grades are 1.000 lower than those of one on average (the same on all "
        "queries)."
    ) in found.sentences()
    fewer = {query: high[query] for query in list(high)[:9]}
    assert judged.agreement({"one": fewer, "two": low}).pair().stricter is None


def test_every_format_begins_with_the_sentences_and_has_kappa() -> None:
    found = judged.agreement(*made(6), resamples=999)
    for text in (found.to_text(), found.to_text(quiet=True), found.to_markdown()):
        assert text.startswith(found.sentences()[0])
        assert "kappa" in text
    assert found.to_html().startswith("<p><b>first and second gave the same grade to")
    assert "kappa" in found.to_dict()["pairs"][0]
    assert {"agreement", "kappa_plain"} <= set(found.to_frame()["number"])
    gap = found.pair().difference
    assert found.pair().stricter is None
    assert found.sentences()[1] == (
        "Neither is significantly stricter: the mean grade of second minus first is "
        f"{gap.estimate:+.3f} ({gap.low:+.3f} to {gap.high:+.3f})."
    )


def test_numbers_without_an_interval() -> None:
    same: Given = {f"q{query}": {"a": 0, "b": 0} for query in range(12)}
    other: Given = {f"q{query}": {"a": 0, "b": query % 2} for query in range(12)}
    found = judged.agreement(same, other)  # 0 in every resample, not undefined
    assert (found.kappa.estimate, found.kappa.note) == (0, UNSPREAD)
    first, second = made(9)
    found = judged.agreement(first, first)
    assert (found.agreement.estimate, found.kappa.estimate) == (1.0, 1.0)
    assert {found.agreement.note, found.kappa.note} == {UNSPREAD}
    found = judged.agreement(first, second, level=0.9999, resamples=999)
    assert found.kappa.note == UNBOUNDED
    assert f"No confidence interval of any number: {UNBOUNDED}." in found.sentences()


def three(seed: int = 0) -> dict[str, dict[str, dict[str, float]]]:
    """Three judges, each of whom left out a quarter of the items."""
    generator = np.random.default_rng(seed)
    true = generator.integers(0, 4, (12, 10))
    found: dict[str, dict[str, dict[str, float]]] = {}
    for judge in ("ann", "bob", "carl"):
        own = np.where(
            generator.random(true.shape) < 0.3, generator.integers(0, 4, true.shape), true
        )
        there = generator.random(true.shape) < 0.75
        found[judge] = {
            f"q{query}": {
                f"d{item}": float(own[query, item]) for item in range(10) if there[query, item]
            }
            for query in range(12)
        }
    return found


@for_each("metric", ["nominal", "ordinal", "interval"])
def test_alpha_of_all_is_that_of_krippendorff(metric: str) -> None:
    judges = three()
    found = judged.agreement(judges, resamples=999)
    places = [(f"q{query}", f"d{item}") for query in range(12) for item in range(10)]
    table = [[own.get(q, {}).get(i, np.nan) for q, i in places] for own in judges.values()]
    wanted = krippendorff.alpha(reliability_data=np.array(table), level_of_measurement=metric)
    each = found.alphas[metric]
    assert each.estimate == pytest.approx(wanted)
    assert each.low < each.estimate < each.high


def test_every_pair_is_as_if_it_were_alone() -> None:
    judges = three()
    found = judged.agreement(judges, resamples=999)
    assert [(pair.first, pair.second) for pair in found.pairs] == [
        ("ann", "bob"),
        ("ann", "carl"),
        ("bob", "carl"),
    ]
    alone = judged.agreement({name: judges[name] for name in ("ann", "carl")}, resamples=999)
    assert found.pair("carl", "ann").to_dict() == alone.pair().to_dict()


def test_what_is_said_of_several() -> None:
    found = judged.agreement(three(), resamples=999)
    alpha = found.alphas["nominal"]
    items = int((found.grades.times > 1).sum())
    assert found.sentences()[0].startswith(
        f"3 assessors, {items} items judged by two or more: Krippendorff's alpha is nominal "
        f"{alpha.estimate:.3f} ({alpha.low:.3f} to {alpha.high:.3f}), ordinal "
    )
    assert found.tables()[1].header == [
        *("assessors", "items", "agreement", "kappa", "linear", "quadratic", "stricter")
    ]
    frame = found.to_frame()
    assert frame.filter(frame["first"].is_null())["number"].to_list() == [
        *("alpha_nominal", "alpha_ordinal", "alpha_interval")
    ]


def test_numbers_of_two_ask_which_two() -> None:
    found = judged.agreement(three(), resamples=999)
    for ask in (lambda: found.kappa, lambda: found.pair("ann"), lambda: found.pair("bob", "bob")):
        assert error_of(ask) == (
            "name two of the assessors: ann and bob, ann and carl, bob and carl."
        )
    assert (
        error_of(found.pair, "dora")
        == "unknown assessor 'dora'; the assessors are ann, bob and carl."
    )


def test_two_of_three_who_share_nothing() -> None:
    judges = {
        "ann": {"q": {"a": 1, "b": 0}, "r": {"a": 1}},
        "bob": {"q": {"a": 1}},
        "carl": {"q": {"b": 1}, "r": {"a": 1}},
    }
    found = judged.agreement(judges)
    pair = found.pair("bob", "carl")
    assert (pair.items, pair.queries, pair.kappa.note) == (0, 0, "no item was judged by both")
    assert found.warnings()[0] == "No item was judged by both: bob and carl."
    assert found.to_json()


def test_sets_of_relevant_items_by_judge() -> None:
    found = judged.agreement({"ann": {"q": {"a", "b"}}, "bob": {"q": {"b"}}})
    assert found.assessors == ("ann", "bob")
    assert found.pair().items == 1


@for_each(
    "first, second, message",
    [
        (
            {"q": {"a": 1}},
            {"q": {"b": 1}},
            "no item was judged by two of first and second: first judged 1 item, such as 'a' for "
            "query 'q'; second judged 1 item, such as 'b' for query 'q'. They have no item in "
            "common.",
        ),
        (
            {"001": {"a": 1}},
            {"1": {"a": 1}},
            "no item was judged by two of first and second: first judged 1 item, such as 'a' for "
            "query '001'; second judged 1 item, such as 'a' for query '1'. They would agree with "
            "the query ids of first without leading zeros: ids are compared as exact texts.",
        ),
        (
            {"q": {"a": -1}},
            {"q": {"a": 1}},
            "no item was judged by two of first and second: first judged nothing (a negative grade "
            "means in the pool, but not judged); second judged 1 item, such as 'a' for query 'q'.",
        ),
        (
            {"q": {"a": 1}, "r": {"a": 0}},
            None,
            "agreement needs two or more assessors: give {name: judgements}, or a list of files; "
            "got only the judgements of one.",
        ),
        ({"ann": {"q": {"a": 1}}}, None, "agreement needs two or more assessors; got 1."),
        (
            ["A=ann.qrels", "A=bob.qrels"],
            None,
            "two assessors have the name 'A'; give each its own name.",
        ),
        (
            {"q": {str(at): at for at in range(80)}},
            {"q": {str(at): at + 0.5 for at in range(80)}},
            "first and second gave 160 different grades, but a scale has at most 101. Round them "
            "first, for example to whole numbers.",
        ),
        (
            {"q": {"a": 1e300}},
            {"q": {"a": 0}},
            "first and second gave a grade of 1e+300; grades may be at most 9,007,199,254,740,992.",
        ),
    ],
)
def test_what_is_refused(first: Any, second: Any, message: str) -> None:
    assert error_of(judged.agreement, first, second) == message


def test_columns_of_documents_are_refused() -> None:
    own = {"q": {"a": 1, "b": 0}}
    for options in ({"columns": {"document": "doc"}}, {"item_to": "column:doc"}):
        assert error_of(judged.agreement, own, own, **options) == (
            "agreement takes no column of documents; give the document of an item by item_to "
            "as doc:SEPARATOR, pattern:REGEX or table:FILE."
        )


@for_each(
    "options, named",
    [
        ({"measures": "P@5"}, "measures"),
        ({"measures": ["nDCG@10"]}, "measures"),
        ({"policy": {"ties": "best"}}, "policy"),
        ({"exclude_same_id": True}, "exclude_same_id"),
        ({"weights": {"q": 1}}, "weights"),
    ],
)
def test_what_is_for_runs_is_refused_without_runs(options: dict[str, Any], named: str) -> None:
    own = {"q": {"a": 1, "b": 0}}
    assert error_of(judged.agreement, {"ann": own, "bob": own}, **options) == (
        f"{named} applies to runs, but none were given; give runs, or leave it out."
    )
