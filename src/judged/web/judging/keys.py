"""What writes: a key of an annotator, and a difference that is settled.

What is judged stands in the address of the form, where every id is what it is; in a field, browsers
change the ends of lines.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from judged.judgements.annotators import Annotator, Place, settled_in
from judged.web.asked import Asked
from judged.web.errors import RefusedError, TooLargeError
from judged.web.judging.desk import Desk, home_of, scale_of
from judged.web.params import Params
from judged.web.terms import NAMES
from judged.web.workspace import CHOICES

if TYPE_CHECKING:
    from judged.web.app import Explorer

FIELDS = ("grade", "action", "note", "seconds")
"""What a form brings; all else stands in its address, which is that of the page."""
LARGEST = 200_000
"""Bytes of a form."""
FORM = "application/x-www-form-urlencoded"


def routes(explorer: Explorer) -> list[Route]:
    """The addresses that forms are sent to."""
    return [
        Route("/judge", partial(written, explorer, pressed), methods=["POST"]),
        Route("/agreement", partial(written, explorer, settled), methods=["POST"]),
    ]


async def written(
    explorer: Explorer, write: Callable[[Asked, Params], str], request: Request
) -> Response:
    """Take a form, do what it says, and lead to the page that comes next; to a script that asks
    for JSON its address is said."""
    if not request.headers.get("content-type", "").startswith(FORM):
        raise RefusedError(f"send a form, as {FORM}.", "Content-Type")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST:
            raise TooLargeError(f"a form may have {LARGEST:,} bytes; this has more.", "body")
    given = Params.read(body.decode("utf-8", "replace"))
    given.refuse_unknown(FIELDS)
    next_address = await run_in_threadpool(write, explorer.asked(request), given)
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse({"next": next_address})
    return RedirectResponse(next_address, 303)


def pressed(asked: Asked, given: Params) -> str:
    """Keep a key, and say where the next item is."""
    from judged.web.views import judge

    asked.params.refuse_unknown((*judge.PARAMS, *NAMES, *CHOICES))
    name = asked.params.one("annotator")
    if name is None:
        raise RefusedError("it is not said who judges.", "annotator")
    desk = Desk.of(asked, name)
    action = given.choice("action", ("grade", "skip", "note", "undo"), "grade")
    if action == "undo":
        taken = desk.annotator.undo()
        return desk.url(desk.place if taken is None else taken.place)
    place = _place(asked)
    desk.refuse_unknown(place)
    note = _note(given)
    if action == "note":
        desk.annotator.note(*place, note or "")
        return desk.url(place)
    options: dict[str, Any] = {"note": note, "seconds": given.number("seconds")}
    if action == "skip":
        desk.annotator.skip(*place, **options)
    else:
        desk.annotator.grade(*place, _grade(asked, given), **options)
    after = Desk.of(asked, name)
    return after.url(after.list.next_open(place, skipped=after.skipped))


def settled(asked: Asked, given: Params) -> str:
    """Keep what settles a difference, and lead back to the list of them."""
    from judged.web.views import agreement

    asked.params.refuse_unknown((*agreement.PARAMS, *NAMES, *CHOICES))
    judge: Annotator = settled_in(home_of(asked))
    place = _place(asked)
    if given.choice("action", ("grade", "undo"), "grade") == "undo":
        judge.take_back(*place)
    else:
        agreement.refuse_undisputed(asked, place)
        judge.grade(*place, _grade(asked, given), note=_note(given))
    return asked.url("/agreement", query=None, item=None) + "#differences"


def _place(asked: Asked) -> Place:
    query, item = asked.params.one("query"), asked.params.one("item")
    if query is None or item is None:
        raise RefusedError("it is not said what is judged: query and item.", "item")
    return query, item


def _grade(asked: Asked, given: Params) -> int:
    scale = scale_of(asked)
    grade = given.whole("grade", -1, at_most=9)
    if grade not in scale:
        raise RefusedError(f"grade must be one of {scale}; got {given.text('grade')!r}.", "grade")
    return grade


def _note(given: Params) -> str | None:
    """The note as it was typed; None where the form has none."""
    notes = [value for name, value in given.pairs if name == "note"]
    return notes[0].replace("\r\n", "\n") if notes else None
