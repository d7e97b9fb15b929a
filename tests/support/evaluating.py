"""Evaluations with flat options, for tests that go through many combinations of them."""

from __future__ import annotations

from typing import Any

import judged
from judged.policy import add_choices

SHOWN = {
    "tie_range": "tie_range",
    "unjudged_range": "unjudged_range",
    "unanswerable": "unanswerable",
    "answer_threshold": "threshold",
    "interval": "intervals",
    "level": "level",
    "groups": "groups",
}


def split(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keyword arguments of `evaluate`, and those of `Evaluation.showing`."""
    scoring = dict(options)
    shown = {other: scoring.pop(name) for name, other in SHOWN.items() if name in scoring}
    chosen = {name: scoring.pop(name, None) for name in ("depth", "duplicates")}
    policy = add_choices(scoring.get("policy"), **chosen)
    return {**scoring, **({} if policy is None else {"policy": policy})}, shown


def evaluate(*data: Any, **options: Any) -> judged.Evaluation:
    scoring, shown = split(options)
    evaluation = judged.evaluate(*data, **scoring)
    return evaluation.showing(**shown) if shown else evaluation


def rank(*data: Any, **options: Any) -> judged.Rankings:
    return judged.Rankings.from_run(*data, **split(options)[0])
