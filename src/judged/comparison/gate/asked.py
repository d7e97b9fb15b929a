"""What is asked of a gate: the rule, what may be lost, and what must be reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judged.comparison.gate.choices import CHANGED, RULES
from judged.comparison.gate.values import Wanted, golden_queries
from judged.comparison.settings import Settings
from judged.errors import InputError, quoted
from judged.evaluation.evaluation import Evaluation
from judged.options import choice, flag, number
from judged.text import listed

Limits = Mapping[str, float] | float | None


@dataclass(frozen=True)
class Asked:
    """The options of a gate, checked."""

    rule: str
    max_drop: Limits
    minimum: Limits
    golden: Sequence[Wanted]
    changed: str
    update: bool
    force: bool
    settings: Settings

    @classmethod
    def of(
        cls,
        *,
        rule: Any,
        max_drop: Any,
        minimum: Any,
        golden: Any,
        changed: Any,
        update_baseline: Any,
        force: Any,
        level: Any,
    ) -> Asked:
        """What a caller gave, checked before anything is read."""
        settings = Settings.of(level=level)
        if settings.level <= 0.5:
            raise InputError(f"the level of a gate must be above 0.5, as 0.95; got {level!r}.")
        if flag("force", force) and not update_baseline:
            raise InputError(
                "force (--force) says to update the baseline though the gate fails; it goes with "
                "update_baseline (--update-baseline)."
            )
        return cls(
            choice("rule", rule, RULES),
            _limits("max_drop", max_drop, at_least=0),
            _limits("minimum", minimum),
            () if golden is None else golden_queries(golden),
            choice("changed", changed, CHANGED),
            flag("update_baseline", update_baseline),
            force,
            settings,
        )

    def allowed(self, evaluation: Evaluation) -> dict[str, float]:
        """The allowed drop of each measure, 0 where none is given; refused where the rule needs
        one."""
        given = of_measures(self.max_drop, evaluation, "max_drop")
        labels = [evaluation.label(measure) for measure in evaluation.measures]
        lacking = [label for label in labels if given.get(label, 0.0) <= 0]
        if self.rule == "safe" and lacking:
            raise InputError(
                f"the rule safe shows that a drop is smaller than the allowed one, so it needs an "
                f"allowed drop above 0 for {listed(lacking)}: max_drop={{{lacking[0]!r}: 0.01}} "
                f"(--max-drop {lacking[0]}=0.01)."
            )
        return {label: given.get(label, 0.0) for label in labels}

    def minima(self, evaluation: Evaluation) -> dict[str, float]:
        """What each measure has to reach, where it has to."""
        if isinstance(self.minimum, float) and len(evaluation.measures) > 1:
            labels = [evaluation.label(measure) for measure in evaluation.measures]
            raise InputError(
                f"minimum (--min) must say for which measure: {', '.join(labels)}, as "
                f"{{{labels[0]!r}: {self.minimum:g}}} (--min {labels[0]}={self.minimum:g})."
            )
        return of_measures(self.minimum, evaluation, "minimum")


def _limits(name: str, given: Any, at_least: float | None = None) -> Limits:
    if given is None:
        return None
    if isinstance(given, Mapping):
        for measure in given:
            if not isinstance(measure, str) and type(measure).__name__ != "Measure":
                raise InputError(f"{name} names measures by texts; got {quoted(measure)}.")
        return {
            measure: number(f"{name} of {measure}", own, at_least=at_least) + 0.0
            for measure, own in given.items()
        }
    return number(name, given, at_least=at_least) + 0.0


def of_measures(given: Limits, evaluation: Evaluation, name: str) -> dict[str, float]:
    """A number for all measures, or for some, by what tables call them."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        return {evaluation.label(measure): given for measure in evaluation.measures}
    found: dict[str, float] = {}
    for text, own in given.items():
        label = evaluation.label(evaluation.measure(text))
        if label in found:
            raise InputError(f"{name} has {label} twice.")
        found[label] = own
    return found
