"""--memory and --temporary, for the commands that read runs of any size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from judged.inputs.blocks import MEMORY

Function = TypeVar("Function", bound=Callable[..., Any])


def room_options(function: Function) -> Function:
    """--memory and --temporary."""
    options = (
        click.option(
            "--memory",
            default=MEMORY,
            show_default=True,
            metavar="SIZE",
            help="What a run may take while it is read; a larger one is read in blocks.",
        ),
        click.option(
            "--temporary",
            metavar="DIR",
            help="The folder for rows of a run that is not grouped by query, which are put on disk "
            "meanwhile.  [default: that of the system]",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function
