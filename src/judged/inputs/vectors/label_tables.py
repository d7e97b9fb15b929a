"""Labels that come with the ids of their vectors: joined by id, not by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from judged.errors import InputError, quoted
from judged.inputs.vectors.vectors import ColumnIds, Vectors, is_of_pandas, refuse_other_ids
from judged.text import few

_IN_MEMORY = "the labels"
"""The source of labels that come from no file, but from a Series or a dict."""


@dataclass(frozen=True, eq=False)
class LabelTable(Sequence[Any]):
    """Labels and the ids of their vectors, in the order of the table; several labels are a list."""

    ids: tuple[str, ...] | None
    """None where no column is named as ids are."""
    labels: Sequence[Any] | np.ndarray[Any, Any]
    source: str = _IN_MEMORY
    several: bool = False
    """Whether each vector has a list of labels; lists of rows with the same id are put together."""
    unnamed: bool = False
    """Whether the ids may be row numbers: an index without a name."""
    others: tuple[tuple[str, ...], ...] = ()
    """Other columns, which may be ids whatever their name is."""

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, row: Any) -> Any:
        return self.labels[row]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels)

    def of(self, vectors: Vectors) -> Any:
        """Return the labels in the order of some vectors.

        They are joined by id. Vectors without ids take them in the order of the table, and so do
        those whose ids are in no column, unless a column is named as ids are.
        """
        if vectors.ids is None:
            self._refuse_shuffled_rows(vectors)
            if self.ids is not None and not self.unnamed:
                refuse_other_ids(vectors, self.ids, "labels")
            return self.labels
        if self.ids == vectors.ids:
            return self.labels
        known = set(vectors.ids)
        if self.ids is None or not known <= set(self.ids):
            column = next((each for each in self.others if known <= set(each)), None)
            if column is not None:
                return replace(self, ids=column).by_name(vectors)
        if self.ids is None or (self.unnamed and self._are_row_numbers(vectors)):
            return self.labels
        return self.by_name(vectors)

    def _are_row_numbers(self, vectors: Vectors) -> bool:
        """Whether ids without a name are row numbers: those of these rows, or what train_test_split
        leaves of the numbers of a whole frame."""
        assert self.ids is not None
        assert vectors.ids is not None
        known = set(vectors.ids)
        if len(self.ids) == len(vectors) and known == set(self.ids):
            raise InputError(
                f"{self.source}: the index has no name, and {vectors.source} have its numbers as "
                "ids in another order, so labels could be meant by id or by row. Name the index id "
                f"to join by id, or leave it out{self._by_row} to go by row."
            )
        if self.ids == tuple(map(str, range(len(vectors)))):
            return True
        return known.isdisjoint(self.ids) and all(each.isdecimal() for each in self.ids)

    @property
    def _by_row(self) -> str:
        return " (labels.to_numpy())" if self.source == _IN_MEMORY else ""

    def by_name(self, vectors: Vectors) -> Any:
        """Return the label of each vector's id, or of its row number where it has none."""
        assert self.ids is not None
        refuse_other_ids(vectors, self.ids, "labels")
        names, known = vectors.names(), set(self.ids)
        lost = [name for name in names if name not in known]
        if len(lost) == len(names) and len(known) < len(self.ids):
            return self.labels  # what repeats and names no vector is no column of ids
        if lost:
            raise InputError(
                f"{self.source}: labels are joined by id, and {len(lost):,} of {len(names):,} "
                f"vectors of {vectors.source} are not in the table ({_few(lost)}); its ids "
                f"are {_few(self.ids)}. Give every vector a label, or leave the ids out of the "
                f"table{self._by_row} if its rows are in the order of the vectors."
            )
        if self.several:
            lists: dict[str, list[Any]] = {}
            for name, labels in zip(self.ids, self.labels, strict=True):
                lists.setdefault(name, []).extend(labels)
            return [lists[name] for name in names]
        if len(known) < len(self.ids):
            again = next(name for name, times in Counter(self.ids).items() if times > 1)
            raise InputError(
                f"{self.source}: the id {quoted(again)} occurs more than once; a vector "
                "has one label."
            )
        row_of = {name: row for row, name in enumerate(self.ids)}
        rows = [row_of[name] for name in names]
        if isinstance(self.labels, np.ndarray):
            return self.labels[rows]
        return [self.labels[row] for row in rows]

    def _refuse_shuffled_rows(self, vectors: Vectors) -> None:
        if self.ids is None or self.unnamed or len(self.ids) != len(vectors):
            return
        rows = tuple(map(str, range(len(self.ids))))
        if self.ids != rows and set(self.ids) == {*rows}:
            raise InputError(
                f"{self.source}: its ids are the row numbers 0 to {len(rows) - 1} in another "
                f"order, and {vectors.source} have no ids, so labels could be meant by id or by "
                "row. Give the vectors ids to join by id, or leave the ids out of the table."
            )


def _few(names: Sequence[str]) -> str:
    return few([quoted(name) for name in names[:4]])


def in_order_of(vectors: Vectors, given: Any, *, several: bool = False) -> Any:
    """Return labels in the order of the vectors: joined by id where they come with ids.

    Ids are those of a table, the keys of a dict, or the index of a pandas Series. Where the ids of
    the vectors are a Series with the same index, both are columns of one frame and go by row.
    """
    if isinstance(given, LabelTable):
        return given.of(vectors)
    if isinstance(given, Mapping):
        ids = tuple(map(str, given))
        return LabelTable(ids, list(given.values()), several=several).by_name(vectors)
    is_frame = hasattr(given, "columns")
    if is_frame and not several:
        return given  # refused for its shape
    labels = _of_columns(given) if is_frame else given
    if not is_of_pandas(given):
        return labels
    values = list(labels if is_frame else given.array)
    if isinstance(vectors.ids, ColumnIds) and vectors.ids.index.equals(given.index):
        return values
    ids, index = tuple(map(str, given.index.tolist())), given.index
    unnamed = index.name is None and index.dtype.kind in "iu"
    return LabelTable(ids, values, several=several, unnamed=unnamed).of(vectors)


def _of_columns(frame: Any) -> list[list[str]]:
    """Return the names of the columns of a frame that hold a 1, for each row."""
    values, names = np.asarray(frame), [str(name) for name in frame.columns]
    if values.dtype.kind not in "biuf" or not np.isin(values, (0, 1)).all():
        raise InputError(
            "the labels: a frame of labels has a column of 0 and 1 for each label, and no other; "
            f"its columns are {_few(names)}. Set a column of ids as the index, or give the column "
            "of labels alone."
        )
    return [[names[at] for at in np.flatnonzero(row)] for row in values]
