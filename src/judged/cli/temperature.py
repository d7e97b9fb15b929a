"""`judged temperature`: what a softmax temperature does to scores of queries and items."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._files import command
from judged.cli._options import (
    check_format,
    flag,
    number,
    positives_option,
    rel_option,
    result_options,
    text,
)
from judged.cli._vectors import memory_option, read_sides, sides, similarity_option, vector_options
from judged.options import SWEPT_TEMPERATURES

NAMES = ("query", "batch_size", "positives", "rel", "hardest", "bins", "seed")
"""Options that are passed on unchanged."""


@command(example="judged temperature queries.npy items.npy --pairs")
@sides
@click.option(
    "-t",
    "--temperature",
    "temperatures",
    type=float,
    multiple=True,
    metavar="T",
    help=f"Try this temperature; by default {len(SWEPT_TEMPERATURES)} from "
    f"{SWEPT_TEMPERATURES[0]:g} to {SWEPT_TEMPERATURES[-1]:g}.",
)
@text("--query", "ID", "Look at one query alone.")
@number("--batch-size", int, "N", "Draw candidates from batches of N queries, not all items.")
@flag("--both", "Average with the loss of items among queries.")
@positives_option
@rel_option
@number("--hardest", int, "N", "Count N negatives of a query as its hardest.", 10)
@number("--bins", int, "N", "Use N bins of confidence for calibration.", 15)
@flag("--no-search", "Do not search for the best temperatures between those given.")
@number("--seed", int, "N", "Seed the random numbers.", 0)
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
    **options: Any,
) -> None:
    """Show what a temperature does to the scores of QUERIES with ITEMS, two files of vectors.

    For each temperature: the contrastive loss (InfoNCE), the confidence, entropy and accuracy of
    the softmax, its calibration error, the gradient on the hardest negatives and the effective
    number of negatives; then the temperatures with the lowest loss and the best calibration. No
    temperature changes a ranking. Files and relevance are as for 'judged embeddings'.
    """
    from judged.cli._terminal import counting, deliver
    from judged.learning.temperature import sweep
    from judged.learning.temperature.sweeps import steps

    check_format(form, output)
    embeddings, relevance = read_sides(queries, items, options)
    tried, search = temperatures or SWEPT_TEMPERATURES, not no_search
    searches = len(embeddings.queries) if options["query"] is None else 1
    total = searches * steps(tried, both=both, search=search)
    with counting("Sweeping", total, "queries × temperatures") as progress:
        result = sweep(
            embeddings,
            relevance,
            tried,
            both=both,
            search=search,
            progress=progress,
            **{name: options[name] for name in NAMES},
        )
    deliver(result, form, output)
