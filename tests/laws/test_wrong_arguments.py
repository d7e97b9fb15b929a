"""Whatever is given for an option of a public function, it is a result or a `JudgedError`."""

from __future__ import annotations

import contextlib
import inspect
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judged
from judged import charts, conventions, learn, relevance, temperature
from judged.checks import OPTIONS
from judged.errors import JudgedError

JUDGEMENTS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"c": 1}}
RUN = {"q1": {"a": 0.5, "b": 0.5, "d": 0.1}, "q2": {"b": 0.7, "c": 0.1}}
RUNS = {"one": RUN, "two": {"q1": {"b": 0.9, "a": 0.5}, "q2": {"c": 0.7}}}
RANKINGS = judged.judge(JUDGEMENTS, RUN)
EVALUATION = judged.evaluate(JUDGEMENTS, RUN, ["AP", "RR"], tie_range=True, unjudged_range=True)
IDENTIFIED = judged.identify("0.5", JUDGEMENTS, RUN, "RR")
EXPLAINED = judged.explain([1, 0, 1], measure="AP")
CHECKED = judged.check(JUDGEMENTS, RUN, "RR")
GATE = judged.gate(JUDGEMENTS, RUN, ["AP", "RR"], baseline=RUNS["two"])
DISAGREEMENT = judged.compare_conventions(JUDGEMENTS, RUN, "AP@5")
GRID = np.random.default_rng(1).normal(size=(24, 4))
LABELS = [at % 4 for at in range(24)]
SAME = relevance.same_label(LABELS, LABELS)
EMBEDDINGS = judged.Embeddings(GRID, GRID, exclude=relevance.same_row())
VECTORS = {"queries": GRID, "items": GRID}
DIAGNOSIS = EMBEDDINGS.diagnose(SAME)
TOP = EMBEDDINGS.top_k(3)
SWEEP = temperature.sweep(EMBEDDINGS, SAME, [0.1, 1.0])
STUDY = temperature.study(EMBEDDINGS, SAME, [0.1, 1.0], iterations=2)
SWEPT = EMBEDDINGS.sweep_index(
    lambda vectors, k, ef: (
        np.tile(np.arange(k), (len(vectors), 1)),
        np.tile(-np.arange(float(k)), (len(vectors), 1)),
    ),
    SAME,
    parameter="ef",
    values=[1],
    k=3,
    timed=1,
)
INDEXED = EMBEDDINGS.evaluate_index(
    lambda vectors, k: (
        np.tile(np.arange(k), (len(vectors), 1)),
        np.tile(-np.arange(float(k)), (len(vectors), 1)),
    ),
    SAME,
    k=3,
)
JUDGED = {"judgements": JUDGEMENTS, "run": RUN}
COMPARISON = judged.compare(JUDGEMENTS, RUNS, ["AP", "RR"])
PLAN = judged.plan(difference=0.02, sd=0.1)
ORDERS = judged.compare(JUDGEMENTS, {**RUNS, "three": RUN}, ["AP", "RR"]).orders()
JUDGES = {"first": JUDGEMENTS, "second": {"q1": {"a": 1, "b": 0}, "q2": {"c": 0}}}

SHARDS = judged.shards.prepare([[1.0]], [[1.0]], {"0": {"0": 1}}, k=1)
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "evaluate": (judged.evaluate, JUDGED),
    "fuse": (judged.fuse, {"runs": RUNS}),
    "gate": (judged.gate, {**JUDGED, "baseline": RUN}),
    "testing.assert_no_regression": (
        judged.testing.assert_no_regression,
        {**JUDGED, "baseline": RUN},
    ),
    "advise": (judged.advise, {"judgements": JUDGEMENTS, "runs": RUNS}),
    "doctor": (judged.doctor, {}),
    "parse_metric": (judged.parse_metric, {"name": "P_at_1"}),
    "check": (judged.check, {"judgements": JUDGEMENTS, "runs": RUN}),
    "judge": (judged.judge, JUDGED),
    "Evaluator": (judged.Evaluator, {"judgements": JUDGEMENTS}),
    "Evaluator.add": (lambda batch: judged.Evaluator(JUDGEMENTS).add(batch), {"batch": RUN}),
    "make_report": (judged.make_report, JUDGED),
    "explain": (judged.explain, {**JUDGED, "query": "q1"}),
    "explain a list": (judged.explain, {"judgements": [1, 0, 1]}),
    "identify": (judged.identify, {"value": "0.5", "measures": "RR", **JUDGED}),
    "compare_conventions": (judged.compare_conventions, {"measures": "AP", **JUDGED}),
    "compare": (judged.compare, {"judgements": JUDGEMENTS, "runs": RUNS}),
    "agreement": (judged.agreement, {**JUDGES, "runs": RUNS}),
    "statistics.cohen_kappa": (
        judged.statistics.cohen_kappa,
        {"first": [0, 1], "second": [0, 0]},
    ),
    "statistics.krippendorff_alpha": (
        judged.statistics.krippendorff_alpha,
        {"grades": [[0, 1], [1, 1]]},
    ),
    "merge_judgements": (judged.merge_judgements, {"judgements": JUDGES}),
    "overlap": (judged.overlap, {"runs": RUNS}),
    "queue": (judged.queue, {"judgements": JUDGEMENTS, "runs": RUNS}),
    "compare_values": (judged.compare_values, {"values": {"a": {"1": 1.0}, "b": {"1": 0.5}}}),
    "plan": (judged.plan, {"difference": 0.02, "sd": 0.1}),
    "plan from a pilot": (judged.plan, {"difference": 0.02, "pilot": [0.1, -0.2, 0.3, 0.0]}),
    "plan for a margin": (judged.plan, {"margin": 0.02, "sd": 0.1, "queries": 50}),
    "parse_measure": (judged.parse_measure, {"measure": "P"}),
    "repeats": (judged.repeats, {}),
    "read_run": (judged.read_run, {"run": RUN}),
    "read_judgements": (judged.read_judgements, {"judgements": JUDGEMENTS}),
    "read_vectors": (judged.read_vectors, {"path": "none.npy"}),
    "Policy": (judged.Policy, {}),
    "Policy.of": (judged.Policy.of, {"given": {}}),
    "Rankings.from_relevance": (judged.Rankings.from_relevance, {"relevance": [[1, 0]]}),
    "Rankings.from_scores": (
        judged.Rankings.from_scores,
        {"y_true": [[1, 0]], "y_score": [[0.1, 0.2]]},
    ),
    "Rankings.evaluate": (RANKINGS.evaluate, {}),
    "Embeddings": (judged.Embeddings, VECTORS),
    "Embeddings.evaluate": (EMBEDDINGS.evaluate, {"relevance": SAME}),
    "Embeddings.evaluate_and_top_k": (EMBEDDINGS.evaluate_and_top_k, {"relevance": SAME}),
    "Embeddings.evaluate_index": (
        EMBEDDINGS.evaluate_index,
        {"index": lambda vectors, k: (np.zeros((len(vectors), k), int),) * 2, "relevance": SAME},
    ),
    "Embeddings.sweep_index": (
        EMBEDDINGS.sweep_index,
        {
            "index": lambda vectors, k, ef: (np.zeros((len(vectors), k), int),) * 2,
            "relevance": SAME,
            "parameter": "ef",
            "values": [1],
            "timed": 1,
        },
    ),
    "Embeddings.rank": (EMBEDDINGS.rank, {"relevance": SAME}),
    "Embeddings.rank_both": (EMBEDDINGS.rank_both, {"relevance": SAME}),
    "Embeddings.top_k": (EMBEDDINGS.top_k, {"k": 3}),
    "Embeddings.diagnose": (EMBEDDINGS.diagnose, {"relevance": SAME}),
    "evaluate_embeddings": (judged.evaluate_embeddings, {**VECTORS, "relevance": SAME}),
    "evaluate_retriever": (
        judged.evaluate_retriever,
        {"retriever": lambda query: ["a"], "queries": None, "judgements": JUDGEMENTS},
    ),
    "learn.fit": (
        learn.fit,
        {"embeddings": EMBEDDINGS, "relevance": SAME, "iterations": 2},
    ),
    "learn.load": (learn.load, {"path": "none.npz"}),
    "temperature.sweep": (
        temperature.sweep,
        {"embeddings": EMBEDDINGS, "relevance": SAME, "temperatures": [1.0]},
    ),
    "temperature.study": (
        temperature.study,
        {"embeddings": EMBEDDINGS, "relevance": SAME, "temperatures": [1.0], "iterations": 2},
    ),
    "statistics.order_agreement": (
        judged.statistics.order_agreement,
        {"x": [3, 2, 1], "y": [3, 1, 2]},
    ),
    "conventions.find": (conventions.find, {"name": "ranx"}),
    "shards.prepare": (
        judged.shards.prepare,
        {"queries": np.eye(3), "judged_items": np.eye(3), "relevance": SAME},
    ),
    "shards.Prepared.count": (SHARDS.count, {"item_ids": ["b"], "vectors": [[2.0]]}),
    "shards.Prepared.rankings": (SHARDS.rankings, {"counts": SHARDS.nothing()}),
    "shards.Prepared.top_k": (SHARDS.top_k, {"counts": SHARDS.nothing()}),
    "shards.load": (judged.shards.load, {"path": "none.npz"}),
    "relevance.listed": (relevance.listed, {"judgements": JUDGEMENTS}),
    "relevance.revisited": (
        relevance.revisited,
        {"ground_truth": [{"easy": [0], "hard": [1], "junk": []}]},
    ),
    "relevance.same_label": (
        relevance.same_label,
        {"query_labels": LABELS, "item_labels": LABELS},
    ),
    "relevance.shared_label": (
        relevance.shared_label,
        {"query_labels": [[1]], "item_labels": [[1]]},
    ),
}
METHODS = {
    "Evaluation": EVALUATION,
    "Advice": judged.advise(JUDGEMENTS, RUNS),
    "Installation": judged.Installation({}, (), ()),
    "IndexSweep": SWEPT,
    "Comparison": COMPARISON,
    "Orders": ORDERS,
    "Overlap": judged.overlap(RUNS),
    "Agreement": judged.agreement(JUDGES, runs=RUNS),
    "CollectionCheck": CHECKED,
    "Explanation": EXPLAINED,
    "Fusion": judged.fuse(RUNS),
    "Gate": GATE,
    "Queue": judged.queue(JUDGEMENTS, RUNS),
    "Report": EVALUATION.report(),
    "Identification": IDENTIFIED,
    "Disagreement": DISAGREEMENT,
    "Diagnosis": DIAGNOSIS,
    "TopK": TOP,
    "Sweep": SWEEP,
    "Study": STUDY,
    "IndexEvaluation": INDEXED,
    "Plan": PLAN,
}
SOURCES: dict[str, Any] = {
    "source": judged.evaluate(JUDGEMENTS, RUNS, ["nDCG@10", "AP"]),
    "comparison": COMPARISON,
    "judgements": JUDGEMENTS,
    "run": RUN,
    "runs": RUNS,
    "sweep": SWEEP,
    "study": STUDY,
    "diagnosis": DIAGNOSIS,
    "plan": PLAN,
    "pictures": {},
}


def _methods() -> Iterator[tuple[str, Callable[..., Any], dict[str, Any]]]:
    for kind, result in METHODS.items():
        for name in dir(result):
            method = getattr(result, name)
            own = not name.startswith("_") and not hasattr(judged.Run, name)
            if own and inspect.ismethod(method):
                yield f"{kind}.{name}", method, {"path": "x.json"} if name == "save" else {}
    for name in charts.__all__:
        chart = getattr(charts, name)
        if inspect.isfunction(chart):
            given = inspect.signature(chart).parameters
            yield f"charts.{name}", chart, {key: SOURCES[key] for key in given if key in SOURCES}


NOT_CALLED = {
    *("Audit", "Judgements", "Lookup", "MergedJudgements", "Run", "Measure", "Similarity"),
    *("Metric", "Unanswerable", "Vectors"),
}
"""What people get and do not make; `Measure` has its own tests, in tests/measures."""

WRONG: tuple[Any, ...] = (
    None,
    "x",
    "",
    "\x00",
    "٣",
    b"x",
    True,
    -1,
    0,
    1.5,
    -0.0,
    1e-300,
    1e308,
    10**26,
    -(10**26),
    10**400,
    10**5000,
    math.nan,
    math.inf,
    -math.inf,
    [],
    ["x"],
    [None],
    [math.nan],
    [10**26],
    [[1]],
    (),
    {},
    {"x": 1},
    {1: []},
    {"x"},
    object(),
    print,
    int,
    np.array(1.0),
    np.array([1, 2]),
    np.array(["x"]),
    1j,
)


def _cases() -> Iterator[Any]:
    calls = [(name, call, base) for name, (call, base) in CALLS.items()]
    for name, call, base in [*calls, *_methods()]:
        for option, declared in inspect.signature(call).parameters.items():
            if declared.kind in (declared.POSITIONAL_OR_KEYWORD, declared.KEYWORD_ONLY):
                yield pytest.param(call, base, option, id=f"{name}-{option}")


@pytest.mark.parametrize(("call", "base", "option"), list(_cases()))
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_value_is_an_error_of_judged(
    call: Callable[..., Any],
    base: dict[str, Any],
    option: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for wrong in WRONG:
        with contextlib.suppress(JudgedError):
            call(**{**base, option: wrong})


def test_every_public_function_is_tried() -> None:
    tried = {name.partition(".")[0].partition(" ")[0] for name in (*CALLS, *METHODS)}
    for name in judged.__all__:
        public = getattr(judged, name)
        held = inspect.ismodule(public) or not callable(public) or name in tried
        assert held or name in NOT_CALLED or issubclass(public, Exception), name
    for home in (learn, temperature, relevance, conventions):
        for name in home.__all__:
            public = getattr(home, name)
            if inspect.isfunction(public) and inspect.signature(public).parameters:
                assert f"{home.__name__.rpartition('.')[2]}.{name}" in CALLS


def test_options_mean_the_same_everywhere() -> None:
    """A check that nobody uses, or an option that is positional somewhere, is a mistake."""
    options = {
        option
        for call, _ in CALLS.values()
        for option, declared in inspect.signature(call).parameters.items()
        if declared.kind is declared.KEYWORD_ONLY
    }
    options |= {
        option for _, call, _ in _methods() for option in inspect.signature(call).parameters
    }
    assert set(OPTIONS) <= options | {"brief"}
