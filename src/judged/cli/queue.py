"""`judged queue`: list the unjudged results to judge next."""

from __future__ import annotations

from typing import Any

from judged.cli import _options as opt
from judged.cli._command import command
from judged.judgements import (
    MEASURE,
    QUEUE_DEPTH,
    QUEUE_ORDERS,
    QUEUE_PRINTED_AS,
    QUEUE_SAVED_AS,
)


@command(example="judged queue qrels.txt bm25.run dense.run --budget 200 -o to_judge.csv")
@opt.data_arguments
@opt.measure_option(MEASURE, "Measure effects and differences by this.")
@opt.number("--depth", int, "N", "Consider the first N results of each run.", QUEUE_DEPTH)
@opt.choice("--by", QUEUE_ORDERS, "Order the queue.", "effect")
@opt.number("--budget", int, "N", "List only the N most useful results.")
@opt.file("--texts", "Add titles and texts of items for annotators.")
@opt.file("--queries", "Add texts of queries for annotators.")
@opt.columns_option
@opt.result_options(QUEUE_PRINTED_AS, written=False)
@opt.output_option(
    f"Write the annotators' file: {', '.join(QUEUE_SAVED_AS)} or .parquet.", required=False
)
def queue(judgements: str, runs: tuple[str, ...], output: str | None, **options: Any) -> Any:
    """List the unjudged results to judge next, and how far they could change differences.

    The printed table shows effects and ranks, for the organiser. The file that -o writes is for
    annotators and blind: queries and items in random order, without ranks, scores or run names.
    --format csv, tsv and ndjson print that file. With grades filled in, it is a file of judgements.
    """
    from judged.judgements.queue import queue as make_queue
    from judged.outputs import checked_ending

    if output is not None:
        checked_ending(output, [*QUEUE_SAVED_AS, ".parquet"])
    result = opt.score_runs(make_queue, judgements, runs, **options)
    if output is not None:
        result.save(output)
    return result
