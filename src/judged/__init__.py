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
    from judged.embeddings import (
        Vectors,
        diagonal,
        evaluate_embeddings,
        groups,
        junk,
        rank_embeddings,
        revisited,
        same_group,
        same_id,
        same_index,
        same_label,
        search,
        shared_label,
    )
    from judged.embeddings.diagnostics import diagnose
    from judged.embeddings.index import evaluate_index
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
    from judged.judging import judge
    from judged.measures import Measure, parse_measure
    from judged.policy import Policy
    from judged.rankings.audit import Audit
    from judged.rankings.rankings import Rankings

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "ConventionError",
    "Evaluation",
    "Explanation",
    "Identification",
    "InputError",
    "JudgedError",
    "Measure",
    "MeasureError",
    "MissingExtraError",
    "OutputError",
    "Policy",
    "PolicyError",
    "Rankings",
    "Vectors",
    "__version__",
    "compare_conventions",
    "diagnose",
    "diagonal",
    "evaluate",
    "evaluate_embeddings",
    "evaluate_index",
    "explain",
    "groups",
    "identify",
    "judge",
    "junk",
    "parse_measure",
    "rank_embeddings",
    "read_judgements",
    "read_run",
    "read_vectors",
    "revisited",
    "same_group",
    "same_id",
    "same_index",
    "same_label",
    "search",
    "shared_label",
]

_HOMES = (
    *("errors", "policy", "rankings.audit", "rankings.rankings", "measures", "inputs", "judging"),
    *("evaluation", "evaluation.evaluation", "disagreement", "identification", "explanation"),
    *("embeddings", "inputs.vectors", "embeddings.index", "embeddings.diagnostics"),
)
"""Modules that hold the names above, cheapest first."""


_ROOMS = ("charts", "learn", "temperature")
"""Modules that are names here of themselves: `judged.charts.roc(…)` needs no import of its own."""


def __getattr__(name: str) -> Any:
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
