"""A comparison as dict, table, sentences and text."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from judged import __version__
from judged.checks import checked_methods
from judged.comparison.sentences import shown_p
from judged.comparison.settings import CORRECTIONS, TESTS
from judged.results import Result, Table
from judged.text import counted, plain, shown

if TYPE_CHECKING:
    import polars as pl

    from judged.comparison.comparison import Comparison


@checked_methods
class Exports(Result):
    """What a comparison can become."""

    if TYPE_CHECKING:

        @cached_property
        def pairs(self) -> pl.DataFrame: ...

    def to_dict(self: Comparison) -> dict[str, Any]:  # type: ignore[misc]
        """Everything, as plain Python values that JSON can hold."""
        evaluated = self.evaluation
        found: dict[str, Any] = {
            "runs": [
                {
                    "name": run,
                    "scores": {m: plain(self.value(m, run)) for m in self.measures},
                    "intervals": {m: self.interval(m, run).to_dict() for m in self.measures},
                }
                for run in self.runs
            ],
            "pairs": [row.to_dict() for row in self.rows],
            "leaderboard": {
                m: [place.to_dict() for place in self.leaderboard(m)] for m in self.measures
            },
            "settings": self.settings.to_dict(),
        }
        if evaluated is not None:
            found |= {
                "measures": {evaluated.label(m): m.definition() for m in evaluated.measures},
                "policy": evaluated.policy.to_dict(),
                "definition": evaluated.methods(),
            }
        return {**found, "judged": __version__}

    def to_frame(self) -> pl.DataFrame:
        """The pairs, as a polars table."""
        return self.pairs

    def sentences(self: Comparison) -> list[str]:  # type: ignore[misc]
        """What was found, and what was done."""
        return [*(row.says for row in self.rows), self._done()]

    def _done(self: Comparison) -> str:  # type: ignore[misc]
        used = dict.fromkeys(TESTS[row.test] for row in self.rows)
        each = len(self.rows) // len(self.measures)
        over = (
            f"{counted(len(self.rows), 'comparison')} of all measures"
            if self.settings.family == "all"
            else f"{counted(each, 'comparison')} of each measure"
        )
        return (
            f"test: {', '.join(used)}; correction: {CORRECTIONS[self.settings.correction]} over "
            f"{over}; level {self.settings.level * 100:g} %."
        )

    def tables(self: Comparison) -> list[Table]:  # type: ignore[misc]
        """One table per measure."""
        header = ["run", "against", "difference", "low", "high", "p", "corrected", "verdict"]
        return [
            (
                header,
                [
                    [
                        row.run,
                        row.against,
                        shown(row.difference),
                        shown(row.interval.low),
                        shown(row.interval.high),
                        shown_p(row.p),
                        shown_p(row.corrected_p),
                        row.verdict,
                    ]
                    for row in self.rows
                    if row.measure == name
                ],
            )
            for name in self.measures
        ]
