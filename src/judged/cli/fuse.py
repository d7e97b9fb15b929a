"""`judged fuse`: fuse several runs into one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._command import READS, command
from judged.runs import METHODS, NORMALISATIONS, K


@command(example="judged fuse bm25.run dense.run -o fused.run")
@click.argument("runs", metavar="RUN RUN...", nargs=-1, required=True, type=READS)
@opt.output_option(
    "Write the fused run: .run, .trec, .txt or none (TREC text), .csv, .json or .parquet."
)
@opt.choice("--method", METHODS, "Fuse by this method.", "rrf")
@opt.number("--rrf-k k", int, "K", "Set k of rrf; larger values flatten the first ranks.", K)
@opt.numbers(
    "--run-weights weights", float, "W,W,...", "Weight the runs, such as 2,1; by default equally."
)
@opt.choice(
    "--normalise",
    NORMALISATIONS,
    "Normalise scores first, by default minmax (rrf: none).",
    aliases=["--normalize"],
)
@opt.columns_option
def fuse(runs: tuple[str, ...], output: str, **options: Any) -> None:
    """Fuse several RUN files into one run and write it to a file.

    An item that is missing in a list gets nothing from it. Do not choose --run-weights on the
    queries that you evaluate on. NAME=FILE names a run.
    """
    from judged.cli._terminal import deliver, say_warnings, working
    from judged.outputs import is_device
    from judged.results import check_run_target
    from judged.runs.fusion import Fusion
    from judged.runs.fusion import fuse as fuse_runs

    check_run_target(output, Fusion.endings())
    with working("Fusing"):
        fused = fuse_runs(list(runs), **options)
        fused.save(output)
    if is_device(Path(output)):
        say_warnings(fused)  # standard output may be what was written to
    else:
        deliver(fused, None, None)
