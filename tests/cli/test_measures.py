"""Presets, cutoffs and spellings on the command line: found, explained, completed, computed."""

from __future__ import annotations

import json
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
