"""Approximate indexes compared with the exact search: recall, and what the rest costs."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, descending
from judged.embeddings.product import TiledProduct, over_blocks
from judged.embeddings.ranks import relevant_and_excluded
from judged.embeddings.relations import Bound, Pairs, Relation
from judged.embeddings.search import (
    Search,
    refuse_changes,
    refuse_removal,
    scores_of,
    warn_of_self_matches,
)
from judged.embeddings.similarity import Similarity
from judged.embeddings.top_k import TopK, TopKSearch
from judged.errors import InputError, MissingExtraError, quoted
from judged.inputs.vectors.vectors import Vectors
from judged.options import checked_methods, real
from judged.rankings.audit import Findings
from judged.rankings.rankings import Rankings
from judged.results import Display, Document, Frame, Result, Table
from judged.text import Warned, plain, shown

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.settings import EvaluationSettings
    from judged.options import Ids, IndexLike, Progress


QUANTILES = {"p5": 0.05, "p25": 0.25, "p50": 0.5}
"""The quantiles of recall in `to_dict`, by name."""


def compare_index(
    index: IndexLike,
    exact: Search,
    relation: Relation,
    settings: EvaluationSettings,
    *,
    k: int,
    keys: Ids | None = None,
    progress: Progress | None = None,
) -> IndexEvaluation:
    """Compare an index with the exact search of the same vectors, both cut at k."""
    from judged.evaluation.evaluation import evaluate_rankings  # heavier than what is here
    from judged.evaluation.warnings import announce_warnings

    ties = settings.policy.ties
    refuse_changes(exact, "an index")
    refuse_removal(settings.policy)
    relevance = relation.bind(exact.queries, exact.items)
    product, _ = scores_of(exact)
    best = TopKSearch(product, k, ties=ties)
    assert isinstance(product, TiledProduct)  # categories are refused
    adapter = Adapter(as_index(index), product, keys, k=k)
    found, scores, relevant, ranked = _search_both(product, relevance, best, adapter, progress)
    if not len(relevant.item):
        raise InputError("no item is relevant to any query; check the relevance that was given.")
    top_k, k = best.top_k(), best.k
    exactly, by_index = (
        _rankings(lists, relevant, ranked, product, ties=ties, name=name)
        for lists, name in ((top_k.items, f"exact@{k}"), (found, f"index@{k}"))
    )
    itself = warn_of_self_matches(exact, relation, exactly)
    recall = _recall(top_k, found, scores)
    if np.nanmin(recall, initial=1.0) < 1:
        adapter.notes += _about_metric(adapter.index, product.similarity, product.items)
    rankings = [
        _audited(exactly, product, itself),
        _audited(by_index, product, (*itself, *adapter.notes)),
    ]
    return IndexEvaluation(
        k=k,
        per_query_recall=recall,
        evaluation=announce_warnings(evaluate_rankings(rankings, settings)),
    )


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class IndexEvaluation(Result):
    """The recall of an index, the numbers of the exact search and the index, and the loss.

    >>> import judged
    >>> both = judged.Embeddings([[1.0, 0.0]], [[0.9, 0.1], [0.1, 0.9]])
    >>> def always_the_second(block, k):
    ...     return [[1]] * len(block), [[0.0]] * len(block)
    >>> found = both.evaluate_index(always_the_second, {"0": {"0": 1}}, "RR", k=1)
    >>> found.recall, found.loss
    (0.0, {'RR': 1.0})
    """

    k: int
    """The length of both lists."""
    per_query_recall: Floats
    """The recall of each query; NaN if there is nothing to find."""
    evaluation: Evaluation
    """Two runs, `exact@k` and `index@k`."""

    DISPLAY: ClassVar[frozenset[str]] = frozenset(("per_query",))

    @property
    def recall(self) -> float:
        """The mean share of the exact first k that the index returned.

        Every item that scores as high as the k-th counts as found.
        """
        return (
            math.nan
            if np.isnan(self.per_query_recall).all()
            else float(np.nanmean(self.per_query_recall))
        )

    def quantile(self, share: float) -> float:
        """Return the recall that a share of the queries does not exceed.

        Parameters
        ----------
        share : float
            From 0, the worst query, to 1, the best one; 0.05 is for the worst 5 %.

        >>> import judged
        >>> both = judged.Embeddings([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.1], [0.1, 1.0]])
        >>> def always_the_first(block, k):
        ...     return [[0]] * len(block), [[1.0]] * len(block)
        >>> both.evaluate_index(always_the_first, judged.relevance.pairs(), "RR", k=1).quantile(0)
        0.0
        """
        known = self.per_query_recall[~np.isnan(self.per_query_recall)]
        if (at := real(share)) is None or not 0 <= at <= 1:
            raise InputError(f"share must be from 0 to 1; got {quoted(share)}.")
        # The value of a query, not one between two of them.
        return float(np.quantile(known, at, method="inverted_cdf")) if len(known) else math.nan

    @cached_property
    def loss(self) -> dict[str, float]:
        """The loss of each measure from exact search to the index; below 0 if it is better."""
        exact, found = self.evaluation.runs
        return {
            self.evaluation.label(measure): (exact.summary[measure] - found.summary[measure])
            * (1 if measure.spec.higher_is_better else -1)
            for measure in self.evaluation.measures
        }

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return k, recall, loss and the evaluation of both, as plain Python values.

        Parameters
        ----------
        per_query : bool, optional
            Whether to add the values of each query.
        """
        result: dict[str, Any] = {
            "k": self.k,
            "recall": plain(self.recall),
            "recall_quantiles": {name: plain(self.quantile(at)) for name, at in QUANTILES.items()},
            "loss": {name: plain(value) for name, value in self.loss.items()},
        }
        if per_query:
            queries = self.evaluation.runs[0].rankings.queries
            recalls = zip(queries, self.per_query_recall.tolist(), strict=True)
            result["per_query_recall"] = {query: plain(value) for query, value in recalls}
        return {**result, "evaluation": self.evaluation.to_dict(per_query=per_query)}

    def to_frame(self, *, per_query: bool = False) -> Frame:
        """Return rows for the exact search, the index and the loss; a column per measure.

        Parameters
        ----------
        per_query : bool, optional
            Changes nothing: values of each query are in `to_dict`.
        """
        import polars as pl

        return pl.DataFrame(self._rows(), orient="row", schema=["run", *self.loss])

    def _rows(self) -> list[tuple[Any, ...]]:
        runs = [
            (run.name, *(float(run.summary[measure]) for measure in self.evaluation.measures))
            for run in self.evaluation.runs
        ]
        return [*runs, ("loss", *self.loss.values())]

    def document(self, display: Display) -> Document:
        of_both = self.evaluation.document(Display())
        rows = [[name, *map(shown, values)] for name, *values in self._rows()]
        recall = (
            f"Recall of the index: {shown(self.recall)} of the exact first {self.k:,}. For the "
            f"worst 5 % of the queries it is at most {shown(self.quantile(0.05))}."
        )
        return replace(
            of_both,
            tables=[Table(["run", *self.loss], rows, words=frozenset(("run",)))],
            notes=[recall, *of_both.notes],
        )


# -- lists


ROUNDING = 1e-6
"""Scores this close, as a share of the query's greatest, are equal: an index rounds differently."""


def _recall(exact: TopK, found: Ints, found_scores: NDArray[Any]) -> Floats:
    """Return the share of the exact first k that was found for each query; NaN for none."""
    lengths = exact.lengths
    last = np.take_along_axis(exact.scores, np.maximum(lengths - 1, 0)[:, None], axis=1)
    size = np.abs(np.where(np.isfinite(exact.scores), exact.scores, 0)).max(axis=1, keepdims=True)
    right = (found >= 0) & (found_scores >= last - ROUNDING * size)
    share = np.full(len(lengths), np.nan)
    some = lengths > 0
    share[some] = np.minimum(right.sum(axis=1)[some] / lengths[some], 1.0)
    return share


def _rankings(
    lists: Ints, relevant: Pairs, ranked: Ints, product: TiledProduct, **about: Any
) -> Rankings:
    """Return the ranks of relevant items in lists of items."""
    queries, count = product.queries, len(product.items)
    row, place = np.nonzero(lists >= 0)
    known = np.flatnonzero(relevant.item >= 0)
    key = relevant.row[known] * count + relevant.item[known]
    order = np.argsort(key, kind="stable")
    wanted = row * count + lists[row, place]
    at = np.minimum(np.searchsorted(key[order], wanted), max(len(key) - 1, 0))
    hit = key[order][at] == wanted if len(key) else np.zeros(len(wanted), bool)
    return Rankings(
        queries=queries.names(),
        retrieved=np.bincount(row, minlength=len(queries)),
        hit_query=row[hit],
        hit_rank=place[hit] + 1,
        hit_grade=relevant.grade[known[order[at[hit]]]],
        pool_query=relevant.row,
        pool_grade=descending(relevant.grade, relevant.lengths),
        missing=np.zeros(len(queries), bool),
        collection=ranked,
        depth=lists.shape[1],
        **about,
    )


def _audited(rankings: Rankings, product: TiledProduct, notes: tuple[str, ...]) -> Rankings:
    queries, items = product.queries, product.items
    found = Findings.of(
        rankings,
        run_queries=len(queries),
        notes=tuple(dict.fromkeys(queries.notes + items.notes + notes)),
        complete=True,
        judged_results=len(rankings.hit_query),
    )
    return replace(rankings, findings=found)


def _search_both(
    product: TiledProduct,
    relevance: Bound,
    best: TopKSearch,
    adapter: Adapter,
    progress: Progress | None,
) -> tuple[Ints, NDArray[Any], Pairs, Ints]:
    """Search exactly and by the index in one pass.

    Returns what the index found with exact scores, the relevant pairs, and the number of items that
    are ranked for each query. The exact lists are in `best`.
    """

    def work(begin: int, end: int) -> tuple[Pairs, Ints, Ints, NDArray[Any]]:
        wanted, excluded = relevant_and_excluded(product, relevance, begin, end)
        ranked = np.full(end - begin, len(product.items), np.int64)
        if excluded is not None:
            ranked -= excluded.lengths
        found = _found(product, adapter, begin, end, best.k, excluded)
        scores = np.full(found.shape, -np.inf, product.listed)
        prepared = product.query_block(begin, end)
        for column in product.columns:
            tile = product.tile(prepared, begin, column, excluded)
            best.add(tile)
            row, place = np.nonzero(tile.holds(found))
            scores[row, place] = tile.scores[row, found[row, place] - column]
            settled = tile.slack is not None
        if not settled and not product.comparable:
            scores = scores + product.shifts(begin, end)
        if settled:
            row, place = np.nonzero(found >= 0)
            scores[row, place] = product.exact_pairs(begin + row, found[row, place])
        return wanted, ranked, found, scores

    relevant, ranked, found, scores = zip(*over_blocks(product, work, progress), strict=True)
    columns = (
        np.concatenate([getattr(block, part) for block in relevant])
        for part in ("lengths", "item", "grade")
    )
    return np.concatenate(found), np.concatenate(scores), Pairs(*columns), np.concatenate(ranked)


def _found(
    product: TiledProduct, adapter: Adapter, begin: int, end: int, k: int, excluded: Pairs | None
) -> Ints:
    """Return the index's first k of some queries, without the excluded items.

    How many more a query asks for depends only on its own exclusions, because an approximate index
    may return other items for a larger k. Powers of two keep the calls few.
    """
    count = len(product.items)
    gone = np.zeros(end - begin, np.int64) if excluded is None else excluded.lengths
    more = np.where(gone > 0, 1 << np.ceil(np.log2(np.maximum(gone, 1))).astype(np.int64), 0)
    left = np.full((end - begin, k), -1, np.int64)
    for extra in np.unique(more).tolist():
        row = np.flatnonzero(more == extra)
        items = adapter.find(begin + row, min(k + extra, count))
        if excluded is not None:
            known = excluded.item >= 0
            out = np.isin(
                row[:, None] * count + items, excluded.row[known] * count + excluded.item[known]
            )
            items = np.where(out, -1, items)
        items = np.take_along_axis(items, np.argsort(items < 0, axis=1, kind="stable"), axis=1)[
            :, :k
        ]
        left[row, : items.shape[1]] = items
    return left


# -- indexes of other libraries


def as_index(given: IndexLike) -> Any:
    return _read(os.fspath(given)) if isinstance(given, (str, os.PathLike)) else given


def _read(label: str) -> Any:
    try:
        with open(label, "rb") as file:
            is_usearch = b"usearch" in file.read(256) or label.endswith(".usearch")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{quoted(label)}: cannot be read ({reason}).") from None
    library, package = ("usearch.index", "usearch") if is_usearch else ("faiss", "faiss-cpu")
    try:
        module = import_module(library)
    except ImportError:
        raise MissingExtraError(
            f"{label}: reading it needs {library}: pip install {package}."
        ) from None
    try:
        found = module.Index.restore(label) if is_usearch else module.read_index(label)
    except (RuntimeError, ValueError):
        found = None
    if found is None:
        raise InputError(f"{label}: is not a faiss or usearch index that can be read.")
    return found


class Adapter:
    """An index of any kind, which returns row numbers of items."""

    def __init__(
        self,
        index: Any,
        product: TiledProduct,
        keys: Ids | None,
        *,
        k: int,
    ) -> None:
        self._queries, self._items = product.queries, product.items
        self.index, self._ask = index, searcher(index)
        self._one_at_a_time = Lock()
        self._keys = None if keys is None else _checked_keys(keys, product.items)
        _check_dims(index, product)
        self.notes = _about_size(index, product.items)
        self._numbers: dict[int, int] | None = None
        if self._keys is None and self._returns_ids(product, k):
            self._numbers = {int(name): row for name, row in self._by_id.items()}
            self.notes += ("The numbers that the index returns were taken for ids of items.",)

    def _returns_ids(self, product: TiledProduct, k: int) -> bool:
        """Tell whether the numbers that the index returns are the items' ids, not their rows.

        Where both could be, the first items of a few queries decide: an index returns near ones.
        """
        names = self._items.ids
        if names is None or not all(map(_is_number, names)):
            return False
        rows = self._by_id
        if all(row == int(name) for name, row in rows.items()):
            return False
        count = len(self._queries)
        queries = np.unique(np.linspace(0, count - 1, min(_PROBED, count)).astype(np.int64))
        lists = [
            [number for number in numbers if isinstance(number, int) and number != -1]
            for numbers in self._ask_for(queries, min(k, len(names))).tolist()
        ]
        numbers = {number for listed in lists for number in listed}
        as_rows = all(0 <= number < len(names) for number in numbers)
        as_ids = all(str(number) in rows for number in numbers)
        if not (as_rows and as_ids) or not numbers:
            return as_ids and bool(numbers)
        if not product.similarity.certain:
            raise InputError(_ROWS_OR_IDS)
        queries = queries[[bool(listed) for listed in lists]]
        first = [listed[0] for listed in lists if listed]
        of_rows, of_ids = (
            product.exact_pairs(queries, np.array(items))
            for items in (first, [rows[str(number)] for number in first])
        )
        gain, size = of_ids - of_rows, np.abs(of_ids) + np.abs(of_rows)
        better, worse = (int((sign * gain > _ROUNDING * size).sum()) for sign in (1, -1))
        if better == worse or max(better, worse) < _MOSTLY * (better + worse):
            raise InputError(_ROWS_OR_IDS)
        return better > worse

    def _ask_for(self, queries: Ints, k: int) -> NDArray[Any]:
        begin, end = int(queries[0]), int(queries[-1]) + 1
        block = (
            self._queries.block(begin, end)
            if end - begin == len(queries)
            else self._queries.rows(queries)
        )
        with self._one_at_a_time:
            answer = self._ask(block, k)
        if answer.ndim != 2 or len(answer) != len(queries):
            raise InputError(
                f"the index returned shape {answer.shape} for {len(queries)} queries; "
                "it must return a matrix, one row per query, the best item first."
            )
        return answer

    def find(self, queries: Ints, k: int) -> Ints:
        """Return the rows of the items that it returned for each query; -1 for none."""
        found = self._rows(self._ask_for(queries, k), queries)[:, :k]
        ordered = np.sort(found, axis=1)
        again = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
        if again.any():
            row, place = (int(at[0]) for at in np.nonzero(again))
            item = self._items.name(int(ordered[row, place]))
            raise InputError(f"the index returned item {item!r} {self._for(queries[row])} twice.")
        return found

    def _rows(self, answer: NDArray[Any], queries: Ints) -> Ints:
        """Return what the index calls items as row numbers; -1 for none."""
        by_row = self._keys is None and self._numbers is None
        if by_row and answer.dtype.kind in "iu":
            rows = answer.astype(np.int64)
            wrong = (rows < -1) | (rows >= len(self._items))
            if wrong.any():
                row, place = (int(at[0]) for at in np.nonzero(wrong))
                raise self._no_row(rows[row, place], queries[row])
            return rows
        place_of: dict[Any, int] = self._keys or self._numbers or self._by_id
        rows = np.full(answer.shape, -1, np.int64)
        cells: Any = np.ndenumerate(answer.astype(object))
        for (row, place), name in cells:
            if name in place_of:
                rows[row, place] = place_of[name]
            elif name is None or name == -1:
                continue
            elif by_row and isinstance(name, (int, np.integer)):
                # A row also where None or a text stands beside it, or it would depend on which
                # queries are searched together.
                if not 0 <= name < len(self._items):
                    raise self._no_row(int(name), queries[row])
                rows[row, place] = int(name)
            else:
                what = "id" if self._keys is None else "key"
                raise InputError(
                    f"the index returned {name!r} {self._for(queries[row])}, which is not the "
                    f"{what} of an item."
                )
        return rows

    def _no_row(self, number: int, query: int) -> InputError:
        return InputError(
            f"the index returned item {number} {self._for(query)}, but items are numbered from 0 "
            f"to {len(self._items) - 1}; if its numbers are keys of its own, give keys, one for "
            "each item."
        )

    @cached_property
    def _by_id(self) -> dict[Any, int]:
        return {name: row for row, name in enumerate(self._items.names())}

    def _for(self, query: int) -> str:
        return f"for query {self._queries.name(int(query))!r}"


_PROBED = 64
"""Queries that are asked to see what the numbers of an index mean."""
_MOSTLY = 0.9
_ROUNDING = 1e-9
_ROWS_OR_IDS = (
    "the index returns numbers that could be ids of items or their row numbers; give keys, what "
    "the index calls each item: keys=item_ids for ids, or keys=range(number of items) for rows."
)


def _is_number(name: str) -> bool:
    """Tell whether an id is the text of a whole number."""
    return name.isascii() and name.isdigit() and len(name) < 19 and str(int(name)) == name


def searcher(index: Any) -> Callable[[Any, int], NDArray[Any]]:
    """Return a function of queries and k that returns a matrix of what an index calls items."""
    if not hasattr(index, "search") and not callable(index):
        raise InputError(
            "an index has a search(vectors, k), or is a function of (vectors, k); got "
            f"{type(index).__name__}."
        )
    is_function = not hasattr(index, "search")

    def find(block: Any, k: int) -> NDArray[Any]:
        try:
            answer = index(block, k) if is_function else index.search(block, k)
        except (TypeError, AssertionError) as error:  # faiss asserts the type of numbers
            raise InputError(
                f"the index must take a matrix of float32 vectors and k, and failed ({error}); "
                f"{_FORMS}."
            ) from error
        if hasattr(answer, "keys") and hasattr(answer, "distances"):  # usearch
            return _usearch(answer)
        if not isinstance(answer, (tuple, list)) or len(answer) != 2:
            raise InputError(f"the index returned {type(answer).__name__}; {_FORMS}.")
        # A function returns the items first, faiss the distances.
        return _matrix(answer[0]) if is_function else np.asarray(answer[1])

    return find


_FORMS = "wrap it in a function of (vectors, k) that returns (items, scores)"


def _usearch(answer: Any) -> NDArray[Any]:
    """Return the keys, -1 where fewer than k were found; a single query comes back as one row."""
    keys = np.atleast_2d(np.asarray(answer.keys)).astype(np.int64)
    counts = getattr(answer, "counts", None)
    if counts is not None:
        keys[np.arange(keys.shape[1]) >= np.asarray(counts)[:, None]] = -1
    return keys


def _matrix(items: Any) -> NDArray[Any]:
    """Return rows of items as a matrix; shorter rows are filled up with none."""
    if isinstance(items, np.ndarray) or not isinstance(items, (list, tuple)):
        return np.asarray(items)
    rows = [list(row) for row in items]
    width = max(map(len, rows), default=0)
    whole = all(isinstance(name, (int, np.integer)) for row in rows for name in row)
    none, kind = (-1, np.int64) if whole else (None, object)
    matrix = np.full((len(rows), width), none, kind)
    for at, row in enumerate(rows):
        matrix[at, : len(row)] = row
    return matrix


def _checked_keys(keys: Ids, items: Vectors) -> dict[Any, int]:
    names = keys.tolist() if hasattr(keys, "tolist") else keys
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        raise InputError(f"keys must be a sequence, one for each item; got {quoted(keys)}.")
    names = list(names)
    if len(names) != len(items):
        raise InputError(f"keys: {len(names)} keys for {len(items)} items; the numbers must match.")
    known = {name: row for row, name in enumerate(names)}
    if len(known) < len(names):
        again = next(name for row, name in enumerate(names) if known[name] != row)
        raise InputError(f"keys: the key {again!r} occurs more than once.")
    return known


def _library(index: Any) -> str:
    return type(index).__module__.partition(".")[0]


def _check_dims(index: Any, product: TiledProduct) -> None:
    dims = next(
        (size for name in ("d", "ndim") if isinstance(size := getattr(index, name, None), int)),
        None,
    )
    queries = product.queries
    if dims is not None and dims != queries.dims:
        raise InputError(
            f"the index has {dims} dimensions, {queries.source} have {queries.dims}; the numbers "
            "must match. Was it built from these vectors?"
        )


def _about_size(index: Any, items: Vectors) -> tuple[str, ...]:
    """Warn of an index that holds other items than are searched exactly."""
    held = getattr(index, "ntotal", None)
    if held is None and hasattr(index, "search") and hasattr(index, "__len__"):
        held = len(index)
    if not isinstance(held, int) or held == len(items):
        return ()
    lost = (
        "it cannot find those it lacks, which changes its numbers"
        if held < len(items)
        else "items that are not searched exactly may take places in its lists"
    )
    return (
        Warned(
            f"The index holds {held:,} items, the exact search was over {len(items):,}: {lost}. "
            "Build the index from the same items."
        ),
    )


_METRICS: dict[Any, str] = {0: "dot", 1: "euclidean", 2: "manhattan"}
_METRICS |= {"IP": "dot", "Cos": "cosine", "L2sq": "euclidean"}
"""Similarities by their names in faiss and usearch."""
_SAMPLE = 256
"""Items whose lengths are looked at."""


def _about_metric(index: Any, similarity: Similarity, items: Vectors) -> tuple[str, ...]:
    """Warn of an index that ranks by another similarity than the exact search."""
    metric = getattr(index, "metric_type", None)
    if _library(index) == "usearch":
        metric = getattr(getattr(index, "metric_kind", None), "name", None)
    own, name = _METRICS.get(metric), similarity.name
    if own in (None, name) or name not in _METRICS.values():
        return ()
    unless = ""
    if "manhattan" not in (own, name):  # for one length, the others order items in the same way
        unless = ", unless all its vectors have one length"
        some = items.rows(np.linspace(0, len(items) - 1, _SAMPLE).astype(np.int64), np.float64)
        lengths = np.linalg.norm(some, axis=1)
        if lengths.max() <= lengths.min() * 1.001:
            return ()
    return (
        Warned(
            f"The index ranks by {own}, the exact search by {name}: its recall and loss show this "
            f"difference too{unless}. Choose the similarity {own}, or build the index for {name}."
        ),
    )
