"""The command that runs, as it could be typed again."""

from __future__ import annotations

import os
from shlex import join

import click

from judged.cli._files import Reads, Writes, flat
from judged.cli._options import said


def again() -> str:
    """The command that runs, as it could be typed again where its files lie: only their names."""
    ctx = click.get_current_context()
    words = ["judged", str(ctx.info_name)]
    for param in ctx.command.params:
        given = ctx.params.get(str(param.name))
        if given is None or not said(str(param.name)):
            continue
        own = param.type.types[0] if isinstance(param.type, click.Tuple) else param.type
        values = list(map(str, flat(given)))
        if isinstance(own, (Reads, Writes)):
            values = [os.path.basename(value) for value in values]
        flag = [] if isinstance(param, click.Argument) else [param.opts[-1]]
        if getattr(param, "is_flag", False):
            words += flag
        elif param.multiple:
            words += [word for value in values for word in (*flag, value)]
        else:
            words += [*flag, *values]
    return join(words)
