"""An evaluation in parts: blocks of whole queries are evaluated one by one, and what they give is
gathered. Whatever evaluates goes this way, with a single block where a run is in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from judged.errors import InputError, PolicyError
from judged.evaluation.about import About
from judged.evaluation.kept import MOST_ROWS
from judged.evaluation.ranges import TIE_ORDERS, UNJUDGED_ENDS, top_grade, with_judged_shares
from judged.evaluation.settlement import (
    graded_for,
    nothing_relevant,
    refuse_missing,
    settled_values,
    tied_values_of,
    values_of,
)
from judged.evaluation.unanswerable import Apart, Unanswerable, apart_policy, without
from judged.evaluation.values import Values
from judged.evaluation.weighting import refuse_sums
from judged.matching.variants import Variants
from judged.matching.weights import about_weights, weighed
from judged.measures.orders import tied_queries
from judged.rankings.findings import Findings, total
from judged.rankings.rankings import Rankings
from judged.rankings.weights import Weights

if TYPE_CHECKING:
    from judged.arrays import Ints
    from judged.evaluation.request import Request
    from judged.evaluation.scored import Scored
    from judged.inputs.tables import QueryWeights
    from judged.options import WeightsLike


@dataclass(frozen=True)
class Asked:
    """What is asked of a run: what is computed of each block, and how blocks become numbers."""

    request: Request
    """Measures, policy and convention."""
    tie_range: bool = False
    unjudged_range: bool = False
    top_grade: float = 1.0
    """The best grade in all judgements: what unjudged results may turn out to be."""
    unanswerable: bool = False
    answer_threshold: float | None = None
    weights: QueryWeights | None = None
    """How much each query counts, where somebody said so beside the judgements."""
    per_query: bool = True
    """Whether the values of queries are wanted, not summaries alone."""

    @classmethod
    def of(
        cls,
        request: Request,
        *,
        tie_range: bool = False,
        unjudged_range: bool = False,
        unanswerable: bool = False,
        answer_threshold: float | None = None,
        weights: WeightsLike | None = None,
    ) -> Asked:
        """What was asked for, with the policy that then holds; what has no meaning is refused."""
        if unanswerable:
            request = replace(request, policy=apart_policy(request.policy))
        elif answer_threshold is not None:
            raise InputError(
                "answer_threshold is about queries with nothing relevant, which are looked at with "
                "unanswerable=True (--unanswerable)."
            )
        return cls(
            request,
            tie_range,
            unjudged_range,
            unanswerable=unanswerable,
            answer_threshold=answer_threshold,
            weights=_read(weights),
        )

    @property
    def grades(self) -> list[float]:
        """From which grades on items are relevant to the measures."""
        every = (measure.params.get("rel") for measure in self.request.measures)
        return [rel for rel in every if rel is not None]


def _read(weights: WeightsLike | None) -> QueryWeights | None:
    """What queries weigh, where somebody says so."""
    if weights is None:
        return None
    from judged.inputs.weights import read_weights  # loads what reads files

    return read_weights(weights)


@dataclass(frozen=True, eq=False)
class Part:
    """What a block gives to an evaluation; it holds no rankings, and can be sent elsewhere."""

    about: About
    usual: Values
    others: dict[str, Values] = field(default_factory=dict)
    """The values under other assumptions, by their names."""
    apart: Apart | None = None
    """What is known of queries with nothing relevant, where these are looked at apart."""

    @classmethod
    def concat(cls, parts: Sequence[Part]) -> Part:
        """What several blocks give, one after the other."""
        filled = [part for part in parts if len(part.about)] or parts[:1]
        about = About.concat([part.about for part in filled])
        apart = [part.apart for part in parts if part.apart is not None]
        own = filled[0].others
        usual = Values.concat([part.usual for part in filled])
        return cls(
            replace(about, findings=total(part.about.findings for part in parts)),
            usual,
            {name: _joined(filled, name, usual) for name in own},
            Apart.concat(apart) if apart else None,
        )


def _joined(parts: Sequence[Part], name: str, usual: Values) -> Values:
    """The values of several blocks under another assumption; the usual ones where it changes
    nothing."""
    own = [part.others[name] for part in parts]
    same = all(one is part.usual for one, part in zip(own, parts, strict=True))
    return usual if same else Values.concat(own)


def part_of(rankings: Rankings, asked: Asked) -> Part:
    """What a block of rankings gives.

    >>> from judged import judge
    >>> from judged.evaluation.request import Request
    >>> asked = Asked.of(Request.of("RR", None))
    >>> part = part_of(judge({"q": {"a": 1}}, {"q": ["b", "a"]}), asked)
    >>> gathered([part], asked, ["q"]).summary
    {RR: 0.5}
    """
    return _part(*as_asked(rankings, asked), asked)


def as_asked(rankings: Rankings, asked: Asked) -> tuple[Rankings, Apart | None]:
    """The rankings as the policy wants them, with the weights of their queries and without the
    queries that are looked at apart; and what is known of those."""
    request, r = asked.request, rankings
    if asked.weights is not None:
        r = weighed(r, Weights(asked.weights.known(r.queries), asked.weights.source))
    if r.weights is not None:
        refuse_sums(request.measures)
    r = Variants(r).under(request.policy.ties, request.policy.unjudged)
    apart = None
    if asked.unanswerable:
        graded = graded_for(r, request.measures, request.convention)
        nothing = reduce(np.logical_and, (nothing_relevant(m, own) for m, own in graded.items()))
        apart = Apart.of(r, nothing)
        r = without(r, nothing) if nothing.any() else r
    if asked.unjudged_range:
        if r.complete:
            raise PolicyError(
                f"unjudged_range has no meaning for {r.name}, where every item is judged and "
                "relevant ones are listed."
            )
        r = replace(r, findings=with_judged_shares(r, request.measures))
    return r, apart


def _part(r: Rankings, apart: Apart | None, asked: Asked) -> Part:
    request = asked.request
    about = About.of(r, asked.grades)
    if not len(r):
        return Part(about, Values(), apart=apart)
    wanted = request.measures, request.convention
    others: dict[str, Values] = {}
    unbroken = Variants(r).under("expected") if asked.tie_range else r
    if asked.tie_range and tied_queries(unbroken).any():
        others = tied_values_of(unbroken, *wanted)
    usual = others["expected"] if others and r is unbroken else values_of(r, *wanted)
    if asked.tie_range and not others:
        others = dict.fromkeys(TIE_ORDERS, usual)
    if asked.unjudged_range:
        for name, grade in zip(UNJUDGED_ENDS, (0.0, asked.top_grade), strict=True):
            others[name] = values_of(Variants(r).filled(grade), *wanted)
    return Part(about, usual, others, apart)


def gathered(parts: Iterable[Part], asked: Asked, queries: Sequence[str]) -> Scored:
    """The values of a run from what all its blocks give, in the order of these queries."""
    whole, request = Part.concat(list(parts)), asked.request
    apart = None if whole.apart is None else _looked_at(whole.apart, asked, queries)
    about = whole.about
    order = _order(about.queries, queries)
    if order is not None:
        about = about.take(order)
    about = replace(about, findings=_findings(about.findings, asked, queries))
    refuse_missing(about, request.policy)

    def settle(values: Values) -> Scored:
        if order is not None:
            values = values.take(order)
        scored = settled_values(values, about, request.policy)
        for measure, sure in values.sure.items():
            if beyond := int((~sure & ~np.isnan(scored.values[measure])).sum()):
                scored.unsure[measure] = beyond
        return replace(scored, labels=request.labels)

    usual = settle(whole.usual)
    others = {
        name: usual if values is whole.usual else settle(values)
        for name, values in whole.others.items()
    }
    return replace(usual, others=others, unanswerable=apart)


def _findings(findings: Findings, asked: Asked, queries: Sequence[str]) -> Findings:
    """What was found in all blocks, with what is said of weights; these are refused where they
    leave a query without one."""
    if asked.weights is not None:
        asked.weights.of(queries)
        closing = (*findings.closing, *about_weights(asked.weights, queries))
        findings = replace(findings, closing=closing)
    return findings.in_order(queries)


def _looked_at(known: Apart, asked: Asked, queries: Sequence[str]) -> Unanswerable:
    """What a run does with the queries that have nothing relevant."""
    order = _order(known.queries, queries)
    if order is not None:
        known = known.take(order)
    refuse_missing(known, asked.request.policy)
    return known.looked_at(
        asked.answer_threshold, skip_missing=asked.request.policy.missing == "skip"
    )


def _order(given: Sequence[str], wanted: Sequence[str]) -> Ints | None:
    """The order that queries shall have, of those that are there; None where they have it."""
    if tuple(given) == tuple(wanted):
        return None
    at = {query: number for number, query in enumerate(given)}
    if len(at) != len(given):
        twice = next(query for number, query in enumerate(given) if at[query] != number)
        raise InputError(f"query {twice!r} is in two blocks; a block must hold whole queries.")
    order = np.array([at[query] for query in wanted if query in at], np.int64)
    if len(order) < len(given):
        unknown = next(iter(at.keys() - set(wanted)))
        raise InputError(f"query {unknown!r} is in a block, and is none of those asked for.")
    return None if (order == np.arange(len(given))).all() else order


Piled = TypeVar("Piled")


class Piles(Generic[Piled]):
    """Things that come one by one and are put together by the hundred, so that many small ones
    weigh no more than few large ones."""

    HIGHEST = 200

    def __init__(self, concat: Callable[[Sequence[Piled]], Piled]) -> None:
        self._concat = concat
        self._piles: list[list[Piled]] = [[]]

    def add(self, one: Piled) -> None:
        """Put one more on the lowest pile; one that becomes too high is one more on the next."""
        for pile in self._piles:
            pile.append(one)
            if len(pile) < self.HIGHEST:
                return
            one = self._concat(pile)
            pile.clear()
        self._piles.append([one])

    def __iter__(self) -> Iterator[Piled]:
        return (one for pile in reversed(self._piles) for one in pile)


class Kept:
    """The rankings of the blocks of a run, as long as they are not too large to keep."""

    def __init__(self) -> None:
        self._blocks: Piles[Rankings] = Piles(Rankings.concat)
        self._rows = 0

    def part_of(self, block: Rankings, asked: Asked) -> Part:
        """What a block gives; it is kept, unless a measure refuses it."""
        r, apart = as_asked(block, asked)
        part = _part(r, apart, asked)
        self._rows += len(r.hit_rank) + len(r.pool_grade)
        if self._rows > MOST_ROWS:
            self._blocks = Piles(Rankings.concat)
        else:
            self._blocks.add(r)
        return part

    def rankings(self, scored: Scored, *more: Rankings) -> Rankings | None:
        """All of them and some more, as they were scored; None where they are too large."""
        rows = self._rows + sum(len(r.hit_rank) + len(r.pool_grade) for r in more)
        if rows > MOST_ROWS:
            return None
        whole = Rankings.concat([*self._blocks, *more], scored.queries)
        return replace(whole, findings=scored.about.findings)


def evaluated(rankings: Rankings, asked: Asked) -> tuple[Scored, Rankings]:
    """The values of rankings that are whole, and what they are of."""
    asked = replace(asked, top_grade=top_grade(rankings))
    r, apart = as_asked(rankings, asked)
    scored = gathered([_part(r, apart, asked)], asked, rankings.queries)
    return scored, replace(r, findings=scored.about.findings)
