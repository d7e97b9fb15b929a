"""What a queue may be ordered by, and what it may be written as."""

from __future__ import annotations

from judged.results import Result

BY = {
    "effect": "by how much the query's difference between the runs (the largest over pairs; the "
    "value of the only run) would change if the item alone had the top grade",
    "depth": "by the best rank of the item in any run, queries in turn",
}
"""What a queue may be ordered by, and what that means."""
SAVED_AS = {".csv": "to_csv", ".tsv": "to_tsv", ".ndjson": "to_ndjson"}
"""The endings of the annotators' file besides .parquet, and the method that makes each."""
PRINTED_AS = {**Result.SAVED_AS, **SAVED_AS}
"""The same of all that can be printed: what is no annotators' file is for whoever organises."""
