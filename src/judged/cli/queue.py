"""`judged queue`: which unjudged results to judge next."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._files import READS, WRITES, command
from judged.cli._options import (
    check_format,
    collection_option,
    complete_measure,
    convention_option,
    data_options,
    default_of,
    duplicates_option,
    policy_options,
    print_option,
    split_options,
    unique_option,
)
from judged.judgements.queue import BY, PRINTED_AS, SAVED_AS
from judged.judgements.queue import queue as make_queue


@command(short_help="Say which unjudged results to judge next.")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@click.option(
    "-m",
    "--measure",
    default=default_of(make_queue, "measure"),
    show_default=True,
    metavar="MEASURE",
    shell_complete=complete_measure,
    help="What effects and differences are measured by. 'judged measures' lists them.",
)
@click.option(
    "--depth",
    type=int,
    default=default_of(make_queue, "depth"),
    show_default=True,
    metavar="N",
    help="Look for unjudged results among the first N of each run. Lists are not cut.",
)
@click.option(
    "--by",
    type=click.Choice(list(BY)),
    default=default_of(make_queue, "by"),
    show_default=True,
    help="What comes first; " + "; ".join(f"{name}: {words}" for name, words in BY.items()) + ".",
)
@click.option(
    "--budget",
    type=int,
    metavar="N",
    help="Ask for N results, the most worthwhile; by default for all.",
)
@click.option(
    "--top-grade",
    type=float,
    metavar="GRADE",
    help="The top grade, by default the highest in QRELS.",
)
@click.option(
    "--only-judged-queries",
    is_flag=True,
    help="Leave out queries of the runs that have no judgement at all.",
)
@click.option(
    "--seed",
    type=int,
    default=default_of(make_queue, "seed"),
    show_default=True,
    help="What the items of each query are shuffled by.",
)
@click.option(
    "--texts",
    metavar="FILE",
    type=READS,
    help="A table of items with their titles and texts, for annotators.",
)
@click.option(
    "--queries",
    metavar="FILE",
    type=READS,
    help="A table of queries with their texts, for annotators.",
)
@convention_option
@policy_options
@collection_option
@unique_option
@duplicates_option
@data_options
@print_option(PRINTED_AS)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=WRITES,
    help="Write the annotators' file; its ending says the format: "
    f"{', '.join(SAVED_AS)} or .parquet. With grades filled in it is judgements.",
)
def queue(
    judgements: str,
    runs: tuple[str, ...],
    form: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """Say which unjudged results of RUN files to judge next, and how far judgements could still
    move the difference of each two runs.

    What is printed is for whoever organises the judging: it tells effects and ranks. The file that
    -o writes is for annotators, and blind: queries and items, shuffled within queries, without
    ranks, scores, effects or names of runs; --format csv, tsv and ndjson print that file.
    """
    from judged.cli._terminal import counting, deliver
    from judged.outputs import checked_ending

    check_format(form, None, PRINTED_AS)
    if output is not None:
        checked_ending(output, [*SAVED_AS, ".parquet"])
    depth = options.pop("depth")
    scoring, _, _ = split_options(options)
    with counting("Reading runs", len(runs) or 1, "") as advance:
        found = make_queue(
            judgements,
            runs or None,
            progress=advance and (lambda _: advance(1)),
            depth=depth,
            **scoring,
        )
    if output is not None:
        found.save(output)
    deliver(found, form, None)
