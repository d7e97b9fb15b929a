"""`judged gate`: fail CI when a run is worse than its baseline."""

from __future__ import annotations

from typing import Any

import click

from judged.cli._files import READS, WRITES, Command, command
from judged.cli._options import (
    call_scoring,
    check_format,
    choice,
    collection_option,
    convention_option,
    data_options,
    depth_option,
    duplicates_option,
    engine_options,
    file,
    flag,
    groups_option,
    measures_option,
    memory_options,
    number,
    opened,
    opened_run,
    policy_options,
    print_options,
    text,
    trusted_option,
    unique_option,
    weights_option,
)
from judged.comparison.settings import CHANGED, GATE_SAVED_AS, RULES

ARGUMENTS = "judged.gate.arguments"
"""Key under which click's context keeps the arguments, for the command that makes a baseline."""


class GateCommand(Command):
    """A command that keeps how it was called."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[ARGUMENTS] = tuple(args)
        return super().parse_args(ctx, args)


def _limits(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> Any:
    """Read MEASURE=NUMBER, or a number for all measures; the library checks the values."""
    limits: dict[str, Any] = {}
    for limit in texts:
        measure, equals, written = limit.rpartition("=")
        try:
            value = float(written)
        except ValueError:
            raise click.BadParameter(
                f"{limit!r} is no MEASURE=NUMBER, such as nDCG@10=0.01."
            ) from None
        measure = measure.strip()
        if equals and not measure:
            raise click.BadParameter(f"{limit!r} names no measure, as in nDCG@10=0.01.")
        if not equals and len(texts) > 1:
            raise click.BadParameter(f"{limit!r} must say for which measure, as in nDCG@10=0.01.")
        if measure in limits:
            raise click.BadParameter(f"{measure} is given twice.")
        if not equals:
            return value
        limits[measure] = value
    return limits or None


@command(cls=GateCommand, example="judged gate qrels.txt new.run --baseline baseline.json")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@text(
    "--baseline",
    "FILE|RUN",
    "Compare with a file of --update-baseline, or with a run.",
    type=READS,
)
@measures_option
@choice("--rule", RULES, "Decide by this rule.", "loss")
@text(
    "--max-drop",
    "MEASURE=DROP",
    "Allow this drop, such as nDCG@10=0.01, or a number for all measures.",
    multiple=True,
    callback=_limits,
)
@click.option(
    "--min",
    "minimum",
    multiple=True,
    metavar="MEASURE=VALUE",
    callback=_limits,
    help="Require this value, such as AP=0.3; may be given more than once.",
)
@file("--golden", "Require values of single queries: lines of query, measure and minimum.")
@choice("--changed", CHANGED, "Treat judgements that differ from the baseline's.", "error")
@flag("--update-baseline", "Write the baseline file if the gate passes, or if there is none.")
@flag("--force", "Write the baseline even if the gate fails or settings differ.")
@number("--level", float, "SHARE", "Set the confidence level of one-sided tests.", 0.95)
@groups_option
@convention_option
@policy_options
@weights_option
@trusted_option
@depth_option
@collection_option
@unique_option
@duplicates_option
@data_options
@memory_options
@engine_options
@text("--junit", "FILE", "Write a JUnit XML report.", type=WRITES)
@text("--markdown", "FILE", "Write the result in Markdown.", type=WRITES)
@text("--json", "FILE", "Write the result as JSON.", type=WRITES)
@print_options(GATE_SAVED_AS)
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
    """Compare RUN with a baseline on the judgements in QRELS; several RUNs are repeats of the same
    system.

    The exit code is 0 if every rule holds, 1 if one fails, and 2 if the gate cannot decide: too few
    queries, bad input, no baseline, another baseline, wrong usage. --min and --golden with minima
    need no baseline.
    """
    from judged.cli import DONE, NO, REFUSED
    from judged.cli._terminal import counting, deliver
    from judged.comparison.gate import gate as run_gate
    from judged.comparison.gate.baseline import NoBaselineError
    from judged.errors import InputError
    from judged.outputs import write_text

    check_format(form, None, GATE_SAVED_AS)
    update, force = options.pop("update_baseline"), options.pop("force")
    if force and not update:
        raise click.UsageError("--force needs --update-baseline.")
    try:
        compared: Any = None if baseline is None else opened_run(engine, baseline, options)
        with counting("Reading runs", len(runs) or 1, "") as advance:
            result = call_scoring(
                run_gate,
                *opened(engine, judgements, runs, options),
                measures or None,
                baseline=compared,
                progress=advance and (lambda _: advance(1)),
                update="force" if force else update,
                **options,
            )
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
