"""Types of what public functions take, and the checks of their options.

The choices are `Literal`s, so that an editor completes them. `OPTIONS` lists the check of each
option; a function that is decorated with `checked` has its options checked before anything is done.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial, wraps
from inspect import isfunction, unwrap
from numbers import Real
from operator import index
from os import PathLike
from re import Pattern
from typing import (
    TYPE_CHECKING,
    Any,
    ForwardRef,
    Literal,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypedDict,
    TypeVar,
    get_args,
)

from judged.errors import InputError, JudgedError, PolicyError, did_you_mean, quoted
from judged.policy import POSITIVES, Policy

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from judged.comparison.comparison import Comparison
    from judged.conventions import Convention
    from judged.embeddings.normalisation import Normalisation
    from judged.embeddings.relevance import Relation
    from judged.embeddings.similarity import Similarity
    from judged.inputs.tables import Judgements, Lookup, Run
    from judged.inputs.texts import Texts
    from judged.inputs.values import QueryValues
    from judged.inputs.vectors.vectors import Vectors
    from judged.inputs.weights import QueryWeights
    from judged.measures import Measure


def later(name: str) -> ForwardRef:
    """Return a type whose module is loaded only by `typing.get_type_hints`."""
    return ForwardRef(f"__import__('pkgutil').resolve_name({name!r})", module="judged")


if not TYPE_CHECKING:
    ArrayLike, NDArray = later("numpy.typing:ArrayLike"), Sequence
    Comparison = later("judged.comparison.comparison:Comparison")
    Convention = later("judged.conventions:Convention")
    Normalisation = later("judged.embeddings.normalisation:Normalisation")
    Relation = later("judged.embeddings.relevance:Relation")
    Similarity = later("judged.embeddings.similarity:Similarity")
    Judgements, Lookup, Run = (
        later(f"judged.inputs.tables:{name}") for name in ("Judgements", "Lookup", "Run")
    )
    QueryWeights = later("judged.inputs.weights:QueryWeights")
    Texts = later("judged.inputs.texts:Texts")
    QueryValues = later("judged.inputs.values:QueryValues")
    Vectors = later("judged.inputs.vectors.vectors:Vectors")
    Measure = later("judged.measures:Measure")


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


Path: TypeAlias = str | PathLike[str]
Number: TypeAlias = int | float

Ties = Literal["id", "input", "best", "worst", "expected"]
Missing = Literal["zero", "skip", "error"]
Empty = Literal["zero", "one", "skip", "error"]
Unjudged = Literal["nonrelevant", "removed"]
Duplicates = Literal["error", "first"]
Positives = Literal["each", "any", "apart"]
FusionMethod = Literal["rrf", "combsum", "combmnz", "weighted"]
FusionNormalisation = Literal["minmax", "zscore", "max", "sum", "rank", "none"]
LearnedKind = Literal["bilinear", "low-rank", "diagonal", "two-tower-linear"]

Engine = Literal["memory", "spark", "tables"]
"""The engine for database and Spark tables: read them whole, or filter where they are."""

FileFormat = Literal["trec", "msmarco", "scores", "csv", "tsv", "parquet", "ndjson", "json"]
"""Check the format of a file of a run or of judgements."""
# fmt: off
VectorFileFormat = Literal[
    "npy", "npz", "hdf5", "parquet", "fvecs", "bvecs", "ivecs", "fbin", "u8bin", "i8bin",
    "safetensors", "csv", "tsv", "text", "ndjson",
]
# fmt: on
"""The format of a file of vectors."""

TableLike: TypeAlias = ArrowTable | ToPolars | ToPandas | LazyTable | Iterable[Any]
"""A table of polars, pandas, pyarrow, DuckDB, ibis, Spark, …, or rows: dicts, namedtuples,
dataclass objects."""
JudgementsLike: TypeAlias = (
    Path
    | Mapping[str, Mapping[str, Number]]
    | Mapping[str, Mapping[str, Mapping[str, Number]]]
    | Mapping[str, Collection[str]]
    | Mapping[str, Any]
    | TableLike
    | Judgements
    | Lookup
)
"""A file, {query: {item: grade}}, {query: [relevant items]}, {query: {item: {subtopic: grade}}}, a
table, a list of rows, or what another library holds."""
RunLike: TypeAlias = (
    Path
    | Mapping[str, Mapping[str, Number]]
    | Mapping[str, Sequence[str]]
    | Mapping[str, Any]
    | TableLike
    | Run
    | Lookup
)
"""A file, {query: {item: score}}, {query: [items, best first]}, a table, a list of rows, or what
another library holds."""
RunsLike: TypeAlias = RunLike | Mapping[str, RunLike] | Sequence[Path]
"""One run, several as {name: run}, or a list of files."""
ColumnsLike: TypeAlias = str | Mapping[str, str | int | Sequence[str]]
"""Names of columns: {"query": "question_id", "item": ["file", "page"]}, or the same as a text,
"query=question_id,item=file+page"; several columns make one id."""
MeasuresLike: TypeAlias = str | Measure | Iterable[str | Measure]
"""Measures as text ("nDCG@10", "AP, RR"), as objects, or a list of both."""
PolicyLike: TypeAlias = Policy | Mapping[str, Any]
"""A `Policy`, or a dict of those of its choices that are not the default."""
ConventionLike: TypeAlias = str | Convention
"""The name of a library, or its `Convention`."""
CollectionLike: TypeAlias = int | Mapping[str, int]
"""Number of items in the collection: one number for all queries, or {query: number}."""
ItemToLike: TypeAlias = (
    str | Pattern[str] | Path | Mapping[str, Any] | ArrowTable | Callable[[str], Any]
)
"""The document of each item: "doc:SEPARATOR", "pattern:REGEX", "column:NAME", "table:FILE",
a compiled pattern, {item: document}, a table, or a function of an id."""
WeightsLike: TypeAlias = Path | Mapping[str, Number] | ArrowTable | QueryWeights
"""The weight of each query: {query: weight}, a table, or a file."""
GroupsLike: TypeAlias = Path | Mapping[str, Any] | TableLike
"""The group of each query: {query: group}, a table, or a file."""
PilotLike: TypeAlias = Comparison | Mapping[str, Number] | Sequence[Number] | NDArray[Any]
"""Differences of a pilot study: a comparison, {query: difference}, or numbers."""
AttributesLike: TypeAlias = Path | Mapping[str, Mapping[str, Any]] | TableLike
"""Attributes of queries: {query: {attribute: value}}, a table, or a file."""
ValuesLike: TypeAlias = (
    Path
    | Sequence[Path]
    | Mapping[str, Mapping[str, Number]]
    | Mapping[str, Mapping[str, Mapping[str, Number]]]
    | Mapping[str, Path | TableLike]
    | TableLike
    | QueryValues
)
"""Numbers of each query: {run: {query: value}}, {run: {measure: {query: value}}}, {run: table or
file}, a table, a file, or several."""
SlicesLike: TypeAlias = bool | Path | Mapping[str, Mapping[str, Any]] | ArrowTable
"""Attributes of queries: {query: {attribute: value}}, a table, or a file; True or "relevant"
is the number of relevant items alone."""
TextsLike: TypeAlias = Path | Mapping[str, Any] | TableLike | Texts
"""Texts of items or queries: {id: text}, {id: {"title": …, "text": …}}, rows, a table, a file."""
CategoriesLike: TypeAlias = Path | Mapping[str, Any] | ArrowTable
"""The category of each item: {item: category}, a table, or a file."""

VectorsLike: TypeAlias = Path | ArrayLike | Vectors
"""A matrix with one row per vector (numpy, torch, jax, lists), a file of vectors, or `Vectors`."""
SimilarityLike: TypeAlias = str | Path | ArrayLike | Similarity | Callable[[Any, Any], ArrayLike]
"""A name ("cosine"), a file of a learned similarity, a matrix, or a function of two blocks."""
NormalisationLike: TypeAlias = str | Normalisation
"""A name with its parameters ("csls(k=10)"), or a `Normalisation`."""
RelevanceLike: TypeAlias = Relation | JudgementsLike | ArrayLike | Callable[[int, int], ArrayLike]
"""One of `judged.relevance`, judgements, a matrix of grades, or a function of a block of rows."""
IndexLike: TypeAlias = Path | Searches | Callable[[NDArray[Any], int], tuple[Any, Any]]
"""A faiss or usearch index, its file, or a function of (vectors, k) -> (items, scores)."""
RetrieverLike: TypeAlias = Callable[[Any], Any] | object
"""A function of a query, or an object with `invoke`, `retrieve` or `run`, or async ones."""
QueriesLike: TypeAlias = Path | Mapping[Any, Any] | Sequence[Any] | ArrowTable
"""{id: what is asked}, a list of texts, rows with an id and a text, a table, or a file."""
ItemLike: TypeAlias = str | Callable[[Any], Any]
"""The field with the id of a result ("metadata.doc_id"), or a function from a result to it."""
EncoderLike: TypeAlias = Callable[[list[str]], Any] | object
"""A function from a list of texts or paths to a matrix, or an object with `encode`,
`embed_documents` or `get_text_embedding_batch`."""
InputsLike: TypeAlias = TextsLike | Sequence[str] | Sequence[Path] | Mapping[str, Path]
"""Input of an encoder: texts, {id: text}, a table, a file; a folder of files, or paths."""
Labels: TypeAlias = Sequence[Any] | NDArray[Any] | Mapping[str, Any]
"""One label per vector, or {id: label}."""
Ids: TypeAlias = Collection[Any] | NDArray[Any]
"""One id per vector."""
Memory: TypeAlias = str | int
"""A size such as "500MB" or "2GB", or a number of bytes."""
Progress: TypeAlias = Callable[[int], None]
"""Called with the number of queries that were done since the last call."""


Call = ParamSpec("Call")
Result = TypeVar("Result")

LEVEL = 0.95
"""The level of intervals, unless another one is asked for."""
POWER = 0.8
"""The power of tests, unless another one is asked for."""
RESAMPLES = 9_999
"""Default number of resamples."""
MOST = 2**53
"""The greatest whole number that an option may be: beyond it, floats skip whole numbers."""


def whole(
    name: str,
    given: Any,
    *,
    at_least: int = 1,
    at_most: int | None = None,
    otherwise: str = "",
    error: type[JudgedError] = InputError,
) -> int:
    """Check a whole number; `otherwise` names what else is allowed."""
    try:
        found = None if isinstance(given, bool) else index(given)
    except Exception:
        found = None
    if found is None or not at_least <= found <= (MOST if at_most is None else at_most):
        most = MOST if at_most is None and found is not None and found > MOST else at_most
        limit = "" if most is None else f" to {most:,}"
        raise error(
            f"{name} must be a whole number from {at_least}{limit}{otherwise}; got {quoted(given)}."
        )
    return found


def number(
    name: str, given: Any, *, at_least: float | None = None, at_most: float = math.inf
) -> float:
    """Check a finite number."""
    found = real(given)
    if found is None or (at_least is not None and found < at_least) or found > at_most:
        limits = "" if at_least is None else f" from {at_least:g}"
        limits += f" to {at_most:g}" if math.isfinite(at_most) else ""
        raise InputError(f"{name} must be a finite number{limits}; got {quoted(given)}.")
    return found


def real(given: Any) -> float | None:
    """Return a number as a float; None if it is not a finite number."""
    if isinstance(given, bool) or not isinstance(given, Real):
        return None
    try:
        found = float(given)
    except (OverflowError, ValueError):
        return None
    return found if math.isfinite(found) else None


HIGHEST_LEVEL = 0.999999999


def level(name: str, given: Any) -> float:
    """Check the level of a confidence interval, a number between 0 and 1."""
    found = real(given)
    if found is None or not 0 < found < 1:
        raise InputError(f"{name} must be a number between 0 and 1, as 0.95; got {quoted(given)}.")
    if found > HIGHEST_LEVEL:
        raise InputError(f"{name} must be at most {HIGHEST_LEVEL}; got {quoted(given)}.")
    return found


def flag(name: str, given: Any) -> bool:
    """Check a flag of Python or numpy."""
    if not isinstance(given, bool) and type(given).__name__ not in ("bool", "bool_"):
        raise InputError(f"{name} must be True or False; got {quoted(given)}.")
    return bool(given)


def choice(
    name: str, given: Any, options: Iterable[str], *, error: type[JudgedError] = InputError
) -> str:
    """Check one of a few words."""
    known = list(options)
    if not isinstance(given, str) or given not in known:
        words = " or ".join(known) if len(known) == 2 else f"one of {', '.join(known)}"
        hint = did_you_mean(given, known) if isinstance(given, str) else "."
        raise error(f"{name} must be {words}; got {quoted(given)}{hint}")
    return given


def text(name: str, given: Any) -> str:
    """Check a text."""
    if not isinstance(given, str):
        raise InputError(f"{name} must be a text; got {quoted(given)}.")
    return given


def latex_key(name: str, given: Any) -> str:
    """Check a key for references in LaTeX."""
    if not isinstance(given, str) or not re.fullmatch(r"[^\s\\{}%#~$^&,\x00-\x1f\x7f]+", given):
        raise InputError(
            f"{name} must be a key such as tab:runs, without spaces, commas and LaTeX's own "
            f"signs; got {quoted(given)}."
        )
    return given


def identifier(name: str, given: Any) -> str:
    """Check the id of a query or an item, a text or a number."""
    if not isinstance(given, str) and real(given) is None:
        raise InputError(f"{name} must be an id, as a text; got {quoted(given)}.")
    return str(given)


def file_format(name: str, given: Any) -> str:
    """Check the format of a file of a run or of judgements."""
    return choice(name, given, get_args(FileFormat))


def callback(name: str, given: Any) -> Callable[..., Any]:
    """Check a function for progress."""
    if not callable(given):
        raise InputError(f"{name} must be a function of one number; got {quoted(given)}.")
    return given


def sizes(name: str, given: Any) -> int | dict[str, int] | list[int]:
    """Check one whole number from 0, or one for each query."""
    size = partial(whole, at_least=0)
    if isinstance(given, Mapping):
        return {query: size(f"{name} of query {query!r}", each) for query, each in given.items()}
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes)) and _has_rows(given):
        return [size(name, each) for each in given]
    return size(name, given, otherwise=", or one for each query")


def _has_rows(given: Any) -> bool:
    """Return whether it has more than the one number of an array without dimensions."""
    return getattr(given, "ndim", 1) > 0


def optional(check: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    """Return the same check with None allowed."""
    return lambda name, given: None if given is None else check(name, given)


OPTIONS: dict[str, Callable[[str, Any], Any]] = {
    "all_queries": flag,
    "bins": partial(whole, at_most=10_000),
    "both": flag,
    "brief": flag,
    "budget": whole,
    "caption": text,
    "collection": sizes,
    "decimals": partial(whole, at_least=0, at_most=15),
    "depth": partial(whole, error=PolicyError),
    "exclude_same_id": flag,
    "graded": flag,
    "intervals": flag,
    "k": whole,
    "label": latex_key,
    "level": level,
    "limit": optional(partial(whole, otherwise=", or None for all")),
    "name": text,
    "near": partial(number, at_least=0.5, at_most=1),
    "near_vectors": partial(number, at_least=0, at_most=1),
    "only_judged_queries": flag,
    "per_query": flag,
    "percent": flag,
    "common": flag,
    "positives": partial(choice, options=POSITIVES),
    "progress": callback,
    "query": identifier,
    "quiet": flag,
    "rel": number,
    "relevant": sizes,
    "resamples": partial(whole, at_least=999, at_most=1_000_000),
    "retries": partial(whole, at_least=0, at_most=1000),
    "rows": optional(partial(whole, otherwise=", or None for all")),
    "run_format": file_format,
    "search": flag,
    "seed": partial(whole, at_least=0),
    "skip_bad": flag,
    "tag": text,
    "threshold": number,
    "tie_range": flag,
    "top_grade": number,
    "unanswerable": flag,
    "unjudged_range": flag,
    "verbose": flag,
    "wait": partial(number, at_least=0, at_most=3600),
    "width": whole,
    "workers": partial(whole, at_most=1024),
}
"""Each option that means the same wherever it occurs, and its check: (name, given) -> value."""


def checked(function: Callable[Call, Result]) -> Callable[Call, Result]:
    """Check the keyword options of a function that `OPTIONS` knows."""
    # Read off the function itself: a signature takes as long as the module that the function is in.
    plain: Any = unwrap(function)
    begin, code = plain.__code__.co_argcount, plain.__code__
    names = code.co_varnames[begin : begin + code.co_kwonlyargcount]
    checks = {name: OPTIONS[name] for name in names if name in OPTIONS}
    if not checks:
        return function
    defaults = plain.__kwdefaults__ or {}
    may_be_none = {name for name in checks if defaults.get(name, checks) is None}

    @wraps(function)
    def call(*args: Call.args, **options: Call.kwargs) -> Result:
        for name, given in options.items():
            if name in checks and not (given is None and name in may_be_none):
                options[name] = checks[name](name, given)
        return function(*args, **options)

    return call


def checked_methods(kind: type[Result]) -> type[Result]:
    """Check the options of all public methods of a class."""
    for name, method in vars(kind).copy().items():
        if isfunction(method) and not name.startswith("_"):
            setattr(kind, name, checked(method))
    return kind


LOWEST, HIGHEST = 1e-6, 1e6
"""Temperatures beyond these leave nothing of a score, or of the difference between two."""
LEARNING_TEMPERATURE = 0.05
"""Default temperature for learning a similarity."""
SWEPT_TEMPERATURES = tuple(float(f"{10 ** (step / 3):.3g}") for step in range(-9, 10))
"""Default temperatures of a sweep: three to each power of ten, from 0.001 to 1000."""
STUDIED_TEMPERATURES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Default temperatures of a study."""


def temperature(given: Any) -> float:
    """Check the temperature of a softmax."""
    found = real(given)
    if found is None or not LOWEST <= found <= HIGHEST:
        raise InputError(
            f"a temperature must be a number above 0, from {LOWEST:g} to {HIGHEST:g}; got "
            f"{quoted(given)}."
        )
    return found


_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_LARGEST = sorted(_UNITS.items(), key=lambda unit: -unit[1])


def size_in_bytes(given: str | int, name: str = "memory", *, at_least: int = 10**6) -> int:
    """Return a size in bytes."""
    try:
        if isinstance(given, bool) or not isinstance(given, (str, Real)):
            raise ValueError
        written = str(given).strip().upper()
        amount = written.rstrip("KMGTB ")
        size = int(float(amount) * _UNITS[written[len(amount) :].strip()])
    except (KeyError, ValueError, OverflowError):
        raise InputError(
            f"{name} must be a size such as '500MB' or '2GB'; got {quoted(given)}."
        ) from None
    if size < at_least:
        least = next(f"{at_least // by}{unit}" for unit, by in _LARGEST if at_least >= by)
        raise InputError(f"{name} must be at least {least}; got {quoted(given)}.")
    return min(size, MOST)


class Scoring(TypedDict, total=False):
    """Keyword arguments of `evaluate`, and of every function that evaluates first.

    policy : Policy or dict, optional
        Ties, missing queries, queries without relevant items, unjudged results, duplicates and
        depth; see `Policy`.
    convention : str or Convention, optional
        A library, such as "ranx": its names are understood, ours mean its variants of them, and
        its policy holds unless another is given.
    weights : WeightsLike, optional
        How much each query counts in means: {query: weight}, a table or a file. By default all
        count the same, or as a column of the judgements says.
    collection : int or dict, optional
        How many items there are to retrieve: one number, or {query: number}. TN, Accuracy and
        Specificity need it.
    item_to : ItemToLike, optional
        The document of an item: "doc:#" (the text before the last # of its id), "pattern:REGEX"
        (its first group), "column:NAME", "table:FILE", {item: document}, a table or a function.
        The best result of each document is ranked.
    unique : CategoriesLike, optional
        {item: category}: the best result of each category is ranked, and categories are relevant.
    exclude_same_id : bool, optional
        Remove results that have the id of their query, and judgements of a query for itself.
    trusted : JudgementsLike, optional
        Trusted judgements, such as those of people, for a random sample of at least 20 queries.
        They correct the values that cheap judgements give (prediction-powered inference).
    columns : ColumnsLike, optional
        The meaning of columns, such as {"query": "question_id", "item": "chunk_id"}; by default
        their names tell.
    format : str or dict, optional
        The format of the files, such as "csv", if it is not recognised; or
        {"judgements": ..., "run": ...}.
    skip_bad : bool, optional
        Skip runs that cannot be evaluated, with a warning, instead of failing.
    progress : Progress, optional
        Called after each run with the number of its queries.
    """

    policy: PolicyLike | None
    convention: ConventionLike | None
    weights: WeightsLike | None
    collection: CollectionLike | None
    item_to: ItemToLike | None
    unique: CategoriesLike | None
    exclude_same_id: bool
    trusted: JudgementsLike | None
    columns: ColumnsLike | None
    format: FileFormat | Mapping[str, FileFormat] | None
    skip_bad: bool
    progress: Progress | None


SCORING = tuple(Scoring.__annotations__)
"""The names of all options of `Scoring`."""
_OTHER_NAMES = {
    "qrels": "judgements",
    "queries": "judgements",
    "runs": "run",
    "metric": "measures",
    "metrics": "measures",
    "measure": "measures",
    "depth": 'policy={"depth": ...}',
    "duplicates": 'policy={"duplicates": ...}',
    "ties": 'policy={"ties": ...}',
    "missing": 'policy={"missing": ...}',
    "unjudged": 'policy={"unjudged": ...}',
    "empty": 'policy={"empty": ...}',
    "memory": "judged.config(memory=...)",
    "temporary": "judged.config(temporary=...)",
}
"""Keywords that people try, and what they are here."""


def takes_scoring(function: Callable[Call, Result]) -> Callable[Call, Result]:
    """Let a function take the options of `Scoring` as `**scoring`, checked and documented."""
    plain: Any = unwrap(function)
    code = plain.__code__
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if function.__doc__ is not None:
        _, _, described = (Scoring.__doc__ or "").partition("\n\n")
        function.__doc__ = function.__doc__.replace("    **scoring\n", described.rstrip() + "\n", 1)

    @wraps(function)
    def call(*args: Call.args, **options: Call.kwargs) -> Result:
        for name, value in options.items():
            if name in own:
                continue
            if name not in SCORING:
                raise InputError(unknown_option(function.__name__, name, [*own, *SCORING]))
            if name in OPTIONS and value is not None:
                options[name] = OPTIONS[name](name, value)
        return function(*args, **options)

    return call


def unknown_option(function: str, name: str, known: Iterable[str]) -> str:
    """Return the message for a keyword that a function does not have."""
    known = list(known)
    if name in _OTHER_NAMES and (
        _OTHER_NAMES[name] in known or "(" in _OTHER_NAMES[name] or "=" in _OTHER_NAMES[name]
    ):
        other = _OTHER_NAMES[name]
        other = f"{other}=" if other.isidentifier() else other
        return f"{function} has no {name}=; did you mean {other}?"
    return f"{function} has no option {quoted(name)}{did_you_mean(name, known)}"


def formats_of(given: Any) -> tuple[Any, Any]:
    """Return the formats of judgements and of runs from what `format` may be."""
    if isinstance(given, Mapping):
        for name in given:
            if name not in ("judgements", "run"):
                raise InputError(f"format takes 'judgements' and 'run'; got {quoted(name)}.")
        sides = given.get("judgements"), given.get("run")
    else:
        sides = given, given
    return tuple(  # type: ignore[return-value]
        None if side is None else file_format("format", side) for side in sides
    )
