"""Presets, cutoffs and spellings on the command line: found, explained, completed, computed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click import Context

from judged.cli._options import complete_convention, complete_measure
from judged.cli.evaluate import evaluate
from judged.measures import PRESETS, REGISTRY, parse_measure
from judged.measures.reference import ABOUT


def test_the_catalogue_ends_with_the_presets(judged: Any) -> None:
    lines = judged("measures").out.splitlines()
    section = lines[lines.index("presets") :]
    for name, preset in ABOUT.items():
        [at] = [number for number, line in enumerate(section) if line.split()[:1] == [name]]
        assert section[at].endswith(f"  {preset.title}")
        assert section[at + 1].strip() == ", ".join(preset.measures)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_explained(judged: Any, name: str) -> None:
    lines = judged("measures", name.upper()).out.splitlines()
    assert lines[:3] == [f"{name}: {ABOUT[name].title}", "", ABOUT[name].says]
    assert lines[-1] == f"'-m {name}' asks for all of them."
    at = lines.index("measures")
    for number, text in enumerate(PRESETS[name]):
        measure = parse_measure(text)
        title, words = lines[at + 1 + 2 * number :][:2]
        assert (title, words) == (f"  {text}  {measure.spec.title}", f"      {measure.describe()}")


def test_several_are_explained(judged: Any) -> None:
    text = judged("measures P@5,10").out
    assert text.count("P: Precision") == 1
    for k in (5, 10):
        assert f"\nP@{k}: {parse_measure(f'P@{k}').describe()}\n" in text
    text = judged("measures rag,MAP,MedR").out
    first, second, third = (part.splitlines() for part in text.split("\n\n\n"))
    assert first[0] == f"rag: {ABOUT['rag'].title}"
    assert second[2] == f"MAP is AP. {parse_measure('AP').describe()}"
    assert third[2].startswith("MedR is Rank(aggregate=median). ")


def test_words_that_are_no_measure_lead_on(judged: Any) -> None:
    says = "TP@k, FP@k, FN@k and TN@k are its counts; 'judged plot confusion-at-k' draws them"
    text = " ".join(judged("measures", "Confusion matrix").out.split())
    assert text.startswith(says)
    assert text.endswith("The page 'charts' of the documentation explains more.")
    found = json.loads(judged("measures", "confusion matrix", "--format", "json").out)
    assert found["says"].startswith(says)
    assert found["page"] == "charts"


def test_json_has_measures_and_presets(judged: Any) -> None:
    every = json.loads(judged("measures --format json").out)
    assert set(every["measures"]) == set(REGISTRY)
    assert {name: tuple(each["measures"]) for name, each in every["presets"].items()} == PRESETS
    found = json.loads(judged("measures msmarco,MAP,P@5,10 --format json").out)
    assert list(found["measures"]) == [*PRESETS["msmarco"], "MAP", "P@5", "P@10"]
    assert found["measures"]["MAP"]["name"] == "AP"
    assert list(found["presets"]) == ["msmarco"]
    assert found["presets"]["msmarco"]["title"] == ABOUT["msmarco"].title
    plain = json.loads(judged("measures P --format json").out)
    assert (list(plain["measures"]), plain["presets"]) == (["P"], {})


@pytest.mark.parametrize(
    ("asked", "columns"),
    [
        ("msmarco,reid,AP", "RR@10 R@50 R@1000 nDCG@10 Success@1 Success@5 Success@10 AP INP"),
        ("P@5,10", "P@5 P@10"),
        ("nDCG@5,10,R@100", "nDCG@5 nDCG@10 R@100"),
        ("MAP,MedR,hit_rate@10", "MAP MedR hit_rate@10"),
        ("map,AP,MAP", "map"),
    ],
)
def test_they_are_computed(judged: Any, files: Path, asked: str, columns: str) -> None:
    done = judged("evaluate qrels a.run -m", asked, "--format", "json")
    found = json.loads(done.out)
    assert list(found["runs"][0]["scores"]) == list(found["measures"]) == columns.split()
    one_by_one = judged(
        "evaluate qrels a.run --format json", *(f"-m{each}" for each in columns.split())
    )
    assert json.loads(one_by_one.out)["runs"] == found["runs"]
    table = judged("evaluate qrels a.run -m", asked).out.partition("\n\n")[0]
    shown = [line.split() for line in table.splitlines()]
    wide = shown[0] == ["run", *columns.split()]
    assert wide or [line[0] for line in shown] == ["run", *columns.split()]


def completed(incomplete: str) -> list[str]:
    found = complete_measure(Context(evaluate), evaluate.params[0], incomplete)
    return [item.value for item in found]


def test_completion() -> None:
    assert set(completed("")) == {*REGISTRY, *PRESETS}
    assert completed("ra") == ["RankAUC", "Rank", "rag"]
    assert completed("rag,be") == ["rag,beir"]
    assert completed("P@5,10,hitr") == ["P@5,10,HitRate"]
    assert set(completed("AP,")) == {f"AP,{name}" for name in (*REGISTRY, *PRESETS)}
    found = complete_convention(Context(evaluate), evaluate.params[0], "tor")
    assert [(item.value, item.help) for item in found] == [
        ("torchmetrics", "torchmetrics (retrieval)")
    ]
    helps = {item.value: item.help for item in complete_measure(Context(evaluate), None, "msm")}
    assert helps == {"msmarco": "preset: RR@10, R@50, R@1000, nDCG@10"}
