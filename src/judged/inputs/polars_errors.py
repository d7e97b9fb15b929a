"""Errors of polars, and the reports of panics that it prints."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock
from typing import IO

import polars as pl

from judged.errors import InputError
from judged.outputs import has_separate_standard_error

POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, RuntimeError)


@contextmanager
def refusing(what: str, advice: str = "") -> Iterator[None]:
    """Raise errors of polars as an `InputError`: what cannot be done, the reason, and advice."""
    try:
        with hidden_panics():
            yield
    except POLARS_ERRORS as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise InputError(f"{what} ({reason}){advice}.") from None


def reading_parquet(label: str) -> AbstractContextManager[None]:
    return refusing(
        f"{label}: not a Parquet file that can be read", "; write or fetch the file again"
    )


class _Held:
    lock = Lock()
    readers = 0
    failed = False
    descriptor: int | None = None
    """Where standard error led before."""
    text: IO[bytes]


@contextmanager
def hidden_panics() -> Iterator[None]:
    """Keep reports of panics off standard error, and print anything else afterwards.

    The threads of polars print such reports on damaged files. After an error, standard error stays
    held back, because a thread may print its report later. The command line, for which this is,
    prints its messages elsewhere.
    """
    if not has_separate_standard_error():
        yield
        return
    with _Held.lock:
        _Held.readers += 1
        if _Held.descriptor is None:
            _Held.text = tempfile.TemporaryFile()  # noqa: SIM115
            _Held.descriptor = os.dup(2)
            os.dup2(_Held.text.fileno(), 2)
    try:
        yield
    except POLARS_ERRORS:
        _Held.failed = True
        raise
    finally:
        with _Held.lock:
            _Held.readers -= 1
            if not _Held.readers and not _Held.failed:
                _show_held()


def _show_held() -> None:
    if _Held.descriptor is None:
        return
    os.dup2(_Held.descriptor, 2)
    os.close(_Held.descriptor)
    _Held.descriptor = None
    with _Held.text as file:
        file.seek(0)
        if b"panicked at" not in (text := file.read()):
            os.write(2, text)
