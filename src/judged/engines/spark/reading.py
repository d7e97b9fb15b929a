"""Read files and catalog tables with Spark, for the command line."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judged.engines.spark.session import spark_errors
from judged.engines.spark.tables import SparkTable, as_table
from judged.errors import EngineError, InputError
from judged.inputs import read_judgements
from judged.inputs.columns import as_columns
from judged.inputs.formats import detect_format, distinct_names, promised
from judged.inputs.source import Source, checked
from judged.inputs.tables import JUDGEMENTS, RUN, Judgements, Kind, Lookup
from judged.text import Warned

if TYPE_CHECKING:
    from judged.inputs.columns import NamedColumns
    from judged.options import ColumnsLike, FileFormat

CATALOG_PREFIX = "table:"  # the prefix of the name of a catalog table
_FORMATS = ("parquet", "csv", "tsv", "trec")
_HEAD_LINES = 1000  # the number of lines by which the format of a text is recognised


def opened(
    spark: Any,
    judgements: str,
    runs: Sequence[str],
    *,
    columns: ColumnsLike | None = None,
    judgements_format: FileFormat | None = None,
    run_format: FileFormat | None = None,
) -> tuple[Judgements | Lookup | SparkTable, dict[str, SparkTable]]:
    """Open judgements and runs by name; judgements in a local file are read here."""
    if not runs:
        raise InputError("Spark needs judgements and a run: give QRELS and at least one RUN.")
    named = as_columns(columns, alone=False)
    named_places = [_named(run) for run in runs]
    names = distinct_names([(name, _plain(where)) for name, where in named_places])
    judged: Any
    with spark_errors():
        if os.path.isfile(judgements):
            judged = read_judgements(judgements, columns=named, format=judgements_format)
        else:
            judged = open_table(spark, judgements, JUDGEMENTS, named, judgements_format)
        tables = {
            name: replace(open_table(spark, where, RUN, named, run_format), name=name)
            for name, (_, where) in zip(names, named_places, strict=True)
        }
    return judged, tables


def _named(written: str) -> tuple[str | None, str]:
    """Split NAME=PLACE; a folder of partitions may have such a name too."""
    parts = re.fullmatch(r"([^/:=]+)=(.+)", written)
    if parts is None or os.path.lexists(written):
        return None, written
    return parts.group(1).strip(), parts.group(2)


def _plain(where: str) -> str:
    if where.startswith(CATALOG_PREFIX):
        return where.rpartition(".")[2].removeprefix(CATALOG_PREFIX)
    return where.rstrip("/")


def open_table(
    spark: Any, where: str, kind: Kind, named: NamedColumns, format: str | None
) -> SparkTable:
    if where == "-":
        raise InputError("Spark cannot read standard input; give a path or table:NAME.")
    if where.startswith(CATALOG_PREFIX):
        return as_table(spark.table(where.removeprefix(CATALOG_PREFIX)), kind, named, source=where)
    head = None if format == "parquet" else _head(spark, where, kind, named)
    file_format = format or _format(head, where)
    if file_format not in _FORMATS:
        raise InputError(
            f"{where}: Spark reads Parquet, Delta, CSV, TSV and TREC text here, not {file_format}. "
            "Leave out Spark, or write the file as Parquet."
        )
    if file_format == "trec":
        assert head is not None
        return _trec(spark, where, kind, head)
    if file_format == "parquet":
        return as_table(_parquet(spark, where), kind, named, source=where)
    separator = "," if file_format == "csv" else "\t"
    # The files of a folder must have the same columns in the same order.
    rules = {"escape": '"', "mode": "FAILFAST", "enforceSchema": False}
    frame = spark.read.csv(where, header=True, sep=separator, **rules)
    return as_table(frame, kind, named, source=where, all_texts=True)


def _head(spark: Any, where: str, kind: Kind, named: NamedColumns) -> Source | None:
    """Return the first lines of a text; None for a Parquet file."""
    if promised(Path(where)) == "parquet":
        return None
    rows = spark.read.text(where).selectExpr("cast(value as binary) line").limit(_HEAD_LINES)
    data = b"".join(bytes(row["line"]) + b"\n" for row in rows.collect())
    if data.startswith(b"PAR1"):
        return None
    if not data.strip():
        raise InputError(f"{where}: the file is empty.")
    return checked(Source(where, kind, Path(where), data, False, named))


def _format(head: Source | None, where: str) -> str:
    return "parquet" if head is None else detect_format(head).name


def _parquet(spark: Any, where: str) -> Any:
    """Open a Parquet file, a folder of them, or a Delta table."""
    if _has_log(spark, where, ".hoodie"):
        raise EngineError(
            f"{where} is a Hudi table, whose files include replaced rows. Register it as a table "
            "and give table:NAME, or write it as plain Parquet."
        )
    if not _has_log(spark, where, "_delta_log"):
        # Ids in the names of folders are texts: 001 is not 1.
        spark.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
        return spark.read.parquet(where)
    try:
        return spark.read.format("delta").load(where)
    except Exception as error:
        if "DATA_SOURCE_NOT_FOUND" not in str(error):
            raise
        raise EngineError(
            f"{where} is a Delta table, and this Spark has no package for it: set "
            "spark.jars.packages to io.delta:delta-spark_2.13:VERSION."
        ) from None


def _has_log(spark: Any, where: str, log: str) -> bool:
    """Return whether a folder has the log of a table format, which lists the valid files."""
    try:
        spark.read.text(f"{where.rstrip('/')}/{log}").limit(1).collect()
    except Exception as error:
        if "PATH_NOT_FOUND" in str(error) or "Path does not exist" in str(error):
            return False
        raise
    return True


def _trec(spark: Any, where: str, kind: Kind, head: Source) -> SparkTable:
    """Open TREC text as queries and lines, which the workers read."""
    from pyspark.sql import functions as F  # noqa: N812

    from judged.inputs.trec import read_lines

    notes = tuple(note for note in read_lines(head, "trec").notes if isinstance(note, Warned))
    line = F.regexp_replace(F.col("value"), "^\ufeff", "")
    query = F.regexp_extract(line, r"^[ \t]*([^ \t\r]*)", 1)
    # Bytes that are not UTF-8 are replaced, because Arrow cannot hold them in a text.
    query = F.encode(query, "UTF-8").cast("string")
    frame = spark.read.text(where).select(
        query.alias("query"), F.col("value").cast("binary").alias("line")
    )
    return SparkTable(
        frame.where((F.col("query") != "") & ~F.col("query").startswith("#")),
        kind,
        where,
        notes=notes,
    )
