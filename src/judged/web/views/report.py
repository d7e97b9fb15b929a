"""The report of the same numbers: made here, and saved from here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judged.options import LEVEL
from judged.web.commands import code_of, line_of, path_of, words_of
from judged.web.visit import CommandText, Page, RawContent, Visit
from judged.web.workspace import has_pictures

if TYPE_CHECKING:
    from judged.web.files import DataFile
    from judged.web.report.report import Report

PARAMS = ("save",)


def page(visit: Visit) -> Page | RawContent:
    """The word that the report is there, or the report itself."""
    made = _made(visit)
    if visit.params.flag("save"):
        return RawContent(made, "text/html; charset=utf-8", "report.html")
    context = {"size": len(made), "save": visit.url(save=1)}
    return Page("report_ready.html", "The report is ready", context, _command(visit))


def _made(visit: Visit) -> bytes:
    """The report, made once for the same terms."""
    beside = tuple(file.identity for file in _beside(visit).values())
    key = "report", visit.workspace.identity, visit.scoring.key, beside
    return visit.cache.get(key, lambda: _report(visit).to_html().encode())


def _report(visit: Visit) -> Report:
    from judged.web.report import make_report
    from judged.web.work import progress_of_this_work

    progress_of_this_work().say("Writing the report")
    visit.workspace.refuse_undecided()
    judgements = visit.workspace.judgements
    assert judgements is not None
    runs: Any = {
        system.name: str(system.file.path)
        for system in visit.workspace.systems
        if system.file is not judgements
    }
    beside: dict[str, Any] = {option: str(file.path) for option, file in _beside(visit).items()}
    found: Report = make_report(
        str(judgements.path),
        runs or None,
        visit.scoring.requested_measures,
        **_options(visit),
        **beside,
    )
    return found


def _beside(visit: Visit) -> dict[str, DataFile]:
    """The texts of items and queries and the pictures that the folder has, one table of each; of
    several it is not clear which is meant, and there is none."""
    files = {kind: visit.workspace.of_kind(kind) for kind in ("texts", "queries")}
    found = {kind: [file for file in files[kind] if not has_pictures(file)] for kind in files}
    found["pictures"] = [
        file for file in visit.workspace.files if has_pictures(file) and not file.uploaded
    ]
    return {option: these[0] for option, these in found.items() if len(these) == 1}


def _options(visit: Visit) -> dict[str, Any]:
    scoring = visit.scoring
    options = scoring.options()
    if scoring.baseline is not None:
        options["baseline"] = visit.workspace.system(scoring.baseline).name
    if scoring.level != LEVEL:
        options["level"] = scoring.level
    return options


def _command(visit: Visit) -> CommandText:
    """What makes the same file."""
    scoring, workspace = visit.scoring, visit.workspace
    known = _options(visit)
    own: dict[str, Any] = {name: known[name] for name in ("baseline", "level") if name in known}
    own |= {option: path_of(file) for option, file in _beside(visit).items()}
    call = workspace, workspace.systems, scoring, scoring.measures, own
    code = code_of("make_report", *call).replace("print(found)", 'found.save("report.html")')
    return CommandText(line_of([*words_of("report", *call), "-o", "report.html"]), code)
