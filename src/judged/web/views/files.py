"""Files: their kinds, which of them are evaluated, how they were read, and pictures of items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from judged.charts.pictures import MAX_PIXELS, pixels_of
from judged.errors import JudgedError, quoted
from judged.inputs.formats import FORMATS
from judged.rankings.audit import audit_of
from judged.text import Warned, counted, listed
from judged.web.errors import GoneError, RefusedError
from judged.web.files import picture_of
from judged.web.visit import Page, RawContent, Visit
from judged.web.workspace import Workspace, pictures_of

MAY_BE_JUDGEMENTS = ("judgements", "rows", "unclear", "annotator")
MAY_BE_RUNS = ("run", "rows", "unclear")
MAX_PICTURE_BYTES = 20 * 10**6
_UNITS = ("bytes", "KB", "MB", "GB", "TB")


def page(visit: Visit) -> Page:
    if not visit.workspace.files and not visit.library.pictures:
        return _empty(visit)
    return Page("files.html", "Files", _context(visit, visit.workspace))


def asking(visit: Visit, why: str) -> Page:
    """Ask which file is what, where numbers were requested."""
    workspace = visit.workspace
    if not workspace.of_kind(*MAY_BE_JUDGEMENTS, *MAY_BE_RUNS):
        return _empty(visit, status=200 if visit.path == "/" else 409)
    context = {**_context(visit, workspace), "why": why}
    return Page("asking.html", "Which files?", context, status=409)


def _empty(visit: Visit, status: int = 200) -> Page:
    workspace = visit.workspace
    there = ""
    links = [("/playground", "Try the playground")]
    if workspace.files:
        files = counted(len(workspace.files), "file")
        there = f"{workspace.name} has {files}, but no judgements or results."
        if workspace.of_kind("vectors"):
            there += f" It has {counted(len(workspace.of_kind('vectors')), 'file')} of vectors."
            links.insert(0, ("/embeddings", "Look at the embeddings"))
    return empty_page(
        "Nothing to judge yet",
        there,
        "Drop judgements and one or more runs here, choose them, or start with files:",
        code="judged serve judgements.txt system-a.run system-b.run",
        links=links,
        has_demo=visit.settings.demo is not None,
        status=status,
    )


def empty_page(
    title: str,
    there: str,
    how: str,
    *,
    code: str = "",
    links: Sequence[tuple[str, str]] = (),
    formats: Iterable[str] = FORMATS,
    has_demo: bool = False,
    status: int = 200,
) -> Page:
    """Return a page that says what is missing and how to get it; files can be sent with `code`."""
    context = {"there": there, "how": how, "code": code, "links": links, "has_demo": has_demo}
    return Page("empty.html", title, {**context, "formats": ", ".join(formats)}, status=status)


def _context(visit: Visit, workspace: Workspace) -> dict[str, object]:
    judgements = workspace.judgements
    places = {system.file.name: system.place for system in workspace.systems}
    used = dict.fromkeys(places, "a system")
    if judgements is not None:
        both = judgements.kind == "rows"
        used[judgements.name] = "judgements and a system" if both else "the judgements"
    return {
        "workspace": workspace,
        "rows": [
            {
                "file": file,
                "used": used.get(file.name, ""),
                "size": size_in_words(file.size),
                "place": places.get(file.name),
            }
            for file in workspace.files
        ],
        "summary": _summary(workspace, visit.library.pictures),
        "judgements_choices": workspace.of_kind(*MAY_BE_JUDGEMENTS),
        "run_choices": workspace.of_kind(*MAY_BE_RUNS),
        "chosen_judgements": judgements.name if judgements else "",
        "chosen_runs": set(places),
        "kept": visit.params.filled_without("judgements", "run"),
        "limit": size_in_words(visit.settings.upload_limit),
    }


def _summary(workspace: Workspace, pictures: int) -> str:
    kinds = [file.kind for file in workspace.files]
    names = {
        "judgements": ("file of judgements", "files of judgements"),
        "run": ("run", "runs"),
        "rows": ("file of rows", "files of rows"),
        "vectors": ("file of vectors", "files of vectors"),
    }
    counts = [
        counted(kinds.count(kind), one, several)
        for kind, (one, several) in names.items()
        if kind in kinds
    ]
    pictures += kinds.count("picture")
    counts += [counted(pictures, "picture")] if pictures else []
    others = sum(kind not in (*names, "picture") for kind in kinds)
    counts += [counted(others, "other file")] if others else []
    return f"{listed(counts)}."


def size_in_words(size: int) -> str:
    """Format a number of bytes.

    >>> size_in_words(999), size_in_words(1_234_567), size_in_words(500_000_000)
    ('999 bytes', '1.2 MB', '500 MB')
    """
    value, unit = float(size), 0
    while value >= 999.5 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    if unit == 0 or value >= 99.5:
        return f"{value:.0f} {_UNITS[unit]}"
    return f"{value:.3g} {_UNITS[unit]}" if value >= 10 else f"{value:.1f} {_UNITS[unit]}"


def reading_page(visit: Visit) -> Page:
    """Show how the files were read; the page of files loads it later."""
    title = "How the files were read"
    try:
        rankings = visit.calculations.rankings(visit.scoring)
    except JudgedError as error:
        return Page("reading.html", title, {"all": [], "refused": [str(error)]})
    readings = []
    for system, ranked in zip(visit.workspace.systems, rankings, strict=True):
        audit = audit_of(ranked)
        says = (
            f"{audit.run_queries:,} queries, {audit.results:,} results of judged queries, "
            f"{audit.judged_results:,} of them judged"
        )
        notes = [
            {"kind": "warn" if isinstance(text, Warned) else "info", "text": text}
            for text in audit.sentences()
        ]
        reading = {"name": system.name, "place": system.place, "says": says, "notes": notes}
        readings.append(reading)
    return Page("reading.html", title, {"all": readings, "refused": []})


def picture_page(visit: Visit) -> RawContent:
    """Return the picture of an item: only one that a table of the folder names."""
    item = visit.params.text("item")
    path = pictures_of(visit).get(item)
    if path is None:
        raise GoneError(f"{quoted(item)} has no picture.", "item")
    try:
        with path.open("rb") as handle:
            content = handle.read(MAX_PICTURE_BYTES + 1)
    except OSError:
        raise GoneError(f"The picture of {quoted(item)} is missing.", "item") from None
    kind = picture_of(content)
    if kind is None:
        why = "is not a PNG, JPEG, GIF or WebP"
    elif len(content) > MAX_PICTURE_BYTES:
        why = f"has more than {MAX_PICTURE_BYTES // 10**6} MB"
    elif pixels_of(content) > MAX_PIXELS:
        why = f"has more than {MAX_PIXELS:,} pixels"
    else:
        return RawContent(content, f"image/{kind}")
    raise RefusedError(f"The picture of {quoted(item)} {why}.", "item")
