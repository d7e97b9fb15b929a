"""How long a retriever took for each query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from judged.text import counted


@dataclass(frozen=True)
class Latency:
    """How long the call took that answered each query, in seconds.

    >>> Latency({"q1": 0.1, "q2": 0.3}).mean
    0.2
    """

    seconds: Mapping[str, float]
    """The time of each query that was answered."""
    workers: int = 1
    """How many queries were asked at once, at most."""
    retried: tuple[str, ...] = ()
    """Queries that failed before they were answered; their failed calls and waits do not count."""

    @property
    def mean(self) -> float:
        """The mean over queries."""
        return float(np.mean(list(self.seconds.values())))

    @property
    def p50(self) -> float:
        """The median."""
        return self.percentile(50)

    @property
    def p95(self) -> float:
        """The time within which 95 % of the queries were answered."""
        return self.percentile(95)

    def percentile(self, share: float) -> float:
        """A percentile, between two queries by linear interpolation.

        Parameters
        ----------
        share : float
            From 0, the fastest query, to 100, the slowest.

        Returns
        -------
        float

        >>> Latency({"q1": 0.1, "q2": 0.3}).percentile(100)
        0.3
        """
        return float(np.percentile(list(self.seconds.values()), share))

    def sentence(self) -> str:
        """The numbers, for people.

        Returns
        -------
        str

        >>> Latency({"q1": 0.1, "q2": 0.3}, workers=4).sentence()
        'mean 200 ms, p50 200 ms, p95 290 ms (2 queries, up to 4 at once)'
        """
        together = f", up to {self.workers:,} at once" if self.workers > 1 else ""
        again = len(self.retried)
        more = f"; {again:,} answered only when asked again" if again else ""
        return (
            f"mean {_shown(self.mean)}, p50 {_shown(self.p50)}, p95 {_shown(self.p95)} "
            f"({counted(len(self.seconds), 'query', 'queries')}{together}{more})"
        )

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """The numbers in seconds, as plain Python values that JSON can hold.

        Parameters
        ----------
        per_query : bool, optional
            Whether the time of every query is there too.

        Returns
        -------
        dict

        >>> Latency({"q1": 0.5}).to_dict()["p95"]
        0.5
        """
        found = {
            "unit": "seconds",
            "mean": self.mean,
            "p50": self.p50,
            "p95": self.p95,
            "queries": len(self.seconds),
            "workers": self.workers,
            "retried": list(self.retried),
        }
        return {**found, "per_query": dict(self.seconds)} if per_query else found


def _shown(seconds: float) -> str:
    """Three digits that count, in milliseconds below a second."""
    if seconds >= 0.9995:
        return f"{seconds:.3g} s" if seconds < 1000 else f"{seconds:,.0f} s"
    return f"{seconds * 1000:.3g} ms"
