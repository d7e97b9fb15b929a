"""One row of a comparison: two runs on one measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from judged.evaluation.trusted import Correction
from judged.statistics.intervals import Interval
from judged.text import plain


@dataclass(frozen=True)
class Pair:
    """Two runs on one measure: how they differ, how sure that is, and what it means.

    >>> import judged
    >>> values = {"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}}
    >>> judged.compare_values(values).pair().verdict
    'identical'
    """

    measure: str
    """What the measure is called."""
    run: str
    """The run that is compared."""
    against: str
    """The run that it is compared with."""
    queries: int
    """How many queries count in both."""
    groups: int | None
    """How many groups of queries there are; None where each query stands for itself."""
    value: float
    """The run's number on these queries."""
    against_value: float
    """The other run's."""
    difference: float
    """The run's number minus the other's."""
    relative: float | None
    """The difference as a share of the other's number; None where that is 0 or infinite."""
    interval: Interval
    """Where the difference lies, at the level; its note says why there is none."""
    effect: float | None
    """Cohen's d_z: the mean difference in standard deviations of the differences."""
    wins: int
    """On how many queries the run is better."""
    ties: int
    """On how many both are the same."""
    losses: int
    """On how many the other is better."""
    p: float
    """How often a difference at least as large would be seen if there were none."""
    corrected_p: float
    """The same among all comparisons of its family."""
    smallest_p: float
    """The smallest p that the signs of so many differing queries could give, or so many resamples.
    """
    detectable: float | None
    """The smallest difference that would have been found, at the power that was asked for; None
    where there is no telling, and where none would have been: too few queries differ, or it is
    larger than any that there can be."""
    verdict: str
    """better, worse, equivalent, no evidence, too few or identical."""
    negligible: bool = False
    """Whether the difference is shown, and shown to be smaller than the margin."""
    depends_on: tuple[str, ...] = ()
    """What would change the verdict: ties, missing, unjudged."""
    test: str = "t"
    """The test that p is of."""
    says: str = ""
    """The verdict as a sentence."""
    effective_units: float | None = None
    """How many queries, or groups, of equal weight would say as much (Kish); None where all count
    the same."""
    wider: float | None = None
    """With groups: how many times as wide the interval (of t) is as if queries were independent."""
    trusted: Correction | None = None
    """How the difference was corrected by trusted judgements, where there are some: value,
    against_value, difference, interval, p and verdict are corrected then; wins, ties and losses
    stay those by the cheap judgements, and effect is None."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON.

        Returns
        -------
        dict

        >>> import judged
        >>> values = {"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}}
        >>> judged.compare_values(values).pair().to_dict()["interval"]["low"] is None
        True
        """
        interval = {
            "low": plain(self.interval.low),
            "high": plain(self.interval.high),
            "method": self.interval.method,
        }
        if self.interval.note:
            interval["note"] = self.interval.note
        return {
            "measure": self.measure,
            "run": self.run,
            "against": self.against,
            "queries": self.queries,
            "groups": self.groups,
            "effective_units": plain(self.effective_units),
            "wider": plain(self.wider),
            "value": plain(self.value),
            "against_value": plain(self.against_value),
            "difference": plain(self.difference),
            "relative": plain(self.relative),
            "interval": interval,
            "effect": plain(self.effect),
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
            "p": plain(self.p),
            "corrected_p": plain(self.corrected_p),
            "smallest_p": plain(self.smallest_p),
            "detectable": plain(self.detectable),
            "verdict": self.verdict,
            "negligible": self.negligible,
            "depends_on": list(self.depends_on),
            "test": self.test,
            "says": self.says,
            **({} if self.trusted is None else {"trusted": self.trusted.to_dict()}),
        }
