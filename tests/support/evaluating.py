"""Evaluations with flat options, for tests that go through many combinations of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import judged
from judged import Policy

SHOWN = {
    "tie_range": "tie_range",
    "unjudged_range": "unjudged_range",
    "unanswerable": "unanswerable",
    "answer_threshold": "threshold",
    "interval": "intervals",
    "level": "level",
    "groups": "groups",
}


def add_choices(policy: Any, **choices: Any) -> Any:
    """Return a policy, or a dict or None, with those of the choices that are not None."""
    chosen = {name: value for name, value in choices.items() if value is not None}
    if isinstance(policy, Policy):
        return replace(policy, **chosen)
    return {**(policy or {}), **chosen} if chosen and isinstance(policy, dict | None) else policy


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
