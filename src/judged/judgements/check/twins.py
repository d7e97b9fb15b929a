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

from judged.arrays import Floats, Ints, positions, starts_of
from judged.embeddings.blocks import over_blocks
from judged.embeddings.inspection import Inspection
from judged.embeddings.product import Product
from judged.embeddings.similarity.similarity import Cosine
from judged.inputs.vectors import Vectors
from judged.judgements.check.words import words_of

MOST = 10_000_000
"""So many pairs are kept; where there are more, nearly everything is the same as something."""
_SHARED = 3
"""So many of their rarest words two near texts share at least, where they have as many."""
_KEYS = ["place", "numbers"]
"""What two near texts have in common: rare words, and the same numbers."""
_TEXTS = 20_000
"""So many texts are taken apart at a time."""
_COMPARED = 10_000_000
"""Pairs of texts of so many words together are compared at a time."""
_JOINED = 1_000_000
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
    said = pl.concat(
        [words_of(texts[at : at + _TEXTS]).list.join(" ") for at in range(0, len(texts), _TEXTS)]
        or [texts]
    )
    there = pl.DataFrame({"row": np.arange(len(texts)), "said": said}).filter(pl.col("said") != "")
    kinds = there.group_by("said", maintain_order=True).len()
    kinds = kinds.with_columns(kind=np.arange(kinds.height))
    silent = len(texts) - there.height
    rows = there.join(kinds.select("said", "kind"), on="said", maintain_order="left")
    rows = rows.select("row", "kind")
    sought = rows.join(pl.DataFrame({"row": asked}), on="row", how="semi", maintain_order="left")
    if sought.is_empty():
        return Twins.none(), silent
    asked_kinds = sought["kind"].unique(maintain_order=True)
    pairs = pl.DataFrame({"kind": asked_kinds, "like": asked_kinds, "near": 1.0})
    pairs = pl.concat([pairs, _near(kinds["said"], asked_kinds.to_numpy(), near)])
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


def _near(said: pl.Series, asked: Ints, near: float) -> pl.DataFrame:
    """Pairs of texts, no two of them the same, whose words are nearly the same: the share of words
    that both have of those that either has."""
    found = [pl.DataFrame(schema={"kind": pl.Int64, "like": pl.Int64, "near": pl.Float64})]
    if not len(asked):
        return found[0]
    rare = _rarest(said, near)
    left = rare.join(pl.DataFrame({"kind": asked}), on="kind", how="semi")
    total = 0
    for part in _parts(left, rare):
        joined = part.join(rare.rename({"kind": "like", "size": "other"}), on=_KEYS)
        counts = joined.group_by("kind", "like").agg(pl.col("size", "other").first(), pl.len())
        least, most = (f("size", "other") for f in (pl.min_horizontal, pl.max_horizontal))
        common = (near * most - 1e-9).ceil()
        pairs = counts.filter(
            (pl.col("kind") != pl.col("like"))
            & (least >= common)
            & (pl.col("len") >= pl.min_horizontal(common, pl.lit(_SHARED)))
        )
        words = pairs["size"] + pairs["other"]
        step = (words.cum_sum() - words) // _COMPARED
        for few in pairs.with_columns(step=step).partition_by("step"):
            found.append(_compared(said, few.select("kind", "like"), near))
            total += found[-1].height
            if total > MOST:
                raise TooManyError
    return pl.concat(found).sort("kind", "like")


def _rarest(said: pl.Series, near: float) -> pl.DataFrame:
    """The rarest words of each text, as their places in the order of rarity; with how many words it
    has, and a number that texts with the same numbers have in common."""
    tokens, numbers = [], []
    for begin in range(0, len(said), _TEXTS):
        words = said[begin : begin + _TEXTS].str.split(" ").list.unique()
        kind = np.arange(begin, begin + len(words), dtype=np.uint32)
        token = pl.DataFrame({"kind": kind, "word": words}).explode("word")
        number = token["word"].str.contains(r"\p{N}")
        token = token.with_columns(pl.col("word").hash())
        tokens.append(token)
        numbers.append(token.filter(number).group_by("kind").agg(numbers=pl.col("word").sum()))
    token = pl.concat(tokens)
    order = token.group_by("word").len().sort("len", "word").select("word").with_row_index("place")
    token = token.join(order, on="word").select("kind", "place")
    # Both numbers in one integer: one plain sort puts the rarest words of each text first.
    packed = token["kind"].cast(pl.Int64).to_numpy() << 32 | token["place"].to_numpy()
    packed.sort()
    sizes = np.bincount(packed >> 32, minlength=len(said))
    kept = np.minimum(sizes - np.ceil(near * sizes - 1e-9).astype(np.int64) + _SHARED, sizes)
    rarest = packed[positions(starts_of(sizes), kept)]
    kind = rarest >> 32
    rare = pl.DataFrame({"kind": kind, "size": sizes[kind], "place": rarest & 0xFFFFFFFF})
    own = pl.concat(numbers).with_columns(pl.col("kind").cast(pl.Int64))
    return rare.join(own, on="kind", how="left").with_columns(pl.col("numbers").fill_null(0))


def _parts(left: pl.DataFrame, right: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The texts that are asked about, so many at a time that a join stays small."""
    partners = left.join(right.group_by(_KEYS).len("partners"), on=_KEYS)
    each = partners.group_by("kind").agg(pl.col("partners").cast(pl.Int64).sum()).sort("kind")
    upto = each["partners"].cum_sum()
    if upto[-1] > _SEARCHED:
        raise TooManyError
    part = each.select("kind", part=(upto - each["partners"]) // _JOINED)
    for chosen in part.partition_by("part", maintain_order=True):
        yield left.join(chosen, on="kind", how="semi")


def _compared(said: pl.Series, pairs: pl.DataFrame, near: float) -> pl.DataFrame:
    """Those of some pairs that are near enough, compared word by word."""
    one, other = (
        said.gather(pairs[name]).str.split(" ").list.unique() for name in ("kind", "like")
    )
    common = one.list.set_intersection(other).list.len().cast(pl.Float64)
    every = one.list.len() + other.list.len() - common
    share = common / every
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
    some = every
    if len(asked) < len(vectors):
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
