"""Keys of an annotator, sent as the judging page sends them."""

from __future__ import annotations

from urllib.parse import urlencode

from support.served import Answer, Server

FORM = "application/x-www-form-urlencoded"
FIELDS = ("grade", "action", "note", "seconds", "colour")


def pressed(server: Server, path: str = "/judge", **given: object) -> Answer:
    """Send a form: what is judged in its address, what a key brings in its fields."""
    address = {name: value for name, value in given.items() if name not in FIELDS}
    fields = {name: value for name, value in given.items() if name in FIELDS}
    if path == "/judge":
        address = {"annotator": "ar", **address}
    to, body = f"{path}?{urlencode(address)}", urlencode(fields).encode()
    return server.ask(to, method="POST", body=body, content_type=FORM)
