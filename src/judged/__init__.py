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
    "Advice": "evaluation.advice",
    "Agreement": "judgements.agreement",
    "Audit": "rankings.audit",
    "CollectionCheck": "judgements.check",
    "Comparison": "comparison.comparison",
    "ConventionError": "errors",
    "Diagnosis": "embeddings.diagnosis",
    "Disagreement": "conventions.disagreement",
    "Embeddings": "embeddings.embeddings",
    "EngineError": "errors",
    "Evaluation": "evaluation.evaluation",
    "Evaluator": "evaluation.batches",
    "Explanation": "explanation.explanation",
    "Fusion": "runs.fusion",
    "Gate": "comparison.gate.result",
    "Identification": "conventions.identification",
    "IndexEvaluation": "embeddings.index",
    "InputError": "errors",
    "Installation": "cli.doctor",
    "JudgedError": "errors",
    "JudgedWarning": "errors",
    "Judgements": "inputs",
    "Lookup": "inputs",
    "Measure": "measures",
    "MeasureError": "errors",
    "MergedJudgements": "judgements.merge",
    "MissingExtraError": "errors",
    "Orders": "comparison.orders",
    "OutputError": "errors",
    "Overlap": "runs.overlap",
    "Plan": "comparison.plan.result",
    "Policy": "policy",
    "PolicyError": "errors",
    "Queue": "judgements.queue",
    "Rankings": "rankings.rankings",
    "Report": "web.report.report",
    "Run": "inputs",
    "TopK": "embeddings.top_k",
    "Vectors": "inputs.vectors",
    "advise": "evaluation.advice",
    "agreement": "judgements.agreement",
    "assert_no_regression": "comparison.gate",
    "charts": "charts",
    "check": "judgements.check",
    "compare": "comparison",
    "compare_conventions": "conventions.disagreement",
    "compare_values": "comparison",
    "config": "limits",
    "conventions": "conventions",
    "doctor": "cli.doctor",
    "engines": "engines",
    "evaluate": "evaluation.evaluate",
    "evaluate_embeddings": "embeddings",
    "evaluate_retriever": "inputs.retriever",
    "explain": "explanation.question",
    "fuse": "runs.fusion",
    "gate": "comparison.gate",
    "identify": "conventions.identification",
    "learn": "learning.learn",
    "merge_judgements": "judgements.merge",
    "options": "options",
    "overlap": "runs.overlap",
    "parse_measure": "measures",
    "plan": "comparison.plan",
    "queue": "judgements.queue",
    "read_judgements": "inputs",
    "read_rankings": "rankings.file",
    "read_run": "inputs",
    "read_vectors": "inputs.vectors",
    "relevance": "embeddings.relevance",
    "repeats": "inputs.repeated",
    "report": "web.report.report",
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
