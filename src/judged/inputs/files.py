"""The two entries for files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from judged.inputs.delimited import read_csv, read_tsv
from judged.inputs.detect import detect_format
from judged.inputs.formats import check_format, run_name
from judged.inputs.kinds import JUDGEMENTS, RUN, Kind
from judged.inputs.source import Source, open_source
from judged.inputs.structured import read_json, read_ndjson, read_parquet
from judged.inputs.tables import Judgements, Run
from judged.inputs.tidy import Reading, to_judgements, to_run
from judged.inputs.trec import read_msmarco, read_trec

__all__ = ["READERS", "read_judgements_file", "read_run_file", "run_name"]

READERS: dict[str, Callable[[Source], Reading]] = {
    "trec": read_trec,
    "msmarco": read_msmarco,
    "csv": read_csv,
    "tsv": read_tsv,
    "parquet": read_parquet,
    "ndjson": read_ndjson,
    "json": read_json,
}
"""A reader for each of `formats.FORMATS`; a test holds the two together."""


def read_run_file(path: str | Path, *, format: str | None = None, name: str | None = None) -> Run:
    """A run from a file, or from standard input for "-"; the format is found by content unless it is given."""
    source, reading = _read(path, RUN, format)
    return to_run(reading, source.label, name or run_name(path))


def read_judgements_file(path: str | Path, *, format: str | None = None) -> Judgements:
    """Judgements from a file, or from standard input for "-"; the format is found by content unless it is given."""
    source, reading = _read(path, JUDGEMENTS, format)
    return to_judgements(reading, source.label)


def _read(path: str | Path, kind: Kind, format: str | None) -> tuple[Source, Reading]:
    check_format(format)
    source = open_source(path, kind)
    return source, READERS[format or detect_format(source)](source)
