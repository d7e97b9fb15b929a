"""`judged gate`: fail CI when a run is worse than its baseline."""

from __future__ import annotations

from typing import Any

import click

from judged.cli import _options as opt
from judged.cli._files import READS, WRITES, Command, command
from judged.comparison.settings import CHANGED, GATE_SAVED_AS, RULES

ARGUMENTS = "judged.gate.arguments"
"""Key under which click's context keeps the arguments, for the command that makes a baseline."""


class GateCommand(Command):
    """A command that keeps how it was called."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[ARGUMENTS] = tuple(args)
        return super().parse_args(ctx, args)


@command(cls=GateCommand, example="judged gate qrels.txt new.run --baseline baseline.json")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@opt.text(
    "--baseline",
    "FILE|RUN",
    "Compare with a file of --update-baseline, or with a run.",
    type=READS,
)
@opt.measures_option
@opt.choice("--rule", RULES, "Decide by this rule.", "loss")
@opt.text(
    "--max-drop",
    "MEASURE=DROP",
    "Allow this drop, such as nDCG@10=0.01, or a number for all measures.",
    multiple=True,
    callback=opt.by_measure,
)
@click.option(
    "--min",
    "minimum",
    multiple=True,
    metavar="MEASURE=VALUE",
    callback=opt.by_measure,
    help="Require this value, such as AP=0.3; may be given more than once.",
)
@opt.file("--golden", "Require values of single queries: lines of query, measure and minimum.")
@opt.choice("--changed", CHANGED, "Treat judgements that differ from the baseline's.", "error")
@opt.flag("--update-baseline", "Write the baseline file if the gate passes, or if there is none.")
@opt.flag("--force", "Write the baseline even if the gate fails or settings differ.")
@opt.number("--level", float, "SHARE", "Set the confidence level of one-sided tests.", 0.95)
@opt.groups_option
@opt.convention_option
@opt.trusted_option
@opt.scoring_options
@opt.memory_options
@opt.engine_options
@opt.text("--junit", "FILE", "Write a JUnit XML report.", type=WRITES)
@opt.text("--markdown", "FILE", "Write the result in Markdown.", type=WRITES)
@opt.text("--json", "FILE", "Write the result as JSON.", type=WRITES)
@opt.print_options(GATE_SAVED_AS)
def gate(
    judgements: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    baseline: str | None,
    junit: str | None,
    markdown: str | None,
    json: str | None,
    form: str | None,
    engine: dict[str, Any],
    **options: Any,
) -> int:
    """Compare RUN with a baseline; several RUNs are repeats of the same system.

    The exit code is 0 if every rule holds, 1 if one fails, and 2 if the gate cannot decide: too few
    queries, bad input, no baseline, another baseline, wrong usage. --min and --golden with minima
    need no baseline. Rankings files (*.rankings) can replace QRELS and RUN.
    """
    from judged.cli import DONE, NO, REFUSED
    from judged.cli._terminal import deliver
    from judged.comparison.gate import gate as run_gate
    from judged.comparison.gate.baseline import NoBaselineError
    from judged.errors import InputError
    from judged.outputs import write_text

    opt.check_format(form, None, GATE_SAVED_AS)
    update, force = options.pop("update_baseline"), options.pop("force")
    if force and not update:
        raise click.UsageError("--force needs --update-baseline.")
    try:
        compared: Any = None if baseline is None else opt.opened_run(engine, baseline, options)
        data = opt.opened(engine, judgements, runs, options)
        options |= {"baseline": compared, "update": "force" if force else update}
        result = opt.score_runs(run_gate, *data, measures or None, **options)
    except NoBaselineError:
        assert baseline is not None
        arguments = click.get_current_context().meta[ARGUMENTS]
        raise InputError(_how_to_make(baseline, arguments)) from None
    written = {junit: "to_junit", markdown: "to_markdown", json: "to_json"}
    texts = {path: getattr(result, method)() for path, method in written.items() if path}
    for path, content in texts.items():
        write_text(path, content)
    deliver(result, form, None)
    if not result.decided:
        return REFUSED
    return DONE if result.passed else NO


def _how_to_make(baseline: str, arguments: tuple[str, ...]) -> str:
    from shlex import join

    made = join(["judged", "gate", *arguments, "--update-baseline"])
    return f"{baseline}: there is no baseline yet. This makes one: {made}"
