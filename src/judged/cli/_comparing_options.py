"""Options that say how runs are compared, of `judged compare` and of charts of comparisons."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from judged.cli._files import READS
from judged.cli._options import Function, default_of
from judged.comparison import compare
from judged.comparison.settings import CORRECTIONS, TESTS
from judged.errors import InputError, quoted


def _default(name: str) -> Any:
    return default_of(compare, name)


def _margins(
    context: click.Context, param: click.Parameter, given: Iterable[str]
) -> dict[str, float] | float | None:
    """Margins as `compare` takes them: MEASURE=SIZE, or one SIZE for all measures."""
    found: dict[str, float] = {}
    for text in given:
        measure, _, size = text.rpartition("=")
        try:
            found[measure] = float(size)
        except ValueError:
            raise InputError(
                f"--margin must be a size, or MEASURE=SIZE as nDCG@10=0.01; got {quoted(text)}."
            ) from None
    if "" not in found:
        return found or None
    if len(found) > 1:
        raise InputError("--margin is one size for all measures, or MEASURE=SIZE for each.")
    return found[""]


def comparing_options(function: Function) -> Function:
    """All of them."""
    options = (
        click.option(
            "--baseline",
            metavar="RUN",
            help="The run that all others are compared with; by default the first of two, and all "
            "pairs of more.",
        ),
        click.option(
            "--test",
            type=click.Choice(list(TESTS)),
            default=_default("test"),
            show_default=True,
            help="; ".join(f"{name}: {words}" for name, words in TESTS.items()) + ".",
        ),
        click.option(
            "--correction",
            type=click.Choice(list(CORRECTIONS)),
            default=_default("correction"),
            show_default=True,
            help="How p is corrected for the number of comparisons.",
        ),
        click.option(
            "--level",
            type=float,
            default=_default("level"),
            show_default=True,
            metavar="SHARE",
            help="The level of intervals; a difference is shown where the corrected p is below "
            "1 - level.",
        ),
        click.option(
            "--margin",
            metavar="MEASURE=SIZE",
            multiple=True,
            callback=_margins,
            help="The smallest difference that matters, as nDCG@10=0.01, or one for all measures: "
            "0.01. Runs shown to differ by less are equivalent.",
        ),
        click.option(
            "--groups",
            metavar="FILE",
            type=READS,
            help="A table of queries and their groups, as sessions: queries of a group count "
            "together.",
        ),
        click.option(
            "--unjudged-range",
            is_flag=True,
            help="Check whether unjudged results could change a verdict.",
        ),
        click.option(
            "--seed",
            type=int,
            default=_default("seed"),
            show_default=True,
            metavar="N",
            help="What they are drawn from.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function
