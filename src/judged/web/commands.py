"""The commands and the Python code that reproduce the numbers of a page."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from judged.charts.kinds import NEEDS, OF_RANKINGS, Kind
from judged.inputs.formats import distinct_names
from judged.options import LEVEL
from judged.web.visit import CommandText

if TYPE_CHECKING:
    from judged.web.files import DataFile
    from judged.web.visit import ScoringSettings, Visit
    from judged.web.workspace import EvaluatedSystem, Workspace

LINE_LENGTH = 88
NOT_IN_PLOT = ("convention", "duplicates")
"""Settings that `judged plot` does not have, but Python has."""
SINGLE = ("explain", "judge")  # functions of one run and one measure
SHOWN = {"interval": "intervals", "tie_range": "tie_range", "unjudged_range": "unjudged_range"}
"""Options of `judged evaluate` that are arguments of `Evaluation.showing`."""


@dataclass(frozen=True)
class LibraryCall:
    """A call of the library, as a command and as Python."""

    name: str
    workspace: Workspace
    systems: Sequence[EvaluatedSystem]
    scoring: ScoringSettings
    measures: Sequence[str]
    options: Mapping[str, Any]

    @property
    def text(self) -> CommandText:
        return CommandText(line_of(self.words()), self.python())

    def words(self) -> list[str]:
        scoring = self.scoring
        words = ["judged", self.name, *self._files()]
        for measure in self.measures:
            words += ["-m", measure]
        settings = {**scoring.chosen, "convention": scoring.convention, **self.options}
        for option, value in settings.items():
            flag = f"--{option.replace('_', '-')}"
            if value is True:
                words.append(flag)
            elif value is not None:
                words += [flag, str(value)]
        # A file name that begins with a dash would be an option.
        paths = {path_of(file) for file in self.workspace.files}
        return [f"./{word}" if word.startswith("-") and word in paths else word for word in words]

    def python(self) -> str:
        judgements, *runs = self._files()
        chosen = [run for run in self.systems if run.file is not self.workspace.judgements]
        paths = [path_of(run.file) for run in chosen]
        single = self.name in SINGLE
        source: Any = paths[0] if single and paths else runs
        if not single and paths != runs:
            source = dict(zip([run.name for run in chosen], paths, strict=True))
        arguments = [repr(judgements), *([repr(source)] if runs else [])]
        if self.measures:
            text = f"measure={self.measures[0]!r}" if single else f"measures={[*self.measures]!r}"
            arguments.append(text)
        shown, options = {}, dict(self.options)
        if self.name == "evaluate":
            shown = {SHOWN.get(name, name): value for name, value in options.items()}
            options = {}
        settings = self.scoring.scoring()
        for option, value in {**settings, **options}.items():
            if value is not None:
                arguments.append(f"{option}={value!r}")
        inner = "".join(f"    {argument},\n" for argument in arguments)
        beside = ", ".join(f"{name}={value!r}" for name, value in shown.items())
        showing = f".showing({beside})" if shown else ""
        return f"import judged\n\nresult = judged.{self.name}(\n{inner}){showing}\nprint(result)"

    def _files(self) -> list[str]:
        """Return judgements and runs as commands take them, with names that differ from files."""
        judgements = self.workspace.judgements
        assert judgements is not None
        runs = [run for run in self.systems if run.file is not judgements]
        paths = [path_of(run.file) for run in runs]
        usual = distinct_names([(None, path) for path in paths])
        named = [
            path if run.name == name else f"{run.name}={path}"
            for run, path, name in zip(runs, paths, usual, strict=True)
        ]
        return [path_of(judgements), *named]


def evaluate(
    visit: Visit,
    *,
    interval: bool = True,
    tie_range: bool = False,
    unjudged_range: bool = False,
    per_query: bool = False,
) -> CommandText:
    scoring, workspace = visit.scoring, visit.workspace
    wanted = {
        "interval": interval,
        "level": scoring.level if interval and scoring.level != LEVEL else None,
        "tie_range": tie_range,
        "unjudged_range": unjudged_range,
    }
    options = {name: value for name, value in wanted.items() if value}
    systems, measures = workspace.systems, scoring.measures
    call = LibraryCall("evaluate", workspace, systems, scoring, measures, options)
    shell = [*call.words(), *(["--per-query"] if per_query else [])]
    return CommandText(line_of(shell), call.python())


def compare(
    visit: Visit,
    *,
    systems: Sequence[str],
    baseline: str | None = None,
    measures: Sequence[str] | None = None,
    **settings: Any,
) -> CommandText:
    scoring, workspace = visit.scoring, visit.workspace
    options: dict[str, Any] = {} if baseline is None else {"baseline": baseline}
    if scoring.level != LEVEL:
        options["level"] = scoring.level
    chosen = [workspace.system(name) for name in systems]
    wanted = scoring.measures if measures is None else tuple(measures)
    return LibraryCall("compare", workspace, chosen, scoring, wanted, {**options, **settings}).text


def explain(visit: Visit, system: str, query: str, measure: str) -> CommandText:
    """Return the command of an explanation; of a run beside rows, the values of all queries."""
    workspace = visit.workspace
    chosen, judgements = workspace.system(system), workspace.judgements
    if judgements is not None and judgements.kind == "rows" and chosen.file is not judgements:
        return evaluate(visit, interval=False, per_query=True)
    options = {"query": query}
    return LibraryCall("explain", workspace, [chosen], visit.scoring, (measure,), options).text


def path_of(file: DataFile) -> str:
    return file.name if file.uploaded else str(file.path)


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
    return "$'" + "".join(map(_escape, plain)) + "'"


def _escape(letter: str) -> str:
    number = ord(letter)
    if letter.isprintable():
        return letter
    return f"\\u{number:04x}" if number < 1 << 16 else f"\\U{number:08x}"


# -- charts, and definitions of a number


def chart_command(
    visit: Visit, kind: Kind, systems: Sequence[str], options: Mapping[str, Any]
) -> CommandText:
    settings = {**visit.scoring.chosen, "convention": visit.scoring.convention}
    missing = [name for name in NOT_IN_PLOT if settings.get(name)]
    if missing:
        shell = f"# judged plot has no --{missing[0]}; the Python code below has it."
    elif _is_part(visit, kind, systems):
        shell = "# judged plot corrects for the systems it draws, the Python code for all systems."
    else:
        shell = line_of(_chart_words(visit, kind, systems, options))
    return CommandText(shell, _chart_code(visit, kind, systems, options))


def _chart_words(
    visit: Visit, kind: Kind, systems: Sequence[str], options: Mapping[str, Any]
) -> list[str]:
    scoring, workspace = visit.scoring, visit.workspace
    chosen = [workspace.system(name) for name in systems]
    if kind.needs not in OF_RANKINGS:
        scoring = replace(scoring, chosen={})
    design = {name: value for name, value in options.items() if name not in ("measures", "measure")}
    made_by = {**_made_by(visit, kind, systems), **design}
    measures = _chart_measures(visit, kind, options)
    words = LibraryCall("plot", workspace, chosen, scoring, measures, made_by).words()
    words = ["-k" if word == "--k" else word for word in words]
    return [*words[:2], kind.name, *words[2:], "-o", f"{kind.name}.svg"]


def _chart_measures(visit: Visit, kind: Kind, options: Mapping[str, Any]) -> tuple[str, ...]:
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
    named, level = visit.scoring.baseline, visit.scoring.level
    baseline = {"baseline": named} if named in systems and kind.needs != "pair" else {}
    return {**baseline, **({} if level == LEVEL else {"level": level})}


def _is_part(visit: Visit, kind: Kind, systems: Sequence[str]) -> bool:
    """Return whether a chart shows some systems, with verdicts corrected for all."""
    compared = kind.needs in ("pair", "comparison") and len(systems) > 1
    return compared and len(systems) < len(visit.workspace.systems)


def _chart_code(
    visit: Visit, kind: Kind, systems: Sequence[str], options: Mapping[str, Any]
) -> str:
    workspace = visit.workspace
    chosen = [workspace.system(name) for name in systems]
    arguments = "".join(f", {name}={value!r}" for name, value in options.items())
    name, file = kind.function_name, f"{kind.name}.svg"
    if kind.needs not in OF_RANKINGS:
        assert workspace.judgements is not None
        runs: Any = {run.name: path_of(run.file) for run in chosen}
        if kind.needs == "results":
            (runs,) = runs.values()
        judgements = path_of(workspace.judgements)
        call = f"judged.charts.{name}({judgements!r}, {runs!r}{arguments})"
        return f"import judged\n\n{call}.save({file!r})"
    made_by = _made_by(visit, kind, systems)
    part = _is_part(visit, kind, systems)
    if part:
        chosen = [workspace.system(run) for run in visit.calculations.order(systems)]
        if visit.scoring.baseline in systems:
            made_by = {**made_by, "baseline": visit.scoring.baseline}
    compared = bool(NEEDS[kind.needs].made_by) and len(chosen) > 1
    named = kind.needs not in ("system", "systems")
    measures = _chart_measures(visit, kind, options) if named else ()
    function = "compare" if compared else "evaluate"
    code = LibraryCall(function, workspace, chosen, visit.scoring, measures, made_by).python()
    result = f"result.among({', '.join(map(repr, systems))})" if part else "result"
    return code.replace(
        "print(result)", f"judged.charts.{name}({result}{arguments}).save({file!r})"
    )


def identify_command(visit: Visit, value: str, system: str, of: Sequence[str]) -> CommandText:
    workspace = visit.workspace
    chosen = {name: visit.scoring.chosen.get(name) for name in visit.scoring.of_run}
    policy = {name: value for name, value in chosen.items() if value is not None}
    scoring = replace(visit.scoring, chosen=policy, convention=None)
    run = workspace.system(system)
    words = LibraryCall("identify", workspace, [run], scoring, tuple(of), {}).words()
    assert workspace.judgements is not None
    arguments = [repr(value), repr(path_of(workspace.judgements))]
    if run.file is not workspace.judgements:
        arguments.append(repr(path_of(run.file)))
    if of:
        arguments.append(f"measures={list(of)!r}")
    arguments += [f"policy={policy!r}"] if policy else []
    inner = "".join(f"    {argument},\n" for argument in arguments)
    return CommandText(
        line_of([*words[:2], value, *words[2:]]),
        f"import judged\n\nresult = judged.identify(\n{inner})\nprint(result)",
    )
