"""`judged check`: check a test collection for errors."""

from __future__ import annotations

from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._files import READS, command
from judged.cli._vectors import memory_option
from judged.judgements import FINDING_KINDS, NEAR, NEAR_VECTORS


@command(example="judged check qrels.txt bm25.run --queries queries.tsv --items passages.tsv")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@opt.file("--queries", "Read the texts or vectors of queries.")
@opt.file("--items", "Read the texts or vectors of all items.")
@opt.file("--query-vectors", "Read vectors of the queries, beside their texts.")
@opt.file("--item-vectors", "Read vectors of the items, beside their texts.")
@opt.file("--query-ids", "Read ids of the queries' vectors, one per line.")
@opt.file("--item-ids", "Read ids of the items' vectors, one per line.")
@opt.file("--training", "Read training data: judgements, or a table of queries and texts.")
@opt.number(
    "--near",
    float,
    "SHARE",
    "Call texts near duplicates that share this much of their words.",
    NEAR,
)
@opt.number(
    "--near-vectors",
    float,
    "COSINE",
    "Call vectors near duplicates from this cosine on.",
    NEAR_VECTORS,
)
@opt.number("--rel", float, "GRADE", "Count grades from this one as relevant, by default above 0.")
@click.option(
    "--ignore",
    multiple=True,
    type=click.Choice(list(FINDING_KINDS)),
    metavar="FINDING",
    help="Skip a check; may be given more than once. "
    + "; ".join(f"{name}: {meaning}" for name, meaning in FINDING_KINDS.items())
    + ".",
)
@opt.flag("--strict", "Exit with code 1 if a problem is found.")
@opt.measures_option
@opt.convention_option
@opt.policy_options
@opt.weights_option
@opt.depth_option
@opt.collection_option
@memory_option
@opt.data_options
@opt.result_options()
def check(
    judgements: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    query_ids: str | None,
    item_ids: str | None,
    strict: bool,
    form: str | None,
    output: str | None,
    **options: Any,
) -> int:
    """Check judgements, queries and items for errors, and how much each changes the RUNs' values.

    The measure is nDCG@10 unless -m names others. judged skips checks that need missing files, and
    lists them. The exit code is 0, or 1 with --strict if a problem is found.
    """
    from judged.cli import DONE, NO
    from judged.cli._terminal import deliver, working
    from judged.judgements.check import check as check_collection

    opt.check_format(form, output)
    _give_ids(options, "queries", "query_vectors", query_ids)
    _give_ids(options, "items", "item_vectors", item_ids)
    with working("Checking the collection"):
        result = opt.call_scoring(
            check_collection,
            judgements,
            runs or None,
            measures or None,
            **options,
        )
    deliver(result, form, output)
    return NO if strict and not result.sound else DONE


def _give_ids(options: dict[str, Any], texts: str, vectors: str, ids: str | None) -> None:
    """Read the vectors of queries or items with the ids of another file."""
    if ids is None:
        return
    from judged.errors import InputError
    from judged.inputs.vectors import as_vectors
    from judged.inputs.vectors.labels import labels_from

    name = texts if options[vectors] is None else vectors
    if options[name] is None:
        raise InputError(f"there are ids of {texts}, but no vectors; give --{texts} FILE.")
    options[name] = as_vectors(options[name], ids=labels_from(ids))
