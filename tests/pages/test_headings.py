"""Headings that say what came out, by what the comparison says."""

from __future__ import annotations

import judged
from judged.text import Bold
from judged.web.pages.pairs import leading, verdict_heading

JUDGEMENTS = {str(q): {"a": 1} for q in range(12)}
FIRST = {str(q): ["a"] for q in range(12)}
SECOND = {str(q): ["b", "a"] if q % 4 else ["a"] for q in range(12)}
THIRD = {str(q): ["b", "c", "d", "a"] if q % 5 else ["b", "a"] for q in range(12)}
UNLIKE = {str(q): ["b", "a"] if q in (1, 5, 9) else ["a", "c"] for q in range(12)}


def test_a_lead_that_is_shown() -> None:
    runs = {"third": THIRD, "second": SECOND, "first": FIRST}
    found = judged.evaluate(JUDGEMENTS, runs, "RR").showing(intervals=True)
    heading = leading(found, found.compare(), "RR")
    # RR: 1; (9 · 0.5 + 3 · 1) / 12 = 0.625; (9 · 0.25 + 3 · 0.5) / 12 = 0.3125.
    assert heading.title == "first leads on RR"
    assert heading.line == (
        "With 1.000 it is 0.375 ahead of second (95 % CI 0.231 to 0.519, 12 queries)."
    )
    assert [part for part in heading.parts if isinstance(part, Bold)] == ["1.000", "0.375"]


def test_a_lead_that_is_not_shown() -> None:
    runs = {"a": FIRST, "b": FIRST, "c": UNLIKE, "d": THIRD}
    found = judged.evaluate(JUDGEMENTS, runs, "RR").showing(intervals=True)
    heading = leading(found, found.compare(), "RR")
    assert heading.title == "a is first on RR, not significantly better than b and c"
    assert heading.line == (
        "With 1.000 it is 0.000 ahead of b (no confidence interval: no query differs, 12 queries). "
        "Ranks 1 to 3 do not differ significantly."
    )


def test_two_that_are_the_same() -> None:
    found = judged.evaluate(JUDGEMENTS, {"a": FIRST, "b": FIRST}, "RR").showing(intervals=True)
    heading = leading(found, found.compare(), "RR")
    assert heading.title == "a and b have the same values on RR"
    assert heading.line == "Both have 1.000, and the same value on all 12 queries."


def test_nothing_compared() -> None:
    found = judged.evaluate(JUDGEMENTS, {"a": SECOND, "b": THIRD}, "RR, Rank").showing(
        intervals=True
    )
    assert leading(found, None, "RR").title == "a has the highest RR"
    assert leading(found, None, "Rank").title == "a has the lowest Rank"
    alone = judged.evaluate(JUDGEMENTS, {"a": SECOND}, "RR").showing(intervals=True)
    heading = leading(alone, None, "RR")
    assert heading.title == "a has 0.625 on RR"
    assert heading.line == "95 % CI 0.481 to 0.769, 12 queries."


def test_the_first_by_value_may_be_behind_on_the_queries_of_both() -> None:
    # "part" has the easy half alone: RR 0.5 to 1, 0.75 on average. "whole" has 1 on these, and 1/6
    # on the others: 0.58 on its own, and 0.25 ahead where both have a list.
    half = {str(q): ["b", "a"] if q % 2 else ["a"] for q in range(20)}
    hard = {str(q): [*"bcdef", "a"] for q in range(20, 40)}
    whole = {str(q): ["a"] for q in range(20)} | hard
    judgements = {str(q): {"a": 1} for q in range(40)}
    found = judged.evaluate(
        judgements, {"part": half, "whole": whole}, "RR, MedR", policy={"missing": "skip"}
    )
    compared = found.compare()
    assert compared.pair("whole", "part", "RR").difference == 0.25
    heading = leading(found, compared, "RR")
    assert heading.title == "whole leads on RR"
    assert heading.line == (
        "With 0.583 it is 0.250 ahead of part (95 % CI 0.130 to 0.370, 20 queries)."
    )
    heading = leading(found, compared, "MedR")
    assert heading.title == "part has the lowest MedR, on other queries than whole"
    assert heading.line.startswith("With 1.500 it is first; on the queries of both whole is 0.500 ")


def test_two_without_a_query_in_common() -> None:
    judgements = {str(q): {"a": 1} for q in range(8)}
    runs = {
        "low": {str(q): ["a"] for q in range(4)},
        "up": {str(q): ["b", "a"] for q in range(4, 8)},
    }
    found = judged.evaluate(judgements, runs, "RR", policy={"missing": "skip"})
    heading = leading(found, found.compare(), "RR")
    assert heading.title == "low has the highest RR"
    assert heading.line == (
        "With 1.000; it has no query in common with up. Ranks 1 to 2 do not differ significantly."
    )


def test_an_interval_around_no_lead_has_the_sign_of_the_lead() -> None:
    # Both have the median rank 1; "b" has more lists in which the item stands third.
    judgements = {str(q): {"a": 1} for q in range(30)}
    better, worse = (
        {str(q): ["b", "c", "a"] if q < third else ["a"] for q in range(30)} for third in (2, 14)
    )

    def line(**runs: dict[str, list[str]]) -> str:
        found = judged.evaluate(judgements, runs, "MedR")
        return leading(found, found.compare(), "MedR").line.partition(", ")[0]

    assert line(a=better, b=worse) == "With 1.000 it is 0.000 ahead of b (95 % CI 0.000 to 2.000"
    assert line(b=worse, a=better) == "With 1.000 it is 0.000 ahead of a (95 % CI −2.000 to 0.000"


def test_no_system_leads_where_all_are_infinite() -> None:
    lost = {str(q): ["b"] for q in range(12)}
    found = judged.evaluate(JUDGEMENTS, {"a": lost, "b": lost}, "Rank")
    heading = leading(found, None, "Rank")
    assert heading.title == "No system has a finite Rank"
    assert heading.line == "12 queries."


def test_each_verdict_has_its_heading() -> None:
    def title(one: object, other: object, **settings: object) -> str:
        runs = {"old": one, "new": other}
        found = judged.compare(JUDGEMENTS, runs, "RR", **settings)  # type: ignore[arg-type]
        return verdict_heading(found.pair(), found.settings).title

    assert title(THIRD, FIRST) == "new is significantly better than old on RR"
    assert title(FIRST, THIRD) == "new is significantly worse than old on RR"
    assert title(FIRST, FIRST) == "new and old have the same values on RR"
    assert title(FIRST, UNLIKE) == "Too few queries differ to compare new with old on RR"
    mixed = {str(q): ["b", "a"] if q % 2 else ["a"] for q in range(12)}
    other = {str(q): ["a"] if q % 2 else ["b", "a"] for q in range(12)}
    assert title(mixed, other) == "No significant difference between new and old on RR"
    assert title(mixed, other, margin=0.9) == "new and old differ by less than 0.9 on RR"


def test_what_could_have_been_shown_is_said_where_nothing_was() -> None:
    mixed = {str(q): ["b", "a"] if q % 2 else ["a"] for q in range(12)}
    other = {str(q): ["a"] if q % 2 else ["b", "a"] for q in range(12)}
    found = judged.compare(JUDGEMENTS, {"old": mixed, "new": other}, "RR")
    assert verdict_heading(found.pair(), found.settings).line == (
        "The difference is 0.000 (95 % CI −0.332 to +0.332, 12 queries). "
        "A true difference of 0.464 would be detected with 80 % power."
    )


def test_long_names_are_cut() -> None:
    long = "w" * 200
    found = judged.evaluate(JUDGEMENTS, {long: FIRST, "third": THIRD}, "RR").showing(intervals=True)
    heading = leading(found, found.compare(), "RR")
    assert heading.title == f"{'w' * 33}… leads on RR"
    compared = found.compare(baseline="third")
    title = verdict_heading(compared.pair(), compared.settings).title
    assert title == f"{'w' * 33}… is significantly better than third on RR"
