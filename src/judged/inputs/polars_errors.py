"""Errors of polars, raised as errors of inputs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import polars as pl

from judged.errors import InputError

POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, RuntimeError)


@contextmanager
def refusing(what: str, advice: str = "") -> Iterator[None]:
    """Raise errors of polars as an `InputError`: what cannot be done, the reason, and advice."""
    try:
        yield
    except POLARS_ERRORS as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise InputError(f"{what} ({reason}){advice}.") from None


def reading_parquet(label: str) -> AbstractContextManager[None]:
    return refusing(
        f"{label}: not a Parquet file that can be read", "; write or fetch the file again"
    )
