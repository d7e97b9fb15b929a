"""A run matched with judgements: ties, duplicates, unjudged items and depth are decided here.

A run is never sorted as a whole. The rank of a judged item is one more than the number of greater
scores in its list, found by bisection in the list's scores. Item ids are compared only where
scores tie, and only for ties that a judged item takes part in.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from judged.inputs.blocks import RunBlocks
from judged.inputs.tables import Judgements, Lookup, Run
from judged.matching.join import match, refuse_apart
from judged.matching.matcher import Matcher, collection_sizes, ranked
from judged.matching.pool import UNUSED, own_weights, pool_of
from judged.matching.variants import Variants
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from judged.text import Warned

if TYPE_CHECKING:
    from judged.options import CollectionLike

__all__ = ["Matcher", "match_variants", "match_with", "pool_of"]


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
