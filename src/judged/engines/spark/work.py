"""What runs on the workers: the rows of a partition in, what is left of them out.

`sent` is carried to the workers by value, so that it can say what they lack; all else is judged's
own code, which they must have.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from judged import __version__
from judged.engines.spark.failures import failures, not_installed, other_version
from judged.engines.spark.faults import Fault, raised
from judged.errors import EngineError

if TYPE_CHECKING:
    import polars as pl

SCHEMA = "made binary, fault string"
"""What comes back: what was made of a partition, pickled; or why nothing was."""


class Work(Protocol):
    """What is done with the rows of a partition."""

    def __call__(self, rows: pl.DataFrame) -> Iterable[Any]: ...


def sent(work: Work) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """The work as Spark's `mapInArrow` takes it."""
    from pyspark import cloudpickle  # what is done to a run may be a function in a function

    packed, version = cloudpickle.dumps(work), __version__  # type: ignore[no-untyped-call]

    def partition(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        def answer(made: list[bytes | None], fault: str | None = None) -> Any:
            columns = [pa.array(made, pa.binary()), pa.array([fault] * len(made), pa.string())]
            return pa.RecordBatch.from_arrays(columns, names=["made", "fault"])

        try:
            from judged import __version__
        except ImportError as error:
            yield answer([None], str(getattr(error, "name", None) or "judged"))
            return
        if __version__ != version:
            yield answer([None], f"version {__version__}")
            return
        from judged.engines.spark.work import made_of

        for made in made_of(packed, batches):
            yield answer([made])

    return partition


def made_of(packed: bytes, batches: Iterable[Any]) -> Iterator[bytes]:
    """What the work makes of a partition, pickled, or a fault."""
    import polars as pl
    import pyarrow as pa
    from pyspark import cloudpickle  # summaries hold functions in functions

    held = [batch for batch in batches if batch.num_rows]
    if not held:
        return
    rows = pl.DataFrame(pl.from_arrow(pa.Table.from_batches(held)))
    del held
    for made in pickle.loads(packed)(rows):
        yield cloudpickle.dumps(made)  # type: ignore[no-untyped-call]


def done(frame: Any, work: Work, address: str | None = None) -> list[Any]:
    """What the work makes of all partitions of a frame; what they find wrong is raised."""
    with failures(address):
        rows = frame.mapInArrow(sent(work), SCHEMA).collect()
    lacking = sorted({row["fault"] for row in rows if row["fault"]})
    if lacking:
        version = lacking[0].removeprefix("version ")
        raise EngineError(
            not_installed(version) if version == lacking[0] else other_version(version)
        )
    found = [pickle.loads(bytes(row["made"])) for row in rows]
    if faults := [each for each in found if isinstance(each, Fault)]:
        raise raised(faults)
    return found


def some_queries(frame: Any) -> list[str]:
    """Some queries of a frame, the smallest first, for messages."""
    with failures():
        return [
            row[0] for row in frame.select("query").distinct().sort("query").limit(1000).collect()
        ]
