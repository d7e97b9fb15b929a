"""Normalisations of scores, by name.

A normalisation is fitted by streaming over the scores, chunk after chunk, keeping a few numbers per
query and item. It then changes each tile of scores. Sums of exponentials are kept as logarithms,
and probabilities are returned as logarithms: nothing overflows, and no two scores become one.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from judged.arrays import Floats
from judged.embeddings.product import Product
from judged.embeddings.similarity import Cosine
from judged.errors import InputError, did_you_mean, quoted
from judged.inputs.vectors import as_vectors
from judged.inputs.vectors.vectors import Matrix, Vectors, unit
from judged.options import HIGHEST, LOWEST

if TYPE_CHECKING:
    from judged.options import NormalisationLike


CHUNK = 1 << 18
"""Scores that are worked on at a time, in double precision."""


@dataclass(frozen=True)
class Chunk:
    """Scores of some queries with some items in double precision; excluded ones at -infinity."""

    rows: slice
    columns: slice
    values: Floats


def chunks(product: Product) -> Iterator[Chunk]:
    """Yield all scores of a product in pieces, comparable between queries too."""
    for begin, end in product.blocks():
        prepared = product.query_block(begin, end)
        shift = product.similarity.shift(prepared)
        excluded = None if product.exclude is None else product.exclude.block(begin, end)
        for column in product.columns:
            scores = product.tile(prepared, begin, column, excluded).scores
            for at in pieces(scores):
                columns = slice(column + at.start, column + at.stop)
                yield Chunk(slice(begin, end), columns, scores[:, at] + shift)


def pieces(scores: Matrix) -> Iterator[slice]:
    step = max(1, CHUNK // len(scores))
    for first in range(0, scores.shape[1], step):
        yield slice(first, min(first + step, scores.shape[1]))


def over(product: Product, queries: Vectors) -> Product:
    """Return the same items scored with other queries, nothing excluded."""
    similarity = product.similarity.allow_training_queries()  # they are not evaluated
    similarity.check(queries, product.items)
    return Product(
        queries,
        product.items,
        similarity,
        exclude=None,
        memory=product.memory,
        precision=product.precision,
        wide=True,
        shape=(product.height, product.width),
        cuts=product.cuts,
        ready=product.ready,
    )


class LogSums:
    """Logarithms of sums of exponentials, one per line, added up piece by piece."""

    def __init__(self, lines: int) -> None:
        self._top, self._total = np.full(lines, -np.inf), np.zeros(lines)

    def add(self, at: slice, logs: Floats) -> None:
        top = np.maximum(self._top[at], logs.max(axis=1))
        base = np.where(np.isfinite(top), top, 0.0)
        moved = self._total[at] * np.exp(self._top[at] - base)
        self._total[at] = moved + np.exp(logs - base[:, None]).sum(axis=1)
        self._top[at] = top

    def values(self, *, of_nothing: float = 0.0) -> Floats:
        """Return the logarithms, `of_nothing` for a line in which everything is excluded."""
        there = self._total > 0
        return np.where(there, self._top, of_nothing) + np.log(np.where(there, self._total, 1.0))


class Rivals:
    """The highest logarithm of each line, apart from the log of the sum of all others.

    The share of the highest may be 1 but for some e^-100, so only the others tell two such shares
    apart.
    """

    def __init__(self, lines: int) -> None:
        self.top, self._rest = np.full(lines, -np.inf), LogSums(lines)

    def add(self, at: slice, logs: Floats) -> None:
        place, lines = logs.argmax(axis=1), np.arange(len(logs))
        highest = logs[lines, place]
        others = logs.copy()
        others[lines, place] = np.minimum(highest, self.top[at])
        self._rest.add(at, others)
        self.top[at] = np.maximum(highest, self.top[at])

    def odds(self) -> Callable[[Floats, slice], Floats]:
        """Return a function of logarithms and lines: the log-odds of shares of the line's sum."""
        top, rest = self.top, self._rest.values(of_nothing=-np.inf)
        total = np.logaddexp(np.where(np.isfinite(top), top, 0.0), rest)

        def odds(logs: Floats, at: slice) -> Floats:
            first = logs >= top[at]
            share = np.exp(np.where(first, -np.inf, logs - total[at]))
            alone = np.isneginf(rest[at]) & first
            others = np.where(first, np.where(alone, 0.0, rest[at]), total[at] + np.log1p(-share))
            return np.where(alone, float(np.finfo(np.float32).max), logs - others)

        return odds


class Moments:
    """Mean and standard deviation of each line's scores without excluded ones; 0 for no score."""

    def __init__(self, lines: int) -> None:
        self._count, self.mean, self._squares = np.zeros(lines), np.zeros(lines), np.zeros(lines)

    def add(self, at: slice, values: Floats) -> None:
        there = np.isfinite(values)
        count = there.sum(axis=1)
        mean = np.where(there, values, 0.0).sum(axis=1) / np.maximum(count, 1)
        squares = (np.where(there, values - mean[:, None], 0.0) ** 2).sum(axis=1)
        both = np.maximum(self._count[at] + count, 1)
        apart = mean - self.mean[at]
        self._squares[at] += squares + apart**2 * self._count[at] * count / both
        self.mean[at] += apart * count / both
        self._count[at] += count

    @property
    def deviation(self) -> Floats:
        return np.sqrt(self._squares / np.maximum(self._count, 1))


class Highest:
    """The k highest scores of each line."""

    def __init__(self, lines: int, k: int) -> None:
        self._best = np.full((lines, k), -np.inf)

    def add(self, at: slice, values: Floats) -> None:
        best, k = self._best[at], self._best.shape[1]
        some = np.flatnonzero(values.max(axis=1) > best.min(axis=1))
        joined = np.hstack([best[some], values[some]])
        best[some] = np.partition(joined, -k, axis=1)[:, -k:]

    def means(self) -> Floats:
        """Return the mean of those that are not excluded; 0 where there are none."""
        self._best.sort(axis=1)
        there = np.isfinite(self._best)
        return np.where(there, self._best, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)


class Nearest:
    """The k highest scores of each query, and their items; of ties those of lower number."""

    def __init__(self, queries: int, k: int) -> None:
        self.scores = np.full((queries, k), -np.inf)
        self.items = np.full((queries, k), -1, np.int64)

    def add(self, chunk: Chunk) -> None:
        """Add a chunk; those of a query must come in the order of the items."""
        scores, items = self.scores[chunk.rows], self.items[chunk.rows]
        k = scores.shape[1]
        some = np.flatnonzero(chunk.values.max(axis=1) > scores.min(axis=1))
        numbers = np.arange(chunk.columns.start, chunk.columns.stop)
        numbers = np.broadcast_to(numbers, (len(some), len(numbers)))
        joined = np.hstack([scores[some], chunk.values[some]])
        item = np.hstack([items[some], numbers])
        best = np.argpartition(joined, -k, axis=1)[:, -k:]
        least = np.take_along_axis(joined, best, axis=1).min(axis=1, keepdims=True)
        for row in np.flatnonzero((joined >= least).sum(axis=1) > k):
            best[row] = np.lexsort((item[row], -joined[row]))[:k]
        scores[some] = np.take_along_axis(joined, best, axis=1)
        items[some] = np.take_along_axis(item, best, axis=1)


def nearest(product: Product, k: int) -> Nearest:
    """Find the k best items of every query of a product."""
    found = Nearest(len(product.queries), k)
    for chunk in chunks(product):
        found.add(chunk)
    return found


# -- normalisations


Kind = Literal["inductive", "transductive", "per query"]
LOOKS_AT: dict[Kind, str] = {
    "inductive": "a bank of other queries, never at other test queries",
    "transductive": "all test queries",
    "per query": "one query at a time",
}
"""The queries that a normalisation of each kind sees."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A normalisation that has seen what it needs of the scores."""

    normalisation: Normalisation
    change: Callable[[Floats, slice, slice], Floats] | None = None
    """A function of scores, and of their queries and items: the normalised scores."""
    shift: Floats = field(default_factory=lambda: np.zeros((0, 1)))
    queries: Vectors | None = None
    """The changed queries, if they are changed instead of scores."""

    def apply(self, scores: Matrix, row: int, column: int) -> None:
        """Normalise a tile of scores in place, by its first query and item, before exclusions."""
        if self.change is None:
            return
        rows = slice(row, row + len(scores))
        for at in pieces(scores):
            columns = slice(column + at.start, column + at.stop)
            with np.errstate(over="ignore", invalid="ignore"):  # an overflow is an error below
                scores[:, at] = self.change(scores[:, at] + self.shift[rows], rows, columns)
            if not np.isfinite(scores[:, at]).all():
                raise InputError(
                    f"scores normalised by {self.normalisation} overflow; divide all vectors by "
                    "the same number."
                )

    def of_lists(self, scores: NDArray[Any]) -> Floats:
        """Normalise the scores of one list per query, by what looks only at the query's own."""
        assert self.change is not None
        there = np.isfinite(scores)
        # Scores in double precision are whole already.
        whole = scores if scores.dtype == np.float64 else scores + self.shift
        changed = self.change(np.where(there, whole, 0.0), slice(None), slice(None))
        return np.where(there, changed, -np.inf)


def _parameter(default: float, must: str, kind: Any, least: float, most: float) -> Any:
    def fits(given: Any) -> bool:
        return isinstance(given, kind) and not isinstance(given, bool) and least <= given <= most

    return field(default=default, metadata={"must": must, "fits": fits})


def whole(default: int) -> Any:
    return _parameter(default, "a whole number from 1", Integral, 1, np.inf)


def positive(default: float) -> Any:
    must = f"a number above 0, from {LOWEST:g} to {HIGHEST:g}"
    return _parameter(default, must, Real, LOWEST, HIGHEST)


@dataclass(frozen=True, kw_only=True)
class Normalisation(ABC):
    """A normalisation of scores; its fields are its parameters."""

    name: ClassVar[str]
    says: ClassVar[str]
    keeps_order: ClassVar[bool] = False
    """Whether every query keeps its ranking, so that ranks can be counted without it."""

    def __post_init__(self) -> None:
        for parameter in fields(self):
            given, rule = getattr(self, parameter.name), parameter.metadata
            if "must" in rule and not rule["fits"](given):
                raise InputError(
                    f"{parameter.name} of {self.name} must be {rule['must']}; got {given!r}."
                )

    @property
    def kind(self) -> Kind:
        return "per query"

    @property
    def note(self) -> str:
        """A sentence for results."""
        unchanged = "; it cannot change any ranking" if self.keeps_order else ""
        return (
            f"scores were normalised by {self}, which looks at {LOOKS_AT[self.kind]} "
            f"({self.kind}){unchanged}."
        )

    def __str__(self) -> str:
        """Return it as it is written in text: `csls(k=10)`."""
        values = {parameter.name: getattr(self, parameter.name) for parameter in fields(self)}
        text = ", ".join(f"{name}={_brief(v)}" for name, v in values.items() if v is not None)
        return f"{self.name}({text})" if text else self.name

    @abstractmethod
    def fit(self, product: Product, *, dims: int | None = None) -> Fitted:
        """Prepare to change the scores of this product; `dims` cuts the vectors of a bank."""

    def _fitted(self, product: Product, change: Callable[[Floats, slice, slice], Floats]) -> Fitted:
        shifts = [
            product.similarity.shift(product.query_block(begin, end))
            for begin, end in product.blocks()
        ]
        return Fitted(self, change, np.concatenate(shifts))

    def _at_most(self, k: int, count: int, what: str) -> None:
        if k > count:
            raise InputError(
                f"k of {self.name} must be at most the number of {what}, {count}; got {k}."
            )


def _brief(value: Any) -> str:
    is_short = isinstance(value, (int, float, str)) or hasattr(value, "__fspath__")
    return str(value) if is_short else f"{len(value)} vectors"


_PARAMETER = re.compile(r"""\s*(\w+)\s*=\s*("[^"]*"|'[^']*'|[^,]*[^,\s])\s*(?:,|$)""")


def with_parameters(kind: type[Normalisation], text: str, given: str) -> Normalisation:
    """Make a normalisation from what is between the brackets of its text."""
    known = [parameter.name for parameter in fields(kind)]
    parameters: dict[str, Any] = {}
    at = 0
    while at < len(text.rstrip()):
        match = _PARAMETER.match(text, at)
        if match is None:
            raise InputError(
                f"parameters are written name=value, with commas between; got {given!r}."
            )
        name, at = match[1], match.end()
        if name not in known:
            raise InputError(
                f"{kind.name} takes no {name!r}{did_you_mean(name, known)} It takes "
                f"{', '.join(known) or 'no parameters'}."
            )
        if name in parameters:
            raise InputError(f"{name} of {kind.name} is given twice: {given!r}.")
        parameters[name] = _value(match[2])
    return kind(**parameters)


def _value(text: str) -> int | float | str:
    """Return a whole number, a number, or else a text, such as the name of a file."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text.strip("\"'")


# -- kinds


@dataclass(frozen=True, kw_only=True)
class MinMax(Normalisation):
    name: ClassVar[str] = "min-max"
    says: ClassVar[str] = (
        "a query's scores are stretched to 0 for its lowest and 1 for its highest; no ranking "
        "changes"
    )
    keeps_order: ClassVar[bool] = True

    def fit(self, product: Product, *, dims: int | None = None) -> Fitted:
        low, high = np.full(len(product.queries), np.inf), np.full(len(product.queries), -np.inf)
        for chunk in chunks(product):
            there = np.isfinite(chunk.values)
            least = np.where(there, chunk.values, np.inf).min(axis=1)
            low[chunk.rows] = np.minimum(low[chunk.rows], least)
            high[chunk.rows] = np.maximum(high[chunk.rows], chunk.values.max(axis=1))
        return self._fitted(product, _centred(np.where(np.isfinite(low), low, 0.0), high - low))


@dataclass(frozen=True, kw_only=True)
class ZScore(Normalisation):
    name: ClassVar[str] = "z-score"
    says: ClassVar[str] = (
        "a query's scores lose their mean and are divided by their standard deviation; no ranking "
        "changes"
    )
    keeps_order: ClassVar[bool] = True

    def fit(self, product: Product, *, dims: int | None = None) -> Fitted:
        moments = Moments(len(product.queries))
        for chunk in chunks(product):
            moments.add(chunk.rows, chunk.values)
        return self._fitted(product, _centred(moments.mean, moments.deviation))


def _centred(
    middle: Floats, spread: Floats, *, noise: float = 0.0
) -> Callable[[Floats, slice, slice], Floats]:
    """Return (score - middle) / spread; 0 where the spread is at most `noise` of the middle."""
    some = np.isfinite(spread) & (spread > noise * np.abs(middle))
    scale = np.where(some, 1 / np.where(some, spread, 1.0), 0.0)
    return lambda scores, rows, columns: (scores - middle[rows, None]) * scale[rows, None]


@dataclass(frozen=True, kw_only=True)
class Softmax(Normalisation):
    temperature: float = positive(1.0)

    name: ClassVar[str] = "softmax"
    says: ClassVar[str] = (
        "the logarithm of e^(s/temperature) / the sum of it over all items of the query: "
        "the log-probability of an item; no ranking changes, whatever the temperature"
    )
    keeps_order: ClassVar[bool] = True

    def fit(self, product: Product, *, dims: int | None = None) -> Fitted:
        sums = LogSums(len(product.queries))
        for chunk in chunks(product):
            sums.add(chunk.rows, chunk.values / self.temperature)
        total = sums.values()
        return self._fitted(
            product, lambda scores, rows, columns: scores / self.temperature - total[rows, None]
        )


@dataclass(frozen=True, kw_only=True)
class _Banked(Normalisation):
    """A normalisation that sees items by all test queries, or by those of a bank."""

    bank: Any = field(default=None, compare=False, repr=False)

    @property
    def kind(self) -> Kind:
        return "transductive" if self.bank is None else "inductive"

    def _seen_by(self, product: Product, dims: int | None) -> Product:
        """Return the product with the queries of the bank, or with the test queries."""
        if self.bank is None:
            return product
        return over(product, as_vectors(self.bank, dims=dims, source="the bank of queries"))


@dataclass(frozen=True, kw_only=True)
class CSLS(_Banked):
    k: int = whole(10)

    name: ClassVar[str] = "csls"
    says: ClassVar[str] = (
        "2s - r(query) - r(item), r being the mean score with the k nearest of the other side, so "
        "that items near to everything lose; the nearest queries of an item are test queries, or "
        "those of a bank"
    )

    def fit(self, product: Product, *, dims: int | None = None) -> Fitted:
        seen_by = self._seen_by(product, dims)
        self._at_most(self.k, len(product.items), "items")
        what = "queries" if self.bank is None else "queries in the bank"
        self._at_most(self.k, len(seen_by.queries), what)
        of_query, of_item = (
            Highest(len(side), self.k) for side in (product.queries, product.items)
        )
        for chunk in chunks(product):
            of_query.add(chunk.rows, chunk.values)
            if self.bank is None:
                of_item.add(chunk.columns, chunk.values.T)
        if self.bank is not None:
            for chunk in chunks(seen_by):
                of_item.add(chunk.columns, chunk.values.T)
        query, item = of_query.means(), of_item.means()
        return self._fitted(
            product, lambda scores, rows, columns: 2 * scores - item[columns] - query[rows, None]
        )


@dataclass(frozen=True, kw_only=True)
class InvertedSoftmax(_Banked):
    beta: float = positive(20.0)

    name: ClassVar[str] = "inverted-softmax"
    says: ClassVar[str] = (
        "the log-odds of e^(beta·s) / the sum of it over all test queries with that item, so that "
        "an item that many queries reach counts for less; with a bank, the logarithm of e^(beta·s) "
        "/ the sum over the queries of the bank"
    )

    def fit(self, product: Product, *, dims: int | None = None) -> Fitted:
        if self.bank is None:
            rivals = Rivals(len(product.items))
            for chunk in chunks(product):
                rivals.add(chunk.columns, self.beta * chunk.values.T)
            odds = rivals.odds()
            return self._fitted(
                product, lambda scores, rows, columns: odds(self.beta * scores, columns)
            )
        sums = LogSums(len(product.items))
        for chunk in chunks(self._seen_by(product, dims)):
            sums.add(chunk.columns, self.beta * chunk.values.T)
        total = sums.values()
        return self._fitted(
            product, lambda scores, rows, columns: self.beta * scores - total[columns]
        )


@dataclass(frozen=True, kw_only=True)
class QBNorm(_Banked):
    beta: float = positive(20.0)
    k: int = whole(1)

    name: ClassVar[str] = "qb-norm"
    says: ClassVar[str] = (
        "inverted softmax over a bank of queries, only for queries whose best item is among the k "
        "best of some query of the bank; other queries keep their scores"
    )

    @property
    def kind(self) -> Kind:
        return "inductive"

    def fit(self, product: Product, *, dims: int | None = None) -> Fitted:
        if self.bank is None:
            raise InputError(
                "qb-norm needs a bank of queries, such as those of training; give bank=, vectors "
                "or their file."
            )
        self._at_most(self.k, len(product.items), "items")
        seen_by = self._seen_by(product, dims)
        sums, retrieved = LogSums(len(product.items)), Nearest(len(seen_by.queries), self.k)
        for chunk in chunks(seen_by):
            sums.add(chunk.columns, self.beta * chunk.values.T)
            retrieved.add(chunk)
        total, best = sums.values(), nearest(product, 1).items[:, 0]
        active: NDArray[np.bool_] = np.isin(best, np.unique(retrieved.items))

        def change(scores: Floats, rows: slice, columns: slice) -> Floats:
            return np.where(active[rows, None], self.beta * scores - total[columns], scores)

        return self._fitted(product, change)


@dataclass(frozen=True, kw_only=True)
class DualSoftmax(Normalisation):
    beta: float = positive(20.0)

    name: ClassVar[str] = "dual-softmax"
    says: ClassVar[str] = (
        "the logarithm of e^(beta·s) / the sum of it over all items of the query, times the same / "
        "the sum of it over all queries with that item"
    )

    @property
    def kind(self) -> Kind:
        return "transductive"

    def fit(self, product: Product, *, dims: int | None = None) -> Fitted:
        of_query, of_item = LogSums(len(product.queries)), LogSums(len(product.items))
        for chunk in chunks(product):
            logs = self.beta * chunk.values
            of_query.add(chunk.rows, logs)
            of_item.add(chunk.columns, logs.T)
        query, item = of_query.values(), of_item.values()

        def change(scores: Floats, rows: slice, columns: slice) -> Floats:
            logs = self.beta * scores
            # Each share by itself: their logarithms are near 0 where the scores are great.
            return (logs - query[rows, None]) + (logs - item[columns])

        return self._fitted(product, change)


@dataclass(frozen=True, kw_only=True)
class MutualProximity(Normalisation):
    name: ClassVar[str] = "mutual-proximity"
    says: ClassVar[str] = (
        "the log-odds of the chance that the query's score with another item, and the item's with "
        "another query, are both lower, taking scores as normally distributed and independent"
    )

    @property
    def kind(self) -> Kind:
        return "transductive"

    def fit(self, product: Product, *, dims: int | None = None) -> Fitted:
        of_query, of_item = Moments(len(product.queries)), Moments(len(product.items))
        for chunk in chunks(product):
            of_query.add(chunk.rows, chunk.values)
            of_item.add(chunk.columns, chunk.values.T)
        # What equal scores differ by is the rounding of them, or of their mean.
        noise = float(np.finfo(np.float32).eps)
        by_query, by_item = (
            _centred(side.mean, side.deviation, noise=noise) for side in (of_query, of_item)
        )

        def change(scores: Floats, rows: slice, columns: slice) -> Floats:
            return _log_odds_of_both(
                by_query(scores, rows, columns), by_item(scores.T, columns, rows).T
            )

        return self._fitted(product, change)


def _log_odds_of_both(one: Floats, other: Floats) -> Floats:
    """Return the log-odds that two independent normal values lie below these.

    They go on growing where the chance itself rounds to 1.
    """
    chance = log_ndtr(one) + log_ndtr(other)
    far = np.minimum(one, other) > _FAR
    against = np.log(-np.expm1(np.where(far, -1.0, chance)))
    against[far] = np.logaddexp(log_ndtr(-one[far]), log_ndtr(-other[far]))
    return chance - against


_FAR = 9.0
"""Deviations beyond which the chance that both values lie above is negligible."""


@dataclass(frozen=True, kw_only=True)
class AlphaQueryExpansion(Normalisation):
    alpha: float = positive(3.0)
    k: int = whole(10)

    name: ClassVar[str] = "alpha-query-expansion"
    says: ClassVar[str] = (
        "the query gains its k best items, each weighted by its cosine to the power alpha (none "
        "below 0), and is asked again"
    )

    def fit(self, product: Product, *, dims: int | None = None) -> Fitted:
        if not isinstance(product.similarity, Cosine):
            raise InputError(
                "alpha-query-expansion weighs items by their cosine; "
                f"it needs similarity 'cosine', got {product.similarity.name!r}."
            )
        self._at_most(self.k, len(product.items), "items")
        found = nearest(product, self.k)
        weight = np.maximum(found.scores, 0.0) ** self.alpha
        queries, items = product.queries, product.items
        expanded = np.empty((len(queries), queries.dims), np.float32)
        step = max(1, CHUNK // (self.k * queries.dims))
        for begin in range(0, len(queries), step):
            at = slice(begin, begin + step)
            expanded[at] = unit(queries.block(begin, begin + step))
            best = found.items[at]
            gained = unit(items.rows(np.maximum(best.ravel(), 0))).reshape(*best.shape, items.dims)
            expanded[at] += np.einsum("qk,qkd->qd", weight[at], gained)
        about = queries.ids, queries.source, queries.notes
        return Fitted(self, queries=Vectors(expanded, *about, beside=queries.beside))


_ALL: tuple[type[Normalisation], ...] = (
    *(MinMax, ZScore, Softmax, CSLS, InvertedSoftmax, QBNorm, DualSoftmax),
    *(MutualProximity, AlphaQueryExpansion),
)
NORMALISATIONS = {normalisation.name: normalisation for normalisation in _ALL}


def as_normalisation(given: NormalisationLike) -> Normalisation:
    """Return a normalisation from its text, such as `csls` or `softmax(temperature=0.05)`.

    >>> as_normalisation("csls(k=5)").kind
    'transductive'
    """
    if isinstance(given, Normalisation):
        return given
    pattern = r"\s*([^()]+?)\s*(?:\((.*)\)\s*)?"
    match = re.fullmatch(pattern, given, re.DOTALL) if isinstance(given, str) else None
    if match is None:
        raise InputError(
            "a normalisation is a text such as 'csls' or 'softmax(temperature=0.05)'; got "
            f"{quoted(given)}."
        )
    name = match[1].lower().replace("_", "-").replace(" ", "-")
    if name not in NORMALISATIONS:
        raise InputError(
            f"There is no normalisation {match[1]!r}{did_you_mean(name, NORMALISATIONS)} There is "
            f"{', '.join(NORMALISATIONS)}."
        )
    return with_parameters(NORMALISATIONS[name], match[2] or "", given)
