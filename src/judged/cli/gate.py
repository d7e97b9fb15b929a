"""`judged gate`: may this run take the place of the one before?"""

from __future__ import annotations

from typing import Any

import click

from judged.cli._engine_options import engine_options, opened, opened_run
from judged.cli._files import READS, WRITES, Command, command
from judged.cli._options import (
    check_format,
    collection_option,
    convention_option,
    data_options,
    depth_option,
    duplicates_option,
    measures_option,
    policy_options,
    print_option,
    trusted_option,
    weights_option,
)
from judged.cli._room_options import room_options
from judged.comparison.settings import CHANGED, GATE_SAVED_AS, RULES

ARGUMENTS = "judged.gate.arguments"
"""Where the arguments wait, for the command that makes a baseline."""


class GateCommand(Command):
    """A command that knows how it was called."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[ARGUMENTS] = tuple(args)
        return super().parse_args(ctx, args)


def _limits(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> Any:
    """MEASURE=NUMBER, or a number for all measures; what is wrong with it the library says."""
    found: dict[str, Any] = {}
    for text in given:
        measure, equals, written = text.rpartition("=")
        try:
            value = float(written)
        except ValueError:
            raise click.BadParameter(
                f"{text!r} is no MEASURE=NUMBER, such as nDCG@10=0.01."
            ) from None
        measure = measure.strip()
        if equals and not measure:
            raise click.BadParameter(f"{text!r} names no measure, as in nDCG@10=0.01.")
        if not equals and len(given) > 1:
            raise click.BadParameter(f"{text!r} must say for which measure, as in nDCG@10=0.01.")
        if measure in found:
            raise click.BadParameter(f"{measure} is given twice.")
        if not equals:
            return value
        found[measure] = value
    return found or None


def _words(choices: dict[str, str]) -> str:
    return "; ".join(f"{name}: {words}" for name, words in choices.items()) + "."


@command(cls=GateCommand, short_help="Hold a run against a baseline: exit code 0, 1 or 2.")
@click.argument("judgements", metavar="QRELS", type=READS)
@click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
@click.option(
    "--baseline",
    metavar="FILE|RUN",
    type=READS,
    help="A file that --update-baseline wrote, known by its content, or a run, which is scored "
    "again with today's judgements; not needed for --min, nor for --golden with minima.",
)
@measures_option
@click.option(
    "--rule",
    type=click.Choice(list(RULES)),
    default="loss",
    show_default=True,
    help=_words(RULES),
)
@click.option(
    "--max-drop",
    multiple=True,
    metavar="MEASURE=DROP",
    callback=_limits,
    help="By how much a value may be worse: nDCG@10=0.01, or a number for all measures; by "
    "default 0. May be given more than once.",
)
@click.option(
    "--min",
    "minimum",
    multiple=True,
    metavar="MEASURE=VALUE",
    callback=_limits,
    help="What a value has to reach: AP=0.3; where lower is better, the most that it may be. With "
    "--rule safe the bound of its interval has to. May be given more than once.",
)
@click.option(
    "--golden",
    metavar="FILE",
    type=READS,
    help="Queries that have to reach their values in the baseline, or the minimum in the file: "
    "lines of a query, a measure and a minimum, the last two optional.",
)
@click.option(
    "--changed",
    type=click.Choice(list(CHANGED)),
    default="error",
    show_default=True,
    help=f"Where judgements are not those of the baseline file; {_words(CHANGED)}",
)
@click.option(
    "--update-baseline",
    is_flag=True,
    help="Write the baseline file if the gate passes, or if there is none.",
)
@click.option(
    "--force",
    is_flag=True,
    help="With --update-baseline: write it even if the gate fails or cannot compare.",
)
@click.option(
    "--level",
    type=float,
    default=0.95,
    show_default=True,
    metavar="LEVEL",
    help="A loss is shown where its one-sided p, corrected, is below 1 - LEVEL.",
)
@click.option(
    "--groups",
    metavar="FILE",
    type=READS,
    help="A table of queries and their groups, where queries of a group are not independent.",
)
@convention_option
@policy_options
@weights_option
@trusted_option
@depth_option
@collection_option
@click.option(
    "--unique",
    metavar="FILE",
    type=READS,
    help="A table of items and their categories: each category's best result stands for it, and "
    "categories are ranked.",
)
@duplicates_option
@data_options
@room_options
@engine_options
@click.option("--junit", metavar="FILE", type=WRITES, help="Write a report in JUnit's XML.")
@click.option("--markdown", metavar="FILE", type=WRITES, help="Write the result in Markdown.")
@click.option("--json", metavar="FILE", type=WRITES, help="Write the result as JSON.")
@print_option(GATE_SAVED_AS)
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
    """Hold RUN against a baseline by the judgements in QRELS; several RUNs are repeats of the same
    system.

    The exit code is 0 where every rule holds, 1 where one does not, and 2 where nothing was
    decided: too few queries to show anything, bad input, no baseline, another one, wrong usage.
    """
    from judged.cli import DONE, NO, REFUSED
    from judged.cli._terminal import counting, deliver
    from judged.comparison.gate import gate as hold
    from judged.comparison.gate.baseline import NoBaselineError
    from judged.errors import InputError
    from judged.outputs import write_text

    check_format(form, None, GATE_SAVED_AS)
    update, force = options.pop("update_baseline"), options.pop("force")
    if force and not update:
        raise click.UsageError("--force needs --update-baseline.")
    try:
        held: Any = None if baseline is None else opened_run(engine, baseline, options)
        with counting("Reading runs", len(runs) or 1, "") as advance:
            found = hold(
                *opened(engine, judgements, runs, options),
                measures or None,
                baseline=held,
                progress=advance and (lambda _: advance(1)),
                update="force" if force else update,
                **options,
            )
    except NoBaselineError:
        assert baseline is not None
        raise InputError(
            _how_to_make(baseline, click.get_current_context().meta[ARGUMENTS])
        ) from None
    written = {junit: "to_junit", markdown: "to_markdown", json: "to_json"}
    texts = {path: getattr(found, method)() for path, method in written.items() if path}
    for path, text in texts.items():
        write_text(path, text)
    deliver(found, form, None)
    if not found.decided:
        return REFUSED
    return DONE if found.passed else NO


def _how_to_make(baseline: str, arguments: tuple[str, ...]) -> str:
    """The message where there is no baseline, with the command that makes one."""
    from shlex import join

    made = join(["judged", "gate", *arguments, "--update-baseline"])
    return f"{baseline}: there is no baseline yet. This makes one: {made}"
