"""Slices of the queries: the runs compared in each, and whether that differs between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from judged.comparison.match import Match
from judged.comparison.pair import Pair
from judged.comparison.sentences import by_importance, shown_p
from judged.statistics.intervals import Interval
from judged.statistics.tested import below
from judged.text import plain

if TYPE_CHECKING:
    import polars as pl


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
    """Welch's F: how far the slices' mean differences are apart, by their standard errors."""
    p: float
    """How often that is as large where the mean difference is the same in all slices."""
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
        called = "p" if among == p else "corrected p"
        says = (
            f"{name}: the difference between {pair} {shown} between slices of {attribute} "
            f"({called} {shown_p(among).replace('<', '< ')})."
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

    @cached_property
    def pairs(self) -> pl.DataFrame:
        """One row per slice, measure and pair, everything that is known of it in columns."""
        import polars as pl

        from judged.comparison.exports.frames import frame_of

        found = frame_of([row for each in self.slices for row in each.rows])
        owners = [each for each in self.slices for _ in each.rows]
        return found.select(
            pl.Series("attribute", [each.attribute for each in owners], dtype=pl.String),
            pl.Series("slice", [each.name for each in owners], dtype=pl.String),
            pl.all(),
        )

    @cached_property
    def values(self) -> pl.DataFrame:
        """One row per slice, measure and run: its number there, with its own interval."""
        import polars as pl

        rows = [
            (each.attribute, each.name, each.queries, *key, of.estimate, of.low, of.high, of.method)
            for each in self.slices
            for key, of in each.intervals.items()
        ]
        texts = dict.fromkeys(("measure", "run"), pl.String)
        numbers = dict.fromkeys(("value", "low", "high"), pl.Float64)
        schema = {
            **{"attribute": pl.String, "slice": pl.String, "queries": pl.Int64},
            **texts,
            **numbers,
            "interval": pl.String,
        }
        return pl.DataFrame(rows, schema=schema, orient="row").with_columns(
            pl.col(*numbers).fill_nan(None)
        )

    def below(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """The pairs on all queries and below them those in slices."""
        import polars as pl

        nothing = pl.lit(None, pl.String)
        own = pairs.select(nothing.alias("attribute"), nothing.alias("slice"), pl.all())
        return pl.concat([own, self.pairs])

    def sentences(self) -> list[str]:
        """The differences that are shown in slices, losses first; then whether they differ between
        slices."""
        rows = [row for each in self.slices for row in each.rows]
        shown = [row for row in rows if row.verdict in ("better", "worse")]
        return [*by_importance(shown), *(each.says for each in self.differences)]

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON.

        Returns
        -------
        dict

        >>> Slices().to_dict()
        {'slices': [], 'between_slices': []}
        """
        return {
            "slices": [each.to_dict() for each in self.slices],
            "between_slices": [each.to_dict() for each in self.differences],
        }
