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


def complete_convention(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of conventions for the shell's completion."""
    from judged.conventions import conventions

    found = (each for each in conventions().values() if each.name.lower().startswith(incomplete.lower()))
    return [CompletionItem(each.name, help=each.title) for each in found]


def convention_option(function: Function) -> Function:
    return click.option(
        "--convention",
        metavar="LIBRARY",
        shell_complete=complete_convention,
        help="Score as another library does, such as ranx or torchmetrics: its names are understood, measures are its "
        "variants of them, and the policy is its own where none is given.",
    )(function)


def policy_options(function: Function) -> Function:
    """--ties, --missing, --empty and --unjudged; those that were given are gathered into one dict, `policy`."""

    def gather(*args: Any, **given: Any) -> Any:
        from click.core import ParameterSource

        context = click.get_current_context()
        values = {name: given.pop(name) for name in CHOICES}
        said = {name: value for name, value in values.items() if context.get_parameter_source(name) != ParameterSource.DEFAULT}
        return function(*args, policy=said, **given)

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
