"""What is asked of a run once it is evaluated: its queries, and the few facts about their lists and
judgements that sentences and tables tell."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import borders, each_once
from judged.rankings.findings import Findings, findings_of, total
from judged.rankings.weights import Weights

if TYPE_CHECKING:
    from judged.arrays import Floats, Ints
    from judged.measures.spec import Mask
    from judged.options import Ties, Unjudged
    from judged.rankings.audit import Audit
    from judged.rankings.rankings import Rankings

ANY = float(np.nextafter(0, 1))
"""The least grade above 0."""


@dataclass(frozen=True, eq=False)
class About:
    """What is known of a run, or of a block of it, without its lists.

    >>> from judged import evaluate
    >>> about = evaluate({"q": {"a": 1, "b": 0}}, {"q": ["b", "a"]}, "RR").scored().about
    >>> about.queries, about.relevant(1).tolist(), about.grades.tolist()
    (('q',), [1.0], [0.0, 1.0])
    """

    name: str
    """What results call the run."""
    queries: tuple[str, ...]
    """Their ids."""
    retrieved: Ints
    """List lengths, as they were evaluated."""
    missing: Mask
    """Judged queries that the run lacks."""
    counts: dict[float, Floats]
    """How many items of each query's pool have at least a grade, by that grade."""
    grades: Floats
    """The different grades in the judgements, ascending."""
    findings: Findings
    """What was found in the data."""
    weights: Weights | None = None
    """How much each query counts in summaries; None where all count the same."""
    collection: Ints | None = None
    """How many items there were to retrieve, per query; None where unknown."""
    unlisted: int = 0
    """Relevant items (grade 1 or above) that the run did not retrieve."""
    all_relevant: bool = False
    """Whether a query has no judged item that is irrelevant."""
    ties_known: bool = True
    """Whether it is known which results tie."""
    depth: int | None = None
    """Where the lists were cut; None where they are whole."""
    ties: Ties = "input"
    """How ties were broken."""
    unjudged: Unjudged = "nonrelevant"
    """What became of unjudged items."""
    complete: bool = False
    """Whether every item was judged and only the relevant ones are listed."""
    basis: tuple[str, ...] = ()
    """What was ranked, how, and what counts as relevant, in words."""

    @classmethod
    def of(cls, r: Rankings, grades: Collection[float] = ()) -> About:
        """What is known of rankings; how many items have at least 1, any grade above 0, or one of
        these grades is counted."""
        other = (r.pool_grade >= 0) & (r.pool_grade < 1)
        relevant = int((r.pool_grade >= 1).sum())
        return cls(
            r.name,
            r.queries,
            r.retrieved,
            r.missing,
            {grade: r.relevant(grade) for grade in dict.fromkeys((1.0, ANY, *grades))},
            each_once(r.pool_grade[borders(r.pool_grade)]),
            findings_of(r),
            r.weights,
            r.collection,
            relevant - int((r.hit_grade >= 1).sum()),
            bool((np.bincount(r.pool_query[other], minlength=len(r)) == 0).any()),
            r.hit_tie_first is not None,
            r.depth,
            r.ties,
            r.unjudged,
            r.complete,
            r.basis,
        )

    @classmethod
    def concat(cls, parts: Sequence[About]) -> About:
        """What is known of several blocks, one after the other."""
        first = parts[0]
        if len(parts) == 1:
            return first

        def every(name: str) -> NDArray[Any]:
            return np.concatenate([getattr(part, name) for part in parts])

        weights = [part.weights for part in parts if part.weights is not None]
        return replace(
            first,
            queries=tuple(query for part in parts for query in part.queries),
            retrieved=every("retrieved"),
            missing=every("missing"),
            counts={
                grade: np.concatenate([part.counts[grade] for part in parts])
                for grade in first.counts
            },
            grades=each_once(every("grades")),
            findings=total(part.findings for part in parts),
            weights=Weights(np.concatenate([each.values for each in weights]), weights[0].source)
            if weights
            else None,
            collection=None if first.collection is None else every("collection"),
            unlisted=sum(part.unlisted for part in parts),
            all_relevant=any(part.all_relevant for part in parts),
            ties_known=all(part.ties_known for part in parts),
        )

    def take(self, chosen: Ints) -> About:
        """The queries in another order."""
        return replace(
            self,
            queries=tuple(self.queries[at] for at in chosen.tolist()),
            retrieved=self.retrieved[chosen],
            missing=self.missing[chosen],
            counts={grade: each[chosen] for grade, each in self.counts.items()},
            weights=None if self.weights is None else self.weights.take(chosen),
            collection=None if self.collection is None else self.collection[chosen],
        )

    def __len__(self) -> int:
        return len(self.queries)

    def weights_of(self, counted: Mask) -> Floats | None:
        """The weights of some queries; None where all count the same."""
        return None if self.weights is None else self.weights.values[counted]

    def relevant(self, grade: float) -> Floats:
        """How many items of each query's pool have at least this grade: 1, any above 0, or that of
        a measure."""
        return self.counts[grade]

    @property
    def top_grade(self) -> float:
        """The best grade in the judgements; 1 where none is above 0."""
        best = float(self.grades.max(initial=0))
        return best if best > 0 else 1.0

    @cached_property
    def audit(self) -> Audit:
        """What was found in the run's data."""
        return self.findings.audit()
