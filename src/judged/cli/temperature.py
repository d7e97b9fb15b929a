"""`judged temperature`: what a softmax temperature does to scores, or to training."""

from __future__ import annotations

from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._files import command
from judged.cli._vectors import memory_option, read_sides, sides, similarity_option, vector_options
from judged.options import STUDIED_TEMPERATURES, SWEPT_TEMPERATURES
from judged.text import listed

OF_SCORES = ("query", "batch_size", "no_search", "similarity")
"""Options that have no meaning with --train."""
OF_BOTH = ("positives", "rel", "seed", "both")


@command(example="judged temperature queries.npy items.npy --pairs")
@sides
@click.option(
    "-t",
    "--temperature",
    "temperatures",
    type=float,
    multiple=True,
    metavar="T",
    help="Try this temperature; may be given more than once. Without it, "
    f"{len(SWEPT_TEMPERATURES)} from {SWEPT_TEMPERATURES[0]:g} to {SWEPT_TEMPERATURES[-1]:g}; with "
    f"--train {listed([f'{each:g}' for each in STUDIED_TEMPERATURES])}.",
)
@opt.text("--query", "ID", "Look at one query alone.")
@opt.number("--batch-size", int, "N", "Draw candidates from batches of N queries, not all items.")
@opt.flag("--no-search", "Do not search for the best temperatures between those given.")
@similarity_option
@opt.flag("--train", "Learn a similarity at each temperature and compare held-out queries.")
@opt.text(
    "--report",
    "MEASURE",
    "Report this measure of held-out queries (with --train); by default AP, nDCG@10 and RR.",
    multiple=True,
)
@opt.training_options("two-tower-linear")
@vector_options
@memory_option
@opt.result_options(chart="temperature")
def temperature(
    queries: str,
    items: str,
    temperatures: tuple[float, ...],
    train: bool,
    report: tuple[str, ...],
    form: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """Show what a temperature does to the scores of QUERIES with ITEMS, two files of vectors.

    For each temperature: the contrastive loss (InfoNCE), the confidence, entropy and accuracy of
    the softmax, its calibration error, the gradient on the hardest negatives and the effective
    number of negatives; then the temperatures with the lowest loss and the best calibration. No
    temperature changes a ranking. Files and relevance are as for 'judged embeddings'.

    With --train the same similarity is learned at each temperature, with the options of 'judged
    learn', and evaluated on the same held-out queries: loss, confidence, calibration, alignment,
    uniformity, iterations, and measures with 95 % confidence intervals, beside the cosine of the
    vectors. 'judged plot temperature-study' draws its JSON.
    """
    from judged.cli._terminal import counting, deliver
    from judged.learning._sweep import steps
    from judged.learning.temperature import sweep

    opt.check_format(form, output)
    if train:
        opt.refuse(OF_SCORES, "is not for --train")
    else:
        opt.refuse(
            (*(name for name in opt.TRAINING if name not in OF_BOTH), "report"), "is for --train"
        )
    embeddings, relevance = read_sides(queries, items, options)
    if train:
        tried = temperatures or STUDIED_TEMPERATURES
        training = {name: options[name] for name in opt.TRAINING}
        measures: dict[str, Any] = {"measures": report} if report else {}
        total = len(set(tried)) * options["iterations"]
        with counting("Learning", total, "iterations") as progress:
            result: Any = sweep(
                embeddings, relevance, tried, train={**measures, **training}, progress=progress
            )
    else:
        tried, search = temperatures or SWEPT_TEMPERATURES, not options.pop("no_search")
        searches = len(embeddings.queries) if options["query"] is None else 1
        total = searches * steps(tried, both=options["both"], search=search)
        with counting("Sweeping", total, "queries × temperatures") as progress:
            names = (*OF_BOTH, "query", "batch_size")
            result = sweep(
                embeddings,
                relevance,
                tried,
                search=search,
                progress=progress,
                **{name: options[name] for name in names},
            )
    deliver(result, form, output)
