"""The picture of an item: only those that a table of the folder names, and only what is one."""

from __future__ import annotations

from judged.errors import quoted
from judged.web.asked import Asked, Raw
from judged.web.contents import pictures_of
from judged.web.errors import GoneError, RefusedError
from judged.web.files import picture_of

PARAMS = ("item",)
PATIENCE = 600.0
"""Seconds: in the place of a picture there is no room for the word that it is being made."""
MOST = 20 * 10**6
"""Bytes of a picture that is shown."""


def page(asked: Asked) -> Raw:
    """The picture as it lies in its file."""
    item = asked.params.text("item")
    path = pictures_of(asked).get(item)
    if path is None:
        raise GoneError(f"There is no picture of {quoted(item)}.", "item")
    try:
        with path.open("rb") as handle:
            content = handle.read(MOST + 1)
    except OSError:
        raise GoneError(f"The picture of {quoted(item)} is not there.", "item") from None
    kind = picture_of(content)
    if kind is None:
        raise RefusedError(
            f"The picture of {quoted(item)} is none that is shown here: PNG, JPEG, GIF or WebP.",
            "item",
        )
    if len(content) > MOST:
        raise RefusedError(
            f"The picture of {quoted(item)} has more than {MOST // 10**6} MB.", "item"
        )
    return Raw(content, f"image/{kind}")
