"""`judged evaluate`: runs and judgements in, numbers out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from os.path import isfile

import click

from judged.cli._options import (
    collection_option,
    convention_option,
    depth_option,
    duplicates_option,
    format_options,
    measures_option,
    output_options,
    policy_options,
    tie_range_option,
)
from judged.types import FileFormat


@click.command(short_help="Score runs against judgements.")
@click.argument("judgements", metavar="QRELS", type=click.Path(allow_dash=True))
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@measures_option
@convention_option
@policy_options
@tie_range_option
@click.option(
    "--unjudged-range",
    is_flag=True,
    help=(
        "Beside each number, its values if all unjudged results had been judged and found "
        "irrelevant, or of the top grade."
    ),
)
@depth_option
@collection_option
@click.option(
    "--unique",
    metavar="FILE",
    type=click.Path(),
    help=(
        "A table of items and their categories: each category's best result stands for it, and "
        "categories are ranked."
    ),
)
@duplicates_option
@format_options
@output_options
def evaluate(
    judgements: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    convention: str | None,
    per_query: bool,
    policy: dict[str, str],
    tie_range: bool,
    unjudged_range: bool,
    depth: int | None,
    duplicates: str,
    collection: int | None,
    unique: str | None,
    qrels_format: FileFormat | None,
    run_format: FileFormat | None,
    form: str | None,
    output: str | None,
) -> None:
    """Score one or more RUN files against the judgements in QRELS.

    Files may be TREC runs and qrels, CSV or TSV with a header, MS MARCO, Parquet, NDJSON or JSON,
    compressed or not; "-" is standard input.
    """
    from judged.errors import InputError
    from judged.inputs import distinct_names, read_run
    from judged.outputs import check_target

    if [judgements, *runs].count("-") > 1:
        raise InputError("standard input (-) can be read only once; give the other as a file.")
    if output is not None:
        check_target(output, reads=(judgements, *runs))
    names = distinct_names(list(runs))
    with ThreadPoolExecutor(1) as ahead:
        # The first run is the longest wait: it is read while the measures are loaded and the
        # judgements are read.
        first = (
            ahead.submit(read_run, runs[0], name=names[0], format=run_format)
            if isfile(runs[0])
            else None
        )
        from judged.cli._terminal import deliver_evaluation, working
        from judged.evaluation.evaluation import evaluate_rankings
        from judged.evaluation.request import Request
        from judged.inputs import read_judgements
        from judged.judging import judging

        request = Request.of(measures or None, policy, convention)
        with working(f"Reading {judgements}"):
            judge = judging(
                read_judgements(judgements, format=qrels_format),
                policy=request.policy,
                depth=depth,
                duplicates=duplicates,
                collection=collection,
                unique=unique,
            )
        rankings = []
        for name, path in zip(names, runs, strict=True):
            with working(f"Reading {path}"):
                run = first.result() if first else read_run(path, name=name, format=run_format)
                first = None
                rankings.append(judge(run))
    evaluation = evaluate_rankings(
        rankings, request, tie_range=tie_range, unjudged_range=unjudged_range
    )
    deliver_evaluation(evaluation, form, output, per_query=per_query)
