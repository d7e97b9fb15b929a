"""Labels that come with the ids of their vectors: joined by id, not by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judged.errors import InputError, quoted
from judged.inputs.vectors.vectors import Vectors
from judged.text import few


@dataclass(frozen=True, eq=False)
class LabelTable(Sequence[Any]):
    """Labels and the ids of their vectors, in the order of the table; several labels are a list."""

    ids: tuple[str, ...]
    labels: Sequence[Any] | np.ndarray[Any, Any]
    source: str = "the labels"
    several: bool = False
    """Whether each vector has a list of labels; lists of rows with the same id are put together."""

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, row: Any) -> Any:
        return self.labels[row]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels)

    def of(self, vectors: Vectors) -> Any:
        """Return the labels in the order of some vectors.

        They are joined by id. Vectors without ids take them in the order of the table.
        """
        if vectors.ids is None:
            self._refuse_shuffled_rows(vectors)
            return self.labels
        return self.by_name(vectors)

    def by_name(self, vectors: Vectors) -> Any:
        """Return the label of each vector's id, or of its row number where it has none."""
        names, known = vectors.names(), set(self.ids)
        lost = [name for name in names if name not in known]
        if len(lost) == len(names) and len(known) < len(self.ids):
            return self.labels  # what repeats and names no vector is no column of ids
        if lost:
            raise InputError(
                f"{self.source}: labels are joined by id, and {len(lost):,} of {len(names):,} "
                f"vectors of {vectors.source} are not in the table ({_few(lost)}); its ids "
                f"are {_few(self.ids)}. Give every vector a label, or leave the ids out of the "
                "table if its rows are in the order of the vectors."
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
        rows = list(map(str, range(len(self.ids))))
        if len(self.ids) == len(vectors) and self.ids != tuple(rows) and set(self.ids) == {*rows}:
            raise InputError(
                f"{self.source}: its ids are the row numbers 0 to {len(rows) - 1} in another "
                f"order, and {vectors.source} have no ids, so labels could be meant by id or by "
                "row. Give the vectors ids to join by id, or leave the ids out of the table."
            )


def _few(names: Sequence[str]) -> str:
    return few([quoted(name) for name in names[:4]])


def in_order_of(vectors: Vectors, given: Any, *, several: bool = False) -> Any:
    """Return labels in the order of the vectors: joined by id where they come with ids.

    Ids are those of a table, the keys of a dict, or the index of a pandas Series.
    """
    if isinstance(given, LabelTable):
        return given.of(vectors)
    if isinstance(given, Mapping):
        ids = tuple(map(str, given))
        return LabelTable(ids, list(given.values()), several=several).by_name(vectors)
    if several and hasattr(given, "columns"):
        labels: Any = _of_columns(given)
    elif _is_of_pandas(given):
        labels = given.array
    else:
        return given
    return _by_index(vectors, given.index, labels, several) if _is_of_pandas(given) else labels


def _is_of_pandas(given: Any) -> bool:
    return type(given).__module__.partition(".")[0] == "pandas" and hasattr(given, "index")


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


def _by_index(vectors: Vectors, index: Any, labels: Any, several: bool) -> Any:
    """Return labels by an index of pandas, where that holds the vectors' ids."""
    ids = tuple(map(str, index.tolist()))
    if vectors.ids is None or ids == vectors.ids:
        return labels
    known = set(vectors.ids)
    counted = type(index).__name__ == "RangeIndex" and ids[:1] == ("0",)
    if counted and len(ids) == len(vectors):
        if known == set(ids):
            raise InputError(
                f"the labels: the index counts from 0, and {vectors.source} have the same numbers "
                "as ids in another order, so labels could be meant by id or by row. Set the index "
                "to the ids, or give to_numpy() for the order of the rows."
            )
        return labels
    # What train_test_split leaves of a frame's row numbers is no index of ids.
    if index.dtype.kind in "iu" and index.name is None and known.isdisjoint(ids):
        return labels
    return LabelTable(ids, list(labels), several=several).by_name(vectors)
