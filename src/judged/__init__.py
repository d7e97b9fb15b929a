"""judged: retrieval evaluation that is exact, fast, and says what every number means.

>>> import judged
>>> judged.evaluate({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, [judged.nDCG(gain="exp") @ 10, "RR"]).value("RR")
0.5

The names below are loaded when they are first used, so that `import judged` costs next to nothing.
Every measure of the registry is a name here too, by any of its names: `judged.nDCG`, `judged.AP`,
`judged.MRR`, …
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judged.disagreement import compare_conventions
    from judged.embeddings import evaluate_embeddings, relevance
    from judged.embeddings.diagnosis import Diagnosis
    from judged.embeddings.embeddings import Embeddings
    from judged.embeddings.index import IndexEvaluation
    from judged.embeddings.top_k import TopK
    from judged.errors import (
        ConventionError,
        InputError,
        JudgedError,
        MeasureError,
        MissingExtraError,
        OutputError,
        PolicyError,
    )
    from judged.evaluation import evaluate
    from judged.evaluation.evaluation import Evaluation
    from judged.explanation import Explanation, explain
    from judged.identification import Identification, identify
    from judged.inputs import read_judgements, read_run
    from judged.inputs.vectors import read_vectors
    from judged.inputs.vectors.vectors import Vectors
    from judged.judging import judge
    from judged.measures import Measure, parse_measure
    from judged.policy import Policy
    from judged.rankings.audit import Audit
    from judged.rankings.rankings import Rankings
    from judged.similarity.similarity import Similarity

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "ConventionError",
    "Diagnosis",
    "Embeddings",
    "Evaluation",
    "Explanation",
    "Identification",
    "IndexEvaluation",
    "InputError",
    "JudgedError",
    "Measure",
    "MeasureError",
    "MissingExtraError",
    "OutputError",
    "Policy",
    "PolicyError",
    "Rankings",
    "Similarity",
    "TopK",
    "Vectors",
    "__version__",
    "compare_conventions",
    "evaluate",
    "evaluate_embeddings",
    "explain",
    "identify",
    "judge",
    "parse",
    "read_judgements",
    "read_run",
    "read_vectors",
    "relevance",
]

_HOMES = (
    *("errors", "policy", "rankings.audit", "rankings.rankings", "measures", "inputs", "judging"),
    *("evaluation", "evaluation.evaluation", "disagreement", "identification", "explanation"),
    *("embeddings", "inputs.vectors.vectors", "inputs.vectors.files", "similarity.similarity"),
    *("embeddings.embeddings", "embeddings.top_k", "embeddings.index", "embeddings.diagnosis"),
)
"""Modules that hold the names above, cheapest first."""


_ROOMS = ("charts", "learn", "temperature")
"""Modules that are names here of themselves: `judged.charts.roc(…)` needs no import of its own."""


def __getattr__(name: str) -> Any:
    if name == "relevance":
        return import_module("judged.embeddings.relevance")
    if name in _ROOMS:
        return import_module(f"judged.{name}")
    if name in __all__:
        for home in _HOMES:
            module = import_module(f"judged.{home}")
            if hasattr(module, name):
                globals()[name] = getattr(module, name)
                return globals()[name]
    if not name.startswith("_"):
        from judged.measures import names, parse_measure

        if name in names():
            return parse_measure(name)
    raise AttributeError(f"module 'judged' has no attribute {name!r}")


def __dir__() -> list[str]:
    from judged.measures import REGISTRY

    return sorted({*__all__, *_ROOMS, *REGISTRY})
