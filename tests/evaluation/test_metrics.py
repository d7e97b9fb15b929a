"""Numbers under names that trackers and model cards take: reversible, and the same numbers."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import judged
from judged.errors import InputError, MeasureError
from judged.evaluation.export import escaped, metric_name
from judged.measures import REGISTRY, parse_measure
from judged.measures.registry import Choice
from support.loops import for_each

ALLOWED = re.compile(r"[A-Za-z0-9_./-]+")
JUDGEMENTS = {f"q{n}": {"a": 1, "b": 2} for n in range(4)}
RUN = {f"q{n}": ["x"] * 0 + ["c", "a"][n % 2 :] + ["b"] for n in range(4)}


def unescaped(text: str) -> str:
    return re.sub(r"\.\.([0-9a-f]+)\.", lambda match: chr(int(match[1], 16)), text)


def parse_metric(name: str) -> tuple[judged.Measure, str | None, str | None]:
    """The measure, the run and the end of an interval that a name was made of."""
    *before, last = name.split("/")
    end = next((end for end in ("low", "high") if last.endswith(f"_{end}")), None)
    stem, at, cutoff = last.removesuffix(f"_{end}").rpartition("_at_")
    bare, *params = re.split(r"\.(?=[A-Za-z_]+-)", stem if at else cutoff)
    pairs = (pair.partition("-") for pair in params)
    inside = ", ".join(f"{key}={unescaped(value)}" for key, _, value in pairs)
    text = f"{bare}{f'({inside})' if inside else ''}{f'@{cutoff}' if at else ''}"
    return parse_measure(text), unescaped(before[0]) if before else None, end


def variants() -> list[str]:
    """Every measure of the registry: as it is, with a cutoff, and with each choice it offers."""
    found = []
    for name, spec in REGISTRY.items():
        found.append(str(parse_measure(spec.example.measure)))
        found += [
            f"{name}({param.name}={option})"
            for param in spec.params
            if isinstance(param, Choice)
            for option in param.options
        ]
    more = ["RBP(p=0.95)@20", "AP(rel=0.5)@R", "P(rel=-1)@5", "nDCG(gains={1:3,2:7.5})@10"]
    return [*found, *more]


@for_each("text", variants())
def test_a_name_leads_back_to_its_measure(text: str) -> None:
    try:
        measure = parse_measure(text)
    except MeasureError:  # a choice that needs another parameter beside it
        pytest.skip(f"{text} cannot stand alone")
    name = metric_name(measure)
    assert ALLOWED.fullmatch(name)
    assert parse_metric(name) == (measure, None, None)
    assert parse_metric(f"my..20.run/{name}_high") == (measure, "my run", "high")


def test_names_worked_by_hand() -> None:
    assert metric_name(parse_measure("nDCG@10")) == "nDCG_at_10"
    assert metric_name(parse_measure("nDCG(gain=exp)@10")) == "nDCG.gain-exp_at_10"
    assert metric_name(parse_measure("AP(norm=capped, rel=2)@100")) in {
        "AP.norm-capped.rel-2_at_100",
        "AP.rel-2.norm-capped_at_100",
    }
    assert metric_name(parse_measure("P(rel=-1)@5")) == "P.rel--1_at_5"


@given(st.text())
def test_any_name_of_a_run_leads_back(name: str) -> None:
    flat = escaped(name)
    assert re.fullmatch(r"[A-Za-z0-9_.-]*", flat)
    assert unescaped(flat) == name


@given(st.text(alphabet="./2f e_at_-"), st.text(alphabet="./2f e_at_-"))
def test_two_runs_never_share_a_name(one: str, other: str) -> None:
    assert (escaped(one) == escaped(other)) == (one == other)


def test_one_run_has_no_name_and_several_have() -> None:
    one = judged.evaluate(JUDGEMENTS, RUN, ["RR", "nDCG(gain=exp)@10"])
    assert [*one.to_metrics(names="mlflow")] == ["RR", "nDCG.gain-exp_at_10"]
    assert [*one.to_metrics()] == ["RR", "nDCG(gain=exp)@10"]
    two = judged.evaluate(JUDGEMENTS, {"my run/1": RUN, "b": RUN}, "MAP").showing(intervals=True)
    metrics = two.to_metrics(names="mlflow")
    assert all(ALLOWED.fullmatch(name) for name in metrics)
    for name, value in metrics.items():
        measure, run, end = parse_metric(name)
        interval = two.interval(measure, run)
        assert value == (two.value(measure, run) if end is None else getattr(interval, end))
    assert len(metrics) == 6
    assert "b/MAP low" in two.to_metrics()


def test_an_interval_that_there_is_none_of_is_left_out() -> None:
    found = judged.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").showing(intervals=True)
    assert found.to_metrics() == {"RR": 0.5}


def test_an_infinite_number_is_one_in_yaml(has) -> None:
    has("yaml")
    import yaml

    found = judged.evaluate({"q": {"a": 1}}, {"q": ["b"]}, "Rank")
    [model] = yaml.safe_load(found.to_yaml())["model-index"]
    assert model["results"][0]["metrics"][0]["value"] == float("inf") == found.value()


def test_unknown_names_are_refused() -> None:
    found = judged.evaluate(JUDGEMENTS, RUN, "RR")
    with pytest.raises(InputError) as said:
        found.to_metrics(names="mlflo")
    assert str(said.value) == (
        "names must be judged or mlflow; got 'mlflo'; did you mean 'mlflow'?"
    )


def test_model_cards_are_read_by_the_hub(has) -> None:
    has("huggingface_hub")
    import yaml
    from huggingface_hub.repocard_data import model_index_to_eval_results

    runs = {'a "quoted": name': RUN, "b": RUN}
    found = judged.evaluate(JUDGEMENTS, runs, ["nDCG@10", "RR"])
    text = found.to_yaml(dataset="me/questions")
    card = yaml.safe_load(text)
    assert card == {"model-index": found.to_huggingface(dataset="me/questions")}
    for run, model in zip(runs, card["model-index"], strict=True):
        name, results = model_index_to_eval_results([model])
        assert name == run
        assert [(each.metric_type, each.metric_value) for each in results] == [
            ("nDCG_at_10", found.value("nDCG@10", run)),
            ("RR", found.value("RR", run)),
        ]
        assert {each.dataset_type for each in results} == {"me/questions"}
        assert {each.task_type for each in results} == {"information-retrieval"}


def test_mlflow_takes_the_names(has) -> None:
    has("mlflow")
    from mlflow.utils.validation import _validate_metric_name

    for text in variants():
        try:
            measure = parse_measure(text)
        except MeasureError:
            continue
        _validate_metric_name(f"{escaped('my run: 100 %')}/{metric_name(measure)}_low")


def test_the_command_prints_and_writes_both(tmp_path, capsys, monkeypatch) -> None:
    from judged.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "run").write_text("q Q0 b 1 2.0 x\nq Q0 a 2 1.0 x\n")

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["evaluate", "qrels", "run", "-m", "RR", *arguments])
        return (int(ended.value.code or 0), *capsys.readouterr())

    assert run("--format", "metrics")[:2] == (0, '{\n  "RR": 0.5\n}\n')
    assert run("--format", "metrics", "-o", "scores.json")[0] == 0
    assert json.loads((tmp_path / "scores.json").read_text()) == {"RR": 0.5}
    assert run("-o", "card.yaml")[0] == 0
    assert 'type: "unknown"' in (tmp_path / "card.yaml").read_text()
    code, _, said = run("-o", "scores.metrics")
    assert code == 2
    endings = ".json, .csv, .md, .html, .txt, .tex, .trec, .yaml, .rankings or .parquet."
    assert f"must be {endings}" in said
