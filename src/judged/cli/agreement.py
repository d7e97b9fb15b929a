"""`judged agreement`: measure how far assessors agree."""

from __future__ import annotations

from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._files import READS, command
from judged.judgements import MEASURE


@command(example="judged agreement alice.qrels bob.qrels bm25.run dense.run")
@click.argument("first", metavar="QRELS", type=READS)
@click.argument("second", metavar="QRELS", type=READS)
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@click.option(
    "--judge",
    "others",
    metavar="FILE",
    type=READS,
    multiple=True,
    help="Add the judgements of a further assessor; may be given more than once.",
)
@opt.measures_option
@opt.rel_option
@opt.level_option()
@opt.resamples_option
@opt.seed_option
@opt.convention_option
@opt.scoring_options
@opt.result_options()
def agreement(
    first: str,
    second: str,
    runs: tuple[str, ...],
    others: tuple[str, ...],
    measures: tuple[str, ...],
    form: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """Compare the judgements of assessors on the items that both judged.

    The first two files are judgements. All others are runs, which are scored under each assessor
    by -m, by default nDCG@10. NAME=FILE names an assessor or a run.
    """
    from judged.cli._terminal import deliver, working
    from judged.judgements.agreement import agreement as measure_agreement

    opt.check_format(form, output)
    with working("Comparing assessors"):
        result = opt.call_scoring(
            measure_agreement,
            [first, second, *others],
            None,
            list(runs) or None,
            measures or MEASURE,
            **options,
        )
    deliver(result, form, output)
