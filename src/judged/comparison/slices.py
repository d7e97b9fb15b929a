"""Slices of the queries: the runs compared in each, and whether that differs between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from judged.comparison.match import Match
from judged.comparison.pair import Pair
from judged.comparison.sentences import shown_p
from judged.statistics.intervals import Interval
from judged.statistics.tested import below
from judged.text import plain


@dataclass(frozen=True)
class Slice:
    """Some of the queries, and the runs compared on these alone.

    >>> import judged
    >>> values = {"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}}
    >>> languages = {"1": {"language": "de"}, "2": {"language": "en"}}
    >>> [each.name for each in judged.compare_values(values, slices=languages).slices]
    ['de', 'en']
    """

    attribute: str
    """What the queries were told apart by."""
    name: str
    """Its value in this slice, or the first and the last of its values."""
    queries: int
    """How many queries there are that count in any run."""
    rows: tuple[Pair, ...]
    """One row per measure and pair of runs, as of all queries; p is corrected over all slices of
    the attribute."""
    intervals: Mapping[tuple[str, str], Interval]
    """The number of each run with its interval, by measure and run."""

    @property
    def shows_worse(self) -> bool:
        """Whether a run is shown worse here than the one it is compared with."""
        return any(row.verdict == "worse" for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON.

        Returns
        -------
        dict

        >>> Slice("language", "de", 2, (), {}).to_dict()["slice"]
        'de'
        """
        runs: dict[str, dict[str, Any]] = {}
        for (measure, run), each in self.intervals.items():
            runs.setdefault(run, {})[measure] = each.to_dict()
        return {
            "attribute": self.attribute,
            "slice": self.name,
            "queries": self.queries,
            "runs": [{"name": run, "intervals": own} for run, own in runs.items()],
            "pairs": [row.to_dict() for row in self.rows],
        }


@dataclass(frozen=True)
class Difference:
    """Whether the difference between two runs itself differs between slices.

    >>> Difference("language", "AP", "b", "a", 50, 0.4, 0.7, 0.7, "…").to_dict()["p"]
    0.7
    """

    attribute: str
    """What the queries were told apart by."""
    measure: str
    """What the measure is called."""
    run: str
    """The run that is compared."""
    against: str
    """The run that it is compared with."""
    queries: int
    """How many queries count in both and are in a slice."""
    statistic: float
    """F: how far the slices' mean differences are apart, by how far those of queries are."""
    p: float
    """How often that is as large where the queries get their slices at random."""
    corrected_p: float
    """The same among all pairs of the measure."""
    says: str
    """The same as a sentence."""

    @classmethod
    def of(
        cls, attribute: str, match: Match, statistic: float, p: float, among: float, level: float
    ) -> Difference:
        """What a test found, with its sentence."""
        name, pair = match.measure.name, f"{match.run} and {match.against}"
        shown = "differs" if below(among, level) else "is not shown to differ"
        says = (
            f"{name}: the difference between {pair} {shown} between slices of {attribute} "
            f"(p {shown_p(among).replace('<', '< ')})."
        )
        given = (match.run, match.against, match.queries, statistic, p, among, says)
        return cls(attribute, name, *given)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON.

        Returns
        -------
        dict

        >>> Difference("language", "AP", "b", "a", 50, 0.4, 0.7, 0.7, "…").to_dict()["run"]
        'b'
        """
        return {
            "attribute": self.attribute,
            "measure": self.measure,
            "run": self.run,
            "against": self.against,
            "queries": self.queries,
            "statistic": plain(self.statistic),
            "p": plain(self.p),
            "corrected_p": plain(self.corrected_p),
            "says": self.says,
        }


@dataclass(frozen=True)
class Slices:
    """All slices of a comparison, those where a run is shown worse first.

    >>> len(Slices())
    0
    """

    slices: tuple[Slice, ...] = ()
    """The slices, attribute by attribute."""
    differences: tuple[Difference, ...] = ()
    """Whether the difference of each pair differs between the slices of each attribute."""
    notes: tuple[str, ...] = field(default=())
    """What was noticed on the way: queries in no slice, attributes that cannot be sliced by."""

    def __iter__(self) -> Iterator[Slice]:
        return iter(self.slices)

    def __len__(self) -> int:
        return len(self.slices)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON.

        Returns
        -------
        dict

        >>> Slices().to_dict()
        {'slices': [], 'differences': [], 'notes': []}
        """
        return {
            "slices": [each.to_dict() for each in self.slices],
            "differences": [each.to_dict() for each in self.differences],
            "notes": list(self.notes),
        }
