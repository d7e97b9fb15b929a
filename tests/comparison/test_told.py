"""What a comparison says of itself: which tests and why, and what it refuses to say."""

from __future__ import annotations

import pytest

import judged

QUERIES = "abcdefgh"


@pytest.mark.parametrize(
    ("measures", "said"),
    [
        ("P@1 F(average=means)@1", "paired t, paired bootstrap (percentile) for {} (not a mean); "),
        ("F(average=means)@1 P@1", "paired t, paired bootstrap (percentile) for {} (not a mean); "),
        ("F(average=means)@1", "paired bootstrap (percentile) for {} (not a mean); "),
    ],
)
def test_the_line_says_which_measures_are_bootstrapped_and_why(measures: str, said: str) -> None:
    judgements = {query: {"a": 1} for query in QUERIES}
    runs = {name: {query: [first, "c"] for query in QUERIES} for name, first in ("xa", "yb")}
    found = judged.compare(judgements, runs, measures.split())
    [line] = [text for text in found.sentences() if text.startswith("Test: ")]
    assert line.startswith(f"Test: {said.format('F(average=means)@1')}")


def test_infinite_values_are_refused_with_what_can_be_compared() -> None:
    judgements = {query: {"a": 1} for query in QUERIES}
    runs = {"x": {query: ["a"] for query in QUERIES}, "y": {query: ["b"] for query in "a"}}
    runs["y"] |= {query: ["b", "a"] for query in QUERIES[1:]}
    with (
        pytest.warns(judged.JudgedWarning, match="Rank is infinite"),
        pytest.raises(judged.MeasureError) as refused,
    ):
        judged.compare(judgements, runs, "Rank")
    assert str(refused.value) == (
        "Rank is infinite for 1 query (a), so its mean is infinite too; compare its "
        "median (Rank(aggregate=median)), compare RR, or use the test sign, which "
        "counts only wins and losses."
    )
    one = dict.fromkeys(QUERIES, 1.0)
    with pytest.raises(judged.MeasureError) as refused:
        judged.compare_values({"x": one, "y": one | {"b": float("inf")}})
    assert str(refused.value) == (
        "value is infinite for 1 query (b), so its mean is infinite too; leave these "
        "queries out of all runs, or use the test sign, which counts only wins and "
        "losses."
    )


def test_no_sentence_promises_what_its_own_row_denies() -> None:
    """A difference that would count alone is larger than what is called detectable, which is alone
    too; and tests of ranks would not have shown it."""
    queries = [f"q{number}" for number in range(10)]
    steps = {query: 0.1 * number for number, query in enumerate(queries)}
    values = {"a": steps, "b": {q: v + (0.02, 0.05)[v > 0.4] for q, v in steps.items()}}
    values["c"] = {query: 1 - value for query, value in steps.items()}
    row = judged.compare_values(values, correction="tukey").pair("b", "a")
    assert row.detectable is not None
    assert row.detectable < row.difference
    assert row.says == (
        "value: no significant difference between b and a. It is significant on its "
        "own, but not among 3 comparisons."
    )
    shuffled = {query: steps[query] + (-0.03, 0.04)[n % 2] for n, query in enumerate(queries)}
    for test in ("wilcoxon", "sign"):
        found = judged.compare_values({"a": steps, "b": shuffled}, test=test)
        assert found.pair().says == "value: no significant difference between b and a."


def test_a_margin_that_nothing_can_reach_is_refused() -> None:
    """As one in percent, by which all runs would be equivalent."""
    better = {"old": dict.fromkeys(QUERIES, 0.5), "new": dict.fromkeys(QUERIES, 0.6) | {"a": 0.55}}
    for margin in (1, {"AP": 5}):
        with pytest.raises(judged.InputError) as refused:
            judged.compare_values(better, measure_name="AP", margin=margin)
        size = margin if isinstance(margin, int) else margin["AP"]
        assert str(refused.value) == (
            "the margin of AP must be smaller than 1, the largest possible difference; got "
            f"{size}. "
            "Margins are in the measure's own unit, even if numbers are shown in percent."
        )
    assert judged.compare_values(better, measure_name="AP", margin=0.99).pair().negligible
    rank = {"a": dict.fromkeys(QUERIES, 2.0), "b": dict.fromkeys(QUERIES, 3.0)}
    assert judged.compare_values(rank, measure_name="Rank", margin=5).pair().verdict == "worse"


def test_counts_are_neither_good_nor_bad() -> None:
    judgements = {f"q{n}": {"a": 1} for n in range(8)}
    runs = {
        "short": {query: ["a"] for query in judgements},
        "long": {q: ["a", *("bcd"[: 1 + n % 3])] for n, q in enumerate(judgements)},
    }
    found = judged.compare(judgements, runs, ["NumRet", "RR"])
    assert (
        "NumRet counts or describes results, which is neither good nor bad. Here, better means "
        "higher and worse means lower."
    ) in found.warnings()
    assert found.pair(measure="NumRet").verdict == "better"
    assert "NumRet" not in " ".join(judged.compare(judgements, runs, "RR").warnings())
