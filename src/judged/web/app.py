"""The explorer as an ASGI application: addresses to views, views to answers, errors to pages."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from judged.errors import JudgedError
from judged.text import counted
from judged.web import api
from judged.web.asked import Asked, Page, Raw
from judged.web.bar import Bar, bar_of
from judged.web.cache import Cache
from judged.web.changes import change_of
from judged.web.crashes import reported
from judged.web.errors import GoneError, RefusedError, UndecidedError, UnreadableError, status_of
from judged.web.jobs import Job, Jobs
from judged.web.judging import keys
from judged.web.params import Params
from judged.web.rendering import rendered
from judged.web.routes import VIEWS, View
from judged.web.safety import Asgi, Safety, Scope
from judged.web.settings import Settings
from judged.web.terms import NAMES
from judged.web.uploads import Uploads
from judged.web.workspace import CHOICES, Library, Session

AT_ONCE = 0.3
"""Seconds after which a page says how far it is."""


@dataclass(eq=False)
class Explorer:
    """Everything that a server has and shares between requests."""

    settings: Settings
    library: Library
    cache: Cache
    uploads: Uploads
    jobs: Jobs = field(default_factory=Jobs)

    @classmethod
    def of(cls, settings: Settings) -> Explorer:
        """What a server starts with."""
        return cls(
            settings,
            Library(settings.paths, settings.judging.queue),
            Cache(settings.memory),
            Uploads(settings.upload_limit),
        )

    def asked(self, request: Request) -> Asked:
        """The question of a request."""
        params = Params.read(request.url.query)
        session: Session = request.scope["session"]
        path = request.url.path
        return Asked(path, params, session, self.library, self.cache, self.settings)

    def close(self) -> None:
        """Stop all work, and remove what was sent."""
        self.jobs.close()
        self.uploads.close()


def application(settings: Settings) -> Safety:
    """The explorer with its checks around it.

    Parameters
    ----------
    settings : Settings
        The files, the address and the bounds.

    Returns
    -------
    Safety
        An ASGI application.

    >>> application(Settings.of([])).settings.port
    8686
    """
    explorer = Explorer.of(settings)
    routes: list[BaseRoute] = [
        Route(view.path, partial(show, explorer, view), methods=["GET"]) for view in VIEWS
    ]
    if not any(view.path == "/" for view in VIEWS):
        routes.append(Route("/", _to_files, methods=["GET"]))
    routes += [
        *api.routes(explorer),
        *keys.routes(explorer),
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

    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={
            HTTPException: partial(_no_such_page, explorer),
            JudgedError: partial(_refused, explorer),
            Exception: partial(_broken, explorer),
        },
    )
    app.state.explorer = explorer
    return Safety(app, settings, partial(_forbidden, explorer))


async def _to_files(request: Request) -> Response:
    return RedirectResponse("/files", 303)


async def show(explorer: Explorer, view: View, request: Request) -> Response:
    """A page, or the word that it is being made."""
    asked = explorer.asked(request)
    part = request.headers.get("x-fragment")
    key = asked.session.id, asked.path, asked.params, part
    job = explorer.jobs.start(key, asked.session.id, partial(answered, view, asked, part))
    if not await job.wait(getattr(view.code, "PATIENCE", AT_ONCE)):
        return _working(explorer, view, asked, part, job)
    response: Response = explorer.jobs.finish(job)
    return response


def answered(view: View, asked: Asked, part: str | None) -> Response:
    """What a view answers, errors too."""
    try:
        own = getattr(view.code, "PARAMS", None)
        if own is not None:
            asked.params.refuse_unknown((*own, *NAMES, *CHOICES))
        page = view.answer(asked)
        if isinstance(page, Raw):
            return _raw(page)
        return _page(view, asked, page, part)
    except UndecidedError as error:
        from judged.web.views import files

        return _page(view, asked, files.asking(asked, str(error)), part)
    except JudgedError as error:
        return _problem(asked, error, part, view)
    except Exception as error:
        return _crash(asked, error, part)


def _raw(page: Raw) -> Response:
    headers = {}
    if page.name is not None:
        name = re.sub(r"[^\w.-]", "_", page.name, flags=re.ASCII)
        headers["content-disposition"] = f'attachment; filename="{name}"'
    return Response(page.content, page.status, headers, page.media_type)


def _page(view: View, asked: Asked, page: Page, part: str | None) -> Response:
    numbers = getattr(view.code, "NUMBERS", False) and page.status < 400
    bar = bar_of(asked, asked.terms) if numbers else None
    changed = change_of(asked) if numbers and part in (None, "main", "band") else None
    refused = bool(numbers and asked.terms.refused)
    context = {
        **_context(asked, page.title, view.path),
        **page.context,
        "bar": bar,
        "changed": changed,
        "command": page.command,
    }
    if part in (None, "main"):
        context["noticed"] = asked.session.noticed(asked.workspace)
    # A measure that does not exist marks its own chip, and the rest of the page is as it was.
    status = 400 if refused and page.status == 200 and part is None else page.status
    html = rendered(page.template, _checked_part(part), context)
    return HTMLResponse(html, status, {"x-title": quote(f"{page.title} · judged")})


def _context(asked: Asked, title: str, path: str | None = None) -> dict[str, Any]:
    """What every template has."""
    titles = {view.path: view.title for view in VIEWS}
    return {
        "asked": asked,
        "title": title,
        "announced": title,
        "tabs": [{"name": name, "href": _tab(asked, to)} for to, name in titles.items() if name],
        "place": titles.get(path or "", ""),
        "workspace_name": asked.library.name if asked.library.paths else "",
        "workspace_words": _workspace_words(asked),
        "bar": None,
        "changed": None,
        "command": None,
        "noticed": [],
    }


def _tab(asked: Asked, path: str) -> str:
    """Where a tab leads; the judging page is not told the name of any system."""
    return asked.url(path, baseline=None) if path == "/judge" else asked.url(path)


def _workspace_words(asked: Asked) -> str:
    """How much there is, where it is clear which files are meant."""
    try:
        workspace = asked.workspace
    except JudgedError:
        return ""
    if workspace.undecided:
        return ""
    return counted(len(workspace.systems), "system")


def _checked_part(part: str | None) -> str | None:
    if part is not None and not (part.isidentifier() and part.isascii()):
        raise RefusedError("there is no such part of a page.", "X-Fragment")
    return part


def _problem(
    asked: Asked, error: JudgedError, part: str | None = None, view: View | None = None
) -> Response:
    """A page that says what was refused, in the words of the library, and what can be done."""
    links = [{"url": asked.path, "words": "This page as it begins"}]
    links += [{"url": asked.url("/files"), "words": "Files"}]
    if isinstance(error, UnreadableError) and error.file is not None:
        links.insert(
            0, {"url": _leaving_out(asked, error.file), "words": f"Leave out {error.file}"}
        )
    title = "Not found" if status_of(error) == 404 else "Refused"
    context = {**_context(asked, title), "message": str(error), "links": links}
    if view is not None and getattr(view.code, "NUMBERS", False):
        context["bar"] = _bar_of_refused(asked)
    part = part if part == "main" else None
    return HTMLResponse(rendered("explorer/problem.html", part, context), status_of(error))


def _bar_of_refused(asked: Asked) -> Bar | None:
    """The terms that numbers were refused under, so that others can be chosen; None where they are
    no terms."""
    try:
        return bar_of(asked, asked.terms)
    except JudgedError:
        return None


def _leaving_out(asked: Asked, name: str) -> str:
    """The address without one of the runs."""
    files = [system.file.name for system in asked.workspace.systems]
    return asked.url(run=[file for file in files if file != name])


def _crash(asked: Asked, error: Exception, part: str | None = None) -> Response:
    """A page that names a crash; the terminal has the details."""
    id = reported(error)
    message = f"Something went wrong here ({id}). The terminal has the details; nothing was lost."
    context = {
        **_context(asked, "Something went wrong"),
        "message": message,
        "links": [{"url": asked.path, "words": "This page as it begins"}],
    }
    part = part if part == "main" else None
    return HTMLResponse(rendered("explorer/problem.html", part, context), 500)


def _working(explorer: Explorer, view: View, asked: Asked, part: str | None, job: Job) -> Response:
    """The word that a page is being made, and how far it is."""
    context = {
        **_context(asked, view.title or "Working", view.path),
        "job": _shown(job, asked.path + (f"?{asked.params}" if asked.params.pairs else "")),
    }
    headers = {"x-working": job.id, "retry-after": "1"}
    shown = None if part is None else "working"
    html = rendered("explorer/working.html", shown, context)
    return HTMLResponse(html, 200 if part is None else 202, headers)


def _shown(job: Job, again: str) -> dict[str, Any]:
    """A job as its band shows it."""
    progress = job.progress.shown
    said = progress.what or "Working"
    if progress.total:
        said += f": {progress.done:,.0f} of {progress.total:,.0f} {progress.unit}"
    return {
        "id": job.id,
        "says": f"{said.rstrip()} …",
        "what": progress.what or "Working",
        "done": progress.done,
        "total": progress.total,
        "again": again,
    }


async def stop(explorer: Explorer, request: Request) -> Response:
    """Stop some work."""
    asked = explorer.asked(request)
    job = explorer.jobs.find(asked.params.text("job"), asked.session.id)
    if job is not None:
        explorer.jobs.stop(job)
    return RedirectResponse("/files", 303)


async def demo(explorer: Explorer, request: Request) -> Response:
    """Give a browser the files of the demo."""
    write, asked = explorer.settings.demo, explorer.asked(request)
    if write is None:
        raise GoneError("There is no such page.", "path")
    taken = {file.name for file in asked.workspace.files}
    await run_in_threadpool(explorer.uploads.demo, asked.session, write, taken)
    return RedirectResponse("/", 303)


async def asset(request: Request) -> Response:
    """The stylesheet and the scripts."""
    from judged.web.pages.assets import SCRIPTS, script, stylesheet

    name = request.path_params["name"]
    if name == "style.css":
        return _asset(request, stylesheet(), "text/css")
    if name.endswith(".js") and name.removesuffix(".js") in SCRIPTS:
        return _asset(request, script(name.removesuffix(".js")), "text/javascript")
    raise GoneError("There is no such file.", "path")


def _asset(request: Request, text: str, media_type: str) -> Response:
    """A text that the browser keeps, and asks every time whether it is still the same."""
    tag = f'"{sha256(text.encode()).hexdigest()[:16]}"'
    headers = {"etag": tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(text, 200, headers, media_type)


def _json(path: str) -> bool:
    return path == "/api" or path.startswith("/api/")


def _refused(explorer: Explorer, request: Request, error: JudgedError) -> Response:
    if _json(request.url.path):
        return api.refused(error)
    return _problem(_blank(explorer, request), error)


def _no_such_page(explorer: Explorer, request: Request, error: HTTPException) -> Response:
    if error.status_code == 405:
        refused = RefusedError("This address takes no such request.", "method")
        refused.status = 405
        return _refused(explorer, request, refused)
    return _refused(explorer, request, GoneError("There is no such page.", "path"))


def _broken(explorer: Explorer, request: Request, error: Exception) -> Response:
    if _json(request.url.path):
        return api.broken(error)
    return _crash(_blank(explorer, request), error)


def _blank(explorer: Explorer, request: Request) -> Asked:
    """A question without parameters, for pages about errors."""
    session = request.scope.get("session") or Session("")
    path, library, cache = request.url.path, explorer.library, explorer.cache
    return Asked(path, Params(), session, library, cache, explorer.settings)


def _forbidden(explorer: Explorer, scope: Scope, error: RefusedError) -> Asgi:
    request = Request(scope)
    if _json(scope["path"]):
        return JSONResponse({"error": str(error), "where": error.where}, error.status)
    message = str(error)
    page = rendered(
        "explorer/problem.html",
        None,
        {
            **_context(_blank(explorer, request), "Refused"),
            "tabs": [],
            "workspace_name": "",
            "workspace_words": "",
            "message": message,
            "links": [],
        },
    )
    return HTMLResponse(page, error.status)
