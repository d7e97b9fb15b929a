"""`judged agreement`: how far do judges agree, and what does it do to runs?"""

from __future__ import annotations

from typing import Any

import click

from judged.cli._files import READS, command
from judged.cli._options import (
    check_format,
    collection_option,
    convention_option,
    data_options,
    default_of,
    depth_option,
    duplicates_option,
    measures_option,
    policy_options,
    rel_option,
    result_options,
    unique_option,
    weights_option,
)
from judged.judgements.agreement import agreement as agree


@command(short_help="Say how far judges agree, and what it does to runs.")
@click.argument("first", metavar="QRELS", type=READS)
@click.argument("second", metavar="QRELS", type=READS)
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@click.option(
    "--judge",
    "others",
    metavar="FILE",
    type=READS,
    multiple=True,
    help="The judgements of a further judge; may be given more than once.",
)
@measures_option
@rel_option
@click.option(
    "--level",
    type=float,
    default=default_of(agree, "level"),
    show_default=True,
    metavar="SHARE",
    help="The level of intervals, and of verdicts on runs.",
)
@click.option(
    "--resamples",
    type=int,
    default=default_of(agree, "resamples"),
    show_default=True,
    metavar="N",
    help="How often queries are drawn with replacement for an interval.",
)
@click.option(
    "--seed",
    type=int,
    default=default_of(agree, "seed"),
    show_default=True,
    metavar="N",
    help="What they are drawn from.",
)
@convention_option
@policy_options
@weights_option
@depth_option
@collection_option
@unique_option
@duplicates_option
@data_options
@result_options()
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
    """Compare the judgements of judges, people or models, on the items that both judged: how far
    they agree beyond chance, and which of them is stricter.

    The first two files are judgements, all others are runs: these are scored under each judge, by
    -m, nDCG@10 by default. NAME=FILE gives a judge or a run a name.
    """
    from judged.cli._terminal import deliver, working

    check_format(form, output)
    with working("Comparing judges"):
        found = agree(
            [first, second, *others],
            None,
            list(runs) or None,
            measures or default_of(agree, "measures"),
            **options,
        )
    deliver(found, form, output)
