"""What was found in the data: counts for programs, sentences for people."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(frozen=True)
class Audit:
    """What judging a run found and assumed. Counts concern the judged queries unless they say
    otherwise."""

    judged_queries: int = 0
    run_queries: int = 0
    missing_queries: tuple[str, ...] = ()
    """Judged queries that the run lacks."""
    ignored_queries: int = 0
    """Queries of the run that nobody judged."""
    results: int = 0
    judged_results: int = 0
    judged_at_10: float = 0.0
    """Mean share of judged items among the first ten results, over the queries that have results.
    """
    judged_at: dict[str, float] = field(default_factory=dict)
    """The same down to where the measures look, by the names judged@5 and so on; only where an
    unjudged range was asked for."""
    tied_results: int = 0
    """Judged results whose score another result of their query shares: their rank hangs on the tie
    rule."""
    tied_queries: int = 0
    short_lists: int = 0
    """Queries with fewer than ten results."""
    nothing_relevant: int = 0
    """Judged queries without an item of grade 1 or above."""
    fractional_grades: int = 0
    """Grades between 0 and 1, which are below the usual threshold of relevance."""
    negative_grades: int = 0
    infinite_scores: int = 0
    duplicates_dropped: int = 0
    cut_by_depth: int = 0
    """Results below the depth limit."""
    unjudged_removed: int = 0
    notes: tuple[str, ...] = ()
    """What the readers repaired or assumed."""

    def findings(self) -> list[str]:
        """What a reader of the numbers should know, one sentence each, most important first."""
        shown = self.missing_queries[:3]
        said = [
            (
                self.missing_queries,
                f"{_count(len(self.missing_queries), 'judged query', 'judged queries')} "
                "not in the run "
                f"({', '.join(shown)}{', …' if len(self.missing_queries) > 3 else ''}).",
            ),
            (
                self.duplicates_dropped,
                f"{_count(self.duplicates_dropped, 'duplicate row')} dropped, the best-ranked "
                "kept.",
            ),
            (
                self.tied_results,
                f"{_count(self.tied_results, 'judged result')} in "
                f"{_count(self.tied_queries, 'query', 'queries')} "
                "tied with other results: their ranks hang on the tie rule.",
            ),
            (
                self.nothing_relevant,
                f"{_count(self.nothing_relevant, 'judged query', 'judged queries')} "
                "with nothing relevant (no grade of 1 or above).",
            ),
            (
                self.fractional_grades,
                f"{_count(self.fractional_grades, 'grade')} between 0 and 1: "
                "not relevant unless rel says so, as in P(rel=0.5)@10.",
            ),
            (
                self.ignored_queries,
                f"{_count(self.ignored_queries, 'query', 'queries')} of the run without "
                "judgements ignored.",
            ),
            (self.infinite_scores, f"{_count(self.infinite_scores, 'score')} infinite."),
            (
                self.cut_by_depth,
                f"{_count(self.cut_by_depth, 'result')} below the depth limit ignored.",
            ),
            (self.unjudged_removed, f"{_count(self.unjudged_removed, 'unjudged result')} removed."),
            (
                self.short_lists,
                f"{_count(self.short_lists, 'query', 'queries')} with fewer than 10 results.",
            ),
            (
                self.judged_queries and self.judged_at_10 < 1,
                f"judged@10 is {self.judged_at_10:.1%}"
                f"{'' if self.unjudged_removed else '; results that nobody judged count as not relevant'}.",
            ),
            (self.judged_at, f"where the measures look, {_listed(self.judged_at)}."),
        ]
        return [sentence for found, sentence in said if found] + list(self.notes)

    def to_dict(self) -> dict[str, Any]:
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            **plain,
            "missing_queries": len(self.missing_queries),
            "missing_query_ids": list(self.missing_queries[:10]),
            "notes": list(self.notes),
            "findings": self.findings(),
        }


def _listed(shares: dict[str, float]) -> str:
    return ", ".join(f"{name} is {share:.1%}" for name, share in shares.items())


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
