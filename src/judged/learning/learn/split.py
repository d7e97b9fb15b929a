"""Queries for training, for validation and held out, so that nothing is relevant on two sides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from judged.arrays import Ints
from judged.embeddings.learned import groups_of, known, marks_of
from judged.errors import InputError, quoted
from judged.inputs.vectors.vectors import Vectors
from judged.learning.learn.data import Data, Part, pairs_of
from judged.text import counted

TRAINING, VALIDATION, HELD_OUT = range(3)
MANY_GROUPS = 20
"""Fewest groups of queries without a common relevant item that are split whole."""
MANY_RELEVANT = 5
"""So many relevant items of a query can be split, a fifth of them held out."""


@dataclass(frozen=True, eq=False)
class Split:
    """Row numbers of queries, each part in ascending order."""

    training: Ints
    validation: Ints
    held_out: Ints
    items: tuple[Ints, Ints, Ints] | None = None
    """The items that the queries of each part are ranked among; None for all items."""
    groups: Ints | None = None
    """The group of each held-out query, whose values are not independent; None without groups."""
    notes: tuple[str, ...] = ()

    def validation_part(self, data: Data) -> Part:
        """Return the queries that choose when to stop, and what they are ranked among."""
        columns = None if self.items is None else self.items[VALIDATION]
        return data.part(self.validation, columns)

    def held_out_part(self, data: Data) -> Part:
        """Return the held-out queries, and what they are ranked among."""
        columns = None if self.items is None else self.items[HELD_OUT]
        return replace(data.part(self.held_out, columns), groups=self.groups)


def checked_shares(validation: Any, held_out: Any) -> tuple[float, float]:
    """Shares of the queries, once it is sure that they leave some for training."""
    for name, share, none in (
        ("validation", validation, "above 0"),
        ("held_out", held_out, "from 0"),
    ):
        number = not isinstance(share, bool) and isinstance(share, (Real, np.number))
        if not number or not 0 <= share < 1 or (share == 0 and name == "validation"):
            raise InputError(
                f"{name} must be a share of the queries, a number {none} and below 1; got "
                f"{quoted(share)}."
            )
    if validation + held_out >= 1:
        raise InputError(
            f"validation ({validation:g}) and held_out ({held_out:g}) leave no queries for "
            "training; together they must be below 1."
        )
    return float(validation), float(held_out)


def split_data(data: Data, *, validation: float, held_out: float, seed: int) -> Split:
    """Split the queries so that no item is relevant to queries of two parts.

    A similarity learns by heart which items are relevant to training queries, such as the clip of
    four captions. A fifth caption that is held out would then find its clip without anything
    learned that holds for other clips. So queries that share a relevant item stay together. Where
    these groups are few and large, as with ten labels, queries are split one by one, and the items
    as well: each part is ranked among its own items.
    """
    rows = np.flatnonzero(data.positives.lengths)
    directions, of_pairs = _directions(data, rows)
    groups = _sharing_items(data, rows, directions, of_pairs)
    sizes = np.bincount(groups)
    shares = held_out, validation
    together = _sizes(len(sizes), shares)[TRAINING] > 0 and 2 * sizes.max() <= len(rows)
    many = len(sizes) >= MANY_GROUPS
    splittable = np.median(data.positives.lengths[rows]) >= MANY_RELEVANT
    notes = []
    if together and (many or not splittable):
        alike = len(rows) - len(sizes)
        if alike:
            notes.append(
                f"{counted(len(rows), 'query', 'queries')} in {len(sizes):,} groups that share a "
                "relevant item or a direction: a group is in one part only."
            )
        parts = _dealt(rows, groups, shares, seed)
        own = _renumbered(groups[np.isin(rows, parts[HELD_OUT])])
        alone = len(own) == len(np.unique(own))
        return Split(*parts, groups=None if alone else own, notes=tuple(notes))
    again = len(rows) - len(np.unique(directions))
    if again:
        queries, were = counted(again, "query", "queries"), "was" if again == 1 else "were"
        notes.append(
            f"{queries} with the vector of another, or one that points the same way, {were} put "
            "into the same part as that one."
        )
    parts = _dealt(rows, directions, shares, seed)
    items = _split_items(data, rows, groups, parts, shares, seed)
    training, chosen, kept_out = (
        part[_found(data, part, own)] for part, own in zip(parts, items, strict=True)
    )
    kept = training, chosen, kept_out
    needed = [TRAINING, VALIDATION, *([HELD_OUT] if held_out else [])]
    if any(not len(kept[part]) for part in needed):
        raise InputError(
            f"there are too few queries to split: {counted(len(rows), 'query', 'queries')} "
            f"in {len(sizes):,} groups that share relevant items, and no split leaves each part "
            "queries with relevant items of its own. Give more queries or items."
        )
    notes.append(
        f"Queries share relevant items ({counted(len(sizes), 'group')}), so items were split too: "
        f"held-out queries are ranked among {len(items[HELD_OUT]):,} items that training never saw."
        if held_out
        else f"Queries share relevant items ({counted(len(sizes), 'group')}), so items were split "
        "too: validation queries are ranked among items that training never saw."
    )
    lost = sum(len(part) for part in parts) - sum(map(len, kept))
    if lost:
        notes.append(
            f"{counted(lost, 'query', 'queries')} without a relevant item in their own part "
            f"{'was' if lost == 1 else 'were'} left out."
        )
    return Split(training, chosen, kept_out, items=items, notes=tuple(notes))


def _directions(data: Data, rows: Ints) -> tuple[Ints, Ints]:
    """Number the directions of queries, and those of their relevant items, pair by pair; an item
    that is a query itself has its number."""
    items, of_pairs = np.unique(pairs_of(data.positives, rows).item, return_inverse=True)
    queries, relevant = data.queries.rows(rows), data.items.rows(items)
    if data.queries.dims != data.items.dims:
        found = groups_of(queries)
        others = groups_of(relevant) + 1 + int(found.max(initial=-1))
        return found, others[of_pairs]
    found = groups_of(np.concatenate([queries, relevant]))
    return found[: len(rows)], found[len(rows) :][of_pairs]


def _renumbered(groups: Ints) -> Ints:
    return np.unique(groups, return_inverse=True)[1].astype(np.int64)


def _sharing_items(data: Data, rows: Ints, directions: Ints, of_pairs: Ints) -> Ints:
    """Number queries, the same for those that share a relevant item or point the same way."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pairs = pairs_of(data.positives, rows)
    count = len(rows)
    # Queries and directions are the nodes of a graph; a query is joined to its own direction and
    # to those of its relevant items.
    begins = np.concatenate([np.arange(count), pairs.row])
    ends = count + np.concatenate([directions, of_pairs])
    nodes = count + 1 + int(max(directions.max(initial=-1), of_pairs.max(initial=-1)))
    graph = coo_array((np.ones(len(begins), bool), (begins, ends)), shape=(nodes, nodes))
    return _renumbered(connected_components(graph, directed=False)[1][:count])


def _sizes(count: int, shares: tuple[float, float]) -> tuple[int, int, int]:
    """Return the sizes of the three parts; a share above 0 is at least one."""
    held_out, validation = (max(1, round(share * count)) if share else 0 for share in shares)
    return count - held_out - validation, validation, held_out


def _dealt(
    rows: Ints, groups: Ints, shares: tuple[float, float], seed: int
) -> tuple[Ints, Ints, Ints]:
    """Split rows by shares of their groups, which are numbers for rows that must not be parted."""
    _, group = np.unique(groups, return_inverse=True)
    count = int(group.max(initial=-1)) + 1
    training, chosen, kept_out = _sizes(count, shares)
    if training < 1:
        parts = (
            "training, validation and held-out queries"
            if kept_out
            else "training and validation queries"
        )
        raise InputError(
            f"there are too few queries to split: {count} with different vectors and something "
            f"relevant, and {parts} need at least one each "
            f"({kept_out + chosen + 1} with these shares)."
        )
    # Groups are numbered as they first occur, so that the split does not depend on what these
    # numbers happen to be.
    first = np.full(count, len(rows))
    np.minimum.at(first, group, np.arange(len(rows)))
    order = np.argsort(first)
    part = np.empty(count, np.int64)
    part[order[np.random.default_rng([seed, 0]).permutation(count)]] = np.repeat(
        [HELD_OUT, VALIDATION, TRAINING], [kept_out, chosen, training]
    )
    of_row = part[group]
    training_rows, validation_rows, held_out_rows = (rows[of_row == each] for each in range(3))
    return training_rows, validation_rows, held_out_rows


def _split_items(
    data: Data,
    rows: Ints,
    groups: Ints,
    parts: tuple[Ints, Ints, Ints],
    shares: tuple[float, float],
    seed: int,
) -> tuple[Ints, Ints, Ints]:
    """Split the items of each group by the same shares; an item that is a query goes with it."""
    pairs = pairs_of(data.positives, rows)
    group = np.full(len(data.items), -1)
    group[pairs.item] = groups[pairs.row]
    part = np.full(len(data.items), TRAINING)
    random = np.random.default_rng([seed, 4])
    marks = marks_of(data.items)
    ordered = np.argsort(marks[:, 0], kind="stable")  # whatever the order of the items
    _, first = np.unique(group[ordered], return_index=True)
    for number in group[ordered][np.sort(first)]:
        own = random.permutation(ordered[group[ordered] == number])
        training, chosen, kept_out = _sizes(len(own), shares)
        if training > 0:
            part[own] = np.repeat([HELD_OUT, VALIDATION, TRAINING], [kept_out, chosen, training])
    if data.queries.dims == data.items.dims:
        for number, own in enumerate(parts):
            part[known(marks, marks_of(Vectors(data.queries.rows(own))))] = number
    training_items, validation_items, held_out_items = (
        np.flatnonzero(part == each) for each in range(3)
    )
    return training_items, validation_items, held_out_items


def _found(data: Data, rows: Ints, items: Ints) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which queries have a relevant item among some."""
    pairs = pairs_of(data.positives, rows)
    return np.bincount(pairs.row[np.isin(pairs.item, items)], minlength=len(rows)) > 0
