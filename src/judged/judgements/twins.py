"""Texts and vectors that are identical or nearly so, and ids that differ only in spelling.

Texts are joined on their rarest words: two sets of words with a common share of at least `near`
share one of the few rarest words of each. So texts that share only frequent words are never
compared, and all others are compared exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import polars as pl

from judged.arrays import Floats, Ints
from judged.configuration import config
from judged.embeddings.diagnosis import Inspection
from judged.embeddings.product import TiledProduct, over_blocks
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
    differences = []
    for name in _SPELLINGS:
        ids = pl.Series([one, other])
        for step in (step for other_name, step in _SPELLINGS.items() if other_name != name):
            ids = step(ids)
        if ids[0] != ids[1]:
            differences.append(name)
    return listed(differences) if differences else "form"


class TooManyError(Exception):
    """More pairs than `MAX_PAIRS`."""


_PAIRS = {"one": pl.Int64, "other": pl.Int64, "near": pl.Float64}


def same_texts(texts: pl.Series, wanted: Ints, near: float) -> tuple[pl.DataFrame, int]:
    """Return the twins of the wanted texts among all texts, and the number of empty texts."""
    # Columns are the row numbers of a wanted text and its twin, and the share of common words.
    # Texts whose numbers differ are never near: another year or version is another question.
    normal = pl.concat(
        [
            words_of(texts[begin : begin + TEXTS_PER_BLOCK]).list.join(" ")
            for begin in range(0, len(texts), TEXTS_PER_BLOCK)
        ]
        or [texts]
    )
    there = pl.DataFrame({"row": np.arange(len(texts)), "normal": normal}).filter(
        pl.col("normal") != ""
    )
    kinds = there.group_by("normal", maintain_order=True).len()
    kinds = kinds.with_columns(kind=np.arange(kinds.height))
    empty = len(texts) - there.height
    rows = there.join(kinds.select("normal", "kind"), on="normal", maintain_order="left")
    rows = rows.select("row", "kind")
    sought = rows.join(pl.DataFrame({"row": wanted}), on="row", how="semi", maintain_order="left")
    if sought.is_empty():
        return pl.DataFrame(schema=_PAIRS), empty
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
    return joined.select(_PAIRS.keys()), empty


def _near(normal: pl.Series, wanted: Ints, near: float) -> pl.DataFrame:
    """Return pairs of different texts whose words are nearly the same (Jaccard similarity)."""
    pairs_found = [pl.DataFrame(schema={"kind": pl.Int64, "like": pl.Int64, "near": pl.Float64})]
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
            pairs_found.append(_compare(normal, few.select("kind", "like"), near))
            total += pairs_found[-1].height
            if total > MAX_PAIRS:
                raise TooManyError
    return pl.concat(pairs_found).sort("kind", "like")


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
    size = pl.len().over("kind").cast(pl.Int64)
    kept = size - (near * size - 1e-9).ceil().cast(pl.Int64) + MIN_SHARED_WORDS
    rare = (
        token.sort("kind", "place")
        .with_columns(size=size)
        .filter(pl.int_range(pl.len()).over("kind") < kept)
    )
    numbered = rare.join(pl.concat(numbers), on="kind", how="left")
    return numbered.with_columns(pl.col("kind").cast(pl.Int64), pl.col("numbers").fill_null(0))


def _parts(left: pl.DataFrame, right: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield the wanted texts in parts, so that each join stays small."""
    partners = left.join(right.group_by(_KEYS).len("partners"), on=_KEYS)
    sizes = partners.group_by("kind").agg(pl.col("partners").cast(pl.Int64).sum()).sort("kind")
    upto = sizes["partners"].cum_sum()
    if upto[-1] > MAX_CANDIDATES:
        raise TooManyError
    part = sizes.select("kind", part=(upto - sizes["partners"]) // PAIRS_PER_JOIN)
    for chosen in part.partition_by("part", maintain_order=True):
        yield left.join(chosen, on="kind", how="semi")


def _compare(normal: pl.Series, pairs: pl.DataFrame, near: float) -> pl.DataFrame:
    """Compare pairs word by word and return those that are near enough."""
    one, other = (
        normal.gather(pairs[name]).str.split(" ").list.unique() for name in ("kind", "like")
    )
    common = one.list.set_intersection(other).list.len().cast(pl.Float64)
    every = one.list.len() + other.list.len() - common
    share = common / every
    return pairs.with_columns(near=share).filter(share >= near - 1e-12)


def same_vectors(
    vectors: Vectors, wanted: Ints, near: float, memory: str | int = 0
) -> tuple[pl.DataFrame, int]:
    """Return vectors whose cosine with the wanted ones is at least `near`, as `same_texts` does."""
    # Also return how many vectors have no direction (zeros, NaN or infinity).
    looked = Inspection.of(vectors, Cosine())
    usable = looked.has_direction
    lost = int((~usable).sum())
    wanted = wanted[usable[wanted]]
    if len(wanted) == 0 or usable.sum() < 2:
        return pl.DataFrame(schema=_PAIRS), lost
    directed = looked.directed
    sought = directed
    if len(wanted) < len(vectors):
        sought = Vectors(vectors.rows(wanted, vectors.precise), source=vectors.source)
    memory = memory or config.current.memory
    product = TiledProduct(sought, directed, Cosine(), exclude=None, memory=memory)
    count = 0

    def work(begin: int, end: int) -> list[tuple[Ints, Ints, Floats]]:
        nonlocal count
        prepared = product.query_block(begin, end)
        parts = []
        for column in product.columns:
            tile = product.tile(prepared, begin, column, None)
            slack = np.zeros(end - begin) if tile.slack is None else tile.slack
            enough = tile.scores >= (near - slack)[:, None]
            count += int(np.count_nonzero(enough))
            if count > MAX_PAIRS:
                raise TooManyError
            row, item = np.nonzero(enough)
            score = tile.scores[row, item].astype(np.float64)
            row, item = row + begin, item + column
            close = score < near + slack[row - begin]
            score[close] = product.exact_pairs(row[close], item[close])
            good = (score >= near) & usable[item] & (wanted[row] != item)
            parts.append((wanted[row[good]], item[good], np.minimum(score[good], 1.0)))
        return parts

    parts = [part for block in over_blocks(product, work) for part in block]
    columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    return pl.DataFrame(dict(zip(_PAIRS, columns, strict=True)), schema=_PAIRS), lost


def find_twins(side: SideData, wanted: pl.Series) -> tuple[pl.DataFrame, list[str]]:
    """Return the twins (one, other, near, by) of the wanted ids, and what was not compared."""
    schema = {"one": pl.String, "other": pl.String, "near": pl.Float64, "by": pl.String}
    parts, unchecked = [pl.DataFrame(schema=schema)], []
    for by in ("text", "vector"):
        if side.texts is not None and by == "text":
            ids, nothing = side.texts["id"], "an empty text"
            compare = partial(same_texts, side.texts["text"], near=side.near)
        elif side.vectors is not None and by == "vector":
            ids = text_column("id", side.vectors.names())
            nothing = "a vector of zeros, NaN or infinity"
            compare = partial(same_vectors, side.vectors, near=side.near_vectors)
        else:
            continue
        rows = ids.is_in(wanted.implode()).arg_true().cast(pl.Int64).to_numpy()
        try:
            twins, left_out = compare(wanted=rows)
        except TooManyError:
            unchecked.append(
                f"twins of {side.name} by {by}: there are more than {MAX_PAIRS:,} pairs. Are all "
                f"{by}s alike?"
            )
            continue
        named = [ids.gather(twins[column]).alias(column) for column in ("one", "other")]
        parts.append(twins.with_columns(*named, by=pl.lit(by)))
        if left_out:
            one = "query" if side.name == "queries" else "item"
            have = counted(left_out, f"{one} has", f"{side.name} have")
            unchecked.append(f"twins of {side.name}: {have} {nothing}.")
    # A pair that is near by text and by vector counts once, by text.
    pairs = pl.concat(parts).unique(["one", "other"], keep="first", maintain_order=True)
    return pairs, unchecked


def nearness(by: str, near: float) -> str:
    """Return the similarity of two twins in words."""
    if by == "vector":
        return f"cosine {shown(near)}"
    return "the same words" if near == 1 else f"{near:.0%} of their words in common"
