"""Options that several commands share; the choices come from where they are declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from judged.cli._files import ITEM_TO, READS, WRITES
from judged.cli._terminal import LOOKS, looks
from judged.inputs.formats import FORMATS as INPUT_FORMATS
from judged.options import LEVEL
from judged.policy import CHOICES, DUPLICATES, Policy, add_choices
from judged.results import Result, endings
from judged.text import listed

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Function = TypeVar("Function", bound=Callable[..., Any])


def default_of(function: Callable[..., Any], name: str) -> Any:
    """What the library does where an option is not given."""
    return _parameters(function)[name].default


@cache
def _parameters(function: Callable[..., Any]) -> Mapping[str, Parameter]:
    return signature(function).parameters


def complete_measure(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of measures and presets for the shell's completion, other names once one is begun;
    those before a comma stay."""
    from click.shell_completion import CompletionItem

    from judged.measures import REGISTRY
    from judged.measures.presets import ABOUT

    before, comma, begun = incomplete.rpartition(",")
    known = {spec.name: spec.title for spec in REGISTRY.values()}
    known |= {name: f"preset: {', '.join(preset.measures)}" for name, preset in ABOUT.items()}
    if begun:
        known |= {other: each.title for each in REGISTRY.values() for other in each.aliases}
    return [
        CompletionItem(f"{before}{comma}{name}", help=title)
        for name, title in known.items()
        if name.lower().startswith(begun.lower())
    ]


def complete_convention(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of conventions for the shell's completion."""
    from click.shell_completion import CompletionItem

    from judged.conventions import conventions

    found = (
        each for each in conventions().values() if each.name.lower().startswith(incomplete.lower())
    )
    return [CompletionItem(each.name, help=each.title) for each in found]


measures_option = click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    shell_complete=complete_measure,
    help="A measure such as nDCG@10 or AP(rel=2)@100, a preset such as rag or beir, or several: "
    "rag,AP or P@5,10; may be given more than once. 'judged measures' lists them.",
)
convention_option = click.option(
    "--convention",
    metavar="LIBRARY",
    shell_complete=complete_convention,
    help="Score as another library does, such as ranx or torchmetrics: its names are understood, "
    "measures are its variants of them, and the policy is its own where none is given.",
)
depth_option = click.option(
    "--depth", type=int, metavar="N", help="Only the first N results of each list count."
)
collection_option = click.option(
    "--collection",
    type=int,
    metavar="N",
    help="How many items there are to retrieve; TN, Accuracy and Specificity need it.",
)
duplicates_option = click.option(
    "--duplicates",
    type=click.Choice(list(DUPLICATES)),
    default=Policy().duplicates,
    show_default=True,
    help="; ".join(f"{choice}: {words}" for choice, words in DUPLICATES.items()) + ".",
)
rel_option = click.option(
    "--rel",
    type=float,
    default=1,
    show_default=True,
    metavar="GRADE",
    help="The lowest grade that counts as relevant.",
)
tie_range_option = click.option(
    "--tie-range",
    is_flag=True,
    help="Beside each number, its values in the worst order of tied results (worst), on "
    "average over all their orders (expected) and in the best (best).",
)
weights_option = click.option(
    "--weights",
    metavar="FILE",
    type=READS,
    help="A table of queries and their weights, as traffic: means count each query by its weight.",
)

trusted_option = click.option(
    "--trusted",
    metavar="FILE",
    type=READS,
    help="Judgements that are trusted, as those of people, of at least 20 of the queries, drawn at "
    "random: they correct what the cheap judgements in QRELS give for all queries.",
)

unique_option = click.option(
    "--unique",
    metavar="FILE",
    type=READS,
    help="A table of items and their categories: each category's best result stands for it, and "
    "categories are ranked.",
)


def interval_options(function: Function) -> Function:
    """--interval, --level and --groups."""
    options = (
        click.option(
            "--interval",
            "--ci",
            is_flag=True,
            help="Beside each number, its interval: the bounds that would hold the number of all "
            "such queries in 95 % of all samples of queries.",
        ),
        click.option(
            "--level",
            type=float,
            default=LEVEL,
            show_default=True,
            help="The level of intervals.",
        ),
        click.option(
            "--groups",
            metavar="FILE",
            type=READS,
            help="A table of queries and their groups, as sessions or passages, for intervals: "
            "queries of a group are not independent.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def unanswerable_options(function: Function) -> Function:
    """--unanswerable and --answer-threshold."""
    threshold = click.option(
        "--answer-threshold",
        type=float,
        metavar="SCORE",
        help="With --unanswerable: a result counts as returned if its score is at least this.",
    )
    return click.option(
        "--unanswerable",
        is_flag=True,
        help="Take queries with nothing relevant out of all means and look at them apart: how many "
        "are answered, and how well the best score tells them from the others (AUROC).",
    )(threshold(function))


per_query_option = click.option(
    "--per-query",
    is_flag=True,
    help="Give the value of every query; a table ends with the summary, all.",
)


def policy_options(function: Function) -> Function:
    """--ties, --missing, --empty and --unjudged; those that were given are gathered into one dict,
    `policy`."""

    def gather(*args: Any, **given: Any) -> Any:
        values = {name: given.pop(name) for name in CHOICES}
        policy = {name: value for name, value in values.items() if said(name)}
        return function(*args, policy=policy, **given)

    gather.__name__, gather.__doc__ = function.__name__, function.__doc__
    gather.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
    for name, sentences in reversed(CHOICES.items()):
        words = "; ".join(f"{choice}: {sentence}" for choice, sentence in sentences.items())
        option = click.option(
            f"--{name}",
            type=click.Choice(list(sentences)),
            default=getattr(Policy(), name),
            show_default=True,
            help=f"{words}.",
        )
        gather = option(gather)
    return gather  # type: ignore[return-value]


def said(name: str) -> bool:
    """Whether an option of the command that runs was given, be it as its default."""
    from click.core import ParameterSource

    source = click.get_current_context().get_parameter_source(name)
    return source not in (ParameterSource.DEFAULT, None)


LIMITS = ("memory", "temporary", "jobs")
SHOWN = {
    "interval": "intervals",
    "level": "level",
    "groups": "groups",
    "tie_range": "tie_range",
    "unjudged_range": "unjudged_range",
    "unanswerable": "unanswerable",
    "answer_threshold": "threshold",
}
"""Options of the command line that are keyword arguments of `Evaluation.showing`."""


def split_options(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Split the options of a command into those of `evaluate`, of `Evaluation.showing` and of
    `config`."""
    scoring = dict(options)
    limits = {name: scoring.pop(name) for name in LIMITS if name in scoring}
    shown = {other: scoring.pop(name) for name, other in SHOWN.items() if name in scoring}
    chosen = {name: scoring.pop(name, None) for name in ("depth", "duplicates")}
    if chosen["duplicates"] == Policy().duplicates:
        chosen["duplicates"] = None
    if any(value is not None for value in chosen.values()):
        scoring["policy"] = add_choices(scoring.get("policy"), **chosen)
    sides = {
        side: scoring.pop(name, None)
        for side, name in (("judgements", "judgements_format"), ("run", "run_format"))
    }
    if any(sides.values()):
        scoring["format"] = sides
    return scoring, shown, limits


columns_option = click.option(
    "--columns",
    metavar="ROLE=COLUMN,...",
    help="What columns are, where their names do not tell: "
    "query=question_id,item=chunk_id,score=prediction; several make one id: "
    "item=file+page.",
)
judgements_format_option = click.option(
    "--qrels-format",
    "judgements_format",
    type=click.Choice(list(INPUT_FORMATS)),
    help="The format of QRELS, where it is not recognised.",
)
run_format_option = click.option(
    "--run-format",
    type=click.Choice(list(INPUT_FORMATS)),
    help="The format of RUN, where it is not recognised.",
)


def data_options(function: Function) -> Function:
    """--columns, --item-to, --exclude-same-id, --qrels-format and --run-format, as every command
    that reads both kinds of files has them."""
    options = (
        columns_option,
        click.option(
            "--item-to",
            metavar="HOW",
            type=ITEM_TO,
            help="Rank documents, each at its best item's rank: doc:# for what stands before the "
            "last # of an item's id, pattern:REGEX for its first group, column:NAME, or table:FILE "
            "with items and documents.",
        ),
        click.option(
            "--exclude-same-id",
            is_flag=True,
            help="Take out results that have the id of their query, and judgements of a query for "
            "itself.",
        ),
        judgements_format_option,
        run_format_option,
    )
    for option in reversed(options):
        function = option(function)
    return function


def result_options(
    saved_as: Mapping[str, str] = Result.SAVED_AS, *, chart: str | None = None
) -> Callable[[Function], Function]:
    """--format and -o for a result with these formats; `judged plot CHART` reads its JSON."""

    def decorate(function: Function) -> Function:
        reads = f" 'judged plot {chart}' reads the JSON." if chart else ""
        written = click.option(
            "-o",
            "--output",
            metavar="FILE",
            type=WRITES,
            help="Write the result to a file; its ending says the format: "
            f"{listed(endings(saved_as), 'or')}.{reads}",
        )
        return print_option(saved_as)(written(function))

    return decorate


def print_option(
    saved_as: Mapping[str, str] = Result.SAVED_AS,
) -> Callable[[Function], Function]:
    """--format, -v and -q: how a result is printed, and how much of it."""
    form = click.option(
        "--format",
        "form",
        type=click.Choice(_formats(saved_as)),
        show_default="text",
        help="How to print the result, or to write it where the ending does not say.",
    )
    return lambda function: form(amount_options(function))


def _look(*names: str, **settings: Any) -> Callable[[Function], Function]:
    """An option that is kept for `deliver`, where it was given."""

    def keep(context: click.Context, param: click.Parameter, value: Any) -> None:
        if value is not None and value is not False:  # 0 is a number of decimals
            context.meta.setdefault(LOOKS, {})[str(param.name)] = value

    return click.option(*names, expose_value=False, callback=keep, **settings)


def amount_options(function: Function) -> Function:
    """-v and -q: how much is said."""
    verbose = _look(
        "-v",
        "--verbose",
        is_flag=True,
        help="Say everything: what was assumed, what was found, what each number means.",
    )
    quiet = _look("-q", "--quiet", is_flag=True, help="Print the table alone, without warnings.")
    return verbose(quiet(function))


def table_options(function: Function) -> Function:
    """--sort, --decimals, --percent, --caption and --label: what the table of an evaluation looks
    like."""
    for option in (
        _look("--label", metavar="KEY", help="Of a LaTeX table: what the text refers to it by."),
        _look("--caption", metavar="TEXT", help="Of a LaTeX table: the text above it."),
        _look(
            "--percent",
            is_flag=True,
            help="Show measures from 0 to 1 in percent; not in formats for programs.",
        ),
        _look(
            "--decimals",
            type=click.IntRange(0, 15),
            metavar="N",
            help="How many decimals to show, by default 4; formats for programs have all.",
        ),
        _look(
            "--sort",
            metavar="MEASURE",
            shell_complete=complete_measure,
            help="Order the runs by one of the measures, the best first.",
        ),
    ):
        function = option(function)
    return function


def _formats(saved_as: Mapping[str, str]) -> list[str]:
    """The formats that can be printed, text first."""
    names = [method.removeprefix("to_") for method in saved_as.values()]
    return ["text", *(name for name in names if name not in ("text", "gif"))]


def check_format(
    form: str | None, output: str | None, saved_as: Mapping[str, str] = Result.SAVED_AS
) -> None:
    """Refuse formats that the result does not have, and endings that say another one, before any
    work is done."""
    from judged.outputs import checked_ending

    if form is not None and form not in _formats(saved_as):
        raise click.UsageError(
            f"this result is printed as {listed(_formats(saved_as), 'or')}, not as {form}."
        )
    if output is not None and Path(output).suffix:
        ending = checked_ending(output, endings(saved_as))
        said_so = saved_as.get(ending, ending.strip(".")).removeprefix("to_")
        without_ending = form in saved_as and ending == ".json"
        if form not in (None, said_so) and ending != ".txt" and not without_ending:
            raise click.UsageError(
                f"{output} and --format {form} say different formats; give one of the two."
            )
        form = form or said_so
    for name in looks():
        if (form or "text") not in FORMS.get(name, [form or "text"]):
            raise click.UsageError(
                f"--{name} is for {listed(FORMS[name], 'or')}; {form or 'text'} has no use for it."
            )


FORMS = {
    **dict.fromkeys(("decimals", "percent"), ("text", "markdown", "html", "latex")),
    **dict.fromkeys(("caption", "label"), ("latex",)),
}
"""The formats that options of looks are for, where these are not all."""
