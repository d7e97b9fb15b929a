"""How runs are compared: the test, the correction, the level, and what counts as a difference that
matters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from judged.errors import InputError, quoted
from judged.options import LEVEL, OPTIONS, RESAMPLES, choice, number, whole
from judged.options import level as checked_level
from judged.results import Result

TESTS = {
    "auto": "t for means, sums and geometric means, bootstrap for the rest",
    "t": "paired t",
    "randomisation": "paired randomisation",
    "bootstrap": "paired bootstrap (percentile)",
    "bca": "paired bootstrap (BCa)",
    "wilcoxon": "Wilcoxon signed ranks",
    "sign": "sign test",
}
"""The tests by name, in words."""
POWERED = "prediction-powered"
"""The test of differences that trusted judgements correct; it goes with them, and nobody asks for
it."""
WORDS = {**TESTS, POWERED: "prediction-powered t (PPI++)"}
"""All tests that there are, in words."""
CORRECTIONS = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini-Hochberg (false discoveries)",
    "tukey": "Tukey (two-way)",
    "randomised-tukey": "randomised Tukey",
    "none": "none",
}
"""The corrections by name, in words."""
SIMULTANEOUS = ("tukey", "randomised-tukey")
"""Corrections that have tests and intervals of their own."""
SAVED_AS = {**Result.SAVED_AS, ".tex": "to_latex"}
"""The endings that files of comparisons may have, and the method that makes each."""
FAMILIES = ("measure", "all")


@dataclass(frozen=True)
class Settings:
    """How runs are compared; the same words as in `compare`.

    >>> Settings().to_dict()["test"]
    'auto'
    """

    test: str = "auto"
    correction: str = "holm"
    family: str = "measure"
    level: float = LEVEL
    power: float = 0.8
    margin: Mapping[str, float] | float | None = None
    resamples: int = RESAMPLES
    seed: int = 0
    comparisons: int = field(default=1, kw_only=True)
    """Number of comparisons corrected together; set internally."""

    @classmethod
    def of(cls, **given: Any) -> Settings:
        """Settings from what a caller gave, checked."""
        if "comparisons" in given:
            raise InputError("comparisons are counted, and cannot be given to a comparison.")
        found = cls(**given)
        choice("test", found.test, TESTS)
        choice("correction", found.correction, CORRECTIONS)
        choice("family", found.family, FAMILIES)
        checked_level("level", found.level)
        if found.margin is not None and found.level <= 0.5:
            raise InputError(
                f"with a margin the level must be above 0.5, as 0.95; got {found.level!r}."
            )
        if number("power", found.power, at_least=0) >= 1 or found.power <= 0:
            raise InputError(
                f"power must be a number between 0 and 1, as 0.8; got {quoted(found.power)}."
            )
        OPTIONS["resamples"]("resamples", found.resamples)
        whole("seed", found.seed, at_least=0)
        return found

    def checked_margin(self, names: Mapping[str, str]) -> Settings:
        """The same with a margin for each measure that has one, by the names in tables; `names`
        has every spelling that is understood."""
        if self.margin is None:
            return self
        if not isinstance(self.margin, Mapping):
            by = {label: _margin("margin", self.margin) for label in names.values()}
        else:
            by = {}
            for name, by_how_much in self.margin.items():
                if name not in names:
                    known = ", ".join(dict.fromkeys(names.values()))
                    raise InputError(
                        f"margin names {quoted(name)}, which is none of the measures: {known}."
                    )
                by[names[name]] = _margin(f"the margin of {name}", by_how_much)
        return replace(self, margin=by)

    def margin_of(self, measure: str) -> float | None:
        """The margin of a measure, where it has one."""
        return self.margin.get(measure) if isinstance(self.margin, Mapping) else None

    @property
    def levels(self) -> tuple[float, float]:
        """The level of intervals, and that of both one-sided tests for a margin, corrected for the
        number of comparisons."""
        return self.level, max(2 * self.tested_level - 1, 1e-9)

    def among(self, comparisons: int) -> Settings:
        """The same for one of so many comparisons that are corrected together. Corrections with
        intervals of their own, and none, change nothing."""
        if self.correction in (*SIMULTANEOUS, "none"):
            return self
        return replace(self, comparisons=comparisons)

    @property
    def tested_level(self) -> float:
        """The level of one comparison in the first step of Holm's correction, which is that of
        Bonferroni: what is significant there is so whatever the others are."""
        return 1 - (1 - self.level) / self.comparisons if self.comparisons > 1 else self.level

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "test": self.test,
            "correction": self.correction,
            "family": self.family,
            "level": self.level,
            "power": self.power,
            "margin": dict(self.margin) if isinstance(self.margin, Mapping) else self.margin,
            "resamples": self.resamples,
            "seed": self.seed,
        }


def _margin(name: str, given: Any) -> float:
    found = number(name, given)
    if found <= 0:
        raise InputError(f"{name} must be a number above 0; got {quoted(given)}.")
    return found
