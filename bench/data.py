"""Seeded runs and judgements as TREC files, kept in the system's folder for temporary files and
made once.

`python -m bench.data Size QUERIES RESULTS JUDGEMENTS RUNS FORM` makes judgements and runs,
`python -m bench.data Embedded …` vectors and labels. The benchmark only calls `ensure`: a parent
that imported numpy would show up in the peak memory of its children (see measure.py).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import polars as pl
    from numpy.random import Generator
    from numpy.typing import NDArray

    Array = NDArray[Any]

Columns = dict[str, Any]
Form = Literal["text", "random", "gz", "parquet", "rankings"]
"""How a run is written: lines by query, in random order, compressed, a table, a rankings file."""
ENDINGS: dict[Form, str] = {
    "text": ".run",
    "random": ".random.run",
    "gz": ".run.gz",
    "parquet": ".parquet",
    "rankings": ".rankings",
}

FORMAT = 1
"""Counted up when the generated data changes, so that an old cache is not taken for the new data.
"""
SEED = 0
PART = 10_000_000
"""Results that are drawn at once."""
ITEMS = 8_000_000
"""Size of the collection that results are drawn from; judged items that nobody retrieved have
higher numbers."""
FIRST_QUERY = 100_001
_WRITTEN = (("out", ".out.run"), ("queue", ".queue.csv"), ("report", ".report.html"))
"""What contenders write, with its ending."""
NOISE = 2.0
"""How far a vector lies from its label's centre, in standard deviations of the centres."""


@dataclass(frozen=True)
class Size:
    """How much data: each query has as many results and as many judgements as every other."""

    queries: int
    results: int
    judgements: int = 50
    runs: int = 1
    form: Form = "text"

    def __str__(self) -> str:
        runs = f"{self.runs} runs of " if self.runs > 1 else ""
        return f"{runs}{self.queries:,} × {self.results:,}"


@dataclass(frozen=True)
class Embedded:
    """How many vectors, and how many items are relevant to each query."""

    queries: int
    items: int
    dims: int
    relevant: int
    table: bool = False
    """Whether the items are there as a Parquet file too."""

    def __str__(self) -> str:
        return f"{self.queries:,} × {self.items:,} × {self.dims}, {self.relevant} relevant"


@dataclass(frozen=True)
class Drawn:
    """How many numbers; a contender draws them itself, so there are no files."""

    queries: int
    columns: int = 1
    systems: int = 1
    resamples: int = 9_999

    def __str__(self) -> str:
        systems = f"{self.systems} systems × " if self.systems > 1 else ""
        return f"{systems}{self.queries:,} queries, {self.resamples:,} resamples"

    @property
    def words(self) -> dict[str, str]:
        return {f"{{{name}}}": str(value) for name, value in vars(self).items()}

    @property
    def paths(self) -> tuple[Path, ...]:
        return ()


@dataclass(frozen=True)
class Pair:
    """The files of one size: judgements, and a run or several."""

    size: Size
    qrels: Path
    runs: tuple[Path, ...]

    @property
    def words(self) -> dict[str, str]:
        """What stands for them in a contender's command: {run}, and of several {run2}, {run3}, …;
        {out}, {queue} and {report} are files to write."""
        others = {f"{{run{at}}}": str(run) for at, run in enumerate(self.runs, 1)}
        written = {f"{{{name}}}": str(self.qrels.with_suffix(ending)) for name, ending in _WRITTEN}
        return {"{qrels}": str(self.qrels), "{run}": str(self.runs[0]), **others, **written}

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.qrels, *self.runs)


@dataclass(frozen=True)
class Folder:
    """The arrays of one size of vectors."""

    size: Embedded
    folder: Path

    @property
    def words(self) -> dict[str, str]:
        return {"{folder}": str(self.folder)}

    @property
    def paths(self) -> tuple[Path, ...]:
        names = ("queries", "items", "query_labels", "item_labels")
        table = [self.folder / "items.parquet"] if self.size.table else []
        return (*(self.folder / f"{name}.npy" for name in names), *table)


def cache() -> Path:
    """The folder that generated files are kept in; safe to delete."""
    return Path(tempfile.gettempdir()) / f"judged-bench-{FORMAT}"


def files_of(size: Size | Embedded | Drawn) -> Pair | Folder | Drawn:
    """Where the files of a size are, made or not."""
    if isinstance(size, Drawn):
        return size
    if isinstance(size, Embedded):
        return Folder(size, cache() / f"{size.queries}x{size.items}x{size.dims}x{size.relevant}")
    stem = f"{size.queries}x{size.results}x{size.judgements}"
    ending = ENDINGS[size.form]
    names = [f"{stem}.{at}{ending}" if at > 1 else stem + ending for at in range(1, size.runs + 1)]
    return Pair(size, cache() / f"{stem}.qrels", tuple(cache() / name for name in names))


def ensure(size: Size | Embedded | Drawn) -> Pair | Folder | Drawn:
    """The files of a size, generated if missing, and read once so that no contender pays for a cold
    disk."""
    files = files_of(size)
    if not all(path.exists() for path in files.paths):
        numbers = [str(number) for number in astuple(size)]
        root = Path(__file__).resolve().parents[1]
        command = [sys.executable, "-m", "bench.data", type(size).__name__, *numbers]
        subprocess.run(command, check=True, cwd=root)
    for path in files.paths:
        with path.open("rb") as file:
            while file.read(1 << 20):
                pass
    return files


def generate(size: Size) -> None:
    """Write all files, a part of the queries at a time; what is no text is made from text."""
    import numpy as np

    files = files_of(size)
    assert isinstance(files, Pair)
    cache().mkdir(parents=True, exist_ok=True)
    if size.form != "text":
        from bench.forms import WRITERS

        for text, path in zip(_text(size).runs, files.runs, strict=True):
            with _whole(path) as unfinished:
                WRITERS[size.form](text, unfinished)
        return
    at_once = max(1, PART // size.results)
    with ExitStack() as stack:
        paths = [stack.enter_context(_whole(path)) for path in files.paths]
        handles = [stack.enter_context(path.open("wb")) for path in paths]
        for number, first in enumerate(range(0, size.queries, at_once)):
            rng = np.random.default_rng((SEED, number) if number else SEED)
            part = replace(size, queries=min(at_once, size.queries - first))
            for handle, frame in zip(handles, _frames(rng, part, first), strict=True):
                frame.write_csv(handle, include_header=False, separator=" ")


def _text(size: Size) -> Pair:
    """The same data as text, generated if missing."""
    text = ensure(replace(size, form="text"))
    assert isinstance(text, Pair)
    return text


def _frames(rng: Generator, size: Size, first: int) -> Iterator[pl.DataFrame]:
    """Judgements and runs of some queries. Half of a query's judgements are in its list, mostly
    early, half were not retrieved. Further runs have the items of the first in other orders, near
    to its own."""
    import numpy as np

    items = _distinct(rng, size.queries, size.results, below=ITEMS)
    found = size.judgements // 2
    order = rng.random((size.queries, size.results)) * np.arange(10, size.results + 10)
    ranks = np.argsort(order, axis=1)[:, :found]
    missed = ITEMS + _distinct(rng, size.queries, size.judgements - found, below=ITEMS)
    judged = np.concatenate([np.take_along_axis(items, ranks, axis=1), missed], axis=1)
    grades = rng.integers(0, 4, size=judged.shape) * (rng.random(judged.shape) < 0.4)
    yield _rows(first, judged, {"zero": 0}, {"grade": grades})
    places = np.broadcast_to(np.arange(1, size.results + 1), items.shape)
    ranked = {"rank": places, "score": _scores(rng, size)}
    for at in range(size.runs):
        own = items
        if at:
            moved = np.argsort(places * rng.uniform(1, 1 + at, items.shape), axis=1)
            own = np.take_along_axis(items, moved, axis=1)
            ranked["score"] = _scores(rng, size)
        system = f"generated-{at + 1}" if at else "generated"
        yield _rows(first, own, {"q0": "Q0"}, ranked, {"system": system})


def generate_vectors(size: Embedded) -> None:
    """Vectors of length 1 around a centre for each label, as many items of every label; the labels
    are those of pairs that are told apart well, not perfectly: a relevant item stands some way down
    the list."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    labels = size.items // size.relevant
    centres = rng.standard_normal((labels, size.dims), dtype=np.float32)
    item_labels = rng.permutation(np.repeat(np.arange(labels), size.relevant))
    query_labels = rng.integers(0, labels, size.queries)
    folder = files_of(size)
    assert isinstance(folder, Folder)
    folder.folder.mkdir(parents=True, exist_ok=True)
    arrays = {"query_labels": query_labels, "item_labels": item_labels}
    for name, chosen in (("queries", query_labels), ("items", item_labels)):
        vectors = centres[chosen] + NOISE * rng.standard_normal(
            (len(chosen), size.dims), dtype=np.float32
        )
        arrays[name] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for name, array in arrays.items():
        with _whole(folder.folder / f"{name}.npy") as unfinished, unfinished.open("wb") as handle:
            np.save(handle, array)
    if size.table:
        from bench.forms import write_items

        with _whole(folder.folder / "items.parquet") as unfinished:
            write_items(arrays["items"], unfinished)


def _distinct(rng: Generator, rows: int, columns: int, *, below: int) -> Array:
    """Rows of distinct numbers: column j draws from those that leave j when divided by the number
    of columns."""
    import numpy as np

    return rng.integers(0, below // columns, size=(rows, columns)) * columns + np.arange(columns)


def _scores(rng: Generator, size: Size) -> Array:
    """Descending, with true ties; four decimals, because trec_eval keeps float32 and would tie what
    differs beyond."""
    import numpy as np

    return np.sort(rng.gumbel(10, 5, size=(size.queries, size.results)).round(4), axis=1)[:, ::-1]


def _rows(
    first: int, items: Array, before: Columns, after: Columns, last: Columns | None = None
) -> pl.DataFrame:
    """One row per item: query, constants, item, columns, constants."""
    import numpy as np
    import polars as pl

    numbers_of_queries = np.arange(FIRST_QUERY + first, FIRST_QUERY + first + len(items))
    queries = np.repeat(numbers_of_queries, items.shape[1])
    padded = pl.format("D{}", pl.col("item").cast(pl.String).str.zfill(8)).alias("item")
    numbers = {name: np.ascontiguousarray(column).ravel() for name, column in after.items()}
    return pl.DataFrame({"query": queries, "item": items.ravel(), **numbers}).select(
        "query", *_constants(before), padded, *numbers, *_constants(last or {})
    )


def _constants(values: Columns) -> list[pl.Expr]:
    import polars as pl

    return [pl.lit(value).alias(name) for name, value in values.items()]


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """Another path, renamed into place when complete: a broken run leaves no half file behind."""
    unfinished = path.with_suffix(f"{path.suffix}.{os.getpid()}.tmp")
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def main(kind: str, *given: str) -> None:
    words = [int(word) if word.isdigit() else word for word in given]
    if kind == "Size":
        generate(Size(*words))  # type: ignore[arg-type]
    else:
        *numbers, table = words
        generate_vectors(Embedded(*numbers, table=table == "True"))  # type: ignore[arg-type]


if __name__ == "__main__":
    main(*sys.argv[1:])
