"""`judged evaluate`: runs and judgements in, numbers out."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._engine_options import engine_options, opened
from judged.cli._files import READS, command
from judged.cli._options import (
    check_format,
    collection_option,
    convention_option,
    data_options,
    depth_option,
    duplicates_option,
    interval_options,
    measures_option,
    per_query_option,
    policy_options,
    result_options,
    split_options,
    table_options,
    tie_range_option,
    trusted_option,
    unanswerable_options,
    unique_option,
    weights_option,
)
from judged.cli._room_options import room_options
from judged.cli._runs_options import runs_options
from judged.evaluation.evaluation import Evaluation


@command(short_help="Score runs against judgements.")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@measures_option
@convention_option
@policy_options
@tie_range_option
@click.option(
    "--unjudged-range",
    is_flag=True,
    help="Beside each number, its values if all unjudged results had been judged and found "
    "irrelevant, or of the top grade; a warning names the measures for which these are no bounds.",
)
@interval_options
@weights_option
@trusted_option
@unanswerable_options
@depth_option
@collection_option
@unique_option
@duplicates_option
@data_options
@room_options
@runs_options
@engine_options
@per_query_option
@table_options
@result_options(Evaluation.SAVED_AS)
def evaluate(
    judgements: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    engine: dict[str, Any],
    per_query: bool,
    form: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """Score one or more RUN files against the judgements in QRELS.

    Files may be TREC runs and qrels, CSV or TSV with a header, MS MARCO, Parquet, NDJSON or JSON,
    compressed or not; "-" is standard input. Without RUN, QRELS holds both: rows with a query, a
    list of relevant ids and a list of retrieved ids; further files of such rows are further runs.
    """
    from judged.cli._terminal import counting, deliver
    from judged.evaluation import evaluate as score
    from judged.limits import config

    check_format(form, output, Evaluation.SAVED_AS)
    given = opened(engine, judgements, runs, options)
    scoring, shown, limits = split_options(options)
    with config(**limits), counting("Reading runs", len(runs) or 1, "") as advance:
        found = score(
            *given,
            measures or None,
            progress=advance and (lambda _: advance(1)),
            **scoring,
        )
    deliver(found.showing(**shown), form, output, per_query=per_query)
