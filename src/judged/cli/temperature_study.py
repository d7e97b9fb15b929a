"""`judged temperature-study`: the same similarity learned at several temperatures, and how held-out
queries fare."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._embedding_options import (
    memory_option,
    read_sides,
    sides,
    vector_options,
)
from judged.cli._files import command
from judged.cli._learning_options import learning, learning_options
from judged.cli._options import check_format, result_options
from judged.options import STUDIED_TEMPERATURES
from judged.text import listed


@command(short_help="Learn at several temperatures, and compare.")
@sides
@click.option(
    "-t",
    "--temperature",
    "temperatures",
    type=float,
    multiple=True,
    metavar="T",
    help="A temperature to learn at; may be given more than once. "
    f"{listed([f'{each:g}' for each in STUDIED_TEMPERATURES])} if none is given.",
)
@click.option(
    "--report",
    "reported",
    multiple=True,
    metavar="MEASURE",
    help="A measure of the held-out queries; may be given more than once. AP, nDCG@10 and RR if "
    "none is given.",
)
@learning_options("two-tower-linear")
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
    **given: Any,
) -> None:
    """Learn a similarity of QUERIES and ITEMS, two files of vectors, at several temperatures, and
    compare what became of it.

    All learn from the same queries and are evaluated on the same held-out ones: loss, confidence,
    calibration, alignment, uniformity, iterations, and measures with 95% intervals, beside the
    cosine of the vectors as they are. Files and relevance are as for 'judged embeddings', other
    options as for 'judged learn'.
    """
    from judged.cli._terminal import counting, deliver
    from judged.learning.temperature import study

    check_format(form, output)
    embeddings, relevance = read_sides(queries, items, given)
    chosen = temperatures or STUDIED_TEMPERATURES
    measures: dict[str, Any] = {"measures": reported} if reported else {}
    with counting("Learning", len(set(chosen)) * given["iterations"], "iterations") as progress:
        found = study(
            embeddings, relevance, chosen, progress=progress, **measures, **learning(given)
        )
    deliver(found, form, output)
