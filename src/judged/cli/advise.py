"""`judged advise`: which measures these data can bear, and what to report."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._files import READS, command
from judged.cli._options import (
    check_format,
    columns_option,
    default_of,
    depth_option,
    duplicates_option,
    judgements_format_option,
    measures_option,
    policy_options,
    result_options,
    run_format_option,
)
from judged.evaluation.advice import advise as advise_on


@command(short_help="Say which measures suit these data.")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@measures_option
@click.option(
    "--level",
    type=float,
    default=default_of(advise_on, "level"),
    show_default=True,
    metavar="SHARE",
    help="The level of intervals and tests.",
)
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
    """Say which measures and cutoffs are saturated, capped, unjudged or noisy on these data, which
    of them tell the systems apart, where K should lie, and what to report.

    Without -m the usual measures are looked at. With two RUN files or more, every pair is compared
    on every measure.
    """
    from judged.cli._terminal import counting, deliver

    check_format(form, output)
    with counting("Reading runs", len(runs) or 1, "") as advance:
        found = advise_on(
            judgements,
            runs or None,
            measures or None,
            progress=advance and (lambda _: advance(1)),
            **options,
        )
    deliver(found, form, output)
