"""`judged temperature-study`: learn at several temperatures and compare the results."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._files import command
from judged.cli._options import TRAINING, check_format, result_options, training_options
from judged.cli._vectors import memory_option, read_sides, sides, vector_options
from judged.options import STUDIED_TEMPERATURES
from judged.text import listed


@command(example="judged temperature-study queries.npy items.npy --pairs")
@sides
@click.option(
    "-t",
    "--temperature",
    "temperatures",
    type=float,
    multiple=True,
    metavar="T",
    help="Learn at this; "
    f"{listed([f'{each:g}' for each in STUDIED_TEMPERATURES])} if none is given.",
)
@click.option(
    "--report",
    "reported",
    multiple=True,
    metavar="MEASURE",
    help="Report this measure of the held-out queries; AP, nDCG@10 and RR if none is given.",
)
@training_options("two-tower-linear")
@vector_options
@memory_option
@result_options(chart="temperature-study")
def temperature_study(
    queries: str,
    items: str,
    temperatures: tuple[float, ...],
    reported: tuple[str, ...],
    form: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """Learn a similarity of QUERIES and ITEMS, two files of vectors, at several temperatures, and
    compare the results on the same held-out queries.

    Shown are loss, confidence, calibration, alignment, uniformity, iterations, and measures with
    95 % confidence intervals, beside the cosine of the vectors. Files and relevance are as for
    'judged embeddings', other options as for 'judged learn'.
    """
    from judged.cli._terminal import counting, deliver
    from judged.learning.temperature import study

    check_format(form, output)
    embeddings, relevance = read_sides(queries, items, options)
    tried = temperatures or STUDIED_TEMPERATURES
    measures: dict[str, Any] = {"measures": reported} if reported else {}
    training = {name: options[name] for name in TRAINING}
    with counting("Learning", len(set(tried)) * options["iterations"], "iterations") as progress:
        result = study(embeddings, relevance, tried, progress=progress, **measures, **training)
    deliver(result, form, output)
