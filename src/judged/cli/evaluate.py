"""`judged evaluate`: score runs against judgements."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._files import READS, command
from judged.cli._options import (
    check_format,
    collection_option,
    convention_option,
    depth_option,
    duplicates_option,
    engine_options,
    flag,
    interval_options,
    item_options,
    measures_option,
    memory_options,
    opened,
    per_query_option,
    policy_options,
    result_options,
    run_format_option,
    runs_options,
    split_options,
    table_options,
    tie_range_option,
    together,
    trusted_option,
    unanswerable_options,
    unique_option,
    weights_option,
)
from judged.results import EVALUATION_SAVED_AS

evaluation_options = together(
    measures_option,
    convention_option,
    policy_options,
    tie_range_option,
    flag("--unjudged-range", "Show each value with all unjudged results irrelevant, or relevant."),
    interval_options,
    weights_option,
    trusted_option,
    unanswerable_options,
    depth_option,
    collection_option,
    unique_option,
    duplicates_option,
    item_options,
    per_query_option,
    table_options,
    result_options(EVALUATION_SAVED_AS),
)


@command(example="judged evaluate qrels.txt bm25.run dense.run -m nDCG@10 -m R@100")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@run_format_option
@memory_options
@runs_options
@engine_options
@evaluation_options
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
    compressed or not. "-" is standard input. Without RUN, QRELS holds rows with a query, a list of
    relevant ids and a list of retrieved ids; further files of such rows are further runs.
    """
    from judged.cli._terminal import counting, deliver
    from judged.evaluation.evaluate import evaluate as score
    from judged.limits import config

    check_format(form, output, EVALUATION_SAVED_AS)
    data = opened(engine, judgements, runs, options)
    scoring, shown, limits = split_options(options)
    with config(**limits), counting("Reading runs", len(runs) or 1, "") as advance:
        evaluation = score(
            *data, measures or None, progress=advance and (lambda _: advance(1)), **scoring
        )
    deliver(evaluation.showing(**shown), form, output, per_query=per_query)
