"""What the API writes: files that a browser sends, for itself alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from judged.web.api.endpoint import Endpoint, Param
from judged.web.asked import Asked
from judged.web.errors import GoneError, RefusedError

if TYPE_CHECKING:
    from judged.web.app import Explorer
    from judged.web.files import Found


def _documented(asked: Asked) -> dict[str, Any]:
    """Writing has functions of its own, which get the request."""
    raise RefusedError("this address is only written to.")


UPLOAD = Endpoint(
    "/api/upload",
    "Send a file, as the body; it belongs to the browser that sends it, until the server ends.",
    _documented,
    (Param("name", "What the file is called.", needed=True),),
    method="POST",
)
REMOVE = Endpoint(
    "/api/remove",
    "Remove a file that was sent.",
    _documented,
    (
        Param("name", "What the file is called.", needed=True),
        Param("back", "1 to be led back to the page of files.", choices=("0", "1")),
    ),
    method="POST",
)


async def upload(explorer: Explorer, request: Request) -> Response:
    """Receive a file piece by piece, look at it, and add it."""
    asked = explorer.asked(request)
    asked.params.refuse_unknown(UPLOAD.names)
    if request.headers.get("content-type", "").startswith("multipart/"):
        raise RefusedError("send the file itself as the body, not a form.", "Content-Type")
    received = await explorer.uploads.receive(
        asked.session,
        asked.params.one("name"),
        request.headers.get("content-length"),
        request.stream(),
    )
    try:
        file = await run_in_threadpool(explorer.uploads.looked_at, received)
        asked.session.add(file, explorer.library)
    except BaseException:
        received.path.unlink(missing_ok=True)
        raise
    finally:
        explorer.uploads.arrived(asked.session, received.size)
    return JSONResponse(_shown(file))


def _shown(file: Found) -> dict[str, Any]:
    return {
        "name": file.name,
        "kind": file.kind,
        "says": file.says,
        "size": file.size,
        "note": file.note or None,
    }


async def remove(explorer: Explorer, request: Request) -> Response:
    """Remove a file that was sent; those of the folder stay where they are."""
    asked = explorer.asked(request)
    asked.params.refuse_unknown(REMOVE.names)
    name = asked.params.one("name") or ""
    file = asked.session.uploads.pop(name, None)
    if file is None:
        known = ", ".join(asked.session.uploads) or "none"
        raise GoneError(f"no file {name!r} was sent from here; there is {known}.", "name")
    file.path.unlink(missing_ok=True)
    explorer.cache.forget(lambda key: str(file.path) in str(key[0]))
    if asked.params.flag("back"):
        return RedirectResponse("/files", 303)
    return JSONResponse({"removed": name})
