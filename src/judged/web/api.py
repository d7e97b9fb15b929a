"""The JSON API under /api: the same results as commands with --format json, and OpenAPI."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from judged import __version__
from judged.errors import JudgedError
from judged.policy import CHOICES, DUPLICATES
from judged.text import to_json
from judged.web.errors import GoneError, RefusedError, report_crash, status_of
from judged.web.visit import Visit

if TYPE_CHECKING:
    from judged.web.app import Explorer

ERROR_STATUSES = {
    400: "a parameter is wrong",
    403: "no key, a foreign page, or a foreign name of this server",
    404: "a file, system or query that does not exist",
    409: "not possible at present: two files of one name, no judgements",
    413: "too large",
    422: "a file that cannot be read",
}
"""HTTP statuses of errors, with their meaning."""


PARAMETERS = {
    "judgements": "The file of judgements, if there are several.",
    "run": "The files of runs; all of them by default.",
    "measure": "A measure such as nDCG@10; several are allowed.",
    **{
        name: "; ".join(f"{value}: {says}" for value, says in known.items())
        for name, known in CHOICES.items()
    },
    "convention": "Score as another library does, such as ranx.",
    "depth": "Only the first results of each list count.",
    "duplicates": "; ".join(DUPLICATES.values()),
    "level": "The confidence level, such as 0.95.",
    "system": "The names of systems; all by default.",
    "query": "The id of a query.",
    "name": "The name of a file.",
    "interval": "1 to add confidence intervals.",
    "tie_range": "1 to add the ranges of ties and unjudged results.",
    "per_query": "1 to add the values of all queries.",
    "baseline": "The system that all others are compared with.",
    "test": "The significance test.",
    "correction": "The correction for several comparisons.",
    "back": "1 to be led back to the page of files.",
}
"""Meaning of each parameter."""
FILES = "judgements run"
SETTINGS = f"{FILES} measure {' '.join(CHOICES)} convention depth duplicates level"


Endpoint = tuple[Callable[..., Any], tuple[str, ...], str]
"""A function, its parameters and the HTTP method.

For GET the function takes a visit and returns JSON; for POST, the explorer and the request.
"""
ENDPOINTS: dict[str, Endpoint] = {}  # all addresses except the description in OpenAPI


def endpoint(params: str, method: str = "GET") -> Callable[..., Any]:
    """Declare the address /api/NAME of a function, with its parameters."""

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        ENDPOINTS[f"/api/{function.__name__}"] = function, tuple(params.split()), method
        return function

    return declare


def required(visit: Visit, name: str) -> str:
    value = visit.params.one(name)
    if value is None:
        raise RefusedError(f"{name} is missing; say which.", name)
    return value


def refuse_wrong_measures(visit: Visit) -> None:
    """Raise an error for unknown measures, which pages only mark."""
    for _, message in visit.scoring.refused:
        raise RefusedError(message, "measure")


@endpoint(FILES)
def files(visit: Visit) -> dict[str, Any]:
    """Return all files and their kinds."""
    workspace = visit.workspace
    return {
        "files": [
            {
                "name": file.name,
                "kind": file.kind,
                "format": file.format or None,
                "size": file.size,
                "sent": file.uploaded,
                "note": file.note or None,
            }
            for file in workspace.files
        ],
        "judgements": None if workspace.judgements is None else workspace.judgements.name,
        "problems": [*workspace.problems, *([workspace.undecided] if workspace.undecided else [])],
    }


@endpoint(FILES)
def systems(visit: Visit) -> dict[str, Any]:
    """Return the systems, in the order of their files."""
    visit.workspace.refuse_undecided()
    return {
        "systems": [
            {"name": system.name, "file": system.file.name, "place": system.place}
            for system in visit.workspace.systems
        ]
    }


@endpoint(f"{SETTINGS} interval tie_range per_query")
def evaluate(visit: Visit) -> dict[str, Any]:
    """Return what `judged evaluate` gives as JSON."""
    refuse_wrong_measures(visit)
    params, calculations = visit.params, visit.calculations
    if params.flag("tie_range"):
        evaluation = calculations.ranges(visit.scoring)
    else:
        evaluation = calculations.evaluation(visit.scoring, interval=params.flag("interval"))
    return evaluation.to_dict(per_query=params.flag("per_query"))


@endpoint(f"{SETTINGS} system baseline test correction")
def compare(visit: Visit) -> dict[str, Any]:
    """Return what `judged compare` gives as JSON."""
    refuse_wrong_measures(visit)
    params = visit.params
    tests: dict[str, Any] = {
        name: params.one(name) for name in ("test", "correction") if params.one(name)
    }
    comparison = visit.calculations.comparison(
        visit.scoring,
        baseline=params.one("baseline"),
        systems=params.all("system") or None,
        **tests,
    )
    return comparison.to_dict()


@endpoint(f"{SETTINGS} system query")
def explain(visit: Visit) -> dict[str, Any]:
    """Return what `judged explain` gives as JSON."""
    measure = visit.params.one("measure") or "AP"
    system, name = required(visit, "system"), required(visit, "query")
    return visit.calculations.explanation(visit.scoring, system, name, measure).to_dict()


@endpoint("level")
def agreement(visit: Visit) -> dict[str, Any]:
    """Return what `judged agreement` gives as JSON for the annotators of the folder."""
    from judged.web.views.judge import agreement_of

    return agreement_of(visit).to_dict()


@endpoint("name", "POST")
async def upload(explorer: Explorer, request: Request) -> Response:
    """Receive a file as the body; only the sender sees it, until the server stops."""
    visit = explorer.visit(request)
    visit.params.refuse_unknown(("name",))
    if request.headers.get("content-type", "").startswith("multipart/"):
        raise RefusedError("send the file itself as the body, not a form.", "Content-Type")
    received = await explorer.uploads.receive(
        visit.session,
        visit.params.one("name"),
        request.headers.get("content-length"),
        request.stream(),
    )
    try:
        file = await run_in_threadpool(explorer.uploads.looked_at, received)
        visit.session.add(file, explorer.library)
    except BaseException:
        received.path.unlink(missing_ok=True)
        raise
    finally:
        explorer.uploads.arrived(visit.session, received.size)
    shown = {"name": file.name, "kind": file.kind, "says": file.says, "size": file.size}
    return JSONResponse({**shown, "note": file.note or None})


@endpoint("name back", "POST")
async def remove(explorer: Explorer, request: Request) -> Response:
    """Remove an uploaded file; those of the folder stay."""
    visit = explorer.visit(request)
    visit.params.refuse_unknown(("name", "back"))
    name = visit.params.text("name")
    file = visit.session.uploads.pop(name, None)
    if file is None:
        known = ", ".join(visit.session.uploads) or "none"
        raise GoneError(f"no file {name!r} was sent from here; there is {known}.", "name")
    file.path.unlink(missing_ok=True)
    explorer.cache.forget(lambda key: str(file.path) in str(key[0]))
    if visit.params.flag("back"):
        return RedirectResponse("/files", 303)
    return JSONResponse({"removed": name})


def routes(explorer: Explorer) -> list[Route]:
    known_routes = [
        Route(
            path,
            partial(function, explorer)
            if method == "POST"
            else partial(read, explorer, function, params),
            methods=[method],
        )
        for path, (function, params, method) in ENDPOINTS.items()
    ]
    return [*known_routes, Route("/api/openapi.json", describe, methods=["GET"])]


async def read(
    explorer: Explorer, function: Callable[[Visit], Any], params: tuple[str, ...], request: Request
) -> Response:
    """Answer a request; equal requests at the same time are answered once."""
    visit = replace(explorer.visit(request), left_out=None)

    def answer() -> Response:
        try:
            visit.params.refuse_unknown(params)
            return Response(to_json(function(visit)), media_type="application/json")
        except JudgedError as error:
            return refuse(error)
        except Exception as error:
            return broken(error)

    key = "api", visit.session.id, visit.path, visit.params
    job = explorer.jobs.start(key, visit.session.id, answer)
    await job.wait(None, request.is_disconnected)
    response: Response = explorer.jobs.finish(job)
    return response


def refuse(error: JudgedError) -> Response:
    where = getattr(error, "where", None)
    return JSONResponse({"error": str(error), "where": where}, status_of(error))


def broken(error: Exception) -> Response:
    return JSONResponse({"error": report_crash(error), "where": None}, 500)


async def describe(request: Request) -> Response:
    return JSONResponse(openapi())


def openapi() -> dict[str, Any]:
    """Describe the API in OpenAPI, from its addresses."""
    words = {
        "error": {"type": "string", "description": "What is wrong, and what to do."},
        "where": {"type": ["string", "null"], "description": "The parameter or header."},
    }
    error = {"type": "object", "required": list(words), "properties": words}
    key = {"type": "apiKey", "in": "header", "name": "X-Judged-Key"}
    return {
        "openapi": "3.1.0",
        "info": {"title": "judged", "version": __version__},
        "paths": {path: _described(path, *known) for path, known in ENDPOINTS.items()},
        "components": {"schemas": {"Error": error}, "securitySchemes": {"key": key}},
        "security": [{"key": []}],
    }


def _described(
    path: str, function: Callable[..., Any], params: tuple[str, ...], method: str
) -> dict[str, Any]:
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    errors = {
        str(status): {"description": says, "content": error}
        for status, says in ERROR_STATUSES.items()
    }
    done = {"description": "done", "content": {"application/json": {"schema": {}}}}
    described: dict[str, Any] = {
        "summary": (function.__doc__ or "").partition("\n")[0],
        "operationId": path.removeprefix("/api/"),
        "parameters": [
            {"name": name, "in": "query", "description": says, "schema": {"type": "string"}}
            for name in params
            for says in [PARAMETERS[name]]
        ],
        "responses": {"200": done, **errors},
    }
    if path.endswith("upload"):
        body = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
        described["requestBody"] = {"required": True, "content": body}
    return {method.lower(): described}
