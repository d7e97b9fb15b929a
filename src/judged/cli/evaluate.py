"""`judged evaluate`: score runs against judgements."""

from __future__ import annotations

from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._files import READS, command
from judged.results import EVALUATION_SAVED_AS

evaluation_options = opt.together(
    opt.measures_option,
    opt.convention_option,
    opt.policy_options,
    opt.tie_range_option,
    opt.flag(
        "--unjudged-range", "Show each value with all unjudged results irrelevant, or relevant."
    ),
    opt.interval_options,
    opt.weights_option,
    opt.trusted_option,
    opt.unanswerable_options,
    opt.depth_option,
    opt.collection_option,
    opt.unique_option,
    opt.duplicates_option,
    opt.item_options,
    opt.per_query_option,
    opt.table_options,
    opt.result_options(EVALUATION_SAVED_AS),
)


@command(example="judged evaluate qrels.txt bm25.run dense.run -m nDCG@10 -m R@100")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@opt.run_format_option
@opt.memory_options
@opt.runs_options
@opt.engine_options
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
    Rankings files (*.rankings), which -o writes, can replace QRELS and RUN.
    """
    from judged.cli._terminal import deliver
    from judged.evaluation.evaluate import evaluate as score

    opt.check_format(form, output, EVALUATION_SAVED_AS)
    data = opt.opened(engine, judgements, runs, options)
    shown = opt.take_shown(options)
    evaluation = opt.score_runs(score, *data, measures or None, **options)
    evaluation = evaluation.showing(**shown) if shown else evaluation
    deliver(evaluation, form, output, per_query=per_query)
