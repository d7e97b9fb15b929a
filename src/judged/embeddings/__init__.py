"""Embeddings: from vectors to exact numbers without a sort."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from judged.embeddings import top_k as search
from judged.embeddings.embeddings import evaluate_embeddings, rank_embeddings
from judged.embeddings.relevance import Diagonal, Listed, Lists, Relation, SameId, SameIndex
from judged.embeddings.relevance_by_label import SameLabel, SharedLabel
from judged.errors import InputError
from judged.inputs.vectors import Vectors, as_vectors

__all__ = [
    "Vectors",
    "as_vectors",
    "diagonal",
    "evaluate_embeddings",
    "groups",
    "junk",
    "rank_embeddings",
    "revisited",
    "same_group",
    "same_id",
    "same_index",
    "same_label",
    "search",
    "shared_label",
]


def same_label(query_labels: Any, item_labels: Any) -> Relation:
    """Relevant = the same label, one label a vector."""
    return SameLabel(query_labels, item_labels)


def shared_label(
    query_labels: Sequence[Iterable[Any]],
    item_labels: Sequence[Iterable[Any]],
    *,
    graded: bool = False,
) -> Relation:
    """Relevant = at least one label in common, several labels a vector; `graded`: the grade is how
    many."""
    return SharedLabel(query_labels, item_labels, graded)


def diagonal() -> Relation:
    """Relevant = the item with the query's own row number: pairs."""
    return Diagonal()


def groups(query_groups: Any, item_groups: Any) -> Relation:
    """Relevant = the same group, as with five captions for each clip."""
    return SameLabel(query_groups, item_groups, "groups")


def same_index() -> Relation:
    """Exclude the item with the query's own row number: never "drop the first result"."""
    return SameIndex()


def same_id() -> Relation:
    """Exclude the item with the query's own id."""
    return SameId()


def same_group(query_groups: Any, item_groups: Any) -> Relation:
    """Exclude items of the query's own group, as with pictures of one burst, or of one identity by
    one camera."""
    return SameLabel(query_groups, item_groups, "groups")


def junk(listed: Any) -> Relation:
    """Exclude listed items: judgements in any form, whatever their grade."""
    return Listed(listed, "junk list")


def revisited(
    ground_truth: Sequence[Mapping[str, Sequence[int]]], protocol: str = "medium"
) -> tuple[Relation, Relation]:
    """Relevance and exclusion of the revisited Oxford and Paris benchmarks, from their lists easy,
    hard and junk.

    Easy asks for the easy images and passes over the hard ones, hard does the reverse, medium asks
    for both; junk is passed over always. Use it with `AP(area=trapezoid)` and `empty="skip"`, as
    their own evaluation does.
    """
    wanted = {"easy": ("easy",), "medium": ("easy", "hard"), "hard": ("hard",)}
    if protocol not in wanted:
        raise InputError(f"protocol must be easy, medium or hard; got {protocol!r}.")
    passed = tuple(part for part in ("easy", "hard", "junk") if part not in wanted[protocol])

    def lists(parts: tuple[str, ...]) -> list[list[int]]:
        return [
            sorted({int(number) for part in parts for number in query.get(part, ())})
            for query in ground_truth
        ]

    return Lists(lists(wanted[protocol]), "relevant"), Lists(lists(passed), "junk")
