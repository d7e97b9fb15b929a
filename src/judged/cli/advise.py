"""`judged advise`: recommend measures that suit the data."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._files import READS, command
from judged.cli._options import (
    call_scoring,
    check_format,
    columns_option,
    depth_option,
    duplicates_option,
    judgements_format_option,
    level_option,
    measures_option,
    policy_options,
    result_options,
    run_format_option,
)
from judged.evaluation.advice import advise as advise_on


@command(example="judged advise qrels.txt bm25.run dense.run")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@measures_option
@level_option()
@policy_options
@depth_option
@duplicates_option
@columns_option
@judgements_format_option
@run_format_option
@result_options()
def advise(
    judgements: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    form: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """Recommend measures and cutoffs: list those that are saturated, capped, unjudged or noisy on
    these data, and those that separate the systems.

    Without -m the usual measures are examined. With two RUN files or more, every pair is compared
    on every measure.
    """
    from judged.cli._terminal import counting, deliver

    check_format(form, output)
    with counting("Reading runs", len(runs) or 1, "") as advance:
        advice = call_scoring(
            advise_on,
            judgements,
            runs or None,
            measures or None,
            progress=advance and (lambda _: advance(1)),
            **options,
        )
    deliver(advice, form, output)
