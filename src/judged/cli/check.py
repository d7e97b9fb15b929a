"""`judged check`: check a test collection for errors."""

from __future__ import annotations

from typing import Any

from judged.cli import _options as opt
from judged.cli._command import command
from judged.judgements import FINDING_KINDS


@command(example="judged check qrels.txt bm25.run --queries queries.tsv --items passages.tsv")
@opt.data_arguments
@opt.file("--queries", "Read the texts or vectors of queries.", common=True)
@opt.file("--items", "Read the texts or vectors of all items.", common=True)
@opt.file(
    "--training", "Read training data: judgements, or a table of queries and texts.", common=True
)
@opt.choice(
    "--ignore",
    FINDING_KINDS,
    "Skip a check; may be given more than once.",
    multiple=True,
    metavar="FINDING",
)
@opt.flag("--strict", "Exit with code 1 if a problem is found.", common=True)
@opt.measures_option
@opt.columns_option
@opt.result_options(verbose=True)
def check(judgements: str, runs: tuple[str, ...], strict: bool, **options: Any) -> Any:
    """Check judgements, queries and items for errors, and how much each changes the RUNs' values.

    The measure is nDCG@10 unless -m names others. judged skips checks that need missing files, and
    lists them. The exit code is 0, or 1 with --strict if a problem is found.
    """
    from judged.cli import DONE, NO
    from judged.cli._terminal import working
    from judged.judgements.check import check as check_collection

    with working("Checking the collection"):
        result = opt.call_scoring(check_collection, judgements, runs or None, **options)
    return result, NO if strict and not result.sound else DONE
