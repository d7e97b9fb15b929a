"""`judged temperature`: what a softmax temperature does to scores, or to training."""

from __future__ import annotations

from typing import Any

from judged.cli import _options as opt
from judged.cli._command import command
from judged.cli._vectors import (
    exclude_self_option,
    read_sides,
    sides,
    similarity_option,
)
from judged.options import STUDIED_TEMPERATURES, SWEPT_TEMPERATURES
from judged.text import listed

OF_SCORES = ("query", "batch_size", "similarity")
"""Options that have no meaning with --train."""
OF_TRAINING = ("kind", "positives", "both", "iterations")
OF_BOTH = ("positives", "both")


@command(example="judged temperature queries.npy items.npy --pairs")
@sides
@opt.option(
    "-t",
    "--temperature",
    "temperatures",
    type=float,
    multiple=True,
    metavar="T",
    help="Try this temperature; may be given more than once. Without it, "
    f"{len(SWEPT_TEMPERATURES)} from {SWEPT_TEMPERATURES[0]:g} to {SWEPT_TEMPERATURES[-1]:g}; with "
    f"--train {listed([f'{each:g}' for each in STUDIED_TEMPERATURES])}.",
    common=True,
)
@opt.text("--query", "ID", "Look at one query alone.", common=True)
@opt.number(
    "--in-batch batch_size", int, "N", "Draw candidates from batches of N queries, not all items."
)
@similarity_option
@opt.flag(
    "--train",
    "Learn a similarity at each temperature and compare held-out queries.",
    common=True,
)
@opt.training_options("two-tower-linear", *OF_TRAINING)
@exclude_self_option
@opt.result_options(chart="temperature")
def temperature(
    queries: str,
    items: str,
    temperatures: tuple[float, ...],
    train: bool,
    **options: Any,
) -> Any:
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
    from judged.cli._terminal import working
    from judged.learning._sweep import steps
    from judged.learning.temperature import sweep

    if train:
        opt.refuse(OF_SCORES, "is not for --train")
    else:
        opt.refuse((name for name in OF_TRAINING if name not in OF_BOTH), "is for --train")
    training = opt.take_training(options)
    embeddings, relevance = read_sides(queries, items, options)
    if train:
        tried = temperatures or STUDIED_TEMPERATURES
        total = len(set(tried)) * training["iterations"]
        with working("Learning", total, "iterations") as progress:
            return sweep(embeddings, relevance, tried, train=training, progress=progress)
    tried = temperatures or SWEPT_TEMPERATURES
    searches = len(embeddings.queries) if options["query"] is None else 1
    total = searches * steps(tried, both=training["both"], search=True)
    chosen = {name: training[name] for name in ("positives", "both")}
    chosen |= {name: options[name] for name in ("query", "batch_size")}
    with working("Sweeping", total, "queries × temperatures") as progress:
        return sweep(embeddings, relevance, tried, progress=progress, **chosen)
