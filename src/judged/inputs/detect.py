"""The format of a source, by its first lines; the name of the file settles only what they leave
open."""

from __future__ import annotations

import csv
import json
import re

from judged.inputs.columns import is_header
from judged.inputs.formats import format_of_name
from judged.inputs.kinds import JUDGEMENTS, RUN, Kind
from judged.inputs.numeric import is_number
from judged.inputs.source import Source
from judged.inputs.trec import looks_like, split
from judged.inputs.whitespace import COMMENT

_JSON = re.compile(rb"\s*(\{\s*[\"}]|\[\s*[\[{\]])")


def detect_format(source: Source) -> str:
    head = source.head()
    promised = format_of_name(source.path)
    if head.startswith(b"PAR1") or promised == "parquet":
        return "parquet"
    if promised == "ndjson":
        return promised
    if promised == "json" or _JSON.match(head):
        return _json_or_ndjson(head)
    lines = (line.strip(b" \r") for line in head.splitlines())
    first = next((line for line in lines if line.strip() and not line.startswith(COMMENT)), b"")
    return _text_format(first, source.kind)


def _json_or_ndjson(head: bytes) -> str:
    """NDJSON has a whole object in its first line, and another below it or plain values in it."""
    first, _, rest = head.strip().partition(b"\n")
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return "json"
    is_row = isinstance(value, dict) and not all(
        isinstance(part, dict | list) for part in value.values()
    )
    return "ndjson" if is_row or rest.strip() else "json"


def _text_format(line: bytes, kind: Kind) -> str:
    separator, delimited = ("\t", "tsv") if b"\t" in line else (",", "csv")
    cells = next(csv.reader([line.decode("utf-8", "replace")], delimiter=separator), [])
    if is_header(cells):
        return delimited
    fields = split(line)
    if looks_like(RUN, fields) or looks_like(JUDGEMENTS, fields):
        return "trec"
    if kind is RUN and len(fields) == 3 and is_number(fields[2].decode("utf-8", "replace")):
        return "msmarco"
    if len(cells) == 1 or len(fields) > len(cells):
        return "trec"
    # Unknown column names, or rows with no header: the reader of these formats has the better
    # message for both.
    return (
        delimited
        if len(fields) == 1 or not any(is_number(cell.strip()) for cell in cells)
        else "trec"
    )
