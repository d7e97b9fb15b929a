"""Every normalisation of scores by its name, and how each is fitted.

A normalisation is fitted by streaming over the scores, chunk after chunk, keeping a few numbers per
query and item; it then changes each tile of scores as it comes. Sums of exponentials are kept as
logarithms, and results that are probabilities are given as logarithms: nothing overflows, and no
two scores become one by vanishing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from judged.arrays import Floats
from judged.embeddings.normalisation import (
    Fitted,
    Kind,
    Normalisation,
    positive,
    whole,
    with_parameters,
)
from judged.embeddings.product import Product
from judged.embeddings.similarity.similarity import Cosine
from judged.embeddings.streams import (
    CHUNK,
    Highest,
    LogSums,
    Moments,
    Nearest,
    Rivals,
    chunks,
    nearest,
    over,
)
from judged.errors import InputError, did_you_mean, quoted
from judged.inputs.vectors import as_vectors
from judged.inputs.vectors.vectors import Vectors, unit

if TYPE_CHECKING:
    from judged.options import NormalisationLike


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
            low[chunk.rows] = np.minimum(
                low[chunk.rows], np.where(there, chunk.values, np.inf).min(axis=1)
            )
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
    """(score - middle) / spread for each query; a query whose scores are all the same keeps them
    the same, at 0, as one whose spread is no more than `noise` of the middle."""
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
    """One that sees items by all test queries, or by those of a bank."""

    bank: Any = field(default=None, compare=False, repr=False)

    @property
    def kind(self) -> Kind:
        return "transductive" if self.bank is None else "inductive"

    def _seen_by(self, product: Product, dims: int | None) -> Product:
        """The queries that items are seen by: those of the bank, or else the test queries."""
        return (
            product
            if self.bank is None
            else over(product, as_vectors(self.bank, dims=dims, source="the bank of queries"))
        )


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
        self._at_most(
            self.k, len(seen_by.queries), "queries" if self.bank is None else "queries in the bank"
        )
        of_query, of_item = (
            Highest(len(product.queries), self.k),
            Highest(len(product.items), self.k),
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
            _centred(each.mean, each.deviation, noise=noise) for each in (of_query, of_item)
        )

        def change(scores: Floats, rows: slice, columns: slice) -> Floats:
            return _log_odds_of_both(
                by_query(scores, rows, columns), by_item(scores.T, columns, rows).T
            )

        return self._fitted(product, change)


def _log_odds_of_both(one: Floats, other: Floats) -> Floats:
    """Of the chance that two independent normal values lie below these; it goes on growing where
    the chance itself rounds to 1."""
    chance = log_ndtr(one) + log_ndtr(other)
    far = np.minimum(one, other) > _FAR
    against = np.log(-np.expm1(np.where(far, -1.0, chance)))
    against[far] = np.logaddexp(log_ndtr(-one[far]), log_ndtr(-other[far]))
    return chance - against


_FAR = 9.0
"""Beyond so many deviations, the chance that both values lie above is nothing beside the chance of
either."""


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
            gained = unit(items.rows(np.maximum(found.items[at].ravel(), 0))).reshape(
                *found.items[at].shape, items.dims
            )
            expanded[at] += np.einsum("qk,qkd->qd", weight[at], gained)
        return Fitted(
            self,
            queries=Vectors(
                expanded, queries.ids, queries.source, queries.notes, beside=queries.beside
            ),
        )


NORMALISATIONS: dict[str, type[Normalisation]] = {
    each.name: each
    for each in (
        MinMax,
        ZScore,
        Softmax,
        CSLS,
        InvertedSoftmax,
        QBNorm,
        DualSoftmax,
        MutualProximity,
        AlphaQueryExpansion,
    )
}


def as_normalisation(given: NormalisationLike) -> Normalisation:
    """A normalisation from its text, as `csls` or `softmax(temperature=0.05)`, or itself.

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
