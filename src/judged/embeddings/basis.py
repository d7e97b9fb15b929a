"""What ranks are of, in words, and what was found on the way: for all queries, or for some."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from judged.embeddings.itself import is_the_answer, warned_of_itself
from judged.embeddings.relations import Relation
from judged.embeddings.search import Search
from judged.inputs.keyed import CATEGORIES
from judged.matching.documents import BASIS
from judged.rankings.audit import Findings
from judged.rankings.rankings import ENCODED, OTHER_WAY, Rankings
from judged.text import Warned, counted


@dataclass(frozen=True)
class Lost:
    """Judged items that have no vector."""

    items: int

    def plus(self, other: Lost) -> Lost:
        return Lost(self.items + other.items)

    def sentences(self) -> Iterable[str]:
        if self.items:
            items = counted(self.items, "judged item has", "judged items have")
            yield Warned(f"{items} no vector, and can only be missed.")


@dataclass(frozen=True)
class Itself:
    """Queries that are ranked for themselves, unless that is what is asked for."""

    warned: tuple[str, ...]
    is_the_answer: bool

    def plus(self, other: Itself) -> Itself:
        return Itself(self.warned, self.is_the_answer and other.is_the_answer)

    def sentences(self) -> Iterable[str]:
        return () if self.is_the_answer else self.warned


@dataclass(frozen=True)
class Basis:
    """What rankings are of, in words, and what was assumed on the way."""

    words: tuple[str, ...]
    notes: tuple[str, ...]
    complete: bool
    itself: tuple[str, ...]
    """A warning where all queries are among the items."""

    def of(self, r: Rankings, queries: int) -> Rankings:
        """Rankings with what they are of, and what was found; of so many queries, judged or not."""
        lost = int(np.count_nonzero(~r.missing[r.pool_query])) - len(r.hit_query)
        found = Findings.of(
            r,
            run_queries=queries,
            notes=self.notes,
            complete=self.complete,
            doubts=(Lost(lost), Itself(self.itself, is_the_answer(r))),
        )
        return replace(r, complete=self.complete, basis=self.words, findings=found)


def basis_of(search: Search, relation: Relation, *, back: bool = False) -> Basis:
    """What rankings of a search are of; `back` where items search for queries."""
    notes = (*getattr(relation, "notes", ()), *search.queries.notes, *search.items.notes)
    return Basis(
        _words(search, relation, back),
        tuple(dict.fromkeys(notes)),
        relation.complete,
        warned_of_itself(search, relation, back=back),
    )


def explained(r: Rankings, of: Search, relation: Relation, *, back: bool = False) -> Rankings:
    """Rankings with what they are of, and what was found; `back` where items search for queries."""
    return basis_of(of, relation, back=back).of(r, len(of.queries))


def _words(search: Search, relation: Relation, back: bool) -> tuple[str, ...]:
    """What the ranks are of, in words: part of the definition of every number that comes from
    them."""
    what = "items"
    said = [f"{search.similarity.name}: {search.similarity.says}, {_precision(search)}"]
    said += _encoded(search, back)
    if search.dims is not None:
        said.append(f"only the first {search.dims} dimensions of the vectors are used")
    if search.normalisation is not None:
        said.append(search.normalisation.note.rstrip("."))
    if search.categories is not None:
        what = "categories"
        said.append(BASIS[CATEGORIES])
    said.append(OTHER_WAY if back else f"all {what} are ranked")
    said.append(f"relevant: {relation.says}")
    if search.exclude is not None:
        said.append(f"excluded from the ranking: {search.exclude.says}")
    return tuple(said)


def _encoded(search: Search, back: bool) -> list[str]:
    """Who made the vectors, where that is known."""
    queries, items = search.queries.made_by, search.items.made_by
    if back:
        queries, items = items, queries
    if queries is not None and queries == items:
        return [f"{ENCODED['queries', 'items']} {queries}"]
    said = []
    if queries is not None:
        said.append(f"{ENCODED['queries',]} {queries}")
    if items is not None:
        said.append(f"{ENCODED['items',]} {items}")
    return said


def _precision(search: Search) -> str:
    """How exact the scores are that ranks are by, in words."""
    if search.precision == "single":
        return "in single precision, where close scores may tie or change places"
    if not search.similarity.certain:
        return "given numbers in double precision; close scores may depend on the machine"
    if search.normalisation is not None and not search.normalisation.keeps_order:
        return "in double precision before and after it is normalised"
    return "in double precision"
