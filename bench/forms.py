"""Generated data in other forms: lines in random order, compressed, tables, rankings files."""

from __future__ import annotations

import gzip
import shutil
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

BLOCK = 1 << 26
"""Bytes of text at a time."""
PILES = 16


def shuffle(text: Path, target: Path) -> None:
    """Lines in random order: spread over piles at random, and each pile shuffled by itself."""
    import numpy as np

    rng = np.random.default_rng(0)
    with ExitStack() as stack:
        piles = [
            stack.enter_context(tempfile.TemporaryFile(dir=target.parent)) for _ in range(PILES)
        ]
        with text.open("rb") as handle:
            while lines := handle.readlines(BLOCK):
                for at, pile in enumerate(_shuffled(rng, len(lines))):
                    piles[at].write(b"".join([lines[line] for line in pile]))
        with target.open("wb") as out:
            for file in piles:
                file.seek(0)
                lines = file.readlines()
                for pile in _shuffled(rng, len(lines)):
                    out.write(b"".join([lines[line] for line in pile]))


def _shuffled(rng: Any, number: int) -> list[list[int]]:
    order = rng.permutation(number)
    return [order[at::PILES].tolist() for at in range(PILES)]


def compress(text: Path, target: Path) -> None:
    with text.open("rb") as plain, gzip.open(target, "wb", compresslevel=6) as packed:
        shutil.copyfileobj(plain, packed, 1 << 20)


def tabulate(text: Path, target: Path) -> None:
    import polars as pl

    names = ("query", "q0", "item", "rank", "score", "system")
    schema = {name: pl.Float64 if name == "score" else pl.String for name in names}
    lines = pl.scan_csv(text, separator=" ", has_header=False, schema=schema, quote_char=None)
    lines.select("query", "item", "score").sink_parquet(target, row_group_size=1 << 20)


def save_rankings(text: Path, target: Path) -> None:
    import judged

    rankings = judged.Rankings.from_run(text.with_name(f"{text.name.split('.')[0]}.qrels"), text)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        saved = Path(folder) / "run.rankings"
        rankings.save(saved)
        saved.replace(target)


def write_items(vectors: Any, target: Path) -> None:
    """Items with their number as id and their vector as a list of floats."""
    import polars as pl

    column = pl.Series("vector", vectors).cast(pl.List(pl.Float32))
    ids = pl.Series("item", range(len(vectors))).cast(pl.String)
    pl.DataFrame([ids, column]).write_parquet(target, row_group_size=1 << 16)


WRITERS: dict[str, Callable[[Path, Path], None]] = {
    "random": shuffle,
    "gz": compress,
    "parquet": tabulate,
    "rankings": save_rankings,
}
