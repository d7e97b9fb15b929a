"""`judged overlap`: measure how far runs agree, without judgements."""

from __future__ import annotations

from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._files import READS, command
from judged.runs import PERSISTENCE


@command(example="judged overlap bm25.run dense.run")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=READS)
@opt.number(
    "--p",
    float,
    "SHARE",
    "Set the persistence of rank-biased overlap; larger values look deeper.",
    PERSISTENCE,
)
@opt.depth_option
@opt.level_option()
@opt.duplicates_option
@opt.columns_option
@opt.run_format_option
@opt.per_query_option
@opt.result_options()
def overlap(
    runs: tuple[str, ...], per_query: bool, form: str | None, output: str | None, **options: Any
) -> None:
    """Measure how far RUN files agree on items and their order, without judgements.

    Every two runs are compared on the queries that both have. Ties are not broken: rank-biased
    overlap is its mean over all their orders. NAME=FILE names a run.
    """
    from judged.cli._terminal import deliver, working
    from judged.runs.overlap import overlap as overlap_of

    opt.check_format(form, output)
    policy = {name: options.pop(name) for name in ("depth", "duplicates")}
    with working("Reading runs"):
        result = overlap_of(list(runs), policy=policy, **options)
    deliver(result, form, output, per_query=per_query)
