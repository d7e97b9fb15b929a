"""`judged explain`: how one number of one query comes about."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._files import READS, WRITES, command
from judged.cli._lists import ListCommand, relevance_options
from judged.cli._options import (
    check_format,
    collection_option,
    complete_measure,
    convention_option,
    data_options,
    depth_option,
    duplicates_option,
    policy_options,
    result_options,
)
from judged.cli._room_options import room_options
from judged.results import Result

SAVED_AS = {**Result.SAVED_AS, ".tex": "to_latex", ".gif": "to_gif"}
"""The formats of an explanation, whose class would take too long to load for the help."""


@command(cls=ListCommand, short_help="Show how a number comes about, for one query.")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("run", metavar="RUN", required=False, type=READS)
@click.option(
    "--query", metavar="ID", help="Which query; may be left out where only one was judged."
)
@click.option(
    "-m",
    "--measure",
    default="AP",
    show_default=True,
    metavar="MEASURE",
    shell_complete=complete_measure,
    help="A measure such as nDCG@10 or AP(rel=2)@100. 'judged measures' lists them.",
)
@relevance_options
@convention_option
@policy_options
@depth_option
@duplicates_option
@collection_option
@click.option(
    "--rows",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    metavar="N",
    help="How many ranks to show: those of relevant items, then the others from the top.",
)
@click.option("--all-rows", is_flag=True, help="Show every rank.")
@data_options
@room_options
@result_options(SAVED_AS)
@click.option(
    "--html",
    metavar="FILE",
    type=WRITES,
    help="Write a page that steps through the ranking; it needs no network.",
)
@click.option(
    "--gif",
    metavar="FILE",
    type=WRITES,
    help="Write the same animation as a GIF, for slides and READMEs.",
)
def explain(
    judgements: str,
    run: str | None,
    measure: str,
    rows: int,
    all_rows: bool,
    form: str | None,
    output: str | None,
    html: str | None,
    gif: str | None,
    **options: Any,
) -> None:
    """Show how a measure comes to its value for one query: the formula, the ranking rank by rank,
    the arithmetic with real numbers, what would raise the value most, and its value under other
    definitions.

    In place of QRELS and RUN, a relevance list may stand: the grades in rank order in one argument,
    such as "0 1 0 0 1", with - for an item that nobody judged, and brackets around results that
    share a score: "0 (1 0) 1".
    """
    from judged.cli._terminal import deliver, say, show_explanation
    from judged.explanation import explain as explained
    from judged.outputs import replacing, write_text

    check_format(form, output, SAVED_AS)
    found = explained(judgements, run, measure, rows=None if all_rows else rows, **options)
    if html:
        write_text(html, found.to_html())
    if gif:
        with replacing(gif) as temporary:
            temporary.write_bytes(found.to_gif())
    if (html or gif) and not (form or output):
        # Whoever asked for a file alone gets the number, not the whole text.
        say(found.arithmetic)
    else:
        deliver(found, form, output, show=show_explanation)
