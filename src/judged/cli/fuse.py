"""`judged fuse`: fuse several runs into one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from judged.cli._files import READS, WRITES, command
from judged.cli._options import (
    amount_options,
    choice,
    columns_option,
    duplicates_option,
    number,
    run_format_option,
    text,
)
from judged.runs import DEPTH, METHODS, NORMALISATIONS, TIES, K


def _numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> list[float] | None:
    """Read numbers with commas between them; the library checks how many and which."""
    if value is None:
        return None
    try:
        return [float(part) for part in value.split(",")]
    except ValueError:
        raise click.BadParameter(f"{value!r} is no list of numbers, such as 2,1.") from None


@command(example="judged fuse bm25.run dense.run -o fused.run")
@click.argument("runs", metavar="RUN RUN...", nargs=-1, required=True, type=READS)
@click.option(
    "-o",
    "--output",
    type=WRITES,
    metavar="FILE",
    required=True,
    help="Write the fused run: .run, .trec, .txt or none (TREC text), .csv, .json or .parquet.",
)
@choice("--method", METHODS, "Fuse by this method.", "rrf")
@number("--k", int, "K", "Set k of rrf; larger values flatten the first ranks.", K)
@text(
    "--weights", "W,W,...", "Weight the runs, such as 2,1; by default equally.", callback=_numbers
)
@choice("--normalise", NORMALISATIONS, "Normalise scores first, by default minmax (rrf: none).")
@number("--depth", int, "N", "Use only the first N results of each list.", DEPTH)
@choice("--ties", TIES, "Break ties of equal scores.", "id")
@duplicates_option
@columns_option
@run_format_option
@amount_options
def fuse(runs: tuple[str, ...], output: str, **options: Any) -> None:
    """Fuse several RUN files into one run and write it to a file.

    An item that is missing in a list gets nothing from it. Do not choose --weights on the queries
    that you evaluate on. NAME=FILE names a run.
    """
    from judged.cli._terminal import deliver, display_options, say_warnings, working
    from judged.outputs import is_device
    from judged.results import check_run_target
    from judged.runs.fusion import Fusion
    from judged.runs.fusion import fuse as fuse_runs

    check_run_target(output, Fusion.endings())
    policy = {name: options.pop(name) for name in ("depth", "ties", "duplicates")}
    with working("Fusing"):
        fused = fuse_runs(list(runs), policy=policy, **options)
        fused.save(output)
    if is_device(Path(output)):
        say_warnings(fused, **display_options())  # standard output may be what was written to
    else:
        deliver(fused, None, None)
