"""`judged evaluate`: runs and judgements in, numbers out."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from judged.types import Duplicates


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
    duplicates: Duplicates,
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
    from judged.cli._terminal import counting, deliver_evaluation
    from judged.errors import InputError
    from judged.evaluation import evaluate as score
    from judged.outputs import check_target

    if [judgements, *runs].count("-") > 1:
        raise InputError("standard input (-) can be read only once; give the other as a file.")
    if output is not None:
        check_target(output, reads=(judgements, *runs))
    with counting("Reading", len(runs), "runs") as advance:
        evaluation = score(
            judgements,
            runs,
            measures or None,
            policy=policy,
            depth=depth,
            duplicates=duplicates,
            collection=collection,
            unique=unique,
            convention=convention,
            tie_range=tie_range,
            unjudged_range=unjudged_range,
            judgements_format=qrels_format,
            run_format=run_format,
            progress=advance and (lambda _: advance(1)),
        )
    deliver_evaluation(evaluation, form, output, per_query=per_query)
