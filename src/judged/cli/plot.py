"""`judged plot`: draw a chart."""

from __future__ import annotations

from os import PathLike
from typing import Any

import click

from judged.charts.kinds import KINDS, NEEDS, OF_JSON, OF_RANKINGS, OPTIONS, Kind, kind_named
from judged.charts.svg import THEMES
from judged.cli import _options as opt
from judged.cli._files import READS, command
from judged.policy import CHOICES

_DATA = (
    *("columns", "item_to", "exclude_same_id", "judgements_format", "run_format"),
    *("memory", "temporary"),
)
_JUDGING = (*CHOICES, "depth", "collection")
"""Options of rankings."""


def _list_kinds() -> str:
    """Return every kind with what it needs, for the end of the help."""
    width = max(map(len, KINDS)) + 2
    needs = max(len(each.usage) for each in NEEDS.values()) + 1
    lines = [
        f"  {kind.name:<{width}}{NEEDS[kind.needs].usage:<{needs}} {kind.title}"
        for kind in KINDS.values()
    ]
    return "\b\nKinds of charts:\n" + "\n".join(lines)


@command(
    example="judged plot precision-recall qrels.txt bm25.run -o curve.svg", epilog=_list_kinds()
)
@click.argument("kind", metavar="KIND")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=READS)
@opt.output_option("Write a picture (.png, .svg, .pdf, .html) or its data (.csv, .parquet, .json).")
@click.option(
    "--theme",
    type=click.Choice(list(THEMES)),
    default="light",
    show_default=True,
    help="Draw for light or dark pages, or with CSS variables.",
)
@opt.number("--width", int, "PIXELS", "Set the width of the drawing.")
@opt.number("--height", int, "PIXELS", "Set the height without title and notes.")
@opt.text("--title", "TEXT", "Replace the title; an empty one leaves it out.")
@opt.flag("--no-notes", "Leave out the notes under the title.")
@opt.measures_option
@opt.number("-k", int, "K", OPTIONS["k"])
@opt.text("--query", "ID", OPTIONS["query"])
@opt.number("--rel", float, "GRADE", OPTIONS["rel"])
@click.option(
    "--of",
    type=click.Choice(["all", "first"]),
    default="all",
    show_default=True,
    help=OPTIONS["of"],
)
@opt.text("--pictures", "FILE", OPTIONS["pictures"], type=READS)
@opt.number("--queries", int, "N", OPTIONS["queries"])
@opt.number("--bins", int, "N", OPTIONS["bins"])
@opt.text("--temperatures", "X,Y,Z", OPTIONS["temperatures"], callback=opt.list_of_numbers)
@opt.comparison_options
@opt.policy_options
@opt.depth_option
@opt.collection_option
@opt.data_options
@opt.memory_options
def plot(
    kind: str,
    files: tuple[str, ...],
    output: str,
    policy: dict[str, str],
    no_notes: bool,
    **given: Any,
) -> None:
    """Draw a chart of a KIND from judgements and runs, or from other files that it needs.

    Files are those that 'judged evaluate' reads. Rows with relevant and retrieved ids hold
    judgements and a run. Rankings files (*.rankings) can replace QRELS and RUN where no ids of
    items are shown. The list below shows the files of each kind.
    """
    from judged.charts.sources import chart_of_files
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
            f"{chosen.name} needs --pictures FILE, a table with the columns id and picture."
        )
    checked_ending(output, chosen.formats)
    judging = {name: given[name] for name in ("depth", "collection", *_DATA)}
    made_by = {name: given[name] for name in NEEDS[chosen.needs].made_by if opt.is_given(name)}
    with working(f"Drawing {', '.join(files)}"), opt.limited(judging):
        scoring = opt.as_scoring({"policy": policy, **judging})
        drawn = chart_of_files(chosen, files, scoring=scoring, made_by=made_by, **options, **design)
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
    """Return the given options of the kind; fail on others."""
    chosen = {name for name in given if opt.is_given(name)}
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
        takes = ", ".join(map(option_of, (*own, *made_by))) or "none of its own"
        raise click.UsageError(
            f"{option_of(wrong[0])} has no meaning for {kind.name}; its options: {takes}."
        )
    return {name: given[name] for name in kind.options if name in chosen}


def option_of(name: str) -> str:
    """Return the option of a parameter."""
    return {
        "k": "-k",
        "measure": "-m",
        "measures": "-m",
        "judgements_format": "--qrels-format",
    }.get(name, f"--{name.replace('_', '-')}")
