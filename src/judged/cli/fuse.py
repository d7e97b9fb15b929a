"""`judged fuse`: fuse several runs into one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._files import READS, command
from judged.runs import DEPTH, METHODS, NORMALISATIONS, TIES, K


@command(example="judged fuse bm25.run dense.run -o fused.run")
@click.argument("runs", metavar="RUN RUN...", nargs=-1, required=True, type=READS)
@opt.output_option(
    "Write the fused run: .run, .trec, .txt or none (TREC text), .csv, .json or .parquet."
)
@opt.choice("--method", METHODS, "Fuse by this method.", "rrf")
@opt.number("--k", int, "K", "Set k of rrf; larger values flatten the first ranks.", K)
@opt.text(
    "--weights",
    "W,W,...",
    "Weight the runs, such as 2,1; by default equally.",
    callback=opt.list_of_numbers,
)
@opt.choice("--normalise", NORMALISATIONS, "Normalise scores first, by default minmax (rrf: none).")
@opt.number("--depth", int, "N", "Use only the first N results of each list.", DEPTH)
@opt.choice("--ties", TIES, "Break ties of equal scores.", "id")
@opt.duplicates_option
@opt.columns_option
@opt.run_format_option
@opt.amount_options
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
