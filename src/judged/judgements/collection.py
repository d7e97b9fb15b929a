"""A collection to check: judgements as given and as evaluated, runs, texts and vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from judged.errors import InputError, JudgedError
from judged.inputs import read_judgements
from judged.inputs.data import Data
from judged.inputs.dicts import results_of
from judged.inputs.tables import JUDGEMENTS, Judgements, Lookup, Run, from_rows, texts
from judged.inputs.texts import Of, Texts, read_texts
from judged.inputs.vectors import Vectors, as_vectors
from judged.matching.checks import identity, repeated, without_repeats
from judged.matching.documents import with_items
from judged.matching.join import numbers
from judged.matching.pool import pool_of, rows_of
from judged.options import number

if TYPE_CHECKING:
    from judged.options import TextsLike, VectorsLike

VECTOR_EXTENSIONS = (
    *(".npy", ".npz", ".h5", ".hdf5", ".fvecs", ".bvecs", ".ivecs", ".fbin", ".u8bin", ".i8bin"),
    ".safetensors",
)
"""Extensions of files that hold vectors and never texts."""


@dataclass(frozen=True, eq=False)
class SideData:
    """Texts and vectors of queries, or of items."""

    name: str  # name of the side: queries or items
    texts: pl.DataFrame | None = None  # columns id and text
    vectors: Vectors | None = None
    order: str = ""  # where the ids of vectors without ids come from: "texts" or "rows"

    @classmethod
    def of(
        cls, name: Of, given: TextsLike | VectorsLike | None, vectors: VectorsLike | None
    ) -> SideData:
        """Read texts, vectors, or both; `given` may be either."""
        read = None if given is None else _texts_or_vectors(name, given)
        frame = None
        if isinstance(read, Texts):
            whole = [f"{read.titles.get(id, '')} {text}" for id, text in read.texts.items()]
            frame = pl.DataFrame([texts("id", read), texts("text", whole)])
        elif read is not None and vectors is not None:
            raise InputError(
                f"the {name} are vectors, and vectors of the {name} were given too; give one of "
                "them, or texts and vectors."
            )
        elif read is not None:
            vectors = read
        if vectors is None:
            return cls(name, frame)
        read = as_vectors(vectors, source=f"the vectors of the {name}")
        if read.ids is not None:
            return cls(name, frame, read)
        if frame is not None and frame.height == len(read):
            return cls(name, frame, replace(read, ids=tuple(frame["id"].to_list())), "texts")
        return cls(name, frame, replace(read, ids=read.names()), "rows")

    @property
    def assumptions(self) -> list[str]:
        """Assumptions about ids, a sentence each."""
        source = {"texts": "they are in the order of the texts", "rows": "row numbers are used"}
        known = source.get(self.order)
        return [f"The vectors of the {self.name} have no ids; {known}."] if known else []

    @property
    def given(self) -> bool:
        """Whether there are texts or vectors."""
        return self.texts is not None or self.vectors is not None

    @cached_property
    def ids(self) -> pl.Series:
        """Ids that have a text or a vector."""
        found = [] if self.texts is None else [self.texts["id"]]
        found += [] if self.vectors is None else [texts("id", self.vectors.names())]
        return pl.concat(found).unique(maintain_order=True) if found else texts("id", [])

    def check_ids(self, judged: pl.Series) -> None:
        """Raise an error if vectors have row numbers as ids, but no judged id is one."""
        if self.vectors is None or self.order != "rows":
            return
        if not judged.is_in(pl.Series(self.vectors.names()).implode()).any():
            one = "query" if self.name == "queries" else "item"
            raise InputError(
                f"{self.vectors.source} have no ids, and no judged {one}, such as {judged[0]!r}, "
                f"is a row number from 0; give ids with judged.Vectors(matrix, ids=...) "
                f"(--{one}-ids), or a file with ids."
            )


def _texts_or_vectors(name: Of, given: Any) -> Texts | Vectors:
    """Read texts, or else vectors: a Parquet file can be either."""
    path = fspath(given) if isinstance(given, (str, PathLike)) else None
    array = len(getattr(given, "shape", ())) == 2 and not hasattr(given, "columns")
    extension = path is not None and str(path).partition("::")[0].lower().endswith(
        VECTOR_EXTENSIONS
    )
    source = f"the vectors of the {name}"
    if isinstance(given, Vectors) or array or extension:
        return as_vectors(given, source=source)
    try:
        return read_texts(given, of=name)
    except InputError as error:
        if path is None or path == "-":
            raise
        try:
            return as_vectors(given, source=source)
        except JudgedError:
            raise error from None


@dataclass(frozen=True, eq=False)
class CheckedCollection:
    """Judgements, runs, texts and vectors, all read."""

    data: Data  # the data, read
    judgements: Judgements  # judgements as evaluated: the first of duplicates
    raw: Judgements  # judgements as given, with duplicates
    runs: tuple[Run | Lookup, ...]
    queries: SideData
    items: SideData
    rel: float | None  # lowest relevant grade; None for any above 0

    @classmethod
    def of(
        cls,
        data: Data,
        ranked: Mapping[str, Any],
        queries: SideData,
        items: SideData,
        rel: float | None,
    ) -> CheckedCollection:
        given = data.given
        if not data.given_runs and (ranked["item_to"] is not None or "document" in data.columns):
            raise InputError(
                "item_to (--item-to) applies to the items of runs; give a run, or leave it out."
            )
        data = with_items(data, duplicates="first", **ranked).kept()
        raw = as_table(read_judgements(data.given), given)
        judgements = first_of_each(as_table(data.judgements()))
        if judgements.frame.is_empty():
            raise InputError(f"{judgements.source}: holds no judgements.")
        judged = judgements.frame
        queries.check_ids(texts("query", judgements.names()))
        items.check_ids(judged["item"].unique(maintain_order=True))
        return cls(data, judgements, raw, tuple(data.runs()), queries, items, rel)

    @property
    def repeats(self) -> int:
        """Number of judgements that repeat another."""
        return self.raw.frame.height - self.raw.frame.select(identity(self.raw)).n_unique()

    @cached_property
    def names(self) -> pl.Series:
        """All judged queries."""
        return texts("query", self.judgements.names())

    @cached_property
    def graded(self) -> pl.DataFrame:
        """Query, item, best grade of each pair, and whether it is relevant."""
        grade = pl.col("grade")
        relevant = grade > 0 if self.rel is None else grade >= self.rel
        pairs = self.judgements.frame.group_by("query", "item", maintain_order=True)
        return pairs.agg(grade.max()).with_columns(relevant=relevant)

    @cached_property
    def relevant(self) -> pl.DataFrame:
        """Query, item and grade of relevant items."""
        return self.graded.filter("relevant").select("query", "item", "grade")

    @cached_property
    def run_queries(self) -> pl.Series:
        """All queries of runs."""
        return _union("query", (query_ids(run) for run in self.runs))

    @cached_property
    def run_items(self) -> pl.Series:
        """All items of runs."""
        return _union("item", (item_ids(run) for run in self.runs))

    def edited(self, frame: pl.DataFrame, queries: list[str] | None = None) -> Judgements:
        """Return the judgements with other rows, and with these queries if given."""
        names = self.judgements.names() if queries is None else queries
        return replace(self.judgements, frame=frame, rows=None, locate=None, queries=tuple(names))

    def without_queries(self, queries: pl.Series) -> Judgements:
        """Return the judgements of all other queries."""
        names = self.names.filter(~self.names.is_in(queries.implode())).to_list()
        column = self.judgements.frame["query"]
        return self.edited(self.judgements.frame.filter(~column.is_in(queries.implode())), names)

    def without_pairs(self, pairs: pl.DataFrame) -> Judgements:
        """Return the judgements without some, and without queries that lose all relevant items."""
        left = self.judgements.frame.join(
            pairs, on=["query", "item"], how="anti", maintain_order="left"
        )
        before = self.relevant.select("query").unique()
        after = self.relevant.join(pairs, on=["query", "item"], how="anti").select("query").unique()
        lost = before.join(after, on="query", how="anti")["query"].implode()
        names = self.names.filter(~self.names.is_in(lost)).to_list()
        return self.edited(left.filter(~left["query"].is_in(lost)), names)

    def sizes(self) -> dict[str, int]:
        """Return the numbers of queries, judgements, runs, texts and vectors."""
        sizes = {"queries": len(self.names), "judgements": self.graded.height}
        sizes["runs"] = len(self.runs)
        for side in (self.queries, self.items):
            if side.texts is not None:
                sizes[f"texts of {side.name}"] = side.texts.height
            if side.vectors is not None:
                sizes[f"vectors of {side.name}"] = len(side.vectors)
        return sizes


def _union(name: str, parts: Iterable[pl.Series]) -> pl.Series:
    columns = [part.rename(name) for part in parts]
    return pl.concat(columns).unique(maintain_order=True) if columns else texts(name, [])


def query_ids(run: Run | Lookup) -> pl.Series:
    """Return the queries of a run."""
    return texts("query", run.lists if isinstance(run, Lookup) else run.names())


def item_ids(run: Run | Lookup) -> pl.Series:
    """Return the items of a run."""
    if isinstance(run, Lookup):
        return texts("item", dict.fromkeys(chain.from_iterable(run.lists.values())))
    return run.frame["item"].unique(maintain_order=True)


def first_of_each(judgements: Judgements) -> Judgements:
    """Return the judgements without duplicates, as with `duplicates="first"`."""
    again = repeated(judgements, np.arange(judgements.frame.height))
    first = without_repeats(judgements, again, "first") if len(again) else judgements
    return replace(first, dropped=0)  # only duplicates in runs are reported


def as_table(judgements: Judgements | Lookup, given: Any = None) -> Judgements:
    """Return judgements as a table; lists that repeat an item are read again, with duplicates."""
    if isinstance(judgements, Judgements):
        return judgements
    pool = pool_of(judgements, duplicates="first")
    frame = pool.frame.with_columns(pl.Series("grade", pool.grades))
    if judgements.by_subtopic:
        rows = rows_of(judgements)
        query = texts("query", judgements.lists).gather(rows["number"])
        frame = rows.select(query, "item", "grade", "subtopic")
    elif judgements.repeated and isinstance(given, Mapping):
        frame = _with_repeated(frame, judgements, given)
    return Judgements(
        frame,
        judgements.source,
        judgements.notes,
        queries=tuple(judgements.lists),
        basis=judgements.basis,
    )


def _with_repeated(
    frame: pl.DataFrame, judgements: Lookup, given: Mapping[Any, Any]
) -> pl.DataFrame:
    """Return the rows of lists, including those that repeat an item."""
    queries = dict.fromkeys(query for query, _ in judgements.repeated)
    rows = [
        (str(query), item, number(f"the grade of item {item!r} for query {query!r}", grade))
        for query, listed in given.items()
        if str(query) in queries
        for item, grade in results_of(list(listed), f"query {query!r}", JUDGEMENTS)[0]
    ]
    again = from_rows(rows, JUDGEMENTS)
    return pl.concat([frame.filter(~frame["query"].is_in(again["query"].implode())), again])


def as_run(run: Run | Lookup) -> Run:
    """Return a run as a table."""
    if isinstance(run, Run):
        return run
    lengths = np.fromiter(map(len, run.lists.values()), np.int64, len(run.lists))
    query = texts("query", run.lists).gather(np.repeat(np.arange(len(lengths)), lengths))
    item = texts("item", chain.from_iterable(run.lists.values()))
    score = pl.Series("score", numbers(run.lists, lengths, "a score"))
    return Run(
        pl.DataFrame([query, item, score]),
        run.source,
        run.notes,
        queries=tuple(run.lists),
        basis=run.basis,
        name=run.name,
    )
