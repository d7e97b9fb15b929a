"""A collection to check: judgements as given and as evaluated, runs, texts and vectors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from judged.errors import InputError, JudgedError
from judged.evaluation.evaluate import match_runs
from judged.evaluation.evaluation import Evaluation, evaluate_rankings
from judged.evaluation.settings import EvaluationSettings
from judged.inputs import read_judgements
from judged.inputs.data import Data
from judged.inputs.dicts import results_of
from judged.inputs.tables import JUDGEMENTS, Judgements, Lookup, Run, from_rows, texts
from judged.inputs.texts import Of, Texts, read_texts
from judged.inputs.vectors import Vectors, as_vectors
from judged.judgements import NEAR, NEAR_VECTORS
from judged.matching.checks import identity, repeated, without_repeats
from judged.matching.documents import as_table as run_table
from judged.matching.documents import with_items
from judged.matching.pool import pool_of, rows_of
from judged.options import number
from judged.results import ResultPart
from judged.text import plain, shown

if TYPE_CHECKING:
    from judged.judgements.findings import TrainingSet
    from judged.options import TextsLike, VectorsLike

VECTOR_EXTENSIONS = (
    *(".npy", ".npz", ".h5", ".hdf5", ".fvecs", ".bvecs", ".ivecs", ".fbin", ".u8bin", ".i8bin"),
    ".safetensors",
)
"""Extensions of files that hold vectors and never texts."""
MAX_CHANGES = 4  # number of changed values in a sentence; the table has all
NO_RUNS = "No runs were given, so the effect on values is unknown."
PAIR = ["query", "item"]


@dataclass(frozen=True)
class ValueChange(ResultPart):
    """A value of a run as it is, and with the finding corrected."""

    run: str
    measure: str
    as_is: float  # present value; NaN if unknown
    otherwise: float  # value with the finding corrected

    @property
    def difference(self) -> float:
        """Corrected value minus present value."""
        return self.otherwise - self.as_is

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "difference": plain(self.difference)}

    def __str__(self) -> str:
        change = f"{shown(self.as_is)} → {shown(self.otherwise)}"
        return f"{self.measure} of {self.run} {change} ({with_sign(self.difference)})"


def with_sign(value: float) -> str:
    """Return a difference with its sign."""
    text = shown(value)
    return f"+{text}" if value > 0 else text.replace("-", "−")


@dataclass(frozen=True)
class FindingEffect:
    """Effect of a finding on the values of the runs."""

    otherwise: str  # the correction, in words
    changes: tuple[ValueChange, ...] = ()  # both values for each run and measure
    reason: str = ""

    def __str__(self) -> str:
        if not self.changes:
            return self.reason
        start = f"{self.otherwise[:1].upper()}{self.otherwise[1:]}"
        moved = [change for change in self.changes if change.difference != 0]
        if not moved:
            return f"{start}, all values stay the same."

        def size(change: ValueChange) -> float:
            return math.inf if math.isnan(change.difference) else abs(change.difference)

        largest = sorted(moved, key=size, reverse=True)[:MAX_CHANGES]
        rest = "; the others change less or not at all" if len(largest) < len(self.changes) else ""
        return f"{start}: {', '.join(map(str, largest))}{rest}."


@dataclass(frozen=True, eq=False)
class SideData:
    """Texts and vectors of queries, or of items."""

    name: str  # name of the side: queries or items
    texts: pl.DataFrame | None = None  # columns id and text
    vectors: Vectors | None = None
    order: str = ""  # where the ids of vectors without ids come from: "texts" or "rows"
    near: float = NEAR  # least share of common words of twins
    near_vectors: float = NEAR_VECTORS  # least cosine of twins

    @classmethod
    def of(
        cls,
        name: Of,
        given: TextsLike | VectorsLike | None,
        vectors: VectorsLike | None,
        near: float,
        near_vectors: float,
    ) -> SideData:
        """Read texts, vectors, or both; `given` may be either."""
        side = cls(name, near=near, near_vectors=near_vectors)
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
            return replace(side, texts=frame)
        read, order = as_vectors(vectors, source=f"the vectors of the {name}"), ""
        if read.ids is None:
            order = "texts" if frame is not None and frame.height == len(read) else "rows"
            ids = read.names() if frame is None or order == "rows" else frame["id"].to_list()
            read = replace(read, ids=tuple(ids))
        return replace(side, texts=frame, vectors=read, order=order)

    @property
    def given(self) -> bool:
        """True if there are texts or vectors."""
        return self.texts is not None or self.vectors is not None

    @cached_property
    def ids(self) -> pl.Series:
        """Ids that have a text or a vector."""
        ids = [] if self.texts is None else self.texts["id"].to_list()
        ids += [] if self.vectors is None else self.vectors.names()
        return texts("id", dict.fromkeys(ids))

    def texts_of(self, *names: str) -> list[str] | None:
        """Return the texts of ids, or None without texts."""
        if self.texts is None:
            return None
        known = dict(self.texts.filter(self.texts["id"].is_in(list(names))).iter_rows())
        return [known.get(name, "").strip() for name in names]

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
    """Judgements, runs, texts and vectors, all read, and the effect of corrections on values."""

    data: Data
    judgements: Judgements  # judgements as evaluated: the first of duplicates
    raw: Judgements  # judgements as given, with duplicates
    queries: SideData
    items: SideData
    rel: float | None  # lowest relevant grade; None for any above 0
    settings: EvaluationSettings
    options: Mapping[str, Any]  # keyword arguments of `evaluate`: collection and weights
    training: TrainingSet | None

    @classmethod
    def of(cls, data: Data, ranked: Mapping[str, Any], **others: Any) -> CheckedCollection:
        """Read judgements and runs, ranked as documents if asked for; `others` are read already."""
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
        collection = cls(data, judgements, raw, **others)
        collection.queries.check_ids(collection.names)
        collection.items.check_ids(judgements.frame["item"].unique(maintain_order=True))
        return collection

    @cached_property
    def read_runs(self) -> tuple[Run | Lookup, ...]:
        """Runs as evaluated."""
        return tuple(self.data.runs())

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """Runs as tables."""
        return tuple(run_table(run, "first") for run in self.read_runs)

    @property
    def repeats(self) -> int:
        """Number of judgements that repeat another."""
        return self.raw.frame.height - self.raw.frame.select(identity(self.raw)).n_unique()

    @cached_property
    def names(self) -> pl.Series:
        """All judged queries."""
        return texts("query", self.judgements.names())

    def judged_queries(self, names: pl.Series, *, inside: bool) -> pl.Series:
        """Return the judged queries that are among these names, or that are not."""
        return self.names.filter(self.names.is_in(names.implode()) == inside)

    @cached_property
    def graded(self) -> pl.DataFrame:
        """Query, item, best grade of each pair, and whether it is relevant."""
        grade = pl.col("grade")
        relevant = grade > 0 if self.rel is None else grade >= self.rel
        pairs = self.judgements.frame.group_by(PAIR, maintain_order=True)
        return pairs.agg(grade.max()).with_columns(relevant=relevant)

    @cached_property
    def relevant(self) -> pl.DataFrame:
        """Query, item and grade of relevant items."""
        return self.graded.filter("relevant").select(*PAIR, "grade")

    @cached_property
    def run_queries(self) -> pl.Series:
        """All queries of runs."""
        return texts("query", dict.fromkeys(name for run in self.runs for name in run.names()))

    @cached_property
    def run_items(self) -> pl.Series:
        """All items of runs."""
        return pl.concat([texts("item", []), *(run.frame["item"] for run in self.runs)]).unique(
            maintain_order=True
        )

    def edited(self, frame: pl.DataFrame, queries: pl.Series | None = None) -> Judgements:
        """Return the judgements with other rows, and with these queries if given."""
        names = tuple((self.names if queries is None else queries).to_list())
        return replace(self.judgements, frame=frame, rows=None, locate=None, queries=names)

    def without_queries(self, queries: pl.Series, pairs: pl.DataFrame | None = None) -> Judgements:
        """Return the judgements of all other queries, without some pairs of query and item."""
        frame = self.judgements.frame
        frame = frame.filter(~frame["query"].is_in(queries.implode()))
        if pairs is not None:
            frame = frame.join(pairs, on=PAIR, how="anti", maintain_order="left")
        return self.edited(frame, self.judged_queries(queries, inside=False))

    def without_pairs(self, pairs: pl.DataFrame) -> Judgements:
        """Return the judgements without some, and without queries that lose all relevant items."""
        left = self.relevant.join(pairs, on=PAIR, how="anti")["query"]
        lost = self.relevant["query"].unique()
        return self.without_queries(lost.filter(~lost.is_in(left.implode())), pairs)

    @cached_property
    def as_is(self) -> Evaluation | str | None:
        """Evaluation of the collection; None without runs, or the reason for its failure."""
        # Only runs without any judged query may fail: the spelling of their ids may be the finding.
        if not self.read_runs:
            return None
        data = _as_data(self.judgements, self.read_runs)
        if all(self.names.is_in(run.names()).any() for run in self.read_runs):
            return self._evaluate(data)
        return self._try_to_evaluate(data)

    def effect(
        self,
        otherwise: str,
        judgements: Judgements,
        runs: Sequence[Run] = (),
        *,
        raw: bool = False,
    ) -> FindingEffect:
        """Return the effect of other judgements or runs; raw ones are not mapped to documents."""
        if not self.runs:
            return FindingEffect(otherwise, reason=NO_RUNS)
        if judgements.frame.is_empty():
            return FindingEffect(otherwise, reason=f"Nothing is left to evaluate {otherwise}.")
        data = _as_data(judgements, runs or self.runs)
        if raw:
            data = replace(self.data, given=judgements, rows=None)
        before, after = self.as_is, self._try_to_evaluate(data)
        if isinstance(after, str):
            return FindingEffect(otherwise, reason=f"No values {otherwise}: {after}")
        none = dict.fromkeys(after.measures, float("nan"))
        known = before.runs if isinstance(before, Evaluation) else [None] * len(after.runs)
        changes = [
            ValueChange(
                run.name,
                after.label(measure),
                (none if old is None else old.summary)[measure],
                run.summary[measure],
            )
            for old, run in zip(known, after.runs, strict=True)
            for measure in after.measures
        ]
        return FindingEffect(otherwise, tuple(changes))

    def _try_to_evaluate(self, data: Data) -> Evaluation | str:
        try:
            return self._evaluate(data)
        except JudgedError as error:
            return str(error)

    def _evaluate(self, data: Data) -> Evaluation:
        matched = match_runs(data, self.settings, **self.options)
        return evaluate_rankings(matched.rankings, self.settings, weights=self.options["weights"])

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


def _as_data(judgements: Judgements, runs: Sequence[Run | Lookup]) -> Data:
    return Data.of(judgements, {run.name: run for run in runs})


def first_of_each(judgements: Judgements) -> Judgements:
    """Return the judgements without duplicates, as with `duplicates="first"`."""
    again = repeated(judgements, np.arange(judgements.frame.height))
    first = without_repeats(judgements, again, "first") if len(again) else judgements
    return replace(first, dropped=0)  # only duplicates in runs are reported


def as_table(judgements: Judgements | Lookup, given: Any = None) -> Judgements:
    """Return judgements as a table; lists that repeat an item are read again, with duplicates."""
    if isinstance(judgements, Judgements):
        return judgements
    if judgements.by_subtopic:
        rows = rows_of(judgements)
        query = texts("query", judgements.lists).gather(rows["number"])
        frame = rows.select(query, "item", "grade", "subtopic")
    else:
        pool = pool_of(judgements, duplicates="first")
        frame = pool.frame.with_columns(pl.Series("grade", pool.grades))
        if judgements.repeated and isinstance(given, Mapping):
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
