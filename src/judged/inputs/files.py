"""The two entries for files."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from judged.inputs.detect import detect_format
from judged.inputs.formats import check_format, run_name
from judged.inputs.kinds import JUDGEMENTS, RUN, Kind
from judged.inputs.source import Source, open_source
from judged.inputs.tables import Judgements, Run
from judged.inputs.tidy import Reading, to_judgements, to_run

__all__ = ["READERS", "read_judgements_file", "read_run_file", "run_name"]

READERS: dict[str, tuple[str, str]] = {
    "trec": ("trec", "read_trec"),
    "msmarco": ("trec", "read_msmarco"),
    "csv": ("csv", "read_csv"),
    "tsv": ("csv", "read_tsv"),
    "parquet": ("json", "read_parquet"),
    "ndjson": ("json", "read_ndjson"),
    "json": ("json", "read_json"),
}
"""The module and function that reads each of `formats.FORMATS`, loaded when it is needed; a test
holds the two together."""


def read_run_file(path: str | Path, *, format: str | None = None, name: str | None = None) -> Run:
    """A run from a file, or from standard input for "-"; the format is found by content unless it
    is given."""
    source, reading = _read(path, RUN, format)
    return to_run(reading, source.label, name or run_name(path))


def read_judgements_file(path: str | Path, *, format: str | None = None) -> Judgements:
    """Judgements from a file, or from standard input for "-"; the format is found by content unless
    it is given."""
    source, reading = _read(path, JUDGEMENTS, format)
    return to_judgements(reading, source.label)


def _read(path: str | Path, kind: Kind, format: str | None) -> tuple[Source, Reading]:
    check_format(format)
    source = open_source(path, kind)
    module, name = READERS[format or detect_format(source)]
    reader: Callable[[Source], Reading] = getattr(import_module(f"judged.inputs.{module}"), name)
    return source, reader(source)
