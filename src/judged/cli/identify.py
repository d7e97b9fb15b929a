"""`judged identify`: a number in, the definitions that give it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from judged.cli._options import (
    collection_option,
    depth_option,
    duplicates_option,
    format_options,
    measures_option,
)
from judged.types import FileFormat

if TYPE_CHECKING:
    from judged.types import Duplicates


@click.command(short_help="Find the definitions that give a number.")
@click.argument("value", metavar="VALUE")
@click.argument("judgements", metavar="QRELS", type=click.Path(allow_dash=True))
@click.argument("run", metavar="RUN", type=click.Path(allow_dash=True))
@measures_option
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="How many explanations to show.",
)
@depth_option
@duplicates_option
@collection_option
@format_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "markdown"]),
    default="table",
    show_default=True,
    help="How to print the result.",
)
def identify(
    value: str,
    judgements: str,
    run: str,
    measures: tuple[str, ...],
    limit: int,
    depth: int | None,
    duplicates: Duplicates,
    collection: int | None,
    qrels_format: FileFormat | None,
    run_format: FileFormat | None,
    form: str,
) -> None:
    """Find out which measure, parameters and policy gave a number: which definitions make VALUE out
    of RUN and QRELS.

    VALUE is the number as it was printed, such as 0.4433, 44.33 or 44.33%: its digits say how
    exactly it is known. With -m only that measure is searched, for parameters that it leaves open,
    such as AP or nDCG@10.
    """
    from judged.cli._terminal import show_identification, working
    from judged.errors import InputError
    from judged.identification import identify as find
    from judged.identification.printed import Asked
    from judged.inputs import read_judgements, read_run

    if judgements == run == "-":
        raise InputError("standard input (-) can be read only once; give the other as a file.")
    Asked.of(value)
    with working(f"Reading {run}"):
        known, given = (
            read_judgements(judgements, format=qrels_format),
            read_run(run, format=run_format),
        )
    with working(f"Searching for {value}"):
        found = find(
            value,
            known,
            given,
            measures or None,
            depth=depth,
            duplicates=duplicates,
            collection=collection,
        )
    if form == "json":
        click.echo(found.to_json(limit), nl=False)
    elif form == "markdown":
        click.echo(found.to_markdown(limit), nl=False)
    else:
        show_identification(found, limit)
