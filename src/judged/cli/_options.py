"""Options that several commands share. Choices and defaults come from the library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from functools import cache
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from judged.cli._files import ITEM_TO, READS, WRITES
from judged.cli._terminal import DISPLAY, display_options
from judged.inputs.blocks import MEMORY
from judged.inputs.formats import FORMATS as INPUT_FORMATS
from judged.options import LEVEL, RESAMPLES
from judged.policy import CHOICES, DUPLICATES, POSITIVES, Policy, add_choices
from judged.results import FORMAT_OPTIONS, Display, Result, endings
from judged.text import listed

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Function = TypeVar("Function", bound=Callable[..., Any])
Decorator = Callable[[Function], Function]

# -- kinds of options


def together(*options: Decorator[Any]) -> Decorator[Any]:
    """Return one decorator for several options, in the order of the help."""

    def decorate(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def list_of_numbers(
    context: click.Context, param: click.Parameter, text: str | None
) -> list[float] | None:
    """Read numbers with commas between them; the library checks how many and which."""
    try:
        return None if text is None else [float(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"{text!r} is no list of numbers, such as 2,1.") from None


def flag(name: str, help: str) -> Decorator[Any]:
    """Return an option without a value."""
    return click.option(name, is_flag=True, help=help)


def number(
    name: str, kind: Any, metavar: str, help: str, default: float | None = None
) -> Decorator[Any]:
    """Return an option that takes an `int` or a `float`."""
    shown = default is not None
    return click.option(
        name, type=kind, metavar=metavar, default=default, show_default=shown, help=help
    )


def text(name: str, metavar: str, help: str, **settings: Any) -> Decorator[Any]:
    """Return an option that takes a text."""
    return click.option(name, metavar=metavar, help=help, **settings)


def file(name: str, help: str, *declared: str) -> Decorator[Any]:
    """Return an option that names a file to read."""
    return click.option(name, *declared, metavar="FILE", type=READS, help=help)


def output_option(help: str, *, required: bool = True) -> Decorator[Any]:
    """Return -o, which names a file to write."""
    return click.option("-o", "--output", metavar="FILE", type=WRITES, required=required, help=help)


def choice(name: str, choices: Iterable[str], help: str, default: Any = None) -> Decorator[Any]:
    """Return an option that takes one of some words; a mapping says what each means."""
    if isinstance(choices, Mapping):
        help += " " + "; ".join(f"{word}: {meaning}" for word, meaning in choices.items()) + "."
    shown = default is not None
    kind = click.Choice(list(choices))
    return click.option(name, type=kind, default=default, show_default=shown, help=help)


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
    parameters = {str(param.name): param for param in click.get_current_context().command.params}
    names = list(names)
    for name in (*names, *(CHOICES if "policy" in names else ())):
        if name in parameters and is_given(name):
            raise click.UsageError(f"{parameters[name].opts[-1]} {reason}.")


def repeated_command() -> str:
    """Return the running command as it could be typed again where its files are."""
    import os
    from shlex import join

    from judged.cli._files import Reads, Writes, flat

    ctx = click.get_current_context()
    words = ["judged", str(ctx.info_name)]
    for param in ctx.command.params:
        value = ctx.params.get(str(param.name))
        if value is None or not is_given(str(param.name)):
            continue
        kind = param.type.types[0] if isinstance(param.type, click.Tuple) else param.type
        values = list(map(str, flat(value)))
        if isinstance(kind, (Reads, Writes)):
            values = [os.path.basename(path) for path in values]
        option = [] if isinstance(param, click.Argument) else [param.opts[-1]]
        if getattr(param, "is_flag", False):
            words += option
        elif param.multiple:
            words += [word for each in values for word in (*option, each)]
        else:
            words += [*option, *values]
    return join(words)


# -- measures and scoring


def complete_measure(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete names of measures and presets; those before a comma stay."""
    from click.shell_completion import CompletionItem

    from judged.measures import REGISTRY
    from judged.measures.reference import ABOUT

    before, comma, begun = incomplete.rpartition(",")
    known = {spec.name: spec.title for spec in REGISTRY.values()}
    known |= {name: f"preset: {', '.join(preset.measures)}" for name, preset in ABOUT.items()}
    if begun:
        known |= {alias: spec.title for spec in REGISTRY.values() for alias in spec.aliases}
    return [
        CompletionItem(f"{before}{comma}{name}", help=title)
        for name, title in known.items()
        if name.lower().startswith(begun.lower())
    ]


def complete_convention(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete names of conventions."""
    from click.shell_completion import CompletionItem

    from judged.conventions import conventions

    return [
        CompletionItem(convention.name, help=convention.title)
        for convention in conventions().values()
        if convention.name.lower().startswith(incomplete.lower())
    ]


measures_option = click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    shell_complete=complete_measure,
    help="Compute this measure or preset (nDCG@10, P@5,10, rag); may be given more than once.",
)


def measure_option(default: str, help: str) -> Decorator[Any]:
    """Return -m for commands that take one measure."""
    return click.option(
        "-m",
        "--measure",
        default=default,
        show_default=True,
        metavar="MEASURE",
        shell_complete=complete_measure,
        help=help,
    )


def conventions_option(help: str, **settings: Any) -> Decorator[Any]:
    """Return --convention."""
    return text("--convention", "LIBRARY", help, shell_complete=complete_convention, **settings)


convention_option = conventions_option(
    "Score as another library does, such as ranx: its names, variants and policy."
)
depth_option = number("--depth", int, "N", "Count only the first N results of each list.")
collection_option = number(
    "--collection", int, "N", "Set the collection size; TN, Accuracy and Specificity need it."
)
duplicates_option = choice(
    "--duplicates",
    DUPLICATES,
    "Treat an item that occurs twice for a query.",
    Policy().duplicates,
)
rel_option = number("--rel", float, "GRADE", "Count grades from this one as relevant.", 1)
weights_option = file("--weights", "Weight queries in means by this table of queries and weights.")
trusted_option = file(
    "--trusted", "Correct values by trusted judgements of a random sample of at least 20 queries."
)
unique_option = file(
    "--unique", "Rank categories by their best item, from a table of items and categories."
)
groups_option = file(
    "--groups", "Treat queries of a group as dependent, from a table of queries and groups."
)
slices_option = file(
    "--slices",
    "Compare in each slice too, from a table of query attributes; 'relevant' needs no table.",
)


def level_option(help: str = "Set the confidence level.") -> Decorator[Any]:
    """Return --level."""
    return number("--level", float, "SHARE", help, LEVEL)


seed_option = number("--seed", int, "N", "Seed the random numbers.", 0)
resamples_option = number("--resamples", int, "N", "Draw this many resamples.", RESAMPLES)


tie_range_option = flag(
    "--tie-range", "Show each value for the worst, average and best order of tied results."
)
interval_options = together(
    click.option(
        "--interval", "--ci", is_flag=True, help="Show a confidence interval for each value."
    ),
    number("--level", float, "SHARE", "Set the confidence level.", LEVEL),
    groups_option,
)
unanswerable_options = together(
    flag("--unanswerable", "Evaluate queries without relevant items separately from all means."),
    number(
        "--answer-threshold",
        float,
        "SCORE",
        "Count only results with at least this score as answers (with --unanswerable).",
    ),
)
per_query_option = flag("--per-query", "Show the value of every query.")


def policy_options(function: Function) -> Function:
    """Add --ties, --missing, --empty and --unjudged, which the function gets as one dict."""

    def gather(*args: Any, **options: Any) -> Any:
        values = {name: options.pop(name) for name in CHOICES}
        policy = {name: value for name, value in values.items() if is_given(name)}
        return function(*args, policy=policy, **options)

    help_of = {
        "ties": "Break ties of equal scores.",
        "missing": "Treat judged queries that the run lacks.",
        "empty": "Treat queries without relevant items.",
        "unjudged": "Treat unjudged results.",
    }
    options = (
        choice(f"--{name}", meanings, help_of[name], getattr(Policy(), name))
        for name, meanings in CHOICES.items()
    )
    return together(*options)(pass_for(function, gather))


LIMITS = ("memory", "temporary", "jobs")
"""Options of `judged.config`."""
SHOWN = {
    "interval": "intervals",
    "level": "level",
    "groups": "groups",
    "tie_range": "tie_range",
    "unjudged_range": "unjudged_range",
    "unanswerable": "unanswerable",
    "answer_threshold": "threshold",
}
"""Options that are keyword arguments of `Evaluation.showing`."""


def take_shown(options: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of `Evaluation.showing`, and return those that were given."""
    values = {name: options.pop(name) for name in SHOWN if name in options}
    return {SHOWN[name]: value for name, value in values.items() if is_given(name)}


def as_scoring(options: dict[str, Any]) -> dict[str, Any]:
    """Return the given options of `evaluate`.

    --depth and --duplicates become parts of `policy`, both formats one `format`.
    """
    scoring = {name: value for name, value in options.items() if value is not None}
    scoring = {name: value for name, value in scoring.items() if value is not False and value != {}}
    chosen = {name: scoring.pop(name, None) for name in ("depth", "duplicates")}
    if any(is_given(name) for name in chosen):
        scoring["policy"] = add_choices(scoring.get("policy"), **chosen)
    sides = {"judgements": "judgements_format", "run": "run_format"}
    formats = {side: scoring.pop(name, None) for side, name in sides.items()}
    if any(formats.values()):
        scoring["format"] = formats
    return scoring


def limited(options: dict[str, Any]) -> AbstractContextManager[Any]:
    """Remove --memory, --temporary and --jobs, and set those that were given."""
    values = {name: options.pop(name) for name in LIMITS if name in options}
    limits = {name: value for name, value in values.items() if is_given(name)}
    if not limits:
        return nullcontext()
    from judged.limits import config

    return config(**limits)


def call_scoring(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call a function that evaluates first with the options of a command."""
    own = _parameters(function)
    kept = {name: options.pop(name) for name in [*options] if name in own and name != "policy"}
    with limited(options):
        return function(*args, **kept, **as_scoring(options))


def score_runs(
    function: Callable[..., Any], judgements: Any, runs: Any, *args: Any, **options: Any
) -> Any:
    """Call a function of judgements and runs with a progress bar."""
    from judged.cli._terminal import counting

    with counting("Reading runs", len(runs or [1]), "") as advance:
        progress = {} if advance is None else {"progress": lambda _: advance(1)}
        return call_scoring(function, judgements, runs or None, *args, **progress, **options)


def pass_for(function: Callable[..., Any], wrapper: Any) -> Any:
    """Return a wrapper that click takes for the command function it wraps."""
    wrapper.__name__, wrapper.__doc__ = function.__name__, function.__doc__
    wrapper.__click_params__ = getattr(function, "__click_params__", [])
    return wrapper


# -- files


columns_option = text(
    "--columns",
    "ROLE=COLUMN,...",
    "Name the columns, such as query=question_id,item=file+page,score=prediction.",
)
judgements_format_option = click.option(
    "--qrels-format",
    "judgements_format",
    type=click.Choice(list(INPUT_FORMATS)),
    help="Read QRELS in this format, if it is not recognised.",
)
run_format_option = choice(
    "--run-format", INPUT_FORMATS.keys(), "Read RUN in this format, if it is not recognised."
)
item_options = together(
    columns_option,
    text(
        "--item-to",
        "HOW",
        "Rank documents instead of items: doc:#, pattern:REGEX, column:NAME or table:FILE.",
        type=ITEM_TO,
    ),
    flag("--exclude-same-id", "Remove results and judgements with the id of their query."),
    judgements_format_option,
)
data_options = together(item_options, run_format_option)
scoring_options = together(
    policy_options,
    weights_option,
    depth_option,
    collection_option,
    unique_option,
    duplicates_option,
    data_options,
)
memory_options = together(
    click.option(
        "--memory",
        default=MEMORY,
        show_default=True,
        metavar="SIZE",
        help="Read runs larger than this in blocks.",
    ),
    text("--temporary", "DIR", "Put temporary files into this folder."),
)
runs_options = together(
    flag("--skip-bad", "Skip runs that cannot be evaluated, with a warning."),
    number("--jobs", click.IntRange(min=1), "N", "Read N runs at once; by default one per core."),
)
list_options = together(
    number("--relevant", int, "N", "Set the number of relevant items of a relevance list."),
    text("--pool", "GRADES", "Set the grades of all judged items of a relevance list."),
)


# -- Spark

ENGINE = ("engine", "master", "remote", "spark_conf")
"""Names of the options of Spark."""


def _read_settings(
    ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]
) -> dict[str, str]:
    """Read KEY=VALUE, each key once."""
    settings: dict[str, str] = {}
    for setting in texts:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{setting!r} is not KEY=VALUE (spark.executor.memory=8g).")
        if name.strip() in settings:
            raise click.BadParameter(f"{name.strip()} is given twice.")
        settings[name.strip()] = value
    return settings


def engine_options(function: Function) -> Function:
    """Add the options of Spark; the function gets their values in one dict, `engine`."""

    def gather(*args: Any, **options: Any) -> Any:
        engine = {name: options.pop(name) for name in ENGINE}
        for name in ENGINE[1:]:
            if engine[name] and not engine["engine"]:
                option = f"--{name.replace('_', '-')}"
                raise click.UsageError(f"{option} needs --engine spark.")
        return function(*args, engine=engine, **options)

    return together(
        choice("--engine", ["spark"], "Evaluate in Spark: files are paths there, or table:NAME."),
        text("--master", "URL", "Use this cluster: spark://HOST:PORT, yarn or local[4]."),
        text("--remote", "URL", "Use the Spark Connect server sc://HOST:PORT."),
        text(
            "--spark-conf",
            "KEY=VALUE",
            "Set a Spark setting; may be given more than once.",
            multiple=True,
            callback=_read_settings,
        ),
    )(pass_for(function, gather))


def opened(
    engine: dict[str, Any], judgements: str, runs: tuple[str, ...], options: dict[str, Any]
) -> tuple[Any, Any]:
    """Return judgements and runs as they are or, with --engine spark, as tables of Spark.

    Options that Spark's reader has used are removed.
    """
    if not engine["engine"]:
        return judgements, runs or None
    from judged.cli._terminal import working
    from judged.engines.spark import reading

    used = {name: options.pop(name) for name in ("columns", "judgements_format", "run_format")}
    with working("Starting Spark"):
        return reading.opened(_start_spark(engine), judgements, runs, **used)


def opened_run(engine: dict[str, Any], run: str, options: dict[str, Any]) -> Any:
    """Return one more run, as it is unless Spark has to read it."""
    if not engine["engine"] or not ("://" in run or run.startswith("table:")):
        return run
    from judged.engines.spark import reading

    used = {name: options[name] for name in ("columns", "run_format")}
    return reading.opened_run(_start_spark(engine), run, **used)


def _start_spark(engine: dict[str, Any]) -> Any:
    from judged.engines.spark.session import session

    return session(master=engine["master"], remote=engine["remote"], conf=engine["spark_conf"])


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


def comparison_options(function: Function) -> Function:
    """Add the options of `judged compare`, which charts of comparisons have too."""
    from judged.comparison import compare
    from judged.comparison.settings import CORRECTIONS, TESTS

    def default(name: str) -> Any:
        return default_of(compare, name)

    return together(
        text(
            "--baseline",
            "RUN",
            "Compare all runs with this one; by default, the first of two, or all pairs.",
        ),
        choice("--test", TESTS, "Use this significance test.", default("test")),
        choice(
            "--correction",
            list(CORRECTIONS),
            "Correct p-values for multiple comparisons.",
            default("correction"),
        ),
        level_option("Set the confidence level; corrected p below 1 - level counts."),
        text(
            "--margin",
            "MEASURE=SIZE",
            "Call runs equivalent that differ by less; one size, or one per measure.",
            multiple=True,
            callback=by_measure,
        ),
        groups_option,
        flag("--unjudged-range", "Check whether unjudged results could change a verdict."),
        seed_option,
    )(function)


positives_option = choice("--positives", POSITIVES, "Combine a query's positives.", "each")
TRAINING = (
    *("kind", "rank", "positives", "both", "measure", "validation", "held_out", "patience"),
    *("iterations", "decay", "candidates", "rel", "seed"),
)
"""Names of the options of training."""


def training_options(kind: str) -> Decorator[Any]:
    """Return the options of training but its temperature; `kind` is the default."""
    return together(
        click.option(
            "--kind",
            default=kind,
            show_default=True,
            metavar="KIND",
            help="Learn this similarity: bilinear, low-rank, diagonal or two-tower-linear.",
        ),
        number("--rank", int, "N", "Map to N dimensions (low-rank, two-tower-linear)."),
        positives_option,
        flag("--both", "Add the loss of items among queries."),
        measure_option("AP", "Keep the weights that are best by this measure."),
        number(
            "--validation", float, "SHARE", "Use this share of queries to decide when to stop.", 0.2
        ),
        number("--held-out", float, "SHARE", "Hold this share of queries out of training.", 0.2),
        number("--patience", int, "N", "Stop after N iterations without gain.", 10),
        number("--iterations", int, "N", "Stop after N iterations at the latest.", 200),
        number("--decay", float, "X", "Pull weights back to the start by this much.", 0.0),
        number("--candidates", int, "N", "Train against N drawn items instead of all."),
        rel_option,
        number("--seed", int, "N", "Seed the random numbers.", 0),
    )


# -- output


DISPLAY_HELP = {option.name: option.metadata["help"] for option in fields(Display)}


def _display_option(*names: str, **settings: Any) -> Decorator[Any]:
    """Return an option that is kept for `deliver`, if it is given."""
    name = names[-1].removeprefix("--").replace("-", "_")
    settings.setdefault("help", DISPLAY_HELP.get(name))

    def keep(context: click.Context, param: click.Parameter, value: Any) -> None:
        if value is not None and value is not False:  # 0 is a number of decimals
            context.meta.setdefault(DISPLAY, {})[str(param.name)] = value

    return click.option(*names, expose_value=False, callback=keep, **settings)


amount_options = together(
    _display_option("-v", "--verbose", is_flag=True),
    _display_option("-q", "--quiet", is_flag=True),
)
table_options = together(
    _display_option("--sort", metavar="MEASURE", shell_complete=complete_measure),
    _display_option("--decimals", type=click.IntRange(0, 15), metavar="N"),
    _display_option("--percent", is_flag=True),
    _display_option("--caption", metavar="TEXT"),
    _display_option("--label", metavar="KEY"),
)


def result_options(
    saved_as: Mapping[str, str] = Result.SAVED_AS, *, chart: str | None = None
) -> Decorator[Any]:
    """Return --format, -o, -v and -q for a result; `judged plot CHART` reads its JSON."""
    reads = f" 'judged plot {chart}' reads the JSON." if chart else ""
    extensions = listed(endings(saved_as), "or")
    return together(
        print_options(saved_as),
        output_option(f"Write a file: {extensions}.{reads}", required=False),
    )


def print_options(saved_as: Mapping[str, str] = Result.SAVED_AS) -> Decorator[Any]:
    """Return --format, -v and -q."""
    form = click.option(
        "--format",
        "form",
        type=click.Choice(_formats(saved_as)),
        show_default="text",
        help="Print the result in this format.",
    )
    return together(form, amount_options)


def _formats(saved_as: Mapping[str, str]) -> list[str]:
    """Return the formats that can be printed, text first."""
    names = [method.removeprefix("to_") for method in saved_as.values()]
    return ["text", *(name for name in names if name not in ("text", "gif", "rankings"))]


def check_format(
    form: str | None, output: str | None, saved_as: Mapping[str, str] = Result.SAVED_AS
) -> None:
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
