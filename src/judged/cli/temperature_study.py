"""`judged temperature-study`: the same similarity learned at several temperatures, and how held-out
queries fare."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._embedding_options import (
    check_targets,
    memory_option,
    read_sides,
    sides,
    vector_options,
)
from judged.cli._learning_options import learning, learning_options
from judged.cli._options import RESULT_FORMS, checked_format, result_options


@click.command(short_help="Learn at several temperatures, and compare.")
@sides
@click.option(
    "-t",
    "--temperature",
    "temperatures",
    type=float,
    multiple=True,
    metavar="T",
    help=(
        "A temperature to learn at; may be given more than once. 0.01, 0.03, 0.1, 0.3, 1, 3 "
        "and 10 if none is given."
    ),
)
@click.option(
    "--report",
    "reported",
    multiple=True,
    metavar="MEASURE",
    help=(
        "A measure of the held-out queries; may be given more than once. AP, nDCG@10 and RR if "
        "none is given."
    ),
)
@learning_options("two-tower-linear")
@vector_options
@memory_option
@result_options("temperature-study")
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
    from judged.cli._terminal import counting, deliver_tables
    from judged.temperature.studies import MEASURES, TEMPERATURES, study

    checked_format(form, output, RESULT_FORMS)
    check_targets((output,), queries, items, given)
    read = read_sides(queries, items, given)
    chosen = temperatures or TEMPERATURES
    with counting("Learning", len(set(chosen)) * given["iterations"], "iterations") as progress:
        found = study(
            **read,
            temperatures=chosen,
            measures=reported or MEASURES,
            progress=progress,
            **learning(given),
        )
    deliver_tables(found, form, output)
