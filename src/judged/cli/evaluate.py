"""`judged evaluate`: score runs against judgements."""

from __future__ import annotations

from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._command import command
from judged.inputs.blocks import MEMORY
from judged.results import EVALUATION_SAVED_AS


def _read_settings(
    ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]
) -> dict[str, str]:
    """Read KEY=VALUE, each key once."""
    settings: dict[str, str] = {}
    for setting in texts:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{setting!r} is not KEY=VALUE (spark.executor.memory=8g).")
        if name.strip() in settings:
            raise click.BadParameter(f"{name.strip()} is given twice.")
        settings[name.strip()] = value
    return settings


@command(example="judged evaluate qrels.txt bm25.run dense.run -m nDCG@10 -m R@100")
@opt.data_arguments
@opt.measures_option
@opt.relevant_option
@opt.convention_option
@opt.policy_options()
@opt.interval_option
@opt.level_option()
@opt.groups_option
@opt.tie_range_option
@opt.flag(
    "--unjudged-range",
    "Show each value with all unjudged results irrelevant, or relevant.",
    group="statistics",
)
@opt.slices_option
@opt.weights_option
@opt.trusted_option
@opt.flag(
    "--unanswerable",
    "Evaluate queries without relevant items separately from all means.",
    group="statistics",
)
@opt.number(
    *("--answer-threshold threshold", float, "SCORE"),
    "Count only results with at least this score as answers (with --unanswerable).",
    group="statistics",
)
@opt.columns_option
@opt.item_options
@opt.format_options
@opt.skip_bad_option
@opt.option(
    "--memory",
    default=MEMORY,
    show_default=True,
    metavar="SIZE",
    help="Read runs larger than this in blocks.",
    group="data",
)
@opt.text(
    "--spark",
    "ADDRESS",
    "Evaluate in Spark: local[4], spark://HOST:PORT, yarn, sc://HOST:PORT, or default.",
    group="Spark",
)
@opt.text(
    *("--spark-conf", "KEY=VALUE", "Set a Spark setting; may be given more than once."),
    multiple=True,
    callback=_read_settings,
    group="Spark",
)
@opt.per_query_option
@opt.sort_option
@opt.decimals_option
@opt.percent_option
@opt.latex_options
@opt.result_options(EVALUATION_SAVED_AS, verbose=True, quiet=True)
def evaluate(
    judgements: str,
    runs: tuple[str, ...],
    spark: str | None,
    spark_conf: dict[str, str],
    **options: Any,
) -> Any:
    """Score one or more RUN files against the judgements in QRELS.

    Files may be TREC runs and qrels, CSV or TSV with a header, MS MARCO, Parquet, NDJSON or JSON,
    compressed or not. "-" is standard input. Without RUN, QRELS holds rows with a query, a list of
    relevant ids and a list of retrieved ids; further files of such rows are further runs. Or QRELS
    is one table with the columns query, item, label and score; or grades in rank order, such as
    "0 1 0 0 1", one argument for each query.
    Rankings files (*.rankings), which -o writes, replace QRELS and RUN in every command.
    """
    from judged.evaluation.evaluate import evaluate as score

    data: tuple[Any, Any] = judgements, runs
    if spark:
        from judged.cli._terminal import working
        from judged.engines.spark import reading
        from judged.engines.spark.session import session

        used = {name: options.pop(name) for name in ("columns", "judgements_format", "run_format")}
        with working("Starting Spark"):
            started = session(None if spark == "default" else spark, spark_conf)
            data = reading.opened(started, judgements, runs, **used)
    elif spark_conf:
        raise click.UsageError("--spark-conf needs --spark ADDRESS.")
    shown = opt.take_shown(options)
    evaluation = opt.score_runs(score, *data, **options)
    return evaluation.showing(**shown) if shown else evaluation
