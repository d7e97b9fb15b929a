"""Seeded runs and judgements as TREC files, kept in the system's folder for temporary files and
made once.

`python -m bench.data Size QUERIES RESULTS JUDGEMENTS RUNS` makes judgements and runs,
`python -m bench.data Embedded …` vectors and labels. The benchmark only calls `ensure`: a parent
that imported numpy would show up in the peak memory of its children (see measure.py).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl
    from numpy.random import Generator
    from numpy.typing import NDArray

    Array = NDArray[Any]

Columns = dict[str, Any]

FORMAT = 1
"""Counted up when the generated data changes, so that an old cache is not taken for the new data.
"""
SEED = 0
ITEMS = 8_000_000
"""Size of the collection that results are drawn from; judged items that nobody retrieved have
higher numbers."""
FIRST_QUERY = 100_001
_WRITTEN = (("out", ".out.run"), ("queue", ".queue.csv"))
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
        {out} and {queue} are files to write."""
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
        return tuple(
            self.folder / f"{name}.npy"
            for name in ("queries", "items", "query_labels", "item_labels")
        )


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
    names = [f"{stem}.{at}.run" if at > 1 else f"{stem}.run" for at in range(1, size.runs + 1)]
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
    """Write all files; half of a query's judgements are in its list, mostly early, half were not
    retrieved. Further runs have the items of the first in other orders, near to its own."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    items = _distinct(rng, size.queries, size.results, below=ITEMS)
    found = size.judgements // 2
    order = rng.random((size.queries, size.results)) * np.arange(10, size.results + 10)
    ranks = np.argsort(order, axis=1)[:, :found]
    missed = ITEMS + _distinct(rng, size.queries, size.judgements - found, below=ITEMS)
    judged = np.concatenate([np.take_along_axis(items, ranks, axis=1), missed], axis=1)
    grades = rng.integers(0, 4, size=judged.shape) * (rng.random(judged.shape) < 0.4)

    files = files_of(size)
    assert isinstance(files, Pair)
    cache().mkdir(parents=True, exist_ok=True)
    _write(files.qrels, _rows(judged, {"zero": 0}, {"grade": grades}))
    places = np.broadcast_to(np.arange(1, size.results + 1), items.shape)
    ranked = {"rank": places, "score": _scores(rng, size)}
    for at, path in enumerate(files.runs):
        own = items
        if at:
            moved = np.argsort(places * rng.uniform(1, 1 + at, items.shape), axis=1)
            own = np.take_along_axis(items, moved, axis=1)
            ranked["score"] = _scores(rng, size)
        system = f"generated-{at + 1}" if at else "generated"
        _write(path, _rows(own, {"q0": "Q0"}, ranked, {"system": system}))


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
    for path in folder.paths:
        unfinished = path.with_suffix(f".{os.getpid()}.tmp.npy")
        np.save(unfinished, arrays[path.stem])
        unfinished.replace(path)


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
    items: Array, before: Columns, after: Columns, last: Columns | None = None
) -> pl.DataFrame:
    """One row per item: query, constants, item, columns, constants."""
    import numpy as np
    import polars as pl

    queries = np.repeat(np.arange(FIRST_QUERY, FIRST_QUERY + len(items)), items.shape[1])
    padded = pl.format("D{}", pl.col("item").cast(pl.String).str.zfill(8)).alias("item")
    numbers = {name: np.ascontiguousarray(column).ravel() for name, column in after.items()}
    return pl.DataFrame({"query": queries, "item": items.ravel(), **numbers}).select(
        "query", *_constants(before), padded, *numbers, *_constants(last or {})
    )


def _constants(values: Columns) -> list[pl.Expr]:
    import polars as pl

    return [pl.lit(value).alias(name) for name, value in values.items()]


def _write(path: Path, frame: pl.DataFrame) -> None:
    """Renamed into place when complete: a broken run leaves no half file behind."""
    unfinished = path.with_suffix(f"{path.suffix}.{os.getpid()}.tmp")
    try:
        frame.write_csv(unfinished, include_header=False, separator=" ")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


if __name__ == "__main__":
    given = [int(number) for number in sys.argv[2:]]
    generate(Size(*given)) if sys.argv[1] == "Size" else generate_vectors(Embedded(*given))
