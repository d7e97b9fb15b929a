"""`judged plot`: draw a chart."""

from __future__ import annotations

from os import PathLike
from typing import Any

import click

from judged.charts.kinds import KINDS, NEEDS, OF_JSON, OF_RANKINGS, OPTIONS, ChartKind, kind_named
from judged.charts.svg import THEMES
from judged.cli import _options as opt
from judged.cli._command import READS, command

_JUDGING = ("ties", "missing", "depth", "collection", "relevant")
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
@opt.choice(
    "--theme",
    list(THEMES),
    "Draw for light or dark pages, or with CSS variables.",
    "light",
    group="drawing",
)
@opt.number("--width", int, "PIXELS", "Set the width of the drawing.", group="drawing")
@opt.text(
    "--title",
    "TEXT",
    "Replace the title; an empty one leaves it out.",
    group="drawing",
    common=True,
)
@opt.measures_option
@opt.number("-k", int, "K", OPTIONS["k"], common=True)
@opt.text("--query", "ID", OPTIONS["query"], common=True)
@opt.number("--rel", float, "GRADE", OPTIONS["rel"])
@opt.choice("--of", ["all", "first"], OPTIONS["of"], "all")
@opt.file("--pictures", OPTIONS["pictures"])
@opt.number("--n-queries queries", int, "N", OPTIONS["queries"])
@opt.baseline_option()
@opt.level_option()
@opt.policy_options("ties", "missing", "depth")
@opt.collection_option
@opt.relevant_option
@opt.columns_option
def plot(
    kind: str,
    files: tuple[str, ...],
    output: str,
    **given: Any,
) -> None:
    """Draw a chart of a KIND from judgements and runs, or from other files that it needs.

    Files are those that 'judged evaluate' reads. Rows with relevant and retrieved ids hold
    judgements and a run, as a table with labels and scores does. Rankings files (*.rankings) and
    relevance lists ("0 1 0 0 1", one for each query) can replace QRELS and RUN where no ids of
    items are shown. The list below shows the files of each kind.
    """
    from judged.charts.sources import chart_of_files
    from judged.cli._terminal import say, say_warnings, working
    from judged.outputs import check_target, checked_ending

    chosen = kind_named(kind)
    _check_files(chosen, files)
    design = {name: given.pop(name) for name in ("theme", "width", "title")}
    options = _options(chosen, given)
    if "measure" in chosen.options and given["measures"]:
        options["measure"] = given["measures"][0]
    if "pictures" in chosen.options and "pictures" not in options:
        raise click.UsageError(
            f"{chosen.name} needs --pictures FILE, a table with the columns id and picture."
        )
    checked_ending(output, chosen.formats)
    judging = {name: given[name] for name in (*_JUDGING, "columns")}
    made_by = {
        name: given[name]
        for name in NEEDS[chosen.needs].made_by
        if name in given and opt.is_given(name)
    }
    with working(f"Drawing {', '.join(files)}"):
        scoring = opt.as_scoring(judging)
        drawn = chart_of_files(chosen, files, scoring=scoring, made_by=made_by, **options, **design)
        pictures = getattr(drawn, "pictures", {}).values()
        check_target(output, reads=[each for each in pictures if isinstance(each, PathLike)])
        drawn.save(output)
    say(drawn.title)
    say_warnings(drawn)


def _check_files(kind: ChartKind, files: tuple[str, ...]) -> None:
    from judged.inputs.data import typed_lists

    needs = NEEDS[kind.needs]
    fewest, most = needs.files
    if kind.needs not in OF_JSON:
        fewest -= 1  # rows may hold judgements and a run
    if kind.needs not in OF_JSON and typed_lists(files[0], list(files[1:])):
        return
    if len(files) < fewest or (most is not None and len(files) > most):
        raise click.UsageError(
            f"{kind.name} needs {needs.says}: judged plot {kind.name} {needs.usage} -o FILE."
        )


def _options(kind: ChartKind, given: dict[str, Any]) -> dict[str, Any]:
    """Return the given options of the kind; fail on others."""
    chosen = {name for name in given if opt.is_given(name)}
    formats = () if kind.needs in OF_JSON else ("columns",)
    made_by = [name for name in NEEDS[kind.needs].made_by if name in given]
    may = {*kind.options, *made_by, *formats, *(_JUDGING if kind.needs in OF_RANKINGS else ())}
    if "measure" in kind.options:
        may.add("measures")
        if len(given["measures"] or ()) > 1:
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
    short = {"k": "-k", "measure": "-m", "measures": "-m", "queries": "--n-queries"}
    return short.get(name, f"--{name.replace('_', '-')}")
