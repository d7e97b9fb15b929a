"""The explorer as an ASGI application: routes, page rendering, forms and error pages."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from judged.errors import JudgedError
from judged.text import counted
from judged.web import api, commands
from judged.web.changes import bar_of, change_of
from judged.web.errors import (
    GoneError,
    RefusedError,
    UndecidedError,
    UnreadableError,
    report_crash,
    status_of,
)
from judged.web.pages.templating import SCRIPTS, environment, script, stylesheet
from judged.web.safety import Asgi, Safety, Scope
from judged.web.settings import ServerSettings
from judged.web.uploads import Uploads
from judged.web.views import (
    agreement,
    chart,
    compare,
    embeddings,
    files,
    judge,
    leaderboard,
    playground,
    queries,
    query,
)
from judged.web.visit import SCORING_NAMES, Page, Params, RawContent, Visit
from judged.web.work import SECONDS_AFTER_LEAVING, Cache, Job, Jobs
from judged.web.workspace import FILE_PARAMS, ServedFiles, Session

if TYPE_CHECKING:
    from jinja2 import Template

SECONDS_BEFORE_PROGRESS = 0.3
"""Seconds that a request waits for its page before it shows progress."""
SECONDS_FOR_FILES = 600.0
"""Seconds that a request waits for a file or a chart, which cannot show progress."""
FORM_FIELDS = ("grade", "action", "note", "seconds")
"""Fields of forms. The query and the item are in the address, because browsers change line ends
in fields."""
FORM_TYPE = "application/x-www-form-urlencoded"
MAX_FORM_BYTES = 200_000


@dataclass(frozen=True)
class View:
    """An address of the explorer and the function that answers it.

    `title` is its name in the navigation, if it is there. `params` are the parameters of the
    address besides files and scoring settings. With `numbers`, the settings bar is shown.
    `seconds` is how long to wait before showing progress.
    """

    path: str
    answer: Callable[[Visit], Page | RawContent]
    title: str = ""
    params: tuple[str, ...] = ()
    numbers: bool = False
    seconds: float | None = None


def _file(path: str, answer: Callable[[Visit], Page | RawContent], *params: str) -> View:
    return View(path, answer, params=params, seconds=SECONDS_FOR_FILES)


_ON_PLAYGROUND = (*playground.PLAYGROUND_PARAMS, "example", "width")
VIEWS = (
    View("/", leaderboard.page, "Leaderboard", leaderboard.PARAMS, numbers=True),
    View("/compare", compare.page, "Compare", compare.PARAMS, numbers=True),
    View("/queries", queries.page, "Queries", queries.PARAMS, numbers=True),
    View("/judge", judge.page, "Judge", judge.PARAMS),
    View("/embeddings", embeddings.page, "Embeddings", embeddings.PARAMS, numbers=True),
    View("/playground", playground.page, "Playground", _ON_PLAYGROUND),
    View("/files", files.page, "Files"),
    View("/reading", files.reading_page),
    View("/query", query.page, "", query.PARAMS, numbers=True),
    View("/judge/changes", judge.changes_page, "", ("annotator",)),
    View("/agreement", agreement.page, "", agreement.PARAMS, numbers=True),
    View("/playground/curve", playground.curve_page, "", _ON_PLAYGROUND),
    View("/playground/steps", playground.steps_page, "", _ON_PLAYGROUND),
    View("/report", leaderboard.report_page, "", ("save", "sort", "slices"), numbers=True),
    View("/found", leaderboard.findings_page, numbers=True, seconds=SECONDS_FOR_FILES),
    View("/chart", chart.page, "", chart.PARAMS, numbers=True, seconds=SECONDS_FOR_FILES),
    _file("/merged", agreement.merged_page, "rule", "settled", "collection"),
    _file("/picture", files.picture_page, "item"),
    _file("/download", leaderboard.download_page, "format", "sort", "order"),
)
"""Every page, in the order of the navigation."""
_TITLES = {view.path: view.title for view in VIEWS}


@dataclass(eq=False)
class Explorer:
    """The state that a server shares between requests."""

    settings: ServerSettings
    library: ServedFiles
    cache: Cache
    uploads: Uploads
    jobs: Jobs = field(default_factory=Jobs)

    @classmethod
    def of(cls, settings: ServerSettings) -> Explorer:
        return cls(
            settings,
            ServedFiles(settings.paths, settings.queue),
            Cache(settings.memory),
            Uploads(settings.upload_limit),
        )

    def visit(self, request: Request, *, with_params: bool = True) -> Visit:
        """Return the visit of a request; pages about errors ignore its parameters."""
        params = Params.read(request.url.query) if with_params else Params()
        session = request.scope.get("session") or Session("")
        path = request.url.path
        shared = self.library, self.cache, self.settings
        return Visit(path, params, session, *shared, self.library.left_out)

    def close(self) -> None:
        self.jobs.close()
        self.uploads.close()


def application(settings: ServerSettings) -> Safety:
    explorer = Explorer.of(settings)
    routes: list[BaseRoute] = [
        *(Route(view.path, partial(show, explorer, view), methods=["GET"]) for view in VIEWS),
        *api.routes(explorer),
        Route("/judge", partial(receive_form, explorer, judge.keep_key), methods=["POST"]),
        Route("/agreement", partial(receive_form, explorer, agreement.settle), methods=["POST"]),
        Route("/assets/{name:path}", asset, methods=["GET"]),
        Route("/demo", partial(demo, explorer), methods=["POST"]),
        Route("/stop", partial(stop, explorer), methods=["POST"]),
    ]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            explorer.close()

    handlers: Any = {
        HTTPException: partial(_on_http_error, explorer),
        JudgedError: partial(_on_judged_error, explorer),
        Exception: partial(_on_crash, explorer),
    }
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    app.state.explorer = explorer
    return Safety(app, settings, partial(_forbid, explorer))


# -- pages


async def show(explorer: Explorer, view: View, request: Request) -> Response:
    """Return a page, or its progress if it takes longer than the view waits."""
    visit = explorer.visit(request)
    part = request.headers.get("x-fragment")
    key = visit.session.id, visit.path, visit.params, part
    job = explorer.jobs.start(key, visit.session.id, partial(answer, view, visit, part))
    seconds = SECONDS_BEFORE_PROGRESS if view.seconds is None else view.seconds
    if not await job.wait(seconds, request.is_disconnected if view.seconds else None):
        return _progress_page(view, visit, part, job)
    response: Response = explorer.jobs.finish(job)
    return response


def answer(view: View, visit: Visit, part: str | None) -> Response:
    """Return the answer of a view, in which uploads have their names, never temporary paths."""
    response = _answer(view, visit, part)
    names = escape if "html" in (response.media_type or "") else str
    body = bytes(response.body)
    for file in visit.session.uploads.values():
        for path in (str(file.path), file.path.name):
            body = body.replace(path.encode(), names(file.name).encode())
    if body != response.body:
        response.body = body
        response.headers["content-length"] = str(len(body))
    return response


def _answer(view: View, visit: Visit, part: str | None) -> Response:
    try:
        visit.params.refuse_unknown((*view.params, *SCORING_NAMES, *FILE_PARAMS))
        page = view.answer(visit)
        if isinstance(page, RawContent):
            return _raw_response(page)
        return _page_response(view, visit, page, part)
    except UnreadableError as error:
        if leave_out(visit, error):
            return _answer(view, replace(visit), part)
        return _error_page(visit, error, part, view)
    except UndecidedError as error:
        return _page_response(view, visit, files.asking(visit, str(error)), part)
    except JudgedError as error:
        return _error_page(visit, error, part, view)
    except Exception as error:
        return _crash_page(visit, error, part)


def leave_out(visit: Visit, error: UnreadableError) -> bool:
    """Leave out a run that cannot be evaluated, unless the address names it."""
    if error.file is None or visit.left_out is None or error.file in visit.params.all("run"):
        return False
    if error.file in dict(visit.workspace.left_out):
        return False
    key = *visit.workspace.file(error.file).identity, visit.params.one("duplicates")
    visit.left_out[key] = str(error)
    return True


def _raw_response(page: RawContent) -> Response:
    headers = {}
    if page.name is not None:
        name = re.sub(r"[^\w.-]", "_", page.name, flags=re.ASCII)
        headers["content-disposition"] = f'attachment; filename="{name}"'
    return Response(page.content, page.status, headers, page.media_type)


def _page_response(view: View, visit: Visit, page: Page, part: str | None) -> Response:
    numbers = view.numbers and page.status < 400
    context = {
        **_context(visit, page.title, view.path),
        **page.context,
        "bar": bar_of(visit, visit.scoring) if numbers else None,
        "changed": change_of(visit) if numbers and part in (None, "main", "band") else None,
        "left_out": visit.workspace.left_out if view.numbers else (),
        "command": page.command and commands.merging(visit.workspace) + page.command,
    }
    if part in (None, "main"):
        context["noticed"] = visit.session.noticed(visit.workspace)
    # An unknown measure marks its own chip; the rest of the page stays as it was.
    refused = numbers and visit.scoring.refused and page.status == 200 and part is None
    if part is not None and not (part.isidentifier() and part.isascii()):
        raise RefusedError("this part of the page does not exist.", "X-Fragment")
    html = render_page(page.template, part, context)
    headers = {"x-title": quote(f"{page.title} · judged")}
    return HTMLResponse(html, 400 if refused else page.status, headers)


@cache
def _page_frame(part: str | None) -> Template:
    """Return the layout, or a template that holds one block alone."""
    if part is None:
        return environment().get_template("layout.html")
    return environment().from_string("{% block " + part + " %}{% endblock %}")


def render_page(template: str, part: str | None, context: dict[str, Any]) -> str:
    return environment().get_template(template).render(frame=_page_frame(part), **context)


def _context(visit: Visit, title: str, path: str | None = None) -> dict[str, Any]:
    # Judging is blind, so its address names no system.
    blind = {"/judge": {"baseline": None, "grader": None}}
    tabs = [
        {"name": name, "href": visit.url(to, **blind.get(to, {}))}
        for to, name in _TITLES.items()
        if name
    ]
    systems = ""
    with suppress(JudgedError):
        if not visit.workspace.undecided:
            systems = counted(len(visit.workspace.systems), "system")
        if len(visit.workspace.annotators) > 1:
            agreement = {"name": "Agreement", "href": visit.url("/agreement", grader=None)}
            tabs.insert([tab["name"] for tab in tabs].index("Judge") + 1, agreement)
    return {
        "visit": visit,
        "title": title,
        "announced": title,
        "tabs": tabs,
        "place": "Agreement" if path == "/agreement" else _TITLES.get(path or "", ""),
        "workspace_name": visit.library.name if visit.library.paths else "",
        "workspace_words": systems,
        **dict.fromkeys(("bar", "changed", "command")),
        "noticed": [],
        "left_out": (),
    }


def _progress_page(view: View, visit: Visit, part: str | None, job: Job) -> Response:
    progress = job.shown
    task = progress.what or "Working"
    sentence = task
    if progress.total:
        sentence += f": {progress.done:,.0f} of {progress.total:,.0f} {progress.unit}"
    shown = {
        "id": job.id,
        "says": f"{sentence.rstrip()} …",
        "what": task,
        "done": progress.done,
        "total": progress.total,
        "again": visit.path + (f"?{visit.params}" if visit.params.pairs else ""),
    }
    context = {**_context(visit, view.title or "Working", view.path), "job": shown}
    html = render_page("explorer/working.html", None if part is None else "working", context)
    headers = {"x-working": job.id, "retry-after": "1"}
    return HTMLResponse(html, 200 if part is None else 202, headers)


# -- errors


def _error_page(
    visit: Visit, error: JudgedError, part: str | None = None, view: View | None = None
) -> Response:
    links = [_reset_link(visit), {"url": visit.url("/files"), "words": "Files"}]
    if isinstance(error, UnreadableError) and error.file is not None:
        runs = [system.file.name for system in visit.workspace.systems]
        url = visit.url(run=[name for name in runs if name != error.file])
        links.insert(0, {"url": url, "words": f"Leave out {error.file}"})
    status = status_of(error)
    context = _context(visit, "Not found" if status == 404 else "Error")
    if view is not None and view.numbers:
        with suppress(JudgedError):  # so that other settings can be chosen
            context["bar"] = bar_of(visit, visit.scoring)
    return _problem_page(context, str(error), links, status, part)


def _crash_page(visit: Visit, error: Exception, part: str | None = None) -> Response:
    context = _context(visit, "Something went wrong")
    return _problem_page(context, report_crash(error), [_reset_link(visit)], 500, part)


def _problem_page(
    context: dict[str, Any], message: str, links: list[Any], status: int, part: str | None = None
) -> Response:
    context = {**context, "message": message, "links": links}
    shown = part if part == "main" else None
    return HTMLResponse(render_page("explorer/problem.html", shown, context), status)


def _reset_link(visit: Visit) -> dict[str, str]:
    return {"url": visit.path, "words": "This page with its defaults"}


def _is_api(path: str) -> bool:
    return path == "/api" or path.startswith("/api/")


def _on_judged_error(explorer: Explorer, request: Request, error: JudgedError) -> Response:
    if _is_api(request.url.path):
        return api.refuse(error)
    return _error_page(explorer.visit(request, with_params=False), error)


def _on_http_error(explorer: Explorer, request: Request, error: HTTPException) -> Response:
    if error.status_code == 405:
        message = "This address does not support this method."
        return _on_judged_error(explorer, request, RefusedError(message, "method", status=405))
    return _on_judged_error(explorer, request, GoneError("This page does not exist.", "path"))


def _on_crash(explorer: Explorer, request: Request, error: Exception) -> Response:
    if _is_api(request.url.path):
        return api.broken(error)
    return _crash_page(explorer.visit(request, with_params=False), error)


def _forbid(explorer: Explorer, scope: Scope, error: RefusedError) -> Asgi:
    if _is_api(scope["path"]):
        return JSONResponse({"error": str(error), "where": error.where}, error.status)
    context = _context(explorer.visit(Request(scope), with_params=False), "Error")
    context |= {"tabs": [], "workspace_name": "", "workspace_words": ""}
    return _problem_page(context, str(error), [], error.status)


# -- forms, buttons and assets


async def receive_form(
    explorer: Explorer, keep: Callable[[Visit, Params], str], request: Request
) -> Response:
    """Keep what a form sends, and lead to the next page; scripts get its address as JSON."""
    if not request.headers.get("content-type", "").startswith(FORM_TYPE):
        raise RefusedError(f"send a form, as {FORM_TYPE}.", "Content-Type")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_FORM_BYTES:
            message = f"a form may have {MAX_FORM_BYTES:,} bytes; this has more."
            raise RefusedError(message, "body", status=413)
    form = Params.read(body.decode("utf-8", "replace"))
    form.refuse_unknown(FORM_FIELDS)
    address = await run_in_threadpool(keep, explorer.visit(request), form)
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse({"next": address})
    return RedirectResponse(address, 303)


async def stop(explorer: Explorer, request: Request) -> Response:
    """Stop a job; what a page left is stopped unless another page asks for it soon."""
    visit = explorer.visit(request)
    job = explorer.jobs.find(visit.params.text("job"), visit.session.id)
    if job is not None and visit.params.flag("left"):
        job.patience = SECONDS_AFTER_LEAVING
    elif job is not None:
        explorer.jobs.stop(job)
    return RedirectResponse("/files", 303)


async def demo(explorer: Explorer, request: Request) -> Response:
    write, visit = explorer.settings.demo, explorer.visit(request)
    if write is None:
        raise GoneError("This page does not exist.", "path")
    taken = {file.name for file in visit.workspace.files}
    await run_in_threadpool(explorer.uploads.demo, visit.session, write, taken)
    return RedirectResponse("/", 303)


async def asset(request: Request) -> Response:
    """Return the stylesheet or a script, with a tag so that browsers can keep it."""
    name = request.path_params["name"]
    if name == "style.css":
        text, media_type = stylesheet(), "text/css"
    elif name.endswith(".js") and name.removesuffix(".js") in SCRIPTS:
        text, media_type = script(name.removesuffix(".js")), "text/javascript"
    else:
        raise GoneError("This file does not exist.", "path")
    tag = f'"{sha256(text.encode()).hexdigest()[:16]}"'
    headers = {"etag": tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(text, 200, headers, media_type)
