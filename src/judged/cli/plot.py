"""`judged plot`: runs and judgements in, a picture out."""

from __future__ import annotations

from os import PathLike
from typing import Any

import click

from judged.charts.kinds import KINDS, NEEDS, OF_JSON, OF_RANKINGS, OPTIONS, Kind, kind_named
from judged.charts.themes import THEMES
from judged.cli._comparing_options import comparing_options
from judged.cli._files import READS, WRITES, command
from judged.cli._options import (
    collection_option,
    data_options,
    depth_option,
    measures_option,
    policy_options,
    said,
)
from judged.cli._room_options import room_options
from judged.policy import CHOICES

_DATA = (
    *("columns", "item_to", "exclude_same_id", "judgements_format", "run_format"),
    *("memory", "temporary"),
)
_JUDGING = (*CHOICES, "depth", "collection")
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
    needs = max(len(each.usage) for each in NEEDS.values()) + 1
    lines = [
        f"  {kind.name:<{width}}{NEEDS[kind.needs].usage:<{needs}} {kind.title}"
        for kind in KINDS.values()
    ]
    return "\b\nKinds of charts:\n" + "\n".join(lines)


@command(short_help="Draw a chart.", epilog=_listed())
@click.argument("kind", metavar="KIND")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=READS)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    type=WRITES,
    help="The picture to write: .png, .svg, .pdf, or .html that needs no network; or its data: "
    ".csv, .parquet, or .json, which is its Vega-Lite. A gallery is .html or .png.",
)
@click.option(
    "--theme",
    type=click.Choice(list(THEMES)),
    default="light",
    show_default=True,
    help="Colours for light or dark pages; or names of colours, for an .svg inside a page that has "
    "them as CSS variables.",
)
@click.option("--width", type=int, metavar="PIXELS", help="Of the whole drawing.")
@click.option(
    "--height", type=int, metavar="PIXELS", help="Of the drawing without title and notes."
)
@click.option(
    "--title", metavar="TEXT", help="Instead of the chart's own; an empty one leaves it out."
)
@click.option("--no-notes", is_flag=True, help="Leave out the notes under the title.")
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
@click.option("--pictures", metavar="FILE", type=READS, help=OPTIONS["pictures"])
@click.option("--queries", type=int, metavar="N", help=OPTIONS["queries"])
@click.option("--bins", type=int, metavar="N", help=OPTIONS["bins"])
@click.option("--temperatures", metavar="X,Y,Z", callback=_numbers, help=OPTIONS["temperatures"])
@comparing_options
@policy_options
@depth_option
@collection_option
@data_options
@room_options
def plot(
    kind: str,
    files: tuple[str, ...],
    output: str,
    policy: dict[str, str],
    no_notes: bool,
    **given: Any,
) -> None:
    """Draw a chart of the KIND that is named, from judgements and runs, or from what else it needs.

    Files are those that 'judged evaluate' reads; rows that hold both relevant and retrieved ids are
    judgements and a run. The list below says which a kind needs.
    """
    from judged.charts.files import chart_of_files
    from judged.cli._terminal import say, working
    from judged.outputs import check_target, checked_ending

    chosen = kind_named(kind)
    _check_files(chosen, files)
    design = {name: given.pop(name) for name in ("theme", "width", "height", "title")}
    design["notes"] = not no_notes
    options = _options(chosen, {**given, **policy})
    if "measure" in chosen.options and given["measures"]:
        options["measure"] = given["measures"][0]
    if "pictures" in chosen.options and "pictures" not in options:
        raise click.UsageError(
            f"{chosen.name} needs --pictures: "
            f"{OPTIONS['pictures'][0].lower()}{OPTIONS['pictures'][1:]}"
        )
    checked_ending(output, chosen.formats)
    judging = {name: given[name] for name in ("depth", "collection", *_DATA)}
    made_by = {name: given[name] for name in NEEDS[chosen.needs].made_by if said(name)}
    with working(f"Drawing {', '.join(files)}"):
        drawn = chart_of_files(
            chosen, files, policy=policy, made_by=made_by, **judging, **options, **design
        )
        pictures = getattr(drawn, "pictures", {}).values()
        check_target(output, reads=[each for each in pictures if isinstance(each, PathLike)])
        drawn.save(output)
    say(repr(drawn), err=True)


def _check_files(kind: Kind, files: tuple[str, ...]) -> None:
    needs = NEEDS[kind.needs]
    fewest, most = needs.files
    if kind.needs not in OF_JSON:
        fewest -= 1  # rows may hold judgements and a run
    if len(files) < fewest or (most is not None and len(files) > most):
        raise click.UsageError(
            f"{kind.name} needs {needs.says}: judged plot {kind.name} {needs.usage} -o FILE."
        )


def _options(kind: Kind, given: dict[str, Any]) -> dict[str, Any]:
    """The options of the kind that were given; refuses what has no meaning for it."""
    chosen = {name for name in given if said(name)}
    formats = () if kind.needs in OF_JSON else _DATA
    made_by = NEEDS[kind.needs].made_by
    may = {*kind.options, *made_by, *formats, *(_JUDGING if kind.needs in OF_RANKINGS else ())}
    if "measure" in kind.options:
        may.add("measures")
        if len(given["measures"]) > 1:
            raise click.UsageError(
                f"{kind.name} compares by one measure; got {', '.join(given['measures'])}."
            )
    if wrong := sorted(chosen - may):
        own = [name for name in OPTIONS if name in kind.options]
        takes = ", ".join(map(flag, (*own, *made_by))) or "none of its own"
        raise click.UsageError(
            f"{flag(wrong[0])} has no meaning for {kind.name}; its options: {takes}."
        )
    return {name: given[name] for name in kind.options if name in chosen}


def flag(name: str) -> str:
    """The option of a name."""
    return {
        "k": "-k",
        "measure": "-m",
        "measures": "-m",
        "judgements_format": "--qrels-format",
    }.get(name, f"--{name.replace('_', '-')}")
