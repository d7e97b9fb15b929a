"""`judged funnel`: find the stage of a pipeline that lost relevant items."""

from __future__ import annotations

from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._command import READS, command


@command(example="judged funnel qrels.txt bm25.run reranked.run -k 10")
@opt.judgements_argument
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=READS)
@opt.number("-k", int, "N", "Count the first N results of the last stage.", 10)
@opt.number("--rel", float, "GRADE", "Call items of this grade or above relevant.", 1)
@opt.text(
    "--max-loss",
    "STAGE=SHARE",
    "Fail if a stage loses more; a number is for all but the first.",
    multiple=True,
    callback=opt.by_measure,
)
@opt.columns_option
@opt.per_query_option
@opt.result_options()
def funnel(judgements: str, runs: tuple[str, ...], **options: Any) -> Any:
    """Find the stage that kept each relevant item out of the final top K.

    RUNs are the stages of a pipeline in their order, such as a first stage, a reranker and the
    final list. Each lost item counts once, so losses add up. The exit code is 1 if --max-loss is
    exceeded. NAME=FILE names a stage.
    """
    from judged.cli import DONE, NO
    from judged.cli._terminal import working
    from judged.runs.funnel import funnel as make_funnel

    with working("Reading runs"):
        result = make_funnel(judgements, list(runs), **options)
    return result, DONE if result.passed else NO
