"""Rankings whose queries weigh differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from judged.errors import InputError
from judged.inputs.tables import Judgements, Lookup, QueryWeights
from judged.rankings.findings import findings_of
from judged.rankings.rankings import Rankings
from judged.rankings.weights import Weights
from judged.text import counted, few

if TYPE_CHECKING:
    from judged.options import WeightsLike


UNUSED = "The weights of queries are not used here: every query counts once."


def own_weights(judgements: Judgements | Lookup) -> QueryWeights | None:
    """What a column of the judgements says that queries weigh."""
    return judgements.weights if isinstance(judgements, Judgements) else None


def refuse_both(judgements: Judgements | Lookup, given: WeightsLike | None) -> None:
    """Weights from a column of the judgements and from elsewhere cannot both hold."""
    own = own_weights(judgements)
    if own is not None and given is not None:
        raise InputError(
            f"the judgements have weights of queries ({own.source}), and weights were given too; "
            "give one of them."
        )


def weighted(r: Rankings, given: QueryWeights) -> Rankings:
    """The rankings with a weight for each query, and notes on weights that do nothing.

    >>> r = Rankings.from_relevance([[1], [0]], queries=["a", "b"])
    >>> weighted(r, QueryWeights({"a": 3.0, "b": 1.0})).evaluate("P@1").value()
    0.75
    """
    weights = Weights(given.of(r.queries), given.source)
    found = findings_of(r)
    closing = (*found.closing, *about_weights(given, r.queries))
    return replace(weighed(r, weights), findings=replace(found, closing=closing))


def about_weights(given: QueryWeights, queries: Sequence[str]) -> tuple[str, ...]:
    """Notes on weights that do nothing."""
    weights = given.of(queries)
    idle, unknown = int((weights == 0).sum()), given.unknown(queries)
    said = [
        (idle, f"{counted(idle, 'judged query', 'judged queries')} of weight 0: not counted."),
        (
            unknown,
            f"{counted(len(unknown), 'weight')} of queries without judgements ignored "
            f"({few(unknown)}).",
        ),
    ]
    return tuple(sentence for number, sentence in said if number)


def weighed(r: Rankings, weights: Weights) -> Rankings:
    """The rankings with a weight for each query."""
    whole = None if r.whole is None else replace(r.whole, weights=weights)
    return replace(r, weights=weights, whole=whole)
