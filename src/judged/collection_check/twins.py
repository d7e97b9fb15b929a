"""What is the same as another, or nearly: texts by their words, vectors by their cosine.

Texts are joined on the rarest of their words: two sets of words of which a share of at least `near`
is common to both share one of the few rarest words of each. So no two texts are compared that have
only common words in common, and those that are compared are compared exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from judged.collection_check.words import words_of
from judged.embeddings.inspection import Inspection
from judged.embeddings.product import Product, over_blocks
from judged.inputs.vectors import Vectors
from judged.segments import Floats, Ints, positions, starts_of
from judged.similarity.similarity import Cosine

MOST = 10_000_000
"""So many pairs are kept; where there are more, nearly everything is the same as something."""
_SHARED = 3
"""So many of their rarest words two near texts share at least, where they have as many."""
_COMPARED = 200_000
"""So many pairs of texts are compared at a time."""
_JOINED = 5_000_000
"""So many pairs come out of one join."""
_SEARCHED = 500_000_000
"""So many pairs with a rare word in common are looked at."""


class TooManyError(Exception):
    """There are more pairs than `MOST`."""


@dataclass(frozen=True, eq=False)
class Twins:
    """Pairs of what is the same or nearly so."""

    one: Ints
    """Row numbers of those that were asked about."""
    other: Ints
    """Row numbers of those that are like them."""
    near: Floats
    """How near they are: 1 is the same."""

    @classmethod
    def none(cls) -> Twins:
        empty = np.zeros(0, np.int64)
        return cls(empty, empty, np.zeros(0))


def same_texts(texts: pl.Series, asked: Ints, near: float) -> tuple[Twins, int]:
    """For some texts those among all that say the same, or nearly; and how many texts say nothing.

    Texts whose numbers differ are never near: a year or a version makes another question.

    >>> texts = pl.Series(["Cold wars", "cold  wars!", "wars, cold", "", ""])
    >>> found, silent = same_texts(texts, np.arange(5), 0.9)
    >>> list(zip(found.one.tolist(), found.other.tolist(), found.near.tolist())), silent
    ([(0, 1, 1.0), (1, 0, 1.0), (0, 2, 1.0), (1, 2, 1.0), (2, 0, 1.0), (2, 1, 1.0)], 2)
    """
    words = words_of(texts)
    said = words.list.join(" ")
    there = pl.DataFrame({"row": np.arange(len(texts)), "said": said}).filter(pl.col("said") != "")
    kinds = there.group_by("said", maintain_order=True).agg(pl.col("row").first(), pl.len())
    kinds = kinds.with_row_index("kind").with_columns(pl.col("kind").cast(pl.Int64))
    silent = len(texts) - there.height
    if there.is_empty() or not len(asked):
        return Twins.none(), silent
    rows = there.join(kinds.select("said", "kind"), on="said", maintain_order="left")
    rows = rows.select("row", "kind")
    sought = rows.join(pl.DataFrame({"row": asked}), on="row", how="semi", maintain_order="left")
    asked_kinds = sought["kind"].unique(maintain_order=True)
    pairs = pl.DataFrame({"kind": asked_kinds, "like": asked_kinds, "near": 1.0})
    distinct = words.gather(kinds["row"])
    found = _near(distinct, asked_kinds.to_numpy(), near)
    pairs = pl.concat([pairs, found])
    most = sought.group_by("kind").len("sought").join(pairs, on="kind")
    most = most.join(kinds.select(like="kind", size="len"), on="like")
    if most.select((pl.col("sought").cast(pl.Int64) * pl.col("size")).sum()).item() > MOST:
        raise TooManyError
    joined = (
        pairs.join(sought.rename({"row": "one"}), on="kind", maintain_order="left_right")
        .join(rows.select(other="row", like="kind"), on="like", maintain_order="left_right")
        .filter(pl.col("one") != pl.col("other"))
    )
    twins = Twins(*(joined[name].to_numpy() for name in ("one", "other", "near")))
    return twins, silent


def _near(words: pl.Series, asked: Ints, near: float) -> pl.DataFrame:
    """Pairs of texts, no two of them the same, whose words are nearly the same: the share of words
    that both have of those that either has."""
    none = pl.DataFrame(
        schema={"kind": pl.Int64, "like": pl.Int64, "near": pl.Float64},
    )
    if not len(asked):
        return none
    sets = words.list.unique()
    token = pl.DataFrame({"kind": np.arange(len(sets)), "word": sets}).explode("word")
    number = pl.col("word").str.contains(r"\p{N}")
    token = token.with_columns(pl.col("word").hash(), number=number)
    numbers = token.filter("number").group_by("kind").agg(pl.col("word").sum().alias("numbers"))
    order = token.group_by("word").len().sort("len", "word").select("word").with_row_index("place")
    token = token.select("kind", "word").join(order, on="word")
    # Both numbers in one integer: one plain sort puts the rarest words of each text first.
    packed = token["kind"].to_numpy() << 32 | token["place"].to_numpy()
    packed.sort()
    kind = packed >> 32
    sizes = np.bincount(kind, minlength=len(sets))
    kept = np.minimum(sizes - np.ceil(near * sizes - 1e-9).astype(np.int64) + _SHARED, sizes)
    rarest = positions(starts_of(sizes), kept)
    kind = kind[rarest]
    rare = pl.DataFrame({"kind": kind, "size": sizes[kind], "place": packed[rarest] & 0xFFFFFFFF})
    rare = rare.join(numbers, on="kind", how="left").with_columns(pl.col("numbers").fill_null(0))
    keys = ["place", "numbers"]
    left = rare.join(pl.DataFrame({"kind": asked}), on="kind", how="semi")
    found = [none]
    total = 0
    for part in _parts(left, rare, keys):
        joined = part.join(rare.rename({"kind": "like", "size": "other"}), on=keys)
        counts = joined.group_by("kind", "like").agg(pl.col("size", "other").first(), pl.len())
        least, most = (f("size", "other") for f in (pl.min_horizontal, pl.max_horizontal))
        common = (near * most - 1e-9).ceil()
        pairs = counts.filter(
            (pl.col("kind") != pl.col("like"))
            & (least >= common)
            & (pl.col("len") >= pl.min_horizontal(common, pl.lit(_SHARED)))
        ).select("kind", "like")
        found += [
            _compared(sets, pairs[at : at + _COMPARED], near)
            for at in range(0, pairs.height, _COMPARED)
        ]
        total += found[-1].height
        if total > MOST:
            raise TooManyError
    return pl.concat(found).sort("kind", "like")


def _parts(left: pl.DataFrame, right: pl.DataFrame, keys: list[str]) -> Iterator[pl.DataFrame]:
    """The texts that are asked about, so many at a time that a join stays small."""
    partners = left.join(right.group_by(keys).len("partners"), on=keys)
    each = partners.group_by("kind").agg(pl.col("partners").cast(pl.Int64).sum()).sort("kind")
    upto = each["partners"].cum_sum()
    if upto[-1] > _SEARCHED:
        raise TooManyError
    part = each.select("kind", part=(upto - each["partners"]) // _JOINED)
    for chosen in part.partition_by("part", maintain_order=True):
        yield left.join(chosen, on="kind", how="semi")


def _compared(sets: pl.Series, pairs: pl.DataFrame, near: float) -> pl.DataFrame:
    """Those of some pairs that are near enough, compared word by word."""
    one, other = sets.gather(pairs["kind"]), sets.gather(pairs["like"])
    common = one.list.set_intersection(other).list.len().cast(pl.Int64)
    every = one.list.len() + other.list.len() - common
    share = common.cast(pl.Float64) / every.cast(pl.Float64)
    return pairs.with_columns(near=share).filter(share >= near - 1e-12)


def same_vectors(
    vectors: Vectors, asked: Ints, near: float, memory: str | int
) -> tuple[Twins, int]:
    """For some vectors those among all whose cosine with them is at least `near`; and how many
    vectors have no direction.

    >>> vectors = Vectors(np.array([[1.0, 0], [2, 0], [0, 1]]))
    >>> found, _ = same_vectors(vectors, np.arange(3), 0.99, "1GB")
    >>> list(zip(found.one.tolist(), found.other.tolist()))
    [(0, 1), (1, 0)]
    """
    looked = Inspection.of(vectors, Cosine())
    usable = looked.has_direction
    lost = int((~usable).sum())
    asked = asked[usable[asked]]
    if len(asked) == 0 or usable.sum() < 2:
        return Twins.none(), lost
    every = looked.directed
    some = Vectors(vectors.rows(asked, vectors.precise), source=vectors.source)
    product = Product(some, every, Cosine(), exclude=None, memory=memory)
    kept = 0

    def work(begin: int, end: int) -> list[tuple[Ints, Ints, Floats]]:
        nonlocal kept
        prepared = product.query_block(begin, end)
        found = []
        for column in product.columns:
            tile = product.tile(prepared, begin, column, None)
            slack = np.zeros(end - begin) if tile.slack is None else tile.slack
            enough = tile.scores >= (near - slack)[:, None]
            kept += int(np.count_nonzero(enough))
            if kept > MOST:
                raise TooManyError
            row, item = np.nonzero(enough)
            score = tile.scores[row, item].astype(np.float64)
            row, item = row + begin, item + column
            close = score < near + slack[row - begin]
            score[close] = product.exact_pairs(row[close], item[close])
            good = (score >= near) & usable[item] & (asked[row] != item)
            found.append((asked[row[good]], item[good], np.minimum(score[good], 1.0)))
        return found

    parts = [part for block in over_blocks(product, work) for part in block]
    one, other, score = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Twins(one, other, score), lost
