"""The files of a folder, and the kind of each by its content."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judged.errors import InputError, JudgedError
from judged.inputs import format_of, rows_of_file, table_in
from judged.inputs.columns import LISTS, NAMES, plain
from judged.inputs.formats import FORMATS, Format, printable, promised, signed
from judged.inputs.source import (
    HEAD_BYTES,
    Source,
    can_stream,
    checked,
    compression,
    open_source,
    unpacked,
)
from judged.inputs.tables import JUDGEMENTS, RUN, Kind
from judged.inputs.vectors.formats import FORMATS as VECTOR_FORMATS
from judged.inputs.vectors.formats import is_safetensors
from judged.judgements.annotators import FOLDER, LOG_SUFFIX, QRELS_SUFFIX

KINDS = {
    "judgements": "judgements: which items are relevant",
    "run": "a run: the results of a system",
    "rows": "rows with relevant and retrieved ids: judgements and a run",
    "vectors": "vectors",
    "labels": "labels or ids of vectors",
    "texts": "texts of items",
    "queries": "texts of queries",
    "attributes": "attributes of queries",
    "picture": "a picture",
    "annotator": "judgements of an annotator, made on the judging page",
    "log": "what an annotator did, key by key",
    "queue": "what is to be judged",
    "unclear": "a run, or judgements",
    "other": "nothing that is shown here",
}
"""The kinds of files, in words."""
MAX_FILES = 2_000
MAX_FOLDER_DEPTH = 8
MAX_ENTRIES = 200_000
"""The maximum of files that are looked at, pictures among them."""
MAX_JSON_BYTES = 64 * 10**6  # larger JSON files are identified by their beginning and name
PICTURES = {
    "png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "jpeg": re.compile(rb"\xff\xd8\xff"),
    "gif": re.compile(rb"GIF8[79]a"),
    "webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}
"""The supported pictures, and how they begin."""
PICTURE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff"})
NEVER_DATA = frozenset(
    {
        *(".yaml", ".yml", ".toml", ".ini", ".cfg", ".py", ".sh", ".log", ".ipynb"),
        *(".svg", ".xml", ".html", ".md", ".pdf", ".js", ".css"),
    }
)
"""Extensions of files that are never judgements, runs or tables."""
_LINES_READ = 2  # how many lines identify a broken file
_FEWEST_WORDS = 3  # lines of fewer words may be anything, such as a page or a program
_QUERY_NAMES = re.compile(r"quer|topic|question", re.IGNORECASE)
_JUDGED_NAMES = re.compile(r"qrel|judg|gold|truth|relevan", re.IGNORECASE)
_RUN_NAMES = re.compile(r"run|result|ranking|top\d", re.IGNORECASE)
_TEXT_COLUMNS = {"text", "title", "body", "content", "contents", "passage", "question", "abstract"}
_TEXT_COLUMNS |= {"picture", "image", "url", "path", "description"}
_GRADES = {plain(name) for name in NAMES["grade"]}
_LABEL_COLUMNS = {"label", "class", "category", "target", "group", "digit"}


@dataclass(frozen=True)
class DataFile:
    """A file and its kind."""

    name: str  # its path inside the folder, or the name of an upload
    path: Path
    kind: str = "other"
    format: str = ""
    size: int = 0
    changed: int = 0  # the time of the last change in nanoseconds
    uploaded: bool = False
    note: str = ""  # the error message, if it cannot be used
    columns: tuple[str, ...] = ()  # the names of its columns, if it is a table
    queries: frozenset[str] = frozenset()  # ids of queries at its beginning, if it has results

    @property
    def identity(self) -> tuple[str, int, int]:
        """A key that changes with the file."""
        return str(self.path), self.size, self.changed

    @property
    def says(self) -> str:
        return KINDS[self.kind]


def scan_folder(folder: Path) -> tuple[list[DataFile], list[str], int]:
    """Return files of a folder, sentences on what was left out, and the number of pictures."""
    root = folder.resolve()
    files: list[DataFile] = []
    problems: list[str] = []
    pictures = 0
    for number, path in enumerate(_walk_folder(folder)):
        if len(files) == MAX_FILES or number == MAX_ENTRIES:
            problems.append(
                f"The folder has more than {max(len(files), number):,} files; the others are not "
                "looked at. Name the files that you mean."
            )
            break
        if path.suffix.lower() in PICTURE_SUFFIXES:
            pictures += 1
            continue
        try:
            inside = path.resolve().is_relative_to(root)
            state = path.stat()
        except OSError:
            continue
        name = printable(path.relative_to(folder).as_posix())
        if not inside:
            problems.append(f"{name} is a link out of the folder, and is not read.")
        elif os.path.isfile(path):
            files.append(DataFile(name, path, size=state.st_size, changed=state.st_mtime_ns))
    return files, problems, pictures


def _walk_folder(folder: Path, depth: int = 0) -> Iterator[Path]:
    """Yield files before those of subfolders; skip hidden ones and folders such as __pycache__."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    shown = [entry for entry in entries if not entry.name.startswith(".")]
    folders = [entry for entry in shown if entry.is_dir(follow_symlinks=False)]
    inside = {entry.name for entry in folders}
    for entry in shown:
        if entry.name not in inside:
            yield folder / entry.name
    if depth < MAX_FOLDER_DEPTH:
        for entry in folders:
            if entry.name.startswith("__"):
                continue
            yield from _walk_folder(folder / entry.name, depth + 1)


def of_annotator(file: DataFile) -> DataFile | None:
    """Return a file of the judging page with its kind, told by folder and name; else None."""
    if file.path.parent.name != FOLDER:
        return None
    if file.path.name.endswith(LOG_SUFFIX):
        return replace(file, kind="log", format="ndjson")
    log = file.path.name.removesuffix(QRELS_SUFFIX) + LOG_SUFFIX
    if file.path.suffix != QRELS_SUFFIX or not (file.path.parent / log).exists():
        return None
    return replace(file, kind="annotator")


def annotator_of(file: DataFile) -> str:
    return file.path.name.removesuffix(QRELS_SUFFIX)


def without_other_collections(
    files: Sequence[DataFile], folder: Path
) -> tuple[list[DataFile], list[str]]:
    """Leave out subfolders with their own judgements and runs, if the folder has judgements."""
    homes: dict[str, set[Path]] = {"judgements": set(), "run": set()}
    for file in files:
        homes.get(file.kind, set()).add(Path(file.name).parent)
    here = Path()
    if here not in homes["judgements"]:
        return list(files), []
    apart = sorted((homes["judgements"] & homes["run"]) - {here})
    kept = [file for file in files if not any(map(Path(file.name).is_relative_to, apart))]
    return kept, [
        f"{place.as_posix()} has judgements and runs of its own; judged serve {folder / place} "
        "opens them."
        for place in apart
    ]


def identify_file(file: DataFile) -> DataFile:
    """Return a file with its kind, by its content; its name decides only what that leaves open."""
    if file.path.suffix.lower() in NEVER_DATA:
        return file
    try:
        with file.path.open("rb") as handle:
            start = handle.read(HEAD_BYTES)
        if picture_of(start):
            return replace(file, kind="picture", format=picture_of(start) or "")
        if vectors := _identify_vectors(start, file):
            return vectors
        return _identify_table(file, start)
    except JudgedError as error:
        return replace(file, kind=_kind_by_suffix(file), note=str(error))
    except OSError as error:
        return replace(file, kind="other", note=f"{file.name}: cannot be read ({error.strerror}).")


def _kind_by_suffix(file: DataFile) -> str:
    """Return the kind that a suffix such as .run promises, so that pages name an unreadable run."""
    suffixes = file.path.suffixes
    return "run" if ".run" in suffixes else "judgements" if ".qrels" in suffixes else "other"


def picture_of(start: bytes) -> str | None:
    return next((name for name, begins in PICTURES.items() if begins.match(start)), None)


def _identify_vectors(start: bytes, file: DataFile) -> DataFile | None:
    """Recognise vectors by content, or by name if the format has no signature."""
    binary = {name: row for name, row in VECTOR_FORMATS.items() if not row.text}
    format = signed(start, {name: row for name, row in binary.items() if name != "parquet"})
    if format is None and is_safetensors(start):
        format = "safetensors"
    by_name = promised(file.path, VECTOR_FORMATS)
    if format is None and by_name in ("fvecs", "bvecs", "ivecs", "fbin", "u8bin", "i8bin"):
        format = by_name if b"\x00" in start[:8] else None
    if format is None:
        return None
    one = format == "npy" and re.search(rb"'shape': \((\d+,?)\)", start[:200])
    return replace(file, kind="labels" if one else "vectors", format=format)


def _identify_table(file: DataFile, start: bytes) -> DataFile:
    source = _read_beginning(file, start)
    format = format_of(source, None)
    if format.name == "json":
        return _identify_json(file, source)
    header = _header(source, format)
    columns = tuple(header)
    if format.name == "parquet" and _has_vectors(file.path):
        return replace(file, kind="vectors", format="parquet", columns=columns)
    file = replace(file, format=format.name, columns=columns, queries=_queries_in(source))
    if header and _holds_both(source, format):
        return replace(file, kind="rows")
    as_judgements, as_run = (_read_error(source, kind) for kind in (JUDGEMENTS, RUN))
    lower = {name.lower() for name in header}
    if as_judgements is None and as_run is None:
        return replace(file, kind="run" if _has_scores(source) else kind_by_name(file, "unclear"))
    if as_judgements is None:
        judged = bool({plain(name) for name in header} & _GRADES)
        return replace(file, kind=(not judged and _text_kind(file, lower)) or "judgements")
    if as_run is None:
        return replace(file, kind="run")
    if kind := _text_kind(file, lower) or ("labels" if _one_word_a_line(start) else None):
        return replace(file, kind=kind)
    kind = _kind_meant(file, source)
    return replace(file, kind=kind, note=str(as_judgements if kind == "judgements" else as_run))


def _kind_meant(file: DataFile, source: Source) -> str:
    """Guess the kind of an unreadable file, so that its error is shown."""
    lines = source.head().splitlines()[:_LINES_READ]
    if file.format == "trec" and any(len(line.split()) < _FEWEST_WORDS for line in lines):
        # A page or a program may well be called "results.html" or "run.py".
        return (
            "other" if file.path.suffix and not promised(file.path) else kind_by_name(file, "other")
        )
    beginning = replace(source, data=b"\n".join(lines) + b"\n")
    for kind, name in ((JUDGEMENTS, "judgements"), (RUN, "run")):
        if _read_error(beginning, kind) is None:
            return name
    return kind_by_name(file, "other")


def _one_word_a_line(start: bytes) -> bool:
    lines = start.decode("utf-8", "replace").splitlines()
    return len(lines) > 1 and all(len(line.split()) == 1 for line in lines)


def _read_beginning(file: DataFile, start: bytes) -> Source:
    """Return the first lines of a file as a source; formats without lines are read whole."""
    packed = compression(start)
    if packed is not None and can_stream(packed):
        try:
            start = next(unpacked([start], packed, str(file.path)))[:HEAD_BYTES]
        except (InputError, StopIteration):  # the reader says what is wrong with it
            return open_source(file.path, RUN)
    elif packed is not None or start.startswith(b"PAR1"):
        return open_source(file.path, RUN)
    whole = checked(Source(str(file.path), RUN, file.path, start, lasting=False))
    if file.size > len(start) or packed is not None:
        lines = start[: start.rfind(b"\n") + 1] or start
        whole = replace(whole, data=lines)
        if format_of(whole, None).name == "json" and file.size <= MAX_JSON_BYTES:
            return open_source(file.path, RUN)
    return whole


def _read_error(source: Source, kind: Kind) -> JudgedError | None:
    """Return why the beginning of a file cannot be read as a kind; None if it can."""
    try:
        table_in(replace(source, kind=kind))
    except JudgedError as error:
        return error
    return None


def _queries_in(source: Source) -> frozenset[str]:
    for kind in (JUDGEMENTS, RUN):
        with suppress(JudgedError):
            return frozenset(table_in(replace(source, kind=kind)).names())
    return frozenset()


def _has_scores(source: Source) -> bool:
    """Return whether numbers cannot be grades: fractions, or below −2."""
    scores = table_in(replace(source, kind=RUN)).frame["score"]
    return bool((scores != scores.round()).any()) or bool((scores < -2).any())


def _holds_both(source: Source, format: Format) -> bool:
    try:
        rows = rows_of_file(source, format, LISTS)
    except JudgedError:
        return False
    return rows is not None


def _header(source: Source, format: Format) -> Sequence[str]:
    if format.name == "parquet":
        import polars as pl

        from judged.inputs.polars_errors import reading_parquet

        with reading_parquet(source.label):
            return list(pl.read_parquet_schema(source.path))
    first = source.head().lstrip().partition(b"\n")[0].decode("utf-8", "replace").strip()
    if format.name in ("csv", "tsv"):
        import csv

        try:
            return next(csv.reader([first], delimiter="," if format.name == "csv" else "\t"), [])
        except csv.Error:  # a cell of more than 131,072 characters
            return []
    if format.name == "ndjson":
        try:
            row = json.loads(first)
        except (ValueError, RecursionError):
            return []
        return list(row) if isinstance(row, dict) else []
    return []


def _has_vectors(path: Path) -> bool:
    import polars as pl

    kinds = (pl.List(pl.Float32), pl.List(pl.Float64))
    schema = pl.read_parquet_schema(path).values()
    return any(kind in kinds or isinstance(kind, pl.Array) for kind in schema)


def _text_kind(file: DataFile, columns: set[str]) -> str | None:
    about_queries = bool(_QUERY_NAMES.search(Path(file.name).name))
    if columns & _TEXT_COLUMNS:
        return "queries" if about_queries else "texts"
    if len(columns) == 2 and columns & _LABEL_COLUMNS:
        return "labels"
    if any(_QUERY_NAMES.search(name) for name in columns) and len(columns) > 1:
        return "attributes"
    return None


def kind_by_name(file: DataFile, otherwise: str) -> str:
    name = Path(file.name).name
    judged, run = bool(_JUDGED_NAMES.search(name)), bool(_RUN_NAMES.search(name))
    judged |= file.path.suffix in (".qrels", ".qrel")
    if judged == run:
        return otherwise
    return "judgements" if judged else "run"


def _identify_json(file: DataFile, source: Source) -> DataFile:
    file = replace(file, format="json", queries=_queries_in(source))
    try:
        document = json.loads(source.read())
    except (ValueError, RecursionError):
        if source.data is not None and file.size > len(source.data):
            return replace(file, kind=kind_by_name(file, "unclear"))
        raise InputError(f"{file.path}: cannot be read as JSON.") from None
    if isinstance(document, dict):
        if {"what", "$schema"} & {
            name for name, value in document.items() if isinstance(value, str)
        }:
            # A result of another command, or a chart.
            return file
        values = _numbers_in(document)
        if values and all(isinstance(value, float) for value in values[:50]):
            whole = all(value == int(value) for value in values[:50])
            kind = "unclear" if whole else "run"
            return replace(file, kind=kind_by_name(file, kind) if whole else kind)
    as_judgements, as_run = (_read_error(source, kind) for kind in (JUDGEMENTS, RUN))
    if as_judgements is None and as_run is None:
        both = _holds_both(source, FORMATS["json"])
        return replace(file, kind="rows" if both else kind_by_name(file, "unclear"))
    if as_judgements is not None and as_run is not None:
        return replace(file, note=str(as_run))
    return replace(file, kind="run" if as_run is None else "judgements")


def _numbers_in(document: dict[str, Any]) -> list[Any]:
    """Return the numbers of {query: {item: number}}, of the first queries."""
    lists = [value for value in list(document.values())[:50] if isinstance(value, dict)]
    values = [value for items in lists for value in items.values()]
    numbers = [value for value in values if isinstance(value, (int, float))]
    return numbers if len(numbers) == len(values) else []
