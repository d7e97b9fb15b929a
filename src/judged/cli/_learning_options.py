"""Options of commands that learn a similarity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from judged.cli._embedding_options import positives_option
from judged.cli._options import Function, complete_measure, rel_option

# fmt: off
NAMES = (
    "kind", "rank", "positives", "both", "measure", "validation", "held_out", "patience",
    "iterations", "decay", "candidates", "rel", "seed",
)
# fmt: on
"""What the options below say, by the names that the library has for it."""


def learning_options(kind: str) -> Callable[[Function], Function]:
    """All options of training but its temperature; `kind` is what is learned by default."""

    def decorate(function: Function) -> Function:
        for option in reversed(
            (
                click.option(
                    "--kind",
                    default=kind,
                    show_default=True,
                    metavar="KIND",
                    help="What is learned: bilinear (q W x), low-rank ((q U)·(x V)), diagonal "
                    "(a weight for each dimension) or two-tower-linear (the cosine of q A and "
                    "x B).",
                ),
                click.option(
                    "--rank",
                    type=int,
                    metavar="N",
                    help="Of low-rank and two-tower-linear: how many dimensions vectors are "
                    "mapped to.",
                ),
                positives_option,
                click.option(
                    "--both",
                    is_flag=True,
                    help="Add the loss of the other way: every item among the queries.",
                ),
                click.option(
                    "-m",
                    "--measure",
                    default="AP",
                    show_default=True,
                    metavar="MEASURE",
                    shell_complete=complete_measure,
                    help="What is computed on the validation queries after each iteration; the "
                    "best weights are kept.",
                ),
                click.option(
                    "--validation",
                    type=float,
                    default=0.2,
                    show_default=True,
                    metavar="SHARE",
                    help="Of the queries, to choose when to stop.",
                ),
                click.option(
                    "--held-out",
                    type=float,
                    default=0.2,
                    show_default=True,
                    metavar="SHARE",
                    help="Of the queries, never looked at in training; measured before and after "
                    "it. 0 for none.",
                ),
                click.option(
                    "--patience",
                    type=int,
                    default=10,
                    show_default=True,
                    metavar="N",
                    help="Stop after so many iterations without gain.",
                ),
                click.option(
                    "--iterations",
                    type=int,
                    default=200,
                    show_default=True,
                    metavar="N",
                    help="Stop after so many at the latest.",
                ),
                click.option(
                    "--decay",
                    type=float,
                    default=0.0,
                    show_default=True,
                    metavar="X",
                    help="How strongly weights are pulled back to the start.",
                ),
                click.option(
                    "--candidates",
                    type=int,
                    metavar="N",
                    help="Set training queries against their relevant items and N others, drawn "
                    "by the seed; without it, against all items.",
                ),
                rel_option,
                click.option(
                    "--seed",
                    type=int,
                    default=0,
                    show_default=True,
                    metavar="N",
                    help="Of the split and of all else that is drawn.",
                ),
            )
        ):
            function = option(function)
        return function

    return decorate


def learning(given: dict[str, Any]) -> dict[str, Any]:
    """What was said by these options."""
    return {name: given[name] for name in NAMES}
