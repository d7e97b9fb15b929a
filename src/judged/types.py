"""What public functions take, by name: for signatures, editors and type checkers.

The choices are `Literal`s, so that an editor completes them; a test holds them to the choices that
are declared (`judged.policy.CHOICES` and the like).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from os import PathLike
from re import Pattern
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from judged.comparison.comparison import Comparison
    from judged.conventions import Convention
    from judged.embeddings.normalisation import Normalisation
    from judged.embeddings.relevance import Relation
    from judged.inputs.query_weights import QueryWeights
    from judged.inputs.tables import Judgements, Lookup, Run
    from judged.inputs.texts import Texts
    from judged.inputs.values import Values
    from judged.inputs.vectors.vectors import Vectors
    from judged.measures import Measure
    from judged.policy import Policy
    from judged.similarity.similarity import Similarity


class ArrowTable(Protocol):
    """A table of polars, pandas, pyarrow, duckdb, …: anything that hands over Arrow data."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class ToPolars(Protocol):
    """Anything that makes a table of polars of itself."""

    def to_polars(self) -> Any: ...


class ToPandas(Protocol):
    """Anything that makes a table of pandas of itself."""

    def to_pandas(self) -> Any: ...


class LazyTable(Protocol):
    """A table of polars, Spark, DuckDB, narwhals, … that is computed when it is asked."""

    def collect(self, *args: Any, **options: Any) -> Any: ...


class Searches(Protocol):
    """An index of another library."""

    def search(self, vectors: Any, k: int, /) -> Any: ...


Path: TypeAlias = "str | PathLike[str]"
Number: TypeAlias = "int | float"

Ties = Literal["id", "input", "best", "worst", "expected"]
Missing = Literal["zero", "skip", "error"]
Empty = Literal["zero", "one", "skip", "error"]
Unjudged = Literal["nonrelevant", "removed"]
Duplicates = Literal["error", "first"]
Positives = Literal["each", "any", "apart"]
Precision = Literal["double", "single"]
FusionMethod = Literal["rrf", "combsum", "combmnz", "weighted"]
FusionNormalisation = Literal["minmax", "zscore", "max", "sum", "rank", "none"]
FusionTies = Literal["id", "input", "expected"]
LearnedKind = Literal["bilinear", "low-rank", "diagonal", "two-tower-linear"]

Engine = Literal["memory", "spark", "tables"]
"""What computes with tables that live elsewhere: they are read whole, or stay where they are."""

FileFormat = Literal["trec", "msmarco", "scores", "csv", "tsv", "parquet", "ndjson", "json"]
"""The format of a file of a run or of judgements."""
# fmt: off
VectorFileFormat = Literal[
    "npy", "npz", "hdf5", "parquet", "fvecs", "bvecs", "ivecs", "fbin", "u8bin", "i8bin",
    "safetensors", "csv", "tsv", "text", "ndjson",
]
# fmt: on
"""The format of a file of vectors."""

TableLike: TypeAlias = "ArrowTable | ToPolars | ToPandas | LazyTable | Iterable[Any]"
"""A table of polars, pandas, pyarrow, DuckDB, ibis, Spark, …, or rows: dicts, namedtuples,
dataclass objects."""
JudgementsLike: TypeAlias = (
    "Path | Mapping[str, Mapping[str, Number]] | Mapping[str, Mapping[str, Mapping[str, Number]]]"
    " | Mapping[str, Collection[str]] | Mapping[str, Any] | TableLike | Judgements | Lookup"
)
"""A file, {query: {item: grade}}, {query: [relevant items]}, {query: {item: {subtopic: grade}}}, a
table, a list of rows, or what another library holds."""
RunLike: TypeAlias = (
    "Path | Mapping[str, Mapping[str, Number]] | Mapping[str, Sequence[str]] | Mapping[str, Any]"
    " | TableLike | Run | Lookup"
)
"""A file, {query: {item: score}}, {query: [items, best first]}, a table, a list of rows, or what
another library holds."""
RunsLike: TypeAlias = "RunLike | Mapping[str, RunLike] | Sequence[Path]"
"""One run, several as {name: run}, or a list of files."""
ColumnsLike: TypeAlias = "str | Mapping[str, str | int | Sequence[str]]"
"""What columns are: {"query": "question_id", "item": ["file", "page"]}, or the same as a text,
"query=question_id,item=file+page"; several columns make one id."""
MeasuresLike: TypeAlias = "str | Measure | Iterable[str | Measure]"
"""Measures as text ("nDCG@10", "AP, RR"), as objects, or a list of both."""
PolicyLike: TypeAlias = "Policy | Mapping[str, str]"
"""A `Policy`, or a dict of those of its choices that are not the default."""
ConventionLike: TypeAlias = "str | Convention"
"""The name of a library, or its `Convention`."""
CollectionLike: TypeAlias = "int | Mapping[str, int]"
"""How many items there are to retrieve: one number for all queries, or {query: number}."""
ItemToLike: TypeAlias = (
    "str | Pattern[str] | Path | Mapping[str, Any] | ArrowTable | Callable[[str], Any]"
)
"""Which document an item belongs to: "doc:SEPARATOR", "pattern:REGEX", "column:NAME", "table:FILE",
a compiled pattern, {item: document}, a table, or a function of an id."""
WeightsLike: TypeAlias = "Path | Mapping[str, Number] | ArrowTable | QueryWeights"
"""How much each query weighs: {query: weight}, a table, or a file."""
GroupsLike: TypeAlias = "Path | Mapping[str, Any] | TableLike"
"""Which group each query is of: {query: group}, a table, or a file."""
PilotLike: TypeAlias = "Comparison | Mapping[str, Number] | Sequence[Number] | NDArray[Any]"
"""What a spread of differences is estimated from: a comparison, or {query: difference}, or numbers.
"""
AttributesLike: TypeAlias = "Path | Mapping[str, Mapping[str, Any]] | TableLike"
"""What is known of each query: {query: {attribute: value}}, a table, or a file."""
ValuesLike: TypeAlias = (
    "Path | Sequence[Path] | Mapping[str, Mapping[str, Number]]"
    " | Mapping[str, Mapping[str, Mapping[str, Number]]] | Mapping[str, Path | TableLike]"
    " | TableLike | Values"
)
"""Numbers of each query: {run: {query: value}}, {run: {measure: {query: value}}}, {run: table or
file}, a table, a file, or several."""
SlicesLike: TypeAlias = "bool | Path | Mapping[str, Mapping[str, Any]] | ArrowTable"
"""What is known of each query: {query: {attribute: value}}, a table, or a file; True or "relevant"
is the number of relevant items alone."""
TextsLike: TypeAlias = "Path | Mapping[str, Any] | TableLike | Texts"
"""What items or queries say: {id: text}, {id: {"title": …, "text": …}}, rows, a table, a file."""
CategoriesLike: TypeAlias = "Path | Mapping[str, Any] | ArrowTable"
"""Which category each item is of: {item: category}, a table, or a file."""

VectorsLike: TypeAlias = "Path | ArrayLike | Vectors"
"""A matrix with one row per vector (numpy, torch, jax, lists), a file of vectors, or `Vectors`."""
SimilarityLike: TypeAlias = "str | Path | ArrayLike | Similarity | Callable[[Any, Any], ArrayLike]"
"""A name ("cosine"), a file of a learned similarity, a matrix, or a function of two blocks."""
NormalisationLike: TypeAlias = "str | Normalisation"
"""A name with its parameters ("csls(k=10)"), or a `Normalisation`."""
RelevanceLike: TypeAlias = "Relation | JudgementsLike | ArrayLike | Callable[[int, int], ArrayLike]"
"""One of `judged.relevance`, judgements, a matrix of grades, or a function of a block of rows."""
IndexLike: TypeAlias = "Path | Searches | Callable[[NDArray[Any], int], tuple[Any, Any]]"
"""A faiss or usearch index, its file, or a function of (vectors, k) -> (items, scores)."""
RetrieverLike: TypeAlias = "Callable[[Any], Any] | object"
"""A function of a query, or an object with `invoke`, `retrieve` or `run`, or async ones."""
QueriesLike: TypeAlias = "Path | Mapping[Any, Any] | Sequence[Any] | ArrowTable"
"""{id: what is asked}, a list of texts, rows with an id and a text, a table, or a file."""
ItemLike: TypeAlias = "str | Callable[[Any], Any]"
"""Where the id of a result is ("metadata.doc_id"), or a function from a result to it."""
EncoderLike: TypeAlias = "Callable[[list[str]], Any] | object"
"""A function from a list of texts or paths to a matrix, or an object with `encode`,
`embed_documents` or `get_text_embedding_batch`."""
InputsLike: TypeAlias = "TextsLike | Sequence[str] | Sequence[Path] | Mapping[str, Path]"
"""What is encoded: a list of texts, {id: text}, a table, a file; a folder of files, or paths."""
Labels: TypeAlias = "Sequence[Any] | NDArray[Any] | Mapping[str, Any]"
"""One label per vector, or {id: label}."""
Ids: TypeAlias = "Collection[Any] | NDArray[Any]"
"""One id per vector."""
Memory: TypeAlias = "str | int"
"""A size such as "500MB" or "2GB", or a number of bytes."""
Progress: TypeAlias = Callable[[int], None]
"""Called with the number of queries that were done since the last call."""
