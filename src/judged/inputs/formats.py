"""The file formats by name, and what the end of a file's name says. Imports nothing heavy: commands
list them."""

from __future__ import annotations

import difflib
from pathlib import PurePath

from judged.errors import InputError

FORMATS: dict[str, tuple[str, ...]] = {
    "trec": (".run", ".trec", ".qrels", ".qrel", ".res", ".results", ".txt"),
    "msmarco": (),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "parquet": (".parquet", ".pq"),
    "ndjson": (".ndjson", ".jsonl"),
    "json": (".json",),
}
"""Each format a user may name, with its suffixes. Content decides; a suffix only settles what
content leaves open."""

COMPRESSION_SUFFIXES = (".gz", ".zst", ".bz2", ".xz")
_FORMAT_OF_SUFFIX = {suffix: name for name, suffixes in FORMATS.items() for suffix in suffixes}


def check_format(name: str | None) -> None:
    """Refuses a format nobody knows, with the nearest one that exists."""
    if name is None or name in FORMATS:
        return
    near = difflib.get_close_matches(name.lower(), FORMATS, n=1)
    hint = f'; did you mean "{near[0]}"?' if near else "."
    raise InputError(f'There is no format "{name}"{hint} Formats: {", ".join(FORMATS)}.')


def without_compression(path: PurePath) -> PurePath:
    return path.with_suffix("") if path.suffix.lower() in COMPRESSION_SUFFIXES else path


def format_of_name(path: PurePath) -> str | None:
    """What "qrels.tsv.gz" promises to be: "tsv"."""
    return _FORMAT_OF_SUFFIX.get(without_compression(path).suffix.lower())


def run_name(path: str | PurePath) -> str:
    """ "runs/bm25.run.gz" is the run "bm25"; suffixes that name no format ("bm25.v2") belong to the
    name."""
    if str(path) == "-":
        return "stdin"
    bare = without_compression(PurePath(path))
    return bare.stem if bare.suffix.lower() in _FORMAT_OF_SUFFIX else bare.name
