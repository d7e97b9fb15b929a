"""Options that several commands share. Choices and defaults come from the library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from functools import cache, wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from judged.cli._command import ITEM_TO, READS, WRITES, GroupedOption
from judged.cli._command import option as option  # for commands
from judged.cli._terminal import DISPLAY, deliver, display_options
from judged.inputs.formats import FORMATS as INPUT_FORMATS
from judged.options import LEVEL
from judged.policy import CHOICES, DUPLICATES, POSITIVES, Policy
from judged.results import FORMAT_OPTIONS, Display, Result, endings
from judged.text import listed

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Function = TypeVar("Function", bound=Callable[..., Any])
Decorator = Callable[[Function], Function]

# -- kinds of options; after a space, a name may have the keyword of the library


def together(*options: Decorator[Any]) -> Decorator[Any]:
    """Return one decorator for several options, in the order of the help."""

    def decorate(function: Function) -> Function:
        for add in reversed(options):
            function = add(function)
        return function

    return decorate


def numbers(name: str, kind: Any, metavar: str, help: str, **settings: Any) -> Decorator[Any]:
    """Return an option that takes numbers with commas; the library checks how many and which."""

    def read(context: click.Context, param: click.Parameter, text: str | None) -> Any:
        try:
            return None if text is None else [kind(part) for part in text.split(",")]
        except ValueError:
            raise click.BadParameter(f"{text!r} is not a list of numbers, such as 2,1.") from None

    return text(name, metavar, help, callback=read, **settings)


def flag(name: str, help: str, **settings: Any) -> Decorator[Any]:
    """Return an option without a value."""
    return option(*name.split(), is_flag=True, help=help, **settings)


def number(
    name: str, kind: Any, metavar: str, help: str, default: float | None = None, **settings: Any
) -> Decorator[Any]:
    """Return an option that takes an `int` or a `float`."""
    settings |= {"default": default, "show_default": default is not None, "help": help}
    return option(*name.split(), type=kind, metavar=metavar, **settings)


def text(name: str, metavar: str, help: str, **settings: Any) -> Decorator[Any]:
    """Return an option that takes a text."""
    return option(*name.split(), metavar=metavar, help=help, **settings)


def file(name: str, help: str, **settings: Any) -> Decorator[Any]:
    """Return an option that names a file to read."""
    return option(*name.split(), metavar="FILE", type=READS, help=help, **settings)


def output_option(help: str, *, required: bool = True, **settings: Any) -> Decorator[Any]:
    """Return -o, which names a file to write."""
    settings |= {"group": "output", "common": True, "required": required, "type": WRITES}
    return option("-o", "--output", metavar="FILE", help=help, **settings)


def choice(
    name: str, choices: Iterable[str], help: str, default: Any = None, **settings: Any
) -> Decorator[Any]:
    """Return an option that takes one of some words; a mapping explains each."""
    meanings = choices if isinstance(choices, Mapping) else None
    settings |= {"default": default, "show_default": default is not None, "meanings": meanings}
    return option(name, type=click.Choice(list(choices)), help=help, **settings)


def default_of(function: Callable[..., Any], name: str) -> Any:
    """Return the default of a library function's parameter."""
    return _parameters(function)[name].default


@cache
def _parameters(function: Callable[..., Any]) -> Mapping[str, Parameter]:
    return signature(function).parameters


def is_given(name: str) -> bool:
    """Return whether an option of the running command was given, even as its default."""
    from click.core import ParameterSource

    source = click.get_current_context().get_parameter_source(name)
    return source not in (ParameterSource.DEFAULT, None)


def refuse(names: Iterable[str], reason: str) -> None:
    """Fail if one of these options was given."""
    params = {str(param.name): param for param in click.get_current_context().command.params}
    for name in names:
        if name in params and is_given(name):
            raise click.UsageError(f"{_flag_of(params[name])} {reason}.")


def _flag_of(param: click.Parameter) -> str:
    return param.flag if isinstance(param, GroupedOption) else param.opts[-1]


# -- measures and scoring


def completions(known: Mapping[str, str], begun: str, before: str = "") -> list[CompletionItem]:
    """Complete a word with the names that begin with it, shown with their titles."""
    from click.shell_completion import CompletionItem

    return [
        CompletionItem(f"{before}{name}", help=title)
        for name, title in known.items()
        if name.lower().startswith(begun.lower())
    ]


def complete_measure(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete names of measures and presets; those before a comma stay."""
    from judged.measures import REGISTRY
    from judged.measures.reference import ABOUT

    before, comma, begun = incomplete.rpartition(",")
    known = {spec.name: spec.title for spec in REGISTRY.values()}
    known |= {name: f"preset: {', '.join(preset.measures)}" for name, preset in ABOUT.items()}
    if begun:
        known |= {alias: spec.title for spec in REGISTRY.values() for alias in spec.aliases}
    return completions(known, begun, before + comma)


def complete_convention(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete names of conventions."""
    from judged.conventions import conventions

    return completions({each.name: each.title for each in conventions().values()}, incomplete)


MEASURE = ("-m", "--measure")
MEASURE_SETTINGS: dict[str, Any] = {
    "aliases": ("--measures", "--metric", "--metrics"),
    "metavar": "MEASURE",
    "group": "measures",
    "common": True,
    "shell_complete": complete_measure,
}
judgements_argument = click.argument("judgements", metavar="QRELS", type=READS)
data_arguments = together(
    judgements_argument, click.argument("runs", metavar="[RUN...]", nargs=-1, type=READS)
)
measures_option = option(
    *MEASURE,
    "measures",
    multiple=True,
    callback=lambda context, param, measures: measures or None,
    help="Compute this measure or preset (nDCG@10, P@5,10, rag); may be given more than once.",
    **MEASURE_SETTINGS,
)


def measure_option(default: str, help: str) -> Decorator[Any]:
    """Return -m for commands that take one measure."""
    settings = {**MEASURE_SETTINGS, "default": default, "show_default": True}
    return option(*MEASURE, help=help, **settings)


convention_option = text(
    "--convention",
    "LIBRARY",
    "Score as another library does, such as ranx: its names, variants and policy.",
    shell_complete=complete_convention,
    group="measures",
)
weights_option = file(
    "--weights",
    "Weight queries in means by this table of queries and weights.",
    group="statistics",
)
groups_option = file(
    "--groups",
    "Treat queries of a group as dependent, from a table of queries and groups.",
    group="statistics",
)
slices_option = file(
    "--slices",
    "Look at each slice too, from a table of query attributes; 'relevant' needs no table.",
    group="comparison",
)
trusted_option = file(
    "--trusted",
    "Correct values by trusted judgements of a random sample of at least 20 queries.",
    group="statistics",
)
unique_option = file(
    "--unique",
    "Rank categories by their best item, from a table, or labels of vectors.",
    group="data",
)
tie_range_option = flag(
    "--tie-range",
    "Show each value for the worst, average and best order of tied results.",
    group="statistics",
)
interval_option = option(
    *("--interval", "--ci", "intervals"),
    is_flag=True,
    help="Show a confidence interval for each value.",
    group="statistics",
    common=True,
)


def level_option(help: str = "Set the confidence level.") -> Decorator[Any]:
    """Return --level."""
    return number("--level", float, "SHARE", help, LEVEL, group="statistics")


POLICY: dict[str, Decorator[Any]] = {
    **{
        name: choice(f"--{name}", words, help, getattr(Policy(), name), group="policy")
        for name, words, help in (
            ("ties", CHOICES["ties"], "Break ties of equal scores."),
            ("missing", CHOICES["missing"], "Treat judged queries that the run lacks."),
            ("empty", CHOICES["empty"], "Treat queries without relevant items."),
            ("unjudged", CHOICES["unjudged"], "Treat unjudged results."),
            ("duplicates", DUPLICATES, "Treat an item that occurs twice for a query."),
        )
    },
    "depth": number(
        *("--depth", int, "N", "Count only the first N results of each list."),
        group="policy",
        common=True,
    ),
}
"""Options of the policy by name."""


def policy_options(*names: str) -> Decorator[Any]:
    """Return some options of the policy, or all; see `take_policy`."""
    return together(*(POLICY[name] for name in names or POLICY))


def take_policy(options: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of the policy, and return those that were given."""
    values = {name: options.pop(name) for name in POLICY if name in options}
    return {name: value for name, value in values.items() if is_given(name)}


SHOWN = (
    *("intervals", "level", "groups", "slices", "tie_range", "unjudged_range", "unanswerable"),
    "threshold",
)
"""Options that are keyword arguments of `Evaluation.showing`."""


def take_shown(options: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of `Evaluation.showing`, and return those that were given."""
    values = {name: options.pop(name) for name in SHOWN if name in options}
    return {name: value for name, value in values.items() if is_given(name)}


def as_scoring(options: dict[str, Any]) -> dict[str, Any]:
    """Return the given options of `evaluate`: those of the policy are one, and both formats."""
    policy = take_policy(options)
    sides = {"judgements": "judgements_format", "run": "run_format"}
    formats = {side: options.pop(name, None) for side, name in sides.items()}
    scoring = {
        name: value for name, value in options.items() if value is not None and value is not False
    }
    if policy:
        scoring["policy"] = policy
    if any(formats.values()):
        scoring["format"] = formats
    return scoring


def limited(options: dict[str, Any]) -> AbstractContextManager[Any]:
    """Remove --memory, and set it if it was given."""
    memory = options.pop("memory", None)
    if memory is None or not is_given("memory"):
        return nullcontext()
    from judged.configuration import config

    return config(memory=memory)


def call_scoring(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call a function that evaluates first with the options of a command."""
    own = _parameters(function)
    kept = {name: options.pop(name) for name in [*options] if name in own}
    with limited(options):
        return function(*args, **kept, **as_scoring(options))


def score_runs(
    function: Callable[..., Any], judgements: Any, runs: Any, *args: Any, **options: Any
) -> Any:
    """Call a function of judgements and runs with a progress bar."""
    from judged.cli._terminal import working

    with working("Reading runs", len(runs or [1]), "") as advance:
        progress = {} if advance is None else {"progress": lambda _: advance(1)}
        return call_scoring(function, judgements, runs or None, *args, **progress, **options)


# -- files


columns_option = text(
    "--columns",
    "ROLE=COLUMN,...",
    "Name the columns, such as query=question_id,score=prediction.",
    group="data",
    common=True,
)
collection_option = number(
    "--collection",
    int,
    "N",
    "Set the collection size; TN, Accuracy and Specificity need it.",
    group="data",
)
exclude_same_id_option = flag(
    "--exclude-same-id", "Remove results and judgements with the id of their query.", group="data"
)
item_options = together(
    text(
        "--item-to",
        "HOW",
        "Rank documents instead of items: doc:#, pattern:REGEX, column:NAME or table:FILE.",
        type=ITEM_TO,
        group="data",
    ),
    exclude_same_id_option,
    unique_option,
    collection_option,
)
format_options = together(
    option(
        *("--qrels-format", "judgements_format"),
        type=click.Choice(list(INPUT_FORMATS)),
        help="Read QRELS in this format, if it is not recognised.",
        group="data",
    ),
    choice(
        *("--run-format", INPUT_FORMATS.keys()),
        "Read RUN in this format, if it is not recognised.",
        group="data",
    ),
)
skip_bad_option = flag(
    "--skip-bad", "Skip runs that cannot be evaluated, with a warning.", group="data"
)
relevant_option = number(
    "--relevant",
    int,
    "N",
    "Set the number of relevant items of a relevance list.",
    group="data",
    common=True,
)
list_options = together(
    relevant_option,
    text("--pool", "GRADES", "Set the grades of all judged items of a relevance list."),
)


# -- comparisons and training


def by_measure(context: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> Any:
    """Read MEASURE=NUMBER, or one number for all measures; the library checks the values."""
    numbers: dict[str, float] = {}
    for text in texts:
        measure, equals, written = text.rpartition("=")
        try:
            value = float(written)
        except ValueError:
            raise click.BadParameter(
                f"{text!r} is neither a number nor MEASURE=NUMBER, such as nDCG@10=0.01."
            ) from None
        measure = measure.strip()
        if equals and not measure:
            raise click.BadParameter(f"{text!r} names no measure, as in nDCG@10=0.01.")
        if not equals and len(texts) > 1:
            raise click.BadParameter(f"{text!r} must say for which measure, as in nDCG@10=0.01.")
        if measure in numbers:
            raise click.BadParameter(f"{measure} is given twice.")
        numbers[measure] = value
    return numbers.get("", numbers or None)


def baseline_option(
    help: str = "Compare all runs with this one; by default all pairs.",
) -> Decorator[Any]:
    """Return --baseline."""
    return text("--baseline", "RUN", help, group="comparison", common=True)


TRAINING = ("kind", "rank", "positives", "both", "measure", "held_out", "iterations")
"""Names of the options of training."""


def training_options(kind: str, *names: str) -> Decorator[Any]:
    """Return the options of training but its temperature; `kind` is the default.

    Without names these are all of them.
    """
    own: dict[str, Any] = {"group": "training", "common": True}
    words = "Learn this similarity: bilinear, low-rank, diagonal or two-tower-linear."
    share = "Hold this share of queries out of training."
    known: dict[str, Decorator[Any]] = {
        "kind": text("--kind", "KIND", words, default=kind, show_default=True, **own),
        "rank": number("--rank", int, "N", "Map to N dimensions (not diagonal, bilinear).", **own),
        "positives": choice(
            "--positives", POSITIVES, "Combine a query's positives.", "each", group="training"
        ),
        "both": flag(
            "--symmetric both",
            "Add the loss of items among queries, as CLIP does.",
            group="training",
        ),
        "measure": measure_option("AP", "Keep the weights that are best by this measure."),
        "held_out": number("--held-out", float, "SHARE", share, 0.2, **own),
        "iterations": number("--iterations", int, "N", "Stop after N iterations.", 200, **own),
    }
    return together(*(known[name] for name in names or TRAINING))


def take_training(options: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of training, and return them."""
    return {name: options.pop(name) for name in TRAINING if name in options}


# -- output


DISPLAY_HELP = {option.name: option.metadata["help"] for option in fields(Display)}


def _display_option(*names: str, **settings: Any) -> Decorator[Any]:
    """Return an option that is kept for `deliver`, if it is given."""
    name = names[-1].removeprefix("--").replace("-", "_")
    settings.setdefault("help", DISPLAY_HELP.get(name))

    def keep(context: click.Context, param: click.Parameter, value: Any) -> None:
        if value is not None and value is not False:  # 0 is a number of decimals
            context.meta.setdefault(DISPLAY, {})[str(param.name)] = value

    return option(*names, expose_value=False, callback=keep, group="output", **settings)


verbose_option = _display_option("-v", "--verbose", is_flag=True, common=True)
quiet_option = _display_option("-q", "--quiet", is_flag=True)
per_query_option = _display_option(
    *("--per-query",), is_flag=True, common=True, help="Show the value of every query."
)
sort_option = _display_option("--sort", metavar="MEASURE", shell_complete=complete_measure)
decimals_option = _display_option("--decimals", type=click.IntRange(0, 15), metavar="N")
percent_option = _display_option("--percent", is_flag=True)
latex_options = together(
    _display_option("--caption", metavar="TEXT"), _display_option("--label", metavar="KEY")
)


def result_options(
    saved_as: Mapping[str, str] = Result.SAVED_AS,
    *,
    chart: str | None = None,
    plain: Iterable[str] = (),
    written: bool = True,
    verbose: bool = False,
    quiet: bool = False,
) -> Decorator[Any]:
    """Return --format and -o, and print or write the `Result` that the command returns.

    The command may return a pair of a result and an exit code, or None if it has printed. Without
    `written` there is no -o. `judged plot CHART` reads its JSON. With an option of `plain`, the
    result has only the usual formats.
    """
    reads = f" 'judged plot {chart}' reads the JSON." if chart else ""
    extensions = listed(endings(saved_as), "or")
    format_option = option(
        *("--format", "form"),
        type=click.Choice(_formats(saved_as)),
        show_default="text",
        help="Print the result in this format.",
        group="output",
    )
    options = [
        *([output_option(f"Write a file: {extensions}.{reads}", required=False)] * written),
        format_option,
        *([verbose_option] * verbose),
        *([quiet_option] * quiet),
    ]

    def decorate(function: Function) -> Any:
        @wraps(function)  # which keeps the options that the function has
        def present(*args: Any, **options: Any) -> Any:
            form = options.pop("form")
            target = options.pop("output") if written else None
            usual = any(map(options.get, plain))
            _check_format(form, target, Result.SAVED_AS if usual else saved_as)
            returned = function(*args, **options)
            result, code = returned if isinstance(returned, tuple) else (returned, None)
            if result is not None:
                deliver(result, form, target)
            return code

        return together(*options)(present)

    return decorate


def _formats(saved_as: Mapping[str, str]) -> list[str]:
    """Return the formats that can be printed, text first."""
    names = [method.removeprefix("to_") for method in saved_as.values()]
    return ["text", *(name for name in names if name not in ("text", "gif", "rankings"))]


def _check_format(form: str | None, output: str | None, saved_as: Mapping[str, str]) -> None:
    """Fail before any work is done if a result lacks the format, or --format and -o differ."""
    from judged.outputs import checked_ending

    if form is not None and form not in _formats(saved_as):
        raise click.UsageError(
            f"this result is printed as {listed(_formats(saved_as), 'or')}, not as {form}."
        )
    if output is not None and Path(output).suffix:
        extension = checked_ending(output, endings(saved_as))
        named = saved_as.get(extension, extension.strip(".")).removeprefix("to_")
        without_extension = form in saved_as and extension == ".json"
        if form not in (None, named) and extension != ".txt" and not without_extension:
            raise click.UsageError(
                f"{output} and --format {form} say different formats; give one of the two."
            )
        form = form or named
    form = form or "text"
    for name in display_options():
        forms = [
            made.removeprefix("to_") for made, known in FORMAT_OPTIONS.items() if name in known
        ]
        if name in ("caption", "label", "decimals", "percent") and form not in forms:
            raise click.UsageError(
                f"--{name} is for {listed(forms, 'or')}; {form} has no use for it."
            )
