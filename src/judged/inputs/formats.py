"""The file formats, one row each, and how the format of a file is detected.

The content decides; the name of the file settles only what the content leaves open. Readers are
imported when they are needed, because commands list the formats.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeGuard

from judged.errors import InputError, did_you_mean, quoted
from judged.inputs.columns import as_columns, candidates
from judged.inputs.tables import JUDGEMENTS, RUN, Kind

if TYPE_CHECKING:
    from judged.inputs.source import Source

COMMENT = b"#"
COMPRESSION_SUFFIXES = (".gz", ".zst", ".bz2", ".xz")
RANKINGS_EXTENSION = ".rankings"


def is_rankings_file(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether something names a rankings file, which replaces judgements and a run."""
    return isinstance(source, (str, os.PathLike)) and str(source).endswith(RANKINGS_EXTENSION)


def check_has_ids(source: object) -> None:
    """Raise an error for a rankings file, which holds no ids of items."""
    if is_rankings_file(source):
        raise InputError(
            f"{source}: a rankings file holds ranks and grades, but no ids of items, which are "
            "needed here. Give the judgements and the runs that it was made from."
        )


@dataclass(frozen=True)
class Format:
    name: str
    suffixes: tuple[str, ...]
    reader: str  # the function that reads it, as "module:function"
    magic: tuple[bytes, ...] = ()


FORMATS = {
    row.name: row
    for row in (
        Format(
            "trec",
            (".run", ".trec", ".qrels", ".qrel", ".res", ".results", ".txt"),
            "judged.inputs.trec:read_lines",
        ),
        Format("msmarco", (), "judged.inputs.trec:read_lines"),
        Format("scores", (), "judged.inputs.trec:read_lines"),
        Format("csv", (".csv",), "judged.inputs.csv:read_delimited"),
        Format("tsv", (".tsv",), "judged.inputs.csv:read_delimited"),
        Format("parquet", (".parquet", ".pq"), "judged.inputs.frames:read_parquet", (b"PAR1",)),
        Format("ndjson", (".ndjson", ".jsonl"), "judged.inputs.json:read_ndjson"),
        Format("json", (".json",), "judged.inputs.json:read_json"),
    )
}
"""The formats of runs and judgements. A reader makes an unchecked table of a `Source`."""
UNDECIDED = Format("msmarco or scores", (), "judged.inputs.trec:read_lines")
"""A run of three columns without a name for the format, of which the third may be a rank."""
NAMELESS = ("trec", "msmarco", "scores", UNDECIDED.name)


def is_number(text: str) -> bool:
    """Return whether polars reads a text as a number, so that all ways of parsing agree."""
    if "_" in text or not text.isascii() or text != text.strip():
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def split(line: bytes) -> list[bytes]:
    return [field for field in line.replace(b"\t", b" ").split(b" ") if field]


def check_format(name: str | None, known: Iterable[str] = FORMATS, of: str = "") -> None:
    if name is not None and (not isinstance(name, str) or name not in known):
        near = did_you_mean(name, known)
        raise InputError(f"Unknown format {quoted(name)}{of}{near} Formats: {', '.join(known)}.")


def signed(start: bytes, formats: Mapping[str, Format] = FORMATS) -> str | None:
    return next((row.name for row in formats.values() if start.startswith(row.magic)), None)


def promised(path: PurePath, formats: Mapping[str, Format] = FORMATS) -> str | None:
    """Return the format that the name of a file promises: "qrels.tsv.gz" is "tsv"."""
    suffix = without_compression(path).suffix.lower()
    return next((row.name for row in formats.values() if suffix in row.suffixes), None)


def without_compression(path: PurePath) -> PurePath:
    """Remove the extension of a compression: "qrels.tsv.gz" becomes "qrels.tsv"."""
    return path.with_suffix("") if path.suffix.lower() in COMPRESSION_SUFFIXES else path


def printable(path: str | os.PathLike[str]) -> str:
    """Return the name of a file as text; bytes that are not UTF-8 are escaped."""
    try:
        return os.fsencode(path).decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # half a surrogate pair, which no file can have in its name
        return os.fspath(path).encode("utf-8", "backslashreplace").decode()


def run_name(path: str | PurePath) -> str:
    """Return the name of the run in a file: "runs/bm25.run.gz" is "bm25"."""
    if str(path) == "-":
        return "stdin"
    if "://" in str(path) and "#" in str(path):  # a table of a database
        return printable(str(path).rpartition("#")[2])
    bare = without_compression(PurePath(path))
    while promised(bare):
        bare = bare.with_suffix("")
    return printable(bare.name)


def named_file(given: Any) -> tuple[str | None, Any]:
    """Split NAME=FILE; a path, and a file that has "=" in its name, have no other name."""
    if not isinstance(given, str):
        return None, given
    name, equals, file = given.partition("=")
    if not equals or "://" in name or os.path.lexists(given):
        return None, given
    if not name.strip() or not file:
        raise InputError(f"{printable(given)}: no such file; a run with a name is NAME=FILE.")
    return name.strip(), file


def distinct_names(named: Sequence[tuple[str | None, str | os.PathLike[str]]]) -> list[str]:
    by_user = [name for name, _ in named if name is not None]
    if twice := next((name for name in by_user if by_user.count(name) > 1), None):
        raise InputError(f"two runs are called {twice!r}; give each a name of its own.")
    names = [name or run_name(os.fspath(path)) for name, path in named]
    names = [
        printable(path) if given is None and names.count(name) > 1 else name
        for (given, path), name in zip(named, names, strict=True)
    ]
    before = [names[:at].count(name) for at, name in enumerate(names)]
    return [
        f"{name} ({count + 1})" if count else name
        for name, count in zip(names, before, strict=True)
    ]


def detect_format(source: Source) -> Format:
    name = _detected(source)
    return UNDECIDED if name == UNDECIDED.name else FORMATS[name]


def _detected(source: Source) -> str:
    head = source.head()
    by_name = promised(source.path)
    if by_content := signed(head):
        return by_content
    if by_name == "ndjson" or (by_name and FORMATS[by_name].magic):
        return by_name
    start = head.lstrip()
    looks_like_json = start[:1] in (b"{", b"[") and re.match(rb"\{\s*[\"}]|\[\s*[\[{\]]", start)
    if by_name == "json" or looks_like_json:
        return _json_or_ndjson(head)
    return _text_format(head, source)


def _json_or_ndjson(head: bytes) -> str:
    """NDJSON has a whole object in its first line, and another below it or plain values in it."""
    import json

    from judged.inputs.dicts import is_document

    first, _, rest = head.strip().partition(b"\n")
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return "json"
    is_row = isinstance(value, dict) and not all(
        isinstance(part, dict | list) for part in value.values()
    )
    return "ndjson" if rest.strip() or (is_row and not is_document(value)) else "json"


def _text_format(head: bytes, source: Source) -> str:
    lines = (line.strip(b" \r") for line in head.splitlines())
    line = next((line for line in lines if line.strip() and not line.startswith(COMMENT)), b"")
    if not line and any(looks_like(source.kind, split(row)) for row in head.splitlines()):
        return "trec"  # whose comments may be rows
    separator, delimited = ("\t", "tsv") if b"\t" in line else (",", "csv")
    text = line.decode("utf-8", "replace")
    cells = text.split(separator)
    if '"' in text or not text:
        from csv import reader

        cells = next(reader([text], delimiter=separator), [])
    if is_header(cells, source.columns):
        return delimited
    fields, kind = split(line), source.kind
    if looks_like(RUN, fields) or looks_like(JUDGEMENTS, fields):
        return "trec"
    if kind is RUN and len(fields) == 3 and is_number(fields[2].decode("utf-8", "replace")):
        commas = all(field.endswith(b",") for field in fields[:2])
        return "csv" if commas else UNDECIDED.name
    if len(cells) == 1 or len(fields) > len(cells):
        return "trec"
    # Unknown column names, or rows without a header: the reader of these formats has the better
    # message for both.
    no_numbers = not any(is_number(cell.strip()) for cell in cells)
    return delimited if len(fields) == 1 or no_numbers else "trec"


def is_header(cells: Sequence[str], named: Mapping[str, tuple[str, ...]] | None = None) -> bool:
    """Return whether these are names of columns, known ones or those that the user named."""
    by_user = as_columns(named).positions(cells)
    return all(role in by_user or candidates(role, cells) for role in ("query", "item"))


def looks_like(kind: Kind, fields: Sequence[bytes]) -> bool:
    """Return whether a line is one of a TREC run, or of TREC judgements."""
    place = 4 if kind is RUN else 3
    enough = len(fields) >= 6 if kind is RUN else len(fields) == 4
    return enough and is_number(fields[place].decode("utf-8", "replace"))
