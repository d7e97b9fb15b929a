"""`judged merge`: combine several assessors' judgements."""

from __future__ import annotations

from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._command import READS, command
from judged.judgements import MERGE_RULES


@command(example="judged merge alice.qrels bob.qrels -o merged.qrels")
@click.argument("judgements", metavar="QRELS...", nargs=-1, type=READS, required=True)
@opt.output_option(
    "Write the judgements: .qrels, .qrel, .trec, .txt (TREC text), .csv, .json or .parquet."
)
@opt.choice("--rule", MERGE_RULES, "Combine grades by this rule.", "majority")
@opt.policy_options("duplicates")
@opt.columns_option
def merge(judgements: tuple[str, ...], output: str, **options: Any) -> None:
    """Combine the QRELS of several assessors into one file, with one grade for each item.

    NAME=FILE names an assessor. With --rule first the order of the files counts: an assessor who
    settled differences goes first.
    """
    from judged.cli._terminal import deliver, working
    from judged.judgements.merge import MergedJudgements, merge_judgements
    from judged.results import check_run_target

    check_run_target(output, MergedJudgements.endings())
    with working("Merging judgements"):
        policy = opt.take_policy(options)
        merged = merge_judgements(list(judgements), policy=policy, **options)
    merged.save(output)
    deliver(merged, None, None, verbose=True)
