"""`judged temperature-study`: the same similarity learned at several temperatures, and how held-out queries fare."""

from __future__ import annotations

from typing import Any

import click

from judged.cli.learning import learning, learning_options
from judged.cli.options import RESULT, deliver
from judged.cli.vectors import check_targets, memory_option, read_options, relations, relevance_options, vector_options


@click.command(short_help="Learn at several temperatures, and compare.")
@click.argument("queries", metavar="QUERIES")
@click.argument("items", metavar="ITEMS")
@relevance_options
@click.option(
    "-t",
    "--temperature",
    "temperatures",
    type=float,
    multiple=True,
    metavar="T",
    help="A temperature to learn at; may be given more than once. 0.01, 0.03, 0.1, 0.3, 1, 3 and 10 if none is given.",
)
@click.option(
    "--report",
    "reported",
    multiple=True,
    metavar="MEASURE",
    help="A measure of the held-out queries; may be given more than once. AP, nDCG@10 and RR if none is given.",
)
@learning_options("two-tower-linear")
@vector_options
@memory_option
@click.option(
    "--format", "form", type=click.Choice(["table", "json", "csv"]), show_default="table", help="How to print the result."
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=RESULT,
    help="Write the result to a file; its ending may say the format. 'judged plot temperature-study' reads the JSON.",
)
def temperature_study(
    queries: str,
    items: str,
    temperatures: tuple[float, ...],
    reported: tuple[str, ...],
    form: str | None,
    output: str | None,
    **given: Any,
) -> None:
    """Learn a similarity of QUERIES and ITEMS, two files of vectors, at several temperatures, and compare what became of it.

    All learn from the same queries and are evaluated on the same held-out ones: loss, confidence, calibration, alignment,
    uniformity, iterations, and measures with 95% intervals, beside the cosine of the vectors as they are. Files and
    relevance are as for 'judged embeddings', other options as for 'judged learn'.
    """
    from judged.cli.terminal import counting, show_tables, working
    from judged.temperature.studying import MEASURES, TEMPERATURES, study
    from judged.vectors.arrays import as_vectors

    check_targets((output,), queries, items, given)
    with working("Reading vectors"):
        relevance, excluded = relations(given)
        read = read_options(given)
        left = as_vectors(queries, ids=read.pop("query_ids"))
        right = as_vectors(items, ids=read.pop("item_ids"))
    chosen = temperatures or TEMPERATURES
    with counting("Learning", len(set(chosen)) * given["iterations"], "iterations") as progress:
        found = study(
            left,
            right,
            relevance,
            chosen,
            measures=reported or MEASURES,
            exclude=excluded or None,
            progress=progress,
            **read,
            **learning(given),
        )
    deliver(
        found.to_dict,
        found.__repr__,
        form,
        output,
        as_csv=lambda: found.to_frame().write_csv(),
        show=lambda: show_tables(found.tables(), found.sentences()),
    )
