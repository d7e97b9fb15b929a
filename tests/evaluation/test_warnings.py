"""A warning is seen by everyone: in the text, the JSON, the page, on stderr and by Python code."""

from __future__ import annotations

import json
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


def test_is_in_every_form_that_has_room_for_words(run):
    found = judged.evaluate(QRELS, run, "RR")
    assert json.loads(found.to_json())["warnings"] == [SAID]
    assert f"warning: {SAID}" in found.to_text()
    assert f"Warning: {SAID}" in found.to_markdown()
    assert f"% warning: {SAID}" in found.to_latex()
    assert f"warning: {SAID}" in found.to_html()


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


@pytest.mark.parametrize(
    "command",
    [
        ("explain", "-m", "RR", "--query", "q"),
        ("identify", "0.5"),
        ("conventions", "-m", "RR@10"),
    ],
)
def test_other_commands_say_it_in_text_and_json_too(tmp_path, command):
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "run.tsv").write_text("q\tb\t0.9\nq\ta\t0.5\n")
    name, *more = command
    value = [more.pop(0)] if name == "identify" else []
    arguments = [name, *value, str(tmp_path / "qrels"), str(tmp_path / "run.tsv"), *more]
    text = CliRunner().invoke(cli, arguments)
    assert "warning: There is no header" in text.stderr
    assert "warning: " not in text.stdout
    data = CliRunner().invoke(cli, [*arguments, "--format", "json"])
    assert data.stderr.startswith("warning: There is no header")
    [said] = json.loads(data.stdout)["warnings"]
    assert said.startswith("There is no header")


def test_a_sweep_says_it_first(tmp_path):
    vectors = [[1.0, 0.1 * at] for at in range(9)]
    labels = judged.relevance.same_label([0, 1, 2] * 3, [0, 1, 2] * 3)
    found = judged.temperature.sweep(judged.Embeddings(vectors, vectors), labels, [0.1])
    [said] = found.warnings()
    assert "find themselves first" in said
    assert found.sentences()[0] == f"warning: {said}"
    assert said not in found.sentences()


def test_a_missing_query_that_is_left_out_is_given_no_value() -> None:
    judgements = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {}}
    run = {"q1": ["a"], "q2": ["b"]}
    skipped = judged.evaluate(judgements, run, "RR", policy={"missing": "skip"})
    assert skipped.warnings() == ["1 of 3 judged queries not in the run (q3), left out."]
    two = {"one": run, "two": {**run, "q3": ["x"]}}
    [lost, empty] = judged.evaluate(judgements, two, "RR", policy={"missing": "skip"}).warnings()
    assert lost == "one: 1 of 3 judged queries not in the run (q3), left out."
    assert empty.startswith("1 of 3 judged queries with nothing relevant (q3)")
