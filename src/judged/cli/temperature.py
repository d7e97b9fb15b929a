"""`judged temperature`: vectors of queries and items in, what every temperature makes of their
scores out."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._embedding_options import (
    memory_option,
    positives_option,
    read_sides,
    sides,
    similarity_option,
    vector_options,
)
from judged.cli._files import command
from judged.cli._options import check_format, rel_option, result_options
from judged.options import SWEPT_TEMPERATURES

NAMES = ("query", "batch_size", "positives", "rel", "hardest", "bins", "seed")
"""Options that are handed on as they are."""


@command(short_help="Say what a temperature does to loss and confidence.")
@sides
@click.option(
    "-t",
    "--temperature",
    "temperatures",
    type=float,
    multiple=True,
    metavar="T",
    help=f"A temperature; may be given more than once. {len(SWEPT_TEMPERATURES)} from "
    f"{SWEPT_TEMPERATURES[0]:g} to {SWEPT_TEMPERATURES[-1]:g} if none is given.",
)
@click.option(
    "--query",
    metavar="ID",
    help="One query alone: its own loss, and the probabilities of its own first items.",
)
@click.option(
    "--batch-size",
    type=int,
    metavar="N",
    help="In-batch softmax: candidates are the items of batches of N queries drawn at random, one "
    "positive each. Without it candidates are all items.",
)
@click.option(
    "--both",
    is_flag=True,
    help="Also the items' softmax over queries; the loss is then the mean of both.",
)
@positives_option
@rel_option
@click.option(
    "--hardest",
    type=int,
    default=10,
    show_default=True,
    metavar="N",
    help="How many negatives of a query are its hardest.",
)
@click.option(
    "--bins",
    type=int,
    default=15,
    show_default=True,
    metavar="N",
    help="Bins of confidence for the calibration.",
)
@click.option(
    "--no-search", is_flag=True, help="Do not search for the best temperatures between those given."
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    metavar="N",
    help="For the batches that are drawn.",
)
@similarity_option
@vector_options
@memory_option
@result_options(chart="temperature")
def temperature(
    queries: str,
    items: str,
    temperatures: tuple[float, ...],
    both: bool,
    no_search: bool,
    form: str | None,
    output: str | None,
    **given: Any,
) -> None:
    """Say what a temperature does to the scores of QUERIES with ITEMS, two files of vectors.

    For each temperature: the contrastive loss (InfoNCE), the confidence, entropy and accuracy of
    the softmax, its calibration error, the share of the gradient on the hardest negatives and the
    effective number of negatives; then the temperatures of the lowest loss and of the best
    calibration. No temperature changes a ranking, and the output shows it. Files and relevance are
    as for 'judged embeddings'.
    """
    from judged.cli._terminal import counting, deliver
    from judged.learning.temperature import sweep
    from judged.learning.temperature.sweeps import steps

    check_format(form, output)
    embeddings, relevance = read_sides(queries, items, given)
    chosen, search = temperatures or SWEPT_TEMPERATURES, not no_search
    searches = len(embeddings.queries) if given["query"] is None else 1
    total = searches * steps(chosen, both=both, search=search)
    with counting("Sweeping", total, "queries × temperatures") as progress:
        found = sweep(
            embeddings,
            relevance,
            chosen,
            both=both,
            search=search,
            progress=progress,
            **{name: given[name] for name in NAMES},
        )
    deliver(found, form, output)
