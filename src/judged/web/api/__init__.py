"""JSON under /api: the same objects that commands print with --format json, and their description
in OpenAPI, made from the addresses themselves."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from judged import __version__
from judged.errors import JudgedError
from judged.text import to_json
from judged.web.api.endpoint import Endpoint
from judged.web.api.numbers import NUMBERS
from judged.web.api.others import OTHERS
from judged.web.api.writing import REMOVE, UPLOAD, remove, upload
from judged.web.asked import Asked, Raw
from judged.web.crashes import reported
from judged.web.errors import status_of

if TYPE_CHECKING:
    from judged.web.app import Explorer

READING: tuple[Endpoint, ...] = (*NUMBERS, *OTHERS)
"""Every address that reads."""
ENDPOINTS = (*READING, UPLOAD, REMOVE)
"""Every address of the API but the one that describes it."""


def routes(explorer: Explorer) -> list[Route]:
    """The addresses, for the application."""
    reading = [Route(each.path, partial(read, explorer, each), methods=["GET"]) for each in READING]
    return [
        *reading,
        Route(UPLOAD.path, partial(upload, explorer), methods=["POST"]),
        Route(REMOVE.path, partial(remove, explorer), methods=["POST"]),
        Route("/api/openapi.json", describe, methods=["GET"]),
    ]


async def read(explorer: Explorer, endpoint: Endpoint, request: Request) -> Response:
    """What an address answers; equal questions at once are answered once."""
    asked = explorer.asked(request)
    key = "api", asked.session.id, asked.path, asked.params
    job = explorer.jobs.start(key, asked.session.id, partial(answered, endpoint, asked))
    await job.wait(None)
    response: Response = explorer.jobs.finish(job)
    return response


def answered(endpoint: Endpoint, asked: Asked) -> Response:
    """What an address answers, errors too."""
    try:
        asked.params.refuse_unknown(endpoint.names)
        found = endpoint.answer(asked)
    except JudgedError as error:
        return refused(error)
    except Exception as error:
        return broken(error)
    if isinstance(found, Raw):
        return Response(found.content, found.status, media_type=found.media_type)
    return Response(to_json(found), media_type="application/json")


def refused(error: JudgedError) -> Response:
    """An error as the API says it."""
    where = getattr(error, "where", None)
    return JSONResponse({"error": str(error), "where": where}, status_of(error))


def broken(error: Exception) -> Response:
    """The name of a crash; the terminal has the details."""
    message = f"Something went wrong here ({reported(error)}). The terminal has the details."
    return JSONResponse({"error": message, "where": None}, 500)


async def describe(request: Request) -> Response:
    """All addresses in OpenAPI."""
    return JSONResponse(openapi())


def openapi() -> dict[str, Any]:
    """The description of the API, made from its addresses.

    >>> "/api/evaluate" in openapi()["paths"]
    True
    """
    error = {
        "type": "object",
        "required": ["error", "where"],
        "properties": {
            "error": {"type": "string", "description": "What is wrong, and what to do."},
            "where": {
                "type": ["string", "null"],
                "description": "The parameter or header that it is about.",
            },
        },
    }
    key = {"type": "apiKey", "in": "header", "name": "X-Judged-Key"}
    return {
        "openapi": "3.1.0",
        "info": {"title": "judged", "version": __version__},
        "paths": {each.path: {each.method.lower(): each.to_dict()} for each in ENDPOINTS},
        "components": {"schemas": {"Error": error}, "securitySchemes": {"key": key}},
        "security": [{"key": []}],
    }
