"""judged: retrieval evaluation that is exact, fast, and says what every number means.

>>> import judged
>>> measures = [judged.nDCG(gain="exp") @ 10, "RR"]
>>> judged.evaluate({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, measures).value("RR")
0.5

Every name is loaded when it is first used, so that `import judged` costs next to nothing. Every
measure of the registry is a name here too: `judged.nDCG`, `judged.AP`, …
"""

from __future__ import annotations

import judged.errors  # noqa: F401  # it guards polars in processes forked later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.2.0"

_HOMES = {
    "Comparison": "comparison.comparison",
    "Embeddings": "embeddings.embeddings",
    "Evaluation": "evaluation.evaluation",
    "Evaluator": "evaluation.evaluate",
    "JudgedError": "errors",
    "JudgedWarning": "errors",
    "Measure": "measures",
    "Policy": "policy",
    "Rankings": "rankings.rankings",
    "Vectors": "inputs.vectors",
    "advise": "evaluation.advice",
    "agreement": "judgements.agreement",
    "charts": "charts",
    "check": "judgements.check",
    "compare": "comparison",
    "compare_conventions": "conventions.disagreement",
    "compare_values": "comparison",
    "config": "configuration",
    "conventions": "conventions",
    "engines": "engines",
    "errors": "errors",
    "evaluate": "evaluation.evaluate",
    "evaluate_embeddings": "embeddings",
    "evaluate_many": "comparison.benchmark",
    "evaluate_retriever": "inputs.retriever",
    "evaluate_scores": "evaluation.evaluate",
    "evaluate_spans": "runs.spans",
    "explain": "explanation.question",
    "funnel": "runs.funnel",
    "fuse": "runs.fusion",
    "gate": "comparison.gate",
    "identify": "conventions.identification",
    "learn": "learning.learn",
    "measure": "measures.own",
    "merge_judgements": "judgements.merge",
    "options": "options",
    "overlap": "runs.overlap",
    "plan": "comparison.plan",
    "queue": "judgements.queue",
    "read_judgements": "inputs",
    "read_rankings": "rankings.file",
    "read_run": "inputs",
    "read_vectors": "inputs.vectors",
    "relevance": "embeddings.relevance",
    "repeats": "inputs.repeated",
    "report": "web.report.report",
    "results": "results",
    "statistics": "statistics",
    "temperature": "learning.temperature",
}
"""Each public name and the module that it is in, or that it is."""

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module  # Ctrl-C would be a traceback while this loads

        home = import_module(f"judged.{_HOMES[name]}")
        found = home if _HOMES[name] == name else getattr(home, name, home)
    else:
        found = _measure(name)
    globals()[name] = found
    return found


def _measure(name: str) -> Any:
    """Return a measure by one of its names."""
    if not name.startswith("_"):
        from judged.measures import lookup, names
        from judged.measures.measure import bind

        if name in names():
            return bind(*lookup(name))
    raise AttributeError(f"module 'judged' has no attribute {name!r}")


def __dir__() -> list[str]:
    from judged.measures import REGISTRY

    return sorted({*__all__, *REGISTRY})
