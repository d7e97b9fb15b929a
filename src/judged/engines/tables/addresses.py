"""Tables by address, URL#TABLE, as duckdb://runs.duckdb#bm25: whatever ibis connects to."""

from __future__ import annotations

import re
from os.path import isfile
from typing import Any

from judged.errors import EngineError, InputError, MissingExtraError

_ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<place>[^#]*)(#(?P<table>.+))?", re.I)
_SECRET = re.compile(r"//[^@/]*@")
_IN_FILES = ("duckdb", "sqlite")
"""Databases that would make a new file where there is none."""


def is_address(text: str) -> bool:
    """Whether this is the address of a table in a database.

    >>> is_address("duckdb://runs.duckdb#bm25"), is_address("runs/bm25.parquet")
    (True, False)
    """
    return _ADDRESS.fullmatch(text) is not None


def opened(address: str) -> Any:
    """The table at an address, as ibis has it."""
    found = _ADDRESS.fullmatch(address)
    if found is None or found["table"] is None:
        raise InputError(
            f"{address}: with engine tables a run is a table of a database, URL#TABLE, as "
            "duckdb://runs.duckdb#bm25; a file is read without an engine."
        )
    scheme, place, table = found["scheme"].lower(), found["place"], found["table"]
    path = place.partition("?")[0]
    if scheme in _IN_FILES and not isfile(path):
        raise InputError(f"{path}: no such file.")
    reads = "&read_only=True" if "?" in place else "?read_only=True"
    connection = _connected(f"{scheme}://{place}{reads if scheme == 'duckdb' else ''}")
    *within, name = table.split(".")
    try:
        return connection.table(name, database=tuple(within) or None)
    except Exception as error:  # whatever the database's own library raises
        raise InputError(
            f"{scheme}://{path}: there is no table {table!r} ({_first_line(error)})."
        ) from error


def _connected(url: str) -> Any:
    where = _SECRET.sub("//", url.partition("?")[0])
    try:
        import ibis
    except ImportError:
        raise MissingExtraError(
            f"{where}: needs ibis, with the database's own part: pip install "
            '"ibis-framework[duckdb]".'
        ) from None
    try:
        return ibis.connect(url)
    except Exception as error:
        raise EngineError(f"{where}: cannot be reached ({_first_line(error)}).") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
