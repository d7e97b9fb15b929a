"""What was found in the data, as counts that add up: the findings of several blocks are those of
the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from judged.arrays import each_once
from judged.rankings.audit import Audit
from judged.statistics.samples import ExactSum
from judged.text import merged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judged.arrays import Floats
    from judged.rankings.rankings import Rankings


class Doubt(Protocol):
    """Something that may be wrong with a run, which only the whole of it tells."""

    def plus(self, other: Self) -> Self:
        """What two blocks tell together."""

    def sentences(self) -> Iterable[str]:
        """What is to be said of the whole."""


@dataclass(frozen=True)
class Findings:
    """What judging found in some of the queries; see `Audit` for what each count is of.

    >>> from judged import judge
    >>> one, other = judge({"q": {"a": 1}}, {"q": ["b", "a"]}), judge({"r": {"c": 1}}, {"r": ["c"]})
    >>> (one.findings + other.findings).audit().judged_at_10
    0.75
    """

    judged_queries: int = 0
    run_queries: int = 0
    missing_queries: tuple[str, ...] = ()
    listed: int = 0
    """Judged queries that the run has."""
    results: int = 0
    judged_results: int = 0
    judged_at_10: ExactSum = field(default_factory=ExactSum)
    """The shares of judged items among the first ten results of the queries that have results."""
    judged_at: Mapping[str, ExactSum] = field(default_factory=dict)
    """The shares of judged items down to where the measures look."""
    tied_results: int = 0
    tied_queries: int = 0
    short_lists: int = 0
    nothing_relevant: int = 0
    fractional_grades: int = 0
    negative_grades: int = 0
    infinite_scores: int = 0
    duplicates_dropped: int = 0
    single_ties: int = 0
    """Judged results whose score another result of their query shares in single precision only."""
    not_positive: int = 0
    """Relevant results (grade 1 or above) with a score of 0 or less."""
    cut_by_depth: int = 0
    unjudged_removed: int = 0
    doubts: tuple[Doubt, ...] = ()
    """What may be wrong; of the same kinds in all blocks of a run."""
    notes: tuple[str, ...] = ()
    """What the readers repaired or assumed."""
    closing: tuple[str, ...] = ()
    """What is said last, and once."""

    @classmethod
    def of(
        cls,
        rankings: Rankings,
        *,
        run_queries: int,
        notes: tuple[str, ...] = (),
        complete: bool = False,
        **counts: Any,
    ) -> Findings:
        """What rankings themselves show; `counts` adds what only their maker knows."""
        whole = rankings.whole or rankings
        first, last = whole.spans
        tied = last > first
        seen = rankings.retrieved > 0
        results = int(whole.retrieved.sum())
        there = ~whole.missing
        found: dict[str, Any] = {
            "judged_queries": len(whole),
            "missing_queries": tuple(whole.queries[at] for at in np.flatnonzero(whole.missing)),
            "listed": int(there.sum()),
            "results": results,
            "judged_results": results if complete else len(whole.hit_rank),
            "judged_at_10": ExactSum.of(
                np.ones(max(int(seen.sum()), 1)) if complete else _judged_shares(rankings)[seen]
            ),
            "tied_results": int(tied.sum()),
            "tied_queries": len(each_once(whole.hit_query[tied])),
            "short_lists": int((whole.retrieved[there] < 10).sum()),
            "nothing_relevant": int((whole.relevant(1) == 0).sum()),
        }
        return cls(run_queries=run_queries, notes=notes, **{**found, **counts})

    def __add__(self, other: Findings) -> Findings:
        return total([self, other])

    def in_order(self, queries: Sequence[str]) -> Findings:
        """The same, with missing queries in the order of all queries."""
        lost = frozenset(self.missing_queries)
        ordered = tuple(query for query in queries if query in lost) if lost else ()
        return replace(self, missing_queries=ordered)

    def audit(self) -> Audit:
        """The audit of all that was added up."""
        said = (text for doubt in self.doubts for text in doubt.sentences())
        same = {
            each.name: getattr(self, each.name) for each in fields(Audit) if each.name in _COUNTS
        }
        return Audit(
            **same,
            missing_queries=self.missing_queries,
            ignored_queries=self.run_queries - self.listed,
            judged_at_10=self.judged_at_10.mean() if self.judged_at_10.count else 0.0,
            judged_at={name: each.mean() for name, each in self.judged_at.items() if each.count},
            notes=tuple(dict.fromkeys((*said, *self.notes, *self.closing))),
        )


_COUNTS = frozenset(each.name for each in fields(Findings) if each.type == "int") - {"listed"}
"""Fields that an audit has too, and that add up as they are."""


def _judged_shares(r: Rankings) -> Floats:
    """The share of judged items among the first ten results of each query; of no meaning where
    there are none."""
    judged = r.counted(r.hit_grade >= 0, np.full(len(r), 10.0))
    return judged / np.clip(r.retrieved, 1, 10)


def total(parts: Iterable[Findings]) -> Findings:
    """The findings of several blocks as those of the whole."""
    every = list(parts)
    if len(every) == 1:
        return every[0]
    counts = {name: sum(getattr(each, name) for each in every) for name in (*_COUNTS, "listed")}
    shares: dict[str, ExactSum] = {}
    for each in every:
        for name, share in each.judged_at.items():
            shares[name] = shares.get(name, ExactSum()) + share
    doubts: tuple[Doubt, ...] = ()
    for each in every:
        if doubts and each.doubts:
            doubts = tuple(one.plus(two) for one, two in zip(doubts, each.doubts, strict=True))
        doubts = doubts or each.doubts
    return Findings(
        **counts,
        missing_queries=tuple(query for each in every for query in each.missing_queries),
        judged_at_10=sum((each.judged_at_10 for each in every), ExactSum()),
        judged_at=shares,
        doubts=doubts,
        notes=merged(each.notes for each in every),
        closing=merged(each.closing for each in every),
    )


def findings_of(rankings: Rankings) -> Findings:
    """What was found when rankings were made or, where nobody looked, what they show."""
    return rankings.findings or Findings.of(
        rankings, run_queries=len(rankings), complete=rankings.complete
    )


def audit_of(rankings: Rankings) -> Audit:
    """The same as an audit."""
    return rankings.audit or findings_of(rankings).audit()
