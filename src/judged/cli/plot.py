"""`judged plot`: runs and judgements in, a picture out."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from judged.charts.kinds import KINDS, NEEDS, OPTIONS, Kind, kind_named
from judged.charts.themes import THEMES
from judged.cli._options import (
    FILE,
    collection_option,
    depth_option,
    format_options,
    measures_option,
    policy_options,
)

_WITH_POLICY = ("system", "systems", "pair")
"""Needs that are rankings, made under a policy."""
_OF_JSON = ("diagnosis", "sweep", "study")
"""Needs that are results of another command, in one file."""
_OF_RANKINGS = (
    "ties",
    "missing",
    "empty",
    "unjudged",
    "depth",
    "collection",
    "qrels_format",
    "run_format",
)
"""Options that say how rankings are made."""


def _numbers(
    context: click.Context, param: click.Parameter, given: str | None
) -> list[float] | None:
    """What an option with three numbers and commas between them says."""
    if given is None:
        return None
    try:
        found = [float(part) for part in given.split(",")]
    except ValueError:
        found = []
    if len(found) != 3:
        raise click.BadParameter(
            f"takes three numbers with commas between them, as in 0.01,0.1,1; got {given!r}."
        )
    return found


def _listed() -> str:
    """Every kind with what it needs, for the end of the help."""
    width = max(map(len, KINDS)) + 2
    lines = [
        f"  {kind.name:<{width}}{NEEDS[kind.needs].usage:<15} {kind.title}"
        for kind in KINDS.values()
    ]
    return "\b\nKinds of charts:\n" + "\n".join(lines)


@click.command(short_help="Draw a chart.", epilog=_listed())
@click.argument("kind", metavar="KIND")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    type=FILE,
    help="The picture to write: .png, .svg or .pdf, .html that needs no network, or the "
    "Vega-Lite as .json; "
    "a gallery is .html or .png.",
)
@click.option(
    "--theme",
    type=click.Choice(list(THEMES)),
    default="light",
    show_default=True,
    help="Colours for light or dark pages.",
)
@measures_option
@click.option("-k", type=int, metavar="K", help=OPTIONS["k"])
@click.option("--query", metavar="ID", help=OPTIONS["query"])
@click.option("--rel", type=float, metavar="GRADE", help=OPTIONS["rel"])
@click.option(
    "--of",
    type=click.Choice(["all", "first"]),
    default="all",
    show_default=True,
    help=OPTIONS["of"],
)
@click.option("--pictures", metavar="FILE", type=FILE, help=OPTIONS["pictures"])
@click.option("--queries", type=int, metavar="N", help=OPTIONS["queries"])
@click.option("--bins", type=int, metavar="N", help=OPTIONS["bins"])
@click.option("--temperatures", metavar="X,Y,Z", callback=_numbers, help=OPTIONS["temperatures"])
@policy_options
@depth_option
@collection_option
@format_options
def plot(
    kind: str, files: tuple[str, ...], output: str, theme: str, policy: dict[str, str], **given: Any
) -> None:
    """Draw a chart of the KIND that is named, from judgements and runs, or from what else it needs.

    Files are those that 'judged evaluate' reads. The list below says which a kind needs.
    """
    from judged.cli._terminal import working
    from judged.outputs import check_target, checked_ending

    chosen = kind_named(kind)
    _check_files(chosen, files)
    options = _options(chosen, {**given, **policy})
    if "measure" in chosen.options and given["measures"]:
        options["measure"] = given["measures"][0]
    if "pictures" in chosen.options and "pictures" not in options:
        raise click.UsageError(
            f"{chosen.name} needs --pictures: "
            f"{OPTIONS['pictures'][0].lower()}{OPTIONS['pictures'][1:]}"
        )
    checked_ending(output, chosen.formats)
    check_target(output, reads=files)
    with working(f"Reading {files[0]}"):
        sources = _sources(chosen, files, policy, given)
    with working("Drawing"):
        drawn = _drawn(chosen, files, sources, {"theme": theme, **options})
        drawn.save(output)
    click.echo(repr(drawn), err=True)


def _drawn(kind: Kind, files: tuple[str, ...], sources: list[Any], options: dict[str, Any]) -> Any:
    """The chart. Judgements and runs know their files; what was read as plain JSON does not, so
    messages are told here."""
    from judged.errors import InputError

    try:
        return kind.function(*sources, **options)
    except InputError as error:
        if kind.needs not in _OF_JSON:
            raise
        raise InputError(f"{files[0]}: {error}") from None


def _check_files(kind: Kind, files: tuple[str, ...]) -> None:
    needs = NEEDS[kind.needs]
    fewest, most = needs.files
    if len(files) < fewest or (most is not None and len(files) > most):
        raise click.UsageError(
            f"{kind.name} needs {needs.says}: judged plot {kind.name} {needs.usage} -o FILE."
        )


def _options(kind: Kind, given: dict[str, Any]) -> dict[str, Any]:
    """What the kind is told; refuses what has no meaning for it."""
    context = click.get_current_context()
    said = {
        name
        for name in given
        if context.get_parameter_source(name) not in (ParameterSource.DEFAULT, None)
    }
    formats = () if kind.needs in _OF_JSON else ("qrels_format", "run_format")
    may = {*kind.options, *formats, *(_OF_RANKINGS if kind.needs in _WITH_POLICY else ())}
    if "measure" in kind.options:
        may.add("measures")
        if len(given["measures"]) > 1:
            raise click.UsageError(
                f"{kind.name} compares by one measure; got {', '.join(given['measures'])}."
            )
    if wrong := sorted(said - may):
        takes = (
            ", ".join(flag(name) for name in OPTIONS if name in kind.options) or "none of its own"
        )
        raise click.UsageError(
            f"{flag(wrong[0])} has no meaning for {kind.name}; its options: {takes}."
        )
    return {name: given[name] for name in kind.options if name in said}


def flag(name: str) -> str:
    """The option of a name."""
    return {"k": "-k", "measure": "-m", "measures": "-m"}.get(name, f"--{name.replace('_', '-')}")


def _sources(
    kind: Kind, files: tuple[str, ...], policy: dict[str, str], given: dict[str, Any]
) -> list[Any]:
    """What the kind is made from."""
    if kind.needs in _OF_JSON:
        return [_json(files[0], kind)]
    from judged.inputs import distinct_names, read_judgements, read_run

    judgements = read_judgements(files[0], format=given["qrels_format"])
    names = distinct_names(list(files[1:]))
    runs = [
        read_run(path, name=name, format=given["run_format"])
        for name, path in zip(names, files[1:], strict=True)
    ]
    if kind.needs == "results":
        return [judgements, runs[0]]
    if kind.needs == "results of a pair":
        return [judgements, dict(zip(names, runs, strict=True))]
    from judged.charts.sources import Systems
    from judged.judging import judging
    from judged.policy import Policy

    judge = judging(
        judgements, policy=Policy.of(policy), depth=given["depth"], collection=given["collection"]
    )
    return [Systems.of([judge(run) for run in runs], policy=policy)]


def _json(path: str, kind: Kind) -> Any:
    import json

    from judged.errors import InputError
    from judged.inputs.source import open_source
    from judged.inputs.tables import Kind as Input

    says = NEEDS[kind.needs].says
    source = open_source(path, Input(f"a {kind.needs}", "score", says))
    try:
        return json.loads(source.read())
    except ValueError as error:
        raise InputError(
            f"{source.label}: cannot be read as JSON ({error}); {kind.name} needs {says}."
        ) from None
    except RecursionError:
        raise InputError(f"{source.label}: the JSON is nested too deeply.") from None
