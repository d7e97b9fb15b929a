"""What was found in the data: counts for programs, sentences for people."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from judged.text import Warned, counted, few


@dataclass(frozen=True)
class Audit:
    """What judging a run found and assumed; counts are of judged queries unless they say otherwise.

    >>> from judged import judge
    >>> judge({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 2.0, "c": 1.0}}).audit.missing_queries
    ('q2',)
    """

    judged_queries: int = 0
    """Queries with judgements."""
    run_queries: int = 0
    """Queries of the run, judged or not."""
    missing_queries: tuple[str, ...] = ()
    """Judged queries that the run lacks."""
    ignored_queries: int = 0
    """Queries of the run that nobody judged."""
    results: int = 0
    """Results of the judged queries."""
    judged_results: int = 0
    """Those of them that are judged."""
    judged_at_10: float = 0.0
    """Mean share of judged items among the first ten results, over the queries that have results.
    """
    judged_at: dict[str, float] = field(default_factory=dict)
    """The same down to where the measures look, by the names judged@5 and so on; only where an
    unjudged range was asked for."""
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
    """What the readers repaired or assumed, warnings among it."""

    def sentences(self) -> list[str]:
        """What a reader of the numbers should know, one sentence each, most important first.

        Returns
        -------
        list of str

        >>> Audit(judged_queries=2, judged_at_10=1.0, tied_results=3, tied_queries=1).sentences()
        ['3 judged results in 1 query tied with other results: their ranks depend on the tie rule.']
        """
        notes = [note for note in self.notes if not isinstance(note, Warned)]
        return [*self.warnings, *self.said().values(), *notes]

    def said(self) -> dict[str, str]:
        """A sentence for each field that has something to say, most important first.

        Returns
        -------
        dict

        >>> Audit(judged_queries=2, judged_at_10=1.0, duplicates_dropped=1).said()
        {'duplicates_dropped': '1 duplicate row dropped, the best-ranked kept.'}
        """
        lost = self.missing_queries
        unlike = (
            "" if self.unjudged_removed else "; results that nobody judged count as not relevant"
        )
        shares = ", ".join(f"{name} is {share:.1%}" for name, share in self.judged_at.items())
        said = {
            "missing_queries": (
                lost,
                f"{_queries(len(lost), 'judged ')} not in the run ({few(lost)}).",
            ),
            "duplicates_dropped": (
                self.duplicates_dropped,
                f"{counted(self.duplicates_dropped, 'duplicate row')} dropped, the best-ranked "
                "kept.",
            ),
            "tied_results": (
                self.tied_results,
                f"{counted(self.tied_results, 'judged result')} in {_queries(self.tied_queries)} "
                "tied with other results: their ranks depend on the tie rule.",
            ),
            "nothing_relevant": (
                self.nothing_relevant,
                f"{_queries(self.nothing_relevant, 'judged ')} with nothing relevant (no grade of "
                "1 or above).",
            ),
            "fractional_grades": (
                self.fractional_grades,
                f"{counted(self.fractional_grades, 'grade')} between 0 and 1: "
                "not relevant unless rel says so, as in P(rel=0.5)@10.",
            ),
            "ignored_queries": (
                self.ignored_queries,
                f"{_queries(self.ignored_queries)} of the run without judgements ignored.",
            ),
            "infinite_scores": (
                self.infinite_scores,
                f"{counted(self.infinite_scores, 'score')} infinite.",
            ),
            "cut_by_depth": (
                self.cut_by_depth,
                f"{counted(self.cut_by_depth, 'result')} below the depth limit ignored.",
            ),
            "unjudged_removed": (
                self.unjudged_removed,
                f"{counted(self.unjudged_removed, 'unjudged result')} removed.",
            ),
            "short_lists": (
                self.short_lists,
                f"{_queries(self.short_lists)} with fewer than 10 results.",
            ),
            "judged_at_10": (
                self.judged_queries and self.judged_at_10 < 1,
                f"judged@10 is {self.judged_at_10:.1%}{unlike}.",
            ),
            "judged_at": (self.judged_at, f"where the measures look, {shares}."),
        }
        return {about: sentence for about, (found, sentence) in said.items() if found}

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes that could mislead whoever overlooks them."""
        return tuple(note for note in self.notes if isinstance(note, Warned))

    def to_dict(self) -> dict[str, Any]:
        """All counts and sentences, as plain Python values that JSON can hold.

        Returns
        -------
        dict

        >>> Audit(judged_queries=2).to_dict()["judged_queries"]
        2
        """
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
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
