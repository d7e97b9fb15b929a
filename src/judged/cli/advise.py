"""`judged advise`: recommend measures that suit the data."""

from __future__ import annotations

from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._files import READS, command


@command(example="judged advise qrels.txt bm25.run dense.run")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@opt.measures_option
@opt.level_option()
@opt.policy_options
@opt.depth_option
@opt.duplicates_option
@opt.columns_option
@opt.judgements_format_option
@opt.run_format_option
@opt.result_options()
def advise(
    judgements: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    form: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """Recommend measures and cutoffs that suit these data and separate the systems.

    Without -m the usual measures are examined. With two RUN files or more, every pair is compared
    on every measure. Rankings files (*.rankings) can replace QRELS and RUN.
    """
    from judged.cli._terminal import deliver
    from judged.evaluation.advice import advise as advise_on

    opt.check_format(form, output)
    advice = opt.score_runs(advise_on, judgements, runs, measures or None, **options)
    deliver(advice, form, output)
