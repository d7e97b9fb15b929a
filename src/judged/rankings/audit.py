"""The audit: what was found in the data, as counts of blocks that add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from judged.statistics.samples import ExactSum
from judged.text import Warned, counted, few, merged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judged.arrays import Floats
    from judged.rankings.rankings import Rankings


@dataclass(frozen=True)
class Audit:
    """Findings and assumptions about a run; counts are of judged queries unless stated otherwise.

    >>> from judged import Rankings
    >>> judgements = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> Rankings.from_run(judgements, {"q1": {"a": 2.0, "c": 1.0}}).audit.missing_queries
    ('q2',)
    """

    judged_queries: int = 0
    """Queries with judgements."""
    run_queries: int = 0
    """Queries of the run, judged or not."""
    missing_queries: tuple[str, ...] = ()
    """Judged queries that the run lacks."""
    ignored_queries: int = 0
    """Queries of the run without judgements."""
    results: int = 0
    """Results of the judged queries."""
    judged_results: int = 0
    """Judged ones among them."""
    judged_at_10: float = 0.0
    """Mean share of judged items among the first ten results, over the queries that have results.
    """
    tied_results: int = 0
    """Judged results whose score another result of their query shares: their rank depends on the
    tie rule."""
    tied_queries: int = 0
    """Queries with such results."""
    short_lists: int = 0
    """Queries with fewer than ten results."""
    nothing_relevant: int = 0
    """Judged queries without an item of grade 1 or above."""
    fractional_grades: int = 0
    """Grades between 0 and 1, which are below the usual threshold of relevance."""
    negative_grades: int = 0
    """Grades below 0: in the pool, but not judged."""
    infinite_scores: int = 0
    """Scores that are infinite."""
    duplicates_dropped: int = 0
    """Rows about a query and item that another row is about too."""
    cut_by_depth: int = 0
    """Results below the depth limit."""
    unjudged_removed: int = 0
    """Unjudged results that were removed from the lists."""
    notes: tuple[str, ...] = ()
    """Repairs and assumptions of the readers, including warnings."""

    def sentences(self) -> list[str]:
        """Return what a reader of the numbers should know, most important first.

        >>> Audit(judged_queries=2, judged_at_10=1.0, tied_results=3, tied_queries=1).sentences()
        ['3 judged results in 1 query tied with other results: their ranks depend on the tie rule.']
        """
        notes = [note for note in self.notes if not isinstance(note, Warned)]
        return [*self.warnings, *self.said().values(), *notes]

    def said(self) -> dict[str, str]:
        """Return a sentence for each field that matters, most important first.

        >>> Audit(judged_queries=2, judged_at_10=1.0, duplicates_dropped=1).said()
        {'duplicates_dropped': '1 duplicate row dropped, the best-ranked kept.'}
        """
        lost, tied = self.missing_queries, counted(self.tied_results, "judged result")
        repeated, cut = counted(self.duplicates_dropped, "duplicate row"), self.cut_by_depth
        sentences = {
            "missing_queries": f"{_queries(len(lost), 'judged ')} not in the run ({few(lost)}).",
            "duplicates_dropped": f"{repeated} dropped, the best-ranked kept.",
            "tied_results": f"{tied} in {_queries(self.tied_queries)} tied with other results: "
            "their ranks depend on the tie rule.",
            "nothing_relevant": f"{_queries(self.nothing_relevant, 'judged ')} without relevant "
            "items (no grade of 1 or above).",
            "fractional_grades": f"{counted(self.fractional_grades, 'grade')} between 0 and 1: not "
            "relevant unless rel is lower, as in P(rel=0.5)@10.",
            "ignored_queries": f"{_queries(self.ignored_queries)} of the run without judgements "
            "ignored.",
            "infinite_scores": f"{counted(self.infinite_scores, 'score')} infinite.",
            "cut_by_depth": f"{counted(cut, 'result')} below the depth limit ignored.",
            "unjudged_removed": f"{counted(self.unjudged_removed, 'unjudged result')} removed.",
            "short_lists": f"{_queries(self.short_lists)} with fewer than 10 results.",
        }
        shown = {name: text for name, text in sentences.items() if getattr(self, name)}
        if self.judged_queries and self.judged_at_10 < 1:
            note = "" if self.unjudged_removed else "; unjudged results count as not relevant"
            shown["judged_at_10"] = (
                f"{self.judged_at_10:.1%} of the top-10 results are judged{note}."
            )
        return shown

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes that are warnings."""
        return tuple(note for note in self.notes if isinstance(note, Warned))

    def to_dict(self) -> dict[str, Any]:
        """Return all counts and sentences as plain values for JSON.

        >>> Audit(judged_queries=2).to_dict()["judged_queries"]
        2
        """
        plain = {column.name: getattr(self, column.name) for column in fields(self)}
        return {
            **plain,
            "missing_queries": len(self.missing_queries),
            "missing_query_ids": list(self.missing_queries[:10]),
            "notes": list(self.notes),
            "warnings": list(self.warnings),
            "sentences": self.sentences(),
        }


def _queries(number: int, kind: str = "") -> str:
    return counted(number, f"{kind}query", f"{kind}queries")


class Doubt(Protocol):
    """Something that may be wrong with a run, which only the whole of it tells."""

    def plus(self, other: Self) -> Self:
        """Combine two blocks."""

    def sentences(self) -> Iterable[str]:
        """Return sentences about the whole."""


@dataclass(repr=False)
class Findings:
    """Findings about some of the queries; `Audit` describes each count."""

    judged_queries: int = 0
    run_queries: int = 0
    missing_queries: tuple[str, ...] = ()
    listed: int = 0  # judged queries that the run has
    results: int = 0
    judged_results: int = 0
    judged_at_10: ExactSum = field(default_factory=ExactSum)
    tied_results: int = 0
    tied_queries: int = 0
    short_lists: int = 0
    nothing_relevant: int = 0
    fractional_grades: int = 0
    negative_grades: int = 0
    infinite_scores: int = 0
    duplicates_dropped: int = 0
    single_ties: int = 0  # judged results that tie in single precision only
    not_positive: int = 0  # relevant results (grade 1 or above) with a score of 0 or less
    cut_by_depth: int = 0
    unjudged_removed: int = 0
    doubts: tuple[Doubt, ...] = ()  # of the same kinds in all blocks of a run
    notes: tuple[str, ...] = ()
    closing: tuple[str, ...] = ()  # sentences that come last, once

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
        """Collect what rankings themselves show; `counts` adds what only their maker knows."""
        findings = cls(run_queries=run_queries, notes=notes).recount(rankings, complete=complete)
        return replace(findings, **counts)

    def recount(self, rankings: Rankings, *, complete: bool = False) -> Findings:
        """Count again what rankings themselves show; other findings stay."""
        whole = rankings.whole or rankings
        first, last = whole.spans
        tied = last > first
        shares = judged_shares(rankings, 10)
        results = int(whole.retrieved.sum())
        there = ~whole.missing
        return replace(
            self,
            judged_queries=len(whole),
            missing_queries=tuple(whole.queries[query] for query in np.flatnonzero(whole.missing)),
            listed=int(there.sum()),
            results=results,
            judged_results=results if complete else len(whole.hit_rank),
            tied_results=int(tied.sum()),
            tied_queries=int((np.bincount(whole.hit_query[tied]) > 0).sum()),
            short_lists=int((whole.retrieved[there] < 10).sum()),
            nothing_relevant=int((whole.relevant(1) == 0).sum()),
            judged_at_10=ExactSum.of(np.ones(max(len(shares), 1)) if complete else shares),
        )

    def in_order(self, queries: Sequence[str]) -> Findings:
        """Put missing queries into the order of all queries."""
        lost = frozenset(self.missing_queries)
        ordered = tuple(query for query in queries if query in lost) if lost else ()
        return replace(self, missing_queries=ordered)

    def audit(self) -> Audit:
        doubts = [text for doubt in self.doubts for text in doubt.sentences()]
        return Audit(
            **dict(zip(AUDITED, attrgetter(*AUDITED)(self), strict=True)),
            missing_queries=self.missing_queries,
            ignored_queries=self.run_queries - self.listed,
            judged_at_10=self.judged_at_10.mean() if self.judged_at_10.count else 0.0,
            notes=tuple(dict.fromkeys((*doubts, *self.notes, *self.closing))),
        )


COUNTS = tuple(column.name for column in fields(Findings) if column.type == "int")
AUDITED = tuple(column.name for column in fields(Audit) if column.name in COUNTS)
"""Counts that an audit repeats."""


def judged_shares(r: Rankings, k: int) -> Floats:
    """Return the share of judged items among the first k results of each query with results."""
    answered = r.retrieved > 0
    judged = r.counted(r.hit_grade >= 0, np.full(len(r), float(k)))
    return judged[answered] / np.minimum(r.retrieved[answered], k)


def total(parts: Iterable[Findings]) -> Findings:
    """Add up the findings of several blocks."""
    every = list(parts)
    if len(every) == 1:
        return every[0]
    counts = {name: sum(getattr(part, name) for part in every) for name in COUNTS}
    doubts: tuple[Doubt, ...] = ()
    for part in every:
        if doubts and part.doubts:
            doubts = tuple(one.plus(two) for one, two in zip(doubts, part.doubts, strict=True))
        doubts = doubts or part.doubts
    return Findings(
        **counts,
        missing_queries=tuple(query for part in every for query in part.missing_queries),
        judged_at_10=sum((part.judged_at_10 for part in every), ExactSum()),
        doubts=doubts,
        notes=merged(part.notes for part in every),
        closing=merged(part.closing for part in every),
    )


def findings_of(rankings: Rankings) -> Findings:
    """Return the findings of rankings, or make them from what the rankings show."""
    return rankings.findings or Findings.of(
        rankings, run_queries=len(rankings), complete=rankings.complete
    )


def audit_of(rankings: Rankings) -> Audit:
    return rankings.audit or findings_of(rankings).audit()
