"""`judged overlap`: measure how far runs agree, without judgements."""

from __future__ import annotations

from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._command import READS, command
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
@opt.policy_options("depth")
@opt.columns_option
@opt.per_query_option
@opt.result_options()
def overlap(runs: tuple[str, ...], **options: Any) -> Any:
    """Measure how far RUN files agree on items and their order, without judgements.

    Every two runs are compared on the queries that both have. Ties are not broken: rank-biased
    overlap is its mean over all their orders. NAME=FILE names a run.
    """
    from judged.cli._terminal import working
    from judged.runs.overlap import overlap as overlap_of

    policy = opt.take_policy(options)
    with working("Reading runs"):
        return overlap_of(list(runs), policy=policy, **options)
