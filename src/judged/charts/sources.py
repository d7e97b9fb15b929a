"""What charts are made from: evaluations and rankings of systems, or runs and judgements with items
and scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from judged.checks import whole
from judged.errors import InputError
from judged.evaluation.evaluation import Evaluation, evaluate_rankings
from judged.policy import Policy
from judged.rankings.rankings import Rankings

if TYPE_CHECKING:
    from judged.measures import Measure
    from judged.measures.spec import Mask

Source = Evaluation | Rankings | Sequence[Rankings]
"""An evaluation, or rankings: of one system or several."""


@dataclass(frozen=True, eq=False)
class Systems:
    """Rankings under distinct names, and the policy that their numbers are computed with."""

    rankings: tuple[Rankings, ...]
    policy: Policy

    @classmethod
    def of(cls, source: Source) -> Systems:
        if isinstance(source, Evaluation):
            return cls(_named([run.rankings for run in source.runs]), source.policy)
        rankings = [source] if isinstance(source, Rankings) else list(source)
        if not rankings or not all(isinstance(each, Rankings) for each in rankings):
            raise InputError(
                "a chart is made from an evaluation, from rankings or from a list of rankings; got "
                "something else."
            )
        return cls(_named(rankings), Policy(ties=rankings[0].ties, unjudged=rankings[0].unjudged))

    @property
    def names(self) -> list[str]:
        return [each.name for each in self.rankings]

    def one(self, query: str | None = None) -> Systems:
        """The only system, and only one of its queries where that is named."""
        if len(self.rankings) != 1:
            raise InputError(
                f"this chart shows one system; got {len(self.rankings)}: {', '.join(self.names)}."
            )
        return self if query is None else self.about(query)

    def pair(self) -> Systems:
        """Two systems about the same queries."""
        if len(self.rankings) != 2:
            raise InputError(
                f"this chart compares two systems; got {len(self.rankings)}: "
                f"{', '.join(self.names)}."
            )
        if self.rankings[0].queries != self.rankings[1].queries:
            raise InputError(
                "the two systems have different queries; judge both with the same judgements."
            )
        return self

    def about(self, query: str) -> Systems:
        """Of one query only."""
        for each in self.rankings:
            if query not in each.queries:
                some = ", ".join(each.queries[:3]) + (", …" if len(each) > 3 else "")
                raise InputError(f"there is no query {query!r}; there is {some}.")
        return replace(
            self, rankings=tuple(each.take([each.queries.index(query)]) for each in self.rankings)
        )

    def evaluate(
        self,
        measures: Sequence[str | Measure],
        *,
        tie_range: bool = False,
        unjudged_range: bool = False,
    ) -> Evaluation:
        return evaluate_rankings(
            self.rankings,
            list(measures),
            policy=self.policy,
            tie_range=tie_range,
            unjudged_range=unjudged_range,
        )

    def counted(self, r: Rankings, rel: float) -> tuple[Mask, Mask]:
        """Which queries the policy counts, and which of them are perfect because nothing is
        relevant."""
        nothing = r.relevant(rel) == 0
        skipped = (r.missing & (self.policy.missing == "skip")) | (
            nothing & (self.policy.empty == "skip")
        )
        return ~skipped, nothing & (self.policy.empty == "one")

    @property
    def longest(self) -> int:
        """The length of the longest list."""
        return max(int(each.retrieved.max(initial=0)) for each in self.rankings)

    def notes(self) -> list[str]:
        """What has to be said of any chart of these."""
        said = []
        if self.policy.ties == "expected":
            said.append(
                "Ties are not broken (ties=expected): numbers are means over their orders, curves "
                "show one order."
            )
        if len(self.rankings[0]) > 1 and self.policy.empty == "skip":
            said.append("Queries with nothing relevant are left out.")
        return said


def cutoffs(last: int, most: int = 40) -> list[int]:
    """Every rank from 1, or some of them where there are many, ever further apart.

    >>> cutoffs(5), len(cutoffs(1000)) <= 40, cutoffs(1000)[-1]
    ([1, 2, 3, 4, 5], True, 1000)
    """
    if last <= most:
        return list(range(1, last + 1))
    return sorted({int(k) for k in np.unique(np.rint(np.geomspace(1, last, most)))})


def checked_k(k: int | None, longest: int, default: int) -> int:
    """How far a curve goes: as far as it was told, or as lists go, down to a default."""
    if k is None:
        return max(1, min(longest, default))
    return whole("k", k)


def _named(rankings: Sequence[Rankings]) -> tuple[Rankings, ...]:
    """With distinct names: charts tell systems apart by them."""
    names = [each.name for each in rankings]
    again = [names[:at].count(name) for at, name in enumerate(names)]
    return tuple(
        replace(each, name=f"{each.name} ({before + 1})") if before else each
        for each, before in zip(rankings, again, strict=True)
    )
