"""Files: what is loaded, what each is, and which of them numbers are made of."""

from __future__ import annotations

from dataclasses import dataclass

from judged.errors import JudgedError, quoted
from judged.inputs.formats import FORMATS
from judged.rankings.audit import audit_of
from judged.text import Warned, counted, listed
from judged.web.errors import GoneError, RefusedError
from judged.web.files import KINDS, DataFile, picture_of
from judged.web.visit import Page, RawContent, Visit
from judged.web.workspace import Workspace, pictures_of

PARAMS: tuple[str, ...] = ()
MAY_BE_JUDGEMENTS = ("judgements", "rows", "unclear", "annotator")
MAY_BE_RUNS = ("run", "rows", "unclear")
_UNITS = ("bytes", "KB", "MB", "GB", "TB")


@dataclass(frozen=True)
class FileRow:
    """A file in the table."""

    file: DataFile
    used: str
    """What it is used as on this page's terms; empty where it is not used."""
    size: str
    place: int | None = None
    """The place of its system, whose colour it has."""


def page(visit: Visit) -> Page:
    """All files, and what each is."""
    workspace = visit.workspace
    if not workspace.files:
        return empty(visit)
    return Page("files.html", "Files", _context(visit, workspace))


def asking(visit: Visit, why: str) -> Page:
    """The page that asks which file is what, where numbers were asked for."""
    workspace = visit.workspace
    if not workspace.of_kind(*MAY_BE_JUDGEMENTS, *MAY_BE_RUNS):
        return empty(visit, status=200 if visit.path == "/" else 409)
    context = {**_context(visit, workspace), "why": why}
    return Page("asking.html", "Which files?", context, status=409)


def empty(visit: Visit, status: int = 200) -> Page:
    """The page of a server that has nothing to evaluate yet."""
    workspace = visit.workspace
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
        "has_demo": visit.settings.demo is not None,
    }
    return Page("empty.html", "Nothing to judge yet", context, status=status)


def _context(visit: Visit, workspace: Workspace) -> dict[str, object]:
    used = {system.file.name: "a system" for system in workspace.systems}
    if workspace.judgements is not None:
        both = workspace.judgements.kind == "rows"
        used[workspace.judgements.name] = "judgements and a system" if both else "the judgements"
    places = {system.file.name: system.place for system in workspace.systems}
    rows = [
        FileRow(file, used.get(file.name, ""), size_in_words(file.size), places.get(file.name))
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
            pair for pair in visit.params.pairs if pair[0] not in ("judgements", "run") and pair[1]
        ],
        "limit": size_in_words(visit.settings.upload_limit),
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


@dataclass(frozen=True)
class Note:
    """A sentence, and how much it matters."""

    kind: str
    text: str


@dataclass(frozen=True)
class Reading:
    """What there is to say about one system."""

    name: str
    place: int
    says: str
    notes: tuple[Note, ...]


def reading_page(visit: Visit) -> Page:
    """A part of the page of files, which comes once everything is read."""
    readings, refused = [], []
    try:
        rankings = visit.calculations.rankings(visit.scoring)
    except JudgedError as error:
        refused.append(str(error))
    else:
        for system, r in zip(visit.workspace.systems, rankings, strict=True):
            audit = audit_of(r)
            said = (
                f"{audit.run_queries:,} queries, {audit.results:,} results of judged queries, "
                f"{audit.judged_results:,} of them judged"
            )
            notes = tuple(
                Note("warn" if isinstance(text, Warned) else "info", text)
                for text in audit.sentences()
            )
            readings.append(Reading(system.name, system.place, said, notes))
    return Page("reading.html", "How the files were read", {"all": readings, "refused": refused})


MAX_PICTURE_BYTES = 20 * 10**6
"""Bytes of a picture that is shown."""


def picture_page(visit: Visit) -> RawContent:
    """The picture as it lies in its file."""
    item = visit.params.text("item")
    path = pictures_of(visit).get(item)
    if path is None:
        raise GoneError(f"There is no picture of {quoted(item)}.", "item")
    try:
        with path.open("rb") as handle:
            content = handle.read(MAX_PICTURE_BYTES + 1)
    except OSError:
        raise GoneError(f"The picture of {quoted(item)} is not there.", "item") from None
    kind = picture_of(content)
    if kind is None:
        raise RefusedError(
            f"The picture of {quoted(item)} is none that is shown here: PNG, JPEG, GIF or WebP.",
            "item",
        )
    if len(content) > MAX_PICTURE_BYTES:
        raise RefusedError(
            f"The picture of {quoted(item)} has more than {MAX_PICTURE_BYTES // 10**6} MB.", "item"
        )
    return RawContent(content, f"image/{kind}")
