"""`judged identify`: a number in, the definitions that give it out."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._files import READS, command
from judged.cli._options import (
    check_format,
    collection_option,
    data_options,
    depth_option,
    duplicates_option,
    measures_option,
    result_options,
)
from judged.cli._room_options import room_options


@command(short_help="Find the definitions that give a number.")
@click.argument("value", metavar="VALUE")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("run", metavar="[RUN]", required=False, type=READS)
@measures_option
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="How many explanations to show; JSON, CSV and Parquet hold all.",
)
@depth_option
@duplicates_option
@collection_option
@data_options
@room_options
@result_options()
def identify(
    value: str,
    judgements: str,
    run: str | None,
    measures: tuple[str, ...],
    form: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """Find out which measure, parameters and policy gave a number: which definitions make VALUE out
    of RUN and QRELS.

    VALUE is the number as it was printed, such as 0.4433, 44.33 or 44.33%: its digits say how
    exactly it is known. With -m only that measure is searched, for parameters that it leaves open,
    such as AP or nDCG@10. Without RUN, QRELS holds both: rows with a query, a list of relevant ids
    and a list of retrieved ids.
    """
    from judged.cli._terminal import deliver, working
    from judged.conventions.identification import identify as find

    check_format(form, output)
    with working(f"Searching for {value}"):
        found = find(value, judgements, run, measures or None, **options)
    deliver(found, form, output)
