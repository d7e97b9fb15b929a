"""Files: what is loaded, what each is, and which of them numbers are made of."""

from __future__ import annotations

from dataclasses import dataclass

from judged.inputs.formats import FORMATS
from judged.text import counted, listed
from judged.web.asked import Asked, Page
from judged.web.files import KINDS, Found
from judged.web.workspace import Workspace

PARAMS: tuple[str, ...] = ()
MAY_BE_JUDGEMENTS = ("judgements", "rows", "unclear", "annotator")
MAY_BE_RUNS = ("run", "rows", "unclear")
_UNITS = ("bytes", "KB", "MB", "GB", "TB")


@dataclass(frozen=True)
class Row:
    """A file in the table."""

    file: Found
    used: str
    """What it is used as on this page's terms; empty where it is not used."""
    size: str
    place: int | None = None
    """The place of its system, whose colour it has."""


def page(asked: Asked) -> Page:
    """All files, and what each is."""
    workspace = asked.workspace
    if not workspace.files:
        return empty(asked)
    return Page("files.html", "Files", _context(asked, workspace))


def asking(asked: Asked, why: str) -> Page:
    """The page that asks which file is what, where numbers were asked for."""
    workspace = asked.workspace
    if not workspace.of_kind(*MAY_BE_JUDGEMENTS, *MAY_BE_RUNS):
        return empty(asked, status=200 if asked.path == "/" else 409)
    context = {**_context(asked, workspace), "why": why}
    return Page("asking.html", "Which files?", context, status=409)


def empty(asked: Asked, status: int = 200) -> Page:
    """The page of a server that has nothing to evaluate yet."""
    workspace = asked.workspace
    there = ""
    if workspace.files:
        there = (
            f"{workspace.name} has {counted(len(workspace.files), 'file')}, and none of them holds "
            "judgements or results."
        )
        if workspace.vectors:
            there += f" {counted(len(workspace.vectors), 'file')} of vectors can be looked at."
    context = {
        "workspace": workspace,
        "there": there,
        "formats": ", ".join(FORMATS),
        "has_demo": asked.settings.demo is not None,
    }
    return Page("empty.html", "Nothing to judge yet", context, status=status)


def _context(asked: Asked, workspace: Workspace) -> dict[str, object]:
    used = {system.file.name: "a system" for system in workspace.systems}
    if workspace.judgements is not None:
        both = workspace.judgements.kind == "rows"
        used[workspace.judgements.name] = "judgements and a system" if both else "the judgements"
    places = {system.file.name: system.place for system in workspace.systems}
    rows = [
        Row(file, used.get(file.name, ""), size_in_words(file.size), places.get(file.name))
        for file in workspace.files
    ]
    chosen = {system.file.name for system in workspace.systems}
    return {
        "workspace": workspace,
        "rows": rows,
        "summary": _summary(workspace),
        "kinds": KINDS,
        "judgements_choices": workspace.of_kind(*MAY_BE_JUDGEMENTS),
        "run_choices": workspace.of_kind(*MAY_BE_RUNS),
        "chosen_judgements": workspace.judgements.name if workspace.judgements else "",
        "chosen_runs": chosen,
        "kept": [
            pair for pair in asked.params.pairs if pair[0] not in ("judgements", "run") and pair[1]
        ],
        "limit": size_in_words(asked.settings.upload_limit),
    }


def _summary(workspace: Workspace) -> str:
    """How many files of each kind there are, in words."""
    kinds = [file.kind for file in workspace.files]
    names = {
        "judgements": ("file of judgements", "files of judgements"),
        "run": ("run", "runs"),
        "rows": ("file of rows", "files of rows"),
        "vectors": ("file of vectors", "files of vectors"),
        "picture": ("picture", "pictures"),
    }
    said = [
        counted(kinds.count(kind), one, several)
        for kind, (one, several) in names.items()
        if kind in kinds
    ]
    others = sum(kind not in names for kind in kinds)
    said += [counted(others, "other file")] if others else []
    return f"{listed(said)}."


def size_in_words(size: int) -> str:
    """A number of bytes as people say it.

    >>> size_in_words(999), size_in_words(1_234_567), size_in_words(500_000_000)
    ('999 bytes', '1.2 MB', '500 MB')
    """
    value, unit = float(size), 0
    while value >= 999.5 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return (
        f"{value:.0f} {_UNITS[unit]}"
        if unit == 0 or value >= 99.5
        else (f"{value:.3g} {_UNITS[unit]}" if value >= 10 else f"{value:.1f} {_UNITS[unit]}")
    )
