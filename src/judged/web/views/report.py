"""The report of the same numbers: made and saved here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judged.options import LEVEL
from judged.web.commands import LibraryCall, line_of, path_of
from judged.web.visit import CommandText, Page, RawContent, Visit
from judged.web.work import progress_of_this_work
from judged.web.workspace import has_pictures

if TYPE_CHECKING:
    from judged.web.files import DataFile


def page(visit: Visit) -> Page | RawContent:
    """Show that the report is ready, or return it."""
    contents = _contents(visit)
    key = (
        *("report", visit.workspace.identity, visit.scoring.key),
        *(file.identity for file in contents.values()),
    )
    html = visit.cache.get(key, lambda: _write(visit, contents))
    if visit.params.flag("save"):
        return RawContent(html, "text/html; charset=utf-8", "report.html")
    context = {"size": len(html), "save": visit.url(save=1)}
    return Page("report_ready.html", "The report is ready", context, _command(visit, contents))


def _write(visit: Visit, contents: dict[str, DataFile]) -> bytes:
    from judged.web.report.report import report

    progress_of_this_work().say("Writing the report")
    workspace, scoring = visit.workspace, visit.scoring
    workspace.refuse_undecided()
    judgements = workspace.judgements
    assert judgements is not None
    runs: Any = {
        system.name: str(system.file.path)
        for system in workspace.systems
        if system.file is not judgements
    }
    options: dict[str, Any] = {**scoring.scoring(), **_comparing(visit)}
    options |= {option: str(file.path) for option, file in contents.items()}
    measures = scoring.requested_measures
    return report(str(judgements.path), runs or None, measures, **options).to_html().encode()


def _comparing(visit: Visit) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if visit.scoring.baseline is not None:
        options["baseline"] = visit.workspace.system(visit.scoring.baseline).name
    if visit.scoring.level != LEVEL:
        options["level"] = visit.scoring.level
    return options


def _contents(visit: Visit) -> dict[str, DataFile]:
    """Return the tables of texts, queries and pictures, if there is one of each."""
    files = visit.workspace.files
    tables = {
        kind: [file for file in visit.workspace.of_kind(kind) if not has_pictures(file)]
        for kind in ("texts", "queries")
    }
    tables["pictures"] = [file for file in files if has_pictures(file) and not file.uploaded]
    return {option: found[0] for option, found in tables.items() if len(found) == 1}


def _command(visit: Visit, contents: dict[str, DataFile]) -> CommandText:
    scoring, workspace = visit.scoring, visit.workspace
    options = {**_comparing(visit), **{name: path_of(file) for name, file in contents.items()}}
    files = workspace, workspace.systems
    call = LibraryCall("report", *files, scoring, scoring.measures, options)
    code = call.python().replace("print(result)", 'result.save("report.html")')
    return CommandText(line_of([*call.words(), "-o", "report.html"]), code)
