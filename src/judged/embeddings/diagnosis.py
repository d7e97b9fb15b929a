"""Diagnosis of embeddings: bad vectors, duplicates, hubs and collapse.

Vectors that cannot be compared (NaN, infinite, and with cosine all zeros) are named and left out of
everything else. All that grows with the product of two sides is streamed in tiles. What grows with
the square of one side uses a seeded sample of its vectors, if there are many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import nan
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.embeddings.kernel import first_equal, keys_of
from judged.embeddings.normalisation import Nearest, chunks
from judged.embeddings.product import TiledProduct
from judged.embeddings.relations import Bound, Pairs, Relation
from judged.embeddings.search import Search, refuse_changes, warn_of_self_matches
from judged.embeddings.similarity import Cosine, Euclidean, Similarity
from judged.inputs.vectors.vectors import Lazy, Matrix, Vectors, unit
from judged.options import whole
from judged.results import Display, DisplayOptions, Document, Frame, Result, ResultPart, Table
from judged.text import counted, few

SAMPLE = 5_000
"""The most vectors of a side that are compared with all others."""
NEAR = 0.999
"""Vectors of a higher cosine than this are near duplicates."""


@dataclass(frozen=True)
class NamedVectors(ResultPart):
    """A number of vectors, and the names of the first."""

    count: int = 0
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{', '.join(self.names[:3])}{', …' if self.count > 3 else ''}"


@dataclass(frozen=True)
class SideDiagnosis(ResultPart):
    """Findings about the queries, or the items."""

    source: str
    count: int
    dims: int
    not_finite: NamedVectors
    """Vectors with a NaN or an infinite number."""
    zero: NamedVectors
    duplicates: dict[str, Any]
    """The `count` of vectors equal to an earlier one, number for number in single precision, and
    the first `groups` of equal ones."""
    near_duplicates: dict[str, Any]
    """The `count` of vectors with another of their side at a cosine above 0.999 that is not the
    same, of those `looked_at` (`sampled` if these are not all), and the first `pairs`."""
    norms: dict[str, float]
    """The lengths: min, median, max, and `variation`, the standard deviation over the mean."""
    uniformity: float
    """log of the mean of e^(-2·|x - y|²) over pairs at length 1 (Wang & Isola 2020): the lower, the
    more spread out."""


@dataclass(frozen=True, repr=False)
class Diagnosis(ResultPart, Result):
    """Problems of embeddings: numbers for programs, sentences for people.

    >>> import judged
    >>> found = judged.Embeddings([[1.0, 0.0]], [[1.0, 0.1], [1.0, 0.1], [0.0, 2.0]]).diagnose()
    >>> found.items.duplicates["count"]
    1
    """

    queries: SideDiagnosis
    """Findings about the queries."""
    items: SideDiagnosis
    """Findings about the items."""
    similarity: str
    """The name of the similarity that they were compared by."""
    collapse: dict[str, Any]
    """The dimensions that the items use, by the `singular_values` of their centred matrix:
    `effective_rank`, e to the entropy of the singular values' shares (Roy & Vetterli 2007); `top_1`
    and `top_10`, the share of the variance in the strongest directions; and `dead` dimensions (from
    0), in which all items have the same number."""
    hubness: dict[str, Any] | None = None
    """The uneven occurrence of items among the `k` best of the queries: `skewness` of the number of
    queries that have an item, NaN if all have the same; `robin_hood`, the share of all places that
    would have to change hands for every item to have as many (Hoover's index); `antihubs`, the
    share of items that no query has; the number of `hubs`, which at least 2k queries have; and the
    `biggest` ones. None, like the scores, if one side has no vector that can be compared."""
    scores: dict[str, Any] | None = None
    """The exact counts of scores of `relevant` and of `others` in bins of one width between
    `edges` (a score on an edge is in the bin above), with `relevant_mean` and `others_mean`.
    Without relevance, `relevant` is None and all items are others."""
    alignment: float | None = None
    """Mean of |x - y|² over relevant pairs at length 1 (Wang & Isola 2020): the lower, the closer;
    None without relevance."""
    alignment_pairs: int = 0
    """The number of relevant pairs that it is the mean of."""
    alignment_sampled: bool = False
    """True if these are a sample."""
    self_matches: tuple[str, ...] = ()
    """A warning if queries are also items, and are not excluded from their own rankings."""

    def to_frame(self) -> Frame:
        """Return every single number with its name, as in `to_dict`; no lists."""
        import polars as pl

        schema = {"number": pl.String, "value": pl.Float64}
        return pl.DataFrame(list(_numbers(self.to_dict())), schema=schema, orient="row")

    def document(self, display: Display) -> Document:
        frame = self.to_frame()
        numbers = Table(
            frame.columns,
            [[name, f"{value:.6g}"] for name, value in frame.rows()],
            words={"number"},
            title="all numbers",
            folded=True,
        )
        return Document(
            [] if display.quiet else self.sentences() or ["Nothing stands out."],
            [numbers] if display.quiet or display.verbose else [],
            notes=list(_described(self)),
        )

    def sentences(self, **display: Unpack[DisplayOptions]) -> list[str]:
        """Return the findings, most serious first; none if nothing stands out.

        Parameters
        ----------
        **display : Unpack[DisplayOptions]
            Options of `Display`; none has an effect.
        """
        return [sentence for found, sentence in _findings(self) if found]

    def tables(self, **display: Unpack[DisplayOptions]) -> list[Table]:
        """Return one table of every number with its name.

        Parameters
        ----------
        **display : Unpack[DisplayOptions]
            Options of `Display`; none has an effect.
        """
        return list(self.document(Display(quiet=True)).tables)


def _numbers(found: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, float]]:
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{above}{name}.")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield f"{above}{name}", float(value)


def _findings(found: Diagnosis) -> Iterator[tuple[Any, str]]:
    for side in (found.queries, found.items):
        yield from _vector_findings(side, found.similarity)
    yield from ((True, str(sentence)) for sentence in found.self_matches)
    if found.scores is not None:
        relevant, others = found.scores["relevant_mean"], found.scores["others_mean"]
        yield (
            relevant <= others,
            f"relevant items score no higher than others: {relevant:.4g} on average, others "
            f"{others:.4g}.",
        )
    collapse, items = found.collapse, found.items
    yield (
        items.count > 1 and collapse["dead"],
        f"{len(collapse['dead']):,} of {counted(items.dims, 'dimension')} have the same value in "
        f"all items ({few([*map(str, collapse['dead'])])}).",
    )
    yield (
        collapse["effective_rank"] < _FEW * min(items.dims, items.count - 1),
        f"the items use few of their {items.dims} dimensions: their effective rank is "
        f"{collapse['effective_rank']:.1f}, with {_percent(collapse['top_1'])} of the variance in "
        "one direction.",
    )
    if (hubness := found.hubness) is not None:
        item, times = hubness["biggest"][0] if hubness["biggest"] else ("none", 0)
        usual = hubness["k"] * found.queries.count / items.count
        yield (
            hubness["skewness"] > _SKEWED + usual**-0.5,
            f"hubs: item {item} is among the {hubness['k']} best of "
            f"{counted(times, 'query', 'queries')}, {_percent(hubness['antihubs'])} of items of "
            f"none (skewness {hubness['skewness']:.2f}, Robin Hood index "
            f"{hubness['robin_hood']:.2f}).",
        )


_FEW = 0.25
"""An effective rank below this share of the possible is worth a word."""
_SKEWED = 1.4
"""Skewness that is usual without hubs, beyond that of small counts."""


def _vector_findings(side: SideDiagnosis, similarity: str) -> Iterator[tuple[Any, str]]:
    source, norms = side.source, side.norms
    yield (
        side.not_finite.count,
        f"{source}: {counted(side.not_finite.count, 'vector')} with NaN or infinite numbers "
        f"({side.not_finite}); left out of everything else.",
    )
    left_out = "; without direction, so left out of the scores" if similarity == "cosine" else ""
    yield (
        side.zero.count,
        f"{source}: {counted(side.zero.count, 'vector')} all zeros ({side.zero}){left_out}.",
    )
    same = side.duplicates
    groups = "; ".join(
        " = ".join(group[:3]) + (" = …" if len(group) > 3 else "") for group in same["groups"][:3]
    )
    more = "; …" if len(same["groups"]) > 3 else ""
    yield (
        same["count"],
        f"{source}: {counted(same['count'], 'vector')} equal to an earlier one ({groups}{more}).",
    )
    near = side.near_duplicates
    some = (
        f"{near['count']:,} of {near['looked_at']:,} sampled vectors"
        if near["sampled"]
        else counted(near["count"], "vector")
    )
    such = f", such as {near['pairs'][0][0]} and {near['pairs'][0][1]}" if near["pairs"] else ""
    yield near["count"], f"{source}: {some} with a near duplicate (cosine above {NEAR}){such}."
    yield (
        similarity == "dot" and norms["variation"] > 0.1,
        f"{source}: lengths vary by {_percent(norms['variation'])} (from {norms['min']:.4g} to "
        f"{norms['max']:.4g}), and a dot product grows with them.",
    )


def _described(found: Diagnosis) -> Iterator[str]:
    yield f"Diagnosis by {found.similarity}"
    for side in (found.queries, found.items):
        norms = side.norms
        dims = counted(side.dims, "dimension")
        yield f"  {side.source}: {counted(side.count, 'vector')} of {dims}"
        yield (
            f"    lengths {norms['min']:.4g} to {norms['max']:.4g}, median {norms['median']:.4g}, "
            f"variation {_percent(norms['variation'], 1)}"
        )
        near = side.near_duplicates
        sampled = f" (from a sample of {near['looked_at']:,})" if near["sampled"] else ""
        yield f"    uniformity {side.uniformity:.3f}{sampled}"
    if found.alignment is not None:
        sampled = "a sample of " if found.alignment_sampled else ""
        yield (
            f"  alignment {found.alignment:.3f} over "
            f"{sampled}{counted(found.alignment_pairs, 'relevant pair')}"
        )
    if found.hubness is not None:
        hubness = found.hubness
        yield (
            f"  hubness at {hubness['k']}: skewness {hubness['skewness']:.2f}, Robin Hood index "
            f"{hubness['robin_hood']:.2f}, {_percent(hubness['antihubs'], 1)} of items never "
            f"found, {counted(hubness['hubs'], 'hub')}"
        )
    if found.scores is not None:
        scores = found.scores
        relevant = (
            ""
            if scores["relevant"] is None
            else f", relevant items {scores['relevant_mean']:.4g} on average"
        )
        yield (
            f"  scores within {scores['edges'][0]:.4g} and {scores['edges'][-1]:.4g}{relevant}, "
            f"others {scores['others_mean']:.4g}"
        )
    collapse = found.collapse
    yield (
        f"  effective rank {collapse['effective_rank']:.1f} of {found.items.dims}; "
        f"{_percent(collapse['top_1'], 1)} of the variance in 1 direction, "
        f"{_percent(collapse['top_10'], 1)} in 10"
    )


# -- one side


SHOWN = 20
"""The most rows, groups or pairs that are named; all are counted."""
NUMBERS_AT_A_TIME = 1 << 21

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Inspection:
    """A side once its vectors were looked at one by one."""

    vectors: Vectors
    finite: Flags
    norm: Floats
    """NaN where the vector is not finite."""
    key: NDArray[np.uint64]
    """The same for equal vectors, and almost never for others."""
    usable: Flags
    """Vectors that the similarity can compare."""

    @classmethod
    def of(cls, vectors: Vectors, similarity: Similarity) -> Inspection:
        finite, norm = np.zeros(len(vectors), bool), np.full(len(vectors), nan)
        key = np.zeros(len(vectors), np.uint64)
        for begin, block in _blocks(vectors):
            at = slice(begin, begin + len(block))
            finite[at] = np.isfinite(block).all(axis=1)
            good = block[finite[at]]
            norm[at][finite[at]] = np.sqrt(np.einsum("ij,ij->i", good, good, dtype=np.float64))
            key[at] = keys_of(block)
        usable = finite & (norm > 0) if similarity.needs_direction else finite
        return cls(vectors, finite, norm, key, usable)

    @property
    def comparable(self) -> Vectors:
        """The vectors, with stand-ins for those that the similarity cannot compare."""
        return self._with_stand_ins(self.usable)

    @property
    def directed(self) -> Vectors:
        """The vectors, with stand-ins for those without a direction."""
        return self._with_stand_ins(self.has_direction)

    @property
    def has_direction(self) -> Flags:
        return self.finite & (self.norm > 0)

    def _with_stand_ins(self, usable: Flags) -> Vectors:
        vectors = self.vectors
        values = vectors.values
        if usable.all():
            return vectors

        def read(rows: Any, columns: slice) -> Matrix:
            block, bad = np.array(values[rows][:, columns]), ~usable[rows]
            block[bad] = 0
            block[bad, 0] = 1
            return block

        return replace(vectors, values=Lazy(values.shape, values.dtype, read))

    def named(self, rows: Ints) -> NamedVectors:
        return NamedVectors(
            len(rows), tuple(self.vectors.name(row) for row in rows[:SHOWN].tolist())
        )


def _blocks(vectors: Vectors) -> Iterator[tuple[int, Matrix]]:
    return vectors.blocks(max(1, NUMBERS_AT_A_TIME // vectors.dims))


def _finite_blocks(looked: Inspection) -> Iterator[Matrix]:
    for begin, block in _blocks(looked.vectors):
        yield block[looked.finite[begin : begin + len(block)]]


def _side(
    looked: Inspection, memory: str | int, sample: int | None, random: np.random.Generator
) -> SideDiagnosis:
    vectors, norm = looked.vectors, looked.norm[looked.finite]
    group = first_equal(looked.vectors, looked.key)
    again = np.flatnonzero(group != np.arange(len(group)))
    groups = [np.flatnonzero(group == first)[:SHOWN] for first in np.unique(group[again])[:SHOWN]]
    norms = dict.fromkeys(("min", "median", "max", "variation"), nan)
    if len(norm):
        mean = norm.mean()
        spread = norm.std() / mean if mean else nan
        values = norm.min(), np.median(norm), norm.max(), spread
        norms = dict(zip(norms, map(float, values), strict=True))
    near, uniformity = _near_duplicates(looked, group, memory, sample, random)
    return SideDiagnosis(
        source=vectors.source,
        count=len(vectors),
        dims=vectors.dims,
        not_finite=looked.named(np.flatnonzero(~looked.finite)),
        zero=looked.named(np.flatnonzero(looked.norm == 0)),
        duplicates={
            "count": len(again),
            "groups": tuple(looked.named(rows).names for rows in groups),
        },
        near_duplicates=near,
        norms=norms,
        uniformity=uniformity,
    )


def _near_duplicates(
    looked: Inspection,
    group: Ints,
    memory: str | int,
    sample: int | None,
    random: np.random.Generator,
) -> tuple[dict[str, Any], float]:
    """Return near duplicates and uniformity, from the cosines of one side with itself."""
    has_direction = looked.has_direction
    rows, others = np.arange(len(group)), int(has_direction.sum()) - 1
    sampled = sample is not None and others >= sample
    some = looked.directed
    if sampled:
        rows = np.sort(random.choice(np.flatnonzero(has_direction), sample, replace=False))
        some = Vectors(looked.vectors.rows(rows), source=looked.vectors.source)
    size = int(has_direction[rows].sum())
    if others < 1:
        return {"count": 0, "looked_at": size, "sampled": False, "pairs": ()}, nan
    looked_at, has_near = np.isin(np.arange(len(group)), rows), np.zeros(len(rows), bool)
    found: list[tuple[str, str, float]] = []
    total = 0.0
    product = TiledProduct(
        some, looked.directed, Cosine(), exclude=None, memory=memory, single=True
    )
    for chunk, columns, values in chunks(product):
        row = rows[chunk]
        values[~has_direction[row]] = -np.inf
        values[:, ~has_direction[columns]] = -np.inf
        own = (row >= columns.start) & (row < columns.stop)
        values[own, row[own] - columns.start] = -np.inf
        # |x - y|² = 2 - 2·cosine
        total += float(np.exp(4 * values - 4).sum())
        near, column = np.nonzero(values > NEAR)
        item = column + columns.start
        apart = group[row[near]] != group[item]
        near, item, column = near[apart], item[apart], column[apart]
        has_near[chunk.start + near] = True
        once = ~looked_at[item] | (item > row[near])
        for place in np.flatnonzero(once)[: SHOWN - len(found)].tolist():
            name, other = (looked.vectors.name(int(at)) for at in (row[near[place]], item[place]))
            found.append((name, other, float(values[near[place], column[place]])))
    uniformity = float(np.log(total / (size * others)))
    count = int(has_near.sum())
    return {
        "count": count,
        "looked_at": size,
        "sampled": sampled,
        "pairs": tuple(found),
    }, uniformity


def _collapse(looked: Inspection) -> tuple[dict[str, Any], Matrix]:
    """Return the collapse of the vectors, and their middle."""
    dims = looked.vectors.dims
    total, low, high = np.zeros(dims), np.full(dims, np.inf), np.full(dims, -np.inf)
    for block in _finite_blocks(looked):
        total += block.sum(axis=0, dtype=np.float64)
        low = np.minimum(low, block.min(axis=0, initial=np.inf))
        high = np.maximum(high, block.max(axis=0, initial=-np.inf))
    mean = total / max(int(looked.finite.sum()), 1)
    covariance = np.zeros((dims, dims))
    for block in _finite_blocks(looked):
        moved = block - mean
        covariance += moved.T @ moved
    variance = np.maximum(np.linalg.eigvalsh(covariance)[::-1], 0.0)
    # What is below the rounding of the largest is none.
    variance[variance <= variance[0] * dims * np.finfo(np.float64).eps] = 0.0
    singular = np.sqrt(variance)
    effective_rank = top_1 = top_10 = nan
    if variance[0] > 0:
        share = singular[singular > 0] / singular.sum()
        effective_rank = float(np.exp(-(share * np.log(share)).sum()))
        top_1 = float(variance[0] / variance.sum())
        top_10 = float(variance[:10].sum() / variance.sum())
    dead = tuple(np.flatnonzero(low == high).tolist())
    collapse = {
        "effective_rank": effective_rank,
        "top_1": top_1,
        "top_10": top_10,
        "dead": dead,
        "singular_values": tuple(singular.tolist()),
    }
    return collapse, mean.astype(np.float32)


# -- both sides


NEIGHBOURS = 10
"""The best items of each query that hubness looks at by default."""
RELEVANT_FROM = 1.0
BINS = 40
"""A histogram has from half as many bins to one more than this."""
_QUERIES_AT_A_TIME = 512
_PAIRS_EACH = 200
"""Pairs that alignment looks at, for each vector that may be sampled."""


def diagnose(
    search: Search, relevance: Relation | None, *, k: int | None, sample: int | None, seed: int
) -> Diagnosis:
    """Look for what spoils a ranking by embeddings."""
    refuse_changes(search, "a diagnosis")
    queries, items = search.queries, search.items
    similarity, memory = search.similarity, search.memory
    k = min(NEIGHBOURS, len(items)) if k is None else k
    k = whole("k", k, at_most=len(items), otherwise=", the number of items")
    if sample is not None:
        sample = whole("sample", sample, at_least=2, otherwise=", or None for all")
    similarity.check(queries, items)
    bound, excluded = (
        None if relation is None else relation.bind(queries, items)
        for relation in (relevance, search.exclude)
    )
    random = np.random.default_rng(seed)
    query_rows, item_rows = (Inspection.of(side, similarity) for side in (queries, items))
    collapse, centre = _collapse(item_rows)
    if isinstance(similarity, Euclidean):
        similarity = replace(similarity, centre=centre)
    hubness = scores = None
    if query_rows.usable.any() and item_rows.usable.any():
        product = TiledProduct(
            query_rows.comparable,
            item_rows.comparable,
            similarity,
            exclude=excluded,
            memory=memory,
            single=True,
        )
        hubness, low, high = _hubness(product, query_rows, item_rows, k)
        scores = _histogram(product, query_rows, item_rows, bound, low, high)
    alignment, pairs, sampled = _alignment(query_rows, item_rows, bound, excluded, sample, random)
    return Diagnosis(
        queries=_side(query_rows, memory, sample, random),
        items=_side(item_rows, memory, sample, random),
        similarity=similarity.name,
        collapse=collapse,
        hubness=hubness,
        scores=scores,
        alignment=alignment,
        alignment_pairs=pairs,
        alignment_sampled=sampled,
        self_matches=warn_of_self_matches(search, relevance),
    )


def _usable_chunks(
    product: TiledProduct, queries: Inspection, items: Inspection
) -> Iterator[tuple[slice, slice, Floats]]:
    """Yield all scores, those of vectors that cannot be compared at minus infinity."""
    for rows, columns, values in chunks(product):
        values[~queries.usable[rows]] = -np.inf
        values[:, ~items.usable[columns]] = -np.inf
        yield rows, columns, values


def _hubness(
    product: TiledProduct, queries: Inspection, items: Inspection, k: int
) -> tuple[dict[str, Any], float, float]:
    """Return hubness, and the lowest and highest score."""
    nearest = Nearest(len(product.queries), k)
    low, high = np.inf, -np.inf
    for rows, columns, values in _usable_chunks(product, queries, items):
        nearest.add(rows, columns, values)
        there = _there(values)
        low, high = min(low, there.min(initial=np.inf)), max(high, there.max(initial=-np.inf))
    found = nearest.items[np.isfinite(nearest.scores)]
    every = np.bincount(found, minlength=len(product.items))
    count = every[items.usable].astype(np.float64)
    apart = count - count.mean()
    deviation = np.sqrt((apart**2).mean())
    biggest = np.argsort(-every, kind="stable")[:10]
    hubness = {
        "k": k,
        "skewness": float((apart**3).mean() / deviation**3) if deviation > 0 else nan,
        "robin_hood": float(np.abs(apart).sum() / (2 * count.sum())) if count.any() else nan,
        "antihubs": float((count == 0).mean()),
        "hubs": int((count >= 2 * k).sum()),
        "biggest": tuple(
            (items.vectors.name(int(item)), int(every[item])) for item in biggest if every[item]
        ),
    }
    return hubness, float(low), float(high)


def _histogram(
    product: TiledProduct,
    queries: Inspection,
    items: Inspection,
    relevance: Bound | None,
    low: float,
    high: float,
) -> dict[str, Any] | None:
    if low > high:
        return None
    # A width that is a power of two: dividing by it is exact, and so is the bin of a score on an
    # edge.
    width = 2.0 ** np.ceil(np.log2((high - low) / BINS)) if high > low else 1.0
    first = int(np.floor(low / width))
    size = int(np.floor(high / width)) - first + 1
    counts, sums = np.zeros((2, size), np.int64), np.zeros(2)
    begin, relevant = -1, Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    for rows, columns, values in _usable_chunks(product, queries, items):
        if relevance is not None and rows.start != begin:
            begin = rows.start
            relevant = _relevant(relevance, begin, rows.stop)
        inside = (relevant.item >= columns.start) & (relevant.item < columns.stop)
        own = values[relevant.row[inside], relevant.item[inside] - columns.start]
        for which, scores in enumerate((values, own)):
            there = _there(scores)
            counts[which] += np.bincount(
                np.floor(there / width).astype(np.int64) - first, minlength=size
            )
            sums[which] += there.sum()
    counts[0] -= counts[1]
    sums[0] -= sums[1]
    pairs = counts.sum(axis=1).tolist()
    means = [float(total / many) if many else nan for total, many in zip(sums, pairs, strict=True)]
    return {
        "edges": tuple((np.arange(first, first + size + 1) * width).tolist()),
        "others": tuple(counts[0].tolist()),
        "others_mean": means[0],
        "relevant": None if relevance is None else tuple(counts[1].tolist()),
        "relevant_mean": means[1],
    }


def _there(values: Floats) -> Floats:
    """Return the scores that are not at minus infinity, in a row."""
    return values[np.isfinite(values)]


def _relevant(relevance: Bound, begin: int, end: int) -> Pairs:
    pairs = relevance.block(begin, end)
    return pairs.where((pairs.grade >= RELEVANT_FROM) & (pairs.item >= 0))


def _alignment(
    queries: Inspection,
    items: Inspection,
    relevance: Bound | None,
    exclude: Bound | None,
    sample: int | None,
    random: np.random.Generator,
) -> tuple[float | None, int, bool]:
    """Return the alignment, over how many pairs, and whether these are a sample."""
    if relevance is None or queries.vectors.dims != items.vectors.dims:
        return None, 0, False
    total, seen, every = 0.0, 0, 0
    for begin in range(0, len(queries.vectors), _QUERIES_AT_A_TIME):
        end = min(begin + _QUERIES_AT_A_TIME, len(queries.vectors))
        pairs = _relevant(relevance, begin, end)
        if exclude is not None:
            pairs = pairs.without(exclude.block(begin, end))
        row, item = pairs.row + begin, pairs.item
        good = np.flatnonzero(queries.has_direction[row] & items.has_direction[item])
        # Each block of queries has its share of the pairs that may be looked at, and counts for all
        # of its pairs.
        most = len(good)
        if sample is not None:
            most = max(1, sample * _PAIRS_EACH * (end - begin) // len(queries.vectors))
        some = np.sort(random.choice(good, most, replace=False)) if len(good) > most else good
        if len(some):
            distances = _distances(queries.vectors, items.vectors, row[some], item[some])
            total += distances * (len(good) / len(some))
        seen, every = seen + len(some), every + len(good)
    return total / every if every else nan, seen, seen < every


def _distances(queries: Vectors, items: Vectors, row: Ints, item: Ints) -> float:
    """Return the sum of the squared distances of pairs, at length 1."""
    total, step = 0.0, max(1, NUMBERS_AT_A_TIME // (8 * queries.dims))
    for begin in range(0, len(row), step):
        at = slice(begin, begin + step)
        apart = unit(queries.rows(row[at])) - unit(items.rows(item[at]))
        total += float(np.einsum("ij,ij->", apart, apart))
    return total


def _percent(share: float, decimals: int = 0) -> str:
    return f"{share:.{decimals}%}".replace("%", " %")
