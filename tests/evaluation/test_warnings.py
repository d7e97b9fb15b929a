"""A warning is seen by everyone: in the text, the JSON, the page, on stderr and by Python code."""

from __future__ import annotations

import warnings

import pytest
from click.testing import CliRunner

import judged
from judged.cli import cli
from judged.inputs import read_run
from judged.text import Warned

QRELS = {"q": {"a": 1}}
SAID = "Ranks were guessed."


@pytest.fixture
def run():
    from dataclasses import replace

    return replace(read_run({"q": ["b", "a"]}), notes=(Warned(SAID), "A small repair."))


def test_stands_first_and_apart_from_the_notes(run):
    found = judged.evaluate(QRELS, run, "RR")
    assert found.warnings() == [SAID]
    assert found.sentences()[0] == f"warning: {SAID}"
    assert "note: A small repair." in found.sentences()
    assert f"note: {SAID}" not in found.sentences()
    assert found.scored().audit.sentences()[0] == SAID


def test_names_the_runs_it_is_about(run):
    found = judged.evaluate(QRELS, {"first": run, "second": {"q": ["a"]}}, "RR")
    assert found.warnings() == [f"first: {SAID}"]


def test_reaches_code_that_never_prints_a_result(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        judged.evaluate(QRELS, run, "RR").value()
    assert [(str(each.message), each.category) for each in caught] == [(SAID, judged.JudgedWarning)]
    assert caught[0].filename == __file__


def test_goes_to_stderr_where_stdout_carries_data(tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "run.tsv").write_text("q\tb\t1\nq\ta\t2\n")
    files = [str(tmp_path / "qrels"), str(tmp_path / "run.tsv")]
    text = CliRunner().invoke(cli, ["evaluate", *files, "-m", "RR"])
    assert "warning: " not in text.stdout
    assert text.stderr.startswith("warning: ")
    data = CliRunner().invoke(cli, ["evaluate", *files, "-m", "RR", "--format", "csv"])
    assert data.stdout.splitlines()[2].startswith("# warning: ")
    assert data.stderr == text.stderr
    quiet = CliRunner().invoke(cli, ["evaluate", *files, "-m", "RR", "--format", "csv", "-q"])
    assert (quiet.stdout, quiet.stderr) == ("run,RR\nrun,0.5\n", "")


def test_a_missing_query_that_is_left_out_is_given_no_value() -> None:
    judgements = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {}}
    run = {"q1": ["a"], "q2": ["b"]}
    skipped = judged.evaluate(judgements, run, "RR", policy={"missing": "skip"})
    assert skipped.warnings() == [
        "The run has no results for 1 of 3 judged queries (q3), which are left out of the means."
    ]
    two = {"one": run, "two": {**run, "q3": ["x"]}}
    [lost, empty] = judged.evaluate(judgements, two, "RR", policy={"missing": "skip"}).warnings()
    assert lost == f"one: {skipped.warnings()[0]}"
    assert empty.startswith("No items are relevant for 1 of 3 judged queries (q3)")


def _lists(
    lengths: list[int], relevant: int
) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    judgements = {f"q{n}": {f"d{at}": 1 for at in range(relevant)} for n in range(len(lengths))}
    run = {f"q{n}": [f"d{at}" for at in range(length)] for n, length in enumerate(lengths)}
    return judgements, run


def test_the_best_list_is_no_longer_than_the_collection():
    """Of two relevant items, one other item is above, and one is tied: (0 + 0.5)/2."""
    r = judged.Rankings.from_relevance(
        [[None], [None], [None]], pool=[[0], [0], [0, 1, 1]], collection=[2, 2, 4]
    )
    with pytest.warns(judged.JudgedWarning, match="Every list ends after 1 result"):
        assert r.evaluate("RankAUC", policy={"empty": "skip"}).value() == 0.25


def test_lists_that_all_end_at_one_length_cap_measures_without_a_cutoff():
    """Two of five relevant items fit into lists of two: AP and R are 2/5 at best."""
    judgements, run = _lists([2, 2, 2], 5)
    found = judged.evaluate(judgements, run, "AP, R, P, RR, Success")
    assert (found.value("AP"), found.value("R")) == pytest.approx((0.4, 0.4))
    assert found.warnings() == [
        "Every list ends after 2 results, and 3 queries have more relevant items than that, so AP "
        "and R cannot exceed 0.4. Give longer lists, or report the depth, such as AP@2."
    ]
    # nDCG: 1 + 1/log2(3) of 1 + 1/log2(3) + 1/2 + 1/log2(5) + 1/log2(6), which is 0.553.
    (text,) = judged.evaluate(judgements, run, "nDCG").warnings()
    assert "so nDCG cannot exceed 0.55. " in text
    for lengths, relevant, measures in (
        ([2, 2], 5, "AP"),  # too few to tell
        ([2, 2, 3], 5, "AP"),
        ([2, 2, 2], 2, "AP"),
        ([2, 2, 2], 5, "P, RR, Success, Judged"),
        ([2, 2, 2], 5, "AP(norm=retrieved)"),
    ):
        assert not judged.evaluate(*_lists(lengths, relevant), measures).warnings()
    assert not judged.evaluate(judgements, run, "AP", policy={"depth": 2}).warnings()


def test_one_query_among_many_with_more_relevant_items_is_too_little_to_tell():
    judgements, run = _lists([2] * 200, 2)
    judgements["q0"] |= {"more": 1}
    assert not judged.evaluate(judgements, run, "AP").warnings()


def test_average_precision_at_a_cutoff_below_the_relevant_items():
    judgements, run = _lists([3, 4, 5], 6)
    (text,) = judged.evaluate(judgements, run, "AP@3, AP@2").warnings()
    assert text == (
        "Queries have 6 relevant items, so AP@2 cannot exceed 0.33. AP(norm=capped)@2 is divided "
        "by min(relevant, 2), AP(norm=retrieved)@2 by the relevant items found; both can reach 1."
    )
    assert judged.evaluate(judgements, run, "AP(norm=capped)@2").value() == 1
    assert judged.evaluate(judgements, run, "AP(norm=retrieved)@2").value() == 1


def test_a_measure_without_a_value_is_a_warning() -> None:
    """Everything is relevant to q, so no irrelevant item can be ranked below."""
    judgements = {"q": {"a": 1, "b": 1}, "r": {"a": 1}}
    with pytest.warns() as caught:
        judged.evaluate(judgements, {"q": ["a", "b"], "r": ["a", "b"]}, "RankAUC", collection=2)
    assert [str(one.message) for one in caught] == [
        "RankAUC has no value for 1 of 2 judged queries (q), which get the worst value: nothing is "
        "relevant, or everything is."
    ]
