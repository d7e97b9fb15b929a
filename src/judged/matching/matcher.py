"""Runs matched with judgements: whole runs, or blocks of whole queries."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Ints, starts_of
from judged.errors import InputError
from judged.inputs.blocks import DistantRun, RunBlocks
from judged.inputs.order import OrderOnly
from judged.inputs.tables import AnyRun, Judgements, Lookup, Run
from judged.matching.checks import (
    empty_message,
    large_ties,
    nothing_in_common,
    own_ids,
    refuse_swapped,
    rising_scores,
    unlike_ids,
)
from judged.matching.join import Matches, match, names_of, refuse_apart
from judged.matching.pool import (
    UNUSED,
    Pool,
    about_weights,
    own_weights,
    pool_of,
    weighed,
    weighted,
)
from judged.matching.ties import Variants, condensed, cut, place
from judged.policy import Policy
from judged.rankings.audit import Findings, total
from judged.rankings.lists import each_query
from judged.rankings.rankings import Rankings, Weights, by_query_and_rank
from judged.text import Warned

if TYPE_CHECKING:
    from judged.inputs.weights import QueryWeights
    from judged.options import CollectionLike


@dataclass(eq=False, repr=False)
class Matcher:
    """Judgements, prepared once; called with a run, it returns the `Rankings` of the run.

    Of a run that is read in blocks, only one block is in memory at a time.
    """

    pool: Pool
    policy: Policy
    collection: CollectionLike | None = None
    weights: QueryWeights | None = None  # weights from a column of the judgements

    @property
    def queries(self) -> tuple[str, ...]:
        """The judged queries, in the order of their first judgements."""
        return self.pool.queries

    @cached_property
    def sizes(self) -> Ints | None:
        """The number of items to retrieve for each query; None if unknown."""
        return collection_sizes(self.collection, self.pool.queries)

    @cached_property
    def own_weights(self) -> Weights | None:
        """The weight of each query, if the judgements have weights."""
        weights = self.weights
        return None if weights is None else Weights(weights.of(self.queries), weights.source)

    def __call__(self, run: AnyRun | RunBlocks) -> Rankings:
        """Return the rankings of a whole run."""
        if isinstance(run, RunBlocks):
            return run.gather(lambda: Rankings.concat(self.blocks(run), self.queries))
        matches = match(self.pool, run, duplicates=self.policy.duplicates)
        refuse_apart(self.pool, run, matches)
        rankings = ranked(self.pool, run, matches, self.policy, self.sizes)
        return rankings if self.weights is None else weighted(rankings, self.weights)

    def blocks(self, run: AnyRun | RunBlocks) -> Generator[Rankings]:
        """Yield the rankings of a run block by block, then of the judged queries that never came.

        A query that returns in a later block of a text raises `UngroupedError`; `RunBlocks.gather`
        handles it.
        """
        if not isinstance(run, RunBlocks):
            yield self(run)
            return
        if isinstance(run, DistantRun):
            yield from run.rankings(self)
            return
        if self.policy.ties == "input":
            run = run.in_input_order()
        feed = Feed(self, run.name, run.source)
        with run.opened(frozenset(self.queries)) as tables:
            for table in tables:
                block = feed.add(table)
                if block is not None:
                    yield block
        yield feed.end()

    def block(self, run: Run | Lookup, numbers: Ints) -> Rankings:
        """Return the rankings of some judged queries, without the checks of a whole run."""
        pool = self.pool.take(numbers)
        sizes = None if self.sizes is None else self.sizes[numbers]
        matches = match(pool, run, duplicates=self.policy.duplicates)
        rankings = ranked(pool, run, matches, self.policy, sizes)
        if self.own_weights is None:
            return rankings
        return weighed(rankings, self.own_weights.take(numbers))


class Feed:
    """A run as its blocks come: which judged queries it had so far, and what else was found."""

    def __init__(self, matcher: Matcher, name: str, source: str) -> None:
        self.matcher, self.name, self.source = matcher, name, source
        self.seen = np.zeros(len(matcher.queries), bool)  # the judged queries that came
        self.has_results = False  # True if a judged query had a result
        self.names: list[str] = []  # the first queries of the run, for messages
        self.rest: list[Findings] = []  # findings of blocks without a judged query
        # Basis and notes of the last block; all blocks have the same.
        self.basis: tuple[str, ...] = ()
        self.notes: tuple[str, ...] = ()

    def add(self, table: Run | Lookup) -> Rankings | None:
        """Return the rankings of the judged queries in a block, or None."""
        places = self.matcher.pool.places
        there = names_of(table)
        if len(self.names) < MAX_NAMES_IN_HINTS:
            self.names += there[: MAX_NAMES_IN_HINTS - len(self.names)]
        numbers = np.array(sorted({places[name] for name in there if name in places}), np.int64)
        if (again := numbers[self.seen[numbers]]).size:
            raise InputError(
                f"{self.source}: query {self.matcher.queries[again[0]]!r} was there before; "
                "results of a query must come together."
            )
        self.seen[numbers] = True
        self.basis, self.notes = table.basis, table.notes
        if not len(numbers):
            count = len(there)
            if isinstance(table, Run):
                count += table.passed.queries - len(table.passed.names)
            self.rest.append(Findings(run_queries=count, notes=table.notes))
            return None
        block = self.matcher.block(table, numbers)
        self.has_results = self.has_results or bool((block.whole or block).retrieved.any())
        return block

    def state(self) -> dict[str, Any]:
        """Return a state for `restore`."""
        copied = {"seen": self.seen.copy(), "names": self.names[:], "rest": self.rest[:]}
        return {**vars(self), **copied}

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to the state before a block that could not be matched."""
        vars(self).update(state)

    def end(self) -> Rankings:
        """Return the rankings of the judged queries that never came, with other findings."""
        matcher = self.matcher
        if not self.seen.any():
            raise InputError(
                nothing_in_common(matcher.pool.name, matcher.queries, self.source, self.names)
            )
        if not self.has_results:
            raise InputError(empty_message(self.source, self.notes))
        nothing = Lookup({}, self.source, name=self.name, basis=self.basis, notes=self.notes)
        block = matcher.block(nothing, np.flatnonzero(~self.seen))
        findings = block.findings
        assert findings is not None
        closing = () if matcher.weights is None else about_weights(matcher.weights, matcher.queries)
        once = Findings(duplicates_dropped=matcher.pool.dropped, closing=closing)
        # Notes that count were made by the blocks already.
        findings = replace(findings, notes=matcher.pool.notes)
        return replace(block, findings=total([*self.rest, findings, once]))


MAX_NAMES_IN_HINTS = 1000


def ranked(
    pool: Pool, run: AnyRun, matches: Matches, policy: Policy, collection: Ints | None
) -> Rankings:
    """Return the rankings of a run, or of a block of it, from the matches of its judged items."""
    has_scores = not any(isinstance(note, OrderOnly) for note in run.notes)
    if has_scores:
        refuse_swapped(pool, run, matches.scores, matches.lengths)
    places = place(pool, matches, policy.ties)
    present = matches.list_of >= 0
    retrieved = np.zeros(len(present), np.int64)
    retrieved[present] = matches.lengths[matches.list_of[present]]
    # The last one is for queries that the run lacks.
    best = np.full(len(matches.lengths) + 1, np.nan)
    filled = np.flatnonzero(matches.lengths)
    best[filled] = np.maximum.reduceat(matches.scores, matches.starts[filled])
    query, pool_grade = pool.query[matches.hit_judgement], pool.best_first
    order = by_query_and_rank(query, places.rank)
    whole = Rankings(
        queries=pool.queries,
        retrieved=retrieved,
        hit_query=query[order],
        hit_rank=places.rank[order],
        hit_grade=pool.grades[matches.hit_judgement[order]],
        hit_tie_first=places.first[order],
        hit_tie_last=places.last[order],
        hit_item=None
        if pool.subtopics is None
        else (matches.hit_judgement - starts_of(pool.lengths)[query])[order],
        pool_query=pool.query,
        pool_grade=pool_grade,
        subtopics=pool.subtopics,
        missing=~present,
        collection=collection,
        best_score=best[matches.list_of] if has_scores else None,
        ties=policy.ties,
        basis=run.basis,
        name=run.name,
    )
    shown = whole if policy.depth is None else cut(whole, policy.depth)
    final = condensed(shown) if policy.unjudged == "removed" else shown
    at_or_below_0 = (matches.hit_score <= 0) & (pool.grades[matches.hit_judgement] >= 1)
    findings = Findings.of(
        shown,
        run_queries=matches.run_queries,
        doubts=(
            unlike_ids(pool, run, matches),
            own_ids(pool, matches),
            large_ties(pool.queries, query, matches.hit_score, places.last > places.first),
            rising_scores(
                matches.scores, matches.starts, matches.lengths, run.notes, matches.asked
            ),
        ),
        # Equal notes of different types differ: those that count are added up.
        notes=tuple({(type(note), note): note for note in (*pool.notes, *run.notes)}.values()),
        fractional_grades=int(((pool.grades > 0) & (pool.grades < 1)).sum()),
        negative_grades=int((pool.grades < 0).sum()),
        infinite_scores=matches.infinite,
        single_ties=places.single_ties,
        not_positive=int(np.count_nonzero(at_or_below_0)) if has_scores else 0,
        duplicates_dropped=matches.dropped + pool.dropped,
        cut_by_depth=int((whole.retrieved - shown.retrieved).sum()),
        unjudged_removed=int((shown.retrieved - final.retrieved).sum()),
    )
    return replace(final, findings=findings)


def collection_sizes(collection: CollectionLike | None, queries: tuple[str, ...]) -> Ints | None:
    """Return the number of items to retrieve for each query; None if unknown."""
    if collection is None:
        return None
    if isinstance(collection, Mapping):
        lost = [query for query in queries if query not in collection]
        if lost:
            raise InputError(
                f"collection has no size for query {lost[0]!r}; give one for each judged query, or "
                "one for all."
            )
        return each_query([collection[query] for query in queries], queries, "collection")
    return each_query(collection, queries, "collection")


def match_with(
    judgements: Judgements | Lookup, policy: Policy, collection: CollectionLike | None = None
) -> Matcher:
    """Prepare judgements once, to match one run after another with them."""
    pool = pool_of(judgements, duplicates=policy.duplicates)
    return Matcher(pool, policy, collection, own_weights(judgements))


def match_variants(
    judgements: Judgements | Lookup,
    run: Run | Lookup | RunBlocks,
    policy: Policy,
    collection: CollectionLike | None = None,
) -> Variants:
    """Match a run for any rule for ties and unjudged items, whatever the policy says of these.

    Items are matched once; those of a run in blocks once for each tie rule that needs it.
    """
    unused = (Warned(UNUSED),) if own_weights(judgements) is not None else ()
    pool = pool_of(judgements, duplicates=policy.duplicates)
    policy = replace(policy, unjudged="nonrelevant")
    if isinstance(run, RunBlocks):
        blocks = run.then(lambda table: replace(table, notes=(*table.notes, *unused)))

        def ranked_by(ties: str) -> Rankings:
            return Matcher(pool, _with_ties(policy, ties), collection)(blocks)

    else:
        table = replace(run, notes=(*run.notes, *unused))
        matches = match(pool, table, duplicates=policy.duplicates)
        refuse_apart(pool, table, matches)
        sizes = collection_sizes(collection, pool.queries)

        def ranked_by(ties: str) -> Rankings:
            return ranked(pool, table, matches, _with_ties(policy, ties), sizes)

    return Variants(ranked_by("id"), ranked_by)


def _with_ties(policy: Policy, ties: str) -> Policy:
    return Policy.of({**policy.to_dict(), "ties": ties})
