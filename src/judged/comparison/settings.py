"""Settings of a comparison: the test, the correction, the confidence level and the margin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from judged.errors import InputError, quoted
from judged.options import LEVEL, POWER, RESAMPLES, choice, number, whole
from judged.options import level as checked_level
from judged.results import Result

TESTS = {
    "auto": "t for means, sums and geometric means, bootstrap for other summaries",
    "t": "paired t",
    "randomisation": "paired randomisation",
    "bootstrap": "paired bootstrap (percentile)",
    "bca": "paired bootstrap (BCa)",
    "wilcoxon": "Wilcoxon signed ranks",
    "sign": "sign test",
}
"""Tests that can be chosen, with their names in tables."""
POWERED = "prediction-powered"
"""The test of differences that trusted judgements correct. It is not a choice of its own."""
TEST_NAMES = {**TESTS, POWERED: "prediction-powered t (PPI++)"}
CORRECTIONS = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini-Hochberg (false discovery rate)",
    "tukey": "Tukey (two-way)",
    "randomised-tukey": "randomised Tukey",
    "none": "none",
}
"""Corrections for multiple comparisons, with their names in tables."""
SIMULTANEOUS = ("tukey", "randomised-tukey")
"""Corrections that come with their own test and confidence intervals."""
SAVED_AS = {**Result.SAVED_AS, ".tex": "to_latex"}
"""Method for each file extension that a comparison can be saved with."""
RULES = {
    "loss": "fails if the drop is significant and larger than allowed",
    "safe": "fails unless the drop is significantly smaller than allowed",
    "point": "fails if the drop is larger than allowed, without a test",
}
"""The rules of a gate, with what makes each fail."""
MAX_QUERIES = 10**9
"""Largest number of queries that anything is planned for."""
GATE_SAVED_AS = {**Result.SAVED_AS, ".xml": "to_junit"}
"""Method for each file extension that a gate can be saved with."""


@dataclass(frozen=True)
class ComparisonSettings:
    """Options of `compare` about tests and margins."""

    test: str = "auto"
    correction: str = "holm"
    level: float = LEVEL
    margin: Mapping[str, float] | float | None = None
    seed: int = 0
    power: float = field(default=POWER, kw_only=True)
    """Power at which a difference is called detectable."""
    resamples: int = field(default=RESAMPLES, kw_only=True)
    comparisons: int = field(default=1, kw_only=True)
    """Number of comparisons that are corrected together."""

    def __post_init__(self) -> None:
        choice("test", self.test, TESTS)
        choice("correction", self.correction, CORRECTIONS)
        checked_level("level", self.level)
        if self.margin is not None and self.level <= 0.5:
            raise InputError(
                f"with a margin the level must be above 0.5, such as 0.95; got {self.level!r}."
            )
        whole("seed", self.seed, at_least=0)

    def with_margins(self, names: Mapping[str, str]) -> ComparisonSettings:
        """Return the settings with margins by label; `names` maps accepted spellings to labels."""
        if self.margin is None:
            return self
        if not isinstance(self.margin, Mapping):
            margins = {label: _margin("margin", self.margin) for label in names.values()}
        else:
            margins = {}
            for name, size in self.margin.items():
                if name not in names:
                    known = ", ".join(dict.fromkeys(names.values()))
                    raise InputError(
                        f"margin names {quoted(name)}, which is not one of the measures: {known}."
                    )
                margins[names[name]] = _margin(f"the margin of {name}", size)
        return replace(self, margin=margins)

    def margin_of(self, measure: str) -> float | None:
        return self.margin.get(measure) if isinstance(self.margin, Mapping) else None

    @property
    def levels(self) -> tuple[float, float]:
        """Confidence levels of the interval, and of the interval that decides equivalence."""
        return self.level, max(2 * self.tested_level - 1, 1e-9)

    def among(self, comparisons: int) -> ComparisonSettings:
        """Return the settings for one of several comparisons that are corrected together."""
        if comparisons == self.comparisons or self.correction in (*SIMULTANEOUS, "none"):
            return self
        return replace(self, comparisons=comparisons)

    @property
    def tested_level(self) -> float:
        """Confidence level of one comparison in the first step of Holm's correction."""
        return 1 - (1 - self.level) / self.comparisons if self.comparisons > 1 else self.level

    @cached_property
    def fewest_units(self) -> int:
        """Fewest differing queries, or groups, that can be significant, two-sided."""
        from judged.statistics.t import fewest_units

        return fewest_units(self.level)

    def to_dict(self) -> dict[str, Any]:
        return {
            "test": self.test,
            "correction": self.correction,
            "level": self.level,
            "power": self.power,
            "margin": dict(self.margin) if isinstance(self.margin, Mapping) else self.margin,
            "resamples": self.resamples,
            "seed": self.seed,
        }


def _margin(name: str, value: Any) -> float:
    size = number(name, value)
    if size <= 0:
        raise InputError(f"{name} must be a number above 0; got {quoted(value)}.")
    return size
