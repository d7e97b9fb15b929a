"""Whatever is given for an option of a public function, it is a result or a `JudgedError`."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judged
from judged import charts, conventions, relevance
from judged.errors import JudgedError, quoted
from judged.learning import learn, temperature
from judged.options import OPTIONS, SCORING
from judged.results import DISPLAY_NAMES
from support.loops import for_each

JUDGEMENTS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"c": 1}}
RUN = {"q1": {"a": 0.5, "b": 0.5, "d": 0.1}, "q2": {"b": 0.7, "c": 0.1}}
RUNS = {"one": RUN, "two": {"q1": {"b": 0.9, "a": 0.5}, "q2": {"c": 0.7}}}
GRID = np.random.default_rng(1).normal(size=(24, 4))
LABELS = [at % 4 for at in range(24)]
VECTORS = {"queries": GRID, "items": GRID}
JUDGED = {"judgements": JUDGEMENTS, "run": RUN}
JUDGES = {"first": JUDGEMENTS, "second": {"q1": {"a": 1, "b": 0}, "q2": {"c": 0}}}


def search(vectors: Any, k: int, ef: int = 0) -> tuple[Any, Any]:
    """Return the first k items for every query, as an index does."""
    return (
        np.tile(np.arange(k), (len(vectors), 1)),
        np.tile(-np.arange(float(k)), (len(vectors), 1)),
    )


class Results:
    """One result of each kind, made when a test first needs it."""

    @cached_property
    def evaluation(self) -> Any:
        return judged.evaluate(JUDGEMENTS, RUN, ["AP", "RR"]).showing(
            tie_range=True, unjudged_range=True
        )

    @cached_property
    def same(self) -> Any:
        return relevance.same_label(LABELS, LABELS)

    @cached_property
    def embeddings(self) -> Any:
        return judged.Embeddings(GRID, GRID, exclude=relevance.same_row())

    @cached_property
    def comparison(self) -> Any:
        return judged.compare(JUDGEMENTS, RUNS, ["AP", "RR"])

    @cached_property
    def sweep(self) -> Any:
        return temperature.sweep(self.embeddings, self.same, [0.1, 1.0])

    @cached_property
    def study(self) -> Any:
        return temperature.sweep(self.embeddings, self.same, [0.1, 1.0], train={"iterations": 2})

    @cached_property
    def diagnosis(self) -> Any:
        return self.embeddings.diagnose(self.same)

    @cached_property
    def plan(self) -> Any:
        return judged.plan(difference=0.02, sd=0.1)

    @cached_property
    def sources(self) -> dict[str, Any]:
        """Arguments of charts, by name."""
        return {
            "source": judged.evaluate(JUDGEMENTS, RUNS, ["nDCG@10", "AP"]),
            "comparison": self.comparison,
            "judgements": JUDGEMENTS,
            "run": RUN,
            "runs": RUNS,
            "sweep": self.sweep,
            "study": self.study,
            "diagnosis": self.diagnosis,
            "plan": self.plan,
            "pictures": {},
        }


NEEDED: dict[str, dict[str, Any]] = {
    "save": {"path": "x.json"},
    "identify": {"number": "0.5", "measures": "RR"},
    "plot": {"kind": "precision-recall"},
    "render": {"method": "to_text", "display": {}, "where": "text"},
}
"""Arguments that methods of results cannot do without."""


def configured(memory: Any = "1GB", temporary: Any = None, jobs: Any = None) -> None:
    with judged.config(memory=memory, temporary=temporary, jobs=jobs):
        pass


ARGUMENTS: dict[str, dict[str, Any]] = {
    "evaluate": JUDGED,
    "evaluate_scores": {"y_true": [1, 0], "y_score": [0.2, 0.1]},
    "fuse": {"runs": RUNS},
    "funnel": {"judgements": JUDGEMENTS, "runs": RUNS},
    "evaluate_many": {"collections": {"one": (JUDGEMENTS, RUNS), "two": (JUDGEMENTS, RUNS)}},
    "evaluate_spans": {
        "judgements": [{"query": "q", "doc": "d", "start": 0, "end": 9}],
        "runs": {"r": [{"query": "q", "doc": "d", "start": 3, "end": 12, "score": 1.0}]},
    },
    "gate": {**JUDGED, "baseline": RUN},
    "advise": {"judgements": JUDGEMENTS, "runs": RUNS},
    "check": {"judgements": JUDGEMENTS, "runs": RUN},
    "Rankings.from_run": JUDGED,
    "read_rankings": {"path": "none.rankings"},
    "Evaluator": {"judgements": JUDGEMENTS},
    "report": JUDGED,
    "explain": {**JUDGED, "query": "q1"},
    "explain a list": {"judgements": [1, 0, 1]},
    "identify": {"value": "0.5", "measures": "RR", **JUDGED},
    "compare_conventions": {"measures": "AP", **JUDGED},
    "compare": {"judgements": JUDGEMENTS, "runs": RUNS},
    "agreement": {**JUDGES, "runs": RUNS},
    "statistics.cohen_kappa": {"first": [0, 1], "second": [0, 0]},
    "statistics.krippendorff_alpha": {"grades": [[0, 1], [1, 1]]},
    "statistics.order_agreement": {"x": [3, 2, 1], "y": [3, 1, 2]},
    "merge_judgements": {"judgements": JUDGES},
    "overlap": {"runs": RUNS},
    "queue": {"judgements": JUDGEMENTS, "runs": RUNS},
    "compare_values": {"values": {"a": {"1": 1.0}, "b": {"1": 0.5}}},
    "plan": {"difference": 0.02, "sd": 0.1},
    "plan from a pilot": {"difference": 0.02, "pilot": [0.1, -0.2, 0.3, 0.0]},
    "plan for a margin": {"margin": 0.02, "sd": 0.1, "queries": 50},
    "repeats": {},
    "read_run": {"run": RUN},
    "read_judgements": {"judgements": JUDGEMENTS},
    "read_vectors": {"path": "none.npy"},
    "Policy": {},
    "Policy.of": {"given": {}},
    "Rankings.from_relevance": {"relevance": [[1, 0]]},
    "Rankings.from_scores": {"y_true": [[1, 0]], "y_score": [[0.1, 0.2]]},
    "Embeddings": VECTORS,
    "evaluate_retriever": {
        "retriever": lambda query: ["a"],
        "queries": None,
        "judgements": JUDGEMENTS,
    },
    "learn.load": {"path": "none.npz"},
    "conventions.find": {"name": "ranx"},
    "relevance.listed": {"judgements": JUDGEMENTS},
    "relevance.revisited": {"ground_truth": [{"easy": [0], "hard": [1], "junk": []}]},
    "relevance.same_label": {"query_labels": LABELS, "item_labels": LABELS},
    "relevance.shared_label": {"query_labels": [[1]], "item_labels": [[1]]},
}
"""Functions of `judged` by their names, each with right arguments."""

Call = tuple[Callable[..., Any], dict[str, Any]]


def arguments_of(name: str) -> Callable[[Results], Call]:
    return lambda made: (attrgetter(name.partition(" ")[0])(judged), ARGUMENTS[name])


CALLS: dict[str, Callable[[Results], Call]] = {
    **{name: arguments_of(name) for name in ARGUMENTS},
    "config": lambda made: (configured, {"memory": "1GB"}),
    "Evaluator.add": lambda made: (
        lambda batch: judged.Evaluator(JUDGEMENTS).add(batch),
        {"batch": RUN},
    ),
    "Rankings.evaluate": lambda made: (judged.Rankings.from_run(JUDGEMENTS, RUN).evaluate, {}),
    **{
        f"Embeddings.{name}": lambda made, name=name: (
            getattr(made.embeddings, name),
            {"relevance": made.same},
        )
        for name in ("evaluate", "evaluate_and_top_k", "rank", "diagnose")
    },
    "Embeddings.evaluate_index": lambda made: (
        made.embeddings.evaluate_index,
        {
            "index": lambda vectors, k: (np.zeros((len(vectors), k), int),) * 2,
            "relevance": made.same,
        },
    ),
    "Embeddings.top_k": lambda made: (made.embeddings.top_k, {"k": 3}),
    "evaluate_embeddings": lambda made: (
        judged.evaluate_embeddings,
        {**VECTORS, "relevance": made.same},
    ),
    "learn.fit": lambda made: (
        learn.fit,
        {"embeddings": made.embeddings, "relevance": made.same, "iterations": 2},
    ),
    "temperature.sweep": lambda made: (
        temperature.sweep,
        {"embeddings": made.embeddings, "relevance": made.same, "temperatures": [1.0]},
    ),
}
METHODS: dict[str, Callable[[Results], Any]] = {
    "Evaluation": lambda made: made.evaluation,
    "Advice": lambda made: judged.advise(JUDGEMENTS, RUNS),
    "Comparison": lambda made: made.comparison,
    "Orders": lambda made: judged.compare(
        JUDGEMENTS, {**RUNS, "three": RUN}, ["AP", "RR"]
    ).orders(),
    "Overlap": lambda made: judged.overlap(RUNS),
    "Agreement": lambda made: judged.agreement(JUDGES, runs=RUNS),
    "CollectionCheck": lambda made: judged.check(JUDGEMENTS, RUN, "RR"),
    "Explanation": lambda made: judged.explain([1, 0, 1], measure="AP"),
    "Fusion": lambda made: judged.fuse(RUNS),
    "Gate": lambda made: judged.gate(JUDGEMENTS, RUN, ["AP", "RR"], baseline=RUNS["two"]),
    "Queue": lambda made: judged.queue(JUDGEMENTS, RUNS),
    "Report": lambda made: made.evaluation.report(),
    "Identification": lambda made: judged.identify("0.5", JUDGEMENTS, RUN, "RR"),
    "Disagreement": lambda made: judged.compare_conventions(JUDGEMENTS, RUN, "AP@5"),
    "Diagnosis": lambda made: made.diagnosis,
    "TopK": lambda made: made.embeddings.top_k(3),
    "Sweep": lambda made: made.sweep,
    "Study": lambda made: made.study,
    "IndexEvaluation": lambda made: made.embeddings.evaluate_index(search, made.same, k=3),
    "Plan": lambda made: made.plan,
}
CHARTS = [
    name for name in charts.__all__ if name != "plot" and inspect.isfunction(getattr(charts, name))
]


def calls_of(name: str, made: Results) -> Iterator[tuple[str, Callable[..., Any], dict[str, Any]]]:
    """Yield what is called under a name: a function, all methods of a result, or a chart."""
    if name in CALLS:
        yield name, *CALLS[name](made)
    elif name in METHODS:
        result = METHODS[name](made)
        for attribute in dir(result):
            method = getattr(result, attribute)
            own = not attribute.startswith("_") and not hasattr(judged.results.Run, attribute)
            if own and inspect.ismethod(method) and attribute != "document":
                base = NEEDED.get(attribute, {})
                yield f"{name}.{attribute}", method, base
    else:
        chart = getattr(charts, name)
        taken = inspect.signature(chart).parameters
        yield name, chart, {key: made.sources[key] for key in taken if key in made.sources}


NOT_CALLED = {
    *("Audit", "Judgements", "Lookup", "MergedJudgements", "Run", "Measure", "Vectors", "measure")
}
"""What people get and do not make; measures, own ones too, have their tests in tests/measures."""

WRONG: tuple[Any, ...] = (
    *(None, "x", "", "\x00", "٣", b"x", True, -1, 0, 1.5, -0.0, 1e-300, 1e308, 10**26, -(10**26)),
    *(10**400, 10**5000, math.nan, math.inf, -math.inf, [], ["x"], [None], [math.nan], [10**26]),
    *([[1]], (), {}, {"x": 1}, {1: []}, {"x"}, object(), print, int, 1j),
    *(np.array(1.0), np.array([1, 2]), np.array(["x"])),
)


@pytest.fixture(scope="session")
def made() -> Results:
    return Results()


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.full)])
@pytest.mark.filterwarnings("ignore")
@for_each("name", [*CALLS, *METHODS, *CHARTS])
def test_a_wrong_value_is_an_error_of_judged(
    name: str, every: int, made: Results, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By default each option is tried with every fourth value, beginning at another one."""
    failures = []
    for label, call, base in calls_of(name, made):
        options = []
        for option, declared in inspect.signature(call).parameters.items():
            if declared.kind in (declared.POSITIONAL_OR_KEYWORD, declared.KEYWORD_ONLY):
                options.append(option)
            elif option == "display":
                options += DISPLAY_NAMES
            elif option == "scoring":
                options += SCORING
        for place, option in enumerate(options):
            for wrong in WRONG[place % every :: every]:
                try:
                    call(**{**base, option: wrong})
                except JudgedError:
                    pass
                except Exception as error:
                    call_text = f"{label}({option}={quoted(wrong)})"
                    failures.append(f"{call_text}: {type(error).__name__}: {error}")
    assert not failures, "\n".join(failures)


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


def test_options_mean_the_same_everywhere(made: Results) -> None:
    """A check that nobody uses, or an option that is positional somewhere, is a mistake."""
    options = {
        option
        for make in CALLS.values()
        for option, declared in inspect.signature(make(made)[0]).parameters.items()
        if declared.kind is declared.KEYWORD_ONLY
    }
    options |= {
        option
        for name in (*METHODS, *CHARTS)
        for _, call, _ in calls_of(name, made)
        for option in inspect.signature(call).parameters
    }
    assert set(OPTIONS) <= options | {"brief"} | set(SCORING) | set(DISPLAY_NAMES)
