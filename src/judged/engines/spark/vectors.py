"""Items as frames of Spark: an id and a vector in each row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judged.engines.spark.failures import failures
from judged.engines.spark.faults import Fault
from judged.errors import InputError, JudgedError
from judged.inputs.columns import candidates
from judged.text import counted, quote

if TYPE_CHECKING:
    import polars as pl

    from judged.engines.spark._counts import Counts, Prepared

_VECTORS = ("vector", "embedding", "emb", "values", "features")
"""What a column of vectors may be called, where there are several of arrays."""
_AT_A_TIME = 1 << 26
"""So many numbers of vectors are counted at a time."""


def item_frame(frame: Any) -> Any:
    """The ids, as texts, and the vectors of a frame; other columns are not read."""
    from pyspark.sql import functions as F  # noqa: N812

    types = {each.name: each.dataType.simpleString() for each in frame.schema.fields}
    arrays = [name for name, each in types.items() if each in ("array<float>", "array<double>")]
    named = [name for name in arrays if name.lower() in _VECTORS]
    others = [name for name in types if name not in arrays]
    ids = [others[at] for at in candidates("item", others)]
    plain = [name for name in others if name.lower() == "id"]
    if (len(arrays) > 1 and len(named) != 1) or not arrays:
        there = ", ".join(f"{quote(name)} ({each})" for name, each in types.items())
        hint = (
            " Vectors of Spark's ML become arrays with pyspark.ml.functions.vector_to_array."
            if any(each.startswith("vector") for each in types.values())
            else ""
        )
        raise InputError(
            "items in Spark need one column of vectors, arrays of float or double, called "
            f"{' or '.join(_VECTORS[:2])} where there are several; the columns are {there}.{hint}"
        )
    chosen = (ids or plain or (others if len(others) == 1 else []))[:1]
    if not chosen:
        there = ", ".join(map(quote, others)) or "none"
        raise InputError(
            f"items in Spark need a column with their ids, called id; there is {there}."
        )
    kind = types[chosen[0]]
    if not kind.startswith(("string", "varchar", "char")) and kind not in _WHOLE:
        raise InputError(
            f"the items: column {quote(chosen[0])} is {kind}, but ids must be strings or integers."
        )

    def column(name: str) -> Any:
        return F.col("`{}`".format(name.replace("`", "``")))

    text = column(chosen[0]).cast("binary" if "collate" in kind else "string").cast("string")
    return frame.select(text.alias("id"), column((named or arrays)[0]).alias("vector"))


_WHOLE = ("tinyint", "smallint", "int", "bigint")


def refuse_repeated(items: Any) -> int:
    """How many items there are; an error where an id is missing, or there twice."""
    from pyspark.sql import functions as F  # noqa: N812

    times = items.groupBy("id").agg(F.count(F.lit(1)).alias("times"))
    again = F.when(F.col("times") > 1, F.col("id"))
    lost = F.col("id").isNull() | (F.col("id") == "")
    with failures():
        found = times.agg(
            F.coalesce(F.sum("times"), F.lit(0)).alias("items"),
            F.min(again).alias("first"),
            F.count(again).alias("again"),
            F.coalesce(F.sum(F.when(lost, F.col("times"))), F.lit(0)).alias("lost"),
        ).collect()[0]
    if found["lost"]:
        raise InputError(f"the items: the id is missing in {counted(found['lost'], 'row')}.")
    if found["again"]:
        others = found["again"] - 1
        more = f" (and {counted(others, 'more such id')})" if others else ""
        raise InputError(f"the items: {found['first']!r} is there more than once{more}.")
    if not found["items"]:
        raise InputError("the items: the frame is empty.")
    return int(found["items"])


def matrix_of(rows: pl.DataFrame) -> NDArray[np.floating[Any]]:
    """The vectors of some rows, one under the other."""
    column = rows["vector"]
    lengths = column.list.len()
    usual = int(lengths.drop_nulls().to_numpy().max(initial=0))
    odd = rows.filter(lengths.is_null() | (lengths != usual)).sort("id")
    if odd.height:
        own = odd["vector"].list.len()[0]
        has = "is missing"
        if own is not None:
            has = f"has {counted(own, 'number')}, and others have {usual}"
        raise InputError(f"the items: the vector of {odd['id'][0]!r} {has}.")
    flat = column.explode()
    if flat.null_count():
        inside = rows.filter(column.list.eval(_is_null()).list.any()).sort("id")
        raise InputError(f"the items: the vector of {inside['id'][0]!r} has a missing number.")
    return flat.to_numpy().reshape(rows.height, -1)


def _is_null() -> Any:
    import polars as pl

    return pl.element().is_null()


@dataclass(frozen=True)
class CountItems:
    """Work: count the items of a partition for each relevant item."""

    ready: Prepared

    def __call__(self, rows: pl.DataFrame) -> Iterator[Counts | Fault]:
        counts = self.ready.nothing()
        width = max(self.ready.queries.values.shape[1], 1)
        step = max(_AT_A_TIME // width, 1)
        try:
            for begin in range(0, rows.height, step):
                some = rows[begin : begin + step]
                matrix = _finite(matrix_of(some), some)
                counts = counts + self.ready.count(some["id"].to_list(), matrix, workers=1)
        except JudgedError as error:
            text = str(error).replace("the shard", "the items")
            yield Fault(0, text, "", text, error=type(error))
            return
        yield counts


def _finite(matrix: NDArray[np.floating[Any]], rows: pl.DataFrame) -> NDArray[np.floating[Any]]:
    odd = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if len(odd):
        name = min((rows["id"][int(at)] for at in odd), key=str.encode)
        raise InputError(
            f"the items: the vector of {name!r} has a number that is not finite; leave the item "
            "out, or give it another vector."
        )
    return matrix


@dataclass(frozen=True)
class AddCounts:
    """Work: add up what partitions counted."""

    def __call__(self, rows: pl.DataFrame) -> Iterator[Any]:
        import pickle

        found = [pickle.loads(made) for made in rows["made"].drop_nulls().to_list()]
        faults = [each for each in found if isinstance(each, Fault)]
        yield from faults
        if not faults:
            yield sum(found)
