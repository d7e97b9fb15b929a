"""The twins of a side by their ids, from texts and from vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from judged.arrays import Ints
from judged.inputs.tables import texts as column
from judged.judgements.check.collection import Side
from judged.judgements.check.twins import MOST, TooManyError, Twins, same_texts, same_vectors
from judged.text import counted, shown

_PAIRS = {"one": pl.String, "other": pl.String, "near": pl.Float64, "by": pl.String}


@dataclass(frozen=True, eq=False)
class Near:
    """Pairs of ids that are the same or nearly so."""

    side: Side
    pairs: pl.DataFrame
    """Columns one, other, near and by: text or vector."""
    unchecked: tuple[str, ...] = ()
    """What was not compared, a sentence each."""

    @classmethod
    def of(
        cls, side: Side, asked: pl.Series, *, near: float, near_vectors: float, memory: str | int
    ) -> Near:
        """The twins that some ids of a side have among all."""
        parts, unchecked = [pl.DataFrame(schema=_PAIRS)], []
        for by, ids, found in _looked(side, asked, near, near_vectors, memory):
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
        # What both say is said once, by the texts.
        pairs = pl.concat(parts).unique(["one", "other"], keep="first", maintain_order=True)
        return cls(side, pairs, tuple(unchecked))

    @property
    def by(self) -> set[str]:
        """What was compared."""
        compared = {"text": self.side.texts, "vector": self.side.vectors}
        return {name for name, given in compared.items() if given is not None}

    def texts(self, *names: str) -> list[str] | None:
        """What some say; None where texts are not known."""
        if self.side.texts is None:
            return None
        known = self.side.texts
        found = dict(known.filter(known["id"].is_in(list(names))).iter_rows())
        return [found.get(name, "").strip() for name in names]

    def how(self, by: str, near: float) -> str:
        """How near two are, in words."""
        if by == "vector":
            return f"cosine {shown(near)}"
        return "the same words" if near == 1 else f"{near:.0%} of their words in common"


def _looked(
    side: Side, asked: pl.Series, near: float, near_vectors: float, memory: str | int
) -> Iterator[tuple[str, pl.Series, tuple[Twins, int] | str]]:
    """What was compared, the ids of what was, and what was found or why nothing was."""
    if side.texts is not None:
        ids, said = side.texts["id"], side.texts["text"]
        found = _tried(side, "text", partial(same_texts, said, _rows(ids, asked), near))
        yield "text", ids, found
    if side.vectors is not None:
        ids = column("id", side.vectors.names())
        look = partial(same_vectors, side.vectors, _rows(ids, asked), near_vectors, memory)
        yield "vector", ids, _tried(side, "vector", look)


def _rows(ids: pl.Series, asked: pl.Series) -> Ints:
    return np.asarray(ids.is_in(asked.implode()).arg_true(), np.int64)


def _tried(side: Side, by: str, look: Callable[[], tuple[Twins, int]]) -> tuple[Twins, int] | str:
    try:
        return look()
    except TooManyError:
        return (
            f"twins of {side.name} by {by}: more than {MOST:,} pairs are as near as that; are all "
            f"{by}s alike?"
        )


def _silent(side: Side, by: str, number: int) -> list[str]:
    if not number:
        return []
    one = "query" if side.name == "queries" else "item"
    who = counted(number, f"{one} has", f"{side.name} have")
    what = "a text that says nothing" if by == "text" else "a vector of zeros, NaN or infinity"
    return [f"{who} {what}, and cannot be compared."]
