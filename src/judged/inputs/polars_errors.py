"""What polars raises where it cannot read something; apart, as most that opens files needs no
polars."""

from __future__ import annotations

import polars as pl

POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, RuntimeError)
