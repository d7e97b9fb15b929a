"""Everything that is looked for, one after the other, and how that is said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from judged.errors import InputError, quoted
from judged.evaluation.evaluation import Evaluation
from judged.evaluation.scores import about_runs
from judged.judgements.check import items, queries, spellings, training
from judged.judgements.check.collection import Collection
from judged.judgements.check.kinds import KINDS
from judged.judgements.check.near import Near
from judged.judgements.check.numbers import Numbers
from judged.judgements.check.result import CollectionCheck, Finding
from judged.options import choice
from judged.text import Warned, counted


@dataclass(frozen=True)
class Thresholds:
    """How near is nearly the same, and what is not looked for."""

    near: float
    near_vectors: float
    memory: str | int
    ignored: tuple[str, ...] = ()


def ignored_names(given: Any) -> tuple[str, ...]:
    """Names of findings from what a caller may pass, in the order in which findings are said.

    >>> ignored_names("unreachable, item-ids")
    ('unreachable', 'item-ids')
    """
    if isinstance(given, str):
        given = [each.strip() for each in given.split(",")]
    if not isinstance(given, (list, tuple, set, frozenset)):
        raise InputError(f"ignore must be names of findings, in a list; got {quoted(given)}.")
    names = {choice("ignore", each, KINDS) for each in given}
    return tuple(name for name in KINDS if name in names)


def searched(
    collection: Collection,
    numbers: Numbers,
    trained: training.Training | None,
    thresholds: Thresholds,
) -> CollectionCheck:
    """Look for everything."""
    as_is = numbers.as_is
    unchecked = [*_lacking(collection, trained, thresholds)]

    def near(side: str) -> Near:
        of_queries = side == "queries"
        found = Near.of(
            collection.queries if of_queries else collection.items,
            collection.names if of_queries else collection.relevant["item"].unique(),
            near=thresholds.near,
            near_vectors=thresholds.near_vectors,
            memory=thresholds.memory,
        )
        unchecked.extend(found.unchecked)
        return found

    def item_twins() -> Finding | None:
        finding, lost = items.item_twins(collection, numbers, near("items"))
        unchecked.extend(lost)
        return finding

    both = collection, numbers
    known, runs = collection.items.given, bool(collection.runs)
    looks: dict[str, Callable[[], Finding | None]] = {
        "two-grades": lambda: items.two_grades(*both),
        "all-relevant": lambda: queries.all_relevant(*both),
        "nothing-relevant": lambda: queries.nothing_relevant(*both),
        "query-ids": lambda: spellings.spelled_queries(*both),
        "item-ids": lambda: spellings.spelled_items(*both),
    }
    if collection.queries.given:
        looks["query-twins"] = lambda: queries.query_twins(*both, near("queries"))
        looks["unknown-queries"] = lambda: queries.unknown_queries(*both)
    if known:
        looks["item-twins"] = item_twins
        looks["unknown-items"] = lambda: items.unknown_items(*both)
    if known or runs:
        looks["unreachable"] = lambda: items.unreachable(*both)
    if runs:
        looks["missing-queries"] = lambda: queries.missing_queries(*both)
        looks["unjudged-queries"] = lambda: queries.unjudged_queries(collection)
    if trained is not None:
        looks["training-queries"] = lambda: training.training_queries(*both, trained)
        looks["training-pairs"] = lambda: training.training_pairs(*both, trained)
    found = [looks[name]() for name in KINDS if name in looks and name not in thresholds.ignored]
    return CollectionCheck(
        findings=tuple(each for each in found if each is not None),
        unchecked=tuple(unchecked),
        looked_at=collection.sizes(),
        how=tuple(_how(collection, numbers, trained, thresholds)),
        notes=tuple(map(Warned, dict.fromkeys(_notes(collection, as_is)))),
        ignored=thresholds.ignored,
    )


def _lacking(
    collection: Collection, trained: training.Training | None, thresholds: Thresholds
) -> Iterator[str]:
    """What could not be looked for, because something was not given."""
    if not collection.queries.given:
        yield (
            "identical and nearly identical queries: neither texts nor vectors of queries were "
            "given."
        )
    if not collection.items.given:
        yield (
            "unjudged twins of relevant items, and judged items that occur nowhere: neither texts "
            "nor vectors of items were given."
        )
    if not collection.runs:
        yield "what runs lack, and what findings do to the numbers: no runs were given."
    if trained is None:
        yield "overlap with a training set: none was given."
    elif trained.pairs is None:
        yield "relevant items that are in the training set: it has queries alone."
    elif collection.queries.texts is not None:
        yield "queries that are in the training set by their texts: it has judgements alone."
    elif known := training.users_known_to(collection, trained):
        yield (
            f"queries that are in the training set: {known:,} of {len(collection.names):,} are, as "
            "users of a recommender are. Relevant items that they share with it were looked for."
        )
    yield from queries.only_relevant(collection)
    for name in thresholds.ignored:
        yield f"{name}: ignored, as asked."


def _how(
    collection: Collection,
    numbers: Numbers,
    trained: training.Training | None,
    thresholds: Thresholds,
) -> Iterator[str]:
    """How things were looked for, and what numbers are."""
    yield "Relevant is " + (
        "any grade above 0." if collection.rel is None else f"a grade from {collection.rel:g}."
    )
    sides = collection.queries, collection.items
    if any(side.texts is not None for side in sides):
        yield (
            "Texts are the same whatever their case, Unicode form, punctuation and white space; "
            f"nearly the same with {thresholds.near:.0%} of their words in common, in any order, "
            "and the same numbers."
        )
    if any(side.vectors is not None for side in sides):
        yield f"Vectors are nearly the same with a cosine from {thresholds.near_vectors:g}."
    for side in sides:
        yield from side.how
    if trained is not None:
        kind = "a table of queries" if trained.pairs is None else "judgements"
        size = counted(len(trained.ids), "query", "queries")
        yield f"The training set was read as {kind}, of {size}."
    if isinstance(numbers.as_is, Evaluation):
        yield (
            "As it is: the number of 'judged evaluate' for all judgements as given; otherwise: the "
            f"same run, measure and policy ({numbers.request.policy}) with what the finding says "
            "changed, and nothing else."
        )


def _notes(collection: Collection, as_is: Evaluation | str | None) -> Iterator[str]:
    """What could mislead about the data."""
    if collection.repeats:
        rows = counted(collection.repeats, "judgement repeats", "judgements repeat")
        yield (
            f"{rows} another: the first of each counts here, as with duplicates=first "
            "(--duplicates first), without which 'judged evaluate' refuses them."
        )
    if isinstance(as_is, str):
        yield f"There are no numbers as it is: {as_is}"
    elif as_is is not None:
        yield from about_runs(as_is, [list(run.audit.warnings) for run in as_is.runs])
        dropped = (run.audit.said().get("duplicates_dropped") for run in as_is.runs)
        yield from about_runs(as_is, [[text] if text else [] for text in dropped])
    else:
        yield from (note for note in collection.judgements.notes if isinstance(note, Warned))
