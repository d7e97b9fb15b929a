"""Options of commands that take many runs."""

from __future__ import annotations

import click

from judged.cli._options import Function


def runs_options(function: Function) -> Function:
    """How many runs are worked on at once, and what becomes of bad ones."""
    jobs = click.option(
        "--jobs",
        metavar="N",
        type=click.IntRange(min=1),
        help="Read and judge so many runs at once; by default one for each core.",
    )
    return jobs(
        click.option(
            "--skip-bad",
            is_flag=True,
            help="Leave runs out that cannot be evaluated, and warn of each, in place of refusing "
            "all.",
        )(function)
    )
