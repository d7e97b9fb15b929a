"""Options that several commands share; the choices come from where they are declared."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from judged.evaluation.exports import FORMATS
from judged.inputs.formats import FORMATS as INPUT_FORMATS
from judged.policy import CHOICES, DUPLICATES, Policy

Function = TypeVar("Function", bound=Callable[..., Any])
FILE = click.Path()
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".pdf")
SUFFIXES = {".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex"}
"""Endings of an output file that say its format."""


class _Result(click.Path):
    """A file that a result is written to: text, so not one that is called a picture."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if Path(value).suffix.lower() in PICTURES:
            self.fail(
                f"{value}: a result is written as text; 'judged plot' draws pictures.", param, ctx
            )
        return super().convert(value, param, ctx)


RESULT = _Result()


def complete_measure(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
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
        help=(
            "A measure such as nDCG@10 or AP(rel=2)@100; may be given more than once. 'judged "
            "measures' lists them."
        ),
    )(function)


def complete_convention(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of conventions for the shell's completion."""
    from judged.conventions import conventions

    found = (
        each for each in conventions().values() if each.name.lower().startswith(incomplete.lower())
    )
    return [CompletionItem(each.name, help=each.title) for each in found]


def convention_option(function: Function) -> Function:
    return click.option(
        "--convention",
        metavar="LIBRARY",
        shell_complete=complete_convention,
        help="Score as another library does, such as ranx or torchmetrics: its names are "
        "understood, measures are its "
        "variants of them, and the policy is its own where none is given.",
    )(function)


def policy_options(function: Function) -> Function:
    """--ties, --missing, --empty and --unjudged; those that were given are gathered into one dict,
    `policy`."""

    def gather(*args: Any, **given: Any) -> Any:
        from click.core import ParameterSource

        context = click.get_current_context()
        values = {name: given.pop(name) for name in CHOICES}
        said = {
            name: value
            for name, value in values.items()
            if context.get_parameter_source(name) != ParameterSource.DEFAULT
        }
        return function(*args, policy=said, **given)

    gather.__name__, gather.__doc__ = function.__name__, function.__doc__
    gather.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
    for name, sentences in reversed(CHOICES.items()):
        words = "; ".join(f"{choice}: {sentence}" for choice, sentence in sentences.items())
        default = getattr(Policy(), name)
        option = click.option(
            f"--{name}",
            type=click.Choice(list(sentences)),
            default=default,
            show_default=True,
            help=f"{words}.",
        )
        gather = option(gather)
    return gather  # type: ignore[return-value]


def depth_option(function: Function) -> Function:
    return click.option(
        "--depth", type=int, metavar="N", help="Only the first N results of each list count."
    )(function)


def collection_option(function: Function) -> Function:
    return click.option(
        "--collection",
        type=int,
        metavar="N",
        help="How many items there are to retrieve; TN, Accuracy and Specificity need it.",
    )(function)


def duplicates_option(function: Function) -> Function:
    return click.option(
        "--duplicates",
        type=click.Choice(list(DUPLICATES)),
        default="error",
        show_default=True,
        help="; ".join(f"{choice}: {words}" for choice, words in DUPLICATES.items()) + ".",
    )(function)


def format_options(function: Function) -> Function:
    """--qrels-format and --run-format, as every command that reads both kinds of files has them."""
    formats = click.Choice(list(INPUT_FORMATS))
    of_run = click.option(
        "--run-format", type=formats, help="The format of RUN, where it is not recognised."
    )
    return click.option(
        "--qrels-format", type=formats, help="The format of QRELS, where it is not recognised."
    )(of_run(function))


def tie_range_option(function: Function) -> Function:
    return click.option(
        "--tie-range",
        is_flag=True,
        help="Beside each number, its values when ties are ordered against the system (worst), "
        "on average over all their "
        "orders (expected) and in its favour (best).",
    )(function)


def output_options(function: Function) -> Function:
    """--per-query, --format and -o, as every command that prints an evaluation has them."""
    for option in reversed(
        (
            click.option(
                "--per-query",
                is_flag=True,
                help="Give the value of every query; a table ends with the summary, all.",
            ),
            click.option(
                "--format",
                "form",
                type=click.Choice(list(FORMATS)),
                show_default="table",
                help="How to print the result.",
            ),
            click.option(
                "-o",
                "--output",
                metavar="FILE",
                type=RESULT,
                help="Write the result to a file; its ending may say the format.",
            ),
        )
    ):
        function = option(function)
    return function


RESULT_FORMS = ("table", "json", "csv")
"""The formats of a result that is a table for people and for programs."""


def result_options(chart: str) -> Callable[[Function], Function]:
    """--format and -o, for a result that is a table for people and for programs; `judged plot
    CHART` reads its JSON."""

    def decorate(function: Function) -> Function:
        written = click.option(
            "-o",
            "--output",
            metavar="FILE",
            type=RESULT,
            help=(
                "Write the result to a file; its ending may say the format. 'judged plot "
                f"{chart}' reads the JSON."
            ),
        )
        formats = click.Choice(RESULT_FORMS)
        return click.option(
            "--format", "form", type=formats, show_default="table", help="How to print the result."
        )(written(function))

    return decorate


def chosen_format(form: str | None, output: str | None) -> str:
    """The format that was asked for, or that the ending of the output file says."""
    return form or (SUFFIXES.get(Path(output).suffix.lower(), "table") if output else "table")


def checked_format(form: str | None, output: str | None, forms: Iterable[str]) -> str:
    """The format, once it is sure that a result has it."""
    chosen = chosen_format(form, output)
    if chosen not in forms:
        listed = " or ".join(["as a table", *(f"as {name}" for name in forms if name != "table")])
        raise click.UsageError(f"this result is printed {listed}, not as {chosen}.")
    return chosen


def deliver(
    as_dict: Callable[[], dict[str, Any]],
    as_text: Callable[[], str],
    form: str | None,
    output: str | None,
    as_markdown: Callable[[], str] | None = None,
    *,
    as_csv: Callable[[], str] | None = None,
    show: Callable[[], None] | None = None,
) -> None:
    """Print or write a result: text for people, JSON for programs, Markdown and CSV where there is
    one; `show` prints text."""
    import json

    from judged.outputs import write_text

    forms: dict[str, Callable[[], str]] = {
        "table": as_text,
        "json": lambda: json.dumps(as_dict(), indent=2, ensure_ascii=False, allow_nan=False),
        **({} if as_csv is None else {"csv": as_csv}),
        **({} if as_markdown is None else {"markdown": as_markdown}),
    }
    chosen = checked_format(form, output, forms)
    if chosen == "table" and show is not None and not output:
        show()
        return
    text = forms[chosen]().removesuffix("\n") + "\n"
    if output is not None:
        write_text(output, text)
    else:
        click.echo(text, nl=False)
