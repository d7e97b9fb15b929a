"""`judged fuse`: several runs made one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from judged.cli._files import READS, WRITES, command
from judged.cli._options import (
    amount_options,
    columns_option,
    default_of,
    duplicates_option,
    run_format_option,
)
from judged.runs.fusion import fuse as fuse_runs
from judged.runs.fusion.settings import METHODS, NORMALISATIONS, TIES


def _words(choices: dict[str, str]) -> str:
    return "; ".join(f"{name}: {words}" for name, words in choices.items()) + "."


def _numbers(ctx: click.Context, param: click.Parameter, given: str | None) -> list[float] | None:
    """Numbers with commas between them; how many and which, the library checks."""
    if given is None:
        return None
    try:
        return [float(part) for part in given.split(",")]
    except ValueError:
        raise click.BadParameter(f"{given!r} is no list of numbers, such as 2,1.") from None


@command(short_help="Make one run of several, by ranks or by scores.")
@click.argument("runs", metavar="RUN RUN...", nargs=-1, required=True, type=READS)
@click.option(
    "-o",
    "--output",
    type=WRITES,
    metavar="FILE",
    required=True,
    help="Where the fused run is written; its ending says the format: .run, .trec, .txt or none "
    "(TREC text), .csv, .json or .parquet.",
)
@click.option(
    "--method",
    type=click.Choice(list(METHODS)),
    default=default_of(fuse_runs, "method"),
    show_default=True,
    help=_words(METHODS),
)
@click.option(
    "--k",
    type=int,
    default=default_of(fuse_runs, "k"),
    show_default=True,
    metavar="K",
    help="Of rrf: the greater, the less the first ranks stand out.",
)
@click.option(
    "--weights",
    metavar="W,W,...",
    callback=_numbers,
    help="How much each RUN counts, in any method: a number for each, as 2,1; by default all "
    "count 1. Do not choose them by the queries that are then compared.",
)
@click.option(
    "--normalise",
    type=click.Choice(list(NORMALISATIONS)),
    show_default="minmax; rrf needs none",
    help=f"What is added in place of a score; {_words(NORMALISATIONS)}",
)
@click.option(
    "--depth",
    type=int,
    default=default_of(fuse_runs, "depth"),
    show_default=True,
    metavar="N",
    help="Only the first N results of each list count, and a fused list has at most N.",
)
@click.option(
    "--ties",
    type=click.Choice(list(TIES)),
    default=default_of(fuse_runs, "ties"),
    show_default=True,
    help=_words(TIES),
)
@duplicates_option
@columns_option
@run_format_option
@amount_options
def fuse(runs: tuple[str, ...], output: str, **options: Any) -> None:
    """Make one run of several RUN files and write it to a file, as every command reads it.

    An item that a list lacks gets nothing from that list; a query that a run lacks has what the
    others have. Files are read as by 'judged evaluate'; NAME=FILE gives a run a name.
    """
    from judged.cli._terminal import deliver, looks, say_warnings, working
    from judged.outputs import is_device
    from judged.results import check_run_target
    from judged.runs.fusion.result import Fusion

    check_run_target(output, Fusion.endings())
    with working("Fusing"):
        fused = fuse_runs(list(runs), **options)
        fused.save(output)
    if is_device(Path(output)):
        say_warnings(fused, **looks())  # standard output may be what was written to
    else:
        deliver(fused, None, None)
