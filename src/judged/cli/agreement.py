"""`judged agreement`: measure how far assessors agree."""

from __future__ import annotations

from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._command import READS, command
from judged.judgements import MEASURE


@command(example="judged agreement alice.qrels bob.qrels bm25.run dense.run")
@click.argument("first", metavar="QRELS", type=READS)
@click.argument("second", metavar="QRELS", type=READS)
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@opt.option(
    *("--judge", "others"),
    type=READS,
    metavar="FILE",
    multiple=True,
    help="Add the judgements of a further assessor; may be given more than once.",
)
@opt.measures_option
@opt.number("--rel", float, "GRADE", "Count grades from this one as relevant.", 1)
@opt.columns_option
@opt.result_options()
def agreement(
    first: str,
    second: str,
    runs: tuple[str, ...],
    others: tuple[str, ...],
    **options: Any,
) -> Any:
    """Compare the judgements of assessors on the items that both judged.

    The first two files are judgements. All others are runs, which are scored under each assessor
    by -m, by default nDCG@10. NAME=FILE names an assessor or a run.
    """
    from judged.cli._terminal import working
    from judged.judgements.agreement import agreement as measure_agreement

    judgements = [first, second, *others]
    options["measures"] = options["measures"] or MEASURE
    with working("Comparing assessors"):
        return opt.call_scoring(measure_agreement, judgements, None, list(runs) or None, **options)
