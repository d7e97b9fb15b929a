"""Which ids a format of runs or judgements cannot hold: what is written has to be read back with
the same ids."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from judged.errors import InputError, OutputError
from judged.inputs.compression import compression
from judged.inputs.formats import detect_format
from judged.inputs.source import Source, checked
from judged.inputs.tables import JUDGEMENTS, RUN

TREC = "a TREC run"
QRELS = "a TREC file of judgements"
_EMPTY = (r"^$", "is empty")
_NUL = (r"\x00", "has a NUL in it")
_CANNOT_HOLD = {
    **dict.fromkeys((TREC, QRELS), (_EMPTY, (r"[\s\x1c-\x1f]", "has white space in it"), _NUL)),
    "CSV": (_EMPTY, _NUL),
    "Parquet": (_EMPTY,),
    "JSON": (_EMPTY,),
}
"""Patterns of ids by format."""
_FIRST = (r"^[#\x{feff}]", "begins like a comment or with a byte order mark")
"""What cannot begin a line of a TREC file."""


def refuse_ids(frame: pl.DataFrame, format: str, target: Path, tag: str | None = None) -> None:
    """Refuse to write a run or judgements with an id that `format` would not give back.

    A `tag` is that of a TREC run, which shows only by its first line what it is.
    """
    known = ("query", "item", "subtopic")
    said = {name: frame[name] for name in known if name in frame.columns}
    if tag is not None:
        said["tag"] = pl.Series([tag])
    for name, ids in said.items():
        first = (_FIRST,) if format in (TREC, QRELS) and name == "query" else ()
        for pattern, why in (*_CANNOT_HOLD.get(format, ()), *first):
            wrong = ids.str.contains(pattern).arg_true()
            if len(wrong):
                raise _refused(target, name, ids[wrong[0]], why, format)
    if format in (TREC, QRELS) and frame.height and not _shows(frame, format, tag):
        why = "makes its first line look like another format"
        raise _refused(target, "query", frame["query"][0], why, format)


def _shows(frame: pl.DataFrame, format: str, tag: str | None) -> bool:
    """Whether the first line of a TREC file is known for what it is."""
    query, item = frame.row(0)[:2]
    kind = RUN if format == TREC else JUDGEMENTS
    rest = f"Q0 {item} 1 1.0 {tag}" if format == TREC else f"0 {item} 1"
    line = f"{query} {rest}\n".encode()
    try:
        known = detect_format(checked(Source("", kind, Path("a"), line, False))).name == "trec"
    except InputError:
        return False
    return known and compression(line) is None


def _refused(target: Path, name: str, given: str, why: str, format: str) -> OutputError:
    what = name if name == "tag" else f"{name} id"
    remedy = "write .json, or change it" if given else "change it"
    return OutputError(
        f"{target}: the {what} {given!r} {why}, which {format} cannot hold; {remedy}."
    )
