"""The report of the same numbers: made here, and saved from here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judged.options import LEVEL
from judged.web.asked import Asked, Command, Page, Raw
from judged.web.commands import code_of, line_of, path_of, words_of
from judged.web.contents import has_pictures

if TYPE_CHECKING:
    from judged.web.files import Found
    from judged.web.report.report import Report

PARAMS = ("save",)
NUMBERS = True


def page(asked: Asked) -> Page | Raw:
    """The word that the report is there, or the report itself."""
    made = _made(asked)
    if asked.params.flag("save"):
        return Raw(made, "text/html; charset=utf-8", "report.html")
    context = {"size": len(made), "save": asked.url(save=1)}
    return Page("report_ready.html", "The report is ready", context, _command(asked))


def _made(asked: Asked) -> bytes:
    """The report, made once for the same terms."""
    beside = tuple(file.identity for file in _beside(asked).values())
    key = "report", asked.workspace.identity, asked.terms.key, beside
    return asked.cache.get(key, lambda: _report(asked).to_html().encode())


def _report(asked: Asked) -> Report:
    from judged.web.jobs import progress_of_this_work
    from judged.web.report import make_report

    progress_of_this_work().say("Writing the report")
    asked.workspace.refuse_undecided()
    judgements = asked.workspace.judgements
    assert judgements is not None
    runs: Any = {
        system.name: str(system.file.path)
        for system in asked.workspace.systems
        if system.file is not judgements
    }
    beside: dict[str, Any] = {option: str(file.path) for option, file in _beside(asked).items()}
    found: Report = make_report(
        str(judgements.path), runs or None, asked.terms.asked, **_options(asked), **beside
    )
    return found


def _beside(asked: Asked) -> dict[str, Found]:
    """The texts of items and queries and the pictures that the folder has, one table of each; of
    several it is not clear which is meant, and there is none."""
    files = {kind: asked.workspace.of_kind(kind) for kind in ("texts", "queries")}
    found = {kind: [file for file in files[kind] if not has_pictures(file)] for kind in files}
    found["pictures"] = [
        file for file in asked.workspace.files if has_pictures(file) and not file.uploaded
    ]
    return {option: these[0] for option, these in found.items() if len(these) == 1}


def _options(asked: Asked) -> dict[str, Any]:
    terms = asked.terms
    options = terms.options()
    if terms.baseline is not None:
        options["baseline"] = asked.workspace.system(terms.baseline).name
    if terms.level != LEVEL:
        options["level"] = terms.level
    return options


def _command(asked: Asked) -> Command:
    """What makes the same file."""
    terms, workspace = asked.terms, asked.workspace
    known = _options(asked)
    own: dict[str, Any] = {name: known[name] for name in ("baseline", "level") if name in known}
    own |= {option: path_of(file) for option, file in _beside(asked).items()}
    call = workspace, workspace.systems, terms, terms.measures, own
    code = code_of("make_report", *call).replace("print(found)", 'found.save("report.html")')
    return Command(line_of([*words_of("report", *call), "-o", "report.html"]), code)
