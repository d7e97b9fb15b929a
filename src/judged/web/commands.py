"""The commands and the Python code that reproduce the numbers of a page."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judged.charts.kinds import NEEDS, OF_RANKINGS, Kind
from judged.inputs.formats import distinct_names
from judged.options import LEVEL
from judged.policy import CHOICES
from judged.web.visit import CommandText

if TYPE_CHECKING:
    from judged.web.visit import ScoringSettings, Visit
    from judged.web.workspace import EvaluatedSystem, Workspace


LINE_LENGTH = 88


def evaluate(
    visit: Visit,
    *,
    interval: bool = True,
    tie_range: bool = False,
    unjudged_range: bool = False,
    per_query: bool = False,
) -> CommandText:
    """Return the command of an evaluation of all systems."""
    scoring, workspace = visit.scoring, visit.workspace
    options: dict[str, Any] = {}
    if interval:
        options["interval"] = True
        if scoring.level != LEVEL:
            options["level"] = scoring.level
    options |= {
        name: True
        for name, wanted in (("tie_range", tie_range), ("unjudged_range", unjudged_range))
        if wanted
    }
    call = "evaluate", workspace, workspace.systems, scoring, scoring.measures, options
    shell = [*words_of(*call), *(["--per-query"] if per_query else [])]
    return CommandText(line_of(shell), code_of(*call))


def compare(
    visit: Visit,
    *,
    systems: Sequence[str] | None = None,
    baseline: str | None = None,
    measures: Sequence[str] | None = None,
    **settings: Any,
) -> CommandText:
    """Return the command of a comparison of some systems."""
    scoring, workspace = visit.scoring, visit.workspace
    names = [each.name for each in workspace.systems] if systems is None else systems
    chosen = [workspace.system(name) for name in names]
    options: dict[str, Any] = {} if baseline is None else {"baseline": baseline}
    if scoring.level != LEVEL:
        options["level"] = scoring.level
    options |= settings
    asked_for = scoring.measures if measures is None else tuple(measures)
    call = "compare", workspace, chosen, scoring, asked_for, options
    return CommandText(line_of(words_of(*call)), code_of(*call))


def explain(visit: Visit, system: str, query: str, measure: str) -> CommandText:
    """Return the command of an explanation; of a run beside rows, the values of all queries."""
    scoring, workspace = visit.scoring, visit.workspace
    chosen = [workspace.system(system)]
    judgements = workspace.judgements
    if judgements is not None and judgements.kind == "rows" and chosen[0].file is not judgements:
        return evaluate(visit, interval=False, per_query=True)
    options = {"query": query}
    call = "explain", workspace, chosen, scoring, (measure,), options
    return CommandText(line_of(words_of(*call)), code_of(*call))


def words_of(
    name: str,
    workspace: Workspace,
    systems: Sequence[EvaluatedSystem],
    scoring: ScoringSettings,
    measures: Sequence[str],
    options: Mapping[str, Any],
) -> list[str]:
    """Return the words of a command."""
    words = ["judged", name, *_file_arguments(workspace, systems)]
    for measure in measures:
        words += ["-m", measure]
    for choice in CHOICES:
        if choice in scoring.chosen:
            words += [f"--{choice}", scoring.chosen[choice]]
    given = {
        "convention": scoring.convention,
        "depth": scoring.depth,
        "duplicates": None if scoring.duplicates == "error" else scoring.duplicates,
    }
    for option, value in {**given, **options}.items():
        flag = f"--{option.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif value is not None:
            words += [flag, str(value)]
    # What begins with a dash would be taken for an option.
    return [
        f"./{word}" if word.startswith("-") and word in _paths(workspace) else word
        for word in words
    ]


def _paths(workspace: Workspace) -> set[str]:
    return {path_of(file) for file in workspace.files}


def path_of(file: Any) -> str:
    """Return the path of a file; of uploads, the name."""
    return file.name if file.uploaded else str(file.path)


def _file_arguments(workspace: Workspace, systems: Sequence[EvaluatedSystem]) -> list[str]:
    """Return judgements and runs as commands take them."""
    judgements = workspace.judgements
    assert judgements is not None
    runs = [system for system in systems if system.file is not judgements]
    paths = [path_of(system.file) for system in runs]
    usual = distinct_names([(None, path) for path in paths])
    return [
        path_of(judgements),
        *(
            path if system.name == name else f"{system.name}={path}"
            for system, path, name in zip(runs, paths, usual, strict=True)
        ),
    ]


def line_of(words: Sequence[str]) -> str:
    """Return a command for a shell, in lines of readable length.

    >>> print(line_of(["judged", "explain", "it's.run", "--query", "a\\u202eb"]))
    judged explain 'it'"'"'s.run' --query $'a\\u202eb'
    """
    lines, line = [], ""
    for word in map(shell_word, words):
        if line and len(line) + len(word) > LINE_LENGTH:
            lines.append(line)
            line = f"  {word}"
        else:
            line = f"{line} {word}" if line else word
    return " \\\n".join([*lines, line])


def shell_word(word: str) -> str:
    """Quote a word; invisible characters are escaped as bash shows them."""
    if word.isprintable():
        return shlex.quote(word)
    plain = word.replace("\\", r"\\").replace("'", r"\'")
    return "$'" + "".join(map(_shown, plain)) + "'"


def _shown(letter: str) -> str:
    number = ord(letter)
    if letter.isprintable():
        return letter
    return f"\\u{number:04x}" if number < 1 << 16 else f"\\U{number:08x}"


def code_of(
    name: str,
    workspace: Workspace,
    systems: Sequence[EvaluatedSystem],
    scoring: ScoringSettings,
    measures: Sequence[str],
    options: Mapping[str, Any],
) -> str:
    """Return the same as a call of the library."""
    judgements, *runs = _file_arguments(workspace, systems)
    names = [system.name for system in systems if system.file is not workspace.judgements]
    paths = [path_of(system.file) for system in systems if system.file is not workspace.judgements]
    single = name in ("explain", "judge")
    given: Any = paths[0] if single and paths else runs
    if not single and paths != runs:
        given = dict(zip(names, paths, strict=True))
    arguments = [repr(judgements), *([repr(given)] if runs else [])]
    if measures:
        shown = repr(measures[0]) if single else repr(list(measures))
        arguments.append(("measure=" if single else "measures=") + shown)
    arguments += [
        f"{option}={value!r}" for option, value in {**scoring.options(), **options}.items()
    ]
    inner = "".join(f"    {argument},\n" for argument in arguments)
    return f"import judged\n\nfound = judged.{name}(\n{inner})\nprint(found)"


NOT_IN_PLOT = ("convention", "duplicates")
"""Settings that `judged plot` does not have, but Python has."""


def chart_command(
    visit: Visit, kind: Kind, systems: Sequence[str], options: Mapping[str, Any]
) -> CommandText:
    """Return the command of a chart."""
    scoring = visit.scoring
    missing = [name for name in NOT_IN_PLOT if name in scoring.options()]
    if missing:
        shell = f"# judged plot takes no --{missing[0]}; the Python below does."
    elif _is_part(visit, kind, systems):
        shell = "# judged plot corrects for the systems it draws; the Python below for all systems."
    else:
        shell = line_of(_chart_words(visit, kind, systems, options))
    return CommandText(shell, _chart_code(visit, kind, systems, options))


def _chart_words(
    visit: Visit, kind: Kind, systems: Sequence[str], options: Mapping[str, Any]
) -> list[str]:
    scoring, workspace = visit.scoring, visit.workspace
    chosen = [workspace.system(name) for name in systems]
    own = {name: value for name, value in options.items() if name not in ("measures", "measure")}
    if kind.needs not in OF_RANKINGS:
        scoring = replace(scoring, chosen={}, depth=None)
    made_by = _made_by(visit, kind, systems)
    measures = _chart_measures(visit, kind, options)
    words = words_of("plot", workspace, chosen, scoring, measures, {**made_by, **own})
    words = ["-k" if word == "--k" else word for word in words]
    return [*words[:2], kind.name, *words[2:], "-o", f"{kind.name}.svg"]


def _chart_measures(visit: Visit, kind: Kind, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the measures of the chart, or of its comparison."""
    if "measure" in options:
        return (options["measure"],)
    if "measures" in options:
        return tuple(options["measures"])
    if kind.needs in ("comparison", "values"):
        of = visit.params.one("of")
        several = len(visit.params.all("system")) + (visit.params.one("against") is not None) > 2
        return (of,) if of is not None and several else visit.scoring.measures
    return ()


def _made_by(visit: Visit, kind: Kind, systems: Sequence[str]) -> dict[str, Any]:
    """Return the options of the comparison that a chart is made from."""
    if not NEEDS[kind.needs].made_by:
        return {}
    named = visit.scoring.baseline
    baseline = {"baseline": named} if named in systems and kind.needs != "pair" else {}
    return {**baseline, **({} if visit.scoring.level == LEVEL else {"level": visit.scoring.level})}


def _is_part(visit: Visit, kind: Kind, systems: Sequence[str]) -> bool:
    """Return whether a chart shows some systems, with verdicts corrected for all."""
    compared = kind.needs in ("pair", "comparison") and len(systems) > 1
    return compared and len(systems) < len(visit.workspace.systems)


def _chart_code(
    visit: Visit, kind: Kind, systems: Sequence[str], options: Mapping[str, Any]
) -> str:
    scoring, workspace = visit.scoring, visit.workspace
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
    measures = _chart_measures(visit, kind, options)
    compared = bool(NEEDS[kind.needs].made_by) and len(chosen) > 1
    made_by = _made_by(visit, kind, systems)
    part = _is_part(visit, kind, systems)
    if part:
        chosen = [workspace.system(name) for name in visit.calculations.order(systems)]
        if visit.scoring.baseline in systems:
            made_by = {**made_by, "baseline": visit.scoring.baseline}
    made = code_of(
        "compare" if compared else "evaluate",
        workspace,
        chosen,
        scoring,
        () if kind.needs in ("system", "systems") else measures,
        made_by,
    )
    found = f"found.among({', '.join(map(repr, systems))})" if part else "found"
    return made.replace("print(found)", f"judged.charts.{name}({found}{given}).save({file!r})")


def identify_command(visit: Visit, value: str, system: str, of: Sequence[str]) -> CommandText:
    """Return the command that finds the definitions of a number."""
    workspace = visit.workspace
    scoring = replace(visit.scoring, chosen={}, convention=None)
    run = workspace.system(system)
    words = words_of("identify", workspace, [run], scoring, tuple(of), {})
    assert workspace.judgements is not None
    arguments = [repr(value), repr(path_of(workspace.judgements))]
    if run.file is not workspace.judgements:
        arguments.append(repr(path_of(run.file)))
    if of:
        arguments.append(f"measures={list(of)!r}")
    arguments += [f"{name}={each!r}" for name, each in scoring.options().items()]
    inner = "".join(f"    {argument},\n" for argument in arguments)
    return CommandText(
        line_of([*words[:2], value, *words[2:]]),
        f"import judged\n\nfound = judged.identify(\n{inner})\nprint(found)",
    )
