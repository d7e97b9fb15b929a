"""`judged queue`: list the unjudged results to judge next."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._files import READS, WRITES, command
from judged.cli._options import (
    call_scoring,
    check_format,
    choice,
    collection_option,
    convention_option,
    data_options,
    duplicates_option,
    file,
    flag,
    measure_option,
    number,
    policy_options,
    print_options,
    seed_option,
    unique_option,
)
from judged.judgements import (
    MEASURE,
    QUEUE_DEPTH,
    QUEUE_ORDERS,
    QUEUE_PRINTED_AS,
    QUEUE_SAVED_AS,
)


@command(example="judged queue qrels.txt bm25.run dense.run --budget 200 -o to_judge.csv")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@measure_option(MEASURE, "Measure effects and differences by this.")
@number("--depth", int, "N", "Consider the first N results of each run.", QUEUE_DEPTH)
@choice("--by", QUEUE_ORDERS, "Order the queue.", "effect")
@number("--budget", int, "N", "List only the N most useful results.")
@number("--top-grade", float, "GRADE", "Set the top grade; by default the highest in QRELS.")
@flag("--only-judged-queries", "Leave out queries without any judgement.")
@seed_option
@file("--texts", "Add titles and texts of items for annotators.")
@file("--queries", "Add texts of queries for annotators.")
@convention_option
@policy_options
@collection_option
@unique_option
@duplicates_option
@data_options
@print_options(QUEUE_PRINTED_AS)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=WRITES,
    help=f"Write the annotators' file: {', '.join(QUEUE_SAVED_AS)} or .parquet.",
)
def queue(
    judgements: str,
    runs: tuple[str, ...],
    form: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """List the unjudged results of RUN files to judge next, and how far judgements could still
    change the difference of each two runs.

    The printed table shows effects and ranks, for the organiser. The file that -o writes is for
    annotators and blind: queries and items in random order, without ranks, scores or run names.
    --format csv, tsv and ndjson print that file. With grades filled in, it is a file of judgements.
    """
    from judged.cli._terminal import counting, deliver
    from judged.judgements.queue import queue as make_queue
    from judged.outputs import checked_ending

    check_format(form, None, QUEUE_PRINTED_AS)
    if output is not None:
        checked_ending(output, [*QUEUE_SAVED_AS, ".parquet"])
    with counting("Reading runs", len(runs) or 1, "") as advance:
        result = call_scoring(
            make_queue,
            judgements,
            runs or None,
            progress=advance and (lambda _: advance(1)),
            **options,
        )
    if output is not None:
        result.save(output)
    deliver(result, form, None)
