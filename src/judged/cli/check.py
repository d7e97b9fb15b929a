"""`judged check`: is the collection itself sound?"""

from __future__ import annotations

from typing import Any

import click

from judged.cli._embedding_options import memory_option
from judged.cli._files import READS, command
from judged.cli._options import (
    check_format,
    collection_option,
    convention_option,
    data_options,
    default_of,
    depth_option,
    measures_option,
    policy_options,
    result_options,
    weights_option,
)
from judged.judgements.check import KINDS
from judged.judgements.check import check as check_collection


@command(short_help="Look for faults of the collection itself.")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@click.option(
    "--queries",
    metavar="FILE",
    type=READS,
    help="A table of queries with their texts, or vectors of them.",
)
@click.option(
    "--items",
    metavar="FILE",
    type=READS,
    help="A table of all items with their texts, or vectors of them.",
)
@click.option(
    "--query-vectors", metavar="FILE", type=READS, help="Vectors of the queries, beside texts."
)
@click.option(
    "--item-vectors", metavar="FILE", type=READS, help="Vectors of the items, beside texts."
)
@click.option(
    "--query-ids",
    metavar="FILE",
    type=READS,
    help="Ids of the queries' vectors, one per line, where their file has none.",
)
@click.option(
    "--item-ids",
    metavar="FILE",
    type=READS,
    help="Ids of the items' vectors, one per line, where their file has none.",
)
@click.option(
    "--training",
    metavar="FILE",
    type=READS,
    help="What something was trained on: judgements, or a table of queries with their texts.",
)
@click.option(
    "--near",
    type=float,
    default=default_of(check_collection, "near"),
    show_default=True,
    metavar="SHARE",
    help="Texts are nearly the same with this share of their words in common.",
)
@click.option(
    "--near-vectors",
    type=float,
    default=default_of(check_collection, "near_vectors"),
    show_default=True,
    metavar="COSINE",
    help="Vectors are nearly the same with this cosine.",
)
@click.option(
    "--rel",
    type=float,
    metavar="GRADE",
    help="The lowest grade that is relevant; by default any above 0.",
)
@click.option(
    "--ignore",
    multiple=True,
    type=click.Choice(list(KINDS)),
    metavar="FINDING",
    help="A finding that is not looked for; may be given more than once. "
    + "; ".join(f"{name}: {words}" for name, words in KINDS.items())
    + ".",
)
@click.option("--strict", is_flag=True, help="Exit with code 1 if anything is found.")
@measures_option
@convention_option
@policy_options
@weights_option
@depth_option
@collection_option
@memory_option
@data_options
@result_options()
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
    """Look for what is wrong with a collection: with the judgements in QRELS, with queries and
    items; and say what each finding does to the numbers of the RUNs, evaluated with and without.

    The numbers are nDCG@10, or what -m says. What is not given is not looked at, and that is said.
    The exit code is 0, or 1 with --strict if anything is found.
    """
    from judged.cli import DONE, NO
    from judged.cli._terminal import deliver, working

    check_format(form, output)
    _give_ids(options, "queries", "query_vectors", query_ids)
    _give_ids(options, "items", "item_vectors", item_ids)
    with working("Looking at the collection"):
        found = check_collection(
            judgements,
            runs or None,
            measures or None,
            **options,
        )
    deliver(found, form, output)
    return NO if strict and not found.sound else DONE


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
