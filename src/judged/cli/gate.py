"""`judged gate`: fail CI when a run is worse than its baseline."""

from __future__ import annotations

from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._command import ARGUMENTS, READS, WRITES, command
from judged.comparison.settings import GATE_SAVED_AS, RULES
from judged.results import endings
from judged.text import listed


@command(example="judged gate qrels.txt new.run --baseline baseline.json")
@opt.data_arguments
@opt.text(
    "--baseline",
    "FILE|RUN",
    "Compare with a file of --update-baseline, or with a run.",
    type=READS,
    common=True,
)
@opt.measures_option
@opt.choice("--rule", RULES, "Decide by this rule.", "loss")
@opt.text(
    "--max-drop",
    "MEASURE=DROP",
    "Allow this drop, such as nDCG@10=0.01, or a number for all measures.",
    multiple=True,
    callback=opt.by_measure,
    common=True,
)
@opt.option(
    *("--min", "minimum"),
    multiple=True,
    metavar="MEASURE=VALUE",
    callback=opt.by_measure,
    help="Require this value, such as AP=0.3; may be given more than once.",
    common=True,
)
@opt.file("--golden", "Require values of single queries: lines of query, measure and minimum.")
@opt.flag(
    "--update-baseline",
    "Write the baseline file if the gate passes, or if there is none.",
    common=True,
)
@opt.flag("--force", "Write the baseline even if the gate fails or settings differ.")
@opt.level_option("Set the confidence level of one-sided tests.")
@opt.groups_option
@opt.slices_option
@opt.convention_option
@opt.trusted_option
@opt.policy_options("ties", "missing", "empty", "depth")
@opt.columns_option
@opt.option(
    *("-o", "--output"),
    metavar="FILE",
    type=WRITES,
    multiple=True,
    help="Write a file: "
    + listed(endings(GATE_SAVED_AS), "or")
    + ". .xml is JUnit. May be given more than once.",
    group="output",
    common=True,
)
@opt.result_options(GATE_SAVED_AS, written=False, quiet=True)
def gate(
    judgements: str,
    runs: tuple[str, ...],
    output: tuple[str, ...],
    update_baseline: bool,
    force: bool,
    **options: Any,
) -> Any:
    """Compare RUN with a baseline; several RUNs are repeats of the same system.

    The exit code is 0 if every rule holds, 1 if one fails, and 2 if the gate cannot decide: too few
    queries, bad input, no baseline, another baseline, wrong usage. --min and --golden with minima
    need no baseline. Rankings files (*.rankings) can replace QRELS and RUN.
    """
    from judged.cli import DONE, NO, REFUSED
    from judged.comparison.baseline import NoBaselineError
    from judged.comparison.gate import gate as run_gate
    from judged.errors import InputError
    from judged.outputs import checked_ending

    if force and not update_baseline:
        raise click.UsageError("--force needs --update-baseline.")
    for path in output:
        checked_ending(path, endings(GATE_SAVED_AS))
    options["update"] = "force" if force else update_baseline
    try:
        result = opt.score_runs(run_gate, judgements, runs, **options)
    except NoBaselineError:
        from shlex import join

        made = join(["judged", "gate", *click.get_current_context().meta[ARGUMENTS]])
        raise InputError(
            f"{options['baseline']}: there is no baseline yet. This makes one: {made} "
            "--update-baseline"
        ) from None
    for path in output:
        result.save(path)
    code = DONE if result.passed else NO
    return result, code if result.decided else REFUSED
