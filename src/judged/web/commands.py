"""What reproduces the numbers of a view: as a command, and as Python."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judged.inputs.formats import distinct_names
from judged.options import LEVEL
from judged.policy import CHOICES
from judged.web.asked import Command

if TYPE_CHECKING:
    from judged.web.asked import Asked
    from judged.web.terms import Terms
    from judged.web.workspace import System, Workspace

SHORT_LINE = 88


def evaluate(
    asked: Asked,
    *,
    interval: bool = True,
    tie_range: bool = False,
    unjudged_range: bool = False,
    per_query: bool = False,
) -> Command:
    """What gives the evaluation of all systems under the terms of a page."""
    terms, workspace = asked.terms, asked.workspace
    options: dict[str, Any] = {}
    if interval:
        options["interval"] = True
        if terms.level != LEVEL:
            options["level"] = terms.level
    options |= {
        name: True
        for name, wanted in (("tie_range", tie_range), ("unjudged_range", unjudged_range))
        if wanted
    }
    call = "evaluate", workspace, workspace.systems, terms, terms.measures, options
    shell = [*words_of(*call), *(["--per-query"] if per_query else [])]
    return Command(line_of(shell), code_of(*call))


def compare(
    asked: Asked,
    *,
    systems: Sequence[str] | None = None,
    baseline: str | None = None,
    measures: Sequence[str] | None = None,
    **settings: Any,
) -> Command:
    """What gives the comparison of some systems under the terms of a page."""
    terms, workspace = asked.terms, asked.workspace
    names = [each.name for each in workspace.systems] if systems is None else systems
    chosen = [workspace.system(name) for name in names]
    options: dict[str, Any] = {} if baseline is None else {"baseline": baseline}
    if terms.level != LEVEL:
        options["level"] = terms.level
    options |= settings
    asked_for = terms.measures if measures is None else tuple(measures)
    call = "compare", workspace, chosen, terms, asked_for, options
    return Command(line_of(words_of(*call)), code_of(*call))


def explain(asked: Asked, system: str, query: str, measure: str) -> Command:
    """What gives the explanation of one number; beside rows, which are a run themselves, no command
    explains another run, and the values of all queries are what there is."""
    terms, workspace = asked.terms, asked.workspace
    chosen = [workspace.system(system)]
    judgements = workspace.judgements
    if judgements is not None and judgements.kind == "rows" and chosen[0].file is not judgements:
        return evaluate(asked, interval=False, per_query=True)
    options = {"query": query}
    call = "explain", workspace, chosen, terms, (measure,), options
    return Command(line_of(words_of(*call)), code_of(*call))


def words_of(
    name: str,
    workspace: Workspace,
    systems: Sequence[System],
    terms: Terms,
    measures: Sequence[str],
    options: Mapping[str, Any],
) -> list[str]:
    """A command, word by word."""
    words = ["judged", name, *_files(workspace, systems)]
    for measure in measures:
        words += ["-m", measure]
    for choice in CHOICES:
        if choice in terms.chosen:
            words += [f"--{choice}", terms.chosen[choice]]
    given = {
        "convention": terms.convention,
        "depth": terms.depth,
        "duplicates": None if terms.duplicates == "error" else terms.duplicates,
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
    """Where a file is; what was sent is called as it was when it was sent."""
    return file.name if file.uploaded else str(file.path)


def _files(workspace: Workspace, systems: Sequence[System]) -> list[str]:
    """Judgements and runs as commands take them, with a name where they would have another."""
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
    """A command as a shell takes it, in lines that can be read.

    >>> print(line_of(["judged", "explain", "it's.run", "--query", "a\\u202eb"]))
    judged explain 'it'"'"'s.run' --query $'a\\u202eb'
    """
    lines, line = [], ""
    for word in map(shell_word, words):
        if line and len(line) + len(word) > SHORT_LINE:
            lines.append(line)
            line = f"  {word}"
        else:
            line = f"{line} {word}" if line else word
    return " \\\n".join([*lines, line])


def shell_word(word: str) -> str:
    """A word in quotation marks; what cannot be seen, a line's end or a turn of direction, in the
    way of bash that shows it."""
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
    systems: Sequence[System],
    terms: Terms,
    measures: Sequence[str],
    options: Mapping[str, Any],
) -> str:
    """The same as a call of the library."""
    judgements, *runs = _files(workspace, systems)
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
    arguments += [f"{option}={value!r}" for option, value in {**terms.options(), **options}.items()]
    inner = "".join(f"    {argument},\n" for argument in arguments)
    return f"import judged\n\nfound = judged.{name}(\n{inner})\nprint(found)"
