"""Baseline files: what they keep, what is refused, and that a run comes back as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import judged
from judged.comparison.baseline import fingerprints
from judged.errors import InputError
from judged.inputs.tables import Judgements, Lookup
from support.errors import error_of

JUDGEMENTS = {f"q{at}": {"a": 2, "b": 1, "c": 0, "d": at % 3} for at in range(9)}
OLD = {q: {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0} for q in JUDGEMENTS}
NEW = {
    q: {"a": 4.0 - at, "b": 3.0, "c": 2.5, "d": 1.0, "x": 0.5} for at, q in enumerate(JUDGEMENTS)
}
MEASURES = [
    *("nDCG@3", "AP", "Rank(aggregate=median)", "F(average=means)@2", "RR(aggregate=geometric)"),
    *("P(aggregate=sum)@2", "Rank(of=all, aggregate=median)"),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "baseline.json"


def make(
    path: Path, measures: Any = "AP", run: Any = OLD, judgements: Any = JUDGEMENTS, **more: Any
) -> Any:
    return judged.gate(judgements, run, measures, baseline=path, **{"update": True, **more})


@pytest.mark.parametrize("rule", ["loss", "safe", "point"])
def test_a_file_says_what_the_run_itself_says(path: Path, rule: str) -> None:
    """Whatever the numbers are made of."""
    made = make(path, MEASURES)
    assert made.updated
    assert made.says() == "PASSED: nothing was compared, because there was no baseline."
    options = {"rule": rule, "max_drop": 0.01}
    by_file = judged.gate(JUDGEMENTS, NEW, baseline=path, **options).to_dict()
    by_run = judged.gate(JUDGEMENTS, NEW, MEASURES, baseline=OLD, **options).to_dict()
    assert by_file["measures"] == by_run["measures"]
    assert by_file["worst"] == by_run["worst"]
    assert judged.gate(JUDGEMENTS, OLD, baseline=path, **options).passed


def test_repeats_are_kept(path: Path) -> None:
    rng = np.random.default_rng(1)
    repeats = {
        f"r{n}": {q: {i: float(rng.normal()) for i in own} for q, own in JUDGEMENTS.items()}
        for n in range(3)
    }
    make(path, ["AP", "RR(aggregate=geometric)"], repeats)
    found = judged.gate(JUDGEMENTS, repeats, baseline=path)
    assert {row.word for row in found.rows} == {"identical"}
    again = judged.gate(JUDGEMENTS, OLD, baseline=path)
    assert again.rows[0].baseline == pytest.approx(
        np.mean([judged.evaluate(JUDGEMENTS, run, "AP").value() for run in repeats.values()])
    )


def test_weights_and_infinite_values_are_kept(path: Path) -> None:
    run = {**OLD, "q3": {"x": 1.0}}
    weights = {q: float(at) for at, q in enumerate(JUDGEMENTS)}
    make(path, "Rank(aggregate=median)", run, weights=weights)
    same = judged.gate(JUDGEMENTS, run, baseline=path, weights=weights)
    assert same.rows[0].word == "identical"
    assert same.warnings() == []
    other = judged.gate(JUDGEMENTS, run, baseline=path)
    assert other.warnings() == [
        "The weights are not those of the baseline. Both sides use today's weights."
    ]


def test_fingerprints_do_not_depend_on_what_holds_the_judgements(tmp_path: Path) -> None:
    rows = [(q, i, float(g)) for q, own in JUDGEMENTS.items() for i, g in own.items()]
    rng = np.random.default_rng(1)
    wanted = fingerprints(Lookup(JUDGEMENTS))
    for _ in range(3):
        mixed = [rows[at] for at in rng.permutation(len(rows))]
        frame = pl.DataFrame(mixed, schema=["query", "item", "grade"], orient="row")
        assert fingerprints(Judgements(frame, "a table")) == wanted
        file = tmp_path / "qrels"
        file.write_text("".join(f"{q} 0 {i} {g:g}\n" for q, i, g in mixed))
        read = judged.read_judgements(file)
        assert isinstance(read, Judgements)
        assert fingerprints(read) == wanted


@pytest.mark.parametrize(
    "other",
    [
        {"q": {"a": 1, "b": 1}},
        {"q": {"a": 1}},
        {"q": {"a": 1, "b": 0, "c": 0}},
        {"q": {"a": 0, "b": 1}},
        {"q": {"ab": 1, "": 0}},
        {"q": {"a": 1, "b": 1e-9}},
    ],
)
def test_fingerprints_see_every_change(other: dict[str, dict[str, float]]) -> None:
    assert fingerprints(Lookup(other)) != fingerprints(Lookup({"q": {"a": 1, "b": 0}}))
    assert fingerprints(Lookup({"q": {"a": 1, "b": -0.0}})) == fingerprints(
        Lookup({"q": {"b": 0, "a": True}})
    )


def test_fingerprints_of_subtopics() -> None:
    nested = {"q": {"a": {"1": 1, "2": 0}, "b": {"1": 1}}}
    frame = pl.DataFrame(
        {
            "query": ["q"] * 3,
            "item": ["b", "a", "a"],
            "subtopic": ["1", "2", "1"],
            "grade": [1.0, 0, 1],
        }
    )
    by_dict = fingerprints(Lookup(nested, by_subtopic=True))
    assert by_dict == fingerprints(Judgements(frame, "a table"))
    other = {"q": {"a": {"1": 1, "3": 0}, "b": {"1": 1}}}
    assert by_dict != fingerprints(Lookup(other, by_subtopic=True))


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"measures": ["AP", "RR"]}, "it has no RR, only AP"),
        ({"measures": "AP@5"}, "it has no AP@5, only AP"),
        ({"policy": {"ties": "best"}}, "it was made with ties='id', not ties='best'"),
        ({"policy": {"missing": "skip"}}, "it was made with missing='zero', not missing='skip'"),
        ({"policy": {"depth": 5}}, "it was made with depth=None, not depth=5"),
        ({"collection": 50}, "it was made with collection=None, not collection=50"),
    ],
)
def test_another_evaluation_is_refused(path: Path, options: dict[str, Any], what: str) -> None:
    make(path)
    assert error_of(judged.gate, JUDGEMENTS, NEW, baseline=path, **options) == (
        f"{path}: this baseline is not comparable: {what}. Use the same options as it did, or "
        "make a new one: update='force'."
    )
    before = path.read_bytes()
    with pytest.raises(InputError):
        judged.gate(JUDGEMENTS, NEW, baseline=path, update=True, **options)
    assert path.read_bytes() == before
    made = judged.gate(JUDGEMENTS, NEW, baseline=path, update="force", **options)
    assert (
        made.says()
        == f"PASSED: nothing was compared, because the baseline is not comparable ({what})."
    )
    assert judged.gate(JUDGEMENTS, NEW, baseline=path, **options).passed


def test_a_convention_is_part_of_it(path: Path) -> None:
    make(path, "map", convention="ranx")
    assert judged.gate(JUDGEMENTS, OLD, baseline=path, convention="ranx").rows[0].measure == "map"
    with pytest.raises(InputError, match=r"convention='ranx 0\.\d+\.\d+', not convention=None"):
        judged.gate(JUDGEMENTS, OLD, "AP", baseline=path)


def test_changed_judgements_are_named(path: Path) -> None:
    make(path)
    today = {q: dict(own) for q, own in JUDGEMENTS.items() if q != "q8"}
    today["q1"]["d"] = 2
    today["q0"]["z"] = 1
    today["new"] = {"a": 1}
    run = {**OLD, "new": {"b": 2.0, "a": 1.0}}
    assert error_of(judged.gate, today, run, baseline=path) == (
        f"{path}: this baseline is not comparable: its judgements are not today's; changed: "
        "2 queries (q0, q1), new: 1 query (new), removed: 1 query (q8). Compare with a run, which "
        "today's judgements score, or make a new one: update='force'."
    )
    judged.gate(today, run, baseline=path, update="force")
    assert judged.gate(today, run, baseline=path).rows[0].queries == 9


def test_a_baseline_loses_no_measure_by_an_update(path: Path) -> None:
    make(path, ["AP", "RR"])
    assert error_of(make, path, "AP") == (
        f"{path}: an update would lose RR, which this baseline has too; name all of its "
        "measures, or give update='force'."
    )
    assert judged.gate(JUDGEMENTS, OLD, "AP", baseline=path).passed
    make(path, "AP", update="force")
    assert list(json.loads(path.read_text())["measures"]) == ["AP"]


def test_a_failing_gate_updates_nothing(path: Path) -> None:
    make(path)
    before = path.read_bytes()
    failed = make(path, run=NEW)
    assert (failed.passed, failed.updated) == (False, False)
    assert path.read_bytes() == before
    assert f"The baseline {path} was not updated: the gate did not pass." in failed.sentences()
    forced = make(path, run=NEW, update="force")
    assert (forced.passed, forced.updated) == (False, True)
    assert path.read_bytes() != before


def damage(whole: dict[str, Any], **changes: Any) -> str:
    return json.dumps({**whole, **changes})


def test_what_is_no_baseline_is_refused_and_never_replaced(path: Path) -> None:
    make(path)
    whole = json.loads(path.read_text())
    text, queries = path.read_text(), whole["queries"]
    changed = "its content is not what was written"
    broken = {
        text[: len(text) // 2]: "damaged",
        text.replace('"run"', '<<<<<<< ours\n"run"'): "Expecting property name",
        text.replace('"AP": ', '"AP": NaN, "x": ', 2): changed,
        damage(whole, queries={q: own for q, own in queries.items() if q != "q1"}): changed,
        damage(whole, queries=queries | {"q0": queries["q0"] | {"values": {"AP": 0.9}}}): changed,
        damage(whole, settings=None): changed,
        damage(whole, repeats=2): changed,
        damage(whole, checksum=None): changed,
    }
    for content, what in broken.items():
        path.write_text(content)
        for options in ({}, {"update": True}, {"update": "force"}):
            with pytest.raises(InputError) as refused:
                judged.gate(JUDGEMENTS, OLD, "AP", baseline=path, **options)
            said = str(refused.value)
            assert said.startswith(f"{path}: this baseline file is damaged ("), what
            assert what in said
            assert said.endswith(
                "); restore it, or delete it and make a new one. It was not changed."
            )
            assert path.read_text() == content


@pytest.mark.parametrize("version", [1, "2", None, True])
def test_another_version_is_refused(path: Path, version: Any) -> None:
    make(path)
    path.write_text(damage(json.loads(path.read_text()), judged_baseline=version))
    assert error_of(make, path, update="force") == (
        f"{path}: this baseline file has version {version!r}, but this judged reads version 2; "
        "use the judged that wrote it, or delete it and make a new one. It was not changed."
    )


@pytest.mark.parametrize(
    "content",
    ["", "q0 Q0 a 1 2.0 x\n", '{"a": 1}', '{"judged_baseline": {"a": 1.0}}', "\x00\x01", "[]"],
)
def test_another_file_is_never_replaced(path: Path, content: str) -> None:
    path.write_text(content)
    assert error_of(make, path, update="force") == (
        f"{path}: is not a baseline file, so it is not replaced by one; name another file to write "
        "the baseline to."
    )
    assert path.read_text() == content


def test_a_run_whose_query_is_called_like_the_mark_is_a_run(path: Path) -> None:
    path.write_text('{"judged_baseline": {"a": 1.0}}')
    found = judged.gate(
        {"judged_baseline": {"a": 1}}, {"judged_baseline": ["a"]}, "RR", baseline=path
    )
    assert (found.kind, found.passed) == ("run", True)


def test_a_file_may_be_written_otherwise_and_is_known_by_its_content(path: Path) -> None:
    make(path)
    whole = json.loads(path.read_text())
    path.write_text(json.dumps(whole, sort_keys=True, indent=4))
    assert judged.gate(JUDGEMENTS, OLD, baseline=path).kind == "file"


def test_there_is_none_yet(path: Path) -> None:
    assert error_of(judged.gate, JUDGEMENTS, OLD, "AP", baseline=path) == (
        f"{path}: there is no baseline yet; make one with update=True."
    )
    with pytest.raises(InputError, match="the baseline must be a regular file"):
        judged.gate(JUDGEMENTS, OLD, "AP", baseline=path.parent)
    low = make(path, minimum=0.999999)
    assert (low.passed, low.updated, path.exists()) == (False, False, False)


def test_hostile_ids_come_back(path: Path) -> None:
    odd = ["\ud800", "a\x00b", "<&\"'>", "|`*", "\u202e", "line\nbreak", " ", "é", "\\"]
    judgements = {q: {"a": 1} for q in odd}
    run = {q: ["b", "a"] for q in odd}
    make(path, "RR", run, judgements)
    found = judged.gate(judgements, {q: ["b", "c", "a"] for q in odd}, baseline=path)
    assert {loss["query"] for loss in found.worst["RR"]} == set(odd)
    assert found.rows[0].word == "regression"
