"""What draws the chart of a page, and what finds the definitions of a number: as a command, and as
Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judged.charts.kinds import NEEDS, OF_RANKINGS, Kind
from judged.options import LEVEL
from judged.web.asked import Command
from judged.web.commands import code_of, line_of, path_of, words_of

if TYPE_CHECKING:
    from judged.web.asked import Asked

NOT_PLOTTED = ("convention", "duplicates")
"""Terms that `judged plot` does not have; Python has them."""


def chart_command(
    asked: Asked, kind: Kind, systems: Sequence[str], options: Mapping[str, Any]
) -> Command:
    """What draws a chart of some systems under the terms of a page."""
    terms = asked.terms
    missing = [name for name in NOT_PLOTTED if name in terms.options()]
    if missing:
        shell = f"# judged plot takes no --{missing[0]}; the Python below does."
    elif _is_part(asked, kind, systems):
        shell = "# judged plot corrects for the systems it draws; the Python below for all systems."
    else:
        shell = line_of(_words(asked, kind, systems, options))
    return Command(shell, _code(asked, kind, systems, options))


def _words(
    asked: Asked, kind: Kind, systems: Sequence[str], options: Mapping[str, Any]
) -> list[str]:
    terms, workspace = asked.terms, asked.workspace
    chosen = [workspace.system(name) for name in systems]
    own = {name: value for name, value in options.items() if name not in ("measures", "measure")}
    if kind.needs not in OF_RANKINGS:
        terms = replace(terms, chosen={}, depth=None)
    made_by = _made_by(asked, kind, systems)
    measures = _measures(asked, kind, options)
    words = words_of("plot", workspace, chosen, terms, measures, {**made_by, **own})
    words = ["-k" if word == "--k" else word for word in words]
    return [*words[:2], kind.name, *words[2:], "-o", f"{kind.name}.svg"]


def _measures(asked: Asked, kind: Kind, options: Mapping[str, Any]) -> tuple[str, ...]:
    """The measures that are named: those of the chart, or of the comparison that it is made of."""
    if "measure" in options:
        return (options["measure"],)
    if "measures" in options:
        return tuple(options["measures"])
    if kind.needs in ("comparison", "values"):
        of = asked.params.one("of")
        several = len(asked.params.all("system")) + (asked.params.one("against") is not None) > 2
        return (of,) if of is not None and several else asked.terms.measures
    return ()


def _made_by(asked: Asked, kind: Kind, systems: Sequence[str]) -> dict[str, Any]:
    """Return the options of the comparison that a chart is made of."""
    if not NEEDS[kind.needs].made_by:
        return {}
    named = asked.terms.baseline
    baseline = {"baseline": named} if named in systems and kind.needs != "pair" else {}
    return {**baseline, **({} if asked.terms.level == LEVEL else {"level": asked.terms.level})}


def _is_part(asked: Asked, kind: Kind, systems: Sequence[str]) -> bool:
    """Return whether a chart shows verdicts on some systems, which are corrected for all."""
    compared = kind.needs in ("pair", "comparison") and len(systems) > 1
    return compared and len(systems) < len(asked.workspace.systems)


def _code(asked: Asked, kind: Kind, systems: Sequence[str], options: Mapping[str, Any]) -> str:
    terms, workspace = asked.terms, asked.workspace
    chosen = [workspace.system(name) for name in systems]
    given = "".join(f", {name}={value!r}" for name, value in options.items())
    name, file = kind.function_name, f"{kind.name}.svg"
    if kind.needs not in OF_RANKINGS:
        assert workspace.judgements is not None
        runs: Any = {each.name: path_of(each.file) for each in chosen}
        if kind.needs == "results":
            (runs,) = runs.values()
        judgements = path_of(workspace.judgements)
        call = f"judged.charts.{name}({judgements!r}, {runs!r}{given})"
        return f"import judged\n\n{call}.save({file!r})"
    measures = _measures(asked, kind, options)
    compared = bool(NEEDS[kind.needs].made_by) and len(chosen) > 1
    made_by = _made_by(asked, kind, systems)
    part = _is_part(asked, kind, systems)
    if part:
        chosen = [workspace.system(name) for name in asked.calculations.order(systems)]
        if asked.terms.baseline in systems:
            made_by = {**made_by, "baseline": asked.terms.baseline}
    made = code_of(
        "compare" if compared else "evaluate",
        workspace,
        chosen,
        terms,
        () if kind.needs in ("system", "systems") else measures,
        made_by,
    )
    found = f"found.among({', '.join(map(repr, systems))})" if part else "found"
    return made.replace("print(found)", f"judged.charts.{name}({found}{given}).save({file!r})")


def identify_command(asked: Asked, value: str, system: str, of: Sequence[str]) -> Command:
    """What finds the definitions that give a number."""
    workspace = asked.workspace
    terms = replace(asked.terms, chosen={}, convention=None)
    run = workspace.system(system)
    words = words_of("identify", workspace, [run], terms, tuple(of), {})
    assert workspace.judgements is not None
    arguments = [repr(value), repr(path_of(workspace.judgements))]
    if run.file is not workspace.judgements:
        arguments.append(repr(path_of(run.file)))
    if of:
        arguments.append(f"measures={list(of)!r}")
    arguments += [f"{name}={each!r}" for name, each in terms.options().items()]
    inner = "".join(f"    {argument},\n" for argument in arguments)
    return Command(
        line_of([*words[:2], value, *words[2:]]),
        f"import judged\n\nfound = judged.identify(\n{inner})\nprint(found)",
    )
