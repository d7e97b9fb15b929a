"""`python -m bench [CASE]...`: measure, print, and with --write put the tables into the README."""

from __future__ import annotations

import sys
from dataclasses import replace

import click
from rich.console import Console

from bench.case import Case
from bench.cases import cases
from bench.measure import measure
from bench.report import show, write


@click.command()
@click.argument("names", metavar="[CASE]...", nargs=-1, type=click.Choice(list(cases())))
@click.option(
    "--repeat", type=click.IntRange(min=1), help="Rounds; by default each case has its own number."
)
@click.option(
    "--quick", is_flag=True, help="Small data and few rounds, to try the benchmark itself."
)
@click.option(
    "--only",
    metavar="NAME",
    multiple=True,
    help="Run only contenders whose name starts so (repeatable).",
)
@click.option(
    "--write",
    "to_readme",
    is_flag=True,
    help="Put the results of cases without a crash into bench/README.md.",
)
def main(
    names: tuple[str, ...], repeat: int | None, quick: bool, only: tuple[str, ...], to_readme: bool
) -> None:
    """Measure judged beside its peers, each contender in a fresh process.

    Cases that take long are run when they are named, or with --quick.

    Exits with 1 if a contender crashed, otherwise with 0, whatever the numbers are.
    """
    if to_readme and (quick or only):
        raise click.UsageError("--write wants the whole measurement: leave out --quick and --only.")
    console, progress = _console(), Console(stderr=True)
    crashed = False
    for name, case in cases(quick=quick).items():
        if name not in names if names else case.by_name:
            continue
        chosen = _only(case, only)
        rounds = repeat or case.repeat
        with progress.status(case.title) as status:
            results = measure(chosen, rounds, status.update)
        show(console, chosen, results)
        broken = any(result.crash for result in results)
        if to_readme and not broken:
            write(chosen, results, rounds)
        crashed = crashed or broken
    sys.exit(1 if crashed else 0)


def _console() -> Console:
    """Wide enough for the table where nobody says how wide: in a file or a pipe."""
    console = Console()
    return console if console.is_terminal else Console(width=140)


def _only(case: Case, starts: tuple[str, ...]) -> Case:
    if not starts:
        return case
    return replace(
        case, contenders=tuple(one for one in case.contenders if one.name.startswith(starts))
    )


if __name__ == "__main__":
    main()
