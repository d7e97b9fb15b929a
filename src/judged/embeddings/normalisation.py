"""Normalisations of scores, by name.

A normalisation is fitted by streaming over the scores, chunk after chunk, keeping a few numbers per
query and item. It then changes each tile of scores. Sums of exponentials are kept as logarithms,
and probabilities are returned as logarithms: nothing overflows, and no two scores become one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from judged.arrays import Floats
from judged.embeddings.product import TiledProduct
from judged.embeddings.similarity import Cosine
from judged.errors import InputError, did_you_mean, quoted
from judged.inputs.vectors import as_vectors
from judged.inputs.vectors.vectors import Matrix, Vectors, unit
from judged.options import HIGHEST, LOWEST

if TYPE_CHECKING:
    from judged.options import NormalisationLike


CHUNK = 1 << 18
"""Scores that are worked on at a time, in double precision."""


def chunks(product: TiledProduct) -> Iterator[tuple[slice, slice, Floats]]:
    """Yield rows, columns and scores of a product in pieces, comparable between queries too.

    Scores are in double precision; excluded ones are at minus infinity.
    """
    for begin, end in product.blocks():
        prepared = product.query_block(begin, end)
        shift = product.similarity.shift(prepared)
        excluded = None if product.exclude is None else product.exclude.block(begin, end)
        for column in product.columns:
            scores = product.tile(prepared, begin, column, excluded).scores
            for at in pieces(scores):
                columns = slice(column + at.start, column + at.stop)
                yield slice(begin, end), columns, scores[:, at] + shift


def pieces(scores: Matrix) -> Iterator[slice]:
    step = max(1, CHUNK // len(scores))
    for first in range(0, scores.shape[1], step):
        yield slice(first, min(first + step, scores.shape[1]))


def over(product: TiledProduct, queries: Vectors) -> TiledProduct:
    """Return the same items scored with other queries, nothing excluded."""
    similarity = product.similarity.allow_training_queries()  # they are not evaluated
    similarity.check(queries, product.items)
    return TiledProduct(
        queries,
        product.items,
        similarity,
        exclude=None,
        memory=product.memory,
        single=product.single,
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
        """Return the mean of the scores that are not excluded; 0 without any."""
        self._best.sort(axis=1)
        there = np.isfinite(self._best)
        return np.where(there, self._best, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)


class Nearest:
    """The k highest scores of each query, and their items; of ties those of lower number."""

    def __init__(self, queries: int, k: int) -> None:
        self.scores = np.full((queries, k), -np.inf)
        self.items = np.full((queries, k), -1, np.int64)

    def add(self, rows: slice, columns: slice, values: Floats) -> None:
        """Add a chunk; those of a query must come in the order of the items."""
        scores, items = self.scores[rows], self.items[rows]
        k = scores.shape[1]
        some = np.flatnonzero(values.max(axis=1) > scores.min(axis=1))
        numbers = np.arange(columns.start, columns.stop)
        numbers = np.broadcast_to(numbers, (len(some), len(numbers)))
        joined = np.hstack([scores[some], values[some]])
        item = np.hstack([items[some], numbers])
        best = np.argpartition(joined, -k, axis=1)[:, -k:]
        least = np.take_along_axis(joined, best, axis=1).min(axis=1, keepdims=True)
        for row in np.flatnonzero((joined >= least).sum(axis=1) > k):
            best[row] = np.lexsort((item[row], -joined[row]))[:k]
        scores[some] = np.take_along_axis(joined, best, axis=1)
        items[some] = np.take_along_axis(item, best, axis=1)


def nearest(product: TiledProduct, k: int) -> Nearest:
    found = Nearest(len(product.queries), k)
    for chunk in chunks(product):
        found.add(*chunk)
    return found


# -- normalisations


Scope = Literal["inductive", "transductive", "per query"]
LOOKS_AT: dict[Scope, str] = {
    "inductive": "a bank of other queries, never at other test queries",
    "transductive": "all test queries",
    "per query": "one query at a time",
}
"""The queries that a normalisation of each scope sees."""
Change = Callable[[Floats, slice, slice], Floats]
"""A function of scores, and of their queries and items: the normalised scores."""
Queries = NDArray[np.float32]
"""Other vectors of the queries, whose scores are taken as they are."""


@dataclass(frozen=True)
class Normalisation:
    """A normalisation of scores with its parameters, as `as_normalisation` makes it."""

    name: str
    says: str
    fit_change: Callable[..., Change | Queries]
    """A function of the scores, of those of the queries that it sees, and of its parameters."""
    parameters: dict[str, Any]
    scope: Scope = "per query"
    """The queries that it sees without a bank."""
    takes_bank: bool = False
    keeps_order: bool = False
    """True if every query keeps its ranking, so that ranks can be counted without it."""
    bank: Any = None
    """Vectors of other queries, or their file."""

    def __post_init__(self) -> None:
        for name, value in self.parameters.items():
            is_whole = name == "k"
            kind, least, most = (Integral, 1, np.inf) if is_whole else (Real, LOWEST, HIGHEST)
            is_number = isinstance(value, kind) and not isinstance(value, bool)
            if not (is_number and least <= value <= most):
                must = f"a number above 0, from {LOWEST:g} to {HIGHEST:g}"
                must = "a whole number from 1" if is_whole else must
                raise InputError(f"{name} of {self.name} must be {must}; got {value!r}.")

    @property
    def kind(self) -> Scope:
        return self.scope if self.bank is None else "inductive"

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
        values = {name: str(value) for name, value in self.parameters.items()}
        if self.bank is not None:
            is_file = isinstance(self.bank, str) or hasattr(self.bank, "__fspath__")
            values = {"bank": str(self.bank) if is_file else f"{len(self.bank)} vectors", **values}
        text = ", ".join(f"{name}={value}" for name, value in values.items())
        return f"{self.name}({text})" if text else self.name

    def fit(self, product: TiledProduct, *, dims: int | None = None) -> Fitted:
        """Prepare to change the scores of this product; `dims` cuts the vectors of a bank."""
        seen_by = product
        if self.bank is not None:
            bank = as_vectors(self.bank, dims=dims, source="the bank of queries")
            seen_by = over(product, bank)
        elif self.scope == "inductive":
            raise InputError(
                f"{self.name} needs a bank of queries, such as those of training; give bank=, "
                "vectors or their file."
            )
        sizes = {"items": len(product.items)}
        if self.name == "csls":
            what = "queries" if self.bank is None else "queries in the bank"
            sizes[what] = len(seen_by.queries)
        for what, count in sizes.items():
            if (k := self.parameters.get("k", 0)) > count:
                raise InputError(
                    f"k of {self.name} must be at most the number of {what}, {count}; got {k}."
                )
        change = self.fit_change(product, seen_by, **self.parameters)
        if not callable(change):
            queries = replace(product.queries, values=change, origin=None)
            return Fitted(self, queries=queries)
        shifts = [product.shifts(begin, end) for begin, end in product.blocks()]
        return Fitted(self, change, np.concatenate(shifts))


@dataclass(frozen=True, eq=False)
class Fitted:
    """A normalisation that has seen what it needs of the scores."""

    normalisation: Normalisation
    change: Change | None = None
    shift: Floats = field(default_factory=lambda: np.zeros((0, 1)))
    """Numbers to add to the scores of each query."""
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


# -- kinds: functions of the scores, of those of the queries that are seen, and of the parameters


def fit_min_max(product: TiledProduct, seen_by: TiledProduct) -> Change:
    low, high = np.full(len(product.queries), np.inf), np.full(len(product.queries), -np.inf)
    for rows, _, values in chunks(product):
        least = np.where(np.isfinite(values), values, np.inf).min(axis=1)
        low[rows] = np.minimum(low[rows], least)
        high[rows] = np.maximum(high[rows], values.max(axis=1))
    return _centred(np.where(np.isfinite(low), low, 0.0), high - low)


def _centred(middle: Floats, spread: Floats, *, noise: float = 0.0) -> Change:
    """Return (score - middle) / spread; 0 where the spread is at most `noise` of the middle."""
    some = np.isfinite(spread) & (spread > noise * np.abs(middle))
    scale = np.where(some, 1 / np.where(some, spread, 1.0), 0.0)
    return lambda scores, rows, columns: (scores - middle[rows, None]) * scale[rows, None]


def fit_z_score(product: TiledProduct, seen_by: TiledProduct) -> Change:
    moments = Moments(len(product.queries))
    for rows, _, values in chunks(product):
        moments.add(rows, values)
    return _centred(moments.mean, moments.deviation)


def fit_softmax(product: TiledProduct, seen_by: TiledProduct, temperature: float) -> Change:
    sums = LogSums(len(product.queries))
    for rows, _, values in chunks(product):
        sums.add(rows, values / temperature)
    total = sums.values()
    return lambda scores, rows, columns: scores / temperature - total[rows, None]


def fit_csls(product: TiledProduct, seen_by: TiledProduct, k: int) -> Change:
    of_query, of_item = (Highest(len(side), k) for side in (product.queries, product.items))
    for rows, columns, values in chunks(product):
        of_query.add(rows, values)
        if seen_by is product:
            of_item.add(columns, values.T)
    if seen_by is not product:
        for _, columns, values in chunks(seen_by):
            of_item.add(columns, values.T)
    query, item = of_query.means(), of_item.means()
    return lambda scores, rows, columns: 2 * scores - item[columns] - query[rows, None]


def fit_inverted_softmax(product: TiledProduct, seen_by: TiledProduct, beta: float) -> Change:
    if seen_by is product:
        rivals = Rivals(len(product.items))
        for _, columns, values in chunks(product):
            rivals.add(columns, beta * values.T)
        odds = rivals.odds()
        return lambda scores, rows, columns: odds(beta * scores, columns)
    sums = LogSums(len(product.items))
    for _, columns, values in chunks(seen_by):
        sums.add(columns, beta * values.T)
    total = sums.values()
    return lambda scores, rows, columns: beta * scores - total[columns]


def fit_qb_norm(product: TiledProduct, seen_by: TiledProduct, beta: float, k: int) -> Change:
    sums, retrieved = LogSums(len(product.items)), Nearest(len(seen_by.queries), k)
    for rows, columns, values in chunks(seen_by):
        sums.add(columns, beta * values.T)
        retrieved.add(rows, columns, values)
    total, best = sums.values(), nearest(product, 1).items[:, 0]
    active: NDArray[np.bool_] = np.isin(best, np.unique(retrieved.items))

    def change(scores: Floats, rows: slice, columns: slice) -> Floats:
        return np.where(active[rows, None], beta * scores - total[columns], scores)

    return change


def fit_dual_softmax(product: TiledProduct, seen_by: TiledProduct, beta: float) -> Change:
    of_query, of_item = LogSums(len(product.queries)), LogSums(len(product.items))
    for rows, columns, values in chunks(product):
        of_query.add(rows, beta * values)
        of_item.add(columns, beta * values.T)
    query, item = of_query.values(), of_item.values()

    def change(scores: Floats, rows: slice, columns: slice) -> Floats:
        logs = beta * scores
        # Shares are computed one by one: logarithms of shares near 1 are near 0.
        return (logs - query[rows, None]) + (logs - item[columns])

    return change


def fit_mutual_proximity(product: TiledProduct, seen_by: TiledProduct) -> Change:
    of_query, of_item = Moments(len(product.queries)), Moments(len(product.items))
    for rows, columns, values in chunks(product):
        of_query.add(rows, values)
        of_item.add(columns, values.T)
    # What equal scores differ by is the rounding of them, or of their mean.
    noise = float(np.finfo(np.float32).eps)
    by_query, by_item = (
        _centred(side.mean, side.deviation, noise=noise) for side in (of_query, of_item)
    )

    def change(scores: Floats, rows: slice, columns: slice) -> Floats:
        return _log_odds_of_both(
            by_query(scores, rows, columns), by_item(scores.T, columns, rows).T
        )

    return change


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


def expand_queries(product: TiledProduct, seen_by: TiledProduct, alpha: float, k: int) -> Queries:
    if not isinstance(product.similarity, Cosine):
        raise InputError(
            "alpha-query-expansion weighs items by their cosine; "
            f"it needs similarity 'cosine', got {product.similarity.name!r}."
        )
    found = nearest(product, k)
    weight = np.maximum(found.scores, 0.0) ** alpha
    queries, items = product.queries, product.items
    expanded = np.empty((len(queries), queries.dims), np.float32)
    step = max(1, CHUNK // (k * queries.dims))
    for begin in range(0, len(queries), step):
        at = slice(begin, begin + step)
        expanded[at] = unit(queries.block(begin, begin + step))
        best = found.items[at]
        gained = unit(items.rows(np.maximum(best.ravel(), 0))).reshape(*best.shape, items.dims)
        expanded[at] += np.einsum("qk,qkd->qd", weight[at], gained)
    return expanded


_ALL = (
    Normalisation(
        "min-max",
        "a query's scores are stretched to 0 for its lowest and 1 for its highest; no ranking "
        "changes",
        fit_min_max,
        {},
        keeps_order=True,
    ),
    Normalisation(
        "z-score",
        "a query's scores lose their mean and are divided by their standard deviation; no ranking "
        "changes",
        fit_z_score,
        {},
        keeps_order=True,
    ),
    Normalisation(
        "softmax",
        "the logarithm of e^(s/temperature) / the sum of it over all items of the query: the "
        "log-probability of an item; no ranking changes, whatever the temperature",
        fit_softmax,
        {"temperature": 1.0},
        keeps_order=True,
    ),
    Normalisation(
        "csls",
        "2s - r(query) - r(item), r being the mean score with the k nearest of the other side, so "
        "that items near to everything lose; the nearest queries of an item are test queries, or "
        "those of a bank",
        fit_csls,
        {"k": 10},
        "transductive",
        takes_bank=True,
    ),
    Normalisation(
        "inverted-softmax",
        "the log-odds of e^(beta·s) / the sum of it over all test queries with that item, so that "
        "an item that many queries reach counts for less; with a bank, the logarithm of e^(beta·s) "
        "/ the sum over the queries of the bank",
        fit_inverted_softmax,
        {"beta": 20.0},
        "transductive",
        takes_bank=True,
    ),
    Normalisation(
        "qb-norm",
        "inverted softmax over a bank of queries, only for queries whose best item is among the k "
        "best of some query of the bank; other queries keep their scores",
        fit_qb_norm,
        {"beta": 20.0, "k": 1},
        "inductive",
        takes_bank=True,
    ),
    Normalisation(
        "dual-softmax",
        "the logarithm of e^(beta·s) / the sum of it over all items of the query, times the same / "
        "the sum of it over all queries with that item",
        fit_dual_softmax,
        {"beta": 20.0},
        "transductive",
    ),
    Normalisation(
        "mutual-proximity",
        "the log-odds of the chance that the query's score with another item, and the item's with "
        "another query, are both lower, taking scores as normally distributed and independent",
        fit_mutual_proximity,
        {},
        "transductive",
    ),
    Normalisation(
        "alpha-query-expansion",
        "the query gains its k best items, each weighted by its cosine to the power alpha (none "
        "below 0), and is asked again",
        expand_queries,
        {"alpha": 3.0, "k": 10},
    ),
)
NORMALISATIONS = {normalisation.name: normalisation for normalisation in _ALL}
_PARAMETER = re.compile(r"""\s*(\w+)\s*=\s*("[^"]*"|'[^']*'|[^,]*[^,\s])\s*(?:,|$)""")


def as_normalisation(given: NormalisationLike, *, bank: Any = None) -> Normalisation:
    """Return a normalisation from its text, such as `csls` or `softmax(temperature=0.05)`.

    Parameters
    ----------
    given : NormalisationLike
        The text.
    bank : VectorsLike, optional
        Vectors of other queries that it sees, which a text names by their file.

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
            f"Unknown normalisation {match[1]!r}{did_you_mean(name, NORMALISATIONS)} Choose one of "
            f"{', '.join(NORMALISATIONS)}."
        )
    chosen = NORMALISATIONS[name]
    parameters = _parameters(chosen, match[2] or "", given)
    bank = parameters.pop("bank", bank)
    return replace(chosen, parameters={**chosen.parameters, **parameters}, bank=bank)


def _parameters(chosen: Normalisation, text: str, given: str) -> dict[str, Any]:
    known = [*(["bank"] if chosen.takes_bank else []), *chosen.parameters]
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
                f"{chosen.name} takes no {name!r}{did_you_mean(name, known)} It takes "
                f"{', '.join(known) or 'no parameters'}."
            )
        if name in parameters:
            raise InputError(f"{name} of {chosen.name} is given twice: {given!r}.")
        parameters[name] = match[2].strip("\"'") if name == "bank" else _number(match[2])
    return parameters


def _number(text: str) -> int | float | str:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text.strip("\"'")
