"""Options that several commands share; the choices come from where they are declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from judged.policy import CHOICES, Policy

Function = TypeVar("Function", bound=Callable[..., Any])


def complete_measure(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of measures for the shell's completion."""
    from judged.measures import REGISTRY

    found = (spec for spec in REGISTRY.values() if spec.name.lower().startswith(incomplete.lower()))
    return [CompletionItem(spec.name, help=spec.title) for spec in found]


def measures_option(function: Function) -> Function:
    return click.option(
        "-m",
        "--measure",
        "measures",
        multiple=True,
        metavar="MEASURE",
        shell_complete=complete_measure,
        help="A measure such as nDCG@10 or AP(rel=2)@100; may be given more than once. 'judged measures' lists them.",
    )(function)


def policy_options(function: Function) -> Function:
    """--ties, --missing, --empty and --unjudged, gathered into one `policy`."""

    def gather(*args: Any, **given: Any) -> Any:
        chosen = {name: given.pop(name) for name in CHOICES}
        return function(*args, policy=Policy(**chosen), **given)

    gather.__name__, gather.__doc__ = function.__name__, function.__doc__
    gather.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
    for name, sentences in reversed(CHOICES.items()):
        words = "; ".join(f"{choice}: {sentence}" for choice, sentence in sentences.items())
        default = getattr(Policy(), name)
        option = click.option(
            f"--{name}", type=click.Choice(list(sentences)), default=default, show_default=True, help=f"{words}."
        )
        gather = option(gather)
    return gather  # type: ignore[return-value]
