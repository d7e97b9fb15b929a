"""`judged explain`: how one number of one query comes about."""

from __future__ import annotations

import click

from judged.cli._options import (
    RESULT,
    collection_option,
    complete_measure,
    convention_option,
    depth_option,
    duplicates_option,
    format_options,
    policy_options,
)
from judged.types import FileFormat

FORMATS = ("text", "json", "markdown", "html", "latex")
SUFFIXES = {".json": "json", ".md": "markdown", ".html": "html", ".htm": "html", ".tex": "latex"}
"""Endings of an output file that say its format."""


@click.command(short_help="Show how a number comes about, for one query.")
@click.argument("judgements", metavar="QRELS")
@click.argument("run", metavar="RUN", required=False)
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
@click.option(
    "--relevant",
    type=int,
    metavar="N",
    help="With a relevance list: how many items are relevant in all.",
)
@click.option(
    "--pool",
    metavar="GRADES",
    help="With a relevance list: the grades of all judged items, in any order.",
)
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
@format_options
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    show_default="text",
    help="How to print the explanation.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=RESULT,
    help="Write the explanation to a file; its ending may say the format.",
)
@click.option(
    "--html",
    metavar="FILE",
    type=click.Path(),
    help="Write a page that steps through the ranking; it needs no network.",
)
@click.option(
    "--gif",
    metavar="FILE",
    type=click.Path(),
    help="Write the same animation as a GIF, for slides and READMEs.",
)
def explain(
    judgements: str,
    run: str | None,
    query: str | None,
    measure: str,
    relevant: int | None,
    pool: str | None,
    convention: str | None,
    policy: dict[str, str],
    depth: int | None,
    duplicates: str,
    collection: int | None,
    rows: int,
    all_rows: bool,
    qrels_format: FileFormat | None,
    run_format: FileFormat | None,
    form: str | None,
    output: str | None,
    html: str | None,
    gif: str | None,
) -> None:
    """Show how a measure comes to its value for one query: the formula, the ranking rank by rank,
    the arithmetic with real numbers, what would raise the value most, and its value under other
    definitions.

    In place of QRELS and RUN, a relevance list may stand: the grades in rank order in one argument,
    such as "0 1 0 0 1", with - for an item that nobody judged.
    """
    from pathlib import Path

    from judged.errors import InputError
    from judged.explanation import explain as explained
    from judged.outputs import check_target, write_text

    for target in (output, html, gif):
        if target is not None:
            check_target(target, reads=() if run is None else (judgements, run))
    given: object = judgements
    listed: object = run
    if run is not None:
        from judged.inputs import read_judgements, read_run

        if judgements == run == "-":
            raise InputError("standard input (-) can be read only once; give the other as a file.")
        given, listed = (
            read_judgements(judgements, format=qrels_format),
            read_run(run, format=run_format),
        )
    explanation = explained(
        given,
        listed,
        measure,
        query=query,
        relevant=relevant,
        pool=pool,
        policy=policy,
        depth=depth,
        duplicates=duplicates,
        collection=collection,
        convention=convention,
        rows=None if all_rows else rows,
    )
    if html:
        explanation.save_html(html)
    if gif:
        explanation.save_gif(gif)
    chosen = form or (SUFFIXES.get(Path(output).suffix.lower(), "text") if output else "text")
    if output is not None:
        text = getattr(explanation, f"to_{chosen}")()
        write_text(output, text if text.endswith("\n") else text + "\n")
    elif chosen == "text" and not form and (html or gif):
        # Whoever asked for a file alone gets the number, not the whole text.
        click.echo(explanation.arithmetic)
    elif chosen == "text":
        from judged.cli._terminal import show_explanation

        show_explanation(explanation)
    else:
        click.echo(getattr(explanation, f"to_{chosen}")(), nl=False)
