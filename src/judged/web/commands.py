"""The commands that reproduce the numbers of a page."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judged.charts.kinds import NEEDS, OF_RANKINGS, ChartKind
from judged.inputs.formats import distinct_names
from judged.measures import DEFAULT
from judged.options import LEVEL

if TYPE_CHECKING:
    from judged.web.files import DataFile
    from judged.web.visit import ScoringSettings, Visit
    from judged.web.workspace import EvaluatedSystem, Workspace

LINE_LENGTH = 88
MERGED = "with-grades.qrels"
"""The file that commands read if an annotator's grades come before the judgements."""
NOT_IN_PLOT = ("convention", "duplicates", "empty", "unjudged")
"""Settings that `judged plot` does not have."""


def words_of(
    name: str,
    workspace: Workspace,
    systems: Sequence[EvaluatedSystem],
    scoring: ScoringSettings,
    measures: Iterable[str],
    **options: Any,
) -> list[str]:
    """Return the words of a command on the files and settings of a page."""
    judgements = workspace.judgements
    assert judgements is not None
    runs = [run for run in systems if run.file is not judgements]
    paths = [path_of(run.file) for run in runs]
    usual = distinct_names([(None, path) for path in paths])
    words = ["judged", name, path_of(judgements) if workspace.grades is None else MERGED]
    for run, path, shown in zip(runs, paths, usual, strict=True):
        words.append(path if run.name == shown else f"{run.name}={path}")
    for measure in measures:
        words += ["-m", measure]
    settings = {**scoring.chosen, "convention": scoring.convention, **options}
    if name == "explain":
        settings.pop("missing", None)  # about all queries
    for option, value in settings.items():
        flag = f"--{option.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif value is not None and value is not False:
            words += [flag, str(value)]
    # A file name that begins with a dash would be an option.
    known = {path_of(file) for file in workspace.files}
    return [f"./{word}" if word.startswith("-") and word in known else word for word in words]


def evaluate(visit: Visit, *, interval: bool = True, **options: bool) -> str:
    scoring, workspace = visit.scoring, visit.workspace
    level = scoring.level if interval and scoring.level != LEVEL else None
    shown = {"interval": interval, "level": level, **options}
    systems, measures = workspace.systems, scoring.measures
    return line_of(words_of("evaluate", workspace, systems, scoring, measures, **shown))


def compare(
    visit: Visit, *, systems: Sequence[str], measures: Sequence[str] | None = None, **options: Any
) -> str:
    scoring, workspace = visit.scoring, visit.workspace
    level = None if scoring.level == LEVEL else scoring.level
    chosen = [workspace.system(name) for name in systems]
    wanted = measures or scoring.measures or DEFAULT  # the command compares one measure by itself
    words = words_of("compare", workspace, chosen, scoring, wanted, level=level, **options)
    return line_of(words)


def explain(visit: Visit, system: str, query: str, measure: str) -> str:
    """Return the command of an explanation; of a run beside rows, the values of all queries."""
    workspace = visit.workspace
    chosen, judgements = workspace.system(system), workspace.judgements
    if judgements is not None and judgements.kind == "rows" and chosen.file is not judgements:
        return evaluate(visit, interval=False, per_query=True)
    scoring = visit.scoring
    return line_of(words_of("explain", workspace, [chosen], scoring, [measure], query=query))


def merging(workspace: Workspace) -> str:
    """Return the command that merges an annotator's grades with the judgements, if they count."""
    grades, judgements = workspace.grades, workspace.judgements
    if grades is None or judgements is None:
        return ""
    files = [path_of(grades), path_of(judgements)]
    return line_of(["judged", "merge", *files, "--rule", "first", "-o", MERGED]) + "\n"


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


def chart_command(
    visit: Visit, kind: ChartKind, systems: Sequence[str], options: Mapping[str, Any]
) -> str:
    scoring, workspace = visit.scoring, visit.workspace
    settings = {**scoring.chosen, "convention": scoring.convention}
    missing = [name for name in NOT_IN_PLOT if settings.get(name)]
    if missing:
        return f"# judged plot has no --{missing[0]}."
    if kind.needs in ("pair", "comparison") and 1 < len(systems) < len(workspace.systems):
        return "# judged plot corrects for the systems that it draws, this chart for all systems."
    if kind.needs not in OF_RANKINGS:
        scoring = replace(scoring, chosen={})
    made_by: dict[str, Any] = {}
    if NEEDS[kind.needs].made_by:
        if scoring.baseline in systems and kind.needs != "pair":
            made_by["baseline"] = scoring.baseline
        made_by["level"] = None if scoring.level == LEVEL else scoring.level
    design = {name: value for name, value in options.items() if name not in ("measures", "measure")}
    chosen = [workspace.system(name) for name in systems]
    measures = _chart_measures(visit, kind, options)
    words = words_of("plot", workspace, chosen, scoring, measures, **made_by, **design)
    words = ["-k" if word == "--k" else word for word in words]
    return line_of([*words[:2], kind.name, *words[2:], "-o", f"{kind.name}.svg"])


def _chart_measures(visit: Visit, kind: ChartKind, options: Mapping[str, Any]) -> tuple[str, ...]:
    if "measure" in options:
        return (options["measure"],)
    if "measures" in options:
        return tuple(options["measures"])
    if kind.needs in ("comparison", "values"):
        of = visit.params.one("of")
        several = len(visit.params.all("system")) + (visit.params.one("against") is not None) > 2
        return (of,) if of is not None and several else visit.scoring.measures
    return ()
