"""Texts and vectors that are identical or nearly so, and ids that differ only in spelling.

Texts are joined on their rarest words: two sets of words with a common share of at least `near`
share one of the few rarest words of each. So texts that share only frequent words are never
compared, and all others are compared exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from judged.arrays import Floats, Ints, positions, starts_of
from judged.embeddings.diagnosis import Inspection
from judged.embeddings.product import Product, over_blocks
from judged.embeddings.similarity import Cosine
from judged.inputs.tables import texts as text_column
from judged.inputs.vectors import Vectors
from judged.judgements.collection import SideData
from judged.text import counted, listed, shown

MAX_PAIRS = 10_000_000  # pairs that are kept; with more, nearly everything is like something else
MIN_SHARED_WORDS = 3  # rarest words that two near texts share at least, if they have as many
TEXTS_PER_BLOCK = 20_000
WORDS_PER_COMPARISON = 10_000_000
PAIRS_PER_JOIN = 1_000_000
MAX_CANDIDATES = 500_000_000  # pairs with a common rare word that are looked at
_KEYS = ["place", "numbers"]  # columns that near texts share: rare words, and the same numbers
_APART = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
"""Scripts without spaces between words; each of their letters is a word."""
_WORD = rf"[{_APART}]|[[\p{{L}}\p{{M}}\p{{N}}]--[{_APART}]]+[+#]*|\p{{S}}"
"""C, C++ and C# are three words; a symbol such as an emoji is one."""


def words_of(texts: pl.Series) -> pl.Series:
    """Return the words of each text: lower case, Unicode form NFKC, without punctuation.

    >>> words_of(pl.Series(["What's  NEW in C++?", "Ｎew, 漢字"])).to_list()
    [['whats', 'new', 'in', 'c++'], ['new', '漢', '字']]
    """
    normalised = (
        texts.str.normalize("NFKC").str.to_lowercase().str.replace_all(r"\p{Cf}|['’ʼ`]", "")
    )
    return normalised.str.extract_all(_WORD)


_SPELLINGS: dict[str, Callable[[pl.Series], pl.Series]] = {
    "Unicode form": lambda ids: ids.str.normalize("NFKC"),
    "white space at the ends": lambda ids: ids.str.strip_chars(),
    "case": lambda ids: ids.str.to_lowercase(),
    "zero padding": lambda ids: ids.str.replace_all(r"(^|[^0-9.])0+([0-9])", "${1}${2}"),
}
"""Differences between spellings of one id, and how to remove each."""


def plain_ids(ids: pl.Series) -> pl.Series:
    """Return ids without differences in spelling.

    >>> plain_ids(pl.Series(["Doc007", "doc7", " ７", "1.05", "0", "00"])).to_list()
    ['doc7', 'doc7', '7', '1.05', '0', '0']
    """
    for step in _SPELLINGS.values():
        ids = step(ids)
    return ids


def unlike(one: str, other: str) -> str:
    """Return how two spellings of one id differ, in words.

    >>> unlike("A1", "a01"), unlike("\u00e9", "e\u0301")
    ('case and zero padding', 'Unicode form')
    """
    found = []
    for name in _SPELLINGS:
        left = pl.Series([one, other])
        for step in (step for each, step in _SPELLINGS.items() if each != name):
            left = step(left)
        if left[0] != left[1]:
            found.append(name)
    return listed(found) if found else "form"


class TooManyError(Exception):
    """More pairs than `MAX_PAIRS`."""


@dataclass(frozen=True, eq=False)
class Twins:
    """Pairs of rows that are identical or nearly so."""

    one: Ints  # row numbers of the wanted rows
    other: Ints  # row numbers of rows that are like them
    near: Floats  # similarity of the two: 1 is identical

    @classmethod
    def none(cls) -> Twins:
        empty = np.zeros(0, np.int64)
        return cls(empty, empty, np.zeros(0))


def same_texts(texts: pl.Series, wanted: Ints, near: float) -> tuple[Twins, int]:
    """Return the twins of the wanted texts among all texts, and the number of empty texts.

    Texts whose numbers differ are never near: another year or version is another question.

    >>> texts = pl.Series(["Cold wars", "cold  wars!", "wars, cold", "", ""])
    >>> found, silent = same_texts(texts, np.arange(5), 0.9)
    >>> list(zip(found.one.tolist(), found.other.tolist(), found.near.tolist())), silent
    ([(0, 1, 1.0), (1, 0, 1.0), (0, 2, 1.0), (1, 2, 1.0), (2, 0, 1.0), (2, 1, 1.0)], 2)
    """
    normal = pl.concat(
        [
            words_of(texts[at : at + TEXTS_PER_BLOCK]).list.join(" ")
            for at in range(0, len(texts), TEXTS_PER_BLOCK)
        ]
        or [texts]
    )
    there = pl.DataFrame({"row": np.arange(len(texts)), "normal": normal}).filter(
        pl.col("normal") != ""
    )
    kinds = there.group_by("normal", maintain_order=True).len()
    kinds = kinds.with_columns(kind=np.arange(kinds.height))
    silent = len(texts) - there.height
    rows = there.join(kinds.select("normal", "kind"), on="normal", maintain_order="left")
    rows = rows.select("row", "kind")
    sought = rows.join(pl.DataFrame({"row": wanted}), on="row", how="semi", maintain_order="left")
    if sought.is_empty():
        return Twins.none(), silent
    wanted_kinds = sought["kind"].unique(maintain_order=True)
    pairs = pl.DataFrame({"kind": wanted_kinds, "like": wanted_kinds, "near": 1.0})
    pairs = pl.concat([pairs, _near(kinds["normal"], wanted_kinds.to_numpy(), near)])
    most = sought.group_by("kind").len("sought").join(pairs, on="kind")
    most = most.join(kinds.select(like="kind", size="len"), on="like")
    if most.select((pl.col("sought").cast(pl.Int64) * pl.col("size")).sum()).item() > MAX_PAIRS:
        raise TooManyError
    joined = (
        pairs.join(sought.rename({"row": "one"}), on="kind", maintain_order="left_right")
        .join(rows.select(other="row", like="kind"), on="like", maintain_order="left_right")
        .filter(pl.col("one") != pl.col("other"))
    )
    twins = Twins(*(joined[name].to_numpy() for name in ("one", "other", "near")))
    return twins, silent


def _near(normal: pl.Series, wanted: Ints, near: float) -> pl.DataFrame:
    """Return pairs of different texts whose words are nearly the same (Jaccard similarity)."""
    found = [pl.DataFrame(schema={"kind": pl.Int64, "like": pl.Int64, "near": pl.Float64})]
    if not len(wanted):
        return found[0]
    rare = _rarest(normal, near)
    left = rare.join(pl.DataFrame({"kind": wanted}), on="kind", how="semi")
    total = 0
    for part in _parts(left, rare):
        joined = part.join(rare.rename({"kind": "like", "size": "other"}), on=_KEYS)
        counts = joined.group_by("kind", "like").agg(pl.col("size", "other").first(), pl.len())
        least, most = (f("size", "other") for f in (pl.min_horizontal, pl.max_horizontal))
        common = (near * most - 1e-9).ceil()
        pairs = counts.filter(
            (pl.col("kind") != pl.col("like"))
            & (least >= common)
            & (pl.col("len") >= pl.min_horizontal(common, pl.lit(MIN_SHARED_WORDS)))
        )
        words = pairs["size"] + pairs["other"]
        step = (words.cum_sum() - words) // WORDS_PER_COMPARISON
        for few in pairs.with_columns(step=step).partition_by("step"):
            found.append(_compared(normal, few.select("kind", "like"), near))
            total += found[-1].height
            if total > MAX_PAIRS:
                raise TooManyError
    return pl.concat(found).sort("kind", "like")


def _rarest(normal: pl.Series, near: float) -> pl.DataFrame:
    """Return the rarest words of each text, its number of words, and a hash of its numbers."""
    tokens, numbers = [], []
    for begin in range(0, len(normal), TEXTS_PER_BLOCK):
        words = normal[begin : begin + TEXTS_PER_BLOCK].str.split(" ").list.unique()
        kind = np.arange(begin, begin + len(words), dtype=np.uint32)
        token = pl.DataFrame({"kind": kind, "word": words}).explode("word")
        number = token["word"].str.contains(r"\p{N}")
        token = token.with_columns(pl.col("word").hash())
        tokens.append(token)
        numbers.append(token.filter(number).group_by("kind").agg(numbers=pl.col("word").sum()))
    token = pl.concat(tokens)
    order = token.group_by("word").len().sort("len", "word").select("word").with_row_index("place")
    token = token.join(order, on="word").select("kind", "place")
    # Both numbers in one integer, so that one sort puts the rarest words of each text first.
    packed = token["kind"].cast(pl.Int64).to_numpy() << 32 | token["place"].to_numpy()
    packed.sort()
    sizes = np.bincount(packed >> 32, minlength=len(normal))
    kept = np.minimum(
        sizes - np.ceil(near * sizes - 1e-9).astype(np.int64) + MIN_SHARED_WORDS, sizes
    )
    rarest = packed[positions(starts_of(sizes), kept)]
    kind = rarest >> 32
    rare = pl.DataFrame({"kind": kind, "size": sizes[kind], "place": rarest & 0xFFFFFFFF})
    own = pl.concat(numbers).with_columns(pl.col("kind").cast(pl.Int64))
    return rare.join(own, on="kind", how="left").with_columns(pl.col("numbers").fill_null(0))


def _parts(left: pl.DataFrame, right: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield the wanted texts in parts, so that each join stays small."""
    partners = left.join(right.group_by(_KEYS).len("partners"), on=_KEYS)
    each = partners.group_by("kind").agg(pl.col("partners").cast(pl.Int64).sum()).sort("kind")
    upto = each["partners"].cum_sum()
    if upto[-1] > MAX_CANDIDATES:
        raise TooManyError
    part = each.select("kind", part=(upto - each["partners"]) // PAIRS_PER_JOIN)
    for chosen in part.partition_by("part", maintain_order=True):
        yield left.join(chosen, on="kind", how="semi")


def _compared(normal: pl.Series, pairs: pl.DataFrame, near: float) -> pl.DataFrame:
    """Compare pairs word by word and return those that are near enough."""
    one, other = (
        normal.gather(pairs[name]).str.split(" ").list.unique() for name in ("kind", "like")
    )
    common = one.list.set_intersection(other).list.len().cast(pl.Float64)
    every = one.list.len() + other.list.len() - common
    share = common / every
    return pairs.with_columns(near=share).filter(share >= near - 1e-12)


def same_vectors(
    vectors: Vectors, wanted: Ints, near: float, memory: str | int
) -> tuple[Twins, int]:
    """Return vectors whose cosine with the wanted ones is at least `near`.

    Also return how many vectors have no direction (zeros, NaN or infinity).

    >>> vectors = Vectors(np.array([[1.0, 0], [2, 0], [0, 1]]))
    >>> found, _ = same_vectors(vectors, np.arange(3), 0.99, "1GB")
    >>> list(zip(found.one.tolist(), found.other.tolist()))
    [(0, 1), (1, 0)]
    """
    looked = Inspection.of(vectors, Cosine())
    usable = looked.has_direction
    lost = int((~usable).sum())
    wanted = wanted[usable[wanted]]
    if len(wanted) == 0 or usable.sum() < 2:
        return Twins.none(), lost
    every = looked.directed
    some = every
    if len(wanted) < len(vectors):
        some = Vectors(vectors.rows(wanted, vectors.precise), source=vectors.source)
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
            if kept > MAX_PAIRS:
                raise TooManyError
            row, item = np.nonzero(enough)
            score = tile.scores[row, item].astype(np.float64)
            row, item = row + begin, item + column
            close = score < near + slack[row - begin]
            score[close] = product.exact_pairs(row[close], item[close])
            good = (score >= near) & usable[item] & (wanted[row] != item)
            found.append((wanted[row[good]], item[good], np.minimum(score[good], 1.0)))
        return found

    parts = [part for block in over_blocks(product, work) for part in block]
    one, other, score = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Twins(one, other, score), lost


_PAIRS = {"one": pl.String, "other": pl.String, "near": pl.Float64, "by": pl.String}


@dataclass(frozen=True, eq=False)
class NearPairs:
    """Pairs of ids whose texts or vectors are identical or nearly so."""

    side: SideData
    pairs: pl.DataFrame  # columns one, other, near and by (text or vector)
    unchecked: tuple[str, ...] = ()  # what could not be compared, a sentence each

    @classmethod
    def of(
        cls,
        side: SideData,
        wanted: pl.Series,
        *,
        near: float,
        near_vectors: float,
        memory: str | int,
    ) -> NearPairs:
        """Return the twins of the wanted ids of a side among all its ids."""
        parts, unchecked = [pl.DataFrame(schema=_PAIRS)], []
        for by, ids, found in _looked(side, wanted, near, near_vectors, memory):
            if isinstance(found, str):
                unchecked.append(found)
                continue
            twins, silent = found
            parts.append(
                pl.DataFrame(
                    [
                        ids.gather(twins.one).alias("one"),
                        ids.gather(twins.other).alias("other"),
                        pl.Series("near", twins.near),
                    ]
                ).with_columns(by=pl.lit(by))
            )
            unchecked += _silent(side, by, silent)
        # A pair that is near by text and by vector counts once, by text.
        pairs = pl.concat(parts).unique(["one", "other"], keep="first", maintain_order=True)
        return cls(side, pairs, tuple(unchecked))

    def texts(self, *names: str) -> list[str] | None:
        """Return the texts of ids; None if there are no texts."""
        if self.side.texts is None:
            return None
        known = self.side.texts
        found = dict(known.filter(known["id"].is_in(list(names))).iter_rows())
        return [found.get(name, "").strip() for name in names]

    def how(self, by: str, near: float) -> str:
        """Return how near two are, in words."""
        if by == "vector":
            return f"cosine {shown(near)}"
        return "the same words" if near == 1 else f"{near:.0%} of their words in common"


def _looked(
    side: SideData, wanted: pl.Series, near: float, near_vectors: float, memory: str | int
) -> Iterator[tuple[str, pl.Series, tuple[Twins, int] | str]]:
    """Yield text or vector, the ids, and the twins or why there are none."""
    if side.texts is not None:
        ids, normal = side.texts["id"], side.texts["text"]
        found = _tried(side, "text", partial(same_texts, normal, _rows(ids, wanted), near))
        yield "text", ids, found
    if side.vectors is not None:
        ids = text_column("id", side.vectors.names())
        look = partial(same_vectors, side.vectors, _rows(ids, wanted), near_vectors, memory)
        yield "vector", ids, _tried(side, "vector", look)


def _rows(ids: pl.Series, wanted: pl.Series) -> Ints:
    return np.asarray(ids.is_in(wanted.implode()).arg_true(), np.int64)


def _tried(
    side: SideData, by: str, look: Callable[[], tuple[Twins, int]]
) -> tuple[Twins, int] | str:
    try:
        return look()
    except TooManyError:
        return (
            f"twins of {side.name} by {by}: there are more than {MAX_PAIRS:,} pairs. Are all {by}s "
            "alike?"
        )


def _silent(side: SideData, by: str, number: int) -> list[str]:
    if not number:
        return []
    one = "query" if side.name == "queries" else "item"
    who = counted(number, f"{one} has", f"{side.name} have")
    what = "an empty text" if by == "text" else "a vector of zeros, NaN or infinity"
    return [f"twins of {side.name}: {who} {what}."]
